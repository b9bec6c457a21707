/* From token ids to what enters the first block: rows, scale, types, positions, projection, norm,
 * as the architecture does it. */
#ifndef TENON_INPUT_H
#define TENON_INPUT_H

#include "tenon/embed.h"
#include "tenon/model.h"
#include "tenon/position.h"

TENON_BEGIN_DECLS

/* Which positions are brought in. */
enum tenon_input_positions {
    TENON_INPUT_AUTO = 0, /* the architecture's own, where it adds any to the input */
    TENON_INPUT_NONE,
    TENON_INPUT_LEARNED,    /* the stored table */
    TENON_INPUT_SINUSOIDAL, /* computed ones are added */
    TENON_INPUT_ROPE        /* the rows are rotated, head by head */
};

struct tenon_input_options {
    enum tenon_precision precision;
    enum tenon_part side; /* ENCODER or DECODER of a model with sides; else the first there is */
    double length;        /* the intended sequence length; 0: as long as the tokens are */
    enum tenon_input_positions positions;
    enum tenon_sinusoid_form sinusoid;         /* NONE: the architecture's own */
    struct tenon_position_overrides overrides; /* what is borrowed there must live on */
};

/* One sequence. All arrays are borrowed. */
struct tenon_tokens {
    size_t n;
    const uint64_t *ids;
    const uint64_t *types; /* NULL: type 0 where there is a table of types */
    int64_t start;         /* the first token's position, when `positions` has none */
    size_t n_streams;      /* 0: start, start + 1 ...; 1; or one for each axis of the rotation */
    const double *positions[TENON_ROPE_MAX_SECTIONS];
};

struct tenon_input;

/* Float32 as Hugging Face models compute, everything as the model says. */
TENON_API void tenon_input_options_init(struct tenon_input_options *options);

/* The precision of the reference for such a file: ggml for GGUF, and for names of GGUF in another
 * container, else hf. */
TENON_API enum tenon_precision tenon_model_precision(const struct tenon_model *model);

/* Prepares: finds the tensors, checks that their shapes fit, reads the small ones. `options` may be
 * NULL; the model must outlive `*out`, which tenon_input_free frees. Fails as
 * tenon_positions_resolve, with NOT_FOUND for a tensor that the architecture needs, MISMATCH naming
 * a tensor whose shape does not fit, UNSUPPORTED_FEATURE where more than one vector a token enters
 * the first block, MISUSE for a side that the model does not have and for a layout of sinusoids
 * where none come in. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_input_new(const struct tenon_model *model, const struct tenon_input_options *options,
                struct tenon_input **out, struct tenon_error *err);
TENON_API void tenon_input_free(struct tenon_input *input);

/* The matrix that ids index on that side, as in the options: what tenon_embed_init finds where none
 * is asked for. Fails as that, with MISUSE for a side that the model does not have. */
TENON_API TENON_MUST_USE enum tenon_status tenon_input_matrix(const struct tenon_model *model,
                                                              enum tenon_part side,
                                                              struct tenon_embed *out,
                                                              struct tenon_error *err);

/* How many values a token has in front of the first block. */
TENON_API size_t tenon_input_width(const struct tenon_input *input);
TENON_API const struct tenon_positions *tenon_input_positions(const struct tenon_input *input);

/* Whether a token's vector depends on the other tokens of its sequence, too (positions that count
 * from the padding, ESM's masked tokens): then a sequence must not be made piece by piece. */
TENON_API bool tenon_input_needs_all(const struct tenon_input *input);

/* How many of the ids are rows that the tokenizer has no token for: allowed, but worth a word. 0
 * where nothing is known of the tokenizer. */
TENON_API size_t tenon_input_beyond_tokenizer(const struct tenon_input *input, const uint64_t *ids,
                                              size_t n);

/* Fills n * tenon_input_width values; float32 numbers unless the precision is exact. Reads the rows
 * that it needs. Thread-safe. Fails with MISUSE naming an id, type or position that is outside and
 * what is allowed, or as reading does. */
TENON_API TENON_MUST_USE enum tenon_status tenon_input_rows(const struct tenon_input *input,
                                                            const struct tenon_tokens *tokens,
                                                            double *out, struct tenon_error *err);

TENON_END_DECLS

#endif
