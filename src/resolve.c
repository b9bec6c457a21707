/* Which architecture a model has, and what each of its tensors is for. */
#include "model_private.h"
#include "tenon/arch.h"

/* By what the file says, then by what its tensors are called. A model of several parts is known
 * by its language model where it is not known as a whole. */
static const struct tenon_arch *find_arch(const struct tenon_model *model)
{
    struct tenon_str type = model->hparams.model_type;
    struct tenon_str nested = model->hparams.text_model_type;
    const struct tenon_arch *arch = NULL;

    if (type.len != 0) {
        arch = tenon_arch_find_model_type(type.data, type.len);
        if (arch == NULL)
            arch = tenon_arch_find_gguf(type.data, type.len);
    }
    if (arch == NULL && nested.len != 0)
        arch = tenon_arch_find_model_type(nested.data, nested.len);
    return arch != NULL || type.len != 0 ? arch : tenon_arch_guess(model);
}

static void record_role(struct tenon_model *model, uint32_t i)
{
    const struct tenon_tensor *t = &model->tensors[i];
    uint32_t *first = &model->by_role[t->role][t->part][(t->flags & TENON_TENSOR_BIAS) != 0];

    if (*first == TENON_NO_INDEX)
        *first = i;
}

void tenon_model_resolve(struct tenon_model *model)
{
    size_t votes[TENON_DIALECT_META + 1] = {0};

    model->arch = find_arch(model);
    for (size_t i = 0; i < model->n_tensors; i++) {
        struct tenon_tensor *t = &model->tensors[i];
        struct tenon_name_match m = tenon_arch_match(model->arch, t->name.data, t->name.len);

        votes[m.dialect]++;
        if (m.role == TENON_ROLE_NONE)
            continue;
        t->role = (uint8_t)m.role;
        t->part = (uint8_t)m.part;
        t->layer = m.layer;
        t->expert = m.expert;
        if (m.bias)
            t->flags |= TENON_TENSOR_BIAS;
        record_role(model, (uint32_t)i);
    }
    model->dialect = TENON_DIALECT_NONE;
    for (int d = TENON_DIALECT_HF; d <= TENON_DIALECT_META; d++)
        if (votes[d] > 0 &&
            (model->dialect == TENON_DIALECT_NONE || votes[d] > votes[model->dialect]))
            model->dialect = (enum tenon_dialect)d;
}
