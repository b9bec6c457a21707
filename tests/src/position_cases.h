/* Golden cases of positions and embedding layers: reading a file of the schema "positions-golden/1"
 * and comparing what the library says with what a case expects. */
#ifndef TENON_TESTS_POSITION_CASES_H
#define TENON_TESTS_POSITION_CASES_H

#include "json_tree.h"
#include "mem.h"
#include "tenon/rope.h"

enum case_column { CASE_F64, CASE_F32 };

/* One case, and what was found about it so far. */
struct golden_case {
    const char *id, *group;
    const struct tenon_json_node *params, *inputs, *expected, *tolerance;
    struct tenon_arena arena;
    const struct tenon_json_node *seen[64]; /* expectations that something was compared with */
    size_t n_seen;
    unsigned n_compared, n_failed;
    const char *not_run; /* why, where it is not */
};

/* A flat list of numbers; rows of lists one after another. */
struct numbers {
    double *at;
    size_t n;
};

typedef void (*case_fn)(struct golden_case *c);

/* --- reading --- */

/* Where a name is looked for: the inputs, then the parameters. NULL when it is nowhere. */
const struct tenon_json_node *case_value(const struct golden_case *c, const char *name);
bool case_has(const struct golden_case *c, const char *name);
bool case_expects(const struct golden_case *c, const char *name);

/* Fails the case where it has no such list with something in it. */
bool case_needs(struct golden_case *c, const char *name);

/* A number, `otherwise` when it is absent or null; booleans count as 1 and 0. */
double case_number(const struct golden_case *c, const char *name, double otherwise);
uint32_t case_u32(const struct golden_case *c, const char *name, uint32_t otherwise);
bool case_is(const struct golden_case *c, const char *name, const char *word);
bool case_true(const struct golden_case *c, const char *name);
struct tenon_str case_text(const struct golden_case *c, const char *name);

/* All numbers (true is 1) of a list, also of nested ones; empty when it is absent. */
struct numbers case_numbers(struct golden_case *c, const char *name);
struct numbers case_flatten(struct golden_case *c, const struct tenon_json_node *node);
size_t case_length(const struct tenon_json_node *list);

/* Zeroed room that lives as long as the case. */
void *case_room(struct golden_case *c, size_t n, size_t size);
double *case_doubles(struct golden_case *c, size_t n);

/* --- comparing --- */

/* What the case expects under `name` against `n` numbers, within the case's tolerance for that
 * column. Does nothing where the case expects no such thing. */
void case_compare(struct golden_case *c, const char *name, const double *got, size_t n,
                  enum case_column column);
void case_compare_one(struct golden_case *c, const char *name, double got, enum case_column column);

/* The same, but also within `most`, whatever the tolerance. */
void case_compare_within(struct golden_case *c, const char *name, const double *got, size_t n,
                         double most);

/* A list of words, or one word. */
void case_compare_words(struct golden_case *c, const char *name, const char *const *words,
                        size_t n);

/* One node in place of a named expectation. */
void case_compare_node(struct golden_case *c, const char *name,
                       const struct tenon_json_node *expected, const double *got, size_t n,
                       double within);

/* Marks an expectation as dealt with. */
void case_see(struct golden_case *c, const char *name);
void case_fail(struct golden_case *c, const char *format, ...) TENON_PRINTF(2, 3);

/* Fails the case unless `st` is success. */
bool case_ok(struct golden_case *c, enum tenon_status st, const struct tenon_error *err);

double case_tolerance(const struct golden_case *c, enum case_column column);

/* The rotation that the parameters describe; and a table of it, released with the case's end by
 * the caller. */
struct tenon_rope case_rope(struct golden_case *c);
bool case_table(struct golden_case *c, const struct tenon_rope *rope,
                enum tenon_precision precision, struct tenon_rope_table *table);

/* --- groups --- */

void run_sinusoidal(struct golden_case *c);
void run_position_ids(struct golden_case *c);
void run_timestep(struct golden_case *c);
void run_sincos2d(struct golden_case *c);
void run_sinusoidal_property(struct golden_case *c);
void run_rope_inv_freq(struct golden_case *c);
void run_rope_apply(struct golden_case *c);
void run_rope_property(struct golden_case *c);
void run_rope_precision(struct golden_case *c);
void run_permute(struct golden_case *c);
void run_alibi(struct golden_case *c);
void run_t5_bias(struct golden_case *c);
void run_deberta(struct golden_case *c);
void run_attention_scale(struct golden_case *c);
void run_xpos(struct golden_case *c);
void run_embedding(struct golden_case *c);
void run_norm(struct golden_case *c);
void run_embed_scale(struct golden_case *c);
void run_embedding_bag(struct golden_case *c);
void run_patch_embedding(struct golden_case *c);
void run_fasttext(struct golden_case *c);
void run_wordvec_files(struct golden_case *c);
void run_tying(struct golden_case *c);
void run_tying_check(struct golden_case *c);
void run_config_resolution(struct golden_case *c);
void run_rounding(struct golden_case *c);

#endif
