/* The rotation: what must hold whatever the frequencies, and published numbers about them. */
#include "tenon/rope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_error.h"
#include "mem.h"

#define MAX_DIM 256

static struct tenon_rope plain(uint32_t dim, double theta)
{
    struct tenon_rope rope;

    tenon_rope_init(&rope);
    rope.head_dim = rope.rotary_dim = dim;
    rope.theta = theta;
    return rope;
}

static struct tenon_rope_table table_of(const struct tenon_rope *rope,
                                        enum tenon_precision precision, double length)
{
    struct tenon_rope_table table = {0};
    struct tenon_error err = {0};

    ck_ok(tenon_rope_table_init(&table, rope, precision, length, &err), err);
    return table;
}

/* Numbers without a pattern, from -1 to 1, always the same. */
static void fill(double *x, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (double)(seed >> 8) / (1 << 23) - 1;
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void rotate(const struct tenon_rope_table *table, const double *positions, const double *x,
                   double *out)
{
    double c[MAX_DIM], s[MAX_DIM];

    tenon_rope_angles(table, positions, c, s);
    tenon_rope_apply(table, c, s, x, out);
}

/* Forms of rotation that are rotations (a tiled one is none). */
static struct tenon_rope form(int i)
{
    struct tenon_rope rope = plain(32, 10000);

    rope.pairing = (enum tenon_rope_pairing)(i % 4);
    rope.rotary_dim = i < 4 ? 32 : 24;
    rope.trailing = i >= 8;
    return rope;
}

#define N_FORMS 12

START_TEST(inner_products_depend_only_on_the_distance)
{
    static const double pairs[][2] = {{3, 1}, {10, 8}, {1002, 1000}, {131071, 131069}};
    struct tenon_rope rope = form(_i);
    struct tenon_rope_table table = table_of(&rope, TENON_PRECISION_EXACT, 0);
    double q[MAX_DIM], k[MAX_DIM], turned_q[MAX_DIM], turned_k[MAX_DIM], first = 0;

    fill(q, rope.head_dim, 1);
    fill(k, rope.head_dim, 2);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        double score;

        rotate(&table, &pairs[i][0], q, turned_q);
        rotate(&table, &pairs[i][1], k, turned_k);
        score = dot(turned_q, turned_k, rope.head_dim);
        if (i == 0)
            first = score;
        ck_assert_double_eq_tol(score, first, 1e-9);
    }
    tenon_rope_table_release(&table);
}
END_TEST

START_TEST(lengths_of_vectors_stay)
{
    struct tenon_rope rope = form(_i);
    struct tenon_rope_table table = table_of(&rope, TENON_PRECISION_EXACT, 0);
    double x[MAX_DIM], y[MAX_DIM], position = 4095;

    fill(x, rope.head_dim, 3);
    rotate(&table, &position, x, y);
    ck_assert_double_eq_tol(dot(y, y, 32), dot(x, x, 32), 1e-12);
    ck_assert_double_ne(x[rope.trailing ? 31 : 0], y[rope.trailing ? 31 : 0]);
    tenon_rope_table_release(&table);
}
END_TEST

START_TEST(the_first_position_changes_nothing_but_the_order)
{
    struct tenon_rope rope = form(_i);
    struct tenon_rope_table table = table_of(&rope, TENON_PRECISION_GGML, 0);
    double x[MAX_DIM], y[MAX_DIM], position = 0;
    uint32_t first = rope.trailing ? 8 : 0, half = rope.rotary_dim / 2;

    fill(x, rope.head_dim, 4);
    rotate(&table, &position, x, y);
    if (rope.pairing != TENON_PAIR_INTERLEAVED_TO_HALF) {
        ck_assert_mem_eq(x, y, rope.head_dim * sizeof(x[0]));
    } else {
        for (uint32_t i = 0; i < half; i++) {
            ck_assert_double_eq(y[first + i], x[first + 2 * i]);
            ck_assert_double_eq(y[first + half + i], x[first + 2 * i + 1]);
        }
    }
    tenon_rope_table_release(&table);
}
END_TEST

