/* Carrying out a plan: targets compared with inputs, files written one after the other under
 * temporary names, inputs looked at once more, then the names. One descriptor for writing is open
 * at a time, however many files there are. */
#include "plan_run.h"

#include <fcntl.h>
#include <string.h>

#include "cpu.h"
#include "fail.h"
#include "io.h"
#include "model_private.h"
#include "parallel.h"
#include "tenon/text.h"

/* Those of one worker: see tenon_run_buffers. */
#define N_BUFFERS ((size_t)4)

void tenon_run_options_init(struct tenon_run_options *options)
{
    *options = (struct tenon_run_options){0};
}

/* --- what workers share --- */

static struct tenon_str subject_of(const void *owner, uint32_t i)
{
    const struct tenon_plan *plan = owner;

    return (struct tenon_str){plan->losses[i].subject, strlen(plan->losses[i].subject)};
}

/* Makes the overflows that are allowed ready to be found by the tensor. */
static enum tenon_status index_allowed(struct tenon_run *run, struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;

    for (uint32_t i = 0; i < plan->n_losses; i++)
        if (plan->losses[i].allowed && strcmp(plan->losses[i].code, "overflow") == 0 &&
            tenon_names_add(&run->allowed, i, plan, subject_of) == TENON_NO_INDEX)
            return tenon_fail_memory(err);
    return TENON_OK;
}

bool tenon_run_allows(const struct tenon_run *run, struct tenon_str name)
{
    char subject[TENON_ERROR_SUBJECT_BYTES];

    if (run->allowed.used == 0)
        return false;
    tenon_text_sanitise(subject, sizeof(subject), name.data, name.len);
    return tenon_names_find(&run->allowed, subject, strlen(subject), run->plan, subject_of) !=
           TENON_NO_INDEX;
}

enum tenon_status tenon_run_init(struct tenon_run *run, const struct tenon_plan *plan,
                                 const struct tenon_run_options *options, struct tenon_error *err)
{
    *run = (struct tenon_run){.plan = plan, .options = options};
    run->threads = tenon_threads(options->threads);
    if (run->threads > TENON_RUN_WORKERS)
        run->threads = TENON_RUN_WORKERS;
    tenon_quant_init(&run->ops, tenon_cpu_detect());
    run->buffers = tenon_mem_alloc(run->threads, N_BUFFERS * TENON_MAKE_BYTES);
    if (run->buffers == NULL)
        return tenon_fail_memory(err);
    if (pthread_mutex_init(&run->lock, NULL) != 0) {
        tenon_mem_free(run->buffers);
        run->buffers = NULL;
        return tenon_fail_memory(err);
    }
    return index_allowed(run, err);
}

void tenon_run_release(struct tenon_run *run)
{
    if (run->buffers != NULL)
        pthread_mutex_destroy(&run->lock);
    tenon_mem_free(run->buffers);
    run->buffers = NULL;
    tenon_names_release(&run->allowed);
}

struct tenon_run_buffers tenon_run_buffers(const struct tenon_run *run, unsigned worker)
{
    unsigned char *first = run->buffers + worker * N_BUFFERS * TENON_MAKE_BYTES;

    return (struct tenon_run_buffers){
        {first, first + TENON_MAKE_BYTES, first + 2 * TENON_MAKE_BYTES},
        first + 3 * TENON_MAKE_BYTES};
}

enum tenon_status tenon_run_report(struct tenon_run *run, uint64_t bytes, struct tenon_error *err)
{
    bool go_on;

    if (run->options->progress == NULL)
        return TENON_OK;
    pthread_mutex_lock(&run->lock);
    run->done += bytes;
    go_on = run->options->progress(run->done, run->total, run->options->user);
    pthread_mutex_unlock(&run->lock);
    return go_on ? TENON_OK
                 : tenon_fail(err, TENON_ERR_CANCELLED, TENON_NO_OFFSET, "stopped on request");
}

/* --- before anything is written --- */

