#include "embed_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out_json.h"
#include "report.h"
#include "tenon/encode.h"

/* Vectors are looked up in batches of about this many values. */
enum { BATCH_VALUES = 256 * 1024 };

void tenon_vectors_init(struct tenon_vectors *v, const struct tenon_embed *embed,
                        const struct tenon_ids *ids)
{
    bool even = ids->n_sequences > 1;

    *v = (struct tenon_vectors){
        .embed = embed, .ids = ids, .stage = "token", .dtype = TENON_DTYPE_F32};
    for (size_t i = 0; i < ids->n_sequences; i++)
        even = even && ids->ends[i] == (i + 1) * ids->ends[0];
    if (even)
        v->shape[v->n_dims++] = ids->n_sequences;
    v->shape[v->n_dims++] = even ? ids->ends[0] : ids->n;
    v->shape[v->n_dims++] = embed->cols;
}

enum tenon_status tenon_vectors_each(const struct tenon_vectors *v, tenon_vectors_fn row,
                                     void *user, struct tenon_error *err)
{
    size_t cols = (size_t)v->embed->cols;
    size_t batch = cols > 0 && cols < BATCH_VALUES ? BATCH_VALUES / cols : 1;
    enum tenon_status st = TENON_OK;
    float *values;

    if (batch > v->ids->n)
        batch = v->ids->n > 0 ? v->ids->n : 1;
    values = cols <= SIZE_MAX / sizeof(*values) / batch ? malloc(batch * cols * sizeof(*values) + 1)
                                                        : NULL;
    if (values == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; st == TENON_OK && i < v->ids->n; i += batch) {
        size_t n = v->ids->n - i < batch ? v->ids->n - i : batch;

        st = tenon_embed_rows(v->embed, v->ids->ids + i, n, values, err);
        for (size_t k = 0; st == TENON_OK && k < n; k++)
            st = row(user, i + k, values + k * cols, err);
    }
    free(values);
    return st;
}

/* --- numbers for machines --- */

struct binary {
    struct tenon_out *out;
    const struct tenon_vectors *vectors;
    void *row; /* one encoded vector */
    size_t row_bytes;
};

static enum tenon_status write_binary_row(void *user, size_t i, const float *values,
                                          struct tenon_error *err)
{
    struct binary *b = user;
    enum tenon_status st = tenon_values_encode(b->vectors->dtype, values,
                                               (size_t)b->vectors->embed->cols, b->row, err);

    (void)i;
    if (st == TENON_OK)
        tenon_out_write(b->out, b->row, b->row_bytes);
    return st;
}

static enum tenon_status write_payload(struct tenon_out *out, const struct tenon_vectors *v,
                                       struct tenon_error *err)
{
    struct binary b = {.out = out, .vectors = v};
    uint64_t bytes;
    enum tenon_status st;

    if (!tenon_dtype_bytes(v->dtype, v->embed->cols, &bytes) || bytes > SIZE_MAX - 1)
        return tenon_report_fail(err, TENON_ERR_LIMIT, "a vector is too long");
    b.row_bytes = (size_t)bytes;
    b.row = malloc(b.row_bytes + 1);
    if (b.row == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    st = tenon_vectors_each(v, write_binary_row, &b, err);
    free(b.row);
    return st;
}

static void write_shape(struct tenon_out *out, const struct tenon_vectors *v, const char *between)
{
    for (size_t i = 0; i < v->n_dims; i++)
        tenon_out_printf(out, "%s%llu", i > 0 ? between : "", (unsigned long long)v->shape[i]);
}

/* NumPy's format, version 1.0: magic, version, header length (2 bytes), header padded with blanks
 * so that the payload begins at a multiple of 64, and a newline. */
static enum tenon_status write_npy(struct tenon_out *out, const struct tenon_vectors *v,
                                   struct tenon_error *err)
{
    char header[256];
    int n;
    size_t padded;
    struct tenon_out shape;

