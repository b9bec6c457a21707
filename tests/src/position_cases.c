/* Runs golden cases of positions: the file in the environment variable TENON_CASES, else the one
 * that the command line names. Prints what each group had, and every difference. */
#include "position_cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

/* --- reading --- */

const struct tenon_json_node *case_value(const struct golden_case *c, const char *name)
{
    const struct tenon_json_node *node = tenon_json_node_get(c->inputs, name);

    return node != NULL ? node : tenon_json_node_get(c->params, name);
}

bool case_has(const struct golden_case *c, const char *name)
{
    return case_value(c, name) != NULL;
}

bool case_expects(const struct golden_case *c, const char *name)
{
    return tenon_json_node_get(c->expected, name) != NULL;
}

static bool number_of(const struct tenon_json_node *node, double *out)
{
    enum tenon_json_type type = tenon_json_node_type(node);

    if (type == TENON_JSON_TRUE || type == TENON_JSON_FALSE) {
        *out = type == TENON_JSON_TRUE;
        return true;
    }
    return tenon_json_node_float(node, out);
}

double case_number(const struct golden_case *c, const char *name, double otherwise)
{
    double value;

    return number_of(case_value(c, name), &value) ? value : otherwise;
}

uint32_t case_u32(const struct golden_case *c, const char *name, uint32_t otherwise)
{
    return (uint32_t)case_number(c, name, otherwise);
}

struct tenon_str case_text(const struct golden_case *c, const char *name)
{
    struct tenon_str text = {"", 0};

    tenon_json_node_text(case_value(c, name), &text);
    return text;
}

