/* What an input is made of; for input*.c and qk*.c only. */
#ifndef TENON_INPUT_PRIVATE_H
#define TENON_INPUT_PRIVATE_H

#include "project.h"
#include "tenon/embed.h"
#include "tenon/input.h"

struct tenon_input {
    const struct tenon_model *model;
    struct tenon_input_options options;
    struct tenon_positions *positions;
    struct tenon_arch facts;
    enum tenon_part side;

    struct tenon_embed words;
    double scale;             /* of the rows; 1: none */
    enum tenon_dtype rounded; /* the dtype that scaled rows are rounded to */
    bool drops_masked;        /* ESM: see input_rows.c */
    int64_t mask_id;

    bool has_types, has_table;
    struct tenon_embed types, table; /* of token types; of learned or stored positions */
    bool sinusoids;
    struct tenon_sinusoid_rows {
        enum tenon_sinusoid_form form;
        bool pad_is_zero; /* the row of padding holds zeros */
    } sinusoid;
    bool rotates; /* the rows themselves, on request */

    bool has_projection;
    struct tenon_project projection;
    struct tenon_norming norm;
    size_t width; /* of what comes out */
};

/* The position of token `i` in stream `stream`: a number of the caller's, or counted. */
double tenon_tokens_position(const struct tenon_tokens *tokens, size_t stream, size_t i);

/* The sequence length that scalings assume: the options', else one more than the last position. */
double tenon_tokens_length(const struct tenon_tokens *tokens,
                           const struct tenon_input_options *options);

/* Cosines and sines of token `i` by `table`. */
void tenon_tokens_angles(const struct tenon_tokens *tokens, const struct tenon_rope_table *table,
                         size_t i, double *out_cos, double *out_sin);

/* Turns the head at `x` in place, in the table's precision. `work` has room for a head. */
void tenon_turn_head(const struct tenon_rope_table *table, const double *cosines,
                     const double *sines, double *x, double *work);

#endif
