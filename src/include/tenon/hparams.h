/* Hyper-parameters and tokenizer facts, read from GGUF metadata or a Hugging Face folder. */
#ifndef TENON_HPARAMS_H
#define TENON_HPARAMS_H

#include "tenon/api.h"

TENON_BEGIN_DECLS

/* "The file does not say", for every integer below. */
#define TENON_UNKNOWN INT64_C(-1)

#define TENON_MAX_TIE_FLAGS 12

/* One place where a config says whether the output projection is tied. */
struct tenon_tie_flag {
    const char *where; /* "config.json: text_config.tie_word_embeddings" */
    bool value;
    bool nested; /* below the top level of the config */
};

/* Everything is borrowed from the model. Strings are empty, integers TENON_UNKNOWN and floats
 * NaN where nothing was said. */
struct tenon_hparams {
    struct tenon_str model_type;      /* "llama": config model_type, or general.architecture */
    struct tenon_str text_model_type; /* of a language model nested in the config */
    struct tenon_str class_name;      /* architectures[0]: "LlamaForCausalLM" */
    struct tenon_str name;            /* general.name, or _name_or_path */
    struct tenon_str torch_dtype;
    struct tenon_str transformers_version;
    int64_t vocab_size;
    int64_t hidden_size;
    int64_t embedding_size; /* width of the input matrix when it is not hidden_size */
    int64_t layers;
    int64_t decoder_layers;
    int64_t heads; /* the first layer's when they differ */
    int64_t kv_heads;
    int64_t head_dim;
    int64_t intermediate_size;
    int64_t context_length;
    int64_t experts;
    int64_t pad_token_id;
    int64_t type_vocab_size;
    double rope_theta;
    double rope_partial_factor;
    int64_t rotary_dim;
    struct tenon_str rope_scaling; /* "linear", "yarn", "llama3" ...; empty when none */
    double rope_factor;
    int64_t rope_original_context;
    bool alibi;
    bool quantized;                /* the config announces a quantization scheme */
    struct tenon_str quant_method; /* "gptq", "bitsandbytes", "fp8" ... */
    struct tenon_tie_flag tie_flags[TENON_MAX_TIE_FLAGS];
    size_t n_tie_flags;
};

struct tenon_tokenizer {
    struct tenon_str model; /* "gpt2", "llama", "BPE", "WordPiece" ...; empty: no tokenizer */
    struct tenon_str pre;
    int64_t tokens; /* in the vocabulary itself */
    int64_t added;  /* added tokens outside of it */
    int64_t max_id; /* highest token id anywhere */
    int64_t merges;
};

TENON_END_DECLS

#endif
