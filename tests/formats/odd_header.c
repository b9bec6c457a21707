#include "odd_header.h"

#include <string.h>

enum { MOST = 9 };

struct tensor {
    char name[40]; /* as it is spelled in the header */
    const char *dtype;
    unsigned width;
    unsigned n_dims;
    unsigned dims[3];
    size_t bytes, begin;
};

struct odd {
    uint64_t state;
    struct gen_bytes text;
    struct tensor tensors[MOST];
    size_t n;
    unsigned style; /* 0 compact, 1 Python's, 2 indented, 3 anything */
};

static unsigned pick(struct odd *o, unsigned n)
{
    return (unsigned)(gen_random(&o->state) % n);
}

/* White space at a place where JSON allows it; `usual` is what the style has there. */
static void blank(struct odd *o, const char *usual)
{
    static const char kinds[] = " \n\t\r";

    if (o->style != 3) {
        gen_text(&o->text, o->style == 0 ? "" : usual);
        return;
    }
    for (unsigned n = pick(o, 5) == 0 ? pick(o, 12) : 0; n > 0; n--)
        gen_fill(&o->text, pick(o, 2) == 0 ? ' ' : kinds[pick(o, 4)], 1);
}

/* In front of a member at a level. */
static void indent(struct odd *o, unsigned level, bool first)
{
    static const char line[] = "\n          ";
    char text[12];

    if (o->style != 2) {
        blank(o, first ? "" : " ");
        return;
    }
    memcpy(text, line, sizeof(line));
    text[1 + 2 * level] = '\0';
    blank(o, text);
}

static void put_numbers(struct odd *o, const unsigned *numbers, unsigned n)
{
    gen_text(&o->text, "[");
    for (unsigned i = 0; i < n; i++) {
        blank(o, i > 0 ? " " : "");
        gen_format(&o->text, "%u", numbers[i]);
        blank(o, "");
        if (i + 1 < n)
            gen_text(&o->text, ",");
    }
    gen_text(&o->text, "]");
}

static void put_field(struct odd *o, const struct tensor *t, unsigned field)
{
    static const char *const names[] = {"dtype", "shape", "data_offsets", "note"};
    unsigned offsets[] = {(unsigned)t->begin, (unsigned)(t->begin + t->bytes)};

    if (o->style == 3 && pick(o, 8) == 0 && field == 0)
        gen_text(&o->text, "\"dt\\u0079pe\"");
    else
        gen_format(&o->text, "\"%s\"", names[field]);
    blank(o, "");
    gen_text(&o->text, ":");
    blank(o, " ");
    if (field == 0)
        gen_format(&o->text, "\"%s\"", t->dtype);
    else if (field == 1)
        put_numbers(o, t->dims, t->n_dims);
    else if (field == 2)
        put_numbers(o, offsets, 2);
    else
        gen_text(&o->text, "{\"data_offsets\": [7, 8]}");
}

static void put_entry(struct odd *o, const struct tensor *t)
{
    unsigned order[4] = {0, 1, 2, 3}, n = o->style == 3 && pick(o, 6) == 0 ? 4 : 3;

    for (unsigned i = n; i > 1 && o->style == 3; i--) {
        unsigned k = pick(o, i), saved = order[i - 1];

        order[i - 1] = order[k];
        order[k] = saved;
    }
    gen_format(&o->text, "\"%s\"", t->name);
    blank(o, "");
    gen_text(&o->text, ":");
    blank(o, " ");
    gen_text(&o->text, "{");
    for (unsigned i = 0; i < n; i++) {
        indent(o, 2, i == 0);
        put_field(o, t, order[i]);
        blank(o, "");
        if (i + 1 < n)
            gen_text(&o->text, ",");
    }
    indent(o, 1, true);
    gen_text(&o->text, "}");
}

static void put_metadata(struct odd *o)
{
    static const char *const pairs[] = {"\"format\":\"pt\"", "\"lm_head.weight\" : \"x\"",
                                        "\"a\\u002fb\":\"\\u0041\\n\"", "\"\" :\"\"",
                                        "\"z\":\"[1, {}]\""};
    unsigned n = pick(o, 4), first = pick(o, 5);

    gen_text(&o->text, "\"__metadata__\"");
    blank(o, "");
    gen_text(&o->text, ":");
    blank(o, " ");
    if (pick(o, 10) == 0) {
        gen_text(&o->text, "null");
        return;
    }
    gen_text(&o->text, "{");
    for (unsigned i = 0; i < n; i++) {
        indent(o, 2, i == 0);
        gen_text(&o->text, pairs[(first + i) % 5]);
        blank(o, "");
        if (i + 1 < n)
            gen_text(&o->text, ",");
    }
    indent(o, 1, true);
    gen_text(&o->text, "}");
}

