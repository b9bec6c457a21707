/* Settings: values of a configuration by name. */
#include "settings.h"

#include <math.h>
#include <string.h>

#include "model_build.h"
#include "model_private.h"

/* The longest architecture name and key that are looked for together. */
#define MOST_KEY_BYTES 256

/* 2^53: up to here every whole number has a double of its own. */
#define WHOLE_LIMIT 9007199254740992.0

static struct tenon_setting from_node(const struct tenon_setting_node *node)
{
    struct tenon_setting s = {.text = {"", 0}};

    if (node == NULL)
        return s;
    s.kind = (enum tenon_setting_kind)node->kind;
    s.boolean = node->boolean;
    s.number = node->number;
    if (node->kind == TENON_SETTING_STRING)
        s.text = node->text;
    s.count = node->n_children;
    s.node = node;
    return s;
}

/* A scalar of metadata, as the value of an entry or of an array's element. */
static struct tenon_setting from_value(const struct tenon_meta_value *value)
{
    struct tenon_setting s = {.kind = TENON_SETTING_NUMBER, .text = {"", 0}};

    switch (value->type) {
    case TENON_META_U8:
    case TENON_META_U16:
    case TENON_META_U32:
    case TENON_META_U64:
        s.number = (double)value->as.u64;
        break;
    case TENON_META_I8:
    case TENON_META_I16:
    case TENON_META_I32:
    case TENON_META_I64:
        s.number = (double)value->as.i64;
        break;
    case TENON_META_F32:
    case TENON_META_F64:
        s.number = value->as.f64;
        break;
    case TENON_META_BOOL:
        s.kind = TENON_SETTING_BOOL;
        s.boolean = value->as.boolean;
        break;
    case TENON_META_STRING:
        s.kind = TENON_SETTING_STRING;
        s.text = value->as.str;
        break;
    case TENON_META_ARRAY:
        s.kind = TENON_SETTING_NONE;
        break;
    }
    return s;
}

static struct tenon_setting from_entry(const struct tenon_meta_entry *entry)
{
    struct tenon_setting s = {.kind = TENON_SETTING_LIST, .text = {"", 0}};

    if (entry->type != TENON_META_ARRAY)
        return from_value(&entry->value);
    s.count = entry->count <= SIZE_MAX ? (size_t)entry->count : SIZE_MAX;
    s.array = entry;
    return s;
}

int tenon_setting_key_compare(struct tenon_str a, struct tenon_str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len != 0 ? memcmp(a.data, b.data, a.len) : 0;
}

/* The member called `key`; the first of several. Configs are asked often, layer by layer. */
static const struct tenon_setting_node *find_member(const struct tenon_setting_node *node,
                                                    struct tenon_str key)
{
    size_t low = 0, high = node->n_children;

