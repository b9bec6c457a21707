/* A GGUF header while it is being read: shared by the files that read its parts. */
#ifndef TENON_FORMATS_GGUF_H
#define TENON_FORMATS_GGUF_H

#include "bytes.h"
#include "format.h"

/* More dimensions than any limit may allow. */
#define TENON_GGUF_MAX_DIMS 64

/* Deeper arrays than any limit may allow; the iterator of metadata stops there, too. */
#define TENON_GGUF_MAX_NESTING 16

/* Names of this length and more are refused by the reference loader. */
#define TENON_GGUF_LOADER_NAME_BYTES 64

/* The loader takes this many dimensions. */
#define TENON_GGUF_LOADER_DIMS 4

/* Of payloads, where the file says nothing else. */
#define TENON_GGUF_ALIGNMENT 32

#define TENON_GGUF_KEY_ALIGNMENT     "general.alignment"
#define TENON_GGUF_KEY_SPLIT_NO      "split.no"
#define TENON_GGUF_KEY_SPLIT_COUNT   "split.count"
#define TENON_GGUF_KEY_SPLIT_TENSORS "split.tensors.count"

/* One key-value pair as it stands in the buffer. */
struct tenon_gguf_pair {
    uint64_t offset;
    uint64_t key_off; /* of the key's bytes, behind their length */
    uint64_t key_len;
    uint64_t value_off; /* of the value: a string's bytes, an array's first element */
    uint64_t bytes;     /* of the value */
    uint64_t count;     /* elements of an array, else 1 */
    uint8_t type, item; /* enum tenon_meta_type */
};

/* One tensor record as it stands at the cursor, valid until the next one is read. */
struct tenon_gguf_record {
    uint64_t offset;
    uint64_t name_off; /* of the name's bytes, behind their length */
    uint64_t name_len;
    uint64_t dims_off; /* of the first dimension */
    uint64_t data_off; /* relative to the start of the data */
    uint32_t n_dims;
    uint32_t type;
};

/* A number from the metadata: TENON_UNKNOWN when it is no whole number or not there at all, and
 * `offset`, that of its pair, is then TENON_NO_OFFSET. */
struct tenon_gguf_number {
    int64_t value;
    uint64_t offset;
};

/* What a member of a split set says about the set. */
struct tenon_gguf_split {
    struct tenon_gguf_number no, count, tensors;
    struct tenon_str arch; /* empty when silent */
    uint64_t arch_off;
};

struct tenon_gguf {
    struct tenon_model *model;
    const struct tenon_limits *limits;
    uint32_t file;
    struct tenon_cursor cursor;
    uint32_t version;
    size_t length_bytes; /* of lengths and counts: 4 in version 1, else 8 */
    uint64_t declared_pairs, declared_tensors;
    struct tenon_gguf_pair *pairs;
    size_t n_pairs, pair_room;
    const unsigned char *buf; /* once the pairs are read: the header up to there, owned by the
                               * model */
    size_t first_tensor;      /* of this file in the model */
    uint64_t records_off;     /* where the tensor records begin */
    uint64_t end;             /* of the tensor records */
    uint64_t alignment;
    uint64_t data_start;
};

/* Judges what a file says about its set, before anything of it reaches the model. */
typedef enum tenon_status (*tenon_gguf_split_fn)(void *user, const struct tenon_gguf_split *split,
                                                 struct tenon_error *err);

/* Reads the header of file `file` of `model`, which is added already, asks `check`, and tells the
 * model what the file says. */
enum tenon_status tenon_gguf_read_file(struct tenon_model *model, uint32_t file,
                                       tenon_gguf_split_fn check, void *user,
                                       struct tenon_error *err);

/* The bytes of the pairs at `off`; `buf` must be set. */
static inline const unsigned char *tenon_gguf_at(const struct tenon_gguf *g, uint64_t off)
{
    return g->buf + off;
}

/* A length or count at the cursor, of the version's width. */
uint64_t tenon_gguf_length(struct tenon_gguf *g);

/* Passes over a string of at most limits.string_bytes; its bytes begin at `*out_off`. */
enum tenon_status tenon_gguf_pass_string(struct tenon_gguf *g, uint64_t *out_off, uint64_t *out_len,
                                         struct tenon_error *err);

/* Refuses `n` items of at least `least_bytes` each that cannot follow: LIMIT where a header of the
 * allowed size could not hold them, else TRUNCATED. `off` is where the number stands, `what` what
 * it counts. */
enum tenon_status tenon_gguf_check_count(const struct tenon_gguf *g, uint64_t n,
                                         uint64_t least_bytes, uint64_t off, const char *what,
                                         struct tenon_error *err);

/* Records a finding about this file; only memory can fail it. */
TENON_PRINTF(6, 7)
enum tenon_status tenon_gguf_find_fault(struct tenon_gguf *g, struct tenon_error *err,
                                        const char *code, uint64_t offset, struct tenon_str subject,
                                        const char *format, ...);

/* The same about a metadata entry of `model`. */
TENON_PRINTF(5, 6)
enum tenon_status tenon_gguf_blame_entry(struct tenon_model *model,
                                         const struct tenon_meta_entry *entry,
                                         struct tenon_error *err, const char *code,
                                         const char *format, ...);

/* gguf_meta.c: reads the pairs; hands them to the model, once `buf` is set. */
enum tenon_status tenon_gguf_read_pairs(struct tenon_gguf *g, struct tenon_error *err);
enum tenon_status tenon_gguf_add_pairs(struct tenon_gguf *g, struct tenon_error *err);
struct tenon_str tenon_gguf_key(const struct tenon_gguf *g, const struct tenon_gguf_pair *pair);

/* The first pair with that key, or NULL. `buf` must be set. */
const struct tenon_gguf_pair *tenon_gguf_find(const struct tenon_gguf *g, const char *key);

/* A pair's value; arrays only set the type. */
struct tenon_meta_value tenon_gguf_value(const struct tenon_gguf *g,
                                         const struct tenon_gguf_pair *pair);

/* gguf_tensors.c: passes over the records, to learn whether and where they end; reads them again
 * and hands them to the model, once data_start is known. None is kept in between. */
enum tenon_status tenon_gguf_pass_records(struct tenon_gguf *g, struct tenon_error *err);
enum tenon_status tenon_gguf_add_tensors(struct tenon_gguf *g, struct tenon_error *err);

/* gguf_layout.c: what surrounds the payloads: padding, trailing bytes. */
enum tenon_status tenon_gguf_check_layout(struct tenon_gguf *g, struct tenon_error *err);

/* gguf_vocab.c: compares tokenizer arrays with each other and with the tensors. */
enum tenon_status tenon_gguf_check_vocab(struct tenon_model *model, struct tenon_error *err);

/* gguf_split.c: reads a file that stands alone; opens one and the set that it belongs to. */
enum tenon_status tenon_gguf_read(struct tenon_model *model, uint32_t file,
                                  struct tenon_error *err);
enum tenon_status tenon_gguf_open(struct tenon_model *model, struct tenon_source *source,
                                  struct tenon_error *err);

extern const struct tenon_format tenon_format_gguf;

#endif
