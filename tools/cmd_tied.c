/* tenon tied: is the output projection the input embedding? */
#include <string.h>

#include "row_map.h"
#include "tenon/tying.h"
#include "tool.h"

struct options {
    bool no_groups;
};

static const struct tenon_opt options[] = {
    {.name = "no-groups",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, no_groups),
     .help = "do not look for equal tensors in the rest of the model, which can mean reading all "
             "of it"},
};

/* `hash` may be NULL. */
static void write_json_matrix(struct tenon_json *json, const char *key,
                              const struct tenon_model *model, const struct tenon_tensor *t,
                              const uint64_t hash[2])
{
    if (t == NULL) {
        tenon_json_null(json, key);
        return;
    }
    tenon_json_object(json, key);
    tenon_json_str(json, "name", t->name);
    tenon_tool_dtype_json(json, "dtype", model, t);
    tenon_tool_shape_json(json, "shape", t);
    if (hash != NULL)
        tenon_json_hash(json, "xxh3", hash[0], hash[1]);
    else
        tenon_json_null(json, "xxh3");
    tenon_json_end(json);
}

static void write_json_evidence(struct tenon_json *json, const struct tenon_evidence *e)
{
    if (!e->valid) {
        tenon_json_null(json, "evidence");
        return;
    }
    tenon_json_object(json, "evidence");
    tenon_json_u64(json, "rows", e->rows);
    tenon_json_u64(json, "cols", e->cols);
    tenon_json_u64(json, "equal_rows", e->equal_rows);
    tenon_json_offset(json, "first_differing_row", e->first_differing_row);
    tenon_json_f64(json, "max_abs_diff", e->max_abs_diff);
    tenon_json_f64(json, "rel_l2", e->rel_l2);
    tenon_json_f64(json, "cosine", e->cosine);
    tenon_json_f64(json, "scale", e->scale);
    tenon_json_end(json);
}

static void write_json_action(struct tenon_json *json, const char *key,
                              enum tenon_loader_action action)
{
    tenon_json_text(json, key,
                    action != TENON_LOADER_UNKNOWN ? tenon_loader_action_name(action) : NULL);
}

static void write_json_groups(struct tenon_json *json, const struct tenon_model *model,
                              const struct tenon_tying *t)
{
    size_t i = 0;

    tenon_json_array(json, "groups");
    for (size_t g = 0; g < t->n_groups; g++) {
        tenon_json_array_flat(json, NULL);
        for (; i < t->group_ends[g]; i++)
            tenon_json_str(json, NULL, tenon_model_tensor(model, t->group_members[i])->name);
        tenon_json_end(json);
    }
    tenon_json_end(json);
}

static void write_json(struct tenon_tool *tool, const struct tenon_model *model,
                       const struct tenon_tying *t)
{
    const struct options *o = tool->options;
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.tied/1");
    tenon_json_text(&json, "verdict", tenon_verdict_name(t->verdict));
    tenon_json_bool(&json, "tied", t->tied);
    if (t->declared == TENON_SILENT)
        tenon_json_null(&json, "declared");
    else
        tenon_json_bool(&json, "declared", t->declared == TENON_YES);
    tenon_json_text(&json, "declared_by", t->declared_by);
    tenon_json_bool(&json, "consistent", t->consistent);
    write_json_matrix(&json, "input", model, t->input, t->has_input_hash ? t->input_hash : NULL);
    write_json_matrix(&json, "output", model, t->output,
                      t->has_output_hash ? t->output_hash : NULL);
    write_json_evidence(&json, &t->evidence);
    tenon_json_object(&json, "saving");
    tenon_json_u64(&json, "bytes", t->saving_bytes);
    tenon_json_u64(&json, "parameters", t->saving_parameters);
    tenon_json_f64(&json, "fraction", t->saving_fraction);
    tenon_json_end(&json);
    if (o->no_groups)
        tenon_json_null(&json, "groups");
    else
        write_json_groups(&json, model, t);
    tenon_json_object(&json, "loaders");
    write_json_action(&json, "transformers_v4", t->transformers_v4);
    write_json_action(&json, "transformers_v5", t->transformers_v5);
    write_json_action(&json, "llama_cpp", t->llama_cpp);
    tenon_json_end(&json);
    tenon_json_array(&json, "notes");
    for (size_t i = 0; i < t->n_notes; i++)
        tenon_json_text(&json, NULL, t->notes[i]);
    tenon_json_end(&json);
    tenon_json_end(&json);
}

/* --- text --- */

enum { LABEL = 12 };