START_TEST(negated_sines_lead_back)
{
    struct tenon_rope rope = form(_i);
    struct tenon_rope_table table = table_of(&rope, TENON_PRECISION_EXACT, 0);
    double x[MAX_DIM], y[MAX_DIM], back[MAX_DIM], c[MAX_DIM], s[MAX_DIM], position = 77;

    if (rope.pairing == TENON_PAIR_INTERLEAVED_TO_HALF)
        table.rope.pairing = TENON_PAIR_INTERLEAVED; /* reordering is not undone by turning */
    fill(x, rope.head_dim, 5);
    tenon_rope_angles(&table, &position, c, s);
    tenon_rope_apply(&table, c, s, x, y);
    for (uint32_t i = 0; i < table.n_pairs; i++)
        s[i] = -s[i];
    tenon_rope_apply(&table, c, s, y, back);
    for (uint32_t i = 0; i < rope.head_dim; i++)
        ck_assert_double_eq_tol(back[i], x[i], 1e-14);
    tenon_rope_table_release(&table);
}
END_TEST

static double worst_cosine(const struct tenon_rope *rope, enum tenon_precision a,
                           enum tenon_precision b, double position)
{
    struct tenon_rope_table first = table_of(rope, a, 0), second = table_of(rope, b, 0);
    double c[MAX_DIM], d[MAX_DIM], s[MAX_DIM], worst = 0;

    tenon_rope_angles(&first, &position, c, s);
    tenon_rope_angles(&second, &position, d, s);
    for (uint32_t i = 0; i < first.n_pairs; i++)
        worst = fmax(worst, fabs(c[i] - d[i]));
    tenon_rope_table_release(&first);
    tenon_rope_table_release(&second);
    return worst;
}

/* Worst differences of cosines for width 128 and base 10000, evaluated with correctly rounded
 * elementary functions by a program of its own; the C library's may round a few otherwise. */
START_TEST(profiles_drift_apart_as_published)
{
    static const struct {
        double position, hf, ggml, between;
    } rows[] = {
        {100, 3.1451724507107735e-06, 9.56835410303028e-06, 9.427081834130128e-06},
        {4095, 0.00013627077959469215, 0.00040661126080789034, 0.0004182374182429715},
        {32767, 0.00047567139533714707, 0.0022474735306517845, 0.0026403442636601993},
        {131071, 0.004154021221811263, 0.011966009609974335, 0.011168098820566746},
    };
    struct tenon_rope rope = plain(128, 10000);
    double p = rows[_i].position;

    ck_assert_double_eq_tol(worst_cosine(&rope, TENON_PRECISION_HF, TENON_PRECISION_EXACT, p),
                            rows[_i].hf, 0.02 * rows[_i].hf);
    ck_assert_double_eq_tol(worst_cosine(&rope, TENON_PRECISION_GGML, TENON_PRECISION_EXACT, p),
                            rows[_i].ggml, 0.02 * rows[_i].ggml);
    ck_assert_double_eq_tol(worst_cosine(&rope, TENON_PRECISION_GGML, TENON_PRECISION_HF, p),
                            rows[_i].between, 0.02 * rows[_i].between);
}
END_TEST

/* The bounds that two float32 recipes can promise, in units of half an ulp of the angle: exponents
 * that are no binary fractions cost ln b more, a running product 2 (i + 1). */
static double bound_of(enum tenon_precision precision, uint32_t dim, double theta, uint32_t i,
                       double angle)
{
    bool power_of_two = (dim & (dim - 1)) == 0;
    double steps =
        precision == TENON_PRECISION_HF ? 4 + (power_of_two ? 0 : log(theta)) : 2.0 * (i + 1);

    return steps * ldexp(angle, -24) + ldexp(1, -23);
}

START_TEST(each_profile_keeps_its_bound_at_long_positions)
{
    static const struct {
        uint32_t dim;
        double theta;
    } shapes[] = {{128, 10000}, {128, 500000}, {128, 1e6}, {64, 150000}, {80, 10000}, {96, 1e6}};
    struct tenon_rope rope = plain(shapes[_i].dim, shapes[_i].theta);
    struct tenon_rope_table exact = table_of(&rope, TENON_PRECISION_EXACT, 0);

    for (int p = TENON_PRECISION_HF; p <= TENON_PRECISION_GGML; p++) {
        struct tenon_rope_table table = table_of(&rope, (enum tenon_precision)p, 0);

        for (double position = 131071; position <= 1048575; position = 2 * position + 1) {
            double c[MAX_DIM], s[MAX_DIM], d[MAX_DIM], t[MAX_DIM];

            tenon_rope_angles(&exact, &position, c, s);
            tenon_rope_angles(&table, &position, d, t);
            for (uint32_t i = 0; i < table.n_pairs; i++) {
                double bound = bound_of((enum tenon_precision)p, rope.rotary_dim, rope.theta, i,
                                        position * exact.inv_freq[i]);

                ck_assert_double_le(fabs(c[i] - d[i]), bound);
                ck_assert_double_le(fabs(s[i] - t[i]), bound);
            }
        }
        tenon_rope_table_release(&table);
    }
    tenon_rope_table_release(&exact);
}
END_TEST

