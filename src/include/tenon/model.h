/* A model: what one file, a split set or a folder describes. Opening reads headers only. */
#ifndef TENON_MODEL_H
#define TENON_MODEL_H

#include "tenon/api.h"
#include "tenon/error.h"
#include "tenon/finding.h"
#include "tenon/hparams.h"
#include "tenon/meta.h"
#include "tenon/tensor.h"

TENON_BEGIN_DECLS

struct tenon_arch;
struct tenon_model;

/* What a reader may spend on an input. All are checked before memory is taken. */
struct tenon_limits {
    uint64_t header_bytes;       /* of one GGUF header (default 1 GiB) */
    uint64_t safetensors_header; /* of one safetensors header (default 100,000,000, as the
                                  * reference reader) */
    uint64_t string_bytes;       /* of one string (default 1 GiB) */
    uint64_t array_elements;     /* of one metadata array (default 2^30) */
    uint64_t json_bytes;         /* of one config, index or tokenizer file (default 256 MiB) */
    uint64_t tensors;            /* in a model (default 10,000,000) */
    uint32_t dims;               /* of one tensor (default 8) */
    uint32_t nesting;            /* of arrays in metadata (default 4) */
    uint32_t json_depth;         /* of nested JSON values (default 128) */
    uint32_t shards;             /* of a set (default 10,000, never more than 65,535) */
};

struct tenon_open_options {
    struct tenon_limits limits;
    const char *format;    /* NULL: by content; else a name of formats.def */
    unsigned cpu_mask_out; /* instruction sets not to use (flags of cpu.h); for tests */
    bool thorough;         /* judge every element of metadata arrays, too: costs more than
                            * reading the header */
    bool lenient;          /* accept what the reference reader accepts, as findings */
};

/* Which naming convention the tensors follow. */
enum tenon_dialect {
    TENON_DIALECT_NONE = 0,
    TENON_DIALECT_HF = 1,
    TENON_DIALECT_GGUF = 2,
    TENON_DIALECT_META = 3
};

/* One file of a model. */
struct tenon_file {
    const char *path; /* as opened */
    const char *name; /* its last component */
    uint64_t bytes;
    uint64_t header_bytes; /* up to the first payload byte */
    uint64_t alignment;    /* of tensor payloads; 1 when the format has none */
    const char *format;    /* "gguf", "safetensors" */
    uint32_t version;      /* of the format, 0 when it has none */
    bool big_endian;
};

/* Fills in the defaults. */
TENON_API void tenon_open_options_init(struct tenon_open_options *options);

/* Opens a file, the set one of whose members is named, or a Hugging Face folder.
 *   path      as given by the user; links are followed, never rewritten
 *   options   NULL for the defaults
 *   out_model the model, to be freed with tenon_model_free; untouched on failure
 *   err       may be NULL
 * Every status but MISUSE, EXISTS and CANNOT_REPRESENT can come back. Cost follows the headers,
 * not the payloads. A model may be read from several threads at once. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_model_open(const char *path, const struct tenon_open_options *options,
                 struct tenon_model **out_model, struct tenon_error *err);

/* The same for one file whose bytes are already in memory. `bytes` must outlive the model. */
TENON_API TENON_MUST_USE enum tenon_status
tenon_model_open_memory(const void *bytes, size_t n_bytes, const struct tenon_open_options *options,
                        struct tenon_model **out_model, struct tenon_error *err);

/* Frees a model and everything borrowed from it. NULL is fine. */
TENON_API void tenon_model_free(struct tenon_model *model);

/* The path it was opened by, and the name of its format: that of its files, or of the folder
 * layout ("gguf", "safetensors"). */
TENON_API const char *tenon_model_path(const struct tenon_model *model);
TENON_API const char *tenon_model_format(const struct tenon_model *model);

/* True for a folder (rather than a file or split set). */
TENON_API bool tenon_model_is_directory(const struct tenon_model *model);

TENON_API size_t tenon_model_n_files(const struct tenon_model *model);
TENON_API const struct tenon_file *tenon_model_file(const struct tenon_model *model, size_t i);

/* Paths of the other files that were read: index, config, tokenizer. */
TENON_API size_t tenon_model_n_side_files(const struct tenon_model *model);
TENON_API const char *tenon_model_side_file(const struct tenon_model *model, size_t i);

/* Tensors in file order. `i` must be below the count. */
TENON_API size_t tenon_model_n_tensors(const struct tenon_model *model);
TENON_API const struct tenon_tensor *tenon_model_tensor(const struct tenon_model *model, size_t i);

/* By exact name, in constant time; NULL when there is none. */
TENON_API const struct tenon_tensor *tenon_model_find(const struct tenon_model *model,
                                                      const char *name, size_t len);

/* The first tensor with that role, part and bias flag; NULL when there is none. */
TENON_API const struct tenon_tensor *tenon_model_find_role(const struct tenon_model *model,
                                                           enum tenon_role role,
                                                           enum tenon_part part, bool bias);

/* Metadata pairs in file order. */
TENON_API size_t tenon_model_n_meta(const struct tenon_model *model);
TENON_API const struct tenon_meta_entry *tenon_model_meta(const struct tenon_model *model,
                                                          size_t i);
TENON_API const struct tenon_meta_entry *tenon_model_find_meta(const struct tenon_model *model,
                                                               const char *key);

/* Never NULL. */
TENON_API const struct tenon_hparams *tenon_model_hparams(const struct tenon_model *model);
TENON_API const struct tenon_tokenizer *tenon_model_tokenizer(const struct tenon_model *model);

/* The architecture, or NULL when it is not one of archs.def. */
TENON_API const struct tenon_arch *tenon_model_arch(const struct tenon_model *model);
TENON_API enum tenon_dialect tenon_model_dialect(const struct tenon_model *model);

TENON_API size_t tenon_model_n_findings(const struct tenon_model *model);
TENON_API const struct tenon_finding *tenon_model_finding(const struct tenon_model *model,
                                                          size_t i);

TENON_END_DECLS

#endif
