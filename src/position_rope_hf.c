/* Rotations as a Hugging Face config describes them: the keys of transformers 5, those before, and
 * those of remote code. A value inside of rope_parameters (or rope_scaling) counts before the key
 * of the same name beside it, and that before the default of the family's config class. */
#include "position_resolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"

#define FULL    "full_attention"
#define SLIDING "sliding_attention"

/* What messages call the caller's dict. */
static const char given_name[] = "the given rope_scaling";

/* Kinds of layers in which nothing attends. */
static const char *const other_layers[] = {
    "conv", "linear_attention", "mamba", "mamba2", "mlp", "moe", "recurrent", "ssm",
};

/* What is common to all layers. */
struct config {
    struct resolving *r;
    struct tenon_setting dict; /* rope_scaling or rope_parameters; kind NONE: there is none */
    const char *dict_name;
    struct tenon_setting given;       /* the caller's, whose members count first; NONE: none */
    bool nested, given_nested;        /* their members are dicts, one for each type of layer */
    struct tenon_setting layer_types; /* kind NONE: by the family's rule */
    size_t period;                    /* of that rule */
    bool slides;                      /* some layers look at a window only */
};

/* One layer's own. */
struct layer {
    size_t i;
    const char *type; /* static or in the arena */
    bool local;       /* slides, in a family that has another base for that */
    struct tenon_setting dict, given;
    bool replaced; /* the caller says how it is stretched, and not as the dict */
};

static bool has_flag(const struct config *c, enum tenon_arch_flags flag)
{
    return c->r->arch != NULL && (c->r->arch->flags & (unsigned)flag) != 0;
}

/* --- the dict --- */

static bool is_nested(const struct tenon_setting *dict)
{
    struct tenon_setting member;

    for (size_t i = 0; i < dict->count; i++)
        if (tenon_setting_item(dict, i, &member, NULL) && member.kind == TENON_SETTING_OBJECT)
            return true;
    return false;
}

/* The caller's: an object, or null for no stretching. */
static enum tenon_status take_given(struct config *c, struct tenon_error *err)
{
    if (c->r->over->rope_scaling == NULL)
        return TENON_OK;
    c->given = *c->r->over->rope_scaling;
    c->given_nested = is_nested(&c->given);
    if (c->given.kind == TENON_SETTING_OBJECT || c->given.kind == TENON_SETTING_NONE)
        return TENON_OK;
    return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "rope_scaling", err,
                              "%s is %s, an object is due", given_name,
                              tenon_setting_kind_name(c->given.kind));
}

/* The model's. */
static enum tenon_status find_dict(struct config *c, struct tenon_error *err)
{
    static const char *const names[] = {"rope_scaling", "rope_parameters",
                                        "attn_config.rope_scaling"};

    for (size_t i = 0; c->dict.count == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        c->dict_name = names[i];
        if (tenon_model_setting(c->r->model, names[i], &c->dict) &&
            c->dict.kind != TENON_SETTING_OBJECT)
            return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, names[i], err,
                                      "%s is %s, an object is due", names[i],
                                      tenon_setting_kind_name(c->dict.kind));
    }
    c->nested = is_nested(&c->dict);
    return take_given(c, err);
}

static bool find_type_name(const struct tenon_setting *dict, struct tenon_setting *out)
{
    return tenon_setting_member(dict, "rope_type", out) || tenon_setting_member(dict, "type", out);
}

bool tenon_resolve_names_scaling(const struct tenon_setting *given)
{
    struct tenon_setting s;

    return given->count == 0 || find_type_name(given, &s);
}

/* Whether both name one way of stretching, as far as they are known. */
static bool same_scaling(const struct tenon_setting *a, const struct tenon_setting *b)
{
    struct tenon_setting s, t;
    enum tenon_rope_scaling first, second;

    return find_type_name(a, &s) && find_type_name(b, &t) && s.kind == TENON_SETTING_STRING &&
           t.kind == TENON_SETTING_STRING &&
           tenon_rope_scaling_find(s.text.data, s.text.len, &first) &&
           tenon_rope_scaling_find(t.text.data, t.text.len, &second) && first == second;
}

