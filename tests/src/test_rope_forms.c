/* Rotations with several coordinates, against the recipes of the models that have them, written out
 * here in their own terms. */
#include <math.h>
#include <string.h>

#include "check_error.h"
#include "tenon/rope.h"

#define MAX_DIM 64

static struct tenon_rope several(enum tenon_rope_axes axes, uint32_t dim, uint32_t n)
{
    struct tenon_rope rope;

    tenon_rope_init(&rope);
    rope.head_dim = rope.rotary_dim = dim;
    rope.axes = axes;
    rope.n_sections = n;
    for (uint32_t i = 0; i < n; i++)
        rope.sections[i] = dim / 2 / n;
    return rope;
}

static void turn(const struct tenon_rope *rope, const double *positions, const double *x,
                 double *out)
{
    struct tenon_rope_table table;
    struct tenon_error err = {0};
    double c[MAX_DIM], s[MAX_DIM];

    ck_ok(tenon_rope_table_init(&table, rope, TENON_PRECISION_EXACT, 0, &err), err);
    tenon_rope_angles(&table, positions, c, s);
    tenon_rope_apply(&table, c, s, x, out);
    tenon_rope_table_release(&table);
}

static void angles_of(const struct tenon_rope *rope, const double *positions, double *out)
{
    struct tenon_rope_table table;
    struct tenon_error err = {0};

    ck_ok(tenon_rope_table_init(&table, rope, TENON_PRECISION_EXACT, 0, &err), err);
    for (uint32_t i = 0; i < table.n_pairs; i++)
        out[i] = positions[table.axis[i]] * table.inv_freq[i];
    tenon_rope_table_release(&table);
}

static void fill(double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] = (i * 29 % 32) / 8.0 - 2;
}

/* Ernie 4.5 VL: frequencies split by sections h, w, t; h and w stacked in turn, then t. */
START_TEST(ernie_alternates_height_and_width_then_time)
{
    struct tenon_rope rope = several(TENON_AXES_ERNIE, 16, 3);
    const double thw[4] = {5, 2, 7, 0};
    double angles[8];

    rope.sections[0] = rope.sections[1] = 3;
    rope.sections[2] = 2;
    angles_of(&rope, thw, angles);
    for (int i = 0; i < 8; i++) {
        double stream = i >= 6 ? thw[0] : i % 2 == 0 ? thw[1] : thw[2];

        ck_assert_double_eq_tol(angles[i], stream * pow(10000, -i / 8.0), 1e-12);
    }
}
END_TEST

/* Kimi-VL: pairs take x and y in turn, both with base^(-4k / D). */
START_TEST(alternating_pairs_share_a_frequency)
{
    struct tenon_rope rope = several(TENON_AXES_ALTERNATING, 16, 2);
    const double xy[4] = {3, 11, 0, 0};
    double angles[8];

    angles_of(&rope, xy, angles);
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq_tol(angles[i], xy[i % 2] * pow(10000, -4.0 * (i / 2) / 16), 1e-12);
}
END_TEST

/* DINOv3: 2 pi times the centre of a patch in (-1, 1), base 100, base^(-4j / D) for each of both.
 */
START_TEST(fractions_of_a_picture_are_positions)
{
    struct tenon_rope rope = several(TENON_AXES_BLOCKS, 16, 2);
    const double place[4] = {2 * acos(-1) * -0.75, 2 * acos(-1) * 0.25, 0, 0};
    double angles[8];

    rope.theta = 100;
    angles_of(&rope, place, angles);
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq_tol(angles[i], place[i / 4] * pow(100, -4.0 * (i % 4) / 16), 1e-12);
}
END_TEST

/* V-JEPA 2: each axis has width w, angles p * base^(-k / (w / 2)) for k = 0 ... w / 2 - 1 repeated
 * as a whole; neighbours (a, b) become a cos - b sin and b cos + a sin, each by its own angle. */
START_TEST(tiled_angles_are_those_of_channels)
{
    struct tenon_rope rope = several(TENON_AXES_BLOCKS, 24, 3);
    const double place[4] = {1, 5, 3, 0};
    double x[26], y[26];

    rope.head_dim = 26; /* two channels are left over */
    rope.pairing = TENON_PAIR_TILED;
    fill(x, 26);
    turn(&rope, place, x, y);
    for (int i = 0; i < 24; i++) {
        double angle = place[i / 8] * pow(10000, -(i % 4) / 4.0);
        double beside = i % 2 == 0 ? -x[i + 1] : x[i - 1];

        ck_assert_double_eq_tol(y[i], x[i] * cos(angle) + beside * sin(angle), 1e-12);
    }
    ck_assert_mem_eq(y + 24, x + 24, 2 * sizeof(x[0]));
}
END_TEST

/* Gemma 4 vision: two half-split rotations, one of each half of the head. */
START_TEST(blocks_are_rotations_of_their_own)
{
    struct tenon_rope both = several(TENON_AXES_BLOCKS, 32, 2), one;
    const double place[4] = {9, 4, 0, 0};
    double x[32], y[32], half[16];

    both.pairing = TENON_PAIR_BLOCK_HALF;
    fill(x, 32);
    turn(&both, place, x, y);
    tenon_rope_init(&one);
    one.head_dim = one.rotary_dim = 16;
    for (int i = 0; i < 2; i++) {
        turn(&one, &place[i], x + 16 * i, half);
        ck_assert_mem_eq(half, y + 16 * i, sizeof(half));
    }
}
END_TEST

/* Text has the same position in all streams, and then sections change nothing. */
START_TEST(sections_do_not_show_in_text)
{
    static const enum tenon_rope_axes axes[] = {TENON_AXES_CHUNKED, TENON_AXES_INTERLEAVED,
                                                TENON_AXES_ERNIE};
    struct tenon_rope with = several(axes[_i], 24, 3), without = with;
    const double place[4] = {77, 77, 77, 0};
    double x[24], a[24], b[24];

    without.axes = TENON_AXES_ONE;
    fill(x, 24);
    turn(&with, place, x, a);
    turn(&without, place, x, b);
    ck_assert_mem_eq(a, b, sizeof(a));
}
END_TEST

/* Gemma 4 text: the first pairs of the whole head turn, not the first channels. */
START_TEST(proportional_pairs_reach_over_the_whole_head)
{
    struct tenon_rope rope;
    const double position = 3;
    double x[16], y[16];

    tenon_rope_init(&rope);
    rope.scaling = TENON_ROPE_PROPORTIONAL;
    rope.proportion = 0.25;
    rope.head_dim = 16;
    fill(x, 16);
    turn(&rope, &position, x, y);
    for (int i = 0; i < 16; i++)
        ck_assert(i % 8 < 2 ? y[i] != x[i] : y[i] == x[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rope_forms");
    TCase *tc = tcase_create("rope_forms");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, ernie_alternates_height_and_width_then_time);
    tcase_add_test(tc, alternating_pairs_share_a_frequency);
    tcase_add_test(tc, fractions_of_a_picture_are_positions);
    tcase_add_test(tc, tiled_angles_are_those_of_channels);
    tcase_add_test(tc, blocks_are_rotations_of_their_own);
    tcase_add_loop_test(tc, sections_do_not_show_in_text, 0, 3);
    tcase_add_test(tc, proportional_pairs_reach_over_the_whole_head);
    return run_suite(suite);
}
