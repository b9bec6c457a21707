#include "tenon/tying.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "text.h"
#include "tying_case.h"

/* Bytes of a family's name that a hint shows. */
enum { MOST_SHOWN = 80 };

/* The answer and the memory that it and its notes live in. */
struct answer {
    struct tenon_tying tying; /* first: the public pointer is that of the answer */
    struct tenon_arena arena;
};

static const struct {
    const char *name, *meaning;
    bool tied;
} verdicts[] = {
#define X(id, number, name, tied, meaning) [number] = {name, meaning, tied},
#include "tenon/verdicts.def"
#undef X
};

enum { N_VERDICTS = sizeof(verdicts) / sizeof(verdicts[0]) };

const char *tenon_verdict_name(enum tenon_verdict verdict)
{
    size_t i = (size_t)verdict;

    return i < N_VERDICTS && verdicts[i].name != NULL ? verdicts[i].name : "none";
}

const char *tenon_verdict_meaning(enum tenon_verdict verdict)
{
    size_t i = (size_t)verdict;

    return i < N_VERDICTS && verdicts[i].meaning != NULL ? verdicts[i].meaning : "";
}

const char *tenon_loader_action_name(enum tenon_loader_action action)
{
    static const char *const names[] = {
        [TENON_LOADER_UNKNOWN] = "unknown",
        [TENON_LOADER_TIES] = "ties",
        [TENON_LOADER_KEEPS_BOTH] = "keeps_both",
        [TENON_LOADER_DROPS_OUTPUT] = "drops_output",
        [TENON_LOADER_RANDOM_OUTPUT] = "random_output",
        [TENON_LOADER_REFUSES] = "refuses",
    };
    size_t i = (size_t)action;

    return i < sizeof(names) / sizeof(names[0]) ? names[i] : "unknown";
}

void tenon_tying_options_init(struct tenon_tying_options *options)
{
    *options = (struct tenon_tying_options){.groups = true, .values = true};
}

void tenon_tying_free(struct tenon_tying *tying)
{
    struct answer *answer = (struct answer *)(void *)tying;

    if (answer == NULL)
        return;
    tenon_arena_release(&answer->arena);
    tenon_mem_free(answer);
}

void tenon_note(struct tenon_tying_case *c, const char *format, ...)
{
    char text[640];
    va_list args;
    const char *kept;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (c->out->n_notes >= TENON_MOST_NOTES)
        return;
    kept = tenon_arena_text(&c->arena, text, strlen(text));
    if (kept == NULL)
        c->out_of_memory = true;
    else
        c->notes[c->out->n_notes++] = kept;
}

const char *tenon_note_name(struct tenon_tying_case *c, const struct tenon_tensor *tensor)
{
    char clean[160];
    const char *kept;

    tenon_text_sanitise(clean, sizeof(clean), tensor->name.data, tensor->name.len);
    kept = tenon_arena_text(&c->arena, clean, strlen(clean));
    if (kept == NULL)
        c->out_of_memory = true;
    return kept != NULL ? kept : "";
}

/* --- the figures that follow from the verdict --- */

static uint64_t count_parameters(const struct tenon_model *model)
{
    uint64_t total = 0;

    for (size_t i = 0; i < model->n_tensors; i++)
        if (!tenon_u64_add(&total, total, model->tensors[i].n_elements))
            return UINT64_MAX;
    return total;
}

