/* Metadata values as text for people. */
#ifndef TENON_TOOLS_META_OUT_H
#define TENON_TOOLS_META_OUT_H

#include "out.h"
#include "tenon/meta.h"

/* How much of a value is shown: elements of an array, bytes of a text. */
struct tenon_meta_shown {
    uint64_t elements;
    size_t bytes;
};

/* A scalar; a text as it is, or if `safe` with nothing that could disturb a terminal. */
void tenon_meta_out_scalar(struct tenon_out *out, const struct tenon_meta_value *v, bool safe);

/* A value, safe and not longer than `shown`, then with its length. */
void tenon_meta_out_value(struct tenon_out *out, const struct tenon_meta_entry *entry,
                          const struct tenon_meta_shown *shown);

/* "OLD -> NEW" of two values that differ; of arrays of one length the first element that does, of
 * long texts what follows their common beginning. */
void tenon_meta_out_change(struct tenon_out *out, const struct tenon_meta_entry *a,
                           const struct tenon_meta_entry *b, const struct tenon_meta_shown *shown);

#endif
