#include "plan_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan_print.h"

/* Whether the model itself goes to standard output. */
static bool is_streamed(const struct tenon_tool *tool)
{
    return tool->write.output != NULL && strcmp(tool->write.output, "-") == 0;
}

enum tenon_status tenon_write_target(const struct tenon_tool *tool, const char *input,
                                     const char **out_target, struct tenon_error *err)
{
    const char *output = tool->write.output;

    if (output == NULL && tool->write.in_place)
        output = input;
    if (output == NULL || output[0] == '\0') {
        tenon_report_fail(err, TENON_ERR_MISUSE, "no output is named");
        tenon_report_hint(err, "name one with -o, or replace the input with --in-place");
        return TENON_ERR_MISUSE;
    }
    if (is_streamed(tool) && tool->term.tty && !tool->write.dry_run) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "a model is not written to a terminal");
        tenon_report_hint(err, "name a file with -o, or lead standard output elsewhere");
        return TENON_ERR_MISUSE;
    }
    *out_target = output;
    return TENON_OK;
}

static bool is_allowed(const struct tenon_loss *loss)
{
    return loss->allowed || loss->option == NULL;
}

/* The first loss that nobody allowed. */
static enum tenon_status check_losses(const struct tenon_tool *tool, const struct tenon_plan *plan,
                                      struct tenon_error *err)
{
    for (size_t i = 0; i < tenon_plan_n_losses(plan); i++) {
        const struct tenon_loss *loss = tenon_plan_loss(plan, i);

        if (is_allowed(loss))
            continue;
        tenon_report_fail(err, TENON_ERR_CANNOT_REPRESENT, "%s", loss->text);
        snprintf(err->subject, sizeof(err->subject), "%s", loss->subject);
        tenon_report_path(err, tool->operands[0]);
        tenon_report_hint(err, "%s allows it", loss->option);
        return TENON_ERR_CANNOT_REPRESENT;
    }
    return TENON_OK;
}

static void say_losses(struct tenon_tool *tool, const struct tenon_plan *plan)
{
    if (tool->common.json)
        return; /* the document holds them */
    for (size_t i = 0; i < tenon_plan_n_losses(plan); i++) {
        const struct tenon_loss *loss = tenon_plan_loss(plan, i);

        tenon_tool_note(tool, "lost: %s%s%s", loss->subject, loss->subject[0] != '\0' ? ": " : "",
                        loss->text);
    }
}

/* Everything that is lost, and the choices made. */
static void say_plan(struct tenon_tool *tool, const struct tenon_plan *plan)
{
    say_losses(tool, plan);
    for (size_t i = 0; !tool->common.json && i < tenon_plan_n_notes(plan); i++)
        tenon_tool_note(tool, "%s", tenon_plan_note(plan, i));
}

static void write_result_json(struct tenon_tool *tool, const struct tenon_plan *plan, bool written)
{
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.written/1");
    tenon_json_u64(&json, "bytes", written ? tenon_plan_bytes(plan) : 0);
    tenon_json_array(&json, "files");
    for (size_t i = 0; written && i < tenon_plan_n_files(plan); i++) {
        tenon_json_object(&json, NULL);
        tenon_json_text(&json, "path", tenon_plan_file(plan, i)->path);
        tenon_json_u64(&json, "bytes", tenon_plan_file(plan, i)->bytes);
        tenon_json_end(&json);
    }
    tenon_json_end(&json);
    tenon_plan_losses_json(&json, plan);
    tenon_json_end(&json);
}

static void write_result(struct tenon_tool *tool, const struct tenon_plan *plan, bool written)
{
    size_t n = tenon_plan_n_files(plan);
    char bytes[32];

    if (is_streamed(tool) || (tool->common.quiet && !tool->common.json))
        return; /* standard output is the model */
    if (tool->common.json) {
        write_result_json(tool, plan, written);
        return;
    }
    if (!written) {
        tenon_out_text(&tool->out, "nothing to do\n");
        return;
    }
    if (n == 1 || tool->common.verbose) {
        for (size_t i = 0; i < n; i++) {
            const struct tenon_plan_file *f = tenon_plan_file(plan, i);

            tenon_out_text(&tool->out, "wrote ");
            tenon_out_safe(&tool->out, f->path, strlen(f->path));
            tenon_out_printf(&tool->out, ", %s bytes\n", tenon_out_grouped(bytes, f->bytes));
        }
    } else {
        tenon_out_printf(&tool->out, "wrote %zu files, %s bytes\n", n,
                         tenon_out_grouped(bytes, tenon_plan_bytes(plan)));
    }
}

/* What a run tells meanwhile. */
struct running {
    struct tenon_tool *tool;
    const struct tenon_plan *plan;
    bool said; /* the plan: once writing has begun, as a run that is refused made no choices */
    struct tenon_progress progress;
};

static void say_once(struct running *running)
{
    if (!running->said)
        say_plan(running->tool, running->plan);
    running->said = true;
}

static bool show_progress(uint64_t done, uint64_t total, void *user)
{
    struct running *running = user;

    say_once(running);
    return tenon_progress_show(done, total, &running->progress);
}

static void show_note(const char *text, void *user)
{
    struct running *running = user;

    say_once(running);
    tenon_tool_note(running->tool, "%s", text);
}

static enum tenon_status run(struct tenon_tool *tool, const struct tenon_plan *plan,
                             struct tenon_error *err)
{
    struct tenon_run_options options;
    struct running running = {.tool = tool, .plan = plan};
    enum tenon_status st;

    tenon_run_options_init(&options);
    options.threads = (unsigned)tool->common.threads;
    options.force = tool->write.force || tool->write.output == NULL;
    options.in_place = tool->write.in_place;
    options.no_sync = tool->write.no_sync;
    options.verify = tool->write.verify;
    options.progress = show_progress;
    options.note = show_note;
    options.user = &running;
    tenon_progress_init(&running.progress, "writing", tool->common.quiet);
    st = tenon_plan_run(plan, &options, err);
    tenon_progress_end(&running.progress);
    if (st == TENON_OK)
        say_once(&running); /* nothing to report on the way */
    if (st != TENON_OK && is_streamed(tool) && err->sys_errno == EPIPE) {
        *err = (struct tenon_error){0}; /* nobody reads any more: that is an end, not an error */
        st = TENON_OK;
    }
    return st;
}

enum tenon_status tenon_write_plan(struct tenon_tool *tool, struct tenon_plan *plan,
                                   struct tenon_error *err)
{
    bool needless = tenon_plan_is_empty(plan) && tool->write.output == NULL;
    enum tenon_status st = tenon_plan_layout(plan, err);

    if (st == TENON_OK && tool->write.dry_run) {
        if (tool->common.json)
            tenon_plan_print_json(tool, plan);
        else
            tenon_plan_print(tool, plan);
        return check_losses(tool, plan, err);
    }
    if (st == TENON_OK) {
        st = check_losses(tool, plan, err);
        if (st != TENON_OK)
            say_losses(tool, plan); /* all of them, not only the first */
    }
    if (st == TENON_OK && needless)
        say_plan(tool, plan);
    if (st == TENON_OK && !needless)
        st = run(tool, plan, err);
    if (st == TENON_OK)
        write_result(tool, plan, !needless);
    return st;
}
