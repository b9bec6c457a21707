/* Golden cases: what a config says about positions, from a folder with that config and nothing
 * else. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "position_cases.h"
#include "tenon/model.h"
#include "tenon/position.h"

/* --- a folder for a config --- */

struct folder {
    char path[64], config[96], weights[96];
};

/* Text that grows, until it does not fit. */
struct text {
    char at[16384];
    size_t n;
};

TENON_PRINTF(2, 3) static void add(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->at + t->n, sizeof(t->at) - t->n, format, args);
    va_end(args);
    if (n > 0 && t->n + (size_t)n < sizeof(t->at))
        t->n += (size_t)n;
}

static void add_leaf(struct text *t, const struct tenon_json_node *node)
{
    enum tenon_json_type type = tenon_json_node_type(node);
    struct tenon_str text = {"", 0};
    double value = 0;

    if (tenon_json_node_text(node, &text))
        add(t, "\"%.*s\"", (int)text.len, text.data);
    else if (tenon_json_node_float(node, &value))
        add(t, value == floor(value) ? "%.0f" : "%.17g", value);
    else
        add(t, "%s",
            type == TENON_JSON_TRUE    ? "true"
            : type == TENON_JSON_FALSE ? "false"
                                       : "null");
}

/* The tree as JSON; configs are shallow. */
static void add_tree(struct text *t, const struct tenon_json_node *node)
{
    const struct tenon_json_node *stack[16] = {NULL};
    size_t depth = 0;

    for (;;) {
        enum tenon_json_type type = tenon_json_node_type(node);
        bool opens = (type == TENON_JSON_OBJECT || type == TENON_JSON_ARRAY) && depth < 15;

        if (depth > 0 && tenon_json_node_key(node).len > 0)
            add(t, "\"%.*s\":", (int)tenon_json_node_key(node).len, tenon_json_node_key(node).data);
        if (opens)
            add(t, type == TENON_JSON_OBJECT ? "{" : "[");
        else
            add_leaf(t, node);
        if (opens && tenon_json_node_first(node) != NULL) {
            stack[depth++] = node;
            node = tenon_json_node_first(node);
            continue;
        }
        if (opens)
            add(t, type == TENON_JSON_OBJECT ? "}" : "]");
        while (depth > 0 && tenon_json_node_next(node) == NULL) {
            node = stack[--depth];
            add(t, tenon_json_node_type(node) == TENON_JSON_OBJECT ? "}" : "]");
        }
        if (depth == 0)
            return;
        add(t, ",");
        node = tenon_json_node_next(node);
    }
}

static bool write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    bool fine = file != NULL && fwrite(bytes, 1, n, file) == n;

    if (file != NULL)
        fine = fclose(file) == 0 && fine;
    return fine;
}

static void remove_folder(const struct folder *f)
{
    unlink(f->config);
    unlink(f->weights);
    rmdir(f->path);
}

static bool make_folder(struct folder *f, const struct tenon_json_node *config)
{
    static const char weights[] = "\x35\0\0\0\0\0\0\0"
                                  "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],"
                                  "\"data_offsets\":[0,1]}}";
    static struct text text;

    strcpy(f->path, "cases-XXXXXX");
    if (mkdtemp(f->path) == NULL)
        return false;
    snprintf(f->config, sizeof(f->config), "%s/config.json", f->path);
    snprintf(f->weights, sizeof(f->weights), "%s/model.safetensors", f->path);
    text.n = 0;
    add_tree(&text, config);
    return write_file(f->config, text.at, text.n) &&
           write_file(f->weights, weights, sizeof(weights));
}

/* --- what is asked of the answer --- */

struct answer {
    struct golden_case *c;
    const struct tenon_model *model;
    const struct tenon_positions *positions;
    struct tenon_arch facts;
};

/* The first of several settings that is a number. */
static double setting(const struct answer *a, const char *const *paths, double otherwise)
{
    for (; *paths != NULL; paths++) {
        struct tenon_setting found;
        double value;

        if (tenon_model_setting(a->model, *paths, &found) && tenon_setting_number(&found, &value))
            return value;
    }
    return otherwise;
}

