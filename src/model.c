/* The model: files, tensors, metadata and findings that live and die together. */
#include "model_private.h"

#include <math.h>
#include <string.h>

#include "cpu.h"
#include "fail.h"
#include "model_build.h"

#define LEAST_ROOM 16

/* Tensors count their file in 16 bits. */
#define MOST_FILES UINT16_MAX

bool tenon_grow(void **array, size_t *room, size_t used, size_t item_bytes)
{
    size_t wanted;
    void *grown;

    if (used < *room)
        return true;
    if (!tenon_size_add(&wanted, *room, *room / 2) || !tenon_size_add(&wanted, wanted, LEAST_ROOM))
        return false;
    grown = tenon_mem_resize(*array, wanted, item_bytes);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

static void init_hparams(struct tenon_hparams *h)
{
    static const struct tenon_str empty = {"", 0};

    h->model_type = h->text_model_type = h->class_name = h->name = empty;
    h->torch_dtype = h->transformers_version = empty;
    h->rope_scaling = h->quant_method = empty;
    h->vocab_size = h->hidden_size = h->embedding_size = TENON_UNKNOWN;
    h->layers = h->decoder_layers = h->heads = h->kv_heads = h->head_dim = TENON_UNKNOWN;
    h->intermediate_size = h->context_length = h->experts = TENON_UNKNOWN;
    h->pad_token_id = h->type_vocab_size = h->rotary_dim = TENON_UNKNOWN;
    h->rope_original_context = TENON_UNKNOWN;
    h->rope_theta = h->rope_partial_factor = h->rope_factor = (double)NAN;
}

static void init_tokenizer(struct tenon_tokenizer *t)
{
    static const struct tenon_str empty = {"", 0};

    t->model = t->pre = empty;
    t->tokens = t->added = t->max_id = t->merges = TENON_UNKNOWN;
}

enum tenon_status tenon_model_new(const char *path, const struct tenon_open_options *options,
                                  struct tenon_model **out, struct tenon_error *err)
{
    struct tenon_model *model = tenon_mem_alloc(1, sizeof(*model));

    if (model == NULL)
        return tenon_fail_memory(err);
    if (options != NULL)
        model->options = *options;
    else
        tenon_open_options_init(&model->options);
    tenon_quant_init(&model->ops, tenon_cpu_detect() & ~model->options.cpu_mask_out);
    init_hparams(&model->hparams);
    init_tokenizer(&model->tokenizer);
    memset(model->by_role, 0xff, sizeof(model->by_role));
    model->format = "";
    model->path = tenon_arena_text(&model->arena, path, strlen(path));
    if (model->path == NULL) {
        tenon_model_free(model);
        return tenon_fail_memory(err);
    }
    *out = model;
    return TENON_OK;
}

static void release_owned(const struct tenon_owned *owned)
{
    if (owned->pages != 0)
        tenon_mem_unmap(owned->p, owned->pages);
    else
        tenon_mem_free(owned->p);
}

void tenon_model_free(struct tenon_model *model)
{
    if (model == NULL)
        return;
    for (size_t i = 0; i < model->n_files; i++)
        tenon_source_free(model->sources[i]);
    for (size_t i = 0; i < model->n_owned; i++)
        release_owned(&model->owned[i]);
    tenon_shapes_release(&model->shapes);
    tenon_names_release(&model->tensor_names);
    tenon_names_release(&model->meta_names);
    tenon_names_release(&model->dtype_names);
    tenon_mem_free(model->files);
    tenon_mem_free(model->sources);
    tenon_mem_free(model->tensors);
    tenon_mem_free(model->dtypes);
    tenon_mem_free(model->aliases);
    tenon_mem_free(model->metas);
    tenon_mem_free(model->repeats);
    tenon_mem_free(model->findings);
    tenon_mem_free(model->owned);
    tenon_mem_free((void *)model->sides);
    tenon_arena_release(&model->arena);
    tenon_mem_free(model);
}

/* --- building --- */

struct tenon_arena *tenon_model_arena(struct tenon_model *model)
{
    return &model->arena;
}

const struct tenon_open_options *tenon_model_options(const struct tenon_model *model)
{
    return &model->options;
}

struct tenon_hparams *tenon_model_edit_hparams(struct tenon_model *model)
{
    return &model->hparams;
}

struct tenon_tokenizer *tenon_model_edit_tokenizer(struct tenon_model *model)
{
    return &model->tokenizer;
}

void tenon_model_set_format(struct tenon_model *model, const char *static_name)
{
    model->format = static_name;
}

void tenon_model_set_directory(struct tenon_model *model)
{
    model->directory = true;
}

static enum tenon_status own(struct tenon_model *model, struct tenon_owned owned,
                             struct tenon_error *err)
{
    if (!tenon_grow((void **)&model->owned, &model->owned_room, model->n_owned, sizeof(owned))) {
        release_owned(&owned);
        return tenon_fail_memory(err);
    }
    model->owned[model->n_owned++] = owned;
    return TENON_OK;
}

enum tenon_status tenon_model_own(struct tenon_model *model, void *buffer, struct tenon_error *err)
{
    return own(model, (struct tenon_owned){.p = buffer}, err);
}

enum tenon_status tenon_model_own_pages(struct tenon_model *model, void *pages, size_t bytes,
                                        struct tenon_error *err)
{
    return own(model, (struct tenon_owned){.p = pages, .pages = bytes}, err);
}

/* Room for one more file. Sets are small: growing by one is enough. */
static bool grow_files(struct tenon_model *model)
{
    size_t n = model->n_files + 1;
    struct tenon_file *files = tenon_mem_resize(model->files, n, sizeof(*files));
    struct tenon_source **sources;

    if (files == NULL)
        return false;
    model->files = files;
    sources = tenon_mem_resize(model->sources, n, sizeof(*sources));
    if (sources == NULL)
        return false;
    model->sources = sources;
    return true;
}

enum tenon_status tenon_model_add_file(struct tenon_model *model, struct tenon_source *source,
                                       uint32_t *out_i, struct tenon_error *err)
{
    const char *path = tenon_source_path(source);
    const char *slash = strrchr(path, '/');
    struct tenon_file file = {.path = path,
                              .name = slash != NULL ? slash + 1 : path,
                              .bytes = tenon_source_size(source),
                              .alignment = 1,
                              .format = ""};

    if (model->n_files >= model->options.limits.shards || model->n_files >= MOST_FILES) {
        uint32_t limit = model->n_files < MOST_FILES ? model->options.limits.shards : MOST_FILES;

        tenon_source_free(source);
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "more than %u files in one model",
                          limit);
    }
    if (!grow_files(model)) {
        tenon_source_free(source);
        return tenon_fail_memory(err);
    }
    model->files[model->n_files] = file;
    model->sources[model->n_files] = source;
    *out_i = (uint32_t)model->n_files++;
    return TENON_OK;
}

