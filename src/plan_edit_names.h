/* What the tensors of a model are called while an edit renames and drops them, one change after the
 * other. Two bits a tensor, and 32 bytes for each new name. */
#ifndef TENON_PLAN_EDIT_NAMES_H
#define TENON_PLAN_EDIT_NAMES_H

#include "names.h"
#include "tenon/model.h"

/* A name that was given, and the tensor that has it now. */
struct tenon_given_name {
    struct tenon_str name;
    uint32_t tensor; /* TENON_NO_INDEX: it is free again */
};

/* Zero-initialise; release in any case. */
struct tenon_edit_names {
    const struct tenon_model *model;
    unsigned char *renamed, *dropped; /* bits */
    struct tenon_given_name *given;
    size_t n_given, room;
    struct tenon_names index; /* of `given` */
    uint32_t *order;          /* at the end: numbers of those in use, by tensor */
    size_t n_order;
};

enum tenon_status tenon_edit_names_init(struct tenon_edit_names *names,
                                        const struct tenon_model *model, struct tenon_error *err);
void tenon_edit_names_release(struct tenon_edit_names *names);

/* The tensor of that name, or TENON_NO_INDEX. */
uint32_t tenon_edit_names_find(const struct tenon_edit_names *names, struct tenon_str name);

/* Calls tensor `i`, which is called `old`, `name`, which must be free and whose bytes must outlive
 * `names`. NO_MEMORY only. */
enum tenon_status tenon_edit_names_change(struct tenon_edit_names *names, uint32_t i,
                                          struct tenon_str old, struct tenon_str name,
                                          struct tenon_error *err);

/* Drops the tensors whose names fit the pattern; how many. */
size_t tenon_edit_names_drop(struct tenon_edit_names *names, const char *pattern);
bool tenon_edit_names_dropped(const struct tenon_edit_names *names, size_t i);

/* When all is done: makes the names ready to be asked for by tensor. NO_MEMORY only. Then only
 * tenon_edit_names_of may follow. */
enum tenon_status tenon_edit_names_end(struct tenon_edit_names *names, struct tenon_error *err);
struct tenon_str tenon_edit_names_of(const struct tenon_edit_names *names, size_t i);

#endif
