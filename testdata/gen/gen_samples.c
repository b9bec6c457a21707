/* The samples: one row each. */
#include "gen_kinds.h"

#include <stdio.h>
#include <string.h>

#define TIED   "\"tie_word_embeddings\":true"
#define UNTIED "\"tie_word_embeddings\":false"
#define PT     "{\"format\":\"pt\"}"

/* A GGUF file of a family; `number` is the version, 0 for a big-endian one of version 3. */
static void make_gguf(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {.v1 = self->number == 1, .kv = {.big = self->number == 0}};

    gen_kind_kv(&m, self->kind);
    gen_kind_tensors(&m, self->kind, true, self->dtype, (enum gen_head)self->head);
    gen_write_gguf(gen_files_add(out, "model.gguf"), &m, self->number != 0 ? self->number : 3, 32);
    gen_model_release(&m);
}

/* A lone safetensors file of a family; `text` is its metadata, NULL for none. */
static void make_safetensors(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {0};

    gen_kind_tensors(&m, self->kind, false, self->dtype, (enum gen_head)self->head);
    gen_write_safetensors(gen_files_add(out, "model.safetensors"), &m, 0, m.n_tensors, self->text);
    gen_model_release(&m);
}

static void add_index(struct gen_files *out, const struct gen_model *m, size_t half, size_t end)
{
    struct gen_bytes *b = gen_files_add(out, "model.safetensors.index.json");
    uint64_t total = 0;

    for (size_t i = 0; i < end; i++)
        total += m->tensors[i].data.n;
    gen_format(b, "{\"metadata\":{\"total_size\":%llu},\"weight_map\":{",
               (unsigned long long)total);
    for (size_t i = 0; i < end; i++)
        gen_format(b, "%s\"%s\":\"model-0000%d-of-00002.safetensors\"", i != 0 ? "," : "",
                   m->tensors[i].name, i < half ? 1 : 2);
    gen_text(b, "}}\n");
}

/* A Hugging Face folder; `number` is its count of shards, 1 or 2. */
static void make_folder(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {0};

    gen_kind_config(gen_files_add(out, "config.json"), self->kind, self->text);
    gen_tokenizer_json(gen_files_add(out, "tokenizer.json"));
    gen_kind_tensors(&m, self->kind, false, self->dtype, (enum gen_head)self->head);
    if (self->number == 1) {
        gen_write_safetensors(gen_files_add(out, "model.safetensors"), &m, 0, m.n_tensors, PT);
    } else {
        size_t half = m.n_tensors / 2;

        gen_write_safetensors(gen_files_add(out, "model-00001-of-00002.safetensors"), &m, 0, half,
                              PT);
        gen_write_safetensors(gen_files_add(out, "model-00002-of-00002.safetensors"), &m, half,
                              m.n_tensors, PT);
        add_index(out, &m, half, m.n_tensors);
    }
    gen_model_release(&m);
}

/* One tensor of two rows for every element type that the format has; `number` 0: the big-endian
 * twin, with the types that have a big-endian form. */
static void add_dtypes(struct gen_model *m, bool gguf, bool big)
{
    static const char *const swappable[] = {"F64", "F32",  "F16",  "BF16", "I64",  "I32",  "I16",
                                            "I8",  "Q4_0", "Q8_0", "Q4_K", "Q6_K", "MXFP4"};

    for (size_t i = 0; i < gen_n_dtypes; i++) {
        const struct gen_dtype *type = &gen_dtypes[i];
        uint64_t dims[2] = {2, type->block < 4 ? 4 : type->block};
        bool wanted = gguf ? type->gguf >= 0 : type->safetensors != NULL;
        char name[32];

        for (size_t k = 0; big && k < sizeof(swappable) / sizeof(swappable[0]); k++) {
            if (strcmp(swappable[k], type->name) == 0)
                break;
            wanted = wanted && k + 1 < sizeof(swappable) / sizeof(swappable[0]);
        }
        if (!wanted)
            continue;
        snprintf(name, sizeof(name), "type.%s", type->name);
        gen_tensor_random(gen_tensor_add(m, name, type->name, 2, dims), 1000 + i);
    }
}