/* Members that say what turns and how fast, whatever the stretching: they stay the model's where
 * the caller states only the stretching. */
static bool stays(const char *key)
{
    static const char *const keys[] = {"mrope_interleaved", "mrope_section",
                                       "partial_rotary_factor", "rope_theta", "xdrope_section"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* What the dicts say: the caller's first, then the model's where that still counts. */
static bool says(const struct layer *layer, const char *key, struct tenon_setting *out)
{
    if (tenon_setting_member(&layer->given, key, out))
        return true;
    return !tenon_setting_has_null(&layer->given, key) && (!layer->replaced || stays(key)) &&
           tenon_setting_member(&layer->dict, key, out);
}

/* --- layers --- */

static size_t find_period(const struct config *c)
{
    const struct tenon_arch *arch = c->r->arch;
    int64_t period;

    if (arch == NULL || arch->layer_rule == TENON_LAYERS_ALIKE)
        return 0;
    period = arch->layer_period;
    (void)tenon_resolve_int(c->r->model,
                            "sliding_window_pattern _sliding_window_pattern "
                            "global_attn_every_n_layers",
                            &period);
    return period > 0 && period <= TENON_MOST_LAYERS ? (size_t)period : 0;
}

/* Some families know no sliding layers without a window. */
static bool finds_window(const struct config *c)
{
    return !tenon_setting_is_null(c->r->model, "sliding_window");
}

static enum tenon_status find_type(struct config *c, struct layer *layer, struct tenon_error *err)
{
    struct tenon_setting item;
    size_t n = c->r->p->n_layers;

    if (c->layer_types.kind == TENON_SETTING_LIST && layer->i < c->layer_types.count) {
        if (!tenon_setting_item(&c->layer_types, layer->i, &item, NULL) ||
            item.kind != TENON_SETTING_STRING)
            return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "layer_types", err,
                                      "item %zu of layer_types is %s, a string is due", layer->i,
                                      tenon_setting_kind_name(item.kind));
        layer->type = item.text.data; /* terminated: from the model's arena */
    } else if (c->period != 0 && c->slides) {
        layer->type =
            tenon_resolve_is_full(c->r->arch->layer_rule, c->period, layer->i, n) ? FULL : SLIDING;
    } else {
        layer->type =
            c->nested || c->given_nested || (c->r->arch != NULL && c->r->arch->local_theta > 0)
                ? FULL
                : "";
    }
    return TENON_OK;
}

/* The layer's part of a dict; false where that says that it does not rotate. */
static bool take_part(const struct tenon_setting *dict, bool nested, const struct layer *layer,
                      struct tenon_setting *out)
{
    static const struct tenon_setting nothing = {.text = {"", 0}};

    *out = *dict;
    if (nested)
        return tenon_setting_member(dict, layer->type, out) ||
               !tenon_setting_has_null(dict, layer->type);
    if (layer->local)
        *out = nothing; /* such layers are not stretched */
    return true;
}

/* Which dicts the layer has; false where one says that it does not rotate. */
static bool find_layer_dict(const struct config *c, struct layer *layer)
{
    const struct tenon_arch *arch = c->r->arch;
    bool slides = strcmp(layer->type, SLIDING) == 0;

    layer->local = arch != NULL && arch->local_theta > 0 && slides;
    if (!take_part(&c->dict, c->nested, layer, &layer->dict) ||
        !take_part(&c->given, c->given_nested, layer, &layer->given))
        return false;
    layer->replaced =
        c->r->over->rope_scaling != NULL &&
        (c->given.kind == TENON_SETTING_NONE ||
         (layer->given.kind == TENON_SETTING_OBJECT && tenon_resolve_names_scaling(&layer->given) &&
          !same_scaling(&layer->given, &layer->dict)));
    return true;
}

static bool list_says_none(const struct config *c, const char *key, size_t i)
{
    struct tenon_setting list, item;
    double number;
    bool flag;

    if (!tenon_model_setting(c->r->model, key, &list) || list.kind != TENON_SETTING_LIST ||
        !tenon_setting_item(&list, i, &item, NULL))
        return false;
    return (tenon_setting_number(&item, &number) && number == 0) ||
           (tenon_setting_bool(&item, &flag) && !flag);
}

static bool layer_rotates(const struct config *c, const struct layer *layer)
{
    const struct tenon_arch *arch = c->r->arch;
    int64_t period = arch != NULL ? arch->no_rope_period : 0;
    struct tenon_setting list;

    for (size_t i = 0; i < sizeof(other_layers) / sizeof(other_layers[0]); i++)
        if (strcmp(layer->type, other_layers[i]) == 0)
            return false;
    if (has_flag(c, TENON_ARCH_ROPE_SLIDING_ONLY) && c->slides && strcmp(layer->type, FULL) == 0)
        return false;
    if (list_says_none(c, "layer_rope_theta", layer->i))
        return false;
    if (tenon_model_setting(c->r->model, "no_rope_layers", &list) && list.count != 0)
        return !list_says_none(c, "no_rope_layers", layer->i);
    (void)tenon_resolve_int(c->r->model, "no_rope_layer_interval", &period);
    return period <= 0 || (layer->i + 1) % (uint64_t)period != 0;
}

/* --- one rotation --- */

static void take_number(const struct layer *layer, const char *key, double *out)
{
    struct tenon_setting s;

    if (says(layer, key, &s))
        (void)tenon_setting_number(&s, out);
}

static bool take_item(const struct config *c, const char *key, size_t i, double *out)
{
    struct tenon_setting list, item;

    return tenon_model_setting(c->r->model, key, &list) && list.kind == TENON_SETTING_LIST &&
           tenon_setting_item(&list, i, &item, NULL) && tenon_setting_number(&item, out);
}

static double find_theta(const struct config *c, const struct layer *layer)
{
    const struct tenon_arch *arch = c->r->arch;
    double theta = arch != NULL && arch->rope_theta > 0 ? arch->rope_theta : 10000;
    double ratio = 1;

    if (!isnan(c->r->over->theta))
        return c->r->over->theta;
    if (layer->local)
        theta = arch->local_theta;
    (void)tenon_resolve_number(
        c->r->model,
        layer->local ? "rope_local_base_freq local_rope_theta swa_rope_theta"
                     : "rope_theta rotary_emb_base global_rope_theta attn_config.rope_theta",
        &theta);
    (void)take_item(c, "rope_theta", layer->i, &theta);
    (void)take_item(c, "layer_rope_theta", layer->i, &theta);
    take_number(layer, "rope_theta", &theta);
    if (tenon_resolve_number(c->r->model, "rope_ratio", &ratio)) /* ChatGLM */
        theta *= ratio;
    return theta;
}

/* What the config class puts in place of settings that the file has none of; NULL: nothing. */
static const struct tenon_arch_rope *defaults_of(const struct config *c, const struct layer *layer)
{
    bool silent = c->dict.kind != TENON_SETTING_OBJECT && !layer->local && !layer->replaced;

    return silent && c->r->arch != NULL ? c->r->arch->rope_default : NULL;
}

static double find_partial(const struct config *c, const struct layer *layer)
{
    const struct tenon_arch *arch = c->r->arch;
    const struct tenon_arch_rope *defaults =
        c->dict.kind != TENON_SETTING_OBJECT && !layer->local && arch != NULL ? arch->rope_default
                                                                              : NULL;
    double partial = arch != NULL && arch->rope_partial > 0 ? arch->rope_partial : 1;

    if (defaults != NULL && defaults->partial > 0)
        partial = defaults->partial;
    (void)tenon_resolve_number(
        c->r->model, "partial_rotary_factor rotary_pct rope_pct rotary_emb_fraction", &partial);
    (void)take_item(c, "partial_rotary_factors", layer->i, &partial);
    take_number(layer, "partial_rotary_factor", &partial);
    return partial;
}

static enum tenon_status find_scaling(const struct config *c, const struct layer *layer,
                                      struct tenon_rope *rope, struct tenon_error *err)
{
    struct tenon_setting s;
    const char *name = given_name;
    double alpha;

    rope->scaling =
        defaults_of(c, layer) != NULL ? defaults_of(c, layer)->scaling : TENON_ROPE_DEFAULT;
    if (!find_type_name(&layer->given, &s)) {
        name = c->dict_name;
        if (layer->replaced || !find_type_name(&layer->dict, &s))
            return TENON_OK;
    }
    if (s.kind != TENON_SETTING_STRING)
        return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "rope_type", err,
                                  "the rope type in %s is %s, a string is due", name,
                                  tenon_setting_kind_name(s.kind));
    if (!tenon_rope_scaling_find(s.text.data, s.text.len, &rope->scaling))
        return tenon_resolve_fail(c->r, TENON_ERR_UNSUPPORTED_FEATURE, "rope_type", err,
                                  "unknown rope type '%.*s' in %s, known are default, linear, "
                                  "dynamic, yarn, longrope (su), llama3, proportional, mrope and "
                                  "xdrope",
                                  (int)(s.text.len < 64 ? s.text.len : 64), s.text.data, name);
    alpha = 0;
    take_number(layer, "alpha", &alpha);
    if (alpha > 0 && rope->scaling == TENON_ROPE_DYNAMIC) /* HunYuan */
        rope->scaling = TENON_ROPE_NTK;
    else if (!(alpha > 0) && rope->scaling == TENON_ROPE_NTK)
        rope->scaling = TENON_ROPE_DEFAULT;
    return TENON_OK;
}

