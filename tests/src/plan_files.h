/* Plans over real files, laid out without a file format: for tests of what carries plans out. */
#ifndef TENON_TESTS_PLAN_FILES_H
#define TENON_TESTS_PLAN_FILES_H

#include "plan_build.h"
#include "tiny_model.h"

/* Length of the head that lay_out gives every model file: "HEAD" and dots. */
enum { PLAN_HEAD_BYTES = 40, PLAN_ALIGNMENT = 32 };

/* Sets head, offsets and sizes. */
void plan_lay_out(struct tenon_plan *plan);

/* A plan with one model file at `path`. */
struct tenon_plan *plan_begin(const char *path);

/* Adds a tensor named "out" of `dtype` and `dims` to file 0, from sources and steps. */
struct plan_tensor {
    enum tenon_dtype dtype;
    uint32_t n_dims;
    uint64_t dims[4];
    enum tenon_combine combine;
    struct tenon_plan_source sources[4];
    size_t n_sources;
    struct tenon_step steps[4];
    size_t n_steps;
};
void plan_add(struct tenon_plan *plan, const struct plan_tensor *tensor);

/* All rows of the tensor with that name. */
struct tenon_plan_source plan_source(const struct tenon_model *model, const char *name);

/* Writes a file; reads one whole, to be freed (NULL when there is none). */
void plan_write_file(const char *path, const void *bytes, size_t n);
unsigned char *plan_read_file(const char *path, size_t *out_n);

/* Copies the model's bytes into a file at `path` and opens it as a model with the same tensors. */
struct tenon_model *plan_model_of_file(const struct tiny_model *tiny, const char *path);

/* Entries of a folder whose names begin with a dot, but for "." and "..". */
size_t plan_count_hidden(const char *folder);

#endif
