#include "bias_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out_json.h"
#include "out_table.h"
#include "report.h"
#include "tenon/logical.h"

/* Numbers of a table of T5 at most. */
#define MOST_TABLE (UINT64_C(1) << 24)

/* Numbers of a table file at most. */
#define MOST_VALUES (UINT64_C(1) << 32)

void tenon_bias_init(struct tenon_bias *bias)
{
    *bias = (struct tenon_bias){
        .max_bias = 8,
        .t5 = {.bidirectional = true, .n_buckets = 32, .max_distance = 128},
        .deberta = {.max_distance = 512},
    };
}

void tenon_bias_release(struct tenon_bias *bias)
{
    free(bias->table);
    bias->table = NULL;
}

void tenon_bias_of_positions(struct tenon_bias *bias, const struct tenon_positions *p)
{
    bias->position = tenon_position_name(p->kind);
    if (p->heads > 0 && p->heads <= UINT16_MAX)
        bias->heads = (uint32_t)p->heads;
    if (p->head_dim > 0 && p->head_dim <= UINT16_MAX)
        bias->alibi.head_dim = (uint32_t)p->head_dim;
    if (p->kind == TENON_POSITION_ALIBI) {
        bias->kind = TENON_BIAS_ALIBI;
        bias->max_bias = p->alibi_max_bias;
        bias->alibi.form = p->alibi_form;
    }
    if (p->kind != TENON_POSITION_RELATIVE)
        return;
    if (p->relative == TENON_RELATIVE_T5) {
        bias->kind = TENON_BIAS_T5;
        if (p->buckets > 0 && p->buckets <= UINT16_MAX)
            bias->t5.n_buckets = (uint32_t)p->buckets;
        if (p->max_distance > 0 && p->max_distance <= INT32_MAX)
            bias->t5.max_distance = (uint32_t)p->max_distance;
    } else if (p->relative == TENON_RELATIVE_DEBERTA) {
        bias->kind = TENON_BIAS_DEBERTA;
        if (p->buckets > 0 && p->buckets <= UINT16_MAX)
            bias->deberta.buckets = (uint32_t)p->buckets;
        if (p->relative_span > 0 && p->relative_span <= INT32_MAX)
            bias->deberta.max_distance = (uint32_t)p->relative_span;
    }
}

enum tenon_status tenon_bias_read_table(struct tenon_bias *bias, const struct tenon_model *model,
                                        enum tenon_part part, struct tenon_error *err)
{
    const struct tenon_tensor *t = tenon_model_find_role(model, TENON_ROLE_ATTN_REL_B, part, false);
    struct tenon_logical logical;
    enum tenon_status st;

    if (t == NULL)
        t = tenon_model_find_role(model, TENON_ROLE_ATTN_REL_B, TENON_PART_MAIN, false);
    if (t == NULL || bias->kind != TENON_BIAS_T5)
        return TENON_OK;
    if (!tenon_logical_init(&logical, model, t) || logical.n_dims != 2 ||
        logical.n_elements > MOST_TABLE || logical.n_elements == 0)
        return tenon_report_fail(
            err, TENON_ERR_UNSUPPORTED_FEATURE,
            "its table of relative positions is no matrix of buckets and heads");
    bias->table = malloc((size_t)logical.n_elements * sizeof(*bias->table));
    if (bias->table == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    st = tenon_logical_decode(&logical, 0, (size_t)logical.n_elements, bias->table, err);
    bias->table_buckets = logical.dims[0];
    bias->table_heads = logical.dims[1];
    bias->heads = (uint32_t)logical.dims[1];
    return st;
}

enum tenon_status tenon_bias_check(const struct tenon_bias *bias, struct tenon_error *err)
{
    if (bias->kind == TENON_BIAS_NONE && bias->position != NULL)
        return tenon_report_fail(err, TENON_ERR_UNSUPPORTED_FEATURE,
                                 "adds no positions to scores: its positions are '%s'",
                                 bias->position);
    if (bias->kind == TENON_BIAS_NONE || (bias->kind == TENON_BIAS_ALIBI && bias->heads == 0)) {
        tenon_report_fail(err, TENON_ERR_MISUSE,
                          bias->kind == TENON_BIAS_NONE ? "neither a model nor a kind is given"
                                                        : "how many heads is not known");
        tenon_report_hint(err, bias->kind == TENON_BIAS_NONE
                                   ? "name a model, or use --kind alibi, t5 or deberta"
                                   : "use --heads N");
        return TENON_ERR_MISUSE;
    }
    if (bias->kind == TENON_BIAS_ALIBI && bias->alibi.form == TENON_ALIBI_ROUNDED &&
        bias->alibi.head_dim == 0) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "the width of a head is not known");
        tenon_report_hint(err, "use --head-dim N");
        return TENON_ERR_MISUSE;
    }
    if (bias->kind == TENON_BIAS_DEBERTA)
        return tenon_deberta_check(&bias->deberta, err);
    if (bias->kind != TENON_BIAS_T5)
        return TENON_OK;
    if (bias->table != NULL && bias->table_buckets != bias->t5.n_buckets)
        return tenon_report_fail(err, TENON_ERR_MISMATCH,
                                 "its table has %llu buckets, %u are asked for",
                                 (unsigned long long)bias->table_buckets, bias->t5.n_buckets);
    return tenon_t5_check(&bias->t5, err);
}

