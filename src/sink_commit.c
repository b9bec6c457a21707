/* Giving the files of a set their names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "fail.h"
#include "io.h"
#include "mem.h"
#include "sink_private.h"

void tenon_sink_hold_signals(sigset_t *old)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, old);
}

void tenon_sink_let_signals(const sigset_t *old)
{
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static int folder_of(const struct tenon_sink *sink, const struct tenon_sink_file *file)
{
    return sink->folders[file->folder].fd;
}

/* Gives the file that is about to be replaced a second name, so that it can come back should one of
 * the others fail. Where that cannot be done (no links, no memory) it is not kept. */
static void put_aside(const struct tenon_sink *sink, struct tenon_sink_file *file)
{
    file->aside = tenon_sink_name_beside(file->name, "old", 0);
    file->kept_aside =
        file->aside != NULL && tenon_io_link(folder_of(sink, file), file->name, file->aside) == 0;
}

/* Without leave to replace, so that nothing that came meanwhile is replaced: where the system
 * cannot rename that way by a hard link, where there are none after a look. */
static int name_new(const struct tenon_sink *sink, const struct tenon_sink_file *file)
{
    int folder = folder_of(sink, file);
    struct stat info;

    if (tenon_io_rename_new(folder, file->temp, file->name) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (tenon_io_link(folder, file->temp, file->name) == 0)
        return tenon_io_unlink(folder, file->temp);
    if (errno == EEXIST)
        return -1;
    if (tenon_io_stat(folder, file->name, &info, false) == 0) {
        errno = EEXIST;
        return -1;
    }
    return tenon_io_rename(folder, file->temp, file->name);
}

static enum tenon_status give_name(const struct tenon_sink *sink, struct tenon_sink_file *file,
                                   struct tenon_error *err)
{
    int result = file->may_replace ? tenon_io_rename(folder_of(sink, file), file->temp, file->name)
                                   : name_new(sink, file);

    if (result == 0) {
        atomic_store(&file->state, TENON_SINK_NAMED);
        return TENON_OK;
    }
    if (errno != EEXIST || file->may_replace)
        return tenon_sink_fail(file, errno, err, "cannot give the finished file its name");
    tenon_fail(err, TENON_ERR_EXISTS, TENON_NO_OFFSET, "came to be meanwhile");
    tenon_fail_path(err, file->path);
    tenon_fail_hint(err, "use --force to replace it");
    return TENON_ERR_EXISTS;
}

/* Undoes what give_name did. False when the old bytes could not come back. */
static bool take_back(const struct tenon_sink *sink, struct tenon_sink_file *file)
{
    int folder = folder_of(sink, file);

    if (file->exists &&
        (!file->kept_aside || tenon_io_rename(folder, file->aside, file->name) != 0))
        return false;
    file->kept_aside = false;
    if (!file->exists && tenon_io_unlink(folder, file->name) != 0)
        return false;
    atomic_store(&file->state, TENON_SINK_NOTHING);
    return true;
}

static void drop_aside(const struct tenon_sink *sink, struct tenon_sink_file *file)
{
    bool lost = !sink->committed && atomic_load(&file->state) == TENON_SINK_NAMED;

    if (!file->kept_aside || lost) /* what could not come back stays where it is */
        return;
    if (tenon_io_unlink(folder_of(sink, file), file->aside) != 0)
        tenon_sink_note(sink, "'%s%s', the replaced file, cannot be removed",
                        sink->folders[file->folder].path, file->aside);
    file->kept_aside = false;
}

/* Names all files whose mark is `last`. A set of one needs no way back: its rename either happens
 * or does not. */
static enum tenon_status name_some(const struct tenon_sink *sink, bool last, bool single,
                                   struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sink->n_files; i++) {
        struct tenon_sink_file *file = &sink->files[i];

        if (file->kind != TENON_SINK_FILE || file->last != last)
            continue;
        if (file->exists && !single)
            put_aside(sink, file);
        st = give_name(sink, file, err);
    }
    return st;
}

