/* tenon check: is it sound, and do its parts agree? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/arch.h"
#include "tenon/stats.h"
#include "tenon/text.h"
#include "tenon/tying.h"
#include "tool.h"

struct options {
    bool data;
};

static const struct tenon_opt options[] = {
    {.name = "data",
     .kind = TENON_OPT_FLAG,
     .field = offsetof(struct options, data),
     .help = "also decode every value: unreadable payloads, NaN and infinity"},
};

/* A finding that this command makes itself, with room for its texts. */
struct own_finding {
    struct tenon_finding finding;
    char subject[TENON_ERROR_SUBJECT_BYTES];
    char message[TENON_ERROR_TEXT_BYTES];
};

/* What came out for one model. */
struct outcome {
    const char *path;
    struct tenon_model *model;
    struct own_finding *own;
    size_t n_own;
    struct tenon_error err; /* why it cannot be used; status OK otherwise */
    size_t n_errors, n_warnings, n_infos;
};

static bool is_ok(const struct outcome *o)
{
    return o->err.status == TENON_OK && o->n_errors == 0 && o->n_warnings == 0;
}

/* The severities as findings.def writes them. */
enum {
    SEVERITY_info = TENON_SEVERITY_INFO,
    SEVERITY_warning = TENON_SEVERITY_WARNING,
    SEVERITY_error = TENON_SEVERITY_ERROR
};

/* A finding of the kind `code`, a row of findings.def. */
static struct tenon_finding make_finding(const char *code)
{
    static const struct tenon_finding rows[] = {
#define X(code, severity, source, text)                                                            \
    {(enum tenon_severity)SEVERITY_##severity,                                                     \
     #code,                                                                                        \
     #source,                                                                                      \
     "",                                                                                           \
     text,                                                                                         \
     TENON_NO_OFFSET,                                                                              \
     TENON_NO_INDEX},
#include "tenon/findings.def"
#undef X
    };
    size_t i = 0;

    while (i + 1 < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].code, code) != 0)
        i++;
    return rows[i];
}

static struct own_finding *add_own(struct outcome *o, const char *code)
{
    struct own_finding *f = &o->own[o->n_own++];

    f->finding = make_finding(code);
    return f;
}

/* Text pointers are set last: the array must not move any more. */
static void finish_own(struct own_finding *f)
{
    f->finding.subject = f->subject;
    f->finding.message = f->message;
}

static enum tenon_status check_data(struct tenon_tool *tool, struct outcome *o)
{
    size_t n = tenon_model_n_tensors(o->model);
    struct tenon_stats *stats = tenon_tool_alloc(n, sizeof(*stats), &o->err);
    struct tenon_hash_options hash_options;
    struct tenon_progress progress;
    enum tenon_status st;

    if (stats == NULL)
        return TENON_ERR_NO_MEMORY;
    tenon_progress_init(&progress, "decoding", tool->common.quiet);
    tenon_hash_options_init(&hash_options);
    hash_options.threads = (unsigned)tool->common.threads;
    hash_options.progress = tenon_progress_show;
    hash_options.user = &progress;
    st = tenon_stats_tensors(o->model, NULL, n, &hash_options, stats, &o->err);
    tenon_progress_end(&progress);
    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        const struct tenon_tensor *t = tenon_model_tensor(o->model, i);
        struct own_finding *f;

        if (!stats[i].valid || stats[i].nan + stats[i].inf == 0)
            continue;
        f = add_own(o, "not_finite");
        f->finding.offset = t->offset;
        f->finding.file = t->file;
        tenon_text_sanitise(f->subject, sizeof(f->subject), t->name.data, t->name.len);
        snprintf(f->message, sizeof(f->message), "%llu NaN and %llu infinite of %llu values",
                 (unsigned long long)stats[i].nan, (unsigned long long)stats[i].inf,
                 (unsigned long long)stats[i].count);
        finish_own(f);
    }
    free(stats);
    return st;
}

/* Whether the file itself makes its reference loader refuse it: then nothing else needs saying. */
static bool loader_finding(const struct tenon_model *model)
{
    for (size_t i = 0; i < tenon_model_n_findings(model); i++) {
        const struct tenon_finding *f = tenon_model_finding(model, i);

        if (f->severity == TENON_SEVERITY_ERROR && strcmp(f->source, "loader") == 0)
            return true;
    }
    return false;
}

/* A GGUF file with the names of another convention, as 'tenon convert' makes it. */
static bool has_foreign_names(const struct tenon_model *model)
{
    enum tenon_dialect dialect = tenon_model_dialect(model);

    return strcmp(tenon_model_format(model), "gguf") == 0 && dialect != TENON_DIALECT_NONE &&
           dialect != TENON_DIALECT_GGUF;
}

