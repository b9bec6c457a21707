/* Files that others made, where a folder of them is at hand: TENON_REAL_DIR holds INDEX.tsv, whose
 * rows are a file, where it is from, its size, its kind, and what an independent reader saw. Each
 * is opened, or refused with the name of its kind. Skipped when the variable is unset. */
#include "cooked.h"

#include <stdio.h>
#include <stdlib.h>

#define SKIP 77

/* One row. `seen` is like "arch=llama kv=12 tokens=32000 ... tensors=3 [F32:3] align=32
 * header=69B". */
struct row {
    char line[2048];
    char *file, *kind, *seen;
};

static struct row *rows;
static size_t n_rows;
static const char *place;

static char *take_field(char **at)
{
    char *field = *at, *tab = strchr(field, '\t');

    if (tab != NULL) {
        *tab = '\0';
        *at = tab + 1;
    } else {
        *at = field + strlen(field);
    }
    return field;
}

static void split_row(struct row *row)
{
    char *at = row->line;

    row->line[strcspn(row->line, "\n")] = '\0';
    row->file = take_field(&at);
    take_field(&at); /* repository */
    take_field(&at); /* path in it */
    take_field(&at); /* bytes */
    row->kind = take_field(&at);
    row->seen = take_field(&at);
}

static bool read_index(void)
{
    char path[1024];
    FILE *f;

    snprintf(path, sizeof(path), "%s/INDEX.tsv", place);
    f = fopen(path, "r");
    if (f == NULL)
        return false;
    for (;;) {
        rows = realloc(rows, (n_rows + 1) * sizeof(*rows));
        if (rows == NULL || fgets(rows[n_rows].line, sizeof(rows[n_rows].line), f) == NULL)
            break;
        if (rows[n_rows].line[0] != '#' && strncmp(rows[n_rows].line, "file\t", 5) != 0)
            n_rows++;
    }
    fclose(f);
    for (size_t i = 0; i < n_rows; i++)
        split_row(&rows[i]);
    return n_rows != 0;
}

/* The number behind `key` in what was seen, or -1. */
static long long seen_number(const struct row *row, const char *key)
{
    const char *at = strstr(row->seen, key);

    return at != NULL ? strtoll(at + strlen(key), NULL, 10) : -1;
}

static bool seen_text(const struct row *row, const char *key, const char *data, size_t len)
{
    const char *at = strstr(row->seen, key);

    return at != NULL && strncmp(at + strlen(key), data, len) == 0 && at[strlen(key) + len] == ' ';
}

/* The dtypes of a row, "[F16:9 F32:3]", as far as the index keeps them. */
static void check_dtypes(const struct row *row, const struct tenon_model *model)
{
    const char *at = strchr(row->seen, '[');

    while (at != NULL && *at != ']' && at[1] != ']') {
        unsigned long wanted, found = 0;
        char name[32];

        if (sscanf(at + 1, "%31[A-Z0-9_]:%lu", name, &wanted) != 2)
            break;
        for (size_t i = 0; i < tenon_model_n_tensors(model); i++)
            found +=
                tenon_model_tensor(model, i)->dtype == tenon_dtype_from_name(name, strlen(name));
        ck_assert_msg(found == wanted, "%s: %lu tensors of type %s", row->file, found, name);
        at = strpbrk(at + 1, " ]");
    }
}

static void check_gguf(const struct row *row, const struct tenon_model *model)
{
    const struct tenon_hparams *h = tenon_model_hparams(model);
    const struct tenon_tokenizer *t = tenon_model_tokenizer(model);
    const struct tenon_file *file = tenon_model_file(model, 0);
    uint64_t header = (uint64_t)seen_number(row, "header=");

    ck_assert_str_eq(tenon_model_format(model), "gguf");
    ck_assert_int_eq(file->version, row->kind[6] - '0');
    ck_assert(seen_text(row, "arch=", h->model_type.data, h->model_type.len));
    ck_assert_int_eq((long long)tenon_model_n_meta(model), seen_number(row, " kv="));
    ck_assert_int_eq(t->tokens < 0 ? 0 : t->tokens, seen_number(row, " tokens="));
    ck_assert_int_eq((long long)file->alignment, seen_number(row, " align="));
    if (t->model.len != 0)
        ck_assert(seen_text(row, "tok.model=", t->model.data, t->model.len));
    /* The index counts up to the last record, the library up to the first payload. */
    if (tenon_model_n_tensors(model) != 0 && header % file->alignment != 0)
        header += file->alignment - header % file->alignment;
    ck_assert_uint_eq(file->header_bytes, header);
}

