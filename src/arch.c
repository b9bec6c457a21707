#include "arch/arch_rules.h"

#include <stdio.h>
#include <string.h>

static const struct tenon_arch *const archs[] = {
#define X(id) &tenon_arch_##id,
#include "tenon/archs.def"
#undef X
};

enum { N_ARCHS = sizeof archs / sizeof archs[0] };

/* What training tools put before the name of a module that they wrapped. */
static const char *const outer_wrappers[] = {
    "module.",       "_orig_mod.",       "base_model.model.", "_fsdp_wrapped_module.",
    "0.auto_model.", "_forward_module.",
};

/* What they put inside of it, as whole segments. */
static const char *const inner_wrappers[] = {
    "_orig_mod",
    "_fsdp_wrapped_module",
    "_checkpoint_wrapped_module",
    "base_layer",
};

/* A name with its wrappers gone and its numbers replaced by placeholders. */
struct folded {
    char text[TENON_PATTERN_LENGTH + 16];
    size_t len;
    size_t second_at, second_len; /* where the second number stands in `text`; length 0: none */
    int32_t first, second;        /* -1 where there is none */
};

const struct tenon_arch *tenon_arch_at(size_t i)
{
    return i < N_ARCHS ? archs[i] : NULL;
}

/* Whether `word` stands in `words`, separated by blanks. */
static bool has_word(const char *words, const char *word, size_t len)
{
    while (*words != '\0') {
        size_t n = strcspn(words, " ");

        if (n == len && memcmp(words, word, len) == 0)
            return true;
        words += n;
        words += strspn(words, " ");
    }
    return false;
}

const struct tenon_arch *tenon_arch_find(const char *name, size_t len)
{
    for (size_t i = 0; i < N_ARCHS; i++)
        if (strlen(archs[i]->name) == len && memcmp(archs[i]->name, name, len) == 0)
            return archs[i];
    return NULL;
}

const struct tenon_arch *tenon_arch_find_model_type(const char *name, size_t len)
{
    for (size_t i = 0; len > 0 && i < N_ARCHS; i++)
        if (has_word(archs[i]->model_types, name, len))
            return archs[i];
    return NULL;
}

const struct tenon_arch *tenon_arch_find_gguf(const char *name, size_t len)
{
    for (size_t i = 0; len > 0 && i < N_ARCHS; i++)
        if (has_word(archs[i]->gguf_names, name, len))
            return archs[i];
    return NULL;
}

static bool begins_with(const char *text, size_t len, const char *start, size_t start_len)
{
    return len >= start_len && memcmp(text, start, start_len) == 0;
}

/* Takes wrappers off the front, as many as there are. */
static void skip_wrappers(const char **name, size_t *len)
{
    size_t i = 0;

    while (i < sizeof outer_wrappers / sizeof outer_wrappers[0]) {
        size_t n = strlen(outer_wrappers[i]);

        if (!begins_with(*name, *len, outer_wrappers[i], n)) {
            i++;
            continue;
        }
        *name += n;
        *len -= n;
        i = 0;
    }
}

static bool is_inner_wrapper(const char *segment, size_t len)
{
    if (len == 0 || (segment[0] != '_' && segment[0] != 'b'))
        return false;
    for (size_t i = 0; i < sizeof inner_wrappers / sizeof inner_wrappers[0]; i++)
        if (strlen(inner_wrappers[i]) == len && memcmp(inner_wrappers[i], segment, len) == 0)
            return true;
    return false;
}

bool tenon_arch_is_wrapped(const char *name, size_t len)
{
    const char *bare = name;
    size_t bare_len = len, start = 0;

    skip_wrappers(&bare, &bare_len);
    if (bare_len != len)
        return true;
    for (size_t end = 0; end <= len; end++) {
        if (end != len && name[end] != '.')
            continue;
        if (start < end && name[start] == '_' && is_inner_wrapper(name + start, end - start))
            return true;
        start = end + 1;
    }
    return false;
}

