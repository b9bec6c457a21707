/* Storing the matrix of a tied model once. */
#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "plan_tie_case.h"
#include "tenon/encode.h"
#include "text.h"
#include "tie_rows.h"
#include "tying_case.h"

static const char format_key[] = "format";

/* A tie that is being planned. */
struct tie {
    struct tenon_tie_case c;
    const struct tenon_tie_options *options;
    enum tenon_keep keep; /* decided: never BEST */
    /* The name that remains, and the one that goes. */
    const struct tenon_tensor *name, *gone;
};

void tenon_tie_options_init(struct tenon_tie_options *options)
{
    *options = (struct tenon_tie_options){.keep = TENON_KEEP_BEST};
}

/* --- whose values --- */

/* Bits that an element takes. */
static double bits_of(const struct tenon_tensor *t)
{
    const struct tenon_dtype_info *info = tenon_dtype_info((enum tenon_dtype)t->dtype);

    if (info == NULL || info->block_elements == 0)
        return 0;
    return 8.0 * info->block_bytes / info->block_elements;
}

/* The wider copy; of two as wide F16, which rounds finer than BF16; else the input. */
static enum tenon_keep better(const struct tenon_tensor *in, const struct tenon_tensor *out)
{
    double a = bits_of(in), b = bits_of(out);

    if (a != b)
        return a > b ? TENON_KEEP_INPUT : TENON_KEEP_OUTPUT;
    return in->dtype == TENON_DTYPE_BF16 && out->dtype == TENON_DTYPE_F16 ? TENON_KEEP_OUTPUT
                                                                          : TENON_KEEP_INPUT;
}

/* Whose values remain. */
static const char *kept_words(enum tenon_keep keep)
{
    return keep == TENON_KEEP_INPUT    ? "those of the input"
           : keep == TENON_KEEP_OUTPUT ? "those of the output"
                                       : "the mean of both";
}

/* What is known about the difference, for people. */
static enum tenon_status add_loss(struct tie *t, const char *code, const char *option, bool allowed,
                                  struct tenon_error *err)
{
    const struct tenon_tying *tying = t->c.tying;
    const struct tenon_evidence *e = &tying->evidence;
    const struct tenon_tensor *lost = t->keep == TENON_KEEP_OUTPUT ? tying->input : tying->output;

    return tenon_plan_add_loss(t->c.mirror.plan, code, lost->name, option, allowed, err,
                               "its values give way to %s (%s: %" PRIu64 " of %" PRIu64
                               " rows equal, at most %.6g apart)",
                               kept_words(t->keep), tenon_verdict_name(tying->verdict),
                               e->equal_rows, e->rows, e->valid ? e->max_abs_diff : 0.0);
}

/* Two copies that differ by rounding: the less precise one goes, unless the user wants it. */
static enum tenon_status choose_rounded(struct tie *t, struct tenon_error *err)
{
    enum tenon_keep best = better(t->c.tying->input, t->c.tying->output);

    t->keep = t->options->keep == TENON_KEEP_BEST ? best : t->options->keep;
    if (t->keep == best)
        return add_loss(t, "rounding", NULL, true, err);
    return add_loss(t, "precision", "--lossy", t->options->lossy, err);
}

static enum tenon_status choose_lossy(struct tie *t, struct tenon_error *err)
{
    const struct tenon_tying *tying = t->c.tying;

    if (!t->options->lossy) {
        tenon_tie_refuse(&t->c, err, "the output is not the input (%s): %s",
                         tenon_verdict_name(tying->verdict), tenon_verdict_meaning(tying->verdict));
        tenon_fail_hint(err, "'--lossy --keep input' (or output, or mean) ties it all the same");
        return TENON_ERR_CANNOT_REPRESENT;
    }
    if (t->options->keep == TENON_KEEP_BEST)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "--lossy needs to know whose values to keep: --keep input, output or "
                          "mean");
    t->keep = t->options->keep;
    return add_loss(t, "values", "--lossy", true, err);
}

