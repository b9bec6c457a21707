/* A tie or untie that is being planned: what both of them need. */
#ifndef TENON_PLAN_TIE_CASE_H
#define TENON_PLAN_TIE_CASE_H

#include "plan_mirror.h"
#include "tenon/arch.h"
#include "tenon/tie.h"
#include "tenon/tying.h"

/* Where an untie could not be undone from what else is stored, it leaves this key in the metadata
 * of the file that got the new tensors, with their names, separated by blanks. It is the first pair
 * when there were none before, and then `format` follows, which transformers asks for; else it is
 * the last. */
#define TENON_UNTIED_KEY "tenon.untied"

/* In front of the key of a record (see tenon_tie_record) while it does not hold: an untie puts it
 * there, a tie takes it away again. */
#define TENON_UNTIED_MARK "tenon.untied.of:"

/* What is written in the place of one tensor of the model: nothing, or others. */
struct tenon_tie_change {
    const struct tenon_tensor *tensor; /* NULL: only adds, before `before`; where that is NULL, too,
                                        * at the end of `file`, where it moves no other */
    const struct tenon_tensor *before;
    uint32_t file;
    struct tenon_plan_tensor puts[2];
    struct tenon_plan_source sources[2][2];
    const char *names[2]; /* owned by the plan's arena */
    uint64_t dims[2];     /* of a transposed matrix */
    size_t n_puts;
};

/* Two matrices, their scales, and the further input matrices of an encoder-decoder. */
#define TENON_TIE_CHANGES 12

struct tenon_tie_case {
    const struct tenon_model *model;
    const struct tenon_arch *arch; /* NULL when the family is not known */
    struct tenon_mirror mirror;
    struct tenon_tying *tying;
    bool force, gguf;
    struct tenon_tie_change changes[TENON_TIE_CHANGES];
    size_t n_changes;
};

/* Zero-initialise `c`, set `force`; release in any case. Analyses the model. */
enum tenon_status tenon_tie_begin(struct tenon_tie_case *c, const struct tenon_model *model,
                                  const char *target, unsigned threads, struct tenon_error *err);
void tenon_tie_release(struct tenon_tie_case *c);

/* Refuses with CANNOT_REPRESENT; the first note of the analysis is the reason when there is one. */
TENON_PRINTF(3, 4)
enum tenon_status tenon_tie_refuse(const struct tenon_tie_case *c, struct tenon_error *err,
                                   const char *format, ...);

/* The same, unless forced: what a reference loader would not open. */
TENON_PRINTF(3, 4)
enum tenon_status tenon_tie_deny(const struct tenon_tie_case *c, struct tenon_error *err,
                                 const char *format, ...);

/* A change to `tensor`, which then is not written unless something is put in its place. */
enum tenon_status tenon_tie_change(struct tenon_tie_case *c, const struct tenon_tensor *tensor,
                                   struct tenon_tie_change **out, struct tenon_error *err);

/* A change that only adds, at the end of file number `file` unless the caller sets `before`. */
enum tenon_status tenon_tie_add(struct tenon_tie_case *c, uint32_t file,
                                struct tenon_tie_change **out, struct tenon_error *err);

/* Puts `from`, with the scales beside it, in the place of the change, called `name`. */
enum tenon_status tenon_tie_put(struct tenon_tie_case *c, struct tenon_tie_change *change,
                                struct tenon_str name, const struct tenon_tensor *from,
                                struct tenon_error *err);

/* Adds all files and tensors to the plan. */
enum tenon_status tenon_tie_write(struct tenon_tie_case *c, struct tenon_error *err);

/* Sets the flags of the config where there is one and they mean tying. `*out_changed` says whether
 * one has another value than before. */
enum tenon_status tenon_tie_set_flags(struct tenon_tie_case *c, bool tied, bool *out_changed,
                                      struct tenon_error *err);

/* The name of the matrix of which the metadata record that it was left out as another name of
 * `kept`, as the safetensors writers of transformers do: "lm_head.weight" = "model.embed_tokens.
 * weight". Empty when nothing is recorded. A record that an untie put out of force counts. */
struct tenon_str tenon_tie_record(const struct tenon_tie_case *c, const struct tenon_tensor *kept);

/* Puts records about the two matrices in force, or out of it, where files have them. */
enum tenon_status tenon_tie_turn_records(struct tenon_tie_case *c, bool in_force,
                                         struct tenon_error *err);

/* Whether a file of its own needs such a pair to be understood as tied. */
bool tenon_tie_needs_record(const struct tenon_tie_case *c);

/* A clean name for notes, in the plan's arena; "" when memory is gone. */
const char *tenon_tie_name(struct tenon_tie_case *c, struct tenon_str name);

static inline struct tenon_str tenon_str_of(const char *text, size_t len)
{
    return (struct tenon_str){text, len};
}

#endif
