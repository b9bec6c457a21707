#include "hf_edit_index.h"

#include <string.h>

#include "bits.h"
#include "fail.h"
#include "json_edit.h"
#include "names.h"
#include "sort.h"
#include "text.h"

/* An index that is being edited; in the plan's arena. */
struct edit {
    struct tenon_plan *plan;
    struct tenon_str text; /* the old one */
    const struct tenon_model *model;
    struct tenon_json_object root, metadata, map;
    size_t metadata_member, map_member; /* of the root, or SIZE_MAX */
    struct tenon_names names;           /* of the plan's tensors */
    unsigned char *seen;                /* bits: which of them the map has */
    char *room, *room_before;           /* for two keys, unescaped */
    uint64_t bytes, old_bytes;          /* of the tensors that only one side has, or has larger */
    uint64_t elements, old_elements;
};

static struct tenon_str name_of(const void *owner, uint32_t i)
{
    return tenon_plan_name(owner, i);
}

/* --- texts in the plan's arena; data NULL when memory is gone --- */

static struct tenon_str quote(struct edit *e, struct tenon_str text)
{
    struct tenon_json_out out = {0};

    tenon_json_put_ascii(&out, text);
    out.data = tenon_arena_alloc(&e->plan->arena, out.len, 1);
    out.len = 0;
    if (out.data != NULL)
        tenon_json_put_ascii(&out, text);
    return (struct tenon_str){out.data, out.len};
}

static struct tenon_str write_number(struct edit *e, uint64_t value)
{
    struct tenon_json_out out = {0};

    tenon_json_put_u64(&out, value);
    out.data = tenon_arena_alloc(&e->plan->arena, out.len, 1);
    out.len = 0;
    if (out.data != NULL)
        tenon_json_put_u64(&out, value);
    return (struct tenon_str){out.data, out.len};
}

/* --- how much is written --- */

/* Saturated: of what cannot be counted the layout of its file complains. */
static void add(uint64_t *sum, uint64_t n)
{
    if (!tenon_u64_add(sum, *sum, n))
        *sum = UINT64_MAX;
}

/* What is the same on both sides is left out, so that sums that count something else, too, such as
 * headers, stay what they are. A second name for the same bytes was never counted. */
static void measure(struct edit *e)
{
    for (size_t i = 0; i < e->plan->n_tensors; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(e->plan, i);
        const struct tenon_tensor *old = tenon_model_find(e->model, t.name.data, t.name.len);

        add(&e->bytes, t.bytes);
        add(&e->elements, tenon_plan_tensor_elements(&t));
        if (old != NULL && ((old->flags & TENON_TENSOR_SHARED) == 0 || !t.apart)) {
            add(&e->old_bytes, old->bytes);
            add(&e->old_elements, old->n_elements);
        }
    }
    for (size_t i = 0; i < tenon_model_n_tensors(e->model); i++) {
        const struct tenon_tensor *old = tenon_model_tensor(e->model, i);

        if ((old->flags & TENON_TENSOR_SHARED) == 0 &&
            tenon_names_find(&e->names, old->name.data, old->name.len, e->plan, name_of) ==
                TENON_NO_INDEX) {
            add(&e->old_bytes, old->bytes);
            add(&e->old_elements, old->n_elements);
        }
    }
}

/* A sum of "metadata" changes by new - old, if it is a plain number that is large enough. */
static enum tenon_status change_sum(struct edit *e, const char *key, uint64_t new_part,
                                    uint64_t old_part, struct tenon_error *err)
{
    size_t i = tenon_json_object_find(&e->metadata, key);
    struct tenon_json_token token = {.type = TENON_JSON_NUMBER};
    struct tenon_json_change change = {{NULL, 0}, {NULL, 0}};
    uint64_t value = 0;

    if (i == SIZE_MAX || new_part == old_part)
        return TENON_OK;
    token.raw.data = e->metadata.text + e->metadata.members[i].value;
    token.raw.len = e->metadata.members[i].value_end - e->metadata.members[i].value;
    if (!tenon_json_token_u64(&token, &value) || !tenon_u64_add(&value, value, new_part) ||
        value < old_part)
        return TENON_OK;
    change.value = write_number(e, value - old_part);
    return change.value.data != NULL ? tenon_json_object_change(&e->metadata, i, change, err)
                                     : tenon_fail_memory(err);
}

/* --- the map --- */

/* The name of the file that a tensor goes to. */
static struct tenon_str file_of(const struct edit *e, uint32_t tensor)
{
    const char *path = e->plan->files[e->plan->tensors[tensor].file].path;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    return (struct tenon_str){name, strlen(name)};
}

