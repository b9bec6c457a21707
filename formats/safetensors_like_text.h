/* The old header of an edited copy, read again from the file: a window of it is in memory at a
 * time. A member longer than the window makes it grow. */
#ifndef TENON_SAFETENSORS_LIKE_TEXT_H
#define TENON_SAFETENSORS_LIKE_TEXT_H

#include "tenon/model.h"
#include "window.h"

/* Zero-initialise; release in any case. */
struct tenon_like_walk {
    const struct tenon_source *source;
    uint64_t len;   /* of the header's text, without the length field */
    uint64_t at;    /* where in the text the window begins */
    char *bytes;    /* the window */
    size_t n, room; /* its bytes, and the memory for them */
    size_t next;    /* what was not handed out yet, in the window */
    uint64_t open;  /* in the text: just after the opening brace */
};

/* A member of the root with the text that separates it from what stands in front of it; or, at the
 * end, such a text and the closing brace. Places are counted from `text`. */
struct tenon_like_item {
    const char *text;                      /* in the window, until the next item is asked for */
    uint64_t at;                           /* where in the header's text it begins */
    size_t key, key_end, value, value_end; /* the key with its quotes; at the end the brace */
    bool end;
};

/* MISMATCH: the header is not the one that was read when the model was opened. */
enum tenon_status tenon_like_fail_changed(struct tenon_error *err);

/* Begins behind the opening brace of the header of file `file`. Fails as reads do, or with
 * NO_MEMORY or MISMATCH. */
enum tenon_status tenon_like_walk_begin(struct tenon_like_walk *walk,
                                        const struct tenon_model *model, uint32_t file,
                                        struct tenon_error *err);

/* The next item; nothing may be asked for after the end. */
enum tenon_status tenon_like_walk_next(struct tenon_like_walk *walk, struct tenon_like_item *out,
                                       struct tenon_error *err);

/* After the end: how many blanks the text ends with, at most what follows the brace. */
enum tenon_status tenon_like_walk_tail(struct tenon_like_walk *walk, uint64_t *out_blanks,
                                       struct tenon_error *err);

void tenon_like_walk_release(struct tenon_like_walk *walk);

/* Puts the bytes [from, to) of a header's text. */
enum tenon_status tenon_like_put_range(const struct tenon_model *model, uint32_t file,
                                       uint64_t from, uint64_t to, struct tenon_window *window);

#endif
