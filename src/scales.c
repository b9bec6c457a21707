/* Finding the scales that lie beside stored codes. */
#include <string.h>

#include "model_build.h"
#include "model_private.h"
#include "scales.h"

/* Longer names are not those of any known exporter. */
#define MOST_NAME 1024

static bool is_float8(const struct tenon_tensor *t)
{
    return t->dtype == TENON_DTYPE_F8_E4M3 || t->dtype == TENON_DTYPE_F8_E5M2 ||
           t->dtype == TENON_DTYPE_F8_E4M3FNUZ || t->dtype == TENON_DTYPE_F8_E5M2FNUZ;
}

static bool is_float(const struct tenon_tensor *t)
{
    return t->dtype == TENON_DTYPE_F32 || t->dtype == TENON_DTYPE_BF16 ||
           t->dtype == TENON_DTYPE_F16 || t->dtype == TENON_DTYPE_F64;
}

/* The tensor called `name`, less `cut` bytes at its end, plus `suffix`. */
static const struct tenon_tensor *
find_sibling(const struct tenon_model *model, struct tenon_str name, size_t cut, const char *suffix)
{
    char text[MOST_NAME];
    size_t stem = name.len - cut, n = strlen(suffix);

    if (stem + n > sizeof(text))
        return NULL;
    memcpy(text, name.data, stem);
    memcpy(text + stem, suffix, n);
    return tenon_model_find(model, text, stem + n);
}

static bool ends_with(struct tenon_str name, const char *suffix)
{
    size_t n = strlen(suffix);

    return name.len >= n && memcmp(name.data + name.len - n, suffix, n) == 0;
}

static uint64_t count_blocks(uint64_t n)
{
    return n / TENON_SCALE_BLOCK + (n % TENON_SCALE_BLOCK != 0);
}

/* How `scales` are spread over `codes`. */
static enum tenon_scaling fit_float8(const struct tenon_tensor *codes,
                                     const struct tenon_tensor *scales)
{
    const uint64_t *c = codes->dims, *s = scales->dims;

    if (!is_float(scales))
        return TENON_SCALING_MISFIT;
    if (scales->n_elements == 1)
        return TENON_SCALING_SCALAR;
    if (codes->n_dims != 2)
        return TENON_SCALING_MISFIT;
    if ((scales->n_dims == 1 && s[0] == c[0]) || (scales->n_dims == 2 && s[0] == c[0] && s[1] == 1))
        return TENON_SCALING_ROWS;
    if (scales->n_dims == 2 && s[0] == count_blocks(c[0]) && s[1] == count_blocks(c[1]))
        return TENON_SCALING_BLOCKS;
    return TENON_SCALING_MISFIT;
}

/* [..., g, 16] with [..., g]. */
static enum tenon_scaling fit_mxfp4(const struct tenon_tensor *codes,
                                    const struct tenon_tensor *scales)
{
    if (scales->dtype != TENON_DTYPE_U8 || codes->n_dims < 2 ||
        codes->dims[codes->n_dims - 1] != TENON_MXFP4_BYTES || scales->n_dims != codes->n_dims - 1)
        return TENON_SCALING_MISFIT;
    for (uint32_t i = 0; i < scales->n_dims; i++)
        if (scales->dims[i] != codes->dims[i])
            return TENON_SCALING_MISFIT;
    return TENON_SCALING_MXFP4;
}

/* The scales of `t`, if it has any. */
static const struct tenon_tensor *find_scales(const struct tenon_model *model,
                                              const struct tenon_tensor *t, enum tenon_scaling *out)
{
    static const char blocks[] = "_blocks";
    const struct tenon_tensor *scales = NULL;

    if (is_float8(t)) {
        scales = find_sibling(model, t->name, 0, "_scale_inv");
        if (scales == NULL)
            scales = find_sibling(model, t->name, 0, "_scale");
        if (scales != NULL)
            *out = fit_float8(t, scales);
    } else if (t->dtype == TENON_DTYPE_U8 && ends_with(t->name, blocks)) {
        scales = find_sibling(model, t->name, sizeof(blocks) - 1, "_scales");
        if (scales != NULL)
            *out = fit_mxfp4(t, scales);
    }
    return scales;
}

enum tenon_status tenon_model_link_scales(struct tenon_model *model)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < model->n_tensors; i++) {
        struct tenon_tensor *t = &model->tensors[i];
        enum tenon_scaling scaling = TENON_SCALING_NONE;
        const struct tenon_tensor *scales = find_scales(model, t, &scaling);

        if (scales == NULL)
            continue;
        t->scale = (uint32_t)(scales - model->tensors);
        t->scaling = (uint8_t)scaling;
        if (scaling == TENON_SCALING_MISFIT)
            st = tenon_model_find_fault(model, "scales_do_not_fit", t->file, t->record_offset,
                                        t->name.data, t->name.len,
                                        "its tensor of scales has neither one scale for all, one "
                                        "a row, nor one for each 128 x 128 block");
    }
    return st;
}
