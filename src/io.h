/* Every system call of the reading and writing of payloads, behind one thin layer: a call that a
 * signal interrupted is made again, and tests can make any call fail or do less than it was asked.
 *
 * All functions set errno and return what the system call of that name returns. */
#ifndef TENON_IO_H
#define TENON_IO_H

#include <sys/stat.h>
#include <sys/types.h>

#include "tenon/api.h"

/* The calls, as tests name them. */
enum tenon_io_call {
    TENON_IO_ANY = 0,
    TENON_IO_OPEN,
    TENON_IO_STAT,
    TENON_IO_READLINK,
    TENON_IO_PREAD,
    TENON_IO_WRITE,
    TENON_IO_PWRITE,
    TENON_IO_COPY,
    TENON_IO_ALLOCATE,
    TENON_IO_CHMOD,
    TENON_IO_CHOWN,
    TENON_IO_SYNC,
    TENON_IO_CLOSE,
    TENON_IO_LINK,
    TENON_IO_RENAME,
    TENON_IO_UNLINK,
    TENON_IO_MKDIR,
    TENON_IO_RMDIR,
    TENON_IO_SPACE,
    TENON_IO_END
};

int tenon_io_open(int folder, const char *path, int flags, mode_t mode); /* openat */
int tenon_io_duplicate(int fd);                                          /* counts as OPEN */
int tenon_io_stat(int folder, const char *path, struct stat *out, bool follow);
int tenon_io_fstat(int fd, struct stat *out);
ssize_t tenon_io_readlink(const char *path, char *buf, size_t size);
ssize_t tenon_io_pread(int fd, void *buf, size_t n, uint64_t off);
ssize_t tenon_io_write(int fd, const void *buf, size_t n);
ssize_t tenon_io_pwrite(int fd, const void *buf, size_t n, uint64_t off);

/* copy_file_range between files, at offsets: shares blocks where the file system can. ENOSYS where
 * the system has no such call. */
struct tenon_io_range {
    int from, to;
    uint64_t from_off, to_off;
};
ssize_t tenon_io_copy(const struct tenon_io_range *range, size_t n);

/* Takes space for bytes 0 ... n - 1, by the file system itself: never emulated by writing. */
int tenon_io_allocate(int fd, uint64_t n);

int tenon_io_chmod(int fd, mode_t mode);
int tenon_io_chown(int fd, uid_t owner, gid_t group);
int tenon_io_sync(int fd);

/* The descriptor is gone in any case. Interrupted is not an error: what was to be written was
 * synced before, or the caller wanted no promise. */
int tenon_io_close(int fd);

int tenon_io_link(int folder, const char *from, const char *to);
int tenon_io_rename(int folder, const char *from, const char *to);
/* Fails with EEXIST rather than replace; EINVAL or ENOSYS where the system cannot do that. */
int tenon_io_rename_new(int folder, const char *from, const char *to);
int tenon_io_unlink(int folder, const char *name);
int tenon_io_mkdir(const char *path, mode_t mode);
int tenon_io_rmdir(const char *path);

/* Bytes that are free for this user where `folder` is open. */
int tenon_io_space(int folder, uint64_t *out_bytes);

/* Tells the system that what was written and synced is not needed in memory. A hint: no result. */
void tenon_io_forget(int fd);

/* For tests: from the n-th call of kind `call` on (1 is the next) one call, or all if `persistent`,
 * fails with errno `error`; or reads, writes and copies do only half of what they are asked when
 * `error` is TENON_IO_SHORT. `n` 0 switches it off. tenon_io_count is the number of calls of a kind
 * since, TENON_IO_ANY for all. */
#define TENON_IO_SHORT (-1)
struct tenon_io_fault {
    enum tenon_io_call call;
    uint64_t n;
    int error;
    bool persistent;
};
void tenon_io_fail_at(const struct tenon_io_fault *fault);
uint64_t tenon_io_count(enum tenon_io_call call);

/* For tests: what was done to files and folders, told when it is done, from whatever thread did it.
 * Calls that failed are not told, but for a sync: the system may have dropped what it was to write.
 *
 *   OPEN (only for writing)            name in folder fd, flags; made is what it gave
 *   WRITE, PWRITE                      n bytes of data at off (WRITE: where fd stands)
 *   COPY                               n bytes at off, data NULL: they are in the file
 *   ALLOCATE                           bytes 0 ... n - 1
 *   CHMOD                              mode of fd
 *   SYNC                               fd, failed
 *   LINK, RENAME                       name in folder fd, now also, or only, called to
 *   UNLINK, MKDIR, RMDIR               name in folder fd */
struct tenon_io_event {
    enum tenon_io_call call;
    int fd, made, flags;
    bool failed;
    const char *name, *to;
    const void *data;
    uint64_t off;
    size_t n;
    mode_t mode;
};
typedef void (*tenon_io_watch_fn)(const struct tenon_io_event *event, void *user);

/* While nothing runs. `watch` NULL switches it off. */
void tenon_io_watch(tenon_io_watch_fn watch, void *user);

#endif
