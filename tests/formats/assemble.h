/* The bytes of a file of a laid out plan whose tensors are copies, put together without the runner:
 * tests of layouts need no file system. */
#ifndef TENON_TESTS_ASSEMBLE_H
#define TENON_TESTS_ASSEMBLE_H

#include <string.h>

#include "../src/check_error.h"
#include "gen.h"
#include "plan_build.h"
#include "put_head.h"

static inline void assemble_tensor(const struct tenon_plan_tensor *t, unsigned char *to)
{
    uint64_t left = t->bytes;

    for (size_t s = 0; s < t->n_sources; s++) {
        const struct tenon_plan_source *source = &tenon_plan_sources(t)[s];
        uint64_t n = source->model != NULL ? source->tensor->bytes : left;
        struct tenon_error err = {0};

        ck_assert_uint_le(n, left);
        if (source->model == NULL)
            memcpy(to, source->bytes, n);
        else
            ck_ok(tenon_tensor_read(source->model, source->tensor, 0, to, n, &err), err);
        to += n;
        left -= n;
    }
    ck_assert_uint_eq(left, 0);
}

/* Adds the bytes of file `file` to `out`; gaps are zeros. */
static inline void assemble(const struct tenon_plan *plan, uint32_t file, struct gen_bytes *out)
{
    const struct tenon_plan_file *f = tenon_plan_file(plan, file);
    size_t start = out->n;

    put_head(plan, file, out);
    ck_assert_uint_ge(f->bytes, f->head_bytes);
    gen_fill(out, 0, f->bytes - f->head_bytes);
    for (size_t i = 0; i < tenon_plan_n_tensors(plan); i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);

        if (t.file != file)
            continue;
        ck_assert_uint_ge(t.offset, f->head_bytes);
        ck_assert_uint_le(t.offset + t.bytes, f->bytes);
        assemble_tensor(&t, out->data + start + t.offset);
    }
}

#endif
