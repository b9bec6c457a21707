/* Working out where every byte of a plan goes: each file by its format. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "format.h"
#include "hf_write_folder.h"
#include "hf_write_index.h"
#include "names.h"

/* --- what holds for every format --- */

static void fail_tensor(const struct tenon_plan *plan, size_t i, struct tenon_error *err)
{
    struct tenon_str name = tenon_plan_name(plan, i);

    tenon_fail_subject(err, "tensor", name.data, name.len);
}

static enum tenon_status check_files(const struct tenon_plan *plan, struct tenon_error *err)
{
    for (size_t i = 0; i < plan->n_tensors; i++) {
        const struct tenon_plan_record *t = &plan->tensors[i];

        if (t->file >= plan->n_files || plan->files[t->file].kind != TENON_PLAN_MODEL) {
            tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                       "file %u of the plan does not hold tensors", t->file);
            fail_tensor(plan, i, err);
            return TENON_ERR_MISUSE;
        }
    }
    return TENON_OK;
}

/* Tensors of one model under their own names, in the model's order: no two of these names are the
 * same, so that only the others need an index. */
struct line {
    uint16_t model;
    const struct tenon_tensor *next; /* the least that may follow; NULL: none was in line yet */
};

static bool is_in_line(const struct tenon_plan *plan, size_t i, struct line *line)
{
    const struct tenon_plan_record *t = &plan->tensors[i];
    const struct tenon_tensor *first;
    size_t n;

    if (t->model == TENON_PLAN_FULL || t->name != NULL ||
        (line->next != NULL && (t->model != line->model || t->of.source < line->next)))
        return false;
    n = tenon_model_n_tensors(plan->models[t->model]);
    first = n > 0 ? tenon_model_tensor(plan->models[t->model], 0) : NULL;
    if (first == NULL || t->of.source < first || t->of.source >= first + n)
        return false;
    *line = (struct line){t->model, t->of.source + 1};
    return true;
}

static struct tenon_str name_of(const void *owner, uint32_t i)
{
    return tenon_plan_name(owner, i);
}

static enum tenon_status fail_clash(const struct tenon_plan *plan, size_t i,
                                    struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_NAME_CLASH, TENON_NO_OFFSET,
               "two tensors of this name would be written");
    fail_tensor(plan, i, err);
    return TENON_ERR_NAME_CLASH;
}

/* All files of a plan are one model: a name stands for one tensor. */
static enum tenon_status check_names(const struct tenon_plan *plan, struct tenon_error *err)
{
    struct tenon_names names = {0}; /* of those that are not in line */
    struct line line = {0};
    enum tenon_status st = TENON_OK;

    if (plan->n_tensors >= TENON_NO_INDEX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many tensors");
    for (uint32_t i = 0; st == TENON_OK && i < plan->n_tensors; i++) {
        uint32_t known = is_in_line(plan, i, &line) ? i : tenon_names_add(&names, i, plan, name_of);

        if (known == TENON_NO_INDEX)
            st = tenon_fail_memory(err);
        else if (known != i)
            st = fail_clash(plan, i, err);
    }
    line = (struct line){0};
    for (uint32_t i = 0; st == TENON_OK && names.used > 0 && i < plan->n_tensors; i++) {
        struct tenon_str name = tenon_plan_name(plan, i);

        if (is_in_line(plan, i, &line) &&
            tenon_names_find(&names, name.data, name.len, plan, name_of) != TENON_NO_INDEX)
            st = fail_clash(plan, i, err);
    }
    tenon_names_release(&names);
    return st;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum tenon_status check_paths(const struct tenon_plan *plan, struct tenon_error *err)
{
    const char **paths = tenon_mem_alloc(plan->n_files, sizeof(*paths));
    enum tenon_status st = TENON_OK;

    if (paths == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < plan->n_files; i++)
        paths[i] = plan->files[i].path;
    if (plan->n_files > 1)
        qsort(paths, plan->n_files, sizeof(*paths), compare_paths);
    for (size_t i = 1; st == TENON_OK && i < plan->n_files; i++) {
        if (strcmp(paths[i - 1], paths[i]) != 0)
            continue;
        st = tenon_fail(err, TENON_ERR_NAME_CLASH, TENON_NO_OFFSET,
                        "two files of this name would be written");
        tenon_fail_path(err, paths[i]);
    }
    tenon_mem_free(paths);
    return st;
}

/* --- one file --- */

static enum tenon_status measure_copy(struct tenon_plan_file *file, struct tenon_error *err)
{
    struct tenon_source *source = NULL;
    enum tenon_status st = tenon_source_open_file(file->copy_of, &source, err);

    if (st == TENON_OK)
        file->bytes = tenon_source_size(source);
    tenon_fail_path(err, file->copy_of);
    tenon_source_free(source);
    return st;
}

static enum tenon_status lay_out_model(struct tenon_plan *plan, uint32_t i, struct tenon_error *err)
{
    const char *path = plan->files[i].path, *name = plan->files[i].format;
    const struct tenon_format *format = name != NULL ? tenon_format_find(name) : NULL;
    enum tenon_status st;

    if (format == NULL || format->layout == NULL) {
        st = tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                        "files of the format '%s' cannot be written", name != NULL ? name : "");
        tenon_fail_hint(err, "see what can be written with 'tenon formats'");
    } else {
        st = format->layout(plan, i, err);
    }
    tenon_fail_path(err, path);
    return st;
}

static enum tenon_status lay_out_file(struct tenon_plan *plan, uint32_t i, struct tenon_error *err)
{
    struct tenon_plan_file *file = &plan->files[i];

