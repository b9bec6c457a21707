/* tenon rope: the frequencies of a rotary embedding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "position_opt.h"
#include "rope_out.h"
#include "save.h"
#include "target.h"

struct options {
    struct tenon_position_options positions;
    uint64_t layer, context;
    const char *tables, *plot;
    unsigned dtype;
    bool force;
};

static const char *const dtype_words[] = {"F32", "F16", "BF16", NULL};
static const enum tenon_dtype dtypes[] = {TENON_DTYPE_F32, TENON_DTYPE_F16, TENON_DTYPE_BF16};

#define FIELD(name) offsetof(struct options, name)
static const struct tenon_opt options[] = {
    {.name = "layer",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(layer),
     .value = "N",
     .max = TENON_MOST_LAYERS,
     .help = "the rotation of layer N; default 0"},
    {.name = "context",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(context),
     .value = "N",
     .min = 1,
     .max = UINT32_MAX,
     .help = "count turns within N positions, instead of the model's context"},
    TENON_POSITION_ROWS(struct options),
    {.name = "tables",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(tables),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "write cos and sin, [--length, pairs] each, as fused kernels take them: .safetensors, "
             ".npz, or .npy with cos before sin; --length is then the model's context by default"},
    {.name = "dtype",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(dtype),
     .value = "TYPE",
     .choices = dtype_words,
     .help = "element type of the tables: F32, F16 or BF16"},
    {.name = "plot",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(plot),
     .value = "FILE.svg",
     .flags = TENON_OPT_FILE,
     .help = "draw the wavelengths against the context, and how the inner product decays"},
    {.name = "force",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(force),
     .help = "replace FILE if it exists"},
};

/* An option that would do nothing is a mistake. */
static enum tenon_status check_options(const struct tenon_tool *tool, struct tenon_error *err)
{
    const struct options *o = tool->options;
    enum tenon_status st = TENON_OK;

    if (tool->n_operands == 0)
        st = tenon_tool_refuse(tool, "layer heads", "it is about a model, and none is given", err);
    if (st == TENON_OK && o->tables == NULL)
        st = tenon_tool_refuse(tool, "dtype", "it goes with --tables", err);
    return st == TENON_OK ? tenon_position_options_check(tool, &o->positions, err) : st;
}

/* One run: the model, what it and the options say, and the table of the wanted layer. */
struct rope_run {
    struct tenon_tool *tool;
    const struct options *o;
    struct tenon_model *model;
    struct tenon_position_given given;
    struct tenon_positions *positions;
    struct tenon_rope_view view;
};

/* Without a model: one that says nothing, so that everything comes from the options. */
static enum tenon_status open_model(struct rope_run *r, struct tenon_error *err)
{
    static const char nothing[16] = "\x08\0\0\0\0\0\0\0{}      ";

    if (r->tool->n_operands > 0)
        return tenon_tool_open(r->tool, 0, &r->model, err);
    if (r->o->positions.rotary_dim == 0) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "neither a model nor a rotary width is given");
        tenon_report_hint(err, "name a model, or use --rotary-dim N");
        return TENON_ERR_MISUSE;
    }
    return tenon_model_open_memory(nothing, sizeof(nothing), NULL, &r->model, err);
}

/* Without a model there is no file to name, and whatever is wrong is wrong usage. */
static void blame_options(struct tenon_error *err)
{
    if (err->status == TENON_ERR_NO_MEMORY)
        return;
    err->status = TENON_ERR_MISUSE;
    if (strcmp(err->path, "(memory)") == 0)
        err->path[0] = '\0';
    tenon_report_hint(err, "see 'tenon help rope'");
}

static enum tenon_status resolve(struct rope_run *r, struct tenon_error *err)
{
    enum tenon_status st = tenon_position_options_read(&r->o->positions, &r->given, err);

