/* The options about positions that `embed` and `rope` share. */
#ifndef TENON_TOOLS_POSITION_OPT_H
#define TENON_TOOLS_POSITION_OPT_H

#include "tenon/position.h"
#include "tool.h"

/* Zero: nothing is given. */
struct tenon_position_options {
    double theta;
    uint64_t rotary_dim, heads, length;
    const char *scaling;
    unsigned layout, precision; /* indices of the words below; 0: the model's own */
};

extern const char *const tenon_layout_words[];
extern const char *const tenon_precision_words[];

/* Rows for a struct `type` whose member `options` is a struct tenon_position_options. */
#define TENON_POSITION_FIELD(type, name)                                                           \
    (offsetof(type, positions) + offsetof(struct tenon_position_options, name))
#define TENON_POSITION_ROWS(type)                                                                  \
    {.name = "precision",                                                                          \
     .kind = TENON_OPT_CHOICE,                                                                     \
     .field = TENON_POSITION_FIELD(type, precision),                                               \
     .value = "PROFILE",                                                                           \
     .choices = tenon_precision_words,                                                             \
     .help = "whose arithmetic: exact (float64), or the float32 steps of hf or ggml; default "     \
             "ggml for a GGUF file, else hf"},                                                     \
        {.name = "length",                                                                         \
         .kind = TENON_OPT_NUMBER,                                                                 \
         .field = TENON_POSITION_FIELD(type, length),                                              \
         .value = "N",                                                                             \
         .min = 1,                                                                                 \
         .max = UINT32_MAX,                                                                        \
         .help = "the intended sequence length, which dynamic and longrope scaling depend on"},    \
        {.name = "theta",                                                                          \
         .kind = TENON_OPT_REAL,                                                                   \
         .field = TENON_POSITION_FIELD(type, theta),                                               \
         .value = "BASE",                                                                          \
         .help = "the base of the rotary frequencies, instead of the model's"},                    \
        {.name = "rotary-dim",                                                                     \
         .kind = TENON_OPT_NUMBER,                                                                 \
         .field = TENON_POSITION_FIELD(type, rotary_dim),                                          \
         .value = "N",                                                                             \
         .min = 2,                                                                                 \
         .max = TENON_ROPE_MAX_DIM,                                                                \
         .help = "how many channels of a head rotate, instead of the model's"},                    \
        {.name = "heads",                                                                          \
         .kind = TENON_OPT_NUMBER,                                                                 \
         .field = TENON_POSITION_FIELD(type, heads),                                               \
         .value = "N",                                                                             \
         .min = 1,                                                                                 \
         .max = UINT16_MAX,                                                                        \
         .help = "into how many heads a vector is cut, instead of the model's"},                   \
        {.name = "rope-layout",                                                                    \
         .kind = TENON_OPT_CHOICE,                                                                 \
         .field = TENON_POSITION_FIELD(type, layout),                                              \
         .value = "LAYOUT",                                                                        \
         .choices = tenon_layout_words,                                                            \
         .help = "which channels are a pair, instead of the model's: half (i, i + R/2) or "        \
                 "interleaved (2i, 2i + 1)"},                                                      \
    {                                                                                              \
        .name = "rope-scaling", .kind = TENON_OPT_TEXT,                                            \
        .field = TENON_POSITION_FIELD(type, scaling), .value = "JSON",                             \
        .help = "how frequencies are stretched, instead of the model's: an object as in a config," \
                " {\"rope_type\": \"yarn\", \"factor\": 4}, or null for not at all; the base and " \
                "other values that it does not name stay the model's"                              \
    }

/* What the options override, and what that points into. Not to be moved; release it after use. */
struct tenon_position_given {
    struct tenon_position_overrides overrides;
    struct tenon_settings *settings;
    struct tenon_setting scaling;
};

/* Fails with MISUSE for values that are none for any model. */
TENON_MUST_USE enum tenon_status
tenon_position_options_check(const struct tenon_tool *tool,
                             const struct tenon_position_options *options, struct tenon_error *err);

/* Fails as parsing JSON does. */
TENON_MUST_USE enum tenon_status
tenon_position_options_read(const struct tenon_position_options *options,
                            struct tenon_position_given *given, struct tenon_error *err);
/* Names the option in an error of resolving that is about the values of `options`. */
void tenon_position_options_blame(const struct tenon_position_options *options,
                                  struct tenon_error *err);
void tenon_position_given_release(struct tenon_position_given *given);

/* The profile that the options ask for; that of the model's kind when they do not. */
enum tenon_precision tenon_position_precision(const struct tenon_position_options *options,
                                              const struct tenon_model *model);

/* "half", "interleaved" ...: for people and JSON. */
const char *tenon_pairing_name(enum tenon_rope_pairing pairing);

#endif
