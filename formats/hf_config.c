/* Reading config.json. The names are those of the config classes of transformers 4 and 5, their
 * attribute maps, and the remote code of the families in archs.def. */
#include "hf_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "settings_json.h"

#define CONFIG "config.json"

/* Where the language model's own config may stand, as paths from the root. */
static const char *const nested_paths[] = {
    "text_config", "llm_config", "language_config", "decoder", "thinker_config.text_config",
};

enum { N_NESTED = sizeof(nested_paths) / sizeof(nested_paths[0]), MOST_LEVELS = N_NESTED + 1 };

/* One object that may hold values. */
struct level {
    const struct tenon_json_node *node;
    const char *path; /* "" at the top */
};

struct config {
    struct tenon_model *model;
    struct tenon_hparams *h;
    struct level levels[MOST_LEVELS]; /* nested ones first, the top level last */
    size_t n_levels;
    enum tenon_status status; /* NO_MEMORY once memory is gone */
};

/* Integers: place in the hyper-parameters, and the names it goes by, best first. */
static const struct {
    size_t place;
    const char *names;
} int_rows[] = {
    {offsetof(struct tenon_hparams, vocab_size), "vocab_size padded_vocab_size n_vocab"},
    {offsetof(struct tenon_hparams, hidden_size),
     "hidden_size d_model n_embd n_embed dim model_dim emb_dim"},
    {offsetof(struct tenon_hparams, embedding_size), "embedding_size word_embed_proj_dim"},
    {offsetof(struct tenon_hparams, layers),
     "num_hidden_layers n_layer n_layers num_layers encoder_layers"},
    {offsetof(struct tenon_hparams, decoder_layers), "decoder_layers num_decoder_layers"},
    {offsetof(struct tenon_hparams, heads),
     "num_attention_heads n_head n_heads num_heads attention_heads encoder_attention_heads "
     "decoder_attention_heads"},
    {offsetof(struct tenon_hparams, kv_heads),
     "num_key_value_heads n_head_kv num_kv_heads n_kv_heads multi_query_group_num "
     "attn_config.kv_n_heads"},
    {offsetof(struct tenon_hparams, head_dim), "head_dim kv_channels d_kv head_size"},
    {offsetof(struct tenon_hparams, intermediate_size),
     "intermediate_size ffn_dim d_ff n_inner ffn_hidden_size encoder_ffn_dim hidden_dim "
     "ffn_config.ffn_hidden_size"},
    {offsetof(struct tenon_hparams, context_length),
     "max_position_embeddings n_positions n_ctx max_sequence_length max_seq_len seq_length "
     "model_max_length max_target_positions"},
    {offsetof(struct tenon_hparams, experts),
     "num_local_experts num_experts n_routed_experts moe_num_experts "
     "ffn_config.moe_num_experts"},
    {offsetof(struct tenon_hparams, pad_token_id), "pad_token_id"},
    {offsetof(struct tenon_hparams, type_vocab_size), "type_vocab_size"},
    {offsetof(struct tenon_hparams, rotary_dim), "rotary_dim qk_rope_head_dim"},
    {offsetof(struct tenon_hparams, rope_original_context), "original_max_position_embeddings"},
};

static const struct {
    size_t place;
    const char *names;
} float_rows[] = {
    {offsetof(struct tenon_hparams, rope_theta),
     "rope_theta rotary_emb_base global_rope_theta attn_config.rope_theta"},
    {offsetof(struct tenon_hparams, rope_partial_factor),
     "partial_rotary_factor rotary_pct rope_pct rotary_emb_fraction"},
};

static const char tie_names[] = "tie_word_embeddings tie_embedding tie_embeddings weight_tying";

/* --- looking up --- */

/* The next word of a list separated by blanks, copied to `word`; false at the end. */
static bool next_word(const char **list, char *word, size_t size)
{
    size_t n = strcspn(*list, " ");

    if (n == 0 || n >= size)
        return false;
    memcpy(word, *list, n);
    word[n] = '\0';
    *list += n;
    *list += strspn(*list, " ");
    return true;
}

/* The value at "a.b.c" below `node`, or NULL. */
static const struct tenon_json_node *find_path(const struct tenon_json_node *node, const char *path)
{
    char part[64];

    while (node != NULL && *path != '\0') {
        size_t n = strcspn(path, ".");

        if (n >= sizeof(part))
            return NULL;
        memcpy(part, path, n);
        part[n] = '\0';
        node = tenon_json_node_get(node, part);
        path += n + (path[n] == '.');
    }
    return node;
}

