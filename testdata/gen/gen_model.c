/* A model of tensors and metadata pairs, and its two containers. */
#include "gen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *name)
{
    fprintf(stderr, "tenon_gen: %s: %s\n", name, what);
    exit(1);
}

void gen_model_release(struct gen_model *m)
{
    for (size_t i = 0; i < m->n_tensors; i++)
        gen_bytes_release(&m->tensors[i].data);
    free(m->tensors);
    gen_bytes_release(&m->kv);
    *m = (struct gen_model){0};
}

struct gen_tensor *gen_tensor_add(struct gen_model *m, const char *name, const char *dtype,
                                  unsigned n_dims, const uint64_t *dims)
{
    struct gen_tensor *t;

    /* Grows by doubling: at every power of two the array is full. */
    if ((m->n_tensors & (m->n_tensors - 1)) == 0) {
        size_t capacity = m->n_tensors != 0 ? 2 * m->n_tensors : 1;

        m->tensors = realloc(m->tensors, capacity * sizeof(*m->tensors));
        if (m->tensors == NULL)
            die("out of memory", name);
    }
    t = &m->tensors[m->n_tensors++];
    *t = (struct gen_tensor){.dtype = gen_dtype_find(dtype), .n_dims = n_dims, .alias = -1};
    if (strlen(name) >= sizeof(t->name) || n_dims > GEN_MAX_DIMS)
        die("name or shape too long", name);
    memcpy(t->name, name, strlen(name));
    for (unsigned i = 0; i < n_dims; i++)
        t->dims[i] = dims[i];
    return t;
}

uint64_t gen_tensor_elements(const struct gen_tensor *t)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < t->n_dims; i++)
        n *= t->dims[i];
    return n;
}

struct gen_tensor *gen_tensor_find(struct gen_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_tensors; i++) {
        if (strcmp(m->tensors[i].name, name) == 0)
            return &m->tensors[i];
    }
    die("no such tensor", name);
    return NULL;
}

/* q8_0: d = max|x| / 127 as binary16, then 32 times x / d rounded. */
static void put_q8_0(struct gen_bytes *b, const float *x)
{
    float max = 0;

    for (int i = 0; i < 32; i++)
        max = fabsf(x[i]) > max ? fabsf(x[i]) : max;
    gen_u16(b, gen_half(max / 127));
    for (int i = 0; i < 32; i++)
        gen_u8(b, (uint64_t)(int64_t)(max > 0 ? roundf(x[i] / (max / 127)) : 0));
}

void gen_tensor_floats(struct gen_tensor *t, const float *values, size_t n)
{
    const char *type = t->dtype->name;

    if (strcmp(type, "Q8_0") == 0) {
        for (size_t i = 0; i < n; i += 32)
            put_q8_0(&t->data, values + i);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(type, "F64") == 0)
            gen_f64(&t->data, (double)values[i]);
        else if (strcmp(type, "F32") == 0)
            gen_f32(&t->data, values[i]);
        else if (strcmp(type, "F16") == 0)
            gen_u16(&t->data, gen_half(values[i]));
        else if (strcmp(type, "BF16") == 0)
            gen_u16(&t->data, gen_bfloat(values[i]));
        else
            die("no encoder for its type", t->name);
    }
}

void gen_tensor_values(struct gen_tensor *t, uint64_t seed, float scale)
{
    uint64_t n = gen_tensor_elements(t);
    float row[256];

    for (uint64_t i = 0; i < n; i += 256) {
        size_t some = n - i < 256 ? (size_t)(n - i) : 256;

        for (size_t k = 0; k < some; k++)
            row[k] = scale * gen_value(seed, i + k);
        gen_tensor_floats(t, row, some);
    }
}

void gen_tensor_random(struct gen_tensor *t, uint64_t seed)
{
    uint64_t bytes = gen_tensor_elements(t) / t->dtype->block * t->dtype->bytes;
    bool is_bool = strcmp(t->dtype->name, "BOOL") == 0;

    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t byte = gen_random(&seed) & 0xff;

        /* Bytes below 0x3c cannot make an infinite or NaN binary16 scale, wherever it stands. */
        gen_u8(&t->data, is_bool ? byte & 1 : t->dtype->block > 1 ? byte % 0x3c : byte);
    }
}

static void put_len(struct gen_bytes *b, const struct gen_model *m, uint64_t n)
{
    if (m->v1)
        gen_u32(b, n);
    else
        gen_u64(b, n);
}

void gen_kv_len(struct gen_model *m, uint64_t n)
{
    put_len(&m->kv, m, n);
}

void gen_kv_text(struct gen_model *m, const char *text)
{
    gen_kv_len(m, strlen(text));
    gen_text(&m->kv, text);
}

void gen_kv_begin(struct gen_model *m, const char *key, enum gen_kv type)
{
    gen_kv_text(m, key);
    gen_u32(&m->kv, type);
    m->n_kv++;
}

void gen_kv_str(struct gen_model *m, const char *key, const char *value)
{
    gen_kv_begin(m, key, GEN_STRING);
    gen_kv_text(m, value);
}

void gen_kv_u32(struct gen_model *m, const char *key, uint32_t value)
{
    gen_kv_begin(m, key, GEN_U32);
    gen_u32(&m->kv, value);
}

void gen_kv_f32(struct gen_model *m, const char *key, float value)
{
    gen_kv_begin(m, key, GEN_F32);
    gen_f32(&m->kv, value);
}

