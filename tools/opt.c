#include "opt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Where parsing stands. */
struct scan {
    struct tenon_opt_parse *parse;
    const char *const *argv;
    size_t n, i; /* `i`: the next argument that is not used yet */
    struct tenon_error *err;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_ignoring_case(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

bool tenon_opt_u64(const char *text, const char **end, uint64_t *out)
{
    unsigned base = 10;
    uint64_t value = 0;
    const char *p = text;

    if (p[0] == '0' && lower(p[1]) == 'x') {
        base = 16;
        p += 2;
        text = p;
    }
    for (;; p++) {
        char c = lower(*p);
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : base;

        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (p == text || (end == NULL && *p != '\0'))
        return false;
    if (end != NULL)
        *end = p;
    *out = value;
    return true;
}

bool tenon_opt_size(const char *text, uint64_t *out)
{
    static const struct {
        const char *suffix;
        uint64_t factor;
    } units[] = {
        {"", 1},
        {"b", 1},
        {"k", 1000},
        {"kb", 1000},
        {"kib", UINT64_C(1) << 10},
        {"m", 1000000},
        {"mb", 1000000},
        {"mib", UINT64_C(1) << 20},
        {"g", 1000000000},
        {"gb", 1000000000},
        {"gib", UINT64_C(1) << 30},
        {"t", UINT64_C(1000000000000)},
        {"tb", UINT64_C(1000000000000)},
        {"tib", UINT64_C(1) << 40},
    };
    const char *end;
    uint64_t value;

    if (!tenon_opt_u64(text, &end, &value))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!equal_ignoring_case(end, units[i].suffix))
            continue;
        if (value > UINT64_MAX / units[i].factor)
            return false;
        *out = value * units[i].factor;
        return true;
    }
    return false;
}

/* The longest word that is compared for nearness; longer ones are nobody's typing mistake. */
enum { NEAR_MAX = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that turn `a` into `b` (optimal string alignment), both at most NEAR_MAX long. */
static size_t count_edits(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t row[NEAR_MAX + 1][NEAR_MAX + 1];

    for (size_t i = 0; i <= n; i++)
        row[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t best = least(row[i - 1][j], row[i][j - 1]) + 1;

            best = least(best, row[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, row[i - 2][j - 2] + 1);
            row[i][j] = best;
        }
    }
    return row[n][m];
}

const char *tenon_opt_nearest(const char *text, const char *const *words, size_t n)
{
    const char *nearest = NULL;
    size_t len = strlen(text);
    size_t best = len / 3 + 2; /* a third of the letters wrong, and one more, is too much */

    if (len > NEAR_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t edits;

        if (strlen(words[i]) > NEAR_MAX)
            continue;
        edits = count_edits(text, words[i]);
        if (edits < best && edits < strlen(words[i])) {
            best = edits;
            nearest = words[i];
        }
    }
    return nearest;
}

/* A place in one of the tables. */
struct row {
    struct tenon_opt_table *table;
    const struct tenon_opt *opt; /* NULL: no such option */
};

static struct row find_long(struct tenon_opt_parse *parse, const char *name, size_t len)
{
    for (size_t t = 0; t < TENON_OPT_TABLES; t++) {
        struct tenon_opt_table *table = &parse->tables[t];

        for (size_t i = 0; i < table->n; i++)
            if (strlen(table->options[i].name) == len &&
                memcmp(table->options[i].name, name, len) == 0)
                return (struct row){table, &table->options[i]};
    }
    return (struct row){NULL, NULL};
}

static struct row find_letter(struct tenon_opt_parse *parse, char letter)
{
    for (size_t t = 0; t < TENON_OPT_TABLES; t++) {
        struct tenon_opt_table *table = &parse->tables[t];

        for (size_t i = 0; i < table->n; i++)
            if (table->options[i].letter == letter && letter != '\0')
                return (struct row){table, &table->options[i]};
    }
    return (struct row){NULL, NULL};
}

static enum tenon_status fail_unknown_long(struct scan *scan, const char *name, size_t len)
{
    const char *names[TENON_OPT_TABLES * 64];
    char word[NEAR_MAX + 1];
    const char *nearest = NULL;
    size_t n = 0;

