/* What is known about a model family: names, tying, positions. Data only, one row per family. */
#ifndef TENON_ARCH_H
#define TENON_ARCH_H

#include "tenon/api.h"
#include "tenon/model.h"

TENON_BEGIN_DECLS

/* How llama.cpp treats the output matrix of a family in a GGUF file. */
enum tenon_gguf_head {
    TENON_GGUF_HEAD_UNKNOWN = 0, /* no such family in the reference */
    TENON_GGUF_HEAD_OPTIONAL,    /* missing: the input matrix is used again */
    TENON_GGUF_HEAD_TIED,        /* always the input matrix; a stored one makes loading fail */
    TENON_GGUF_HEAD_REQUIRED,    /* missing makes loading fail */
    TENON_GGUF_HEAD_REVERSED,    /* the output is required, the input may be missing */
    TENON_GGUF_HEAD_NONE         /* encoders: there is no output matrix */
};

/* What a family's config class assumes when its file is silent about tying. */
enum tenon_tie_default {
    TENON_TIE_UNKNOWN = 0,
    TENON_TIE_YES,
    TENON_TIE_NO,
    TENON_TIE_NEVER,  /* refused, or the family has no tie map */
    TENON_TIE_ALWAYS, /* the flag is ignored: the head is the embedding */
    TENON_TIE_NO_HEAD /* encoders and towers without an output projection */
};

enum tenon_position_kind {
    TENON_POSITION_NONE = 0,
    TENON_POSITION_LEARNED,
    TENON_POSITION_SINUSOIDAL,
    TENON_POSITION_ROPE,
    TENON_POSITION_ALIBI,
    TENON_POSITION_RELATIVE /* buckets or relative tables inside attention */
};

enum tenon_rope_layout {
    TENON_ROPE_NO_LAYOUT = 0,
    TENON_ROPE_HALF,        /* pairs (i, i + R/2) */
    TENON_ROPE_INTERLEAVED, /* pairs (2i, 2i + 1) */
    TENON_ROPE_SECTIONED    /* several axes (mRoPE) */
};

/* How the looked-up row is scaled before anything else happens to it. */
enum tenon_embed_scale {
    TENON_SCALE_NONE = 0,
    TENON_SCALE_SQRT_WIDTH,  /* sqrt(hidden_size) */
    TENON_SCALE_IF_CONFIG,   /* sqrt(d_model) when the config sets scale_embedding */
    TENON_SCALE_CONFIG_VALUE /* a multiplier in the config (scale_emb, embedding_multiplier) */
};

enum tenon_arch_flags {
    TENON_ARCH_HEAD_BIAS = 1u << 0,      /* the output projection has a bias */
    TENON_ARCH_FLAG_NOT_TYING = 1u << 1, /* tie_word_embeddings means something else (T5) */
    TENON_ARCH_SHARED_EMBED = 1u << 2,   /* encoder and decoder share one matrix */
    TENON_ARCH_ROWS_DIFFER = 1u << 3,    /* input and output row counts differ by design */
    TENON_ARCH_FACTORISED = 1u << 4,     /* the input matrix may be narrower than hidden_size */
    TENON_ARCH_PERMUTED_QK = 1u << 5,    /* GGUF stores Q and K rows permuted for rotary */
    TENON_ARCH_NORM_PLUS_ONE = 1u << 6,  /* HF norms are stored minus one (Gemma) */
    TENON_ARCH_ENCODER = 1u << 7,        /* an encoder: no next-token head expected */
    TENON_ARCH_ENCODER_DECODER = 1u << 8,
    TENON_ARCH_VISION = 1u << 9,
    TENON_ARCH_CONV1D = 1u << 10,     /* HF linear weights are stored transposed (Conv1D) */
    TENON_ARCH_IMPORT_TIES = 1u << 11 /* transformers ties it whenever it reads a GGUF file */
};

/* Facts about one family. All strings are static. */
struct tenon_arch {
    const char *name;              /* row of archs.def, "llama" */
    const char *title;             /* for people, "Llama 1-3" */
    const char *model_types;       /* config.json model_type values, separated by blanks */
    const char *gguf_names;        /* general.architecture values, separated by blanks */
    enum tenon_tie_default tie_v4; /* class default in transformers 4 */
    enum tenon_tie_default tie_v5; /* class default in transformers 5 */
    enum tenon_gguf_head gguf_head;
    enum tenon_position_kind position;
    enum tenon_rope_layout rope_layout;
    double rope_theta;        /* class default, 0 when there is none */
    double rope_partial;      /* rotated share of the head, 1 when all, 0 when none */
    uint32_t position_offset; /* rows before the first position in a learned table */
    enum tenon_embed_scale embed_scale;
    unsigned flags;                       /* enum tenon_arch_flags */
    const struct tenon_arch_rules *rules; /* private: the name patterns */
};

/* Rows in list order, i = 0, 1, 2 ...; NULL after the last. */
TENON_API const struct tenon_arch *tenon_arch_at(size_t i);

/* By name, config model_type, or GGUF general.architecture; NULL when there is none. */
TENON_API const struct tenon_arch *tenon_arch_find(const char *name, size_t len);
TENON_API const struct tenon_arch *tenon_arch_find_model_type(const char *name, size_t len);
TENON_API const struct tenon_arch *tenon_arch_find_gguf(const char *name, size_t len);

/* What a tensor name means. */
struct tenon_name_match {
    enum tenon_role role; /* TENON_ROLE_NONE when nothing matched */
    enum tenon_part part;
    enum tenon_dialect dialect;
    int32_t layer;  /* -1 outside layers */
    int32_t expert; /* -1 when not one of several */
    bool bias;
};

/* Whether `name` has a wrapper that training tools leave in names, such as "module." at its front
 * or "_orig_mod" inside of it; the loaders of whole models do not take these off. The
 * "base_layer" of adapters does not count. Linear in `len`. */
TENON_API bool tenon_arch_is_wrapped(const char *name, size_t len);

/* Interprets `name` by the rules of `arch` (NULL: by the rules that all families share), after
 * taking off wrappers such as "module." and "base_model.model.". Linear in `len`. */
TENON_API struct tenon_name_match tenon_arch_match(const struct tenon_arch *arch, const char *name,
                                                   size_t len);

/* The other way: writes the name that `match` has in its dialect for `arch`, with the usual prefix
 * and no wrapper, into `buf` (at most `size` bytes with the terminator; 128 are always enough).
 * False, and `buf` untouched or cut, when the family has no such tensor in that dialect. */
TENON_API bool tenon_arch_tensor_name(const struct tenon_arch *arch,
                                      const struct tenon_name_match *match, char *buf, size_t size);

/* Guesses the family of a model without config from its tensor names; NULL when undecided. */
TENON_API const struct tenon_arch *tenon_arch_guess(const struct tenon_model *model);

/* Words for the enums: "optional", "rope", "half" ... */
TENON_API const char *tenon_gguf_head_name(enum tenon_gguf_head head);
TENON_API const char *tenon_tie_default_name(enum tenon_tie_default tie);
TENON_API const char *tenon_position_name(enum tenon_position_kind kind);
TENON_API const char *tenon_rope_layout_name(enum tenon_rope_layout layout);
TENON_API const char *tenon_embed_scale_name(enum tenon_embed_scale scale);
TENON_API const char *tenon_dialect_name(enum tenon_dialect dialect);

TENON_END_DECLS

#endif
