/* tenon bias: positions as something added to attention scores. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bias_out.h"
#include "save.h"
#include "target.h"

struct options {
    uint64_t heads, head_dim, buckets, max_distance, length;
    double max_bias;
    const char *tables;
    unsigned kind, form, side;
    bool force;
};

static const struct options defaults = {.length = 8};

/* By enum tenon_bias_kind, after the model's own; by enum tenon_alibi_form, likewise. */
static const char *const kind_words[] = {"auto", "alibi", "t5", "deberta", NULL};
static const char *const form_words[] = {"auto", "keys", "distance", "last", "rounded", NULL};
static const char *const side_words[] = {"encoder", "decoder", NULL};

#define FIELD(name) offsetof(struct options, name)
static const struct tenon_opt options[] = {
    {.name = "kind",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(kind),
     .value = "KIND",
     .choices = kind_words,
     .help = "alibi, t5 or deberta, instead of the model's"},
    {.name = "heads",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(heads),
     .value = "N",
     .min = 1,
     .max = UINT16_MAX,
     .help = "alibi: how many heads, instead of the model's"},
    {.name = "max-bias",
     .kind = TENON_OPT_REAL,
     .field = FIELD(max_bias),
     .value = "B",
     .help = "alibi: the largest exponent; default 8"},
    {.name = "form",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(form),
     .value = "FORM",
     .choices = form_words,
     .help =
         "alibi: slope times the key's index (keys), the distance (distance) or the distance to "
         "the last key (last), or all that in BF16 (rounded); they differ by a constant of each "
         "query, or by the rounding"},
    {.name = "head-dim",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(head_dim),
     .value = "N",
     .min = 1,
     .max = TENON_ROPE_MAX_DIM,
     .help = "alibi, rounded: the width of a head, instead of the model's"},
    {.name = "buckets",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(buckets),
     .value = "N",
     .min = 1,
     .max = UINT16_MAX,
     .help = "t5, deberta: how many buckets of distances"},
    {.name = "max-distance",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(max_distance),
     .value = "N",
     .min = 1,
     .max = INT32_MAX,
     .help = "t5, deberta: the distance from which on all are alike"},
    {.name = "side",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(side),
     .value = "SIDE",
     .choices = side_words,
     .help = "t5: encoder (the default; keys on both sides) or decoder (keys before the query)"},
    {.name = "length",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(length),
     .value = "N",
     .min = 1,
     .max = UINT16_MAX,
     .help = "how many queries and keys; default 8"},
    {.name = "tables",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(tables),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "write the bias of every head, query and key: .npy, .npz or .safetensors"},
    {.name = "force",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(force),
     .help = "replace FILE if it exists"},
};

/* What the model says, if there is one. */
static enum tenon_status read_model(struct tenon_tool *tool, struct tenon_model **model,
                                    struct tenon_bias *bias, struct tenon_error *err)
{
    const struct options *o = tool->options;
    struct tenon_positions *positions = NULL;
    enum tenon_status st;

    if (tool->n_operands == 0)
        return TENON_OK;
    st = tenon_tool_open(tool, 0, model, err);
    if (st == TENON_OK)
        st = tenon_positions_resolve(*model, NULL, &positions, err);
    if (st == TENON_OK)
        tenon_bias_of_positions(bias, positions);
    tenon_positions_free(positions);
    if (st == TENON_OK)
        st = tenon_bias_read_table(bias, *model,
                                   o->side != 0 ? TENON_PART_DECODER : TENON_PART_ENCODER, err);
    return st;
}

/* What the options say, instead. */
static void take_options(struct tenon_bias *bias, const struct options *o)
{
    if (o->kind != 0)
        bias->kind = (enum tenon_bias_kind)o->kind;
    if (o->heads > 0)
        bias->heads = (uint32_t)o->heads;
    if (o->head_dim > 0)
        bias->alibi.head_dim = (uint32_t)o->head_dim;
    if (o->max_bias > 0)
        bias->max_bias = o->max_bias;
    if (o->form > 0)
        bias->alibi.form = (enum tenon_alibi_form)(o->form - 1);
    if (o->buckets > 0)
        bias->t5.n_buckets = bias->deberta.buckets = (uint32_t)o->buckets;
    if (o->max_distance > 0)
        bias->t5.max_distance = bias->deberta.max_distance = (uint32_t)o->max_distance;
    bias->t5.bidirectional = o->side == 0;
    bias->length = o->length;
}

