/* rewrite_gguf IN OUT [LIKE]: writes the pairs and tensors of the GGUF file IN as a new file OUT;
 * in the order in which LIKE has them, if it is given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "tenon/tenon.h"

/* Ends the program where something is wrong: this is test equipment. */
static void expect(enum tenon_status st, const struct tenon_error *err, const char *what)
{
    if (st == TENON_OK)
        return;
    fprintf(stderr, "%s: %s '%s': %s\n", what, err->kind != NULL ? err->kind : "", err->subject,
            err->message);
    exit(1);
}

static struct tenon_model *open_model(const char *path)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};

    expect(tenon_model_open(path, NULL, &model, &err), &err, path);
    return model;
}

static const struct tenon_meta_entry *find_pair(const struct tenon_model *model,
                                                struct tenon_str key)
{
    for (size_t i = 0; i < tenon_model_n_meta(model); i++) {
        const struct tenon_meta_entry *entry = tenon_model_meta(model, i);

        if (entry->key.len == key.len && memcmp(entry->key.data, key.data, key.len) == 0)
            return entry;
    }
    fprintf(stderr, "no key %.*s\n", (int)key.len, key.data);
    exit(1);
}

static struct tenon_plan *make_plan(const struct tenon_model *in, const struct tenon_model *like,
                                    bool edit, const char *out)
{
    const struct tenon_file *old = tenon_model_file(in, 0);
    size_t n = tenon_model_n_meta(like);
    struct tenon_meta_entry *metas = calloc(n + 1, sizeof(*metas));
    struct tenon_plan_file file = {.kind = TENON_PLAN_MODEL,
                                   .path = out,
                                   .format = old->format,
                                   .big_endian = old->big_endian,
                                   .version = edit ? old->version : 0,
                                   .like = edit ? in : NULL,
                                   .metas = metas,
                                   .n_metas = n};
    struct tenon_error err = {0};
    struct tenon_plan *plan = NULL;

    for (size_t i = 0; i < n && metas != NULL; i++)
        metas[i] = *find_pair(in, tenon_model_meta(like, i)->key);
    expect(tenon_plan_new(out, &plan, &err), &err, out);
    expect(tenon_plan_add_file(plan, &file, NULL, &err), &err, out);
    for (size_t i = 0; i < tenon_model_n_tensors(like); i++) {
        struct tenon_str name = tenon_model_tensor(like, i)->name;

        expect(
            tenon_plan_add_tensor_of(plan, in, tenon_model_find(in, name.data, name.len), 0, &err),
            &err, out);
    }
    expect(tenon_plan_layout(plan, &err), &err, out);
    free(metas);
    return plan;
}

static enum tenon_status take_head(void *user, const void *bytes, size_t n, struct tenon_error *err)
{
    unsigned char **to = user;

    (void)err;
    memcpy(*to, bytes, n);
    *to += n;
    return TENON_OK;
}

/* All bytes of the planned file. */
static unsigned char *carry_out(const struct tenon_plan *plan)
{
    const struct tenon_plan_file *file = tenon_plan_file(plan, 0);
    unsigned char *bytes = calloc((size_t)file->bytes + 1, 1), *to;
    struct tenon_error err = {0};

    if (bytes == NULL)
        exit(1);
    to = bytes;
    expect(tenon_plan_put_head(plan, 0, take_head, &to, &err), &err, file->path);
    for (size_t i = 0; i < tenon_plan_n_tensors(plan); i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, i);
        const struct tenon_plan_source *source = tenon_plan_sources(&t);

        expect(tenon_tensor_read(source->model, source->tensor, 0, bytes + t.offset,
                                 (size_t)t.bytes, &err),
               &err, file->path);
    }
    for (size_t i = 0; i < plan->n_rests; i++) {
        const struct tenon_plan_rest *rest = &plan->rests[i];

        expect(tenon_source_read(tenon_model_source(rest->model, rest->from), rest->from_offset,
                                 bytes + rest->offset, (size_t)rest->bytes, &err),
               &err, file->path);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    struct tenon_model *in, *like;
    struct tenon_plan *plan;
    unsigned char *bytes;
    bool edit = argc == 4 && strcmp(argv[1], "--edit") == 0, written;
    FILE *out;

    argv += edit;
    argc -= edit;
    if (argc < 3)
        return 2;
    in = open_model(argv[1]);
    like = open_model(argv[argc > 3 ? 3 : 1]);
    plan = make_plan(in, like, edit, argv[2]);
    bytes = carry_out(plan);
    out = fopen(argv[2], "wb");
    if (out == NULL)
        return 1;
    written = fwrite(bytes, 1, (size_t)tenon_plan_bytes(plan), out) == tenon_plan_bytes(plan);
    written = fclose(out) == 0 && written;
    free(bytes);
    tenon_plan_free(plan);
    tenon_model_free(like);
    tenon_model_free(in);
    return written ? 0 : 1;
}
