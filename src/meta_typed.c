/* GGUF metadata that a container of texts keeps, as it was: what settings are looked up in. */
#include <string.h>

#include "fail.h"
#include "meta_text.h"
#include "model_build.h"
#include "model_private.h"
#include "sort.h"

/* Texts that are read together: real ones take 5 MB, a vocabulary and its merges. What is beyond
 * is not known, and takes no memory. */
#define MOST_TEXT_BYTES ((size_t)16 << 20)

static const char arch_key[] = "general.architecture";

static bool begins_with(struct tenon_str text, struct tenon_str head)
{
    return text.len > head.len && memcmp(text.data, head.data, head.len) == 0;
}

/* Whether settings of the architecture, or of the tokenizer, are asked for by such a key. */
static bool is_asked_for(struct tenon_str key, struct tenon_str arch)
{
    return begins_with(key, (struct tenon_str){"general.", 8}) ||
           begins_with(key, (struct tenon_str){"tokenizer.", 10}) ||
           (begins_with(key, arch) && key.data[arch.len] == '.');
}

static size_t count_digits(struct tenon_str text, size_t from)
{
    size_t n = from;

    while (n < text.len && text.data[n] >= '0' && text.data[n] <= '9')
        n++;
    return n - from;
}

/* -12.5e-3 and shorter forms. `*whole` tells those of digits alone. */
static bool is_decimal(struct tenon_str text, bool *whole)
{
    size_t at = text.len > 0 && text.data[0] == '-', n = count_digits(text, at);

    *whole = n == text.len;
    if (n == 0 || text.len > 40)
        return false;
    at += n;
    if (at < text.len && text.data[at] == '.') {
        n = count_digits(text, at + 1);
        at += 1 + n;
    }
    if (n > 0 && at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        at += at < text.len && (text.data[at] == '-' || text.data[at] == '+');
        n = count_digits(text, at);
        at += n;
    }
    return n > 0 && at == text.len;
}

/* A number that somebody wrote without its type. */
static void take_number(struct tenon_meta_entry *entry)
{
    double number;
    bool whole;

    if (!is_decimal(entry->value.as.str, &whole))
        return;
    number = tenon_meta_decimal(entry->value.as.str, false);
    entry->type = entry->item = TENON_META_F64;
    if (whole && number <= UINT32_MAX) {
        entry->type = entry->item = TENON_META_U32;
        entry->value.as.u64 = (uint64_t)number;
    } else {
        entry->value.as.f64 = number;
    }
    entry->value.type = entry->type;
}

static enum tenon_status add_typed(struct tenon_model *model, const struct tenon_meta_entry *text,
                                   struct tenon_str arch, struct tenon_error *err)
{
    struct tenon_meta_entry *entry = &model->typed[model->n_typed];
    enum tenon_status st = tenon_meta_from_text(&model->arena, text, entry, err);

    if (st != TENON_OK)
        return st;
    if (entry->type == TENON_META_STRING && begins_with(entry->key, arch))
        take_number(entry);
    model->n_typed++;
    return TENON_OK;
}

static int by_key(const void *owner, uint32_t a, uint32_t b)
{
    const struct tenon_model *model = owner;

    return tenon_setting_key_compare(model->typed[a].key, model->typed[b].key);
}

static enum tenon_status sort_typed(struct tenon_model *model, struct tenon_error *err)
{
    model->typed_order = tenon_arena_alloc(&model->arena, model->n_typed, sizeof(uint32_t));
    if (model->typed_order == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < model->n_typed; i++)
        model->typed_order[i] = (uint32_t)i;
    return tenon_sort(model->typed_order, model->n_typed, model, by_key) ? TENON_OK
                                                                         : tenon_fail_memory(err);
}

enum tenon_status tenon_model_type_texts(struct tenon_model *model, bool *out_any,
                                         struct tenon_error *err)
{
    const struct tenon_meta_entry *arch = tenon_model_find_meta(model, arch_key);
    size_t left = MOST_TEXT_BYTES, n = 0;
    enum tenon_status st = TENON_OK;

    *out_any = false;
    if (arch == NULL || arch->type != TENON_META_STRING || arch->value.as.str.len == 0 ||
        model->settings.n != 0)
        return TENON_OK;
    for (size_t i = 0; i < model->n_metas; i++)
        n += is_asked_for(model->metas[i].key, arch->value.as.str);
    model->typed = tenon_arena_alloc(&model->arena, n, sizeof(*model->typed));
    if (model->typed == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; st == TENON_OK && i < model->n_metas; i++) {
        const struct tenon_meta_entry *text = &model->metas[i];
        bool wanted = is_asked_for(text->key, arch->value.as.str);

        if (!wanted || text->type != TENON_META_STRING || text->value.as.str.len > left)
            continue;
        left -= text->value.as.str.len;
        st = add_typed(model, text, arch->value.as.str, err);
    }
    *out_any = st == TENON_OK;
    return st == TENON_OK ? sort_typed(model, err) : st;
}

const struct tenon_meta_entry *tenon_model_find_typed(const struct tenon_model *model,
                                                      const char *key)
{
    const struct tenon_str wanted = {key, strlen(key)};
    size_t low = 0, high = model->n_typed;

    if (model->n_typed == 0)
        return tenon_model_find_meta(model, key);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tenon_setting_key_compare(model->typed[model->typed_order[middle]].key, wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == model->n_typed ||
        tenon_setting_key_compare(model->typed[model->typed_order[low]].key, wanted) != 0)
        return NULL;
    return &model->typed[model->typed_order[low]];
}