static const char *first_note(const struct tenon_tying *tying)
{
    return tying->n_notes > 0 ? tying->notes[0] : tenon_verdict_meaning(tying->verdict);
}

static enum tenon_status choose(struct tie *t, struct tenon_error *err)
{
    const struct tenon_tying *tying = t->c.tying;

    switch (tying->verdict) {
    case TENON_VERDICT_ABSENT:
        return TENON_OK;
    case TENON_VERDICT_SHARED:
    case TENON_VERDICT_IDENTICAL:
        t->keep = TENON_KEEP_INPUT; /* or the output: it is the same */
        return TENON_OK;
    case TENON_VERDICT_EQUAL:
        t->keep = t->options->keep == TENON_KEEP_INPUT || t->options->keep == TENON_KEEP_OUTPUT
                      ? t->options->keep
                      : better(tying->input, tying->output);
        return TENON_OK;
    case TENON_VERDICT_QUANTIZED:
        return choose_rounded(t, err);
    case TENON_VERDICT_SCALED:
    case TENON_VERDICT_PARTIAL:
    case TENON_VERDICT_DIFFERENT:
        return choose_lossy(t, err);
    case TENON_VERDICT_NONE:
    case TENON_VERDICT_INCOMPATIBLE:
    case TENON_VERDICT_HEADLESS:
    case TENON_VERDICT_MISSING:
        break;
    }
    return tenon_tie_refuse(&t->c, err, "cannot be tied (%s): %s",
                            tenon_verdict_name(tying->verdict), first_note(tying));
}

/* --- what the family allows --- */

static enum tenon_status check_gguf(const struct tie *t, struct tenon_error *err)
{
    const struct tenon_arch *arch = t->c.arch;
    enum tenon_gguf_head head = arch != NULL ? arch->gguf_head : TENON_GGUF_HEAD_UNKNOWN;

    if (head == TENON_GGUF_HEAD_REQUIRED || head == TENON_GGUF_HEAD_NONE)
        return tenon_tie_deny(&t->c, err,
                              "llama.cpp wants the output matrix of this architecture stored");
    if (head == TENON_GGUF_HEAD_UNKNOWN)
        return tenon_tie_deny(&t->c, err,
                              "it is not known whether the loader of this architecture "
                              "does without an output matrix");
    return TENON_OK;
}

static enum tenon_status check_family(const struct tie *t, struct tenon_error *err)
{
    const struct tenon_arch *arch = t->c.arch;

    if (t->c.gguf)
        return check_gguf(t, err);
    if (arch != NULL && (arch->tie_v4 == TENON_TIE_NEVER || arch->tie_v5 == TENON_TIE_NEVER))
        return tenon_tie_deny(&t->c, err,
                              "this family cannot be tied: its class refuses or ignores the flag");
    return TENON_OK;
}

/* --- which name remains --- */

/* The mark that an untie left in a file, or NULL. */
static const struct tenon_meta_entry *find_mark(const struct tenon_mirror_file *file)
{
    static const char key[] = TENON_UNTIED_KEY;
    size_t i = tenon_mirror_find_meta(file, tenon_str_of(key, sizeof(key) - 1));

    return i < file->n_metas && file->metas[i].type == TENON_META_STRING ? &file->metas[i] : NULL;
}

static bool is_named(const struct tenon_tensor *t, struct tenon_str name)
{
    return t->name.len == name.len && memcmp(t->name.data, name.data, name.len) == 0;
}

static bool is_marked(const struct tenon_tensor *t, const struct tenon_meta_entry *mark)
{
    return mark != NULL && tenon_tie_is_word(mark->value.as.str, t->name.data, t->name.len);
}

/* Whether it is the input's name that goes: the family wants the other, or it was not there before
 * an untie, or the metadata say that it is the one left out. */
