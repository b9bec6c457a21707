#include "plan_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "tenon/text.h"

enum tenon_status tenon_plan_new(const char *target, struct tenon_plan **out,
                                 struct tenon_error *err)
{
    struct tenon_plan *plan = tenon_mem_alloc(1, sizeof(*plan));

    if (plan == NULL)
        return tenon_fail_memory(err);
    plan->target = tenon_arena_text(&plan->arena, target, strlen(target));
    if (plan->target == NULL) {
        tenon_plan_free(plan);
        return tenon_fail_memory(err);
    }
    *out = plan;
    return TENON_OK;
}

void tenon_plan_free(struct tenon_plan *plan)
{
    if (plan == NULL)
        return;
    tenon_plan_leave(plan, NULL, NULL);
    tenon_mem_free(plan->models);
    tenon_mem_free(plan->files);
    tenon_mem_free(plan->tensors);
    tenon_mem_free(plan->rests);
    tenon_mem_free(plan->losses);
    tenon_mem_free(plan->notes);
    tenon_mem_free(plan->flags);
    tenon_mem_free(plan->stale);
    for (size_t i = 0; i < plan->n_owned; i++)
        tenon_mem_free(plan->owned[i]);
    tenon_mem_free(plan->owned);
    tenon_arena_release(&plan->arena);
    tenon_mem_free(plan);
}

enum tenon_status tenon_plan_own(struct tenon_plan *plan, void *memory, struct tenon_error *err)
{
    void **owned;

    if (memory == NULL)
        return TENON_OK;
    owned = tenon_mem_grow(plan->owned, &plan->owned_room, plan->n_owned, sizeof(*owned));
    if (owned == NULL) {
        tenon_mem_free(memory);
        return tenon_fail_memory(err);
    }
    plan->owned = owned;
    owned[plan->n_owned++] = memory;
    return TENON_OK;
}

/* --- what it holds --- */

size_t tenon_plan_n_files(const struct tenon_plan *plan)
{
    return plan->n_files;
}

const struct tenon_plan_file *tenon_plan_file(const struct tenon_plan *plan, size_t i)
{
    return &plan->files[i];
}

size_t tenon_plan_n_tensors(const struct tenon_plan *plan)
{
    return plan->n_tensors;
}

size_t tenon_plan_n_losses(const struct tenon_plan *plan)
{
    return plan->n_losses;
}

const struct tenon_loss *tenon_plan_loss(const struct tenon_plan *plan, size_t i)
{
    return &plan->losses[i];
}

size_t tenon_plan_n_notes(const struct tenon_plan *plan)
{
    return plan->n_notes;
}

const char *tenon_plan_note(const struct tenon_plan *plan, size_t i)
{
    return plan->notes[i];
}

uint64_t tenon_plan_bytes(const struct tenon_plan *plan)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < plan->n_files; i++)
        if (!tenon_u64_add(&bytes, bytes, plan->files[i].bytes))
            return UINT64_MAX;
    return bytes;
}

bool tenon_plan_is_empty(const struct tenon_plan *plan)
{
    return plan->empty;
}

/* --- filling it --- */

/* A copy of a text that may be NULL, in the plan's arena; false when memory is gone. */
static bool keep_text(struct tenon_plan *plan, const char **text)
{
    if (*text == NULL)
        return true;
    *text = tenon_arena_text(&plan->arena, *text, strlen(*text));
    return *text != NULL;
}

enum tenon_status tenon_plan_add_model(struct tenon_plan *plan, const struct tenon_model *model,
                                       struct tenon_error *err)
{
    const struct tenon_model **models;

    for (size_t i = 0; i < plan->n_models; i++)
        if (plan->models[i] == model)
            return TENON_OK;
    models = tenon_mem_grow(plan->models, &plan->model_room, plan->n_models, sizeof(*models));
    if (models == NULL)
        return tenon_fail_memory(err);
    plan->models = models;
    models[plan->n_models++] = model;
    return TENON_OK;
}

/* Copies key and text of the pairs; packed elements stay where they are. */
static bool keep_metas(struct tenon_plan *plan, struct tenon_plan_file *file)
{
    struct tenon_meta_entry *metas =
        tenon_arena_copy(&plan->arena, file->metas, file->n_metas, sizeof(struct tenon_meta_entry));

    if (metas == NULL)
        return false;
    for (size_t i = 0; i < file->n_metas; i++) {
        metas[i].key.data = tenon_arena_text(&plan->arena, metas[i].key.data, metas[i].key.len);
        if (metas[i].key.data == NULL)
            return false;
        if (metas[i].type == TENON_META_STRING) {
            struct tenon_str *str = &metas[i].value.as.str;

            str->data = tenon_arena_text(&plan->arena, str->data, str->len);
            if (str->data == NULL)
                return false;
        }
    }
    file->metas = metas;
    return true;
}

