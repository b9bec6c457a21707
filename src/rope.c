#include "tenon/rope.h"

#include <math.h>
#include <string.h>

#include "fail.h"
#include "mem.h"
#include "rope_private.h"

void tenon_rope_init(struct tenon_rope *rope)
{
    const double absent = (double)NAN;

    *rope = (struct tenon_rope){.theta = 10000, .alpha = absent, .proportion = absent};
    rope->factor = rope->original = rope->max_positions = absent;
    rope->attention_factor = rope->mscale = rope->mscale_all_dim = absent;
    rope->beta_fast = rope->beta_slow = absent;
    rope->extrapolation_factor = rope->attn_factor = absent;
    rope->low_freq_factor = rope->high_freq_factor = absent;
}

/* Numbers are finite, and at least or above a bound, or (where that is fine) not given. */
struct number_rule {
    const char *name;
    size_t offset;
    double bound;
    bool inclusive;
};

#define ANY(name, member)                                                                          \
    {                                                                                              \
        name, offsetof(struct tenon_rope, member), -HUGE_VAL, false                                \
    }
#define POSITIVE(name, member)                                                                     \
    {                                                                                              \
        name, offsetof(struct tenon_rope, member), 0, false                                        \
    }
#define AT_LEAST_0(name, member)                                                                   \
    {                                                                                              \
        name, offsetof(struct tenon_rope, member), 0, true                                         \
    }

static const struct number_rule rules[] = {
    POSITIVE("factor", factor),
    POSITIVE("original_max_position_embeddings", original),
    POSITIVE("max_position_embeddings", max_positions),
    ANY("attention_factor", attention_factor),
    ANY("mscale", mscale),
    ANY("mscale_all_dim", mscale_all_dim),
    AT_LEAST_0("beta_fast", beta_fast),
    AT_LEAST_0("beta_slow", beta_slow),
    ANY("extrapolation_factor", extrapolation_factor),
    ANY("attn_factor", attn_factor),
    POSITIVE("low_freq_factor", low_freq_factor),
    POSITIVE("high_freq_factor", high_freq_factor),
    POSITIVE("alpha", alpha),
    AT_LEAST_0("partial_rotary_factor", proportion),
};

#undef ANY
#undef POSITIVE
#undef AT_LEAST_0

static bool obeys(const struct number_rule *rule, double value)
{
    return isfinite(value) && (rule->inclusive ? value >= rule->bound : value > rule->bound);
}

static double number_at(const struct tenon_rope *rope, size_t offset)
{
    double value;

    memcpy(&value, (const char *)rope + offset, sizeof(value));
    return value;
}

static enum tenon_status check_numbers(const struct tenon_rope *rope, struct tenon_error *err)
{
    if (!isfinite(rope->theta) || rope->theta <= 1)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "rope_theta is %g, a finite number above 1 is needed", rope->theta);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        double value = number_at(rope, rules[i].offset);

        if (isnan(value) || obeys(&rules[i], value))
            continue;
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%s is %g, a finite number %s %g is needed", rules[i].name, value,
                          rules[i].inclusive ? "of at least" : "above", rules[i].bound);
    }
    return TENON_OK;
}

static enum tenon_status check_widths(const struct tenon_rope *rope, struct tenon_error *err)
{
    if (rope->head_dim > TENON_ROPE_MAX_DIM)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET,
                          "the head is %u wide, at most %u allowed", rope->head_dim,
                          TENON_ROPE_MAX_DIM);
    if (rope->scaling == TENON_ROPE_PROPORTIONAL) {
        if (rope->head_dim == 0 || rope->head_dim % 2 != 0)
            return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                              "the head is %u wide, an even width is needed", rope->head_dim);
        return TENON_OK;
    }
    if (rope->rotary_dim == 0 || rope->rotary_dim % 2 != 0)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "the rotary width is %u, an even width from 2 to the head's %u is needed",
                          rope->rotary_dim, rope->head_dim);
    if (rope->rotary_dim > rope->head_dim)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "the rotary width is %u, wider than the head, which has %u",
                          rope->rotary_dim, rope->head_dim);
    return TENON_OK;
}

static enum tenon_status missing(const char *what, const struct tenon_rope *rope,
                                 struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_NOT_FOUND, TENON_NO_OFFSET,
                      "%s rotation without '%s', which it needs",
                      tenon_rope_scaling_name(rope->scaling), what);
}