/* The number that a whole segment spells, without leading zeros; -1 when it is none. */
static int32_t segment_number(const char *segment, size_t len)
{
    int32_t value = 0;

    if (len == 0 || len > 9 || (len > 1 && segment[0] == '0'))
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (segment[i] < '0' || segment[i] > '9')
            return -1;
        value = value * 10 + (segment[i] - '0');
    }
    return value;
}

/* Adds a segment; false when it does not fit or looks like a placeholder: no pattern can be meant.
 */
static bool fold_segment(struct folded *f, const char *segment, size_t len)
{
    int32_t number = segment_number(segment, len);
    size_t dot = f->len > 0 ? 1 : 0;

    if (len == 1 && (*segment == '#' || *segment == '@'))
        return false;
    if (len > sizeof f->text - 1 || f->len + dot > sizeof f->text - 1 - len)
        return false;
    if (dot)
        f->text[f->len++] = '.';
    if (number >= 0 && f->first < 0) {
        f->first = number;
        f->text[f->len++] = '#';
        return true;
    }
    if (number >= 0 && f->second < 0) {
        f->second = number;
        f->second_at = f->len;
        f->second_len = len;
    }
    memcpy(f->text + f->len, segment, len);
    f->len += len;
    return true;
}

static bool fold_name(struct folded *f, const char *name, size_t len)
{
    const char *end = name + len;

    *f = (struct folded){.first = -1, .second = -1};
    if (len == 0)
        return false;
    for (;;) {
        const char *dot = memchr(name, '.', (size_t)(end - name));
        size_t n = (size_t)((dot ? dot : end) - name);

        if (!is_inner_wrapper(name, n) && !fold_segment(f, name, n))
            return false;
        if (!dot)
            return f->len > 0;
        name = dot + 1;
    }
}

/* Writes the second number as a placeholder too. */
static void fold_second(struct folded *f)
{
    size_t tail = f->second_at + f->second_len;

    f->text[f->second_at] = '@';
    memmove(f->text + f->second_at + 1, f->text + tail, f->len - tail);
    f->len -= f->second_len - 1;
    f->second_len = 0;
}

/* As strcmp, for a key that is not terminated. */
static int compare_key(const char *key, size_t len, const char *pattern)
{
    for (size_t i = 0; i < len; i++) {
        int difference = (unsigned char)key[i] - (unsigned char)pattern[i];

        if (difference != 0 || pattern[i] == '\0')
            return difference != 0 ? difference : 1;
    }
    return pattern[len] == '\0' ? 0 : -1;
}

