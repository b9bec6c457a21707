/* Where each row of a projection comes from. */
#include "tenon/permute.h"

#include "fail.h"

/* The old place, among the R rotated rows of a head, of what is new at `j`. */
static uint32_t source_of(enum tenon_permute how, uint32_t rotary_dim, uint32_t j)
{
    uint32_t half = rotary_dim / 2, pair = j / 2, quarter = half / 2;

    switch (how) {
    case TENON_PERMUTE_TO_INTERLEAVED: /* rows (2, R/2) to (R/2, 2) */
        return j % 2 * half + pair;
    case TENON_PERMUTE_TO_HALF:
        return 2 * (j % half) + j / half;
    case TENON_PERMUTE_AXES_APART: /* pairs (R/4, 2) to (2, R/4) */
        return 2 * (2 * (pair % quarter) + pair / quarter) + j % 2;
    case TENON_PERMUTE_AXES_MIXED:
        return 2 * (pair % 2 * quarter + pair / 2) + j % 2;
    }
    return j;
}

enum tenon_status tenon_permute_map(enum tenon_permute how, uint32_t n_heads, uint32_t head_dim,
                                    uint32_t rotary_dim, uint64_t *out_map, struct tenon_error *err)
{
    bool axes = how == TENON_PERMUTE_AXES_APART || how == TENON_PERMUTE_AXES_MIXED;
    uint32_t multiple = axes ? 4 : 2;

    if (rotary_dim == 0 || rotary_dim % multiple != 0 || rotary_dim > head_dim)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u of a head's %u rows are to change places, a multiple of %u is needed",
                          rotary_dim, head_dim, multiple);
    for (uint32_t head = 0; head < n_heads; head++)
        for (uint32_t j = 0; j < head_dim; j++) {
            uint64_t first = (uint64_t)head * head_dim;

            out_map[first + j] = first + (j < rotary_dim ? source_of(how, rotary_dim, j) : j);
        }
    return TENON_OK;
}

static enum tenon_status check_fused(const struct tenon_fused *fused, struct tenon_error *err)
{
    if (fused->n_kv_heads == 0 || fused->n_heads % fused->n_kv_heads != 0)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u heads cannot be shared by %u heads of keys", fused->n_heads,
                          fused->n_kv_heads);
    if (fused->layout == TENON_FUSED_PER_HEAD && fused->n_heads != fused->n_kv_heads)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u heads of queries but %u of keys, one matrix head by head needs as "
                          "many",
                          fused->n_heads, fused->n_kv_heads);
    return TENON_OK;
}

/* The block of D rows in which head `head` of a part stands. */
static uint64_t block_of(const struct tenon_fused *fused, enum tenon_fused_part part, uint64_t head)
{
    uint64_t q = fused->n_heads, kv = fused->n_kv_heads, group = q / kv;

    if (fused->layout == TENON_FUSED_CONCATENATED)
        return head + (part == TENON_PART_Q ? 0 : part == TENON_PART_K ? q : q + kv);
    if (part == TENON_PART_Q) /* per head is one query in a group */
        return head / group * (group + 2) + head % group;
    return head * (group + 2) + group + (part == TENON_PART_V);
}

enum tenon_status tenon_fused_rows(const struct tenon_fused *fused, enum tenon_fused_part part,
                                   uint64_t *out_rows, struct tenon_error *err)
{
    uint32_t heads = part == TENON_PART_Q ? fused->n_heads : fused->n_kv_heads;
    enum tenon_status st = check_fused(fused, err);

    if (st != TENON_OK)
        return st;
    for (uint64_t head = 0; head < heads; head++)
        for (uint64_t j = 0; j < fused->head_dim; j++)
            out_rows[head * fused->head_dim + j] =
                block_of(fused, part, head) * fused->head_dim + j;
    return TENON_OK;
}
