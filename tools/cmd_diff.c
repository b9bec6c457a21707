/* tenon diff: compare two models. */

#include "meta_json.h"
#include "meta_out.h"
#include "tenon/diff.h"
#include "tool.h"

struct options {
    double tolerance;
};

static const struct tenon_opt options[] = {
    {.name = "tolerance",
     .kind = TENON_OPT_REAL,
     .field = offsetof(struct options, tolerance),
     .value = "ABS",
     .help = "values at most this far apart count as equal (default: 0)"},
};

/* Both models and what came out. */
struct answer {
    struct tenon_model *a, *b;
    struct tenon_diff *diff;
};

/* Pairs that differ in anything: bytes, type, shape or values. */
static bool is_changed(const struct tenon_diff_pair *p)
{
    return !p->equal_bytes || !p->equal_values || !p->equal_dtype || !p->equal_shape;
}

static void write_json_names(struct tenon_json *json, const char *key,
                             const struct tenon_model *model, const uint32_t *list, size_t n)
{
    tenon_json_array(json, key);
    for (size_t i = 0; i < n; i++)
        tenon_json_str(json, NULL, tenon_model_tensor(model, list[i])->name);
    tenon_json_end(json);
}

static void write_json_pair(struct tenon_json *json, const struct answer *r,
                            const struct tenon_diff_pair *p)
{
    const struct tenon_tensor *a = tenon_model_tensor(r->a, p->a);
    const struct tenon_tensor *b = tenon_model_tensor(r->b, p->b);

    tenon_json_object(json, NULL);
    tenon_json_str(json, "a", a->name);
    tenon_json_str(json, "b", b->name);
    tenon_tool_dtype_json(json, "dtype_a", r->a, a);
    tenon_tool_dtype_json(json, "dtype_b", r->b, b);
    tenon_tool_shape_json(json, "shape_a", a);
    tenon_tool_shape_json(json, "shape_b", b);
    tenon_json_text(json, "conversion", tenon_diff_change_name(p->change));
    tenon_json_bool(json, "equal_bytes", p->equal_bytes);
    tenon_json_bool(json, "equal_values", p->equal_values);
    if (p->compared) {
        tenon_json_f64(json, "max_abs", p->max_abs);
        tenon_json_f64(json, "rel_l2", p->rel_l2);
        tenon_json_f64(json, "cosine", p->cosine);
        tenon_json_u64(json, "rows_differing", p->rows_differing);
    } else {
        static const char *const keys[] = {"max_abs", "rel_l2", "cosine", "rows_differing"};

        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tenon_json_null(json, keys[i]);
    }
    tenon_json_end(json);
}

/* Of arrays. */
enum { SHOWN_ELEMENTS = 8 };

/* What the two sides say of a key; NULL: nothing. */
static void write_json_value(struct tenon_json *json, const struct tenon_meta_entry *a,
                             const struct tenon_meta_entry *b)
{
    tenon_json_object(json, NULL);
    tenon_json_str(json, "key", (a != NULL ? a : b)->key);
    if (a != NULL)
        tenon_meta_json(json, "a", a, SHOWN_ELEMENTS);
    else
        tenon_json_null(json, "a");
    if (b != NULL)
        tenon_meta_json(json, "b", b, SHOWN_ELEMENTS);
    else
        tenon_json_null(json, "b");
    tenon_json_end(json);
}

static void write_json_values(struct tenon_json *json, const struct answer *r)
{
    const struct tenon_diff *d = r->diff;

    tenon_json_array(json, "values");
    for (size_t i = 0; i < d->n_meta_only_a; i++)
        write_json_value(json, tenon_model_meta(r->a, d->meta_only_a[i]), NULL);
    for (size_t i = 0; i < d->n_meta_only_b; i++)
        write_json_value(json, NULL, tenon_model_meta(r->b, d->meta_only_b[i]));
    for (size_t i = 0; i < d->n_meta_changed; i++)
        write_json_value(json, tenon_model_meta(r->a, d->meta_changed[2 * i]),
                         tenon_model_meta(r->b, d->meta_changed[2 * i + 1]));
    tenon_json_end(json);
}

static void write_json_meta(struct tenon_json *json, const struct answer *r)
{
    const struct tenon_diff *d = r->diff;

    tenon_json_object(json, "metadata");
    tenon_json_array(json, "only_a");
    for (size_t i = 0; i < d->n_meta_only_a; i++)
        tenon_json_str(json, NULL, tenon_model_meta(r->a, d->meta_only_a[i])->key);
    tenon_json_end(json);
    tenon_json_array(json, "only_b");
    for (size_t i = 0; i < d->n_meta_only_b; i++)
        tenon_json_str(json, NULL, tenon_model_meta(r->b, d->meta_only_b[i])->key);
    tenon_json_end(json);
    tenon_json_array(json, "changed");
    for (size_t i = 0; i < d->n_meta_changed; i++)
        tenon_json_str(json, NULL, tenon_model_meta(r->a, d->meta_changed[2 * i])->key);
    tenon_json_end(json);
    write_json_values(json, r);
    tenon_json_end(json);
}

