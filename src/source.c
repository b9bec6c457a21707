/* Files and memory as byte sources.
 *
 * Files are read by position and never mapped: a mapped file that somebody else cuts short kills
 * the process at the next touch, a read reports it; and for passing over payloads reads into a
 * small buffer are as fast. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "mem.h"

/* The most one system call is asked for: below every platform's own bound. */
#define MOST_PER_READ ((size_t)1 << 30)

struct tenon_source {
    const unsigned char *memory; /* NULL for a file */
    int fd;                      /* -1 for memory */
    uint64_t size;
    char path[];
};

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
    source->fd = -1;
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

/* Opens without waiting for a writer, should the path be a pipe. */
static enum tenon_status open_regular(struct tenon_source *source, struct tenon_error *err)
{
    struct stat info;

    source->fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (source->fd < 0 && errno == ENOENT)
        return tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET, "no such file or directory");
    if (source->fd < 0)
        return tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot open");
    if (fstat(source->fd, &info) != 0)
        return tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot examine");
    if (!S_ISREG(info.st_mode))
        return tenon_fail(err, TENON_ERR_NOT_RECOGNISED, TENON_NO_OFFSET,
                          "is %s, a regular file is needed", name_kind(info.st_mode));
    source->size = (uint64_t)info.st_size;
    return TENON_OK;
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
    if (source->fd >= 0)
        close(source->fd);
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

static enum tenon_status read_file(const struct tenon_source *source, uint64_t off,
                                   unsigned char *buf, size_t n, size_t *out_n,
                                   struct tenon_error *err)
{
    size_t done = 0;

    while (done < n) {
        size_t want = n - done < MOST_PER_READ ? n - done : MOST_PER_READ;
        ssize_t got = pread(source->fd, buf + done, want, (off_t)(off + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            tenon_fail_errno(err, errno, off + done, "cannot read %zu bytes", want);
            tenon_fail_path(err, source->path);
            return TENON_ERR_IO;
        }
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *out_n = done;
    return TENON_OK;
}

enum tenon_status tenon_source_read_some(const struct tenon_source *source, uint64_t off, void *buf,
                                         size_t n, size_t *out_n, struct tenon_error *err)
{
    if (off >= source->size)
        n = 0;
    else if (n > source->size - off)
        n = (size_t)(source->size - off);
    if (n == 0) {
        *out_n = 0;
        return TENON_OK;
    }
    if (source->memory == NULL)
        return read_file(source, off, buf, n, out_n, err);
    memcpy(buf, source->memory + off, n);
    *out_n = n;
    return TENON_OK;
}

enum tenon_status tenon_source_read(const struct tenon_source *source, uint64_t off, void *buf,
                                    size_t n, struct tenon_error *err)
{
    size_t got = 0;
    enum tenon_status st = tenon_source_read_some(source, off, buf, n, &got, err);

    if (st != TENON_OK || got == n)
        return st;
    tenon_fail(err, TENON_ERR_TRUNCATED, off, "%zu bytes needed here, but the file ends after %zu",
               n, got);
    if (off <= source->size && n <= source->size - off)
        tenon_fail_hint(err, "the file became shorter while it was being read");
    else
        tenon_fail_hint(err, "the download may be incomplete");
    tenon_fail_path(err, source->path);
    return TENON_ERR_TRUNCATED;
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
