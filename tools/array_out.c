#include "array_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "tenon/encode.h"
#include "zip_out.h"

/* Rows are made in batches of about this many values. */
enum { BATCH_VALUES = 256 * 1024 };

uint64_t tenon_array_row(const struct tenon_array *array)
{
    return array->dims[array->n_dims - 1];
}

uint64_t tenon_array_n_rows(const struct tenon_array *array)
{
    uint64_t n = 1;

    for (size_t i = 0; i + 1 < array->n_dims; i++)
        n *= array->dims[i];
    return n;
}

/* The most rows of a batch. */
static size_t rows_of_batch(const struct tenon_array *array)
{
    uint64_t n_rows = tenon_array_n_rows(array), cols = tenon_array_row(array);
    size_t batch = cols > 0 && cols < BATCH_VALUES ? BATCH_VALUES / (size_t)cols : 1;

    if (batch > n_rows)
        batch = n_rows > 0 ? (size_t)n_rows : 1;
    return batch;
}

/* Calls `give` for `n` rows from row `first` on, batch by batch. */
typedef enum tenon_status (*give_fn)(void *user, uint64_t first, size_t n, const float *values,
                                     struct tenon_error *err);
static enum tenon_status each_batch(const struct tenon_array *array, give_fn give, void *user,
                                    struct tenon_error *err)
{
    uint64_t n_rows = tenon_array_n_rows(array);
    size_t cols = (size_t)tenon_array_row(array), batch = rows_of_batch(array);
    enum tenon_status st = TENON_OK;
    float *values;

    values = cols <= SIZE_MAX / sizeof(*values) / batch ? malloc(batch * cols * sizeof(*values) + 1)
                                                        : NULL;
    if (values == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    for (uint64_t i = 0; st == TENON_OK && i < n_rows; i += batch) {
        size_t n = n_rows - i < batch ? (size_t)(n_rows - i) : batch;

        st = array->rows(array->user, i, n, values, err);
        if (st == TENON_OK)
            st = give(user, i, n, values, err);
    }
    free(values);
    return st;
}

/* Who wants rows one by one. */
struct taker {
    tenon_row_fn row;
    void *user;
    size_t cols;
};

static enum tenon_status give_rows(void *user, uint64_t first, size_t n, const float *values,
                                   struct tenon_error *err)
{
    const struct taker *t = user;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < n; i++)
        st = t->row(t->user, first + i, values + i * t->cols, err);
    return st;
}

enum tenon_status tenon_array_each(const struct tenon_array *array, tenon_row_fn row, void *user,
                                   struct tenon_error *err)
{
    struct taker taker = {row, user, (size_t)tenon_array_row(array)};

    return each_batch(array, give_rows, &taker, err);
}

/* --- payloads --- */

struct payload {
    struct tenon_out *out;
    enum tenon_dtype dtype;
    size_t cols, row_bytes;
    unsigned char *encoded; /* a batch of rows */
};

static enum tenon_status write_rows(void *user, uint64_t first, size_t n, const float *values,
                                    struct tenon_error *err)
{
    struct payload *p = user;
    enum tenon_status st = tenon_values_encode(p->dtype, values, n * p->cols, p->encoded, err);

    (void)first;
    if (st != TENON_OK)
        return st;
    tenon_out_write(p->out, p->encoded, n * p->row_bytes);
    if (p->out->error != 0)
        return tenon_report_errno(err, NULL, p->out->error, "cannot write");
    return TENON_OK;
}

static void write_u64(struct tenon_out *out, uint64_t value)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    tenon_out_write(out, bytes, sizeof(bytes));
}

static enum tenon_status write_payload(struct tenon_out *out, const struct tenon_array *array,
                                       struct tenon_error *err)
{
    struct payload p = {.out = out, .dtype = array->dtype, .cols = (size_t)tenon_array_row(array)};
    size_t batch = rows_of_batch(array);
    uint64_t bytes;
    enum tenon_status st;