static void judge_saving(struct tenon_tying_case *c)
{
    struct tenon_tying *out = c->out;
    const struct tenon_tensor *t = out->output != NULL ? out->output : out->input;
    uint64_t total = count_parameters(c->model);

    switch (out->verdict) {
    case TENON_VERDICT_ABSENT: /* one of the two is not stored: all would be more by it */
        if (!tenon_u64_add(&total, total, t->n_elements))
            return;
        break;
    case TENON_VERDICT_SHARED:
    case TENON_VERDICT_IDENTICAL:
    case TENON_VERDICT_EQUAL:
    case TENON_VERDICT_QUANTIZED:
    case TENON_VERDICT_SCALED:
    case TENON_VERDICT_PARTIAL:
    case TENON_VERDICT_DIFFERENT:
        break;
    case TENON_VERDICT_NONE:
    case TENON_VERDICT_INCOMPATIBLE:
    case TENON_VERDICT_HEADLESS:
    case TENON_VERDICT_MISSING:
        return;
    }
    out->saving_bytes = t->bytes;
    out->saving_parameters = t->n_elements;
    out->saving_fraction = total != 0 ? (double)t->n_elements / (double)total : 0;
}

/* Where the config is silent, but every version of the family's class ties: two matrices that are
 * not the same, of which loading keeps one. */
static bool denies_default(const struct tenon_tying_case *c)
{
    const struct tenon_tying *out = c->out;

    if (c->arch == NULL || !c->has_config || c->gguf || out->input == NULL || out->output == NULL)
        return false;
    return !out->tied && !(c->arch->flags & TENON_ARCH_ROWS_DIFFER) &&
           tenon_tying_expected(c, 4) == TENON_YES && tenon_tying_expected(c, 5) == TENON_YES;
}

/* Whether what is stored is what a loader that believes the declaration needs. */
static void judge_consistency(struct tenon_tying_case *c)
{
    struct tenon_tying *out = c->out;
    enum tenon_verdict v = out->verdict;
    bool other_meaning = c->arch != NULL && (c->arch->flags & TENON_ARCH_FLAG_NOT_TYING) != 0;

    out->tied = (size_t)v < N_VERDICTS && verdicts[v].tied;
    out->consistent = v != TENON_VERDICT_MISSING;
    if (v == TENON_VERDICT_HEADLESS || other_meaning)
        return;
    if (out->declared == TENON_YES)
        out->consistent = out->tied;
    else if (out->declared == TENON_NO)
        out->consistent = v != TENON_VERDICT_MISSING && v != TENON_VERDICT_ABSENT;
    else if (denies_default(c))
        out->consistent = false;
}

/* A verdict about a set with missing files speaks of the others only. */
static void note_missing_files(struct tenon_tying_case *c)
{
    for (size_t i = 0; i < tenon_model_n_findings(c->model); i++)
        if (strcmp(tenon_model_finding(c->model, i)->code, "shards_missing") == 0)
            tenon_note(c, "%s: what they hold is not known, and may change the verdict",
                       tenon_model_finding(c->model, i)->message);
}

static void note_declaration(struct tenon_tying_case *c)
{
    const struct tenon_tying *out = c->out;

    note_missing_files(c);
    if (out->declared == TENON_YES && !out->consistent)
        tenon_note(c, "contradiction: %s is true, but the stored matrices are not the same",
                   out->declared_by);
    if (out->declared == TENON_SILENT && !out->consistent && out->verdict != TENON_VERDICT_MISSING)
        tenon_note(c, "the config does not say, and the default of the family is tied, but the "
                      "stored matrices are not the same");
    if (out->declared == TENON_NO && out->tied && out->input != NULL && out->output != NULL)
        tenon_note(c, "%s is false, though the stored matrices are the same: they could be tied",
                   out->declared_by);
    if (c->arch != NULL && c->arch->tie_v5 == TENON_TIE_NEVER && out->declared == TENON_YES)
        tenon_note(c, "this family cannot be tied: its class refuses or ignores the flag");
    if (c->arch != NULL && (c->arch->flags & TENON_ARCH_ROWS_DIFFER) && !out->tied &&
        out->output != NULL)
        tenon_note(c, "in this family input and output may have different vocabularies");
    if (tenon_model_find_role(c->model, TENON_ROLE_OUTPUT, TENON_PART_MAIN, true) != NULL)
        tenon_note(c, "the output has a bias; tying concerns the matrix, the bias stays");
}

