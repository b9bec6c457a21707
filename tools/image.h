/* Pictures in PNG and JPEG files, through libpng and libjpeg where the build found them. */
#ifndef TENON_TOOLS_IMAGE_H
#define TENON_TOOLS_IMAGE_H

#include "tenon/pixels.h"

/* Reads a picture, whatever its name, by its content; `out` is to be released. Grey becomes three
 * equal channels, a palette its colours, transparency is dropped, 16 bits become 8. Fails with
 * NOT_RECOGNISED, CORRUPT, LIMIT, IO, NO_MEMORY, or UNSUPPORTED_FEATURE where the build lacks the
 * library. */
TENON_MUST_USE enum tenon_status tenon_image_read(const char *path, struct tenon_picture *out,
                                                  struct tenon_error *err);

void tenon_image_release(struct tenon_picture *image);

#endif
