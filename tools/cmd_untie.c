/* tenon untie: store the matrix of a tied model twice. */
#include <string.h>

#include "plan_out.h"
#include "tenon/dtype.h"
#include "tenon/tie.h"
#include "tool.h"

struct options {
    const char *dtype;
};

static const struct tenon_opt options[] = {
    {.name = "dtype",
     .kind = TENON_OPT_TEXT,
     .field = offsetof(struct options, dtype),
     .value = "T",
     .help = "element type of the copy (default: that of the original)"},
};

static enum tenon_status read_dtype(const char *name, enum tenon_dtype *out,
                                    struct tenon_error *err)
{
    if (name == NULL)
        return TENON_OK;
    *out = tenon_dtype_from_name(name, strlen(name));
    if (*out != TENON_DTYPE_UNKNOWN)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_MISUSE, "--dtype: no element type '%.40s'", name);
    tenon_report_hint(err, "'tenon dtypes' lists them");
    return TENON_ERR_MISUSE;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_untie_options untie;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    const char *target = NULL;
    enum tenon_status st = tenon_write_target(tool, tool->operands[0], &target, &err);

    tenon_untie_options_init(&untie);
    untie.force = tool->write.force;
    untie.threads = (unsigned)tool->common.threads;
    if (st == TENON_OK)
        st = read_dtype(o->dtype, &untie.dtype, &err);
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK) {
        st = tenon_plan_untie(model, target, &untie, &plan, &err);
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
    {"tenon untie model.gguf -o untied.gguf", "for programs that want an output matrix"},
    {"tenon untie model/ -o untied/ --dtype BF16", "the copy in another element type"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_untie = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Stores the one matrix of a tied model a second time, as the output projection (or as the "
        "input embedding where only the output is stored), and says so in config and index. "
        "'tenon tie' afterwards gives the first file back, byte for byte.\n"
        "Where both are stored already, a config that says they are tied is put right, so that "
        "loaders keep what differs.\n"
        "What a loader ties by the same flag is stored as often as it asks for: the matrix of each "
        "part of an encoder-decoder, the second bias of a head that predicts masked tokens.\n"
        "In GGUF some architectures always use the input again: there the copy would make "
        "llama.cpp refuse the file, and the command does.",
    .writes = true,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
