/* Storing the matrix of a tied model twice. */
#include <string.h>

#include "fail.h"
#include "plan_tie_case.h"
#include "tenon/encode.h"
#include "tenon/logical.h"
#include "tie_rows.h"

static const char format_key[] = "format";
static const char mark_key[] = TENON_UNTIED_KEY;

/* The longest name that tenon_arch_tensor_name writes. */
enum { NAME_ROOM = 128 };

/* An untie that is being planned. */
struct untie {
    struct tenon_tie_case c;
    const struct tenon_untie_options *options;
    const struct tenon_tensor *stored; /* the one there is */
    struct tenon_str added;            /* the name of the other; empty when it is stored */
    char name[NAME_ROOM];
    struct tenon_tie_copy copies[TENON_TIE_COPIES]; /* what else has to be stored twice now */
    size_t n_copies;
};

void tenon_untie_options_init(struct tenon_untie_options *options)
{
    *options = (struct tenon_untie_options){.dtype = TENON_DTYPE_UNKNOWN};
}

/* --- what the family allows --- */

static enum tenon_status check_gguf(const struct untie *u, struct tenon_error *err)
{
    enum tenon_gguf_head head = u->c.arch != NULL ? u->c.arch->gguf_head : TENON_GGUF_HEAD_UNKNOWN;

    if (head == TENON_GGUF_HEAD_TIED)
        return tenon_tie_deny(&u->c, err,
                              "llama.cpp always uses the input matrix again in this architecture, "
                              "and refuses a file with an 'output.weight'");
    if (head == TENON_GGUF_HEAD_NONE)
        return tenon_tie_deny(&u->c, err, "this architecture has no output matrix");
    if (head == TENON_GGUF_HEAD_UNKNOWN)
        return tenon_tie_deny(&u->c, err,
                              "it is not known whether the loader of this architecture "
                              "takes an output matrix");
    return TENON_OK;
}

static enum tenon_status check_family(const struct untie *u, struct tenon_error *err)
{
    const struct tenon_arch *arch = u->c.arch;

    if (u->c.gguf)
        return check_gguf(u, err);
    if (arch != NULL && arch->tie_v5 == TENON_TIE_ALWAYS)
        return tenon_tie_deny(&u->c, err,
                              "transformers always ties this family: the copy would "
                              "be lost on loading");
    return TENON_OK;
}

/* --- the name of the other matrix --- */

static bool has_tensor(const struct untie *u, struct tenon_str name)
{
    return tenon_model_find(u->c.model, name.data, name.len) != NULL;
}

/* From the record of the writer that left it out, else from the family's table. */
static enum tenon_status choose_name(struct untie *u, struct tenon_error *err)
{
    bool adds_output = u->stored == u->c.tying->input;
    struct tenon_str record = tenon_tie_record(&u->c, u->stored);
    struct tenon_name_match match = {
        .role = adds_output ? TENON_ROLE_OUTPUT : TENON_ROLE_TOKEN_EMBD,
        .dialect = tenon_model_dialect(u->c.model),
        .layer = -1,
        .expert = -1,
    };

    if (match.dialect == TENON_DIALECT_NONE)
        match.dialect = u->c.gguf ? TENON_DIALECT_GGUF : TENON_DIALECT_HF;
    if (record.len > 0 && !has_tensor(u, record)) {
        u->added = record;
        return TENON_OK;
    }
    if (!tenon_arch_tensor_name(u->c.arch, &match, u->name, sizeof(u->name)))
        return tenon_tie_refuse(&u->c, err, "it is not known what this family calls its %s matrix",
                                adds_output ? "output" : "input");
    u->added = tenon_str_of(u->name, strlen(u->name));
    if (!has_tensor(u, u->added))
        return TENON_OK;
    tenon_fail(err, TENON_ERR_NAME_CLASH, TENON_NO_OFFSET, "the name is taken");
    tenon_fail_subject(err, "tensor", u->added.data, u->added.len);
    return TENON_ERR_NAME_CLASH;
}

/* --- what to write --- */

