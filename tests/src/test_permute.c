/* Rows that change places: maps undo each other, and with them both ways of pairing agree. */
#include "tenon/permute.h"

#include <string.h>

#include "check_error.h"
#include "tenon/rope.h"

#define MAX_DIM 64

static void map_of(enum tenon_permute how, uint32_t heads, uint32_t width, uint32_t rotary,
                   uint64_t *map)
{
    struct tenon_error err = {0};

    ck_ok(tenon_permute_map(how, heads, width, rotary, map, &err), err);
}

static const struct {
    enum tenon_permute there, back;
    uint32_t heads, width, rotary;
} shapes[] = {
    {TENON_PERMUTE_TO_INTERLEAVED, TENON_PERMUTE_TO_HALF, 1, 8, 8},
    {TENON_PERMUTE_TO_INTERLEAVED, TENON_PERMUTE_TO_HALF, 3, 16, 16},
    {TENON_PERMUTE_TO_INTERLEAVED, TENON_PERMUTE_TO_HALF, 2, 16, 6},
    {TENON_PERMUTE_AXES_APART, TENON_PERMUTE_AXES_MIXED, 2, 16, 16},
    {TENON_PERMUTE_AXES_APART, TENON_PERMUTE_AXES_MIXED, 3, 20, 12},
};

#define N_SHAPES (int)(sizeof(shapes) / sizeof(shapes[0]))

START_TEST(there_and_back_is_where_it_began)
{
    uint64_t there[MAX_DIM], back[MAX_DIM];
    uint32_t n = shapes[_i].heads * shapes[_i].width, moved = 0;

    map_of(shapes[_i].there, shapes[_i].heads, shapes[_i].width, shapes[_i].rotary, there);
    map_of(shapes[_i].back, shapes[_i].heads, shapes[_i].width, shapes[_i].rotary, back);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_eq(there[back[i]], i);
        ck_assert_uint_eq(back[there[i]], i);
        moved += there[i] != i;
        if (i % shapes[_i].width >= shapes[_i].rotary)
            ck_assert_uint_eq(there[i], i);
    }
    ck_assert_uint_gt(moved, 0);
}
END_TEST

/* interleaved(P x) = P half(x), bit for bit: the same products and sums in other places. */
START_TEST(pairings_agree_on_permuted_rows)
{
    struct tenon_rope half, interleaved;
    struct tenon_rope_table half_table, interleaved_table;
    struct tenon_error err = {0};
    double x[MAX_DIM], moved[MAX_DIM], turned[MAX_DIM], other[MAX_DIM], c[MAX_DIM], s[MAX_DIM];
    double position = 1234;
    uint64_t map[MAX_DIM];

    tenon_rope_init(&half);
    half.head_dim = 32;
    half.rotary_dim = (uint32_t)_i;
    interleaved = half;
    interleaved.pairing = TENON_PAIR_INTERLEAVED;
    ck_ok(tenon_rope_table_init(&half_table, &half, TENON_PRECISION_EXACT, 0, &err), err);
    ck_ok(tenon_rope_table_init(&interleaved_table, &interleaved, TENON_PRECISION_EXACT, 0, &err),
          err);
    map_of(TENON_PERMUTE_TO_INTERLEAVED, 1, 32, (uint32_t)_i, map);
    for (int i = 0; i < 32; i++)
        x[i] = (i * 37 % 32 - 15) / 8.0;
    for (int i = 0; i < 32; i++)
        moved[i] = x[map[i]];
    tenon_rope_angles(&half_table, &position, c, s);
    tenon_rope_apply(&half_table, c, s, x, turned);
    tenon_rope_apply(&interleaved_table, c, s, moved, other);
    for (int i = 0; i < 32; i++)
        ck_assert_double_eq(other[i], turned[map[i]]);
    tenon_rope_table_release(&half_table);
    tenon_rope_table_release(&interleaved_table);
}
END_TEST

START_TEST(widths_that_make_no_sense_are_refused)
{
    static const struct {
        enum tenon_permute how;
        uint32_t rotary;
    } bad[] = {{TENON_PERMUTE_TO_HALF, 0},
               {TENON_PERMUTE_TO_HALF, 7},
               {TENON_PERMUTE_TO_HALF, 18},
               {TENON_PERMUTE_AXES_APART, 6}};
    struct tenon_error err = {0};
    uint64_t map[MAX_DIM];

    ck_fails(tenon_permute_map(bad[_i].how, 1, 16, bad[_i].rotary, map, &err), TENON_ERR_MISMATCH,
             err);
}
END_TEST

/* One query head in each group is the layout head by head; one group is all of Q, then K, V. */
START_TEST(fused_layouts_meet_at_their_ends)
{
    const struct tenon_fused layouts[][2] = {
        {{TENON_FUSED_PER_HEAD, 4, 4, 2}, {TENON_FUSED_GROUPED, 4, 4, 2}},
        {{TENON_FUSED_CONCATENATED, 4, 1, 2}, {TENON_FUSED_GROUPED, 4, 1, 2}},
    };
    struct tenon_error err = {0};
    uint64_t a[16] = {0}, b[16] = {0};

    for (int part = TENON_PART_Q; part <= TENON_PART_V; part++) {
        ck_ok(tenon_fused_rows(&layouts[_i][0], (enum tenon_fused_part)part, a, &err), err);
        ck_ok(tenon_fused_rows(&layouts[_i][1], (enum tenon_fused_part)part, b, &err), err);
        ck_assert_mem_eq(a, b, sizeof(a));
    }
    ck_assert_uint_eq(a[0], _i == 0 ? 4 : 10); /* V follows q and k of one head, or 4 q and a k */
}
END_TEST

START_TEST(heads_that_do_not_divide_are_refused)
{
    const struct tenon_fused uneven = {TENON_FUSED_GROUPED, 6, 4, 2};
    const struct tenon_fused few = {TENON_FUSED_PER_HEAD, 4, 2, 2};
    struct tenon_error err = {0};
    uint64_t rows[16];

    ck_fails(tenon_fused_rows(&uneven, TENON_PART_Q, rows, &err), TENON_ERR_MISMATCH, err);
    ck_assert_str_eq(err.message, "6 heads cannot be shared by 4 heads of keys");
    err = (struct tenon_error){0};
    ck_fails(tenon_fused_rows(&few, TENON_PART_Q, rows, &err), TENON_ERR_MISMATCH, err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("permute");
    TCase *tc = tcase_create("permute");

    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, there_and_back_is_where_it_began, 0, N_SHAPES);
    tcase_add_loop_test(tc, pairings_agree_on_permuted_rows, 32, 33);
    tcase_add_loop_test(tc, pairings_agree_on_permuted_rows, 6, 7);
    tcase_add_loop_test(tc, widths_that_make_no_sense_are_refused, 0, 4);
    tcase_add_loop_test(tc, fused_layouts_meet_at_their_ends, 0, 2);
    tcase_add_test(tc, heads_that_do_not_divide_are_refused);
    return run_suite(suite);
}
