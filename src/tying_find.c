/* Which tensors are the input and the output matrix. */
#include <stdio.h>
#include <string.h>

#include "model_private.h"
#include "tying_case.h"

/* The tables of an encoder-decoder come after the one they share; the head goes with the
 * decoder. */
static const enum tenon_part part_order[] = {
    TENON_PART_MAIN,
    TENON_PART_DECODER,
    TENON_PART_ENCODER,
};

/* The first tensor of a role that holds anything; else the first at all. */
static const struct tenon_tensor *find_full(const struct tenon_model *model, enum tenon_role role,
                                            enum tenon_part part)
{
    const struct tenon_tensor *first = tenon_model_find_role(model, role, part, false);

    if (first == NULL || first->n_elements != 0)
        return first;
    for (size_t i = 0; i < model->n_tensors; i++) {
        const struct tenon_tensor *t = &model->tensors[i];

        if (t->role == role && t->part == part && t->n_elements != 0 &&
            !(t->flags & TENON_TENSOR_BIAS))
            return t;
    }
    return first;
}

static const struct tenon_tensor *find_by_role(const struct tenon_model *model,
                                               enum tenon_role role)
{
    for (size_t i = 0; i < sizeof(part_order) / sizeof(part_order[0]); i++) {
        const struct tenon_tensor *t = find_full(model, role, part_order[i]);

        if (t != NULL)
            return t;
    }
    return NULL;
}

/* What quantizers leave where a matrix was: its name with another end. */
static const struct tenon_tensor *find_packed(const struct tenon_model *model, const char *name)
{
    static const char *const ends[] = {".qweight", ".weight_packed", ".weight_quantized"};
    size_t stem = strlen(name) - strlen(".weight");
    char packed[192];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        int n = snprintf(packed, sizeof(packed), "%.*s%s", (int)stem, name, ends[i]);
        const struct tenon_tensor *t =
            n > 0 && (size_t)n < sizeof(packed) ? tenon_model_find(model, packed, (size_t)n) : NULL;

        if (t != NULL)
            return t;
    }
    return NULL;
}

static const struct tenon_tensor *find_packed_output(const struct tenon_tying_case *c)
{
    struct tenon_name_match match = {
        .role = TENON_ROLE_OUTPUT,
        .dialect = TENON_DIALECT_HF,
        .layer = -1,
        .expert = -1,
    };
    char name[128];

    if (!tenon_arch_tensor_name(c->arch, &match, name, sizeof(name)))
        return NULL;
    return find_packed(c->model, name);
}

void tenon_tying_find(struct tenon_tying_case *c)
{
    struct tenon_tying *out = c->out;

    out->input = find_by_role(c->model, TENON_ROLE_TOKEN_EMBD);
    out->output = find_by_role(c->model, TENON_ROLE_OUTPUT);
    if (out->output == NULL) {
        out->output = find_packed_output(c);
        c->packed_output = out->output != NULL;
    }
    /* The embeddings of a lone output bias or transform are no matrix to compare. */
    c->gguf = strcmp(tenon_model_format(c->model), "gguf") == 0 ||
              tenon_model_dialect(c->model) == TENON_DIALECT_GGUF;
    c->has_config = tenon_model_hparams(c->model)->model_type.len != 0 ||
                    tenon_model_hparams(c->model)->n_tie_flags != 0;
}

static enum tenon_status note_copy(struct tenon_tying_case *c, const struct tenon_tensor *t,
                                   struct tenon_error *err)
{
    const struct tenon_tensor *input = c->out->input;
    bool comparable = t->dtype == input->dtype && t->bytes == input->bytes, same = false;
    enum tenon_status st = TENON_OK;

    if (tenon_tying_same_storage(t, input)) {
        tenon_note(c, "'%s' and '%s' are one storage", tenon_note_name(c, t),
                   tenon_note_name(c, input));
        return TENON_OK;
    }
    if (comparable)
        st = tenon_tying_same_bytes(c->model, input, t, &same, err);
    if (st == TENON_OK)
        tenon_note(c, same ? "'%s' is a further copy of '%s'" : "'%s' is not equal to '%s'",
                   tenon_note_name(c, t), tenon_note_name(c, input));
    return st;
}

enum tenon_status tenon_tying_find_copies(struct tenon_tying_case *c, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (c->out->input == NULL)
        return TENON_OK;
    for (size_t i = 0; st == TENON_OK && i < sizeof(part_order) / sizeof(part_order[0]); i++) {
        const struct tenon_tensor *t =
            tenon_model_find_role(c->model, TENON_ROLE_TOKEN_EMBD, part_order[i], false);

        if (t != NULL && t != c->out->input && t->n_elements != 0)
            st = note_copy(c, t, err);
    }
    return st;
}