    tenon_out_init(&shape, -1);
    write_shape(&shape, v, ", ");
    tenon_out_write(&shape, "", 1);
    if (shape.error != 0) {
        tenon_out_release(&shape);
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    }
    n = snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                 v->dtype == TENON_DTYPE_F16 ? "<f2" : "<f4", shape.buf);
    tenon_out_release(&shape);
    padded = (10 + (size_t)n + 1 + 63) / 64 * 64 - 10;
    tenon_out_write(out, "\x93NUMPY\x01\x00", 8);
    tenon_out_printf(out, "%c", (int)(padded & 0xff));
    tenon_out_printf(out, "%c", (int)(padded >> 8));
    tenon_out_printf(out, "%s%*s\n", header, (int)(padded - (size_t)n - 1), "");
    return write_payload(out, v, err);
}

static void write_u64(struct tenon_out *out, uint64_t value)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    tenon_out_write(out, bytes, sizeof(bytes));
}

/* Two tensors, `ids` (I64) before `embeddings`, so that both are aligned to their elements. */
static enum tenon_status write_safetensors(struct tenon_out *out, const struct tenon_vectors *v,
                                           struct tenon_error *err)
{
    struct tenon_out header;
    uint64_t ids_bytes = 8 * (uint64_t)v->ids->n, all_bytes, pad;

    if (!tenon_dtype_bytes(v->dtype, v->embed->cols, &all_bytes) ||
        (v->ids->n > 0 && all_bytes > (UINT64_MAX - ids_bytes) / v->ids->n))
        return tenon_report_fail(err, TENON_ERR_LIMIT, "the vectors are too many");
    all_bytes = all_bytes * v->ids->n + ids_bytes;
    tenon_out_init(&header, -1);
    tenon_out_printf(&header, "{\"embeddings\":{\"dtype\":\"%s\",\"shape\":[",
                     tenon_dtype_name(v->dtype));
    write_shape(&header, v, ",");
    tenon_out_printf(&header,
                     "],\"data_offsets\":[%llu,%llu]},\"ids\":{\"dtype\":\"I64\",\"shape\":[%zu],"
                     "\"data_offsets\":[0,%llu]}}",
                     (unsigned long long)ids_bytes, (unsigned long long)all_bytes, v->ids->n,
                     (unsigned long long)ids_bytes);
    pad = (8 - header.used % 8) % 8;
    tenon_out_printf(&header, "%*s", (int)pad, "");
    if (header.error != 0) {
        tenon_out_release(&header);
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    }
    write_u64(out, header.used);
    tenon_out_write(out, header.buf, header.used);
    tenon_out_release(&header);
    for (size_t i = 0; i < v->ids->n; i++)
        write_u64(out, v->ids->ids[i]);
    return write_payload(out, v, err);
}

/* --- numbers as text --- */

/* Rows of one sequence after another: which sequence and position row `i` is. */
struct place {
    size_t sequence, position;
};

/* `at` is that of the row before, {0, 0} for row 0. */
static struct place next_place(const struct tenon_ids *ids, struct place at, size_t i)
{
    if (i == 0)
        return at;
    if (i == ids->ends[at.sequence])
        return (struct place){at.sequence + 1, 0};
    return (struct place){at.sequence, at.position + 1};
}

struct separated {
    struct tenon_out *out;
    const struct tenon_vectors *vectors;
    char separator;
    struct place at;
};

static enum tenon_status write_separated_row(void *user, size_t i, const float *values,
                                             struct tenon_error *err)
{
    struct separated *s = user;
    char number[32];

    (void)err;
    s->at = next_place(s->vectors->ids, s->at, i);
    tenon_out_printf(s->out, "%zu%c%zu%c%llu", s->at.sequence, s->separator, s->at.position,
                     s->separator, (unsigned long long)s->vectors->ids->ids[i]);
    for (uint64_t c = 0; c < s->vectors->embed->cols; c++)
        tenon_out_printf(s->out, "%c%s", s->separator, tenon_out_number(number, values[c], true));
    tenon_out_text(s->out, "\n");
    return TENON_OK;
}