static void make_dtypes_gguf(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {.kv = {.big = self->number == 0}};

    gen_kv_str(&m, "general.architecture", "llama");
    add_dtypes(&m, true, self->number == 0);
    gen_write_gguf(gen_files_add(out, "model.gguf"), &m, 3, 32);
    gen_model_release(&m);
}

static void make_dtypes_safetensors(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {0};

    add_dtypes(&m, false, false);
    gen_write_safetensors(gen_files_add(out, "model.safetensors"), &m, 0, m.n_tensors, self->text);
    gen_model_release(&m);
}

/* A value of `type` that only that type holds. */
static void put_value(struct gen_model *m, enum gen_kv type)
{
    struct gen_bytes *b = &m->kv;

    switch (type) {
    case GEN_U8:
        gen_u8(b, 255);
        break;
    case GEN_I8:
        gen_u8(b, 0x80); /* -128 */
        break;
    case GEN_U16:
        gen_u16(b, 65535);
        break;
    case GEN_I16:
        gen_u16(b, 0x8000);
        break;
    case GEN_U32:
        gen_u32(b, UINT32_MAX);
        break;
    case GEN_I32:
        gen_u32(b, 0x80000000u);
        break;
    case GEN_F32:
        gen_f32(b, 0.1f);
        break;
    case GEN_BOOL:
        gen_u8(b, 1);
        break;
    case GEN_STRING:
        gen_kv_text(m, "caf\xc3\xa9 \xf0\x9f\x98\x80");
        break;
    case GEN_U64:
        gen_u64(b, UINT64_MAX);
        break;
    case GEN_I64:
        gen_u64(b, 0x8000000000000000u);
        break;
    case GEN_F64:
        gen_f64(b, 0.1);
        break;
    case GEN_ARRAY:
        break;
    }
}

/* Every value type as a scalar, as an array of three, as an empty array, and arrays in arrays. */
static void make_meta_types(const struct gen_sample *self, struct gen_files *out)
{
    static const char *const names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                        "bool", "string", "array", "u64", "i64", "f64"};
    struct gen_model m = {.kv = {.big = self->number == 0}};
    char key[32];

    gen_kv_str(&m, "general.architecture", "llama");
    for (int type = GEN_U8; type <= GEN_F64; type++) {
        if (type == GEN_ARRAY)
            continue;
        snprintf(key, sizeof(key), "one.%s", names[type]);
        gen_kv_begin(&m, key, (enum gen_kv)type);
        put_value(&m, (enum gen_kv)type);
        snprintf(key, sizeof(key), "many.%s", names[type]);
        gen_kv_array(&m, key, (enum gen_kv)type, 3);
        for (int i = 0; i < 3; i++)
            put_value(&m, (enum gen_kv)type);
        snprintf(key, sizeof(key), "none.%s", names[type]);
        gen_kv_array(&m, key, (enum gen_kv)type, 0);
    }
    gen_kv_array(&m, "nested", GEN_ARRAY, 2);
    for (uint32_t i = 1; i <= 2; i++) {
        gen_u32(&m.kv, GEN_U16);
        gen_kv_len(&m, i);
        for (uint32_t k = 0; k < i; k++)
            gen_u16(&m.kv, 10 * i + k);
    }
    gen_write_gguf(gen_files_add(out, "model.gguf"), &m, 3, 32);
    gen_model_release(&m);
}

/* Shapes at the edge: a scalar, none in one dimension, four dimensions; `number` is the alignment.
 */
static void make_shapes_gguf(const struct gen_sample *self, struct gen_files *out)
{
    static const uint64_t dims[4] = {2, 3, 4, 5}, none[2] = {0, 3};
    struct gen_model m = {0};

    gen_kv_str(&m, "general.architecture", "llama");
    gen_kv_u32(&m, "general.alignment", self->number);
    gen_tensor_values(gen_tensor_add(&m, "scalar", "F32", 0, dims), 1, 1.0f);
    gen_tensor_values(gen_tensor_add(&m, "empty", "F32", 2, none), 2, 1.0f);
    gen_tensor_values(gen_tensor_add(&m, "four", "F16", 4, dims), 3, 1.0f);
    gen_tensor_values(gen_tensor_add(&m, "one", "BF16", 1, dims), 4, 1.0f);
    gen_write_gguf(gen_files_add(out, "model.gguf"), &m, 3, self->number);
    gen_model_release(&m);
}

