/* From prepared pixels to what enters a vision tower's first block: patches, class token,
 * registers, positions, norm. Known are the towers of ViT, DeiT, DINOv2, CLIP and SigLIP, also as
 * GGUF files of llama.cpp ("mmproj") hold them. */
#ifndef TENON_TOWER_H
#define TENON_TOWER_H

#include "tenon/model.h"
#include "tenon/rope.h"

TENON_BEGIN_DECLS

struct tenon_tower;

struct tenon_tower_shape {
    uint32_t channels;                  /* of pictures */
    uint32_t patch_height, patch_width; /* in pixels */
    uint32_t width;                     /* values of a token */
    uint32_t n_prefix;                  /* tokens before the patches: class token, registers */
    uint32_t side;                      /* patches along the square that positions are stored for */
};

/* Prepares: finds the tensors, checks that their shapes fit, reads them (a patch filter and a table
 * of positions; 2^26 numbers of each at most). The model must outlive `*out`, which
 * tenon_tower_free frees. Fails with NOT_FOUND for a model without such a tower,
 * UNSUPPORTED_FEATURE for one of another kind, MISMATCH naming a tensor whose shape does not fit,
 * or as reading does. */
TENON_API TENON_MUST_USE enum tenon_status tenon_tower_new(const struct tenon_model *model,
                                                           enum tenon_precision precision,
                                                           struct tenon_tower **out,
                                                           struct tenon_error *err);
TENON_API void tenon_tower_free(struct tenon_tower *tower);

TENON_API struct tenon_tower_shape tenon_tower_shape(const struct tenon_tower *tower);

/* A picture, channel first, normalised already. Borrowed. */
struct tenon_tower_picture {
    const float *values; /* channels x height x width */
    uint32_t height, width;
};

/* How many tokens it becomes: the prefix, then patches row by row. Fails with MISMATCH where
 * patches do not fill the picture. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_tower_tokens(const struct tenon_tower *tower, const struct tenon_tower_picture *picture,
                   uint64_t *out_n, struct tenon_error *err);

/* Fills that many rows of `width` values; float32 numbers unless the precision is exact. Where the
 * grid of patches is not the one that positions are stored for they are interpolated, bicubic with
 * half-pixel centres, as transformers does. Sums are made in float64 and rounded once. NO_MEMORY.
 */
TENON_API TENON_MUST_USE enum tenon_status
tenon_tower_rows(const struct tenon_tower *tower, const struct tenon_tower_picture *picture,
                 double *out, struct tenon_error *err);

TENON_END_DECLS

#endif