/* A pair that stays: perhaps in another file. */
static enum tenon_status change_file(struct edit *e, size_t i, uint32_t tensor,
                                     struct tenon_error *err)
{
    const struct tenon_json_member *m = &e->map.members[i];
    struct tenon_json_token token = {.type = TENON_JSON_STRING};
    struct tenon_json_change change = {{NULL, 0}, {NULL, 0}};
    const char *path = e->plan->files[e->plan->tensors[tensor].file].path;
    const char *slash = strrchr(path, '/');

    token.raw.data = e->map.text + m->value + 1;
    token.raw.len = m->value_end - m->value - 2;
    token.escaped = memchr(token.raw.data, '\\', token.raw.len) != NULL;
    if (tenon_json_token_is(&token, slash != NULL ? slash + 1 : path))
        return TENON_OK;
    change.value = quote(e, file_of(e, tensor));
    return change.value.data != NULL ? tenon_json_object_change(&e->map, i, change, err)
                                     : tenon_fail_memory(err);
}

/* Says what becomes of every pair there is, and whether their keys are sorted. */
static enum tenon_status edit_pairs(struct edit *e, bool *sorted, struct tenon_error *err)
{
    struct tenon_str before = {e->room_before, 0};
    enum tenon_status st = TENON_OK;

    *sorted = true;
    for (size_t i = 0; st == TENON_OK && i < e->map.n; i++) {
        struct tenon_str key = tenon_json_object_key(&e->map, i, e->room);
        uint32_t found = tenon_names_find(&e->names, key.data, key.len, e->plan, name_of);

        *sorted &= i == 0 || tenon_str_compare(before, key) < 0;
        memcpy(e->room_before, key.data, key.len);
        before.len = key.len;
        if (found == TENON_NO_INDEX) {
            e->map.members[i].edit = TENON_JSON_REMOVED;
            continue;
        }
        tenon_bits_add(e->seen, found);
        st = change_file(e, i, found, err);
    }
    return st;
}

static int compare_tensors(const void *plan, uint32_t a, uint32_t b)
{
    return tenon_str_compare(tenon_plan_name(plan, a), tenon_plan_name(plan, b));
}

/* Puts the pairs of `list`, which is sorted, into the map. */
static enum tenon_status insert_pairs(struct edit *e, const uint32_t *list, size_t n, bool sorted,
                                      struct tenon_error *err)
{
    size_t place = sorted ? 0 : e->map.n;

    for (size_t i = 0; i < n; i++) {
        struct tenon_str name = tenon_plan_name(e->plan, list[i]);
        struct tenon_str key = quote(e, name), file = quote(e, file_of(e, list[i]));
        enum tenon_status st;

        while (place < e->map.n &&
               tenon_str_compare(tenon_json_object_key(&e->map, place, e->room), name) < 0)
            place++;
        if (key.data == NULL || file.data == NULL)
            return tenon_fail_memory(err);
        st = tenon_json_object_insert(&e->map, place, key, file, err);
        if (st != TENON_OK)
            return st;
    }
    return TENON_OK;
}

static enum tenon_status edit_map(struct edit *e, struct tenon_error *err)
{
    uint32_t *list = tenon_mem_alloc(e->plan->n_tensors, sizeof(*list));
    bool sorted = true;
    size_t n = 0;
    enum tenon_status st = list != NULL ? edit_pairs(e, &sorted, err) : tenon_fail_memory(err);

    for (uint32_t i = 0; st == TENON_OK && i < e->plan->n_tensors; i++)
        if (!tenon_bits_has(e->seen, i))
            list[n++] = i;
    if (st == TENON_OK && !tenon_sort(list, n, e->plan, compare_tensors))
        st = tenon_fail_memory(err);
    if (st == TENON_OK)
        st = insert_pairs(e, list, n, sorted, err);
    tenon_mem_free(list);
    return st;
}

/* --- the whole text --- */

static enum tenon_status scan_member(struct edit *e, const char *key, size_t len, size_t *out,
                                     struct tenon_json_object *object, struct tenon_error *err)
{
    *out = tenon_json_object_find(&e->root, key);
    if (*out == SIZE_MAX || e->root.text[e->root.members[*out].value] != '{') {
        *out = SIZE_MAX;
        return TENON_OK;
    }
    return tenon_json_object_scan(object, e->root.text, len, e->root.members[*out].value,
                                  TENON_JSON_MAX_DEPTH, err);
}

static enum tenon_status scan(struct edit *e, struct tenon_str text, struct tenon_error *err)
{
    size_t at = 0;
    enum tenon_status st;

