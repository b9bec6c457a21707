/* One tying analysis in progress: what its steps, one file each, hand to each other. */
#ifndef TENON_TYING_CASE_H
#define TENON_TYING_CASE_H

#include "mem.h"
#include "tenon/arch.h"
#include "tenon/tying.h"

enum { TENON_MOST_NOTES = 40 };

struct tenon_tying_case {
    const struct tenon_model *model;
    const struct tenon_arch *arch; /* NULL when the family is not known */
    struct tenon_tying_options options;
    struct tenon_tying *out;  /* the answer, in `arena` */
    struct tenon_arena arena; /* of the answer and its notes */
    const char **notes;       /* TENON_MOST_NOTES */
    bool out_of_memory;       /* a note or group did not fit */
    bool gguf;                /* a GGUF file: presence of the output matrix is the flag */
    bool has_config;          /* something says what the model is */
    bool recorded_alias;      /* the metadata say that the output was dropped as an alias */
    bool packed_output;       /* `output` is what a quantizer left in its place */
    uint64_t far_rows;        /* rows that differ by more than rounding */
};

/* Adds a sentence to the answer. Names from files must be cleaned before (tenon_note_name). */
TENON_PRINTF(2, 3) void tenon_note(struct tenon_tying_case *c, const char *format, ...);

/* A clean, terminated copy of a tensor's name, for notes. */
const char *tenon_note_name(struct tenon_tying_case *c, const struct tenon_tensor *tensor);

/* Finds input and output matrix, or what stands in their place (tying_find.c). */
void tenon_tying_find(struct tenon_tying_case *c);

/* Notes on the other input matrices of an encoder-decoder: whether they are copies. */
enum tenon_status tenon_tying_find_copies(struct tenon_tying_case *c, struct tenon_error *err);

/* Reads flags and records into `declared` and its kin (tying_declared.c). */
void tenon_tying_declare(struct tenon_tying_case *c);

/* Whether the family and config expect the output to be the input: YES, NO, or SILENT when
 * neither says so. `version` is that of transformers. */
enum tenon_tristate tenon_tying_expected(const struct tenon_tying_case *c, int version);

/* The verdict where one of the matrices is not stored (tying_absent.c). */
void tenon_tying_judge_absent(struct tenon_tying_case *c);

/* The verdict where both are stored; reads them (tying_compare.c). */
enum tenon_status tenon_tying_judge_pair(struct tenon_tying_case *c, struct tenon_error *err);

/* What loaders do (tying_loaders.c). Needs the verdict. */
void tenon_tying_judge_loaders(struct tenon_tying_case *c);

/* Whether the options allow reading the two matrices. */
bool tenon_tying_may_read(const struct tenon_tying_case *c);

/* Hashes the matrices that are stored. */
enum tenon_status tenon_tying_hash(struct tenon_tying_case *c, struct tenon_error *err);

/* Sets of equal tensors in the whole model (tying_groups.c). */
enum tenon_status tenon_tying_find_groups(struct tenon_tying_case *c, struct tenon_error *err);

/* Whether two tensors hold the same bytes. Reads both. */
enum tenon_status tenon_tying_same_bytes(const struct tenon_model *model,
                                         const struct tenon_tensor *a, const struct tenon_tensor *b,
                                         bool *out_same, struct tenon_error *err);

/* True when both names stand for one range of one file. */
bool tenon_tying_same_storage(const struct tenon_tensor *a, const struct tenon_tensor *b);

/* The number of `tensor` in its model. */
uint32_t tenon_tying_index(const struct tenon_model *model, const struct tenon_tensor *tensor);

#endif