static struct tenon_rope yarn(uint32_t dim, double theta, double factor, double original)
{
    struct tenon_rope rope = plain(dim, theta);

    rope.scaling = TENON_ROPE_YARN;
    rope.factor = factor;
    rope.original = original;
    return rope;
}

/* Ranges and magnitudes as the engines of these models print them. */
START_TEST(yarn_of_released_models)
{
    struct tenon_rope rope = yarn(64, 150000, 32, 4096);
    struct tenon_rope_table table;

    rope.no_truncate = true; /* gpt-oss */
    table = table_of(&rope, TENON_PRECISION_EXACT, 0);
    ck_assert_double_eq_tol(table.ramp_low, 8.0927791155, 1e-9);
    ck_assert_double_eq_tol(table.ramp_high, 17.3980245016, 1e-9);
    ck_assert_double_eq_tol(table.attention_factor, 1.34657, 1e-5);
    tenon_rope_table_release(&table);
    table = table_of(&rope, TENON_PRECISION_GGML, 0); /* cannot leave fractions */
    ck_assert_double_eq(table.ramp_low, 8);
    ck_assert_double_eq(table.ramp_high, 18);
    tenon_rope_table_release(&table);

    rope = yarn(128, 1e6, 4, 32768); /* Qwen */
    table = table_of(&rope, TENON_PRECISION_HF, 0);
    ck_assert_double_eq(table.ramp_low, 23);
    ck_assert_double_eq(table.ramp_high, 40);
    ck_assert_double_eq_tol(table.attention_factor, 1.13863, 1e-5);
    tenon_rope_table_release(&table);

    rope = yarn(64, 10000, 40, 4096); /* DeepSeek-V3 */
    rope.mscale = rope.mscale_all_dim = 1;
    table = table_of(&rope, TENON_PRECISION_GGML, 0);
    ck_assert_double_eq(table.ramp_low, 10);
    ck_assert_double_eq(table.ramp_high, 23);
    ck_assert_double_eq_tol(table.attention_factor, 1, 1e-6);
    ck_assert_double_eq_tol((double)table.ggml.attn_factor, 0.7305199840148119, 1e-6);
    tenon_rope_table_release(&table);
}
END_TEST

/* Llama 3.1 8B: 29 pairs kept, 6 blended, 29 divided. */
START_TEST(llama3_keeps_blends_and_divides)
{
    struct tenon_rope rope = plain(128, 500000);
    struct tenon_rope_table table, unscaled = table_of(&rope, TENON_PRECISION_EXACT, 0);
    int kept = 0, divided = 0;

    rope.scaling = TENON_ROPE_LLAMA3;
    rope.factor = 8;
    rope.low_freq_factor = 1;
    rope.high_freq_factor = 4;
    rope.original = 8192;
    table = table_of(&rope, TENON_PRECISION_EXACT, 0);
    for (uint32_t i = 0; i < table.n_pairs; i++) {
        kept += table.inv_freq[i] == unscaled.inv_freq[i];
        divided += table.inv_freq[i] == unscaled.inv_freq[i] / 8;
    }
    ck_assert_int_eq(kept, 29);
    ck_assert_int_eq(divided, 29);
    tenon_rope_table_release(&table);
    tenon_rope_table_release(&unscaled);
}
END_TEST

