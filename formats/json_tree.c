/* cJSON behind a fence. */
#include "json_tree.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fail.h"
#include "mem.h"
#include "names.h"

/* cJSON copies a number into 64 bytes and ignores the rest of it. */
#define MOST_DIGITS 63

/* 2^53: below it every whole number has a double of its own. */
#define WHOLE_LIMIT 9007199254740992.0

/* A key seen, as it is looked up: the number of its object (4 bytes), then the unescaped key. */
struct key {
    size_t pos, len;
};

/* All keys of a text. In the text each takes two quotes, a colon and a value of at least one byte
 * beside itself, so that a copy with 4 bytes in front of each key is never longer than the text. */
struct key_set {
    char *bytes;
    size_t used;
    struct key *keys;
    size_t n, room;
    struct tenon_names names;
    bool nonfinite; /* the text has numbers that cJSON does not know */
};

static struct tenon_str name_of_key(const void *owner, uint32_t i)
{
    const struct key_set *set = owner;

    return (struct tenon_str){set->bytes + set->keys[i].pos, set->keys[i].len};
}

/* Adds the key of `token`, a member of object number `object`; NAME_CLASH if it has one. */
static enum tenon_status add_key(struct key_set *set, uint32_t object,
                                 const struct tenon_json_token *token, struct tenon_error *err)
{
    uint32_t i = (uint32_t)set->n, known;
    struct key key = {.pos = set->used};
    struct key *keys = tenon_mem_grow(set->keys, &set->room, set->n, sizeof(*keys));

    if (keys == NULL)
        return tenon_fail_memory(err);
    set->keys = keys;
    memcpy(set->bytes + key.pos, &object, sizeof(object));
    key.len = sizeof(object) + tenon_json_unescape(token, set->bytes + key.pos + sizeof(object));
    set->keys[set->n++] = key;
    set->used += key.len;
    known = tenon_names_add(&set->names, i, set, name_of_key);
    if (known == TENON_NO_INDEX)
        return tenon_fail_memory(err);
    if (known == i)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_NAME_CLASH, token->offset, "the key stands twice in one object");
    tenon_fail_subject(err, "key", set->bytes + key.pos + sizeof(object), key.len - sizeof(object));
    return TENON_ERR_NAME_CLASH;
}

static enum tenon_status check_token(const struct tenon_json_token *token, struct tenon_error *err)
{
    if (token->has_nul)
        return tenon_fail(err, TENON_ERR_CORRUPT, token->offset, "a string contains \\u0000");
    if (token->type == TENON_JSON_NUMBER && token->raw.len > MOST_DIGITS)
        return tenon_fail(err, TENON_ERR_LIMIT, token->offset,
                          "a number of %zu characters, at most %d allowed", token->raw.len,
                          MOST_DIGITS);
    return TENON_OK;
}

static bool is_nonfinite(const struct tenon_json_token *token)
{
    char last;

    if (token->type != TENON_JSON_NUMBER)
        return false;
    last = token->raw.data[token->raw.len - 1];
    return last == 'N' || last == 'y';
}

/* The text as cJSON knows it, of `len` bytes as well: infinities are what overflows a double, and
 * NaN, for which there is no number, is an empty array: no kind of value that is asked for. */
static enum tenon_status spell_finite(const char *text, size_t len, char **out,
                                      struct tenon_error *err)
{
    char *copy = tenon_mem_alloc(len, 1);
    struct tenon_json_token token = {.type = TENON_JSON_NULL};
    struct tenon_json json;
    enum tenon_status st = TENON_OK;

    if (copy == NULL)
        return tenon_fail_memory(err);
    memcpy(copy, text, len);
    tenon_json_init(&json, text, len, TENON_JSON_MAX_DEPTH);
    tenon_json_allow_nonfinite(&json);
    do {
        size_t end = token.raw.data != NULL ? (size_t)(token.raw.data - text) + token.raw.len : 0;

        if (is_nonfinite(&token) && token.raw.len == strlen("NaN"))
            memcpy(&copy[end - 3], "[] ", 3);
        else if (is_nonfinite(&token))
            memcpy(&copy[end - 8], "1e999   ", 8);
        st = tenon_json_next(&json, &token, err);
    } while (st == TENON_OK && token.type != TENON_JSON_END);
    if (st == TENON_OK)
        *out = copy;
    else
        tenon_mem_free(copy);
    return st;
}

/* Reads the whole text strictly. `objects` has room for the number of the object of each level. */
static enum tenon_status check_text(const char *text, size_t len, uint32_t max_depth,
                                    struct key_set *set, struct tenon_error *err)
{
    uint32_t objects[TENON_JSON_MAX_DEPTH + 1] = {0};
    struct tenon_json_token token = {.type = TENON_JSON_NULL};
    struct tenon_json json;
    enum tenon_status st = TENON_OK;
    uint32_t n_objects = 0;

