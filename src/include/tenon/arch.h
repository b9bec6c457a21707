/* What is known about a model family: names, tying, positions. Data only, one row per family. */
#ifndef TENON_ARCH_H
#define TENON_ARCH_H

#include "tenon/api.h"
#include "tenon/model.h"
#include "tenon/rope.h"

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
    TENON_SCALE_SQRT_WIDTH,     /* sqrt(hidden_size) */
    TENON_SCALE_IF_CONFIG,      /* sqrt(d_model) when the config sets scale_embedding */
    TENON_SCALE_CONFIG_VALUE,   /* a multiplier in the config (scale_emb, embedding_multiplier) */
    TENON_SCALE_SQRT_WIDTH_BF16 /* sqrt(hidden_size), rounded to bfloat16 in every dtype */
};

/* How llama.cpp pairs rotated values of a family; the files do not say. */
enum tenon_gguf_rope {
    TENON_GGUF_ROPE_NONE = 0,
    TENON_GGUF_ROPE_NORM,  /* (2i, 2i + 1) */
    TENON_GGUF_ROPE_NEOX,  /* (i, i + R/2) */
    TENON_GGUF_ROPE_MROPE, /* (i, i + R/2), sections one after the other */
    TENON_GGUF_ROPE_IMROPE /* (i, i + R/2), sections interleaved */
};

/* Which layers attend to everything, where config and metadata are silent. The others slide. */
enum tenon_layer_rule {
    TENON_LAYERS_ALIKE = 0,
    TENON_LAYERS_LAST_FULL,    /* the last of each `layer_period` */
    TENON_LAYERS_FIRST_FULL,   /* the first of each */
    TENON_LAYERS_BACKWARD_FULL /* the first of each, counted from the last layer backwards */
};

/* Sinusoids that are computed, not stored. Spacing "paper" is b^(-2i/d), "timescale" b^(-i/(h-1)).
 */
enum tenon_sinusoid_form {
    TENON_SINUSOID_NONE = 0,
    TENON_SINUSOID_INTERLEAVED,   /* sine and cosine alternate, paper */
    TENON_SINUSOID_HALF,          /* sines, then cosines, paper */
    TENON_SINUSOID_HALF_TIMESCALE /* sines, then cosines, timescale */
};

/* Normalisations. */
enum tenon_norm_kind {
    TENON_NORM_NONE = 0,
    TENON_NORM_LAYER, /* mean and variance, weight, bias where one is stored */
    TENON_NORM_RMS,
    TENON_NORM_LAYER_PLAIN, /* without weight and bias */
    TENON_NORM_RMS_PLAIN,
    TENON_NORM_L2 /* divided by the root of the mean square, no weight */
};

/* Where a narrower input is widened to hidden_size. */
enum tenon_embed_proj {
    TENON_PROJ_AFTER_NORM = 0, /* ALBERT, ELECTRA */
    TENON_PROJ_BEFORE_NORM,    /* DeBERTa */
    TENON_PROJ_BEFORE_POSITION /* OPT */
};

/* How a projection that makes queries, keys and values at once orders its rows in the HF layout
 * (GGUF files hold all queries, all keys, all values). */
enum tenon_qkv_layout {
    TENON_QKV_BLOCKS = 0, /* all queries, all keys, all values */
    TENON_QKV_GROUPS,     /* [q ... q | k | v] of each key head */
    TENON_QKV_CODEGEN     /* four slices, each [q | v | k] of its heads */
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
    TENON_ARCH_CONV1D = 1u << 10,         /* HF linear weights are stored transposed (Conv1D) */
    TENON_ARCH_IMPORT_TIES = 1u << 11,    /* transformers ties it whenever it reads a GGUF file */
    TENON_ARCH_POSITION_PAD = 1u << 12,   /* position ids count tokens that are no padding, from
                                           * the padding id on (RoBERTa) */
    TENON_ARCH_POSITION_EXTRA = 1u << 13, /* the offset's rows come on top of the config's number */
    TENON_ARCH_TYPES_LAST = 1u << 14,     /* token types are added after positions */
    TENON_ARCH_ROPE_SLIDING_ONLY = 1u << 15, /* full layers do not rotate where others slide */
    TENON_ARCH_ROPE_IF_SAID = 1u << 16,      /* rotary only where position_embedding_type says so */
    TENON_ARCH_ROPE_REVERSED = 1u << 17,     /* turns by -a */
    TENON_ARCH_ROPE_TO_HALF = 1u << 18,      /* interleaved in, halves out */
    TENON_ARCH_GGUF_SECTIONS = 1u << 19,     /* mrope where a GGUF file has sections */
    TENON_ARCH_POST_NORM = 1u << 20,         /* no norm before attention */
    TENON_ARCH_QK_NORM_AFTER = 1u << 21,     /* queries and keys are normalised after turning */
    TENON_ARCH_FIRST_UNNORMED = 1u << 22,    /* the first layer has no norm before attention */
    TENON_ARCH_Q_GATED = 1u << 23,           /* each head's queries are followed by its gate */
    TENON_ARCH_LATENT = 1u << 24,            /* queries and keys pass through a latent (MLA) */
    TENON_ARCH_ROPE_TRAILING = 1u << 25,     /* the last channels of a head turn */
    TENON_ARCH_EMBD_NORM_MAY = 1u << 26,     /* only some checkpoints have a norm of the input */
    TENON_ARCH_INPUT_STACKED = 1u << 27,     /* several vectors a token enter the first block */
    TENON_ARCH_NORM_SECOND = 1u << 28,       /* of two norms the second is attention's (Falcon) */
    TENON_ARCH_MULTI_QUERY = 1u << 29        /* one key head, unless the config says otherwise */
};

