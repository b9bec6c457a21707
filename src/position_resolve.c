/* How a model tells positions apart. */
#include "position_resolve.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"

/* Words of position_embedding_type. */
static const struct {
    const char *word;
    enum tenon_position_kind kind;
} kind_words[] = {
    {"absolute", TENON_POSITION_LEARNED},
    {"alibi", TENON_POSITION_ALIBI},
    {"learned_absolute", TENON_POSITION_LEARNED},
    {"none", TENON_POSITION_NONE},
    {"nope", TENON_POSITION_NONE},
    {"relative_key", TENON_POSITION_LEARNED},
    {"relative_key_query", TENON_POSITION_LEARNED},
    {"rope", TENON_POSITION_ROPE},
    {"rotary", TENON_POSITION_ROPE},
};

void tenon_position_overrides_init(struct tenon_position_overrides *overrides)
{
    *overrides = (struct tenon_position_overrides){
        .theta = (double)NAN, .rotary_dim = -1, .heads = -1, .pairing = -1};
}

bool tenon_resolve_is_gguf(const struct tenon_model *model)
{
    return model->dialect == TENON_DIALECT_GGUF ||
           (model->dialect == TENON_DIALECT_NONE && strcmp(tenon_model_format(model), "gguf") == 0);
}

/* The next word of a list separated by blanks; false at the end. */
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

bool tenon_resolve_number(const struct tenon_model *model, const char *keys, double *out)
{
    struct tenon_setting s;
    char key[96];

    while (next_word(&keys, key, sizeof(key)))
        if (tenon_model_setting(model, key, &s) && tenon_setting_number(&s, out))
            return true;
    return false;
}

bool tenon_resolve_int(const struct tenon_model *model, const char *keys, int64_t *out)
{
    struct tenon_setting s;
    char key[96];

    while (next_word(&keys, key, sizeof(key)))
        if (tenon_model_setting(model, key, &s) && tenon_setting_int(&s, out))
            return true;
    return false;
}

/* Whether the caller's object has that member: others stay the model's. */
static bool is_stated(const struct resolving *r, const char *key)
{
    struct tenon_setting s;

    return r->over->rope_scaling != NULL && tenon_setting_member(r->over->rope_scaling, key, &s);
}

/* Whether what is said about `key` follows from what the caller states instead of the model. */
static bool is_given(const struct resolving *r, const char *key)
{
    const bool heads = r->over->heads > 0, width = r->over->rotary_dim >= 0;
    const bool scaling = r->over->rope_scaling != NULL;
    const struct {
        const char *key;
        bool given;
    } rows[] = {
        {"attention.key_length", heads},
        {"factor", scaling},
        {"head_dim", heads},
        {"long_factor", scaling || width},
        {"mrope_section", width || is_stated(r, key)},
        {"partial_rotary_factor", is_stated(r, key)},
        {"rope.dimension_count", width},
        {"rope.dimension_sections", width},
        {"rope_scaling", scaling},
        {"rope_theta", !isnan(r->over->theta) || is_stated(r, key)},
        {"rope_type", scaling},
        {"rotary_dim", width || heads},
        {"short_factor", scaling || width},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i].given;
    return false;
}

enum tenon_status tenon_resolve_fail(const struct resolving *r, enum tenon_status status,
                                     const char *key, struct tenon_error *err, const char *format,
                                     ...)
{
    bool given = is_given(r, key);
    const char *origin = r->over->origin != NULL ? r->over->origin : "overrides";
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (given)
        status = TENON_ERR_MISUSE;
    tenon_fail(err, status, TENON_NO_OFFSET, "%s: %s", given ? origin : r->config, text);
    tenon_fail_subject(err, "key", key, strlen(key));
    if (!given)
        tenon_fail_path(err, tenon_model_path(r->model));
    return status;
}

