/* Reading safetensors files as parts of a set. */
#ifndef TENON_SAFETENSORS_H
#define TENON_SAFETENSORS_H

#include "format.h"

extern const struct tenon_format tenon_format_safetensors;

/* Decides whether a tensor of a file belongs to the model. May point `*name` to the same bytes in
 * the model's arena, which are not copied then. */
typedef bool (*tenon_safetensors_keep_fn)(void *user, struct tenon_str *name);

/* As the format's read(), but a tensor that `keep` (NULL: all belong) says no to is only checked
 * for its place in the file and not added. */
enum tenon_status tenon_safetensors_read(struct tenon_model *model, uint32_t file,
                                         tenon_safetensors_keep_fn keep, void *user,
                                         struct tenon_error *err);

#endif
