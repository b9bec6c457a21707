/* The old header of an edited copy as a text that is read again: longer than what is read at a
 * time, changed or gone in between. What stands where was counted by hand. */
#include "edited.h"

#include <errno.h>
#include <string.h>

#include "folder.h"
#include "io.h"
#include "put_head.h"
#include "safetensors_like_text.h"

/* More than two windows. */
#define LONG ((size_t)600 * 1000)

/* Entries that take as much. */
enum { MANY = 15000 };

#define ENTRY(name, offsets)                                                                       \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[" offsets "]}"

/* --- items --- */

static void expect_item(struct tenon_like_walk *walk, const char *gap, const char *key,
                        const char *value)
{
    struct tenon_like_item item = {.end = false};
    struct tenon_error err = {0};

    ck_ok(tenon_like_walk_next(walk, &item, &err), err);
    ck_assert_uint_eq(item.key, strlen(gap));
    ck_assert_mem_eq(item.text, gap, item.key);
    ck_assert_int_eq(item.end, key == NULL);
    if (key == NULL)
        return;
    ck_assert_uint_eq(item.key_end - item.key, strlen(key));
    ck_assert_mem_eq(item.text + item.key, key, strlen(key));
    ck_assert_uint_eq(item.value_end - item.value, strlen(value));
    ck_assert_mem_eq(item.text + item.value, value, strlen(value));
}

/* Of equal keys the last counts in lenient mode, and the others may have any value. */
START_TEST(members_of_every_kind_are_found)
{
    static const char text[] = "  {\n\"x\":-1.5e3,\"\\\"\\\\\" : \"}\\\"]\",\"x\":null , "
                               "\"\\\"\\\\\":[{\"]\":[]},7],\"x\":true}  \t ";
    struct tenon_like_walk walk = {0};
    struct tenon_error err = {0};
    struct copy c = {.model = NULL};
    uint64_t blanks = 0;

    gen_u64(&c.bytes, sizeof(text) - 1);
    gen_text(&c.bytes, "{}");
    gen_fill(&c.bytes, ' ', sizeof(text) - 3);
    copy_open(&c);
    memcpy(c.bytes.data + 8, text, sizeof(text) - 1); /* the reader takes it in lenient mode only */
    ck_ok(tenon_like_walk_begin(&walk, c.model, 0, &err), err);
    ck_assert_uint_eq(walk.open, 3);
    expect_item(&walk, "\n", "\"x\"", "-1.5e3");
    expect_item(&walk, ",", "\"\\\"\\\\\"", "\"}\\\"]\"");
    expect_item(&walk, ",", "\"x\"", "null");
    expect_item(&walk, " , ", "\"\\\"\\\\\"", "[{\"]\":[]},7]");
    expect_item(&walk, ",", "\"x\"", "true");
    expect_item(&walk, "", NULL, NULL);
    ck_ok(tenon_like_walk_tail(&walk, &blanks, &err), err);
    ck_assert_uint_eq(blanks, 1);
    tenon_like_walk_release(&walk);
    copy_release(&c);
}
END_TEST

/* --- longer than a window --- */

static void put_long(struct gen_bytes *b, const char *before, int byte, const char *behind)
{
    gen_text(b, before);
    gen_fill(b, byte, LONG);
    gen_text(b, behind);
}

/* As the reference writes them, or with blanks and in another order. */
static void put_many(struct gen_bytes *b, bool usual)
{
    const char *blank = usual ? "" : " ";

    gen_text(b, "{");
    for (unsigned i = 0; i < MANY; i++)
        gen_format(b, "%s\"t%0*u\":%s{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%s%u]}",
                   i > 0 ? "," : "", usual ? 5 : 1, i, blank, i, blank, i + 1);
    gen_text(b, "}");
}

