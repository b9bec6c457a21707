/* tenon embed: token ids to vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "embed_out.h"
#include "save.h"
#include "tenon/embed.h"
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

static enum tenon_status write_file(const struct options *o, const struct tenon_vectors *vectors,
                                    struct tenon_error *err)
{
    struct tenon_save save;
    enum tenon_status st = tenon_save_begin(&save, o->output, o->force, err);

    if (st == TENON_OK)
        st = tenon_vectors_write(o->output, vectors, &save.out, err);
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

/* --- the stages --- */

struct token_rows {
    const struct tenon_embed *embed;
    const struct tenon_ids *ids;
};

static enum tenon_status look_up(void *user, uint64_t first, size_t n, float *out,
                                 struct tenon_error *err)
{
    const struct token_rows *r = user;

    return tenon_embed_rows(r->embed, r->ids->ids + first, n, out, err);
}

/* Each sequence counts from `start`; to be freed. */
static uint64_t *make_positions(const struct tenon_ids *ids, struct tenon_error *err)
{
    uint64_t *positions = tenon_tool_alloc(ids->n, sizeof(*positions), err);
    size_t begin = 0;

    for (size_t s = 0; positions != NULL && s < ids->n_sequences; begin = ids->ends[s++])
        for (size_t i = begin; i < ids->ends[s]; i++)
            positions[i] = i - begin;
    return positions;
}

static enum tenon_status write_result(struct tenon_tool *tool, const struct tenon_vectors *vectors,
                                      struct tenon_error *err)
{
    const struct options *o = tool->options;
    enum tenon_status st = TENON_OK;

    if (o->output != NULL)
        st = write_file(o, vectors, err);
    if (st == TENON_OK && tool->common.json)
        return tenon_vectors_json(&tool->out, vectors, o->output, err);
    if (st == TENON_OK && o->output == NULL)
        return tenon_vectors_text(&tool->out, &tool->term, vectors, err);
    if (st == TENON_OK && tool->common.verbose)
        tenon_tool_note(tool, "%zu vector%s written to %s", vectors->ids->n,
                        vectors->ids->n == 1 ? "" : "s", o->output);
    return st;
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct tenon_embed embed;
    struct tenon_ids ids = {0};
    struct token_rows rows = {&embed, &ids};
    uint64_t *positions = NULL;
    char source[160];
    struct tenon_vectors vectors = {
        .stage = "token", .ids = &ids, .dtype = dtypes[o->dtype], .source = source};
    enum tenon_status st = tenon_vectors_check(o->output, dtypes[o->dtype], &err);

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
        vectors.positions = positions = make_positions(&ids, &err);
        st = positions != NULL ? TENON_OK : TENON_ERR_NO_MEMORY;
    }
    if (st == TENON_OK) {
        struct tenon_vectors_kind kind = {
            .name = "embeddings", .heads = 1, .cols = embed.cols, .rows = look_up, .user = &rows};

        snprintf(source, sizeof(source), "rows of '%.*s'", (int)embed.matrix->name.len,
                 embed.matrix->name.data);
        tenon_vectors_add(&vectors, &kind);
        st = write_result(tool, &vectors, &err);
    }
    free(positions);
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