static bool input_goes(const struct tie *t)
{
    const struct tenon_tensor *in = t->c.tying->input, *out = t->c.tying->output;
    struct tenon_str record = tenon_tie_record(&t->c, out);
    const struct tenon_meta_entry *mark = find_mark(&t->c.mirror.files[in->file]);

    if (t->c.gguf)
        return t->c.arch != NULL && t->c.arch->gguf_head == TENON_GGUF_HEAD_REVERSED;
    if (is_marked(in, mark))
        return true;
    return record.len > 0 && is_named(in, record);
}

/* --- metadata --- */

/* Takes the mark away, and the `format` that came with it where there was nothing before. */
static bool remove_mark(struct tenon_mirror_file *file)
{
    const struct tenon_meta_entry *mark = find_mark(file);
    size_t i = mark != NULL ? (size_t)(mark - file->metas) : file->n_metas;

    if (mark == NULL)
        return false;
    tenon_mirror_remove_meta(file, i);
    if (i == 0 && file->n_metas == 1 && tenon_str_equal(file->metas[0].key, format_key))
        tenon_mirror_remove_meta(file, 0);
    return true;
}

/* Notes that one name is another of the other, as the writers of safetensors files do; and what
 * transformers asks of metadata where there is any. */
static enum tenon_status add_record(struct tie *t, struct tenon_error *err)
{
    struct tenon_mirror_file *file = &t->c.mirror.files[t->name->file];
    struct tenon_meta_entry record = tenon_mirror_text(t->gone->name, t->name->name);
    struct tenon_meta_entry format =
        tenon_mirror_text(tenon_str_of(format_key, sizeof(format_key) - 1), tenon_str_of("pt", 2));
    enum tenon_status st = TENON_OK;

    if (tenon_mirror_find_meta(file, record.key) < file->n_metas)
        return TENON_OK;
    if (file->n_metas == 0)
        st = tenon_mirror_insert_meta(file, 0, &format, err);
    return st == TENON_OK ? tenon_mirror_insert_meta(file, file->n_metas, &record, err) : st;
}

static enum tenon_status say_tied(struct tie *t, struct tenon_error *err)
{
    bool marked = false, changed;
    enum tenon_status st;

    for (size_t i = 0; !t->c.gguf && i < t->c.mirror.n_files; i++)
        marked = remove_mark(&t->c.mirror.files[i]) || marked;
    st = tenon_tie_turn_records(&t->c, true, err);
    if (st == TENON_OK)
        st = tenon_tie_set_flags(&t->c, true, &changed, err);
    if (st == TENON_OK && !marked && tenon_tie_needs_record(&t->c))
        st = add_record(t, err);
    return st;
}

/* --- tensors --- */

static bool same_shape(const struct tenon_tensor *a, const struct tenon_tensor *b)
{
    return a->n_dims == b->n_dims &&
           (a->n_dims == 0 || memcmp(a->dims, b->dims, a->n_dims * sizeof(*a->dims)) == 0);
}

static bool is_transposed(const struct tenon_tensor *a, const struct tenon_tensor *b)
{
    return a->n_dims == 2 && b->n_dims == 2 && a->dims[0] == b->dims[1] &&
           a->dims[1] == b->dims[0] && a->dims[0] != a->dims[1];
}

/* The mean of both, in the dtype of what remains. */
static enum tenon_status put_mean(struct tie *t, struct tenon_tie_change *change,
                                  const struct tenon_tensor *place, struct tenon_error *err)
{
    const struct tenon_tensor *in = t->c.tying->input, *out = t->c.tying->output;
    enum tenon_status st;

    if (!same_shape(in, out))
        return tenon_tie_refuse(&t->c, err, "matrices of different shapes have no mean");
    if (in->scale != TENON_NO_INDEX || out->scale != TENON_NO_INDEX)
        return tenon_tie_refuse(&t->c, err, "the mean of codes with scales cannot be stored");
    st = tenon_values_encode((enum tenon_dtype)in->dtype, NULL, 0, NULL, err);
    if (st != TENON_OK)
        return st;
    st = tenon_tie_put(&t->c, change, place->name, in, err);
    if (st != TENON_OK)
        return st;
    change->sources[0][1] = change->sources[0][0];
    change->sources[0][1].tensor = out;
    change->puts[0].n_sources = 2;
    change->puts[0].combine = TENON_COMBINE_MEAN;
    return TENON_OK;
}

