/* Which element type each tensor gets, and whether that can be. */
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "plan_convert.h"
#include "tenon/logical.h"
#include "tenon/text.h"

/* Why a tensor cannot become what was chosen. */
enum fault { FAULT_NONE = 0, FAULT_TYPE, FAULT_VALUES, FAULT_COMPLEX, FAULT_ROWS };

/* --- what holds what --- */

/* Whether files of that container can have elements of that type. */
static bool holds(const struct tenon_container *container, enum tenon_dtype dtype)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);

    if (info == NULL || info->block_bytes == 0)
        return false;
    return container == &tenon_containers[TENON_CONTAINER_GGUF] ? info->gguf_id >= 0
                                                                : info->safetensors_id[0] != '\0';
}

/* The names of the types that can be written and that `container` holds, into `buf`. */
static const char *list_types(const struct tenon_model *model,
                              const struct tenon_container *container, char *buf, size_t size)
{
    const struct tenon_dtype_info *info;
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; (info = tenon_dtype_at(i)) != NULL; i++) {
        if (!holds(container, info->dtype) || model->ops.encode[info->dtype] == NULL)
            continue;
        if (size - used <= strlen(info->name) + 1)
            break;
        used += (size_t)snprintf(buf + used, size - used, "%s%s", used != 0 ? " " : "", info->name);
    }
    return buf;
}

/* A type that the options name. */
static enum tenon_status check_type(const struct tenon_conversion *c, enum tenon_dtype dtype,
                                    const char *option, struct tenon_error *err)
{
    char types[TENON_ERROR_TEXT_BYTES - 64];
    enum tenon_status st = TENON_OK;

    if (!holds(c->to, dtype))
        st = tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "%s: %s has no type %s",
                        option, c->to->title, tenon_dtype_name(dtype));
    else if (c->model->ops.encode[dtype] == NULL)
        st = tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                        "%s: %s can be copied, but not be made of numbers", option,
                        tenon_dtype_name(dtype));
    if (st != TENON_OK)
        tenon_fail_hint(err, "types to convert to: %s",
                        list_types(c->model, c->to, types, sizeof(types)));
    return st;
}

/* --- which tensors are meant --- */

