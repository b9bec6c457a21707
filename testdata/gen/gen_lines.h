/* Files of lines and words, such as the golden ones. What is wrong with one ends the program. */
#ifndef TENON_TESTDATA_GEN_LINES_H
#define TENON_TESTDATA_GEN_LINES_H

#include "gen.h"

/* A file that is taken apart from its front; what is taken lives as long as it. */
struct gen_lines {
    const char *path; /* borrowed */
    char *text, *next;
};

void gen_lines_open(struct gen_lines *r, const char *path);
void gen_lines_release(struct gen_lines *r);

/* The next line without its end, NULL after the last one. */
char *gen_line_take(struct gen_lines *r);

/* The next word of a line: NULL when there is none; or one there must be. */
char *gen_word_take(char **rest);
char *gen_word_need(const struct gen_lines *r, char **rest);

/* "40,32" to a shape, "-" to that of a scalar; the number of its dimensions. */
unsigned gen_shape_read(const char *text, uint64_t dims[GEN_MAX_DIMS]);

#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void gen_lines_die(const char *path, const char *what);
void *gen_lines_must(void *memory, const char *path); /* never NULL */

#endif
