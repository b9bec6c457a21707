/* Rotary position embeddings. A variant is a tuple: frequencies, pairing, rotated channels, axis of
 * each pair, magnitude, precision; names such as "yarn" only fill it in.
 *
 * For a position p, pair i turns by the angle a = p * f_i:
 *   y_first  = m * (x_first * cos a - x_second * sin a)
 *   y_second = m * (x_second * cos a + x_first * sin a)
 *
 * Everything here is arithmetic on the caller's values, without files. All functions may be called
 * from several threads at once. */
#ifndef TENON_ROPE_H
#define TENON_ROPE_H

#include "tenon/api.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

/* Whose arithmetic is replayed. Frequencies and angles in float32 differ from exact ones by more
 * than rounding once positions are long. */
enum tenon_precision {
    TENON_PRECISION_EXACT = 0, /* float64 throughout */
    TENON_PRECISION_HF = 1,    /* the float32 steps of PyTorch models: inverse frequencies, then
                                * one product with the position */
    TENON_PRECISION_GGML = 2   /* the float32 steps of ggml: a running product over the pairs */
};

/* How the frequencies are stretched for long contexts. */
enum tenon_rope_scaling {
    TENON_ROPE_DEFAULT = 0,
    TENON_ROPE_LINEAR = 1,
    TENON_ROPE_DYNAMIC = 2, /* base grows with the sequence length */
    TENON_ROPE_NTK = 3,     /* base times alpha^(R / (R - 2)) */
    TENON_ROPE_YARN = 4,
    TENON_ROPE_LONGROPE = 5, /* also called su */
    TENON_ROPE_LLAMA3 = 6,
    TENON_ROPE_PROPORTIONAL = 7 /* pairs over the whole head, a share of them turns */
};

/* Which channels form a pair, P pairs in all. Counted from the first rotated channel. */
enum tenon_rope_pairing {
    TENON_PAIR_HALF = 0,        /* (i, i + P) */
    TENON_PAIR_INTERLEAVED = 1, /* (2i, 2i + 1) */
    TENON_PAIR_INTERLEAVED_TO_HALF =
        2,                     /* rotates (2i, 2i + 1); writes first members, then second */
    TENON_PAIR_REVERSED = 3,   /* (i, i + P), turned by -a */
    TENON_PAIR_BLOCK_HALF = 4, /* half split inside the channels of each section (Gemma 4 vision) */
    TENON_PAIR_TILED = 5       /* (2i, 2i + 1), but channel j of a section of n pairs turns by angle
                                * j mod n: not a rotation, yet what V-JEPA 2 was trained with */
};

/* Which of several position streams pair i follows, and which frequency it has. */
enum tenon_rope_axes {
    TENON_AXES_ONE = 0,
    TENON_AXES_CHUNKED = 1,     /* sections of consecutive pairs: t, h, w */
    TENON_AXES_INTERLEAVED = 2, /* t h w t h w ..., the rest t; in the ggml profile a pair that no
                                 * section claims follows the fourth stream, as ggml has it */
    TENON_AXES_ERNIE = 3,       /* even pairs h, odd pairs w within the first h + w, the rest t;
                                 * sections in the order of configs: h, w, t */
    /* Of vision towers: two or more coordinates, each with its own frequencies. */
    TENON_AXES_BLOCKS = 4, /* consecutive sections, b^(-2k / 2n) from k = 0 in each of n pairs */
    TENON_AXES_SPLIT = 5,  /* first half of the pairs: frequencies 0, 2, 4 ... on stream 0;
                            * second half: 1, 3, 5 ... on stream 1 (Pixtral) */
    TENON_AXES_ALTERNATING = 6 /* pairs take the streams in turn, all pairs of a turn the same
                                * frequency (Kimi-VL) */
};

#define TENON_ROPE_MAX_SECTIONS 4
#define TENON_ROPE_MAX_DIM      65536u /* widest head */

/* What a config, metadata or the command line says about one rotation. NaN, 0 or NULL where a
 * comment says so means "not given". All arrays are borrowed. */
struct tenon_rope {
    enum tenon_rope_scaling scaling;
    enum tenon_rope_pairing pairing;
    uint32_t head_dim;                               /* D */
    uint32_t rotary_dim;                             /* R, even, at most D */
    bool trailing;                                   /* the last R channels turn, not the first */
    double theta;                                    /* the base b */
    double factor;                                   /* s; NaN: not given */
    double original;                                 /* O, original context; NaN: not given */
    double max_positions;                            /* M; NaN: not given */
    double attention_factor, mscale, mscale_all_dim; /* yarn, longrope; NaN: not given */
    double beta_fast, beta_slow;                     /* NaN or 0: 32 and 1 */
    bool no_truncate;            /* yarn: limits of the ramp stay fractions (never in ggml) */
    double extrapolation_factor; /* yarn as first published, ggml's ext_factor; NaN: 1 */
    double attn_factor;          /* multiplies the magnitude of any scaling; NaN: 1 */
    double low_freq_factor, high_freq_factor; /* llama3; NaN: not given */
    double alpha;                             /* NTK */
    double proportion;                        /* proportional: share of the head that turns */
    const double *short_factors;              /* longrope: R / 2 divisors; NULL: not given */
    const double *long_factors;
    uint32_t n_short_factors, n_long_factors;
    const float *freq_factors; /* tensor of a GGUF file, divisors for every pair; NULL: none */
    uint32_t n_freq_factors;
    enum tenon_rope_axes axes;
    uint32_t sections[TENON_ROPE_MAX_SECTIONS]; /* pairs of each stream */
    uint32_t n_sections; /* not used with one axis; 2 to 4 otherwise, zeros at the end allowed */
};

