/* How a model tells positions apart: what config, metadata and architecture say together. */
#ifndef TENON_POSITION_H
#define TENON_POSITION_H

#include "tenon/arch.h"
#include "tenon/bias.h"
#include "tenon/rope.h"
#include "tenon/settings.h"

TENON_BEGIN_DECLS

/* "This layer does not rotate." */
#define TENON_NO_ROPE UINT32_MAX

/* How many layers a config may speak of. */
#define TENON_MOST_LAYERS 4096

/* What a caller states instead of the model. */
struct tenon_position_overrides {
    double theta;       /* NaN: as the model says */
    int64_t rotary_dim; /* negative: as the model says */
    int64_t heads;      /* negative: as the model says; gives the width of a head, too */
    int pairing;        /* enum tenon_rope_pairing, or -1 */
    /* An object as in a config; an empty one, or null (kind NONE), for no stretching; NULL: the
     * model's own. A base, a share of the head, streams and the original length that it does not
     * name stay the model's; so does the rest where it names the model's type, or none. */
    const struct tenon_setting *rope_scaling;
    bool rotary;        /* rotary positions, whatever the model has */
    const char *origin; /* what errors call these values, "options"; NULL: "overrides" */
};

/* One kind of rotation, and which layers have it. */
struct tenon_rope_use {
    struct tenon_rope rope;
    const char *layer_type; /* "full_attention" ...; "" where all layers that rotate are alike */
};

/* How ids count up in a learned or sinusoidal table. */
enum tenon_position_ids {
    TENON_IDS_FROM_ZERO = 0, /* row = offset + position */
    TENON_IDS_AFTER_PADDING  /* tokens that are no padding count from pad + 1; padding reads row
                              * `pad_id` */
};

enum tenon_relative_form {
    TENON_RELATIVE_OTHER = 0, /* inside attention, in a form of its own (XLNet) */
    TENON_RELATIVE_T5,        /* buckets of distances, a bias for each head */
    TENON_RELATIVE_DEBERTA    /* tables of distances, content against position */
};

/* The whole description. Everything in it is owned by it. Numbers are negative where nothing is
 * known. */
struct tenon_positions {
    enum tenon_position_kind kind;
    const struct tenon_arch *arch; /* facts of the language model, those of its variant put in; NULL
                                    * when unknown */
    int64_t heads, kv_heads, head_dim, hidden_size;
    int64_t max_positions; /* that the model was made for */

    /* Rotary (also beside another kind: Baichuan never, but RoPE and learned tables may meet). */
    const struct tenon_rope_use *ropes;
    size_t n_ropes;
    const uint32_t *layer_rope; /* for each layer an index into `ropes`, or TENON_NO_ROPE */
    size_t n_layers;            /* 0 when unknown: then ropes[0] is everyone's */

    /* Learned and sinusoidal: row of position p is p + offset. */
    int64_t rows, offset, pad_id;
    enum tenon_position_ids ids;
    enum tenon_sinusoid_form sinusoid; /* NONE: the table is stored */
    const struct tenon_tensor *table;  /* the stored table, or NULL */

    /* ALiBi */
    double alibi_max_bias;
    enum tenon_alibi_form alibi_form;

    /* Relative */
    enum tenon_relative_form relative;
    int64_t buckets, max_distance; /* T5; DeBERTa: position_buckets, else negative */
    int64_t relative_span;         /* DeBERTa: max_relative_positions */
};

/* Nothing overridden. */
TENON_API void tenon_position_overrides_init(struct tenon_position_overrides *overrides);

/* Works out the description; `overrides` may be NULL. It lives on its own storage, but
 * `table` is the model's. Free with tenon_positions_free. Fails with UNSUPPORTED_FEATURE for a
 * rope type that is not known, NOT_FOUND for a value that a scaling needs, MISMATCH for values that
 * make no sense together (an odd rotary width, sections that do not sum, factor lists of another
 * length), each naming key, value and what is allowed; MISUSE instead where the value is an
 * override; LIMIT, NO_MEMORY, IO. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_positions_resolve(const struct tenon_model *model,
                        const struct tenon_position_overrides *overrides,
                        struct tenon_positions **out, struct tenon_error *err);
TENON_API void tenon_positions_free(struct tenon_positions *positions);

/* The rotation of a layer, NULL when it does not rotate. */
TENON_API const struct tenon_rope_use *tenon_positions_rope(const struct tenon_positions *positions,
                                                            size_t layer);

/* The facts of the language model, that of a nested config where it is known; false when the
 * architecture is not. */
TENON_API bool tenon_model_text_facts(const struct tenon_model *model, struct tenon_arch *out);

TENON_END_DECLS

#endif