/* Numbers that were read before: layers share their lists. */
static const double *find_list(const struct config *c, const struct tenon_setting *list)
{
    const struct resolved_list *l = c->r->lists;

    while (l != NULL && l->node != list->node)
        l = l->next;
    return l != NULL ? l->numbers : NULL;
}

static bool keep_list(const struct config *c, const struct tenon_setting *list,
                      const double *numbers)
{
    struct resolved_list *l = tenon_arena_alloc(c->r->arena, 1, sizeof(*l));

    if (l != NULL) {
        *l = (struct resolved_list){c->r->lists, list->node, numbers};
        c->r->lists = l;
    }
    return l != NULL;
}

/* A list of factors, one for each pair. */
static enum tenon_status take_list(const struct config *c, const struct layer *layer,
                                   const char *key, uint32_t pairs, const double **out,
                                   struct tenon_error *err)
{
    struct tenon_setting list, item;
    double *numbers;

    if (!says(layer, key, &list))
        return tenon_resolve_fail(c->r, TENON_ERR_NOT_FOUND, key, err,
                                  "longrope without %s, a list of %u numbers is due", key, pairs);
    if (list.kind != TENON_SETTING_LIST || list.count != pairs)
        return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, key, err,
                                  "%s has %zu values, a rotary width of %u needs %u", key,
                                  list.count, pairs * 2, pairs);
    *out = find_list(c, &list);
    if (*out != NULL)
        return TENON_OK;
    numbers = tenon_arena_alloc(c->r->arena, pairs, sizeof(*numbers));
    if (numbers == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < pairs; i++)
        if (!tenon_setting_item(&list, i, &item, NULL) ||
            !tenon_setting_number(&item, &numbers[i]) || !(numbers[i] > 0))
            return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, key, err,
                                      "item %u of %s is no positive number", i, key);
    *out = numbers;
    return keep_list(c, &list, numbers) ? TENON_OK : tenon_fail_memory(err);
}