/* ggml's arguments for the same rotation; all float32. */
struct tenon_rope_ggml {
    float freq_base, freq_scale, ext_factor, attn_factor;
    float ramp_low, ramp_high;
};

/* The frequencies that follow. Needs nothing else to turn vectors. Caller's storage for the struct;
 * release frees the arrays. */
struct tenon_rope_table {
    struct tenon_rope rope; /* as it was given, without the lists */
    enum tenon_precision precision;
    uint32_t n_pairs;            /* R / 2; of a proportional rotation D / 2 */
    double *inv_freq;            /* what pair i turns by per position, in that precision, widened */
    uint8_t *axis;               /* the stream that pair i follows */
    double base;                 /* b, as dynamic and NTK scaling change it */
    double attention_factor;     /* m, in that precision */
    double ramp_low, ramp_high;  /* yarn: pairs between which the frequencies change; else 0 */
    bool long_factors;           /* longrope: the long list was used */
    double length;               /* the sequence length that was assumed; 0: none was needed */
    struct tenon_rope_ggml ggml; /* ggml profile only, else zero */
    float *divisors;             /* ggml profile: freq_factors or what replaces them; NULL: none */
};

/* Everything "not given", theta 10000. */
TENON_API void tenon_rope_init(struct tenon_rope *rope);

/* `length` is the intended sequence length, for the scalings that depend on it (dynamic, longrope);
 * 0: the original context. Fails with NOT_FOUND naming a parameter that the scaling needs and that
 * is not given, MISMATCH naming the parameter that makes no sense and what is allowed (odd rotary
 * width, wider than the head, sections that do not sum to the pairs, factor lists of another
 * length), LIMIT for a head beyond TENON_ROPE_MAX_DIM, or NO_MEMORY. `*table` is written on
 * success only. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_rope_table_init(struct tenon_rope_table *table, const struct tenon_rope *rope,
                      enum tenon_precision precision, double length, struct tenon_error *err);
TENON_API void tenon_rope_table_release(struct tenon_rope_table *table);

/* cos and sin of every pair at one position, with the magnitude in them, `n_pairs` each; float32
 * values, widened, unless the table is exact. `positions` has one entry for a rotation with one
 * axis, else TENON_ROPE_MAX_SECTIONS (0 for streams that are not there). */
TENON_API void tenon_rope_angles(const struct tenon_rope_table *table, const double *positions,
                                 double *out_cos, double *out_sin);

/* Turns one head of `head_dim` values by such cosines and sines, in float64 or in float32;
 * channels that do not turn are copied. `x` and `out` must not overlap. For the way back negate
 * the sines (and divide by m squared). */
TENON_API void tenon_rope_apply(const struct tenon_rope_table *table, const double *cosines,
                                const double *sines, const double *x, double *out);
TENON_API void tenon_rope_apply_f32(const struct tenon_rope_table *table, const double *cosines,
                                    const double *sines, const float *x, float *out);

/* DeepSeek multiplies the scale of softmax by this, whatever m
 * is: (0.1 mscale_all_dim ln s + 1)^2, 1 where s is at most 1 or mscale_all_dim is not given. */
TENON_API double tenon_rope_softmax_scale(const struct tenon_rope *rope);

/* xPos: what queries of `position` are multiplied by, pair by pair, and keys divided by, in a table
 * for `length` positions: ((2i + 0.4 R) / 1.4 R)^((p - length / 2) / scale_base), halves cut. */
struct tenon_xpos {
    uint32_t rotary_dim;
    double scale_base; /* 512 */
    uint64_t length;
};

TENON_API void tenon_xpos_scales(const struct tenon_xpos *xpos, double position, double *out);

/* Llama 4, layers without rotation: queries times 1 + attn_scale ln(1 + floor((p + 1) /
 * floor_scale)). */
TENON_API double tenon_attention_temperature(double position, double floor_scale,
                                             double attn_scale);

/* "default", "linear", "yarn" ... as configs spell them; NULL for no such value. And back, also
 * from older and other spellings ("su", "none", "mrope"); false for an unknown word. */
TENON_API const char *tenon_rope_scaling_name(enum tenon_rope_scaling scaling);
TENON_API bool tenon_rope_scaling_find(const char *name, size_t len, enum tenon_rope_scaling *out);
TENON_API const char *tenon_precision_name(enum tenon_precision precision);
TENON_API bool tenon_precision_find(const char *name, size_t len, enum tenon_precision *out);

TENON_END_DECLS

#endif
