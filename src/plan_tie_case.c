#include "plan_tie_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "model_private.h"
#include "text.h"

static const char config_prefix[] = "config.json: ";
static const char usual_flag[] = "tie_word_embeddings";

enum tenon_status tenon_tie_begin(struct tenon_tie_case *c, const struct tenon_model *model,
                                  const char *target, unsigned threads, struct tenon_error *err)
{
    struct tenon_tying_options options;
    enum tenon_status st = tenon_mirror_init(&c->mirror, model, target, err);

    c->model = model;
    c->arch = tenon_model_arch(model);
    c->gguf = strcmp(tenon_model_format(model), "gguf") == 0;
    tenon_tying_options_init(&options);
    options.threads = threads;
    options.groups = false;
    options.no_hashes = true;
    return st == TENON_OK ? tenon_tying_analyse(model, &options, &c->tying, err) : st;
}

void tenon_tie_release(struct tenon_tie_case *c)
{
    tenon_tying_free(c->tying);
    tenon_mirror_release(&c->mirror);
}

TENON_PRINTF(3, 0)
static enum tenon_status refuse(const struct tenon_tie_case *c, struct tenon_error *err,
                                const char *format, va_list args)
{
    char text[TENON_ERROR_TEXT_BYTES];

    vsnprintf(text, sizeof(text), format, args);
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "%s", text);
    tenon_fail_path(err, tenon_model_path(c->model));
    return TENON_ERR_CANNOT_REPRESENT;
}

enum tenon_status tenon_tie_refuse(const struct tenon_tie_case *c, struct tenon_error *err,
                                   const char *format, ...)
{
    va_list args;
    enum tenon_status st;

    va_start(args, format);
    st = refuse(c, err, format, args);
    va_end(args);
    return st;
}

enum tenon_status tenon_tie_deny(const struct tenon_tie_case *c, struct tenon_error *err,
                                 const char *format, ...)
{
    va_list args;
    enum tenon_status st;

    if (c->force)
        return TENON_OK;
    va_start(args, format);
    st = refuse(c, err, format, args);
    va_end(args);
    tenon_fail_hint(err, "--force writes it nevertheless");
    return st;
}

/* --- tensors --- */

static struct tenon_tie_change *find_change(struct tenon_tie_case *c,
                                            const struct tenon_tensor *tensor)
{
    for (size_t i = 0; i < c->n_changes; i++)
        if (c->changes[i].tensor == tensor)
            return &c->changes[i];
    return NULL;
}

/* The tensor of the scales beside `t`, or NULL. */
static const struct tenon_tensor *scales_of(const struct tenon_tie_case *c,
                                            const struct tenon_tensor *t)
{
    return t->scale != TENON_NO_INDEX ? tenon_model_tensor(c->model, t->scale) : NULL;
}

enum tenon_status tenon_tie_change(struct tenon_tie_case *c, const struct tenon_tensor *tensor,
                                   struct tenon_tie_change **out, struct tenon_error *err)
{
    const struct tenon_tensor *scales = scales_of(c, tensor);
    struct tenon_tie_change *change = find_change(c, tensor);

    if (change == NULL && c->n_changes + 2 > TENON_TIE_CHANGES)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many matrices to change");
    if (change == NULL) {
        change = &c->changes[c->n_changes++];
        *change = (struct tenon_tie_change){.tensor = tensor, .file = tensor->file};
        if (scales != NULL && find_change(c, scales) == NULL)
            c->changes[c->n_changes++] =
                (struct tenon_tie_change){.tensor = scales, .file = scales->file};
    }
    *out = change;
    return TENON_OK;
}

enum tenon_status tenon_tie_add(struct tenon_tie_case *c, uint32_t file,
                                struct tenon_tie_change **out, struct tenon_error *err)
{
    if (c->n_changes >= TENON_TIE_CHANGES)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many matrices to change");
    c->changes[c->n_changes] = (struct tenon_tie_change){.file = file};
    *out = &c->changes[c->n_changes++];
    return TENON_OK;
}

