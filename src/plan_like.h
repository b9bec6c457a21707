/* Containers as plans see them: which there are, and files that go on being what they were. */
#ifndef TENON_PLAN_LIKE_H
#define TENON_PLAN_LIKE_H

#include "plan_build.h"

/* One row a container that plans can be made for. */
struct tenon_container {
    const char *format;    /* name of the file format */
    const char *title;     /* for people */
    const char *extension; /* with its dot */
};

enum { TENON_CONTAINER_GGUF = 0, TENON_CONTAINER_SAFETENSORS = 1, TENON_N_CONTAINERS };
extern const struct tenon_container tenon_containers[TENON_N_CONTAINERS];

/* The row of that format, or NULL. */
const struct tenon_container *tenon_container_find(const char *format);

/* The row whose extension `path` has, whatever its case, or NULL. */
const struct tenon_container *tenon_container_of_path(const char *path);

/* The container of the model's files. CANNOT_REPRESENT when it is none of the list. */
enum tenon_status tenon_container_of_model(const struct tenon_model *model,
                                           const struct tenon_container **out,
                                           struct tenon_error *err);

/* Notes, where `model` is a folder with more than tensors, that the rest stays behind. NO_MEMORY
 * only. */
enum tenon_status tenon_plan_note_left(struct tenon_plan *plan, const struct tenon_model *model,
                                       struct tenon_error *err);

/* A file with tensors, of the version, byte order and alignment that the model's first file has;
 * version 1 of GGUF, which nothing writes, becomes the writer's choice. No path, no metadata. */
struct tenon_plan_file tenon_plan_file_like(const struct tenon_model *model,
                                            const struct tenon_container *container);

/* How many keys describe the place of a GGUF file in a split set. */
#define TENON_SPLIT_KEYS 3

/* Whether `key` is one of them. */
bool tenon_plan_is_split_key(struct tenon_str key);

/* The model's metadata without such keys, into `*out` (tenon_mem_free), which has room for `spare`
 * more; the entries are borrowed. */
enum tenon_status tenon_plan_metas_of(const struct tenon_model *model, size_t spare,
                                      struct tenon_meta_entry **out, size_t *out_n,
                                      struct tenon_error *err);

/* Lists as losses the values of keys that another file of the set has with another value before:
 * one file can hold one of them, and that is the first. `option` is "--drop-metadata". */
enum tenon_status tenon_plan_list_repeats(struct tenon_plan *plan, const struct tenon_model *model,
                                          bool allowed, struct tenon_error *err);

#endif
