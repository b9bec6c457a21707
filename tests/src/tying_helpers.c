#include "tying_helpers.h"

#include <string.h>

struct tiny_model tiny;
struct tenon_tying *tying;

const float *matrix(void)
{
    static float values[ROWS * COLS];

    for (int i = 0; i < ROWS * COLS; i++)
        values[i] = (float)(i + 1) / 4 - 5.125f;
    return values;
}

const float *matrix_with(int row, float added)
{
    static float values[ROWS * COLS];

    memcpy(values, matrix(), sizeof(values));
    values[row * COLS + 1] += added;
    return values;
}

const float *unrelated(void)
{
    static float values[ROWS * COLS];

    for (int i = 0; i < ROWS * COLS; i++)
        values[i] = (float)((i * 37) % 31) / 8 - 1.9f;
    return values;
}

void begin(void)
{
    tiny_begin(&tiny);
}

void input(enum tenon_dtype dtype, uint64_t rows, uint64_t cols, const void *values)
{
    tiny_add(&tiny, "model.embed_tokens.weight", dtype, rows, cols, values);
}

void output(enum tenon_dtype dtype, uint64_t rows, uint64_t cols, const void *values)
{
    tiny_add(&tiny, "lm_head.weight", dtype, rows, cols, values);
}

enum tenon_verdict judge_with(const char *model_type, const struct tenon_tying_options *options)
{
    const struct tenon_model *model = tiny_end(&tiny, model_type);
    struct tenon_error err = {0};

    ck_ok(tenon_tying_analyse(model, options, &tying, &err), err);
    ck_assert_int_eq(tying->tied, (tying->verdict != TENON_VERDICT_NONE &&
                                   tying->verdict <= TENON_VERDICT_QUANTIZED));
    return tying->verdict;
}

enum tenon_verdict judge(const char *model_type)
{
    return judge_with(model_type, NULL);
}

bool noted(const char *words)
{
    for (size_t i = 0; i < tying->n_notes; i++)
        if (strstr(tying->notes[i], words) != NULL)
            return true;
    return false;
}

void tear_down(void)
{
    tenon_tying_free(tying);
    tiny_free(&tiny);
    tying = NULL;
}