static void begin_line(struct tenon_tool *tool, const char *label)
{
    tenon_out_printf(&tool->out, "%s%-*s%s", tenon_term_style(&tool->term, TENON_STYLE_BOLD), LABEL,
                     label, tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
}

static void write_verdict(struct tenon_tool *tool, const struct tenon_tying *t)
{
    enum tenon_style style = t->tied ? TENON_STYLE_GOOD : TENON_STYLE_WARNING;

    tenon_out_printf(&tool->out, "%s%s%s (%s): %s\n\n", tenon_term_style(&tool->term, style),
                     t->tied ? "tied" : "not tied",
                     tenon_term_style(&tool->term, TENON_STYLE_PLAIN),
                     tenon_verdict_name(t->verdict), tenon_verdict_meaning(t->verdict));
}

/* `hash` may be NULL. */
static void add_matrix(struct tenon_table *table, const char *label,
                       const struct tenon_model *model, const struct tenon_tensor *t,
                       const uint64_t hash[2])
{
    tenon_table_cell(table, "%s", label);
    if (t == NULL) {
        tenon_table_cell(table, "not stored");
        for (int i = 0; i < 3; i++)
            tenon_table_cell(table, "%s", "");
        return;
    }
    tenon_table_safe(table, t->name.data, t->name.len);
    tenon_tool_dtype_cell(table, model, t);
    tenon_tool_shape_cell(table, t);
    if (hash != NULL)
        tenon_table_cell(table, "%016llx%016llx", (unsigned long long)hash[0],
                         (unsigned long long)hash[1]);
    else
        tenon_table_cell(table, "%s", "");
}

static void write_matrices(struct tenon_tool *tool, const struct tenon_model *model,
                           const struct tenon_tying *t)
{
    struct tenon_table table;

    tenon_table_init(&table);
    for (int i = 0; i < 5; i++)
        tenon_table_column(&table, "", false);
    add_matrix(&table, "Input     ", model, t->input, t->has_input_hash ? t->input_hash : NULL);
    add_matrix(&table, "Output    ", model, t->output, t->has_output_hash ? t->output_hash : NULL);
    tenon_table_print(&table, &tool->out, &tool->term, 0);
    tenon_table_release(&table);
}

static void write_evidence(struct tenon_tool *tool, const struct tenon_evidence *e)
{
    struct tenon_out *out = &tool->out;
    char a[32], b[32];

    if (!e->valid)
        return;
    begin_line(tool, "Rows");
    tenon_out_printf(out, "%s of %s equal", tenon_out_grouped(a, e->equal_rows),
                     tenon_out_grouped(b, e->rows));
    if (e->first_differing_row != UINT64_MAX)
        tenon_out_printf(out, ", the first that differs is %llu",
                         (unsigned long long)e->first_differing_row);
    tenon_out_text(out, "\n");
    if (!e->by_values || e->first_differing_row == UINT64_MAX)
        return;
    begin_line(tool, "Values");
    tenon_out_printf(out, "at most %.6g apart, relative distance %.6g\n",
                     tenon_out_real(e->max_abs_diff), tenon_out_real(e->rel_l2));
    begin_line(tool, "");
    tenon_out_printf(out, "cosine %.6g, best scale %.6g\n", tenon_out_real(e->cosine),
                     tenon_out_real(e->scale));
}

static void write_declared(struct tenon_tool *tool, const struct tenon_tying *t)
{
    begin_line(tool, "Declared");
    if (t->declared == TENON_SILENT)
        tenon_out_text(&tool->out, "nothing");
    else
        tenon_out_text(&tool->out, t->declared == TENON_YES ? "tied" : "not tied");
    if (t->declared_by != NULL) {
        tenon_out_text(&tool->out, " (");
        tenon_out_safe(&tool->out, t->declared_by, strlen(t->declared_by));
        tenon_out_text(&tool->out, ")");
    }
    if (!t->consistent)
        tenon_out_printf(&tool->out, ", %s%scontradicts the stored weights%s",
                         t->declared == TENON_SILENT ? "the default of the family " : "",
                         tenon_term_style(&tool->term, TENON_STYLE_BAD),
                         tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    tenon_out_text(&tool->out, "\n");
}

/* What an action means, in plain words. */
static const char *action_words(enum tenon_loader_action action)
{
    static const char *const words[] = {
        [TENON_LOADER_UNKNOWN] = "unknown",
        [TENON_LOADER_TIES] = "uses the input matrix for both",
        [TENON_LOADER_KEEPS_BOTH] = "loads both matrices",
        [TENON_LOADER_DROPS_OUTPUT] = "drops the stored output matrix",
        [TENON_LOADER_RANDOM_OUTPUT] = "fills the output matrix with random numbers",
        [TENON_LOADER_REFUSES] = "refuses the file",
    };

    return words[action];
}

static void write_loaders(struct tenon_tool *tool, const struct tenon_tying *t)
{
    const struct {
        const char *name;
        enum tenon_loader_action action;
    } loaders[] = {
        {"transformers 4", t->transformers_v4},
        {"transformers 5", t->transformers_v5},
        {"llama.cpp", t->llama_cpp},
    };
    const char *label = "Loaders";

    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
        if (loaders[i].action == TENON_LOADER_UNKNOWN)
            continue;
        begin_line(tool, label);
        tenon_out_printf(&tool->out, "%-15s %s\n", loaders[i].name,
                         action_words(loaders[i].action));
        label = "";
    }
}

static void write_saving(struct tenon_tool *tool, const struct tenon_tying *t)
{
    char bytes[32], count[32];

    if (t->saving_bytes == 0)
        return;
    begin_line(tool, t->tied && t->output == NULL ? "Saves" : "Would save");
    tenon_out_printf(&tool->out, "%s, %s parameters (%.1f%% of all)\n",
                     tenon_out_bytes(bytes, t->saving_bytes),
                     tenon_out_count(count, t->saving_parameters), 100 * t->saving_fraction);
}

/* Matrices only: that some norms are equal says little, and a page of them hides the rest. */
static void write_groups(struct tenon_tool *tool, const struct tenon_model *model,
                         const struct tenon_tying *t)
{
    const char *title = "Same bytes";
    size_t i = 0;

    for (size_t g = 0; g < t->n_groups; i = t->group_ends[g++]) {
        int between = 0; /* the first stands behind the title */

        if (tenon_model_tensor(model, t->group_members[i])->n_dims < 2)
            continue;
        begin_line(tool, title);
        title = "";
        for (; i < t->group_ends[g]; i++) {
            struct tenon_str name = tenon_model_tensor(model, t->group_members[i])->name;

            tenon_out_printf(&tool->out, "%*s", between, "");
            tenon_out_text(&tool->out, between > 0 ? "= " : "");
            tenon_out_safe(&tool->out, name.data, name.len);
            tenon_out_text(&tool->out, "\n");
            between = LABEL;
        }
    }
}

static void write_notes(struct tenon_tool *tool, const struct tenon_tying *t)
{
    if (t->n_notes > 0)
        tenon_out_text(&tool->out, "\n");
    for (size_t i = 0; i < t->n_notes; i++) {
        tenon_out_text(&tool->out, "- ");
        tenon_out_wrapped(&tool->out, t->notes[i], 2, 2, tool->term.width);
    }
}

static enum tenon_status write_text(struct tenon_tool *tool, const struct tenon_model *model,
                                    const struct tenon_tying *t, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    write_verdict(tool, t);
    write_matrices(tool, model, t);
    write_evidence(tool, &t->evidence);
    write_declared(tool, t);
    write_loaders(tool, t);
    write_saving(tool, t);
    write_groups(tool, model, t);
    if (tool->common.verbose && t->evidence.valid && t->evidence.by_values &&
        t->evidence.equal_rows < t->evidence.rows)
        st = tenon_row_map_write(tool, model, t->input, t->output, err);
    write_notes(tool, t);
    return st;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_tying_options tying_options;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_tying *tying = NULL;
    int status = TENON_EXIT_NO;
    enum tenon_status st = tenon_tool_open(tool, 0, &model, &err);

    tenon_tying_options_init(&tying_options);
    tying_options.threads = (unsigned)tool->common.threads;
    tying_options.groups = !o->no_groups && !tool->common.quiet;
    tying_options.values = true;
    if (st == TENON_OK)
        st = tenon_tying_analyse(model, &tying_options, &tying, &err);
    if (st != TENON_OK)
        tenon_report_path(&err, tool->operands[0]);
    else if (tool->common.json)
        write_json(tool, model, tying);
    else if (!tool->common.quiet)
        st = write_text(tool, model, tying, &err);
    if (st == TENON_OK && tying->tied)
        status = TENON_EXIT_YES;
    tenon_tying_free(tying);
    tenon_model_free(model);
    return st == TENON_OK ? status : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon tied model.gguf", "the verdict, with the evidence for it"},
    {"tenon tied -q models/llama && echo tied", "only the exit status"},
    {"tenon tied -v model.safetensors", "with a map of the rows that differ"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_tied = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Tells whether the output projection is the input embedding, from the weights themselves, "
        "and whether config or metadata agree; what loaders make of it; and what tying saves here, "
        "or would.\n"
        "Tied are: absent (only the input matrix is stored and the family uses it again), shared "
        "(two names, one storage), identical (two copies), equal (equal values in other types, or "
        "transposed), quantized (they differ by quantization only).\n"
        "Not tied are: scaled (one is a multiple of the other), partial (some rows are equal), "
        "different, incompatible (shapes that cannot be tied), headless (no output expected), "
        "missing (an output is expected, but not there).",
    .no = "not tied",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
