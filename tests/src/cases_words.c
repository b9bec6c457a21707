/* Golden cases: pieces of words. */
#include <string.h>

#include "position_cases.h"
#include "tenon/subword.h"

/* The pieces that were visited. */
struct pieces {
    struct golden_case *c;
    const char *texts[256];
    double buckets[256];
    size_t n;
};

static void keep_piece(void *user, struct tenon_str text, uint32_t bucket)
{
    struct pieces *p = user;
    char *copy;

    if (p->n == sizeof(p->buckets) / sizeof(p->buckets[0]))
        return;
    copy = case_room(p->c, text.len, 1);
    memcpy(copy, text.data, text.len);
    p->texts[p->n] = copy;
    p->buckets[p->n++] = bucket;
}

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

void run_fasttext(struct golden_case *c)
{
    struct tenon_str hex = case_text(c, "utf8_hex");
    unsigned char *bytes = case_room(c, hex.len, 1);
    struct tenon_subwords how = {case_u32(c, "minn", 0), case_u32(c, "maxn", 0),
                                 case_u32(c, "bucket", 1)};
    struct pieces pieces = {.c = c};
    struct tenon_error err = {0};

    for (size_t i = 0; i + 1 < hex.len; i += 2)
        bytes[i / 2] = (unsigned char)(digit(hex.data[i]) << 4 | digit(hex.data[i + 1]));
    case_compare_one(c, "hash", tenon_subword_hash(bytes, hex.len / 2), CASE_F64);
    if (!case_has(c, "word") ||
        !case_ok(c, tenon_subword_visit(&how, case_text(c, "word"), keep_piece, &pieces, &err),
                 &err))
        return;
    case_compare_words(c, "ngrams", pieces.texts, pieces.n);
    case_compare(c, "bucket_ids", pieces.buckets, pieces.n, CASE_F64);
}

void run_wordvec_files(struct golden_case *c)
{
    c->not_run = "there is no reader of word vector files";
}
