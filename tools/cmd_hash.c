/* tenon hash: content hashes. */
#include <stdlib.h>
#include <string.h>

#include "tenon/hash.h"
#include "tool.h"

struct options {
    bool values;
};

static const struct tenon_opt options[] = {
    {.name = "values",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, values),
     .help = "hash the decoded float32 values instead of the bytes"},
};

static void write_json(struct tenon_tool *tool, const struct tenon_model *model,
                       const struct tenon_hash *hashes, const struct tenon_hash *whole)
{
    const struct options *o = tool->options;
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.hash/1");
    tenon_json_text(&json, "path", tenon_model_path(model));
    tenon_json_text(&json, "algorithm", "XXH3-128");
    tenon_json_bool(&json, "values", o->values);
    tenon_json_array(&json, "tensors");
    for (size_t i = 0; i < tenon_model_n_tensors(model); i++) {
        tenon_json_object_flat(&json, NULL);
        tenon_json_str(&json, "name", tenon_model_tensor(model, i)->name);
        tenon_json_hash(&json, "xxh3", hashes[i].high, hashes[i].low);
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
    tenon_json_hash(&json, "model", whole->high, whole->low);
    tenon_json_end(&json);
}

static void write_line(struct tenon_out *out, const struct tenon_hash *hash, const char *text,
                       size_t len)
{
    tenon_out_hash(out, hash->high, hash->low);
    tenon_out_text(out, "  ");
    tenon_out_safe(out, text, len);
    tenon_out_text(out, "\n");
}

static void write_text(struct tenon_tool *tool, const struct tenon_model *model,
                       const struct tenon_hash *hashes, const struct tenon_hash *whole)
{
    const char *path = tenon_model_path(model);

    for (size_t i = 0; i < tenon_model_n_tensors(model); i++) {
        struct tenon_str name = tenon_model_tensor(model, i)->name;

        write_line(&tool->out, &hashes[i], name.data, name.len);
    }
    tenon_out_text(&tool->out, "\n");
    write_line(&tool->out, whole, path, strlen(path));
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_hash_options hash_options;
    struct tenon_progress progress;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_hash *hashes = NULL, whole;
    enum tenon_status st = tenon_tool_open(tool, 0, &model, &err);

    if (st != TENON_OK)
        goto out;
    hashes = tenon_tool_alloc(tenon_model_n_tensors(model), sizeof(*hashes), &err);
    if (hashes == NULL) {
        st = TENON_ERR_NO_MEMORY;
        goto out;
    }
    tenon_progress_init(&progress, "hashing", tool->common.quiet);
    tenon_hash_options_init(&hash_options);
    hash_options.threads = (unsigned)tool->common.threads;
    hash_options.values = o->values;
    hash_options.progress = tenon_progress_show;
    hash_options.user = &progress;
    st = tenon_hash_tensors(model, NULL, 0, &hash_options, hashes, &err);
    tenon_progress_end(&progress);
    if (st == TENON_OK)
        st = tenon_hash_model(model, hashes, o->values, &whole, &err);
    if (st == TENON_OK && tool->common.json)
        write_json(tool, model, hashes, &whole);
    else if (st == TENON_OK)
        write_text(tool, model, hashes, &whole);
out:
    free(hashes);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon hash --values model.gguf", "the same for the same numbers in any container"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_hash = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Prints the XXH3-128 of each tensor's bytes, and one for the model, which depends on "
             "names, shapes, types and hashes of the tensors, not on their order or container.\n"
             "With --values the decoded float32 values are hashed (little-endian, row-major): the "
             "same numbers hash the same in any container, byte order or wider type. These hashes "
             "find equal content; they are no protection against a forger.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
