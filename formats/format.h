/* What a file format provides. One const struct per format, in its own file, named
 * tenon_format_<name>, listed in formats.def. A format only describes: it reads no payload, never
 * prints, never exits, and keeps no state. */
#ifndef TENON_FORMATS_FORMAT_H
#define TENON_FORMATS_FORMAT_H

#include "model_build.h"
#include "plan_build.h"
#include "tenon/format.h"

/* How many leading bytes a probe sees at most. */
#define TENON_PROBE_BYTES 4096

/* What a probe may look at. */
struct tenon_probe {
    const unsigned char *bytes; /* the first bytes of the file */
    size_t n;                   /* at most TENON_PROBE_BYTES, fewer only for a shorter file */
    uint64_t size;              /* of the file */
    const char *name;           /* its last path component; "" when unknown */
};

/* Confidence that a probe returns. The highest wins; two equal ones are an error that names both.
 */
enum tenon_confidence {
    TENON_PROBE_NO = 0,
    TENON_PROBE_NAME = 10,  /* only the file's name fits */
    TENON_PROBE_SHAPE = 50, /* plausible numbers without a magic */
    TENON_PROBE_MAGIC = 90  /* a magic number of the format */
};

struct tenon_format {
    struct tenon_format_info info;

    /* Pure: no I/O, no allocation; works on a prefix of 0 bytes. */
    int (*probe)(const struct tenon_probe *probe);

    /* Adds what file `file` of `model` (already added, at its end all of header_bytes, alignment,
     * version, big_endian set) says to the model. `err` gets offset and subject; the caller adds
     * the path. NULL for formats that are only named. */
    enum tenon_status (*read)(struct tenon_model *model, uint32_t file, struct tenon_error *err);

    /* Opens `source`, which the model owns from then on, and whatever belongs to it: the other
     * members of a set, a config beside it. NULL: the file stands alone. */
    enum tenon_status (*open)(struct tenon_model *model, struct tenon_source *source,
                              struct tenon_error *err);

    /* Called once the model is finished: records as findings what does not fit together. NULL
     * when there is nothing to compare. Fails only when memory is gone. */
    enum tenon_status (*check)(struct tenon_model *model, struct tenon_error *err);

    /* Lays out file `file` of a plan whose format this is: may put its tensors into the order that
     * the format wants, sets version and alignment where the plan leaves them open, every tensor's
     * offset, and the file's head, head_bytes and bytes. Fails with CANNOT_REPRESENT, subject set,
     * for what the format cannot hold. NULL for formats that are not written. */
    enum tenon_status (*layout)(struct tenon_plan *plan, uint32_t file, struct tenon_error *err);

    /* For formats that are only named: fills `err` with NOT_RECOGNISED or UNSUPPORTED_FEATURE, a
     * message that says what the file really is, and a hint. NULL for the others. */
    enum tenon_status (*explain)(const struct tenon_probe *probe, struct tenon_error *err);
};

/* The list, in probing order; n_formats entries. */
extern const struct tenon_format *const tenon_formats[];
extern const size_t tenon_n_formats;

/* The format with that name, or NULL. */
const struct tenon_format *tenon_format_find(const char *name);

/* The format of `probe` into `*out`; NOT_RECOGNISED (explained as well as can be) or AMBIGUOUS. */
enum tenon_status tenon_format_detect(const struct tenon_probe *probe,
                                      const struct tenon_format **out, struct tenon_error *err);

#endif