/* One tensor more in the place of the change. */
static enum tenon_status put(struct tenon_tie_case *c, struct tenon_tie_change *change,
                             struct tenon_str name, const struct tenon_tensor *from,
                             struct tenon_error *err)
{
    size_t i = change->n_puts;

    change->names[i] = tenon_arena_text(&c->mirror.plan->arena, name.data, name.len);
    if (change->names[i] == NULL)
        return tenon_fail_memory(err);
    change->sources[i][0] =
        (struct tenon_plan_source){.model = c->model, .tensor = from, .n_rows = UINT64_MAX};
    change->puts[i] = (struct tenon_plan_tensor){
        .name = tenon_str_of(change->names[i], name.len),
        .dtype = (enum tenon_dtype)from->dtype,
        .dtype_raw = from->dtype_raw,
        .n_dims = from->n_dims,
        .dims = from->dims,
        .n_sources = 1,
    };
    change->n_puts++;
    return TENON_OK;
}

/* The scales of `from` follow its name. */
static enum tenon_status put_scales(struct tenon_tie_case *c, struct tenon_tie_change *change,
                                    struct tenon_str name, const struct tenon_tensor *from,
                                    const struct tenon_tensor *scales, struct tenon_error *err)
{
    size_t stem = from->name.len, rest = 0, room = 0;
    char *text;

    if (scales->name.len < stem || memcmp(scales->name.data, from->name.data, stem) != 0) {
        tenon_tie_refuse(c, err, "the name of its scales does not follow from its own");
        tenon_fail_subject(err, "tensor", from->name.data, from->name.len);
        return TENON_ERR_CANNOT_REPRESENT;
    }
    rest = scales->name.len - stem;
    text = tenon_size_add(&room, name.len, rest)
               ? tenon_arena_alloc(&c->mirror.plan->arena, room + 1, 1)
               : NULL;
    if (text == NULL)
        return tenon_fail_memory(err);
    memcpy(text, name.data, name.len);
    memcpy(text + name.len, scales->name.data + stem, rest);
    return put(c, change, tenon_str_of(text, room), scales, err);
}

enum tenon_status tenon_tie_put(struct tenon_tie_case *c, struct tenon_tie_change *change,
                                struct tenon_str name, const struct tenon_tensor *from,
                                struct tenon_error *err)
{
    const struct tenon_tensor *scales = scales_of(c, from);
    enum tenon_status st = put(c, change, name, from, err);

    return st == TENON_OK && scales != NULL ? put_scales(c, change, name, from, scales, err) : st;
}

static void count_tensors(struct tenon_tie_case *c)
{
    for (size_t i = 0; i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);

        c->mirror.files[t->file].n_tensors += find_change(c, t) == NULL;
    }
    for (size_t i = 0; i < c->n_changes; i++)
        c->mirror.files[c->changes[i].file].n_tensors += c->changes[i].n_puts;
}

static enum tenon_status write_change(struct tenon_tie_case *c, struct tenon_tie_change *change,
                                      struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < change->n_puts; i++) {
        struct tenon_plan_tensor *t = &change->puts[i];

        t->sources = change->sources[i];
        t->file = c->mirror.files[change->file].number;
        st = tenon_plan_add_tensor(c->mirror.plan, t, err);
    }
    return st;
}

/* What is added before `t`; NULL: at the end. */
static enum tenon_status write_additions(struct tenon_tie_case *c, const struct tenon_tensor *t,
                                         struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < c->n_changes; i++)
        if (c->changes[i].tensor == NULL && c->changes[i].before == t)
            st = write_change(c, &c->changes[i], err);
    return st;
}

enum tenon_status tenon_tie_write(struct tenon_tie_case *c, struct tenon_error *err)
{
    struct tenon_plan *plan = c->mirror.plan;
    enum tenon_status st;

