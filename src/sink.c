#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "io.h"
#include "mem.h"
#include "sink_private.h"

/* The most one system call is asked for. */
#define MOST_PER_CALL ((size_t)1 << 30)

/* Bytes that are moved by other than a multiple of this take the way through memory: no file system
 * can share the blocks, and page by page into two pages each the system is slower than we are. */
#define COPY_BLOCK 4096

/* Other names that are tried when an unfinished file of a process with our number is in the way. */
#define MOST_NAMES 100

/* The sets that are going on, for tenon_sink_abort: mutable, because a signal handler gets no
 * argument. A set is taken out before it is freed; while handlers look, nothing is freed. */
#define MOST_SETS 64
static _Atomic(struct tenon_sink *) running[MOST_SETS];
static atomic_uint looking;
static atomic_bool aborted;

enum tenon_status tenon_sink_new(size_t n_files, const struct tenon_sink_options *options,
                                 struct tenon_sink **out, struct tenon_error *err)
{
    struct tenon_sink *sink = tenon_mem_alloc(1, sizeof(*sink));
    struct tenon_sink *none;

    if (sink == NULL)
        return tenon_fail_memory(err);
    sink->options = *options;
    sink->fd = -1;
    sink->room = n_files;
    sink->slot = MOST_SETS;
    sink->files = tenon_mem_alloc(n_files, sizeof(*sink->files));
    if (sink->files == NULL) {
        tenon_sink_free(sink);
        return tenon_fail_memory(err);
    }
    for (sink->slot = 0; sink->slot < MOST_SETS; sink->slot++) {
        none = NULL;
        if (atomic_compare_exchange_strong(&running[sink->slot], &none, sink))
            break;
    }
    if (sink->slot == MOST_SETS) {
        tenon_sink_free(sink);
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "more than %d rewrites at the same time", MOST_SETS);
    }
    *out = sink;
    return TENON_OK;
}

static enum tenon_status make_one(struct tenon_sink *sink, const char *folder, size_t len,
                                  struct tenon_error *err)
{
    char *path = tenon_mem_alloc(len + 1, 1);
    struct stat info;
    int error;

    if (path == NULL)
        return tenon_fail_memory(err);
    memcpy(path, folder, len);
    if (tenon_io_stat(AT_FDCWD, path, &info, true) == 0 && S_ISDIR(info.st_mode)) {
        tenon_mem_free(path);
        return TENON_OK;
    }
    if (sink->n_made >= TENON_SINK_FOLDERS) {
        tenon_mem_free(path);
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "more than %d new folders",
                          TENON_SINK_FOLDERS);
    }
    sink->made[sink->n_made] = path;
    if (tenon_io_mkdir(path, 0777) == 0) {
        sink->n_made++;
        return TENON_OK;
    }
    error = errno;
    tenon_mem_free(path);
    tenon_fail_errno(err, error, TENON_NO_OFFSET, "cannot make the folder");
    tenon_fail_path(err, folder);
    return TENON_ERR_IO;
}

enum tenon_status tenon_sink_make_folder(struct tenon_sink *sink, const char *folder,
                                         struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    size_t len = 0;

    while (st == TENON_OK && folder[len] != '\0') {
        len += strspn(folder + len, "/");
        len += strcspn(folder + len, "/");
        st = make_one(sink, folder, len, err);
    }
    return st;
}

/* Two paths to one target would fight for it. */
static enum tenon_status check_single(const struct tenon_sink *sink,
                                      const struct tenon_sink_file *file, struct tenon_error *err)
{
    for (size_t i = 0; i < sink->n_files; i++) {
        const struct tenon_sink_file *other = &sink->files[i];
        bool both = other->kind == TENON_SINK_FILE && file->kind == TENON_SINK_FILE;
        bool place = both &&
                     sink->folders[file->folder].device == sink->folders[other->folder].device &&
                     sink->folders[file->folder].inode == sink->folders[other->folder].inode &&
                     strcmp(file->name, other->name) == 0;
        bool same = both && file->exists && other->exists && file->device == other->device &&
                    file->inode == other->inode;

        if (place || same) {
            tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "is the same file as '%s'",
                       other->path);
            tenon_fail_path(err, file->path);
            return TENON_ERR_MISUSE;
        }
    }
    return TENON_OK;
}

