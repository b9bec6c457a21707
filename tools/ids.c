#include "ids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt.h"
#include "report.h"

/* Makes room for one more item of `size` bytes at `*items`. */
static bool grow(void *items, size_t *capacity, size_t n, size_t size)
{
    void **p = items;
    size_t more = *capacity != 0 ? *capacity * 2 : 64;
    void *grown;

    if (n < *capacity)
        return true;
    if (more > SIZE_MAX / 2 / size)
        return false;
    grown = realloc(*p, more * size);
    if (grown == NULL)
        return false;
    *p = grown;
    *capacity = more;
    return true;
}

static enum tenon_status fail_ids(struct tenon_error *err, size_t line, const char *text,
                                  const char *what)
{
    int n = (int)strcspn(text, " \t,\r\n");

    if (line != 0)
        return tenon_report_fail(err, TENON_ERR_MISUSE, "line %zu: '%.*s' %s", line,
                                 n < 60 ? n : 60, text, what);
    return tenon_report_fail(err, TENON_ERR_MISUSE, "ids: '%.*s' %s", n < 60 ? n : 60, text, what);
}

/* Adds first ... last. Bounded by `rows`, so that a range cannot grow beyond the matrix. */
static enum tenon_status add_range(struct tenon_ids *ids, uint64_t first, uint64_t last,
                                   struct tenon_error *err)
{
    for (uint64_t id = first; id <= last; id++) {
        if (!grow(&ids->ids, &ids->capacity, ids->n, sizeof(*ids->ids)))
            return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
        ids->ids[ids->n++] = id;
    }
    return TENON_OK;
}

static enum tenon_status fail_outside(const struct tenon_ids *ids, size_t line, uint64_t id,
                                      struct tenon_error *err)
{
    char place[32] = "";

    if (line > 0)
        snprintf(place, sizeof(place), "line %zu: ", line);
    tenon_report_fail(err, TENON_ERR_MISUSE, "%sid %llu is outside the matrix, which has %llu rows",
                      place, (unsigned long long)id, (unsigned long long)ids->rows);
    if (line == 0 && ids->matrix != NULL)
        tenon_report_path(err, ids->matrix);
    return TENON_ERR_MISUSE;
}

/* One number or range at `*text`, which moves behind it. */
static enum tenon_status add_item(struct tenon_ids *ids, const char **text, size_t line,
                                  struct tenon_error *err)
{
    const char *start = *text, *p;
    uint64_t first, last;

    if (!tenon_opt_u64(start, &p, &first))
        return fail_ids(err, line, start, "is not a token id");
    last = first;
    if (*p == '-' && !tenon_opt_u64(p + 1, &p, &last))
        return fail_ids(err, line, start, "is not a range of token ids");
    if (strchr(" \t,\r\n", *p) == NULL)
        return fail_ids(err, line, start, "is not a token id");
    if (last < first)
        return fail_ids(err, line, start, "runs backwards");
    if (last >= ids->rows)
        return fail_outside(ids, line, first >= ids->rows ? first : last, err);
    *text = p;
    return add_range(ids, first, last, err);
}

enum tenon_status tenon_ids_add(struct tenon_ids *ids, const char *text, size_t line,
                                struct tenon_error *err)
{
    size_t before = ids->n;
    enum tenon_status st = TENON_OK;

    for (text += strspn(text, " \t,\r\n"); st == TENON_OK && *text != '\0';
         text += strspn(text, " \t,\r\n"))
        st = add_item(ids, &text, line, err);
    if (st != TENON_OK || ids->n == before)
        return st;
    if (!grow(&ids->ends, &ids->sequence_capacity, ids->n_sequences, sizeof(*ids->ends)))
        return tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
    ids->ends[ids->n_sequences++] = ids->n;
    return TENON_OK;
}

enum tenon_status tenon_ids_read(struct tenon_ids *ids, const char *path, struct tenon_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "r");
    const char *name = is_stdin ? "standard input" : path;
    char *text = NULL;
    size_t size = 0, line = 0;
    ssize_t n;
    enum tenon_status st = TENON_OK;

    if (file == NULL)
        return tenon_report_open(err, name, errno);
    errno = 0;
    while (st == TENON_OK && (n = getline(&text, &size, file)) >= 0) {
        line++;
        if (strlen(text) != (size_t)n)
            st = tenon_report_fail(err, TENON_ERR_MISUSE, "line %zu: holds a NUL byte", line);
        else
            st = tenon_ids_add(ids, text, line, err);
    }
    if (st != TENON_OK)
        tenon_report_path(err, name);
    else if (ferror(file) || !feof(file)) /* the latter: no memory for a line */
        st = tenon_report_errno(err, name, errno, "cannot read the list of ids");
    free(text);
    if (!is_stdin)
        fclose(file);
    return st;
}

void tenon_ids_release(struct tenon_ids *ids)
{
    free(ids->ids);
    free(ids->ends);
    *ids = (struct tenon_ids){0};
}
