/* Writing a rotation as text, JSON and tables. */
#ifndef TENON_TOOLS_ROPE_OUT_H
#define TENON_TOOLS_ROPE_OUT_H

#include "out.h"
#include "tenon/position.h"
#include "term.h"

/* What is shown. */
struct tenon_rope_view {
    const char *path; /* of the model; NULL: there is none */
    uint64_t layer;
    const struct tenon_rope_use *use;
    struct tenon_rope_table table;
    double context; /* positions within which turns are counted; NaN: unknown */
};

/* Every part of the variant in one line: "yarn, half, theta 1e+06, 128 of 128 channels ...". */
void tenon_rope_describe(const struct tenon_rope_view *view, char *buf, size_t size);

void tenon_rope_text(const struct tenon_rope_view *view, struct tenon_out *out,
                     const struct tenon_term *term);
void tenon_rope_json(const struct tenon_rope_view *view, struct tenon_out *out);

/* A file of cos and sin for positions 0 to length - 1. */
struct tenon_rope_file {
    const struct tenon_rope_table *table;
    uint64_t length;
    enum tenon_dtype dtype;
    const char *path; /* its extension decides the form */
};

/* Whether such a file can be; MISUSE, CANNOT_REPRESENT or LIMIT. */
TENON_MUST_USE enum tenon_status tenon_rope_file_check(const struct tenon_rope_file *file,
                                                       struct tenon_error *err);
TENON_MUST_USE enum tenon_status tenon_rope_file_write(const struct tenon_rope_file *file,
                                                       struct tenon_out *out,
                                                       struct tenon_error *err);

#endif
