/* Additive position biases as text, JSON and tables. */
#ifndef TENON_TOOLS_BIAS_OUT_H
#define TENON_TOOLS_BIAS_OUT_H

#include "array_out.h"
#include "tenon/bias.h"
#include "tenon/position.h"
#include "term.h"

enum tenon_bias_kind { TENON_BIAS_NONE, TENON_BIAS_ALIBI, TENON_BIAS_T5, TENON_BIAS_DEBERTA };

struct tenon_bias {
    enum tenon_bias_kind kind;
    uint32_t heads; /* 0: unknown */
    double max_bias;
    struct tenon_alibi alibi; /* but for the slope */
    struct tenon_t5_bias t5;
    struct tenon_deberta deberta;
    float *table; /* T5: n_buckets x heads as stored; NULL: there is none */
    uint64_t table_buckets, table_heads;
    const char *position; /* the model's kind, for messages; NULL without a model */
    uint64_t length;      /* queries and keys */
};

/* Nothing is known but the usual defaults; release in any case. */
void tenon_bias_init(struct tenon_bias *bias);
void tenon_bias_release(struct tenon_bias *bias);

void tenon_bias_of_positions(struct tenon_bias *bias, const struct tenon_positions *positions);

/* Reads layer 0's table of T5, if that is what the model has. */
TENON_MUST_USE enum tenon_status tenon_bias_read_table(struct tenon_bias *bias,
                                                       const struct tenon_model *model,
                                                       enum tenon_part part,
                                                       struct tenon_error *err);

/* Whether everything that the kind needs is there and fits: UNSUPPORTED_FEATURE, MISUSE, MISMATCH.
 */
TENON_MUST_USE enum tenon_status tenon_bias_check(const struct tenon_bias *bias,
                                                  struct tenon_error *err);

TENON_MUST_USE enum tenon_status tenon_bias_text(const struct tenon_bias *bias,
                                                 struct tenon_out *out,
                                                 const struct tenon_term *term,
                                                 struct tenon_error *err);
TENON_MUST_USE enum tenon_status tenon_bias_json(const struct tenon_bias *bias,
                                                 struct tenon_out *out, struct tenon_error *err);

/* [heads, length, length] values; of T5 without a table [length, length] buckets, of DeBERTa the
 * rows for content to position and for position to content. */
TENON_MUST_USE enum tenon_status tenon_bias_write(const struct tenon_bias *bias, const char *path,
                                                  struct tenon_out *out, struct tenon_error *err);

#endif
