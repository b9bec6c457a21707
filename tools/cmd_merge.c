/* tenon merge: one file from a set. */
#include "plan_out.h"
#include "tenon/split.h"
#include "tool.h"

struct options {
    bool drop_metadata;
};

static const struct tenon_opt options[] = {
    {.name = "drop-metadata",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, drop_metadata),
     .help = "leave out values of keys that have another value in an earlier file"},
};

/* A pattern that the shell expanded must not make an output of the last file. */
static enum tenon_status check_usage(const struct tenon_tool *tool, struct tenon_error *err)
{
    if (tool->n_operands > 1) {
        tenon_report_fail(err, TENON_ERR_MISUSE,
                          "%zu files are given, but any one names its whole set", tool->n_operands);
        tenon_report_hint(err, "name one file of the set, and the output with -o");
        return TENON_ERR_MISUSE;
    }
    if (tool->write.output != NULL && tool->write.output[0] != '\0')
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_MISUSE, "the merged file needs a name");
    tenon_report_hint(err, "name it with -o");
    return TENON_ERR_MISUSE;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    const struct tenon_merge_options merge = {o->drop_metadata};
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    enum tenon_status st = check_usage(tool, &err);

    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK) {
        st = tenon_plan_merge(model, tool->write.output, &merge, &plan, &err);
        if (st != TENON_OK)
            tenon_report_path(&err, tool->operands[0]);
    }
    if (st == TENON_OK)
        st = tenon_write_plan(tool, plan, &err);
    tenon_plan_free(plan);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon merge model-00001-of-00003.gguf -o model.gguf", "any file of the set will do"},
    {"tenon merge model/ -o model.safetensors", "the shards of a folder as one file"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_merge = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = TENON_ANY_NUMBER,
    .about =
        "Writes the tensors of a set of files to one: names, types, values and metadata stay, the "
        "keys that describe the set go. All files of the set must be there, and agree with each "
        "other.\n"
        "A GGUF file of version 2 or 3 that was split comes back byte for byte, order and "
        "alignment included, if its payloads were in order, without gaps or overlaps, and padded "
        "with zeros to the end. A safetensors file does if its header was as the reference writes "
        "it: widest types first, then by name, metadata sorted, padded to 8 bytes; any other gets "
        "such a header, with the same contents.",
    .writes = true,
    .writes_apart = true,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
