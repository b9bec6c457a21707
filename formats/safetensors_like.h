/* What the parts of the layout of an edited copy share. */
#ifndef TENON_SAFETENSORS_LIKE_H
#define TENON_SAFETENSORS_LIKE_H

#include "json_edit.h"
#include "safetensors_like_text.h"
#include "safetensors_write.h"

/* No entry, no tensor. */
#define TENON_LIKE_NONE UINT32_MAX

/* Blanks in front of an entry that was put into a header whose padding is not the minimal one: as
 * many at least, so that it is known again when it is taken out. */
#define TENON_LIKE_BLANKS 8

/* More dimensions are not read. */
#define TENON_LIKE_DIMS 64

/* --- the old header --- */

/* The old file and its entries. Their numbers: the tensors that the model has of the file, in the
 * order of the header, and then the odd ones, which it has not. */
struct tenon_like_old {
    const struct tenon_model *model;
    uint32_t file;
    uint64_t len;              /* of the header's text */
    uint64_t open, close;      /* in it: just after the opening brace; of the closing one */
    uint64_t blanks;           /* behind the brace, at the end */
    size_t first, n;           /* the model's tensors */
    size_t all;                /* entries, odd ones included */
    struct tenon_tensor **odd; /* each as the reader would have described it */
    size_t n_odd;
    uint64_t meta; /* where the key of __metadata__ stands, UINT64_MAX where there is none */
};

/* The tensor of entry `entry`. */
const struct tenon_tensor *tenon_like_entry(const struct tenon_like_old *old, uint32_t entry);

/* Goes along with a walk through the old header. Zero-initialise. */
struct tenon_like_cursor {
    size_t known, odd; /* entries that were passed */
};

/* The number of the entry whose key stands at `key` in the text, behind those asked for before;
 * NONE when there is none. */
uint32_t tenon_like_find_next(const struct tenon_like_old *old, struct tenon_like_cursor *cursor,
                              uint64_t key);

/* The value of an entry in parts. The texts stand in what was parsed. */
struct tenon_like_parsed {
    struct tenon_tensor tensor; /* dtype, dtype_raw, dims, n_dims, bytes */
    uint64_t dims[TENON_LIKE_DIMS];
    struct tenon_json_token offsets[2];
    uint64_t begin; /* of the payload, after the header */
    bool placed;    /* private: data_offsets was there */
};

/* Reads the value between `text` and `text + len`. MISMATCH when it is none that the reader could
 * have read. */
enum tenon_status tenon_like_parse(const struct tenon_model *model, const char *text, size_t len,
                                   struct tenon_like_parsed *out, struct tenon_error *err);

/* --- the new header --- */

/* What becomes of the metadata as a member of the root. */
enum tenon_like_meta { TENON_LIKE_META_NONE, TENON_LIKE_META_PUT, TENON_LIKE_META_REMOVED };

/* All that the new header is made of, besides the plan's tensors. In the plan's arena. */
struct tenon_like_head {
    struct tenon_like_old old;
    bool minimal;   /* nothing in front, and no more blanks than needed behind */
    bool canonical; /* the header is as the reference writes it, but for the order of metadata */
    enum tenon_like_meta meta;
    struct tenon_str meta_text; /* of PUT: the value */
    uint32_t *tensor_of;        /* of each entry: the tensor that has it, of the plan's for this
                                 * file, or NONE: the entry goes away. Not of a canonical one */
    uint32_t *inserted;         /* the tensors that have none, in order; not of a canonical one */
    size_t n_inserted;
    size_t blanks;         /* in front of the last that is inserted, besides the usual ones */
    uint64_t shrink, grow; /* blanks taken from the end of the text, and added to it */
    uint64_t data;         /* where payloads begin: what the tensors' offsets are counted from */
    uint64_t bytes;        /* of all */
};

/* Puts the root, from brace to brace. `*out_known`: something goes away that was put in before. */
enum tenon_status tenon_like_put_root(const struct tenon_plan *plan, uint32_t file,
                                      const struct tenon_like_head *head, bool *out_known,
                                      struct tenon_window *to);

/* The same for the whole header; `state` is a tenon_like_head (plan_build.h). */
enum tenon_status tenon_like_put_head(const struct tenon_plan *plan, uint32_t file,
                                      const void *state, struct tenon_window *to);

/* --- the layout --- */

struct tenon_like {
    struct tenon_plan *plan;
    struct tenon_plan_file *out;
    uint32_t file; /* number of `out` */
    struct tenon_like_head *head;
    struct tenon_like_old *old; /* of `head` */
    size_t first, n;            /* the tensors of `out` in the plan */

    char *meta_value; /* text of the old metadata */
    bool null_metas;  /* it is null */
    struct tenon_json_object metas;
    char *room; /* for any key or value of the metadata, unescaped */

    uint32_t *entry_of;     /* n: of each tensor, or NONE */
    uint64_t *claimed;      /* bits: entries that a tensor has */
    size_t odd_room;        /* of old->odd */
    uint64_t payload_bytes; /* of all */
};

/* Reads the old header: what the model does not know of it, its metadata and its style. */
enum tenon_status tenon_like_read(struct tenon_like *like, struct tenon_error *err);

/* Finds the entry of every tensor, and adds the tensors of entries that the model does not know:
 * an index may leave tensors out, and they stay. */
enum tenon_status tenon_like_match(struct tenon_like *like, struct tenon_error *err);

/* Says in `metas` what becomes of the pairs. */
enum tenon_status tenon_like_edit_metas(struct tenon_like *like, struct tenon_error *err);

/* Gives every payload its place, counted from the first, puts the plan's tensors into the order of
 * their payloads, and notes in `head` whose the entries are. */
enum tenon_status tenon_like_place(struct tenon_like *like, struct tenon_error *err);

/* The text as a JSON string behind `lead`, in the plan's arena; data NULL when memory is gone. */
struct tenon_str tenon_like_quote(struct tenon_like *like, const char *lead, struct tenon_str text);

#endif
