#include "embed_out.h"

#include <math.h>
#include <string.h>

#include "out_json.h"
#include "out_table.h"
#include "report.h"

void tenon_vectors_add(struct tenon_vectors *v, const struct tenon_vectors_kind *kind)
{
    struct tenon_array *array = &v->arrays[v->n_arrays];
    const struct tenon_ids *ids = v->ids;
    bool even = ids->n_sequences > 1;

    *array = (struct tenon_array){
        .name = kind->name, .dtype = v->dtype, .rows = kind->rows, .user = kind->user};
    for (size_t i = 0; i < ids->n_sequences; i++)
        even = even && ids->ends[i] == (i + 1) * ids->ends[0];
    if (even)
        array->dims[array->n_dims++] = ids->n_sequences;
    array->dims[array->n_dims++] = even ? ids->ends[0] : ids->n;
    if (kind->headed)
        array->dims[array->n_dims++] = kind->heads;
    array->dims[array->n_dims++] = kind->cols;
    v->short_names[v->n_arrays] = kind->short_name;
    v->heads[v->n_arrays] = kind->heads;
    v->n_arrays++;
}

/* Which sequence id `i` belongs to; they are asked for in order. */
static size_t next_sequence(const struct tenon_ids *ids, size_t sequence, uint64_t i)
{
    while (sequence < ids->n_sequences && i >= ids->ends[sequence])
        sequence++;
    return sequence;
}

/* --- numbers as text --- */

struct separated {
    struct tenon_out *out;
    const struct tenon_vectors *vectors;
    size_t kind;
    size_t sequence;
    char separator;
};

static enum tenon_status write_separated_row(void *user, uint64_t i, const float *values,
                                             struct tenon_error *err)
{
    struct separated *s = user;
    const struct tenon_vectors *v = s->vectors;
    uint64_t id = i / v->heads[s->kind], cols = tenon_array_row(&v->arrays[s->kind]);
    char number[32];

    s->sequence = next_sequence(v->ids, s->sequence, id);
    tenon_out_printf(s->out, "%zu%c%llu%c%llu", s->sequence, s->separator,
                     (unsigned long long)v->positions[id], s->separator,
                     (unsigned long long)v->ids->ids[id]);
    if (v->short_names[s->kind] != NULL)
        tenon_out_printf(s->out, "%c%s%c%llu", s->separator, v->short_names[s->kind], s->separator,
                         (unsigned long long)(i % v->heads[s->kind]));
    for (uint64_t c = 0; c < cols; c++)
        tenon_out_printf(s->out, "%c%s", s->separator, tenon_out_number(number, values[c], true));
    tenon_out_text(s->out, "\n");
    if (s->out->error != 0)
        return tenon_report_errno(err, NULL, s->out->error, "cannot write");
    return TENON_OK;
}

static enum tenon_status write_separated(struct tenon_out *out, const struct tenon_vectors *v,
                                         char separator, struct tenon_error *err)
{
    struct separated s = {.out = out, .vectors = v, .separator = separator};
    enum tenon_status st = TENON_OK;

    tenon_out_printf(out, "sequence%cposition%cid", separator, separator);
    if (v->short_names[0] != NULL)
        tenon_out_printf(out, "%ckind%chead", separator, separator);
    for (uint64_t c = 0; c < tenon_array_row(&v->arrays[0]); c++)
        tenon_out_printf(out, "%cv%llu", separator, (unsigned long long)c);
    tenon_out_text(out, "\n");
    for (s.kind = 0; st == TENON_OK && s.kind < v->n_arrays; s.kind++) {
        s.sequence = 0;
        st = tenon_array_each(&v->arrays[s.kind], write_separated_row, &s, err);
    }
    return st;
}

static enum tenon_status write_csv(struct tenon_out *out, const struct tenon_vectors *v,
                                   struct tenon_error *err)
{
    return write_separated(out, v, ',', err);
}

static enum tenon_status write_tsv(struct tenon_out *out, const struct tenon_vectors *v,
                                   struct tenon_error *err)
{
    return write_separated(out, v, '\t', err);
}

/* --- JSON --- */

struct json_rows {
    struct tenon_json *json;
    uint64_t cols;
};

static enum tenon_status write_json_row(void *user, uint64_t i, const float *values,
                                        struct tenon_error *err)
{
    struct json_rows *r = user;