enum tenon_status tenon_sink_add(struct tenon_sink *sink, const struct tenon_sink_target *target,
                                 struct tenon_error *err)
{
    struct tenon_sink_file *file = &sink->files[sink->n_files];
    enum tenon_status st;

    if (sink->n_files >= sink->room)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "more targets than announced");
    file->path = target->path;
    file->bytes = target->bytes;
    file->last = target->last;
    st = tenon_sink_resolve(sink, file, err);
    if (st == TENON_OK)
        st = check_single(sink, file, err);
    if (st == TENON_OK) {
        sink->n_files++;
        return TENON_OK;
    }
    tenon_mem_free(file->resolved);
    memset(file, 0, sizeof(*file));
    return st;
}

bool tenon_sink_is(const struct tenon_sink *sink, size_t i, dev_t device, ino_t inode)
{
    const struct tenon_sink_file *file = &sink->files[i];

    return file->exists && file->device == device && file->inode == inode;
}

void tenon_sink_allow(struct tenon_sink *sink, size_t i)
{
    sink->files[i].may_replace = true;
}

bool tenon_sink_is_stream(const struct tenon_sink *sink, size_t i)
{
    return sink->files[i].kind == TENON_SINK_STREAM;
}

/* Adds up what goes to the file system of folder `i`, unless an earlier folder lies there, too. */
static uint64_t sum_bytes(const struct tenon_sink *sink, size_t i)
{
    dev_t device = sink->folders[i].device;
    uint64_t sum = 0;

    for (size_t k = 0; k < i; k++)
        if (sink->folders[k].device == device)
            return 0;
    for (size_t k = 0; k < sink->n_files; k++)
        if (sink->files[k].kind == TENON_SINK_FILE &&
            sink->folders[sink->files[k].folder].device == device &&
            !tenon_u64_add(&sum, sum, sink->files[k].bytes))
            return UINT64_MAX;
    return sum;
}

static enum tenon_status check_space(const struct tenon_sink *sink, struct tenon_error *err)
{
    for (size_t i = 0; i < sink->n_folders; i++) {
        uint64_t needed = sum_bytes(sink, i), room;

        /* Where the system does not say, the allocation of each file will. */
        if (tenon_io_space(sink->folders[i].fd, &room) != 0 || needed <= room)
            continue;
        tenon_fail_errno(err, ENOSPC, TENON_NO_OFFSET,
                         "%llu bytes are needed there and %llu are free",
                         (unsigned long long)needed, (unsigned long long)room);
        tenon_fail_path(err, sink->folders[i].path);
        return TENON_ERR_IO;
    }
    return TENON_OK;
}

enum tenon_status tenon_sink_check(struct tenon_sink *sink, struct tenon_error *err)
{
    for (size_t i = 0; i < sink->n_files; i++) {
        struct tenon_sink_file *file = &sink->files[i];

        if (file->kind != TENON_SINK_FILE || !file->exists)
            continue;
        file->may_replace = file->may_replace || sink->options.force;
        if (!file->may_replace) {
            tenon_fail(err, TENON_ERR_EXISTS, TENON_NO_OFFSET, "exists already");
            tenon_fail_path(err, file->path);
            tenon_fail_hint(err, "use --force to replace it");
            return TENON_ERR_EXISTS;
        }
        if (file->links > 1)
            tenon_sink_note(sink, "'%s' has %llu names; the others keep the old contents",
                            file->path, (unsigned long long)file->links);
    }
    tenon_sink_note_stale(sink);
    return check_space(sink, err);
}

/* --- one file --- */

