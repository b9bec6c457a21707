/* Rotations as GGUF metadata describes them to llama.cpp: the pairing follows from the architecture
 * alone, and factors of single frequencies are tensors. */
#include "position_resolve.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"

/* What is common to all layers. */
struct metadata {
    struct resolving *r;
    enum tenon_gguf_rope type;
    bool windows;                 /* some layers slide */
    bool no_windows;              /* the file says that none does */
    struct tenon_setting pattern; /* which do, or after how many one does not */
    size_t period;
    const float *freq_factors;
    const double *long_factors, *short_factors;
    uint32_t n_factors; /* of any of these; 0: none */
};

static bool has_flag(const struct metadata *m, enum tenon_arch_flags flag)
{
    return (m->r->arch->flags & (unsigned)flag) != 0;
}

/* --- layers --- */

static void find_windows(struct metadata *m)
{
    const struct tenon_arch *arch = m->r->arch;
    struct tenon_setting s;
    double window = 0, period = arch->layer_period;
    bool said = tenon_model_setting(m->r->model, "attention.sliding_window", &s) &&
                tenon_setting_number(&s, &window);

    m->windows = said && window > 0;
    m->no_windows = said && !(window > 0);
    if (tenon_model_setting(m->r->model, "attention.sliding_window_pattern", &m->pattern))
        (void)tenon_setting_number(&m->pattern, &period);
    m->period = period > 0 && period <= TENON_MOST_LAYERS ? (size_t)period : 0;
}

static bool layer_slides(const struct metadata *m, size_t i)
{
    struct tenon_setting item;
    double number;
    bool flag = false;

    if (!m->windows)
        return false;
    if (m->pattern.kind == TENON_SETTING_LIST) {
        if (!tenon_setting_item(&m->pattern, i, &item, NULL))
            return false;
        if (tenon_setting_number(&item, &number))
            return number != 0;
        return tenon_setting_bool(&item, &flag) && flag;
    }
    return !tenon_resolve_is_full(m->r->arch->layer_rule, m->period, i, m->r->p->n_layers);
}

static bool layer_rotates(const struct metadata *m, size_t i, bool slides)
{
    const struct tenon_arch *arch = m->r->arch;
    struct tenon_setting list, item;
    bool flag = true;

    if (has_flag(m, TENON_ARCH_ROPE_SLIDING_ONLY) && m->windows && !slides)
        return false;
    if (tenon_model_setting(m->r->model, "attention.rope_pattern", &list) &&
        tenon_setting_item(&list, i, &item, NULL) && tenon_setting_bool(&item, &flag) && !flag)
        return false;
    return arch->no_rope_period == 0 || m->no_windows || (i + 1) % arch->no_rope_period != 0;
}

/* --- factors of single frequencies --- */

/* The tensor's values; `*out` stays NULL where there is none. */
static enum tenon_status read_factors(struct metadata *m, enum tenon_role role, float **out,
                                      struct tenon_error *err)
{
    const struct tenon_tensor *t = tenon_model_find_role(m->r->model, role, TENON_PART_MAIN, false);
    enum tenon_status st;

    if (t == NULL)
        return TENON_OK;
    if (t->n_elements == 0 || t->n_elements > UINT16_MAX ||
        (m->n_factors != 0 && m->n_factors != t->n_elements)) {
        st = tenon_fail(err, TENON_ERR_MISMATCH, t->record_offset,
                        "%llu factors, one for each pair of rotated values is due",
                        (unsigned long long)t->n_elements);
        tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
        return st;
    }
    m->n_factors = (uint32_t)t->n_elements;
    *out = tenon_arena_alloc(m->r->arena, m->n_factors, sizeof(**out));
    if (*out == NULL)
        return tenon_fail_memory(err);
    return tenon_tensor_decode(m->r->model, t, 0, m->n_factors, *out, err);
}

static enum tenon_status read_list(struct metadata *m, enum tenon_role role, const double **out,
                                   struct tenon_error *err)
{
    float *values = NULL;
    double *wide;
    enum tenon_status st = read_factors(m, role, &values, err);