bool tenon_model_text_facts(const struct tenon_model *model, struct tenon_arch *out)
{
    struct tenon_str nested = model->hparams.text_model_type, word = model->hparams.model_type;
    const struct tenon_arch *arch = NULL;

    if (nested.len != 0)
        arch = tenon_arch_find_model_type(nested.data, nested.len);
    if (arch != NULL)
        word = nested;
    else
        arch = model->arch;
    if (arch == NULL)
        return false;
    *out = tenon_arch_facts(arch, word.data, word.len);
    return true;
}

/* --- kinds --- */

static bool has_flag(const struct resolving *r, enum tenon_arch_flags flag)
{
    return r->arch != NULL && (r->arch->flags & (unsigned)flag) != 0;
}

/* Whether a config switches ALiBi off that its family has by default. */
static bool alibi_denied(const struct resolving *r)
{
    struct tenon_setting s;
    bool said = true;

    return (tenon_model_setting(r->model, "attn_config.alibi", &s) ||
            tenon_model_setting(r->model, "alibi", &s)) &&
           tenon_setting_bool(&s, &said) && !said;
}

static enum tenon_position_kind find_kind(const struct resolving *r)
{
    enum tenon_position_kind kind = r->arch != NULL ? r->arch->position : TENON_POSITION_NONE;
    struct tenon_setting s;

    if (r->over->rotary)
        return TENON_POSITION_ROPE;
    if (r->h->alibi ||
        (r->arch != NULL && r->arch->alibi_layers != 0 && r->h->layers == r->arch->alibi_layers))
        return TENON_POSITION_ALIBI;
    if (kind == TENON_POSITION_ALIBI && alibi_denied(r))
        return TENON_POSITION_LEARNED;
    if (kind == TENON_POSITION_RELATIVE) /* "absolute" there only says what is added to the input */
        return kind;
    if (tenon_model_setting(r->model, "position_embedding_type", &s)) {
        for (size_t i = 0; i < sizeof(kind_words) / sizeof(kind_words[0]); i++)
            if (tenon_setting_is(&s, kind_words[i].word))
                return kind_words[i].kind;
    } else if (has_flag(r, TENON_ARCH_ROPE_IF_SAID)) {
        struct tenon_setting tuned;
        bool rope = tenon_resolve_is_gguf(r->model);

        if (tenon_model_setting(r->model, "rope.scaling.finetuned", &tuned))
            (void)tenon_setting_bool(&tuned, &rope);
        return rope ? TENON_POSITION_ROPE : TENON_POSITION_NONE;
    }
    return kind;
}

/* --- widths --- */

/* Whether all heads share one key by the default of the config class. */
static bool shares_keys(const struct resolving *r)
{
    struct tenon_setting s;
    bool shared = has_flag(r, TENON_ARCH_MULTI_QUERY), grouped = false;

    if (tenon_model_setting(r->model, "multi_query", &s))
        (void)tenon_setting_bool(&s, &shared);
    if (tenon_model_setting(r->model, "new_decoder_architecture", &s))
        (void)tenon_setting_bool(&s, &grouped);
    return shared && !grouped && !tenon_resolve_is_gguf(r->model);
}

static void find_widths(struct resolving *r)
{
    struct tenon_positions *p = r->p;

    p->heads = r->over->heads > 0 ? r->over->heads : r->h->heads;
    p->kv_heads = r->h->kv_heads > 0 ? r->h->kv_heads : shares_keys(r) ? 1 : p->heads;
    p->hidden_size = r->h->hidden_size;
    p->head_dim = -1;
    if (r->over->heads <= 0 && r->h->head_dim > 0)
        p->head_dim = r->h->head_dim;
    else if (r->over->heads <= 0 && r->arch != NULL && r->arch->head_dim != 0 &&
             !tenon_resolve_is_gguf(r->model))
        p->head_dim = r->arch->head_dim;
    else if (p->heads > 0 && p->hidden_size > 0)
        p->head_dim = p->hidden_size / p->heads;
}

/* --- tables of positions --- */

static const struct tenon_tensor *find_table(const struct tenon_model *model)
{
    static const enum tenon_part places[] = {TENON_PART_MAIN, TENON_PART_DECODER,
                                             TENON_PART_ENCODER};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct tenon_tensor *t =
            tenon_model_find_role(model, TENON_ROLE_POSITION_EMBD, places[i], false);

        if (t != NULL && t->n_dims == 2 && t->dims[0] <= INT64_MAX)
            return t;
    }
    return NULL;
}