enum tenon_status tenon_plan_add_file(struct tenon_plan *plan, const struct tenon_plan_file *file,
                                      uint32_t *out_i, struct tenon_error *err)
{
    struct tenon_plan_file copy = *file;
    struct tenon_plan_file *files;

    if (plan->n_files >= UINT32_MAX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many files");
    files = tenon_mem_grow(plan->files, &plan->file_room, plan->n_files, sizeof(*files));
    if (files == NULL)
        return tenon_fail_memory(err);
    plan->files = files;
    if (!keep_text(plan, &copy.path) || !keep_text(plan, &copy.format) ||
        !keep_text(plan, &copy.copy_of) || !keep_metas(plan, &copy))
        return tenon_fail_memory(err);
    if (copy.like != NULL && tenon_plan_add_model(plan, copy.like, err) != TENON_OK)
        return TENON_ERR_NO_MEMORY;
    if (out_i != NULL)
        *out_i = (uint32_t)plan->n_files;
    files[plan->n_files++] = copy;
    return TENON_OK;
}

enum tenon_status tenon_plan_add_text(struct tenon_plan *plan, const char *path, const char *text,
                                      size_t len, bool last, struct tenon_error *err)
{
    struct tenon_plan_file file = {
        .kind = TENON_PLAN_TEXT, .path = path, .head_bytes = len, .bytes = len, .last = last};

    file.text = tenon_arena_text(&plan->arena, text, len);
    return file.text != NULL ? tenon_plan_add_file(plan, &file, NULL, err) : tenon_fail_memory(err);
}

enum tenon_status tenon_plan_add_rest(struct tenon_plan *plan, const struct tenon_plan_rest *rest,
                                      struct tenon_error *err)
{
    struct tenon_plan_rest *rests;

    if (rest->bytes == 0)
        return TENON_OK;
    rests = tenon_mem_grow(plan->rests, &plan->rest_room, plan->n_rests, sizeof(*rests));
    if (rests == NULL)
        return tenon_fail_memory(err);
    plan->rests = rests;
    rests[plan->n_rests++] = *rest;
    return TENON_OK;
}

void tenon_plan_leave(struct tenon_plan *plan, void *found, void (*free_found)(void *found))
{
    if (plan->found != NULL)
        plan->free_found(plan->found);
    plan->found = found;
    plan->free_found = free_found;
}

enum tenon_status tenon_plan_add_flag(struct tenon_plan *plan, const struct tenon_plan_flag *flag,
                                      struct tenon_error *err)
{
    struct tenon_plan_flag copy = *flag;
    struct tenon_plan_flag *flags =
        tenon_mem_grow(plan->flags, &plan->flag_room, plan->n_flags, sizeof(*flags));

    if (flags == NULL)
        return tenon_fail_memory(err);
    plan->flags = flags;
    if (!keep_text(plan, &copy.name) || !keep_text(plan, &copy.key))
        return tenon_fail_memory(err);
    flags[plan->n_flags++] = copy;
    return TENON_OK;
}

enum tenon_status tenon_plan_add_stale(struct tenon_plan *plan, const char *path,
                                       struct tenon_error *err)
{
    const char **stale =
        tenon_mem_grow(plan->stale, &plan->stale_room, plan->n_stale, sizeof(*stale));

    if (stale == NULL)
        return tenon_fail_memory(err);
    plan->stale = stale;
    if (!keep_text(plan, &path))
        return tenon_fail_memory(err);
    stale[plan->n_stale++] = path;
    return TENON_OK;
}

/* A sentence, formatted and made safe to show; NULL when memory is gone. */
TENON_PRINTF(2, 0)
static const char *keep_sentence(struct tenon_plan *plan, const char *format, va_list args)
{
    char text[TENON_ERROR_TEXT_BYTES];

    vsnprintf(text, sizeof(text), format, args);
    return tenon_arena_text(&plan->arena, text, strlen(text));
}

enum tenon_status tenon_plan_add_loss(struct tenon_plan *plan, const char *code,
                                      struct tenon_str subject, const char *option, bool allowed,
                                      struct tenon_error *err, const char *format, ...)
{
    char clean[TENON_ERROR_SUBJECT_BYTES];
    struct tenon_loss loss = {.code = code, .option = option, .allowed = allowed};
    struct tenon_loss *losses =
        tenon_mem_grow(plan->losses, &plan->loss_room, plan->n_losses, sizeof(*losses));
    va_list args;

    if (losses == NULL)
        return tenon_fail_memory(err);
    plan->losses = losses;
    tenon_text_sanitise(clean, sizeof(clean), subject.data, subject.len);
    loss.subject = tenon_arena_text(&plan->arena, clean, strlen(clean));
    va_start(args, format);
    loss.text = keep_sentence(plan, format, args);
    va_end(args);
    if (loss.subject == NULL || loss.text == NULL)
        return tenon_fail_memory(err);
    losses[plan->n_losses++] = loss;
    return TENON_OK;
}

enum tenon_status tenon_plan_add_note(struct tenon_plan *plan, struct tenon_error *err,
                                      const char *format, ...)
{
    const char **notes =
        tenon_mem_grow(plan->notes, &plan->note_room, plan->n_notes, sizeof(*notes));
    const char *note;
    va_list args;

    if (notes == NULL)
        return tenon_fail_memory(err);
    plan->notes = notes;
    va_start(args, format);
    note = keep_sentence(plan, format, args);
    va_end(args);
    if (note == NULL)
        return tenon_fail_memory(err);
    notes[plan->n_notes++] = note;
    return TENON_OK;
}