enum tenon_status tenon_model_add_side(struct tenon_model *model, const char *path,
                                       struct tenon_error *err)
{
    if (!tenon_grow((void **)&model->sides, &model->side_room, model->n_sides,
                    sizeof(*model->sides)))
        return tenon_fail_memory(err);
    model->sides[model->n_sides++] = path;
    return TENON_OK;
}

struct tenon_file *tenon_model_edit_file(struct tenon_model *model, uint32_t i)
{
    return &model->files[i];
}

const struct tenon_source *tenon_model_source(const struct tenon_model *model, uint32_t file)
{
    return model->sources[file];
}

static struct tenon_str name_of_tensor(const void *owner, uint32_t i)
{
    const struct tenon_model *model = owner;

    return model->tensors[i].name;
}

static struct tenon_str name_of_meta(const void *owner, uint32_t i)
{
    const struct tenon_model *model = owner;

    return model->metas[i].key;
}

/* The number of elements. Zeros do not excuse an overflow: whether a shape is legal must not
 * depend on the order of its dimensions. */
static bool count_elements(const uint64_t *dims, uint32_t n_dims, uint64_t *out)
{
    uint64_t product = 1;
    bool zero = false;

    for (uint32_t i = 0; i < n_dims; i++) {
        if (dims[i] == 0)
            zero = true;
        else if (!tenon_u64_mul(&product, product, dims[i]) || product > INT64_MAX)
            return false;
    }
    *out = zero ? 0 : product;
    return true;
}

