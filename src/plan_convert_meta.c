/* Metadata between containers: GGUF has types, safetensors has texts. */
#include <string.h>

#include "fail.h"
#include "meta_text.h"
#include "plan_convert.h"
#include "tenon/arch.h"
#include "text.h"

static const char arch_key[] = "general.architecture";

static const struct tenon_meta_entry *find_pair(const struct tenon_meta_entry *metas, size_t n,
                                                const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (tenon_str_equal(metas[i].key, key))
            return &metas[i];
    return NULL;
}

/* --- to texts --- */

/* Spells every pair as texts; what has no such form is a loss. */
static enum tenon_status spell_pairs(struct tenon_conversion *c, struct tenon_error *err)
{
    size_t n = c->file.n_metas;
    enum tenon_status st = TENON_OK;

    c->file.n_metas = 0;
    for (size_t i = 0; st == TENON_OK && i < n; i++) {
        struct tenon_meta_entry typed = c->metas[i];
        struct tenon_error why = {0};

        st = tenon_meta_to_text(&c->plan->arena, &typed, &c->metas[c->file.n_metas], &why);
        if (st == TENON_OK)
            c->file.n_metas++;
        else if (st == TENON_ERR_CANNOT_REPRESENT)
            st = tenon_plan_add_loss(c->plan, "metadata", typed.key, "--drop-metadata",
                                     c->options->drop_metadata, err, "%s", why.message);
        else
            st = tenon_fail_memory(err);
    }
    return st;
}

/* --- from texts --- */

static enum tenon_status read_pairs(struct tenon_conversion *c, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < c->file.n_metas; i++) {
        struct tenon_meta_entry text = c->metas[i];

        st = tenon_meta_from_text(&c->plan->arena, &text, &c->metas[i], err);
    }
    return st;
}

/* --- general.architecture --- */

static enum tenon_status fail_arch(struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
               "the architecture, which a GGUF file must name, cannot be told");
    tenon_fail_subject(err, "key", arch_key, sizeof(arch_key) - 1);
    tenon_fail_hint(err, "name it with --arch");
    return TENON_ERR_NOT_FOUND;
}

/* The name that GGUF has for the model's family; empty when there is none. */
static struct tenon_str name_of_family(const struct tenon_model *model)
{
    const struct tenon_arch *arch = tenon_model_arch(model);
    const char *names = arch != NULL ? arch->gguf_names : "";

    return (struct tenon_str){names, strcspn(names, " ")};
}

/* Whether `name` is one of the words of `words`. */
static bool is_word_of(const char *words, const char *name)
{
    size_t len = strlen(name);

    for (size_t n; *words != '\0'; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (n == len && memcmp(words, name, n) == 0)
            return true;
    }
    return false;
}

/* A name that the options give to a model whose family has others. */
static enum tenon_status check_family(const struct tenon_conversion *c, struct tenon_error *err)
{
    const struct tenon_str usual = name_of_family(c->model);

    if (c->options->arch == NULL || c->options->other_arch || usual.len == 0 ||
        is_word_of(tenon_model_arch(c->model)->gguf_names, c->options->arch))
        return TENON_OK;
    tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
               "the model is of another architecture than --arch");
    tenon_fail_subject(err, "key", arch_key, sizeof(arch_key) - 1);
    tenon_fail_hint(err, "without --arch it is '%.*s'; --force writes the other all the same",
                    (int)usual.len, usual.data);
    return TENON_ERR_MISUSE;
}

/* Puts the pair at place `i` in front of the others. */
static void move_to_front(struct tenon_meta_entry *metas, size_t i)
{
    struct tenon_meta_entry first = metas[i];

    memmove(metas + 1, metas, i * sizeof(*metas));
    metas[0] = first;
}

static void add_arch(struct tenon_conversion *c, struct tenon_str name)
{
    c->metas[c->file.n_metas] = (struct tenon_meta_entry){
        .key = {arch_key, sizeof(arch_key) - 1},
        .type = TENON_META_STRING,
        .item = TENON_META_STRING,
        .count = 1,
        .value = {TENON_META_STRING, {.str = name}},
        .offset = TENON_NO_OFFSET,
    };
    move_to_front(c->metas, c->file.n_metas++);
}

