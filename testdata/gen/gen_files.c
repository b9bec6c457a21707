/* Sets of files: in memory, and written into a folder. */
#include "gen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what, const char *name)
{
    fprintf(stderr, "tenon_gen: %s: %s\n", name, what);
    exit(1);
}

struct gen_bytes *gen_files_add(struct gen_files *f, const char *name)
{
    f->file = realloc(f->file, (f->n + 1) * sizeof(*f->file));
    if (f->file == NULL || strlen(name) >= sizeof(f->file->name))
        die("cannot add the file", name);
    f->file[f->n] = (struct gen_file){0};
    memcpy(f->file[f->n].name, name, strlen(name));
    return &f->file[f->n++].bytes;
}

void gen_files_release(struct gen_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        gen_bytes_release(&f->file[i].bytes);
    free(f->file);
    *f = (struct gen_files){0};
}

static void join(char *path, size_t size, const char *folder, const char *name)
{
    int n = snprintf(path, size, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);

    if (n < 0 || (size_t)n >= size)
        die("path too long", name);
}

static void write_regular(const struct gen_file *file, const char *path)
{
    FILE *out = fopen(path, "wb");

    if (out == NULL || fwrite(file->bytes.data, 1, file->bytes.n, out) != file->bytes.n ||
        fclose(out) != 0)
        die(strerror(errno), path);
    if (file->sparse > file->bytes.n && truncate(path, (off_t)file->sparse) != 0)
        die(strerror(errno), path);
}

static void write_link(const struct gen_file *file, const char *path)
{
    char target[4096];

    if (file->bytes.n >= sizeof(target))
        die("target too long", path);
    memcpy(target, file->bytes.data, file->bytes.n);
    target[file->bytes.n] = '\0';
    if (symlink(target, path) != 0)
        die(strerror(errno), path);
}

void gen_files_write(const struct gen_files *f, const char *folder, char *path, size_t size)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct gen_file *file = &f->file[i];

        join(path, size, folder, file->name);
        if (file->kind == GEN_FILE_REGULAR)
            write_regular(file, path);
        else if (file->kind == GEN_FILE_LINK)
            write_link(file, path);
        else if ((file->kind == GEN_FILE_FIFO ? mkfifo(path, 0600) : mkdir(path, 0700)) != 0)
            die(strerror(errno), path);
    }
    if (f->open[0] != '\0')
        join(path, size, folder, f->open);
    else
        join(path, size, folder, f->folder || f->n == 0 ? "" : f->file[0].name);
}

void gen_files_remove(const struct gen_files *f, const char *folder)
{
    char path[4096];

    for (size_t i = f->n; i-- > 0;) {
        join(path, sizeof(path), folder, f->file[i].name);
        if (remove(path) != 0)
            die(strerror(errno), path);
    }
}
