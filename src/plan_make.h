/* How the numbers of one tensor of a plan come about: any range of it, independently of all others.
 *
 *   sources, combined -> permuted, transposed -> constant added -> encoded
 *
 * Everything before the encoding happens in one of four representations, so that nothing is rounded
 * that need not be: the stored blocks themselves, 64-bit integers, float32 or float64. */
#ifndef TENON_PLAN_MAKE_H
#define TENON_PLAN_MAKE_H

#include "plan_build.h"
#include "quant.h"
#include "source.h"
#include "tenon/logical.h"

/* Moves that one tensor may go through. */
#define TENON_MAKE_STEPS 8

/* Bytes of a worker's buffers: one range of a tensor in its representation, or encoded. Small
 * enough for a processor's cache, and for all workers together to stay far below what a run may
 * take. */
#define TENON_MAKE_BYTES ((size_t)256 << 10)

enum tenon_make_kind {
    TENON_MAKE_BLOCKS = 0,  /* as they are stored; a unit is a block */
    TENON_MAKE_INTEGER = 1, /* int64_t, for U64 its bits */
    TENON_MAKE_SINGLE = 2,  /* float */
    TENON_MAKE_DOUBLE = 3   /* double */
};

/* One source, as a run of units. */
struct tenon_make_source {
    struct tenon_plan_source plan;
    const struct tenon_source *bytes; /* the file it lies in; NULL for memory */
    struct tenon_logical logical;
    uint64_t first; /* unit of the tensor where the run begins */
    uint64_t begin; /* unit of the stack where it comes to lie */
    uint64_t n;     /* units */
    bool swap;      /* byte order differs from that of the representation */
};

struct tenon_make_step {
    struct tenon_step step;
    uint64_t outer, rows, cols; /* units: of what comes out */
};

struct tenon_make {
    struct tenon_plan_tensor tensor;
    const struct tenon_quant_ops *ops;
    enum tenon_make_kind kind;
    enum tenon_dtype from; /* of BLOCKS and INTEGER; of the others that of the first source */
    size_t unit_bytes;     /* of the representation */
    size_t block;          /* elements of a unit */
    uint64_t n_units;
    struct tenon_make_source *sources, only; /* that of a tensor with one source */
    struct tenon_make_step *moves;           /* room for the steps of the tensor; most have none */
    size_t n_moves;
    double constant;   /* added to each element */
    bool mean;         /* of the sources, instead of the stack */
    bool swap_out;     /* the target is big-endian */
    bool may_overflow; /* finite values can become infinite, or NaN */
};

/* A worker's buffers, of TENON_MAKE_BYTES each. */
struct tenon_make_buffers {
    unsigned char *stored, *values, *encoded;
};

/* Finite values that the target cannot hold. */
struct tenon_make_overflow {
    uint64_t n, first; /* how many; the number of the first element, or in blocks of the one that
                        * was too large for the first of them */
    double value;      /* of that */
};

/* Works out how `tensor` is made. To be released also after a failure, and not to be moved. Fails
 * with CANNOT_REPRESENT,
 * UNSUPPORTED_FEATURE, LIMIT, MISUSE (shapes that do not fit), NO_MEMORY. */
enum tenon_status tenon_make_init(struct tenon_make *make, const struct tenon_plan *plan,
                                  const struct tenon_plan_tensor *tensor,
                                  const struct tenon_quant_ops *ops, struct tenon_error *err);
void tenon_make_release(struct tenon_make *make);

/* True when ranges of bytes of the sources are ranges of bytes of the tensor. */
bool tenon_make_is_copy(const struct tenon_make *make);

/* The source that holds unit `at` of a stack, and how many units follow in it. */
const struct tenon_make_source *tenon_make_find(const struct tenon_make *make, uint64_t at,
                                                uint64_t *out_n);

struct tenon_make_range {
    uint64_t first; /* unit */
    size_t n;
};

