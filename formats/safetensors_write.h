/* Laying out safetensors files. */
#ifndef TENON_SAFETENSORS_WRITE_H
#define TENON_SAFETENSORS_WRITE_H

#include "format.h"

/* The longest header that the reference reader takes. */
#define TENON_SAFETENSORS_MOST_HEADER 100000000

/* The layout of the format (format.h): a new file exactly as the reference writes it, an edited
 * copy (`like` of the file) by tenon_safetensors_layout_like. */
enum tenon_status tenon_safetensors_layout(struct tenon_plan *plan, uint32_t file,
                                           struct tenon_error *err);

#endif