/* A header of kind `kind`; its payloads' bytes. */
static size_t put_header(struct gen_bytes *b, int kind)
{
    static const char two[] = ENTRY("a", "0,1") "," ENTRY("b", "1,2") "}";

    switch (kind) {
    case 0:
        put_long(b, "{\"", 'n', &ENTRY("", "0,1")[1]);
        gen_text(b, "," ENTRY("b", "1,2") "}");
        return 2;
    case 1:
        put_long(b, "{", ' ', two);
        return 2;
    case 2:
        put_long(b, "{" ENTRY("a", "0,1") " ,", '\n', ENTRY("b", "1,2") "}");
        return 2;
    case 3:
        put_long(b, "{" ENTRY("a", "0,1"), ' ', "}");
        return 1;
    case 4:
        put_long(b, "", ' ', "{");
        put_long(b, two, ' ', "");
        return 2;
    case 5:
        put_long(b, "{\"__metadata__\":{\"k\":\"", 'v', "\"},");
        gen_text(b, two);
        return 2;
    case 6:
        put_many(b, true);
        return MANY;
    default:
        put_many(b, false);
        return MANY;
    }
}

enum { KINDS = 8 };

START_TEST(texts_longer_than_a_window_come_back)
{
    struct gen_bytes header = {0};
    size_t n = put_header(&header, _i);

    for (size_t aligned = 0; aligned < 2; aligned++) {
        struct copy a;

        gen_u8(&header, 0);
        (aligned ? copy_make_aligned : copy_make)(&a, (const char *)header.data, n);
        check_there_and_back(&a, aligned);
        check_there_and_back(&a, 6 + aligned);
        copy_release(&a);
    }
    gen_bytes_release(&header);
}
END_TEST

/* --- faults --- */

static const char faulty[] = "{\"b\": {\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                             "\"__metadata__\":{\"k\":\"\\u0041\"}," ENTRY("c", "1,2") "}";
static const struct edit usual = {.add = {HEAD}, .drop = "b", .key = "k", .new_value = "v"};

static enum tenon_status drop_bytes(void *user, const void *bytes, size_t n,
                                    struct tenon_error *err)
{
    (void)bytes;
    (void)err;
    *(uint64_t *)user += n;
    return TENON_OK;
}

START_TEST(every_failed_allocation_while_a_header_is_put_is_survived)
{
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    struct copy a;
    uint64_t bytes = 0, n = 0;

    copy_make(&a, faulty, 2);
    ck_ok(make_plan(&a, &usual, &plan, &err), err);
    ck_ok(tenon_plan_layout(plan, &err), err);
    while (st != TENON_OK) {
        memset(&err, 0, sizeof(err));
        bytes = 0;
        tenon_mem_fail_at(++n, true);
        st = tenon_plan_put_head(plan, 0, drop_bytes, &bytes, &err);
        tenon_mem_fail_at(0, false);
        ck_assert(st == TENON_OK || st == TENON_ERR_NO_MEMORY);
    }
    ck_assert_uint_eq(bytes, tenon_plan_file(plan, 0)->head_bytes);
    ck_assert_uint_gt(n, 2);
    tenon_plan_free(plan);
    copy_release(&a);
}
END_TEST

/* Layout and header of a copy of a file, the n-th read failing. */
static enum tenon_status plan_and_put(const struct copy *c, uint64_t n, struct tenon_error *err)
{
    const struct tenon_io_fault fault = {
        .call = TENON_IO_PREAD, .n = n, .error = EIO, .persistent = true};
    const struct tenon_io_fault none = {.n = 0};
    struct tenon_plan *plan = NULL;
    uint64_t bytes = 0;
    enum tenon_status st = make_plan(c, &usual, &plan, err);

    tenon_io_fail_at(&fault);
    if (st == TENON_OK)
        st = tenon_plan_layout(plan, err);
    if (st == TENON_OK)
        st = tenon_plan_put_head(plan, 0, drop_bytes, &bytes, err);
    tenon_io_fail_at(&none);
    tenon_plan_free(plan);
    return st;
}

