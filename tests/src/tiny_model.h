/* Models made in memory, without a file format. */
#ifndef TENON_TESTS_TINY_MODEL_H
#define TENON_TESTS_TINY_MODEL_H

#include "tenon/model.h"

enum { TINY_BYTES = 1 << 20 };

struct tiny_model {
    struct tenon_model *model;
    unsigned char data[TINY_BYTES];
    size_t used, last; /* bytes taken; where the last tensor begins */
};

/* Starts over with an empty model. */
void tiny_begin(struct tiny_model *tiny);

/* Adds a tensor of `rows` x `cols` (one dimension when `rows` is 0) with a copy of `bytes`, or
 * zeros when NULL. */
void tiny_add(struct tiny_model *tiny, const char *name, enum tenon_dtype dtype, uint64_t rows,
              uint64_t cols, const void *bytes);

/* A second name for the range of the tensor added last, seen as `rows` x `cols`. */
void tiny_alias(struct tiny_model *tiny, const char *name, enum tenon_dtype dtype, uint64_t rows,
                uint64_t cols);

/* Says what a config says about tying. `where` must be static. */
void tiny_flag(struct tiny_model *tiny, const char *where, bool value, bool nested);

/* An empty tensor, of which only the name matters. */
void tiny_name(struct tiny_model *tiny, const char *name);

/* Says which family the model has ("" for none) and works out the roles. */
const struct tenon_model *tiny_end(struct tiny_model *tiny, const char *model_type);

void tiny_free(struct tiny_model *tiny);

#endif