/* --- rows --- */

/* The slopes of ALiBi, to be freed; NULL when memory is gone. */
static double *make_slopes(const struct tenon_bias *bias)
{
    double *slopes = malloc(((size_t)bias->heads + 1) * sizeof(*slopes));

    if (slopes != NULL)
        tenon_alibi_slopes(bias->heads, bias->max_bias, TENON_PRECISION_EXACT, slopes);
    return slopes;
}

/* Which matrix of a kind is asked for, with what its rows are made from. */
struct bias_rows {
    const struct tenon_bias *bias;
    const double *slopes;
    bool position; /* DeBERTa: position to content */
};

/* One query's row in matrix `head`. */
static float value_at(const struct bias_rows *r, uint64_t head, uint64_t query, uint64_t key)
{
    const struct tenon_bias *b = r->bias;
    uint32_t bucket;

    if (b->kind == TENON_BIAS_DEBERTA)
        return (float)(r->position
                           ? tenon_deberta_position_row(&b->deberta, (int64_t)query, (int64_t)key)
                           : tenon_deberta_content_row(&b->deberta, (int64_t)query, (int64_t)key));
    bucket = tenon_t5_bucket(&b->t5, (int64_t)key - (int64_t)query);
    return b->table == NULL ? (float)bucket : b->table[bucket * b->table_heads + head];
}

static enum tenon_status make_rows(void *user, uint64_t first, size_t n, float *out,
                                   struct tenon_error *err)
{
    const struct bias_rows *r = user;
    uint64_t length = r->bias->length;
    double *row = malloc((size_t)(length + 1) * sizeof(*row));

    if (row == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++) {
        uint64_t head = (first + i) / length, query = (first + i) % length;

        if (r->slopes != NULL) {
            struct tenon_alibi alibi = r->bias->alibi;

            alibi.slope = r->slopes[head];
            tenon_alibi_row(&alibi, query, length, row);
        }
        for (uint64_t key = 0; key < length; key++)
            *out++ = r->slopes != NULL ? (float)row[key] : value_at(r, head, query, key);
    }
    free(row);
    return TENON_OK;
}

enum tenon_status tenon_bias_write(const struct tenon_bias *bias, const char *path,
                                   struct tenon_out *out, struct tenon_error *err)
{
    double *slopes = bias->kind == TENON_BIAS_ALIBI ? make_slopes(bias) : NULL;
    bool headed = bias->kind == TENON_BIAS_ALIBI || bias->table != NULL;
    struct bias_rows rows[2] = {{bias, slopes, false}, {bias, NULL, true}};
    struct tenon_array arrays[2] = {
        {.name = headed                             ? "bias"
                 : bias->kind == TENON_BIAS_DEBERTA ? "content_rows"
                                                    : "buckets",
         .dtype = TENON_DTYPE_F32,
         .rows = make_rows,
         .user = &rows[0]},
    };
    enum tenon_status st;

