/* Errors of the program: filling the library's error object, and showing it. */
#ifndef TENON_TOOLS_REPORT_H
#define TENON_TOOLS_REPORT_H

#include "out.h"
#include "tenon/error.h"
#include "term.h"

/* Fills `err` unless it holds a failure already: the first cause wins. Everything unsafe in the
 * message is escaped. Returns `status`. `err` may be NULL. */
TENON_PRINTF(3, 4)
enum tenon_status tenon_report_fail(struct tenon_error *err, enum tenon_status status,
                                    const char *format, ...);

/* Adds what to do, unless a hint stands there; and the file concerned, likewise. */
TENON_PRINTF(2, 3) void tenon_report_hint(struct tenon_error *err, const char *format, ...);
void tenon_report_path(struct tenon_error *err, const char *path);

/* For a failed system call on `path`: status IO, with the text of `sys_errno`. */
TENON_PRINTF(4, 5)
enum tenon_status tenon_report_errno(struct tenon_error *err, const char *path, int sys_errno,
                                     const char *format, ...);

/* For an input that could not be opened: NOT_FOUND where it is not there, else IO. */
enum tenon_status tenon_report_open(struct tenon_error *err, const char *path, int sys_errno);

/* Writes an error to `out`, in two lines at most:
 *     tenon: FILE: offset 0x1c8 (456): 'blk.0.ffn_up.weight': MESSAGE
 *     hint: HINT
 * or, for `json`, as one object {"error": {...}} on one line. */
void tenon_report_write(struct tenon_out *out, const struct tenon_error *err, bool json,
                        const struct tenon_term *term);

struct tenon_json;

/* The members of an error as an object named `key` (NULL: none) in a JSON document. */
void tenon_report_json(struct tenon_json *json, const char *key, const struct tenon_error *err);

#endif
