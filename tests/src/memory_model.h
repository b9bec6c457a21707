/* Models made of bytes in memory, for tests that need no file format. */
#ifndef TENON_TESTS_MEMORY_MODEL_H
#define TENON_TESTS_MEMORY_MODEL_H

#include <string.h>

#include "check_error.h"
#include "model_build.h"

/* An empty model with one file of `n` bytes. */
static inline struct tenon_model *new_memory_model(const void *bytes, size_t n)
{
    struct tenon_model *model = NULL;
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    uint32_t file = 0;

    ck_ok(tenon_model_new("memory", NULL, &model, &err), err);
    ck_ok(tenon_source_open_memory(bytes, n, "memory", &source, &err), err);
    ck_ok(tenon_model_add_file(model, source, &file, &err), err);
    return model;
}

/* A descriptor; `name` must outlive the model. A dimension of UINT64_MAX ends the shape. */
static inline struct tenon_tensor describe(const char *name, enum tenon_dtype dtype,
                                           uint64_t offset, const uint64_t *dims)
{
    struct tenon_tensor t = {.name = {name, strlen(name)},
                             .dtype = (uint8_t)dtype,
                             .offset = offset,
                             .dims = dims,
                             .record_offset = 1000 + offset};

    while (dims[t.n_dims] != UINT64_MAX)
        t.n_dims++;
    return t;
}

#define SHAPE(...)                                                                                 \
    (const uint64_t[])                                                                             \
    {                                                                                              \
        __VA_ARGS__, UINT64_MAX                                                                    \
    }
#define SCALAR                                                                                     \
    (const uint64_t[])                                                                             \
    {                                                                                              \
        UINT64_MAX                                                                                 \
    }

static inline void add_tensor(struct tenon_model *model, const char *name, enum tenon_dtype dtype,
                              uint64_t offset, const uint64_t *dims)
{
    struct tenon_tensor t = describe(name, dtype, offset, dims);
    struct tenon_error err = {0};

    ck_ok(tenon_model_add_tensor(model, &t, &err), err);
}

static inline const struct tenon_tensor *get_tensor(const struct tenon_model *model,
                                                    const char *name)
{
    const struct tenon_tensor *t = tenon_model_find(model, name, strlen(name));

    ck_assert_ptr_nonnull(t);
    return t;
}

#endif
