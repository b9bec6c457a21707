/* The error object, and the tables of statuses and severities. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tenon/finding.h"
#include "text.h"

struct status_row {
    const char *id;
    const char *text;
    int exit_status;
};

static const struct status_row status_rows[] = {
#define X(NAME, id, number, exit_status, text) [number] = {#id, text, exit_status},
#include "tenon/errors.def"
#undef X
};

static const struct status_row *find_status(enum tenon_status status)
{
    size_t i = (size_t)status;

    if (i >= sizeof(status_rows) / sizeof(status_rows[0]) || status_rows[i].id == NULL)
        return NULL;
    return &status_rows[i];
}

const char *tenon_version(void)
{
    return TENON_VERSION;
}

const char *tenon_status_id(enum tenon_status status)
{
    const struct status_row *row = find_status(status);

    return row != NULL ? row->id : "unknown";
}

const char *tenon_status_text(enum tenon_status status)
{
    const struct status_row *row = find_status(status);

    return row != NULL ? row->text : "unknown status";
}

int tenon_status_exit(enum tenon_status status)
{
    const struct status_row *row = find_status(status);

    return row != NULL ? row->exit_status : 4;
}

const char *tenon_severity_name(enum tenon_severity severity)
{
    static const char *const names[] = {"info", "warning", "error"};

    return (size_t)severity < sizeof(names) / sizeof(names[0]) ? names[severity] : "unknown";
}

/* Formats into a field of the error object, made harmless. */
TENON_PRINTF(3, 0)
static void format_field(char *field, size_t size, const char *format, va_list args)
{
    char raw[TENON_ERROR_TEXT_BYTES];
    int n = vsnprintf(raw, sizeof(raw), format, args);

    if (n < 0)
        n = 0;
    if ((size_t)n >= sizeof(raw))
        n = (int)sizeof(raw) - 1;
    tenon_text_sanitise(field, size, raw, (size_t)n);
}

enum tenon_status tenon_fail(struct tenon_error *err, enum tenon_status status, uint64_t offset,
                             const char *format, ...)
{
    va_list args;

    if (err == NULL || err->status != TENON_OK)
        return status;
    err->status = status;
    err->offset = offset;
    va_start(args, format);
    format_field(err->message, sizeof(err->message), format, args);
    va_end(args);
    return status;
}

enum tenon_status tenon_fail_errno(struct tenon_error *err, int sys_errno, uint64_t offset,
                                   const char *format, ...)
{
    char what[TENON_ERROR_TEXT_BYTES / 2];
    char why[TENON_ERROR_TEXT_BYTES / 4] = "";
    va_list args;

    if (err == NULL || err->status != TENON_OK)
        return TENON_ERR_IO;
    va_start(args, format);
    format_field(what, sizeof(what), format, args);
    va_end(args);
    if (strerror_r(sys_errno, why, sizeof(why)) != 0)
        snprintf(why, sizeof(why), "error %d", sys_errno);
    err->sys_errno = sys_errno;
    return tenon_fail(err, TENON_ERR_IO, offset, "%s: %s", what, why);
}

enum tenon_status tenon_fail_memory(struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_NO_MEMORY, TENON_NO_OFFSET, "out of memory");
}

void tenon_fail_subject(struct tenon_error *err, const char *kind, const char *subject, size_t len)
{
    if (err == NULL || err->status == TENON_OK || err->subject[0] != '\0')
        return;
    err->kind = kind;
    tenon_text_sanitise(err->subject, sizeof(err->subject), subject, len);
}

void tenon_fail_path(struct tenon_error *err, const char *path)
{
    if (err != NULL && err->status != TENON_OK && err->path[0] == '\0')
        tenon_text_sanitise(err->path, sizeof(err->path), path, strlen(path));
}

void tenon_fail_hint(struct tenon_error *err, const char *format, ...)
{
    va_list args;

    if (err == NULL || err->status == TENON_OK || err->hint[0] != '\0')
        return;
    va_start(args, format);
    format_field(err->hint, sizeof(err->hint), format, args);
    va_end(args);
}

void tenon_error_clear(struct tenon_error *err)
{
    if (err != NULL)
        memset(err, 0, sizeof(*err));
}
