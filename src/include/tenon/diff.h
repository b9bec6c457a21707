/* Comparing two models, whatever formats and naming conventions they follow. */
#ifndef TENON_DIFF_H
#define TENON_DIFF_H

#include "tenon/hash.h"
#include "tenon/model.h"

TENON_BEGIN_DECLS

struct tenon_diff_options {
    unsigned threads;           /* 0: as many as the machine has processors */
    double tolerance;           /* values this far apart still count as equal; 0 by default */
    tenon_progress_fn progress; /* may be NULL */
    void *user;
};

/* How a stored tensor of one model became the one of the other: what conversion between naming
 * conventions does, undone before values are compared. */
enum tenon_diff_change {
    TENON_DIFF_AS_IS = 0,
    TENON_DIFF_PERMUTED,   /* rows of Q or K in another order for rotary positions */
    TENON_DIFF_PLUS_ONE,   /* norm weights stored with and without one added */
    TENON_DIFF_TRANSPOSED, /* rows and columns exchanged (Conv1D) */
};

/* Two tensors that correspond. The metrics are over decoded values, in float64. */
struct tenon_diff_pair {
    uint32_t a, b; /* indices into the models' tensors */
    enum tenon_diff_change change;
    bool compared; /* false: shapes differ, or values cannot be decoded; no metrics then */
    bool equal_dtype, equal_shape;
    bool equal_bytes;  /* same dtype, same bytes in the same order */
    bool equal_values; /* every value within the tolerance; two NaN count as equal */
    double max_abs;    /* largest |b - a| over values that are not NaN */
    double rel_l2;     /* |b - a| / |a|; 0 when both are zero, infinite when only a is */
    double cosine;     /* of the two as vectors; NaN when one is zero */
    uint64_t rows, rows_differing; /* a row is the last dimension */
};

/* The answer, freed by tenon_diff_free. */
struct tenon_diff {
    const uint32_t *only_a, *only_b; /* tensor indices, in file order */
    size_t n_only_a, n_only_b;
    const struct tenon_diff_pair *pairs; /* in the order of a */
    size_t n_pairs;
    bool meta_compared;                        /* only between models of one format */
    const uint32_t *meta_only_a, *meta_only_b; /* indices of metadata pairs */
    size_t n_meta_only_a, n_meta_only_b;
    const uint32_t *meta_changed; /* pairs of indices: of a, of b, of a ... */
    size_t n_meta_changed;
    bool same; /* no tensor or key is missing or has other values. Between naming conventions
                * tensors that a converter derives or drops (rotary tables) do not count. */
};

TENON_API void tenon_diff_options_init(struct tenon_diff_options *options);

/* Compares `a` with `b`: by name, then by canonical role. Both must outlive the answer. Fails with
 * IO, TRUNCATED, CANCELLED or NO_MEMORY. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_diff_models(const struct tenon_model *a, const struct tenon_model *b,
                  const struct tenon_diff_options *options, struct tenon_diff **out_diff,
                  struct tenon_error *err);

/* NULL is fine. */
TENON_API void tenon_diff_free(struct tenon_diff *diff);

/* "as_is", "permuted", "plus_one", "transposed". */
TENON_API const char *tenon_diff_change_name(enum tenon_diff_change change);

TENON_END_DECLS

#endif
