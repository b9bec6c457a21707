/* The verdict where only one of the two matrices is stored. */
#include <string.h>

#include "model_private.h"
#include "tying_case.h"

/* Ends of class names that say whether a model has a vocabulary head. The first that fits. */
static const struct {
    const char *end;
    bool head;
} class_ends[] = {
    {"LMHeadModel", true},
    {"DoubleHeadsModel", true},
    {"MTModel", true},             /* MarianMTModel */
    {"ChatModel", true},           /* InternVLChatModel */
    {"EncoderDecoderModel", true}, /* VisionEncoderDecoderModel */
    {"ChatGLMModel", true},        /* the name of the class without a head stands in its configs */
    {"Classification", false},
    {"ForQuestionAnswering", false},
    {"ForMultipleChoice", false},
    {"ForNextSentencePrediction", false},
    {"ForRetrieval", false},
    {"ForTextEncoding", false},
    {"Encoder", false},
    {"Model", false},
};

static bool ends_with(struct tenon_str text, const char *end)
{
    size_t n = strlen(end);

    return text.len >= n && memcmp(text.data + text.len - n, end, n) == 0;
}

/* Whether the config's class has no head. */
static bool class_is_headless(const struct tenon_tying_case *c)
{
    struct tenon_str name = tenon_model_hparams(c->model)->class_name;

    for (size_t i = 0; i < sizeof(class_ends) / sizeof(class_ends[0]); i++)
        if (ends_with(name, class_ends[i].end))
            return !class_ends[i].head;
    return false;
}

static bool has_role(const struct tenon_tying_case *c, enum tenon_role role, bool bias)
{
    return tenon_model_find_role(c->model, role, TENON_PART_MAIN, bias) != NULL;
}

static bool has_part(const struct tenon_tying_case *c, enum tenon_part part)
{
    for (size_t i = 0; i < c->model->n_tensors; i++)
        if (c->model->tensors[i].role != TENON_ROLE_NONE && c->model->tensors[i].part == part)
            return true;
    return false;
}

/* Whether nothing is to be expected of this model. Encoders have a head where its bias or the
 * layer before it is stored. */
static bool is_headless(struct tenon_tying_case *c)
{
    const struct tenon_arch *arch = c->arch;
    bool traces =
        has_role(c, TENON_ROLE_OUTPUT, true) || has_role(c, TENON_ROLE_OUTPUT_TRANSFORM, false);

    if (class_is_headless(c)) {
        tenon_note(c, "the config's class has no output projection");
        return true;
    }
    if (arch == NULL)
        return false;
    if (arch->tie_v5 == TENON_TIE_NO_HEAD)
        return true;
    if (c->gguf && arch->gguf_head == TENON_GGUF_HEAD_NONE)
        return true;
    if ((arch->flags & TENON_ARCH_ENCODER) && !traces)
        return true;
    if ((arch->flags & TENON_ARCH_ENCODER_DECODER) && has_part(c, TENON_PART_ENCODER) &&
        !has_part(c, TENON_PART_DECODER)) {
        tenon_note(c, "this is the encoder of an encoder-decoder alone");
        return true;
    }
    return false;
}

static const char *yes_no(enum tenon_tristate value)
{
    return value == TENON_YES ? "tied" : "not tied";
}

/* The config is silent: say what is assumed, and where versions disagree. */
static void note_default(struct tenon_tying_case *c)
{
    enum tenon_tristate v4 = tenon_tying_expected(c, 4), v5 = tenon_tying_expected(c, 5);

    if (c->out->declared != TENON_SILENT)
        return;
    if (v5 == TENON_SILENT) {
        tenon_note(c, c->has_config
                          ? "neither the config nor a known family says whether the matrices are "
                            "tied; transformers 4 takes such a model as tied, transformers 5 as "
                            "not tied"
                          : "there is no config: what is stored decides");
        return;
    }
    tenon_note(c, "the config does not say; assumed is the default of the family: %s", yes_no(v5));
    if (v4 != v5)
        tenon_note(c, "transformers 4 takes this family as %s, transformers 5 as %s", yes_no(v4),
                   yes_no(v5));
}

static void judge_gguf(struct tenon_tying_case *c)
{
    enum tenon_gguf_head head = c->arch != NULL ? c->arch->gguf_head : TENON_GGUF_HEAD_UNKNOWN;
    bool has_input = c->out->input != NULL;

    switch (head) {
    case TENON_GGUF_HEAD_OPTIONAL:
    case TENON_GGUF_HEAD_TIED:
        c->out->verdict = has_input ? TENON_VERDICT_ABSENT : TENON_VERDICT_MISSING;
        break;
    case TENON_GGUF_HEAD_REVERSED:
        c->out->verdict = has_input ? TENON_VERDICT_MISSING : TENON_VERDICT_ABSENT;
        break;
    case TENON_GGUF_HEAD_REQUIRED:
    case TENON_GGUF_HEAD_NONE:
        c->out->verdict = TENON_VERDICT_MISSING;
        break;
    case TENON_GGUF_HEAD_UNKNOWN:
        c->out->verdict = TENON_VERDICT_ABSENT;
        tenon_note(c, "no rule is known for this architecture: assumed is that the matrix that "
                      "is stored serves as both");
        break;
    }
    if (c->out->verdict == TENON_VERDICT_MISSING)
        tenon_note(c, has_input ? "this architecture needs its own 'output.weight', and no file "
                                  "of the model has one"
                                : "no file of the model has the input matrix");
}

static void judge_config(struct tenon_tying_case *c)
{
    enum tenon_tristate tied = tenon_tying_expected(c, 5);

    note_default(c);
    if (tied == TENON_SILENT || (c->recorded_alias && c->out->declared == TENON_SILENT))
        tied = TENON_YES;
    c->out->verdict = tied == TENON_YES ? TENON_VERDICT_ABSENT : TENON_VERDICT_MISSING;
    if (tied != TENON_YES && c->out->declared == TENON_NO && c->out->input != NULL)
        tenon_note(c,
                   "contradiction: %s is false, but the output matrix is not stored; a loader "
                   "that believes the flag starts with a random one",
                   c->out->declared_by);
    else if (tied != TENON_YES)
        tenon_note(c, "the %s matrix is not stored", c->out->input == NULL ? "input" : "output");
}

void tenon_tying_judge_absent(struct tenon_tying_case *c)
{
    const struct tenon_tensor *stored = c->out->input != NULL ? c->out->input : c->out->output;

    if (stored->n_elements == 0) {
        c->out->verdict = TENON_VERDICT_INCOMPATIBLE;
        tenon_note(c,
                   "'%s' is empty: a placeholder, so this checkpoint was written before the "
                   "pieces of its weights were gathered",
                   tenon_note_name(c, stored));
        return;
    }
    if (c->out->output == NULL && is_headless(c)) {
        c->out->verdict = TENON_VERDICT_HEADLESS;
        return;
    }
    if (c->gguf)
        judge_gguf(c);
    else
        judge_config(c);
    if (c->out->verdict == TENON_VERDICT_ABSENT && c->out->input == NULL)
        tenon_note(c, "only the output matrix is stored, as '%s'; it serves as the input too",
                   tenon_note_name(c, stored));
}