START_TEST(longrope_says_which_list_it_took)
{
    static const double small[] = {1, 1, 1, 1}, large[] = {1, 2, 4, 8};
    struct tenon_rope rope = plain(8, 10000);
    struct tenon_rope_table table;

    rope.scaling = TENON_ROPE_LONGROPE;
    rope.original = 4096;
    rope.max_positions = 131072;
    rope.short_factors = small;
    rope.long_factors = large;
    rope.n_short_factors = rope.n_long_factors = 4;
    for (int p = 0; p < 3; p++) {
        table = table_of(&rope, (enum tenon_precision)p, 4096);
        ck_assert(!table.long_factors);
        tenon_rope_table_release(&table);
        table = table_of(&rope, (enum tenon_precision)p, 4097);
        ck_assert(table.long_factors);
        ck_assert_double_eq_tol(table.attention_factor, 1.1902380714238083, 1e-7);
        tenon_rope_table_release(&table);
    }
}
END_TEST

struct fault {
    const char *message;
    enum tenon_status status;
    void (*make)(struct tenon_rope *rope);
};

static const double one_factor[] = {1}, four_factors[] = {1, 1, 1, 1};

static void odd_width(struct tenon_rope *r)
{
    r->rotary_dim = 7;
}
static void too_wide(struct tenon_rope *r)
{
    r->rotary_dim = 10;
}
static void huge_head(struct tenon_rope *r)
{
    r->head_dim = r->rotary_dim = 1u << 20;
}
static void no_base(struct tenon_rope *r)
{
    r->theta = 0;
}
static void no_number(struct tenon_rope *r)
{
    r->factor = -HUGE_VAL;
}
static void no_factor(struct tenon_rope *r)
{
    r->scaling = TENON_ROPE_LINEAR;
}
static void negative_beta(struct tenon_rope *r)
{
    r->beta_fast = -1;
}

static void no_original(struct tenon_rope *r)
{
    r->scaling = TENON_ROPE_YARN;
    r->factor = 2;
}

static void no_long_list(struct tenon_rope *r)
{
    r->scaling = TENON_ROPE_LONGROPE;
    r->original = 1;
    r->factor = 2;
    r->short_factors = four_factors;
    r->n_short_factors = 4;
}

static void one_entry(struct tenon_rope *r)
{
    no_long_list(r);
    r->short_factors = one_factor;
    r->n_short_factors = 1;
}

static void wrong_sum(struct tenon_rope *r)
{
    r->axes = TENON_AXES_CHUNKED;
    r->n_sections = 3;
    r->sections[0] = r->sections[1] = r->sections[2] = 2;
}

static void one_section(struct tenon_rope *r)
{
    r->axes = TENON_AXES_BLOCKS;
    r->n_sections = 1;
    r->sections[0] = 4;
}

static void narrow(struct tenon_rope *r)
{
    r->rotary_dim = 2;
    r->scaling = TENON_ROPE_NTK;
    r->alpha = 2;
}

static void whole_share(struct tenon_rope *r)
{
    r->scaling = TENON_ROPE_PROPORTIONAL;
    r->proportion = 1.5;
}

static void wrong_tensor(struct tenon_rope *r)
{
    static const float divisors[] = {1, 1};

    r->freq_factors = divisors;
    r->n_freq_factors = 2;
}

static const struct fault faults[] = {
    {"the rotary width is 7, an even width from 2 to the head's 8 is needed", TENON_ERR_MISMATCH,
     odd_width},
    {"the rotary width is 10, wider than the head, which has 8", TENON_ERR_MISMATCH, too_wide},
    {"the head is 1048576 wide, at most 65536 allowed", TENON_ERR_LIMIT, huge_head},
    {"rope_theta is 0, a finite number above 1 is needed", TENON_ERR_MISMATCH, no_base},
    {"factor is -inf, a finite number above 0 is needed", TENON_ERR_MISMATCH, no_number},
    {"linear rotation without 'factor', which it needs", TENON_ERR_NOT_FOUND, no_factor},
    {"beta_fast is -1, a finite number of at least 0 is needed", TENON_ERR_MISMATCH, negative_beta},
    {"yarn rotation without 'original_max_position_embeddings', which it needs",
     TENON_ERR_NOT_FOUND, no_original},
    {"longrope rotation without 'long_factor', which it needs", TENON_ERR_NOT_FOUND, no_long_list},
    {"short_factor has 1 entries, the rotary width of 8 needs 4", TENON_ERR_MISMATCH, one_entry},
    {"sections have 6 pairs together, the rotary width of 8 needs 4", TENON_ERR_MISMATCH,
     wrong_sum},
    {"1 sections of rotated pairs, 2 to 4 allowed", TENON_ERR_MISMATCH, one_section},
    {"ntk rotation of width 2, at least 4 is needed", TENON_ERR_MISMATCH, narrow},
    {"partial_rotary_factor is 1.5, 0 to 1 allowed", TENON_ERR_MISMATCH, whole_share},
    {"2 frequency factors, the rotary width of 8 needs 4", TENON_ERR_MISMATCH, wrong_tensor},
};

