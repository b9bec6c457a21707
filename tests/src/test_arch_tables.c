/* The tables of families, walked row by row: what a data file may get wrong. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch_rules.h"
#include "check_error.h"

static const bool is_per_layer[TENON_ROLE_END] = {
#define X(id, number, name, per_layer) [number] = per_layer,
#include "tenon/roles.def"
#undef X
};

#define FOR_EACH_ARCH(a)                                                                           \
    for (size_t arch_i = 0; tenon_arch_at(arch_i) != NULL; arch_i++)                               \
        for (const struct tenon_arch *a = tenon_arch_at(arch_i), *once = a; once != NULL;          \
             once = NULL)

/* Every word of a blank-separated list must lead back to its row and to no other. */
static void check_words(const struct tenon_arch *arch, const char *words,
                        const struct tenon_arch *(*find)(const char *, size_t))
{
    ck_assert_msg(words[0] != ' ' && strstr(words, "  ") == NULL, "%s: '%s'", arch->name, words);
    while (*words != '\0') {
        size_t n = strcspn(words, " ");

        ck_assert_msg(find(words, n) == arch, "%s: '%.*s' leads elsewhere", arch->name, (int)n,
                      words);
        words += n + strspn(words + n, " ");
    }
}

START_TEST(rows_are_sorted_and_found_by_every_name)
{
    const char *before = "";
    size_t n = 0;

    FOR_EACH_ARCH(a)
    {
        ck_assert_str_lt(before, a->name);
        before = a->name;
        ck_assert_ptr_eq(tenon_arch_find(a->name, strlen(a->name)), a);
        ck_assert_str_ne(a->title, "");
        check_words(a, a->model_types, tenon_arch_find_model_type);
        check_words(a, a->gguf_names, tenon_arch_find_gguf);
        ck_assert_msg(*a->model_types || *a->gguf_names, "%s has no outside name", a->name);
        n++;
    }
    ck_assert_uint_ge(n, 70);
}
END_TEST

START_TEST(facts_agree_with_each_other)
{
    FOR_EACH_ARCH(a)
    {
        bool rope = a->position == TENON_POSITION_ROPE;

        ck_assert_msg(rope == (a->rope_layout != TENON_ROPE_NO_LAYOUT), "%s: layout", a->name);
        ck_assert_msg(rope == (a->rope_theta > 0), "%s: theta", a->name);
        ck_assert_msg(rope ? a->rope_partial > 0 && a->rope_partial <= 1 : a->rope_partial == 0,
                      "%s: partial", a->name);
        ck_assert_msg(a->position_offset == 0 || a->position == TENON_POSITION_LEARNED ||
                          a->position == TENON_POSITION_SINUSOIDAL,
                      "%s: offset", a->name);
        ck_assert_msg((*a->gguf_names == '\0') == (a->gguf_head == TENON_GGUF_HEAD_UNKNOWN),
                      "%s: GGUF head", a->name);
        ck_assert_int_ne(a->tie_v4, TENON_TIE_UNKNOWN);
        ck_assert_int_ne(a->tie_v5, TENON_TIE_UNKNOWN);
    }
}
END_TEST

START_TEST(rows_of_a_set_are_sorted_and_well_formed)
{
    FOR_EACH_ARCH(a)
    {
        for (size_t s = 0; a->rules->sets[s] != NULL; s++) {
            const struct tenon_name_set *set = a->rules->sets[s];

            for (size_t i = 0; i < set->n; i++) {
                const char *p = set->rules[i].pattern;
                const char *layer = strchr(p, '#'), *expert = strchr(p, '@');

                ck_assert_msg(i == 0 || strcmp(set->rules[i - 1].pattern, p) < 0, "%s: '%s'",
                              a->name, p);
                ck_assert_str_ne(tenon_role_name(set->rules[i].role), "");
                ck_assert_msg(!is_per_layer[set->rules[i].role] || layer != NULL, "%s: '%s'",
                              a->name, p);
                ck_assert_msg(expert == NULL || (layer != NULL && layer < expert), "%s: '%s'",
                              a->name, p);
                ck_assert_uint_le(strlen(p), TENON_PATTERN_LENGTH);
                ck_assert_msg(!(set->rules[i].flags & RULE_BIAS) ||
                                  (set->rules[i].flags & RULE_BARE),
                              "%s: '%s'", a->name, p);
            }
        }
    }
}
END_TEST