/* Works out elements and bytes of a descriptor. */
static enum tenon_status measure_tensor(struct tenon_tensor *t, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)t->dtype);
    uint64_t row = t->n_dims != 0 ? t->dims[t->n_dims - 1] : 1;

    if (!count_elements(t->dims, t->n_dims, &t->n_elements))
        return tenon_fail(err, TENON_ERR_CORRUPT, t->record_offset,
                          "the product of its dimensions does not fit 63 bits");
    if (info == NULL || info->block_bytes == 0) {
        t->flags |= TENON_TENSOR_SIZE_UNKNOWN;
        t->bytes = 0;
        return TENON_OK;
    }
    if (info->family == TENON_DTYPE_FAMILY_block && row % info->block_elements != 0)
        return tenon_fail(err, TENON_ERR_CORRUPT, t->record_offset,
                          "rows of %llu elements are not whole blocks: %s packs %u elements "
                          "into %u bytes",
                          (unsigned long long)row, info->name, info->block_elements,
                          info->block_bytes);
    if (t->n_elements % info->block_elements != 0)
        return tenon_fail(err, TENON_ERR_CORRUPT, t->record_offset,
                          "%llu elements are not a whole number of bytes: %s packs %u elements "
                          "into %u bytes",
                          (unsigned long long)t->n_elements, info->name, info->block_elements,
                          info->block_bytes);
    if (!tenon_dtype_bytes(info->dtype, t->n_elements, &t->bytes) || t->bytes > INT64_MAX)
        return tenon_fail(err, TENON_ERR_CORRUPT, t->record_offset,
                          "its size in bytes does not fit 63 bits");
    return TENON_OK;
}

static enum tenon_status check_tensor_limits(const struct tenon_model *model,
                                             const struct tenon_tensor *t, struct tenon_error *err)
{
    const struct tenon_limits *limits = &model->options.limits;

    if (model->n_tensors >= limits->tensors || model->n_tensors >= TENON_NO_INDEX - 1)
        return tenon_fail(err, TENON_ERR_LIMIT, t->record_offset,
                          "more than %llu tensors in one model",
                          (unsigned long long)limits->tensors);
    if (t->n_dims > limits->dims)
        return tenon_fail(err, TENON_ERR_LIMIT, t->record_offset,
                          "%u dimensions, at most %u allowed", t->n_dims, limits->dims);
    return TENON_OK;
}

/* Copies the shape into the model, and the name unless it is there. */
static bool keep_parts(struct tenon_model *model, struct tenon_tensor *t, bool has_name)
{
    if (!has_name)
        t->name.data = tenon_arena_bytes(&model->arena, t->name.data, t->name.len);
    t->dims = t->n_dims != 0 ? tenon_shapes_keep(&model->shapes, &model->arena, t->dims, t->n_dims)
                             : NULL;
    return t->name.data != NULL && (t->dims != NULL || t->n_dims == 0);
}