#define N_FAULTS (int)(sizeof(faults) / sizeof(faults[0]))

START_TEST(what_makes_no_sense_is_named)
{
    struct tenon_rope rope = plain(8, 10000);
    struct tenon_rope_table table = {.n_pairs = 99};
    struct tenon_error err = {0};

    faults[_i].make(&rope);
    ck_fails(tenon_rope_table_init(&table, &rope, TENON_PRECISION_HF, 0, &err), faults[_i].status,
             err);
    ck_assert_str_eq(err.message, faults[_i].message);
    ck_assert_uint_eq(table.n_pairs, 99);
}
END_TEST

START_TEST(memory_that_is_gone_leaves_nothing_behind)
{
    struct tenon_rope rope = plain(8, 10000);
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    int failures = 0;

    rope.scaling = TENON_ROPE_PROPORTIONAL;
    rope.proportion = 0.5;
    for (uint64_t n = 1; st == TENON_ERR_NO_MEMORY; n++) {
        struct tenon_rope_table table = {0};

        tenon_mem_fail_at(n, false);
        st = tenon_rope_table_init(&table, &rope, TENON_PRECISION_GGML, 0, NULL);
        tenon_mem_fail_at(0, false);
        tenon_rope_table_release(&table);
        failures += st != TENON_OK;
    }
    ck_assert_int_eq(st, TENON_OK);
    ck_assert_int_eq(failures, 3);
}
END_TEST

START_TEST(names_lead_to_their_values_and_back)
{
    enum tenon_rope_scaling scaling;
    enum tenon_precision precision;

    for (int i = 0; i <= TENON_ROPE_PROPORTIONAL; i++) {
        const char *name = tenon_rope_scaling_name((enum tenon_rope_scaling)i);

        ck_assert(tenon_rope_scaling_find(name, strlen(name), &scaling));
        ck_assert_int_eq((int)scaling, i);
    }
    for (int i = 0; i <= TENON_PRECISION_GGML; i++) {
        const char *name = tenon_precision_name((enum tenon_precision)i);

        ck_assert(tenon_precision_find(name, strlen(name), &precision));
        ck_assert_int_eq((int)precision, i);
    }
    ck_assert(tenon_rope_scaling_find("su", 2, &scaling));
    ck_assert_int_eq(scaling, TENON_ROPE_LONGROPE);
    ck_assert(!tenon_rope_scaling_find("yarn2", 5, &scaling));
    ck_assert(!tenon_rope_scaling_find("yar", 3, &scaling));
    ck_assert(tenon_rope_scaling_name((enum tenon_rope_scaling)99) == NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rope");
    TCase *tc = tcase_create("rope");

    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, inner_products_depend_only_on_the_distance, 0, N_FORMS);
    tcase_add_loop_test(tc, lengths_of_vectors_stay, 0, N_FORMS);
    tcase_add_loop_test(tc, the_first_position_changes_nothing_but_the_order, 0, N_FORMS);
    tcase_add_loop_test(tc, negated_sines_lead_back, 0, N_FORMS);
    tcase_add_loop_test(tc, profiles_drift_apart_as_published, 0, 4);
    tcase_add_loop_test(tc, each_profile_keeps_its_bound_at_long_positions, 0, 6);
    tcase_add_test(tc, yarn_of_released_models);
    tcase_add_test(tc, llama3_keeps_blends_and_divides);
    tcase_add_test(tc, longrope_says_which_list_it_took);
    tcase_add_loop_test(tc, what_makes_no_sense_is_named, 0, N_FAULTS);
    tcase_add_test(tc, memory_that_is_gone_leaves_nothing_behind);
    tcase_add_test(tc, names_lead_to_their_values_and_back);
    return run_suite(suite);
}