    if (st != TENON_OK || values == NULL)
        return st;
    wide = tenon_arena_alloc(m->r->arena, m->n_factors, sizeof(*wide));
    if (wide == NULL)
        return tenon_fail_memory(err);
    for (uint32_t i = 0; i < m->n_factors; i++)
        wide[i] = (double)values[i];
    *out = wide;
    return TENON_OK;
}

/* rope_freqs counts before the lists for long and short contexts. */
static enum tenon_status find_factors(struct metadata *m, struct tenon_error *err)
{
    float *freqs = NULL;
    enum tenon_status st = read_factors(m, TENON_ROLE_ROPE_FREQS, &freqs, err);

    m->freq_factors = freqs;
    if (st == TENON_OK && freqs == NULL)
        st = read_list(m, TENON_ROLE_ROPE_FACTORS_LONG, &m->long_factors, err);
    if (st == TENON_OK && freqs == NULL)
        st = read_list(m, TENON_ROLE_ROPE_FACTORS_SHORT, &m->short_factors, err);
    return st;
}

/* --- one rotation --- */

static enum tenon_status take_scaling(const struct metadata *m, struct tenon_rope *rope,
                                      struct tenon_error *err)
{
    static const char key[] = "rope.scaling.type";
    struct tenon_setting s;
    double factor = 0;

    (void)tenon_resolve_number(m->r->model, "rope.scaling.factor rope.scale_linear", &factor);
    rope->scaling = TENON_ROPE_LINEAR;
    if (tenon_model_setting(m->r->model, key, &s)) {
        static const struct {
            const char *word;
            enum tenon_rope_scaling scaling;
        } words[] = {{"linear", TENON_ROPE_LINEAR},
                     {"longrope", TENON_ROPE_LONGROPE},
                     {"none", TENON_ROPE_DEFAULT},
                     {"yarn", TENON_ROPE_YARN}};
        size_t i = 0;

        while (i < sizeof(words) / sizeof(words[0]) && !tenon_setting_is(&s, words[i].word))
            i++;
        if (i == sizeof(words) / sizeof(words[0]))
            return tenon_resolve_fail(m->r, TENON_ERR_UNSUPPORTED_FEATURE, key, err,
                                      "unknown rope scaling type '%.*s', known are none, linear, "
                                      "yarn and longrope",
                                      (int)(s.text.len < 64 ? s.text.len : 64), s.text.data);
        rope->scaling = words[i].scaling;
    }
    if (factor > 0 && rope->scaling != TENON_ROPE_DEFAULT)
        rope->factor = factor;
    else if (rope->scaling == TENON_ROPE_YARN)
        rope->factor = 1;
    if (rope->scaling == TENON_ROPE_LINEAR && !(factor > 0 && factor != 1))
        rope->scaling = TENON_ROPE_DEFAULT;
    return TENON_OK;
}

/* The magnitude of yarn: the loader works out what configs mean by mscale. */
static void take_yarn(const struct metadata *m, struct tenon_rope *rope)
{
    double log_multiplier = 0;

    (void)tenon_resolve_number(m->r->model, "rope.scaling.yarn_beta_fast", &rope->beta_fast);
    (void)tenon_resolve_number(m->r->model, "rope.scaling.yarn_beta_slow", &rope->beta_slow);
    (void)tenon_resolve_number(m->r->model, "rope.scaling.yarn_ext_factor",
                               &rope->extrapolation_factor);
    (void)tenon_resolve_number(m->r->model, "rope.scaling.attn_factor", &rope->attn_factor);
    (void)tenon_resolve_number(m->r->model, "rope.scaling.yarn_log_multiplier", &log_multiplier);
    if (!(log_multiplier > 0) && !(log_multiplier < 0))
        return;
    if (has_flag(m, TENON_ARCH_LATENT)) /* such files hold a tenth, which the loader undoes */
        log_multiplier /= (double)0.1F;
    rope->mscale_all_dim = log_multiplier;
    rope->mscale = has_flag(m, TENON_ARCH_LATENT) && log_multiplier != 1 ? log_multiplier : 1;
}

static enum tenon_status take_lists(const struct metadata *m, struct tenon_rope *rope,
                                    struct tenon_error *err)
{
    uint32_t pairs = rope->rotary_dim / 2;

