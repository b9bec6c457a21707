/* Files from words. The language is described in testdata/README.md. */
#include "gen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cook {
    const char *recipe; /* the whole, for messages */
    const char *at;     /* next character */
    struct gen_files *files;
    struct gen_bytes piece; /* what the last literal gave */
    size_t file, pos;       /* where it goes: current file and offset in it */
    unsigned long count;    /* of the innermost repetition */
};

static void fail(const struct cook *c, const char *what)
{
    fprintf(stderr, "tenon_gen: %s, before '%.40s' of recipe: %s\n", what, c->at, c->recipe);
    exit(1);
}

static bool take(struct cook *c, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static void need(struct cook *c, const char *word)
{
    if (!take(c, word))
        fail(c, word);
}

/* A number: decimal or 0x hexadecimal, or M for 2^64; then any of ^ (power), * + - from left to
 * right, modulo 2^64. */
static uint64_t operand(struct cook *c)
{
    char *end;
    uint64_t value, base;

    if (take(c, "M"))
        return 0;
    if (!isdigit((unsigned char)*c->at))
        fail(c, "a number expected");
    value = strtoull(c->at, &end, c->at[0] == '0' && c->at[1] == 'x' ? 16 : 10);
    c->at = end;
    if (!take(c, "^"))
        return value;
    base = value;
    value = 1;
    for (uint64_t power = operand(c); power > 0; power--)
        value *= base;
    return value;
}

static uint64_t number(struct cook *c)
{
    uint64_t value = take(c, "-") ? 0 - operand(c) : operand(c);

    for (;;) {
        if (take(c, "+"))
            value += operand(c);
        else if (take(c, "-"))
            value -= operand(c);
        else if (*c->at == '*' && isdigit((unsigned char)c->at[1]) && take(c, "*"))
            value *= operand(c);
        else
            return value;
    }
}

static int hex_digit(struct cook *c)
{
    char digit = *c->at;

    if (!isxdigit((unsigned char)digit))
        fail(c, "a hexadecimal digit expected");
    c->at++;
    return isdigit((unsigned char)digit) ? digit - '0' : tolower((unsigned char)digit) - 'a' + 10;
}

/* 'text': ` stands for ", %HH for a byte, %# for the number of the repetition. */
static void quoted(struct cook *c, struct gen_bytes *out)
{
    need(c, "'");
    while (*c->at != '\'') {
        if (*c->at == '\0')
            fail(c, "a closing quote expected");
        if (take(c, "%#")) {
            gen_format(out, "%lu", c->count);
        } else if (take(c, "%")) {
            int high = hex_digit(c);

            gen_u8(out, (uint64_t)(16 * high + hex_digit(c)));
        } else {
            gen_u8(out, *c->at == '`' ? '"' : (unsigned char)*c->at);
            c->at++;
        }
    }
    c->at++;
}

static void name(struct cook *c, char *out, size_t size)
{
    struct gen_bytes text = {0};

    if (*c->at == '\'')
        quoted(c, &text);
    while (*c->at != '\0' && strchr(" ,'}", *c->at) == NULL)
        gen_u8(&text, (unsigned char)*c->at++);
    if (text.n >= size)
        fail(c, "name too long");
    if (text.n != 0)
        memcpy(out, text.data, text.n);
    out[text.n] = '\0';
    gen_bytes_release(&text);
}

static struct gen_bytes *current(struct cook *c)
{
    if (c->files->n == 0)
        gen_files_add(c->files, "model");
    return &c->files->file[c->file].bytes;
}

/* Writes the piece over what stands at the position, or puts it in there. */
static void put(struct cook *c, bool insert)
{
    struct gen_bytes *b = current(c);
    size_t n = c->piece.n, old = b->n;

    if (n == 0)
        return;
    if (c->pos > old)
        gen_fill(b, 0, c->pos - old);
    if (insert) {
        gen_fill(b, 0, n);
        memmove(b->data + c->pos + n, b->data + c->pos, b->n - n - c->pos);
    } else if (c->pos + n > b->n) {
        gen_fill(b, 0, c->pos + n - b->n);
    }
    memcpy(b->data + c->pos, c->piece.data, n);
    c->pos += n;
    c->piece.n = 0;
}

static size_t find(struct cook *c, const struct gen_bytes *text)
{
    const struct gen_bytes *b = current(c);

    for (size_t i = 0; i + text->n <= b->n; i++) {
        if (memcmp(b->data + i, text->data, text->n) == 0)
            return i;
    }
    fail(c, "text not found");
    return 0;
}

static void drop(struct cook *c, size_t n)
{
    struct gen_bytes *b = current(c);

    if (c->pos > b->n || n > b->n - c->pos)
        fail(c, "nothing there to delete");
    memmove(b->data + c->pos, b->data + c->pos + n, b->n - c->pos - n);
    b->n -= n;
}

/* u64 length, bytes. */
static void counted(struct cook *c, struct gen_bytes *text)
{
    gen_u64(&c->piece, text->n);
    gen_raw(&c->piece, text->data, text->n);
    gen_bytes_release(text);
}

static void gguf_tensor(struct cook *c)
{
    struct gen_bytes text = {0}, dims = {0};
    uint32_t n = 0;

    dims.big = c->piece.big;
    quoted(c, &text);
    need(c, ",[");
    while (!take(c, "]")) {
        gen_u64(&dims, number(c));
        n++;
        take(c, ",");
    }
    counted(c, &text);
    gen_u32(&c->piece, n);
    gen_raw(&c->piece, dims.data, dims.n);
    gen_bytes_release(&dims);
    need(c, ",");
    gen_u32(&c->piece, number(c));
    need(c, ",");
    gen_u64(&c->piece, number(c));
}

static void gguf_header(struct cook *c)
{
    gen_text(&c->piece, "GGUF");
    gen_u32(&c->piece, number(c));
    need(c, ",");
    gen_u64(&c->piece, number(c));
    need(c, ",");
    gen_u64(&c->piece, number(c));
}

static void put_u8(struct cook *c)
{
    gen_u8(&c->piece, number(c));
}

static void put_u16(struct cook *c)
{
    gen_u16(&c->piece, number(c));
}

static void put_u32(struct cook *c)
{
    gen_u32(&c->piece, number(c));
}

static void put_u64(struct cook *c)
{
    gen_u64(&c->piece, number(c));
}

static void put_string(struct cook *c)
{
    struct gen_bytes text = {0};

    quoted(c, &text);
    counted(c, &text);
}

static void put_kv(struct cook *c)
{
    put_string(c);
    need(c, ",");
    put_u32(c);
}

static void put_hex(struct cook *c)
{
    while (isxdigit((unsigned char)*c->at)) {
        int high = hex_digit(c);

        gen_u8(&c->piece, (uint64_t)(16 * high + hex_digit(c)));
    }
}

static void put_zeros(struct cook *c)
{
    gen_fill(&c->piece, 0, number(c));
}

static void go_to(struct cook *c)
{
    c->pos = number(c);
}

static void go_on(struct cook *c)
{
    c->pos += number(c);
}

static void go_find(struct cook *c)
{
    struct gen_bytes text = {0};

    quoted(c, &text);
    c->pos = find(c, &text);
    gen_bytes_release(&text);
}

static void go_end(struct cook *c)
{
    c->pos = current(c)->n;
}

static void cut(struct cook *c)
{
    size_t to = (*c->at == '-' ? current(c)->n : 0) + number(c);

    if (to > current(c)->n)
        fail(c, "cannot cut there");
    current(c)->n = to;
    c->pos = to;
}

static void delete_bytes(struct cook *c)
{
    drop(c, number(c));
}

static void replace(struct cook *c)
{
    struct gen_bytes text = {0};

    quoted(c, &text);
    c->pos = find(c, &text);
    drop(c, text.n);
    gen_bytes_release(&text);
    need(c, ",");
    quoted(c, &c->piece);
    put(c, true);
}

static void align(struct cook *c)
{
    size_t alignment = number(c);

    c->pos = current(c)->n;
    gen_fill(&c->piece, 0, (alignment - c->pos % alignment) % alignment);
    put(c, false);
}

static void set_sparse(struct cook *c)
{
    current(c);
    c->files->file[c->file].sparse = number(c);
}

static void set_big(struct cook *c)
{
    c->piece.big = true;
}

static void select_file(struct cook *c)
{
    char text[256];

    name(c, text, sizeof(text));
    c->files->folder = true;
    for (c->file = 0; c->file < c->files->n; c->file++) {
        if (strcmp(c->files->file[c->file].name, text) == 0)
            break;
    }
    if (c->file == c->files->n)
        gen_files_add(c->files, text);
    c->pos = current(c)->n;
}

static void make_link(struct cook *c)
{
    select_file(c);
    c->files->file[c->file].kind = GEN_FILE_LINK;
}

static void make_fifo(struct cook *c)
{
    select_file(c);
    c->files->file[c->file].kind = GEN_FILE_FIFO;
}

static void make_folder(struct cook *c)
{
    select_file(c);
    c->files->file[c->file].kind = GEN_FILE_FOLDER;
}

static void remove_file(struct cook *c)
{
    struct gen_files *f = c->files;

    select_file(c);
    gen_bytes_release(&f->file[c->file].bytes);
    f->n--;
    memmove(&f->file[c->file], &f->file[c->file + 1], (f->n - c->file) * sizeof(*f->file));
    c->file = 0;
    c->pos = 0;
}

static void start_sample(struct cook *c)
{
    char text[96];
    const struct gen_sample *sample;

    name(c, text, sizeof(text));
    sample = gen_sample_find(text, strlen(text));
    if (sample == NULL)
        fail(c, "no such sample");
    gen_sample_make(sample, c->files);
    c->file = 0;
    c->pos = current(c)->n;
}

static void rename_file(struct cook *c)
{
    current(c);
    name(c, c->files->file[c->file].name, sizeof(c->files->file->name));
}

static void set_open(struct cook *c)
{
    name(c, c->files->open, sizeof(c->files->open));
}

struct word {
    const char *text;
    void (*cook)(struct cook *c);
};

/* Words that only make bytes. */
static const struct word literals[] = {
    {"gguf:", gguf_header}, {"hex:", put_hex},        {"json:", put_string}, {"kv:", put_kv},
    {"str:", put_string},   {"tensor:", gguf_tensor}, {"u16:", put_u16},     {"u32:", put_u32},
    {"u64:", put_u64},      {"u8:", put_u8},          {"zeros:", put_zeros},
};

/* Words that move about, change the current file, or choose another. */
static const struct word edits[] = {
    {"align:", align},         {"at:", go_to},
    {"big", set_big},          {"cut:", cut},
    {"delete:", delete_bytes}, {"end", go_end},
    {"fifo:", make_fifo},      {"file:", select_file},
    {"find:", go_find},        {"folder:", make_folder},
    {"link:", make_link},      {"name:", rename_file},
    {"open:", set_open},       {"remove:", remove_file},
    {"replace:", replace},     {"sample:", start_sample},
    {"skip:", go_on},          {"sparse:", set_sparse},
};

static bool word(struct cook *c, const struct word *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (take(c, words[i].text)) {
            words[i].cook(c);
            return true;
        }
    }
    return false;
}

