/* Runs a target over files and folders of inputs, for compilers without a fuzzer: what was once
 * found stays found. */
#include "fuzz_model.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes;
    long size;

    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
        perror(path);
        exit(1);
    }
    rewind(f);
    /* Exactly as long as the input, so that a sanitizer sees the byte beyond. */
    bytes = malloc(size > 0 ? (size_t)size : 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, f) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
}

/* How many inputs there were. */
static unsigned long replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    unsigned long n = 0;
    char name[4096];

    if (folder == NULL) {
        perror(path);
        exit(1);
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        replay_file(name);
        n++;
    }
    closedir(folder);
    return n;
}

int main(int argc, char **argv)
{
    unsigned long n = 0;

    for (int i = 1; i < argc; i++)
        n += replay_folder(argv[i]);
    printf("%lu inputs\n", n);
    return n > 0 ? 0 : 1;
}
