/* Running independent pieces of work on several threads. */
#ifndef TENON_PARALLEL_H
#define TENON_PARALLEL_H

#include "tenon/error.h"

/* Does piece `i` as worker `worker` (0 ... threads - 1). */
typedef enum tenon_status (*tenon_piece_fn)(void *user, size_t i, unsigned worker,
                                            struct tenon_error *err);

/* 0: as many as the machine has processors, at most 64. */
unsigned tenon_threads(unsigned wanted);

/* Runs pieces 0 ... n - 1, in no particular order, and waits for them. After a failure no new
 * piece starts; the failure of the lowest-numbered piece that ran is reported. Where threads
 * cannot be had the caller's does the work. */
enum tenon_status tenon_parallel(unsigned threads, size_t n, tenon_piece_fn piece, void *user,
                                 struct tenon_error *err);

#endif
