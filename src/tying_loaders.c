/* What programs make of the checkpoint. */
#include <string.h>

#include "tie_rows.h"
#include "tying_case.h"

static bool both_stored(const struct tenon_tying_case *c)
{
    return c->out->input != NULL && c->out->output != NULL;
}

/* Both stored, the same numbers, in the same place of the model: tying changes nothing. */
static bool is_same(const struct tenon_tying_case *c)
{
    enum tenon_verdict v = c->out->verdict;

    return v == TENON_VERDICT_SHARED || v == TENON_VERDICT_IDENTICAL || v == TENON_VERDICT_EQUAL;
}

/* transformers 4 makes the output another name of the input whenever the flag is true, also when
 * the file has both and they differ; an input that is not stored stays random. */
static enum tenon_loader_action judge_v4(const struct tenon_tying_case *c, enum tenon_tristate tied)
{
    if (tied == TENON_SILENT)
        tied = TENON_YES; /* the default of its base config */
    if (both_stored(c)) {
        if (tied != TENON_YES)
            return TENON_LOADER_KEEPS_BOTH;
        return is_same(c) ? TENON_LOADER_TIES : TENON_LOADER_DROPS_OUTPUT;
    }
    if (c->out->input != NULL)
        return tied == TENON_YES ? TENON_LOADER_TIES : TENON_LOADER_RANDOM_OUTPUT;
    return tied == TENON_YES ? TENON_LOADER_RANDOM_OUTPUT : TENON_LOADER_UNKNOWN;
}

/* transformers 5 ties in either direction, but not what is stored twice and differs. */
static enum tenon_loader_action judge_v5(const struct tenon_tying_case *c, enum tenon_tristate tied)
{
    if (tied == TENON_SILENT)
        tied = TENON_NO; /* the default of its base config */
    if (both_stored(c))
        return tied == TENON_YES && is_same(c) ? TENON_LOADER_TIES : TENON_LOADER_KEEPS_BOTH;
    if (tied == TENON_YES)
        return TENON_LOADER_TIES;
    return c->out->input != NULL ? TENON_LOADER_RANDOM_OUTPUT : TENON_LOADER_UNKNOWN;
}

/* Whether a stored matrix has another shape than the model that the config describes. */
static bool misfits(const struct tenon_tying_case *c, const struct tenon_tensor *t)
{
    const struct tenon_hparams *h = tenon_model_hparams(c->model);
    int64_t width = h->embedding_size > 0 ? h->embedding_size : h->hidden_size;

    if (t == NULL)
        return false;
    if (t->n_dims != 2 || t->n_elements == 0)
        return true;
    return (h->vocab_size > 0 && t->dims[0] != (uint64_t)h->vocab_size) ||
           (width > 0 && t->dims[1] != (uint64_t)width);
}

/* transformers makes the model from the config, and refuses stored matrices of other shapes.
 * Families whose config does not give both shapes in one number each are left out. */
static bool config_refuses(struct tenon_tying_case *c)
{
    const unsigned free_shapes = TENON_ARCH_ROWS_DIFFER | TENON_ARCH_FACTORISED |
                                 TENON_ARCH_ENCODER_DECODER | TENON_ARCH_VISION;
    const struct tenon_tensor *t = misfits(c, c->out->input) ? c->out->input : c->out->output;

    if (c->arch == NULL || (c->arch->flags & free_shapes) != 0 || !misfits(c, t))
        return false;
    tenon_note(c, "transformers refuses '%s': its shape is not the one that the config asks for",
               tenon_note_name(c, t));
    return true;
}

/* The GGUF import of transformers takes a file without an output matrix as tied, and some
 * families always. */
static enum tenon_loader_action judge_import(const struct tenon_tying_case *c)
{
    bool always = c->arch != NULL && (c->arch->flags & TENON_ARCH_IMPORT_TIES) != 0;

    if (c->arch == NULL || c->out->input == NULL)
        return TENON_LOADER_UNKNOWN;
    if (c->out->output == NULL)
        return TENON_LOADER_TIES;
    if (!always)
        return TENON_LOADER_KEEPS_BOTH;
    return is_same(c) ? TENON_LOADER_TIES : TENON_LOADER_DROPS_OUTPUT;
}

/* Both matrices must have the shape that the metadata announce. */
static bool shapes_fit(const struct tenon_tying_case *c)
{
    const struct tenon_tensor *in = c->out->input, *out = c->out->output;

    return in->n_dims == 2 && out->n_dims == 2 && in->dims[0] == out->dims[0] &&
           in->dims[1] == out->dims[1];
}

/* Whether something about the file itself makes its reference loader refuse it. */
static bool loader_refuses(const struct tenon_model *model)
{
    for (size_t i = 0; i < tenon_model_n_findings(model); i++) {
        const struct tenon_finding *f = tenon_model_finding(model, i);

        if (f->severity == TENON_SEVERITY_ERROR && strcmp(f->source, "loader") == 0)
            return true;
    }
    return false;
}

