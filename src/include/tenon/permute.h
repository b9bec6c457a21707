/* Rows of query and key projections in the order that a way of pairing wants. A map says for each
 * new row which old one it is: new[r] = old[map[r]]. Biases and scales of rows go the same way;
 * V, O and norms over whole vectors stay. */
#ifndef TENON_PERMUTE_H
#define TENON_PERMUTE_H

#include "tenon/api.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

enum tenon_permute {
    TENON_PERMUTE_TO_INTERLEAVED = 0, /* half split (Hugging Face) to interleaved (GGUF, Meta) */
    TENON_PERMUTE_TO_HALF = 1,        /* and back */
    TENON_PERMUTE_AXES_APART = 2,     /* pairs alternate between two coordinates (Kimi-VL): all
                                       * pairs of the first, then all of the second */
    TENON_PERMUTE_AXES_MIXED = 3      /* and back */
};

/* n heads (K: those of keys and values) of D rows, of which the first R of each head move; R is
 * even, for the axes a multiple of 4. `out_map` has n x D entries. Fails with MISMATCH for widths
 * that make no sense. */
TENON_API TENON_MUST_USE enum tenon_status tenon_permute_map(enum tenon_permute how,
                                                             uint32_t n_heads, uint32_t head_dim,
                                                             uint32_t rotary_dim, uint64_t *out_map,
                                                             struct tenon_error *err);

/* How Q, K and V stand in one fused matrix. */
enum tenon_fused_layout {
    TENON_FUSED_CONCATENATED = 0, /* all of Q, all of K, all of V */
    TENON_FUSED_PER_HEAD = 1,     /* q, k, v of each head (GPT-NeoX, BLOOM) */
    TENON_FUSED_GROUPED = 2       /* the queries of a group, then its key, its value (InternLM2,
                                   * Falcon) */
};

struct tenon_fused {
    enum tenon_fused_layout layout;
    uint32_t n_heads, n_kv_heads, head_dim;
};

enum tenon_fused_part { TENON_PART_Q = 0, TENON_PART_K = 1, TENON_PART_V = 2 };

/* The rows of one part: n_heads x D of Q, n_kv_heads x D of K and V. Fails with MISMATCH where
 * heads do not divide into groups, or (per head) there are fewer keys than queries. */
TENON_API TENON_MUST_USE enum tenon_status tenon_fused_rows(const struct tenon_fused *fused,
                                                            enum tenon_fused_part part,
                                                            uint64_t *out_rows,
                                                            struct tenon_error *err);

TENON_END_DECLS

#endif
