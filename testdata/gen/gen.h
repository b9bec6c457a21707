/* Sample files for tests, made from code: the same bytes on every machine and every day.
 *
 * Nothing here uses the library's readers or tables, so that a mistake there cannot hide behind
 * the same mistake here. Whatever fails (memory, an unknown name) ends the program: this is test
 * equipment. */
#ifndef TENON_TESTDATA_GEN_H
#define TENON_TESTDATA_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. Zero-initialise; `big` makes the integers and floats big-endian. */
struct gen_bytes {
    unsigned char *data;
    size_t n, capacity;
    bool big;
};

void gen_bytes_release(struct gen_bytes *b);
void gen_raw(struct gen_bytes *b, const void *data, size_t n);
void gen_text(struct gen_bytes *b, const char *text); /* without its terminator */
void gen_fill(struct gen_bytes *b, int byte, size_t n);
void gen_u8(struct gen_bytes *b, uint64_t value); /* low 8 bits; the others likewise */
void gen_u16(struct gen_bytes *b, uint64_t value);
void gen_u32(struct gen_bytes *b, uint64_t value);
void gen_u64(struct gen_bytes *b, uint64_t value);
void gen_f32(struct gen_bytes *b, float value);
void gen_f64(struct gen_bytes *b, double value);
void gen_str(struct gen_bytes *b, const char *text); /* u64 length and bytes, as in GGUF */
void gen_align(struct gen_bytes *b, size_t alignment);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gen_format(struct gen_bytes *b, const char *format, ...);

/* Fixed-seed randomness (splitmix64). */
uint64_t gen_random(uint64_t *state);

/* Value `i` of the endless row of values that `seed` names: k/128 with |k| <= 127, which F32, F16
 * and BF16 all hold exactly. */
float gen_value(uint64_t seed, uint64_t i);

/* Element types by their usual upper-case names, "F32" ... "Q8_0" ... */
struct gen_dtype {
    const char *name;
    int gguf;                /* type number, -1 for none */
    const char *safetensors; /* NULL for none */
    unsigned block, bytes;   /* elements and bytes of a block */
};
extern const struct gen_dtype gen_dtypes[];
extern const size_t gen_n_dtypes;
const struct gen_dtype *gen_dtype_find(const char *name);
uint16_t gen_half(float value);   /* to binary16, ties to even */
uint16_t gen_bfloat(float value); /* to bfloat16, ties to even */

#define GEN_MAX_DIMS 4

/* One tensor: shape outermost first, payload little-endian. */
struct gen_tensor {
    char name[128];
    const struct gen_dtype *dtype;
    unsigned n_dims;
    uint64_t dims[GEN_MAX_DIMS];
    struct gen_bytes data;
    int alias; /* index of the tensor whose bytes it uses, or -1 */
};

/* A model in no particular format: tensors, and GGUF metadata pairs that are already encoded. */
struct gen_model {
    struct gen_tensor *tensors;
    size_t n_tensors;
    struct gen_bytes kv; /* set kv.big before adding to get a byte-swapped file */
    uint64_t n_kv;
    bool v1; /* 32-bit lengths, as in version 1 */
};

void gen_model_release(struct gen_model *m);

/* Adds a tensor without data. `dims` outermost first. */
struct gen_tensor *gen_tensor_add(struct gen_model *m, const char *name, const char *dtype,
                                  unsigned n_dims, const uint64_t *dims);
uint64_t gen_tensor_elements(const struct gen_tensor *t);

/* Fills it with scale * gen_value(seed, first ...), encoded as its type (plain floats and Q8_0), or
 * with well-formed random bytes for all other types. */
void gen_tensor_values(struct gen_tensor *t, uint64_t seed, float scale);
void gen_tensor_floats(struct gen_tensor *t, const float *values, size_t n);
void gen_tensor_random(struct gen_tensor *t, uint64_t seed);
struct gen_tensor *gen_tensor_find(struct gen_model *m, const char *name);

