/* Vision towers of a few numbers: which shapes go together, and what is said of others. What whole
 * towers compute is compared with the reference in test_tower. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../src/check_error.h"
#include "folder.h"
#include "mem.h"
#include "tenon/tower.h"

static char place[512];
static struct tenon_model *model;
static struct tenon_tower *tower;
static struct tenon_error err;

static void set_up(void)
{
    folder_make(place);
    model = NULL;
    tower = NULL;
    err = (struct tenon_error){0};
}

static void tear_down(void)
{
    tenon_tower_free(tower);
    tenon_model_free(model);
    folder_remove(place);
}

/* One float32 tensor after the other, all ones. */
struct part {
    const char *name, *shape;
    unsigned n;
};

#define PATCH     "embeddings.patch_embeddings.projection.weight"
#define PATCH_B   "embeddings.patch_embeddings.projection.bias"
#define CLASS     "embeddings.cls_token"
#define REGISTERS "embeddings.register_tokens"
#define TABLE     "embeddings.position_embeddings"

/* Width 3, one channel, patches of 2 x 1, positions for 2 x 2 of them. */
static const struct part good[] = {
    {PATCH, "3,1,2,1", 6}, {PATCH_B, "3", 3},     {CLASS, "1,1,3", 3},
    {TABLE, "1,5,3", 15},  {REGISTERS, "2,3", 6},
};
enum { PARTS = sizeof(good) / sizeof(good[0]) };

/* The good ones, with `other` in place of its namesake (a shape of NULL leaves it out). */
static enum tenon_status make_tower(const struct part *other)
{
    unsigned char file[4096] = {0};
    char header[2048] = "{";
    size_t len = 1, at = 0, total;

    for (size_t i = 0; i < PARTS; i++) {
        const struct part *p =
            other != NULL && strcmp(other->name, good[i].name) == 0 ? other : &good[i];

        if (p->shape == NULL)
            continue;
        len += (size_t)snprintf(header + len, sizeof(header) - len,
                                "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,"
                                "%zu]}",
                                at > 0 || len > 1 ? "," : "", p->name, p->shape, at, at + 4 * p->n);
        at += 4 * (size_t)p->n;
    }
    header[len++] = '}';
    total = 8 + len + at;
    ck_assert_uint_le(total, sizeof(file));
    file[0] = (unsigned char)len;
    file[1] = (unsigned char)(len >> 8);
    memcpy(file + 8, header, len);
    for (size_t i = 8 + len; i < total; i += 4)
        memcpy(file + i, "\0\0\x80\x3f", 4);
    folder_write(place, "model.safetensors", file, total);
    folder_text(place, "config.json", "{\"model_type\":\"vit\",\"hidden_size\":3}");
    ck_ok(tenon_model_open(place, NULL, &model, &err), err);
    return tenon_tower_new(model, TENON_PRECISION_HF, &tower, &err);
}

static const float pixels[8] = {1, 2, 3, 4, 5, 6, 7, 8};

START_TEST(tokens_come_after_class_and_registers)
{
    const struct tenon_tower_picture picture = {pixels, 4, 2};
    struct tenon_tower_shape shape;
    double rows[7 * 3];
    uint64_t n = 0;

    ck_ok(make_tower(NULL), err);
    shape = tenon_tower_shape(tower);
    ck_assert_uint_eq(shape.n_prefix, 3);
    ck_assert_uint_eq(shape.side, 2);
    ck_ok(tenon_tower_tokens(tower, &picture, &n, &err), err);
    ck_assert_uint_eq(n, 7);
    ck_ok(tenon_tower_rows(tower, &picture, rows, &err), err);
    ck_assert_double_eq(rows[0], 1 + 1);
    ck_assert_double_eq(rows[3], 1);
    ck_assert_double_eq(rows[9], 1 + 3 + 1 + 1); /* first pixel of two lines, bias, position */
}
END_TEST