bool case_is(const struct golden_case *c, const char *name, const char *word)
{
    struct tenon_str text = case_text(c, name);

    return text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

bool case_true(const struct golden_case *c, const char *name)
{
    return case_number(c, name, 0) != 0;
}

void *case_room(struct golden_case *c, size_t n, size_t size)
{
    void *room = tenon_arena_alloc(&c->arena, n + 1, size);

    if (room == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return room;
}

double *case_doubles(struct golden_case *c, size_t n)
{
    return case_room(c, n, sizeof(double));
}

size_t case_length(const struct tenon_json_node *list)
{
    const struct tenon_json_node *child = tenon_json_node_first(list);
    size_t n = 0;

    for (; child != NULL; child = tenon_json_node_next(child))
        n++;
    return n;
}

/* The leaf after `node` in the tree below `top`, by a stack of bounded depth. */
struct numbers case_flatten(struct golden_case *c, const struct tenon_json_node *node)
{
    const struct tenon_json_node *stack[16];
    struct numbers out = {NULL, 0};

    for (int pass = 0; pass < 2; pass++) {
        size_t depth = 0;

        if (pass == 1)
            out.at = case_doubles(c, out.n);
        out.n = 0;
        stack[depth++] = node;
        while (depth > 0) {
            const struct tenon_json_node *here = stack[--depth];
            double value;

            if (here != node && tenon_json_node_next(here) != NULL)
                stack[depth++] = tenon_json_node_next(here);
            if (tenon_json_node_first(here) != NULL && depth < N_ROWS(stack)) {
                stack[depth++] = tenon_json_node_first(here);
            } else if (number_of(here, &value)) {
                if (pass == 1)
                    out.at[out.n] = value;
                out.n++;
            }
        }
    }
    return out;
}

struct numbers case_numbers(struct golden_case *c, const char *name)
{
    return case_flatten(c, case_value(c, name));
}

/* --- comparing --- */

static const char *text_of(struct golden_case *c, const struct tenon_json_node *node)
{
    struct tenon_str text = {"", 0};
    char *copy;

    tenon_json_node_text(node, &text);
    copy = case_room(c, text.len, 1);
    memcpy(copy, text.data, text.len);
    return copy;
}

static bool tolerance_is(const struct golden_case *c, const char *kind)
{
    struct tenon_str text = {"", 0};

    tenon_json_node_text(tenon_json_node_get(c->tolerance, "kind"), &text);
    return text.len == strlen(kind) && memcmp(text.data, kind, text.len) == 0;
}

double case_tolerance(const struct golden_case *c, enum case_column column)
{
    const char *name = column == CASE_F64 ? "f64" : "f32";
    double value = 0;

    tenon_json_node_float(tenon_json_node_get(c->tolerance, name), &value);
    return value;
}

void case_see(struct golden_case *c, const char *name)
{
    const struct tenon_json_node *node = tenon_json_node_get(c->expected, name);

    if (node != NULL && c->n_seen < N_ROWS(c->seen))
        c->seen[c->n_seen++] = node;
}

void case_fail(struct golden_case *c, const char *format, ...)
{
    va_list args;

    printf("  FAIL %s: ", c->id);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    c->n_failed++;
}

bool case_ok(struct golden_case *c, enum tenon_status st, const struct tenon_error *err)
{
    if (st != TENON_OK)
        case_fail(c, "%s: %s", tenon_status_id(st), err->message);
    return st == TENON_OK;
}

bool case_needs(struct golden_case *c, const char *name)
{
    bool has = tenon_json_node_first(case_value(c, name)) != NULL;

    if (!has)
        case_fail(c, "has no %s", name);
    return has;
}

void case_compare_node(struct golden_case *c, const char *name,
                       const struct tenon_json_node *expected, const double *got, size_t n,
                       double within)
{
    struct numbers wanted = case_flatten(c, expected);
    bool relative = tolerance_is(c, "rel");

    c->n_compared++;
    if (wanted.n != n) {
        case_fail(c, "%s: %zu numbers instead of %zu", name, n, wanted.n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double most = relative ? within * fabs(wanted.at[i]) : within;

        if (got[i] == wanted.at[i] || fabs(got[i] - wanted.at[i]) <= most)
            continue;
        case_fail(c, "%s[%zu]: %.17g instead of %.17g, %.3g allowed", name, i, got[i], wanted.at[i],
                  most);
        return;
    }
}

void case_compare(struct golden_case *c, const char *name, const double *got, size_t n,
                  enum case_column column)
{
    if (!case_expects(c, name))
        return;
    case_see(c, name);
    case_compare_node(c, name, tenon_json_node_get(c->expected, name), got, n,
                      case_tolerance(c, column));
}

void case_compare_one(struct golden_case *c, const char *name, double got, enum case_column column)
{
    case_compare(c, name, &got, 1, column);
}

void case_compare_within(struct golden_case *c, const char *name, const double *got, size_t n,
                         double most)
{
    if (!case_expects(c, name))
        return;
    case_see(c, name);
    case_compare_node(c, name, tenon_json_node_get(c->expected, name), got, n, most);
}

void case_compare_words(struct golden_case *c, const char *name, const char *const *words, size_t n)
{
    const struct tenon_json_node *node = tenon_json_node_get(c->expected, name);
    const struct tenon_json_node *item = tenon_json_node_first(node);
    size_t i = 0;

    if (node == NULL)
        return;
    case_see(c, name);
    c->n_compared++;
    if (tenon_json_node_type(node) == TENON_JSON_STRING) {
        if (n != 1 || strcmp(text_of(c, node), words[0]) != 0)
            case_fail(c, "%s: '%s' instead of '%s'", name, words[0], text_of(c, node));
        return;
    }
    for (; item != NULL && i < n; item = tenon_json_node_next(item), i++)
        if (strcmp(text_of(c, item), words[i]) != 0) {
            case_fail(c, "%s[%zu]: '%s' instead of '%s'", name, i, words[i], text_of(c, item));
            return;
        }
    if (item != NULL || i != n)
        case_fail(c, "%s: %zu words instead of %zu", name, n, case_length(node));
}

/* --- running --- */

struct group {
    const char *name;
    case_fn run;
    unsigned cases, passed, failed, not_run, compared;
};

static struct group groups[] = {
    {.name = "sinusoidal", .run = run_sinusoidal},
    {.name = "position_ids", .run = run_position_ids},
    {.name = "timestep", .run = run_timestep},
    {.name = "sincos2d", .run = run_sincos2d},
    {.name = "sinusoidal_property", .run = run_sinusoidal_property},
    {.name = "rope_inv_freq", .run = run_rope_inv_freq},
    {.name = "rope_apply", .run = run_rope_apply},
    {.name = "rope_property", .run = run_rope_property},
    {.name = "rope_precision", .run = run_rope_precision},
    {.name = "permute", .run = run_permute},
    {.name = "alibi", .run = run_alibi},
    {.name = "t5_bias", .run = run_t5_bias},
    {.name = "deberta", .run = run_deberta},
    {.name = "attention_scale", .run = run_attention_scale},
    {.name = "xpos", .run = run_xpos},
    {.name = "embedding", .run = run_embedding},
    {.name = "norm", .run = run_norm},
    {.name = "embed_scale", .run = run_embed_scale},
    {.name = "embedding_bag", .run = run_embedding_bag},
    {.name = "patch_embedding", .run = run_patch_embedding},
    {.name = "fasttext", .run = run_fasttext},
    {.name = "wordvec_files", .run = run_wordvec_files},
    {.name = "tying", .run = run_tying},
    {.name = "tying_check", .run = run_tying_check},
    {.name = "config_resolution", .run = run_config_resolution},
    {.name = "rounding", .run = run_rounding},
};

static struct group *find_group(const char *name)
{
    for (size_t i = 0; i < N_ROWS(groups); i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    return NULL;
}

/* Everything expected was compared with something, and something was expected. */
static void check_complete(struct golden_case *c)
{
    const struct tenon_json_node *node = tenon_json_node_first(c->expected);

    for (; node != NULL; node = tenon_json_node_next(node)) {
        struct tenon_str key = tenon_json_node_key(node);
        bool seen = false;

        for (size_t i = 0; i < c->n_seen; i++)
            seen = seen || c->seen[i] == node;
        if (!seen)
            case_fail(c, "nothing was compared with '%.*s'", (int)key.len, key.data);
    }
    if (c->n_compared == 0)
        case_fail(c, "nothing was compared");
}

static void run_case(struct golden_case *c, struct group *group)
{
    if (!tolerance_is(c, "informative"))
        group->run(c);
    else
        c->not_run = "informative";
    if (c->not_run == NULL && c->n_failed == 0)
        check_complete(c);
    group->cases++;
    group->compared += c->n_compared;
    if (c->n_failed > 0)
        group->failed++;
    else if (c->not_run != NULL)
        group->not_run++;
    else
        group->passed++;
    if (c->not_run != NULL)
        printf("  not run: %s: %s\n", c->id, c->not_run);
}

static bool run_node(const struct tenon_json_node *node)
{
    struct golden_case c = {
        .params = tenon_json_node_get(node, "params"),
        .inputs = tenon_json_node_get(node, "inputs"),
        .expected = tenon_json_node_get(node, "expected"),
        .tolerance = tenon_json_node_get(node, "tol"),
    };
    struct group *group;

    c.id = text_of(&c, tenon_json_node_get(node, "id"));
    c.group = text_of(&c, tenon_json_node_get(node, "group"));
    group = find_group(c.group);
    if (group != NULL)
        run_case(&c, group);
    else
        printf("  FAIL %s: there is no group '%s'\n", c.id, c.group);
    tenon_arena_release(&c.arena);
    return group != NULL;
}

static int print_counts(unsigned unknown)
{
    struct group sum = {0};

    printf("%-20s %6s %6s %6s %7s %8s\n", "group", "cases", "passed", "failed", "not run",
           "compared");
    for (size_t i = 0; i < N_ROWS(groups); i++) {
        const struct group *g = &groups[i];

        printf("%-20s %6u %6u %6u %7u %8u\n", g->name, g->cases, g->passed, g->failed, g->not_run,
               g->compared);
        sum.cases += g->cases;
        sum.passed += g->passed;
        sum.failed += g->failed;
        sum.not_run += g->not_run;
        sum.compared += g->compared;
    }
    printf("%-20s %6u %6u %6u %7u %8u\n", "all", sum.cases, sum.passed, sum.failed, sum.not_run,
           sum.compared);
    if (unknown > 0)
        printf("%u cases of unknown groups\n", unknown);
    return sum.failed > 0 || unknown > 0 || sum.passed == 0;
}

static bool has_schema(const struct tenon_json_node *root)
{
    const struct tenon_json_node *node = tenon_json_node_get(root, "schema");
    struct tenon_str text = {"", 0};

    return tenon_json_node_text(node, &text) && text.len == strlen("positions-golden/1") &&
           memcmp(text.data, "positions-golden/1", text.len) == 0;
}

int main(int argc, char **argv)
{
    const char *path = getenv("TENON_CASES");
    struct tenon_json_node *root = NULL;
    const struct tenon_json_node *node;
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};
    unsigned unknown = 0;
    size_t n = 0;
    char *text = NULL;
    int failed = 1;

    if (path == NULL && argc > 1)
        path = argv[1];
    if (path == NULL || tenon_source_open_file(path, &source, &err) != TENON_OK ||
        tenon_source_slurp(source, TENON_JSON_TREE_BYTES, &text, &n, &err) != TENON_OK ||
        tenon_json_tree_parse(text, n, 16, &root, &err) != TENON_OK || !has_schema(root)) {
        printf("%s: no cases to run: %s\n", path == NULL ? "no file" : path, err.message);
        goto out;
    }
    node = tenon_json_node_first(tenon_json_node_get(root, "cases"));
    for (; node != NULL; node = tenon_json_node_next(node))
        unknown += !run_node(node);
    failed = print_counts(unknown);
out:
    tenon_json_node_free(root);
    tenon_mem_free(text);
    tenon_source_free(source);
    return failed;
}