/* Payloads one behind the other, in the order that the tensors have now. */
static void make_tensors(struct odd *o)
{
    static const struct {
        const char *name;
        unsigned width;
    } dtypes[] = {{"F32", 4}, {"BF16", 2}, {"U8", 1},   {"F64", 8},
                  {"I64", 8}, {"BOOL", 1}, {"F8_X", 3}, {"F16", 2}};
    size_t at = 0;

    o->n = pick(o, 8) == 0 ? 0 : pick(o, MOST + 1);
    for (size_t i = 0; i < o->n; i++) {
        struct tensor *t = &o->tensors[i];
        unsigned dtype = pick(o, 8);

        gen_fill(&o->text, 0, 0);
        t->name[0] = '\0';
        if (o->style == 3 && pick(o, 4) == 0)
            strcpy(t->name, "\\u00e9\\\"\\/");
        strncat(t->name, &"layer.weight.of.some.length"[pick(o, 26)], 28);
        t->name[strlen(t->name) + 1] = '\0';
        t->name[strlen(t->name)] = (char)('a' + i);
        t->dtype = dtypes[dtype].name;
        t->width = dtypes[dtype].width;
        t->n_dims = pick(o, 4);
        t->bytes = t->width;
        for (unsigned d = 0; d < t->n_dims; d++) {
            t->dims[d] = pick(o, 12) == 0 ? 0 : 1 + pick(o, 9);
            t->bytes *= t->dims[d];
        }
        t->begin = at;
        at += t->bytes;
    }
}

static void shuffle_tensors(struct odd *o)
{
    for (size_t i = o->n; i > 1; i--) {
        size_t k = pick(o, (unsigned)i);
        struct tensor saved = o->tensors[i - 1];

        o->tensors[i - 1] = o->tensors[k];
        o->tensors[k] = saved;
    }
}

static void put_root(struct odd *o)
{
    size_t place = pick(o, 3) == 0 ? SIZE_MAX : pick(o, 2) == 0 ? 0 : pick(o, (unsigned)o->n + 1);
    size_t n = o->n + (place <= o->n);

    gen_text(&o->text, "{");
    for (size_t i = 0, t = 0; i < n; i++) {
        indent(o, 1, i == 0);
        if (i == place)
            put_metadata(o);
        else
            put_entry(o, &o->tensors[t++]);
        blank(o, "");
        if (i + 1 < n)
            gen_text(&o->text, ",");
    }
    indent(o, 0, true);
    gen_text(&o->text, "}");
}

static void put_padding(struct odd *o)
{
    size_t n = o->text.n;

    switch (pick(o, 7)) {
    case 0:
        break;
    case 1: /* as release 0.3.0 did */
        gen_fill(&o->text, ' ', n % 8);
        break;
    case 2:
        gen_text(&o->text, pick(o, 2) == 0 ? "\n" : "\t \r\n");
        break;
    case 3:
        gen_fill(&o->text, ' ', (56 - n % 64 + 64) % 64);
        break;
    case 4:
        gen_fill(&o->text, ' ', (4088 - n % 4096 + 4096) % 4096);
        break;
    case 5:
        gen_fill(&o->text, ' ', pick(o, 40));
        break;
    default:
        gen_fill(&o->text, ' ', (8 - n % 8) % 8);
        break;
    }
}

void odd_header_make(struct gen_bytes *out, uint64_t seed)
{
    struct odd o = {.state = seed};

    o.style = pick(&o, 4);
    make_tensors(&o);
    if (pick(&o, 2) == 0)
        shuffle_tensors(&o);
    if (pick(&o, 8) == 0)
        gen_fill(&o.text, pick(&o, 2) == 0 ? ' ' : '\n', pick(&o, 20));
    put_root(&o);
    put_padding(&o);
    gen_u64(out, o.text.n);
    gen_raw(out, o.text.data, o.text.n);
    for (size_t i = 0; i < o.n; i++)
        for (size_t b = 0; b < o.tensors[i].bytes; b++)
            gen_u8(out, gen_random(&o.state));
    gen_bytes_release(&o.text);
}
