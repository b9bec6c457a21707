/* What a loader ties besides the two matrices: the further names of an encoder-decoder's input, the
 * second name of a head's bias. Where nothing is tied any more, each must be stored. */
#ifndef TENON_TIE_ROWS_H
#define TENON_TIE_ROWS_H

#include "tenon/arch.h"

enum { TENON_TIE_COPIES = 8 };

/* A further name of a stored tensor. */
struct tenon_tie_copy {
    const char *name; /* static */
    const struct tenon_tensor *from;
    const struct tenon_tensor *copy; /* NULL: not stored */
};

/* The names that transformers misses in `model` when it ties nothing: at most `room` of them, the
 * count returned. `arch` may be NULL. */
size_t tenon_tie_missing(const struct tenon_model *model, const struct tenon_arch *arch,
                         struct tenon_tie_copy *out, size_t room);

/* The stored copies among the names in `words`, separated by blanks, of tensors that another name
 * of theirs, not among `words`, keeps. */
size_t tenon_tie_stored(const struct tenon_model *model, const struct tenon_arch *arch,
                        struct tenon_str words, struct tenon_tie_copy *out, size_t room);

/* Whether `name` is one of `words`; names may hold blanks themselves. */
bool tenon_tie_is_word(struct tenon_str words, const char *name, size_t len);

#endif
