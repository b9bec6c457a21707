/* What config, metadata and family say about tying. */
#include <string.h>

#include "model_private.h"
#include "text.h"
#include "tying_case.h"

/* The safetensors writers of transformers note a name that they dropped, and the name that was
 * kept: __metadata__["lm_head.weight"] = "model.embed_tokens.weight". */
static void read_record(struct tenon_tying_case *c)
{
    for (size_t i = 0; i < tenon_model_n_meta(c->model); i++) {
        const struct tenon_meta_entry *e = tenon_model_meta(c->model, i);
        const struct tenon_tensor *kept;
        struct tenon_name_match match;
        char dropped[160];

        if (e->type != TENON_META_STRING || c->gguf)
            continue;
        kept = tenon_model_find(c->model, e->value.as.str.data, e->value.as.str.len);
        match = tenon_arch_match(c->arch, e->key.data, e->key.len);
        if (kept == NULL || tenon_model_find(c->model, e->key.data, e->key.len) != NULL ||
            (match.role != TENON_ROLE_OUTPUT && match.role != TENON_ROLE_TOKEN_EMBD))
            continue;
        tenon_text_sanitise(dropped, sizeof(dropped), e->key.data, e->key.len);
        tenon_note(c, "the file's metadata say that '%s' was left out as another name of '%s'",
                   dropped, tenon_note_name(c, kept));
        if (!match.bias && (kept == c->out->input || kept == c->out->output))
            c->recorded_alias = true;
    }
}

/* The flag that counts: of the top level, else the first nested one. */
static const struct tenon_tie_flag *choose_flag(const struct tenon_hparams *h)
{
    for (size_t i = 0; i < h->n_tie_flags; i++)
        if (!h->tie_flags[i].nested)
            return &h->tie_flags[i];
    return h->n_tie_flags > 0 ? &h->tie_flags[0] : NULL;
}

static void note_conflicts(struct tenon_tying_case *c, const struct tenon_tie_flag *chosen)
{
    const struct tenon_hparams *h = tenon_model_hparams(c->model);

    for (size_t i = 0; i < h->n_tie_flags; i++)
        if (h->tie_flags[i].value != chosen->value)
            tenon_note(c,
                       "the config contradicts itself: %s is %s, %s is %s; loaders differ in "
                       "which one they read",
                       chosen->where, chosen->value ? "true" : "false", h->tie_flags[i].where,
                       h->tie_flags[i].value ? "true" : "false");
}

/* What the config might have said, but nobody could read. */
static void note_unread(struct tenon_tying_case *c)
{
    for (size_t i = 0; i < tenon_model_n_findings(c->model); i++) {
        const struct tenon_finding *f = tenon_model_finding(c->model, i);

        if (strcmp(f->code, "side_file_unusable") == 0 && strcmp(f->subject, "config.json") == 0)
            tenon_note(c, "config.json cannot be used, so what it declares is unknown: %s",
                       f->message);
        else if (strcmp(f->code, "config_type") == 0 && strncmp(f->subject, "tie_", 4) == 0)
            tenon_note(c, "the flag was not used: %s", f->message);
    }
}

void tenon_tying_declare(struct tenon_tying_case *c)
{
    const struct tenon_tie_flag *flag = choose_flag(tenon_model_hparams(c->model));

    c->out->declared = TENON_SILENT;
    if (flag != NULL) {
        c->out->declared = flag->value ? TENON_YES : TENON_NO;
        c->out->declared_by = flag->where;
        note_conflicts(c, flag);
        if (c->arch != NULL && (c->arch->flags & TENON_ARCH_FLAG_NOT_TYING) && !flag->value)
            tenon_note(c, "in this family the flag chose whether the decoder's output is scaled; "
                          "its embeddings are shared either way");
    }
    note_unread(c);
    read_record(c);
}

static enum tenon_tristate from_default(enum tenon_tie_default tie)
{
    switch (tie) {
    case TENON_TIE_YES:
    case TENON_TIE_ALWAYS:
        return TENON_YES;
    case TENON_TIE_NO:
    case TENON_TIE_NEVER:
        return TENON_NO;
    case TENON_TIE_UNKNOWN:
    case TENON_TIE_NO_HEAD:
        break;
    }
    return TENON_SILENT;
}

enum tenon_tristate tenon_tying_expected(const struct tenon_tying_case *c, int version)
{
    enum tenon_tie_default tie = TENON_TIE_UNKNOWN;

    if (c->arch != NULL)
        tie = version >= 5 ? c->arch->tie_v5 : c->arch->tie_v4;
    if (tie == TENON_TIE_ALWAYS)
        return TENON_YES;
    if (tie == TENON_TIE_NEVER)
        return TENON_NO;
    if (c->out->declared != TENON_SILENT)
        return c->out->declared;
    return from_default(tie);
}
