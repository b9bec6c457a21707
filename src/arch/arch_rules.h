/* How a family's file states which tensor name means what. Data only: src/arch.c interprets it.
 *
 * A pattern is the tensor's name without its base prefix ("model.") and without ".weight" or
 * ".bias". Whole segments that are numbers are written as placeholders: `#` for the first, the
 * layer, and `@` for the second where it is an expert; a further number, or a second one that is no
 * expert ("layer.1" of T5), stands as it is.
 *
 * Rows of a set are sorted by pattern, bytewise, so that a name is found by bisection. A family's
 * earlier sets override its later ones. */
#ifndef TENON_ARCH_RULES_H
#define TENON_ARCH_RULES_H

#include "tenon/arch.h"

enum tenon_rule_flags {
    RULE_ALIAS = 1u << 0, /* another spelling: understood, never written */
    RULE_TOP = 1u << 1,   /* stands beside the base model, without its prefix */
    RULE_BARE = 1u << 2,  /* the whole name: neither .weight nor .bias follows */
    RULE_BIAS = 1u << 3   /* a bare name that is the bias of its role */
};

struct tenon_name_rule {
    const char *pattern;
    uint16_t role;
    uint8_t part;
    uint8_t flags; /* enum tenon_rule_flags */
};

/* Rows: NAME for the common kind, NAME_AS where the part or a flag is to be said. */
#define NAME(pattern, role)                                                                        \
    {                                                                                              \
        pattern, TENON_ROLE_##role, TENON_PART_MAIN, 0                                             \
    }
#define NAME_AS(pattern, role, part, flags)                                                        \
    {                                                                                              \
        pattern, TENON_ROLE_##role, TENON_PART_##part, flags                                       \
    }

struct tenon_name_set {
    const struct tenon_name_rule *rules;
    size_t n;
    enum tenon_dialect dialect;
};

#define NAME_SET(array, which)                                                                     \
    {                                                                                              \
        array, sizeof array / sizeof array[0], TENON_DIALECT_##which                               \
    }

#define TENON_MAX_NAME_SETS  6
#define TENON_MAX_PREFIXES   8
#define TENON_MAX_MARKS      5
#define TENON_MAX_TIE_NAMES  3
#define TENON_PATTERN_LENGTH 95 /* of a pattern and of its longest prefix, together */

/* Full names of one tensor, ending with NULL where there are fewer. The first is the one that
 * writers store, and reading does without it when all others are stored. */
struct tenon_tie_row {
    const char *names[TENON_MAX_TIE_NAMES];
};

/* One matrix for encoder and decoder (BART), and the two names of the bias of a head that predicts
 * masked tokens (BERT, RoBERTa). */
#define TIE_ROW_BART                                                                               \
    {                                                                                              \
        {                                                                                          \
            "model.shared.weight", "model.encoder.embed_tokens.weight",                            \
                "model.decoder.embed_tokens.weight"                                                \
        }                                                                                          \
    }
#define TIE_ROW_BERT                                                                               \
    {                                                                                              \
        {                                                                                          \
            "cls.predictions.bias", "cls.predictions.decoder.bias"                                 \
        }                                                                                          \
    }
#define TIE_ROW_LM_HEAD                                                                            \
    {                                                                                              \
        {                                                                                          \
            "lm_head.bias", "lm_head.decoder.bias"                                                 \
        }                                                                                          \
    }

struct tenon_arch_rules {
    /* Base prefixes, the canonical one first. Optional in a name; of several that fit the longest
     * is taken off. Ends with NULL. */
    const char *prefixes[TENON_MAX_PREFIXES + 1];
    const struct tenon_name_set *sets[TENON_MAX_NAME_SETS + 1]; /* ends with NULL */
    /* The module of the sets' names that such a checkpoint may consist of, with its dot: a name
     * that is none of theirs is looked up below it, too ("vision_model." of towers stored alone).
     * NULL: none. */
    const char *within;
    /* Full tensor names (base prefix optional) that only together tell this family from all
     * others; "!" before one that must be absent. None: the family cannot be guessed. */
    const char *marks[TENON_MAX_MARKS + 1];
    /* What else transformers ties where it ties the matrices, and leaves apart where it does not:
     * NULL, or rows up to one without names. */
    const struct tenon_tie_row *ties;
};

/* Sets that several families share; each is defined in the file of the family it is named after,
 * the last ones in src/arch_names.c. */
extern const struct tenon_name_set tenon_names_bailing_moe, tenon_names_bamba, tenon_names_bart,
    tenon_names_bert, tenon_names_bert_generation, tenon_names_clip, tenon_names_gpt2,
    tenon_names_llama, tenon_names_llava, tenon_names_mamba, tenon_names_mbart, tenon_names_opt,
    tenon_names_qwen2_vl, tenon_names_sandwich_norm, tenon_names_t5, tenon_names_vit,
    tenon_names_gguf, tenon_names_meta;

/* The rows of several families. */
extern const struct tenon_tie_row tenon_ties_bart[], tenon_ties_bert[],
    tenon_ties_bert_generation[];

/* The rules of the many families that call their tensors what Llama does. */
extern const struct tenon_arch_rules tenon_rules_llama;

/* The rules for a model whose family is not known. */
extern const struct tenon_arch_rules tenon_rules_generic;

#define X(id) extern const struct tenon_arch tenon_arch_##id;
#include "tenon/archs.def"
#undef X

#endif
