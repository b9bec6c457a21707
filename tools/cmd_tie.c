/* tenon tie: store the matrix of a tied model once. */
#include "plan_out.h"
#include "tenon/tie.h"
#include "tool.h"

struct options {
    unsigned keep;
    bool lossy;
};

/* In the order of enum tenon_keep. */
static const char *const keep_words[] = {"best", "input", "output", "mean", NULL};

static const struct tenon_opt options[] = {
    {.name = "keep",
     .kind = TENON_OPT_CHOICE,
     .field = offsetof(struct options, keep),
     .value = "WHICH",
     .choices = keep_words,
     .help = "whose values the one matrix gets: best (the wider or more precise copy), input, "
             "output, or the mean of both"},
    {.name = "lossy",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, lossy),
     .help = "tie matrices that are not the same, too; needs --keep input, output or mean"},
};

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_tie_options tie;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_plan *plan = NULL;
    const char *target = NULL;
    enum tenon_status st = tenon_write_target(tool, tool->operands[0], &target, &err);

    tenon_tie_options_init(&tie);
    tie.keep = (enum tenon_keep)o->keep;
    tie.lossy = o->lossy;
    tie.force = tool->write.force;
    tie.threads = (unsigned)tool->common.threads;
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK) {
        st = tenon_plan_tie(model, target, &tie, &plan, &err);
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
    {"tenon tie merged/ -o tied/", "a checkpoint that stores the same matrix twice"},
    {"tenon tie model.gguf --in-place", "the file itself becomes smaller"},
    {"tenon tie tuned/ -o tied/ --lossy --keep output", "although the matrices differ"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_tie = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Stores the matrix that serves as input embedding and as output projection once, and says "
        "so in config, index and metadata. What 'tenon tied' calls shared, identical or equal is "
        "tied without loss, what it calls quantized keeps the more precise copy; scaled, partial "
        "and different matrices only with --lossy.\n"
        "In GGUF there is no flag: the architecture decides. What the reference loader of the "
        "family would not open is refused.\n"
        "For a folder OUT is a folder, for a split set the name of one of its files. A model that "
        "is tied already is copied.",
    .writes = true,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