static enum tenon_status check_list(const char *name, const void *list, uint32_t n,
                                    const struct tenon_rope *rope, struct tenon_error *err)
{
    if (list == NULL)
        return missing(name, rope, err);
    if (n != rope->rotary_dim / 2)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%s has %u entries, the rotary width of %u needs %u", name, n,
                          rope->rotary_dim, rope->rotary_dim / 2);
    return TENON_OK;
}

static enum tenon_status check_longrope(const struct tenon_rope *rope, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    if (isnan(rope->original))
        return missing("original_max_position_embeddings", rope, err);
    if (rope->freq_factors == NULL) {
        st = check_list("short_factor", rope->short_factors, rope->n_short_factors, rope, err);
        if (st == TENON_OK)
            st = check_list("long_factor", rope->long_factors, rope->n_long_factors, rope, err);
        if (st != TENON_OK)
            return st;
    }
    if (isnan(rope->attention_factor) && isnan(tenon_rope_factor(rope)))
        return missing("factor", rope, err);
    return TENON_OK;
}

static enum tenon_status check_llama3(const struct tenon_rope *rope, struct tenon_error *err)
{
    if (isnan(rope->factor))
        return missing("factor", rope, err);
    if (isnan(rope->low_freq_factor))
        return missing("low_freq_factor", rope, err);
    if (isnan(rope->high_freq_factor))
        return missing("high_freq_factor", rope, err);
    if (isnan(rope->original))
        return missing("original_max_position_embeddings", rope, err);
    if (rope->high_freq_factor <= rope->low_freq_factor)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "high_freq_factor is %g, more than the low_freq_factor of %g is needed",
                          rope->high_freq_factor, rope->low_freq_factor);
    return TENON_OK;
}

/* Scalings that raise the base to the power R / (R - 2). */
static enum tenon_status check_base_power(const struct tenon_rope *rope, struct tenon_error *err)
{
    if (rope->rotary_dim < 4)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%s rotation of width %u, at least 4 is needed",
                          tenon_rope_scaling_name(rope->scaling), rope->rotary_dim);
    return TENON_OK;
}

static enum tenon_status check_scaling(const struct tenon_rope *rope, struct tenon_error *err)
{
    switch (rope->scaling) {
    case TENON_ROPE_DEFAULT:
        return TENON_OK;
    case TENON_ROPE_LINEAR:
        return isnan(rope->factor) ? missing("factor", rope, err) : TENON_OK;
    case TENON_ROPE_DYNAMIC:
        if (isnan(rope->factor))
            return missing("factor", rope, err);
        if (isnan(rope->max_positions) && isnan(rope->original))
            return missing("max_position_embeddings", rope, err);
        return check_base_power(rope, err);
    case TENON_ROPE_NTK:
        return isnan(rope->alpha) ? missing("alpha", rope, err) : check_base_power(rope, err);
    case TENON_ROPE_YARN:
        if (isnan(rope->original))
            return missing("original_max_position_embeddings", rope, err);
        return isnan(tenon_rope_factor(rope)) ? missing("factor", rope, err) : TENON_OK;
    case TENON_ROPE_LONGROPE:
        return check_longrope(rope, err);
    case TENON_ROPE_LLAMA3:
        return check_llama3(rope, err);
    case TENON_ROPE_PROPORTIONAL:
        if (isnan(rope->proportion))
            return missing("partial_rotary_factor", rope, err);
        if (rope->proportion < 0 || rope->proportion > 1)
            return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                              "partial_rotary_factor is %g, 0 to 1 allowed", rope->proportion);
        return TENON_OK;
    }
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "%d is no scaling of a rotation",
                      (int)rope->scaling);
}

/* Sections are pairs; together they are all of them. */
static enum tenon_status check_sum(const struct tenon_rope *rope, uint32_t n_pairs,
                                   struct tenon_error *err)
{
    uint64_t sum = 0;

    if (rope->n_sections < 2 || rope->n_sections > TENON_ROPE_MAX_SECTIONS)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "%u sections of rotated pairs, 2 to %d allowed", rope->n_sections,
                          TENON_ROPE_MAX_SECTIONS);
    for (uint32_t i = 0; i < rope->n_sections; i++)
        sum += rope->sections[i];
    if (sum != n_pairs)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "sections have %llu pairs together, the rotary width of %u needs %u",
                          (unsigned long long)sum, 2 * n_pairs, n_pairs);
    return TENON_OK;
}

