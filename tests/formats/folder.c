/* Folders of files made for a test. */
#include "folder.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void folder_make(char path[512])
{
    const char *base = getenv("TMPDIR");

    snprintf(path, 512, "%s/tenon-test-XXXXXX", base != NULL ? base : ".");
    ck_assert_ptr_nonnull(mkdtemp(path));
    strcat(path, "/");
}

void folder_remove(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL) {
        char name[1024];

        snprintf(name, sizeof(name), "%s%s", path, entry->d_name);
        unlink(name);
    }
    closedir(dir);
    ck_assert_int_eq(rmdir(path), 0);
}

void folder_write(const char *path, const char *name, const void *bytes, size_t n)
{
    char full[1024];
    FILE *f;

    snprintf(full, sizeof(full), "%s%s", path, name);
    f = fopen(full, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

void folder_text(const char *path, const char *name, const char *text)
{
    folder_write(path, name, text, strlen(text));
}

void folder_shard(const char *path, const char *name, const char *names, unsigned char first)
{
    char file[4096], word[256];
    size_t used = 8, n = 0, len;

    used += (size_t)snprintf(file + used, sizeof(file) - used, "{");
    while (sscanf(names, " %255s", word) == 1) {
        names = strstr(names, word) + strlen(word);
        used += (size_t)snprintf(file + used, sizeof(file) - used,
                                 "%s\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%zu,"
                                 "%zu]}",
                                 n != 0 ? "," : "", word, n, n + 1);
        n++;
    }
    used += (size_t)snprintf(file + used, sizeof(file) - used, "}");
    len = used - 8;
    for (size_t i = 0; i < 8; i++)
        file[i] = (char)(len >> (8 * i));
    for (size_t i = 0; i < n; i++)
        file[used++] = (char)(first + i);
    folder_write(path, name, file, used);
}

bool has_finding(const struct tenon_model *model, const char *code, const char *subject)
{
    for (size_t i = 0; i < tenon_model_n_findings(model); i++) {
        const struct tenon_finding *f = tenon_model_finding(model, i);

        if (strcmp(f->code, code) == 0 && (subject == NULL || strcmp(f->subject, subject) == 0))
            return true;
    }
    return false;
}