static enum tenon_status open_stream(struct tenon_sink *sink, const struct tenon_sink_file *file,
                                     struct tenon_error *err)
{
    sink->streamed = 0;
    sink->fd = strcmp(file->path, "-") == 0
                   ? tenon_io_duplicate(STDOUT_FILENO)
                   : tenon_io_open(AT_FDCWD, file->path, O_WRONLY | O_NOCTTY, 0);
    return sink->fd >= 0 ? TENON_OK : tenon_sink_fail(file, errno, err, "cannot open");
}

/* Makes the temporary file, under a name that nobody has. */
static int create_temp(const struct tenon_sink *sink, struct tenon_sink_file *file)
{
    int folder = sink->folders[file->folder].fd, fd = -1;
    sigset_t signals;

    for (unsigned number = 0; number < MOST_NAMES; number++) {
        tenon_mem_free(file->temp);
        file->temp = tenon_sink_name_beside(file->name, "tmp", number);
        if (file->temp == NULL)
            return -1;
        tenon_sink_hold_signals(&signals);
        fd = tenon_io_open(folder, file->temp, O_RDWR | O_CREAT | O_EXCL | O_NOCTTY, 0666);
        if (fd >= 0)
            atomic_store(&file->state, TENON_SINK_TEMP);
        tenon_sink_let_signals(&signals);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

/* Mode and owner of what is replaced. The owner as far as we may. */
static int take_over_mode(const struct tenon_sink_file *file, int fd)
{
    if (!file->exists)
        return 0;
    if (file->owner != geteuid() || file->group != getegid())
        (void)tenon_io_chown(fd, file->owner, file->group);
    return tenon_io_chmod(fd, file->mode);
}

/* Takes the space now, so that a full disk is known before the work. */
static int allocate(const struct tenon_sink_file *file, int fd)
{
    if (file->bytes == 0 || tenon_io_allocate(fd, file->bytes) == 0 || errno == EOPNOTSUPP ||
        errno == ENOSYS || errno == EINVAL)
        return 0;
    return -1;
}

enum tenon_status tenon_sink_begin(struct tenon_sink *sink, size_t i, struct tenon_error *err)
{
    struct tenon_sink_file *file = &sink->files[i];

    sink->current = i;
    if (file->kind == TENON_SINK_STREAM)
        return open_stream(sink, file, err);
    if (file->bytes > INT64_MAX)
        return tenon_sink_fail(file, EFBIG, err, "cannot be that large");
    sink->fd = create_temp(sink, file);
    if (sink->fd < 0 && file->temp == NULL)
        return tenon_fail_memory(err);
    if (sink->fd < 0)
        return tenon_sink_fail(file, errno, err, "cannot create a file beside it");
    if (atomic_load(&aborted))
        return tenon_fail(err, TENON_ERR_CANCELLED, TENON_NO_OFFSET, "stopped on request");
    if (take_over_mode(file, sink->fd) != 0)
        return tenon_sink_fail(file, errno, err, "cannot set its mode");
    if (allocate(file, sink->fd) != 0)
        return tenon_sink_fail(file, errno, err, "cannot get %llu bytes for it",
                               (unsigned long long)file->bytes);
    return TENON_OK;
}

/* Nothing written without an error cannot be: better an error than no end. */
static bool stuck(ssize_t wrote)
{
    if (wrote == 0)
        errno = EIO;
    return wrote <= 0;
}

enum tenon_status tenon_sink_write(struct tenon_sink *sink, uint64_t off, const void *buf, size_t n,
                                   struct tenon_error *err)
{
    const struct tenon_sink_file *file = &sink->files[sink->current];
    const unsigned char *bytes = buf;
    bool stream = file->kind == TENON_SINK_STREAM;

    if (off > file->bytes || n > file->bytes - off || (stream && off != sink->streamed))
        return tenon_fail(err, TENON_ERR_MISUSE, off, "bytes out of place in '%s'", file->path);
    while (n > 0) {
        size_t most = n < MOST_PER_CALL ? n : MOST_PER_CALL;
        ssize_t wrote = stream ? tenon_io_write(sink->fd, bytes, most)
                               : tenon_io_pwrite(sink->fd, bytes, most, off);

        if (stuck(wrote))
            return tenon_sink_fail(file, errno, err, "cannot write %zu bytes at %llu", most,
                                   (unsigned long long)off);
        bytes += wrote;
        off += (uint64_t)wrote;
        n -= (size_t)wrote;
    }
    if (stream)
        sink->streamed = off;
    return TENON_OK;
}

uint64_t tenon_sink_copy(struct tenon_sink *sink, const struct tenon_sink_copy *copy)
{
    struct tenon_io_range range = {.to = sink->fd, .from_off = copy->from, .to_off = copy->to};
    uint64_t done = 0;

    if (atomic_load_explicit(&sink->no_copy, memory_order_relaxed) ||
        (copy->to - copy->from) % COPY_BLOCK != 0)
        return 0;
    if (tenon_source_hold(copy->source, &range.from, NULL) != TENON_OK)
        return 0;
    while (done < copy->n) {
        uint64_t left = copy->n - done;
        ssize_t got = tenon_io_copy(&range, left < MOST_PER_CALL ? (size_t)left : MOST_PER_CALL);

        if (got <= 0) {
            if (got < 0 && (errno == ENOSYS || errno == EXDEV || errno == EOPNOTSUPP))
                atomic_store(&sink->no_copy, true);
            break;
        }
        range.from_off += (uint64_t)got;
        range.to_off += (uint64_t)got;
        done += (uint64_t)got;
    }
    tenon_source_let_go(copy->source);
    return done;
}

enum tenon_status tenon_sink_read(struct tenon_sink *sink, uint64_t off, void *buf, size_t n,
                                  struct tenon_error *err)
{
    const struct tenon_sink_file *file = &sink->files[sink->current];
    unsigned char *bytes = buf;

    while (n > 0) {
        ssize_t got = tenon_io_pread(sink->fd, bytes, n < MOST_PER_CALL ? n : MOST_PER_CALL, off);

        if (stuck(got))
            return tenon_sink_fail(file, errno, err, "cannot read back %zu bytes at %llu", n,
                                   (unsigned long long)off);
        bytes += got;
        off += (uint64_t)got;
        n -= (size_t)got;
    }
    return TENON_OK;
}

enum tenon_status tenon_sink_sync(struct tenon_sink *sink, struct tenon_error *err)
{
    const struct tenon_sink_file *file = &sink->files[sink->current];

    if (file->kind == TENON_SINK_STREAM || sink->options.no_sync)
        return TENON_OK;
    if (tenon_io_sync(sink->fd) != 0)
        return tenon_sink_fail(file, errno, err, "cannot write to the disk");
    tenon_io_forget(sink->fd);
    return TENON_OK;
}

static enum tenon_status check_size(const struct tenon_sink *sink,
                                    const struct tenon_sink_file *file, struct tenon_error *err)
{
    struct stat info;

    if (tenon_io_fstat(sink->fd, &info) != 0)
        return tenon_sink_fail(file, errno, err, "cannot examine");
    if ((uint64_t)info.st_size == file->bytes)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_IO, TENON_NO_OFFSET, "%lld bytes were written, %llu were planned",
               (long long)info.st_size, (unsigned long long)file->bytes);
    tenon_fail_path(err, file->path);
    return TENON_ERR_IO;
}

/* Closes what was begun: the last chance of the system to tell that something was not written. Of
 * standard output that is a second descriptor; the first stays with the program. */
static enum tenon_status close_current(struct tenon_sink *sink, struct tenon_error *err)
{
    int fd = sink->fd;

    sink->fd = -1;
    if (tenon_io_close(fd) != 0)
        return tenon_sink_fail(&sink->files[sink->current], errno, err, "cannot write");
    return TENON_OK;
}

enum tenon_status tenon_sink_end(struct tenon_sink *sink, struct tenon_error *err)
{
    struct tenon_sink_file *file = &sink->files[sink->current];
    enum tenon_status st = TENON_OK;

    if (file->kind == TENON_SINK_STREAM && sink->streamed != file->bytes)
        st = tenon_fail(err, TENON_ERR_MISUSE, sink->streamed, "'%s' is not complete", file->path);
    if (st == TENON_OK && file->kind == TENON_SINK_FILE)
        st = check_size(sink, file, err);
    if (st == TENON_OK && file->kind == TENON_SINK_FILE && !sink->options.no_sync &&
        tenon_io_sync(sink->fd) != 0)
        st = tenon_sink_fail(file, errno, err, "cannot write to the disk");
    if (st == TENON_OK)
        st = close_current(sink, err);
    file->complete = st == TENON_OK;
    return st;
}

/* --- the end --- */

static void remove_unfinished(struct tenon_sink *sink)
{
    for (size_t i = 0; i < sink->n_files; i++)
        if (atomic_exchange(&sink->files[i].state, TENON_SINK_NOTHING) == TENON_SINK_TEMP)
            tenon_io_unlink(sink->folders[sink->files[i].folder].fd, sink->files[i].temp);
    for (size_t i = sink->n_made; i > 0 && !sink->committed; i--)
        tenon_io_rmdir(sink->made[i - 1]);
}

/* False while a signal handler may still look at the set: then it stays as it is, which costs
 * nothing, because the process is about to end. */
static bool leave_table(struct tenon_sink *sink)
{
    if (sink->slot < MOST_SETS)
        atomic_store(&running[sink->slot], NULL);
    return atomic_load(&looking) == 0;
}

void tenon_sink_free(struct tenon_sink *sink)
{
    if (sink == NULL)
        return;
    if (sink->fd >= 0)
        tenon_io_close(sink->fd);
    remove_unfinished(sink);
    if (sink->removed && tenon_sink_sync_folders(sink, NULL) != TENON_OK)
        tenon_sink_note(sink, "a power cut could bring back what belonged to what was replaced");
    if (!leave_table(sink))
        return;
    for (size_t i = 0; i < sink->n_files; i++) {
        tenon_mem_free(sink->files[i].resolved);
        tenon_mem_free(sink->files[i].temp);
        tenon_mem_free(sink->files[i].aside);
    }
    for (size_t i = 0; i < sink->n_folders; i++) {
        tenon_io_close(sink->folders[i].fd);
        tenon_mem_free(sink->folders[i].path);
    }
    for (size_t i = 0; i < sink->n_made; i++)
        tenon_mem_free(sink->made[i]);
    tenon_mem_free(sink->files);
    tenon_mem_free(sink->folders);
    tenon_mem_free(sink);
}

void tenon_sink_remove(struct tenon_sink *sink, const char *path)
{
    if (tenon_io_unlink(AT_FDCWD, path) == 0)
        sink->removed = true;
    else if (errno != ENOENT)
        tenon_sink_note(sink, "'%s' belonged to what was replaced, but cannot be removed", path);
}

void tenon_sink_abort(void)
{
    int error = errno;

    atomic_store(&aborted, true);
    atomic_fetch_add(&looking, 1);
    for (size_t i = 0; i < MOST_SETS; i++) {
        struct tenon_sink *sink = atomic_load(&running[i]);

        for (size_t k = 0; sink != NULL && k < sink->n_files; k++)
            if (atomic_load(&sink->files[k].state) == TENON_SINK_TEMP)
                unlinkat(sink->folders[sink->files[k].folder].fd, sink->files[k].temp, 0);
        for (size_t k = sink != NULL ? sink->n_made : 0; k > 0 && !sink->committed; k--)
            rmdir(sink->made[k - 1]);
    }
    atomic_fetch_sub(&looking, 1);
    errno = error;
}
