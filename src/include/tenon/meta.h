/* Typed key-value metadata, the same for every format. */
#ifndef TENON_META_H
#define TENON_META_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

/* Numbers equal GGUF's value type numbers. */
enum tenon_meta_type {
    TENON_META_U8 = 0,
    TENON_META_I8 = 1,
    TENON_META_U16 = 2,
    TENON_META_I16 = 3,
    TENON_META_U32 = 4,
    TENON_META_I32 = 5,
    TENON_META_F32 = 6,
    TENON_META_BOOL = 7,
    TENON_META_STRING = 8,
    TENON_META_ARRAY = 9,
    TENON_META_U64 = 10,
    TENON_META_I64 = 11,
    TENON_META_F64 = 12
};

/* A value: which member of `as` is set follows from `type` (u64 for unsigned, i64 for signed,
 * f64 for both float widths, with the float32 widened exactly). */
struct tenon_meta_value {
    enum tenon_meta_type type;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        bool boolean;
        struct tenon_str str;
    } as;
};

/* One pair. An array keeps its elements packed as in the file; read them with an iterator. */
struct tenon_meta_entry {
    struct tenon_str key;
    enum tenon_meta_type type;     /* TENON_META_ARRAY for arrays */
    enum tenon_meta_type item;     /* element type of an array, else equal to `type` */
    uint64_t count;                /* elements of an array, 1 for a scalar */
    struct tenon_meta_value value; /* a scalar's value */
    const unsigned char *raw;      /* an array's elements, packed; a GGUF file's number as it stands
                                    * there; NULL for strings and numbers from elsewhere */
    size_t raw_bytes;
    uint64_t offset;    /* absolute offset of the pair in its file */
    uint32_t file;      /* index into the model's files */
    bool swapped;       /* elements in `raw` are big-endian */
    bool short_lengths; /* lengths in `raw` are 32 bits wide (GGUF version 1) */
};

/* Walks the elements of an array (nested arrays yield their elements through a further iterator
 * made from the value of type TENON_META_ARRAY). Caller's storage, nothing to release. */
struct tenon_meta_iter {
    struct tenon_meta_entry array;
    uint64_t index;
    size_t pos;
};

/* Starts at the first element of `entry`, which must be an array and outlive the iterator. */
TENON_API void tenon_meta_iter_init(struct tenon_meta_iter *it,
                                    const struct tenon_meta_entry *entry);

/* The next element into `out`; false after the last. An element that is itself an array comes
 * as `out->type == TENON_META_ARRAY`, and `out_array` (may be NULL) then describes it. */
TENON_API bool tenon_meta_iter_next(struct tenon_meta_iter *it, struct tenon_meta_value *out,
                                    struct tenon_meta_entry *out_array);

/* "u8" ... "string", "array". */
TENON_API const char *tenon_meta_type_name(enum tenon_meta_type type);

/* An integer of any width, or a whole float, as int64; false when it is none or does not fit. */
TENON_API bool tenon_meta_value_int(const struct tenon_meta_value *value, int64_t *out);

TENON_END_DECLS

#endif
