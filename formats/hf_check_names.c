/* What tensor names give away about how a checkpoint came to be. */
#include <string.h>

#include "fail.h"
#include "hf_check.h"
#include "tenon/arch.h"

enum scheme {
    SCHEME_BNB_NF4,
    SCHEME_BNB_FP4,
    SCHEME_BNB_4BIT,
    SCHEME_BNB_INT8,
    SCHEME_GPTQ,
    SCHEME_GPTQ_OR_AWQ,
    SCHEME_FP8_BLOCKS,
    SCHEME_SCALED,
    SCHEME_COMPRESSED,
    SCHEME_QUANTO,
    SCHEME_MXFP4,
    N_SCHEMES
};

static const char *const scheme_names[N_SCHEMES] = {
    "bitsandbytes nf4",
    "bitsandbytes fp4",
    "bitsandbytes 4-bit",
    "bitsandbytes int8",
    "GPTQ",
    "GPTQ or AWQ",
    "FP8 with a scale for each block",
    "weights with scales (FP8 and similar)",
    "compressed-tensors",
    "quanto",
    "MXFP4",
};

/* Endings that only quantizers write. */
#define SUFFIX(text, scheme)                                                                       \
    {                                                                                              \
        text, sizeof(text) - 1, scheme                                                             \
    }
static const struct {
    const char *text;
    size_t len;
    enum scheme scheme;
} suffixes[] = {
    SUFFIX(".quant_state.bitsandbytes__nf4", SCHEME_BNB_NF4),
    SUFFIX(".quant_state.bitsandbytes__fp4", SCHEME_BNB_FP4),
    SUFFIX(".absmax", SCHEME_BNB_4BIT),
    SUFFIX(".quant_map", SCHEME_BNB_4BIT),
    SUFFIX(".nested_absmax", SCHEME_BNB_4BIT),
    SUFFIX(".nested_quant_map", SCHEME_BNB_4BIT),
    SUFFIX(".SCB", SCHEME_BNB_INT8),
    SUFFIX(".weight_format", SCHEME_BNB_INT8),
    SUFFIX(".g_idx", SCHEME_GPTQ),
    SUFFIX(".qweight", SCHEME_GPTQ_OR_AWQ),
    SUFFIX(".qzeros", SCHEME_GPTQ_OR_AWQ),
    SUFFIX(".weight_scale_inv", SCHEME_FP8_BLOCKS),
    SUFFIX(".weight_scale", SCHEME_SCALED),
    SUFFIX(".input_scale", SCHEME_SCALED),
    SUFFIX(".activation_scale", SCHEME_SCALED),
    SUFFIX(".weight_packed", SCHEME_COMPRESSED),
    SUFFIX(".weight_shape", SCHEME_COMPRESSED),
    SUFFIX(".weight_zero_point", SCHEME_COMPRESSED),
    SUFFIX(".weight._data", SCHEME_QUANTO),
    SUFFIX(".weight._scale", SCHEME_QUANTO),
    SUFFIX("_proj_blocks", SCHEME_MXFP4),
    SUFFIX("_proj_scales", SCHEME_MXFP4),
};

/* Parts of a name that only adapters have. */
enum adapter_kind { ADAPTER_LORA, ADAPTER_DORA, ADAPTER_LOHA, ADAPTER_SAVED, N_ADAPTER_KINDS };

static const struct {
    const char *part;
    enum adapter_kind kind;
} adapter_parts[] = {
    {"lora_magnitude_vector", ADAPTER_DORA},
    {"lora_A", ADAPTER_LORA},
    {"lora_B", ADAPTER_LORA},
    {"lora_a", ADAPTER_LORA},
    {"lora_b", ADAPTER_LORA},
    {"lora_embedding_A", ADAPTER_LORA},
    {"lora_embedding_B", ADAPTER_LORA},
    {"lora_down", ADAPTER_LORA},
    {"lora_up", ADAPTER_LORA},
    {"hada_w1_a", ADAPTER_LOHA},
    {"hada_w1_b", ADAPTER_LOHA},
    {"hada_w2_a", ADAPTER_LOHA},
    {"hada_w2_b", ADAPTER_LOHA},
    {"modules_to_save", ADAPTER_SAVED},
};

/* How many of a kind, and the first. */
struct tally {
    size_t n;
    const struct tenon_tensor *first;
};

struct names {
    struct tally schemes[N_SCHEMES];
    struct tally adapters[N_ADAPTER_KINDS];
    struct tally base_layers; /* weights of the base model inside an adapter's wrapper */
    struct tally plain;       /* neither of these */
    struct tally wrapped;     /* of the plain ones */
    struct tally empty;
};