/* GGUF files of families that count from the padding id have the rows before it cut off. */
static void find_offset(struct resolving *r)
{
    struct tenon_positions *p = r->p;

    p->pad_id = r->h->pad_token_id;
    if (p->pad_id < 0)
        p->pad_id = 1;
    p->offset = r->arch != NULL ? r->arch->position_offset : 0;
    if (tenon_resolve_is_gguf(r->model))
        p->offset = 0;
    else if (has_flag(r, TENON_ARCH_POSITION_PAD)) {
        p->offset = p->pad_id + 1;
        p->ids = TENON_IDS_AFTER_PADDING;
    }
}

static void find_rows(struct resolving *r)
{
    struct tenon_positions *p = r->p;
    bool extra = has_flag(r, TENON_ARCH_POSITION_EXTRA);

    find_offset(r);
    p->table = find_table(r->model);
    if (p->table != NULL)
        p->rows = (int64_t)p->table->dims[0];
    else if (r->h->context_length >= 0 && r->h->context_length <= INT64_MAX - p->offset)
        p->rows = r->h->context_length + (extra ? p->offset : 0);
    if (p->rows >= p->offset)
        p->max_positions = p->rows - p->offset;
    if (p->kind == TENON_POSITION_SINUSOIDAL && p->table == NULL && r->arch != NULL)
        p->sinusoid = r->arch->sinusoid;
}

/* --- biases --- */

static void find_alibi(struct resolving *r)
{
    struct tenon_positions *p = r->p;
    struct tenon_setting s;

    p->alibi_max_bias = r->arch != NULL && r->arch->alibi_bias > 0 ? r->arch->alibi_bias : 8;
    (void)tenon_resolve_number(r->model,
                               "attn_config.alibi_bias_max alibi_bias_max attention.max_alibi_bias",
                               &p->alibi_max_bias);
    p->alibi_form = TENON_ALIBI_KEYS;
    if (tenon_resolve_is_gguf(r->model))
        p->alibi_form = TENON_ALIBI_DISTANCE;
    else if (tenon_model_setting(r->model, "attn_config.alibi", &s))
        p->alibi_form = TENON_ALIBI_LAST;
    else if (tenon_model_setting(r->model, "alibi", &s))
        p->alibi_form = TENON_ALIBI_ROUNDED;
}

static void find_relative(struct resolving *r)
{
    struct tenon_positions *p = r->p;
    bool t5 = tenon_resolve_int(
        r->model, "relative_attention_num_buckets attention.relative_buckets_count", &p->buckets);

    p->relative = TENON_RELATIVE_OTHER;
    if (t5 || tenon_model_find_role(r->model, TENON_ROLE_ATTN_REL_B, TENON_PART_ENCODER, false) ||
        tenon_model_find_role(r->model, TENON_ROLE_ATTN_REL_B, TENON_PART_MAIN, false)) {
        p->relative = TENON_RELATIVE_T5;
        if (p->buckets < 0)
            p->buckets = 32;
        p->max_distance = 128;
        (void)tenon_resolve_int(r->model, "relative_attention_max_distance", &p->max_distance);
        return;
    }
    if (!tenon_resolve_int(r->model, "max_relative_positions", &p->relative_span) &&
        tenon_model_find_role(r->model, TENON_ROLE_REL_EMBD, TENON_PART_MAIN, false) == NULL)
        return;
    p->relative = TENON_RELATIVE_DEBERTA;
    if (p->relative_span < 1) /* -1 stands for the length that the model was made for */
        p->relative_span = r->h->context_length;
    (void)tenon_resolve_int(r->model, "position_buckets", &p->buckets);
    p->max_distance = p->relative_span;
}

/* --- layers --- */