static enum tenon_status check_losses(const struct tenon_plan *plan, struct tenon_error *err)
{
    for (size_t i = 0; i < plan->n_losses; i++) {
        const struct tenon_loss *loss = &plan->losses[i];

        if (loss->option == NULL || loss->allowed)
            continue;
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "%s", loss->text);
        tenon_fail_subject(err, "tensor", loss->subject, strlen(loss->subject));
        tenon_fail_hint(err, "allow it with %s", loss->option);
        return TENON_ERR_CANNOT_REPRESENT;
    }
    return TENON_OK;
}

/* A target that is an input: the input would be gone before it was read. */
static enum tenon_status refuse_input(const struct tenon_run *run, size_t target, const char *input,
                                      struct tenon_error *err)
{
    bool stream = tenon_sink_is_stream(run->sink, target);

    if (run->options->in_place && !stream && !run->plan->apart) {
        tenon_sink_allow(run->sink, target);
        return TENON_OK;
    }
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "is the input '%s' itself", input);
    tenon_fail_path(err, run->plan->files[target].path);
    if (!stream)
        tenon_fail_hint(err,
                        run->plan->apart ? "choose another name" : "use --in-place to replace it");
    return TENON_ERR_MISUSE;
}

static enum tenon_status compare_input(const struct tenon_run *run, const char *path, dev_t device,
                                       ino_t inode, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < run->plan->n_files; i++)
        if (tenon_sink_is(run->sink, i, device, inode))
            st = refuse_input(run, i, path, err);
    return st;
}

/* By what it is now: an input that is gone cannot be hit. */
static enum tenon_status compare_path(const struct tenon_run *run, const char *path,
                                      struct tenon_error *err)
{
    struct stat info;

    if (tenon_io_stat(AT_FDCWD, path, &info, true) != 0)
        return TENON_OK;
    return compare_input(run, path, info.st_dev, info.st_ino, err);
}

static enum tenon_status compare_model(const struct tenon_run *run, const struct tenon_model *model,
                                       struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < model->n_files; i++) {
        dev_t device;
        ino_t inode;

        if (tenon_source_identity(model->sources[i], &device, &inode))
            st = compare_input(run, model->files[i].path, device, inode, err);
    }
    for (size_t i = 0; st == TENON_OK && i < model->n_sides; i++)
        st = compare_path(run, model->sides[i], err);
    return st;
}

static enum tenon_status compare_inputs(const struct tenon_run *run, struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < plan->n_models; i++)
        st = compare_model(run, plan->models[i], err);
    for (size_t i = 0; st == TENON_OK && i < plan->n_files; i++)
        if (plan->files[i].kind == TENON_PLAN_COPY)
            st = compare_path(run, plan->files[i].copy_of, err);
    return st;
}

/* Folders inside the folder that the plan writes. Others must be there. */
static enum tenon_status make_folders(const struct tenon_run *run, struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;
    size_t len = plan->folder != NULL ? strlen(plan->folder) : 0;
    enum tenon_status st;

    if (plan->folder == NULL)
        return TENON_OK;
    st = tenon_sink_make_folder(run->sink, plan->folder, err);
    for (size_t i = 0; st == TENON_OK && i < plan->n_files; i++) {
        const char *path = plan->files[i].path, *slash = strrchr(path, '/');
        char *folder;

        if (slash == NULL || (size_t)(slash - path) <= len || strncmp(path, plan->folder, len) != 0)
            continue;
        folder = tenon_mem_alloc((size_t)(slash - path) + 1, 1);
        if (folder == NULL)
            return tenon_fail_memory(err);
        memcpy(folder, path, (size_t)(slash - path));
        st = tenon_sink_make_folder(run->sink, folder, err);
        tenon_mem_free(folder);
    }
    return st;
}