    (void)i;
    tenon_json_array_flat(r->json, NULL);
    for (uint64_t c = 0; c < r->cols; c++)
        tenon_json_f32(r->json, NULL, values[c]);
    tenon_json_end(r->json);
    if (r->json->out->error != 0)
        return tenon_report_errno(err, NULL, r->json->out->error, "cannot write");
    return TENON_OK;
}

static void write_json_head(struct tenon_json *json, const struct tenon_vectors *v)
{
    tenon_json_text(json, "stage", v->stage);
    tenon_json_array_flat(json, "lengths");
    for (size_t i = 0; i < v->ids->n_sequences; i++)
        tenon_json_u64(json, NULL, v->ids->ends[i] - (i > 0 ? v->ids->ends[i - 1] : 0));
    tenon_json_end(json);
    tenon_json_array_flat(json, "positions");
    for (size_t i = 0; i < v->ids->n; i++)
        tenon_json_u64(json, NULL, v->positions[i]);
    tenon_json_end(json);
    tenon_json_array_flat(json, "ids");
    for (size_t i = 0; i < v->ids->n; i++)
        tenon_json_u64(json, NULL, v->ids->ids[i]);
    tenon_json_end(json);
}

/* Shape and values of one kind; of the second ones the keys have a prefix. */
static enum tenon_status write_json_array(struct tenon_json *json, const struct tenon_array *array,
                                          const char *const keys[2], bool values,
                                          struct tenon_error *err)
{
    struct json_rows rows = {json, tenon_array_row(array)};
    enum tenon_status st = TENON_OK;

    tenon_json_array_flat(json, keys[0]);
    for (size_t i = 0; i < array->n_dims; i++)
        tenon_json_u64(json, NULL, array->dims[i]);
    tenon_json_end(json);
    if (!values) {
        tenon_json_null(json, keys[1]);
        return TENON_OK;
    }
    tenon_json_array(json, keys[1]);
    st = tenon_array_each(array, write_json_row, &rows, err);
    tenon_json_end(json);
    return st;
}

enum tenon_status tenon_vectors_json(struct tenon_out *out, const struct tenon_vectors *v,
                                     const char *output, struct tenon_error *err)
{
    static const char *const keys[TENON_MOST_VECTORS][2] = {{"shape", "values"},
                                                            {"k_shape", "k_values"}};
    struct tenon_json json = {.out = out};
    enum tenon_status st = TENON_OK;

    tenon_json_document(&json, "tenon.embed/1");
    write_json_head(&json, v);
    tenon_json_text(&json, "dtype", tenon_dtype_name(v->dtype));
    for (size_t i = 0; st == TENON_OK && i < v->n_arrays && i < TENON_MOST_VECTORS; i++)
        st = write_json_array(&json, &v->arrays[i], keys[i], output == NULL, err);
    if (output != NULL)
        tenon_json_text(&json, "output", output);
    tenon_json_end(&json);
    return st;
}

static enum tenon_status write_json_file(struct tenon_out *out, const struct tenon_vectors *v,
                                         struct tenon_error *err)
{
    return tenon_vectors_json(out, v, NULL, err);
}

/* --- forms of files --- */

static const struct form {
    const char *extension;
    enum tenon_status (*write)(struct tenon_out *out, const struct tenon_vectors *vectors,
                               struct tenon_error *err);
} forms[] = {
    {".json", write_json_file},
    {".csv", write_csv},
    {".tsv", write_tsv},
};

static const struct form *find_form(const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = strlen(forms[i].extension);

        if (len > n && strcmp(path + len - n, forms[i].extension) == 0)
            return &forms[i];
    }
    return NULL;
}

enum tenon_status tenon_vectors_check(const char *path, enum tenon_dtype dtype,
                                      struct tenon_error *err)
{
    if (path != NULL && tenon_array_is_form(path))
        return tenon_array_check(path, dtype, err);
    if (path != NULL && strcmp(path, "-") == 0) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "-o names a file, and - is none");
        tenon_report_hint(err, "leave -o out for a table on standard output, or use --json");
        return TENON_ERR_MISUSE;
    }
    if (path != NULL && find_form(path) == NULL) {
        tenon_report_fail(err, TENON_ERR_MISUSE,
                          "no form of output has the extension of this name");
        tenon_report_path(err, path);
        tenon_report_hint(err, "use .npy, .npz, .safetensors, .json, .csv or .tsv");
        return TENON_ERR_MISUSE;
    }
    if (dtype == TENON_DTYPE_F32)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_MISUSE, "--dtype is for .npy, .npz and .safetensors files");
    tenon_report_hint(err, "name one with -o");
    return TENON_ERR_MISUSE;
}