static bool literal(struct cook *c)
{
    if (*c->at != '\'')
        return word(c, literals, sizeof(literals) / sizeof(literals[0]));
    quoted(c, &c->piece);
    return true;
}

static void run(struct cook *c, char end);

/* { ... }*N */
static void repeat(struct cook *c)
{
    const char *start = c->at, *stop;
    unsigned long outer = c->count;
    int depth = 1;
    uint64_t times;
    bool in_text = false;

    for (stop = start; *stop != '\0' && depth > 0; stop++) {
        in_text ^= *stop == '\'';
        if (!in_text)
            depth += *stop == '{' ? 1 : *stop == '}' ? -1 : 0;
    }
    if (depth != 0 || *stop != '*')
        fail(c, "}*N expected");
    c->at = stop + 1;
    times = number(c);
    stop = c->at;
    for (c->count = 0; c->count < times; c->count++) {
        c->at = start;
        run(c, '}');
    }
    c->count = outer;
    c->at = stop;
}

static void insert(struct cook *c)
{
    if (!literal(c))
        fail(c, "a literal expected");
    put(c, true);
}

/* Words up to `end`. */
static void run(struct cook *c, char end)
{
    for (;;) {
        while (*c->at == ' ')
            c->at++;
        if (*c->at == end) {
            c->at += end != '\0';
            return;
        }
        if (literal(c))
            put(c, false);
        else if (take(c, "insert:"))
            insert(c);
        else if (take(c, "{"))
            repeat(c);
        else if (!word(c, edits, sizeof(edits) / sizeof(edits[0])))
            fail(c, "unknown word");
    }
}

void gen_recipe_make(const char *recipe, struct gen_files *out)
{
    struct cook c = {.recipe = recipe, .at = recipe, .files = out};

    run(&c, '\0');
    current(&c);
    gen_bytes_release(&c.piece);
}