static enum tenon_status store_tensor(struct tenon_model *model, struct tenon_tensor *t,
                                      bool has_name, struct tenon_error *err)
{
    uint32_t i = (uint32_t)model->n_tensors;
    uint32_t known;

    if (!tenon_grow((void **)&model->tensors, &model->tensor_room, i, sizeof(*t)) ||
        !keep_parts(model, t, has_name))
        return tenon_fail_memory(err);
    model->tensors[i] = *t;
    known = tenon_names_add(&model->tensor_names, i, model, name_of_tensor);
    if (known == TENON_NO_INDEX)
        return tenon_fail_memory(err);
    if (known != i)
        return tenon_fail(err, TENON_ERR_NAME_CLASH, t->record_offset,
                          "the name stands for two tensors, the first at offset %llu",
                          (unsigned long long)model->tensors[known].record_offset);
    model->n_tensors++;
    return TENON_OK;
}

static enum tenon_status add_tensor(struct tenon_model *model, const struct tenon_tensor *tensor,
                                    bool has_name, struct tenon_error *err)
{
    struct tenon_tensor t = *tensor;
    enum tenon_status st = check_tensor_limits(model, &t, err);

    t.scale = TENON_NO_INDEX;
    t.scaling = TENON_SCALING_NONE;
    t.layer = t.expert = -1;
    t.role = TENON_ROLE_NONE;
    if (st == TENON_OK)
        st = measure_tensor(&t, err);
    if (st == TENON_OK)
        st = store_tensor(model, &t, has_name, err);
    if (st != TENON_OK)
        tenon_fail_subject(err, "tensor", tensor->name.data, tensor->name.len);
    return st;
}

enum tenon_status tenon_model_add_tensor(struct tenon_model *model,
                                         const struct tenon_tensor *tensor, struct tenon_error *err)
{
    return add_tensor(model, tensor, false, err);
}

enum tenon_status tenon_model_add_named(struct tenon_model *model,
                                        const struct tenon_tensor *tensor, struct tenon_error *err)
{
    return add_tensor(model, tensor, true, err);
}

struct tenon_tensor *tenon_model_edit_tensor(struct tenon_model *model, size_t i)
{
    return &model->tensors[i];
}

static struct tenon_str name_of_dtype(const void *owner, uint32_t i)
{
    const struct tenon_model *model = owner;

    return model->dtypes[i];
}

uint32_t tenon_model_find_dtype(const struct tenon_model *model, struct tenon_str text)
{
    return tenon_names_find(&model->dtype_names, text.data, text.len, model, name_of_dtype);
}

enum tenon_status tenon_model_add_dtype(struct tenon_model *model, struct tenon_str text,
                                        uint32_t *out, struct tenon_error *err)
{
    uint32_t i = (uint32_t)model->n_dtypes, known = tenon_model_find_dtype(model, text);
    char *copy;

    if (known == TENON_NO_INDEX) {
        if (!tenon_grow((void **)&model->dtypes, &model->dtype_room, i, sizeof(*model->dtypes)))
            return tenon_fail_memory(err);
        copy = tenon_arena_text(&model->arena, text.data, text.len);
        if (copy == NULL)
            return tenon_fail_memory(err);
        model->dtypes[i] = (struct tenon_str){copy, text.len};
        known = tenon_names_add(&model->dtype_names, i, model, name_of_dtype);
        if (known == TENON_NO_INDEX)
            return tenon_fail_memory(err);
        model->n_dtypes++;
    }
    *out = known;
    return TENON_OK;
}

enum tenon_status tenon_model_add_meta(struct tenon_model *model,
                                       const struct tenon_meta_entry *entry,
                                       struct tenon_error *err)
{
    uint32_t i = (uint32_t)model->n_metas;
    uint32_t known;

