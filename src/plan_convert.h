/* A conversion that is being planned: what its parts share. */
#ifndef TENON_PLAN_CONVERT_H
#define TENON_PLAN_CONVERT_H

#include "plan_like.h"
#include "tenon/convert.h"

/* What becomes of one tensor; there may be a million. */
struct tenon_choice {
    uint16_t dtype : 14; /* enum tenon_dtype that it is written in */
    uint16_t unpack : 1; /* from codes and the scales beside them, as numbers */
    uint16_t drop : 1;   /* scales that are in the numbers now */
};

struct tenon_conversion {
    const struct tenon_model *model;
    const struct tenon_convert_options *options;
    const char *target;
    const struct tenon_container *from, *to;
    struct tenon_plan *plan;
    struct tenon_choice *choices;   /* one for each tensor */
    struct tenon_plan_file file;    /* what the files have in common, metadata included */
    struct tenon_meta_entry *metas; /* of `file`; owned */
    bool folder;                    /* the output is one */
};

/* Decides what becomes of every tensor (plan_convert_dtype.c). */
enum tenon_status tenon_convert_choose(struct tenon_conversion *c, struct tenon_error *err);

/* Makes the metadata of the files, and lists what is lost of it (plan_convert_meta.c). */
enum tenon_status tenon_convert_metas(struct tenon_conversion *c, struct tenon_error *err);

/* Says in the plan what the choices do to the model, and to the config of a folder
 * (plan_convert_note.c). */
enum tenon_status tenon_convert_notes(struct tenon_conversion *c, struct tenon_error *err);

#endif
