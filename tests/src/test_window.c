/* Bytes handed on a window at a time. */
#include "window.h"

#include <string.h>

#include "check_error.h"

struct taken {
    unsigned char bytes[64];
    size_t n, calls, fail_at; /* call that fails, 0: none */
};

static enum tenon_status take(void *user, const void *bytes, size_t n, struct tenon_error *err)
{
    struct taken *t = user;

    (void)err;
    t->calls++;
    if (t->calls == t->fail_at)
        return TENON_ERR_IO;
    ck_assert_uint_le(t->n + n, sizeof(t->bytes));
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    return TENON_OK;
}

static void put_all(struct tenon_window *w)
{
    tenon_window_put(w, "", 0);
    tenon_window_put(w, "abc", 3);
    tenon_window_fill(w, '.', 4);
    tenon_window_put(w, "defghijkl", 9);
    tenon_window_fill(w, '!', 0);
}

static const char wanted[] = "abc....defghijkl";

START_TEST(windows_of_every_size_give_the_same_bytes)
{
    unsigned char room[20];
    struct taken t = {.n = 0};
    struct tenon_window w = {.put = take, .user = &t, .bytes = room, .room = (size_t)_i};

    put_all(&w);
    ck_assert_int_eq(tenon_window_end(&w), TENON_OK);
    ck_assert_uint_eq(t.n, sizeof(wanted) - 1);
    ck_assert_mem_eq(t.bytes, wanted, t.n);
    ck_assert_uint_eq(w.n, t.n);
    ck_assert_uint_eq(t.calls, (sizeof(wanted) - 1 + (size_t)_i - 1) / (size_t)_i);
}
END_TEST

START_TEST(without_a_taker_bytes_are_counted)
{
    struct tenon_window w = {0};

    put_all(&w);
    ck_assert_int_eq(tenon_window_end(&w), TENON_OK);
    ck_assert_uint_eq(w.n, sizeof(wanted) - 1);
}
END_TEST

START_TEST(after_a_failure_nothing_is_handed_on)
{
    unsigned char room[2];
    struct taken t = {.fail_at = 2};
    struct tenon_window w = {.put = take, .user = &t, .bytes = room, .room = sizeof(room)};

    put_all(&w);
    ck_assert_int_eq(tenon_window_end(&w), TENON_ERR_IO);
    ck_assert_uint_eq(t.calls, 2);
    ck_assert_uint_eq(t.n, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("window");
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, windows_of_every_size_give_the_same_bytes, 1, 20);
    tcase_add_test(tests, without_a_taker_bytes_are_counted);
    tcase_add_test(tests, after_a_failure_nothing_is_handed_on);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
