/* Runs that write, of several kinds, each in a folder of its own: what they find there, what they
 * do, what they leave. For tests of what happens when something goes wrong meanwhile. */
#ifndef TENON_TESTS_WRITE_SCENES_H
#define TENON_TESTS_WRITE_SCENES_H

#include "io.h"
#include "plan_files.h"

enum { SCENE_MOST_FILES = 4 };

/* A file that the run may touch: what it holds before and after (NULL: it is not there). */
struct scene_file {
    const char *name; /* in the folder */
    const char *before;
    unsigned char *after;
    size_t n_before, n_after;
    bool last; /* names the others: gets its name after them */
};

struct scene {
    const char *what;
    /* Writes the files that are there before, opens the model, builds the plan. */
    void (*set)(struct scene *scene);
    struct tenon_run_options options;
    struct tenon_model *model;
    struct tenon_plan *plan;
    struct scene_file files[SCENE_MOST_FILES];
    size_t n_files, n_targets;
    bool new_folder;  /* the plan makes it */
    bool has_stale;   /* something that was replaced goes away after the commit */
    uint64_t n_syncs; /* of files and folders, without a fault */
};

extern struct scene scenes[];
enum { N_SCENES = 8 };

/* The folder that they all write to, made and removed by these two. In memory where the system has
 * such a place: the syncs are counted, not waited for. */
extern char scene_folder[128];
void scenes_set_up(void);
void scenes_tear_down(void);

/* A path in the folder, in storage that is used in turn. */
const char *scene_path(const char *name);

/* Sets a scene up, lays its plan out; the options can still be changed. */
void scene_begin(struct scene *scene);
void scene_end(struct scene *scene);

/* Runs the plan. */
enum tenon_status scene_run(const struct scene *scene);

/* Begins, runs without a fault and ends, to learn what the files hold afterwards, and how many
 * calls of each kind (TENON_IO_END of them) that takes. */
void scene_learn(struct scene *scene, uint64_t *counts);

/* Unfinished files, and those put aside. */
size_t scene_count_strays(void);
void scene_remove_strays(void);

#endif