    if (r->tool->n_operands == 0)
        r->given.overrides.rotary = true;
    if (st == TENON_OK)
        st = tenon_positions_resolve(r->model, &r->given.overrides, &r->positions, err);
    if (st != TENON_OK)
        tenon_position_options_blame(&r->o->positions, err);
    if (st != TENON_OK && r->tool->n_operands == 0)
        blame_options(err);
    if (st != TENON_OK)
        return st;
    if (r->positions->n_ropes == 0) {
        if (r->positions->kind == TENON_POSITION_NONE)
            tenon_report_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, "has no rotary positions");
        else
            tenon_report_fail(err, TENON_ERR_UNSUPPORTED_FEATURE,
                              "its positions are %s, not rotary",
                              tenon_position_name(r->positions->kind));
        tenon_report_path(err, tenon_model_path(r->model));
        return TENON_ERR_UNSUPPORTED_FEATURE;
    }
    if (r->positions->n_layers > 0 && r->o->layer >= r->positions->n_layers) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "layer %llu is outside the model, which has %zu",
                          (unsigned long long)r->o->layer, r->positions->n_layers);
        tenon_report_path(err, tenon_model_path(r->model));
        return TENON_ERR_MISUSE;
    }
    return TENON_OK;
}

/* The table of the wanted layer, and one without its scaling for the picture. */
static enum tenon_status make_tables(struct rope_run *r, struct tenon_error *err)
{
    const struct tenon_rope_use *use = tenon_positions_rope(r->positions, r->o->layer);
    enum tenon_precision precision = tenon_position_precision(&r->o->positions, r->model);
    double context =
        r->o->context > 0 ? (double)r->o->context : (double)r->positions->max_positions;
    enum tenon_status st;

    if (use == NULL) {
        tenon_report_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, "layer %llu does not rotate",
                          (unsigned long long)r->o->layer);
        tenon_report_path(err, tenon_model_path(r->model));
        return TENON_ERR_UNSUPPORTED_FEATURE;
    }
    r->view.use = use;
    r->view.layer = r->o->layer;
    r->view.path = r->tool->n_operands > 0 ? tenon_model_path(r->model) : NULL;
    r->view.context = context > 0 ? context : NAN;
    st = tenon_rope_table_init(&r->view.table, &use->rope, precision,
                               (double)r->o->positions.length, err);
    if (st == TENON_OK)
        return TENON_OK;
    tenon_report_path(err, r->o->positions.scaling == NULL && r->view.path != NULL
                               ? r->view.path
                               : "--rope-scaling");
    if (r->view.path == NULL || r->o->positions.scaling != NULL)
        blame_options(err);
    return err->status;
}

static enum tenon_status save_tables(struct rope_run *r, struct tenon_error *err)
{
    struct tenon_rope_file file = {.table = &r->view.table,
                                   .length = r->o->positions.length,
                                   .dtype = dtypes[r->o->dtype],
                                   .path = r->o->tables};
    struct tenon_save save;
    enum tenon_status st;

    if (file.length == 0)
        file.length = isnan(r->view.context) ? 0 : (uint64_t)r->view.context;
    st = tenon_rope_file_check(&file, err);
    if (st != TENON_OK)
        return st;
    st = tenon_save_begin(&save, file.path, r->o->force, err);
    if (st == TENON_OK)
        st = tenon_rope_file_write(&file, &save.out, err);
    if (st == TENON_OK)
        st = tenon_save_commit(&save, err);
    tenon_save_release(&save);
    return st;
}

/* The same rotation without scaling; false when it has none. */
static bool make_plain(const struct rope_run *r, struct tenon_rope_table *plain)
{
    struct tenon_rope rope = r->view.use->rope;

    if (rope.scaling == TENON_ROPE_DEFAULT && rope.freq_factors == NULL)
        return false;
    rope.scaling = TENON_ROPE_DEFAULT;
    rope.freq_factors = NULL;
    return tenon_rope_table_init(plain, &rope, r->view.table.precision, 0, NULL) == TENON_OK;
}