static bool is_said(const struct tenon_json_node *node)
{
    enum tenon_json_type type = tenon_json_node_type(node);

    return type != TENON_JSON_END && type != TENON_JSON_NULL;
}

/* A copy in the model's arena: the tree does not live as long as the model. */
static struct tenon_str keep(struct config *c, struct tenon_str text)
{
    char *copy = tenon_arena_text(tenon_model_arena(c->model), text.data, text.len);

    if (copy == NULL)
        c->status = TENON_ERR_NO_MEMORY;
    return (struct tenon_str){copy != NULL ? copy : "", copy != NULL ? text.len : 0};
}

static void report_type(struct config *c, const struct level *level, const char *name,
                        const struct tenon_json_node *node, const char *wanted)
{
    enum tenon_status st = tenon_model_find_fault(
        c->model, "config_type", TENON_NO_INDEX, TENON_NO_OFFSET, name, strlen(name),
        CONFIG ": %s%s%s is %s, %s is due", level->path, level->path[0] != '\0' ? "." : "", name,
        tenon_json_type_name(tenon_json_node_type(node)), wanted);

    if (st != TENON_OK)
        c->status = st;
}

/* The first value that one of `names` has, the levels in their order. */
static const struct tenon_json_node *find_value(const struct config *c, const char *names,
                                                const struct level **out_level, char *name,
                                                size_t size)
{
    for (size_t i = 0; i < c->n_levels; i++) {
        const char *rest = names;

        while (next_word(&rest, name, size)) {
            const struct tenon_json_node *node = find_path(c->levels[i].node, name);

            if (is_said(node)) {
                *out_level = &c->levels[i];
                return node;
            }
        }
    }
    return NULL;
}

/* --- values --- */

/* A number of things, or a list with one for each layer, of which the first counts. */
static bool read_count(const struct tenon_json_node *node, int64_t *out)
{
    if (tenon_json_node_type(node) == TENON_JSON_ARRAY)
        node = tenon_json_node_first(node);
    return tenon_json_node_int(node, out);
}

static void read_ints(struct config *c)
{
    for (size_t i = 0; i < sizeof(int_rows) / sizeof(int_rows[0]); i++) {
        const struct level *level = NULL;
        char name[64];
        const struct tenon_json_node *node =
            find_value(c, int_rows[i].names, &level, name, sizeof(name));
        int64_t value;

        if (node == NULL)
            continue;
        if (!read_count(node, &value))
            report_type(c, level, name, node, "a whole number");
        else if (value >= 0)
            memcpy((char *)c->h + int_rows[i].place, &value, sizeof(value));
    }
}

static void read_floats(struct config *c)
{
    for (size_t i = 0; i < sizeof(float_rows) / sizeof(float_rows[0]); i++) {
        const struct level *level = NULL;
        char name[64];
        const struct tenon_json_node *node =
            find_value(c, float_rows[i].names, &level, name, sizeof(name));
        double value;

        if (node == NULL)
            continue;
        if (!tenon_json_node_float(node, &value))
            report_type(c, level, name, node, "a number");
        else
            memcpy((char *)c->h + float_rows[i].place, &value, sizeof(value));
    }
}

/* A text of one level under one of `names`. */
static struct tenon_str read_text(struct config *c, const struct level *level, const char *names)
{
    struct tenon_str text = {"", 0};
    char name[64];

    while (next_word(&names, name, sizeof(name))) {
        const struct tenon_json_node *node = find_path(level->node, name);

        if (!is_said(node))
            continue;
        if (tenon_json_node_text(node, &text))
            return keep(c, text);
        report_type(c, level, name, node, "a string");
        break;
    }
    return text;
}