/* Turns what was put into the orientation of `place`. */
static enum tenon_status turn(struct tie *t, struct tenon_tie_change *change,
                              const struct tenon_tensor *place, struct tenon_error *err)
{
    static const struct tenon_step transpose = {.kind = TENON_STEP_TRANSPOSE};

    if (change->n_puts != 1)
        return tenon_tie_refuse(&t->c, err, "codes with scales cannot be transposed");
    change->puts[0].dims = place->dims;
    change->puts[0].steps = &transpose;
    change->puts[0].n_steps = 1;
    return TENON_OK;
}

/* The chosen values in the place of `place`, under its name. */
static enum tenon_status put_values(struct tie *t, const struct tenon_tensor *place,
                                    struct tenon_error *err)
{
    const struct tenon_tensor *from =
        t->keep == TENON_KEEP_OUTPUT ? t->c.tying->output : t->c.tying->input;
    struct tenon_tie_change *change = NULL;
    enum tenon_status st = TENON_OK;

    if (from == place && t->keep != TENON_KEEP_MEAN)
        return TENON_OK; /* copied as it is */
    st = tenon_tie_change(&t->c, place, &change, err);
    if (st == TENON_OK && t->keep == TENON_KEEP_MEAN)
        return put_mean(t, change, place, err);
    if (st == TENON_OK)
        st = tenon_tie_put(&t->c, change, place->name, from, err);
    if (st == TENON_OK && is_transposed(from, place))
        st = turn(t, change, place, err);
    return st;
}

/* The copies of the input that an encoder-decoder stores besides get the same values. */
static enum tenon_status put_copies(struct tie *t, struct tenon_error *err)
{
    static const enum tenon_part parts[] = {TENON_PART_MAIN, TENON_PART_ENCODER,
                                            TENON_PART_DECODER};
    const struct tenon_tensor *in = t->c.tying->input;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct tenon_tensor *copy =
            tenon_model_find_role(t->c.model, TENON_ROLE_TOKEN_EMBD, parts[i], false);
        bool same = false;

        if (copy == NULL || copy == in || copy->dtype != in->dtype || !same_shape(copy, in))
            continue;
        st = tenon_tying_same_bytes(t->c.model, in, copy, &same, err);
        if (st == TENON_OK && same)
            st = put_values(t, copy, err);
    }
    return st;
}

static enum tenon_status drop(struct tie *t, struct tenon_error *err)
{
    struct tenon_tie_change *change;
    enum tenon_status st = tenon_tie_change(&t->c, t->gone, &change, err);

    if (st != TENON_OK)
        return st;
    return tenon_plan_add_note(
        t->c.mirror.plan, err, "'%s' goes, '%s' remains; its values are %s (%s)",
        tenon_tie_name(&t->c, t->gone->name), tenon_tie_name(&t->c, t->name->name),
        kept_words(t->keep), tenon_verdict_name(t->c.tying->verdict));
}

/* One of the further copies that an untie made goes, unless something was done to it since. */
static enum tenon_status drop_copy(struct tie *t, const struct tenon_tie_copy *copy,
                                   struct tenon_error *err)
{
    struct tenon_plan *plan = t->c.mirror.plan;
    struct tenon_tie_change *change = NULL;
    bool same = false;
    enum tenon_status st = TENON_OK;

