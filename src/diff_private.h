/* What the files of the comparison share: diff.c, diff_match.c, diff_values.c. */
#ifndef TENON_DIFF_PRIVATE_H
#define TENON_DIFF_PRIVATE_H

#include "model_private.h"
#include "tenon/diff.h"

/* Which tensors correspond. `first_a` and `first_b` are elements to skip: an expert's matrix in
 * one model may be a slice of a stacked one in the other. */
struct tenon_diff_match {
    uint32_t a, b;
    uint64_t first_a, first_b;
    bool slice_a, slice_b; /* that side is a slice along its first dimension */
};

struct tenon_matches {
    struct tenon_diff_match *items;
    size_t n, room;
    bool *used_a, *used_b; /* per tensor: it is part of a match */
};

/* Finds all matches, in the order of `a`, into zeroed `*out` (tenon_matches_release, always). */
enum tenon_status tenon_diff_find_matches(const struct tenon_model *a, const struct tenon_model *b,
                                          struct tenon_matches *out, struct tenon_error *err);
void tenon_matches_release(struct tenon_matches *matches);

/* Bytes of buffer that a comparison needs. */
#define TENON_DIFF_BUFFER_BYTES ((size_t)4 << 20)

/* What is compared, and how. */
struct tenon_diff_job {
    const struct tenon_model *a, *b;
    const struct tenon_matches *matches;
    double tolerance;
};

/* Compares the two tensors of match `i` into `*out`, using `buffer`. */
enum tenon_status tenon_diff_compare(const struct tenon_diff_job *job, size_t i,
                                     unsigned char *buffer, struct tenon_diff_pair *out,
                                     struct tenon_error *err);

#endif
