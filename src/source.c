/* Files and memory as byte sources.
 *
 * Files are read by position and never mapped: a mapped file that somebody else cuts short kills
 * the process at the next touch, a read reports it; and for passing over payloads reads into a
 * small buffer are as fast. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "io.h"
#include "mem.h"

/* The most one system call is asked for: below every platform's own bound. */
#define MOST_PER_READ ((size_t)1 << 30)

struct tenon_source {
    struct tenon_source *self;   /* to what changes while it is only read: the descriptor */
    const unsigned char *memory; /* NULL for a file */
    uint64_t size;
    dev_t device; /* with the inode: which file it is, by whatever name */
    ino_t inode;
    struct timespec changed;
    /* How many hold the descriptor; -1: it is closed. Goes up from 0 without the lock. */
    atomic_int holders;
    atomic_bool touched; /* since the hand of the clock passed */
    int fd;
    char path[];
};

/* The sources that are open, in no order: what is not used is found as by the hand of a clock.
 * Mutable, because the number of descriptors is a property of the process; nothing but the time
 * that a read takes depends on it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tenon_source *opened[TENON_SOURCE_OPEN];
static size_t hand;

static enum tenon_status new_source(const char *path, struct tenon_source **out,
                                    struct tenon_error *err)
{
    size_t path_bytes = strlen(path) + 1;
    struct tenon_source *source;
    size_t bytes;

    if (!tenon_size_add(&bytes, sizeof(*source), path_bytes))
        return tenon_fail_memory(err);
    source = tenon_mem_alloc(1, bytes);
    if (source == NULL)
        return tenon_fail_memory(err);
    memcpy(source->path, path, path_bytes);
    source->self = source;
    source->fd = -1;
    atomic_init(&source->holders, -1);
    *out = source;
    return TENON_OK;
}

static const char *name_kind(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    if (S_ISCHR(mode) || S_ISBLK(mode))
        return "a device";
    return "not a regular file";
}

/* --- descriptors --- */

/* Closes a source that nobody holds; false when somebody does. Under the lock. */
static bool close_idle(struct tenon_source *source)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&source->holders, &none, -1))
        return false;
    (void)tenon_io_close(source->fd);
    source->fd = -1;
    return true;
}

/* A free place among the open ones; TENON_SOURCE_OPEN when all are held. Under the lock. */
static size_t find_place(void)
{
    for (size_t i = 0; i < TENON_SOURCE_OPEN; i++)
        if (opened[i] == NULL)
            return i;
    for (size_t turn = 0; turn < 2 * (size_t)TENON_SOURCE_OPEN; turn++) {
        size_t i = hand;

        hand = (hand + 1) % TENON_SOURCE_OPEN;
        if (atomic_exchange(&opened[i]->touched, false))
            continue;
        if (close_idle(opened[i])) {
            opened[i] = NULL;
            return i;
        }
    }
    return TENON_SOURCE_OPEN;
}

/* Opens without waiting for a writer, should the path be a pipe. Under the lock. */
static enum tenon_status open_path(struct tenon_source *source, struct stat *info,
                                   struct tenon_error *err)
{
    size_t place = find_place();
    int fd = tenon_io_open(AT_FDCWD, source->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0 && errno == ENOENT)
        return tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET, "no such file or directory");
    if (fd < 0)
        return tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot open");
    if (tenon_io_fstat(fd, info) != 0) {
        tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot examine");
        (void)tenon_io_close(fd);
        return TENON_ERR_IO;
    }
    source->fd = fd;
    if (place < TENON_SOURCE_OPEN)
        opened[place] = source;
    return TENON_OK;
}

static void close_path(struct tenon_source *source)
{
    for (size_t i = 0; i < TENON_SOURCE_OPEN; i++)
        if (opened[i] == source)
            opened[i] = NULL;
    if (source->fd >= 0)
        (void)tenon_io_close(source->fd);
    source->fd = -1;
    atomic_store(&source->holders, -1);
}

/* Opens again what was closed to make room: it must be the same file. Under the lock. */
static enum tenon_status open_again(struct tenon_source *source, struct tenon_error *err)
{
    struct stat info = {0};
    enum tenon_status st = open_path(source, &info, err);

    if (st == TENON_OK && (info.st_dev != source->device || info.st_ino != source->inode)) {
        st = tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                        "another file has taken its place while it was being read");
        close_path(source);
    }
    tenon_fail_path(err, source->path);
    return st;
}