/* Plain types that hold no real numbers, and the scales of blocks, which are none of their own. */
static bool is_real(enum tenon_dtype dtype)
{
    static const enum tenon_dtype others[] = {
        TENON_DTYPE_UNKNOWN, TENON_DTYPE_I64,  TENON_DTYPE_I32, TENON_DTYPE_I16,
        TENON_DTYPE_I8,      TENON_DTYPE_U64,  TENON_DTYPE_U32, TENON_DTYPE_U16,
        TENON_DTYPE_U8,      TENON_DTYPE_BOOL, TENON_DTYPE_C64, TENON_DTYPE_F8_E8M0,
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (dtype == others[i])
            return false;
    return true;
}

static bool contains(struct tenon_str text, const char *part)
{
    size_t n = strlen(part);

    for (size_t i = 0; i + n <= text.len; i++)
        if (memcmp(text.data + i, part, n) == 0)
            return true;
    return false;
}

/* Norms and biases, by their role, or by their name where they have none. */
static bool is_norm_or_bias(const struct tenon_tensor *t)
{
    const char *role = tenon_role_name((enum tenon_role)t->role);
    struct tenon_str text = {role, strlen(role)};

    if (t->role == TENON_ROLE_NONE)
        text = t->name;
    return (t->flags & TENON_TENSOR_BIAS) != 0 || contains(text, "norm") ||
           (t->role == TENON_ROLE_NONE && contains(text, "bias"));
}

/* What --dtype is about: matrices of floats, and codes that stand for them. */
static bool is_matrix(const struct tenon_tensor *t)
{
    return t->n_dims >= 2 && !is_norm_or_bias(t) &&
           (is_real((enum tenon_dtype)t->dtype) || t->scaling == TENON_SCALING_MXFP4);
}

/* The last rule that fits, or NULL; notes all that fit. */
static const struct tenon_dtype_rule *find_rule(const struct tenon_conversion *c, bool *used,
                                                const struct tenon_tensor *t)
{
    const struct tenon_dtype_rule *found = NULL;

    for (size_t i = 0; i < c->options->n_rules; i++) {
        const struct tenon_dtype_rule *rule = &c->options->rules[i];

        if (tenon_text_glob(rule->pattern, t->name.data, t->name.len)) {
            used[i] = true;
            found = rule;
        }
    }
    return found;
}

/* Notes as `drop`, until they are chosen for, which tensors are scales that belong to others. */
static void mark_scales(struct tenon_conversion *c)
{
    const struct tenon_model *model = c->model;

    for (size_t i = 0; i < model->n_tensors; i++)
        if (model->tensors[i].scale != TENON_NO_INDEX)
            c->choices[model->tensors[i].scale].drop = true;
}

static struct tenon_choice choose(const struct tenon_conversion *c, const struct tenon_tensor *t,
                                  const struct tenon_dtype_rule *rule, bool is_scale)
{
    const enum tenon_dtype old = (enum tenon_dtype)t->dtype;
    enum tenon_dtype dtype = old;

    if (rule != NULL)
        dtype = rule->dtype;
    else if (c->options->dtype != TENON_DTYPE_UNKNOWN && is_matrix(t) && !is_scale)
        dtype = c->options->dtype;
    else if (t->scaling == TENON_SCALING_MXFP4 && !holds(c->to, old) &&
             holds(c->to, TENON_DTYPE_MXFP4))
        dtype = TENON_DTYPE_MXFP4; /* the same numbers, in one tensor */
    return (struct tenon_choice){.dtype = (unsigned)dtype & 0x3fff,
                                 .unpack = t->scale != TENON_NO_INDEX && dtype != old};
}

/* Scales go when all codes that they belong to were unpacked. */
static void drop_scales(struct tenon_conversion *c)
{
    const struct tenon_model *model = c->model;

    for (size_t i = 0; i < model->n_tensors; i++)
        if (c->choices[i].unpack)
            c->choices[model->tensors[i].scale].drop = true;
    for (size_t i = 0; i < model->n_tensors; i++)
        if (model->tensors[i].scale != TENON_NO_INDEX && !c->choices[i].unpack)
            c->choices[model->tensors[i].scale].drop = false;
}

/* --- whether it can be --- */

/* Elements of a row as it will be written. */
static uint64_t row_of(const struct tenon_conversion *c, size_t i)
{
    const struct tenon_tensor *t = &c->model->tensors[i];
    struct tenon_logical logical;

    if (t->n_dims == 0)
        return 1;
    if (c->choices[i].unpack && tenon_logical_init(&logical, c->model, t))
        return logical.dims[logical.n_dims - 1];
    return t->dims[t->n_dims - 1];
}

static enum fault find_fault(const struct tenon_conversion *c, size_t i)
{
    const struct tenon_tensor *t = &c->model->tensors[i];
    const struct tenon_choice *choice = &c->choices[i];
    const struct tenon_dtype_info *info = tenon_dtype_info(choice->dtype);
    struct tenon_logical logical;

    if (choice->drop)
        return FAULT_NONE;
    if (choice->dtype == (enum tenon_dtype)t->dtype) /* a copy; GGUF copies what nobody knows */
        return c->from == c->to || holds(c->to, choice->dtype) ? FAULT_NONE : FAULT_TYPE;
    if (!holds(c->to, choice->dtype))
        return FAULT_TYPE;
    if (!tenon_logical_init(&logical, c->model, t))
        return FAULT_VALUES;
    if (logical.values != 1 || info->values != 1)
        return FAULT_COMPLEX;
    return row_of(c, i) % info->block_elements != 0 ? FAULT_ROWS : FAULT_NONE;
}

/* What is wrong with one of them, as the text of an error. */
static void explain(const struct tenon_conversion *c, enum fault fault, size_t i, char *buf,
                    size_t size)
{
    const struct tenon_choice *choice = &c->choices[i];
    const char *to = tenon_dtype_name(choice->dtype);
    const struct tenon_dtype_info *info = tenon_dtype_info(choice->dtype);

    if (fault == FAULT_TYPE)
        snprintf(buf, size, "%s has no type %s", c->to->title,
                 info != NULL ? to : "for elements that are not known");
    else if (fault == FAULT_VALUES)
        snprintf(buf, size, "its values are not known, so they cannot become %s", to);
    else if (fault == FAULT_COMPLEX)
        snprintf(buf, size, "complex numbers cannot become %s", to);
    else
        snprintf(buf, size, "its rows of %llu elements are not whole blocks of %s, which have %u",
                 (unsigned long long)row_of(c, i), to, (unsigned)info->block_elements);
}

/* How many tensors have the same trouble. */
static size_t count_faults(const struct tenon_conversion *c, enum fault fault)
{
    size_t n = 0;

    for (size_t i = 0; i < c->model->n_tensors; i++)
        n += find_fault(c, i) == fault;
    return n;
}

static enum tenon_status fail_fault(const struct tenon_conversion *c, enum fault fault, size_t i,
                                    struct tenon_error *err)
{
    const struct tenon_tensor *t = &c->model->tensors[i];
    char why[160], types[TENON_ERROR_TEXT_BYTES - 160];
    size_t others = count_faults(c, fault) - 1;

    explain(c, fault, i, why, sizeof(why));
    if (others == 0)
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "%s", why);
    else
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "%s; the same holds for %zu more tensor%s", why, others, others == 1 ? "" : "s");
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    if (fault == FAULT_ROWS)
        tenon_fail_hint(err, "give it another type, with --dtype-for 'NAME=F16'");
    else if (fault == FAULT_TYPE)
        tenon_fail_hint(err, "give it another type, with --dtype or --dtype-for 'NAME=TYPE': %s",
                        list_types(c->model, c->to, types, sizeof(types)));
    return TENON_ERR_CANNOT_REPRESENT;
}

