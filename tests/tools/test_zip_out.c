/* Zip archives of stored entries. */
#include "zip_out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_error.h"

/* The archive of two entries, in `bytes`; returns its length. */
static size_t make_archive(unsigned char *bytes, size_t room)
{
    char path[] = "zip-XXXXXX";
    struct tenon_out out;
    struct tenon_zip zip = {.out = &out};
    int fd = mkstemp(path);
    ssize_t n;

    ck_assert_int_ge(fd, 0);
    unlink(path);
    tenon_out_init(&out, fd);
    out.sums = true;
    tenon_zip_begin(&zip, "digits");
    tenon_out_printf(&out, "%s", "1234");
    tenon_out_text(&out, "56789");
    tenon_zip_end(&zip);
    tenon_zip_begin(&zip, "nothing");
    tenon_zip_end(&zip);
    tenon_zip_finish(&zip);
    ck_assert(tenon_out_flush(&out));
    tenon_out_release(&out);
    n = pread(fd, bytes, room, 0);
    close(fd);
    ck_assert_int_ge(n, 0);
    return (size_t)n;
}

static uint32_t read_u32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* 0xcbf43926 is the check value of CRC-32 in the catalogue of parametrised CRC algorithms. */
START_TEST(headers_hold_checksum_and_sizes)
{
    unsigned char bytes[512];
    size_t n = make_archive(bytes, sizeof(bytes));

    ck_assert_uint_eq(n, 30 + 6 + 9 + 30 + 7 + 46 + 6 + 46 + 7 + 22);
    ck_assert_uint_eq(read_u32(bytes), 0x04034b50);
    ck_assert_uint_eq(read_u32(bytes + 14), 0xcbf43926);
    ck_assert_uint_eq(read_u32(bytes + 18), 9);
    ck_assert_uint_eq(read_u32(bytes + 22), 9);
    ck_assert_mem_eq(bytes + 30, "digits123456789PK\x03\x04", 19);
    ck_assert_uint_eq(read_u32(bytes + 45 + 14), 0); /* of no bytes at all */
}
END_TEST

START_TEST(directory_names_every_entry_and_its_place)
{
    unsigned char bytes[512];
    size_t n = make_archive(bytes, sizeof(bytes));
    const unsigned char *end = bytes + n - 22, *first = bytes + 82, *second = first + 46 + 6;

    ck_assert_uint_eq(read_u32(end), 0x06054b50);
    ck_assert_uint_eq(read_u32(end + 8), 2 | 2 << 16);
    ck_assert_uint_eq(read_u32(end + 12), 46 + 6 + 46 + 7);
    ck_assert_uint_eq(read_u32(end + 16), 82);
    ck_assert_uint_eq(read_u32(first), 0x02014b50);
    ck_assert_uint_eq(read_u32(first + 16), 0xcbf43926);
    ck_assert_uint_eq(read_u32(first + 42), 0);
    ck_assert_mem_eq(first + 46, "digits", 6);
    ck_assert_uint_eq(read_u32(second + 42), 45);
    ck_assert_mem_eq(second + 46, "nothing", 7);
}
END_TEST

START_TEST(a_pipe_is_a_failure)
{
    struct tenon_out out;
    struct tenon_zip zip = {.out = &out};
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    tenon_out_init(&out, fds[1]);
    tenon_zip_begin(&zip, "x");
    tenon_zip_end(&zip);
    ck_assert_int_ne(out.error, 0);
    tenon_out_release(&out);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("zip_out");
    TCase *tc = tcase_create("zip_out");

    tcase_add_test(tc, headers_hold_checksum_and_sizes);
    tcase_add_test(tc, directory_names_every_entry_and_its_place);
    tcase_add_test(tc, a_pipe_is_a_failure);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