static void check_names(struct outcome *o)
{
    struct own_finding *f;

    if (!has_foreign_names(o->model))
        return;
    f = add_own(o, "names_foreign");
    snprintf(f->message, sizeof(f->message),
             "the tensors have names of the convention '%s', the loader looks for those of GGUF",
             tenon_dialect_name(tenon_model_dialect(o->model)));
    finish_own(f);
}

/* Config against weights: a declared tie that the stored matrices deny, or the other way. */
static enum tenon_status check_tying(struct tenon_tool *tool, struct outcome *o)
{
    struct tenon_tying_options tying_options;
    struct tenon_tying *tying = NULL;
    struct tenon_error err = {0};
    enum tenon_status st;

    tenon_tying_options_init(&tying_options);
    tying_options.threads = (unsigned)tool->common.threads;
    tying_options.groups = false;
    st = tenon_tying_analyse(o->model, &tying_options, &tying, &err);
    if (st == TENON_ERR_NOT_FOUND)
        return TENON_OK; /* neither matrix: nothing that could disagree */
    if (st != TENON_OK) {
        o->err = err;
        return st;
    }
    if (!tying->consistent) {
        static const char family[] = "nothing is declared, and the stored weights are not what the "
                                     "family expects:";
        static const char *const texts[] = {
            [TENON_SILENT] = family,
            [TENON_NO] = "declared not tied, but the stored weights say",
            [TENON_YES] = "declared tied, but the stored weights say",
        };
        struct own_finding *f = add_own(o, "tying_contradicted");

        snprintf(f->subject, sizeof(f->subject), "%s",
                 tying->declared_by != NULL ? tying->declared_by : "");
        snprintf(f->message, sizeof(f->message), "%s '%s'", texts[tying->declared],
                 tenon_verdict_name(tying->verdict));
        finish_own(f);
    }
    if (tying->llama_cpp == TENON_LOADER_REFUSES && !loader_finding(o->model) &&
        !has_foreign_names(o->model)) {
        struct own_finding *f = add_own(o, "head_refused");
        const struct tenon_tensor *t = tying->output != NULL ? tying->output : tying->input;

        tenon_text_sanitise(f->subject, sizeof(f->subject), t->name.data, t->name.len);
        snprintf(f->message, sizeof(f->message), "%s",
                 tying->output != NULL
                     ? "the loader wants no output matrix like this one in this architecture"
                     : "the loader wants an output matrix in this architecture");
        finish_own(f);
    }
    tenon_tying_free(tying);
    return TENON_OK;
}

/* Findings of the model, then our own; NULL after the last. */
static const struct tenon_finding *finding_at(const struct outcome *o, size_t i)
{
    size_t n = o->model != NULL ? tenon_model_n_findings(o->model) : 0;

    if (i < n)
        return tenon_model_finding(o->model, i);
    return i - n < o->n_own ? &o->own[i - n].finding : NULL;
}

static void check_one(struct tenon_tool *tool, size_t operand, struct outcome *o)
{
    const struct options *wanted = tool->options;
    const struct tenon_finding *f;

    o->path = tool->operands[operand];
    if (tenon_tool_open_to_check(tool, operand, &o->model, &o->err) != TENON_OK)
        return;
    o->own = tenon_tool_alloc(tenon_model_n_tensors(o->model) + 3, sizeof(*o->own), &o->err);
    if (o->own == NULL)
        return;
    check_names(o);
    if (check_tying(tool, o) != TENON_OK)
        return;
    if (wanted->data && check_data(tool, o) != TENON_OK)
        return;
    for (size_t i = 0; (f = finding_at(o, i)) != NULL; i++) {
        o->n_errors += f->severity == TENON_SEVERITY_ERROR;
        o->n_warnings += f->severity == TENON_SEVERITY_WARNING;
        o->n_infos += f->severity == TENON_SEVERITY_INFO;
    }
}

static const char *file_path(const struct outcome *o, const struct tenon_finding *f)
{
    return f->file != TENON_NO_INDEX ? tenon_model_file(o->model, f->file)->path : o->path;
}

