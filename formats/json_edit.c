#include "json_edit.h"

#include <string.h>

#include "fail.h"
#include "mem.h"

/* --- taking apart --- */

static enum tenon_status add_member(struct tenon_json_object *o, struct tenon_json *json,
                                    const struct tenon_json_token *key, struct tenon_error *err)
{
    struct tenon_json_member *members =
        tenon_mem_grow(o->members, &o->room, o->n, sizeof(*members));
    struct tenon_json_token value;
    struct tenon_json_member *m;
    enum tenon_status st;

    if (members == NULL)
        return tenon_fail_memory(err);
    o->members = members;
    st = tenon_json_next(json, &value, err);
    if (st == TENON_OK)
        st = tenon_json_skip(json, &value, err);
    if (st != TENON_OK)
        return st;
    m = &members[o->n++];
    m->key = (uint32_t)key->offset;
    m->key_end = (uint32_t)(key->raw.data + key->raw.len + 1 - o->text);
    m->value = (uint32_t)value.offset;
    m->value_end = (uint32_t)tenon_json_place(json);
    m->edit = 0;
    return TENON_OK;
}

static struct tenon_str cut(const struct tenon_json_object *o, size_t from, size_t to)
{
    return (struct tenon_str){o->text + from, to - from};
}

/* How members are written here. An object of one member shows it by its lead and its colon. */
static void find_style(struct tenon_json_object *o)
{
    const struct tenon_json_member *m = o->members;
    struct tenon_str lead;

    o->colon = (struct tenon_str){": ", 2};
    o->comma = (struct tenon_str){",", 1};
    o->after_comma = (struct tenon_str){" ", 1};
    if (o->n == 0)
        return;
    o->colon = cut(o, m->key_end, m->value);
    lead = cut(o, o->open, m->key);
    if (o->n > 1) {
        o->comma = cut(o, m->value_end, m[1].key);
        o->after_comma.len = 0;
    } else if (memchr(lead.data, '\n', lead.len) != NULL) {
        o->after_comma = lead;
    } else if (o->colon.data[o->colon.len - 1] == ':') {
        o->after_comma.len = 0;
    }
}

enum tenon_status tenon_json_object_scan(struct tenon_json_object *object, const char *text,
                                         size_t len, size_t at, uint32_t max_depth,
                                         struct tenon_error *err)
{
    struct tenon_json json;
    struct tenon_json_token token;
    enum tenon_status st;

    if (len > UINT32_MAX - 1)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "%zu bytes of JSON, which are not edited", len);
    object->text = text;
    tenon_json_init(&json, text + at, len - at, max_depth);
    tenon_json_allow_nonfinite(&json);
    tenon_json_set_base(&json, at);
    st = tenon_json_expect(&json, TENON_JSON_OBJECT, "it", &token, err);
    object->open = (uint32_t)tenon_json_place(&json);
    while (st == TENON_OK) {
        st = tenon_json_next(&json, &token, err);
        if (st != TENON_OK || token.type == TENON_JSON_OBJECT_END)
            break;
        st = add_member(object, &json, &token, err);
    }
    if (st != TENON_OK)
        return st;
    object->close = (uint32_t)token.offset;
    find_style(object);
    return TENON_OK;
}

void tenon_json_object_release(struct tenon_json_object *object)
{
    tenon_mem_free(object->members);
    tenon_mem_free(object->edits);
    tenon_mem_free(object->inserts);
    memset(object, 0, sizeof(*object));
}

/* --- members --- */

/* The key of member `i` as the token that it was. */
static struct tenon_json_token key_token(const struct tenon_json_object *o, size_t i)
{
    struct tenon_json_token token = {.type = TENON_JSON_KEY, .offset = o->members[i].key};

    token.raw = cut(o, (size_t)o->members[i].key + 1, o->members[i].key_end - 1);
    token.escaped = memchr(token.raw.data, '\\', token.raw.len) != NULL;
    return token;
}

size_t tenon_json_object_find(const struct tenon_json_object *object, const char *key)
{
    for (size_t i = 0; i < object->n; i++) {
        struct tenon_json_token token = key_token(object, i);

        if (tenon_json_token_is(&token, key))
            return i;
    }
    return SIZE_MAX;
}

struct tenon_str tenon_json_object_key(const struct tenon_json_object *object, size_t i, char *buf)
{
    struct tenon_json_token token = key_token(object, i);

    return (struct tenon_str){buf, tenon_json_unescape(&token, buf)};
}

enum tenon_status tenon_json_object_change(struct tenon_json_object *object, size_t i,
                                           struct tenon_json_change change, struct tenon_error *err)
{
    struct tenon_json_change *edits =
        tenon_mem_grow(object->edits, &object->edit_room, object->n_edits, sizeof(*edits));

    if (edits == NULL)
        return tenon_fail_memory(err);
    object->edits = edits;
    edits[object->n_edits++] = change;
    object->members[i].edit = (uint32_t)object->n_edits;
    return TENON_OK;
}