static enum tenon_status judge(struct tenon_tying_case *c, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (c->packed_output) {
        c->out->verdict = TENON_VERDICT_INCOMPATIBLE;
        tenon_note(c, "the output is stored packed by a quantizer, as '%s'",
                   tenon_note_name(c, c->out->output));
    } else if (c->out->input != NULL && c->out->output != NULL) {
        st = tenon_tying_judge_pair(c, err);
    } else {
        tenon_tying_judge_absent(c);
    }
    return st;
}

bool tenon_tying_may_read(const struct tenon_tying_case *c)
{
    const struct tenon_tensor *in = c->out->input, *out = c->out->output;
    uint64_t total = in != NULL ? in->bytes : 0;

    if (out != NULL && !tenon_u64_add(&total, total, out->bytes))
        return false;
    return c->options.most_bytes == 0 || total <= c->options.most_bytes;
}

/* No matrix has a name that is known. */
static enum tenon_status fail_none(const struct tenon_tying_case *c, struct tenon_error *err)
{
    const struct tenon_str family = tenon_model_hparams(c->model)->model_type;
    size_t n = tenon_model_n_tensors(c->model);

    tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
               "no input or output embedding matrix found among %zu tensor%s", n,
               n == 1 ? "" : "s");
    if (tenon_model_arch(c->model) == NULL && family.len != 0)
        tenon_fail_hint(err,
                        "'%.*s' is a family without known names; 'tenon archs' lists the others",
                        (int)(family.len < MOST_SHOWN ? family.len : MOST_SHOWN), family.data);
    else
        tenon_fail_hint(err, "name the whole checkpoint: adapters and single shards hold neither");
    tenon_fail_path(err, tenon_model_path(c->model));
    return TENON_ERR_NOT_FOUND;
}

static enum tenon_status analyse(struct tenon_tying_case *c, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    tenon_tying_find(c);
    if (c->out->input == NULL && c->out->output == NULL)
        return fail_none(c, err);
    tenon_tying_declare(c);
    if (tenon_tying_may_read(c) && !c->options.no_hashes)
        st = tenon_tying_hash(c, err);
    if (st == TENON_OK)
        st = judge(c, err);
    if (st == TENON_OK && tenon_tying_may_read(c))
        st = tenon_tying_find_copies(c, err);
    if (st != TENON_OK || c->out->verdict == TENON_VERDICT_NONE)
        return st;
    judge_consistency(c);
    judge_saving(c);
    note_declaration(c);
    tenon_tying_judge_loaders(c);
    if (c->options.groups)
        st = tenon_tying_find_groups(c, err);
    return st;
}

enum tenon_status tenon_tying_analyse(const struct tenon_model *model,
                                      const struct tenon_tying_options *options,
                                      struct tenon_tying **out_tying, struct tenon_error *err)
{
    struct tenon_tying_case c = {.model = model, .arch = tenon_model_arch(model)};
    struct answer *answer = tenon_mem_alloc(1, sizeof(*answer));
    enum tenon_status st;

    if (options != NULL)
        c.options = *options;
    else
        tenon_tying_options_init(&c.options);
    c.notes = tenon_arena_alloc(&c.arena, TENON_MOST_NOTES, sizeof(*c.notes));
    if (answer == NULL || c.notes == NULL) {
        st = tenon_fail_memory(err);
        goto out;
    }
    c.out = &answer->tying;
    c.out->notes = c.notes;
    st = analyse(&c, err);
    if (st == TENON_OK && c.out_of_memory)
        st = tenon_fail_memory(err);
    if (st != TENON_OK)
        goto out;
    answer->arena = c.arena;
    c.arena = (struct tenon_arena){0};
    *out_tying = &answer->tying;
    answer = NULL;
out:
    tenon_arena_release(&c.arena);
    tenon_mem_free(answer);
    return st;
}