    for (size_t t = 0; t < TENON_OPT_TABLES; t++)
        for (size_t i = 0; i < scan->parse->tables[t].n; i++)
            if ((scan->parse->tables[t].options[i].flags & TENON_OPT_HIDDEN) == 0)
                names[n++] = scan->parse->tables[t].options[i].name;
    if (len <= NEAR_MAX) {
        memcpy(word, name, len);
        word[len] = '\0';
        nearest = tenon_opt_nearest(word, names, n);
    }
    tenon_report_fail(scan->err, TENON_ERR_MISUSE, "unknown option '--%.*s'", (int)least(len, 200),
                      name);
    if (nearest != NULL)
        tenon_report_hint(scan->err, "did you mean '--%s'?", nearest);
    return TENON_ERR_MISUSE;
}

/* "'--sort': 'x' is not ...": every complaint about a value. */
static enum tenon_status fail_value(struct scan *scan, const struct tenon_opt *opt,
                                    const char *value)
{
    char words[256] = "";
    size_t used = 0;

    for (size_t i = 0; opt->kind == TENON_OPT_CHOICE && opt->choices[i] != NULL; i++) {
        int n = snprintf(words + used, sizeof(words) - used, "%s%s", i > 0 ? ", " : "",
                         opt->choices[i]);

        used = least(used + (size_t)n, sizeof(words) - 1);
    }
    switch (opt->kind) {
    case TENON_OPT_CHOICE:
        if (opt->choices[0] != NULL && opt->choices[1] == NULL)
            return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                     "option '--%s': '%.80s' is given, only %s is possible",
                                     opt->name, value, words);
        return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                 "option '--%s': '%.80s' is not one of %s", opt->name, value,
                                 words);
    case TENON_OPT_NUMBER:
        if (opt->min == opt->max)
            return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                     "option '--%s': '%.80s' is given, only %llu is possible",
                                     opt->name, value, (unsigned long long)opt->min);
        return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                 "option '--%s': '%.80s' is not a whole number from %llu to %llu",
                                 opt->name, value, (unsigned long long)opt->min,
                                 (unsigned long long)opt->max);
    case TENON_OPT_SIZE:
        return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                 "option '--%s': '%.80s' is not a size like 4096, 64MiB or 5GB",
                                 opt->name, value);
    case TENON_OPT_REAL:
        return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                 "option '--%s': '%.80s' is not a finite number of 0 or more",
                                 opt->name, value);
    case TENON_OPT_FLAG:
    case TENON_OPT_TEXT:
        break;
    }
    return tenon_report_fail(scan->err, TENON_ERR_MISUSE, "option '--%s' takes no value",
                             opt->name);
}

static bool parse_number(const struct tenon_opt *opt, const char *value, uint64_t *field)
{
    uint64_t number;

    if (!tenon_opt_u64(value, NULL, &number) || number < opt->min || number > opt->max)
        return false;
    *field = number;
    return true;
}

static bool parse_real(const char *value, double *field)
{
    char *end;
    double number;

    if (value[0] == '\0' || strchr(" \t\n\v\f\r", value[0]) != NULL)
        return false;
    number = strtod(value, &end);
    if (*end != '\0' || !isfinite(number) || number < 0)
        return false;
    *field = number;
    return true;
}

static bool parse_choice(const struct tenon_opt *opt, const char *value, unsigned *field)
{
    for (unsigned i = 0; opt->choices[i] != NULL; i++) {
        if (equal_ignoring_case(opt->choices[i], value)) {
            *field = i;
            return true;
        }
    }
    return false;
}

static enum tenon_status add_to_list(struct scan *scan, struct tenon_opt_list *list,
                                     const char *value)
{
    /* No option can come more often than there are arguments. */
    if (list->items == NULL)
        list->items = calloc(scan->n, sizeof(*list->items));
    if (list->items == NULL)
        return tenon_report_fail(scan->err, TENON_ERR_NO_MEMORY, "out of memory");
    list->items[list->n++] = value;
    return TENON_OK;
}

static enum tenon_status set_value(struct scan *scan, struct row row, const char *value)
{
    const struct tenon_opt *opt = row.opt;
    void *field = (char *)row.table->values + opt->field;
    uint64_t bit = UINT64_C(1) << (opt - row.table->options);
    bool ok = true;

