/* What went wrong, where, and what to do: a fixed-size object on the caller's stack. */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

/* TENON_ERR_NO_MEMORY ... by the rows of errors.def; TENON_OK is success. */
enum tenon_status {
    TENON_OK = 0,
#define X(NAME, id, number, exit_status, text) TENON_ERR_##NAME = number,
#include "tenon/errors.def"
#undef X
};

#define TENON_ERROR_PATH_BYTES    1024
#define TENON_ERROR_SUBJECT_BYTES 256
#define TENON_ERROR_TEXT_BYTES    512

/* Filled by the first cause; upper layers add at most the path and the subject. All texts are
 * terminated, valid UTF-8 without control characters, and empty when there is nothing to say.
 * Zero-initialise before use (`struct tenon_error err = {0};`). */
struct tenon_error {
    enum tenon_status status;
    int sys_errno;                           /* errno of a failed system call, or 0 */
    uint64_t offset;                         /* absolute in `path`, or TENON_NO_OFFSET */
    char path[TENON_ERROR_PATH_BYTES];       /* which input */
    const char *kind;                        /* of the subject: "tensor", "key", "file"; or NULL */
    char subject[TENON_ERROR_SUBJECT_BYTES]; /* what is concerned */
    char message[TENON_ERROR_TEXT_BYTES];    /* what was found, what is allowed */
    char hint[TENON_ERROR_TEXT_BYTES];       /* what to do */
};

/* "truncated", "corrupt" ... : the stable id of a status; "unknown" for a value outside. */
TENON_API const char *tenon_status_id(enum tenon_status status);

/* One line that explains a status in general. */
TENON_API const char *tenon_status_text(enum tenon_status status);

/* The exit status that the program gives for it: 0, 2, 3 or 4. */
TENON_API int tenon_status_exit(enum tenon_status status);

TENON_END_DECLS

#endif
