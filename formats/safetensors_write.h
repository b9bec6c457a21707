/* Laying out safetensors files. */
#ifndef TENON_SAFETENSORS_WRITE_H
#define TENON_SAFETENSORS_WRITE_H

#include "format.h"
#include "json_out.h"

/* The longest header that the reference reader takes. */
#define TENON_SAFETENSORS_MOST_HEADER 100000000

/* The layout of the format (format.h): a new file exactly as the reference writes it, an edited
 * copy (`like` of the file) by tenon_safetensors_layout_like. */
enum tenon_status tenon_safetensors_layout(struct tenon_plan *plan, uint32_t file,
                                           struct tenon_error *err);

/* An edited copy of a file (safetensors_like.c says what stays as it is). */
enum tenon_status tenon_safetensors_layout_like(struct tenon_plan *plan, uint32_t file,
                                                struct tenon_error *err);

/* --- what both need --- */

/* CANNOT_REPRESENT for what a header cannot hold: a tensor's name or type, a pair's text. */
enum tenon_status tenon_safetensors_check_tensor(const struct tenon_plan_tensor *t,
                                                 struct tenon_error *err);
enum tenon_status tenon_safetensors_check_meta(const struct tenon_meta_entry *meta,
                                               struct tenon_error *err);

/* CANNOT_REPRESENT with `what` as its message, about the `kind` ("tensor", "key") `subject`. */
enum tenon_status tenon_safetensors_refuse(const char *kind, struct tenon_str subject,
                                           const char *what, struct tenon_error *err);

/* Where a type's tensors come: the smaller the earlier; types that are not known come last. */
uint32_t tenon_safetensors_rank(enum tenon_dtype dtype);

/* Sorts tensors [first, first + n) of a plan into the order of the reference. */
enum tenon_status tenon_safetensors_sort(struct tenon_plan *plan, size_t first, size_t n,
                                         struct tenon_error *err);

/* The entry of one tensor, from its key to its closing brace. */
void tenon_safetensors_put_tensor(struct tenon_json_out *out, const struct tenon_plan_tensor *t,
                                  uint64_t begin, uint64_t end);

#endif
