/* What people should know about a conversion before it is carried out. */
#include "plan_convert.h"
#include "tenon/logical.h"

/* Numbers of tensors that something happened to. */
struct tally {
    size_t shared, unpacked, cast;
    size_t groups; /* of the unpacked: of MXFP4 */
};

static struct tally count(const struct tenon_conversion *c)
{
    struct tally tally = {0};

    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);
        const struct tenon_choice *choice = &c->choices[i];

        if (choice->drop)
            continue;
        tally.shared += (t->flags & TENON_TENSOR_SHARED) != 0;
        tally.unpacked += choice->unpack;
        tally.groups += choice->unpack && t->scaling == TENON_SCALING_MXFP4;
        tally.cast += choice->dtype != (enum tenon_dtype)t->dtype;
    }
    return tally;
}

static enum tenon_status note_tensors(struct tenon_conversion *c, const struct tally *tally,
                                      struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (tally->cast != 0)
        st = tenon_plan_add_note(c->plan, err, "%zu tensor%s another element type", tally->cast,
                                 tally->cast == 1 ? " gets" : "s get");
    if (st == TENON_OK && tally->unpacked != 0)
        st = tenon_plan_add_note(c->plan, err,
                                 "the codes of %zu tensor%s become numbers, with the scales beside "
                                 "them, which are left out",
                                 tally->unpacked, tally->unpacked == 1 ? "" : "s");
    /* transformers unpacks X_blocks to a parameter X whose last two dimensions are swapped. */
    if (st == TENON_OK && tally->groups != 0)
        st = tenon_plan_add_note(c->plan, err,
                                 "names in _blocks and the order of dimensions are kept: "
                                 "transformers has such numbers under the name before that, with "
                                 "the last two dimensions swapped");
    if (st == TENON_OK && tally->shared != 0)
        st = tenon_plan_add_note(c->plan, err, "%zu tensor%s a copy of bytes that were another's",
                                 tally->shared, tally->shared == 1 ? " gets" : "s get");
    return st;
}

/* --- the config of a folder --- */

/* What torch calls types, as JSON. */
static const struct {
    enum tenon_dtype dtype;
    const char *json;
} torch_types[] = {
    {TENON_DTYPE_F64, "\"float64\""},
    {TENON_DTYPE_F32, "\"float32\""},
    {TENON_DTYPE_F16, "\"float16\""},
    {TENON_DTYPE_BF16, "\"bfloat16\""},
};
enum { N_TORCH_TYPES = sizeof(torch_types) / sizeof(torch_types[0]) };

/* The row of a type, N_TORCH_TYPES for none. */
static size_t find_torch(enum tenon_dtype dtype)
{
    size_t i = 0;

    while (i < N_TORCH_TYPES && torch_types[i].dtype != dtype)
        i++;
    return i;
}

/* Elements of tensor `i` as it is written. */
static uint64_t elements_of(const struct tenon_conversion *c, size_t i)
{
    const struct tenon_tensor *t = tenon_model_tensor(c->model, i);
    struct tenon_logical logical;

    if (c->choices[i].unpack && tenon_logical_init(&logical, c->model, t))
        return logical.n_elements;
    return t->n_elements;
}

/* The sum, or the largest number. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The type of the weights by far most, nine tenths of the elements of all matrices of plain floats,
 * if one of them got it now. A loader makes everything that type: what is rare (a buffer, a row of
 * biases) does not decide, and a mixture, which could lose by it, is not settled here. */
static const char *find_new_type(const struct tenon_conversion *c)
{
    uint64_t elements[N_TORCH_TYPES] = {0}, all = 0;
    bool changed[N_TORCH_TYPES] = {false};

    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);
        size_t type = find_torch((enum tenon_dtype)c->choices[i].dtype);

        if (c->choices[i].drop || t->n_dims < 2 || type == N_TORCH_TYPES)
            continue;
        elements[type] = sum(elements[type], elements_of(c, i));
        all = sum(all, elements_of(c, i));
        changed[type] = changed[type] || c->choices[i].dtype != t->dtype;
    }
    for (size_t i = 0; i < N_TORCH_TYPES; i++)
        if (changed[i] && all - elements[i] <= all / 10)
            return torch_types[i].json;
    return NULL;
}

/* Whether every matrix of codes became numbers, so that no scheme is left to be announced. */
static bool all_unpacked(const struct tenon_conversion *c, const struct tally *tally)
{
    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++)
        if (tenon_model_tensor(c->model, i)->scale != TENON_NO_INDEX && !c->choices[i].unpack)
            return false;
    return tally->unpacked != 0;
}

/* The config says of which type the weights are and how they are quantized. */
static enum tenon_status settle_config(struct tenon_conversion *c, const struct tally *tally,
                                       struct tenon_error *err)
{
    static const char *const places[] = {"torch_dtype", "dtype", "text_config.torch_dtype",
                                         "text_config.dtype"};
    const struct tenon_hparams *h = tenon_model_hparams(c->model);
    struct tenon_plan_flag flag = {.name = "config.json", .value = TENON_FLAG_TEXT};
    enum tenon_status st = TENON_OK;

    flag.text = h->torch_dtype.len != 0 ? find_new_type(c) : NULL;
    for (size_t i = 0; flag.text != NULL && st == TENON_OK && i < sizeof(places) / sizeof(*places);
         i++) {
        flag.key = places[i];
        st = tenon_plan_add_flag(c->plan, &flag, err);
    }
    if (st == TENON_OK && flag.text != NULL)
        st = tenon_plan_add_note(c->plan, err, "the config says %s now", flag.text);
    if (st != TENON_OK || !h->quantized || !all_unpacked(c, tally))
        return st;
    flag = (struct tenon_plan_flag){
        .name = "config.json", .key = "quantization_config", .value = TENON_FLAG_REMOVE};
    st = tenon_plan_add_flag(c->plan, &flag, err);
    return st == TENON_OK
               ? tenon_plan_add_note(c->plan, err, "the config announces no quantization any more")
               : st;
}

enum tenon_status tenon_convert_notes(struct tenon_conversion *c, struct tenon_error *err)
{
    struct tally tally = count(c);
    enum tenon_status st = note_tensors(c, &tally, err);

    if (st == TENON_OK && c->to == &tenon_containers[TENON_CONTAINER_GGUF] && c->from != c->to &&
        tenon_model_dialect(c->model) != TENON_DIALECT_GGUF && tenon_model_n_tensors(c->model) != 0)
        st = tenon_plan_add_note(c->plan, err,
                                 "names are kept: this is a container of the same tensors, not a "
                                 "model that llama.cpp would load");
    if (st == TENON_OK && c->folder)
        st = settle_config(c, &tally, err);
    if (st == TENON_OK && !c->folder)
        st = tenon_plan_note_left(c->plan, c->model, err);
    return st;
}