/* --- the whole --- */

static enum tenon_status check_options(const struct tenon_conversion *c, struct tenon_error *err)
{
    const struct tenon_convert_options *o = c->options;
    enum tenon_status st = TENON_OK;

    if (o->dtype != TENON_DTYPE_UNKNOWN)
        st = check_type(c, o->dtype, "--dtype", err);
    for (size_t i = 0; st == TENON_OK && i < o->n_rules; i++)
        st = check_type(c, o->rules[i].dtype, "--dtype-for", err);
    return st;
}

static enum tenon_status check_used(const struct tenon_conversion *c, const bool *used,
                                    struct tenon_error *err)
{
    for (size_t i = 0; i < c->options->n_rules; i++) {
        const char *pattern = c->options->rules[i].pattern;

        if (used[i])
            continue;
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "no tensor has a name like this");
        tenon_fail_subject(err, "pattern", pattern, strlen(pattern));
        return TENON_ERR_MISUSE;
    }
    return TENON_OK;
}

static enum tenon_status check_faults(const struct tenon_conversion *c, struct tenon_error *err)
{
    for (size_t i = 0; i < c->model->n_tensors; i++) {
        enum fault fault = find_fault(c, i);

        if (fault != FAULT_NONE)
            return fail_fault(c, fault, i, err);
    }
    return TENON_OK;
}

enum tenon_status tenon_convert_choose(struct tenon_conversion *c, struct tenon_error *err)
{
    size_t n = c->model->n_tensors;
    bool *used = tenon_mem_alloc(c->options->n_rules, sizeof(*used));
    enum tenon_status st = check_options(c, err);

    if (st == TENON_OK && used == NULL)
        st = tenon_fail_memory(err);
    if (st != TENON_OK)
        goto out;
    mark_scales(c);
    for (size_t i = 0; i < n; i++) {
        const struct tenon_tensor *t = &c->model->tensors[i];

        c->choices[i] = choose(c, t, find_rule(c, used, t), c->choices[i].drop);
    }
    drop_scales(c);
    st = check_used(c, used, err);
    if (st == TENON_OK)
        st = check_faults(c, err);
out:
    tenon_mem_free(used);
    return st;
}
