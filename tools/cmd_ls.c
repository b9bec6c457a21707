/* tenon ls: tensors, with statistics and hashes on demand. */
#include <stdlib.h>
#include <string.h>

#include "tenon/hash.h"
#include "tenon/stats.h"
#include "tenon/text.h"
#include "tool.h"

enum sort { SORT_NAME, SORT_SIZE, SORT_OFFSET, SORT_NONE };

struct options {
    bool stats, hash, tsv;
    unsigned sort;
};

static const char *const sort_words[] = {"name", "size", "offset", NULL};

#define FIELD(name) offsetof(struct options, name)
static const struct tenon_opt options[] = {
    {.name = "stats",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(stats),
     .help = "add min, max, mean, standard deviation and counts of NaN, Inf and zero; in the "
             "table they take the place of the offset"},
    {.name = "hash",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(hash),
     .help = "add the XXH3-128 of the bytes"},
    {.name = "sort",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(sort),
     .value = "BY",
     .choices = sort_words,
     .help = "order by name, size (largest first) or offset"},
    {.name = "tsv",
     .kind = TENON_OPT_FLAG,
     .field = FIELD(tsv),
     .help = "tab-separated values, always with all columns"},
};
static const struct options defaults = {.sort = SORT_NONE};

/* What is listed, in order, and what was found out about it. */
struct listing {
    const struct tenon_model *model;
    const struct options *options;
    bool all_columns, offsets;
    uint32_t *indices;
    size_t n;
    struct tenon_stats *stats; /* NULL unless asked for; as `indices` */
    struct tenon_hash *hashes;
};

static enum tenon_status select_tensors(struct tenon_tool *tool, struct listing *l,
                                        struct tenon_error *err)
{
    size_t n = tenon_model_n_tensors(l->model);

    l->indices = tenon_tool_alloc(n, sizeof(*l->indices), err);
    if (l->indices == NULL)
        return TENON_ERR_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        struct tenon_str name = tenon_model_tensor(l->model, i)->name;
        bool wanted = tool->n_operands == 1;

        for (size_t p = 1; p < tool->n_operands && !wanted; p++)
            wanted = tenon_text_glob(tool->operands[p], name.data, name.len);
        if (wanted)
            l->indices[l->n++] = (uint32_t)i;
    }
    if (l->n > 0 || tool->n_operands == 1)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_NOT_FOUND, "no tensor is called '%.200s'%s", tool->operands[1],
                      tool->n_operands > 2 ? " or as the other patterns say" : "");
    tenon_report_path(err, tool->operands[0]);
    tenon_report_hint(err, "'tenon ls MODEL' lists all; patterns need quotes: '*norm*'");
    return TENON_ERR_NOT_FOUND;
}

/* An index with what it is sorted by. */
struct sort_key {
    const struct tenon_tensor *tensor;
    uint32_t index;
};