enum tenon_status tenon_json_object_insert(struct tenon_json_object *object, size_t before,
                                           struct tenon_str key, struct tenon_str value,
                                           struct tenon_error *err)
{
    struct tenon_json_insert *inserts =
        tenon_mem_grow(object->inserts, &object->insert_room, object->n_inserts, sizeof(*inserts));

    if (inserts == NULL)
        return tenon_fail_memory(err);
    object->inserts = inserts;
    inserts[object->n_inserts++] = (struct tenon_json_insert){before, key, value};
    return TENON_OK;
}

/* --- putting together --- */

static void put(struct tenon_json_out *out, struct tenon_str text)
{
    tenon_json_put(out, text.data, text.len);
}

/* The text between the brace and the first member that there was. */
static void put_lead(const struct tenon_json_object *o, struct tenon_json_out *out)
{
    if (o->n > 0)
        put(out, cut(o, o->open, o->members[0].key));
}

static void put_comma(const struct tenon_json_object *o, struct tenon_json_out *out)
{
    put(out, o->comma);
    put(out, o->after_comma);
}

static void put_insert(const struct tenon_json_object *o, struct tenon_json_out *out, size_t i)
{
    if (o->put_insert != NULL) {
        o->put_insert(o->user, out, i);
        return;
    }
    put(out, o->inserts[i].key);
    put(out, o->colon);
    put(out, o->inserts[i].value);
}

static void put_member(const struct tenon_json_object *o, struct tenon_json_out *out, size_t i)
{
    const struct tenon_json_member *m = &o->members[i];
    const struct tenon_json_change none = {{NULL, 0}, {NULL, 0}};
    const struct tenon_json_change *change = m->edit != 0 ? &o->edits[m->edit - 1] : &none;

    put(out, change->key.data != NULL ? change->key : cut(o, m->key, m->key_end));
    put(out, cut(o, m->key_end, m->value));
    if (change->value.data != NULL)
        put(out, change->value);
    else if (o->put_value != NULL)
        o->put_value(o->user, out, i);
    else
        put(out, cut(o, m->value, m->value_end));
}

void tenon_json_object_put(const struct tenon_json_object *object, struct tenon_json_out *out)
{
    const struct tenon_json_object *o = object;
    size_t next = 0;
    bool any = false;

    tenon_json_put(out, "{", 1);
    for (size_t i = 0; i <= o->n; i++) {
        for (; next < o->n_inserts && o->inserts[next].before == i; next++) {
            any ? put_comma(o, out) : put_lead(o, out);
            put_insert(o, out, next);
            any = true;
        }
        if (i == o->n || o->members[i].edit == TENON_JSON_REMOVED)
            continue;
        if (!any)
            put_lead(o, out);
        else if (i == 0)
            put_comma(o, out);
        else
            put(out, cut(o, o->members[i - 1].value_end, o->members[i].key));
        put_member(o, out, i);
        any = true;
    }
    put(out, cut(o, o->n > 0 ? o->members[o->n - 1].value_end : o->open, o->close));
    tenon_json_put(out, "}", 1);
}

/* --- one member of a whole text --- */

/* The next key of a path, into `key`. */
static enum tenon_status next_key(const char **path, char *key, size_t size,
                                  struct tenon_error *err)
{
    size_t n = strcspn(*path, ".");

    if (n >= size)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "a key of %zu bytes in a path", n);
    memcpy(key, *path, n);
    key[n] = '\0';
    *path += n + ((*path)[n] == '.');
    return TENON_OK;
}

/* The member that stands for `key`, SIZE_MAX when there is none; NAME_CLASH when there are two. */
static enum tenon_status find_one(const struct tenon_json_object *o, const char *key, size_t *out,
                                  struct tenon_error *err)
{
    *out = SIZE_MAX;
    for (size_t i = 0; i < o->n; i++) {
        struct tenon_json_token token = key_token(o, i);

        if (!tenon_json_token_is(&token, key))
            continue;
        if (*out != SIZE_MAX)
            return tenon_fail(err, TENON_ERR_NAME_CLASH, token.offset, "the key stands twice");
        *out = i;
    }
    return TENON_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Finds the object that holds the last key of `path`, which `key` receives. */
static enum tenon_status find_object(struct tenon_json_object *o, struct tenon_str text,
                                     const char *path, char *key, size_t key_size,
                                     struct tenon_error *err)
{
    size_t at = 0;

