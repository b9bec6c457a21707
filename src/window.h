/* Bytes that are made one after the other and handed on a window at a time, so that a header of any
 * size takes no memory. */
#ifndef TENON_WINDOW_H
#define TENON_WINDOW_H

#include "tenon/plan.h"

/* Zero-initialise to count only; otherwise set `put`, `user`, and `bytes` to `room` bytes. */
struct tenon_window {
    tenon_put_fn put; /* where the bytes go; NULL: they are only counted */
    void *user;
    unsigned char *bytes;
    size_t room, used;
    uint64_t n;              /* of all bytes so far, handed on or not */
    enum tenon_status st;    /* the first failure; from then on nothing is put */
    struct tenon_error *err; /* of that; may be NULL */
};

void tenon_window_put(struct tenon_window *window, const void *bytes, size_t n);
void tenon_window_fill(struct tenon_window *window, unsigned char byte, uint64_t n);

/* Hands on what is left; the first failure of all. */
enum tenon_status tenon_window_end(struct tenon_window *window);

#endif
