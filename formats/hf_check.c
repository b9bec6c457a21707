/* Config against tokenizer against weights. */
#include "hf_check.h"

#include <string.h>

#include "fail.h"
#include "tenon/arch.h"
#include "tenon/settings.h"

static const char row_count[] = "its number of rows";

struct check {
    struct tenon_model *model;
    const struct tenon_hparams *h;
    enum tenon_status status;
};

/* Whether the architecture is known to have that flag. */
static bool has_flag(const struct check *c, unsigned flag)
{
    const struct tenon_arch *arch = tenon_model_arch(c->model);

    return arch != NULL && (arch->flags & flag) != 0;
}

/* A matrix of plain floats; packed ones do not have the shape of what they stand for. */
static bool is_matrix(const struct tenon_tensor *t)
{
    const struct tenon_dtype_info *info =
        t != NULL ? tenon_dtype_info((enum tenon_dtype)t->dtype) : NULL;

    return info != NULL && info->name[0] != 'U' && info->name[0] != 'I' && t->n_dims == 2 &&
           info->family == TENON_DTYPE_FAMILY_plain;
}

/* Two numbers that should agree, and what they are. */
struct pair {
    const char *a_name;
    uint64_t a;
    const char *b_name;
    uint64_t b;
};

/* Records a finding about tensor `t`. */
static void differ(struct check *c, const char *code, const struct tenon_tensor *t,
                   const struct pair *p)
{
    enum tenon_status st =
        tenon_model_find_fault(c->model, code, t->file, t->record_offset, t->name.data, t->name.len,
                               "%s is %llu, but %s is %llu", p->a_name, (unsigned long long)p->a,
                               p->b_name, (unsigned long long)p->b);

    if (st != TENON_OK)
        c->status = st;
}

/* Padding rows are normal; too few rows are not. */
static void check_rows(struct check *c, const struct tenon_tensor *t)
{
    const struct tenon_tokenizer *tokenizer = tenon_model_tokenizer(c->model);
    uint64_t rows = t->dims[0];
    uint64_t vocab = (uint64_t)c->h->vocab_size, ids = (uint64_t)tokenizer->max_id;

    if (tokenizer->max_id != TENON_UNKNOWN && ids >= rows)
        differ(c, "tokens_beyond_rows", t,
               &(struct pair){"the tokenizer's highest id", ids, row_count, rows});
    if (c->h->vocab_size == TENON_UNKNOWN || has_flag(c, TENON_ARCH_ROWS_DIFFER))
        return;
    if (vocab > rows)
        differ(c, "vocab_size_beyond_rows", t,
               &(struct pair){"the config's vocab_size", vocab, row_count, rows});
    else if (vocab < rows)
        differ(c, "rows_beyond_vocab_size", t,
               &(struct pair){row_count, rows, "the config's vocab_size", vocab});
}

static void check_width(struct check *c, const struct tenon_tensor *t)
{
    int64_t width =
        c->h->embedding_size != TENON_UNKNOWN ? c->h->embedding_size : c->h->hidden_size;

    if (width == TENON_UNKNOWN || t->dims[1] == (uint64_t)width)
        return;
    if (has_flag(c, TENON_ARCH_FACTORISED) && t->dims[1] < (uint64_t)width)
        return;
    differ(c, "width_wrong", t,
           &(struct pair){"its width", t->dims[1], "the config's", (uint64_t)width});
}

static void check_embedding(struct check *c)
{
    const struct tenon_tensor *t =
        tenon_model_find_role(c->model, TENON_ROLE_TOKEN_EMBD, TENON_PART_MAIN, false);

    if (!is_matrix(t))
        return;
    check_rows(c, t);
    check_width(c, t);
}

/* Rows of a projection must be heads x head_dim, or twice that where a gate is packed in. */
static void check_projection(struct check *c, enum tenon_role role, int64_t heads)
{
    const struct tenon_tensor *t = tenon_model_find_role(c->model, role, TENON_PART_MAIN, false);
    int64_t head_dim = c->h->head_dim;
    uint64_t rows, gated;

    if (head_dim == TENON_UNKNOWN && c->h->heads > 0 && c->h->hidden_size > 0)
        head_dim = c->h->hidden_size / c->h->heads;
    if (!is_matrix(t) || heads == TENON_UNKNOWN || head_dim == TENON_UNKNOWN ||
        !tenon_u64_mul(&rows, (uint64_t)heads, (uint64_t)head_dim) ||
        !tenon_u64_mul(&gated, rows, 2))
        return;
    if (t->dims[0] != rows && t->dims[0] != gated)
        differ(c, "heads_wrong", t,
               &(struct pair){row_count, t->dims[0], "the config's heads times head_dim", rows});
}

