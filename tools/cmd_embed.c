/* tenon embed: token ids to vectors. */
#include <math.h>
#include <sys/stat.h>

#include "embed_out.h"
#include "save.h"
#include "tool.h"

struct options {
    struct tenon_opt_list ids;
    const char *ids_file, *output;
    unsigned stage, dtype;
    bool force;
};

static const char *const stage_words[] = {"token", NULL};
static const char *const dtype_words[] = {"F32", "F16", "BF16", NULL};
static const enum tenon_dtype dtypes[] = {TENON_DTYPE_F32, TENON_DTYPE_F16, TENON_DTYPE_BF16};

#define FIELD(name) offsetof(struct options, name)
static const struct tenon_opt options[] = {
    {.name = "ids",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(ids),
     .value = "LIST",
     .flags = TENON_OPT_REPEATED,
     .help = "token ids and ranges a-b, separated by commas or blanks; each LIST is one sequence"},
    {.name = "ids-file",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(ids_file),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "read them from FILE (- for standard input), a sequence a line"},
    {.name = "stage",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(stage),
     .value = "STAGE",
     .choices = stage_words,
     .help = "token: rows of the matrix as they are"},
    {.letter = 'o',
     .name = "output",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(output),
     .value = "FILE",
     .flags = TENON_OPT_FILE,
     .help = "write a file: .npy, .safetensors, .json, .csv or .tsv"},
    {.name = "dtype",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(dtype),
     .value = "TYPE",
     .choices = dtype_words,
     .help = "element type in .npy and .safetensors: F32, F16 or BF16"},
    {.name = "force",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(force),
     .help = "replace FILE if it exists"},
};

static enum tenon_status read_ids(const struct options *o, struct tenon_ids *ids,
                                  struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < o->ids.n; i++)
        st = tenon_ids_add(ids, o->ids.items[i], 0, err);
    if (st == TENON_OK && o->ids_file != NULL)
        st = tenon_ids_read(ids, o->ids_file, err);
    if (st != TENON_OK || ids->n > 0)
        return st;
    tenon_report_fail(err, TENON_ERR_MISUSE, "no token ids are given");
    tenon_report_hint(err, "use --ids 1,5,100-110, or --ids-file FILE");
    return TENON_ERR_MISUSE;
}

/* Rejects what the form of output cannot do, before anything is read. */
static enum tenon_status check_form(const struct options *o, const struct tenon_vectors_form *form,
                                    struct tenon_error *err)
{
    if (dtypes[o->dtype] == TENON_DTYPE_F32)
        return TENON_OK;
    if (form == NULL || !form->binary) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "--dtype is for .npy and .safetensors files");
        tenon_report_hint(err, "name one with -o");
        return TENON_ERR_MISUSE;
    }
    if (dtypes[o->dtype] == TENON_DTYPE_BF16 && !form->bf16) {
        tenon_report_fail(err, TENON_ERR_CANNOT_REPRESENT, "%s files have no BF16",
                          form->extension);
        tenon_report_path(err, o->output);
        tenon_report_hint(err, "use --dtype F16, or write .safetensors");
        return TENON_ERR_CANNOT_REPRESENT;
    }
    return TENON_OK;
}

static enum tenon_status write_file(const struct options *o, const struct tenon_vectors_form *form,
                                    const struct tenon_vectors *vectors, struct tenon_error *err)
{
    struct tenon_save save;
    enum tenon_status st = tenon_save_begin(&save, o->output, o->force, err);

    if (st == TENON_OK)
        st = form->write(&save.out, vectors, err);
    if (st == TENON_OK)
        st = tenon_save_commit(&save, err);
    tenon_save_release(&save);
    return st;
}

static bool is_same_file(const char *path, const struct stat *other)
{
    struct stat file;

    return stat(path, &file) == 0 && file.st_dev == other->st_dev && file.st_ino == other->st_ino;
}

/* No output may replace a file that it is made from, whatever the names. */
static enum tenon_status check_target(const struct options *o, const struct tenon_model *model,
                                      struct tenon_error *err)
{
    struct stat target;
    bool of_model = false, of_ids;

    if (o->output == NULL || stat(o->output, &target) != 0)
        return TENON_OK;
    for (size_t i = 0; i < tenon_model_n_files(model); i++)
        of_model = of_model || is_same_file(tenon_model_file(model, i)->path, &target);
    for (size_t i = 0; i < tenon_model_n_side_files(model); i++)
        of_model = of_model || is_same_file(tenon_model_side_file(model, i), &target);
    of_ids = o->ids_file != NULL && is_same_file(o->ids_file, &target);
    if (!of_model && !of_ids)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_MISUSE,
                      of_model ? "is a file of the model itself" : "is the list of ids itself");
    tenon_report_path(err, o->output);
    tenon_report_hint(err, "choose another name for the output");
    return TENON_ERR_MISUSE;
}

/* --- the table for people --- */

/* The most values of a vector that are shown; columns that each takes, at most ("-0.000123456"),
 * and what else stands in a line (id, length, "..."). */