static const char *kind_name(const struct tenon_positions *p)
{
    static const char *const names[] = {"none", "learned", "sinusoidal", "rope", "alibi"};

    if (p->kind == TENON_POSITION_RELATIVE)
        return p->relative == TENON_RELATIVE_T5        ? "t5_bias"
               : p->relative == TENON_RELATIVE_DEBERTA ? "deberta"
                                                       : "relative";
    return names[p->kind];
}

static const char *style_name(enum tenon_rope_pairing pairing)
{
    static const char *const names[] = {"half", "interleaved", "interleaved_to_half", "reversed"};

    return names[pairing];
}

static double rope_factor(const struct tenon_rope *rope)
{
    return isnan(rope->factor) ? rope->max_positions / rope->original : rope->factor;
}

static void compare_number(struct golden_case *c, const char *name, double got)
{
    case_compare_one(c, name, got, CASE_F64);
}

static void compare_rope(struct golden_case *c, const struct tenon_rope *rope)
{
    const char *type = tenon_rope_scaling_name(rope->scaling), *style = style_name(rope->pairing);
    double sections[TENON_ROPE_MAX_SECTIONS];
    struct tenon_rope_table table = {0};
    struct tenon_error err = {0};

    case_compare_words(c, "rope_type", &type, 1);
    case_compare_words(c, "style", &style, 1);
    compare_number(c, "theta", rope->theta);
    compare_number(c, "rotary_dim", rope->rotary_dim);
    compare_number(c, "head_dim", rope->head_dim);
    compare_number(c, "factor", rope_factor(rope));
    compare_number(c, "original_max_position_embeddings", rope->original);
    compare_number(c, "low_freq_factor", rope->low_freq_factor);
    compare_number(c, "high_freq_factor", rope->high_freq_factor);
    compare_number(c, "alpha", rope->alpha);
    compare_number(c, "beta_fast", isnan(rope->beta_fast) ? 32 : rope->beta_fast);
    compare_number(c, "beta_slow", isnan(rope->beta_slow) ? 1 : rope->beta_slow);
    compare_number(c, "mscale", rope->mscale);
    compare_number(c, "mscale_all_dim", rope->mscale_all_dim);
    compare_number(c, "truncate", !rope->no_truncate);
    compare_number(c, "partial_rotary_factor",
                   rope->scaling == TENON_ROPE_PROPORTIONAL
                       ? rope->proportion
                       : (double)rope->rotary_dim / rope->head_dim);
    compare_number(c, "mrope_interleaved", rope->axes == TENON_AXES_INTERLEAVED);
    for (uint32_t i = 0; i < rope->n_sections; i++)
        sections[i] = rope->sections[i];
    case_compare(c, "mrope_section", sections, rope->n_sections, CASE_F64);
    if (!case_ok(c, tenon_rope_table_init(&table, rope, TENON_PRECISION_EXACT, 0, &err), &err))
        return;
    compare_number(c, "attention_factor", table.attention_factor);
    tenon_rope_table_release(&table);
}

/* Rotations by kind of layer: "full_attention": {...}. */
static void compare_uses(struct answer *a)
{
    struct golden_case *c = a->c;

    for (size_t i = 0; i < a->positions->n_ropes; i++) {
        const struct tenon_rope_use *use = &a->positions->ropes[i];
        struct golden_case part = *c;

        part.expected = tenon_json_node_get(c->expected, use->layer_type);
        if (part.expected == NULL)
            continue;
        compare_rope(&part, &use->rope);
        c->n_compared = part.n_compared;
        c->n_failed = part.n_failed;
        c->arena = part.arena;
        case_see(c, use->layer_type);
    }
}

static void compare_layers(struct answer *a)
{
    const struct tenon_positions *p = a->positions;
    const char **types = case_room(a->c, p->n_layers, sizeof(*types));

    for (size_t i = 0; i < p->n_layers; i++) {
        const struct tenon_rope_use *use = tenon_positions_rope(p, i);

        types[i] = use == NULL ? "none" : use->layer_type;
    }
    case_compare_words(a->c, "layer_types", types, p->n_layers);
}

