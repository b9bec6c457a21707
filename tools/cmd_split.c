/* tenon split: a model into a set of files. */
#include <string.h>

#include "plan_out.h"
#include "tenon/split.h"
#include "tool.h"

struct options {
    uint64_t max_size, max_tensors;
    bool drop_metadata;
};

static const struct tenon_opt options[] = {
    {.name = "max-size",
     .kind = TENON_OPT_SIZE,
     .field = offsetof(struct options, max_size),
     .value = "SIZE",
     .min = 1,
     .max = UINT64_MAX,
     .help = "bytes of tensors in a file, 2GB; a tensor that is larger has a file of its own"},
    {.name = "max-tensors",
     .kind = TENON_OPT_NUMBER,
     .field = offsetof(struct options, max_tensors),
     .value = "N",
     .min = 1,
     .max = UINT64_MAX,
     .help = "tensors in a file"},
    {.name = "drop-metadata",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, drop_metadata),
     .help = "leave out values of keys that have another value in an earlier file of a set"},
};

static enum tenon_status check_output(const struct tenon_tool *tool, struct tenon_error *err)
{
    const char *output = tool->write.output;

    if (output == NULL || output[0] == '\0' || (output[0] == '-' && output[1] == '\0')) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "the files of the set need a name");
        tenon_report_hint(err, "-o PREFIX makes PREFIX-00001-of-0000N and so on");
        return TENON_ERR_MISUSE;
    }
    if (output[strlen(output) - 1] == '/') {
        tenon_report_fail(err, TENON_ERR_MISUSE, "is a folder, and the files in it need a name");
        tenon_report_path(err, output);
        tenon_report_hint(err, "-o %.400smodel makes model-00001-of-0000N and so on there", output);
        return TENON_ERR_MISUSE;
    }
    return TENON_OK;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_split_options split = {o->max_size, o->max_tensors, o->drop_metadata};
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    enum tenon_status st = check_output(tool, &err);

    if (st == TENON_OK && (o->max_size != 0) == (o->max_tensors != 0)) {
        st = tenon_report_fail(&err, TENON_ERR_MISUSE, "one of --max-size and --max-tensors %s",
                               o->max_size != 0 ? "is enough" : "is needed");
        tenon_report_hint(&err, "see 'tenon help split'");
    }
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK) {
        st = tenon_plan_split(model, tool->write.output, &split, &plan, &err);
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
    {"tenon split model.gguf -o parts/model --max-size 2GB",
     "parts/model-00001-of-00003.gguf and so on"},
    {"tenon split model.safetensors -o parts/model --max-tensors 100",
     "shards and their index, model.safetensors.index.json"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_split = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Spreads the tensors of a model over files PREFIX-00001-of-0000N, where PREFIX is OUT. A "
        "GGUF model is cut as llama.cpp's split tool cuts it, and every file keeps the alignment; "
        "safetensors are cut as transformers does it, with an index. 'tenon merge' makes one file "
        "of them again; its help says when that has the same bytes.\n"
        "The config of a folder stays behind; 'tenon convert --max-shard-size' takes it along.",
    .writes = true,
    .writes_apart = true,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