    if (array->integers != NULL) {
        for (uint64_t i = 0; i < tenon_array_n_rows(array) * tenon_array_row(array); i++)
            write_u64(out, array->integers[i]);
        return TENON_OK;
    }
    if (!tenon_dtype_bytes(array->dtype, p.cols, &bytes) || bytes > (SIZE_MAX - 1) / batch)
        return tenon_report_fail(err, TENON_ERR_LIMIT, "a row is too long");
    p.row_bytes = (size_t)bytes;
    p.encoded = malloc(batch * p.row_bytes + 1);
    if (p.encoded == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    st = each_batch(array, write_rows, &p, err);
    free(p.encoded);
    return st;
}

static enum tenon_status count_bytes(const struct tenon_array *array, uint64_t *out,
                                     struct tenon_error *err)
{
    uint64_t row;

    if (!tenon_dtype_bytes(array->dtype, tenon_array_row(array), &row) ||
        (row > 0 && tenon_array_n_rows(array) > UINT64_MAX / 4 / row))
        return tenon_report_fail(err, TENON_ERR_LIMIT, "the values are too many");
    *out = row * tenon_array_n_rows(array);
    return TENON_OK;
}

static void write_dims(struct tenon_out *out, const struct tenon_array *array, const char *between)
{
    for (size_t i = 0; i < array->n_dims; i++)
        tenon_out_printf(out, "%s%llu", i > 0 ? between : "", (unsigned long long)array->dims[i]);
}

/* --- NumPy --- */

static const char *npy_type(enum tenon_dtype dtype)
{
    if (dtype == TENON_DTYPE_I64)
        return "<i8";
    return dtype == TENON_DTYPE_F16 ? "<f2" : "<f4";
}

/* NumPy's format, version 1.0: magic, version, header length (2 bytes), header padded with blanks
 * so that the payload begins at a multiple of 64, and a newline. */
static enum tenon_status write_npy_header(struct tenon_out *out, const struct tenon_array *array,
                                          size_t n, struct tenon_error *err)
{
    char header[256];
    int len;
    size_t padded;
    struct tenon_out shape;

    tenon_out_init(&shape, -1);
    if (n > 1)
        tenon_out_printf(&shape, "%zu, ", n);
    write_dims(&shape, array, ", ");
    if (n == 1 && array->n_dims == 1)
        tenon_out_text(&shape, ",");
    tenon_out_write(&shape, "", 1);
    if (shape.error != 0) {
        tenon_out_release(&shape);
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    }
    len =
        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                 npy_type(array->dtype), shape.buf);
    tenon_out_release(&shape);
    padded = (10 + (size_t)len + 1 + 63) / 64 * 64 - 10;
    tenon_out_write(out, "\x93NUMPY\x01\x00", 8);
    tenon_out_printf(out, "%c", (int)(padded & 0xff));
    tenon_out_printf(out, "%c", (int)(padded >> 8));
    tenon_out_printf(out, "%s%*s\n", header, (int)(padded - (size_t)len - 1), "");
    return TENON_OK;
}

static bool same_shape(const struct tenon_array *a, const struct tenon_array *b)
{
    return a->n_dims == b->n_dims && memcmp(a->dims, b->dims, a->n_dims * sizeof(a->dims[0])) == 0;
}

static enum tenon_status write_npy(struct tenon_out *out, const struct tenon_array *arrays,
                                   size_t n, struct tenon_error *err)
{
    const struct tenon_array *first = NULL;
    size_t count = 0;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < n; i++) {
        if (arrays[i].integers != NULL)
            continue;
        first = first != NULL ? first : &arrays[i];
        count++;
        if (!same_shape(first, &arrays[i])) {
            tenon_report_fail(err, TENON_ERR_MISMATCH,
                              "'%s' and '%s' have different shapes, a .npy file holds one array",
                              first->name, arrays[i].name);
            tenon_report_hint(err, "write .npz or .safetensors");
            return TENON_ERR_MISMATCH;
        }
    }
    if (first != NULL)
        st = write_npy_header(out, first, count, err);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        if (arrays[i].integers == NULL)
            st = write_payload(out, &arrays[i], err);
    return st;
}

/* --- a zip of .npy files --- */

