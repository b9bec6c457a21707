#include "edited.h"

#include <stdlib.h>

void copy_open(struct copy *c)
{
    struct tenon_open_options options;
    struct tenon_error err = {0};

    tenon_open_options_init(&options);
    options.format = "safetensors"; /* also where the header does not look like one */
    ck_ok(tenon_model_open_memory(c->bytes.data, c->bytes.n, &options, &c->model, &err), err);
}

void copy_release(struct copy *c)
{
    tenon_model_free(c->model);
    gen_bytes_release(&c->bytes);
}

void copy_make_padded(struct copy *c, const char *header, size_t pad, size_t n)
{
    memset(c, 0, sizeof(*c));
    gen_u64(&c->bytes, strlen(header) + pad);
    gen_text(&c->bytes, header);
    gen_fill(&c->bytes, ' ', pad);
    for (size_t i = 0; i < n; i++)
        gen_u8(&c->bytes, 'A' + i);
    copy_open(c);
}

void copy_make(struct copy *c, const char *header, size_t n)
{
    copy_make_padded(c, header, 0, n);
}

void copy_make_aligned(struct copy *c, const char *header, size_t n)
{
    copy_make_padded(c, header, (8 - strlen(header) % 8) % 8, n);
}

static void add_metas(const struct tenon_model *model, const struct edit *e,
                      struct tenon_meta_entry *metas, size_t *n)
{
    for (size_t i = 0; i < tenon_model_n_meta(model); i++) {
        struct tenon_meta_entry meta = *tenon_model_meta(model, i);

        if (e->key != NULL && meta.key.len == strlen(e->key) &&
            memcmp(meta.key.data, e->key, meta.key.len) == 0) {
            if (e->new_value == NULL)
                continue;
            meta.value.as.str = (struct tenon_str){e->new_value, strlen(e->new_value)};
        }
        metas[(*n)++] = meta;
    }
    if (e->add_key == NULL)
        return;
    metas[*n] = (struct tenon_meta_entry){.type = TENON_META_STRING,
                                          .key = {e->add_key, strlen(e->add_key)}};
    metas[(*n)++].value.as.str = (struct tenon_str){"added", 5};
}

static bool is_dropped(const struct edit *e, struct tenon_str name)
{
    const char *const drops[] = {e->drop, e->drop_too, e->drop_three};

    for (size_t i = 0; i < 3; i++)
        if (drops[i] != NULL && name.len == strlen(drops[i]) &&
            memcmp(name.data, drops[i], name.len) == 0)
            return true;
    return false;
}

enum tenon_status make_plan(const struct copy *from, const struct edit *e, struct tenon_plan **out,
                            struct tenon_error *err)
{
    size_t room = tenon_model_n_meta(from->model) + 1;
    struct tenon_meta_entry *metas = calloc(room, sizeof(*metas));
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = "out",
                                   .format = "safetensors",
                                   .metas = metas,
                                   .like = from->model};
    enum tenon_status st = tenon_plan_new("out", out, err);

    add_metas(from->model, e, metas, &file.n_metas);
    if (st == TENON_OK)
        st = tenon_plan_add_file(*out, &file, NULL, err);
    free(metas);
    for (size_t i = 0; st == TENON_OK && i < tenon_model_n_tensors(from->model); i++)
        if (!is_dropped(e, tenon_model_tensor(from->model, i)->name))
            st = tenon_plan_add_tensor_of(*out, from->model, tenon_model_tensor(from->model, i), 0,
                                          err);
    for (size_t i = 0; st == TENON_OK && i < 3 && e->add[i] != NULL; i++) {
        const struct tenon_tensor *t = tenon_model_tensor(from->model, e->from);
        struct tenon_plan_source source = {.model = from->model, .tensor = t, .n_rows = UINT64_MAX};
        struct tenon_plan_tensor tensor = {.name = {e->add[i], strlen(e->add[i])},
                                           .dtype = (enum tenon_dtype)t->dtype,
                                           .n_dims = t->n_dims,
                                           .dims = t->dims,
                                           .sources = &source,
                                           .n_sources = 1};

        st = tenon_plan_add_tensor(*out, &tensor, err);
    }
    return st;
}

void copy_edit(const struct copy *from, const struct edit *e, struct copy *to)
{
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    memset(to, 0, sizeof(*to));
    ck_ok(make_plan(from, e, &plan, &err), err);
    ck_ok(tenon_plan_layout(plan, &err), err);
    assemble(plan, 0, &to->bytes);
    tenon_plan_free(plan);
    copy_open(to);
}

void check_same(const struct copy *a, const struct copy *b)
{
    ck_assert_uint_eq(a->bytes.n, b->bytes.n);
    ck_assert_mem_eq(a->bytes.data, b->bytes.data, a->bytes.n);
}

static const unsigned char *payload(const struct copy *c, const struct tenon_tensor *t)
{
    return c->bytes.data + t->offset;
}

void check_kept(const struct copy *a, const struct copy *b)
{
    for (size_t i = 0; i < tenon_model_n_tensors(a->model); i++) {
        const struct tenon_tensor *x = tenon_model_tensor(a->model, i);
        const struct tenon_tensor *y = tenon_model_find(b->model, x->name.data, x->name.len);

        ck_assert_ptr_nonnull(y);
        ck_assert_uint_eq(x->bytes, y->bytes);
        ck_assert_mem_eq(payload(a, x), payload(b, y), x->bytes);
    }
}

void check_there_and_back(const struct copy *a, uint64_t seed)
{
    size_t n = tenon_model_n_tensors(a->model);
    struct edit none = {.from = 0}, there = {.add = {HEAD}}, back = {.drop = HEAD};
    struct copy same, b, c;

    copy_edit(a, &none, &same);
    check_same(a, &same);
    copy_release(&same);
    if (n == 0)
        return;
    there.from = (uint32_t)(seed % n);
    if (seed % 3 == 0) {
        there.add[1] = back.drop_too = "A.first";
        there.add[2] = back.drop_three = "layer.weight.n";
    }
    if (seed % 2 == 0)
        there.add_key = back.key = "tenon.new";
    copy_edit(a, &there, &b);
    check_kept(a, &b);
    copy_edit(&b, &back, &c);
    check_same(a, &c);
    copy_release(&b);
    copy_release(&c);
}