/* Numbers in the dicts by their names. */
static void take_numbers(const struct layer *layer, struct tenon_rope *rope)
{
    static const struct {
        const char *key;
        size_t place;
    } rows[] = {
        {"alpha", offsetof(struct tenon_rope, alpha)},
        {"attention_factor", offsetof(struct tenon_rope, attention_factor)},
        {"beta_fast", offsetof(struct tenon_rope, beta_fast)},
        {"beta_slow", offsetof(struct tenon_rope, beta_slow)},
        {"extrapolation_factor", offsetof(struct tenon_rope, extrapolation_factor)},
        {"factor", offsetof(struct tenon_rope, factor)},
        {"high_freq_factor", offsetof(struct tenon_rope, high_freq_factor)},
        {"low_freq_factor", offsetof(struct tenon_rope, low_freq_factor)},
        {"mscale", offsetof(struct tenon_rope, mscale)},
        {"mscale_all_dim", offsetof(struct tenon_rope, mscale_all_dim)},
        {"original_max_position_embeddings", offsetof(struct tenon_rope, original)},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double number;
        struct tenon_setting s;

        if (says(layer, rows[i].key, &s) && tenon_setting_number(&s, &number))
            memcpy((char *)rope + rows[i].place, &number, sizeof(number));
    }
}

