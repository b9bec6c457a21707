/* Statistics over the decoded values of tensors. */
#ifndef TENON_STATS_H
#define TENON_STATS_H

#include "tenon/hash.h"
#include "tenon/model.h"

TENON_BEGIN_DECLS

/* Over finite values only (codes times the scales beside them), but for the counts. NaN where there
 * is no finite value. The result does not depend on the number of threads. */
struct tenon_stats {
    double min, max, mean;
    double std; /* of the whole population, not of a sample */
    uint64_t nan, inf, zero;
    uint64_t count; /* all values */
    bool valid;     /* false: no decoder, or scales that do not fit */
};

/* Fills `out[i]` for each tensor of `indices` (NULL: all). Options as for hashing. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_stats_tensors(const struct tenon_model *model, const uint32_t *indices, size_t n,
                    const struct tenon_hash_options *options, struct tenon_stats *out,
                    struct tenon_error *err);

TENON_END_DECLS

#endif
