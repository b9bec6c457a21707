/* JSON as settings: a copy of the tree that lives as long as its arena. */
#include "settings_json.h"

#include <stdlib.h>

#include "fail.h"

/* Objects with more members have them in order, too. */
#define FEW_MEMBERS 16

/* The place in a list or object whose children are being copied. */
struct frame {
    const struct tenon_json_node *from; /* the next child, NULL after the last */
    struct tenon_setting_node *to, *parent;
};

static size_t count_children(const struct tenon_json_node *node)
{
    size_t n = 0;

    for (node = tenon_json_node_first(node); node != NULL; node = tenon_json_node_next(node))
        n++;
    return n;
}

static bool copy_text(struct tenon_arena *arena, struct tenon_str from, struct tenon_str *to)
{
    const char *copy = from.len != 0 ? tenon_arena_text(arena, from.data, from.len) : "";

    *to = (struct tenon_str){copy, from.len};
    return copy != NULL;
}

/* The node itself and empty room for its children, whose number is limited by the size of the text.
 * False when memory is gone. */
static bool copy_node(struct tenon_arena *arena, const struct tenon_json_node *from,
                      struct tenon_setting_node *to)
{
    static const uint8_t kinds[] = {
        [TENON_JSON_OBJECT] = TENON_SETTING_OBJECT, [TENON_JSON_ARRAY] = TENON_SETTING_LIST,
        [TENON_JSON_STRING] = TENON_SETTING_STRING, [TENON_JSON_NUMBER] = TENON_SETTING_NUMBER,
        [TENON_JSON_TRUE] = TENON_SETTING_BOOL,     [TENON_JSON_FALSE] = TENON_SETTING_BOOL,
    };
    enum tenon_json_type type = tenon_json_node_type(from);
    struct tenon_str text = {"", 0};
    struct tenon_setting_node *children;

    to->kind = (size_t)type < sizeof(kinds) ? kinds[type] : TENON_SETTING_NONE;
    to->boolean = type == TENON_JSON_TRUE;
    (void)tenon_json_node_float(from, &to->number); /* left at 0 where it is none */
    if (!copy_text(arena, tenon_json_node_key(from), &to->key))
        return false;
    (void)tenon_json_node_text(from, &text);
    if (!copy_text(arena, text, &to->text))
        return false;
    to->n_children = (uint32_t)count_children(from);
    if (to->n_children == 0)
        return true;
    children = tenon_arena_alloc(arena, to->n_children, sizeof(*children));
    to->children = children;
    return children != NULL;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct tenon_setting_node *const *x = a, *const *y = b;
    int by_key = tenon_setting_key_compare((*x)->key, (*y)->key);

    return by_key != 0 ? by_key : (*x > *y) - (*x < *y);
}

/* False when memory is gone. */
static bool sort_members(struct tenon_arena *arena, struct tenon_setting_node *node)
{
    const struct tenon_setting_node **order;

    if (node->kind != TENON_SETTING_OBJECT || node->n_children <= FEW_MEMBERS)
        return true;
    order = tenon_arena_alloc(arena, node->n_children, sizeof(*order));
    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < node->n_children; i++)
        order[i] = &node->children[i];
    qsort(order, node->n_children, sizeof(*order), compare_nodes);
    node->order = order;
    return true;
}

static struct frame frame_of(const struct tenon_json_node *from, struct tenon_setting_node *to)
{
    return (struct frame){tenon_json_node_first(from),
                          (struct tenon_setting_node *)(uintptr_t)to->children, to};
}

enum tenon_status tenon_settings_copy(struct tenon_arena *arena, const struct tenon_json_node *root,
                                      const struct tenon_setting_node **out,
                                      struct tenon_error *err)
{
    struct frame frames[TENON_JSON_MAX_DEPTH + 1];
    struct tenon_setting_node *top = tenon_arena_alloc(arena, 1, sizeof(*top));
    size_t depth = 0;

    if (top == NULL || !copy_node(arena, root, top))
        return tenon_fail_memory(err);
    frames[depth++] = frame_of(root, top);
    while (depth > 0) {
        struct frame *f = &frames[depth - 1];
        const struct tenon_json_node *from = f->from;
        struct tenon_setting_node *to = f->to;

        if (from == NULL) {
            if (!sort_members(arena, f->parent))
                return tenon_fail_memory(err);
            depth--;
            continue;
        }
        if (!copy_node(arena, from, to))
            return tenon_fail_memory(err);
        f->from = tenon_json_node_next(from);
        f->to++;
        if (to->n_children != 0 && depth <= TENON_JSON_MAX_DEPTH)
            frames[depth++] = frame_of(from, to);
    }
    *out = top;
    return TENON_OK;
}

enum tenon_status tenon_settings_parse(const char *json, size_t len, struct tenon_settings **out,
                                       struct tenon_error *err)
{
    struct tenon_settings *settings = NULL;
    struct tenon_json_node *root = NULL;
    enum tenon_status st = tenon_json_tree_parse(json, len, TENON_JSON_MAX_DEPTH, &root, err);

    if (st != TENON_OK)
        goto out;
    settings = tenon_mem_alloc(1, sizeof(*settings));
    if (settings == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    st = tenon_settings_copy(&settings->arena, root, &settings->root, err);
    if (st != TENON_OK)
        goto out;
    *out = settings;
    settings = NULL;
out:
    tenon_json_node_free(root);
    tenon_settings_free(settings);
    return st;
}