static void compare_tables(struct answer *a)
{
    static const char *const types[] = {"type_vocab_size", NULL};
    static const char *const narrow[] = {"word_embed_proj_dim", "embedding_size", NULL};
    static const char *const eps[] = {"layer_norm_eps", "layer_norm_epsilon", "rms_norm_eps",
                                      "norm_eps", NULL};
    const struct tenon_positions *p = a->positions;
    double width = setting(a, narrow, (double)p->hidden_size);
    double shape[2] = {(double)p->hidden_size, width};
    const char *norm = a->facts.embd_norm == TENON_NORM_LAYER ? "layer_norm" : "rms_norm";

    compare_number(a->c, "rows", (double)p->rows);
    compare_number(a->c, "offset", (double)p->offset);
    compare_number(a->c, "padding_idx", (double)p->pad_id);
    compare_number(a->c, "usable_positions", (double)(p->rows - p->offset));
    compare_number(a->c, "token_types", setting(a, types, 0));
    compare_number(a->c, "eps", setting(a, eps, a->facts.norm_eps));
    compare_number(a->c, "embedding_width", width);
    case_compare(a->c, "project_in", shape, 2, CASE_F64);
    case_compare_words(a->c, "norm", &norm, 1);
}

static double scale_of(const struct answer *a)
{
    static const char *const switches[] = {"scale_embedding", NULL};
    static const char *const values[] = {"scale_emb", "embedding_multiplier", NULL};
    double root = sqrt((double)a->positions->hidden_size);
    struct tenon_setting found;
    bool on = a->facts.embed_scale_default != 0;

    switch (a->facts.embed_scale) {
    case TENON_SCALE_SQRT_WIDTH:
    case TENON_SCALE_SQRT_WIDTH_BF16:
        return root;
    case TENON_SCALE_IF_CONFIG:
        if (tenon_model_setting(a->model, switches[0], &found))
            tenon_setting_bool(&found, &on);
        return on ? root : 1;
    case TENON_SCALE_CONFIG_VALUE:
        return setting(a, values,
                       a->facts.embed_scale_default == 0 ? 1 : a->facts.embed_scale_default);
    case TENON_SCALE_NONE:
        break;
    }
    return 1;
}

static void compare_others(struct answer *a)
{
    const struct tenon_positions *p = a->positions;
    const char *layout = p->sinusoid == TENON_SINUSOID_INTERLEAVED ? "interleaved" : "half_split";
    const char *divisor = p->sinusoid == TENON_SINUSOID_HALF_TIMESCALE ? "half-1" : "d";

    if (p->sinusoid != TENON_SINUSOID_NONE) {
        case_compare_words(a->c, "layout", &layout, 1);
        case_compare_words(a->c, "divisor", &divisor, 1);
    }
    compare_number(a->c, "embed_scale", scale_of(a));
    compare_number(a->c, "max_bias", p->alibi_max_bias);
    compare_number(a->c, "num_buckets", (double)p->buckets);
    compare_number(a->c, "position_buckets", (double)p->buckets);
    compare_number(a->c, "max_distance", (double)p->max_distance);
    compare_number(a->c, "max_relative_positions", (double)p->relative_span);
}

static void compare_answer(struct answer *a)
{
    const char *kind = kind_name(a->positions);

    case_compare_words(a->c, "position", &kind, 1);
    if (a->positions->n_ropes > 0) {
        compare_uses(a);
        compare_layers(a);
        compare_rope(a->c, &a->positions->ropes[0].rope);
    }
    compare_tables(a);
    compare_others(a);
}

void run_config_resolution(struct golden_case *c)
{
    struct tenon_model *model = NULL;
    struct tenon_positions *positions = NULL;
    struct tenon_error err = {0};
    struct folder folder;
    struct answer answer = {.c = c};

    if (!make_folder(&folder, case_value(c, "config")))
        case_fail(c, "no folder for the config");
    else if (case_ok(c, tenon_model_open(folder.path, NULL, &model, &err), &err) &&
             case_ok(c, tenon_positions_resolve(model, NULL, &positions, &err), &err)) {
        answer.model = model;
        answer.positions = positions;
        if (!tenon_model_text_facts(model, &answer.facts))
            case_fail(c, "an unknown architecture");
        compare_answer(&answer);
    }
    tenon_positions_free(positions);
    tenon_model_free(model);
    remove_folder(&folder);
}
