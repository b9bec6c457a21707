/* Hyper-parameters and tokenizer facts from GGUF metadata.
 *
 * Every key that is interpreted stands in one table, with the kind of value it must have. Values
 * of another kind are findings and count as not said: nothing below relies on a type that a file
 * merely claims. Integers of any width are taken; the reference loader insists on one. */
#include "gguf_hparams.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "gguf.h"

/* What a value must be. */
enum kind {
    KIND_COUNT, /* u32: not negative */
    KIND_EACH,  /* u32, or one u32 or i32 per layer, of which the first is taken */
    KIND_REAL,  /* f32 */
    KIND_TEXT,  /* string */
    KIND_SIZE   /* an array, whose number of elements is taken */
};

enum place { PLACE_HPARAMS, PLACE_TOKENIZER, PLACE_READING };

struct key_row {
    const char *key; /* behind "ARCH." when it begins with a dot */
    enum kind kind;
    enum place place;
    size_t member; /* offset of the one that it fills */
};

#define HPARAM(key, kind, member)                                                                  \
    {                                                                                              \
        key, kind, PLACE_HPARAMS, offsetof(struct tenon_hparams, member)                           \
    }
#define TOKENIZER(key, kind, member)                                                               \
    {                                                                                              \
        key, kind, PLACE_TOKENIZER, offsetof(struct tenon_tokenizer, member)                       \
    }

/* What is read only to work something else out. */
struct reading {
    struct tenon_model *model;
    struct tenon_str arch;
    bool texts; /* the file knows no types: nothing is blamed, and numbers are numbers */
    double max_alibi_bias;
    double scale_linear;
};

#define READING(key, kind, member)                                                                 \
    {                                                                                              \
        key, kind, PLACE_READING, offsetof(struct reading, member)                                 \
    }