static void write_json(struct tenon_tool *tool, const struct answer *r)
{
    const struct tenon_diff *d = r->diff;
    struct tenon_json json = {.out = &tool->out};

    tenon_json_document(&json, "tenon.diff/1");
    write_json_names(&json, "only_a", r->a, d->only_a, d->n_only_a);
    write_json_names(&json, "only_b", r->b, d->only_b, d->n_only_b);
    tenon_json_array(&json, "changed");
    for (size_t i = 0; i < d->n_pairs; i++)
        if (is_changed(&d->pairs[i]))
            write_json_pair(&json, r, &d->pairs[i]);
    tenon_json_end(&json);
    write_json_meta(&json, r);
    tenon_json_bool(&json, "same", d->same);
    tenon_json_end(&json);
}

/* --- text --- */

/* "- name" for what only A has, "+ name" for what only B has. */
static void write_line(struct tenon_tool *tool, enum tenon_style style, const char *mark,
                       struct tenon_str text)
{
    tenon_out_printf(&tool->out, "%s%s ", tenon_term_style(&tool->term, style), mark);
    tenon_out_safe(&tool->out, text.data, text.len);
    tenon_out_printf(&tool->out, "%s\n", tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
}

/* How much of metadata values is shown. */
static const struct tenon_meta_shown brief = {4, 48};

/* The key with the value of one side, or of both. */
static void write_key(struct tenon_tool *tool, enum tenon_style style, const char *mark,
                      const struct tenon_meta_entry *entry, const struct tenon_meta_entry *other)
{
    tenon_out_printf(&tool->out, "%s%s key ", tenon_term_style(&tool->term, style), mark);
    tenon_out_safe(&tool->out, entry->key.data, entry->key.len);
    tenon_out_printf(&tool->out, "%s: ", tenon_term_style(&tool->term, TENON_STYLE_PLAIN));
    if (other != NULL)
        tenon_meta_out_change(&tool->out, entry, other, &brief);
    else
        tenon_meta_out_value(&tool->out, entry, &brief);
    tenon_out_text(&tool->out, "\n");
}

static void write_missing(struct tenon_tool *tool, const struct answer *r)
{
    const struct tenon_diff *d = r->diff;

    for (size_t i = 0; i < d->n_only_a; i++)
        write_line(tool, TENON_STYLE_BAD, "-", tenon_model_tensor(r->a, d->only_a[i])->name);
    for (size_t i = 0; i < d->n_only_b; i++)
        write_line(tool, TENON_STYLE_GOOD, "+", tenon_model_tensor(r->b, d->only_b[i])->name);
    for (size_t i = 0; i < d->n_meta_only_a; i++)
        write_key(tool, TENON_STYLE_BAD, "-", tenon_model_meta(r->a, d->meta_only_a[i]), NULL);
    for (size_t i = 0; i < d->n_meta_only_b; i++)
        write_key(tool, TENON_STYLE_GOOD, "+", tenon_model_meta(r->b, d->meta_only_b[i]), NULL);
    for (size_t i = 0; i < d->n_meta_changed; i++)
        write_key(tool, TENON_STYLE_WARNING, "!", tenon_model_meta(r->a, d->meta_changed[2 * i]),
                  tenon_model_meta(r->b, d->meta_changed[2 * i + 1]));
}

static void add_pair(struct tenon_table *table, const struct answer *r,
                     const struct tenon_diff_pair *p)
{
    const struct tenon_tensor *a = tenon_model_tensor(r->a, p->a);
    const struct tenon_tensor *b = tenon_model_tensor(r->b, p->b);

    tenon_table_cell(table, "%s", p->equal_values ? "=" : "!");
    tenon_table_safe(table, a->name.data, a->name.len);
    tenon_tool_dtype_cell(table, r->a, a);
    tenon_tool_dtype_cell(table, r->b, b);
    if (!p->compared) {
        tenon_table_cell(table, "%s", p->equal_shape ? "values unknown" : "shapes differ");
        for (int i = 0; i < 3; i++)
            tenon_table_cell(table, "%s", "");
        return;
    }
    tenon_table_cell(table, "%.6g", tenon_out_real(p->max_abs));
    tenon_table_cell(table, "%.6g", tenon_out_real(p->rel_l2));
    tenon_table_cell(table, "%.9g", tenon_out_real(p->cosine));
    tenon_table_cell(table, "%llu of %llu", (unsigned long long)p->rows_differing,
                     (unsigned long long)p->rows);
}

static void write_pairs(struct tenon_tool *tool, const struct answer *r)
{
    struct tenon_table table;
    size_t shown = 0;

    tenon_table_init(&table);
    tenon_table_column(&table, "", false);
    tenon_table_column(&table, "NAME IN A", false);
    tenon_table_column(&table, "A", false);
    tenon_table_column(&table, "B", false);
    tenon_table_column(&table, "MAX ABS", true);
    tenon_table_column(&table, "REL L2", true);
    tenon_table_column(&table, "COSINE", true);
    tenon_table_column(&table, "ROWS", true);
    for (size_t i = 0; i < r->diff->n_pairs; i++) {
        const struct tenon_diff_pair *p = &r->diff->pairs[i];

        if (p->equal_values && !tool->common.verbose)
            continue;
        add_pair(&table, r, p);
        shown++;
    }
    if (shown > 0)
        tenon_table_print(&table, &tool->out, &tool->term, 0);
    tenon_table_release(&table);
}

static void write_sum(struct tenon_tool *tool, const struct answer *r)
{
    const struct tenon_diff *d = r->diff;
    size_t equal = 0, near = 0, stored_otherwise = 0;

    for (size_t i = 0; i < d->n_pairs; i++) {
        const struct tenon_diff_pair *p = &d->pairs[i];
        bool apart = p->equal_values && p->max_abs > 0;

        equal += p->equal_values;
        near += apart;
        stored_otherwise += p->equal_values && !apart && is_changed(p);
    }
    tenon_out_printf(
        &tool->out, "%s%s%s: %zu of %zu corresponding tensors have equal values",
        tenon_term_style(&tool->term, d->same ? TENON_STYLE_GOOD : TENON_STYLE_WARNING),
        d->same ? "same" : "different", tenon_term_style(&tool->term, TENON_STYLE_PLAIN), equal,
        d->n_pairs);
    if (near > 0)
        tenon_out_printf(&tool->out, " (%zu only within the tolerance)", near);
    if (stored_otherwise > 0)
        tenon_out_printf(&tool->out, " (%zu stored in another way)", stored_otherwise);
    if (d->n_only_a + d->n_only_b > 0)
        tenon_out_printf(&tool->out, ", %zu only in A, %zu only in B", d->n_only_a, d->n_only_b);
    if (!d->meta_compared)
        tenon_out_text(&tool->out, "; metadata of different formats not compared");
    else if (d->n_meta_only_a + d->n_meta_only_b + d->n_meta_changed > 0)
        tenon_out_printf(&tool->out, "; metadata: %zu only in A, %zu only in B, %zu changed",
                         d->n_meta_only_a, d->n_meta_only_b, d->n_meta_changed);
    tenon_out_text(&tool->out, "\n");
}

static int run(struct tenon_tool *tool)
{
    const struct options *o = tool->options;
    struct tenon_diff_options diff_options;
    struct tenon_progress progress;
    struct tenon_error err = {0};
    struct answer r = {0};
    int status = TENON_EXIT_NO;
    enum tenon_status st = tenon_tool_open(tool, 0, &r.a, &err);

    if (st == TENON_OK)
        st = tenon_tool_open(tool, 1, &r.b, &err);
    if (st == TENON_OK) {
        tenon_progress_init(&progress, "comparing", tool->common.quiet);
        tenon_diff_options_init(&diff_options);
        diff_options.threads = (unsigned)tool->common.threads;
        diff_options.tolerance = o->tolerance;
        diff_options.progress = tenon_progress_show;
        diff_options.user = &progress;
        st = tenon_diff_models(r.a, r.b, &diff_options, &r.diff, &err);
        tenon_progress_end(&progress);
    }
    if (st == TENON_OK && r.diff->same)
        status = TENON_EXIT_YES;
    if (st == TENON_OK && tool->common.json) {
        write_json(tool, &r);
    } else if (st == TENON_OK && !tool->common.quiet) {
        write_missing(tool, &r);
        write_pairs(tool, &r);
        write_sum(tool, &r);
    }
    tenon_diff_free(r.diff);
    tenon_model_free(r.a);
    tenon_model_free(r.b);
    return st == TENON_OK ? status : tenon_tool_fail(tool, &err);
}

static const struct tenon_example examples[] = {
    {"tenon diff model.gguf models/llama", "is the conversion faithful?"},
    {"tenon diff --tolerance 0.01 q8.gguf f16.gguf", "within a bound"},
    {NULL, NULL},
};

const struct tenon_command tenon_command_diff = {
    .operands = "A B",
    .min_operands = 2,
    .max_operands = 2,
    .about =
        "Compares two models tensor by tensor: those of one name, then those of one canonical "
        "role, "
        "so that a GGUF file can be compared with the folder it was made from. What a converter "
        "does between the two is undone first: rows permuted for rotary positions, ones added to "
        "norm weights, Conv1D matrices transposed, experts stacked.\n"
        "Values decide: tensors with equal values in other element types are the same. Metadata is "
        "compared between models of one format. --verbose lists equal tensors, too.",
    .no = "they differ",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .options_bytes = sizeof(struct options),
    .examples = examples,
    .run = run,
};