    if (m->n_factors != 0 && m->n_factors != pairs)
        return tenon_resolve_fail(m->r, TENON_ERR_MISMATCH, "rope.dimension_count", err,
                                  "%u frequency factors, a rotary width of %u needs %u",
                                  m->n_factors, rope->rotary_dim, pairs);
    rope->freq_factors = m->freq_factors;
    rope->n_freq_factors = m->freq_factors != NULL ? pairs : 0;
    if (m->long_factors == NULL || m->short_factors == NULL) {
        if (rope->scaling == TENON_ROPE_LONGROPE)
            rope->scaling = TENON_ROPE_DEFAULT; /* without lists nothing is stretched */
        return TENON_OK;
    }
    rope->scaling = TENON_ROPE_LONGROPE;
    rope->long_factors = m->long_factors;
    rope->short_factors = m->short_factors;
    rope->n_long_factors = rope->n_short_factors = pairs;
    rope->attention_factor = 1;
    (void)tenon_resolve_number(m->r->model, "rope.scaling.attn_factor", &rope->attention_factor);
    rope->attn_factor = (double)NAN;
    return TENON_OK;
}

static enum tenon_status take_sections(const struct metadata *m, struct tenon_rope *rope,
                                       struct tenon_error *err)
{
    struct tenon_setting list, item;
    enum tenon_gguf_rope type = m->type;
    int64_t number, sum = 0;
    size_t n = 0;

    if (tenon_model_setting(m->r->model, "rope.dimension_sections", &list))
        for (; n < list.count && n < TENON_ROPE_MAX_SECTIONS; n++) {
            if (!tenon_setting_item(&list, n, &item, NULL) || !tenon_setting_int(&item, &number) ||
                number < 0 || number > rope->rotary_dim / 2)
                return tenon_resolve_fail(m->r, TENON_ERR_MISMATCH, "rope.dimension_sections", err,
                                          "item %zu is no number from 0 to %u", n,
                                          rope->rotary_dim / 2);
            rope->sections[n] = (uint32_t)number;
            sum += number;
        }
    if (sum > 0 && has_flag(m, TENON_ARCH_GGUF_SECTIONS))
        type = TENON_GGUF_ROPE_MROPE;
    rope->pairing = type == TENON_GGUF_ROPE_NORM ? TENON_PAIR_INTERLEAVED : TENON_PAIR_HALF;
    if (sum > 0 && type == TENON_GGUF_ROPE_MROPE)
        rope->axes = TENON_AXES_CHUNKED;
    else if (sum > 0 && type == TENON_GGUF_ROPE_IMROPE)
        rope->axes = TENON_AXES_INTERLEAVED;
    while (n > 0 && rope->sections[n - 1] == 0)
        n--;
    if (n < 2) /* one stream only, whatever it is called */
        rope->axes = TENON_AXES_ONE;
    rope->n_sections = rope->axes != TENON_AXES_ONE ? (uint32_t)n : 0;
    if (m->r->over->pairing >= 0)
        rope->pairing = (enum tenon_rope_pairing)m->r->over->pairing;
    return TENON_OK;
}

static enum tenon_status take_widths(const struct metadata *m, bool slides, struct tenon_rope *rope,
                                     struct tenon_error *err)
{
    int64_t head = m->r->p->head_dim, rotary;

    if (slides)
        (void)tenon_resolve_int(m->r->model, "attention.key_length_swa", &head);
    rotary = head;
    (void)tenon_resolve_int(m->r->model, "rope.dimension_count", &rotary);
    if (slides)
        (void)tenon_resolve_int(m->r->model, "rope.dimension_count_swa", &rotary);
    if (has_flag(m, TENON_ARCH_LATENT))
        head = rotary; /* a slice of its own turns */
    if (m->r->over->rotary_dim >= 0)
        rotary = m->r->over->rotary_dim;
    if (head <= 0 || head > UINT32_MAX / 2)
        return tenon_resolve_fail(m->r, TENON_ERR_MISMATCH, "attention.key_length", err,
                                  "neither key_length nor embedding_length and head_count tell how "
                                  "wide a head is");
    rope->head_dim = (uint32_t)head;
    rope->rotary_dim = rotary > UINT32_MAX || rotary < 0 ? UINT32_MAX : (uint32_t)rotary;
    rope->trailing = has_flag(m, TENON_ARCH_ROPE_TRAILING);
    return TENON_OK;
}