/* Some file systems refuse to sync folders (EINVAL): they offer no more than that. */
static enum tenon_status sync_folder(int fd, const char *path, struct tenon_error *err)
{
    if (fd >= 0 && (tenon_io_sync(fd) == 0 || errno == EINVAL || errno == EROFS))
        return TENON_OK;
    tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot write the folder to the disk");
    tenon_fail_path(err, path);
    return TENON_ERR_IO;
}

enum tenon_status tenon_sink_sync_folders(const struct tenon_sink *sink, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sink->n_folders && !sink->options.no_sync; i++)
        st = sync_folder(sink->folders[i].fd, sink->folders[i].path, err);
    return st;
}

/* New folders are entries of the folders above them. */
static enum tenon_status sync_made(const struct tenon_sink *sink, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sink->n_made && !sink->options.no_sync; i++) {
        char above[PATH_MAX];
        int fd;

        if (snprintf(above, sizeof(above), "%s/..", sink->made[i]) >= (int)sizeof(above))
            continue;
        fd = tenon_io_open(AT_FDCWD, above, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0 && errno == EACCES) /* may be written to but not read */
            continue;
        st = sync_folder(fd, sink->made[i], err);
        if (fd >= 0)
            tenon_io_close(fd);
    }
    return st;
}

static bool has_several(const struct tenon_sink *sink)
{
    size_t n = 0;

    for (size_t i = 0; i < sink->n_files; i++)
        n += sink->files[i].kind == TENON_SINK_FILE;
    return n > 1;
}

/* False when some could not be taken back. */
static bool take_some_back(struct tenon_sink *sink, bool last)
{
    bool whole = true, some = false;

    for (size_t i = sink->n_files; i > 0; i--) {
        struct tenon_sink_file *file = &sink->files[i - 1];

        if (file->last != last || atomic_load(&file->state) != TENON_SINK_NAMED)
            continue;
        whole = take_back(sink, file) && whole;
        some = true;
    }
    if (some)
        (void)tenon_sink_sync_folders(sink, NULL); /* there is an error to tell already */
    return whole;
}

/* Those named last go first: while they are there, so are the others. */
static void take_all_back(struct tenon_sink *sink, struct tenon_error *err)
{
    bool whole = take_some_back(sink, true);

    whole = take_some_back(sink, false) && whole;
    if (!whole)
        tenon_fail_hint(err, "some files are new and some are old; each is whole");
}

/* What is named last gets its name when all others have theirs on the disk. */
static enum tenon_status name_all(struct tenon_sink *sink, struct tenon_error *err)
{
    bool several = has_several(sink);
    enum tenon_status st = sync_made(sink, err);

    if (st == TENON_OK)
        st = name_some(sink, false, !several, err);
    if (st == TENON_OK && several)
        st = tenon_sink_sync_folders(sink, err);
    if (st == TENON_OK)
        st = name_some(sink, true, !several, err);
    return st;
}

enum tenon_status tenon_sink_commit(struct tenon_sink *sink, struct tenon_error *err)
{
    sigset_t signals;
    enum tenon_status st;

    for (size_t i = 0; i < sink->n_files; i++)
        if (!sink->files[i].complete)
            return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "'%s' is not complete",
                              sink->files[i].path);
    tenon_sink_hold_signals(&signals);
    st = name_all(sink, err);
    if (st != TENON_OK)
        take_all_back(sink, err);
    sink->committed = st == TENON_OK;
    for (size_t i = 0; i < sink->n_files; i++)
        drop_aside(sink, &sink->files[i]);
    tenon_sink_let_signals(&signals);
    if (st == TENON_OK) {
        st = tenon_sink_sync_folders(sink, err);
        if (st != TENON_OK)
            tenon_fail_hint(err, "the files are there, but a power cut could undo that");
    }
    return st;
}
