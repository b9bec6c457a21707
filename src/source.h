/* Where bytes come from: a file or memory. Nothing above this knows which. */
#ifndef TENON_SOURCE_H
#define TENON_SOURCE_H

#include "tenon/error.h"

struct tenon_source;

/* Opens a regular file for positioned reads (links are followed). FIFOs, sockets, devices and
 * directories are refused without blocking. `path` is copied. */
enum tenon_status tenon_source_open_file(const char *path, struct tenon_source **out,
                                         struct tenon_error *err);

/* Bytes in memory, borrowed. */
enum tenon_status tenon_source_open_memory(const void *bytes, size_t n, const char *path,
                                           struct tenon_source **out, struct tenon_error *err);

void tenon_source_free(struct tenon_source *source);

uint64_t tenon_source_size(const struct tenon_source *source); /* when it was opened */
const char *tenon_source_path(const struct tenon_source *source);

/* Exactly `n` bytes at `off`. TRUNCATED where the source ends before (also when it shrank since
 * it was opened), IO when the system refused. Thread-safe. */
enum tenon_status tenon_source_read(const struct tenon_source *source, uint64_t off, void *buf,
                                    size_t n, struct tenon_error *err);

/* Up to `n` bytes at `off`; `*out_n` says how many, fewer only at the end of the source. */
enum tenon_status tenon_source_read_some(const struct tenon_source *source, uint64_t off, void *buf,
                                         size_t n, size_t *out_n, struct tenon_error *err);

/* The whole source into fresh memory (tenon_mem_free), with a terminating NUL that `*out_n` does
 * not count. LIMIT when it is larger than `limit`. */
enum tenon_status tenon_source_slurp(const struct tenon_source *source, uint64_t limit, char **out,
                                     size_t *out_n, struct tenon_error *err);

#endif
