#if defined(__linux__)
#define _GNU_SOURCE /* copy_file_range, fallocate, renameat2 */
#endif

#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Calls interrupted that many times in a row get nowhere: an error is better than a program that
 * hangs. */
#define MOST_INTERRUPTS 10000

/* Fault injection: mutable, but never touched outside tests. Threads that read small pieces would
 * wait for each other at the counters, so nothing counts before a test asks. */
static atomic_bool counting;
static atomic_int fault_call = TENON_IO_END;
static atomic_int fault_error;
static atomic_bool fault_persistent;
static atomic_uint_fast64_t fault_n;
static atomic_uint_fast64_t calls[TENON_IO_END];

void tenon_io_fail_at(const struct tenon_io_fault *fault)
{
    atomic_store(&fault_call, TENON_IO_END);
    for (size_t i = 0; i < TENON_IO_END; i++)
        atomic_store(&calls[i], 0);
    atomic_store(&fault_error, fault->error);
    atomic_store(&fault_persistent, fault->persistent);
    atomic_store(&fault_n, fault->n);
    if (fault->n != 0)
        atomic_store(&fault_call, (int)fault->call);
    atomic_store(&counting, true);
}

uint64_t tenon_io_count(enum tenon_io_call call)
{
    return atomic_load(&calls[call]);
}

/* 0, an errno, or TENON_IO_SHORT: what a test wants to happen to this call. */
static int ask_fault(enum tenon_io_call call)
{
    uint64_t any, mine, number, n;
    int wanted;

    if (!atomic_load_explicit(&counting, memory_order_relaxed))
        return 0;
    any = atomic_fetch_add_explicit(&calls[TENON_IO_ANY], 1, memory_order_relaxed) + 1;
    mine = atomic_fetch_add_explicit(&calls[call], 1, memory_order_relaxed) + 1;
    wanted = atomic_load_explicit(&fault_call, memory_order_relaxed);
    number = wanted == TENON_IO_ANY ? any : mine;
    if (wanted != TENON_IO_ANY && wanted != (int)call)
        return 0;
    n = atomic_load(&fault_n);
    if (number == n || (number > n && atomic_load(&fault_persistent)))
        return atomic_load(&fault_error);
    return 0;
}

/* Whether the call is to fail; errno is set then. */
static bool must_fail(enum tenon_io_call call)
{
    int error = ask_fault(call);

    if (error == 0 || error == TENON_IO_SHORT)
        return false;
    errno = error;
    return true;
}

/* The same for a call that may do less than the `*n` bytes it is asked for. */
static bool must_fail_or_shrink(enum tenon_io_call call, size_t *n)
{
    int error = ask_fault(call);

    if (error == TENON_IO_SHORT && *n > 1)
        *n /= 2;
    if (error == 0 || error == TENON_IO_SHORT)
        return false;
    errno = error;
    return true;
}

/* Who is told what was done: mutable as well, and as little touched. */
static _Atomic(tenon_io_watch_fn) watch_fn;
static _Atomic(void *) watch_user;

void tenon_io_watch(tenon_io_watch_fn watch, void *user)
{
    atomic_store(&watch_user, user);
    atomic_store(&watch_fn, watch);
}

static void tell(const struct tenon_io_event *event)
{
    tenon_io_watch_fn watch = atomic_load_explicit(&watch_fn, memory_order_acquire);
    int error = errno;

    if (watch != NULL)
        watch(event, atomic_load(&watch_user));
    errno = error;
}

/* Whether a call that returned `result` is to be made again. */
static bool interrupted(long long result, unsigned *times)
{
    return result < 0 && errno == EINTR && ++*times < MOST_INTERRUPTS;
}

int tenon_io_open(int folder, const char *path, int flags, mode_t mode)
{
    unsigned times = 0;
    int fd;

    do
        fd = must_fail(TENON_IO_OPEN) ? -1 : openat(folder, path, flags | O_CLOEXEC, mode);
    while (interrupted(fd, &times));
    if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        tell(&(struct tenon_io_event){TENON_IO_OPEN, .fd = folder, .name = path, .flags = flags,
                                      .made = fd});
    return fd;
}

int tenon_io_duplicate(int fd)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_OPEN) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    while (interrupted(result, &times));
    return result;
}

int tenon_io_stat(int folder, const char *path, struct stat *out, bool follow)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_STAT)
                     ? -1
                     : fstatat(folder, path, out, follow ? 0 : AT_SYMLINK_NOFOLLOW);
    while (interrupted(result, &times));
    return result;
}

int tenon_io_fstat(int fd, struct stat *out)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_STAT) ? -1 : fstat(fd, out);
    while (interrupted(result, &times));
    return result;
}

ssize_t tenon_io_readlink(const char *path, char *buf, size_t size)
{
    unsigned times = 0;
    ssize_t result;

    do
        result = must_fail(TENON_IO_READLINK) ? -1 : readlink(path, buf, size);
    while (interrupted(result, &times));
    return result;
}

ssize_t tenon_io_pread(int fd, void *buf, size_t n, uint64_t off)
{
    unsigned times = 0;
    ssize_t result;

    do
        result = must_fail_or_shrink(TENON_IO_PREAD, &n) ? -1 : pread(fd, buf, n, (off_t)off);
    while (interrupted(result, &times));
    return result;
}