    count_tensors(c);
    st = tenon_mirror_add_files(&c->mirror, err);

    for (size_t i = 0; st == TENON_OK && i < tenon_model_n_tensors(c->model); i++) {
        const struct tenon_tensor *t = tenon_model_tensor(c->model, i);
        struct tenon_tie_change *change = find_change(c, t);

        st = write_additions(c, t, err);
        if (st != TENON_OK)
            return st;
        st = change != NULL ? write_change(c, change, err)
                            : tenon_plan_add_tensor_of(plan, c->model, t,
                                                       c->mirror.files[t->file].number, err);
    }
    return st == TENON_OK ? write_additions(c, NULL, err) : st;
}

/* --- what says that it is tied --- */

static bool is_tied(enum tenon_tie_default tie)
{
    return tie == TENON_TIE_YES || tie == TENON_TIE_ALWAYS;
}

static bool is_untied(enum tenon_tie_default tie)
{
    return tie == TENON_TIE_NO || tie == TENON_TIE_NEVER;
}

static bool is_recorded(const struct tenon_tie_case *c)
{
    return tenon_tie_record(c, c->tying->input).len > 0 ||
           tenon_tie_record(c, c->tying->output).len > 0;
}

/* Whether the config, if it were silent, would make one stored matrix serve as both. */
static bool is_default(const struct tenon_tie_case *c)
{
    if (c->arch == NULL || c->arch->tie_v5 == TENON_TIE_UNKNOWN)
        return true; /* what is stored decides */
    return is_tied(c->arch->tie_v5) || is_recorded(c);
}

/* A flag of the config gets `value`, or is made where none stands. */
static enum tenon_status set_flag(struct tenon_tie_case *c, const char *where,
                                  enum tenon_flag_value value, struct tenon_error *err)
{
    struct tenon_plan_flag flag = {.name = "config.json", .key = where, .value = value};

    if (strncmp(where, config_prefix, sizeof(config_prefix) - 1) == 0)
        flag.key = where + sizeof(config_prefix) - 1;
    return tenon_plan_add_flag(c->mirror.plan, &flag, err);
}

/* Whether a config that is silent must speak for the result to be understood. */
static bool must_speak(const struct tenon_tie_case *c, bool tied)
{
    if (c->arch == NULL)
        return true; /* versions of transformers differ */
    return tied ? !is_tied(c->arch->tie_v4) || !is_tied(c->arch->tie_v5)
                : !is_untied(c->arch->tie_v4) || !is_untied(c->arch->tie_v5);
}

/* A config that lies beside the input does not go along with a single file. */
static enum tenon_status note_beside(struct tenon_tie_case *c, bool tied, struct tenon_error *err)
{
    const struct tenon_hparams *h = tenon_model_hparams(c->model);

    for (size_t i = 0; i < h->n_tie_flags; i++)
        if (h->tie_flags[i].value != tied)
            return tenon_plan_add_note(
                c->mirror.plan, err,
                "%s is %s, and no config goes along with a file: name the folder to change both",
                h->tie_flags[i].where, tied ? "false" : "true");
    return TENON_OK;
}

enum tenon_status tenon_tie_set_flags(struct tenon_tie_case *c, bool tied, bool *out_changed,
                                      struct tenon_error *err)
{
    const struct tenon_hparams *h = tenon_model_hparams(c->model);
    enum tenon_flag_value value = tied ? TENON_FLAG_TRUE : TENON_FLAG_FALSE;
    enum tenon_status st = TENON_OK;

