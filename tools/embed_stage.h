/* The stages of `embed`: rows of the matrix, what enters the first block, queries and keys. */
#ifndef TENON_TOOLS_EMBED_STAGE_H
#define TENON_TOOLS_EMBED_STAGE_H

#include "embed_out.h"
#include "embed_picture.h"
#include "tenon/embed.h"
#include "tenon/qk.h"

enum tenon_stage { TENON_STAGE_TOKEN, TENON_STAGE_INPUT, TENON_STAGE_QK };

/* What the command line says about tokens beside their ids; each list is as long as the ids are. */
struct tenon_stage_tokens {
    const struct tenon_ids *ids;
    const struct tenon_ids *types; /* NULL: none given */
    const struct tenon_ids *positions[TENON_ROPE_MAX_SECTIONS];
    size_t n_streams; /* 0: positions count from `start` */
    uint64_t start;
};

/* One stage, ready to make vectors. Zero-initialise; release in any case. */
struct tenon_stage_run {
    enum tenon_stage stage;
    struct tenon_stage_tokens tokens;
    struct tenon_embed embed;
    struct tenon_input *own_input;
    const struct tenon_input *input; /* NULL: rows of the matrix */
    struct tenon_qk *qk;
    struct tenon_qk_shape shape;
    const struct tenon_picture_rows *picture; /* put in the place of its ids; NULL: none */
    /* Tokens begin to end - 1 as they were made last. */
    size_t begin, end, room;
    double *first, *second; /* vectors or queries; keys */
    double *streams;        /* positions of them, one stream after the other */
    uint64_t *positions;    /* of each id, of the first stream */
    char source[192];
};

/* Prepares stage `run->stage` of `model`, whose matrix is in `run->embed` already. */
TENON_MUST_USE enum tenon_status tenon_stage_begin(struct tenon_stage_run *run,
                                                   const struct tenon_model *model,
                                                   const struct tenon_input_options *options,
                                                   struct tenon_error *err);

/* Takes the tokens and adds the stage's kinds of vectors to `vectors`, which must not outlive the
 * run. Fails with MISMATCH for lists of other lengths, or NO_MEMORY. */
TENON_MUST_USE enum tenon_status tenon_stage_fill(struct tenon_stage_run *run,
                                                  const struct tenon_stage_tokens *tokens,
                                                  struct tenon_vectors *vectors,
                                                  struct tenon_error *err);

void tenon_stage_release(struct tenon_stage_run *run);

#endif