START_TEST(registers_need_not_be_there)
{
    static const struct part none = {REGISTERS, NULL, 0};
    const struct tenon_tower_picture picture = {pixels, 4, 2};
    double rows[5 * 3];

    ck_ok(make_tower(&none), err);
    ck_ok(tenon_tower_rows(tower, &picture, rows, &err), err);
    ck_assert_double_eq(rows[0], 2);
    ck_assert_double_eq(rows[3], 6);
}
END_TEST

static const struct {
    struct part part;
    const char *said;
    enum tenon_status status;
} faults[] = {
    {{PATCH, "6,1", 6}, "a filter of patches has 4", TENON_ERR_UNSUPPORTED_FEATURE},
    {{PATCH, "0,1,2,1", 0}, "no values", TENON_ERR_MISMATCH},
    {{PATCH_B, "6", 6}, "3 are needed", TENON_ERR_MISMATCH},
    {{PATCH_B, "4", 4}, "3 are needed", TENON_ERR_MISMATCH},
    {{CLASS, "1,2,3", 6}, "3 are needed", TENON_ERR_MISMATCH},
    {{CLASS, "0", 0}, "3 are needed", TENON_ERR_MISMATCH},
    {{REGISTERS, "5", 5}, "tokens of 3", TENON_ERR_MISMATCH},
    {{TABLE, "4,3", 12}, "no square", TENON_ERR_MISMATCH},
    {{TABLE, "1,3", 3}, "no square", TENON_ERR_MISMATCH},
    {{TABLE, "1,4", 4}, "tokens of 3", TENON_ERR_MISMATCH},
    {{TABLE, NULL, 0}, "without a table of positions", TENON_ERR_UNSUPPORTED_FEATURE},
};

START_TEST(a_shape_that_does_not_fit_is_named)
{
    enum tenon_status st = make_tower(&faults[_i].part);

    ck_assert_msg(st == faults[_i].status, "%d %s", (int)st, err.message);
    ck_assert_msg(strstr(err.message, faults[_i].said) != NULL, "%s", err.message);
    if (faults[_i].part.shape != NULL)
        ck_assert_str_eq(err.subject, faults[_i].part.name);
    ck_assert_ptr_null(tower);
}
END_TEST

START_TEST(a_picture_that_patches_do_not_fill_is_refused)
{
    const struct tenon_tower_picture picture = {pixels, 3, 2};
    uint64_t n = 0;

    ck_ok(make_tower(NULL), err);
    ck_assert_int_eq(tenon_tower_tokens(tower, &picture, &n, &err), TENON_ERR_MISMATCH);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    const struct tenon_tower_picture picture = {pixels, 4, 1}; /* another grid: interpolated */
    enum tenon_status st = TENON_ERR_NO_MEMORY;
    double rows[5 * 3];

    ck_ok(make_tower(NULL), err);
    for (uint64_t n = 1; st != TENON_OK; n++) {
        struct tenon_tower *other = NULL;

        tenon_mem_fail_at(n, true);
        st = tenon_tower_new(model, TENON_PRECISION_HF, &other, &err);
        if (st == TENON_OK)
            st = tenon_tower_rows(other, &picture, rows, &err);
        tenon_mem_fail_at(0, false);
        tenon_tower_free(other);
        ck_assert_msg(st == TENON_OK ? n > 1 : st == TENON_ERR_NO_MEMORY, "%s", err.message);
        ck_assert_uint_lt(n, 1000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tower_rules");
    TCase *tests = tcase_create("tower_rules");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, tokens_come_after_class_and_registers);
    tcase_add_test(tests, registers_need_not_be_there);
    tcase_add_loop_test(tests, a_shape_that_does_not_fit_is_named, 0,
                        (int)(sizeof(faults) / sizeof(faults[0])));
    tcase_add_test(tests, a_picture_that_patches_do_not_fill_is_refused);
    tcase_add_test(tests, every_allocation_may_fail);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