/* A file that comes from elsewhere must say of which family it is, and llama.cpp wants it first. */
static enum tenon_status settle_arch(struct tenon_conversion *c, struct tenon_error *err)
{
    const struct tenon_meta_entry *known = find_pair(c->metas, c->file.n_metas, arch_key);
    const char *wanted = c->options->arch;
    struct tenon_str name =
        wanted != NULL ? (struct tenon_str){wanted, strlen(wanted)} : name_of_family(c->model);
    enum tenon_status st;

    if (known != NULL && wanted != NULL &&
        !(known->type == TENON_META_STRING && tenon_str_equal(known->value.as.str, wanted))) {
        tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET,
                   "the model names another architecture than --arch");
        tenon_fail_subject(err, "key", arch_key, sizeof(arch_key) - 1);
        tenon_fail_hint(err, "change it with 'tenon edit --set %s=%s'", arch_key, wanted);
        return TENON_ERR_MISUSE;
    }
    if (known != NULL && c->from != c->to)
        move_to_front(c->metas, (size_t)(known - c->metas));
    if (known != NULL || (wanted == NULL && c->from == c->to))
        return TENON_OK;
    if (name.len == 0)
        return fail_arch(err);
    st = check_family(c, err);
    if (st == TENON_OK)
        add_arch(c, name);
    return st;
}

/* --- general.file_type --- */

/* What llama.cpp calls a file whose matrices are mostly of that type. */
static const struct {
    enum tenon_dtype dtype;
    uint64_t number;
} file_types[] = {
    {TENON_DTYPE_F32, 0},     {TENON_DTYPE_F16, 1},     {TENON_DTYPE_Q4_0, 2},
    {TENON_DTYPE_Q4_1, 3},    {TENON_DTYPE_Q8_0, 7},    {TENON_DTYPE_Q5_0, 8},
    {TENON_DTYPE_Q5_1, 9},    {TENON_DTYPE_Q2_K, 10},   {TENON_DTYPE_Q3_K, 11},
    {TENON_DTYPE_Q4_K, 14},   {TENON_DTYPE_Q5_K, 16},   {TENON_DTYPE_Q6_K, 18},
    {TENON_DTYPE_IQ4_NL, 25}, {TENON_DTYPE_IQ4_XS, 30}, {TENON_DTYPE_BF16, 32},
    {TENON_DTYPE_TQ1_0, 36},  {TENON_DTYPE_TQ2_0, 37},  {TENON_DTYPE_MXFP4, 38},
};

/* Where the file says what its matrices mostly are, that follows --dtype. */
static void settle_file_type(struct tenon_conversion *c)
{
    for (size_t i = 0; i < c->file.n_metas; i++) {
        struct tenon_meta_entry *entry = &c->metas[i];

        if (!tenon_str_equal(entry->key, "general.file_type") || entry->type != TENON_META_U32)
            continue;
        for (size_t k = 0; k < sizeof(file_types) / sizeof(file_types[0]); k++)
            if (file_types[k].dtype == c->options->dtype)
                entry->value.as.u64 = file_types[k].number;
    }
}

enum tenon_status tenon_convert_metas(struct tenon_conversion *c, struct tenon_error *err)
{
    bool typed = c->to == &tenon_containers[TENON_CONTAINER_GGUF];
    enum tenon_status st = tenon_plan_metas_of(c->model, 1, &c->metas, &c->file.n_metas, err);

    if (st == TENON_OK)
        st = tenon_plan_list_repeats(c->plan, c->model, c->options->drop_metadata, err);
    if (st == TENON_OK && c->from != c->to && typed)
        st = read_pairs(c, err);
    if (st == TENON_OK && typed)
        st = settle_arch(c, err);
    if (st == TENON_OK && typed)
        settle_file_type(c);
    if (st == TENON_OK && c->from != c->to && !typed)
        st = spell_pairs(c, err);
    c->file.metas = c->metas;
    return st;
}
