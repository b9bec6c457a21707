/* How builders fill a plan, and how format writers lay it out. Everything handed over is copied
 * into the plan's arena, but for models, tensors and bytes, which must outlive it. */
#ifndef TENON_PLAN_BUILD_H
#define TENON_PLAN_BUILD_H

#include "mem.h"
#include "tenon/plan.h"
#include "window.h"

/* A change to a config of the folder: member `key` ("text_config.tie_word_embeddings") of the
 * JSON file `name` becomes true, false, or goes away. One that is not there is made the first of
 * its object, in a spelling that nobody else uses: right behind the brace, `{ "key": false,`.
 * DEFAULT undoes that: such a member goes away, and the file is as it was; any other becomes true,
 * and one that is not there is left so. (For families that tie when the config is silent.) With
 * TEXT one that is there becomes `text`. */
enum tenon_flag_value {
    TENON_FLAG_FALSE = 0,
    TENON_FLAG_TRUE = 1,
    TENON_FLAG_REMOVE = 2,
    TENON_FLAG_DEFAULT = 3,
    TENON_FLAG_TEXT = 4
};
struct tenon_plan_flag {
    const char *name; /* "config.json" */
    const char *key;  /* path of members, joined by dots */
    enum tenon_flag_value value;
    const char *text; /* of TEXT: JSON, static */
};

/* How the header of a file comes about, from what the plan says: names, shapes, offsets. It is made
 * whenever it is wanted, always the same, and never kept. Lives in the plan's arena. */
struct tenon_plan_head {
    enum tenon_status (*put)(const struct tenon_plan *plan, uint32_t file, const void *state,
                             struct tenon_window *to);
    const void *state;
};

/* Bytes of an input that belong to no tensor and go along in an edited copy of it: padding that
 * need not be zero, gaps, what stands behind the last payload. Where a file has none, its gaps are
 * zeros. Neighbours are one, together with what lies between them: a rest overlaps nothing but
 * tensors that lie in it whole and are copies, each, of one whole tensor, in that file as far from
 * the rest as here; the rest brings their bytes, too. Added by layouts, copied by the runner, not
 * listed. */
struct tenon_plan_rest {
    uint32_t file; /* index into the plan's files */
    uint64_t offset, bytes;
    const struct tenon_model *model;
    uint32_t from; /* index into the model's files */
    uint64_t from_offset;
};

/* A tensor as a plan keeps it. Nearly all are one whole tensor of an input, perhaps of another name
 * or type, and of a million of them every byte counts. tenon_plan_tensor makes a tensor of it. */
struct tenon_plan_record {
    union {
        const struct tenon_tensor *source; /* the whole of it, in its shape */
        const struct tenon_plan_tensor *full;
    } of;
    const unsigned char *name; /* NULL: that of the source; else 4 bytes of length, and text */
    uint64_t offset;
    uint32_t file;
    uint16_t model; /* of `source`: index into the plan's models; TENON_PLAN_FULL: it is `full` */
    uint16_t dtype : 14; /* of `full` ones, too */
    uint16_t logical : 1;
    uint16_t apart : 1;
};
#define TENON_PLAN_FULL UINT16_MAX

struct tenon_plan {
    struct tenon_arena arena;
    const struct tenon_model **models; /* every input, for the comparison with outputs */
    size_t n_models, model_room;
    struct tenon_plan_file *files;
    size_t n_files, file_room;
    struct tenon_plan_record *tensors; /* of a file: in the order in which they are written */
    size_t n_tensors, tensor_room;
    struct tenon_plan_rest *rests; /* of a file: in the order of their offsets */
    size_t n_rests, rest_room;
    struct tenon_loss *losses;
    size_t n_losses, loss_room;
    const char **notes;
    size_t n_notes, note_room;
    struct tenon_plan_flag *flags;
    size_t n_flags, flag_room;
    void **owned; /* freed with the plan */
    size_t n_owned, owned_room;
    const char **stale; /* paths to remove after the run: what the index that is replaced named */
    size_t n_stale, stale_room;
    const char *folder; /* the output is a Hugging Face folder of that path: the layout adds config,
                         * index and whatever else the input folder has; NULL: it is not */
    const char *index; /* path of the index of a set of safetensors files outside of a folder, which
                        * the layout adds; NULL: there is none */
    const char *target; /* as the user named the output */
    bool empty;         /* nothing to do */
    bool apart;         /* no input can be an output, also where a run is in place */
    bool laid_out;
    /* What the layout of a file leaves to that of the next, so that nothing is found out once for
     * each: gone when all are laid out. NULL: nothing. */
    void *found;
    void (*free_found)(void *found);
};

enum tenon_status tenon_plan_new(const char *target, struct tenon_plan **out,
                                 struct tenon_error *err);

/* Frees `memory` with the plan; NULL is fine. When that fails (NO_MEMORY), it is freed at once. */
enum tenon_status tenon_plan_own(struct tenon_plan *plan, void *memory, struct tenon_error *err);