/* What a piece of work gave: bytes of the target, in one of the buffers. */
struct tenon_make_result {
    const unsigned char *bytes;
    size_t n_bytes;
    struct tenon_make_overflow overflow; /* added to what was there */
};

/* Makes units [first, first + n) of the tensor: whole blocks of the target, and at most
 * TENON_MAKE_BYTES of values and of bytes. Fails as reading does, or with CANNOT_REPRESENT. */
enum tenon_status tenon_make_run(const struct tenon_make *make, struct tenon_make_range range,
                                 const struct tenon_make_buffers *buffers,
                                 struct tenon_make_result *result, struct tenon_error *err);

/* The same for a rectangle of the last two dimensions: `n_rows` runs of `n_cols` units, one after
 * the other. Quicker than runs when the last move is a transposition. */
struct tenon_make_tile {
    uint64_t outer, row, col;
    size_t n_rows, n_cols;
};
enum tenon_status tenon_make_run_tile(const struct tenon_make *make,
                                      const struct tenon_make_tile *tile,
                                      const struct tenon_make_buffers *buffers,
                                      struct tenon_make_result *result, struct tenon_error *err);

/* --- for plan_make*.c --- */

/* Units [first, first + n) straight from stored blocks to the target, a few at a time, so that the
 * values stay in the nearest cache. False, nothing done, where another way must be taken. */
bool tenon_make_can_convert(const struct tenon_make *make, struct tenon_make_range range);
enum tenon_status tenon_make_convert(const struct tenon_make *make, struct tenon_make_range range,
                                     const struct tenon_make_buffers *buffers,
                                     struct tenon_make_result *result, struct tenon_error *err);

/* Stored blocks [first, first + n) of the source's tensor, in little-endian form. */
enum tenon_status tenon_make_read_stored(const struct tenon_make_source *source,
                                         const struct tenon_dtype_info *info,
                                         struct tenon_make_range range, unsigned char *out,
                                         struct tenon_error *err);

/* Units in their representation, into `out`. */
enum tenon_status tenon_make_fetch(const struct tenon_make *make, struct tenon_make_range range,
                                   const struct tenon_make_buffers *buffers, unsigned char *out,
                                   struct tenon_error *err);
enum tenon_status tenon_make_fetch_tile(const struct tenon_make *make,
                                        const struct tenon_make_tile *tile,
                                        const struct tenon_make_buffers *buffers,
                                        unsigned char *out, struct tenon_error *err);

/* Encodes the `n` units at `values`, which are changed, to `out`. `first` is the number of the
 * first in the tensor, for messages. */
struct tenon_make_values {
    uint64_t first;
    size_t n;
    unsigned char *values;
};
enum tenon_status tenon_make_encode(const struct tenon_make *make,
                                    const struct tenon_make_values *in, unsigned char *out,
                                    struct tenon_make_overflow *overflow, struct tenon_error *err);

/* An error about the tensor. */
enum tenon_status tenon_make_fail(const struct tenon_make *make, enum tenon_status st,
                                  struct tenon_error *err);

/* --- what is lost (plan_make_lost.c) --- */

/* The magnitude from which on a float type has no finite value any more; infinity for types that
 * take everything, or refuse what is too large, and for blocks, whose limit depends on all of their
 * values. */
double tenon_make_limit(enum tenon_dtype dtype);

/* The magnitude below which no value is lost to the type, whatever is beside it. */
double tenon_make_safe_limit(enum tenon_dtype dtype);

void tenon_make_note_lost(struct tenon_make_overflow *overflow, uint64_t at, double value);

/* Counts those of the float32 values at `in` that are not what they were when they are encoded, as
 * whole blocks: finite. A block that is too large takes all its values along; the largest is noted
 * for it. */
void tenon_make_count_lost(const struct tenon_make *make, const struct tenon_make_values *in,
                           const unsigned char *encoded, struct tenon_make_overflow *overflow);

#endif
