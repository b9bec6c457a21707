#define _XOPEN_SOURCE 700 /* realpath */

#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

/* The unfinished file, for a signal handler: a fixed buffer, and whether it holds a name. */
static char pending[PATH_MAX];
static volatile int has_pending;

void tenon_save_abort(void)
{
    if (has_pending)
        unlink(pending);
}

/* The folder of `path`, to be freed; NULL when memory is gone. */
static char *folder_of(const char *path)
{
    char *copy = strdup(path);
    char *folder = copy != NULL ? strdup(dirname(copy)) : NULL;

    free(copy);
    return folder;
}

/* Follows links to what is there already, and says whether that may be replaced. */
static enum tenon_status resolve_target(struct tenon_save *save, const char *path,
                                        struct tenon_error *err)
{
    struct stat info;

    save->mode = -1;
    if (lstat(path, &info) != 0) {
        if (errno != ENOENT)
            return tenon_report_errno(err, path, errno, "cannot write");
        save->path = strdup(path);
        return save->path != NULL ? TENON_OK
                                  : tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    }
    if (!save->force) {
        tenon_report_fail(err, TENON_ERR_EXISTS, "exists already");
        tenon_report_path(err, path);
        tenon_report_hint(err, "use --force to replace it");
        return TENON_ERR_EXISTS;
    }
    save->path = realpath(path, NULL);
    if (save->path == NULL || stat(save->path, &info) != 0)
        return tenon_report_errno(err, path, errno, "cannot write");
    if (!S_ISREG(info.st_mode)) {
        tenon_report_fail(err, TENON_ERR_MISUSE, "not a regular file, will not be replaced");
        tenon_report_path(err, path);
        return TENON_ERR_MISUSE;
    }
    save->mode = (int)(info.st_mode & 0777);
    return TENON_OK;
}

/* Creates ".NAME.PID.tmp" beside the target. */
static enum tenon_status open_temp(struct tenon_save *save, struct tenon_error *err)
{
    const char *slash = strrchr(save->path, '/');
    const char *name = slash != NULL ? slash + 1 : save->path;
    size_t size = strlen(save->path) + 40;
    int fd;

    save->temp = malloc(size);
    if (save->temp == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    snprintf(save->temp, size, "%.*s.%s.%ld.tmp", (int)(name - save->path), save->path, name,
             (long)getpid());
    if (strlen(save->temp) >= sizeof(pending))
        return tenon_report_errno(err, save->path, ENAMETOOLONG, "cannot write");
    memcpy(pending, save->temp, strlen(save->temp) + 1);
    fd = open(save->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return tenon_report_errno(err, save->path, errno, "cannot create a file beside it");
    has_pending = 1;
    save->begun = true;
    tenon_out_init(&save->out, fd);
    if (save->mode >= 0 && fchmod(fd, (mode_t)save->mode) != 0)
        return tenon_report_errno(err, save->path, errno, "cannot set its mode");
    return TENON_OK;
}

enum tenon_status tenon_save_begin(struct tenon_save *save, const char *path, bool force,
                                   struct tenon_error *err)
{
    enum tenon_status st;

    *save = (struct tenon_save){.force = force, .out = {.fd = -1}};
    st = resolve_target(save, path, err);
    return st == TENON_OK ? open_temp(save, err) : st;
}

/* Gives the finished file its name. Without `force` by a hard link, which cannot replace anything
 * that came meanwhile; where links do not exist by a rename. */
static int publish(const struct tenon_save *save)
{
    if (!save->force) {
        if (link(save->temp, save->path) == 0)
            return unlink(save->temp);
        if (errno == EEXIST)
            return -1;
    }
    return rename(save->temp, save->path);
}

static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    /* The file itself is complete and synced: a folder that cannot be synced (some file systems
     * refuse) takes nothing away from that. */
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

enum tenon_status tenon_save_commit(struct tenon_save *save, struct tenon_error *err)
{
    int fd = save->out.fd;

    if (!tenon_out_flush(&save->out))
        return tenon_report_errno(err, save->path, save->out.error, "cannot write");
    if (fsync(fd) != 0)
        return tenon_report_errno(err, save->path, errno, "cannot write to the disk");
    save->out.fd = -1;
    if (close(fd) != 0)
        return tenon_report_errno(err, save->path, errno, "cannot write");
    if (publish(save) != 0)
        return tenon_report_errno(err, save->path, errno, "cannot give the finished file its name");
    has_pending = 0;
    save->begun = false;
    sync_folder(save->path);
    return TENON_OK;
}

void tenon_save_release(struct tenon_save *save)
{
    if (save->out.fd > 2)
        close(save->out.fd);
    if (save->begun) {
        unlink(save->temp);
        has_pending = 0;
    }
    tenon_out_release(&save->out);
    free(save->path);
    free(save->temp);
    *save = (struct tenon_save){.out = {.fd = -1}};
}
