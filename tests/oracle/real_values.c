#include "real_values.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions `file` at the payload of a safetensors file: after an 8-byte length and the header. */
static bool skip_header(FILE *file)
{
    unsigned char head[8];
    uint64_t length = 0;

    if (fread(head, 1, sizeof(head), file) != sizeof(head))
        return false;
    for (int k = 7; k >= 0; k--)
        length = length << 8 | head[k];
    return length < (1u << 30) && fseek(file, (long)length, SEEK_CUR) == 0;
}

static size_t read_file(const char *path, float *values, size_t n)
{
    FILE *file = fopen(path, "rb");
    size_t got = 0;

    if (file == NULL)
        return 0;
    if (skip_header(file))
        got = fread(values, sizeof(*values), n, file);
    fclose(file);
    return got;
}

static void clear_not_finite(float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(values[i] - values[i] == 0))
            values[i] = 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum { MAX_FILES = 256, MAX_NAME = 256 };

/* Sorted, so that every run sees the same values. */
static size_t list_files(const char *folder, char (*names)[MAX_NAME])
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    size_t n = 0;

    while (dir != NULL && n < MAX_FILES && (entry = readdir(dir)) != NULL)
        if (strlen(entry->d_name) < MAX_NAME && strstr(entry->d_name, ".safetensors") != NULL)
            snprintf(names[n++], MAX_NAME, "%s", entry->d_name);
    if (dir != NULL)
        closedir(dir);
    qsort(names, n, MAX_NAME, compare_names);
    return n;
}

size_t real_values_read(float *values, size_t n)
{
    static char names[MAX_FILES][MAX_NAME];
    const char *root = getenv("TENON_REAL_DIR");
    char path[4096];
    size_t n_files, got = 0;

    if (root == NULL || root[0] == '\0')
        return 0;
    snprintf(path, sizeof(path), "%s/safetensors", root);
    n_files = list_files(path, names);
    for (size_t i = 0; i < n_files && got < n; i++) {
        snprintf(path, sizeof(path), "%s/safetensors/%s", root, names[i]);
        got += read_file(path, values + got, n - got);
    }
    clear_not_finite(values, got);
    return got;
}
