/* tenon info: one page about a model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/arch.h"
#include "tenon/embed.h"
#include "tenon/position.h"
#include "tenon/tying.h"
#include "tool.h"

/* Larger pairs of matrices are not compared for a page: it should cost what a header costs. */
#define MOST_COMPARED (UINT64_C(64) << 20)

/* Parameters and bytes of a group of tensors. */
struct share {
    size_t tensors;
    uint64_t parameters, bytes;
};

/* Positions as architecture and file describe them together; NaN and negative are unknown. */
struct position {
    const char *kind, *layout; /* NULL: unknown */
    double theta, other_theta; /* of the layers told of, of others that have another one */
    size_t other_layers, layers;
    int64_t rotary_dim, max_positions;
    struct tenon_str scaling;
};

/* Parts of a model, by ranges of roles. */
static const struct {
    const char *name;
    enum tenon_role first, last;
} parts[] = {
    {"input embedding", TENON_ROLE_TOKEN_EMBD, TENON_ROLE_TOKEN_EMBD},
    {"output", TENON_ROLE_OUTPUT, TENON_ROLE_OUTPUT},
    {"attention", TENON_ROLE_ATTN_NORM, TENON_ROLE_CROSS_ATTN_OUTPUT},
    {"feed-forward", TENON_ROLE_FFN_NORM, TENON_ROLE_LAYER_SCALE},
    {"state space", TENON_ROLE_SSM_IN, TENON_ROLE_SSM_NORM},
};

enum { N_PARTS = sizeof(parts) / sizeof(parts[0]), OTHER_PART = N_PARTS };

/* Everything the page says. */
struct page {
    const struct tenon_model *model;
    const struct tenon_hparams *h;
    const struct tenon_tokenizer *tokenizer;
    const struct tenon_arch *arch;
    struct tenon_tying *tying; /* NULL: neither input nor output matrix */
    struct tenon_embed embed;
    bool has_embed;
    int64_t head_dim;
    struct position position;
    struct share all, by_dtype[TENON_DTYPE_END], by_part[N_PARTS + 1];
    size_t findings[TENON_SEVERITY_ERROR + 1];
};

static size_t part_of(const struct tenon_tensor *t)
{
    for (size_t i = 0; i < N_PARTS; i++)
        if (t->role >= parts[i].first && t->role <= parts[i].last)
            return i;
    return OTHER_PART;
}

/* Storage that an earlier tensor has counted already does not count again. */
static void add_share(struct share *share, const struct tenon_tensor *t)
{
    share->tensors++;
    if ((t->flags & TENON_TENSOR_SHARED) != 0)
        return;
    share->parameters += t->n_elements;
    share->bytes += t->bytes;
}

