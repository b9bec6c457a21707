/* What a model is made of; for the files of the core only. */
#ifndef TENON_MODEL_PRIVATE_H
#define TENON_MODEL_PRIVATE_H

#include "mem.h"
#include "names.h"
#include "quant.h"
#include "settings.h"
#include "shapes.h"
#include "source.h"
#include "tenon/model.h"

enum { TENON_N_PARTS = TENON_PART_AUDIO + 1 };

/* A tensor with TENON_TENSOR_SHARED, and the earliest one with the same bytes. */
struct tenon_alias {
    uint32_t tensor, first;
};

/* A buffer; or pages, when `pages` is not 0. */
struct tenon_owned {
    void *p;
    size_t pages; /* bytes of them */
};

struct tenon_model {
    struct tenon_arena arena; /* names, shapes, texts */
    struct tenon_shapes shapes;
    struct tenon_open_options options;
    struct tenon_quant_ops ops;
    const char *path;
    const char *format;
    bool directory;

    struct tenon_file *files;
    struct tenon_source **sources; /* one per file */
    size_t n_files;

    const char **sides; /* paths of what was read besides */
    size_t n_sides, side_room;

    struct tenon_tensor *tensors;
    size_t n_tensors, tensor_room;
    struct tenon_names tensor_names;

    struct tenon_str *dtypes; /* texts by which files name unknown ones */
    size_t n_dtypes, dtype_room;
    struct tenon_names dtype_names;
    struct tenon_alias *aliases; /* by tensor */
    size_t n_aliases, alias_room;

    struct tenon_meta_entry *metas;
    size_t n_metas, meta_room;
    struct tenon_names meta_names;
    struct tenon_meta_entry
        *repeats; /* pairs of further files whose keys stand in an earlier one */
    size_t n_repeats, repeat_room;

    struct tenon_finding *findings;
    size_t n_findings, finding_room;

    struct tenon_owned *owned; /* what values point into */
    size_t n_owned, owned_room;

    struct tenon_hparams hparams;
    struct tenon_tokenizer tokenizer;
    struct tenon_setting_levels settings; /* of a config; none: metadata is asked */
    struct tenon_meta_entry *typed; /* GGUF metadata kept as texts, asked instead of `metas` */
    uint32_t *typed_order;          /* numbers of those, by key */
    size_t n_typed;
    const struct tenon_arch *arch;
    enum tenon_dialect dialect;
    uint32_t by_role[TENON_ROLE_END][TENON_N_PARTS][2]; /* first tensor; [..][bias] */
};

/* Grows an array by half when it is full. */
bool tenon_grow(void **array, size_t *room, size_t used, size_t item_bytes);

/* The pair with that key, or NULL. */
const struct tenon_meta_entry *tenon_model_find_key(const struct tenon_model *model,
                                                    struct tenon_str key);

/* The checks that all formats share (validate.c). */
enum tenon_status tenon_model_validate(struct tenon_model *model, struct tenon_error *err);

/* Works out architecture, dialect and the role of each tensor (resolve.c). */
void tenon_model_resolve(struct tenon_model *model);

#endif
