/* File names in Hugging Face folders. */
#include "hf_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "probe.h"

/* The longest name that a file system takes. */
#define MOST_NAME_BYTES 255

static const char safetensors[] = ".safetensors";

char *tenon_hf_name_index(struct tenon_arena *arena, const char *name,
                          const struct tenon_split_name *parts)
{
    size_t stem = parts->prefix_len - 1; /* without the separator */
    size_t size = stem + sizeof(".safetensors.index..json");
    char *out = tenon_arena_alloc(arena, size, 1);
    const char *dot = memchr(name, '.', stem);

    if (out == NULL)
        return NULL;
    if (tenon_text_ends_with(name, stem, safetensors))
        snprintf(out, size, "%.*s.index.json", (int)stem, name);
    else if (dot != NULL)
        snprintf(out, size, "%.*s%s.index%.*s.json", (int)(dot - name), name, safetensors,
                 (int)(name + stem - dot), dot);
    else
        snprintf(out, size, "%.*s%s.index.json", (int)stem, name, safetensors);
    return out;
}

const char *tenon_hf_fault_of_name(struct tenon_str name)
{
    if (name.len == 0)
        return "is empty";
    if (name.len > MOST_NAME_BYTES)
        return "is longer than a file name can be";
    if (memchr(name.data, '\0', name.len) != NULL)
        return "contains a NUL character";
    if (memchr(name.data, '/', name.len) != NULL || memchr(name.data, '\\', name.len) != NULL)
        return "is a path, and shards must lie beside their index";
    if (name.len >= 2 && name.data[1] == ':')
        return "names a drive, and shards must lie beside their index";
    if (!tenon_text_ends_with(name.data, name.len, safetensors))
        return "does not end in .safetensors";
    return NULL;
}

char *tenon_hf_join(struct tenon_arena *arena, const char *prefix, const char *name)
{
    size_t n = strlen(prefix), m = strlen(name), bytes;
    char *out;

    if (!tenon_size_add(&bytes, n, m) || !tenon_size_add(&bytes, bytes, 1))
        return NULL;
    out = tenon_arena_alloc(arena, bytes, 1);
    if (out != NULL) {
        memcpy(out, prefix, n);
        memcpy(out + n, name, m);
    }
    return out;
}

/* --- listing --- */

/* What weights and the files beside them end in, in the formats that people leave in folders. */
static const char *const endings[] = {".safetensors", ".gguf",   ".json",  ".bin",   ".pt",
                                      ".pth",         ".ckpt",   ".h5",    ".onnx",  ".msgpack",
                                      ".npz",         ".tflite", ".model", ".index", ".txt"};

static bool can_matter(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (tenon_text_ends_with(name, n, endings[i]))
            return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum tenon_status add_name(struct tenon_hf_listing *listing, struct tenon_arena *arena,
                                  const char *name, struct tenon_error *err)
{
    char **names = tenon_mem_grow(listing->names, &listing->room, listing->n, sizeof(*names));
    char *copy;

    if (names == NULL)
        return tenon_fail_memory(err);
    listing->names = names;
    copy = tenon_arena_text(arena, name, strlen(name));
    if (copy == NULL)
        return tenon_fail_memory(err);
    names[listing->n++] = copy;
    return TENON_OK;
}

enum tenon_status tenon_hf_listing_read(struct tenon_hf_listing *listing, struct tenon_arena *arena,
                                        const char *prefix, struct tenon_error *err)
{
    const char *path = prefix[0] != '\0' ? prefix : ".";
    DIR *dir = opendir(path);
    enum tenon_status st = TENON_OK;

    if (dir == NULL) {
        st = tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot open the folder");
        tenon_fail_path(err, path);
        return st;
    }
    while (st == TENON_OK) {
        const struct dirent *entry;

        errno = 0;
        entry = readdir(dir);
        if (entry == NULL)
            break;
        if (can_matter(entry->d_name))
            st = add_name(listing, arena, entry->d_name, err);
    }
    if (st == TENON_OK && errno != 0) {
        st = tenon_fail_errno(err, errno, TENON_NO_OFFSET, "cannot read the folder");
        tenon_fail_path(err, path);
    }
    closedir(dir);
    if (listing->n != 0)
        qsort(listing->names, listing->n, sizeof(char *), compare_names);
    return st;
}

void tenon_hf_listing_release(struct tenon_hf_listing *listing)
{
    tenon_mem_free(listing->names);
    memset(listing, 0, sizeof(*listing));
}

bool tenon_hf_listing_has(const struct tenon_hf_listing *listing, const char *name)
{
    return listing->n != 0 &&
           bsearch(&name, listing->names, listing->n, sizeof(char *), compare_names) != NULL;
}