static void make_shapes_safetensors(const struct gen_sample *self, struct gen_files *out)
{
    static const uint64_t dims[4] = {2, 3, 4, 5}, none[2] = {0, 3};
    static const uint64_t odd[1] = {3};
    struct gen_model m = {0};

    gen_tensor_random(gen_tensor_add(&m, "odd", "U8", 1, odd), 1);
    gen_tensor_values(gen_tensor_add(&m, "unaligned", "F32", 1, odd), 2, 1.0f);
    gen_tensor_values(gen_tensor_add(&m, "scalar", "F32", 0, dims), 3, 1.0f);
    gen_tensor_values(gen_tensor_add(&m, "empty", "F32", 2, none), 4, 1.0f);
    gen_tensor_values(gen_tensor_add(&m, "four", "F16", 4, dims), 5, 1.0f);
    gen_write_safetensors(gen_files_add(out, "model.safetensors"), &m, 0, m.n_tensors, self->text);
    gen_model_release(&m);
}

/* Nothing but a header. */
static void make_bare_gguf(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {0};

    if (self->kind != NULL)
        gen_kind_kv(&m, self->kind);
    gen_write_gguf(gen_files_add(out, "model.gguf"), &m, 3, 32);
    gen_model_release(&m);
}

static void make_bare_safetensors(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model m = {0};

    gen_write_safetensors(gen_files_add(out, "model.safetensors"), &m, 0, 0, self->text);
    gen_model_release(&m);
}

/* Moves tensors [first, end) of `from` into a model of their own, with the keys of a split set. */
static void add_split_part(struct gen_files *out, const struct gen_sample *self,
                           struct gen_model *all, unsigned part, unsigned n_parts)
{
    size_t first = all->n_tensors * part / n_parts, end = all->n_tensors * (part + 1) / n_parts;
    struct gen_model m = {0};
    char name[64];

    if (part == 0)
        gen_kind_kv(&m, self->kind);
    gen_kv_begin(&m, "split.no", GEN_U16);
    gen_u16(&m.kv, part);
    gen_kv_begin(&m, "split.count", GEN_U16);
    gen_u16(&m.kv, n_parts);
    gen_kv_begin(&m, "split.tensors.count", GEN_I32);
    gen_u32(&m.kv, all->n_tensors);
    for (size_t i = first; i < end; i++) {
        const struct gen_tensor *t = &all->tensors[i];
        struct gen_tensor *copy = gen_tensor_add(&m, t->name, t->dtype->name, t->n_dims, t->dims);

        gen_raw(&copy->data, t->data.data, t->data.n);
    }
    snprintf(name, sizeof(name), "tiny-%05u-of-%05u.gguf", part + 1, n_parts);
    gen_write_gguf(gen_files_add(out, name), &m, 3, 32);
    gen_model_release(&m);
}

static void make_split_gguf(const struct gen_sample *self, struct gen_files *out)
{
    struct gen_model all = {0};

    gen_kind_tensors(&all, self->kind, true, self->dtype, (enum gen_head)self->head);
    for (unsigned part = 0; part < self->number; part++)
        add_split_part(out, self, &all, part, self->number);
    gen_model_release(&all);
}

/* The columns: name, folder, what it shows, maker, family, head, type of matrices, text, number. */
#define GGUF(name, shows, kind, dtype, head, version)                                              \
    {                                                                                              \
        name, false, shows, make_gguf, &gen_##kind, GEN_HEAD_##head, dtype, NULL, version          \
    }
#define ST(name, shows, kind, dtype, head)                                                         \
    {                                                                                              \
        name, false, shows, make_safetensors, &gen_##kind, GEN_HEAD_##head, dtype, PT, 0           \
    }
#define HF(name, shows, kind, dtype, head, flags, shards)                                          \
    {                                                                                              \
        name, true, shows, make_folder, &gen_##kind, GEN_HEAD_##head, dtype, flags, shards         \
    }

