/* How the library fills an error object. */
#ifndef TENON_FAIL_H
#define TENON_FAIL_H

#include "tenon/error.h"

/* Records `status` with a message (and TENON_NO_OFFSET where no byte is concerned) unless `err`
 * already holds a failure: the first cause wins. Returns `status`. `err` may be NULL. */
TENON_PRINTF(4, 5)
enum tenon_status tenon_fail(struct tenon_error *err, enum tenon_status status, uint64_t offset,
                             const char *format, ...);

/* Adds what upper layers know, only where it is still empty. `kind` is static ("tensor", "key",
 * "file"); `subject` need not be clean UTF-8 nor terminated. */
void tenon_fail_subject(struct tenon_error *err, const char *kind, const char *subject, size_t len);
void tenon_fail_path(struct tenon_error *err, const char *path);
TENON_PRINTF(2, 3) void tenon_fail_hint(struct tenon_error *err, const char *format, ...);

/* For a failed system call: status IO with `sys_errno` and its text. */
TENON_PRINTF(4, 5)
enum tenon_status tenon_fail_errno(struct tenon_error *err, int sys_errno, uint64_t offset,
                                   const char *format, ...);

/* Out of memory: a fixed message, no allocation. */
enum tenon_status tenon_fail_memory(struct tenon_error *err);

/* Forgets a failure that was dealt with. */
void tenon_error_clear(struct tenon_error *err);

#endif