/* What transformers would otherwise start at random. */
static enum tenon_status add_copies(struct untie *u, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (!u->c.gguf)
        u->n_copies = tenon_tie_missing(u->c.model, u->c.arch, u->copies, TENON_TIE_COPIES);
    for (size_t i = 0; st == TENON_OK && i < u->n_copies; i++) {
        struct tenon_str name = tenon_str_of(u->copies[i].name, strlen(u->copies[i].name));
        struct tenon_tie_change *change = NULL;

        st = tenon_tie_add(&u->c, u->stored->file, &change, err);
        if (st == TENON_OK)
            st = tenon_tie_put(&u->c, change, name, u->copies[i].from, err);
        if (st == TENON_OK)
            st = tenon_plan_add_note(u->c.mirror.plan, err, "'%s' becomes a copy of '%s'",
                                     u->copies[i].name,
                                     tenon_tie_name(&u->c, u->copies[i].from->name));
    }
    return st;
}

/* The names that the mark holds. */
static enum tenon_status join_names(struct untie *u, struct tenon_str *out, struct tenon_error *err)
{
    size_t room = 1 + u->added.len;
    char *text;

    for (size_t i = 0; i < u->n_copies; i++)
        room += 1 + strlen(u->copies[i].name);
    text = tenon_arena_alloc(&u->c.mirror.plan->arena, room, 1);
    if (text == NULL)
        return tenon_fail_memory(err);
    *out = tenon_str_of(text, u->added.len);
    if (u->added.len > 0)
        memcpy(text, u->added.data, u->added.len);
    for (size_t i = 0; i < u->n_copies; i++) {
        size_t len = strlen(u->copies[i].name);

        if (out->len > 0)
            text[out->len++] = ' ';
        memcpy(text + out->len, u->copies[i].name, len);
        out->len += len;
    }
    return TENON_OK;
}

static bool needs_mark(const struct untie *u)
{
    if (u->c.gguf || u->n_copies > 0)
        return !u->c.gguf;
    return tenon_tie_record(&u->c, u->stored).len == 0 &&
           (u->stored != u->c.tying->input || tenon_tie_needs_record(&u->c));
}

/* Where tie would not find the way back by itself: an input that was not stored, a file that would
 * need a record, or copies of more than the matrix. */
static enum tenon_status add_mark(struct untie *u, struct tenon_error *err)
{
    struct tenon_mirror_file *file = &u->c.mirror.files[u->stored->file];
    struct tenon_meta_entry mark =
        tenon_mirror_text(tenon_str_of(mark_key, sizeof(mark_key) - 1), u->added);
    struct tenon_meta_entry format =
        tenon_mirror_text(tenon_str_of(format_key, sizeof(format_key) - 1), tenon_str_of("pt", 2));
    bool first = file->n_metas == 0;
    enum tenon_status st;

    if (!needs_mark(u))
        return TENON_OK;
    st = join_names(u, &mark.value.as.str, err);
    if (st == TENON_OK)
        st = tenon_mirror_insert_meta(file, file->n_metas, &mark, err);
    return st == TENON_OK && first ? tenon_mirror_insert_meta(file, 1, &format, err) : st;
}

/* The copy in another dtype. */
static enum tenon_status cast(struct untie *u, struct tenon_tie_change *change,
                              struct tenon_error *err)
{
    struct tenon_plan_tensor *t = &change->puts[0];
    struct tenon_logical values;
    enum tenon_status st;

    if (u->options->dtype == TENON_DTYPE_UNKNOWN ||
        (u->options->dtype == t->dtype && change->n_puts == 1))
        return TENON_OK;
    if (!tenon_logical_init(&values, u->c.model, u->stored))
        return tenon_tie_refuse(&u->c, err,
                                "its values cannot be read, so they have no other type");
    st = tenon_values_encode(u->options->dtype, NULL, 0, NULL, err);
    if (st != TENON_OK)
        return st;
    change->sources[0][0].logical = change->n_puts > 1;
    change->n_puts = 1; /* the scales are in the values now */
    t->dtype = u->options->dtype;
    t->dtype_raw = 0;
    return TENON_OK;
}

static enum tenon_status plan_copy(struct untie *u, struct tenon_error *err)
{
    struct tenon_tie_change *change = NULL;
    bool changed;
    enum tenon_status st = check_family(u, err);