/* How long the sequences were that the model was made with: known, however it is stretched. */
static void take_original(const struct config *c, const struct layer *layer,
                          struct tenon_rope *rope)
{
    static const char key[] = "original_max_position_embeddings";
    struct tenon_setting s;

    if (tenon_setting_member(&layer->given, key, &s))
        return;
    if (layer->replaced && tenon_setting_member(&layer->dict, key, &s))
        (void)tenon_setting_number(&s, &rope->original);
    if (!c->nested && !c->given_nested)
        (void)tenon_resolve_number(c->r->model, key, &rope->original);
}

/* What the scalings for long contexts need beside the dict. */
static enum tenon_status take_lengths(const struct config *c, const struct layer *layer,
                                      struct tenon_rope *rope, struct tenon_error *err)
{
    bool stretched = rope->scaling == TENON_ROPE_YARN || rope->scaling == TENON_ROPE_LONGROPE ||
                     rope->scaling == TENON_ROPE_LLAMA3;
    struct tenon_setting s;
    bool truncate = true;
    enum tenon_status st = TENON_OK;

    if (stretched)
        take_original(c, layer, rope);
    if (stretched && isnan(rope->original))
        rope->original = rope->max_positions;
    if ((rope->scaling == TENON_ROPE_YARN || rope->scaling == TENON_ROPE_LONGROPE) &&
        isnan(rope->factor) && rope->original > 0)
        rope->factor = rope->max_positions / rope->original;
    if (says(layer, "truncate", &s))
        (void)tenon_setting_bool(&s, &truncate);
    rope->no_truncate = !truncate;
    if (rope->scaling != TENON_ROPE_LONGROPE)
        return TENON_OK;
    rope->n_short_factors = rope->n_long_factors = rope->rotary_dim / 2;
    st = take_list(c, layer, "short_factor", rope->rotary_dim / 2, &rope->short_factors, err);
    if (st == TENON_OK)
        st = take_list(c, layer, "long_factor", rope->rotary_dim / 2, &rope->long_factors, err);
    return st;
}

/* Scalings that cannot be worked out without a factor. */
static enum tenon_status check_factor(const struct config *c, const struct tenon_rope *rope,
                                      struct tenon_error *err)
{
    bool needed = rope->scaling == TENON_ROPE_LINEAR || rope->scaling == TENON_ROPE_DYNAMIC ||
                  rope->scaling == TENON_ROPE_YARN || rope->scaling == TENON_ROPE_LLAMA3;

    if (needed && !(rope->factor > 0))
        return tenon_resolve_fail(
            c->r, TENON_ERR_NOT_FOUND, "factor", err,
            "rope type %s in %s without a positive factor", tenon_rope_scaling_name(rope->scaling),
            c->given.kind == TENON_SETTING_OBJECT ? given_name : c->dict_name);
    return TENON_OK;
}

enum tenon_status tenon_resolve_scaling(struct resolving *r, struct tenon_rope *rope,
                                        struct tenon_error *err)
{
    struct config c = {.r = r};
    struct layer layer = {.type = ""};
    enum tenon_status st = take_given(&c, err);

    if (st != TENON_OK || c.given.kind == TENON_SETTING_NONE)
        return st;
    if (c.given_nested)
        return tenon_resolve_fail(r, TENON_ERR_MISMATCH, "rope_scaling", err,
                                  "%s has objects in it, values for all layers are due",
                                  given_name);
    layer.given = c.given;
    if (isnan(r->over->theta))
        take_number(&layer, "rope_theta", &rope->theta);
    take_numbers(&layer, rope);
    if (!tenon_resolve_names_scaling(&c.given))
        return TENON_OK;
    st = find_scaling(&c, &layer, rope, err);
    if (st == TENON_OK)
        st = take_lengths(&c, &layer, rope, err);
    return st == TENON_OK ? check_factor(&c, rope, err) : st;
}