static int by_index(const struct sort_key *a, const struct sort_key *b)
{
    return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_name(const void *x, const void *y)
{
    const struct sort_key *a = x, *b = y;
    struct tenon_str s = a->tensor->name, t = b->tensor->name;
    int order = memcmp(s.data, t.data, s.len < t.len ? s.len : t.len);

    if (order == 0)
        order = compare_u64(s.len, t.len);
    return order != 0 ? order : by_index(a, b);
}

static int by_size(const void *x, const void *y)
{
    const struct sort_key *a = x, *b = y;
    int order = compare_u64(b->tensor->bytes, a->tensor->bytes);

    return order != 0 ? order : by_index(a, b);
}

static int by_offset(const void *x, const void *y)
{
    const struct sort_key *a = x, *b = y;
    int order = compare_u64(a->tensor->file, b->tensor->file);

    if (order == 0)
        order = compare_u64(a->tensor->offset, b->tensor->offset);
    return order != 0 ? order : by_index(a, b);
}

static enum tenon_status sort_tensors(struct listing *l, struct tenon_error *err)
{
    static int (*const orders[])(const void *, const void *) = {
        [SORT_NAME] = by_name, [SORT_SIZE] = by_size, [SORT_OFFSET] = by_offset};
    struct sort_key *keys;

    if (l->options->sort == SORT_NONE)
        return TENON_OK;
    keys = tenon_tool_alloc(l->n, sizeof(*keys), err);
    if (keys == NULL)
        return TENON_ERR_NO_MEMORY;
    for (size_t i = 0; i < l->n; i++)
        keys[i] = (struct sort_key){tenon_model_tensor(l->model, l->indices[i]), l->indices[i]};
    qsort(keys, l->n, sizeof(*keys), orders[l->options->sort]);
    for (size_t i = 0; i < l->n; i++)
        l->indices[i] = keys[i].index;
    free(keys);
    return TENON_OK;
}

static enum tenon_status sweep(struct tenon_tool *tool, struct listing *l, struct tenon_error *err)
{
    struct tenon_hash_options sweep_options;
    struct tenon_progress progress;
    enum tenon_status st = TENON_OK;

    tenon_hash_options_init(&sweep_options);
    sweep_options.threads = (unsigned)tool->common.threads;
    sweep_options.progress = tenon_progress_show;
    sweep_options.user = &progress;
    if (l->options->hash) {
        tenon_progress_init(&progress, "hashing", tool->common.quiet);
        l->hashes = tenon_tool_alloc(l->n, sizeof(*l->hashes), err);
        st = l->hashes == NULL
                 ? TENON_ERR_NO_MEMORY
                 : tenon_hash_tensors(l->model, l->indices, l->n, &sweep_options, l->hashes, err);
        tenon_progress_end(&progress);
    }
    if (st == TENON_OK && l->options->stats) {
        tenon_progress_init(&progress, "reading", tool->common.quiet);
        l->stats = tenon_tool_alloc(l->n, sizeof(*l->stats), err);
        st = l->stats == NULL
                 ? TENON_ERR_NO_MEMORY
                 : tenon_stats_tensors(l->model, l->indices, l->n, &sweep_options, l->stats, err);
        tenon_progress_end(&progress);
    }
    return st;
}

static void write_stats(struct tenon_json *json, const struct tenon_stats *stats)
{
    if (stats == NULL || !stats->valid) {
        tenon_json_null(json, "stats");
        return;
    }
    tenon_json_object_flat(json, "stats");
    tenon_json_f64(json, "min", stats->min);
    tenon_json_f64(json, "max", stats->max);
    tenon_json_f64(json, "mean", stats->mean);
    tenon_json_f64(json, "std", stats->std);
    tenon_json_u64(json, "nan", stats->nan);
    tenon_json_u64(json, "inf", stats->inf);
    tenon_json_u64(json, "zero", stats->zero);
    tenon_json_end(json);
}

static void write_tensor(struct tenon_json *json, const struct listing *l, size_t i)
{
    const struct tenon_tensor *t = tenon_model_tensor(l->model, l->indices[i]);
    char role[64];

    tenon_json_object(json, NULL);
    tenon_json_str(json, "name", t->name);
    tenon_tool_dtype_json(json, "dtype", l->model, t);
    tenon_tool_shape_json(json, "shape", t);
    tenon_json_u64(json, "parameters", t->n_elements);
    if ((t->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0)
        tenon_json_null(json, "bytes");
    else
        tenon_json_u64(json, "bytes", t->bytes);
    tenon_json_text(json, "file", tenon_model_file(l->model, t->file)->name);
    tenon_json_u64(json, "offset", t->offset);
    tenon_json_text(json, "role",
                    t->role != TENON_ROLE_NONE ? tenon_tensor_role_name(t, role, sizeof(role))
                                               : NULL);
    tenon_json_known(json, "layer", t->layer);
    if ((t->flags & TENON_TENSOR_SHARED) != 0)
        tenon_json_str(json, "shares", tenon_tensor_shares(l->model, t)->name);
    else
        tenon_json_null(json, "shares");
    write_stats(json, l->stats != NULL ? &l->stats[i] : NULL);
    if (l->hashes != NULL)
        tenon_json_hash(json, "xxh3", l->hashes[i].high, l->hashes[i].low);
    else
        tenon_json_null(json, "xxh3");
    tenon_json_end(json);
}

static void write_json(struct tenon_tool *tool, const struct listing *l)
{
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.ls/1");
    tenon_json_array(&json, "tensors");
    for (size_t i = 0; i < l->n; i++)
        write_tensor(&json, l, i);
    tenon_json_end(&json);
    tenon_json_end(&json);
}

static void add_columns(struct tenon_table *table, const struct listing *l)
{
    tenon_table_column(table, "NAME", false);
    tenon_table_column(table, "DTYPE", false);
    tenon_table_column(table, "SHAPE", false);
    tenon_table_column(table, "BYTES", true);
    if (l->offsets)
        tenon_table_column(table, "OFFSET", true);
    if (l->all_columns) {
        tenon_table_column(table, "FILE", false);
        tenon_table_column(table, "ROLE", false);
        tenon_table_column(table, "LAYER", true);
        tenon_table_column(table, "SHARES", false);
    }
    if (l->stats != NULL) {
        static const char *const titles[] = {"MIN", "MAX", "MEAN", "STD", "NAN", "INF", "ZERO"};

        for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
            tenon_table_column(table, titles[i], true);
    }
    if (l->hashes != NULL)
        tenon_table_column(table, "XXH3-128", false);
}

static void add_stats(struct tenon_table *table, const struct tenon_stats *stats, int digits)
{
    const double values[] = {stats->min, stats->max, stats->mean, stats->std};
    const uint64_t counts[] = {stats->nan, stats->inf, stats->zero};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (stats->valid)
            tenon_table_cell(table, "%.*g", digits, tenon_out_real(values[i]));
        else
            tenon_table_cell(table, "-");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (stats->valid)
            tenon_table_cell(table, "%llu", (unsigned long long)counts[i]);
        else
            tenon_table_cell(table, "-");
}

static void add_places(struct tenon_table *table, const struct listing *l,
                       const struct tenon_tensor *t)
{
    const char *file = tenon_model_file(l->model, t->file)->name;
    char role[64];

    tenon_table_safe(table, file, strlen(file));
    tenon_table_cell(table, "%s", tenon_tensor_role_name(t, role, sizeof(role)));
    if (t->layer >= 0)
        tenon_table_cell(table, "%d", (int)t->layer);
    else
        tenon_table_cell(table, "%s", "");
    if ((t->flags & TENON_TENSOR_SHARED) != 0) {
        struct tenon_str name = tenon_tensor_shares(l->model, t)->name;

        tenon_table_safe(table, name.data, name.len);
    } else {
        tenon_table_cell(table, "%s", "");
    }
}

static void add_row(struct tenon_table *table, const struct listing *l, size_t i)
{
    const struct tenon_tensor *t = tenon_model_tensor(l->model, l->indices[i]);

    tenon_table_safe(table, t->name.data, t->name.len);
    tenon_tool_dtype_cell(table, l->model, t);
    tenon_tool_shape_cell(table, t);
    if ((t->flags & TENON_TENSOR_SIZE_UNKNOWN) != 0)
        tenon_table_cell(table, "-");
    else
        tenon_table_cell(table, "%llu", (unsigned long long)t->bytes);
    if (l->offsets)
        tenon_table_cell(table, "%llu", (unsigned long long)t->offset);
    if (l->all_columns)
        add_places(table, l, t);
    if (l->stats != NULL)
        add_stats(table, &l->stats[i], l->options->tsv ? 6 : 4);
    if (l->hashes != NULL)
        tenon_table_cell(table, "%016llx%016llx", (unsigned long long)l->hashes[i].high,
                         (unsigned long long)l->hashes[i].low);
}

static void write_sum(struct tenon_tool *tool, const struct listing *l)
{
    uint64_t parameters = 0, bytes = 0;
    char count[32], size[32];

    for (size_t i = 0; i < l->n; i++) {
        const struct tenon_tensor *t = tenon_model_tensor(l->model, l->indices[i]);

        parameters += t->n_elements;
        bytes += t->bytes;
    }
    tenon_out_printf(&tool->out, "\n%zu tensor%s, %s parameters, %s\n", l->n, l->n == 1 ? "" : "s",
                     tenon_out_count(count, parameters), tenon_out_bytes(size, bytes));
}

static void write_text(struct tenon_tool *tool, const struct listing *l)
{
    struct tenon_table table;

    tenon_table_init(&table);
    add_columns(&table, l);
    for (size_t i = 0; i < l->n; i++)
        add_row(&table, l, i);
    if (l->options->tsv) {
        tenon_table_print_tsv(&table, &tool->out);
    } else {
        tenon_table_print(&table, &tool->out, &tool->term, 0);
        write_sum(tool, l);
    }
    tenon_table_release(&table);
}

static int run(struct tenon_tool *tool)
{
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct listing l = {.options = tool->options};
    enum tenon_status st = TENON_OK;

    if (tool->common.json)
        st = tenon_tool_refuse(tool, "tsv", "--json is another form", &err);
    if (st == TENON_OK)
        st = tenon_tool_open(tool, 0, &model, &err);
    l.model = model;
    l.all_columns = tool->common.verbose || l.options->tsv;
    l.offsets = l.all_columns || !l.options->stats; /* lines are long enough with statistics */
    if (st == TENON_OK)
        st = select_tensors(tool, &l, &err);
    if (st == TENON_OK)
        st = sort_tensors(&l, &err);
    if (st == TENON_OK)
        st = sweep(tool, &l, &err);
    if (st == TENON_OK && tool->common.json)
        write_json(tool, &l);
    else if (st == TENON_OK)
        write_text(tool, &l);
    free(l.indices);
    free(l.stats);
    free(l.hashes);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon ls model.gguf '*norm*'", "only tensors with 'norm' in their name"},
    {"tenon ls --sort size --stats model.safetensors", "the largest first, with statistics"},
    {"tenon ls --json model.gguf | jq -r '.tensors[].role'", "canonical roles"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_ls = {
    .operands = "MODEL [GLOB...]",
    .min_operands = 1,
    .max_operands = TENON_ANY_NUMBER,
    .about = "Lists tensors in file order: name, element type, shape (outermost dimension first), "
             "bytes, and offset in the file. With patterns (*, ?, [a-z]) only those whose name "
             "fits one.\n"
             "--verbose adds the file, the canonical role, the layer, and the earlier tensor whose "
             "bytes it shares.",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .defaults = &defaults,
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