    if (copy->copy->dtype == copy->from->dtype && same_shape(copy->copy, copy->from))
        st = tenon_tying_same_bytes(t->c.model, copy->from, copy->copy, &same, err);
    if (st == TENON_OK && !same)
        return tenon_plan_add_note(plan, err, "'%s' is no copy of '%s' any more: it remains",
                                   copy->name, tenon_tie_name(&t->c, copy->from->name));
    if (st == TENON_OK)
        st = tenon_tie_change(&t->c, copy->copy, &change, err);
    if (st != TENON_OK)
        return st;
    change->n_puts = 0;
    return tenon_plan_add_note(plan, err, "'%s' goes, '%s' remains", copy->name,
                               tenon_tie_name(&t->c, copy->from->name));
}

static enum tenon_status drop_copies(struct tie *t, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t f = 0; st == TENON_OK && !t->c.gguf && f < t->c.mirror.n_files; f++) {
        const struct tenon_meta_entry *mark = find_mark(&t->c.mirror.files[f]);
        struct tenon_tie_copy copies[TENON_TIE_COPIES];
        size_t n = 0;

        if (mark != NULL)
            n = tenon_tie_stored(t->c.model, t->c.arch, mark->value.as.str, copies,
                                 TENON_TIE_COPIES);
        for (size_t i = 0; st == TENON_OK && i < n; i++)
            if (copies[i].copy != t->name && copies[i].copy != t->gone)
                st = drop_copy(t, &copies[i], err);
    }
    return st;
}

static enum tenon_status plan_pair(struct tie *t, struct tenon_error *err)
{
    const struct tenon_tying *tying = t->c.tying;
    bool swap = input_goes(t);
    enum tenon_status st = check_family(t, err);

    t->name = swap ? tying->output : tying->input;
    t->gone = swap ? tying->input : tying->output;
    if (st == TENON_OK && tying->verdict == TENON_VERDICT_IDENTICAL && swap)
        t->keep = TENON_KEEP_OUTPUT;
    if (st == TENON_OK)
        st = put_values(t, t->name, err);
    if (st == TENON_OK && !swap && t->keep != TENON_KEEP_INPUT)
        st = put_copies(t, err);
    if (st == TENON_OK)
        st = drop(t, err);
    if (st == TENON_OK)
        st = drop_copies(t, err);
    return st == TENON_OK ? say_tied(t, err) : st;
}

/* Tied already; but a config that denies it is put right. */
static enum tenon_status plan_tied(struct tie *t, struct tenon_error *err)
{
    struct tenon_plan *plan = t->c.mirror.plan;
    bool changed = false;
    enum tenon_status st = TENON_OK;

    if (t->c.tying->declared == TENON_NO)
        st = tenon_tie_set_flags(&t->c, true, &changed, err);
    plan->empty = !changed;
    if (st == TENON_OK && !changed)
        st = tenon_plan_add_note(plan, err, "the model is tied already (%s): nothing changes",
                                 tenon_verdict_name(t->c.tying->verdict));
    return st;
}

enum tenon_status tenon_plan_tie(const struct tenon_model *model, const char *target,
                                 const struct tenon_tie_options *options,
                                 struct tenon_plan **out_plan, struct tenon_error *err)
{
    struct tenon_tie_options defaults;
    struct tie t = {.options = options != NULL ? options : &defaults};
    enum tenon_status st;

    tenon_tie_options_init(&defaults);
    t.c.force = t.options->force;
    st = tenon_tie_begin(&t.c, model, target, t.options->threads, err);
    if (st == TENON_OK)
        st = choose(&t, err);
    if (st == TENON_OK)
        st = t.c.tying->verdict == TENON_VERDICT_ABSENT ? plan_tied(&t, err) : plan_pair(&t, err);
    if (st == TENON_OK)
        st = tenon_tie_write(&t.c, err);
    if (st == TENON_OK) {
        *out_plan = t.c.mirror.plan;
        t.c.mirror.plan = NULL;
    }
    tenon_tie_release(&t.c);
    return st;
}
