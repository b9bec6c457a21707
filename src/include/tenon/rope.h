/* Rotary position embeddings. A variant is a tuple: frequencies, pairing, rotated channels, axis of
 * each pair, magnitude, precision; names such as "yarn" only fill it in.
 *
 * For a position p, pair i turns by the angle a = p * f_i:
 *   y_first  = m * (x_first * cos a - x_second * sin a)
 *   y_second = m * (x_second * cos a + x_first * sin a) */
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
    TENON_ROPE_PROPORTIONAL = 7
};

enum tenon_rope_pairing {
    TENON_PAIR_HALF = 0,        /* (i, i + R/2) */
    TENON_PAIR_INTERLEAVED = 1, /* (2i, 2i + 1) */
    TENON_PAIR_INTERLEAVED_TO_HALF =
        2,                  /* rotates (2i, 2i + 1); writes first members, then second */
    TENON_PAIR_REVERSED = 3 /* (i, i + R/2), turned by -a */
};

/* Which of several position streams pair i follows. */
enum tenon_rope_axes {
    TENON_AXES_ONE = 0,
    TENON_AXES_CHUNKED = 1,     /* sections of consecutive pairs: t, h, w */
    TENON_AXES_INTERLEAVED = 2, /* t h w t h w ..., the rest t */
    TENON_AXES_ERNIE = 3        /* even pairs h, odd pairs w within the first h + w, the rest t */
};

#define TENON_ROPE_MAX_SECTIONS 4

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
    double attention_factor, mscale, mscale_all_dim; /* NaN: not given */
    double beta_fast, beta_slow;                     /* NaN or 0: 32 and 1 */
    bool no_truncate;                                /* yarn: limits of the ramp stay fractions */
    double extrapolation_factor, attn_factor;        /* yarn as first published, ggml; NaN: 1 */
    double low_freq_factor, high_freq_factor;        /* llama3; NaN: not given */
    double alpha;                                    /* NTK */
    double proportion;                          /* proportional: share of the head that turns */
    const double *short_factors, *long_factors; /* longrope: R / 2 each; NULL: not given */
    const float *freq_factors; /* ggml: divisors of the frequencies, R / 2; NULL: none */
    enum tenon_rope_axes axes;
    uint32_t sections[TENON_ROPE_MAX_SECTIONS]; /* pairs of each stream */
    uint32_t n_sections;
};

/* The frequencies that follow. Caller's storage for the struct; release frees the arrays. */
struct tenon_rope_table {
    uint32_t n_pairs;        /* R / 2; of a proportional rotation D / 2 */
    double *inv_freq;        /* in the wanted precision, widened */
    double attention_factor; /* m */
    bool long_factors;       /* longrope: the long list was used */
    double length;           /* the sequence length that was assumed */
};

/* Everything "not given", theta 10000. */
void tenon_rope_init(struct tenon_rope *rope);

/* `length` is the intended sequence length, for the scalings that depend on it (dynamic, longrope);
 * 0: the original context. Fails with MISUSE naming the parameter that makes no sense (odd rotary
 * width, wider than the head, sections that do not sum to the pairs, factor lists of another
 * length), or NO_MEMORY. */
TENON_MUST_USE enum tenon_status tenon_rope_table_init(struct tenon_rope_table *table,
                                                       const struct tenon_rope *rope,
                                                       enum tenon_precision precision,
                                                       double length, struct tenon_error *err);
void tenon_rope_table_release(struct tenon_rope_table *table);

/* cos and sin of every pair at one position, with the magnitude in them, `n_pairs` each.
 * `positions` has one entry per stream (one entry when the rotation has one axis). */
void tenon_rope_angles(const struct tenon_rope *rope, const struct tenon_rope_table *table,
                       enum tenon_precision precision, const double *positions, double *out_cos,
                       double *out_sin);

/* Turns one head of `head_dim` values in place by such cosines and sines: in float64 for the exact
 * profile, else in float32. */
void tenon_rope_apply(const struct tenon_rope *rope, const struct tenon_rope_table *table,
                      const double *cosines, const double *sines, double *head);
void tenon_rope_apply_f32(const struct tenon_rope *rope, const struct tenon_rope_table *table,
                          const double *cosines, const double *sines, float *head);

/* "default", "linear", "yarn" ... as configs spell them; and back, false for an unknown word. */
const char *tenon_rope_scaling_name(enum tenon_rope_scaling scaling);
bool tenon_rope_scaling_find(const char *name, size_t len, enum tenon_rope_scaling *out);
const char *tenon_precision_name(enum tenon_precision precision);

TENON_END_DECLS

#endif