    if ((row.table->given & bit) != 0 && opt->kind != TENON_OPT_FLAG &&
        (opt->flags & TENON_OPT_REPEATED) == 0)
        return tenon_report_fail(scan->err, TENON_ERR_MISUSE, "option '--%s' is given twice",
                                 opt->name);
    row.table->given |= bit;
    switch (opt->kind) {
    case TENON_OPT_FLAG:
        *(bool *)field = true;
        break;
    case TENON_OPT_TEXT:
        if ((opt->flags & TENON_OPT_REPEATED) != 0)
            return add_to_list(scan, field, value);
        *(const char **)field = value;
        break;
    case TENON_OPT_NUMBER:
        ok = parse_number(opt, value, field);
        break;
    case TENON_OPT_SIZE:
        ok = tenon_opt_size(value, field) && *(const uint64_t *)field >= opt->min;
        break;
    case TENON_OPT_REAL:
        ok = parse_real(value, field);
        break;
    case TENON_OPT_CHOICE:
        ok = parse_choice(opt, value, field);
        break;
    }
    return ok ? TENON_OK : fail_value(scan, opt, value);
}

/* The value of `opt`: `attached` (after "=" or the letter), or the next argument. */
static enum tenon_status take_value(struct scan *scan, struct row row, const char *attached)
{
    if (attached != NULL)
        return set_value(scan, row, attached);
    if (scan->i == scan->n)
        return tenon_report_fail(scan->err, TENON_ERR_MISUSE, "option '--%s' needs a value (%s)",
                                 row.opt->name, row.opt->value);
    return set_value(scan, row, scan->argv[scan->i++]);
}

static enum tenon_status parse_long(struct scan *scan, const char *text)
{
    size_t len = strcspn(text, "=");
    const char *attached = text[len] == '=' ? text + len + 1 : NULL;
    struct row row = find_long(scan->parse, text, len);

    if (row.opt == NULL)
        return fail_unknown_long(scan, text, len);
    if (row.opt->kind != TENON_OPT_FLAG)
        return take_value(scan, row, attached);
    if (attached != NULL)
        return fail_value(scan, row.opt, attached);
    return set_value(scan, row, NULL);
}

/* "-qv", "-j4", "-j 4": letters until one takes a value. */
static enum tenon_status parse_letters(struct scan *scan, const char *letters)
{
    enum tenon_status st = TENON_OK;

    for (const char *p = letters; st == TENON_OK && *p != '\0'; p++) {
        struct row row = find_letter(scan->parse, *p);

        if (row.opt == NULL)
            return tenon_report_fail(scan->err, TENON_ERR_MISUSE,
                                     "unknown option '-%.1s' in '-%.80s'", p, letters);
        if (row.opt->kind != TENON_OPT_FLAG)
            return take_value(scan, row, p[1] != '\0' ? p + 1 : NULL);
        st = set_value(scan, row, NULL);
    }
    return st;
}

enum tenon_status tenon_opt_parse(struct tenon_opt_parse *parse, const char *const *argv, size_t n,
                                  struct tenon_error *err)
{
    struct scan scan = {.parse = parse, .argv = argv, .n = n, .err = err};
    enum tenon_status st = TENON_OK;
    bool only_operands = false;

    parse->operands = calloc(n + 1, sizeof(*parse->operands));
    if (parse->operands == NULL)
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    while (st == TENON_OK && scan.i < n) {
        const char *arg = argv[scan.i];
        bool is_option = !only_operands && arg[0] == '-' && arg[1] != '\0';

        if (!is_option && parse->stop_at_operand)
            break;
        scan.i++;
        if (!is_option)
            parse->operands[parse->n_operands++] = arg;
        else if (strcmp(arg, "--") == 0)
            only_operands = true;
        else if (arg[1] == '-')
            st = parse_long(&scan, arg + 2);
        else
            st = parse_letters(&scan, arg + 1);
    }
    parse->n_used = scan.i;
    return st;
}

void tenon_opt_release(struct tenon_opt_parse *parse)
{
    for (size_t t = 0; t < TENON_OPT_TABLES; t++) {
        struct tenon_opt_table *table = &parse->tables[t];

        for (size_t i = 0; i < table->n; i++) {
            if ((table->options[i].flags & TENON_OPT_REPEATED) != 0) {
                struct tenon_opt_list *list =
                    (void *)((char *)table->values + table->options[i].field);

                free(list->items);
                *list = (struct tenon_opt_list){0};
            }
        }
    }
    free(parse->operands);
    parse->operands = NULL;
    parse->n_operands = 0;
}
