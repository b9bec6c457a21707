/* Reading one of the small or large text files that lie beside weights. */
#ifndef TENON_FORMATS_HF_SIDE_H
#define TENON_FORMATS_HF_SIDE_H

#include "model_build.h"

/* What a file is read for: `text` is terminated, and freed afterwards. */
typedef enum tenon_status (*tenon_hf_apply_fn)(void *user, const char *text, size_t len,
                                               struct tenon_error *err);

struct tenon_hf_side {
    struct tenon_model *model;
    const char *prefix; /* of the folder, with a slash at its end, or "" */
    const char *name;
    uint64_t limit; /* bytes */
    tenon_hf_apply_fn apply;
    void *user;
};

enum tenon_hf_side_result { TENON_HF_SIDE_ABSENT, TENON_HF_SIDE_USED, TENON_HF_SIDE_REFUSED };

/* Reads the whole file and hands it to `apply`. A file that is not there is no fault; one that
 * cannot be read, is too large, or that `apply` refuses, becomes a finding. Fails only when
 * memory is gone. `out_result` may be NULL. */
enum tenon_status tenon_hf_read_side(const struct tenon_hf_side *side,
                                     enum tenon_hf_side_result *out_result,
                                     struct tenon_error *err);

#endif