static const struct tenon_name_rule *find_rule(const struct tenon_name_set *set, const char *key,
                                               size_t len)
{
    size_t low = 0, high = set->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_key(key, len, set->rules[middle].pattern);

        if (order == 0)
            return &set->rules[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* How a name ends: what is left of it, and whether that end makes it a bias. */
struct suffix {
    const char *text;
    size_t len;
    bool bias;
};

/* `gamma` and `beta` are what TensorFlow called the weight and bias of a normalisation. */
static const struct suffix suffixes[] = {
    {".weight", 7, false},
    {".bias", 5, true},
    {".gamma", 6, false},
    {".beta", 5, true},
};

/* Looks a folded name up without its base prefix in all sets: first as a whole, then without its
 * suffix. */
static bool find_in_sets(const struct tenon_arch_rules *rules, const char *key, size_t len,
                         struct tenon_name_match *out)
{
    const struct suffix *end = NULL;

    for (size_t i = 0; end == NULL && i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (len > suffixes[i].len &&
            memcmp(key + len - suffixes[i].len, suffixes[i].text, suffixes[i].len) == 0)
            end = &suffixes[i];
    for (size_t i = 0; rules->sets[i] != NULL; i++) {
        const struct tenon_name_set *set = rules->sets[i];
        const struct tenon_name_rule *rule = NULL;
        bool bare = end == NULL || end->bias;

        if (bare)
            rule = find_rule(set, key, len);
        if (rule != NULL && !(rule->flags & RULE_BARE))
            rule = NULL;
        if (rule == NULL && end != NULL) {
            bare = false;
            rule = find_rule(set, key, len - end->len);
            if (rule != NULL && (rule->flags & RULE_BARE))
                rule = NULL;
        }
        if (rule == NULL)
            continue;
        out->role = (enum tenon_role)rule->role;
        out->part = (enum tenon_part)rule->part;
        out->dialect = set->dialect;
        out->bias = bare ? (rule->flags & RULE_BIAS) != 0 : end->bias;
        return true;
    }
    return false;
}

/* The length of the longest base prefix of a folded name. */
static size_t prefix_length(const struct tenon_arch_rules *rules, const struct folded *f)
{
    size_t longest = 0;

    for (size_t i = 0; rules->prefixes[i] != NULL; i++) {
        size_t n = strlen(rules->prefixes[i]);

        if (n > longest && begins_with(f->text, f->len, rules->prefixes[i], n))
            longest = n;
    }
    return longest;
}

/* Looks a folded name up below the module that the whole checkpoint may be. */
static bool find_within(const struct tenon_arch_rules *rules, const struct folded *f,
                        struct tenon_name_match *out)
{
    char text[TENON_PATTERN_LENGTH + sizeof f->text];
    size_t n = rules->within != NULL ? strlen(rules->within) : 0;

    if (n == 0 || n > TENON_PATTERN_LENGTH)
        return false;
    memcpy(text, rules->within, n);
    memcpy(text + n, f->text, f->len);
    return find_in_sets(rules, text, n + f->len, out);
}

/* Looks a folded name up without its base prefix, as it is, and below its module. */
static bool find_folded(const struct tenon_arch_rules *rules, const struct folded *f,
                        struct tenon_name_match *out)
{
    size_t n = prefix_length(rules, f);

    if (n > 0 && find_in_sets(rules, f->text + n, f->len - n, out))
        return true;
    return find_in_sets(rules, f->text, f->len, out) || find_within(rules, f, out);
}

struct tenon_name_match tenon_arch_match(const struct tenon_arch *arch, const char *name,
                                         size_t len)
{
    const struct tenon_arch_rules *rules = arch != NULL ? arch->rules : &tenon_rules_generic;
    struct tenon_name_match match = {.layer = -1, .expert = -1};
    struct folded f;

    skip_wrappers(&name, &len);
    if (!fold_name(&f, name, len))
        return match;
    if (find_folded(rules, &f, &match)) {
        match.layer = f.first;
        return match;
    }
    if (f.second < 0)
        return match;
    fold_second(&f);
    if (find_folded(rules, &f, &match)) {
        match.layer = f.first;
        match.expert = f.second;
    }
    return match;
}

/* The row that writes `match` in its dialect, or NULL. */
static const struct tenon_name_rule *rule_for(const struct tenon_arch_rules *rules,
                                              const struct tenon_name_match *match)
{
    for (size_t s = 0; rules->sets[s] != NULL; s++) {
        const struct tenon_name_set *set = rules->sets[s];

        if (set->dialect != match->dialect)
            continue;
        for (size_t i = 0; i < set->n; i++) {
            const struct tenon_name_rule *rule = &set->rules[i];
            bool bare = (rule->flags & RULE_BARE) != 0;
            bool bias = (rule->flags & RULE_BIAS) != 0;

            if (rule->role != match->role || rule->part != match->part ||
                (rule->flags & RULE_ALIAS) || (bare && bias != match->bias))
                continue;
            if ((match->expert >= 0) == (strchr(rule->pattern, '@') != NULL))
                return rule;
        }
    }
    return NULL;
}

/* An appender that keeps counting when the room is gone. */
struct writer {
    char *buf;
    size_t size, len;
};

static void put_text(struct writer *w, const char *text, size_t len)
{
    if (len < w->size && w->len < w->size - len)
        memcpy(w->buf + w->len, text, len);
    w->len += len;
}

static void put_number(struct writer *w, int32_t number)
{
    char digits[16];

    put_text(w, digits, (size_t)snprintf(digits, sizeof digits, "%d", (int)number));
}

bool tenon_arch_tensor_name(const struct tenon_arch *arch, const struct tenon_name_match *match,
                            char *buf, size_t size)
{
    const struct tenon_arch_rules *rules = arch != NULL ? arch->rules : &tenon_rules_generic;
    const struct tenon_name_rule *rule = rule_for(rules, match);
    const char *prefix = rules->prefixes[0];
    struct writer w = {.buf = buf, .size = size};

    if (rule == NULL || size == 0)
        return false;
    if (match->dialect == TENON_DIALECT_HF && prefix != NULL && !(rule->flags & RULE_TOP))
        put_text(&w, prefix, strlen(prefix));
    for (const char *p = rule->pattern; *p != '\0'; p++) {
        if (*p == '#')
            put_number(&w, match->layer);
        else if (*p == '@')
            put_number(&w, match->expert);
        else
            put_text(&w, p, 1);
    }
    if (!(rule->flags & RULE_BARE))
        put_text(&w, match->bias ? ".bias" : ".weight", match->bias ? 5 : 7);
    if (w.len >= size)
        return false;
    buf[w.len] = '\0';
    return true;
}

/* The variant that has `word` among its words, or NULL. */
static const struct tenon_arch_variant *find_variant(const struct tenon_arch *arch,
                                                     const char *word, size_t len)
{
    const struct tenon_arch_variant *v = arch->variants;

    while (v != NULL && v->words != NULL && !has_word(v->words, word, len))
        v++;
    return v != NULL && v->words != NULL ? v : NULL;
}

struct tenon_arch tenon_arch_facts(const struct tenon_arch *arch, const char *word, size_t len)
{
    const struct tenon_arch_variant *v = find_variant(arch, word, len);
    struct tenon_arch facts = *arch;

    if (v == NULL)
        return facts;
#define TAKE(member)                                                                               \
    if (v->member != 0)                                                                            \
    facts.member = v->member
    TAKE(position);
    TAKE(rope_theta);
    TAKE(rope_partial);
    TAKE(local_theta);
    TAKE(rope_layout);
    TAKE(gguf_rope);
    TAKE(rope_axes);
    TAKE(layer_rule);
    TAKE(layer_period);
    TAKE(head_dim);
    TAKE(embd_norm);
    TAKE(norm_eps);
#undef TAKE
    if (v->rope_default != NULL)
        facts.rope_default = v->rope_default;
    facts.flags = (facts.flags & ~v->flags_off) | v->flags_on;
    return facts;
}

/* Whether the model has a tensor of that name, with or without one of the family's prefixes. */
static bool has_mark(const struct tenon_model *model, const struct tenon_arch_rules *rules,
                     const char *mark)
{
    char name[2 * TENON_PATTERN_LENGTH];

    if (tenon_model_find(model, mark, strlen(mark)) != NULL)
        return true;
    for (size_t i = 0; rules->prefixes[i] != NULL; i++) {
        int n = snprintf(name, sizeof name, "%s%s", rules->prefixes[i], mark);

        if (n > 0 && (size_t)n < sizeof name && tenon_model_find(model, name, (size_t)n) != NULL)
            return true;
    }
    return false;
}

static bool has_all_marks(const struct tenon_model *model, const struct tenon_arch_rules *rules)
{
    size_t i = 0;

    for (; rules->marks[i] != NULL; i++) {
        bool absent = rules->marks[i][0] == '!';

        if (has_mark(model, rules, rules->marks[i] + (absent ? 1 : 0)) == absent)
            return false;
    }
    return i > 0;
}

const struct tenon_arch *tenon_arch_guess(const struct tenon_model *model)
{
    const struct tenon_arch *found = NULL;

    for (size_t i = 0; i < N_ARCHS; i++) {
        if (!has_all_marks(model, archs[i]->rules))
            continue;
        if (found != NULL)
            return NULL;
        found = archs[i];
    }
    return found;
}

/* The word of number `i`, "unknown" outside of the table. */
#define WORD(words, i) ((size_t)(i) < sizeof(words) / sizeof(words)[0] ? (words)[i] : "unknown")

const char *tenon_gguf_head_name(enum tenon_gguf_head head)
{
    static const char *const words[] = {
        [TENON_GGUF_HEAD_UNKNOWN] = "unknown",   [TENON_GGUF_HEAD_OPTIONAL] = "optional",
        [TENON_GGUF_HEAD_TIED] = "tied",         [TENON_GGUF_HEAD_REQUIRED] = "required",
        [TENON_GGUF_HEAD_REVERSED] = "reversed", [TENON_GGUF_HEAD_NONE] = "none",
    };
    return WORD(words, head);
}

const char *tenon_tie_default_name(enum tenon_tie_default tie)
{
    static const char *const words[] = {
        [TENON_TIE_UNKNOWN] = "unknown", [TENON_TIE_YES] = "yes",
        [TENON_TIE_NO] = "no",           [TENON_TIE_NEVER] = "never",
        [TENON_TIE_ALWAYS] = "always",   [TENON_TIE_NO_HEAD] = "no head",
    };
    return WORD(words, tie);
}

const char *tenon_position_name(enum tenon_position_kind kind)
{
    static const char *const words[] = {
        [TENON_POSITION_NONE] = "none",
        [TENON_POSITION_LEARNED] = "learned",
        [TENON_POSITION_SINUSOIDAL] = "sinusoidal",
        [TENON_POSITION_ROPE] = "rope",
        [TENON_POSITION_ALIBI] = "alibi",
        [TENON_POSITION_RELATIVE] = "relative",
    };
    return WORD(words, kind);
}

const char *tenon_rope_layout_name(enum tenon_rope_layout layout)
{
    static const char *const words[] = {
        [TENON_ROPE_NO_LAYOUT] = "none",
        [TENON_ROPE_HALF] = "half",
        [TENON_ROPE_INTERLEAVED] = "interleaved",
        [TENON_ROPE_SECTIONED] = "sectioned",
    };
    return WORD(words, layout);
}

const char *tenon_embed_scale_name(enum tenon_embed_scale scale)
{
    static const char *const words[] = {
        [TENON_SCALE_NONE] = "none",
        [TENON_SCALE_SQRT_WIDTH] = "sqrt width",
        [TENON_SCALE_IF_CONFIG] = "sqrt width if config",
        [TENON_SCALE_CONFIG_VALUE] = "config value",
        [TENON_SCALE_SQRT_WIDTH_BF16] = "sqrt width in bf16",
    };
    return WORD(words, scale);
}

const char *tenon_gguf_rope_name(enum tenon_gguf_rope rope)
{
    static const char *const words[] = {
        [TENON_GGUF_ROPE_NONE] = "none",     [TENON_GGUF_ROPE_NORM] = "norm",
        [TENON_GGUF_ROPE_NEOX] = "neox",     [TENON_GGUF_ROPE_MROPE] = "mrope",
        [TENON_GGUF_ROPE_IMROPE] = "imrope",
    };
    return WORD(words, rope);
}

const char *tenon_norm_kind_name(enum tenon_norm_kind norm)
{
    static const char *const words[] = {
        [TENON_NORM_NONE] = "none",
        [TENON_NORM_LAYER] = "layer_norm",
        [TENON_NORM_RMS] = "rms_norm",
        [TENON_NORM_LAYER_PLAIN] = "layer_norm without weight",
        [TENON_NORM_RMS_PLAIN] = "rms_norm without weight",
        [TENON_NORM_L2] = "l2_norm",
    };
    return WORD(words, norm);
}

const char *tenon_dialect_name(enum tenon_dialect dialect)
{
    static const char *const words[] = {
        [TENON_DIALECT_NONE] = "none",
        [TENON_DIALECT_HF] = "hf",
        [TENON_DIALECT_GGUF] = "gguf",
        [TENON_DIALECT_META] = "meta",
    };
    return WORD(words, dialect);
}
