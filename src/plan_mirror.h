/* One output file for each file of a model: where plans begin that change little. */
#ifndef TENON_PLAN_MIRROR_H
#define TENON_PLAN_MIRROR_H

#include "plan_build.h"

/* One file of the model, and what will be written for it. */
struct tenon_mirror_file {
    const char *path;               /* of the output */
    struct tenon_meta_entry *metas; /* its own, in order; to be changed by the functions below */
    size_t n_metas, room;
    uint64_t n_tensors; /* that will be in it: counted by the caller before files are added */
    uint32_t number;    /* in the plan, once added; TENON_NO_INDEX: left out */
};

/* Zero-initialise; release in any case. */
struct tenon_mirror {
    const struct tenon_model *model;
    struct tenon_plan *plan; /* owned until the caller takes it */
    struct tenon_mirror_file *files;
    size_t n_files;
    bool in_place;      /* the target is the model itself */
    uint64_t alignment; /* of all files; 0: as it is */
};

/* Begins a plan that writes every file of `model` again, by the name that follows from `target`: a
 * file; a folder, for a folder and for a set with an index; for another set the name of one file,
 * with or without the number of a member in it. Nothing is added to the plan yet. */
enum tenon_status tenon_mirror_init(struct tenon_mirror *mirror, const struct tenon_model *model,
                                    const char *target, struct tenon_error *err);

/* Frees the plan, too, unless it was taken. */
void tenon_mirror_release(struct tenon_mirror *mirror);

/* The place of `key` among a file's pairs; n_metas when it is not there. */
size_t tenon_mirror_find_meta(const struct tenon_mirror_file *file, struct tenon_str key);

/* Puts `entry`, whose bytes must outlive the plan's making, before number `at`; takes one away. */
enum tenon_status tenon_mirror_insert_meta(struct tenon_mirror_file *file, size_t at,
                                           const struct tenon_meta_entry *entry,
                                           struct tenon_error *err);
void tenon_mirror_remove_meta(struct tenon_mirror_file *file, size_t at);

/* A pair of text, borrowed. */
struct tenon_meta_entry tenon_mirror_text(struct tenon_str key, struct tenon_str value);

/* Adds the files to the plan. Pairs that count the tensors of a set follow. A file that an index
 * no longer has anything to say about is left out. */
enum tenon_status tenon_mirror_add_files(struct tenon_mirror *mirror, struct tenon_error *err);

/* True when the output is a folder, whose config goes along. */
bool tenon_mirror_has_config(const struct tenon_mirror *mirror);

#endif