/* Notes an input. Adding a tensor whose source it is does that, too. NO_MEMORY only. */
enum tenon_status tenon_plan_add_model(struct tenon_plan *plan, const struct tenon_model *model,
                                       struct tenon_error *err);

/* Adds a file; path, format, copy_of, metas and their strings are copied. `*out_i` is its index. */
enum tenon_status tenon_plan_add_file(struct tenon_plan *plan, const struct tenon_plan_file *file,
                                      uint32_t *out_i, struct tenon_error *err);

/* A text file: `len` bytes at `text` are copied. */
enum tenon_status tenon_plan_add_text(struct tenon_plan *plan, const char *path, const char *text,
                                      size_t len, bool last, struct tenon_error *err);

/* The same for one that is not kept, but made when it is wanted: `len` bytes by `head`. */
enum tenon_status tenon_plan_add_made(struct tenon_plan *plan, const char *path,
                                      struct tenon_plan_head head, uint64_t len, bool last,
                                      struct tenon_error *err);

/* Adds a tensor at the end of its file's; dims, sources, steps and name are copied. `bytes` is
 * worked out (for an unknown dtype that is copied: taken from the source). Of tensors and models
 * only the addresses are kept, and what they point to. */
enum tenon_status tenon_plan_add_tensor(struct tenon_plan *plan,
                                        const struct tenon_plan_tensor *tensor,
                                        struct tenon_error *err);

/* A tensor that is copied as it is, under its own name, into `file`. */
enum tenon_status tenon_plan_add_tensor_of(struct tenon_plan *plan, const struct tenon_model *model,
                                           const struct tenon_tensor *tensor, uint32_t file,
                                           struct tenon_error *err);

/* For layouts: what makes the header of `file`, `n` bytes of it. `state` must live as long as the
 * plan. NO_MEMORY only. */
enum tenon_status tenon_plan_set_head(struct tenon_plan *plan, uint32_t file,
                                      struct tenon_plan_head head, uint64_t n,
                                      struct tenon_error *err);

/* The same for a header that is small enough to be copied into the plan's arena. */
enum tenon_status tenon_plan_keep_head(struct tenon_plan *plan, uint32_t file, const void *bytes,
                                       size_t n, struct tenon_error *err);

/* As tenon_plan_put_head, into a window, which is ended. */
enum tenon_status tenon_plan_make_head(const struct tenon_plan *plan, size_t file,
                                       struct tenon_window *to);

/* For layouts: leaves `found`, which is freed with `free_found`, instead of what was left before.
 * NULL: nothing any more. */
void tenon_plan_leave(struct tenon_plan *plan, void *found, void (*free_found)(void *found));

/* For layouts. Nothing happens for 0 bytes. NO_MEMORY only. */
enum tenon_status tenon_plan_add_rest(struct tenon_plan *plan, const struct tenon_plan_rest *rest,
                                      struct tenon_error *err);

enum tenon_status tenon_plan_add_flag(struct tenon_plan *plan, const struct tenon_plan_flag *flag,
                                      struct tenon_error *err);

/* A file to remove when, and only when, the run has succeeded: a shard that the index which is
 * replaced named, and the new one does not. */
enum tenon_status tenon_plan_add_stale(struct tenon_plan *plan, const char *path,
                                       struct tenon_error *err);

/* `subject` (may be NULL) need not be clean. `code` and `option` are static. */
TENON_PRINTF(7, 8)
enum tenon_status tenon_plan_add_loss(struct tenon_plan *plan, const char *code,
                                      struct tenon_str subject, const char *option, bool allowed,
                                      struct tenon_error *err, const char *format, ...);

TENON_PRINTF(3, 4)
enum tenon_status tenon_plan_add_note(struct tenon_plan *plan, struct tenon_error *err,
                                      const char *format, ...);

/* Makes the tensors of each file one run, in the order of the files; within a file the order stays.
 * The layout begins with it. Fails when memory is gone. */
enum tenon_status tenon_plan_group(struct tenon_plan *plan, struct tenon_error *err);

/* Where the run of file `file` begins in plan->tensors, and how long it is. Only once grouped. */
void tenon_plan_tensors_of(const struct tenon_plan *plan, uint32_t file, size_t *out_first,
                           size_t *out_n);

/* Puts tensor first + order[i] at place first + i, for all i below `n`. `order`, a permutation of
 * those numbers, is used up. */
void tenon_plan_reorder(struct tenon_plan *plan, size_t first, size_t n, uint32_t *order);

/* Of all dimensions together; UINT64_MAX where the product does not fit, and its layout complains.
 */
uint64_t tenon_plan_tensor_elements(const struct tenon_plan_tensor *tensor);

/* Name and bytes of tensor `i`, cheaper than all of it. */
struct tenon_str tenon_plan_name(const struct tenon_plan *plan, size_t i);
uint64_t tenon_plan_tensor_bytes(const struct tenon_plan *plan, size_t i);

#endif