ssize_t tenon_io_write(int fd, const void *buf, size_t n)
{
    unsigned times = 0;
    ssize_t result;

    do
        result = must_fail_or_shrink(TENON_IO_WRITE, &n) ? -1 : write(fd, buf, n);
    while (interrupted(result, &times));
    if (result > 0)
        tell(&(struct tenon_io_event){TENON_IO_WRITE, .fd = fd, .data = buf, .n = (size_t)result});
    return result;
}

ssize_t tenon_io_pwrite(int fd, const void *buf, size_t n, uint64_t off)
{
    unsigned times = 0;
    ssize_t result;

    do
        result = must_fail_or_shrink(TENON_IO_PWRITE, &n) ? -1 : pwrite(fd, buf, n, (off_t)off);
    while (interrupted(result, &times));
    if (result > 0)
        tell(&(struct tenon_io_event){TENON_IO_PWRITE, .fd = fd, .data = buf, .n = (size_t)result,
                                      .off = off});
    return result;
}

static ssize_t copy_range(const struct tenon_io_range *range, size_t n)
{
#if defined(__linux__)
    off_t from = (off_t)range->from_off, to = (off_t)range->to_off;

    return copy_file_range(range->from, &from, range->to, &to, n, 0);
#else
    (void)range;
    (void)n;
    errno = ENOSYS;
    return -1;
#endif
}

ssize_t tenon_io_copy(const struct tenon_io_range *range, size_t n)
{
    unsigned times = 0;
    ssize_t result;

    do
        result = must_fail_or_shrink(TENON_IO_COPY, &n) ? -1 : copy_range(range, n);
    while (interrupted(result, &times));
    if (result > 0)
        tell(&(struct tenon_io_event){TENON_IO_COPY, .fd = range->to, .n = (size_t)result,
                                      .off = range->to_off});
    return result;
}

static int allocate_bytes(int fd, uint64_t n)
{
#if defined(__linux__)
    return fallocate(fd, 0, 0, (off_t)n);
#else
    (void)fd;
    (void)n;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

int tenon_io_allocate(int fd, uint64_t n)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_ALLOCATE) ? -1 : allocate_bytes(fd, n);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_ALLOCATE, .fd = fd, .n = (size_t)n});
    return result;
}

int tenon_io_chmod(int fd, mode_t mode)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_CHMOD) ? -1 : fchmod(fd, mode);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_CHMOD, .fd = fd, .mode = mode});
    return result;
}

int tenon_io_chown(int fd, uid_t owner, gid_t group)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_CHOWN) ? -1 : fchown(fd, owner, group);
    while (interrupted(result, &times));
    return result;
}

int tenon_io_sync(int fd)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_SYNC) ? -1 : fsync(fd);
    while (interrupted(result, &times));
    tell(&(struct tenon_io_event){TENON_IO_SYNC, .fd = fd, .failed = result != 0});
    return result;
}

int tenon_io_close(int fd)
{
    bool fail = must_fail(TENON_IO_CLOSE);
    int error = errno;

    if (close(fd) == 0 && !fail)
        return 0;
    if (fail)
        errno = error;
    return errno == EINTR ? 0 : -1;
}

int tenon_io_link(int folder, const char *from, const char *to)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_LINK) ? -1 : linkat(folder, from, folder, to, 0);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_LINK, .fd = folder, .name = from, .to = to});
    return result;
}

int tenon_io_rename(int folder, const char *from, const char *to)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_RENAME) ? -1 : renameat(folder, from, folder, to);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_RENAME, .fd = folder, .name = from, .to = to});
    return result;
}

static int rename_new(int folder, const char *from, const char *to)
{
#if defined(__linux__) && defined(RENAME_NOREPLACE)
    return renameat2(folder, from, folder, to, RENAME_NOREPLACE);
#else
    (void)folder;
    (void)from;
    (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

int tenon_io_rename_new(int folder, const char *from, const char *to)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_RENAME) ? -1 : rename_new(folder, from, to);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_RENAME, .fd = folder, .name = from, .to = to});
    return result;
}

int tenon_io_unlink(int folder, const char *name)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_UNLINK) ? -1 : unlinkat(folder, name, 0);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_UNLINK, .fd = folder, .name = name});
    return result;
}

int tenon_io_mkdir(const char *path, mode_t mode)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_MKDIR) ? -1 : mkdir(path, mode);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_MKDIR, .fd = AT_FDCWD, .name = path});
    return result;
}

int tenon_io_rmdir(const char *path)
{
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_RMDIR) ? -1 : rmdir(path);
    while (interrupted(result, &times));
    if (result == 0)
        tell(&(struct tenon_io_event){TENON_IO_RMDIR, .fd = AT_FDCWD, .name = path});
    return result;
}

int tenon_io_space(int folder, uint64_t *out_bytes)
{
    struct statvfs info;
    unsigned times = 0;
    int result;

    do
        result = must_fail(TENON_IO_SPACE) ? -1 : fstatvfs(folder, &info);
    while (interrupted(result, &times));
    if (result == 0 &&
        __builtin_mul_overflow((uint64_t)info.f_bavail, (uint64_t)info.f_frsize, out_bytes))
        *out_bytes = UINT64_MAX;
    return result;
}

void tenon_io_forget(int fd)
{
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}
