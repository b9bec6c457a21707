/* A plan: what a rewrite would write, as a value. Tie, untie, convert, edit, split and merge each
 * build one; none of them writes. tenon_plan_layout works out every byte's place, and then
 * tenon_plan_run, the one function that writes, carries it out.
 *
 *   build (tie.h, convert.h, edit.h) -> tenon_plan_layout -> look at it, or tenon_plan_run */
#ifndef TENON_PLAN_H
#define TENON_PLAN_H

#include "tenon/hash.h"
#include "tenon/model.h"

TENON_BEGIN_DECLS

struct tenon_plan;
struct tenon_plan_head;

/* How several sources become one array of numbers. */
enum tenon_combine {
    TENON_COMBINE_STACK = 0, /* one after the other along the outermost dimension; for a single
                              * source: that source */
    TENON_COMBINE_MEAN = 1   /* element by element, in float64 */
};

/* What happens to the numbers, in order, after they are combined. */
enum tenon_step_kind {
    TENON_STEP_PERMUTE = 1,   /* rows of each head, between half-split and interleaved pairs */
    TENON_STEP_TRANSPOSE = 2, /* the last two dimensions */
    TENON_STEP_ADD = 3        /* a constant to every element */
};

struct tenon_step {
    enum tenon_step_kind kind;
    uint32_t heads;      /* PERMUTE: of this tensor (key heads for a key matrix) */
    uint32_t rotary;     /* PERMUTE: leading rows of each head that move, even */
    bool to_interleaved; /* PERMUTE: from half-split; false: the inverse */
    double constant;     /* ADD */
};

/* Where numbers come from: rows of a tensor, or bytes in memory (then `model` is NULL and the
 * bytes are already as they are to be written). */
struct tenon_plan_source {
    const struct tenon_model *model;
    const struct tenon_tensor *tensor;
    uint64_t first_row, n_rows; /* of the outermost dimension; n_rows UINT64_MAX: all from there */
    bool logical;               /* codes and the scales beside them, as values (logical.h) */
    const void *bytes;
};

/* One tensor to be written. Its dtype differs from that of its sources: a cast. */
struct tenon_plan_tensor {
    struct tenon_str name;
    enum tenon_dtype dtype;
    uint32_t dtype_raw; /* the number by which a GGUF file names an unknown dtype that is copied */
    uint32_t n_dims;
    const uint64_t *dims; /* outermost first */
    uint64_t bytes;       /* of the payload */
    uint32_t file;        /* index into the plan's files */
    uint64_t offset;      /* absolute in that file; set by the layout. Two copies of one range may
                           * have the same place, bytes and all */
    enum tenon_combine combine;
    const struct tenon_plan_source *sources; /* NULL: the only one is `source` */
    struct tenon_plan_source source;
    size_t n_sources;
    const struct tenon_step *steps;
    size_t n_steps;
    bool apart; /* in an edited copy: has bytes of its own, also where the old file has them for
                 * another tensor, too */
};

enum tenon_plan_file_kind {
    TENON_PLAN_MODEL = 0, /* a header, then the payloads of tensors */
    TENON_PLAN_TEXT = 1,  /* a config, an index */
    TENON_PLAN_COPY = 2   /* the bytes of the file `copy_of` */
};

/* One file to be written. */
struct tenon_plan_file {
    enum tenon_plan_file_kind kind;
    const char *path;
    const char *format; /* of MODEL: "gguf", "safetensors" */
    uint32_t version;   /* of the format, 0: the writer's choice */
    bool big_endian;
    uint64_t alignment;                   /* 0: the writer's choice. A key in `metas` decides; a new
                                           * file without one gets it for an unusual alignment */
    const struct tenon_meta_entry *metas; /* in the order in which they are written */
    size_t n_metas;
    const char *copy_of;            /* of COPY */
    const char *text;               /* of TEXT: `bytes` bytes; NULL: made as headers are */
    bool last;                      /* its name appears after those of all others: an index */
    const struct tenon_model *like; /* of MODEL: an edited copy of file `like_file` of that model,
                                     * of the same format: what is not changed keeps its place
                                     * and spelling; NULL: a new file */
    uint32_t like_file;
    /* Set by the layout: */
    const struct tenon_plan_head *head; /* how tenon_plan_put_head makes the header, or a text */
    uint64_t head_bytes;                /* before the first payload; of TEXT: all */
    uint64_t bytes;                     /* of the whole file; gaps between payloads are zeros */
};

/* Something that the output does not keep. Listed before anything is written; a plan with a loss
 * that is not allowed does not run. */
struct tenon_loss {
    const char *code;    /* "overflow", "precision", "metadata" ...: stable */
    const char *subject; /* tensor or key, sanitised */
    const char *text;    /* what is lost, sanitised */
    const char *option;  /* that allows it, "--lossy"; NULL: nothing to allow, only said */
    bool allowed;
};

/* Works out headers, offsets and sizes. Needed once, before the sizes are looked at or the plan is
 * run; a second call does nothing. Tensors may change their order: those of a file become one run,
 * in the order in which they are written. Fails with CANNOT_REPRESENT naming the tensor or key that
 * a target format cannot hold, NAME_CLASH for two outputs of one path or two tensors of one name,
 * IO for a side file that cannot be looked at, or NO_MEMORY. */
