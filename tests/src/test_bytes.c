/* The cursor: bounds, stickiness, byte order, growth. */
#include "bytes.h"

#include <string.h>

#include "check_error.h"
#include "mem.h"

static struct tenon_source *open_bytes(const void *bytes, size_t n)
{
    struct tenon_source *source = NULL;
    struct tenon_error err = {0};

    ck_ok(tenon_source_open_memory(bytes, n, "memory", &source, &err), err);
    return source;
}

START_TEST(integers_come_in_either_byte_order)
{
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct tenon_source *source = open_bytes(bytes, sizeof(bytes));

    for (int swapped = 0; swapped < 2; swapped++) {
        struct tenon_cursor c;

        tenon_cursor_init(&c, source, 1000);
        c.swapped = swapped != 0;
        ck_assert_uint_eq(tenon_cursor_u8(&c), 1);
        ck_assert_uint_eq(tenon_cursor_u16(&c), swapped ? 0x0203 : 0x0302);
        ck_assert_uint_eq(tenon_cursor_u32(&c), swapped ? 0x04050607 : 0x07060504);
        ck_assert_uint_eq(tenon_cursor_u64(&c),
                          swapped ? UINT64_C(0x08090a0b0c0d0e0f) : UINT64_C(0x0f0e0d0c0b0a0908));
        ck_assert(tenon_cursor_ok(&c));
        ck_assert_uint_eq(tenon_cursor_left(&c), 0);
        tenon_cursor_release(&c);
    }
    tenon_source_free(source);
}
END_TEST

START_TEST(the_first_failure_sticks_and_says_where)
{
    struct tenon_source *source = open_bytes("abcdef", 6);
    struct tenon_error err = {0};
    struct tenon_cursor c;

    tenon_cursor_init(&c, source, 1000);
    tenon_cursor_u32(&c);
    ck_assert_uint_eq(tenon_cursor_u64(&c), 0);
    ck_assert_uint_eq(tenon_cursor_u8(&c), 0);
    ck_assert_uint_eq(tenon_cursor_offset(&c), 4);
    ck_fails(tenon_cursor_fail(&c, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_uint_eq(err.offset, 4);
    ck_assert_str_eq(err.message, "8 bytes needed here, but the file ends after 2");
    tenon_cursor_release(&c);
    tenon_source_free(source);
}
END_TEST

START_TEST(a_skip_longer_than_the_file_allocates_nothing)
{
    struct tenon_source *source = open_bytes("abc", 3);
    struct tenon_error err = {0};
    struct tenon_cursor c;

    tenon_cursor_init(&c, source, UINT64_MAX);
    tenon_cursor_skip(&c, UINT64_MAX - 1);
    ck_fails(tenon_cursor_fail(&c, &err), TENON_ERR_TRUNCATED, err);
    ck_assert_uint_eq(err.offset, 0);
    ck_assert_ptr_null(c.buf);
    tenon_cursor_release(&c);
    tenon_source_free(source);
}
END_TEST

START_TEST(the_limit_stops_a_header_that_goes_on)
{
    static unsigned char bytes[300000];
    struct tenon_source *source = open_bytes(bytes, sizeof(bytes));
    struct tenon_error err = {0};
    struct tenon_cursor c;

    tenon_cursor_init(&c, source, 200000);
    tenon_cursor_skip(&c, 200000);
    ck_assert(tenon_cursor_ok(&c));
    tenon_cursor_u8(&c);
    ck_fails(tenon_cursor_fail(&c, &err), TENON_ERR_LIMIT, err);
    ck_assert_uint_eq(err.offset, 200000);
    tenon_cursor_release(&c);
    tenon_source_free(source);
}
END_TEST

START_TEST(what_was_passed_can_be_taken_away)
{
    static unsigned char bytes[200000];
    struct tenon_source *source;
    struct tenon_cursor c;
    unsigned char *taken;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 7);
    source = open_bytes(bytes, sizeof(bytes));
    tenon_cursor_init(&c, source, UINT64_MAX);
    for (int i = 0; i < 150000; i++)
        tenon_cursor_u8(&c);
    taken = tenon_cursor_take(&c);
    ck_assert_ptr_nonnull(taken);
    ck_assert_mem_eq(taken, bytes, 150000);
    tenon_mem_free(taken);
    for (size_t i = 150000; i < sizeof(bytes); i++)
        ck_assert_uint_eq(tenon_cursor_u8(&c), bytes[i]);
    ck_assert_uint_eq(tenon_cursor_left(&c), 0);
    tenon_cursor_release(&c);
    tenon_source_free(source);
}
END_TEST

START_TEST(what_was_forgotten_is_read_again_after_going_back)
{
    static unsigned char bytes[5000000];
    struct tenon_source *source;
    struct tenon_cursor c;
    uint64_t most = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    source = open_bytes(bytes, sizeof(bytes));
    tenon_cursor_init(&c, source, UINT64_MAX);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = pass == 0 ? 0 : 1000; at < sizeof(bytes); at += 1000) {
            tenon_cursor_forget(&c);
            ck_assert_uint_eq(tenon_cursor_skip(&c, 1000), at);
            ck_assert_mem_eq(tenon_cursor_at(&c, at), bytes + at, 1000);
            most = c.capacity > most ? c.capacity : most;
        }
        ck_assert_uint_eq(tenon_cursor_left(&c), 0);
        tenon_cursor_rewind(&c, 1000);
    }
    ck_assert_uint_lt(most, 4000000); /* what is kept of it, and room to read ahead */
    tenon_cursor_release(&c);
    tenon_source_free(source);
}
END_TEST

START_TEST(memory_that_runs_out_is_reported_and_nothing_leaks)
{
    static unsigned char bytes[300000];
    struct tenon_source *source = open_bytes(bytes, sizeof(bytes));
    enum tenon_status st = TENON_ERR_NO_MEMORY;

    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_error err = {0};
        struct tenon_cursor c;

        tenon_mem_fail_at(n, true);
        tenon_cursor_init(&c, source, UINT64_MAX);
        for (int i = 0; i < 4; i++)
            tenon_cursor_skip(&c, 70000);
        st = tenon_cursor_ok(&c) ? TENON_OK : tenon_cursor_fail(&c, &err);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
        tenon_mem_fail_at(0, false);
        tenon_cursor_release(&c);
    }
    tenon_source_free(source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bytes");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, integers_come_in_either_byte_order);
    tcase_add_test(tests, the_first_failure_sticks_and_says_where);
    tcase_add_test(tests, a_skip_longer_than_the_file_allocates_nothing);
    tcase_add_test(tests, the_limit_stops_a_header_that_goes_on);
    tcase_add_test(tests, what_was_passed_can_be_taken_away);
    tcase_add_test(tests, what_was_forgotten_is_read_again_after_going_back);
    tcase_add_test(tests, memory_that_runs_out_is_reported_and_nothing_leaks);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