static void check_safetensors(const struct row *row, const struct tenon_model *model)
{
    ck_assert_str_eq(tenon_model_format(model), "safetensors");
    ck_assert_uint_eq(tenon_model_file(model, 0)->header_bytes,
                      (uint64_t)seen_number(row, "header=") + 8);
}

/* Kinds that are refused, and the format that must be named; two where the beginning of a file
 * cannot tell them apart. */
static const struct {
    const char *kind;
    const char *said, *or_said;
} refused[] = {
    {"GGUF (byte-swapped magic", "magic bytes reversed", NULL},
    {"legacy GGML", "from before GGUF", NULL},
    {"lfs pointer", "Git LFS pointer", NULL},
    {"PyTorch tar", "tar archive", NULL},
    {"PyTorch zip", "PyTorch checkpoint in a zip", NULL},
    {"PyTorch legacy", "old pickle layout", NULL},
    {"TorchScript", "TorchScript", "PyTorch checkpoint in a zip"},
    {"plain pickle", "Python pickle", NULL},
    {"fastText", "fastText model", NULL},
    {"npy", "NumPy array", NULL},
    {"npz", "zip archive of NumPy arrays", NULL},
    {"word2vec", "word2vec layout", NULL},
};

static void check_refused(const struct row *row, enum tenon_status st,
                          const struct tenon_error *err)
{
    ck_assert_msg(st == TENON_ERR_NOT_RECOGNISED || st == TENON_ERR_UNSUPPORTED_FEATURE,
                  "%s (%s): %s", row->file, row->kind, tenon_status_id(st));
    ck_assert_str_ne(err->hint, "");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strncmp(row->kind, refused[i].kind, strlen(refused[i].kind)) != 0)
            continue;
        ck_assert_msg(
            strstr(err->message, refused[i].said) != NULL ||
                (refused[i].or_said != NULL && strstr(err->message, refused[i].or_said) != NULL),
            "%s (%s): %s", row->file, row->kind, err->message);
        return;
    }
    ck_abort_msg("%s: no expectation for kind '%s'", row->file, row->kind);
}

START_TEST(file_is_opened_or_named)
{
    const struct row *row = &rows[_i];
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    enum tenon_status st;
    char path[1024];

    if (strcmp(row->kind, "HF folder") == 0)
        return;
    snprintf(path, sizeof(path), "%s/%s", place, row->file);
    st = tenon_model_open(path, NULL, &model, &err);
    /* Cut down by their makers: the size that the records ask for is not there. */
    if (st == TENON_ERR_TRUNCATED || st == TENON_ERR_CORRUPT) {
        ck_assert_msg(strstr(row->file, "weight-inspect-tiny") != NULL, "%s: %s", row->file,
                      err.message);
        return;
    }
    if (strncmp(row->kind, "GGUF v", 6) != 0 && strcmp(row->kind, "safetensors") != 0) {
        check_refused(row, st, &err);
        return;
    }
    ck_assert_msg(st == TENON_OK, "%s: %s", row->file, err.message);
    ck_assert_int_eq((long long)tenon_model_n_tensors(model), seen_number(row, "tensors="));
    check_dtypes(row, model);
    if (row->kind[0] == 'G')
        check_gguf(row, model);
    else
        check_safetensors(row, model);
    tenon_model_free(model);
}
END_TEST

START_TEST(folder_is_opened_with_config_and_tokenizer)
{
    struct tenon_model *model = NULL;
    struct tenon_error err = {0};
    char path[1024];

    snprintf(path, sizeof(path), "%s/hf-minicpm3", place);
    ck_ok(tenon_model_open(path, NULL, &model, &err), err);
    ck_assert(tenon_model_is_directory(model));
    ck_assert_uint_eq(tenon_model_n_tensors(model), 15);
    ck_assert_mem_eq(tenon_model_hparams(model)->model_type.data, "minicpm3", 8);
    ck_assert_int_eq(tenon_model_hparams(model)->hidden_size, 2560);
    tenon_model_free(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("real_files");
    TCase *tests = tcase_create("index");

    place = getenv("TENON_REAL_DIR");
    if (place == NULL || !read_index()) {
        puts("skipped: TENON_REAL_DIR names no folder with an INDEX.tsv");
        return SKIP;
    }
    tcase_add_loop_test(tests, file_is_opened_or_named, 0, (int)n_rows);
    tcase_add_test(tests, folder_is_opened_with_config_and_tokenizer);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