static enum tenon_status save_plot(struct rope_run *r, struct tenon_error *err)
{
    struct tenon_rope_table plain;
    char title[256];
    struct tenon_rope_plot plot = {.title = title,
                                   .table = &r->view.table,
                                   .original = r->view.use->rope.original,
                                   .context = r->view.context};
    struct tenon_save save;
    enum tenon_status st = tenon_save_begin(&save, r->o->plot, r->o->force, err);

    tenon_rope_describe(&r->view, title, sizeof(title));
    if (make_plain(r, &plain))
        plot.plain = &plain;
    if (st == TENON_OK)
        st = tenon_rope_draw(&plot, &save.out, err);
    if (st == TENON_OK)
        st = tenon_save_commit(&save, err);
    tenon_save_release(&save);
    if (plot.plain != NULL)
        tenon_rope_table_release(&plain);
    return st;
}

/* Layers that rotate otherwise than the shown one. */
static void note_others(const struct rope_run *r)
{
    size_t other = 0, none = 0;

    for (size_t i = 0; i < r->positions->n_layers; i++) {
        const struct tenon_rope_use *use = tenon_positions_rope(r->positions, i);

        none += use == NULL;
        other += use != NULL && use != r->view.use;
    }
    if (other > 0)
        tenon_tool_note(r->tool, "%zu of %zu layers rotate otherwise: see --layer", other,
                        r->positions->n_layers);
    if (none > 0)
        tenon_tool_note(r->tool, "%zu of %zu layers do not rotate", none, r->positions->n_layers);
    if (r->view.table.length > 0 && (r->view.use->rope.scaling == TENON_ROPE_DYNAMIC ||
                                     r->view.use->rope.scaling == TENON_ROPE_LONGROPE))
        tenon_tool_note(r->tool, "frequencies for sequences of %.0f position%s%s",
                        r->view.table.length, r->view.table.length == 1 ? "" : "s",
                        r->view.use->rope.scaling != TENON_ROPE_LONGROPE ? ""
                        : r->view.table.long_factors                     ? ", the long factors"
                                                                         : ", the short factors");
}

static int run(struct tenon_tool *tool)
{
    struct rope_run r = {.tool = tool, .o = tool->options};
    struct tenon_error err = {0};
    const struct tenon_targets targets = {r.o->tables, r.o->plot, {NULL}, r.o->force};
    bool made = false;
    enum tenon_status st = check_options(tool, &err);

    if (st == TENON_OK)
        st = open_model(&r, &err);
    if (st == TENON_OK)
        st = tenon_targets_check(&targets, r.model, &err);
    if (st == TENON_OK)
        st = resolve(&r, &err);
    if (st == TENON_OK) {
        st = make_tables(&r, &err);
        made = st == TENON_OK;
    }
    if (st == TENON_OK && r.o->tables != NULL)
        st = save_tables(&r, &err);
    if (st == TENON_OK && r.o->plot != NULL)
        st = save_plot(&r, &err);
    if (st == TENON_OK) {
        note_others(&r);
        if (tool->common.json)
            tenon_rope_json(&r.view, &tool->out);
        else
            tenon_rope_text(&r.view, &tool->out, &tool->term);
    }
    if (made)
        tenon_rope_table_release(&r.view.table);
    tenon_positions_free(r.positions);
    tenon_position_given_release(&r.given);
    tenon_model_free(r.model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon rope model.gguf", "the frequencies of a model"},
    {"tenon rope models/llama --plot rope.svg", "and a picture of them"},
    {"tenon rope --rotary-dim 128 --theta 1e6 --rope-scaling '{\"rope_type\": \"yarn\", "
     "\"factor\": 4, \"original_max_position_embeddings\": 32768}'",
     "a variant without a model"},
    {"tenon rope model.gguf --tables rope.safetensors --length 4096", "cos and sin of positions"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_rope = {
    .operands = "[MODEL]",
    .min_operands = 0,
    .max_operands = 1,
    .about = "Prints the rotary frequencies of a model, or of the options alone: for each pair its "
             "inverse frequency, its wavelength in positions, and its turns within the context.\n"
             "Rotation goes on queries and keys, not on the embedding: 'tenon embed --stage qk' "
             "shows it.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
