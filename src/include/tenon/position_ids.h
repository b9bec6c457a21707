/* Which row of a table of positions, or which position, each token has. */
#ifndef TENON_POSITION_IDS_H
#define TENON_POSITION_IDS_H

#include "tenon/api.h"
#include "tenon/error.h"

TENON_BEGIN_DECLS

/* BERT, GPT-2, ViT: offset + past, offset + past + 1 ... (`offset` rows of the table come first:
 * 2 in BART). */
TENON_API void tenon_position_ids_count(int64_t offset, int64_t past, size_t n, int64_t *out);

/* RoBERTa, M2M100: tokens other than `pad` count on from pad + 1, `past` of them before; padding
 * has `pad`. */
TENON_API void tenon_position_ids_skip(const uint32_t *ids, size_t n, uint32_t pad, int64_t past,
                                       int64_t *out);

/* OPT: tokens that are attended count from 0, the others have -1; `offset` (2) is added. */
TENON_API void tenon_position_ids_mask(const bool *mask, size_t n, int64_t offset, int64_t *out);

/* BLOOM's ALiBi: tokens that are attended count from 0, the others have 0. */
TENON_API void tenon_position_ids_mask_keys(const bool *mask, size_t n, int64_t *out);

/* A piece of a prompt for models with positions in time, height and width. */
struct tenon_span {
    uint64_t frames;        /* 0: text */
    uint64_t height, width; /* of an image or video: the merged grid; of text: 1, its tokens */
    double frame_step;      /* positions between frames: 1, or by time */
};

/* How many tokens a span has. SIZE_MAX when that overflows. */
TENON_API size_t tenon_span_tokens(const struct tenon_span *span);

/* Triples t, h, w for the tokens of one span whose first position is `start`; gives the position
 * after it: text counts all three together, a picture keeps t (one per frame) and adds its rows and
 * columns, and what follows stands behind the largest of them. */
TENON_API int64_t tenon_position_ids_span(const struct tenon_span *span, int64_t start,
                                          int64_t (*out)[3]);

TENON_END_DECLS

#endif