static void read_texts(struct config *c)
{
    const struct level *top = &c->levels[c->n_levels - 1];
    const struct tenon_json_node *classes = tenon_json_node_get(top->node, "architectures");
    struct tenon_str text;

    c->h->model_type = read_text(c, top, "model_type");
    c->h->name = read_text(c, top, "_name_or_path");
    c->h->transformers_version = read_text(c, top, "transformers_version");
    if (tenon_json_node_text(tenon_json_node_first(classes), &text))
        c->h->class_name = keep(c, text);
    else if (is_said(classes) && tenon_json_node_first(classes) != NULL)
        report_type(c, top, "architectures", classes, "a list of strings");
    for (size_t i = c->n_levels; i-- > 0 && c->h->torch_dtype.len == 0;)
        c->h->torch_dtype = read_text(c, &c->levels[i], "torch_dtype dtype");
    for (size_t i = 0; i + 1 < c->n_levels && c->h->text_model_type.len == 0; i++)
        c->h->text_model_type = read_text(c, &c->levels[i], "model_type");
}

static bool is_true(const struct config *c, const char *names)
{
    const struct level *level = NULL;
    char name[64];

    return tenon_json_node_type(find_value(c, names, &level, name, sizeof(name))) ==
           TENON_JSON_TRUE;
}

/* Multi-query models keep one head for keys, whatever else is said; Falcon's newer form keeps
 * the number that it says. */
static void read_multi_query(struct config *c)
{
    if (is_true(c, "multi_query") && !is_true(c, "new_decoder_architecture"))
        c->h->kv_heads = 1;
}

static void read_alibi(struct config *c)
{
    const struct level *level = NULL;
    char name[64];
    const struct tenon_json_node *kind =
        find_value(c, "position_embedding_type", &level, name, sizeof(name));
    struct tenon_str text;

    c->h->alibi = is_true(c, "alibi use_alibi attn_config.alibi") ||
                  (tenon_json_node_text(kind, &text) && strcmp(text.data, "alibi") == 0);
}

/* --- rotary scaling --- */

/* With settings for each type of layer, those of full attention, else of the first type. */
static const struct tenon_json_node *choose_layer_type(const struct tenon_json_node *node)
{
    const struct tenon_json_node *full = tenon_json_node_get(node, "full_attention");
    const struct tenon_json_node *first = tenon_json_node_first(node);

    if (tenon_json_node_type(full) == TENON_JSON_OBJECT)
        return full;
    return tenon_json_node_type(first) == TENON_JSON_OBJECT ? first : node;
}

/* rope_type, or the older type. Both may be there, but must agree. */
static void read_rope_type(struct config *c, const struct level *level,
                           const struct tenon_json_node *node)
{
    struct tenon_str text = {"", 0}, older = {"", 0};
    bool is_new = tenon_json_node_text(tenon_json_node_get(node, "rope_type"), &text);
    bool is_old = tenon_json_node_text(tenon_json_node_get(node, "type"), &older);

    if (is_new && is_old && strcmp(text.data, older.data) != 0 &&
        tenon_model_find_fault(
            c->model, "config_conflict", TENON_NO_INDEX, TENON_NO_OFFSET, "rope_scaling",
            strlen("rope_scaling"), CONFIG ": %s%srope_type is %s, but type is %s", level->path,
            level->path[0] != '\0' ? "." : "", text.data, older.data) != TENON_OK)
        c->status = TENON_ERR_NO_MEMORY;
    if (!is_new)
        text = older;
    if (strcmp(text.data, "default") != 0)
        c->h->rope_scaling = keep(c, text);
}

static void read_rope_object(struct config *c, const struct level *level,
                             const struct tenon_json_node *node)
{
    double value;

    node = choose_layer_type(node);
    read_rope_type(c, level, node);
    if (tenon_json_node_float(tenon_json_node_get(node, "factor"), &value))
        c->h->rope_factor = value;
    tenon_json_node_int(tenon_json_node_get(node, "original_max_position_embeddings"),
                        &c->h->rope_original_context);
    if (isnan(c->h->rope_theta) &&
        tenon_json_node_float(tenon_json_node_get(node, "rope_theta"), &value))
        c->h->rope_theta = value;
    if (isnan(c->h->rope_partial_factor) &&
        tenon_json_node_float(tenon_json_node_get(node, "partial_rotary_factor"), &value))
        c->h->rope_partial_factor = value;
}

static void read_rope(struct config *c)
{
    const struct level *level = NULL;
    char name[64];
    const struct tenon_json_node *node = find_value(
        c, "rope_scaling rope_parameters attn_config.rope_scaling", &level, name, sizeof(name));

    if (node == NULL)
        return;
    if (tenon_json_node_type(node) == TENON_JSON_OBJECT)
        read_rope_object(c, level, node);
    else
        report_type(c, level, name, node, "an object");
}

/* --- quantization --- */

