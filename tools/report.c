#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "out_json.h"
#include "tenon/text.h"

TENON_PRINTF(3, 0)
static void format_field(char *field, size_t size, const char *format, va_list args)
{
    char raw[TENON_ERROR_TEXT_BYTES];

    if (vsnprintf(raw, sizeof(raw), format, args) < 0)
        raw[0] = '\0';
    tenon_text_sanitise(field, size, raw, strlen(raw));
}

enum tenon_status tenon_report_fail(struct tenon_error *err, enum tenon_status status,
                                    const char *format, ...)
{
    va_list args;

    if (err == NULL || err->status != TENON_OK)
        return status;
    err->status = status;
    err->offset = TENON_NO_OFFSET;
    va_start(args, format);
    format_field(err->message, sizeof(err->message), format, args);
    va_end(args);
    return status;
}

void tenon_report_hint(struct tenon_error *err, const char *format, ...)
{
    va_list args;

    if (err == NULL || err->hint[0] != '\0')
        return;
    va_start(args, format);
    format_field(err->hint, sizeof(err->hint), format, args);
    va_end(args);
}

void tenon_report_path(struct tenon_error *err, const char *path)
{
    if (err != NULL && err->path[0] == '\0')
        tenon_text_sanitise(err->path, sizeof(err->path), path, strlen(path));
}

enum tenon_status tenon_report_errno(struct tenon_error *err, const char *path, int sys_errno,
                                     const char *format, ...)
{
    char what[TENON_ERROR_TEXT_BYTES / 2];
    char why[TENON_ERROR_TEXT_BYTES / 4];
    va_list args;

    if (err == NULL || err->status != TENON_OK)
        return TENON_ERR_IO;
    va_start(args, format);
    format_field(what, sizeof(what), format, args);
    va_end(args);
    if (strerror_r(sys_errno, why, sizeof(why)) != 0)
        snprintf(why, sizeof(why), "error %d", sys_errno);
    tenon_report_fail(err, TENON_ERR_IO, "%s: %s", what, why);
    err->sys_errno = sys_errno;
    tenon_report_path(err, path);
    return TENON_ERR_IO;
}

enum tenon_status tenon_report_open(struct tenon_error *err, const char *path, int sys_errno)
{
    if (sys_errno != ENOENT)
        return tenon_report_errno(err, path, sys_errno, "cannot open");
    tenon_report_fail(err, TENON_ERR_NOT_FOUND, "no such file or directory");
    tenon_report_path(err, path);
    return TENON_ERR_NOT_FOUND;
}

static void write_text(struct tenon_out *out, const struct tenon_error *err,
                       const struct tenon_term *term)
{
    tenon_out_printf(out, "%stenon:%s ", tenon_term_style(term, TENON_STYLE_BAD),
                     tenon_term_style(term, TENON_STYLE_PLAIN));
    if (err->path[0] != '\0')
        tenon_out_printf(out, "%s: ", err->path);
    if (err->offset != TENON_NO_OFFSET)
        tenon_out_printf(out, "offset 0x%llx (%llu): ", (unsigned long long)err->offset,
                         (unsigned long long)err->offset);
    if (err->subject[0] != '\0')
        tenon_out_printf(out, "%s%s'%s': ", err->kind != NULL ? err->kind : "",
                         err->kind != NULL ? " " : "", err->subject);
    tenon_out_printf(out, "%s\n",
                     err->message[0] != '\0' ? err->message : tenon_status_text(err->status));
    if (err->hint[0] != '\0')
        tenon_out_printf(out, "hint: %s\n", err->hint);
}

/* Empty texts are null. */
static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

void tenon_report_json(struct tenon_json *json, const char *key, const struct tenon_error *err)
{
    tenon_json_object(json, key);
    tenon_json_text(json, "code", tenon_status_id(err->status));
    tenon_json_text(json, "message",
                    err->message[0] != '\0' ? err->message : tenon_status_text(err->status));
    tenon_json_text(json, "path", text_or_null(err->path));
    tenon_json_offset(json, "offset", err->offset);
    tenon_json_text(json, "subject", text_or_null(err->subject));
    tenon_json_text(json, "hint", text_or_null(err->hint));
    tenon_json_end(json);
}

void tenon_report_write(struct tenon_out *out, const struct tenon_error *err, bool json,
                        const struct tenon_term *term)
{
    struct tenon_json writer = {.out = out, .flat = true};

    if (!json) {
        write_text(out, err, term);
        return;
    }
    tenon_json_object(&writer, NULL);
    tenon_report_json(&writer, "error", err);
    tenon_json_end(&writer);
}