static void take_defaults(const struct config *c, const struct layer *layer,
                          struct tenon_rope *rope)
{
    const struct tenon_arch_rope *d = defaults_of(c, layer);

    if (d == NULL)
        return;
    if (d->factor > 0)
        rope->factor = d->factor;
    if (d->original > 0)
        rope->original = d->original;
    if (d->low_freq_factor > 0)
        rope->low_freq_factor = d->low_freq_factor;
    if (d->high_freq_factor > 0)
        rope->high_freq_factor = d->high_freq_factor;
    if (d->mscale > 0)
        rope->mscale = d->mscale;
    if (d->mscale_all_dim > 0)
        rope->mscale_all_dim = d->mscale_all_dim;
    rope->no_truncate = d->no_truncate;
    take_numbers(layer, rope); /* the caller's, as the config says nothing */
}

static enum tenon_status take_sections(const struct config *c, const struct layer *layer,
                                       struct tenon_rope *rope, struct tenon_error *err)
{
    const struct tenon_arch *arch = c->r->arch;
    struct tenon_setting list, item, s;
    bool interleaved = false;
    int64_t number = 0;

    if (!says(layer, "mrope_section", &list) && !says(layer, "xdrope_section", &list) &&
        !tenon_model_setting(c->r->model, "mrope_section", &list))
        return TENON_OK;
    if (list.kind != TENON_SETTING_LIST || list.count == 0 || list.count > TENON_ROPE_MAX_SECTIONS)
        return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "mrope_section", err,
                                  "mrope_section has %zu items, 1 to %d are allowed", list.count,
                                  TENON_ROPE_MAX_SECTIONS);
    for (size_t i = 0; i < list.count; i++) {
        if (!tenon_setting_item(&list, i, &item, NULL) || !tenon_setting_int(&item, &number) ||
            number < 0 || number > rope->rotary_dim / 2)
            return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "mrope_section", err,
                                      "item %zu of mrope_section is no number from 0 to %u", i,
                                      rope->rotary_dim / 2);
        rope->sections[i] = (uint32_t)number;
    }
    rope->n_sections = (uint32_t)list.count;
    if (says(layer, "mrope_interleaved", &s))
        (void)tenon_setting_bool(&s, &interleaved);
    rope->axes = arch != NULL && arch->rope_axes != TENON_AXES_ONE ? arch->rope_axes
                 : interleaved                                     ? TENON_AXES_INTERLEAVED
                                                                   : TENON_AXES_CHUNKED;
    return TENON_OK;
}

static enum tenon_rope_pairing find_pairing(const struct config *c)
{
    const struct tenon_arch *arch = c->r->arch;
    struct tenon_setting s;
    bool interleave = true;

    if (c->r->over->pairing >= 0)
        return (enum tenon_rope_pairing)c->r->over->pairing;
    if (arch == NULL)
        return TENON_PAIR_HALF;
    if (has_flag(c, TENON_ARCH_ROPE_REVERSED))
        return TENON_PAIR_REVERSED;
    if (tenon_model_setting(c->r->model, "rope_interleave", &s))
        (void)tenon_setting_bool(&s, &interleave);
    if (has_flag(c, TENON_ARCH_ROPE_TO_HALF))
        return interleave ? TENON_PAIR_INTERLEAVED_TO_HALF : TENON_PAIR_HALF;
    if (arch->rope_layout == TENON_ROPE_INTERLEAVED ||
        (has_flag(c, TENON_ARCH_PERMUTED_QK) && c->r->model->dialect == TENON_DIALECT_META))
        return TENON_PAIR_INTERLEAVED;
    return TENON_PAIR_HALF;
}

/* How wide a head is, and how much of it turns. */
static enum tenon_status take_widths(const struct config *c, const struct layer *layer,
                                     struct tenon_rope *rope, struct tenon_error *err)
{
    int64_t head = c->r->p->head_dim, rotary = c->r->over->rotary_dim;
    double partial = find_partial(c, layer);