    if (node->kind != TENON_SETTING_OBJECT)
        return NULL;
    for (size_t i = 0; node->order == NULL && i < high; i++)
        if (tenon_setting_key_compare(node->children[i].key, key) == 0)
            return &node->children[i];
    while (node->order != NULL && low < high) {
        size_t middle = low + (high - low) / 2;

        if (tenon_setting_key_compare(node->order[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (node->order == NULL || low == node->n_children ||
        tenon_setting_key_compare(node->order[low]->key, key) != 0)
        return NULL;
    return node->order[low];
}

const struct tenon_setting_node *tenon_setting_node_find(const struct tenon_setting_node *node,
                                                         const char *path)
{
    while (node != NULL && *path != '\0') {
        size_t n = strcspn(path, ".");

        node = find_member(node, (struct tenon_str){path, n});
        path += n + (path[n] == '.');
    }
    return node;
}

void tenon_model_add_setting_level(struct tenon_model *model,
                                   const struct tenon_setting_node *level)
{
    if (model->settings.n < TENON_MOST_SETTING_LEVELS)
        model->settings.level[model->settings.n++] = level;
}

/* The entry at `path` behind the architecture's name, else at `path` itself. */
static const struct tenon_meta_entry *find_entry(const struct tenon_model *model, const char *path)
{
    struct tenon_str arch = model->hparams.model_type;
    const struct tenon_meta_entry *entry = NULL;
    char key[MOST_KEY_BYTES];
    size_t n = strlen(path);

    if (arch.len != 0 && arch.len + n + 2 <= sizeof(key)) {
        memcpy(key, arch.data, arch.len);
        key[arch.len] = '.';
        memcpy(key + arch.len + 1, path, n + 1);
        entry = tenon_model_find_typed(model, key);
    }
    return entry != NULL ? entry : tenon_model_find_typed(model, path);
}

bool tenon_model_setting(const struct tenon_model *model, const char *path,
                         struct tenon_setting *out)
{
    const struct tenon_meta_entry *entry;

    *out = (struct tenon_setting){.text = {"", 0}};
    for (size_t i = 0; i < model->settings.n && out->kind == TENON_SETTING_NONE; i++)
        *out = from_node(tenon_setting_node_find(model->settings.level[i], path));
    if (out->kind != TENON_SETTING_NONE)
        return true;
    *out = (struct tenon_setting){.text = {"", 0}};
    entry = model->settings.n == 0 ? find_entry(model, path) : NULL;
    if (entry != NULL)
        *out = from_entry(entry);
    return out->kind != TENON_SETTING_NONE;
}

/* Metadata arrays are walked from their start: those that are asked for are short. */
static struct tenon_setting array_item(const struct tenon_meta_entry *array, size_t i)
{
    struct tenon_setting none = {.text = {"", 0}};
    struct tenon_meta_value value;
    struct tenon_meta_iter it;

    tenon_meta_iter_init(&it, array);
    for (size_t k = 0; k <= i; k++)
        if (!tenon_meta_iter_next(&it, &value, NULL))
            return none;
    return from_value(&value);
}

bool tenon_setting_item(const struct tenon_setting *setting, size_t i, struct tenon_setting *out,
                        struct tenon_str *out_key)
{
    struct tenon_setting item = {.text = {"", 0}};
    struct tenon_str key = {"", 0};

    if (i < setting->count && setting->node != NULL) {
        item = from_node(&setting->node->children[i]);
        key = setting->node->children[i].key;
    } else if (i < setting->count && setting->array != NULL) {
        item = array_item(setting->array, i);
    }
    *out = item;
    if (out_key != NULL)
        *out_key = key;
    return item.kind != TENON_SETTING_NONE;
}

bool tenon_setting_member(const struct tenon_setting *object, const char *path,
                          struct tenon_setting *out)
{
    *out = from_node(tenon_setting_node_find(object->node, path));
    return out->kind != TENON_SETTING_NONE;
}

bool tenon_setting_is_null(const struct tenon_model *model, const char *path)
{
    const struct tenon_setting_node *node = NULL;

    for (size_t i = 0; i < model->settings.n && node == NULL; i++)
        node = tenon_setting_node_find(model->settings.level[i], path);
    return node != NULL && node->kind == TENON_SETTING_NONE;
}

bool tenon_setting_has_null(const struct tenon_setting *object, const char *path)
{
    const struct tenon_setting_node *node = tenon_setting_node_find(object->node, path);

    return node != NULL && node->kind == TENON_SETTING_NONE;
}

bool tenon_setting_number(const struct tenon_setting *setting, double *out)
{
    if (setting->kind != TENON_SETTING_NUMBER)
        return false;
    *out = setting->number;
    return true;
}

bool tenon_setting_int(const struct tenon_setting *setting, int64_t *out)
{
    double value = setting->number;

    if (setting->kind != TENON_SETTING_NUMBER || !(fabs(value) <= WHOLE_LIMIT) ||
        value != trunc(value))
        return false;
    *out = (int64_t)value;
    return true;
}

bool tenon_setting_bool(const struct tenon_setting *setting, bool *out)
{
    if (setting->kind != TENON_SETTING_BOOL)
        return false;
    *out = setting->boolean;
    return true;
}

bool tenon_setting_is(const struct tenon_setting *setting, const char *word)
{
    return setting->kind == TENON_SETTING_STRING && setting->text.len == strlen(word) &&
           memcmp(setting->text.data, word, setting->text.len) == 0;
}

const char *tenon_setting_kind_name(enum tenon_setting_kind kind)
{
    static const char *const names[] = {
        [TENON_SETTING_NONE] = "null",       [TENON_SETTING_BOOL] = "true or false",
        [TENON_SETTING_NUMBER] = "a number", [TENON_SETTING_STRING] = "a string",
        [TENON_SETTING_LIST] = "a list",     [TENON_SETTING_OBJECT] = "an object",
    };

    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

struct tenon_setting tenon_settings_root(const struct tenon_settings *settings)
{
    return from_node(settings->root);
}

void tenon_settings_free(struct tenon_settings *settings)
{
    if (settings == NULL)
        return;
    tenon_arena_release(&settings->arena);
    tenon_mem_free(settings);
}