static enum tenon_status check_axes(const struct tenon_rope *rope, uint32_t n_pairs,
                                    struct tenon_error *err)
{
    uint32_t streams = rope->axes == TENON_AXES_SPLIT ? 2 : rope->n_sections;
    bool by_block = rope->pairing == TENON_PAIR_BLOCK_HALF || rope->pairing == TENON_PAIR_TILED;

    if (by_block && rope->axes != TENON_AXES_BLOCKS)
        return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                          "pairs inside sections without sections of their own frequencies");
    switch (rope->axes) {
    case TENON_AXES_ONE:
        return TENON_OK;
    case TENON_AXES_CHUNKED:
    case TENON_AXES_BLOCKS:
        return check_sum(rope, n_pairs, err);
    case TENON_AXES_INTERLEAVED:
    case TENON_AXES_ERNIE:
        if (rope->n_sections < 3)
            return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                              "%u sections of interleaved pairs, 3 or 4 are needed",
                              rope->n_sections);
        return check_sum(rope, n_pairs, err);
    case TENON_AXES_SPLIT:
    case TENON_AXES_ALTERNATING:
        if (streams < 2 || streams > TENON_ROPE_MAX_SECTIONS || n_pairs % streams != 0)
            return tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                              "%u rotated pairs cannot be shared by %u coordinates", n_pairs,
                              streams);
        return TENON_OK;
    }
    return tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "%d is no arrangement of streams",
                      (int)rope->axes);
}

static enum tenon_status check_rope(const struct tenon_rope *rope, uint32_t n_pairs,
                                    struct tenon_error *err)
{
    enum tenon_status st = check_widths(rope, err);

    if (st == TENON_OK)
        st = check_numbers(rope, err);
    if (st == TENON_OK)
        st = check_scaling(rope, err);
    if (st == TENON_OK)
        st = check_axes(rope, n_pairs, err);
    if (st == TENON_OK && rope->freq_factors != NULL && rope->n_freq_factors != n_pairs)
        st = tenon_fail(err, TENON_ERR_MISMATCH, TENON_NO_OFFSET,
                        "%u frequency factors, the rotary width of %u needs %u",
                        rope->n_freq_factors, 2 * n_pairs, n_pairs);
    return st;
}

enum tenon_status tenon_rope_table_init(struct tenon_rope_table *table,
                                        const struct tenon_rope *rope,
                                        enum tenon_precision precision, double length,
                                        struct tenon_error *err)
{
    bool whole = rope->scaling == TENON_ROPE_PROPORTIONAL;
    struct tenon_rope_table made = {
        .rope = *rope,
        .precision = precision,
        .n_pairs = (whole ? rope->head_dim : rope->rotary_dim) / 2,
        .length = length,
    };
    enum tenon_status st = check_rope(rope, made.n_pairs, err);

    if (st == TENON_OK && !(isfinite(length) && length >= 0))
        st = tenon_fail(err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "%g is no sequence length", length);
    if (st != TENON_OK)
        goto out;
    made.inv_freq = tenon_mem_alloc(made.n_pairs, sizeof(*made.inv_freq));
    made.axis = tenon_mem_alloc(made.n_pairs, sizeof(*made.axis));
    if (precision == TENON_PRECISION_GGML && tenon_rope_ggml_divides(rope))
        made.divisors = tenon_mem_alloc(made.n_pairs, sizeof(*made.divisors));
    if (made.inv_freq == NULL || made.axis == NULL ||
        (made.divisors == NULL && precision == TENON_PRECISION_GGML &&
         tenon_rope_ggml_divides(rope))) {
        st = tenon_fail_memory(err);
        goto out;
    }
    if (precision == TENON_PRECISION_GGML)
        tenon_rope_ggml_init(&made, rope);
    else
        tenon_rope_frequencies(&made, rope);
    made.rope.short_factors = made.rope.long_factors = NULL; /* the caller's, not needed again */
    made.rope.freq_factors = NULL;
    *table = made;
    made = (struct tenon_rope_table){0};
out:
    tenon_rope_table_release(&made);
    return st;
}

void tenon_rope_table_release(struct tenon_rope_table *table)
{
    if (table == NULL)
        return;
    tenon_mem_free(table->inv_freq);
    tenon_mem_free(table->axis);
    tenon_mem_free(table->divisors);
    *table = (struct tenon_rope_table){0};
}
