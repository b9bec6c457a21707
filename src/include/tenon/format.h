/* The list of file formats. */
#ifndef TENON_FORMAT_H
#define TENON_FORMAT_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

enum tenon_format_flags {
    TENON_FORMAT_READ = 1u << 0,  /* tensors and metadata can be read */
    TENON_FORMAT_WRITE = 1u << 1, /* can be written */
    TENON_FORMAT_NAMED = 1u << 2  /* recognised and named, not read */
};

struct tenon_format_info {
    const char *name;       /* "gguf" */
    const char *summary;    /* one line */
    const char *extensions; /* ".gguf", several separated by blanks */
    unsigned flags;         /* enum tenon_format_flags */
};

/* Rows in list order, i = 0, 1, 2 ...; NULL after the last. */
TENON_API const struct tenon_format_info *tenon_format_at(size_t i);

TENON_END_DECLS

#endif
