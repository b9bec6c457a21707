/* Editing JSON without touching what is not edited: an object is taken apart into its members and
 * the text between them, members are marked as removed or given another key or value, new ones are
 * put in, and the object is written again. All other bytes stay, and new members look like their
 * neighbours.
 *
 *   {  lead  "k0": v0  sep1  "k1": v1  sep2  "k2": v2  tail  }
 *
 * A separator belongs to the member behind it; removing the first member removes the separator
 * behind it. So removing what was put in gives back the bytes from before, wherever it was put. */
#ifndef TENON_JSON_EDIT_H
#define TENON_JSON_EDIT_H

#include "json_out.h"
#include "json_pull.h"

/* Of a member's `edit`: it goes away. */
#define TENON_JSON_REMOVED UINT32_MAX

/* Places are offsets into the text. */
struct tenon_json_member {
    uint32_t key, key_end;     /* with its quotes */
    uint32_t value, value_end; /* of any type */
    uint32_t edit;             /* 0: as it is, TENON_JSON_REMOVED, else 1 + its number in `edits` */
};

/* JSON text in place of what stands there; data NULL: as it is. */
struct tenon_json_change {
    struct tenon_str key, value;
};

/* A new member: JSON texts, and the number of the member in front of which it goes (n for the
 * end). */
struct tenon_json_insert {
    size_t before;
    struct tenon_str key, value;
};

/* Zero-initialise. Texts that are handed over are borrowed. */
struct tenon_json_object {
    const char *text;
    uint32_t open, close; /* just after the opening brace; of the closing one */
    struct tenon_json_member *members;
    size_t n, room;
    struct tenon_json_change *edits;
    size_t n_edits, edit_room;
    struct tenon_json_insert *inserts; /* `before` ascending */
    size_t n_inserts, insert_room;
    /* Around new members, taken from the neighbours; may be changed before the object is put. */
    struct tenon_str colon, comma, after_comma;
    /* Both may be NULL. The first writes the value of member `i`, which was not given another one;
     * the second writes key, colon and value of number `i` of `inserts`. */
    void (*put_value)(const void *user, struct tenon_json_out *out, size_t i);
    void (*put_insert)(const void *user, struct tenon_json_out *out, size_t i);
    const void *user;
};

/* Takes apart the object whose brace stands at offset `at` of `text`, which must outlive `object`;
 * what follows the object is not looked at. Fails as the strict reader does, with CORRUPT when it
 * is no object, LIMIT beyond 4 GiB, or NO_MEMORY. Release it in any case. */
enum tenon_status tenon_json_object_scan(struct tenon_json_object *object, const char *text,
                                         size_t len, size_t at, uint32_t max_depth,
                                         struct tenon_error *err);
void tenon_json_object_release(struct tenon_json_object *object);

/* The number of the first member whose key stands for `key`, or SIZE_MAX. */
size_t tenon_json_object_find(const struct tenon_json_object *object, const char *key);

/* The key of member `i`, unescaped, into `buf`, which has room for key_end - key bytes. */
struct tenon_str tenon_json_object_key(const struct tenon_json_object *object, size_t i, char *buf);

/* Gives member `i` another key, value or both (JSON texts; data NULL: as it was). NO_MEMORY only.
 */
enum tenon_status tenon_json_object_change(struct tenon_json_object *object, size_t i,
                                           struct tenon_json_change change,
                                           struct tenon_error *err);

/* Puts a new member in front of member `before`, behind those that were put there earlier.
 * `before` must not be smaller than the last time. NO_MEMORY only. */
enum tenon_status tenon_json_object_insert(struct tenon_json_object *object, size_t before,
                                           struct tenon_str key, struct tenon_str value,
                                           struct tenon_error *err);

/* Writes the object, from brace to brace. */
void tenon_json_object_put(const struct tenon_json_object *object, struct tenon_json_out *out);

/* The longest key that is edited, with a terminator. */
#define TENON_JSON_EDIT_KEY 128

/* One member of a whole text: `path` is its key, behind the keys of the objects it is in, joined by
 * dots. */
enum tenon_json_edit_kind {
    TENON_JSON_SET,   /* it becomes `value`; one that is not there is put right behind the brace
                       * of its object, spelled as nobody else does: `{ "key": value,` */
    TENON_JSON_UNDO,  /* takes away what SET has put there: spelled so, with that value */
    TENON_JSON_REMOVE /* takes it away, with its separator */
};
struct tenon_json_edit {
    enum tenon_json_edit_kind kind;
    const char *path;
    const char *value; /* JSON text; not of REMOVE */
};

/* Carries it out: `*out` gets the new text, terminated, its data to be freed by tenon_mem_free.
 * Fails as the strict reader does; NOT_FOUND where there is nothing to take away, or no object to
 * put the member into; NAME_CLASH when a key of the path stands twice in its object. */
enum tenon_status tenon_json_edit(struct tenon_str text, const struct tenon_json_edit *edit,
                                  struct tenon_json_out *out, struct tenon_error *err);

#endif