/* Later rows win where two fill the same member. */
static const struct key_row rows[] = {
    HPARAM("general.architecture", KIND_TEXT, model_type),
    HPARAM("general.name", KIND_TEXT, name),
    HPARAM(".attention.head_count", KIND_EACH, heads),
    HPARAM(".attention.head_count_kv", KIND_EACH, kv_heads),
    HPARAM(".attention.key_length", KIND_COUNT, head_dim),
    READING(".attention.max_alibi_bias", KIND_REAL, max_alibi_bias),
    HPARAM(".block_count", KIND_COUNT, layers),
    HPARAM(".context_length", KIND_COUNT, context_length),
    HPARAM(".decoder_block_count", KIND_COUNT, decoder_layers),
    HPARAM(".embedding_length", KIND_COUNT, hidden_size),
    HPARAM(".expert_count", KIND_COUNT, experts),
    HPARAM(".feed_forward_length", KIND_EACH, intermediate_size),
    HPARAM(".rope.dimension_count", KIND_COUNT, rotary_dim),
    HPARAM(".rope.freq_base", KIND_REAL, rope_theta),
    READING(".rope.scale_linear", KIND_REAL, scale_linear),
    HPARAM(".rope.scaling.factor", KIND_REAL, rope_factor),
    HPARAM(".rope.scaling.original_context_length", KIND_COUNT, rope_original_context),
    HPARAM(".rope.scaling.type", KIND_TEXT, rope_scaling),
    HPARAM(".vocab_size", KIND_COUNT, vocab_size),
    HPARAM("tokenizer.ggml.padding_token_id", KIND_COUNT, pad_token_id),
    HPARAM("tokenizer.ggml.token_type_count", KIND_COUNT, type_vocab_size),
    TOKENIZER("tokenizer.ggml.model", KIND_TEXT, model),
    TOKENIZER("tokenizer.ggml.pre", KIND_TEXT, pre),
    TOKENIZER("tokenizer.ggml.tokens", KIND_SIZE, tokens),
    TOKENIZER("tokenizer.ggml.merges", KIND_SIZE, merges),
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const char *const kind_names[] = {
    [KIND_COUNT] = "an unsigned integer",
    [KIND_EACH] = "an unsigned integer, or an array with one for each layer",
    [KIND_REAL] = "a float",
    [KIND_TEXT] = "a string",
    [KIND_SIZE] = "an array of strings",
};

/* The longest architecture name and key that are looked for. */
#define MOST_KEY_BYTES 256

/* The entry that `row` is about, or NULL. */
static const struct tenon_meta_entry *find_entry(const struct reading *r, const struct key_row *row)
{
    char key[MOST_KEY_BYTES];

    if (row->key[0] != '.')
        return tenon_model_find_typed(r->model, row->key);
    if (r->arch.len == 0 || r->arch.len + strlen(row->key) >= sizeof(key))
        return NULL;
    memcpy(key, r->arch.data, r->arch.len);
    memcpy(key + r->arch.len, row->key, strlen(row->key) + 1);
    return tenon_model_find_typed(r->model, key);
}

static void store(struct reading *r, const struct key_row *row, const void *value, size_t bytes)
{
    unsigned char *base = NULL;

    switch (row->place) {
    case PLACE_HPARAMS:
        base = (unsigned char *)tenon_model_edit_hparams(r->model);
        break;
    case PLACE_TOKENIZER:
        base = (unsigned char *)tenon_model_edit_tokenizer(r->model);
        break;
    case PLACE_READING:
        base = (unsigned char *)r;
        break;
    }
    memcpy(base + row->member, value, bytes);
}

static enum tenon_status report_kind(const struct reading *r, const struct key_row *row,
                                     const struct tenon_meta_entry *entry, struct tenon_error *err)
{
    if (r->texts)
        return TENON_OK;
    return tenon_gguf_blame_entry(r->model, entry, err, "key_kind",
                                  entry->type == TENON_META_ARRAY
                                      ? "is an array of %s, %s is needed"
                                      : "is of type %s, %s is needed",
                                  tenon_meta_type_name(entry->item), kind_names[row->kind]);
}

static enum tenon_status report_width(const struct reading *r, const struct tenon_meta_entry *entry,
                                      const char *wanted, struct tenon_error *err)
{
    if (r->texts)
        return TENON_OK;
    return tenon_gguf_blame_entry(r->model, entry, err, "key_width",
                                  "is of type %s, the loader takes %s only",
                                  tenon_meta_type_name(entry->item), wanted);
}

static bool is_integer(enum tenon_meta_type type)
{
    return type == TENON_META_U8 || type == TENON_META_I8 || type == TENON_META_U16 ||
           type == TENON_META_I16 || type == TENON_META_U32 || type == TENON_META_I32 ||
           type == TENON_META_U64 || type == TENON_META_I64;
}

/* A count, or the first of the counts for each layer. */
static enum tenon_status take_count(struct reading *r, const struct key_row *row,
                                    const struct tenon_meta_entry *entry, struct tenon_error *err)
{
    bool array = entry->type == TENON_META_ARRAY;
    struct tenon_meta_value value = entry->value;
    struct tenon_meta_iter it;
    int64_t number;

    if (!is_integer(entry->item) || (array && row->kind != KIND_EACH))
        return report_kind(r, row, entry, err);
    if (array) {
        tenon_meta_iter_init(&it, entry);
        if (!tenon_meta_iter_next(&it, &value, NULL))
            return TENON_OK; /* its length is judged with the others */
    }
    if (!tenon_meta_value_int(&value, &number) || number < 0)
        return r->texts ? TENON_OK
                        : tenon_gguf_blame_entry(r->model, entry, err, "key_range",
                                                 "is negative or does not fit 63 bits");
    store(r, row, &number, sizeof(number));
    if (entry->item != TENON_META_U32 && !(array && entry->item == TENON_META_I32))
        return report_width(r, entry, "u32", err);
    return TENON_OK;
}

static enum tenon_status take_real(struct reading *r, const struct key_row *row,
                                   const struct tenon_meta_entry *entry, struct tenon_error *err)
{
    double number = entry->value.as.f64;

    if (r->texts && entry->type == TENON_META_U32)
        number = (double)entry->value.as.u64;
    else if (entry->type != TENON_META_F32 && entry->type != TENON_META_F64)
        return report_kind(r, row, entry, err);
    store(r, row, &number, sizeof(number));
    return entry->type == TENON_META_F32 ? TENON_OK : report_width(r, entry, "f32", err);
}

static enum tenon_status take_entry(struct reading *r, const struct key_row *row,
                                    const struct tenon_meta_entry *entry, struct tenon_error *err)
{
    int64_t size;

    switch (row->kind) {
    case KIND_COUNT:
    case KIND_EACH:
        return take_count(r, row, entry, err);
    case KIND_REAL:
        return take_real(r, row, entry, err);
    case KIND_TEXT:
        if (entry->type != TENON_META_STRING)
            return report_kind(r, row, entry, err);
        store(r, row, &entry->value.as.str, sizeof(entry->value.as.str));
        break;
    case KIND_SIZE:
        if (entry->type != TENON_META_ARRAY || entry->item != TENON_META_STRING)
            return report_kind(r, row, entry, err);
        size = (int64_t)entry->count; /* at most limits.array_elements */
        store(r, row, &size, sizeof(size));
        break;
    }
    return TENON_OK;
}

/* Arrays with one value for each layer must have as many as there are layers. */
static enum tenon_status check_lengths(const struct reading *r, struct tenon_error *err)
{
    int64_t layers = tenon_model_hparams(r->model)->layers;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && !r->texts && layers >= 0 && i < N_ROWS; i++) {
        const struct tenon_meta_entry *entry =
            rows[i].kind == KIND_EACH ? find_entry(r, &rows[i]) : NULL;

        if (entry == NULL || entry->type != TENON_META_ARRAY || entry->count == (uint64_t)layers)
            continue;
        st = tenon_gguf_blame_entry(r->model, entry, err, "per_layer_length",
                                    "%" PRIu64 " values for %" PRId64 " layers", entry->count,
                                    layers);
    }
    return st;
}