bool tenon_resolve_is_full(enum tenon_layer_rule rule, size_t period, size_t i, size_t n)
{
    if (period == 0)
        return true;
    switch (rule) {
    case TENON_LAYERS_ALIKE:
        break;
    case TENON_LAYERS_LAST_FULL:
        return (i + 1) % period == 0;
    case TENON_LAYERS_FIRST_FULL:
        return i % period == 0;
    case TENON_LAYERS_BACKWARD_FULL:
        return (n - 1 - i) % period == 0;
    }
    return true;
}

enum tenon_status tenon_resolve_layers(struct resolving *r, uint32_t **out_map,
                                       struct tenon_error *err)
{
    uint32_t *map;

    if (r->p->n_layers > TENON_MOST_LAYERS)
        return tenon_resolve_fail(r, TENON_ERR_LIMIT, "num_hidden_layers", err,
                                  "%zu layers, at most %d allowed", r->p->n_layers,
                                  TENON_MOST_LAYERS);
    map = tenon_arena_alloc(r->arena, r->p->n_layers, sizeof(*map));
    if (map == NULL)
        return tenon_fail_memory(err);
    r->p->layer_rope = map;
    *out_map = map;
    return TENON_OK;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_numbers(const struct tenon_rope *a, const struct tenon_rope *b)
{
    return same_number(a->theta, b->theta) && same_number(a->factor, b->factor) &&
           same_number(a->original, b->original) &&
           same_number(a->max_positions, b->max_positions) &&
           same_number(a->attention_factor, b->attention_factor) &&
           same_number(a->mscale, b->mscale) && same_number(a->mscale_all_dim, b->mscale_all_dim) &&
           same_number(a->beta_fast, b->beta_fast) && same_number(a->beta_slow, b->beta_slow) &&
           same_number(a->extrapolation_factor, b->extrapolation_factor) &&
           same_number(a->attn_factor, b->attn_factor) &&
           same_number(a->low_freq_factor, b->low_freq_factor) &&
           same_number(a->high_freq_factor, b->high_freq_factor) &&
           same_number(a->alpha, b->alpha) && same_number(a->proportion, b->proportion);
}

static bool same_rope(const struct tenon_rope *a, const struct tenon_rope *b)
{
    return a->scaling == b->scaling && a->pairing == b->pairing && a->head_dim == b->head_dim &&
           a->rotary_dim == b->rotary_dim && a->trailing == b->trailing && same_numbers(a, b) &&
           a->no_truncate == b->no_truncate && a->short_factors == b->short_factors &&
           a->long_factors == b->long_factors && a->freq_factors == b->freq_factors &&
           a->axes == b->axes && a->n_sections == b->n_sections &&
           memcmp(a->sections, b->sections, a->n_sections * sizeof(a->sections[0])) == 0;
}

enum tenon_status tenon_resolve_add_rope(struct resolving *r, const struct tenon_rope *rope,
                                         const char *layer_type, uint32_t *out_i,
                                         struct tenon_error *err)
{
    struct tenon_rope_use *grown;
    size_t n = r->p->n_ropes;

    for (size_t i = 0; i < n; i++)
        if (same_rope(&r->ropes[i].rope, rope)) {
            if (strcmp(r->ropes[i].layer_type, layer_type) != 0)
                r->ropes[i].layer_type = "";
            *out_i = (uint32_t)i;
            return TENON_OK;
        }
    if (n == r->rope_room) {
        grown = tenon_arena_alloc(r->arena, n * 2 + 4, sizeof(*grown));
        if (grown == NULL)
            return tenon_fail_memory(err);
        if (n != 0)
            memcpy(grown, r->ropes, n * sizeof(*grown));
        r->ropes = grown;
        r->rope_room = n * 2 + 4;
    }
    r->ropes[n] = (struct tenon_rope_use){.rope = *rope, .layer_type = layer_type};
    r->p->ropes = r->ropes;
    r->p->n_ropes = n + 1;
    *out_i = (uint32_t)n;
    return TENON_OK;
}

enum tenon_status tenon_resolve_check_rope(const struct resolving *r, const struct tenon_rope *rope,
                                           struct tenon_error *err)
{
    uint32_t pairs = rope->rotary_dim / 2, sum = 0;

