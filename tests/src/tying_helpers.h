/* Models made in memory and the verdict on them: what the tests of tying share. */
#ifndef TENON_TESTS_TYING_HELPERS_H
#define TENON_TESTS_TYING_HELPERS_H

#include "check_error.h"
#include "tenon/tying.h"
#include "tiny_model.h"

#define TOP    "config.json: tie_word_embeddings"
#define NESTED "config.json: text_config.tie_word_embeddings"

enum { ROWS = 8, COLS = 4 };

/* The model at work and the answer about it. */
extern struct tiny_model tiny;
extern struct tenon_tying *tying;

/* 8 x 4 numbers, none zero, exact in BF16. */
const float *matrix(void);

/* The same with something added to one value of one row. */
const float *matrix_with(int row, float added);

/* 8 x 4 numbers that have nothing to do with those. */
const float *unrelated(void);

void begin(void);

/* Adds the input or output matrix by its most usual name. */
void input(enum tenon_dtype dtype, uint64_t rows, uint64_t cols, const void *values);
void output(enum tenon_dtype dtype, uint64_t rows, uint64_t cols, const void *values);

/* Finishes the model and analyses it. */
enum tenon_verdict judge_with(const char *model_type, const struct tenon_tying_options *options);
enum tenon_verdict judge(const char *model_type);

/* Whether some note has these words. */
bool noted(const char *words);

/* Frees model and answer. */
void tear_down(void);

#define check_verdict(call, wanted)                                                                \
    do {                                                                                           \
        enum tenon_verdict ck_v_ = (call);                                                         \
        ck_assert_msg(ck_v_ == (wanted), "%s instead of %s: %s", tenon_verdict_name(ck_v_),        \
                      tenon_verdict_name(wanted), tying->n_notes ? tying->notes[0] : "");          \
    } while (0)

#define check_action(action, wanted)                                                               \
    ck_assert_str_eq(tenon_loader_action_name(action), tenon_loader_action_name(wanted))

#endif