/* One more holder, unless it is closed. */
static bool hold_open(struct tenon_source *source)
{
    int holders = atomic_load(&source->holders);

    while (holders >= 0)
        if (atomic_compare_exchange_weak(&source->holders, &holders, holders + 1))
            return true;
    return false;
}

enum tenon_status tenon_source_hold(const struct tenon_source *source, int *out_fd,
                                    struct tenon_error *err)
{
    struct tenon_source *self = source->self;
    enum tenon_status st = TENON_OK;

    if (source->memory != NULL)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "memory has no descriptor");
    if (!atomic_load_explicit(&self->touched, memory_order_relaxed))
        atomic_store_explicit(&self->touched, true, memory_order_relaxed);
    if (!hold_open(self)) {
        pthread_mutex_lock(&lock);
        if (!hold_open(self)) {
            st = open_again(self, err);
            if (st == TENON_OK)
                atomic_store(&self->holders, 1);
        }
        pthread_mutex_unlock(&lock);
    }
    if (st == TENON_OK)
        *out_fd = self->fd;
    return st;
}

void tenon_source_let_go(const struct tenon_source *source)
{
    atomic_fetch_sub(&source->self->holders, 1);
}

static enum tenon_status open_regular(struct tenon_source *source, struct tenon_error *err)
{
    struct stat info = {0};
    enum tenon_status st;

    pthread_mutex_lock(&lock);
    st = open_path(source, &info, err);
    if (st == TENON_OK && !S_ISREG(info.st_mode)) {
        st = tenon_fail(err, TENON_ERR_NOT_RECOGNISED, TENON_NO_OFFSET,
                        "is %s, a regular file is needed", name_kind(info.st_mode));
        close_path(source);
    }
    if (st == TENON_OK) {
        source->size = (uint64_t)info.st_size;
        source->device = info.st_dev;
        source->inode = info.st_ino;
        source->changed = info.st_mtim;
        atomic_store(&source->holders, 0);
    }
    pthread_mutex_unlock(&lock);
    return st;
}

bool tenon_source_in_memory(const struct tenon_source *source)
{
    return source->memory != NULL;
}

bool tenon_source_identity(const struct tenon_source *source, dev_t *out_device, ino_t *out_inode)
{
    if (source->memory != NULL)
        return false;
    *out_device = source->device;
    *out_inode = source->inode;
    return true;
}

enum tenon_status tenon_source_unchanged(const struct tenon_source *source, struct tenon_error *err)
{
    struct stat info;
    enum tenon_status st = TENON_OK;
    int fd;

    if (source->memory != NULL)
        return TENON_OK;
    st = tenon_source_hold(source, &fd, err);
    if (st != TENON_OK)
        return st;
    if (tenon_io_fstat(fd, &info) != 0)
        st = tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot examine");
    else if ((uint64_t)info.st_size < source->size)
        st = tenon_fail(err, TENON_ERR_TRUNCATED, (uint64_t)info.st_size,
                        "became shorter while it was being read");
    else if ((uint64_t)info.st_size != source->size ||
             info.st_mtim.tv_sec != source->changed.tv_sec ||
             info.st_mtim.tv_nsec != source->changed.tv_nsec)
        st = tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                        "was changed while it was being read");
    tenon_source_let_go(source);
    tenon_fail_path(err, source->path);
    return st;
}

enum tenon_status tenon_source_open_file(const char *path, struct tenon_source **out,
                                         struct tenon_error *err)
{
    struct tenon_source *source = NULL;
    enum tenon_status st = new_source(path, &source, err);

    if (st == TENON_OK)
        st = open_regular(source, err);
    if (st == TENON_OK) {
        *out = source;
        source = NULL;
    }
    tenon_fail_path(err, path);
    tenon_source_free(source);
    return st;
}

enum tenon_status tenon_source_open_memory(const void *bytes, size_t n, const char *path,
                                           struct tenon_source **out, struct tenon_error *err)
{
    static const unsigned char nothing[1];
    struct tenon_source *source = NULL;
    enum tenon_status st = new_source(path, &source, err);

    if (st != TENON_OK)
        return st;
    source->memory = n != 0 ? bytes : nothing;
    source->size = n;
    *out = source;
    return TENON_OK;
}

void tenon_source_free(struct tenon_source *source)
{
    if (source == NULL)
        return;
    if (source->memory == NULL) {
        pthread_mutex_lock(&lock);
        close_path(source);
        pthread_mutex_unlock(&lock);
    }
    tenon_mem_free(source);
}