static enum tenon_status write_separated(struct tenon_out *out, const struct tenon_vectors *v,
                                         char separator, struct tenon_error *err)
{
    struct separated s = {.out = out, .vectors = v, .separator = separator};

    tenon_out_printf(out, "sequence%cposition%cid", separator, separator);
    for (uint64_t c = 0; c < v->embed->cols; c++)
        tenon_out_printf(out, "%cv%llu", separator, (unsigned long long)c);
    tenon_out_text(out, "\n");
    return tenon_vectors_each(v, write_separated_row, &s, err);
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

struct json_rows {
    struct tenon_json *json;
    uint64_t cols;
};

static enum tenon_status write_json_row(void *user, size_t i, const float *values,
                                        struct tenon_error *err)
{
    struct json_rows *r = user;

    (void)i;
    (void)err;
    tenon_json_array_flat(r->json, NULL);
    for (uint64_t c = 0; c < r->cols; c++)
        tenon_json_f32(r->json, NULL, values[c]);
    tenon_json_end(r->json);
    return TENON_OK;
}

static void write_json_head(struct tenon_json *json, const struct tenon_vectors *v)
{
    struct place at = {0, 0};

    tenon_json_text(json, "stage", v->stage);
    tenon_json_array_flat(json, "lengths");
    for (size_t i = 0; i < v->ids->n_sequences; i++)
        tenon_json_u64(json, NULL, v->ids->ends[i] - (i > 0 ? v->ids->ends[i - 1] : 0));
    tenon_json_end(json);
    tenon_json_array_flat(json, "positions");
    for (size_t i = 0; i < v->ids->n; i++) {
        at = next_place(v->ids, at, i);
        tenon_json_u64(json, NULL, at.position);
    }
    tenon_json_end(json);
    tenon_json_array_flat(json, "ids");
    for (size_t i = 0; i < v->ids->n; i++)
        tenon_json_u64(json, NULL, v->ids->ids[i]);
    tenon_json_end(json);
    tenon_json_array_flat(json, "shape");
    for (size_t i = 0; i < v->n_dims; i++)
        tenon_json_u64(json, NULL, v->shape[i]);
    tenon_json_end(json);
    tenon_json_text(json, "dtype", tenon_dtype_name(v->dtype));
}

enum tenon_status tenon_vectors_json(struct tenon_out *out, const struct tenon_vectors *v,
                                     const char *output, struct tenon_error *err)
{
    struct tenon_json json = {.out = out};
    struct json_rows rows = {&json, v->embed->cols};
    enum tenon_status st = TENON_OK;

    tenon_json_document(&json, "tenon.embed/1");
    write_json_head(&json, v);
    if (output == NULL) {
        tenon_json_array(&json, "values");
        st = tenon_vectors_each(v, write_json_row, &rows, err);
        tenon_json_end(&json);
    } else {
        tenon_json_null(&json, "values");
        tenon_json_text(&json, "output", output);
    }
    tenon_json_end(&json);
    return st;
}

static enum tenon_status write_json_file(struct tenon_out *out, const struct tenon_vectors *v,
                                         struct tenon_error *err)
{
    return tenon_vectors_json(out, v, NULL, err);
}

static const struct tenon_vectors_form forms[] = {
    {".npy", true, false, write_npy},         {".safetensors", true, true, write_safetensors},
    {".json", false, false, write_json_file}, {".csv", false, false, write_csv},
    {".tsv", false, false, write_tsv},
};

const struct tenon_vectors_form *tenon_vectors_form(const char *path, struct tenon_error *err)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = strlen(forms[i].extension);

        if (len > n && strcmp(path + len - n, forms[i].extension) == 0)
            return &forms[i];
    }
    tenon_report_fail(err, TENON_ERR_MISUSE, "no form of output has the extension of this name");
    tenon_report_path(err, path);
    tenon_report_hint(err, "use .npy, .safetensors, .json, .csv or .tsv");
    return NULL;
}