/* Whether one segment can stand where the other does. */
static bool segments_meet(const char *a, size_t a_len, const char *b, size_t b_len)
{
    bool a_open = a_len == 1 && (*a == '#' || *a == '@');
    bool b_open = b_len == 1 && (*b == '#' || *b == '@');

    if ((a_open && (b_open || isdigit((unsigned char)*b))) ||
        (b_open && isdigit((unsigned char)*a)))
        return true;
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Whether some name fits both patterns. */
static bool patterns_meet(const char *a, const char *b)
{
    for (;;) {
        size_t a_len = strcspn(a, "."), b_len = strcspn(b, ".");

        if (!segments_meet(a, a_len, b, b_len))
            return false;
        a += a_len;
        b += b_len;
        if (*a == '\0' || *b == '\0')
            return *a == *b;
        a++;
        b++;
    }
}

static bool same_meaning(const struct tenon_name_rule *a, const struct tenon_name_rule *b)
{
    return a->role == b->role && a->part == b->part;
}

/* One way to write a rule: with or without a prefix, as weight or bias. */
struct spelling {
    char text[160];
    char folded[160]; /* with every number and placeholder as '*': equal where patterns meet */
    const struct tenon_name_rule *rule;
    enum tenon_dialect dialect;
};

enum { MOST_SPELLINGS = 6000 };

static struct spelling spellings[MOST_SPELLINGS];
static size_t n_spellings;

static void fold(char *out, const char *text)
{
    for (;;) {
        size_t n = strcspn(text, ".");

        if (segments_meet(text, n, "#", 1)) {
            *out++ = '*';
        } else {
            memcpy(out, text, n);
            out += n;
        }
        text += n;
        if (*text == '\0')
            break;
        *out++ = *text++;
    }
    *out = '\0';
}

static void spell(const struct tenon_name_set *set, const struct tenon_name_rule *rule,
                  const char *prefix, const char *suffix)
{
    struct spelling *s = &spellings[n_spellings++];

    ck_assert_uint_lt(n_spellings, MOST_SPELLINGS);
    snprintf(s->text, sizeof(s->text), "%s%s%s", prefix, rule->pattern, suffix);
    fold(s->folded, s->text);
    s->rule = rule;
    s->dialect = set->dialect;
}

static void spell_all(const struct tenon_arch_rules *rules)
{
    n_spellings = 0;
    for (size_t s = 0; rules->sets[s] != NULL; s++)
        for (size_t i = 0; i < rules->sets[s]->n; i++)
            for (size_t p = 0; p == 0 || rules->prefixes[p - 1] != NULL; p++) {
                const struct tenon_name_rule *rule = &rules->sets[s]->rules[i];
                const char *prefix = p != 0 ? rules->prefixes[p - 1] : "";

                if (rule->flags & RULE_BARE) {
                    spell(rules->sets[s], rule, prefix, "");
                } else {
                    spell(rules->sets[s], rule, prefix, ".weight");
                    spell(rules->sets[s], rule, prefix, ".bias");
                }
            }
}

static int compare_spellings(const void *a, const void *b)
{
    return strcmp(((const struct spelling *)a)->folded, ((const struct spelling *)b)->folded);
}

static bool is_override(const struct spelling *a, const struct spelling *b)
{
    return a->dialect == b->dialect && strcmp(a->rule->pattern, b->rule->pattern) == 0;
}

/* Patterns that say different things must not fit one name; an earlier set may replace a row of
 * a later one only by the very same pattern. */
START_TEST(no_name_means_two_things)
{
    FOR_EACH_ARCH(a)
    {
        spell_all(a->rules);
        qsort(spellings, n_spellings, sizeof(spellings[0]), compare_spellings);
        for (size_t i = 0; i < n_spellings; i++)
            for (size_t j = i + 1;
                 j < n_spellings && strcmp(spellings[i].folded, spellings[j].folded) == 0; j++) {
                const struct spelling *x = &spellings[i], *y = &spellings[j];

                ck_assert_msg(same_meaning(x->rule, y->rule) || is_override(x, y) ||
                                  !patterns_meet(x->text, y->text),
                              "%s: '%s' and '%s' meet", a->name, x->text, y->text);
            }
    }
}
END_TEST

/* Whether an earlier set replaces row `rule` of set `s`. */
static bool is_overridden(const struct tenon_arch_rules *rules, size_t s, const char *pattern)
{
    for (size_t t = 0; t < s; t++)
        for (size_t i = 0; i < rules->sets[t]->n; i++)
            if (rules->sets[t]->dialect == rules->sets[s]->dialect &&
                strcmp(rules->sets[t]->rules[i].pattern, pattern) == 0)
                return true;
    return false;
}

START_TEST(each_canonical_name_is_read_and_written_the_same)
{
    FOR_EACH_ARCH(a)
    {
        for (size_t s = 0; a->rules->sets[s] != NULL; s++) {
            const struct tenon_name_set *set = a->rules->sets[s];

            for (size_t i = 0; i < set->n; i++) {
                const struct tenon_name_rule *rule = &set->rules[i];
                struct tenon_name_match match = {
                    .role = (enum tenon_role)rule->role,
                    .part = (enum tenon_part)rule->part,
                    .dialect = set->dialect,
                    .layer = strchr(rule->pattern, '#') ? 7 : -1,
                    .expert = strchr(rule->pattern, '@') ? 12 : -1,
                    .bias = (rule->flags & RULE_BIAS) != 0,
                };
                struct tenon_name_match back;
                char name[128];

                if ((rule->flags & RULE_ALIAS) || is_overridden(a->rules, s, rule->pattern))
                    continue;
                ck_assert_msg(tenon_arch_tensor_name(a, &match, name, sizeof(name)), "%s: '%s'",
                              a->name, rule->pattern);
                back = tenon_arch_match(a, name, strlen(name));
                ck_assert_msg(back.role == match.role && back.part == match.part &&
                                  back.layer == match.layer && back.expert == match.expert &&
                                  back.bias == match.bias,
                              "%s: '%s' of '%s' comes back as '%s'", a->name, name, rule->pattern,
                              tenon_role_name(back.role));
            }
        }
    }
}
END_TEST

/* Two canonical rows for one role would leave it open what to write. */
START_TEST(each_role_has_one_canonical_name_in_a_dialect)
{
    FOR_EACH_ARCH(a)
    {
        for (size_t s = 0; a->rules->sets[s] != NULL; s++) {
            const struct tenon_name_set *set = a->rules->sets[s];

            for (size_t i = 0; i < set->n; i++)
                for (size_t j = i + 1; j < set->n; j++) {
                    const struct tenon_name_rule *x = &set->rules[i], *y = &set->rules[j];

                    ck_assert_msg(x->role != y->role || x->part != y->part ||
                                      ((x->flags | y->flags) & RULE_ALIAS) ||
                                      ((x->flags ^ y->flags) & RULE_BIAS) ||
                                      (strchr(x->pattern, '@') != NULL) !=
                                          (strchr(y->pattern, '@') != NULL),
                                  "%s: '%s' and '%s'", a->name, x->pattern, y->pattern);
                }
        }
    }
}
END_TEST

START_TEST(marks_of_a_family_can_be_names_of_it)
{
    FOR_EACH_ARCH(a)
    {
        size_t wanted = 0;

        for (size_t i = 0; a->rules->marks[i] != NULL; i++)
            wanted += a->rules->marks[i][0] != '!';
        ck_assert_msg(a->rules->marks[0] == NULL || wanted >= 2, "%s: one name is not enough",
                      a->name);
    }
}
END_TEST

static void check_distinct(const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_ne(words[i], "");
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(words[i], words[j]);
    }
}