const struct gen_sample gen_samples[] = {
    GGUF("bert_gguf", "an encoder without an output matrix", bert, "F16", ABSENT, 3),
    GGUF("different_q8_0_gguf", "two Q8_0 matrices that differ", llama, "Q8_0", DIFFERENT, 3),
    GGUF("equal_gguf", "output in F32, input in F16, same values", llama, "F16", EQUAL, 3),
    GGUF("gemma_gguf", "a family whose GGUF never stores the output", gemma, "F16", ABSENT, 3),
    GGUF("gemma_untied_gguf", "the same with an output, which llama.cpp refuses", gemma, "F16",
         DIFFERENT, 3),
    GGUF("gpt2_gguf", "learned positions, biases, no output stored", gpt2, "F16", ABSENT, 3),
    GGUF("identical_gguf", "output is a second copy of the input", llama, "F16", IDENTICAL, 3),
    GGUF("more_rows_gguf", "output has eight rows more", llama, "F16", MORE_ROWS, 3),
    GGUF("narrow_gguf", "output is half as wide", llama, "F16", NARROW, 3),
    GGUF("partial_gguf", "all rows equal but the last four", llama, "F16", PARTIAL, 3),
    GGUF("quantized_gguf", "output is the Q8_0 form of the input", llama, "F16", QUANTIZED, 3),
    GGUF("qwen2_gguf", "attention biases, no permutation", qwen2, "BF16", ABSENT, 3),
    GGUF("scaled_gguf", "output is half the input", llama, "F32", SCALED, 3),
    GGUF("shared_gguf", "two records, one byte range", llama, "F16", SHARED, 3),
    GGUF("t5_gguf", "encoder and decoder, relative positions", t5, "F16", ABSENT, 3),
    GGUF("tied_be_gguf", "big-endian twin of tied_gguf", llama, "F16", ABSENT, 0),
    GGUF("tied_gguf", "no output stored: the input is used again", llama, "F16", ABSENT, 3),
    GGUF("tied_q8_0_be_gguf", "big-endian twin of tied_q8_0_gguf", llama, "Q8_0", ABSENT, 0),
    GGUF("tied_q8_0_gguf", "the same in Q8_0", llama, "Q8_0", ABSENT, 3),
    GGUF("tied_v1_gguf", "version 1: lengths of 32 bits", llama, "F16", ABSENT, 1),
    GGUF("tied_v2_gguf", "version 2", llama, "F16", ABSENT, 2),
    GGUF("untied_gguf", "an output of its own", llama, "F16", DIFFERENT, 3),
    {"aligned_gguf", false, "alignment 64; scalar, empty and four-dimensional shapes",
     make_shapes_gguf, NULL, 0, NULL, NULL, 64},
    {"dtypes_be_gguf", false, "big-endian: every type that has such a form", make_dtypes_gguf, NULL,
     0, NULL, NULL, 0},
    {"dtypes_gguf", false, "every element type of GGUF", make_dtypes_gguf, NULL, 0, NULL, NULL, 3},
    {"empty_gguf", false, "neither metadata nor tensors", make_bare_gguf, NULL, 0, NULL, NULL, 0},
    {"meta_be_gguf", false, "big-endian twin of meta_gguf", make_meta_types, NULL, 0, NULL, NULL,
     0},
    {"meta_gguf", false, "every metadata type, alone and in arrays", make_meta_types, NULL, 0, NULL,
     NULL, 3},
    {"split_gguf", true, "a set of three files, tied", make_split_gguf, &gen_llama, GEN_HEAD_ABSENT,
     "F16", NULL, 3},
    {"split_untied_gguf", true, "a set of three files, the output in the last", make_split_gguf,
     &gen_llama, GEN_HEAD_DIFFERENT, "F16", NULL, 3},
    {"unaligned_gguf", false, "alignment 1", make_shapes_gguf, NULL, 0, NULL, NULL, 1},
    {"vocab_gguf", false, "metadata and vocabulary without tensors", make_bare_gguf, &gen_llama, 0,
     NULL, NULL, 0},
    ST("bert_safetensors", "an encoder", bert, "F32", ABSENT),
    ST("equal_safetensors", "output in F32, input in BF16, same values", llama, "BF16", EQUAL),
    ST("gpt2_safetensors", "Conv1D weights, transposed against the others", gpt2, "F32", ABSENT),
    ST("identical_safetensors", "output is a second copy of the input", llama, "F16", IDENTICAL),
    ST("more_rows_safetensors", "output has eight rows more", llama, "F16", MORE_ROWS),
    ST("narrow_safetensors", "output is half as wide", llama, "F16", NARROW),
    ST("partial_safetensors", "all rows equal but the last four", llama, "F16", PARTIAL),
    ST("scaled_safetensors", "output is half the input", llama, "F32", SCALED),
    ST("t5_safetensors", "encoder and decoder", t5, "F32", ABSENT),
    ST("tied_safetensors", "no output stored", llama, "BF16", ABSENT),
    ST("transposed_safetensors", "output holds the input's columns", llama, "F16", TRANSPOSED),
    ST("untied_safetensors", "an output of its own", llama, "BF16", DIFFERENT),
    {"dtypes_safetensors", false, "every element type of safetensors", make_dtypes_safetensors,
     NULL, 0, NULL, NULL, 0},
    {"empty_safetensors", false, "no tensors, no metadata", make_bare_safetensors, NULL, 0, NULL,
     NULL, 0},
    {"meta_safetensors", false, "metadata with escapes, no tensors", make_bare_safetensors, NULL, 0,
     NULL, "{\"format\":\"pt\",\"a\\\"b\":\"caf\\u00e9\\n\"}", 0},
    {"shapes_safetensors", false, "a scalar, an empty tensor, payloads at odd offsets",
     make_shapes_safetensors, NULL, 0, NULL, NULL, 0},
    HF("bert_hf", "an encoder folder", bert, "F32", ABSENT, "", 1),
    HF("contradict_hf", "two shards; declared tied, but the output differs", llama, "BF16",
       DIFFERENT, TIED, 2),
    HF("gemma_hf", "tied by the family's default, the config is silent", gemma, "BF16", ABSENT, "",
       1),
    HF("gpt2_hf", "learned positions, tied", gpt2, "F32", ABSENT, "", 1),
    HF("identical_hf", "declared tied, stored twice", llama, "BF16", IDENTICAL, TIED, 1),
    HF("missing_hf", "declared untied, but there is no output", llama, "BF16", ABSENT, UNTIED, 1),
    HF("nested_hf", "the flag stands below text_config", llama, "BF16", ABSENT,
       "\"text_config\":{" TIED "}", 1),
    HF("qwen2_hf", "attention biases, tied", qwen2, "BF16", ABSENT, TIED, 1),
    HF("scaled_hf", "declared untied; output is half the input", llama, "F32", SCALED, UNTIED, 1),
    HF("sharded_hf", "two shards, tied", llama, "BF16", ABSENT, TIED, 2),
    HF("sharded_untied_hf", "two shards, untied", llama, "BF16", DIFFERENT, UNTIED, 2),
    HF("silent_hf", "an output of its own, the config is silent", llama, "BF16", DIFFERENT, "", 1),
    HF("t5_hf", "encoder and decoder share one matrix", t5, "F32", ABSENT, TIED, 1),
    HF("tied_hf", "declared tied, no output stored", llama, "BF16", ABSENT, TIED, 1),
    HF("untied_hf", "declared untied, an output of its own", llama, "BF16", DIFFERENT, UNTIED, 1),
};
const size_t gen_n_samples = sizeof(gen_samples) / sizeof(gen_samples[0]);

const struct gen_sample *gen_sample_find(const char *name, size_t len)
{
    for (size_t i = 0; i < gen_n_samples; i++) {
        if (strlen(gen_samples[i].name) == len && memcmp(gen_samples[i].name, name, len) == 0)
            return &gen_samples[i];
    }
    return NULL;
}

void gen_sample_make(const struct gen_sample *sample, struct gen_files *out)
{
    out->folder = sample->folder;
    sample->make(sample, out);
}