    if (rope->rotary_dim == 0 || rope->rotary_dim % 2 != 0)
        return tenon_resolve_fail(r, TENON_ERR_MISMATCH, "rotary_dim", err,
                                  "a rotary width of %u, an even number is due", rope->rotary_dim);
    if (rope->rotary_dim > rope->head_dim)
        return tenon_resolve_fail(r, TENON_ERR_MISMATCH, "rotary_dim", err,
                                  "a rotary width of %u, a head has %u values", rope->rotary_dim,
                                  rope->head_dim);
    if (!(rope->theta > 0) || isinf(rope->theta))
        return tenon_resolve_fail(r, TENON_ERR_MISMATCH, "rope_theta", err,
                                  "a base of %g, a positive number is due", rope->theta);
    for (uint32_t i = 0; i < rope->n_sections; i++)
        sum += rope->sections[i];
    if (rope->n_sections != 0 && sum != pairs)
        return tenon_resolve_fail(r, TENON_ERR_MISMATCH, "mrope_section", err,
                                  "sections of %u pairs together, a rotary width of %u has %u", sum,
                                  rope->rotary_dim, pairs);
    return TENON_OK;
}

const struct tenon_rope_use *tenon_positions_rope(const struct tenon_positions *positions,
                                                  size_t layer)
{
    uint32_t i = 0;

    if (positions->n_ropes == 0)
        return NULL;
    if (layer < positions->n_layers)
        i = positions->layer_rope[layer];
    return i < positions->n_ropes ? &positions->ropes[i] : NULL;
}

/* --- all --- */

static enum tenon_status resolve(struct resolving *r, struct tenon_error *err)
{
    struct tenon_positions *p = r->p;

    p->kind = find_kind(r);
    p->arch = r->arch;
    p->rows = p->buckets = p->max_distance = p->relative_span = -1;
    p->max_positions = r->h->context_length;
    p->n_layers = r->h->layers > 0 ? (size_t)r->h->layers : 0;
    find_widths(r);
    switch (p->kind) {
    case TENON_POSITION_LEARNED:
    case TENON_POSITION_SINUSOIDAL:
        find_rows(r);
        break;
    case TENON_POSITION_ALIBI:
        find_alibi(r);
        break;
    case TENON_POSITION_RELATIVE:
        find_relative(r);
        break;
    case TENON_POSITION_ROPE:
        return tenon_resolve_is_gguf(r->model) ? tenon_resolve_rope_gguf(r, err)
                                               : tenon_resolve_rope_hf(r, err);
    case TENON_POSITION_NONE:
        break;
    }
    p->n_layers = 0;
    return TENON_OK;
}

enum tenon_status tenon_positions_resolve(const struct tenon_model *model,
                                          const struct tenon_position_overrides *overrides,
                                          struct tenon_positions **out, struct tenon_error *err)
{
    struct tenon_positions_owned *owned = tenon_mem_alloc(1, sizeof(*owned));
    struct tenon_position_overrides none;
    struct resolving r = {.model = model};
    enum tenon_status st;

    if (owned == NULL)
        return tenon_fail_memory(err);
    tenon_position_overrides_init(&none);
    r.arch = tenon_model_text_facts(model, &owned->facts) ? &owned->facts : NULL;
    r.h = tenon_model_hparams(model);
    r.over = overrides != NULL ? overrides : &none;
    r.p = &owned->p;
    r.arena = &owned->arena;
    r.config = tenon_resolve_is_gguf(model) || strcmp(tenon_model_format(model), "gguf") == 0
                   ? "metadata"
                   : "config.json";
    st = resolve(&r, err);
    if (st != TENON_OK) {
        tenon_positions_free(&owned->p);
        return st;
    }
    *out = &owned->p;
    return TENON_OK;
}

void tenon_positions_free(struct tenon_positions *positions)
{
    struct tenon_positions_owned *owned = (struct tenon_positions_owned *)(void *)positions;

    if (owned == NULL)
        return;
    tenon_arena_release(&owned->arena);
    tenon_mem_free(owned);
}