/* GGUF metadata pairs. */
enum gen_kv {
    GEN_U8,
    GEN_I8,
    GEN_U16,
    GEN_I16,
    GEN_U32,
    GEN_I32,
    GEN_F32,
    GEN_BOOL,
    GEN_STRING,
    GEN_ARRAY,
    GEN_U64,
    GEN_I64,
    GEN_F64
};
void gen_kv_begin(struct gen_model *m, const char *key, enum gen_kv type); /* value follows */
void gen_kv_len(struct gen_model *m, uint64_t n);                          /* u64, u32 in v1 */
void gen_kv_text(struct gen_model *m, const char *text);                   /* a string's bytes */
void gen_kv_str(struct gen_model *m, const char *key, const char *value);
void gen_kv_u32(struct gen_model *m, const char *key, uint32_t value);
void gen_kv_f32(struct gen_model *m, const char *key, float value);
void gen_kv_bool(struct gen_model *m, const char *key, bool value);
void gen_kv_array(struct gen_model *m, const char *key, enum gen_kv item, uint64_t n);

/* Writes the model as a GGUF file; byte-swapped when kv.big is set. */
void gen_write_gguf(struct gen_bytes *out, const struct gen_model *m, uint32_t version,
                    uint32_t alignment);

/* Writes it as a safetensors file: header padded to 8 bytes, tensors in the order they were added
 * without gaps; `metadata` is a JSON object, or NULL for none. Tensors [first, end). */
void gen_write_safetensors(struct gen_bytes *out, const struct gen_model *m, size_t first,
                           size_t end, const char *metadata);

/* The files of a sample: one, or those of a folder. */
enum gen_file_kind { GEN_FILE_REGULAR, GEN_FILE_LINK, GEN_FILE_FIFO, GEN_FILE_FOLDER };
struct gen_file {
    char name[256];
    enum gen_file_kind kind;
    struct gen_bytes bytes; /* the target of a link */
    uint64_t sparse;        /* size to which a hole extends the file; 0: none */
};
struct gen_files {
    struct gen_file *file;
    size_t n;
    bool folder;    /* the sample is the folder, not its file */
    char open[256]; /* the file to open; "" for the folder, or the only file */
};
struct gen_bytes *gen_files_add(struct gen_files *f, const char *name);

/* Writes them below `folder`, which must exist; `path` receives what is to be opened. */
void gen_files_write(const struct gen_files *f, const char *folder, char *path, size_t size);
void gen_files_remove(const struct gen_files *f, const char *folder);
void gen_files_release(struct gen_files *f);

/* A sample, by name. What the other members mean depends on `make`. */
struct gen_kind;
struct gen_sample {
    const char *name;
    bool folder;       /* a folder even where it has one file */
    const char *shows; /* one line, as in testdata/README.md */
    void (*make)(const struct gen_sample *self, struct gen_files *out);
    const struct gen_kind *kind;
    int head;          /* enum gen_head */
    const char *dtype; /* of the matrices */
    const char *text;  /* config members, or metadata */
    uint32_t number;   /* version, alignment */
};
extern const struct gen_sample gen_samples[];
extern const size_t gen_n_samples;
const struct gen_sample *gen_sample_find(const char *name, size_t len); /* NULL when none */
void gen_sample_make(const struct gen_sample *sample, struct gen_files *out);

/* The rows of corrupt_*.def. */
#define GEN_ANY (UINT64_MAX - 1) /* an offset that is not looked at */
struct gen_damage {
    const char *id, *recipe;
    const char *status; /* id of a row of errors.def, or "ok" */
    uint64_t offset;    /* UINT64_MAX: none */
    const char *subject;
    uint64_t bounds; /* 0, or milliseconds << 32 | KiB */
};
extern const struct gen_damage gen_damages[];
extern const size_t gen_n_damages;
const struct gen_damage *gen_damage_find(const char *id); /* NULL when none */

/* Files from words: the language of corrupt_*.def, see testdata/README.md. */
void gen_recipe_make(const char *recipe, struct gen_files *out);

#endif
