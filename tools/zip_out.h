/* A zip archive of entries that are stored as they are, the form of NumPy's .npz files. */
#ifndef TENON_TOOLS_ZIP_OUT_H
#define TENON_TOOLS_ZIP_OUT_H

#include "out.h"

enum { TENON_ZIP_ENTRIES = 8, TENON_ZIP_NAME = 64 };

/* Zero-initialise, but for `out`: a regular file that is written from its beginning. */
struct tenon_zip {
    struct tenon_out *out;
    struct tenon_zip_entry {
        char name[TENON_ZIP_NAME];
        uint32_t crc;
        uint64_t offset, bytes; /* of its header in the archive; of its contents */
    } entry[TENON_ZIP_ENTRIES];
    size_t n;
};

/* What is written to `out` between the two is one entry. At most TENON_ZIP_ENTRIES, and less than
 * 4 GiB in all, which callers see to. Failures are `out`'s. */
void tenon_zip_begin(struct tenon_zip *zip, const char *name);
void tenon_zip_end(struct tenon_zip *zip);

/* Writes the directory: the archive is complete. */
void tenon_zip_finish(struct tenon_zip *zip);

#endif