/* What follows from the values that were found. */
static void derive(const struct reading *r)
{
    struct tenon_hparams *h = tenon_model_edit_hparams(r->model);
    struct tenon_tokenizer *t = tenon_model_edit_tokenizer(r->model);

    h->alibi = r->max_alibi_bias > 0;
    if (r->scale_linear > 0 && h->rope_scaling.len == 0) {
        h->rope_scaling = (struct tenon_str){"linear", 6};
        h->rope_factor = r->scale_linear;
    }
    if (t->tokens >= 0) {
        t->added = 0;
        t->max_id = t->tokens - 1;
        if (h->vocab_size < 0)
            h->vocab_size = t->tokens;
    }
}

static enum tenon_status read_hparams(struct tenon_model *model, bool texts,
                                      struct tenon_error *err)
{
    struct reading r = {.model = model, .arch = {"", 0}, .texts = texts};
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < N_ROWS; i++) {
        const struct tenon_meta_entry *entry = find_entry(&r, &rows[i]);

        if (entry != NULL)
            st = take_entry(&r, &rows[i], entry, err);
        r.arch = tenon_model_hparams(model)->model_type; /* the first row gives it */
    }
    if (st == TENON_OK)
        st = check_lengths(&r, err);
    if (st == TENON_OK)
        derive(&r);
    return st;
}

enum tenon_status tenon_gguf_read_hparams(struct tenon_model *model, struct tenon_error *err)
{
    return read_hparams(model, false, err);
}

/* Whether tensors are called as in GGUF files. Others may name an architecture in their metadata,
 * too, but are no copy of such a file. */
static bool has_gguf_names(const struct tenon_model *model)
{
    static const char *const heads[] = {"token_embd.", "blk.", "enc.blk.", "dec.blk.", "v.", "mm."};

    for (size_t i = 0; i < tenon_model_n_tensors(model); i++) {
        struct tenon_str name = tenon_model_tensor(model, i)->name;

        for (size_t k = 0; k < sizeof(heads) / sizeof(heads[0]); k++)
            if (name.len > strlen(heads[k]) && memcmp(name.data, heads[k], strlen(heads[k])) == 0)
                return true;
    }
    return false;
}

enum tenon_status tenon_gguf_read_texts(struct tenon_model *model, struct tenon_error *err)
{
    bool any = false;
    enum tenon_status st;

    if (tenon_model_hparams(model)->model_type.len != 0 ||
        tenon_model_find_meta(model, "general.architecture") == NULL || !has_gguf_names(model))
        return TENON_OK;
    st = tenon_model_type_texts(model, &any, err);
    return st == TENON_OK && any ? read_hparams(model, true, err) : st;
}