static void write_json(struct tenon_tool *tool, const struct outcome *outcomes, size_t n)
{
    struct tenon_json json = {.out = &tool->out};
    const struct tenon_finding *f;
    bool ok = true;

    for (size_t i = 0; i < n; i++)
        ok = ok && is_ok(&outcomes[i]);
    tenon_json_document(&json, "tenon.check/1");
    tenon_json_bool(&json, "ok", ok);
    tenon_json_array(&json, "findings");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; (f = finding_at(&outcomes[i], k)) != NULL; k++)
            tenon_tool_finding_json(&json, f, file_path(&outcomes[i], f));
    tenon_json_end(&json);
    tenon_json_array(&json, "models");
    for (size_t i = 0; i < n; i++) {
        tenon_json_object(&json, NULL);
        tenon_json_text(&json, "path", outcomes[i].path);
        tenon_json_bool(&json, "ok", is_ok(&outcomes[i]));
        if (outcomes[i].err.status != TENON_OK)
            tenon_report_json(&json, "error", &outcomes[i].err);
        else
            tenon_json_null(&json, "error");
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
    tenon_json_end(&json);
}

static void write_finding(struct tenon_tool *tool, const struct outcome *o,
                          const struct tenon_finding *f)
{
    static const enum tenon_style styles[] = {[TENON_SEVERITY_INFO] = TENON_STYLE_DIM,
                                              [TENON_SEVERITY_WARNING] = TENON_STYLE_WARNING,
                                              [TENON_SEVERITY_ERROR] = TENON_STYLE_BAD};
    const char *path = file_path(o, f);

    tenon_out_safe(&tool->out, path, strlen(path));
    tenon_out_printf(&tool->out, ": %s%s%s: ", tenon_term_style(&tool->term, styles[f->severity]),
                     tenon_severity_name(f->severity),
                     tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    if (f->offset != TENON_NO_OFFSET)
        tenon_out_printf(&tool->out, "offset 0x%llx (%llu): ", (unsigned long long)f->offset,
                         (unsigned long long)f->offset);
    if (f->subject[0] != '\0')
        tenon_out_printf(&tool->out, "'%s': ", f->subject);
    tenon_out_printf(&tool->out, "%s [%s, %s]\n", f->message, f->code, f->source);
}

static void write_text(struct tenon_tool *tool, const struct outcome *o)
{
    const struct tenon_finding *f;

    for (size_t i = 0; (f = finding_at(o, i)) != NULL; i++)
        if (f->severity != TENON_SEVERITY_INFO || tool->common.verbose)
            write_finding(tool, o, f);
    if (o->err.status != TENON_OK)
        return;
    tenon_out_safe(&tool->out, o->path, strlen(o->path));
    if (is_ok(o)) {
        tenon_out_printf(&tool->out, ": %ssound%s", tenon_term_style(&tool->term, TENON_STYLE_GOOD),
                         tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
        if (o->n_infos > 0)
            tenon_out_printf(&tool->out, " (%zu remark%s%s)", o->n_infos,
                             o->n_infos == 1 ? "" : "s",
                             tool->common.verbose ? "" : ", shown with --verbose");
        tenon_out_text(&tool->out, "\n");
    } else {
        tenon_out_printf(&tool->out, ": %zu error%s, %zu warning%s\n", o->n_errors,
                         o->n_errors == 1 ? "" : "s", o->n_warnings, o->n_warnings == 1 ? "" : "s");
    }
}

static int exit_of(const struct outcome *o)
{
    if (o->err.status != TENON_OK)
        return tenon_status_exit(o->err.status);
    return is_ok(o) ? TENON_EXIT_YES : TENON_EXIT_NO;
}

static int run(struct tenon_tool *tool)
{
    struct tenon_error err = {0};
    struct outcome *outcomes = tenon_tool_alloc(tool->n_operands, sizeof(*outcomes), &err);
    int status = TENON_EXIT_YES;

    if (outcomes == NULL)
        return tenon_tool_fail(tool, &err);
    for (size_t i = 0; i < tool->n_operands; i++) {
        struct outcome *o = &outcomes[i];

        check_one(tool, i, o);
        if (!tool->common.json && !tool->common.quiet)
            write_text(tool, o);
        if (o->err.status != TENON_OK)
            tenon_tool_fail(tool, &o->err);
        if (exit_of(o) > status)
            status = exit_of(o);
    }
    if (tool->common.json)
        write_json(tool, outcomes, tool->n_operands);
    for (size_t i = 0; i < tool->n_operands; i++) {
        free(outcomes[i].own);
        tenon_model_free(outcomes[i].model);
    }
    free(outcomes);
    return status;
}

static const struct tenon_example examples[] = {
    {"tenon check models/*.gguf", "several; the exit status is the worst"},
    {"tenon check --data model.safetensors", "decode every value as well"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_check = {
    .operands = "MODEL...",
    .min_operands = 1,
    .max_operands = TENON_ANY_NUMBER,
    .about = "Tells whether a model is sound: by the format's specification ('spec'), for its "
             "reference loader ('loader'), and whether config, tokenizer, index and weights agree "
             "('model'). Remarks without consequence are shown with --verbose.",
    .no = "a warning or an error was found",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
