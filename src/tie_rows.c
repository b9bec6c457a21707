#include "tie_rows.h"

#include <string.h>

#include "arch/arch_rules.h"

/* Where a row stands in a model. */
struct row_state {
    const struct tenon_tensor *stored[TENON_MAX_TIE_NAMES];
    size_t n, n_stored;
};

static struct row_state find_row(const struct tenon_model *model, const struct tenon_tie_row *row)
{
    struct row_state s = {.n = 0};

    while (s.n < TENON_MAX_TIE_NAMES && row->names[s.n] != NULL) {
        s.stored[s.n] = tenon_model_find(model, row->names[s.n], strlen(row->names[s.n]));
        s.n_stored += s.stored[s.n] != NULL;
        s.n++;
    }
    return s;
}

/* Of a family that is not known the rows that most have. */
static const struct tenon_tie_row *first_row(const struct tenon_arch *arch)
{
    const struct tenon_arch_rules *rules = arch != NULL ? arch->rules : &tenon_rules_generic;

    return rules != NULL ? rules->ties : NULL;
}

size_t tenon_tie_missing(const struct tenon_model *model, const struct tenon_arch *arch,
                         struct tenon_tie_copy *out, size_t room)
{
    const struct tenon_tie_row *row = first_row(arch);
    size_t n = 0;

    for (; row != NULL && row->names[0] != NULL; row++) {
        struct row_state s = find_row(model, row);
        const struct tenon_tensor *from = NULL;

        for (size_t i = 0; i < s.n && from == NULL; i++)
            from = s.stored[i];
        if (from == NULL || (s.stored[0] == NULL && s.n_stored + 1 == s.n))
            continue; /* nothing to copy, or only the name that nothing reads */
        if (s.stored[0] == NULL && (arch == NULL || s.n_stored == 1))
            continue; /* the other names alone may be those of another family, OPT's */
        for (size_t i = 0; i < s.n && n < room; i++)
            if (s.stored[i] == NULL)
                out[n++] = (struct tenon_tie_copy){.name = row->names[i], .from = from};
    }
    return n;
}

size_t tenon_tie_stored(const struct tenon_model *model, const struct tenon_arch *arch,
                        struct tenon_str words, struct tenon_tie_copy *out, size_t room)
{
    const struct tenon_tie_row *row = first_row(arch);
    size_t n = 0;

    for (; row != NULL && row->names[0] != NULL; row++) {
        struct row_state s = find_row(model, row);
        const struct tenon_tensor *from = NULL;

        for (size_t i = 0; i < s.n && from == NULL; i++)
            if (!tenon_tie_is_word(words, row->names[i], strlen(row->names[i])))
                from = s.stored[i];
        for (size_t i = 0; from != NULL && i < s.n && n < room; i++)
            if (s.stored[i] != NULL &&
                tenon_tie_is_word(words, row->names[i], strlen(row->names[i])))
                out[n++] = (struct tenon_tie_copy){row->names[i], from, s.stored[i]};
    }
    return n;
}

bool tenon_tie_is_word(struct tenon_str words, const char *name, size_t len)
{
    for (size_t i = 0; len > 0 && len <= words.len && i <= words.len - len; i++) {
        bool starts = i == 0 || words.data[i - 1] == ' ';
        bool ends = i + len == words.len || words.data[i + len] == ' ';

        if (starts && ends && memcmp(words.data + i, name, len) == 0)
            return true;
    }
    return false;
}
