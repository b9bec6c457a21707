#include "write_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_error.h"

enum { ELEMENTS = 3000 };

char scene_folder[128];

static struct tiny_model tiny;
static char path_room[16][192];
static size_t path_next;

const char *scene_path(const char *name)
{
    char *path = path_room[path_next++ % 16];

    snprintf(path, sizeof(path_room[0]), "%s/%s", scene_folder, name);
    return path;
}

static struct scene_file *watch(struct scene *scene, const char *name, const char *before, size_t n)
{
    struct scene_file *file = &scene->files[scene->n_files++];

    ck_assert_uint_le(scene->n_files, SCENE_MOST_FILES);
    file->name = name;
    file->before = before;
    file->n_before = n;
    file->last = false;
    unlink(scene_path(name));
    if (before != NULL)
        plan_write_file(scene_path(name), before, n);
    return file;
}

static void make_tiny(void)
{
    static float values[ELEMENTS];

    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)i - 100;
    tiny_begin(&tiny);
    tiny_add(&tiny, "a", TENON_DTYPE_F32, 30, ELEMENTS / 30, values);
    tiny_add(&tiny, "b", TENON_DTYPE_F32, 30, ELEMENTS / 30, values);
    tiny_end(&tiny, "");
}

static void add_tensor(struct tenon_plan *plan, const struct scene *scene, const char *name,
                       enum tenon_dtype dtype, uint32_t file)
{
    static const uint64_t dims[2] = {30, ELEMENTS / 30};
    struct tenon_plan_source source = plan_source(scene->model, name);
    struct tenon_plan_tensor tensor = {.name = {name, 1},
                                       .dtype = dtype,
                                       .n_dims = 2,
                                       .dims = dims,
                                       .file = file,
                                       .sources = &source,
                                       .n_sources = 1};
    struct tenon_error err = {0};

    ck_ok(tenon_plan_add_tensor(plan, &tensor, &err), err);
}

/* --- the scenes --- */

static void open_input(struct scene *scene)
{
    scene->model = plan_model_of_file(&tiny, scene_path("input"));
    watch(scene, "input", (const char *)tiny.data, tiny.used);
    /* Written anew: not the file that the model was opened from. */
    tenon_model_free(scene->model);
    scene->model = plan_model_of_file(&tiny, scene_path("input"));
}

static void set_cast(struct scene *scene)
{
    open_input(scene);
    watch(scene, "out", NULL, 0);
    scene->options.threads = 2;
    scene->options.verify = true;
    scene->plan = plan_begin(scene_path("out"));
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F16, 0);
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_BF16, 0);
}

static void set_copy(struct scene *scene)
{
    open_input(scene);
    watch(scene, "out", "old", 3);
    scene->options.force = true;
    scene->plan = plan_begin(scene_path("out"));
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F32, 0);
}

static void set_in_place(struct scene *scene)
{
    open_input(scene);
    scene->options.in_place = true;
    scene->plan = plan_begin(scene_path("input"));
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_F32, 0);
}

static void set_text(struct scene *scene)
{
    struct tenon_error err = {0};

    watch(scene, "config", "{\"tie\": true}", 13);
    scene->options.force = true;
    ck_ok(tenon_plan_new(scene_path("config"), &scene->plan, &err), err);
    ck_ok(
        tenon_plan_add_text(scene->plan, scene_path("config"), "{\"tie\": false}", 14, false, &err),
        err);
}

/* Two shards and an index; what the old index named besides goes away. */
static void add_set(struct scene *scene, const char *shard1, const char *shard2, const char *index)
{
    struct tenon_plan_file second = {.kind = TENON_PLAN_MODEL, .path = shard2, .format = "test"};
    struct tenon_error err = {0};

    scene->plan = plan_begin(shard1);
    ck_ok(tenon_plan_add_text(scene->plan, index, "[1, 2]", 6, true, &err), err);
    ck_ok(tenon_plan_add_file(scene->plan, &second, NULL, &err), err);
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F32, 0);
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_F16, 2);
}

static void set_set(struct scene *scene)
{
    struct tenon_error err = {0};

    scene->model = tiny.model;
    watch(scene, "1", "first", 5);
    watch(scene, "2", NULL, 0);
    watch(scene, "index", "[1, 3]", 6)->last = true;
    watch(scene, "3", "third", 5);
    scene->options.force = true;
    add_set(scene, scene_path("1"), scene_path("2"), scene_path("index"));
    ck_ok(tenon_plan_add_stale(scene->plan, scene_path("3"), &err), err);
}

/* A folder that is new, with one in it that holds nothing but a folder, and an index. */
static void set_folder(struct scene *scene)
{
    struct tenon_plan_file copy = {.kind = TENON_PLAN_COPY};
    struct tenon_error err = {0};

    open_input(scene);
    scene->new_folder = true;
    watch(scene, "new/model", NULL, 0);
    watch(scene, "new/sub/deep/copy", NULL, 0);
    watch(scene, "new/index", NULL, 0)->last = true;
    scene->plan = plan_begin(scene_path("new/model"));
    scene->plan->folder =
        tenon_arena_text(&scene->plan->arena, scene_path("new"), strlen(scene_path("new")));
    copy.path = scene_path("new/sub/deep/copy");
    copy.copy_of = scene_path("input");
    copy.bytes = tiny.used;
    ck_ok(tenon_plan_add_file(scene->plan, &copy, NULL, &err), err);
    ck_ok(tenon_plan_add_text(scene->plan, scene_path("new/index"), "[1]", 3, true, &err), err);
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_F32, 0);
}

