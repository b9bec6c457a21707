/* Pictures among the tokens of `embed`. */
#ifndef TENON_TOOLS_EMBED_PICTURE_H
#define TENON_TOOLS_EMBED_PICTURE_H

#include "embed_out.h"
#include "ids.h"
#include "tenon/tower.h"

/* What a picture becomes in front of the tower's first block. Zero-initialise; release always. */
struct tenon_picture_rows {
    double *rows;
    uint64_t n;
    size_t width;
    uint64_t token; /* the id that stands for it among text */
    size_t *of;     /* for each id the row that takes its place; SIZE_MAX: the id's own */
};

/* Where a picture comes from: exactly one of the files. */
struct tenon_picture_source {
    const char *pixels; /* .npy of [3, height, width] or [1, 3, height, width], normalised */
    const char *image;  /* PNG or JPEG, prepared as the model's settings say */
    enum tenon_precision precision;
};

TENON_MUST_USE enum tenon_status tenon_picture_rows_make(struct tenon_picture_rows *rows,
                                                         const struct tenon_model *model,
                                                         const struct tenon_picture_source *source,
                                                         struct tenon_error *err);

/* For a picture alone: `ids` becomes the numbers of its tokens, and _get their rows. */
TENON_MUST_USE enum tenon_status tenon_picture_rows_alone(struct tenon_picture_rows *rows,
                                                          struct tenon_ids *ids,
                                                          struct tenon_error *err);
enum tenon_status tenon_picture_rows_get(void *user, uint64_t first, size_t n, float *out,
                                         struct tenon_error *err);

/* Finds the id that stands for pictures: `given` (0: that of the config). NOT_FOUND. */
TENON_MUST_USE enum tenon_status tenon_picture_rows_token(struct tenon_picture_rows *rows,
                                                          const struct tenon_model *model,
                                                          uint64_t given, struct tenon_error *err);

/* Makes place among the ids: one such id becomes as many as the picture has tokens; as many in a
 * run stay. Fails with MISMATCH for a run of another length, NOT_FOUND where there is no such id.
 */
TENON_MUST_USE enum tenon_status tenon_picture_rows_place(struct tenon_picture_rows *rows,
                                                          struct tenon_ids *ids,
                                                          struct tenon_error *err);

/* Puts the picture's rows in the place of rows `first` on, of `cols` values each. */
void tenon_picture_rows_put(const struct tenon_picture_rows *rows, uint64_t first, size_t n,
                            float *out);

void tenon_picture_rows_release(struct tenon_picture_rows *rows);

#endif