static enum tenon_status prepare_targets(struct tenon_run *run, struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;
    struct tenon_sink_options options = {.force = run->options->force,
                                         .no_sync = run->options->no_sync,
                                         .note = run->options->note,
                                         .user = run->options->user};
    enum tenon_status st = tenon_sink_new(plan->n_files, &options, &run->sink, err);

    if (st == TENON_OK)
        st = make_folders(run, err);
    for (size_t i = 0; st == TENON_OK && i < plan->n_files; i++) {
        const struct tenon_plan_file *file = &plan->files[i];

        st = tenon_sink_add(run->sink,
                            &(struct tenon_sink_target){file->path, file->bytes, file->last}, err);
        if (st == TENON_OK && run->options->verify && tenon_sink_is_stream(run->sink, i)) {
            st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                            "'%s' cannot be read back and verified", file->path);
        }
    }
    if (st == TENON_OK)
        st = compare_inputs(run, err);
    return st == TENON_OK ? tenon_sink_check(run->sink, err) : st;
}

/* --- the work --- */

/* Reading back what the disk has, not what memory has, needs a sync first. */
static enum tenon_status verify_file(struct tenon_run *run, struct tenon_run_parts *parts,
                                     struct tenon_error *err)
{
    enum tenon_status st = tenon_sink_sync(run->sink, err);

    run->comparing = true;
    if (st == TENON_OK)
        st = tenon_run_parts(run, parts, err);
    run->comparing = false;
    return st;
}

static enum tenon_status write_file(struct tenon_run *run, uint32_t i, struct tenon_error *err)
{
    struct tenon_run_parts parts = {0};
    enum tenon_status st;

    run->file = i;
    run->stream = tenon_sink_is_stream(run->sink, i);
    st = tenon_run_split(run, i, &parts, err);
    if (st == TENON_OK)
        st = tenon_sink_begin(run->sink, i, err);
    if (st == TENON_OK)
        st = tenon_run_parts(run, &parts, err);
    if (st == TENON_OK && run->options->verify)
        st = verify_file(run, &parts, err);
    if (st == TENON_OK && parts.opened != NULL)
        st = tenon_source_unchanged(parts.opened, err);
    if (st == TENON_OK)
        st = tenon_sink_end(run->sink, err);
    tenon_run_parts_release(&parts);
    tenon_fail_path(err, run->plan->files[i].path);
    return st;
}

static enum tenon_status check_inputs(const struct tenon_run *run, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < run->plan->n_models; i++)
        for (size_t k = 0; st == TENON_OK && k < run->plan->models[i]->n_files; k++)
            st = tenon_source_unchanged(run->plan->models[i]->sources[k], err);
    return st;
}

static enum tenon_status carry_out(struct tenon_run *run, struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;
    enum tenon_status st = prepare_targets(run, err);

    run->total = tenon_plan_bytes(plan);
    if (run->options->verify && !tenon_u64_mul(&run->total, run->total, 2))
        run->total = UINT64_MAX;
    for (size_t i = 0; st == TENON_OK && i < plan->n_files; i++)
        st = write_file(run, (uint32_t)i, err);
    if (st == TENON_OK)
        st = check_inputs(run, err);
    if (st == TENON_OK)
        st = tenon_sink_commit(run->sink, err);
    for (size_t i = 0; st == TENON_OK && i < plan->n_stale; i++)
        tenon_sink_remove(run->sink, plan->stale[i]);
    return st;
}

enum tenon_status tenon_plan_run(const struct tenon_plan *plan,
                                 const struct tenon_run_options *options, struct tenon_error *err)
{
    struct tenon_run_options defaults;
    struct tenon_run run = {0};
    enum tenon_status st;

    tenon_run_options_init(&defaults);
    if (!plan->laid_out)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the plan has no layout");
    st = check_losses(plan, err);
    if (st == TENON_OK)
        st = tenon_run_init(&run, plan, options != NULL ? options : &defaults, err);
    if (st == TENON_OK)
        st = carry_out(&run, err);
    tenon_sink_free(run.sink);
    tenon_run_release(&run);
    return st;
}

void tenon_plan_abort(void)
{
    tenon_sink_abort();
}
