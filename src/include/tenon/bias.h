/* Positions as something added to attention scores: ALiBi, T5, DeBERTa. Pure arithmetic. */
#ifndef TENON_BIAS_H
#define TENON_BIAS_H

#include "tenon/rope.h"

TENON_BEGIN_DECLS

/* How ALiBi is applied: they differ by a constant of each query, or by a rounding. */
enum tenon_alibi_form {
    TENON_ALIBI_KEYS = 0, /* slope times the key's index (BLOOM) */
    TENON_ALIBI_DISTANCE, /* minus slope times the distance (ggml) */
    TENON_ALIBI_LAST,     /* slope times the distance to the last key (MPT) */
    TENON_ALIBI_ROUNDED   /* slope and product in bfloat16, then divided by sqrt(D) (Falcon) */
};

/* The slopes of `n_heads` heads: 2^(-max_bias (h + 1) / n) where n is a power of two; otherwise
 * those of the next lower power c, then every second slope of 2c. hf takes powers of one float32
 * number as BLOOM does, ggml those of its kernel; the three agree within rounding. */
TENON_API void tenon_alibi_slopes(uint32_t n_heads, double max_bias, enum tenon_precision precision,
                                  double *out);

/* One row of the bias of a head, for keys 0 ... n_keys - 1. */
struct tenon_alibi {
    enum tenon_alibi_form form;
    double slope;
    uint32_t head_dim; /* D, for the rounded form */
};

TENON_API void tenon_alibi_row(const struct tenon_alibi *alibi, uint64_t query, uint64_t n_keys,
                               double *out);

/* T5: distances fall into buckets, the far ones by their logarithm. */
struct tenon_t5_bias {
    bool bidirectional; /* encoders; half of the buckets are for keys after the query */
    uint32_t n_buckets;
    uint32_t max_distance;
    enum tenon_precision precision; /* hf, ggml: logarithms in float32, as they do */
};

/* Fails with MISMATCH where there are too few buckets or the distance is too short. */
TENON_API TENON_MUST_USE enum tenon_status tenon_t5_check(const struct tenon_t5_bias *t5,
                                                          struct tenon_error *err);

/* The bucket of key - query. */
TENON_API uint32_t tenon_t5_bucket(const struct tenon_t5_bias *t5, int64_t relative);

/* One row of the bias of a head. `table` holds the head's column of the stored n_buckets x n_heads
 * matrix: n_buckets values. */
TENON_API void tenon_t5_row(const struct tenon_t5_bias *t5, const double *table, int64_t query,
                            uint64_t n_keys, double *out);

/* DeBERTa: rows of the table of relative positions that a query and a key meet in. */
struct tenon_deberta {
    uint32_t max_distance; /* max_relative_positions, or max_position_embeddings */
    uint32_t buckets;      /* v2, v3: position_buckets; 0: v1, distances as they are */
};

/* Fails with MISMATCH where distances and buckets do not fit together. */
TENON_API TENON_MUST_USE enum tenon_status tenon_deberta_check(const struct tenon_deberta *deberta,
                                                               struct tenon_error *err);

/* Half of the table's rows: position_buckets, else max_relative_positions. */
TENON_API uint32_t tenon_deberta_span(const struct tenon_deberta *deberta);

/* The distance query - key, in v2 with large ones by their logarithm. */
TENON_API int64_t tenon_deberta_distance(const struct tenon_deberta *deberta, int64_t relative);

/* Row for content to position, and for position to content; both within 2 x span. */
TENON_API uint32_t tenon_deberta_content_row(const struct tenon_deberta *deberta, int64_t query,
                                             int64_t key);
TENON_API uint32_t tenon_deberta_position_row(const struct tenon_deberta *deberta, int64_t query,
                                              int64_t key);

/* What scores are divided by: sqrt(D x (1 + number of enabled terms)). */
TENON_API double tenon_deberta_scale(uint32_t head_dim, unsigned n_terms);

TENON_END_DECLS

#endif