START_TEST(every_failed_read_is_told)
{
    struct tenon_error err = {0};
    enum tenon_status st = TENON_ERR_IO;
    struct copy a, file = {.model = NULL};
    char path[600];
    uint64_t n = 0;

    copy_make_padded(&a, faulty, LONG, 2);
    folder_make(path);
    folder_write(path, "a.safetensors", a.bytes.data, a.bytes.n);
    strcat(path, "a.safetensors");
    ck_ok(tenon_model_open(path, NULL, &file.model, &err), err);
    for (; st != TENON_OK; n++) {
        memset(&err, 0, sizeof(err));
        st = plan_and_put(&file, n + 1, &err);
        ck_assert(st == TENON_OK || st == TENON_ERR_IO);
    }
    ck_assert_uint_gt(n, 8); /* three times three windows of the header, nearly */
    *(strrchr(path, '/') + 1) = '\0';
    copy_release(&file);
    copy_release(&a);
    folder_remove(path);
}
END_TEST

/* --- headers that are no longer what they were --- */

/* The header with byte `i` changed, at a time: before the layout, or between it and the header. */
static enum tenon_status change_byte(struct copy *a, size_t i, unsigned char byte, bool early,
                                     struct tenon_error *err)
{
    struct tenon_plan *plan = NULL;
    unsigned char old = a->bytes.data[i];
    uint64_t bytes = 0;
    enum tenon_status st = make_plan(a, &usual, &plan, err);

    if (early)
        a->bytes.data[i] = byte;
    if (st == TENON_OK)
        st = tenon_plan_layout(plan, err);
    a->bytes.data[i] = byte;
    if (st == TENON_OK)
        st = tenon_plan_put_head(plan, 0, drop_bytes, &bytes, err);
    if (st == TENON_OK)
        ck_assert_uint_eq(bytes, tenon_plan_file(plan, 0)->head_bytes);
    a->bytes.data[i] = old;
    tenon_plan_free(plan);
    return st;
}

/* Text that still has its structure may pass (the runner sees that the file changed); all else is
 * told, and nothing outside of the text is touched. */
START_TEST(a_header_that_changes_is_never_trusted)
{
    static const char bytes[] = {'"', '\\', '{', '}', '[', ']', ',', ':', '5', ' ', 'x', '\0'};
    struct copy a;
    size_t told = 0;

    copy_make(&a, faulty, 2);
    for (size_t i = 8; i < 8 + sizeof(faulty) - 1; i++) {
        for (size_t k = 0; k < sizeof(bytes) * 2; k++) {
            struct tenon_error err = {0};
            enum tenon_status st =
                change_byte(&a, i, (unsigned char)bytes[k / 2], k % 2 == 0, &err);

            ck_assert_msg(st == TENON_OK || st == TENON_ERR_MISMATCH || st == TENON_ERR_MISUSE,
                          "%s: %s", tenon_status_id(st), err.message);
            told += st == TENON_ERR_MISMATCH;
        }
    }
    ck_assert_uint_gt(told, 400);
    copy_release(&a);
}
END_TEST

START_TEST(a_header_that_lost_an_entry_is_told)
{
    struct tenon_error err = {0};
    struct copy a;

    copy_make(&a, faulty, 2);
    memset(a.bytes.data + 8 + 1, ' ', strchr(faulty, ',') - faulty); /* within the first entry */
    ck_fails(change_byte(&a, 8, '{', true, &err), TENON_ERR_MISMATCH, err);
    ck_assert_ptr_nonnull(strstr(err.message, "another one than when the file was opened"));
    copy_release(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("safetensors_like_text");
    TCase *text = tcase_create("text");

    tcase_set_timeout(text, 120);
    tcase_add_test(text, members_of_every_kind_are_found);
    tcase_add_loop_test(text, texts_longer_than_a_window_come_back, 0, KINDS);
    tcase_add_test(text, every_failed_allocation_while_a_header_is_put_is_survived);
    tcase_add_test(text, every_failed_read_is_told);
    tcase_add_test(text, a_header_that_changes_is_never_trusted);
    tcase_add_test(text, a_header_that_lost_an_entry_is_told);
    suite_add_tcase(suite, text);
    return run_suite(suite);
}
