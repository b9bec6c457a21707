/* Recording observations about a model. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_build.h"
#include "model_private.h"
#include "text.h"

/* A file can earn millions; the list stays readable, and its memory bounded. */
#define MOST_FINDINGS 1000

struct finding_row {
    const char *code;
    enum tenon_severity severity;
    const char *source;
};

/* The severities as findings.def writes them. */
enum {
    SEVERITY_info = TENON_SEVERITY_INFO,
    SEVERITY_warning = TENON_SEVERITY_WARNING,
    SEVERITY_error = TENON_SEVERITY_ERROR
};

static const struct finding_row rows[] = {
#define X(code, severity, source, text) {#code, (enum tenon_severity)SEVERITY_##severity, #source},
#include "tenon/findings.def"
#undef X
};

static const struct finding_row *find_row(const char *code)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].code, code) == 0)
            return &rows[i];
    return NULL;
}

/* A sanitised copy in the model's arena. */
static const char *keep_text(struct tenon_model *model, const char *text, size_t len)
{
    char clean[TENON_ERROR_TEXT_BYTES];
    size_t n = tenon_text_sanitise(clean, sizeof(clean), text, len);

    return tenon_arena_text(&model->arena, clean, n);
}

/* Fills `*out` for a finding number MOST_FINDINGS, which only says that there are more. */
static void say_there_are_more(struct tenon_finding *out)
{
    *out = (struct tenon_finding){.severity = TENON_SEVERITY_WARNING,
                                  .code = "more_findings",
                                  .source = "model",
                                  .subject = "",
                                  .message = "there are more findings than are listed",
                                  .offset = TENON_NO_OFFSET,
                                  .file = TENON_NO_INDEX};
}

enum tenon_status tenon_model_find_fault(struct tenon_model *model, const char *code, uint32_t file,
                                         uint64_t offset, const char *subject, size_t subject_len,
                                         const char *format, ...)
{
    const struct finding_row *row = find_row(code);
    struct tenon_finding finding = {.code = code, .offset = offset, .file = file};
    char text[TENON_ERROR_TEXT_BYTES];
    va_list args;
    int n;

    if (row == NULL)
        return TENON_ERR_MISUSE;
    if (model->n_findings > MOST_FINDINGS)
        return TENON_OK;
    if (!tenon_grow((void **)&model->findings, &model->finding_room, model->n_findings,
                    sizeof(finding)))
        return TENON_ERR_NO_MEMORY;
    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    if ((size_t)n >= sizeof(text))
        n = (int)sizeof(text) - 1;
    finding.code = row->code;
    finding.severity = row->severity;
    finding.source = row->source;
    finding.subject =
        keep_text(model, subject != NULL ? subject : "", subject != NULL ? subject_len : 0);
    finding.message = keep_text(model, text, (size_t)n);
    if (finding.subject == NULL || finding.message == NULL)
        return TENON_ERR_NO_MEMORY;
    if (model->n_findings == MOST_FINDINGS)
        say_there_are_more(&finding);
    model->findings[model->n_findings++] = finding;
    return TENON_OK;
}
