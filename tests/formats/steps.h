/* Models that go through several plans, in folders of their own. */
#ifndef TENON_TESTS_STEPS_H
#define TENON_TESTS_STEPS_H

#include <stdio.h>

#include "folder.h"
#include "planned.h"

/* Files of one step: those of a set, or one. */
struct step {
    char folder[512], path[800]; /* the file to open */
};

static inline void step_input(const char *recipe, struct step *out)
{
    struct gen_files files = {0};

    gen_recipe_make(recipe, &files);
    folder_make(out->folder);
    for (size_t i = 0; i < files.n; i++)
        folder_write(out->folder, files.file[i].name, files.file[i].bytes.data,
                     files.file[i].bytes.n);
    snprintf(out->path, sizeof(out->path), "%s%s", out->folder,
             files.open[0] != '\0' ? files.open : files.file[0].name);
    gen_files_release(&files);
}

/* Lays out and carries out a plan, which it frees. */
static inline void step_run(struct tenon_plan *plan)
{
    struct tenon_run_options options;
    struct tenon_error err = {0};

    ck_ok(tenon_plan_layout(plan, &err), err);
    tenon_run_options_init(&options);
    options.verify = options.no_sync = true;
    ck_ok(tenon_plan_run(plan, &options, &err), err);
    tenon_plan_free(plan);
}

static inline void step_read(const char *path, struct gen_bytes *out)
{
    FILE *f = fopen(path, "rb");
    unsigned char part[4096];
    size_t n;

    ck_assert_msg(f != NULL, "%s is not there", path);
    while ((n = fread(part, 1, sizeof(part), f)) > 0)
        gen_raw(out, part, n);
    fclose(f);
}

/* Every file of the model at a->path is there below b->folder, with the same bytes. */
static inline void step_compare(const char *what, const struct step *a, const struct step *b)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_model_open(a->path, NULL, &model, &err), err);
    for (size_t i = 0; i < tenon_model_n_files(model); i++) {
        const struct tenon_file *file = tenon_model_file(model, i);
        struct gen_bytes x = {0}, y = {0};
        char path[900];

        snprintf(path, sizeof(path), "%s%s", b->folder, file->name);
        step_read(file->path, &x);
        step_read(path, &y);
        check_same_bytes(what, &y, &x);
        gen_bytes_release(&x);
        gen_bytes_release(&y);
    }
    tenon_model_free(model);
}

#endif