static double find_theta(const struct metadata *m, bool slides)
{
    double theta = 10000;

    if (!isnan(m->r->over->theta))
        return m->r->over->theta;
    (void)tenon_resolve_number(m->r->model, "rope.freq_base", &theta);
    if (!slides)
        return theta;
    if (m->r->arch->local_theta > 0)
        theta = 10000; /* what the loader takes for these families */
    (void)tenon_resolve_number(m->r->model, "rope.freq_base_swa", &theta);
    return theta;
}

/* How the file says that frequencies are stretched. */
static enum tenon_status take_stretching(const struct metadata *m, struct tenon_rope *rope,
                                         struct tenon_error *err)
{
    enum tenon_status st = take_scaling(m, rope, err);

    if (st == TENON_OK && rope->scaling == TENON_ROPE_YARN)
        take_yarn(m, rope);
    return st == TENON_OK ? take_lists(m, rope, err) : st;
}

static enum tenon_status make_rope(const struct metadata *m, bool slides, struct tenon_rope *rope,
                                   struct tenon_error *err)
{
    const struct tenon_setting *given = m->r->over->rope_scaling;
    bool replaced = given != NULL && tenon_resolve_names_scaling(given);
    bool plain = slides && m->r->arch->local_theta > 0; /* not stretched */
    double alpha = 0;
    enum tenon_status st = TENON_OK;

    tenon_rope_init(rope);
    if (m->r->h->context_length > 0)
        rope->max_positions = rope->original = (double)m->r->h->context_length;
    (void)tenon_resolve_number(m->r->model, "rope.scaling.original_context_length",
                               &rope->original);
    rope->theta = find_theta(m, slides);
    st = take_widths(m, slides, rope, err);
    if (st == TENON_OK && !replaced && !plain)
        st = take_stretching(m, rope, err);
    if (st == TENON_OK && given != NULL)
        st = tenon_resolve_scaling(m->r, rope, err);
    if (!replaced && tenon_resolve_number(m->r->model, "rope.scaling.alpha", &alpha) && alpha > 0) {
        rope->scaling = TENON_ROPE_NTK;
        rope->alpha = alpha;
    }
    if (st == TENON_OK)
        st = take_sections(m, rope, err);
    return st == TENON_OK ? tenon_resolve_check_rope(m->r, rope, err) : st;
}

static enum tenon_status resolve_layer(struct metadata *m, size_t i, uint32_t *out,
                                       struct tenon_error *err)
{
    bool slides = layer_slides(m, i);
    struct tenon_rope rope;
    enum tenon_status st;

    *out = TENON_NO_ROPE;
    if (!layer_rotates(m, i, slides))
        return TENON_OK;
    st = make_rope(m, slides, &rope, err);
    if (st != TENON_OK)
        return st;
    return tenon_resolve_add_rope(m->r, &rope,
                                  !m->windows ? ""
                                  : slides    ? "sliding_attention"
                                              : "full_attention",
                                  out, err);
}

enum tenon_status tenon_resolve_rope_gguf(struct resolving *r, struct tenon_error *err)
{
    struct metadata m = {.r = r};
    uint32_t *map = NULL, first;
    enum tenon_status st;

    m.type = r->arch != NULL ? r->arch->gguf_rope : TENON_GGUF_ROPE_NONE;
    if (r->over->rotary && m.type == TENON_GGUF_ROPE_NONE)
        m.type = TENON_GGUF_ROPE_NEOX;
    if (r->arch == NULL || m.type == TENON_GGUF_ROPE_NONE) { /* the loader does not rotate */
        r->p->kind = TENON_POSITION_NONE;
        r->p->n_layers = 0;
        return TENON_OK;
    }
    find_windows(&m);
    st = find_factors(&m, err);
    if (st == TENON_OK && r->p->n_layers == 0)
        return resolve_layer(&m, 0, &first, err);
    if (st == TENON_OK)
        st = tenon_resolve_layers(r, &map, err);
    for (size_t i = 0; st == TENON_OK && i < r->p->n_layers; i++)
        st = resolve_layer(&m, i, &map[i], err);
    return st;
}