    if (bias->kind == TENON_BIAS_ALIBI && slopes == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    if (bias->length * bias->length > MOST_VALUES / (headed ? bias->heads : 1)) {
        free(slopes);
        return tenon_report_fail(err, TENON_ERR_LIMIT,
                                 "%u heads of %llu queries and keys are too many",
                                 headed ? bias->heads : 1, (unsigned long long)bias->length);
    }
    if (headed)
        arrays[0].dims[arrays[0].n_dims++] = bias->heads;
    arrays[0].dims[arrays[0].n_dims++] = bias->length;
    arrays[0].dims[arrays[0].n_dims++] = bias->length;
    arrays[1] = arrays[0];
    arrays[1].name = "position_rows";
    arrays[1].user = &rows[1];
    st = tenon_arrays_write(path, arrays, bias->kind == TENON_BIAS_DEBERTA ? 2 : 1, out, err);
    free(slopes);
    return st;
}

/* --- for people and programs --- */

static const char *const kinds[] = {"none", "alibi", "t5", "deberta"};
static const char *const forms[] = {"keys", "distance", "last", "rounded"};

static void add_alibi(const struct tenon_bias *bias, const double *slopes,
                      struct tenon_table *table)
{
    tenon_table_column(table, "HEAD", true);
    tenon_table_column(table, "SLOPE", true);
    for (uint32_t h = 0; h < bias->heads; h++) {
        tenon_table_cell(table, "%u", h);
        tenon_table_cell(table, "%.9g", slopes[h]);
    }
}

/* The last distance up to `most` that shares the bucket of `d`: buckets never go back and forth on
 * one side of the query. */
static int64_t last_alike(const struct tenon_t5_bias *t5, int64_t d, int64_t most)
{
    uint32_t bucket = tenon_t5_bucket(t5, d);
    int64_t low = d, high = d < 0 ? -1 : most;

    while (low < high) {
        int64_t middle = high - (high - low) / 2;

        if (tenon_t5_bucket(t5, middle) == bucket)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Distances that share a bucket are one line. */
static void add_t5(const struct tenon_bias *bias, struct tenon_table *table)
{
    int64_t most = bias->t5.max_distance, last;

    tenon_table_column(table, "KEY - QUERY", true);
    tenon_table_column(table, "BUCKET", true);
    if (bias->table != NULL)
        tenon_table_column(table, "HEAD 0", true);
    for (int64_t from = -most; from <= most; from = last + 1) {
        uint32_t bucket = tenon_t5_bucket(&bias->t5, from);

        last = last_alike(&bias->t5, from, most);
        if (from == last)
            tenon_table_cell(table, "%lld", (long long)from);
        else
            tenon_table_cell(table, "%lld to %lld", (long long)from, (long long)last);
        tenon_table_cell(table, "%u", bucket);
        if (bias->table != NULL)
            tenon_table_cell(table, "%.6g", (double)bias->table[bucket * bias->table_heads]);
    }
}

static void add_deberta(const struct tenon_bias *bias, struct tenon_table *table)
{
    tenon_table_column(table, "QUERY", true);
    tenon_table_column(table, "KEY", true);
    tenon_table_column(table, "CONTENT ROW", true);
    tenon_table_column(table, "POSITION ROW", true);
    for (uint64_t k = 0; k < bias->length; k++) {
        tenon_table_cell(table, "0");
        tenon_table_cell(table, "%llu", (unsigned long long)k);
        tenon_table_cell(table, "%u", tenon_deberta_content_row(&bias->deberta, 0, (int64_t)k));
        tenon_table_cell(table, "%u", tenon_deberta_position_row(&bias->deberta, 0, (int64_t)k));
    }
}

static void write_head(const struct tenon_bias *bias, struct tenon_out *out)
{
    tenon_out_printf(out, "%s", kinds[bias->kind]);
    if (bias->kind == TENON_BIAS_ALIBI)
        tenon_out_printf(out, ", %u heads, largest exponent %g, form %s", bias->heads,
                         bias->max_bias, forms[bias->alibi.form]);
    else if (bias->kind == TENON_BIAS_T5)
        tenon_out_printf(out, ", %u buckets, distances to %u, %s", bias->t5.n_buckets,
                         bias->t5.max_distance,
                         bias->t5.bidirectional ? "keys on both sides" : "keys before the query");
    else
        tenon_out_printf(out, ", rows %u, distances to %u, %u buckets",
                         2 * tenon_deberta_span(&bias->deberta), bias->deberta.max_distance,
                         bias->deberta.buckets);
    tenon_out_text(out, "\n\n");
}

enum tenon_status tenon_bias_text(const struct tenon_bias *bias, struct tenon_out *out,
                                  const struct tenon_term *term, struct tenon_error *err)
{
    double *slopes = bias->kind == TENON_BIAS_ALIBI ? make_slopes(bias) : NULL;
    struct tenon_table table;

    if (bias->kind == TENON_BIAS_ALIBI && slopes == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    write_head(bias, out);
    tenon_table_init(&table);
    if (bias->kind == TENON_BIAS_ALIBI)
        add_alibi(bias, slopes, &table);
    else if (bias->kind == TENON_BIAS_T5)
        add_t5(bias, &table);
    else
        add_deberta(bias, &table);
    tenon_table_print(&table, out, term, 0);
    tenon_table_release(&table);
    free(slopes);
    return TENON_OK;
}

/* The first query's row, or the buckets of its keys. */
static void write_first_row(struct tenon_json *json, const struct tenon_bias *bias)
{
    struct bias_rows content = {bias, NULL, false}, position = {bias, NULL, true};

    if (bias->kind == TENON_BIAS_T5) {
        int64_t last = (int64_t)bias->length - 1;

        tenon_json_array_flat(json, "buckets");
        for (int64_t d = -last; d <= last; d++)
            tenon_json_u64(json, NULL, tenon_t5_bucket(&bias->t5, d));
        tenon_json_end(json);
        return;
    }
    tenon_json_array_flat(json, "content_rows");
    for (uint64_t k = 0; k < bias->length; k++)
        tenon_json_u64(json, NULL, (uint64_t)value_at(&content, 0, 0, k));
    tenon_json_end(json);
    tenon_json_array_flat(json, "position_rows");
    for (uint64_t k = 0; k < bias->length; k++)
        tenon_json_u64(json, NULL, (uint64_t)value_at(&position, 0, 0, k));
    tenon_json_end(json);
}

enum tenon_status tenon_bias_json(const struct tenon_bias *bias, struct tenon_out *out,
                                  struct tenon_error *err)
{
    double *slopes = bias->kind == TENON_BIAS_ALIBI ? make_slopes(bias) : NULL;
    struct tenon_json json = {.out = out};

    if (bias->kind == TENON_BIAS_ALIBI && slopes == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    tenon_json_document(&json, "tenon.bias/1");
    tenon_json_text(&json, "kind", kinds[bias->kind]);
    if (bias->heads > 0)
        tenon_json_u64(&json, "heads", bias->heads);
    else
        tenon_json_null(&json, "heads");
    tenon_json_u64(&json, "length", bias->length);
    if (bias->kind == TENON_BIAS_ALIBI) {
        tenon_json_text(&json, "form", forms[bias->alibi.form]);
        tenon_json_f64(&json, "max_bias", bias->max_bias);
        tenon_json_array_flat(&json, "slopes");
        for (uint32_t h = 0; h < bias->heads; h++)
            tenon_json_f64(&json, NULL, slopes[h]);
        tenon_json_end(&json);
    } else {
        bool t5 = bias->kind == TENON_BIAS_T5;

        tenon_json_u64(&json, "n_buckets", t5 ? bias->t5.n_buckets : bias->deberta.buckets);
        tenon_json_u64(&json, "max_distance",
                       t5 ? bias->t5.max_distance : bias->deberta.max_distance);
        write_first_row(&json, bias);
    }
    tenon_json_end(&json);
    free(slopes);
    return TENON_OK;
}