enum tenon_status tenon_vectors_write(const char *path, const struct tenon_vectors *v,
                                      struct tenon_out *out, struct tenon_error *err)
{
    struct tenon_array arrays[TENON_MOST_VECTORS + 1];

    if (!tenon_array_is_form(path))
        return find_form(path)->write(out, v, err);
    memcpy(arrays, v->arrays, v->n_arrays * sizeof(arrays[0]));
    arrays[v->n_arrays] = (struct tenon_array){.name = "ids",
                                               .dtype = TENON_DTYPE_I64,
                                               .dims = {v->ids->n},
                                               .n_dims = 1,
                                               .integers = v->ids->ids};
    return tenon_arrays_write(path, arrays, v->n_arrays + 1, out, err);
}

/* --- the table for people --- */

/* The most values of a vector that are shown; columns that each takes, at most ("-0.000123456"),
 * and what else stands in a line (id, length, "..."). */
enum { SHOWN_VALUES = 6, VALUE_WIDTH = 14, OTHER_WIDTH = 24 };

struct text_rows {
    struct tenon_table *table;
    const struct tenon_vectors *vectors;
    size_t kind;
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

static enum tenon_status add_text_row(void *user, uint64_t i, const float *values,
                                      struct tenon_error *err)
{
    struct text_rows *r = user;
    const struct tenon_vectors *v = r->vectors;
    uint64_t id = i / v->heads[r->kind], cols = tenon_array_row(&v->arrays[r->kind]);
    double squares = 0;

    (void)err;
    for (uint64_t c = 0; c < cols; c++)
        squares += (double)values[c] * (double)values[c];
    tenon_table_cell(r->table, "%llu", (unsigned long long)v->ids->ids[id]);
    if (v->short_names[0] != NULL)
        tenon_table_cell(r->table, "%s%llu", v->short_names[r->kind],
                         (unsigned long long)(i % v->heads[r->kind]));
    tenon_table_cell(r->table, "%.6g", tenon_out_real(sqrt(squares)));
    for (size_t c = 0; c < r->shown; c++)
        tenon_table_cell(r->table, "%.6g", tenon_out_real((double)values[c]));
    tenon_table_cell(r->table, "%s", cols > r->shown ? "..." : "");
    return TENON_OK;
}

static void write_foot(struct tenon_out *out, const struct tenon_vectors *v)
{
    uint64_t n = tenon_array_n_rows(&v->arrays[0]), cols = tenon_array_row(&v->arrays[0]);

    tenon_out_printf(out, "\n%llu %s%s of %llu values, ", (unsigned long long)n,
                     v->n_arrays > 1 ? "quer" : "vector",
                     v->n_arrays > 1 ? (n == 1 ? "y" : "ies") : (n == 1 ? "" : "s"),
                     (unsigned long long)cols);
    if (v->n_arrays > 1)
        tenon_out_printf(out, "%llu key%s, ", (unsigned long long)tenon_array_n_rows(&v->arrays[1]),
                         tenon_array_n_rows(&v->arrays[1]) == 1 ? "" : "s");
    tenon_out_safe(out, v->source, strlen(v->source));
    tenon_out_text(out, "\n");
}

enum tenon_status tenon_vectors_text(struct tenon_out *out, const struct tenon_term *term,
                                     const struct tenon_vectors *v, struct tenon_error *err)
{
    static const char *const titles[SHOWN_VALUES] = {"V0", "V1", "V2", "V3", "V4", "V5"};
    struct tenon_table table;
    struct text_rows rows = {&table, v, 0, count_shown(term, tenon_array_row(&v->arrays[0]))};
    enum tenon_status st = TENON_OK;

    tenon_table_init(&table);
    tenon_table_column(&table, "ID", true);
    if (v->short_names[0] != NULL)
        tenon_table_column(&table, "HEAD", false);
    tenon_table_column(&table, "LENGTH", true);
    for (size_t i = 0; i < rows.shown; i++)
        tenon_table_column(&table, titles[i], true);
    tenon_table_column(&table, "", false);
    for (rows.kind = 0; st == TENON_OK && rows.kind < v->n_arrays; rows.kind++)
        st = tenon_array_each(&v->arrays[rows.kind], add_text_row, &rows, err);
    if (st == TENON_OK) {
        tenon_table_print(&table, out, term, 0);
        write_foot(out, v);
    }
    tenon_table_release(&table);
    return st;
}