static void count(struct tally *tally, const struct tenon_tensor *t)
{
    if (tally->n++ == 0)
        tally->first = t;
}

/* The quantizer that writes such a name, N_SCHEMES for none. Asked for every tensor, so the last
 * byte is looked at first. */
static enum scheme find_scheme(const struct tenon_str *name)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t len = suffixes[i].len;

        if (name->len >= len && name->data[name->len - 1] == suffixes[i].text[len - 1] &&
            memcmp(name->data + name->len - len, suffixes[i].text, len) == 0)
            return suffixes[i].scheme;
    }
    return N_SCHEMES;
}

/* Whether `part` is the segment of a name (dots separate them) from `start` to `end`. */
static bool is_segment(const struct tenon_str *name, size_t start, size_t end, const char *part)
{
    size_t n = strlen(part);

    return end - start == n && memcmp(name->data + start, part, n) == 0;
}

static enum adapter_kind find_adapter(const struct tenon_str *name, bool *out_base)
{
    size_t start = 0;

    for (size_t end = 0; end <= name->len; end++) {
        if (end != name->len && name->data[end] != '.')
            continue;
        for (size_t i = 0; i < sizeof(adapter_parts) / sizeof(adapter_parts[0]); i++)
            if (is_segment(name, start, end, adapter_parts[i].part))
                return adapter_parts[i].kind;
        if (is_segment(name, start, end, "base_layer"))
            *out_base = true;
        start = end + 1;
    }
    return N_ADAPTER_KINDS;
}

/* Whether a name has a part that only adapters use; most have not, and are not taken apart. */
static bool may_be_adapter(const struct tenon_str *name)
{
    static const char *const marks[] = {"lora_", "hada_w", "modules_to_save", "base_layer"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        size_t n = strlen(marks[i]);

        for (size_t pos = 0; pos + n <= name->len; pos++) {
            const char *at = memchr(name->data + pos, marks[i][0], name->len - pos - n + 1);

            if (at == NULL)
                break;
            pos = (size_t)(at - name->data);
            if (memcmp(at, marks[i], n) == 0)
                return true;
        }
    }
    return false;
}

static void count_plain(struct names *names, const struct tenon_tensor *t)
{
    count(&names->plain, t);
    if (tenon_arch_is_wrapped(t->name.data, t->name.len))
        count(&names->wrapped, t);
}

static void sort_name(struct names *names, const struct tenon_tensor *t)
{
    enum scheme scheme = find_scheme(&t->name);
    enum adapter_kind adapter = N_ADAPTER_KINDS;
    bool base = false;

    if (t->n_dims == 1 && t->dims[0] == 0)
        count(&names->empty, t);
    if (may_be_adapter(&t->name))
        adapter = find_adapter(&t->name, &base);
    if (scheme != N_SCHEMES)
        count(&names->schemes[scheme], t);
    else if (adapter != N_ADAPTER_KINDS)
        count(&names->adapters[adapter], t);
    else if (base)
        count(&names->base_layers, t);
    else
        count_plain(names, t);
}

/* --- reports --- */

/* `what` must read well after one tensor and after several. */
static enum tenon_status report(struct tenon_model *model, const char *code,
                                const struct tally *tally, const char *what)
{
    const struct tenon_tensor *t = tally->first;

    return tenon_model_find_fault(model, code, t->file, t->record_offset, t->name.data, t->name.len,
                                  "%zu tensor%s %s", tally->n, tally->n == 1 ? "" : "s", what);
}

static void add(struct tally *to, const struct tally *from)
{
    if (to->n == 0)
        to->first = from->first;
    to->n += from->n;
}

static void move(struct tally *to, struct tally *from)
{
    add(to, from);
    from->n = 0;
}

/* Endings that several schemes share belong to the one that is certain. */
static void settle_schemes(struct tally *schemes)
{
    if (schemes[SCHEME_BNB_4BIT].n != 0 && schemes[SCHEME_BNB_NF4].n != 0)
        move(&schemes[SCHEME_BNB_NF4], &schemes[SCHEME_BNB_4BIT]);
    if (schemes[SCHEME_BNB_4BIT].n != 0 && schemes[SCHEME_BNB_FP4].n != 0)
        move(&schemes[SCHEME_BNB_FP4], &schemes[SCHEME_BNB_4BIT]);
    if (schemes[SCHEME_GPTQ_OR_AWQ].n != 0 && schemes[SCHEME_GPTQ].n != 0)
        move(&schemes[SCHEME_GPTQ], &schemes[SCHEME_GPTQ_OR_AWQ]);
    if (schemes[SCHEME_SCALED].n != 0 && schemes[SCHEME_COMPRESSED].n != 0)
        move(&schemes[SCHEME_COMPRESSED], &schemes[SCHEME_SCALED]);
    if (schemes[SCHEME_SCALED].n != 0 && schemes[SCHEME_FP8_BLOCKS].n != 0)
        move(&schemes[SCHEME_FP8_BLOCKS], &schemes[SCHEME_SCALED]);
}