enum { SHOWN_VALUES = 6, VALUE_WIDTH = 14, OTHER_WIDTH = 24 };

struct text_rows {
    struct tenon_table *table;
    const struct tenon_vectors *vectors;
    size_t shown; /* values of a vector */
};

/* As many values as fit a line of the terminal. */
static size_t count_shown(const struct tenon_term *term, uint64_t cols)
{
    size_t most = SHOWN_VALUES;

    if (term->tty && term->width < OTHER_WIDTH + SHOWN_VALUES * VALUE_WIDTH)
        most = term->width > OTHER_WIDTH ? (term->width - OTHER_WIDTH) / VALUE_WIDTH : 0;
    if (most == 0)
        most = 1;
    return cols < most ? (size_t)cols : most;
}

static enum tenon_status add_text_row(void *user, size_t i, const float *values,
                                      struct tenon_error *err)
{
    struct text_rows *r = user;
    uint64_t cols = r->vectors->embed->cols;
    double squares = 0;

    (void)err;
    for (uint64_t c = 0; c < cols; c++)
        squares += (double)values[c] * (double)values[c];
    tenon_table_cell(r->table, "%llu", (unsigned long long)r->vectors->ids->ids[i]);
    tenon_table_cell(r->table, "%.6g", tenon_out_real(sqrt(squares)));
    for (size_t c = 0; c < r->shown; c++)
        tenon_table_cell(r->table, "%.6g", tenon_out_real((double)values[c]));
    tenon_table_cell(r->table, "%s", cols > r->shown ? "..." : "");
    return TENON_OK;
}

static enum tenon_status write_table(struct tenon_tool *tool, const struct tenon_vectors *v,
                                     struct tenon_error *err)
{
    static const char *const titles[SHOWN_VALUES] = {"V0", "V1", "V2", "V3", "V4", "V5"};
    struct tenon_table table;
    struct text_rows rows = {&table, v, count_shown(&tool->term, v->embed->cols)};
    enum tenon_status st;

    tenon_table_init(&table);
    tenon_table_column(&table, "ID", true);
    tenon_table_column(&table, "LENGTH", true);
    for (size_t i = 0; i < rows.shown; i++)
        tenon_table_column(&table, titles[i], true);
    tenon_table_column(&table, "", false);
    st = tenon_vectors_each(v, add_text_row, &rows, err);
    if (st == TENON_OK) {
        struct tenon_str name = v->embed->matrix->name;

        tenon_table_print(&table, &tool->out, &tool->term, 0);
        tenon_out_printf(&tool->out, "\n%zu vector%s of %llu values, rows of '", v->ids->n,
                         v->ids->n == 1 ? "" : "s", (unsigned long long)v->embed->cols);
        tenon_out_safe(&tool->out, name.data, name.len);
        tenon_out_text(&tool->out, "'\n");
    }
    tenon_table_release(&table);
    return st;
}

static enum tenon_status write_result(struct tenon_tool *tool,
                                      const struct tenon_vectors_form *form,
                                      const struct tenon_vectors *vectors, struct tenon_error *err)
{
    const struct options *o = tool->options;
    enum tenon_status st = TENON_OK;

    if (o->output != NULL)
        st = write_file(o, form, vectors, err);
    if (st == TENON_OK && tool->common.json)
        return tenon_vectors_json(&tool->out, vectors, o->output, err);
    if (st == TENON_OK && o->output == NULL)
        return write_table(tool, vectors, err);
    if (st == TENON_OK && tool->common.verbose)
        tenon_tool_note(tool, "%zu vector%s written to %s", vectors->ids->n,
                        vectors->ids->n == 1 ? "" : "s", o->output);
    return st;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    const struct tenon_vectors_form *form = NULL;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_embed embed;
    struct tenon_ids ids = {0};
    struct tenon_vectors vectors;
    enum tenon_status st = TENON_OK;

    if (o->output != NULL && (form = tenon_vectors_form(o->output, &err)) == NULL)
        st = err.status;
    if (st == TENON_OK)
        st = check_form(o, form, &err);
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    if (st == TENON_OK)
        st = check_target(o, model, &err);
    if (st == TENON_OK)
        st = tenon_embed_init(&embed, model, &err);
    if (st == TENON_OK) {
        ids.rows = embed.rows;
        st = read_ids(o, &ids, &err);
    }
    if (st == TENON_OK) {
        tenon_vectors_init(&vectors, &embed, &ids);
        vectors.dtype = dtypes[o->dtype];
        st = write_result(tool, form, &vectors, &err);
    }
    tenon_ids_release(&ids);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon embed model.gguf --ids 1,5,100-110", "a table"},
    {"tenon embed model.gguf --ids-file prompt.ids -o prompt.npy", "a NumPy file"},
    {"echo '1 2 3' | tenon embed models/llama --ids-file - --json", "JSON, ids from a pipe"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_embed = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Looks token ids up in the input embedding. Several sequences of equal length give an "
        "array of three dimensions [sequences, ids, width], otherwise it has two [ids, width].\n"
        "An output file appears whole or not at all, and replaces nothing without --force.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
