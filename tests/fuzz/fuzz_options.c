/* Command lines: arguments, each ended by NUL, through the option parser, and each as a pattern and
 * as a list of ids. */
#include "opt.h"

#include "fuzz_model.h"

#include <stdlib.h>
#include <string.h>

#include "ids.h"
#include "tenon/text.h"
#include "tool.h"

struct values {
    bool quiet, verbose;
    uint64_t threads, size;
    const char *output;
    struct tenon_opt_list ids;
    unsigned sort;
    double tolerance;
};

static const char *const sort_words[] = {"name", "size", "offset", NULL};

#define FIELD(name) offsetof(struct values, name)
static const struct tenon_opt options[] = {
    {.letter = 'q', .name = "quiet", .kind = TENON_OPT_FLAG, .field = FIELD(quiet)},
    {.letter = 'v', .name = "verbose", .kind = TENON_OPT_FLAG, .field = FIELD(verbose)},
    {.letter = 'j',
     .name = "threads",
     .kind = TENON_OPT_NUMBER,
     .field = FIELD(threads),
     .value = "N",
     .min = 1,
     .max = 64},
    {.name = "max-size", .kind = TENON_OPT_SIZE, .field = FIELD(size), .value = "SIZE"},
    {.letter = 'o',
     .name = "output",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(output),
     .value = "FILE"},
    {.name = "ids",
     .kind = TENON_OPT_TEXT,
     .field = FIELD(ids),
     .value = "LIST",
     .flags = TENON_OPT_REPEATED},
    {.name = "sort",
     .kind = TENON_OPT_CHOICE,
     .field = FIELD(sort),
     .value = "BY",
     .choices = sort_words},
    {.name = "tolerance", .kind = TENON_OPT_REAL, .field = FIELD(tolerance), .value = "ABS"},
};

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void check_safe(const char *text)
{
    size_t len = strlen(text), pos = 0;

    while (pos < len)
        check(tenon_codepoint_safe(tenon_utf8_next(text, len, &pos)));
}

static void parse(const char *const *argv, size_t n)
{
    struct values v = {.threads = 1};
    struct tenon_opt_parse p = {.tables = {{options, sizeof(options) / sizeof(options[0]), &v, 0}}};
    struct tenon_error err = {0};
    enum tenon_status st = tenon_opt_parse(&p, argv, n, &err);

    check(st == err.status && (st == TENON_OK || st == TENON_ERR_MISUSE));
    check(p.n_used <= n && p.n_operands <= n && v.ids.n <= n);
    check(v.threads >= 1 && v.threads <= 64 && v.sort < 3 && v.tolerance >= 0);
    check(st == TENON_OK || err.message[0] != '\0');
    check_safe(err.message);
    check_safe(err.hint);
    tenon_opt_release(&p);
}

static void read_ids(const char *text)
{
    struct tenon_ids ids = {.rows = 1000};
    struct tenon_error err = {0};
    enum tenon_status st = tenon_ids_add(&ids, text, 1, &err);

    for (size_t i = 0; i < ids.n; i++)
        check(ids.ids[i] < ids.rows);
    check(st == TENON_OK || st == TENON_ERR_MISUSE);
    check_safe(err.message);
    tenon_ids_release(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { WORDS = 32 };
    const char *argv[WORDS];
    char *text = malloc(size + 1);
    size_t n = 0;

    check(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (size_t at = 0; at < size && n < WORDS; at += strlen(text + at) + 1)
        argv[n++] = text + at;
    parse(argv, n);
    for (size_t i = 0; i < n && size <= 512; i++) {
        read_ids(argv[i]);
        (void)tenon_text_glob(argv[i], argv[n - 1], strlen(argv[n - 1]));
    }
    free(text);
    return 0;
}