    if (i == TENON_NO_INDEX - 1 ||
        !tenon_grow((void **)&model->metas, &model->meta_room, i, sizeof(*entry)))
        return tenon_fail_memory(err);
    model->metas[i] = *entry;
    known = tenon_names_add(&model->meta_names, i, model, name_of_meta);
    if (known == TENON_NO_INDEX)
        return tenon_fail_memory(err);
    if (known == i) {
        model->n_metas++;
        return TENON_OK;
    }
    if (model->metas[known].file != entry->file) { /* the first file speaks for the set */
        if (!tenon_grow((void **)&model->repeats, &model->repeat_room, model->n_repeats,
                        sizeof(*entry)))
            return tenon_fail_memory(err);
        model->repeats[model->n_repeats++] = *entry;
        return TENON_OK;
    }
    tenon_fail(err, TENON_ERR_NAME_CLASH, entry->offset,
               "the key stands here for the second time, the first is at offset %llu",
               (unsigned long long)model->metas[known].offset);
    tenon_fail_subject(err, "key", entry->key.data, entry->key.len);
    return TENON_ERR_NAME_CLASH;
}

/* --- reading --- */

const char *tenon_model_path(const struct tenon_model *model)
{
    return model->path;
}

const char *tenon_model_format(const struct tenon_model *model)
{
    return model->format;
}

bool tenon_model_is_directory(const struct tenon_model *model)
{
    return model->directory;
}

size_t tenon_model_n_files(const struct tenon_model *model)
{
    return model->n_files;
}

const struct tenon_file *tenon_model_file(const struct tenon_model *model, size_t i)
{
    return &model->files[i];
}

size_t tenon_model_n_side_files(const struct tenon_model *model)
{
    return model->n_sides;
}

const char *tenon_model_side_file(const struct tenon_model *model, size_t i)
{
    return model->sides[i];
}

size_t tenon_model_n_tensors(const struct tenon_model *model)
{
    return model->n_tensors;
}

const struct tenon_tensor *tenon_model_tensor(const struct tenon_model *model, size_t i)
{
    return &model->tensors[i];
}

const struct tenon_tensor *tenon_model_find(const struct tenon_model *model, const char *name,
                                            size_t len)
{
    uint32_t i = tenon_names_find(&model->tensor_names, name, len, model, name_of_tensor);

    return i != TENON_NO_INDEX ? &model->tensors[i] : NULL;
}

const struct tenon_tensor *tenon_model_find_role(const struct tenon_model *model,
                                                 enum tenon_role role, enum tenon_part part,
                                                 bool bias)
{
    uint32_t i;

    if ((size_t)role >= TENON_ROLE_END || (size_t)part >= TENON_N_PARTS)
        return NULL;
    i = model->by_role[role][part][bias];
    return i != TENON_NO_INDEX ? &model->tensors[i] : NULL;
}

size_t tenon_model_n_meta(const struct tenon_model *model)
{
    return model->n_metas;
}

const struct tenon_meta_entry *tenon_model_meta(const struct tenon_model *model, size_t i)
{
    return &model->metas[i];
}

const struct tenon_meta_entry *tenon_model_find_key(const struct tenon_model *model,
                                                    struct tenon_str key)
{
    uint32_t i = tenon_names_find(&model->meta_names, key.data, key.len, model, name_of_meta);

    return i != TENON_NO_INDEX ? &model->metas[i] : NULL;
}

const struct tenon_meta_entry *tenon_model_find_meta(const struct tenon_model *model,
                                                     const char *key)
{
    return tenon_model_find_key(model, (struct tenon_str){key, strlen(key)});
}

const struct tenon_hparams *tenon_model_hparams(const struct tenon_model *model)
{
    return &model->hparams;
}

const struct tenon_tokenizer *tenon_model_tokenizer(const struct tenon_model *model)
{
    return &model->tokenizer;
}

const struct tenon_arch *tenon_model_arch(const struct tenon_model *model)
{
    return model->arch;
}

enum tenon_dialect tenon_model_dialect(const struct tenon_model *model)
{
    return model->dialect;
}

size_t tenon_model_n_findings(const struct tenon_model *model)
{
    return model->n_findings;
}

const struct tenon_finding *tenon_model_finding(const struct tenon_model *model, size_t i)
{
    return &model->findings[i];
}