    for (;;) {
        enum tenon_status st = next_key(&path, key, key_size, err);
        size_t i;

        while (at < text.len && is_space(text.data[at]))
            at++;
        if (st == TENON_OK)
            st = tenon_json_object_scan(o, text.data, text.len, at, TENON_JSON_MAX_DEPTH, err);
        if (st != TENON_OK || *path == '\0')
            return st;
        st = find_one(o, key, &i, err);
        if (st == TENON_OK && i == SIZE_MAX)
            st = tenon_fail(err, TENON_ERR_NOT_FOUND, o->open, "the object has no such member");
        if (st != TENON_OK)
            return st;
        at = o->members[i].value;
        tenon_json_object_release(o);
    }
}

/* A piece of text and what takes its place. */
struct splice {
    size_t at, end;
    const struct tenon_json_edit *edit; /* its value, behind the key when `with_key` */
    const char *key;
    bool with_key, comma;
};

/* A member where there was none: right behind the brace, behind one blank. */
static void put_new(struct tenon_json_out *out, const struct splice *s)
{
    tenon_json_put_text(out, " ");
    tenon_json_put_string(out, (struct tenon_str){s->key, strlen(s->key)});
    tenon_json_put_text(out, ": ");
    tenon_json_put_text(out, s->edit->value);
    tenon_json_put_text(out, s->comma ? "," : "");
}

static void put_spliced(struct tenon_json_out *out, struct tenon_str text, const struct splice *s)
{
    tenon_json_put(out, text.data, s->at);
    if (s->with_key)
        put_new(out, s);
    else if (s->edit->kind == TENON_JSON_SET)
        tenon_json_put_text(out, s->edit->value);
    tenon_json_put(out, text.data + s->end, text.len - s->end);
}

/* Member `i` with the separator that goes with it. */
static void cut_member(const struct tenon_json_object *o, size_t i, struct splice *s)
{
    s->at = i > 0 ? o->members[i - 1].value_end : o->n > 1 ? o->members[0].key : o->open;
    s->end = i > 0 || o->n == 1 ? o->members[i].value_end : o->members[1].key;
}

/* Whether the object begins with what put_new writes; then that is cut. */
static bool cut_new(const struct tenon_json_object *o, size_t i, struct splice *s)
{
    char wanted[TENON_JSON_EDIT_KEY * 6 + 64];
    struct tenon_json_out out = {0};

    s->comma = o->n > 1;
    put_new(&out, s);
    s->at = o->open;
    s->end = s->at + out.len;
    if (i != 0 || out.len > sizeof(wanted) || s->end > o->close)
        return false;
    out.data = wanted;
    out.len = 0;
    put_new(&out, s);
    return memcmp(wanted, o->text + o->open, out.len) == 0;
}

static enum tenon_status find_splice(const struct tenon_json_object *o, struct splice *s,
                                     struct tenon_error *err)
{
    size_t i;
    enum tenon_status st = find_one(o, s->key, &i, err);

    if (st != TENON_OK)
        return st;
    s->at = s->end = o->open;
    if (s->edit->kind == TENON_JSON_UNDO && i != SIZE_MAX && cut_new(o, i, s))
        return TENON_OK;
    if (i == SIZE_MAX && s->edit->kind == TENON_JSON_SET) {
        s->with_key = true;
        s->comma = o->n > 0;
        return TENON_OK;
    }
    if (i == SIZE_MAX || s->edit->kind == TENON_JSON_UNDO)
        return tenon_fail(err, TENON_ERR_NOT_FOUND, o->open, "the object has no such member");
    s->at = o->members[i].value;
    s->end = o->members[i].value_end;
    if (s->edit->kind == TENON_JSON_REMOVE)
        cut_member(o, i, s);
    return TENON_OK;
}

static enum tenon_status make_text(struct tenon_str text, const struct splice *s,
                                   struct tenon_json_out *out, struct tenon_error *err)
{
    struct tenon_json_out written = {0};

    put_spliced(&written, text, s);
    written.data = tenon_mem_alloc(written.len + 1, 1);
    if (written.data == NULL)
        return tenon_fail_memory(err);
    written.len = 0;
    put_spliced(&written, text, s);
    *out = written;
    return TENON_OK;
}

static enum tenon_status check_text(struct tenon_str text, struct tenon_error *err)
{
    struct tenon_json json;
    struct tenon_json_token token = {.type = TENON_JSON_NULL};
    enum tenon_status st = TENON_OK;

    tenon_json_init(&json, text.data, text.len, TENON_JSON_MAX_DEPTH);
    tenon_json_allow_nonfinite(&json);
    while (st == TENON_OK && token.type != TENON_JSON_END)
        st = tenon_json_next(&json, &token, err);
    return st;
}

enum tenon_status tenon_json_edit(struct tenon_str text, const struct tenon_json_edit *edit,
                                  struct tenon_json_out *out, struct tenon_error *err)
{
    char key[TENON_JSON_EDIT_KEY];
    struct splice splice = {.edit = edit, .key = key};
    struct tenon_json_object object = {0};
    enum tenon_status st = check_text(text, err);

    if (st == TENON_OK)
        st = find_object(&object, text, edit->path, key, sizeof(key), err);
    if (st == TENON_OK)
        st = find_splice(&object, &splice, err);
    if (st == TENON_OK)
        st = make_text(text, &splice, out, err);
    tenon_json_object_release(&object);
    return st;
}