void gen_kv_bool(struct gen_model *m, const char *key, bool value)
{
    gen_kv_begin(m, key, GEN_BOOL);
    gen_u8(&m->kv, value);
}

void gen_kv_array(struct gen_model *m, const char *key, enum gen_kv item, uint64_t n)
{
    gen_kv_begin(m, key, GEN_ARRAY);
    gen_u32(&m->kv, item);
    gen_kv_len(m, n);
}

static void swap(unsigned char *p, unsigned n)
{
    for (unsigned i = 0; i < n / 2; i++) {
        unsigned char byte = p[i];

        p[i] = p[n - 1 - i];
        p[n - 1 - i] = byte;
    }
}

/* Turns the multi-byte fields of one block round, as a big-endian writer does. */
static void swap_block(const struct gen_dtype *type, unsigned char *block)
{
    if (type->block == 1) {
        swap(block, type->bytes);
    } else if (strcmp(type->name, "Q4_0") == 0 || strcmp(type->name, "Q8_0") == 0) {
        swap(block, 2); /* d */
    } else if (strcmp(type->name, "Q4_K") == 0) {
        swap(block, 2);     /* d */
        swap(block + 2, 2); /* dmin */
    } else if (strcmp(type->name, "Q6_K") == 0) {
        swap(block + 208, 2); /* d */
    } else if (strcmp(type->name, "MXFP4") != 0) {
        die("no big-endian form", type->name);
    }
}

static void put_payload(struct gen_bytes *out, const struct gen_tensor *t)
{
    size_t at = out->n;

    gen_raw(out, t->data.data, t->data.n);
    for (; out->big && at < out->n; at += t->dtype->bytes)
        swap_block(t->dtype, out->data + at);
}

/* name, n_dims, dims innermost first, type, offset in the data section. */
static void put_tensor_info(struct gen_bytes *out, const struct gen_model *m,
                            const struct gen_tensor *t, uint64_t offset)
{
    put_len(out, m, strlen(t->name));
    gen_text(out, t->name);
    gen_u32(out, t->n_dims);
    for (unsigned i = t->n_dims; i-- > 0;)
        put_len(out, m, t->dims[i]);
    if (t->dtype->gguf < 0)
        die("GGUF has no such type", t->dtype->name);
    gen_u32(out, (uint64_t)t->dtype->gguf);
    gen_u64(out, offset);
}

void gen_write_gguf(struct gen_bytes *out, const struct gen_model *m, uint32_t version,
                    uint32_t alignment)
{
    struct gen_bytes data = {.big = m->kv.big};
    uint64_t *offsets = calloc(m->n_tensors + 1, sizeof(*offsets));

    if (offsets == NULL)
        die("out of memory", "offsets");
    out->big = m->kv.big;
    gen_text(out, "GGUF");
    gen_u32(out, version);
    put_len(out, m, m->n_tensors);
    put_len(out, m, m->n_kv);
    gen_raw(out, m->kv.data, m->kv.n);
    for (size_t i = 0; i < m->n_tensors; i++) {
        const struct gen_tensor *t = &m->tensors[i];

        offsets[i] = t->alias >= 0 ? offsets[t->alias] : data.n;
        put_tensor_info(out, m, t, offsets[i]);
        if (t->alias < 0)
            put_payload(&data, t);
        gen_align(&data, alignment);
    }
    if (m->n_tensors != 0)
        gen_align(out, alignment);
    gen_raw(out, data.data, data.n);
    gen_bytes_release(&data);
    free(offsets);
}

/* A name as a JSON string; the names here need no more than this. */
static void put_json_name(struct gen_bytes *b, const char *name)
{
    gen_u8(b, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            gen_u8(b, '\\');
        gen_u8(b, (unsigned char)*name);
    }
    gen_u8(b, '"');
}

static void put_entry(struct gen_bytes *b, const struct gen_tensor *t, uint64_t begin, uint64_t end)
{
    if (t->dtype->safetensors == NULL)
        die("safetensors has no such type", t->dtype->name);
    put_json_name(b, t->name);
    gen_format(b, ":{\"dtype\":\"%s\",\"shape\":[", t->dtype->safetensors);
    for (unsigned i = 0; i < t->n_dims; i++)
        gen_format(b, "%s%llu", i != 0 ? "," : "", (unsigned long long)t->dims[i]);
    gen_format(b, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
               (unsigned long long)end);
}

void gen_write_safetensors(struct gen_bytes *out, const struct gen_model *m, size_t first,
                           size_t end, const char *metadata)
{
    struct gen_bytes header = {0};
    uint64_t at = 0;

    gen_u8(&header, '{');
    if (metadata != NULL) {
        gen_text(&header, "\"__metadata__\":");
        gen_text(&header, metadata);
    }
    for (size_t i = first; i < end; i++) {
        const struct gen_tensor *t = &m->tensors[i];
        uint64_t bytes = t->data.n;

        if (header.n > 1)
            gen_u8(&header, ',');
        put_entry(&header, t, at, at + bytes);
        at += bytes;
    }
    gen_u8(&header, '}');
    gen_fill(&header, ' ', (8 - header.n % 8) % 8);
    gen_u64(out, header.n);
    gen_raw(out, header.data, header.n);
    for (size_t i = first; i < end; i++)
        gen_raw(out, m->tensors[i].data.data, m->tensors[i].data.n);
    gen_bytes_release(&header);
}
