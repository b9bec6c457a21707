/* What a file says about the split set that it belongs to: split.tensors.count is of all files
 * together, so that a tensor more or less in one of them changes the others. */
#include "fail.h"
#include "gguf.h"
#include "gguf_write.h"
#include "text.h"

/* The pair, or NULL. */
static const struct tenon_meta_entry *find_pair(const struct tenon_plan_file *file, const char *key)
{
    for (size_t i = 0; i < file->n_metas; i++)
        if (tenon_str_equal(file->metas[i].key, key))
            return &file->metas[i];
    return NULL;
}

/* Whether the pair has that number. */
static bool is_number(const struct tenon_meta_entry *entry, uint64_t n)
{
    int64_t number;

    return tenon_meta_value_int(&entry->value, &number) && number >= 0 && (uint64_t)number == n;
}

static enum tenon_status fail_count(struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "a set has at most %d tensors",
               INT32_MAX);
    tenon_fail_subject(err, "key", TENON_GGUF_KEY_SPLIT_TENSORS,
                       sizeof(TENON_GGUF_KEY_SPLIT_TENSORS) - 1);
    return TENON_ERR_CANNOT_REPRESENT;
}

enum tenon_status tenon_gguf_settle_set(struct tenon_plan *plan, struct tenon_plan_file *file,
                                        struct tenon_error *err)
{
    const struct tenon_meta_entry *count = find_pair(file, TENON_GGUF_KEY_SPLIT_COUNT);
    const struct tenon_meta_entry *old = find_pair(file, TENON_GGUF_KEY_SPLIT_TENSORS);
    struct tenon_meta_entry *metas, *entry;

    /* One file is no set, whatever tools left in it. */
    if (count == NULL || is_number(count, 0) || is_number(count, 1) || old == NULL ||
        is_number(old, plan->n_tensors))
        return TENON_OK;
    if (plan->n_tensors > INT32_MAX)
        return fail_count(err);
    metas = tenon_arena_alloc(&plan->arena, file->n_metas, sizeof(*metas));
    if (metas == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < file->n_metas; i++)
        metas[i] = file->metas[i];
    entry = &metas[old - file->metas];
    entry->type = entry->item = entry->value.type = TENON_META_I32;
    entry->value.as.i64 = (int64_t)plan->n_tensors;
    entry->raw = NULL;
    entry->raw_bytes = 0;
    file->metas = metas;
    return TENON_OK;
}
