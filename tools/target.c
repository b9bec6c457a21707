#include "target.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool is_same_file(const char *path, const struct stat *other)
{
    struct stat file;

    return path != NULL && stat(path, &file) == 0 && file.st_dev == other->st_dev &&
           file.st_ino == other->st_ino;
}

static bool is_of_model(const struct tenon_model *model, const struct stat *target)
{
    if (model == NULL)
        return false;
    for (size_t i = 0; i < tenon_model_n_files(model); i++)
        if (is_same_file(tenon_model_file(model, i)->path, target))
            return true;
    for (size_t i = 0; i < tenon_model_n_side_files(model); i++)
        if (is_same_file(tenon_model_side_file(model, i), target))
            return true;
    return false;
}

/* No output may replace a file that it is made from, whatever the names. */
static enum tenon_status check_one(const struct tenon_targets *targets, const char *path,
                                   const struct tenon_model *model, struct tenon_error *err)
{
    struct stat target;
    const char *of = NULL;

    if (path == NULL || stat(path, &target) != 0)
        return TENON_OK;
    if (is_of_model(model, &target))
        of = "is a file of the model itself";
    for (size_t i = 0; i < sizeof(targets->inputs) / sizeof(targets->inputs[0]); i++)
        if (is_same_file(targets->inputs[i], &target))
            of = "is an input itself";
    if (of != NULL) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "%s", of);
        tenon_report_path(err, path);
        tenon_report_hint(err, "choose another name for the output");
        return TENON_ERR_MISUSE;
    }
    if (!targets->force && S_ISREG(target.st_mode)) {
        tenon_report_fail(err, TENON_ERR_EXISTS, "exists already");
        tenon_report_path(err, path);
        tenon_report_hint(err, "use --force to replace it");
        return TENON_ERR_EXISTS;
    }
    return TENON_OK;
}

static enum tenon_status check_plot(const char *path, struct tenon_error *err)
{
    static const char end[] = ".svg";
    size_t len = strlen(path), n = sizeof(end) - 1;

    if (len > n && strcasecmp(path + len - n, end) == 0)
        return TENON_OK;
    tenon_report_fail(err, TENON_ERR_MISUSE, "pictures are drawn as SVG, its name says otherwise");
    tenon_report_path(err, path);
    tenon_report_hint(err, "call it NAME.svg");
    return TENON_ERR_MISUSE;
}

enum tenon_status tenon_targets_check(const struct tenon_targets *targets,
                                      const struct tenon_model *model, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (targets->plot != NULL)
        st = check_plot(targets->plot, err);
    if (st == TENON_OK)
        st = check_one(targets, targets->file, model, err);
    if (st == TENON_OK)
        st = check_one(targets, targets->plot, model, err);
    return st;
}
