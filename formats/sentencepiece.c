/* A walk over the protocol buffer that a SentencePiece model is.
 *
 *   ModelProto   { repeated SentencePiece pieces = 1; TrainerSpec trainer_spec = 2; ... }
 *   TrainerSpec  { ... ModelType model_type = 3; ... }
 *
 * A field is a varint (number << 3 | wire type) and its value: 0 a varint, 1 eight bytes, 2 a
 * varint length and as many bytes, 5 four bytes. Source: sentencepiece_model.proto and the
 * encoding guide of protocol buffers. */
#include "sentencepiece.h"

#include "fail.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

enum { FIELD_PIECES = 1, FIELD_TRAINER = 2, FIELD_MODEL_TYPE = 3 };

/* A part of the bytes that is being walked. */
struct walk {
    const unsigned char *bytes;
    size_t pos, end;
};

/* One field; `value` is the varint, or the length of the bytes at `start`. */
struct field {
    uint64_t number;
    unsigned wire;
    uint64_t value;
    size_t start;
};

static enum tenon_status read_varint(struct walk *w, uint64_t *out, struct tenon_error *err)
{
    size_t start = w->pos;
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char c;

        if (w->pos == w->end)
            return tenon_fail(err, TENON_ERR_TRUNCATED, start, "ends inside a number");
        c = w->bytes[w->pos++];
        value |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *out = value;
            return TENON_OK;
        }
    }
    return tenon_fail(err, TENON_ERR_CORRUPT, start, "a number of more than 10 bytes");
}

/* Passes `n` bytes of a value. */
static enum tenon_status pass(struct walk *w, uint64_t n, struct tenon_error *err)
{
    if (n > w->end - w->pos)
        return tenon_fail(err, TENON_ERR_TRUNCATED, w->pos, "%llu bytes are due, %zu are left",
                          (unsigned long long)n, w->end - w->pos);
    w->pos += (size_t)n;
    return TENON_OK;
}

static enum tenon_status read_field(struct walk *w, struct field *f, struct tenon_error *err)
{
    size_t start = w->pos;
    uint64_t tag = 0;
    enum tenon_status st = read_varint(w, &tag, err);

    f->number = tag >> 3;
    f->wire = (unsigned)(tag & 7);
    f->start = w->pos;
    if (st != TENON_OK || f->wire == WIRE_32 || f->wire == WIRE_64)
        return st == TENON_OK ? pass(w, f->wire == WIRE_32 ? 4 : 8, err) : st;
    if (f->number == 0 || (f->wire != WIRE_VARINT && f->wire != WIRE_BYTES))
        return tenon_fail(err, TENON_ERR_CORRUPT, start, "no field of a SentencePiece model");
    st = read_varint(w, &f->value, err);
    f->start = w->pos;
    return st == TENON_OK && f->wire == WIRE_BYTES ? pass(w, f->value, err) : st;
}

static enum tenon_status read_trainer(const struct walk *model, const struct field *trainer,
                                      uint64_t *kind, struct tenon_error *err)
{
    struct walk w = {.bytes = model->bytes,
                     .pos = trainer->start,
                     .end = trainer->start + (size_t)trainer->value};
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && w.pos < w.end) {
        struct field f = {.number = 0};

        st = read_field(&w, &f, err);
        if (st == TENON_OK && f.number == FIELD_MODEL_TYPE && f.wire == WIRE_VARINT)
            *kind = f.value;
    }
    return st;
}

enum tenon_status tenon_sentencepiece_read(const unsigned char *bytes, size_t n,
                                           struct tenon_sentencepiece *out, struct tenon_error *err)
{
    struct walk w = {.bytes = bytes, .end = n};
    struct tenon_sentencepiece found = {.kind = 1};
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && w.pos < w.end) {
        struct field f = {.number = 0};

        st = read_field(&w, &f, err);
        if (st != TENON_OK || f.wire != WIRE_BYTES)
            continue;
        if (f.number == FIELD_PIECES)
            found.pieces++;
        else if (f.number == FIELD_TRAINER)
            st = read_trainer(&w, &f, &found.kind, err);
    }
    if (st == TENON_OK)
        *out = found;
    return st;
}