/* A link to a file in another folder. */
static void set_link(struct scene *scene)
{
    open_input(scene);
    mkdir(scene_path("real"), 0700);
    watch(scene, "real/out", "old", 3);
    unlink(scene_path("out"));
    ck_assert_int_eq(symlink("real/out", scene_path("out")), 0);
    scene->options.force = true;
    scene->plan = plan_begin(scene_path("out"));
    add_tensor(scene->plan, scene, "a", TENON_DTYPE_BF16, 0);
}

/* A file with two names. */
static void set_hard_link(struct scene *scene)
{
    open_input(scene);
    watch(scene, "out", "old", 3);
    watch(scene, "other", "old", 3);
    unlink(scene_path("other"));
    ck_assert_int_eq(link(scene_path("out"), scene_path("other")), 0);
    scene->options.force = true;
    scene->plan = plan_begin(scene_path("out"));
    add_tensor(scene->plan, scene, "b", TENON_DTYPE_F32, 0);
}

/* Syncs: of each file; of each folder with targets at the end, and of several targets also before
 * those that are named last; of the folder above each new one; of what is read back; and of the
 * folders once more after something that was replaced went away. */
struct scene scenes[] = {
    {.what = "a cast to a new file", .set = set_cast, .n_syncs = 3},
    {.what = "a copy over a file", .set = set_copy, .n_syncs = 2},
    {.what = "a rewrite in place", .set = set_in_place, .n_syncs = 2},
    {.what = "an edited text", .set = set_text, .n_syncs = 2},
    {.what = "shards and an index over others", .set = set_set, .has_stale = true, .n_syncs = 6},
    {.what = "a new folder", .set = set_folder, .n_syncs = 10},
    {.what = "a link to a file", .set = set_link, .n_syncs = 2},
    {.what = "a file with two names", .set = set_hard_link, .n_syncs = 2},
};
_Static_assert(sizeof(scenes) / sizeof(scenes[0]) == N_SCENES, "the number of scenes");

static void remove_folders(void)
{
    unlink(scene_path("new/model"));
    unlink(scene_path("new/index"));
    unlink(scene_path("new/sub/deep/copy"));
    rmdir(scene_path("new/sub/deep"));
    rmdir(scene_path("new/sub"));
    rmdir(scene_path("new"));
}

void scene_begin(struct scene *scene)
{
    struct tenon_run_options none = {.threads = 1};

    scene->n_files = 0;
    scene->options = none;
    scene->model = NULL;
    remove_folders();
    scene->set(scene);
    scene->n_targets = tenon_plan_n_files(scene->plan);
    plan_lay_out(scene->plan);
}

void scene_end(struct scene *scene)
{
    tenon_plan_free(scene->plan);
    if (scene->model != tiny.model)
        tenon_model_free(scene->model);
}

enum tenon_status scene_run(const struct scene *scene)
{
    struct tenon_error err = {0};
    enum tenon_status st = tenon_plan_run(scene->plan, &scene->options, &err);

    ck_assert_int_eq(st, err.status);
    if (st != TENON_OK)
        ck_assert_str_ne(err.message, "");
    return st;
}

size_t scene_count_strays(void)
{
    static const char *const folders[] = {"", "new", "new/sub", "new/sub/deep", "real"};
    size_t n = 0;

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (access(scene_path(folders[i]), F_OK) == 0)
            n += plan_count_hidden(scene_path(folders[i]));
    return n;
}

void scene_remove_strays(void)
{
    char command[256];

    if (scene_count_strays() == 0) /* the command costs more than a run */
        return;
    snprintf(command, sizeof(command), "find %s -name '.*.*' -type f -delete", scene_folder);
    ck_assert_int_eq(system(command), 0);
}

void scene_learn(struct scene *scene, uint64_t *counts)
{
    static const struct tenon_io_fault none;

    scene_begin(scene);
    tenon_io_fail_at(&none);
    ck_assert_int_eq(scene_run(scene), TENON_OK);
    for (int call = 0; call < TENON_IO_END; call++)
        counts[call] = tenon_io_count((enum tenon_io_call)call);
    for (size_t i = 0; i < scene->n_files; i++) {
        struct scene_file *file = &scene->files[i];

        free(file->after);
        file->after = plan_read_file(scene_path(file->name), &file->n_after);
    }
    ck_assert_uint_eq(scene_count_strays(), 0);
    ck_assert_uint_eq(counts[TENON_IO_SYNC], scene->n_syncs);
    scene_end(scene);
}

void scenes_set_up(void)
{
    snprintf(scene_folder, sizeof(scene_folder), "%s/write_scenes_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".");
    ck_assert_ptr_nonnull(mkdtemp(scene_folder));
    make_tiny();
}

void scenes_tear_down(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf %s", scene_folder);
    ck_assert_int_eq(system(command), 0);
    for (size_t i = 0; i < N_SCENES; i++)
        for (size_t k = 0; k < SCENE_MOST_FILES; k++) {
            free(scenes[i].files[k].after);
            scenes[i].files[k].after = NULL;
        }
    tiny_free(&tiny);
}
