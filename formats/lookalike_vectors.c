/* NumPy arrays and word vectors, named and not read. */
#include <string.h>

#include "fail.h"
#include "probe.h"

static enum tenon_status fail_vectors(struct tenon_error *err, const char *what)
{
    tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, 0, "%s: named here, not read", what);
    tenon_fail_hint(err, "save its arrays as safetensors first");
    return TENON_ERR_UNSUPPORTED_FEATURE;
}

static int probe_npy(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "\x93NUMPY") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_npy(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_vectors(err, "a NumPy array");
}

const struct tenon_format tenon_format_npy = {
    .info = {"npy", "NumPy array", ".npy", TENON_FORMAT_NAMED},
    .probe = probe_npy,
    .explain = explain_npy,
};

static int probe_npz(const struct tenon_probe *probe)
{
    const char *name = "";
    size_t n = tenon_probe_zip_member(probe, &name);

    return n != 0 && tenon_text_ends_with(name, n, ".npy") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_npz(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_vectors(err, "a zip archive of NumPy arrays");
}

const struct tenon_format tenon_format_npz = {
    .info = {"npz", "NumPy arrays (zip)", ".npz", TENON_FORMAT_NAMED},
    .probe = probe_npz,
    .explain = explain_npz,
};

/* A run of decimal digits at `*off`, at most 10 of them; false when there is none. */
static bool pass_count(const struct tenon_probe *probe, size_t *off)
{
    size_t start = *off;

    while (*off < probe->n && probe->bytes[*off] >= '0' && probe->bytes[*off] <= '9')
        (*off)++;
    return *off != start && *off - start <= 10;
}

/* Word vectors begin with a line "WORDS WIDTH". The offset behind it, or 0. */
static size_t find_vectors(const struct tenon_probe *probe)
{
    size_t off = 0;

    if (!pass_count(probe, &off) || !TENON_PROBE_HAS(probe, off, " "))
        return 0;
    off++;
    if (!pass_count(probe, &off))
        return 0;
    if (TENON_PROBE_HAS(probe, off, "\r"))
        off++;
    return TENON_PROBE_HAS(probe, off, "\n") ? off + 1 : 0;
}

/* Passes blanks and then one number as text; false when something else stands there. */
static bool pass_number(const struct tenon_probe *probe, size_t *off)
{
    size_t start;

    while (*off < probe->n && (probe->bytes[*off] == ' ' || probe->bytes[*off] == '\t'))
        (*off)++;
    start = *off;
    while (*off < probe->n && probe->bytes[*off] != 0 &&
           strchr("+-.0123456789eE", probe->bytes[*off]) != NULL)
        (*off)++;
    return *off != start && *off < probe->n && strchr(" \t\r\n", probe->bytes[*off]) != NULL &&
           probe->bytes[*off] != 0;
}

/* How many numbers follow the word at `off` on its line. */
static size_t count_numbers(const struct tenon_probe *probe, size_t off)
{
    size_t n = 0;

    while (off < probe->n && probe->bytes[off] != ' ' && probe->bytes[off] != '\t' &&
           probe->bytes[off] != '\n')
        off++;
    while (pass_number(probe, &off))
        n++;
    return n;
}

static int probe_word2vec_text(const struct tenon_probe *probe)
{
    size_t body = find_vectors(probe);

    return body != 0 && count_numbers(probe, body) > 0 ? TENON_PROBE_SHAPE : TENON_PROBE_NO;
}

static int probe_word2vec_binary(const struct tenon_probe *probe)
{
    size_t body = find_vectors(probe);

    return body != 0 && count_numbers(probe, body) == 0 ? TENON_PROBE_SHAPE : TENON_PROBE_NO;
}

static enum tenon_status explain_word2vec(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_vectors(err, "word vectors in the word2vec layout");
}

const struct tenon_format tenon_format_word2vec_text = {
    .info = {"word2vec-text", "word2vec or fastText vectors (text)", ".vec .txt",
             TENON_FORMAT_NAMED},
    .probe = probe_word2vec_text,
    .explain = explain_word2vec,
};

const struct tenon_format tenon_format_word2vec_binary = {
    .info = {"word2vec-binary", "word2vec vectors (binary)", ".bin", TENON_FORMAT_NAMED},
    .probe = probe_word2vec_binary,
    .explain = explain_word2vec,
};

/* GloVe has no first line of counts: a word, then its numbers. */
static int probe_glove(const struct tenon_probe *probe)
{
    enum { PLAUSIBLE_WIDTH = 8 };

    if (find_vectors(probe) != 0 || count_numbers(probe, 0) < PLAUSIBLE_WIDTH)
        return TENON_PROBE_NO;
    return TENON_PROBE_SHAPE;
}

static enum tenon_status explain_glove(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_vectors(err, "word vectors in the GloVe text layout");
}

const struct tenon_format tenon_format_glove_text = {
    .info = {"glove-text", "GloVe vectors (text)", ".txt", TENON_FORMAT_NAMED},
    .probe = probe_glove,
    .explain = explain_glove,
};

static int probe_fasttext(const struct tenon_probe *probe)
{
    return TENON_PROBE_HAS(probe, 0, "\xba\x16\x4f\x2f") ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static enum tenon_status explain_fasttext(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_vectors(err, "a fastText model");
}

const struct tenon_format tenon_format_fasttext = {
    .info = {"fasttext", "fastText model", ".bin .ftz", TENON_FORMAT_NAMED},
    .probe = probe_fasttext,
    .explain = explain_fasttext,
};