static void read_quantization(struct config *c)
{
    const struct level *level = NULL;
    char name[64];
    const struct tenon_json_node *node = find_value(
        c, "quantization_config compression_config quantization", &level, name, sizeof(name));
    struct tenon_str text = {"", 0};

    if (node == NULL)
        return;
    if (tenon_json_node_type(node) != TENON_JSON_OBJECT) {
        report_type(c, level, name, node, "an object");
        return;
    }
    c->h->quantized = true;
    if (tenon_json_node_text(tenon_json_node_get(node, "quant_method"), &text))
        c->h->quant_method = keep(c, text);
    else if (tenon_json_node_get(node, "load_in_4bit") != NULL)
        c->h->quant_method = (struct tenon_str){"bitsandbytes", strlen("bitsandbytes")};
    else if (strcmp(name, "compression_config") == 0)
        c->h->quant_method = (struct tenon_str){"compressed-tensors", strlen("compressed-tensors")};
    else if (strcmp(name, "quantization") == 0)
        c->h->quant_method = (struct tenon_str){"mlx", strlen("mlx")};
}

/* --- tying --- */

static void add_tie_flag(struct config *c, const struct level *level, const char *name, bool value)
{
    struct tenon_hparams *h = c->h;
    char where[160];
    char *copy;
    int n = snprintf(where, sizeof(where), CONFIG ": %s%s%s", level->path,
                     level->path[0] != '\0' ? "." : "", name);

    if (h->n_tie_flags == TENON_MAX_TIE_FLAGS || n < 0 || (size_t)n >= sizeof(where))
        return;
    copy = tenon_arena_text(tenon_model_arena(c->model), where, (size_t)n);
    if (copy == NULL) {
        c->status = TENON_ERR_NO_MEMORY;
        return;
    }
    h->tie_flags[h->n_tie_flags++] =
        (struct tenon_tie_flag){.where = copy, .value = value, .nested = level->path[0] != '\0'};
}

/* The top level first: that is the order in which the flags are reported. */
static void read_tie_flags(struct config *c)
{
    for (size_t i = c->n_levels; i-- > 0;) {
        const struct level *level = &c->levels[i];
        const char *rest = tie_names;
        char name[64];

        while (next_word(&rest, name, sizeof(name))) {
            const struct tenon_json_node *node = tenon_json_node_get(level->node, name);
            enum tenon_json_type type = tenon_json_node_type(node);

            if (type == TENON_JSON_TRUE || type == TENON_JSON_FALSE)
                add_tie_flag(c, level, name, type == TENON_JSON_TRUE);
            else if (is_said(node))
                report_type(c, level, name, node, "true or false");
        }
    }
}

/* --- all --- */

static void find_levels(struct config *c, const struct tenon_json_node *root)
{
    for (size_t i = 0; i < N_NESTED; i++) {
        const struct tenon_json_node *node = find_path(root, nested_paths[i]);

        if (tenon_json_node_type(node) == TENON_JSON_OBJECT)
            c->levels[c->n_levels++] = (struct level){node, nested_paths[i]};
    }
    c->levels[c->n_levels++] = (struct level){root, ""};
}

/* Hands over what the config says, the language model's own section first. */
static enum tenon_status keep_settings(const struct config *c, const struct tenon_json_node *root,
                                       struct tenon_error *err)
{
    const struct tenon_setting_node *top = NULL, *node;
    enum tenon_status st = tenon_settings_copy(tenon_model_arena(c->model), root, &top, err);

    if (st != TENON_OK)
        return st;
    for (size_t i = 0; i < c->n_levels; i++) {
        node = tenon_setting_node_find(top, c->levels[i].path);
        if (node != NULL)
            tenon_model_add_setting_level(c->model, node);
    }
    return TENON_OK;
}

enum tenon_status tenon_hf_config_apply(struct tenon_model *model,
                                        const struct tenon_json_node *root, struct tenon_error *err)
{
    struct config c = {.model = model, .h = tenon_model_edit_hparams(model)};

    find_levels(&c, root);
    read_texts(&c);
    read_ints(&c);
    read_floats(&c);
    read_multi_query(&c);
    read_alibi(&c);
    read_rope(&c);
    read_quantization(&c);
    read_tie_flags(&c);
    return c.status == TENON_OK ? keep_settings(&c, root, err) : tenon_fail_memory(err);
}
