/* Fixed sinusoids: the table of "Attention is all you need" and its relatives, in one, two and more
 * dimensions, and the embedding of diffusion timesteps. Pure arithmetic; no function fails but the
 * checks.
 *
 * Precision: `exact` is float64. `hf` is what the PyTorch models of that form do, either float64
 * rounded once at the end or float32 step by step. `ggml` means the same as `hf`. */
#ifndef TENON_SINUSOID_H
#define TENON_SINUSOID_H

#include "tenon/rope.h"

TENON_BEGIN_DECLS

/* Frequencies w_i of a table of width d with h = floor(d / 2). */
enum tenon_spacing {
    TENON_SPACING_PAPER = 0,            /* b^(-2i / d), i = 0 ... ceil(d / 2) - 1 */
    TENON_SPACING_TIMESCALE = 1,        /* b^(-i / (h - 1)), from 1 to 1 / b; d of at least 4 */
    TENON_SPACING_TIMESCALE_CLAMPED = 2 /* the same with max(h - 1, 1), as in tensor2tensor */
};

struct tenon_sinusoid {
    uint32_t width;   /* d; an odd one has one more sine (paper) or a zero at the end (timescale) */
    bool interleaved; /* column 2i sine, 2i + 1 cosine; else sines, then cosines */
    enum tenon_spacing spacing;
    double base;      /* b; of timescales the ratio of the largest to the smallest */
    double frequency; /* multiplies every w_i: 1, or tensor2tensor's min_timescale */
    enum tenon_precision precision;
};

/* Width 0, interleaved, paper, base 10000, exact. */
TENON_API void tenon_sinusoid_init(struct tenon_sinusoid *sinusoid);

/* Fails with MISMATCH for a width or base that makes no sense. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_sinusoid_check(const struct tenon_sinusoid *sinusoid, struct tenon_error *err);

/* The row of one position: `width` values. Tables with a row for padding (fairseq) hold zeros
 * there and tenon_sinusoid_row(row) everywhere else. The parameters must have been checked. */
TENON_API void tenon_sinusoid_row(const struct tenon_sinusoid *sinusoid, double position,
                                  double *out);

/* n-dimensional tables of tensor2tensor: each of `n_axes` coordinates owns a block of
 * n = width / (2 n_axes) sines and n cosines, timescale spacing; the rest is zero. `interleaved`
 * and `spacing` play no part. */
TENON_API void tenon_sinusoid_grid_row(const struct tenon_sinusoid *sinusoid, uint32_t n_axes,
                                       const double *coordinates, double *out);

/* MAE, MoCo v3: the first half of `width` (a multiple of 4) tells the column, the second the row,
 * each as width / 4 sines and cosines of 10000^(-4i / width). A class token has a row of zeros. */
TENON_API void tenon_sinusoid_mae_row(uint32_t width, enum tenon_precision precision, double row,
                                      double column, double *out);

/* DETR: `features` (even) values for y, then as many for x, sines and cosines in turn. */
struct tenon_detr_grid {
    uint32_t features;
    uint32_t rows, columns;
    bool normalize;     /* divide counts by the last one plus `eps`, multiply by `scale` */
    double temperature; /* 10000 */
    double scale;       /* 2 pi */
    double eps;         /* 1e-6 */
    const bool *valid;  /* rows x columns pixels that are no padding; counts run over these */
};

/* Features of the pixel at `row`, `column`: 2 x `features` values. */
TENON_API void tenon_sinusoid_detr(const struct tenon_detr_grid *grid,
                                   enum tenon_precision precision, uint32_t row, uint32_t column,
                                   double *out);

/* Timesteps of diffusion models: w_i = max_period^(-i / (h - shift)), angle scale * t * w_i,
 * sines then cosines (the other way round when flipped), one zero at the end of an odd width.
 * DDPM: shift 1; Stable Diffusion: shift 0, flipped. */
struct tenon_timestep {
    uint32_t width;
    bool flipped;
    double shift;
    double scale;
    double max_period;
    enum tenon_precision precision;
};

/* Fails with MISMATCH where h - shift is not positive. */
TENON_API TENON_MUST_USE enum tenon_status tenon_timestep_check(const struct tenon_timestep *t,
                                                                struct tenon_error *err);
TENON_API void tenon_timestep_row(const struct tenon_timestep *t, double step, double *out);

TENON_END_DECLS

#endif