uint64_t tenon_source_size(const struct tenon_source *source)
{
    return source->size;
}

const char *tenon_source_path(const struct tenon_source *source)
{
    return source->path;
}

/* Reads `*n` bytes; at the end of the file `*n` becomes what there was. */
static enum tenon_status read_file(const struct tenon_source *source, int fd, uint64_t off,
                                   unsigned char *buf, size_t *n, struct tenon_error *err)
{
    size_t done = 0;

    while (done < *n) {
        size_t want = *n - done < MOST_PER_READ ? *n - done : MOST_PER_READ;
        ssize_t got = tenon_io_pread(fd, buf + done, want, off + done);

        if (got < 0) {
            tenon_fail_errno(err, errno, off + done, "cannot read %zu bytes", want);
            tenon_fail_path(err, source->path);
            return TENON_ERR_IO;
        }
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *n = done;
    return TENON_OK;
}

/* What there is of `n` bytes at `off`. */
static size_t cut_range(const struct tenon_source *source, uint64_t off, size_t n)
{
    if (off >= source->size)
        return 0;
    return n <= source->size - off ? n : (size_t)(source->size - off);
}

/* The same of any source. */
static enum tenon_status read_some(const struct tenon_source *source, int fd, uint64_t off,
                                   void *buf, size_t *n, struct tenon_error *err)
{
    *n = cut_range(source, off, *n);
    if (source->memory == NULL)
        return read_file(source, fd, off, buf, n, err);
    if (*n > 0)
        memcpy(buf, source->memory + off, *n);
    return TENON_OK;
}

static enum tenon_status fail_short(const struct tenon_source *source, uint64_t off, size_t n,
                                    size_t got, struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_TRUNCATED, off, "%zu bytes needed here, but the file ends after %zu",
               n, got);
    if (off <= source->size && n <= source->size - off)
        tenon_fail_hint(err, "the file became shorter while it was being read");
    else
        tenon_fail_hint(err, "the download may be incomplete");
    tenon_fail_path(err, source->path);
    return TENON_ERR_TRUNCATED;
}

enum tenon_status tenon_source_read_some(const struct tenon_source *source, uint64_t off, void *buf,
                                         size_t n, size_t *out_n, struct tenon_error *err)
{
    bool held = source->memory == NULL && cut_range(source, off, n) > 0;
    int fd = -1;
    enum tenon_status st = held ? tenon_source_hold(source, &fd, err) : TENON_OK;

    if (st != TENON_OK)
        return st;
    st = read_some(source, fd, off, buf, &n, err);
    if (held)
        tenon_source_let_go(source);
    if (st == TENON_OK)
        *out_n = n;
    return st;
}

enum tenon_status tenon_source_read(const struct tenon_source *source, uint64_t off, void *buf,
                                    size_t n, struct tenon_error *err)
{
    size_t got = 0;
    enum tenon_status st = tenon_source_read_some(source, off, buf, n, &got, err);

    return st != TENON_OK || got == n ? st : fail_short(source, off, n, got, err);
}

enum tenon_status tenon_source_read_held(const struct tenon_source *source, int fd, uint64_t off,
                                         void *buf, size_t n, struct tenon_error *err)
{
    size_t got = n;
    enum tenon_status st = read_some(source, fd, off, buf, &got, err);

    return st != TENON_OK || got == n ? st : fail_short(source, off, n, got, err);
}

enum tenon_status tenon_source_slurp(const struct tenon_source *source, uint64_t limit, char **out,
                                     size_t *out_n, struct tenon_error *err)
{
    enum tenon_status st;
    size_t bytes;
    char *text;

    if (source->size > limit || source->size > SIZE_MAX - 1) {
        tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "%llu bytes, at most %llu allowed",
                   (unsigned long long)source->size, (unsigned long long)limit);
        tenon_fail_path(err, source->path);
        return TENON_ERR_LIMIT;
    }
    bytes = (size_t)source->size;
    text = tenon_mem_resize(NULL, bytes + 1, 1);
    if (text == NULL)
        return tenon_fail_memory(err);
    st = tenon_source_read(source, 0, text, bytes, err);
    if (st != TENON_OK) {
        tenon_mem_free(text);
        return st;
    }
    text[bytes] = '\0';
    *out = text;
    *out_n = bytes;
    return TENON_OK;
}