static enum tenon_status write_npz(struct tenon_out *out, const struct tenon_array *arrays,
                                   size_t n, struct tenon_error *err)
{
    struct tenon_zip zip = {.out = out};
    uint64_t bytes = 0, sum = 0;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        st = count_bytes(&arrays[i], &bytes, err);
        sum += 4096 + bytes; /* the headers are shorter */
    }
    if (st == TENON_OK && sum > UINT32_MAX) {
        st = tenon_report_fail(err, TENON_ERR_LIMIT, "more than 4 GiB in a .npz file");
        tenon_report_hint(err, "write .npy or .safetensors");
    }
    out->sums = true;
    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        char name[TENON_ZIP_NAME];

        snprintf(name, sizeof(name), "%s.npy", arrays[i].name);
        tenon_zip_begin(&zip, name);
        st = write_npy_header(out, &arrays[i], 1, err);
        if (st == TENON_OK)
            st = write_payload(out, &arrays[i], err);
        tenon_zip_end(&zip);
    }
    out->sums = false;
    if (st == TENON_OK)
        tenon_zip_finish(&zip);
    return st;
}

/* --- safetensors --- */

/* Integers, which are wider, before the others; then by name. */
static int compare_arrays(const void *a, const void *b)
{
    const struct tenon_array *x = *(const struct tenon_array *const *)a;
    const struct tenon_array *y = *(const struct tenon_array *const *)b;

    if ((x->integers != NULL) != (y->integers != NULL))
        return x->integers != NULL ? -1 : 1;
    return strcmp(x->name, y->name);
}

static enum tenon_status write_safetensors(struct tenon_out *out, const struct tenon_array *arrays,
                                           size_t n, struct tenon_error *err)
{
    const struct tenon_array *order[TENON_MOST_ARRAYS];
    struct tenon_out header;
    uint64_t offset = 0, bytes = 0;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < n; i++)
        order[i] = &arrays[i];
    qsort(order, n, sizeof(order[0]), compare_arrays);
    tenon_out_init(&header, -1);
    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        st = count_bytes(order[i], &bytes, err);
        tenon_out_printf(&header, "%c\"%s\":{\"dtype\":\"%s\",\"shape\":[", i == 0 ? '{' : ',',
                         order[i]->name, tenon_dtype_name(order[i]->dtype));
        write_dims(&header, order[i], ",");
        tenon_out_printf(&header, "],\"data_offsets\":[%llu,", (unsigned long long)offset);
        offset += bytes;
        tenon_out_printf(&header, "%llu]}", (unsigned long long)offset);
    }
    tenon_out_text(&header, "}");
    tenon_out_printf(&header, "%*s", (int)((8 - header.used % 8) % 8), "");
    if (st == TENON_OK && header.error != 0)
        st = tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    if (st == TENON_OK) {
        write_u64(out, header.used);
        tenon_out_write(out, header.buf, header.used);
    }
    tenon_out_release(&header);
    for (size_t i = 0; st == TENON_OK && i < n; i++)
        st = write_payload(out, order[i], err);
    return st;
}

/* --- forms --- */

static const struct form {
    const char *extension;
    bool bf16; /* can hold it */
    enum tenon_status (*write)(struct tenon_out *out, const struct tenon_array *arrays, size_t n,
                               struct tenon_error *err);
} forms[] = {
    {".npy", false, write_npy},
    {".npz", false, write_npz},
    {".safetensors", true, write_safetensors},
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

bool tenon_array_is_form(const char *path)
{
    return find_form(path) != NULL;
}

enum tenon_status tenon_array_check(const char *path, enum tenon_dtype dtype,
                                    struct tenon_error *err)
{
    const struct form *form = find_form(path);

    if (form == NULL) {
        tenon_report_fail(err, TENON_ERR_MISUSE,
                          "no form of output has the extension of this name");
        tenon_report_path(err, path);
        tenon_report_hint(err, "use .npy, .npz or .safetensors");
        return TENON_ERR_MISUSE;
    }
    if (dtype == TENON_DTYPE_BF16 && !form->bf16) {
        tenon_report_fail(err, TENON_ERR_CANNOT_REPRESENT, "%s files have no BF16",
                          form->extension);
        tenon_report_path(err, path);
        tenon_report_hint(err, "use --dtype F16, or write .safetensors");
        return TENON_ERR_CANNOT_REPRESENT;
    }
    return TENON_OK;
}

enum tenon_status tenon_arrays_write(const char *path, const struct tenon_array *arrays, size_t n,
                                     struct tenon_out *out, struct tenon_error *err)
{
    return find_form(path)->write(out, arrays, n, err);
}
