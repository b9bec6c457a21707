/* What lies where a target is to be. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "io.h"
#include "mem.h"
#include "sink_private.h"
#include "tenon/text.h"

/* As the kernel counts. */
#define MOST_LINKS 40

/* Bytes of a name that its temporary name keeps: with dots, number and ending within 255. */
#define MOST_NAME 200

/* A hash in hexadecimal has at least that many digits (a git blob's). */
#define LEAST_HASH 40

void tenon_sink_note(const struct tenon_sink *sink, const char *format, ...)
{
    char raw[PATH_MAX + 200], text[PATH_MAX + 200];
    va_list args;

    if (sink->options.note == NULL)
        return;
    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    tenon_text_sanitise(text, sizeof(text), raw, strlen(raw));
    sink->options.note(text, sink->options.user);
}

enum tenon_status tenon_sink_fail(const struct tenon_sink_file *file, int error,
                                  struct tenon_error *err, const char *format, ...)
{
    char text[TENON_ERROR_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tenon_fail_errno(err, error, TENON_NO_OFFSET, "%s", text);
    tenon_fail_path(err, strcmp(file->path, "-") == 0 ? "standard output" : file->path);
    return TENON_ERR_IO;
}

char *tenon_sink_name_beside(const char *name, const char *what, unsigned number)
{
    char text[NAME_MAX + 1], *copy;
    long pid = (long)getpid();

    if (number == 0)
        snprintf(text, sizeof(text), ".%.*s.%ld.%s", MOST_NAME, name, pid, what);
    else
        snprintf(text, sizeof(text), ".%.*s.%ld.%u.%s", MOST_NAME, name, pid, number, what);
    copy = tenon_mem_alloc(strlen(text) + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static char *copy_text(const char *text, size_t len)
{
    char *copy = tenon_mem_alloc(len + 1, 1);

    if (copy != NULL)
        memcpy(copy, text, len);
    return copy;
}

/* Replaces the last component of `path` by what the link there says. */
static enum tenon_status follow_link(const struct tenon_sink_file *file, char *path,
                                     struct tenon_error *err)
{
    char link[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t keep = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    ssize_t n = tenon_io_readlink(path, link, sizeof(link));

    if (n < 0)
        return tenon_sink_fail(file, errno, err, "cannot follow the link");
    if (n > 0 && link[0] == '/')
        keep = 0;
    if (keep + (size_t)n >= PATH_MAX)
        return tenon_sink_fail(file, ENAMETOOLONG, err, "cannot follow the link");
    memcpy(path + keep, link, (size_t)n);
    path[keep + (size_t)n] = '\0';
    return TENON_OK;
}

/* A file that is named after its contents must not get others: ".../blobs/HEX". */
static bool is_blob(const char *path)
{
    static const char folder[] = "blobs/";
    const char *slash = strrchr(path, '/');
    const char *hex = slash != NULL ? slash + 1 : path;
    size_t before = (size_t)(hex - path), len = sizeof(folder) - 1;

    if (before < len || memcmp(hex - len, folder, len) != 0 ||
        (before > len && hex[-(ptrdiff_t)len - 1] != '/'))
        return false;
    if (strncmp(hex, "sha256-", 7) == 0)
        hex += 7;
    return strlen(hex) >= LEAST_HASH && hex[strspn(hex, "0123456789abcdefABCDEF")] == '\0';
}

static enum tenon_status refuse_blob(const struct tenon_sink_file *file, struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               "is a link into a store whose files are named by their contents");
    tenon_fail_path(err, file->path);
    tenon_fail_hint(err, "write to another path");
    return TENON_ERR_MISUSE;
}

/* What is there already: a file to replace, a stream to write to, or what we refuse. */
static enum tenon_status judge_existing(struct tenon_sink_file *file, const struct stat *info,
                                        struct tenon_error *err)
{
    file->exists = true;
    file->device = info->st_dev;
    file->inode = info->st_ino;
    file->mode = info->st_mode & 0777;
    file->owner = info->st_uid;
    file->group = info->st_gid;
    file->links = (uint64_t)info->st_nlink;
    if (S_ISREG(info->st_mode))
        return TENON_OK;
    file->kind = TENON_SINK_STREAM;
    if (S_ISFIFO(info->st_mode) || S_ISCHR(info->st_mode))
        return TENON_OK;
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               S_ISDIR(info->st_mode) ? "is a folder, a file is to be written"
                                      : "not a regular file, will not be replaced");
    tenon_fail_path(err, file->path);
    return TENON_ERR_MISUSE;
}

/* Follows links from `path` (PATH_MAX bytes) to the end. */
static enum tenon_status walk_links(struct tenon_sink_file *file, char *path,
                                    struct tenon_error *err)
{
    struct stat info;
    enum tenon_status st = TENON_OK;

    for (unsigned links = 0;; links++) {
        if (links > 0 && is_blob(path)) /* also one that is still to be fetched */
            return refuse_blob(file, err);
        if (tenon_io_stat(AT_FDCWD, path, &info, false) != 0)
            return errno == ENOENT ? TENON_OK
                                   : tenon_sink_fail(file, errno, err, "cannot write here");
        if (!S_ISLNK(info.st_mode))
            return judge_existing(file, &info, err);
        if (links >= MOST_LINKS)
            return tenon_sink_fail(file, ELOOP, err, "cannot follow the link");
        st = follow_link(file, path, err);
        if (st != TENON_OK)
            return st;
    }
}

/* Opens the folder at `path`, which the set then owns; on failure it is freed. */
static enum tenon_status add_folder(struct tenon_sink *sink, const struct tenon_sink_file *file,
                                    char *path, struct tenon_error *err)
{
    struct tenon_sink_folder *folders =
        tenon_mem_grow(sink->folders, &sink->folder_room, sink->n_folders, sizeof(*folders));
    struct stat info;
    int fd = -1;
    enum tenon_status st = TENON_OK;

    if (folders == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    sink->folders = folders;
    fd = tenon_io_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || tenon_io_fstat(fd, &info) != 0) {
        st = tenon_sink_fail(file, errno, err, "cannot write into this folder");
        goto out;
    }
    folders[sink->n_folders++] = (struct tenon_sink_folder){
        .path = path, .fd = fd, .device = info.st_dev, .inode = info.st_ino};
    return TENON_OK;
out:
    if (fd >= 0)
        tenon_io_close(fd);
    tenon_mem_free(path);
    return st;
}

/* Finds the folder of `file` among those that are open, or opens it. */
static enum tenon_status find_folder(struct tenon_sink *sink, struct tenon_sink_file *file,
                                     struct tenon_error *err)
{
    size_t len = (size_t)(file->name - file->resolved);
    char *path = len > 0 ? copy_text(file->resolved, len) : copy_text("./", 2);

    if (path == NULL)
        return tenon_fail_memory(err);
    for (file->folder = 0; file->folder < sink->n_folders; file->folder++)
        if (strcmp(sink->folders[file->folder].path, path) == 0) {
            tenon_mem_free(path);
            return TENON_OK;
        }
    return add_folder(sink, file, path, err);
}

/* Standard output can be a file: one that is read must not grow by what is written. What cannot be
 * examined is nobody's input; writing will tell. */
static void look_at_output(struct tenon_sink_file *file)
{
    struct stat info;

    file->kind = TENON_SINK_STREAM;
    if (tenon_io_fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    file->exists = true;
    file->device = info.st_dev;
    file->inode = info.st_ino;
}

enum tenon_status tenon_sink_resolve(struct tenon_sink *sink, struct tenon_sink_file *file,
                                     struct tenon_error *err)
{
    char path[PATH_MAX];
    size_t len = strlen(file->path);
    enum tenon_status st;

    if (strcmp(file->path, "-") == 0) {
        look_at_output(file);
        return TENON_OK;
    }
    if (len == 0 || len >= sizeof(path))
        return tenon_sink_fail(file, len == 0 ? ENOENT : ENAMETOOLONG, err, "cannot write here");
    memcpy(path, file->path, len + 1);
    st = walk_links(file, path, err);
    if (st != TENON_OK || file->kind == TENON_SINK_STREAM)
        return st;
    file->resolved = copy_text(path, strlen(path));
    if (file->resolved == NULL)
        return tenon_fail_memory(err);
    file->name = strrchr(file->resolved, '/');
    file->name = file->name != NULL ? file->name + 1 : file->resolved;
    if (file->name[0] == '\0')
        return tenon_sink_fail(file, EISDIR, err, "cannot write here");
    return find_folder(sink, file, err);
}

/* --- what others left --- */

/* The process in what follows the name: "PID.tmp", "PID.N.tmp", or the same with "old". 0 when it
 * is not of that form. */
static long parse_process(const char *text, bool *out_old)
{
    size_t digits = strspn(text, "0123456789");
    long pid = 0;

    if (digits == 0 || digits > 9)
        return 0;
    for (size_t i = 0; i < digits; i++)
        pid = pid * 10 + (text[i] - '0');
    text += digits;
    digits = text[0] == '.' ? strspn(text + 1, "0123456789") : 0;
    if (digits > 0)
        text += digits + 1;
    *out_old = strcmp(text, ".old") == 0;
    return *out_old || strcmp(text, ".tmp") == 0 ? pid : 0;
}

/* Notes `entry` when a process that is gone made it for `file`. */
static void note_entry(const struct tenon_sink *sink, const struct tenon_sink_file *file,
                       const char *entry)
{
    size_t len = strnlen(file->name, MOST_NAME);
    const char *folder = sink->folders[file->folder].path;
    bool old = false;
    long pid;

    if (entry[0] != '.' || strncmp(entry + 1, file->name, len) != 0 || entry[len + 1] != '.')
        return;
    pid = parse_process(entry + len + 2, &old);
    if (pid == 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
        return;
    tenon_sink_note(sink,
                    old ? "'%s%s' is a file that a run which was killed had put aside"
                        : "'%s%s' is the unfinished file of a run that was killed",
                    folder, entry);
}

void tenon_sink_note_stale(const struct tenon_sink *sink)
{
    if (sink->options.note == NULL)
        return;
    for (size_t i = 0; i < sink->n_folders; i++) {
        DIR *dir = opendir(sink->folders[i].path);
        const struct dirent *entry;

        while (dir != NULL && (entry = readdir(dir)) != NULL)
            for (size_t k = 0; entry->d_name[0] == '.' && k < sink->n_files; k++)
                if (sink->files[k].kind == TENON_SINK_FILE && sink->files[k].folder == i)
                    note_entry(sink, &sink->files[k], entry->d_name);
        if (dir != NULL)
            closedir(dir);
    }
}