/* An option that would do nothing is a mistake: which ones do depends on the kind. */
static enum tenon_status check_options(const struct tenon_tool *tool, const struct tenon_bias *bias,
                                       struct tenon_error *err)
{
    static const char slopes[] = "heads max-bias form head-dim";
    static const struct {
        const char *names, *why;
    } rules[] = {
        [TENON_BIAS_ALIBI] = {"buckets max-distance side", "ALiBi has slopes, and no buckets"},
        [TENON_BIAS_T5] = {slopes, "T5 has buckets, and no slopes"},
        [TENON_BIAS_DEBERTA] = {"heads max-bias form head-dim side",
                                "DeBERTa has buckets for both sides, and no slopes"},
    };
    const struct options *o = tool->options;
    enum tenon_status st = TENON_OK;

    if (o->max_bias <= 0 && tenon_tool_given(tool, "max-bias"))
        st = tenon_report_fail(err, TENON_ERR_MISUSE,
                               "--max-bias: a largest exponent of 0, more is due");
    if (st == TENON_OK && (size_t)bias->kind < sizeof(rules) / sizeof(rules[0]) &&
        rules[bias->kind].names != NULL)
        st = tenon_tool_refuse(tool, rules[bias->kind].names, rules[bias->kind].why, err);
    if (st == TENON_OK && bias->alibi.form != TENON_ALIBI_ROUNDED)
        st = tenon_tool_refuse(tool, "head-dim", "it goes with --form rounded", err);
    return st;
}

/* Values that do not go together are wrong usage where options state some of them. */
static enum tenon_status check_values(const struct tenon_tool *tool, const struct tenon_bias *bias,
                                      struct tenon_error *err)
{
    enum tenon_status st = tenon_bias_check(bias, err);

    if (st == TENON_ERR_MISMATCH &&
        (tool->n_operands == 0 || tenon_tool_given(tool, "kind") ||
         tenon_tool_given(tool, "buckets") || tenon_tool_given(tool, "max-distance")))
        st = err->status = TENON_ERR_MISUSE;
    return st;
}

static enum tenon_status save_tables(const struct options *o, const struct tenon_bias *bias,
                                     struct tenon_error *err)
{
    struct tenon_save save = {.out = {.fd = -1}};
    enum tenon_status st = tenon_array_check(o->tables, TENON_DTYPE_F32, err);

    if (st == TENON_OK)
        st = tenon_save_begin(&save, o->tables, o->force, err);
    if (st == TENON_OK)
        st = tenon_bias_write(bias, o->tables, &save.out, err);
    if (st == TENON_OK)
        st = tenon_save_commit(&save, err);
    tenon_save_release(&save);
    return st;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_model *model = NULL;
    struct tenon_bias bias;
    const struct tenon_targets targets = {o->tables, NULL, {NULL}, o->force};
    struct tenon_error err = {0};
    enum tenon_status st;

    tenon_bias_init(&bias);
    st = read_model(tool, &model, &bias, &err);
    if (st == TENON_OK)
        st = tenon_targets_check(&targets, model, &err);
    take_options(&bias, o);
    if (st == TENON_OK)
        st = check_options(tool, &bias, &err);
    if (st == TENON_OK)
        st = check_values(tool, &bias, &err);
    if (st == TENON_OK && o->tables != NULL)
        st = save_tables(o, &bias, &err);
    if (st == TENON_OK && tool->common.json)
        st = tenon_bias_json(&bias, &tool->out, &err);
    else if (st == TENON_OK)
        st = tenon_bias_text(&bias, &tool->out, &tool->term, &err);
    if (st != TENON_OK && model != NULL)
        tenon_report_path(&err, tenon_model_path(model));
    tenon_bias_release(&bias);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon bias model.gguf", "the biases of a model with ALiBi or T5's buckets"},
    {"tenon bias --kind alibi --heads 12 --length 128 --tables alibi.npy", "without a model"},
    {"tenon bias models/t5 --side decoder --length 64 --json", "the decoder's, as JSON"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_bias = {
    .operands = "[MODEL]",
    .min_operands = 0,
    .max_operands = 1,
    .about =
        "Prints positions that are added to attention scores: the slopes of ALiBi, the buckets "
        "of T5 with the model's table, the rows of DeBERTa's relative table. --tables writes the "
        "bias of every head, query and key (for DeBERTa the rows that they meet in).",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .defaults = &defaults,
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