/* Tensors of a quantizer that the config does not announce are leftovers. */
static enum tenon_status report_schemes(struct tenon_model *model, struct names *names)
{
    const struct tenon_hparams *h = tenon_model_hparams(model);
    bool expected = h->quantized || h->model_type.len == 0;
    enum tenon_status st = TENON_OK;

    settle_schemes(names->schemes);
    for (size_t i = 0; st == TENON_OK && i < N_SCHEMES; i++) {
        const struct tally *tally = &names->schemes[i];
        const struct tenon_tensor *t = tally->first;

        if (tally->n != 0)
            st = tenon_model_find_fault(model, expected ? "quantizer" : "quantizer_leftovers",
                                        t->file, t->record_offset, t->name.data, t->name.len,
                                        "%zu tensor%s of %s%s", tally->n, tally->n == 1 ? "" : "s",
                                        scheme_names[i],
                                        expected ? "" : ", of which the config says nothing");
    }
    return st;
}

static enum tenon_status report_adapters(struct tenon_model *model, const struct names *names)
{
    static const char *const what[N_ADAPTER_KINDS] = {
        "of the low-rank pairs of a LoRA adapter", "with magnitudes of a DoRA adapter",
        "with factors of a LoHa adapter", "of full weights that an adapter saved along"};
    size_t n = 0;
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < N_ADAPTER_KINDS; i++)
        n += names->adapters[i].n;
    for (size_t i = 0; st == TENON_OK && i < N_ADAPTER_KINDS; i++)
        if (names->adapters[i].n != 0)
            st = report(model, "adapter", &names->adapters[i], what[i]);
    if (st == TENON_OK && names->base_layers.n != 0)
        st = report(model, "adapter", &names->base_layers,
                    "of the base model inside an adapter's wrapper");
    if (st == TENON_OK && n != 0 && names->plain.n != 0)
        st = report(model, "adapter", &names->plain, "of full weights beside an adapter");
    return st;
}

/* A config, an input matrix and layers make a whole model; the adapter of one has no layers. */
static bool is_whole(const struct tenon_model *model)
{
    static const enum tenon_role roles[] = {TENON_ROLE_ATTN_Q, TENON_ROLE_ATTN_QKV,
                                            TENON_ROLE_FFN_UP};

    if (tenon_model_hparams(model)->model_type.len == 0 ||
        tenon_model_find_role(model, TENON_ROLE_TOKEN_EMBD, TENON_PART_MAIN, false) == NULL)
        return false;
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (tenon_model_find_role(model, roles[i], TENON_PART_MAIN, false) != NULL)
            return true;
    return false;
}

/* What loaders of whole models do not look for, or not under this name. */
static enum tenon_status report_unread(struct tenon_model *model, const struct names *names)
{
    struct tally pairs = {0};

    for (size_t i = 0; i < ADAPTER_SAVED; i++)
        add(&pairs, &names->adapters[i]);
    if (!is_whole(model))
        return TENON_OK;
    if (pairs.n != 0)
        return report(model, "adapter_unmerged", &pairs,
                      "of an adapter not merged into the weights beside, and ignored on loading");
    if (names->wrapped.n != 0)
        return report(model, "wrapped_names", &names->wrapped,
                      "under a training tool's prefix, where loaders do not look");
    return TENON_OK;
}

enum tenon_status tenon_hf_check_names(struct tenon_model *model, struct tenon_error *err)
{
    struct names names = {.empty = {0}};
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
        sort_name(&names, tenon_model_tensor(model, i));
    st = report_schemes(model, &names);
    if (st == TENON_OK)
        st = report_adapters(model, &names);
    if (st == TENON_OK)
        st = report_unread(model, &names);
    if (st == TENON_OK && names.empty.n > 1)
        st = report(model, "empty_placeholders", &names.empty,
                    "of no elements: the checkpoint was not gathered before it was saved");
    return st == TENON_OK ? st : tenon_fail_memory(err);
}