    if (st == TENON_OK)
        st = choose_name(u, err);
    if (st == TENON_OK)
        st = tenon_tie_add(&u->c, u->stored->file, &change, err);
    if (st == TENON_OK && u->c.gguf)
        change->before = u->stored; /* the end of the file stays as it is, padded or not */
    if (st == TENON_OK)
        st = tenon_tie_put(&u->c, change, u->added, u->stored, err);
    if (st == TENON_OK)
        st = cast(u, change, err);
    if (st == TENON_OK)
        st = tenon_plan_add_note(u->c.mirror.plan, err, "'%s' becomes a copy of '%s'",
                                 tenon_tie_name(&u->c, u->added),
                                 tenon_tie_name(&u->c, u->stored->name));
    if (st == TENON_OK)
        st = add_copies(u, err);
    if (st == TENON_OK)
        st = add_mark(u, err);
    if (st == TENON_OK)
        st = tenon_tie_turn_records(&u->c, false, err);
    return st == TENON_OK ? tenon_tie_set_flags(&u->c, false, &changed, err) : st;
}

/* Both are stored: only what the config says can be wrong, or what else is tied be missing. */
static enum tenon_status plan_flags(struct untie *u, struct tenon_error *err)
{
    struct tenon_plan *plan = u->c.mirror.plan;
    bool changed = false;
    enum tenon_status st = TENON_OK;

    if (u->options->dtype != TENON_DTYPE_UNKNOWN)
        return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                          "both matrices are stored already: there is no copy to have a type");
    if (u->c.arch == NULL || u->c.arch->tie_v5 != TENON_TIE_ALWAYS)
        st = tenon_tie_set_flags(&u->c, false, &changed, err);
    if (st == TENON_OK)
        st = add_copies(u, err);
    if (st == TENON_OK && u->n_copies > 0)
        st = add_mark(u, err);
    plan->empty = !changed && u->n_copies == 0;
    if (st != TENON_OK || (u->n_copies > 0 && !changed))
        return st;
    return tenon_plan_add_note(plan, err,
                               changed
                                   ? "both matrices are stored already (%s): the config says so "
                                     "now"
                                   : "both matrices are stored already (%s): nothing changes",
                               tenon_verdict_name(u->c.tying->verdict));
}

static enum tenon_status plan(struct untie *u, struct tenon_error *err)
{
    const struct tenon_tying *tying = u->c.tying;

    u->stored = tying->input != NULL ? tying->input : tying->output;
    switch (tying->verdict) {
    case TENON_VERDICT_ABSENT:
        return plan_copy(u, err);
    case TENON_VERDICT_MISSING: {
        enum tenon_status st = tenon_tie_deny(
            &u->c, err, "one matrix is not stored, and nothing says that it is the other");

        return st == TENON_OK ? plan_copy(u, err) : st;
    }
    case TENON_VERDICT_SHARED:
    case TENON_VERDICT_IDENTICAL:
    case TENON_VERDICT_EQUAL:
    case TENON_VERDICT_QUANTIZED:
    case TENON_VERDICT_SCALED:
    case TENON_VERDICT_PARTIAL:
    case TENON_VERDICT_DIFFERENT:
        return plan_flags(u, err);
    case TENON_VERDICT_NONE:
    case TENON_VERDICT_INCOMPATIBLE:
    case TENON_VERDICT_HEADLESS:
        break;
    }
    if (tying->input != NULL && tying->output != NULL)
        return plan_flags(u, err);
    return tenon_tie_refuse(
        &u->c, err, "there is nothing to untie (%s): %s", tenon_verdict_name(tying->verdict),
        tying->n_notes > 0 ? tying->notes[0] : tenon_verdict_meaning(tying->verdict));
}

enum tenon_status tenon_plan_untie(const struct tenon_model *model, const char *target,
                                   const struct tenon_untie_options *options,
                                   struct tenon_plan **out_plan, struct tenon_error *err)
{
    struct tenon_untie_options defaults;
    struct untie u = {.options = options != NULL ? options : &defaults};
    enum tenon_status st;

    tenon_untie_options_init(&defaults);
    u.c.force = u.options->force;
    st = tenon_tie_begin(&u.c, model, target, u.options->threads, err);
    if (st == TENON_OK)
        st = plan(&u, err);
    if (st == TENON_OK)
        st = tenon_tie_write(&u.c, err);
    if (st == TENON_OK) {
        *out_plan = u.c.mirror.plan;
        u.c.mirror.plan = NULL;
    }
    tenon_tie_release(&u.c);
    return st;
}
