/* Descriptors of tensors: what a file says about one array of numbers. */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include "tenon/api.h"
#include "tenon/dtype.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

struct tenon_model;

/* What a tensor is for: rows of roles.def. */
enum tenon_role {
    TENON_ROLE_NONE = 0,
#define X(id, number, name, per_layer) TENON_ROLE_##id = number,
#include "tenon/roles.def"
#undef X
    TENON_ROLE_END = 256
};

/* Which half of a model a role belongs to. */
enum tenon_part {
    TENON_PART_MAIN = 0,
    TENON_PART_ENCODER = 1,
    TENON_PART_DECODER = 2,
    TENON_PART_VISION = 3,
    TENON_PART_AUDIO = 4
};

enum tenon_tensor_flags {
    TENON_TENSOR_BIAS = 1u << 0,         /* the bias that goes with the role */
    TENON_TENSOR_SIZE_UNKNOWN = 1u << 1, /* unknown dtype: `bytes` is 0 and means nothing */
    TENON_TENSOR_BIG_ENDIAN = 1u << 2,   /* multi-byte fields of the payload are big-endian */
    TENON_TENSOR_SIZE_DERIVED = 1u << 3, /* unknown dtype: `bytes` is what the header says, or else
                                          * reaches to the next payload or the end of the file,
                                          * padding included */
    TENON_TENSOR_SHARED = 1u << 4        /* an earlier tensor has the same bytes of the file */
};

/* How the stored codes of a tensor become values together with a tensor of scales beside it
 * (safetensors only; GGUF block types carry their scales inside). */
enum tenon_scaling {
    TENON_SCALING_NONE = 0,
    TENON_SCALING_SCALAR = 1, /* one scale for all */
    TENON_SCALING_ROWS = 2,   /* one scale a row */
    TENON_SCALING_BLOCKS = 3, /* one scale for each 128 x 128 block, edge blocks cut short */
    TENON_SCALING_MXFP4 = 4,  /* U8 codes, two a byte, and a U8 power of two for 32 of them */
    TENON_SCALING_MISFIT = 5  /* scales that fit none of these: the values cannot be known */
};

/* A view, borrowed from the model; the strings and arrays in it live as long as the model. 80 bytes
 * without a hole: a model may have millions. What few tensors have is asked for by a function. */
struct tenon_tensor {
    struct tenon_str name;
    const uint64_t *dims;   /* outermost first; NULL when n_dims is 0 */
    uint64_t n_elements;    /* product of dims, 1 for a scalar */
    uint64_t bytes;         /* of the payload, without padding */
    uint64_t offset;        /* absolute in file `file` */
    uint64_t record_offset; /* where the descriptor stands in that file */
    uint32_t scale;         /* the tensor of its scales, or TENON_NO_INDEX */
    uint32_t dtype_raw; /* the number by which the file named the dtype; where files name it by a
                         * text, of an unknown one: that of the text in this model */
    int32_t layer;      /* -1 outside layers */
    int32_t expert;     /* -1 when not one of several experts */
    uint16_t file;      /* index into the model's files */
    uint8_t dtype;      /* enum tenon_dtype */
    uint8_t role;       /* enum tenon_role */
    uint8_t part;       /* enum tenon_part */
    uint8_t flags;      /* enum tenon_tensor_flags */
    uint8_t scaling;    /* enum tenon_scaling */
    uint8_t n_dims;
};

/* What the file called an unknown dtype; empty for a known one and for one that it gave a number.
 * `tensor` is one of the model, or describes an entry of its files in the same way. */
TENON_API struct tenon_str tenon_tensor_dtype_text(const struct tenon_model *model,
                                                   const struct tenon_tensor *tensor);

/* The earliest tensor with the same byte range, or NULL. `tensor` is one of the model. */
TENON_API const struct tenon_tensor *tenon_tensor_shares(const struct tenon_model *model,
                                                         const struct tenon_tensor *tensor);

/* The bare word of a role, "attn_q"; "" for TENON_ROLE_NONE and numbers that are not in the list.
 */
TENON_API const char *tenon_role_name(enum tenon_role role);

/* Writes "encoder.attn_q.bias" and the like into `buf`; empty for TENON_ROLE_NONE. At most
 * `size` bytes with the terminator; 64 are always enough. Returns `buf`. */
TENON_API char *tenon_tensor_role_name(const struct tenon_tensor *tensor, char *buf, size_t size);

/* Reads `n` payload bytes from `off` (relative to the tensor's start) as they are in the file.
 * Thread-safe. Fails with MISUSE outside the tensor, IO, or TRUNCATED if the file shrank. */
TENON_API TENON_MUST_USE enum tenon_status tenon_tensor_read(const struct tenon_model *model,
                                                             const struct tenon_tensor *tensor,
                                                             uint64_t off, void *buf, size_t n,
                                                             struct tenon_error *err);

/* Decodes `n` elements from element `first` into `out`, as float32 (`values` of the dtype each).
 * `first` and `n` need not be on block boundaries; nothing outside the blocks that hold them is
 * read. Thread-safe, no allocation. Fails as tenon_tensor_read, or with UNSUPPORTED_FEATURE for
 * a dtype without a decoder and for codes whose scales lie beside them (see logical.h), or MISUSE
 * outside the tensor. */
TENON_API TENON_MUST_USE enum tenon_status tenon_tensor_decode(const struct tenon_model *model,
                                                               const struct tenon_tensor *tensor,
                                                               uint64_t first, size_t n, float *out,
                                                               struct tenon_error *err);

/* The same in float64, exact for every dtype but integers beyond 2^53. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_tensor_decode_f64(const struct tenon_model *model, const struct tenon_tensor *tensor,
                        uint64_t first, size_t n, double *out, struct tenon_error *err);

TENON_END_DECLS

#endif
