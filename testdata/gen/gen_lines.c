/* Files of lines and words. */
#include "gen_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gen_lines_die(const char *path, const char *what)
{
    fprintf(stderr, "golden: %s: %s\n", path, what);
    exit(1);
}

void *gen_lines_must(void *memory, const char *path)
{
    if (memory == NULL)
        gen_lines_die(path, "out of memory");
    return memory;
}

void gen_lines_open(struct gen_lines *r, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t n = 0, capacity = 1 << 16;

    if (file == NULL)
        gen_lines_die(path, strerror(errno));
    r->path = path;
    r->text = gen_lines_must(malloc(capacity), path);
    for (size_t got; (got = fread(r->text + n, 1, capacity - n - 1, file)) > 0;) {
        n += got;
        if (capacity - n < 2)
            r->text = gen_lines_must(realloc(r->text, capacity *= 2), path);
    }
    fclose(file);
    r->text[n] = '\0';
    r->next = r->text;
}

void gen_lines_release(struct gen_lines *r)
{
    free(r->text);
    *r = (struct gen_lines){0};
}

char *gen_line_take(struct gen_lines *r)
{
    char *line = r->next, *end;

    if (line == NULL || *line == '\0')
        return NULL;
    end = strchr(line, '\n');
    if (end == NULL)
        gen_lines_die(r->path, "last line is cut");
    *end = '\0';
    r->next = end + 1;
    return line;
}

char *gen_word_take(char **rest)
{
    char *word = *rest, *end;

    if (*word == '\0')
        return NULL;
    end = strchr(word, ' ');
    if (end == NULL)
        *rest = word + strlen(word);
    else {
        *end = '\0';
        *rest = end + 1;
    }
    return word;
}

char *gen_word_need(const struct gen_lines *r, char **rest)
{
    char *word = gen_word_take(rest);

    if (word == NULL)
        gen_lines_die(r->path, "a line is cut");
    return word;
}

unsigned gen_shape_read(const char *text, uint64_t dims[GEN_MAX_DIMS])
{
    unsigned n = 0;

    while (*text != '\0' && *text != '-' && n < GEN_MAX_DIMS) {
        char *end;

        dims[n++] = strtoull(text, &end, 10);
        text = end + (*end == ',');
    }
    return n;
}
