/* Models opened from recipes (testdata/README.md), in memory. */
#ifndef TENON_TESTS_COOKED_H
#define TENON_TESTS_COOKED_H

#include <string.h>

#include "../src/check_error.h"
#include "gen.h"
#include "mem.h"
#include "tenon/tenon.h"

/* A recipe's files and the model they make. Release with cooked_release. */
struct cooked {
    struct gen_files files;
    struct tenon_model *model; /* NULL when `status` is a failure */
    struct tenon_error err;
    enum tenon_status status;
};

static inline void cooked_open(struct cooked *c, const char *recipe,
                               const struct tenon_open_options *options)
{
    memset(c, 0, sizeof(*c));
    gen_recipe_make(recipe, &c->files);
    ck_assert_uint_eq(c->files.n, 1);
    c->status = tenon_model_open_memory(c->files.file[0].bytes.data, c->files.file[0].bytes.n,
                                        options, &c->model, &c->err);
    ck_assert_int_eq(c->status, c->err.status);
}

static inline void cooked_release(struct cooked *c)
{
    tenon_model_free(c->model);
    gen_files_release(&c->files);
}

/* The entry, which must be there. */
static inline const struct tenon_meta_entry *cooked_meta(const struct cooked *c, const char *key)
{
    const struct tenon_meta_entry *entry;

    ck_ok(c->status, c->err);
    entry = tenon_model_find_meta(c->model, key);
    ck_assert_msg(entry != NULL, "no key %s", key);
    return entry;
}

/* How many findings have that code. */
static inline size_t cooked_findings(const struct cooked *c, const char *code)
{
    size_t n = 0;

    ck_ok(c->status, c->err);
    for (size_t i = 0; i < tenon_model_n_findings(c->model); i++)
        n += strcmp(tenon_model_finding(c->model, i)->code, code) == 0;
    return n;
}

#endif