    tenon_json_init(&json, text, len, max_depth);
    tenon_json_allow_nonfinite(&json);
    while (st == TENON_OK) {
        st = tenon_json_next(&json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_END)
            break;
        if (token.type == TENON_JSON_OBJECT)
            objects[json.depth] = ++n_objects;
        set->nonfinite = set->nonfinite || is_nonfinite(&token);
        st = check_token(&token, err);
        if (st == TENON_OK && token.type == TENON_JSON_KEY)
            st = add_key(set, objects[json.depth], &token, err);
    }
    return st;
}

/* cJSON's items behind our name for them. */
static const cJSON *item_of(const struct tenon_json_node *node)
{
    return (const cJSON *)(const void *)node;
}

static const struct tenon_json_node *node_of(const cJSON *item)
{
    return (const struct tenon_json_node *)(const void *)item;
}

enum tenon_status tenon_json_tree_parse(const char *text, size_t len, uint32_t max_depth,
                                        struct tenon_json_node **out_root, struct tenon_error *err)
{
    struct key_set set = {0};
    enum tenon_status st;
    cJSON *root = NULL;
    char *finite = NULL;

    if (len > TENON_JSON_TREE_BYTES)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "%zu bytes of JSON, at most %zu allowed here", len,
                          TENON_JSON_TREE_BYTES);
    set.bytes = tenon_mem_alloc(len, 1);
    if (set.bytes == NULL)
        return tenon_fail_memory(err);
    st = check_text(text, len, max_depth, &set, err);
    if (st != TENON_OK)
        goto out;
    if (set.nonfinite)
        st = spell_finite(text, len, &finite, err);
    if (st != TENON_OK)
        goto out;
    root = cJSON_ParseWithLength(finite != NULL ? finite : text, len);
    if (root == NULL) { /* the text is sound, so this is not its fault */
        st = tenon_fail_memory(err);
        goto out;
    }
    *out_root = (struct tenon_json_node *)(void *)root;
out:
    tenon_names_release(&set.names);
    tenon_mem_free(set.keys);
    tenon_mem_free(set.bytes);
    tenon_mem_free(finite);
    return st;
}

void tenon_json_node_free(struct tenon_json_node *root)
{
    cJSON_Delete((cJSON *)(void *)root);
}

enum tenon_json_type tenon_json_node_type(const struct tenon_json_node *node)
{
    static const struct {
        int cjson;
        enum tenon_json_type type;
    } types[] = {{cJSON_Object, TENON_JSON_OBJECT}, {cJSON_Array, TENON_JSON_ARRAY},
                 {cJSON_String, TENON_JSON_STRING}, {cJSON_Number, TENON_JSON_NUMBER},
                 {cJSON_True, TENON_JSON_TRUE},     {cJSON_False, TENON_JSON_FALSE},
                 {cJSON_NULL, TENON_JSON_NULL}};

    for (size_t i = 0; node != NULL && i < sizeof(types) / sizeof(types[0]); i++)
        if ((item_of(node)->type & 0xff) == types[i].cjson)
            return types[i].type;
    return TENON_JSON_END;
}

const struct tenon_json_node *tenon_json_node_get(const struct tenon_json_node *object,
                                                  const char *key)
{
    if (!cJSON_IsObject(item_of(object)))
        return NULL;
    return node_of(cJSON_GetObjectItemCaseSensitive(item_of(object), key));
}

const struct tenon_json_node *tenon_json_node_first(const struct tenon_json_node *node)
{
    return node != NULL ? node_of(item_of(node)->child) : NULL;
}

const struct tenon_json_node *tenon_json_node_next(const struct tenon_json_node *node)
{
    return node != NULL ? node_of(item_of(node)->next) : NULL;
}

struct tenon_str tenon_json_node_key(const struct tenon_json_node *node)
{
    const char *key = node != NULL ? item_of(node)->string : NULL;

    if (key == NULL)
        key = "";
    return (struct tenon_str){key, strlen(key)};
}

bool tenon_json_node_int(const struct tenon_json_node *node, int64_t *out)
{
    double value;

    if (!tenon_json_node_float(node, &value) || value != trunc(value) || value <= -WHOLE_LIMIT ||
        value >= WHOLE_LIMIT)
        return false;
    *out = (int64_t)value;
    return true;
}

bool tenon_json_node_float(const struct tenon_json_node *node, double *out)
{
    if (!cJSON_IsNumber(item_of(node)) || !isfinite(item_of(node)->valuedouble))
        return false;
    *out = item_of(node)->valuedouble;
    return true;
}

bool tenon_json_node_text(const struct tenon_json_node *node, struct tenon_str *out)
{
    const char *text;

    if (!cJSON_IsString(item_of(node)))
        return false;
    text = item_of(node)->valuestring;
    *out = (struct tenon_str){text, strlen(text)};
    return true;
}
