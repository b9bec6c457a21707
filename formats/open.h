/* Opening files into a model that is being built, for readers of sets and folders. */
#ifndef TENON_FORMATS_OPEN_H
#define TENON_FORMATS_OPEN_H

#include "format.h"

/* Opens `path`, a file of any format, any member of a set, or a folder, into `model`, with all
 * that belongs to it. `err` gets the path of the file that is to blame. */
enum tenon_status tenon_open_path(struct tenon_model *model, const char *path,
                                  struct tenon_error *err);

/* Adds the file `path` as one more member of a set in `format`, after a look at its first bytes (a
 * member may be a look-alike, too). `*out_file` is its index; reading it is left to the caller. */
enum tenon_status tenon_open_member(struct tenon_model *model, const char *path,
                                    const struct tenon_format *format, uint32_t *out_file,
                                    struct tenon_error *err);

/* Adds a source that is open already, and whose format is known. The model owns it from then on,
 * also on failure. */
enum tenon_status tenon_add_source(struct tenon_model *model, struct tenon_source *source,
                                   const struct tenon_format *format, uint32_t *out_file,
                                   struct tenon_error *err);

#endif