static enum tenon_loader_action judge_llama_cpp(const struct tenon_tying_case *c)
{
    bool input = c->out->input != NULL, output = c->out->output != NULL;

    if (loader_refuses(c->model))
        return TENON_LOADER_REFUSES;
    if (c->arch == NULL || (both_stored(c) && !shapes_fit(c)))
        return c->arch == NULL ? TENON_LOADER_UNKNOWN : TENON_LOADER_REFUSES;
    switch (c->arch->gguf_head) {
    case TENON_GGUF_HEAD_OPTIONAL:
        if (!input)
            return TENON_LOADER_REFUSES;
        return output ? TENON_LOADER_KEEPS_BOTH : TENON_LOADER_TIES;
    case TENON_GGUF_HEAD_TIED:
        return input && !output ? TENON_LOADER_TIES : TENON_LOADER_REFUSES;
    case TENON_GGUF_HEAD_REQUIRED:
        return input && output ? TENON_LOADER_KEEPS_BOTH : TENON_LOADER_REFUSES;
    case TENON_GGUF_HEAD_REVERSED:
        if (!output)
            return TENON_LOADER_REFUSES;
        return input ? TENON_LOADER_KEEPS_BOTH : TENON_LOADER_TIES;
    case TENON_GGUF_HEAD_NONE:
        return output ? TENON_LOADER_REFUSES : TENON_LOADER_UNKNOWN;
    case TENON_GGUF_HEAD_UNKNOWN:
        break;
    }
    return TENON_LOADER_UNKNOWN;
}

/* What else transformers 5 ties, it ties by the same flag. */
static void note_missing(struct tenon_tying_case *c)
{
    struct tenon_tie_copy copies[TENON_TIE_COPIES];
    size_t n;

    if (tenon_tying_expected(c, 5) != TENON_NO || c->out->transformers_v5 == TENON_LOADER_REFUSES)
        return;
    n = tenon_tie_missing(c->model, c->arch, copies, TENON_TIE_COPIES);
    for (size_t i = 0; i < n; i++)
        tenon_note(c,
                   "transformers 5 starts '%s' at random: only '%s' is stored, and nothing is tied",
                   copies[i].name, tenon_note_name(c, copies[i].from));
}

static void note_actions(struct tenon_tying_case *c)
{
    const struct tenon_tying *out = c->out;

    if (out->transformers_v4 == TENON_LOADER_DROPS_OUTPUT)
        tenon_note(c, "transformers 4 ties on load: the stored output matrix is lost");
    if (out->transformers_v5 == TENON_LOADER_KEEPS_BOTH && out->declared == TENON_YES &&
        (c->arch == NULL || c->arch->tie_v5 != TENON_TIE_NEVER))
        tenon_note(c, "transformers 5 sees that the matrices are not equal, warns, and keeps "
                      "both");
    if (out->transformers_v4 == TENON_LOADER_RANDOM_OUTPUT && out->input == NULL)
        tenon_note(c, "transformers 4 ties the output to an input that the file does not hold: "
                      "both start at random");
    if (out->llama_cpp == TENON_LOADER_REFUSES && out->output != NULL && out->input != NULL &&
        c->arch != NULL && c->arch->gguf_head == TENON_GGUF_HEAD_TIED)
        tenon_note(c, "llama.cpp always reuses the input in this architecture and refuses the "
                      "extra 'output.weight' as a wrong number of tensors");
}

/* What 'tenon convert' makes of a checkpoint: a GGUF file whose tensors keep their names. */
static bool has_foreign_names(const struct tenon_tying_case *c)
{
    enum tenon_dialect dialect = tenon_model_dialect(c->model);

    return dialect == TENON_DIALECT_HF || dialect == TENON_DIALECT_META;
}

void tenon_tying_judge_loaders(struct tenon_tying_case *c)
{
    if (c->gguf && has_foreign_names(c)) {
        c->out->llama_cpp = TENON_LOADER_REFUSES;
        tenon_note(c, "llama.cpp refuses the file: its tensors have other names than it looks for");
        return;
    }
    if (c->out->verdict == TENON_VERDICT_HEADLESS || c->packed_output) {
        if (c->gguf && !c->packed_output)
            c->out->llama_cpp = judge_llama_cpp(c);
        return;
    }
    if (c->gguf) {
        c->out->transformers_v4 = c->out->transformers_v5 = judge_import(c);
        c->out->llama_cpp = judge_llama_cpp(c);
    } else if (c->has_config && tenon_model_dialect(c->model) != TENON_DIALECT_META) {
        bool refused = config_refuses(c);

        c->out->transformers_v4 =
            refused ? TENON_LOADER_REFUSES : judge_v4(c, tenon_tying_expected(c, 4));
        c->out->transformers_v5 =
            refused ? TENON_LOADER_REFUSES : judge_v5(c, tenon_tying_expected(c, 5));
        note_missing(c);
    }
    note_actions(c);
}