TENON_API TENON_MUST_USE enum tenon_status tenon_plan_layout(struct tenon_plan *plan,
                                                             struct tenon_error *err);

TENON_API size_t tenon_plan_n_files(const struct tenon_plan *plan);
TENON_API const struct tenon_plan_file *tenon_plan_file(const struct tenon_plan *plan, size_t i);
TENON_API size_t tenon_plan_n_tensors(const struct tenon_plan *plan);

/* Tensor `i`, which must be below the count. What it points to lives as long as the plan and the
 * models. */
TENON_API struct tenon_plan_tensor tenon_plan_tensor(const struct tenon_plan *plan, size_t i);

/* Its sources, n_sources of them. Valid as long as `tensor` stays where it is. */
TENON_API const struct tenon_plan_source *
tenon_plan_sources(const struct tenon_plan_tensor *tensor);

/* Takes `n` bytes. Anything but OK, with `err` filled in, ends what hands them out. */
typedef enum tenon_status (*tenon_put_fn)(void *user, const void *bytes, size_t n,
                                          struct tenon_error *err);

/* Hands the header of file `i` (of a TEXT: all of it) to `put`, piece after piece, head_bytes in
 * all. Only once laid out, as often as wanted. Fails with NO_MEMORY, as `put` does, or, for an
 * edited copy, as reading the old header does; MISUSE without a layout. */
TENON_API TENON_MUST_USE enum tenon_status tenon_plan_put_head(const struct tenon_plan *plan,
                                                               size_t i, tenon_put_fn put,
                                                               void *user, struct tenon_error *err);

/* True when the payload is the source's bytes: one or more sources copied, no step, same dtype and
 * byte order. */
TENON_API bool tenon_plan_tensor_is_copy(const struct tenon_plan *plan,
                                         const struct tenon_plan_tensor *tensor);

TENON_API size_t tenon_plan_n_losses(const struct tenon_plan *plan);
TENON_API const struct tenon_loss *tenon_plan_loss(const struct tenon_plan *plan, size_t i);

/* Sentences for people about choices that were made; terminated, sanitised. */
TENON_API size_t tenon_plan_n_notes(const struct tenon_plan *plan);
TENON_API const char *tenon_plan_note(const struct tenon_plan *plan, size_t i);

/* Of all files together. */
TENON_API uint64_t tenon_plan_bytes(const struct tenon_plan *plan);

/* True when there is nothing to do: the input is already what was asked for. */
TENON_API bool tenon_plan_is_empty(const struct tenon_plan *plan);

/* NULL is fine. The models it reads from are not freed. */
TENON_API void tenon_plan_free(struct tenon_plan *plan);

/* Called from the running thread with a sentence for people (terminated, sanitised) about what was
 * found beside the targets: an unfinished file of a process that is gone, a hard link that is
 * broken, a file that could not be removed. */
typedef void (*tenon_note_fn)(const char *text, void *user);

struct tenon_run_options {
    unsigned threads; /* 0: as many as the machine has processors */
    bool force;       /* replace outputs that exist */
    bool in_place;    /* outputs may be inputs */
    bool no_sync;     /* leave durability to the system: after a power cut a file may be torn */
    bool verify;      /* read everything back and compare it with the plan */
    tenon_progress_fn progress; /* as for hashes; may be NULL */
    tenon_note_fn note;         /* may be NULL */
    void *user;                 /* for both */
};

TENON_API void tenon_run_options_init(struct tenon_run_options *options);

/* Does all casts without writing, and adds a loss "overflow" for each tensor of which finite values
 * become infinite (or NaN, where the type has no infinity): how many, and the first. `option`
 * (static) allows it. A plan whose overflows are not listed, or not allowed, fails when it is run.
 * Needs no layout. `options` may be NULL; of it, `threads`, `progress` and `user` are used. Fails
 * as tenon_plan_run does while it reads and computes. */
TENON_API TENON_MUST_USE enum tenon_status tenon_plan_scan(struct tenon_plan *plan,
                                                           const struct tenon_run_options *options,
                                                           const char *option, bool allowed,
                                                           struct tenon_error *err);

/* Carries out a laid out plan. Afterwards every target is what the plan says, or what it was
 * before; inputs are only read. Memory: at most 96 MiB and the headers. The bytes do not depend on
 * `threads`. Fails with EXISTS or MISUSE (an output that is an input) before anything is written;
 * with IO, TRUNCATED (an input shrank), NO_MEMORY, CANCELLED, MISMATCH (verification), CANNOT_
 * REPRESENT (a loss that is not allowed). `options` may be NULL. */
TENON_API TENON_MUST_USE enum tenon_status tenon_plan_run(const struct tenon_plan *plan,
                                                          const struct tenon_run_options *options,
                                                          struct tenon_error *err);

/* Removes the unfinished files of every run that is going on. Safe in a signal handler, which
 * should then end the process. */
TENON_API void tenon_plan_abort(void);

TENON_END_DECLS

#endif
