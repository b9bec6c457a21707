/* What the parts of the layout of an edited copy share. */
#ifndef TENON_SAFETENSORS_LIKE_H
#define TENON_SAFETENSORS_LIKE_H

#include "json_edit.h"
#include "safetensors_write.h"

/* No entry, no tensor. */
#define TENON_LIKE_NONE UINT32_MAX

/* Blanks in front of an entry that was put into a header whose padding is not the minimal one: as
 * many at least, so that it is known again when it is taken out. */
#define TENON_LIKE_BLANKS 8

/* One entry of the old header: the member of the root with the same number. */
struct tenon_like_entry {
    uint64_t begin, end;          /* of the payload, after the header; in the end the copy's */
    uint32_t begin_at, begin_end; /* where the digits of `begin` stand in the header */
    uint32_t end_at, end_end;     /* and those of `end` */
    uint32_t tensor;              /* of the plan's for this file, or NONE: the entry goes away */
};

/* A payload of the copy. */
struct tenon_like_payload {
    uint64_t begin, end; /* old place, after the old header */
    uint64_t bytes;
    uint64_t new_begin;     /* after the header of the copy */
    uint32_t tensor, entry; /* entry NONE: a new tensor */
    uint32_t width;         /* bytes of an element: its place should be a multiple of them */
    uint32_t slot;          /* it goes in front of the kept payload of that number */
    bool old;               /* the bytes are those of the old place */
    bool moved;             /* it does not stay between its old neighbours */
};

struct tenon_like {
    struct tenon_plan *plan;
    struct tenon_plan_file *out;
    uint32_t file; /* number of `out` */
    const struct tenon_model *model;
    uint32_t old_file;
    size_t first, n; /* the tensors of `out` in the plan */

    char *text; /* the old header */
    size_t len;
    struct tenon_json_object root;
    size_t meta_member; /* number of __metadata__ in the root, or SIZE_MAX */
    bool null_metas;    /* that member is null */
    struct tenon_json_object metas;
    char *room;                       /* for any key or value of the header, unescaped */
    struct tenon_like_entry *entries; /* root.n */
    uint32_t *entry_of;               /* n: of each tensor, or NONE */

    bool minimal;    /* nothing in front, and no more blanks than needed behind */
    bool canonical;  /* the header is as the reference writes it, but for the order of metadata */
    bool known_edit; /* something goes away that was put in before */

    struct tenon_like_payload *payloads; /* n, in their order in the copy */
    size_t n_kept;                       /* of them, those that are not moved */
    uint64_t payload_bytes;
    uint32_t *inserted; /* of each insert of the root: its payload, or NONE for the metadata */
    size_t blanks;      /* in front of the last insert */
};

/* Reads the old header, its entries and their style. */
enum tenon_status tenon_like_read(struct tenon_like *like, struct tenon_error *err);

/* Finds the entry of every tensor, and adds the tensors of entries that the model does not know:
 * an index may leave tensors out, and they stay. */
enum tenon_status tenon_like_match(struct tenon_like *like, struct tenon_error *err);

/* The text as a JSON string behind `lead`, in the plan's arena; data NULL when memory is gone. */
struct tenon_str tenon_like_quote(struct tenon_like *like, const char *lead, struct tenon_str text);

/* Says in `metas` what becomes of the pairs. */
enum tenon_status tenon_like_edit_metas(struct tenon_like *like, struct tenon_error *err);

#endif