/* Latent attention splits its heads in other ways. */
static void check_heads(struct check *c)
{
    if (tenon_model_find_role(c->model, TENON_ROLE_ATTN_KV_A, TENON_PART_MAIN, false) != NULL)
        return;
    check_projection(c, TENON_ROLE_ATTN_Q, c->h->heads);
    check_projection(c, TENON_ROLE_ATTN_K,
                     c->h->kv_heads != TENON_UNKNOWN ? c->h->kv_heads : c->h->heads);
}

/* A vocabulary and layers, but no matrix of either end: a piece of a model, or names that nobody
 * knows. */
static void check_ends(struct check *c)
{
    bool layers = false;

    if (c->h->vocab_size == TENON_UNKNOWN || tenon_model_arch(c->model) == NULL)
        return;
    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);

        if (t->role == TENON_ROLE_TOKEN_EMBD || t->role == TENON_ROLE_OUTPUT)
            return;
        layers = layers || (t->role != TENON_ROLE_NONE && t->layer >= 0);
    }
    if (layers && tenon_model_find_fault(
                      c->model, "embeddings_missing", TENON_NO_INDEX, TENON_NO_OFFSET, NULL, 0,
                      "the config says a vocabulary of %lld, but neither an input nor an "
                      "output matrix is stored",
                      (long long)c->h->vocab_size) != TENON_OK)
        c->status = TENON_ERR_NO_MEMORY;
}

/* How many layers are to be stored, and what says so; unknown where nothing does. */
static int64_t stored_layers(const struct check *c, const char **what)
{
    const struct tenon_arch *arch = tenon_model_arch(c->model);
    struct tenon_setting setting;
    int64_t groups = TENON_UNKNOWN;

    *what = "layers";
    if (arch == NULL || arch->layer_groups == NULL)
        return c->h->layers;
    *what = arch->layer_groups;
    if (tenon_model_setting(c->model, arch->layer_groups, &setting))
        (void)tenon_setting_int(&setting, &groups);
    return groups;
}

/* Layers beyond those of the config are extra heads of some families; missing ones are not. */
static void check_layers(struct check *c)
{
    const char *what;
    int64_t last = -1, wanted = stored_layers(c, &what);

    if (wanted == TENON_UNKNOWN || has_flag(c, TENON_ARCH_ENCODER_DECODER))
        return;
    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);

        if (t->part == TENON_PART_MAIN && t->layer > last)
            last = t->layer;
    }
    if (last < 0 || last + 1 >= wanted)
        return;
    if (tenon_model_find_fault(c->model, "layers_missing", TENON_NO_INDEX, TENON_NO_OFFSET, NULL, 0,
                               "the config says %lld %s, the tensors end with layer %lld",
                               (long long)wanted, what, (long long)last) != TENON_OK)
        c->status = TENON_ERR_NO_MEMORY;
}

/* Flags of several levels of the config: loaders differ in which one they read. */
static void check_flags(struct check *c)
{
    const struct tenon_tie_flag *flags = c->h->tie_flags;

    for (size_t i = 1; i < c->h->n_tie_flags; i++) {
        if (flags[i].value == flags[0].value)
            continue;
        if (tenon_model_find_fault(c->model, "config_conflict", TENON_NO_INDEX, TENON_NO_OFFSET,
                                   "tie_word_embeddings", strlen("tie_word_embeddings"),
                                   "%s is %s, but %s is %s", flags[0].where,
                                   flags[0].value ? "true" : "false", flags[i].where,
                                   flags[i].value ? "true" : "false") != TENON_OK)
            c->status = TENON_ERR_NO_MEMORY;
        return;
    }
}

enum tenon_status tenon_hf_check(struct tenon_model *model, struct tenon_error *err)
{
    struct check c = {.model = model, .h = tenon_model_hparams(model)};

    check_embedding(&c);
    check_ends(&c);
    check_heads(&c);
    check_layers(&c);
    check_flags(&c);
    if (c.status != TENON_OK)
        return tenon_fail_memory(err);
    return tenon_hf_check_names(model, err);
}