    *out_changed = false;
    if (!tenon_mirror_has_config(&c->mirror))
        return note_beside(c, tied, err);
    if (c->arch != NULL && (c->arch->flags & TENON_ARCH_FLAG_NOT_TYING) != 0)
        return TENON_OK;
    if (tied && is_default(c))
        value = TENON_FLAG_DEFAULT; /* what an untie inserted goes away */
    for (size_t i = 0; st == TENON_OK && i < h->n_tie_flags; i++) {
        if (h->tie_flags[i].value == tied)
            continue;
        *out_changed = true;
        st = set_flag(c, h->tie_flags[i].where, value, err);
    }
    if (h->n_tie_flags == 0 && must_speak(c, tied) && !(tied && is_recorded(c))) {
        *out_changed = true;
        st = set_flag(c, usual_flag, value, err);
    }
    return st;
}

static const char untied_mark[] = TENON_UNTIED_MARK;

/* A key without the mark, if it has it. */
static struct tenon_str bare_key(struct tenon_str key)
{
    const size_t n = sizeof(untied_mark) - 1;

    if (key.len > n && memcmp(key.data, untied_mark, n) == 0)
        return tenon_str_of(key.data + n, key.len - n);
    return key;
}

/* Whether the pair records an input or output matrix that was left out for `kept`. */
static bool is_record(const struct tenon_tie_case *c, const struct tenon_meta_entry *e,
                      const struct tenon_tensor *kept)
{
    struct tenon_str value = e->value.as.str, key = bare_key(e->key);
    struct tenon_name_match match;

    if (kept == NULL || e->type != TENON_META_STRING || value.len != kept->name.len ||
        memcmp(value.data, kept->name.data, value.len) != 0)
        return false;
    match = tenon_arch_match(c->arch, key.data, key.len);
    return !match.bias && (match.role == TENON_ROLE_OUTPUT || match.role == TENON_ROLE_TOKEN_EMBD);
}

struct tenon_str tenon_tie_record(const struct tenon_tie_case *c, const struct tenon_tensor *kept)
{
    for (size_t i = 0; !c->gguf && i < tenon_model_n_meta(c->model); i++)
        if (is_record(c, tenon_model_meta(c->model, i), kept))
            return bare_key(tenon_model_meta(c->model, i)->key);
    return tenon_str_of("", 0);
}

/* The key with the mark in front of it; NULL when memory is gone. */
static const char *mark_key(struct tenon_tie_case *c, struct tenon_str key, size_t *out_len)
{
    const size_t n = sizeof(untied_mark) - 1;
    char *text = NULL;

    if (tenon_size_add(out_len, key.len, n))
        text = tenon_arena_alloc(&c->mirror.plan->arena, *out_len + 1, 1);
    if (text != NULL) {
        memcpy(text, untied_mark, n);
        memcpy(text + n, key.data, key.len);
    }
    return text;
}

enum tenon_status tenon_tie_turn_records(struct tenon_tie_case *c, bool in_force,
                                         struct tenon_error *err)
{
    for (size_t f = 0; !c->gguf && f < c->mirror.n_files; f++) {
        struct tenon_mirror_file *file = &c->mirror.files[f];

        for (size_t i = 0; i < file->n_metas; i++) {
            struct tenon_meta_entry *e = &file->metas[i];

            if (!is_record(c, e, c->tying->input) && !is_record(c, e, c->tying->output))
                continue;
            e->key = bare_key(e->key);
            if (!in_force)
                e->key.data = mark_key(c, e->key, &e->key.len);
            if (e->key.data == NULL)
                return tenon_fail_memory(err);
        }
    }
    return TENON_OK;
}

bool tenon_tie_needs_record(const struct tenon_tie_case *c)
{
    const struct tenon_arch *guess;

    if (c->gguf || tenon_mirror_has_config(&c->mirror))
        return false;
    guess = tenon_arch_guess(c->model);
    return guess != NULL && is_untied(guess->tie_v5);
}

const char *tenon_tie_name(struct tenon_tie_case *c, struct tenon_str name)
{
    char clean[160];
    const char *kept;

    tenon_text_sanitise(clean, sizeof(clean), name.data, name.len);
    kept = tenon_arena_text(&c->mirror.plan->arena, clean, strlen(clean));
    return kept != NULL ? kept : "";
}