static void count_tensors(struct page *p)
{
    for (size_t i = 0; i < tenon_model_n_tensors(p->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(p->model, i);

        add_share(&p->all, t);
        add_share(&p->by_dtype[t->dtype], t);
        add_share(&p->by_part[part_of(t)], t);
    }
    for (size_t i = 0; i < tenon_model_n_findings(p->model); i++)
        p->findings[tenon_model_finding(p->model, i)->severity]++;
}

/* The rotation of the first layer that turns: where layers differ, full attention's. */
static const struct tenon_rope *find_rope(const struct tenon_positions *p)
{
    for (size_t i = 0; i < p->n_ropes; i++)
        if (strcmp(p->ropes[i].layer_type, "full_attention") == 0)
            return &p->ropes[i].rope;
    return p->n_ropes != 0 ? &p->ropes[0].rope : NULL;
}

static const char *find_layout(const struct tenon_rope *rope)
{
    static const enum tenon_rope_layout layouts[] = {
        [TENON_PAIR_HALF] = TENON_ROPE_HALF,
        [TENON_PAIR_INTERLEAVED] = TENON_ROPE_INTERLEAVED,
        [TENON_PAIR_INTERLEAVED_TO_HALF] = TENON_ROPE_INTERLEAVED,
        [TENON_PAIR_REVERSED] = TENON_ROPE_HALF,
    };

    return tenon_rope_layout_name(rope->axes != TENON_AXES_ONE ? TENON_ROPE_SECTIONED
                                                               : layouts[rope->pairing]);
}

/* Stated, or what loaders take when nothing is. */
static int64_t find_head_dim(const struct page *p)
{
    const struct tenon_hparams *h = p->h;

    if (h->head_dim < 0 && h->hidden_size > 0 && h->heads > 0 && h->hidden_size % h->heads == 0)
        return h->hidden_size / h->heads;
    return h->head_dim;
}

/* How many layers turn by another base than the one that is told (Gemma 3). */
static void find_other_theta(struct position *out, const struct tenon_positions *positions)
{
    out->layers = positions->n_layers;
    for (size_t i = 0; i < positions->n_layers; i++) {
        const struct tenon_rope_use *use = tenon_positions_rope(positions, i);

        if (use == NULL || use->rope.theta == out->theta)
            continue;
        if (out->other_layers == 0)
            out->other_theta = use->rope.theta;
        out->other_layers += use->rope.theta == out->other_theta;
    }
}

/* Where positions cannot be worked out, what the file says of them is shown as it is. */
static void find_position(struct page *p)
{
    struct tenon_positions *positions = NULL;
    const struct tenon_rope *rope;
    struct tenon_error why = {0};

    p->position = (struct position){.theta = p->h->rope_theta,
                                    .rotary_dim = p->h->rotary_dim,
                                    .max_positions = p->h->context_length,
                                    .scaling = p->h->rope_scaling};
    if (p->arch == NULL && !p->h->alibi)
        return;
    if (tenon_positions_resolve(p->model, NULL, &positions, &why) != TENON_OK) {
        if (p->arch != NULL)
            p->position.kind = tenon_position_name(p->arch->position);
        return;
    }
    p->position.kind = tenon_position_name(positions->kind);
    p->position.max_positions = positions->max_positions;
    rope = find_rope(positions);
    if (rope != NULL) {
        const char *word = tenon_rope_scaling_name(rope->scaling);

        p->position.layout = find_layout(rope);
        p->position.theta = rope->theta;
        p->position.rotary_dim = rope->rotary_dim;
        if (rope->scaling != TENON_ROPE_DEFAULT)
            p->position.scaling = (struct tenon_str){word, strlen(word)};
        find_other_theta(&p->position, positions);
    }
    tenon_positions_free(positions);
}

static enum tenon_status fill_page(struct tenon_tool *tool, struct page *p, struct tenon_error *err)
{
    struct tenon_tying_options tying_options;
    struct tenon_error why = {0};
    enum tenon_status st;

    p->h = tenon_model_hparams(p->model);
    p->tokenizer = tenon_model_tokenizer(p->model);
    p->arch = tenon_model_arch(p->model);
    p->has_embed = tenon_embed_init(&p->embed, p->model, &why) == TENON_OK;
    p->head_dim = find_head_dim(p);
    count_tensors(p);
    find_position(p);
    tenon_tying_options_init(&tying_options);
    tying_options.threads = (unsigned)tool->common.threads;
    tying_options.groups = false;
    tying_options.most_bytes = MOST_COMPARED;
    why = (struct tenon_error){0};
    st = tenon_tying_analyse(p->model, &tying_options, &p->tying, &why);
    if (st == TENON_OK || st == TENON_ERR_NOT_FOUND)
        return TENON_OK;
    *err = why;
    return st;
}

/* The name by which the family is known: ours, or what the file says. */
static struct tenon_str architecture(const struct page *p)
{
    if (p->arch != NULL)
        return (struct tenon_str){p->arch->name, strlen(p->arch->name)};
    return p->h->model_type;
}

static void str_or_null(struct tenon_json *json, const char *key, struct tenon_str text)
{
    if (text.len == 0)
        tenon_json_null(json, key);
    else
        tenon_json_str(json, key, text);
}

static const char *dialect(const struct page *p)
{
    enum tenon_dialect d = tenon_model_dialect(p->model);

    return d != TENON_DIALECT_NONE ? tenon_dialect_name(d) : NULL;
}

static const char *tristate_word(enum tenon_tristate t)
{
    return t == TENON_YES ? "tied" : t == TENON_NO ? "not tied" : "nothing";
}

static void write_json_head(struct tenon_json *json, const struct page *p)
{
    const struct tenon_file *first =
        tenon_model_n_files(p->model) > 0 ? tenon_model_file(p->model, 0) : NULL;

    tenon_json_text(json, "path", tenon_model_path(p->model));
    tenon_json_text(json, "format", tenon_model_format(p->model));
    if (first != NULL && first->version != 0)
        tenon_json_u64(json, "format_version", first->version);
    else
        tenon_json_null(json, "format_version");
    tenon_json_text(json, "byte_order", first != NULL && first->big_endian ? "big" : "little");
    tenon_json_text(json, "dialect", dialect(p));
    str_or_null(json, "architecture", architecture(p));
    str_or_null(json, "name", p->h->name);
    tenon_json_array(json, "files");
    for (size_t i = 0; i < tenon_model_n_files(p->model); i++) {
        tenon_json_object_flat(json, NULL);
        tenon_json_text(json, "path", tenon_model_file(p->model, i)->path);
        tenon_json_u64(json, "bytes", tenon_model_file(p->model, i)->bytes);
        tenon_json_end(json);
    }
    tenon_json_end(json);
}

static void write_json_shares(struct tenon_json *json, const struct page *p)
{
    tenon_json_u64(json, "tensors", p->all.tensors);
    tenon_json_u64(json, "parameters", p->all.parameters);
    tenon_json_u64(json, "bytes", p->all.bytes);
    tenon_json_array(json, "dtypes");
    for (size_t i = 0; i < TENON_DTYPE_END; i++) {
        const struct share *s = &p->by_dtype[i];

        if (s->tensors == 0)
            continue;
        tenon_json_object_flat(json, NULL);
        tenon_json_text(json, "dtype", tenon_dtype_name((enum tenon_dtype)i));
        tenon_json_u64(json, "tensors", s->tensors);
        tenon_json_u64(json, "parameters", s->parameters);
        tenon_json_u64(json, "bytes", s->bytes);
        tenon_json_end(json);
    }
    tenon_json_end(json);
}

static void write_json_sizes(struct tenon_json *json, const struct page *p)
{
    tenon_json_object_flat(json, "vocab");
    if (p->has_embed)
        tenon_json_u64(json, "rows", p->embed.rows);
    else
        tenon_json_null(json, "rows");
    tenon_json_known(json, "config", p->h->vocab_size);
    tenon_json_known(json, "tokenizer", p->tokenizer->tokens);
    tenon_json_known(json, "added", p->tokenizer->added);
    tenon_json_end(json);
    tenon_json_known(json, "hidden_size", p->h->hidden_size);
    tenon_json_known(json, "layers", p->h->layers);
    tenon_json_known(json, "heads", p->h->heads);
    tenon_json_known(json, "kv_heads", p->h->kv_heads);
    tenon_json_known(json, "head_dim", p->head_dim);
    tenon_json_known(json, "context_length", p->h->context_length);
}

/* Every key is there; what is not known, or would take reading large matrices, is null. */
static void write_json_tying(struct tenon_json *json, const struct page *p)
{
    bool judged = p->tying != NULL && p->tying->verdict != TENON_VERDICT_NONE;

    tenon_json_object_flat(json, "tying");
    if (judged) {
        tenon_json_text(json, "verdict", tenon_verdict_name(p->tying->verdict));
        tenon_json_bool(json, "tied", p->tying->tied);
    } else {
        tenon_json_null(json, "verdict");
        tenon_json_null(json, "tied");
    }
    if (p->tying == NULL || p->tying->declared == TENON_SILENT)
        tenon_json_null(json, "declared");
    else
        tenon_json_bool(json, "declared", p->tying->declared == TENON_YES);
    if (judged)
        tenon_json_bool(json, "consistent", p->tying->consistent);
    else
        tenon_json_null(json, "consistent");
    tenon_json_end(json);
}

static void write_json_tail(struct tenon_json *json, const struct page *p)
{
    tenon_json_object_flat(json, "position");
    tenon_json_text(json, "kind", p->position.kind);
    tenon_json_text(json, "layout", p->position.layout);
    if (isnan(p->position.theta))
        tenon_json_null(json, "theta");
    else
        tenon_json_f64(json, "theta", p->position.theta);
    tenon_json_known(json, "rotary_dim", p->position.rotary_dim);
    str_or_null(json, "scaling", p->position.scaling);
    tenon_json_known(json, "max_positions", p->position.max_positions);
    tenon_json_end(json);
    tenon_json_object_flat(json, "tokenizer");
    str_or_null(json, "model", p->tokenizer->model);
    tenon_json_known(json, "tokens", p->tokenizer->tokens);
    tenon_json_known(json, "merges", p->tokenizer->merges);
    str_or_null(json, "pre", p->tokenizer->pre);
    tenon_json_end(json);
    tenon_json_array(json, "findings");
    for (size_t i = 0; i < tenon_model_n_findings(p->model); i++)
        tenon_tool_finding_json(json, tenon_model_finding(p->model, i), NULL);
    tenon_json_end(json);
}

static void write_json(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.info/1");
    write_json_head(&json, p);
    write_json_shares(&json, p);
    write_json_sizes(&json, p);
    write_json_tying(&json, p);
    write_json_tail(&json, p);
    tenon_json_end(&json);
}

/* --- the page for people --- */

enum { LABEL = 14, BAR = 24 };

static void begin_line(struct tenon_tool *tool, const char *label)
{
    tenon_out_printf(&tool->out, "%s%-*s%s", tenon_term_style(&tool->term, TENON_STYLE_BOLD), LABEL,
                     label, tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
}

/* ", heads 32" when the number is known. */
static void add_known(struct tenon_out *out, const char *label, int64_t value)
{
    char number[32];

    if (value >= 0)
        tenon_out_printf(out, ", %s %s", label, tenon_out_grouped(number, (uint64_t)value));
}

static void write_title(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_out *out = &tool->out;
    size_t n = tenon_model_n_files(p->model);
    const struct tenon_file *first = n > 0 ? tenon_model_file(p->model, 0) : NULL;
    const char *path = tenon_model_path(p->model);
    char size[32];
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += tenon_model_file(p->model, i)->bytes;
    tenon_out_text(out, tenon_term_style(&tool->term, TENON_STYLE_BOLD));
    tenon_out_safe(out, path, strlen(path));
    tenon_out_printf(out, "%s\n", tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    begin_line(tool, "Format");
    tenon_out_text(out, tenon_model_format(p->model));
    if (first != NULL && first->version != 0)
        tenon_out_printf(out, " version %u", first->version);
    if (first != NULL && first->big_endian)
        tenon_out_text(out, ", big-endian");
    if (tenon_model_is_directory(p->model))
        tenon_out_text(out, ", a folder");
    tenon_out_printf(out, ", %s in %zu file%s\n", tenon_out_bytes(size, bytes), n,
                     n == 1 ? "" : "s");
}

static const char *const dialect_words[] = {
    [TENON_DIALECT_NONE] = "",
    [TENON_DIALECT_HF] = ", Hugging Face names",
    [TENON_DIALECT_GGUF] = ", GGUF names",
    [TENON_DIALECT_META] = ", names of Meta's own files",
};

static void write_names(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_out *out = &tool->out;
    struct tenon_str arch = architecture(p);

    if (p->h->name.len > 0) {
        begin_line(tool, "Name");
        tenon_out_safe(out, p->h->name.data, p->h->name.len);
        tenon_out_text(out, "\n");
    }
    begin_line(tool, "Architecture");
    if (arch.len > 0)
        tenon_out_safe(out, arch.data, arch.len);
    else
        tenon_out_text(out, "unknown");
    if (p->arch != NULL)
        tenon_out_printf(out, " (%s)", p->arch->title);
    else if (arch.len > 0)
        tenon_out_text(out, " (a family without known names)");
    tenon_out_text(out, dialect_words[tenon_model_dialect(p->model)]);
    tenon_out_text(out, "\n");
}

static void write_sizes(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_out *out = &tool->out;
    char number[32];

    begin_line(tool, "Parameters");
    tenon_out_printf(out, "%s in ", tenon_out_count(number, p->all.parameters));
    tenon_out_printf(out, "%s tensor%s\n", tenon_out_grouped(number, p->all.tensors),
                     p->all.tensors == 1 ? "" : "s");
    if (p->h->layers >= 0 || p->h->hidden_size >= 0) {
        begin_line(tool, "Shape");
        if (p->h->layers >= 0)
            tenon_out_printf(out, "%lld layers", (long long)p->h->layers);
        else
            tenon_out_text(out, "layers unknown");
        add_known(out, "width", p->h->hidden_size);
        add_known(out, "heads", p->h->heads);
        add_known(out, "key heads", p->h->kv_heads);
        add_known(out, "head width", p->head_dim);
        tenon_out_text(out, "\n");
    }
}

static void write_vocabulary(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_out *out = &tool->out;
    char number[32];

    begin_line(tool, "Vocabulary");
    if (p->has_embed)
        tenon_out_printf(out, "%s rows", tenon_out_grouped(number, p->embed.rows));
    else
        tenon_out_text(out, "no input matrix");
    add_known(out, "config says", p->h->vocab_size);
    tenon_out_text(out, "\n");
    if (p->tokenizer->model.len == 0)
        return;
    begin_line(tool, "Tokenizer");
    tenon_out_safe(out, p->tokenizer->model.data, p->tokenizer->model.len);
    if (p->tokenizer->pre.len > 0) {
        tenon_out_text(out, " (");
        tenon_out_safe(out, p->tokenizer->pre.data, p->tokenizer->pre.len);
        tenon_out_text(out, ")");
    }
    add_known(out, "tokens", p->tokenizer->tokens);
    if (p->tokenizer->added > 0)
        add_known(out, "added", p->tokenizer->added);
    if (p->tokenizer->merges > 0)
        add_known(out, "merges", p->tokenizer->merges);
    tenon_out_text(out, "\n");
}

static void write_position(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_out *out = &tool->out;
    const struct position *pos = &p->position;
    char number[32];

    if (p->h->context_length >= 0) {
        begin_line(tool, "Context");
        tenon_out_printf(out, "%s tokens\n",
                         tenon_out_grouped(number, (uint64_t)p->h->context_length));
    }
    if (pos->kind == NULL)
        return;
    begin_line(tool, "Positions");
    tenon_out_text(out, pos->kind);
    if (pos->layout != NULL)
        tenon_out_printf(out, ", %s", pos->layout);
    if (!isnan(pos->theta))
        tenon_out_printf(out, ", theta %s", tenon_out_number(number, pos->theta, false));
    if (pos->other_layers > 0)
        tenon_out_printf(out, " (%s in %zu of %zu layers)",
                         tenon_out_number(number, pos->other_theta, false), pos->other_layers,
                         pos->layers);
    if (pos->rotary_dim > 0)
        tenon_out_printf(out, ", %lld values of each head", (long long)pos->rotary_dim);
    if (pos->scaling.len > 0) {
        tenon_out_text(out, ", scaling ");
        tenon_out_safe(out, pos->scaling.data, pos->scaling.len);
    }
    if (pos->max_positions != p->h->context_length)
        add_known(out, "at most", pos->max_positions);
    tenon_out_text(out, "\n");
}

static void write_tying(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_out *out = &tool->out;

    if (p->tying == NULL)
        return;
    begin_line(tool, "Tying");
    if (p->tying->verdict == TENON_VERDICT_NONE) {
        tenon_out_text(out, "both matrices are stored; 'tenon tied' compares them\n");
        return;
    }
    tenon_out_printf(out, "%s (%s): %s\n", p->tying->tied ? "tied" : "not tied",
                     tenon_verdict_name(p->tying->verdict),
                     tenon_verdict_meaning(p->tying->verdict));
    if (p->tying->consistent)
        return;
    begin_line(tool, "");
    tenon_out_printf(out, "%sdeclared is %s: 'tenon tied' says what loaders make of that%s\n",
                     tenon_term_style(&tool->term, TENON_STYLE_WARNING),
                     tristate_word(p->tying->declared),
                     tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
}

static void add_share_row(struct tenon_tool *tool, struct tenon_table *table, const char *name,
                          const struct share *share, uint64_t whole)
{
    char text[32], bar[4 * BAR + 1];

    if (share->tensors == 0)
        return;
    tenon_table_cell(table, "%s", name);
    tenon_table_cell(table, "%s", tenon_out_bytes(text, share->bytes));
    tenon_table_cell(table, "%.1f%%",
                     whole > 0 ? 100.0 * (double)share->bytes / (double)whole : 0.0);
    tenon_table_cell(table, "%s", tenon_term_bar(&tool->term, bar, share->bytes, whole, BAR));
    tenon_table_cell(table, "%zu tensor%s", share->tensors, share->tensors == 1 ? "" : "s");
}

/* Where the bytes are: by type, then by part, as bars of one scale. */
static void write_shares(struct tenon_tool *tool, const struct page *p)
{
    struct tenon_table table;
    uint64_t whole = p->all.bytes;

    if (p->all.tensors == 0)
        return;
    tenon_table_init(&table);
    for (int i = 0; i < 5; i++)
        tenon_table_column(&table, "", i == 1 || i == 2 || i == 4);
    for (size_t i = 0; i < TENON_DTYPE_END; i++)
        add_share_row(tool, &table, tenon_dtype_name((enum tenon_dtype)i), &p->by_dtype[i], whole);
    for (int i = 0; i < 5; i++)
        tenon_table_cell(&table, "%s", "");
    for (size_t i = 0; i < N_PARTS; i++)
        add_share_row(tool, &table, parts[i].name, &p->by_part[i], whole);
    add_share_row(tool, &table, "other", &p->by_part[OTHER_PART], whole);
    tenon_out_text(&tool->out, "\n");
    tenon_table_print(&table, &tool->out, &tool->term, 0);
    tenon_table_release(&table);
}

static void write_files(struct tenon_tool *tool, const struct page *p)
{
    char size[32];

    tenon_out_text(&tool->out, "\n");
    for (size_t i = 0; i < tenon_model_n_files(p->model); i++) {
        const struct tenon_file *f = tenon_model_file(p->model, i);

        begin_line(tool, i == 0 ? "Files" : "");
        tenon_out_safe(&tool->out, f->path, strlen(f->path));
        tenon_out_printf(&tool->out, ", %s, header %llu, alignment %llu\n",
                         tenon_out_bytes(size, f->bytes), (unsigned long long)f->header_bytes,
                         (unsigned long long)f->alignment);
    }
}

static void write_findings(struct tenon_tool *tool, const struct page *p)
{
    size_t serious = p->findings[TENON_SEVERITY_ERROR] + p->findings[TENON_SEVERITY_WARNING];

    if (serious + p->findings[TENON_SEVERITY_INFO] == 0)
        return;
    tenon_out_text(&tool->out, "\n");
    begin_line(tool, "Findings");
    tenon_out_printf(
        &tool->out, "%zu error%s, %zu warning%s, %zu remark%s; see 'tenon check%s'\n",
        p->findings[TENON_SEVERITY_ERROR], p->findings[TENON_SEVERITY_ERROR] == 1 ? "" : "s",
        p->findings[TENON_SEVERITY_WARNING], p->findings[TENON_SEVERITY_WARNING] == 1 ? "" : "s",
        p->findings[TENON_SEVERITY_INFO], p->findings[TENON_SEVERITY_INFO] == 1 ? "" : "s",
        serious == 0 ? " -v" : "");
}

static void write_text(struct tenon_tool *tool, const struct page *p)
{
    write_title(tool, p);
    write_names(tool, p);
    write_sizes(tool, p);
    write_vocabulary(tool, p);
    write_position(tool, p);
    write_tying(tool, p);
    write_shares(tool, p);
    if (tool->common.verbose)
        write_files(tool, p);
    write_findings(tool, p);
}

static int run(struct tenon_tool *tool)
{
    struct tenon_error err = {0};
    struct tenon_model *model = NULL;
    struct page page = {0};
    enum tenon_status st = tenon_tool_open(tool, 0, &model, &err);

    page.model = model;
    if (st == TENON_OK)
        st = fill_page(tool, &page, &err);
    if (st == TENON_OK && tool->common.json)
        write_json(tool, &page);
    else if (st == TENON_OK)
        write_text(tool, &page);
    tenon_tying_free(page.tying);
    tenon_model_free(model);
    return st == TENON_OK ? TENON_EXIT_YES : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon info model.gguf", "the page"},
    {"tenon info --json models/llama | jq .vocab", "widths of the vocabulary, for a script"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_info = {
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Shows one page: what the model is, its architecture, parameters, vocabulary and "
             "widths, context, positions, tying, tokenizer, and where its bytes are.\n"
             "A MODEL is a file recognised by its content, one file of a split set (the whole set "
             "is opened), or a folder in the Hugging Face layout. --verbose adds the files.",
    .examples = examples,
    .run = run,
};
