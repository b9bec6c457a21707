/* How format readers fill a model. What is handed over and not copied must live as long as the
 * model: in its arena, or in a buffer given to tenon_model_own. */
#ifndef TENON_MODEL_BUILD_H
#define TENON_MODEL_BUILD_H

#include "mem.h"
#include "source.h"
#include "tenon/model.h"

/* A fresh, empty model. `options` may be NULL. */
enum tenon_status tenon_model_new(const char *path, const struct tenon_open_options *options,
                                  struct tenon_model **out, struct tenon_error *err);

struct tenon_arena *tenon_model_arena(struct tenon_model *model);
const struct tenon_open_options *tenon_model_options(const struct tenon_model *model);
struct tenon_hparams *tenon_model_edit_hparams(struct tenon_model *model);
struct tenon_tokenizer *tenon_model_edit_tokenizer(struct tenon_model *model);
void tenon_model_set_format(struct tenon_model *model, const char *static_name);
void tenon_model_set_directory(struct tenon_model *model);

/* Frees `buffer` (from tenon_mem_alloc) or `bytes` bytes of pages (from tenon_mem_map) with the
 * model. On failure that is done at once. */
enum tenon_status tenon_model_own(struct tenon_model *model, void *buffer, struct tenon_error *err);
enum tenon_status tenon_model_own_pages(struct tenon_model *model, void *pages, size_t bytes,
                                        struct tenon_error *err);

/* Adds a file; the model owns `source` from then on, also on failure. The caller fills in the
 * rest of `*out_file` (borrowed, valid until the next file is added). `*out_i` is its index. */
enum tenon_status tenon_model_add_file(struct tenon_model *model, struct tenon_source *source,
                                       uint32_t *out_i, struct tenon_error *err);
/* Notes that `path` was read, too, though no tensor lies there (config, index, tokenizer). Fails
 * with NO_MEMORY only. */
enum tenon_status tenon_model_add_side(struct tenon_model *model, const char *path,
                                       struct tenon_error *err);
struct tenon_file *tenon_model_edit_file(struct tenon_model *model, uint32_t i);
const struct tenon_source *tenon_model_source(const struct tenon_model *model, uint32_t file);

/* Adds a tensor, in file order. `tensor->dims` and `name` are copied. Of the rest the reader
 * sets dtype, dtype_raw, n_dims, file, offset, record_offset and flags; the core works out
 * n_elements, bytes, role, aliases. LIMIT beyond the options' limits; CORRUPT when the number of
 * elements or bytes does not fit 64 bits, or is not whole blocks. */
enum tenon_status tenon_model_add_tensor(struct tenon_model *model,
                                         const struct tenon_tensor *tensor,
                                         struct tenon_error *err);
/* The same for a name that is in the model's arena already. */
enum tenon_status tenon_model_add_named(struct tenon_model *model,
                                        const struct tenon_tensor *tensor, struct tenon_error *err);
struct tenon_tensor *tenon_model_edit_tensor(struct tenon_model *model, size_t i);

/* The number of a text by which a file names an unknown dtype, for dtype_raw: equal texts have the
 * same. The first adds it (copied) where it is new, NO_MEMORY only; the second gives
 * TENON_NO_INDEX then. */
enum tenon_status tenon_model_add_dtype(struct tenon_model *model, struct tenon_str text,
                                        uint32_t *out, struct tenon_error *err);
uint32_t tenon_model_find_dtype(const struct tenon_model *model, struct tenon_str text);

/* Adds a metadata pair, in file order; its texts and values are not copied. */
enum tenon_status tenon_model_add_meta(struct tenon_model *model,
                                       const struct tenon_meta_entry *entry,
                                       struct tenon_error *err);

/* Where GGUF metadata is kept as texts (meta_text.h) and there is no config: reads what settings
 * are looked up in from then on. `*out_any` tells whether it is so. NO_MEMORY only. */
enum tenon_status tenon_model_type_texts(struct tenon_model *model, bool *out_any,
                                         struct tenon_error *err);

/* The pair with that key, typed, or NULL: what was read so, else of the metadata. */
const struct tenon_meta_entry *tenon_model_find_typed(const struct tenon_model *model,
                                                      const char *key);

/* Records an observation; `code` is a row of findings.def, which gives severity and source.
 * `subject` (may be NULL) need not be clean. */
TENON_PRINTF(7, 8)
enum tenon_status tenon_model_find_fault(struct tenon_model *model, const char *code, uint32_t file,
                                         uint64_t offset, const char *subject, size_t subject_len,
                                         const char *format, ...);

/* After all tensors are in: duplicates, ranges, overlaps, aliases; then architecture and roles.
 * Format-neutral; a failure means that the model cannot be used. */
enum tenon_status tenon_model_finish(struct tenon_model *model, struct tenon_error *err);

#endif
