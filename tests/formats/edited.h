/* Files in memory and their edited copies. */
#ifndef TENON_TESTS_EDITED_H
#define TENON_TESTS_EDITED_H

#include "assemble.h"

/* A tensor that is added: behind most others, whatever their order. */
#define HEAD "zz.head.weight"

/* A file, opened. */
struct copy {
    struct gen_bytes bytes;
    struct tenon_model *model;
};

void copy_open(struct copy *c); /* from its bytes */
void copy_release(struct copy *c);

/* A file with that header, followed by `pad` blanks, and `n` bytes of payload. */
void copy_make_padded(struct copy *c, const char *header, size_t pad, size_t n);
void copy_make(struct copy *c, const char *header, size_t n); /* without blanks */

/* With as many blanks as the reference adds. */
void copy_make_aligned(struct copy *c, const char *header, size_t n);

/* What an edit does. NULL: nothing. */
struct edit {
    const char *add[3]; /* new tensors, copies of number `from` */
    uint32_t from;
    const char *drop, *drop_too, *drop_three;
    const char *key, *new_value; /* of a pair; the value NULL: it goes away */
    const char *add_key;
};

enum tenon_status make_plan(const struct copy *from, const struct edit *e, struct tenon_plan **out,
                            struct tenon_error *err);

/* The edited copy of `from`, opened. */
void copy_edit(const struct copy *from, const struct edit *e, struct copy *to);

void check_same(const struct copy *a, const struct copy *b); /* their bytes */

/* Every tensor of `a` is in `b`, with the same bytes. */
void check_kept(const struct copy *a, const struct copy *b);

/* Nothing done changes nothing, and what is put in and taken out again leaves every byte as it was;
 * `seed` chooses what. */
void check_there_and_back(const struct copy *a, uint64_t seed);

#endif
