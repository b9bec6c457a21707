/* Element types of tensors: names, sizes, and how they are laid out in blocks. */
#ifndef TENON_DTYPE_H
#define TENON_DTYPE_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

/* TENON_DTYPE_F32 ...: the numbers are those of dtypes.def. */
enum tenon_dtype {
    TENON_DTYPE_UNKNOWN = 0, /* a type this library does not know: listed, never sized */
#define X(id, number, name, block, bytes, values, gguf, st, family) TENON_DTYPE_##id = number,
#include "tenon/dtypes.def"
#undef X
    TENON_DTYPE_END = 128
};

enum tenon_dtype_family {
    TENON_DTYPE_FAMILY_plain,
    TENON_DTYPE_FAMILY_packed,
    TENON_DTYPE_FAMILY_block,
    TENON_DTYPE_FAMILY_removed
};

/* One row of dtypes.def. */
struct tenon_dtype_info {
    enum tenon_dtype dtype;
    const char *name;           /* upper case, "Q4_K" */
    uint32_t block_elements;    /* elements a block holds; 0 for removed types */
    uint32_t block_bytes;       /* bytes a block takes; 0 for removed types */
    uint32_t values;            /* float32 values per element: 1, or 2 for complex */
    int32_t gguf_id;            /* -1 when GGUF has no such type */
    const char *safetensors_id; /* "" when safetensors has no such type */
    enum tenon_dtype_family family;
};

/* The row of `dtype`, or NULL for TENON_DTYPE_UNKNOWN and numbers that are not in the list. */
TENON_API const struct tenon_dtype_info *tenon_dtype_info(enum tenon_dtype dtype);

/* Rows in list order, i = 0, 1, 2 ...; NULL after the last. */
TENON_API const struct tenon_dtype_info *tenon_dtype_at(size_t i);

/* The name for people, "UNKNOWN" where there is no row. */
TENON_API const char *tenon_dtype_name(enum tenon_dtype dtype);

/* By name, ignoring case; TENON_DTYPE_UNKNOWN when there is none. */
TENON_API enum tenon_dtype tenon_dtype_from_name(const char *name, size_t len);

/* By the type number of a GGUF tensor record; TENON_DTYPE_UNKNOWN when there is none. */
TENON_API enum tenon_dtype tenon_dtype_from_gguf(uint32_t id);

/* By the exact, case-sensitive string of a safetensors header; TENON_DTYPE_UNKNOWN when none. */
TENON_API enum tenon_dtype tenon_dtype_from_safetensors(const char *name, size_t len);

/* The bytes that `n_elements` take, into `out_bytes`. False when the type has no size, when the
 * elements are not whole blocks, or when the product does not fit 64 bits. */
TENON_API TENON_MUST_USE bool tenon_dtype_bytes(enum tenon_dtype dtype, uint64_t n_elements,
                                                uint64_t *out_bytes);

TENON_END_DECLS

#endif