    if (file->kind == TENON_PLAN_MODEL)
        return lay_out_model(plan, i, err);
    if (file->kind == TENON_PLAN_COPY)
        return measure_copy(file, err);
    return TENON_OK; /* a text came with its size */
}

/* What a layout that failed has added, so that another try can begin. */
static void forget(struct tenon_plan *plan, const struct tenon_plan *before)
{
    plan->n_files = before->n_files;
    plan->n_rests = before->n_rests;
    plan->n_stale = before->n_stale;
    plan->n_notes = before->n_notes;
}

static enum tenon_status lay_out(struct tenon_plan *plan, struct tenon_error *err)
{
    enum tenon_status st = check_files(plan, err);

    if (st == TENON_OK)
        st = check_names(plan, err);
    if (st == TENON_OK)
        st = tenon_plan_group(plan, err);
    if (st == TENON_OK && plan->folder != NULL)
        st = tenon_hf_write_folder(plan, err);
    for (uint32_t i = 0; st == TENON_OK && i < plan->n_files; i++)
        st = lay_out_file(plan, i, err);
    tenon_plan_leave(plan, NULL, NULL);
    if (st == TENON_OK && plan->index != NULL)
        st = tenon_hf_write_index(plan, plan->index, err);
    if (st == TENON_OK)
        st = check_paths(plan, err);
    return st;
}

/* What index and shards do not agree about, and what that means for the output. */
static const struct {
    const char *code, *text;
} disagreements[] = {
    {"index_names_absent_tensor", "named by the index but stored nowhere, so not written"},
    {"tensor_in_two_shards", "also stored in another shard, which is not read"},
    {"tensor_not_in_index", "stored in a shard but not named by the index, so not written"},
};

/* One note for each kind, with the first tensor. */
static enum tenon_status note_disagreement(struct tenon_plan *plan, const struct tenon_model *model,
                                           size_t kind, struct tenon_error *err)
{
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < tenon_model_n_findings(model); i++) {
        const struct tenon_finding *finding = tenon_model_finding(model, i);

        if (strcmp(finding->code, disagreements[kind].code) != 0)
            continue;
        first = first != NULL ? first : finding->subject;
        n++;
    }
    if (n < 2)
        return n == 0
                   ? TENON_OK
                   : tenon_plan_add_note(plan, err, "'%s' is %s", first, disagreements[kind].text);
    return tenon_plan_add_note(plan, err, "%zu tensors, the first of them '%s', are %s", n, first,
                               disagreements[kind].text);
}

static enum tenon_status note_disagreements(struct tenon_plan *plan, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t m = 0; m < plan->n_models; m++)
        for (size_t k = 0; k < sizeof(disagreements) / sizeof(disagreements[0]); k++)
            if (st == TENON_OK)
                st = note_disagreement(plan, plan->models[m], k, err);
    return st;
}

enum tenon_status tenon_plan_layout(struct tenon_plan *plan, struct tenon_error *err)
{
    const struct tenon_plan before = *plan;
    enum tenon_status st;

    if (plan->laid_out)
        return TENON_OK;
    st = lay_out(plan, err);
    if (st == TENON_OK)
        st = note_disagreements(plan, err);
    plan->laid_out = st == TENON_OK;
    if (st != TENON_OK)
        forget(plan, &before);
    return st;
}