#define CHECK_WORDS(name_of, last)                                                                 \
    do {                                                                                           \
        const char *words[(last) + 1];                                                             \
        for (int w = 0; w <= (int)(last); w++)                                                     \
            words[w] = name_of(w);                                                                 \
        check_distinct(words, (last) + 1);                                                         \
        ck_assert_str_eq(name_of(1000), "unknown");                                                \
    } while (0)

START_TEST(every_enum_value_has_its_own_word)
{
    CHECK_WORDS(tenon_gguf_head_name, TENON_GGUF_HEAD_NONE);
    CHECK_WORDS(tenon_tie_default_name, TENON_TIE_NO_HEAD);
    CHECK_WORDS(tenon_position_name, TENON_POSITION_RELATIVE);
    CHECK_WORDS(tenon_rope_layout_name, TENON_ROPE_SECTIONED);
    CHECK_WORDS(tenon_embed_scale_name, TENON_SCALE_CONFIG_VALUE);
    CHECK_WORDS(tenon_dialect_name, TENON_DIALECT_META);
}
END_TEST

START_TEST(every_role_has_its_own_word)
{
    for (int i = 1; i < TENON_ROLE_END; i++)
        for (int j = 1; j < i; j++)
            ck_assert(*tenon_role_name(i) == '\0' ||
                      strcmp(tenon_role_name(i), tenon_role_name(j)) != 0);
    ck_assert_str_eq(tenon_role_name(TENON_ROLE_NONE), "");
    ck_assert_str_eq(tenon_role_name(100000), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arch_tables");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, rows_are_sorted_and_found_by_every_name);
    tcase_add_test(tests, facts_agree_with_each_other);
    tcase_add_test(tests, rows_of_a_set_are_sorted_and_well_formed);
    tcase_add_test(tests, no_name_means_two_things);
    tcase_add_test(tests, each_canonical_name_is_read_and_written_the_same);
    tcase_add_test(tests, each_role_has_one_canonical_name_in_a_dialect);
    tcase_add_test(tests, marks_of_a_family_can_be_names_of_it);
    tcase_add_test(tests, every_enum_value_has_its_own_word);
    tcase_add_test(tests, every_role_has_its_own_word);
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 60);
    return run_suite(suite);
}
