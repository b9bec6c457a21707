/* Headers of a plan's files, made on the way out. */
#include "fail.h"
#include "plan_build.h"

/* Bytes handed out at a time. */
#define WINDOW_BYTES ((size_t)64 * 1024)

/* A header in memory. */
struct kept {
    const unsigned char *bytes;
    size_t n;
};

enum tenon_status tenon_plan_set_head(struct tenon_plan *plan, uint32_t file,
                                      struct tenon_plan_head head, uint64_t n,
                                      struct tenon_error *err)
{
    struct tenon_plan_head *own = tenon_arena_alloc(&plan->arena, 1, sizeof(*own));

    if (own == NULL)
        return tenon_fail_memory(err);
    *own = head;
    plan->files[file].head = own;
    plan->files[file].head_bytes = n;
    return TENON_OK;
}

enum tenon_status tenon_plan_add_made(struct tenon_plan *plan, const char *path,
                                      struct tenon_plan_head head, uint64_t len, bool last,
                                      struct tenon_error *err)
{
    struct tenon_plan_file file = {
        .kind = TENON_PLAN_TEXT, .path = path, .bytes = len, .last = last};
    uint32_t i = 0;
    enum tenon_status st = tenon_plan_add_file(plan, &file, &i, err);

    return st == TENON_OK ? tenon_plan_set_head(plan, i, head, len, err) : st;
}

static enum tenon_status put_kept(const struct tenon_plan *plan, uint32_t file, const void *state,
                                  struct tenon_window *to)
{
    const struct kept *kept = state;

    (void)plan;
    (void)file;
    tenon_window_put(to, kept->bytes, kept->n);
    return to->st;
}

enum tenon_status tenon_plan_keep_head(struct tenon_plan *plan, uint32_t file, const void *bytes,
                                       size_t n, struct tenon_error *err)
{
    struct kept *kept = tenon_arena_alloc(&plan->arena, 1, sizeof(*kept));

    if (kept == NULL)
        return tenon_fail_memory(err);
    kept->n = n;
    kept->bytes = (const unsigned char *)tenon_arena_text(&plan->arena, bytes, n);
    if (kept->bytes == NULL)
        return tenon_fail_memory(err);
    return tenon_plan_set_head(plan, file, (struct tenon_plan_head){put_kept, kept}, n, err);
}

enum tenon_status tenon_plan_make_head(const struct tenon_plan *plan, size_t file,
                                       struct tenon_window *to)
{
    const struct tenon_plan_file *f = &plan->files[file];
    uint64_t before = to->n;
    enum tenon_status st = TENON_OK;

    if (f->text != NULL)
        tenon_window_put(to, f->text, (size_t)f->head_bytes);
    else if (f->head != NULL)
        st = f->head->put(plan, (uint32_t)file, f->head->state, to);
    if (st == TENON_OK)
        st = tenon_window_end(to);
    if (st == TENON_OK && to->n - before != f->head_bytes)
        st = tenon_fail(to->err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                        "the layout of '%s' does not hold", f->path);
    return st;
}

enum tenon_status tenon_plan_put_head(const struct tenon_plan *plan, size_t i, tenon_put_fn put,
                                      void *user, struct tenon_error *err)
{
    struct tenon_window window = {.put = put, .user = user, .room = WINDOW_BYTES, .err = err};
    enum tenon_status st;

    if (!plan->laid_out)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the plan has no layout");
    window.bytes = tenon_mem_alloc(window.room, 1);
    if (window.bytes == NULL)
        return tenon_fail_memory(err);
    st = tenon_plan_make_head(plan, i, &window);
    tenon_mem_free(window.bytes);
    return st;
}
