/* What an edit leaves alone, in bytes: one text grows from 10 to 5000 bytes and shrinks again. */
#include "planned.h"
#include "tenon/edit.h"

static struct cooked before, after;
static struct gen_bytes grown, back;

static void tear_down(void)
{
    cooked_release(&before);
    cooked_release(&after);
    gen_bytes_release(&grown);
    gen_bytes_release(&back);
    memset(&before, 0, sizeof(before));
    memset(&after, 0, sizeof(after));
}

static void open_as(struct cooked *c, const struct gen_bytes *bytes)
{
    ck_ok(tenon_model_open_memory(bytes->data, bytes->n, NULL, &c->model, &c->err), c->err);
}

/* The file after `key` was set to `n` letters. */
static void set_text(const struct tenon_model *model, const char *key, size_t n,
                     struct gen_bytes *out)
{
    char *text = tenon_mem_alloc(n, 1);
    struct tenon_edit edit = {.kind = TENON_EDIT_SET,
                              .name = {key, strlen(key)},
                              .value = {text, n},
                              .type = {"string", 6}};
    struct tenon_edit_options options = {&edit, 1};
    struct tenon_plan *plan = NULL;
    struct tenon_error err = {0};

    ck_assert_ptr_nonnull(text);
    memset(text, 'a', n);
    ck_ok(tenon_plan_edit(model, "out", &options, &plan, &err), err);
    planned_result(plan, out);
    tenon_plan_free(plan);
    tenon_mem_free(text);
}

/* Makes `before` a sample in which `key` has 10 letters, and `grown` and `after` the same with
 * 5000. */
static void grow(const char *sample, const char *key)
{
    const struct gen_sample *found = gen_sample_find(sample, strlen(sample));
    struct gen_files files = {0};
    struct cooked first = {0};

    ck_assert_ptr_nonnull(found);
    gen_sample_make(found, &files);
    open_as(&first, &files.file[0].bytes);
    set_text(first.model, key, 10, gen_files_add(&before.files, "model"));
    tenon_model_free(first.model);
    gen_files_release(&files);
    open_as(&before, &before.files.file[0].bytes);
    set_text(before.model, key, 5000, &grown);
    open_as(&after, &grown);
}

static void check_same_pair(const struct tenon_meta_entry *a, const struct tenon_meta_entry *b)
{
    ck_assert_uint_eq(a->key.len, b->key.len);
    ck_assert_mem_eq(a->key.data, b->key.data, a->key.len);
    ck_assert_int_eq(a->type, b->type);
    ck_assert_int_eq(a->item, b->item);
    ck_assert_uint_eq(a->raw_bytes, b->raw_bytes);
    ck_assert_int_eq(memcmp(a->raw_bytes > 0 ? (const void *)a->raw : "",
                            a->raw_bytes > 0 ? (const void *)b->raw : "", a->raw_bytes),
                     0);
    if (a->type == TENON_META_STRING) {
        ck_assert_uint_eq(a->value.as.str.len, b->value.as.str.len);
        ck_assert_mem_eq(a->value.as.str.data, b->value.as.str.data, a->value.as.str.len);
    } else if (a->type != TENON_META_ARRAY) {
        ck_assert_mem_eq(&a->value.as, &b->value.as, sizeof(uint64_t));
    }
}

/* All pairs but one are the same, and so is every byte behind the header. */
static void check_rest(const char *key)
{
    const struct gen_bytes *old = &before.files.file[0].bytes;
    uint64_t a = tenon_model_file(before.model, 0)->header_bytes;
    uint64_t b = tenon_model_file(after.model, 0)->header_bytes;

    ck_assert_uint_eq(tenon_model_n_meta(before.model), tenon_model_n_meta(after.model));
    for (size_t i = 0; i < tenon_model_n_meta(before.model); i++) {
        const struct tenon_meta_entry *e = tenon_model_meta(before.model, i);

        if (e->key.len != strlen(key) || memcmp(e->key.data, key, e->key.len) != 0)
            check_same_pair(e, tenon_model_meta(after.model, i));
    }
    if (tenon_model_n_tensors(before.model) == 0)
        return; /* there is only padding */
    ck_assert_uint_eq(old->n - a, grown.n - b);
    ck_assert_mem_eq(old->data + a, grown.data + b, grown.n - b);
}

static void check_back(const char *key)
{
    set_text(after.model, key, 10, &back);
    check_same_bytes("back", &before.files.file[0].bytes, &back);
}

static const char *const gguf_samples[] = {"tied_gguf",   "meta_gguf",      "aligned_gguf",
                                           "vocab_gguf",  "unaligned_gguf", "tied_v2_gguf",
                                           "dtypes_gguf", "meta_be_gguf",   "tied_be_gguf"};

START_TEST(a_text_of_a_gguf_file_grows_and_nothing_else_changes)
{
    static const char key[] = "general.name";
    const struct gen_bytes *old;
    const struct tenon_meta_entry *pair;
    size_t head, rest_a, rest_b;

    grow(gguf_samples[_i], key);
    check_rest(key);
    /* Byte for byte up to the text's length (u64), and from the text's end to the first of the two
     * ends of the headers, which are filled with zeros. */
    old = &before.files.file[0].bytes;
    pair = tenon_model_find_meta(before.model, key);
    ck_assert_ptr_nonnull(pair);
    head = (size_t)pair->offset + 8 + strlen(key) + 4;
    ck_assert_mem_eq(old->data, grown.data, head);
    rest_a = (size_t)tenon_model_file(before.model, 0)->header_bytes - (head + 8 + 10);
    rest_b = (size_t)tenon_model_file(after.model, 0)->header_bytes - (head + 8 + 5000);
    ck_assert_mem_eq(old->data + head + 8 + 10, grown.data + head + 8 + 5000,
                     rest_a < rest_b ? rest_a : rest_b);
    check_back(key);
}
END_TEST

static const char *const safetensors_samples[] = {"tied_safetensors", "meta_safetensors",
                                                  "dtypes_safetensors", "shapes_safetensors"};

START_TEST(a_text_of_a_safetensors_file_grows_and_nothing_else_changes)
{
    static const char key[] = "note";

    grow(safetensors_samples[_i], key);
    check_rest(key);
    check_back(key);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit_bytes");
    TCase *tc = tcase_create("edit_bytes");

    tcase_add_checked_fixture(tc, NULL, tear_down);
    tcase_add_loop_test(tc, a_text_of_a_gguf_file_grows_and_nothing_else_changes, 0,
                        sizeof(gguf_samples) / sizeof(gguf_samples[0]));
    tcase_add_loop_test(tc, a_text_of_a_safetensors_file_grows_and_nothing_else_changes, 0,
                        sizeof(safetensors_samples) / sizeof(safetensors_samples[0]));
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
