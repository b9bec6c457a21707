/* Editing a text: the result must be JSON again, differ from the text in the edited member only,
 * and be the text again after the way back. */
#include "json_edit.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_model.h"
#include "mem.h"

#define MOST_DEPTH 64

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Whether the members of both objects are the same but for number `skip` of `b`. */
static void compare(const struct tenon_json_object *a, const struct tenon_json_object *b,
                    size_t skip)
{
    check(b->n == a->n + 1);
    for (size_t i = 0; i < a->n; i++) {
        const struct tenon_json_member *x = &a->members[i], *y = &b->members[i + (i >= skip)];

        check(x->value_end - x->key == y->value_end - y->key);
        check(memcmp(a->text + x->key, b->text + y->key, x->value_end - x->key) == 0);
    }
}

static char *put(const struct tenon_json_object *o, size_t *n)
{
    struct tenon_json_out out = {0};

    tenon_json_object_put(o, &out);
    *n = out.len;
    out.data = malloc(out.len + 1);
    out.len = 0;
    if (out.data != NULL)
        tenon_json_object_put(o, &out);
    return out.data;
}

/* Puts a member in at `place` and removes it again. */
static void there_and_back(struct tenon_json_object *o, size_t place)
{
    struct tenon_json_object again = {0};
    struct tenon_error err = {0};
    size_t n = 0, n_back = 0;
    char *text, *back;

    o->n_inserts = 0;
    check(tenon_json_object_insert(o, place, (struct tenon_str){"\"\\u0000\"", 8},
                                   (struct tenon_str){"{\"k\":[]}", 8}, &err) == TENON_OK);
    text = put(o, &n);
    if (text == NULL)
        return;
    check(tenon_json_object_scan(&again, text, n, 0, MOST_DEPTH + 2, &err) == TENON_OK);
    check(again.close + 1 == n);
    compare(o, &again, place);
    again.members[place].edit = TENON_JSON_REMOVED;
    back = put(&again, &n_back);
    if (back != NULL) {
        check(n_back == (size_t)o->close + 2 - o->open);
        check(memcmp(back, o->text + o->open - 1, n_back) == 0);
    }
    tenon_json_object_release(&again);
    free(back);
    free(text);
}

/* A whole text is edited only when it is JSON as a whole. */
static void edit_whole(struct tenon_str text)
{
    static const struct tenon_json_edit set = {TENON_JSON_SET, "zz", "false"},
                                        undo = {TENON_JSON_UNDO, "zz", "false"},
                                        remove = {TENON_JSON_REMOVE, "zz", NULL};
    struct tenon_error err = {0};
    struct tenon_json_out there = {0}, back = {0};

    if (tenon_json_edit(text, &remove, &there, &err) == TENON_OK) {
        tenon_mem_free(there.data); /* it had that member */
        return;
    }
    memset(&err, 0, sizeof(err));
    if (tenon_json_edit(text, &set, &there, &err) != TENON_OK) {
        check(err.message[0] != '\0' && (err.offset <= text.len || err.offset == TENON_NO_OFFSET));
        return;
    }
    check(tenon_json_edit((struct tenon_str){there.data, there.len}, &undo, &back, &err) ==
          TENON_OK);
    check(back.len == text.len && memcmp(back.data, text.data, text.len) == 0);
    tenon_mem_free(there.data);
    tenon_mem_free(back.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct tenon_json_object object = {0};
    struct tenon_error err = {0};

    if (size > 0 && tenon_json_object_scan(&object, text, size, 0, MOST_DEPTH, &err) == TENON_OK) {
        there_and_back(&object, 0);
        there_and_back(&object, object.n / 2);
        there_and_back(&object, object.n);
    }
    tenon_json_object_release(&object);
    edit_whole((struct tenon_str){text, size});
    return 0;
}