/* The rotary settings of a config class whose file has none; of layers that slide only where they
 * have no base of their own. 0: not given. */
struct tenon_arch_rope {
    enum tenon_rope_scaling scaling;
    double partial; /* share of the head */
    double factor, original;
    double low_freq_factor, high_freq_factor;
    double mscale, mscale_all_dim;
    bool no_truncate;
    double temperature; /* of queries, see qk.h */
};

/* What differs for some of a family's names. 0 means: as the family. */
struct tenon_arch_variant {
    const char *words; /* model types and GGUF names, separated by blanks; NULL ends a list */
    enum tenon_position_kind position;
    double rope_theta, rope_partial, local_theta;
    enum tenon_rope_layout rope_layout;
    enum tenon_gguf_rope gguf_rope;
    enum tenon_rope_axes rope_axes;
    enum tenon_layer_rule layer_rule;
    uint32_t layer_period, head_dim;
    enum tenon_norm_kind embd_norm;
    double norm_eps;
    const struct tenon_arch_rope *rope_default;
    unsigned flags_on, flags_off;
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
    double embed_scale_default; /* where nothing is said: of CONFIG_VALUE, 0 meaning 1; of IF_CONFIG
                                 * whether it is scaled */
    enum tenon_gguf_rope gguf_rope;
    enum tenon_rope_axes rope_axes;
    uint32_t head_dim;  /* class default; 0: hidden_size / heads */
    double local_theta; /* class default of sliding layers; 0: as the others */
    enum tenon_layer_rule layer_rule;
    uint32_t layer_period;
    uint32_t no_rope_period; /* each n-th layer does not rotate, counted from 1; 0: all do */
    const struct tenon_arch_rope *rope_default; /* NULL: nothing is stretched */
    double alibi_bias;                          /* class default of the largest ALiBi exponent */
    uint32_t alibi_layers; /* ALiBi where there are so many layers (Baichuan); 0: see position */
    enum tenon_sinusoid_form sinusoid;
    enum tenon_norm_kind embd_norm; /* of the input, before the first layer */
    enum tenon_embed_proj embd_proj;
    enum tenon_norm_kind norm; /* before attention */
    double norm_eps;           /* class default */
    enum tenon_norm_kind qk_norm;
    enum tenon_qkv_layout qkv;
    const char *layer_groups;                  /* config key of how many layers are stored, where
                                                * several share one's tensors (ALBERT); NULL: all */
    unsigned flags;                            /* enum tenon_arch_flags */
    const struct tenon_arch_rules *rules;      /* private: the name patterns */
    const struct tenon_arch_variant *variants; /* NULL: none */
};

/* Rows in list order, i = 0, 1, 2 ...; NULL after the last. */
TENON_API const struct tenon_arch *tenon_arch_at(size_t i);

/* By name, config model_type, or GGUF general.architecture; NULL when there is none. */
TENON_API const struct tenon_arch *tenon_arch_find(const char *name, size_t len);
TENON_API const struct tenon_arch *tenon_arch_find_model_type(const char *name, size_t len);
TENON_API const struct tenon_arch *tenon_arch_find_gguf(const char *name, size_t len);

/* A copy of the family's facts with those put in that its variant `word` (a model type or GGUF
 * name) has of its own. */
TENON_API struct tenon_arch tenon_arch_facts(const struct tenon_arch *arch, const char *word,
                                             size_t len);

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
TENON_API const char *tenon_gguf_rope_name(enum tenon_gguf_rope rope);
TENON_API const char *tenon_norm_kind_name(enum tenon_norm_kind norm);
TENON_API const char *tenon_dialect_name(enum tenon_dialect dialect);

TENON_END_DECLS

#endif