    if (strcmp(layer->type, FULL) == 0)
        (void)tenon_resolve_int(c->r->model, "global_head_dim", &head);
    if (has_flag(c, TENON_ARCH_LATENT) && tenon_resolve_int(c->r->model, "qk_rope_head_dim", &head))
        partial = 1;
    if (head <= 0 && rotary > 0)
        head = rotary; /* all of it turns, as far as anyone says */
    if (head <= 0 || head > UINT32_MAX / 2)
        return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "head_dim", err,
                                  "neither head_dim nor hidden_size and num_attention_heads tell "
                                  "how wide a head is");
    if (rotary < 0 && !has_flag(c, TENON_ARCH_LATENT))
        (void)tenon_resolve_int(c->r->model, "rotary_dim", &rotary);
    if (rope->scaling == TENON_ROPE_PROPORTIONAL) {
        rope->proportion = partial;
        rotary = head;
    }
    if (rotary < 0 && !(partial > 0 && partial <= 1))
        return tenon_resolve_fail(c->r, TENON_ERR_MISMATCH, "partial_rotary_factor", err,
                                  "a share of %g of each head, more than 0 and at most 1 is due",
                                  partial);
    if (rotary < 0)
        rotary = (int64_t)((double)head * partial);
    rope->head_dim = (uint32_t)head;
    rope->rotary_dim = rotary > UINT32_MAX ? UINT32_MAX : (uint32_t)rotary;
    rope->trailing = has_flag(c, TENON_ARCH_ROPE_TRAILING);
    return TENON_OK;
}

static enum tenon_status make_rope(const struct config *c, const struct layer *layer,
                                   struct tenon_rope *rope, struct tenon_error *err)
{
    enum tenon_status st;

    tenon_rope_init(rope);
    if (c->r->h->context_length > 0)
        rope->max_positions = (double)c->r->h->context_length;
    st = find_scaling(c, layer, rope, err);
    if (st == TENON_OK)
        st = take_widths(c, layer, rope, err);
    if (st != TENON_OK)
        return st;
    rope->pairing = find_pairing(c);
    rope->theta = find_theta(c, layer);
    take_numbers(layer, rope);
    st = tenon_resolve_check_rope(c->r, rope, err);
    if (st == TENON_OK)
        st = take_lengths(c, layer, rope, err);
    if (st == TENON_OK)
        take_defaults(c, layer, rope);
    if (st == TENON_OK)
        st = check_factor(c, rope, err);
    if (st == TENON_OK)
        st = take_sections(c, layer, rope, err);
    if (st == TENON_OK)
        st = tenon_resolve_check_rope(c->r, rope, err);
    return st;
}

/* The rotation of layer `i`, or TENON_NO_ROPE. */
static enum tenon_status resolve_layer(struct config *c, size_t i, uint32_t *out,
                                       struct tenon_error *err)
{
    struct layer layer = {.i = i};
    struct tenon_rope rope;
    enum tenon_status st = find_type(c, &layer, err);

    *out = TENON_NO_ROPE;
    if (st != TENON_OK || !find_layer_dict(c, &layer) || !layer_rotates(c, &layer))
        return st;
    st = make_rope(c, &layer, &rope, err);
    if (st == TENON_OK)
        st = tenon_resolve_add_rope(c->r, &rope, layer.type, out, err);
    return st;
}

enum tenon_status tenon_resolve_rope_hf(struct resolving *r, struct tenon_error *err)
{
    struct config c = {.r = r};
    uint32_t *map = NULL, first;
    enum tenon_status st = find_dict(&c, err);

    if (st != TENON_OK)
        return st;
    if (tenon_model_setting(r->model, "layer_types", &c.layer_types) && r->p->n_layers == 0)
        r->p->n_layers = c.layer_types.count;
    c.period = find_period(&c);
    c.slides = finds_window(&c);
    if (r->p->n_layers == 0)
        return resolve_layer(&c, 0, &first, err);
    st = tenon_resolve_layers(r, &map, err);
    for (size_t i = 0; st == TENON_OK && i < r->p->n_layers; i++)
        st = resolve_layer(&c, i, &map[i], err);
    return st;
}