    while (at < text.len && text.data[at] != '{')
        at++;
    st = tenon_json_object_scan(&e->root, text.data, text.len, at, TENON_JSON_MAX_DEPTH, err);
    if (st == TENON_OK)
        st = scan_member(e, "metadata", text.len, &e->metadata_member, &e->metadata, err);
    if (st == TENON_OK)
        st = scan_member(e, "weight_map", text.len, &e->map_member, &e->map, err);
    if (st == TENON_OK && e->map_member == SIZE_MAX)
        st = tenon_fail(err, TENON_ERR_CORRUPT, 0, "the index has no weight_map");
    return st;
}

static enum tenon_status make_room(struct edit *e, struct tenon_error *err)
{
    size_t longest = 0;

    for (size_t i = 0; i < e->map.n; i++)
        if (e->map.members[i].key_end - e->map.members[i].key > longest)
            longest = e->map.members[i].key_end - e->map.members[i].key;
    e->room = tenon_mem_alloc(longest + 1, 1);
    e->room_before = tenon_mem_alloc(longest + 1, 1);
    e->seen = tenon_bits_new(e->plan->n_tensors);
    if (e->room == NULL || e->room_before == NULL || e->seen == NULL ||
        !tenon_names_reserve(&e->names, e->plan->n_tensors, e->plan, name_of))
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < e->plan->n_tensors; i++)
        if (tenon_names_add(&e->names, i, e->plan, name_of) == TENON_NO_INDEX)
            return tenon_fail_memory(err);
    return TENON_OK;
}

static void put_member(const void *user, struct tenon_json_out *out, size_t i)
{
    const struct edit *e = user;
    const struct tenon_json_member *m = &e->root.members[i];

    if (i == e->map_member)
        tenon_json_object_put(&e->map, out);
    else if (i == e->metadata_member)
        tenon_json_object_put(&e->metadata, out);
    else
        tenon_json_put(out, e->root.text + m->value, m->value_end - m->value);
}

static void put_text(const struct edit *e, struct tenon_json_out *out)
{
    tenon_json_put(out, e->text.data, (size_t)e->root.open - 1);
    tenon_json_object_put(&e->root, out);
    tenon_json_put(out, e->text.data + e->root.close + 1, e->text.len - e->root.close - 1);
}

static enum tenon_status put_index(const struct tenon_plan *plan, uint32_t file, const void *state,
                                   struct tenon_window *to)
{
    struct tenon_json_out out = {.window = to};

    (void)plan;
    (void)file;
    put_text(state, &out);
    return to->st;
}

static enum tenon_status edit_text(struct edit *e, struct tenon_error *err)
{
    enum tenon_status st = scan(e, e->text, err);

    e->root.put_value = put_member;
    e->root.user = e;
    if (st == TENON_OK)
        st = make_room(e, err);
    if (st == TENON_OK)
        st = edit_map(e, err);
    if (st == TENON_OK) {
        measure(e);
        st = change_sum(e, "total_size", e->bytes, e->old_bytes, err);
    }
    if (st == TENON_OK)
        st = change_sum(e, "total_parameters", e->elements, e->old_elements, err);
    tenon_names_release(&e->names);
    tenon_mem_free(e->seen);
    tenon_mem_free(e->room);
    tenon_mem_free(e->room_before);
    return st;
}

/* What the members of `object` are and become lives as long as the plan. */
static enum tenon_status keep(struct tenon_plan *plan, const struct tenon_json_object *object,
                              enum tenon_status st, struct tenon_error *err)
{
    void *const parts[] = {object->members, object->edits, object->inserts};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        enum tenon_status kept = tenon_plan_own(plan, parts[i], st == TENON_OK ? err : NULL);

        st = st == TENON_OK ? kept : st;
    }
    return st;
}

enum tenon_status tenon_hf_edit_index(struct tenon_plan *plan, const struct tenon_model *model,
                                      struct tenon_json_out text, const char *path,
                                      struct tenon_error *err)
{
    struct edit *e = tenon_arena_alloc(&plan->arena, 1, sizeof(*e));
    struct tenon_json_out out = {0};
    enum tenon_status st = tenon_plan_own(plan, text.data, err);

    if (st == TENON_OK && e == NULL)
        st = tenon_fail_memory(err);
    if (st != TENON_OK)
        return st;
    e->plan = plan;
    e->model = model;
    e->text = (struct tenon_str){text.data, text.len};
    st = edit_text(e, err);
    st = keep(plan, &e->root, st, err);
    st = keep(plan, &e->metadata, st, err);
    st = keep(plan, &e->map, st, err);
    if (st != TENON_OK)
        return st;
    put_text(e, &out);
    return tenon_plan_add_made(plan, path, (struct tenon_plan_head){put_index, e}, out.len, true,
                               err);
}
