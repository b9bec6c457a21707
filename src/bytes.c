/* The bounded, sticky cursor. */
#include "bytes.h"

#include <string.h>

#include "fail.h"
#include "mem.h"

/* What the first read asks for, the least that others do, and the share of what is loaded by which
 * it grows: small headers cost one read, and a large one is never overshot by more than a quarter.
 */
#define FIRST_READ   ((size_t)32 * 1024)
#define LEAST_READ   ((size_t)64 * 1024)
#define GROWTH_SHARE 4

/* Room that is asked for is a multiple of what will be read, so that a growing buffer is rarely
 * moved; room that is never written to costs no memory. A large one is moved without being copied,
 * and much more than is used would be given back to the system, and taken from it anew, each time.
 */
#define ROOM_FACTOR 4
#define MUCH_ROOM   ((uint64_t)1 << 20)

/* So much is kept of what may be forgotten: it costs little, and going back to it nothing. */
#define MUCH_PASSED ((uint64_t)1 << 20)

void tenon_cursor_init(struct tenon_cursor *c, const struct tenon_source *source, uint64_t limit)
{
    memset(c, 0, sizeof(*c));
    c->source = source;
    c->size = tenon_source_size(source);
    c->limit = limit;
}

void tenon_cursor_release(struct tenon_cursor *c)
{
    tenon_mem_free(c->buf);
    c->buf = NULL;
    c->start = c->loaded = c->pos;
    c->capacity = 0;
}

static void remember(struct tenon_cursor *c, enum tenon_status status, uint64_t need)
{
    c->status = status;
    c->fail_offset = c->pos;
    c->fail_need = need;
}

/* How far to load so that `end` is inside: a step ahead, but within the source and the limit. */
static uint64_t choose_target(const struct tenon_cursor *c, uint64_t end)
{
    uint64_t step = (c->loaded - c->start) / GROWTH_SHARE;
    uint64_t target, most = c->size < c->limit ? c->size : c->limit;

    if (step < LEAST_READ)
        step = c->loaded != 0 ? LEAST_READ : FIRST_READ;
    if (!tenon_u64_add(&target, c->loaded, step) || target > most)
        target = most;
    return target > end ? target : end;
}

/* Makes room for the bytes up to `end`. */
static bool grow(struct tenon_cursor *c, uint64_t end)
{
    uint64_t most = (c->size < c->limit ? c->size : c->limit) - c->start;
    uint64_t target = end - c->start, room;
    unsigned char *grown;

    if (target > SIZE_MAX)
        return false;
    if (target <= c->capacity)
        return true;
    if (!tenon_u64_mul(&room, target, target < MUCH_ROOM ? ROOM_FACTOR : 1) ||
        !tenon_u64_add(&room, room, target / 4) || room > most)
        room = most > target ? most : target;
    if (room > SIZE_MAX)
        room = target;
    grown = tenon_mem_resize(c->buf, (size_t)room, 1);
    if (grown == NULL)
        return false;
    c->buf = grown;
    c->capacity = (size_t)room;
    return true;
}

/* Loads bytes up to `end`, which is inside the source and the limit. */
static bool load(struct tenon_cursor *c, uint64_t end)
{
    uint64_t target = choose_target(c, end);
    enum tenon_status st;

    if (!grow(c, target)) {
        remember(c, TENON_ERR_NO_MEMORY, end - c->pos);
        return false;
    }
    st = tenon_source_read(c->source, c->loaded, c->buf + (c->loaded - c->start),
                           (size_t)(target - c->loaded), &c->fail);
    if (st != TENON_OK) {
        remember(c, st, end - c->pos);
        return false;
    }
    c->loaded = target;
    return true;
}

/* Makes `n` bytes at the current position available. */
static bool need(struct tenon_cursor *c, uint64_t n)
{
    uint64_t end;

    if (c->status != TENON_OK)
        return false;
    if (n <= c->loaded - c->pos)
        return true;
    if (n > c->size - c->pos || !tenon_u64_add(&end, c->pos, n)) {
        remember(c, TENON_ERR_TRUNCATED, n);
        return false;
    }
    if (end > c->limit) {
        remember(c, TENON_ERR_LIMIT, n);
        return false;
    }
    return load(c, end);
}

uint8_t tenon_cursor_u8(struct tenon_cursor *c)
{
    uint8_t value;

    if (!need(c, sizeof(value)))
        return 0;
    value = *tenon_cursor_at(c, c->pos);
    c->pos += sizeof(value);
    return value;
}

uint16_t tenon_cursor_u16(struct tenon_cursor *c)
{
    uint16_t value;

    if (!need(c, sizeof(value)))
        return 0;
    value = tenon_load_u16(tenon_cursor_at(c, c->pos), c->swapped);
    c->pos += sizeof(value);
    return value;
}

uint32_t tenon_cursor_u32(struct tenon_cursor *c)
{
    uint32_t value;

    if (!need(c, sizeof(value)))
        return 0;
    value = tenon_load_u32(tenon_cursor_at(c, c->pos), c->swapped);
    c->pos += sizeof(value);
    return value;
}

uint64_t tenon_cursor_u64(struct tenon_cursor *c)
{
    uint64_t value;

    if (!need(c, sizeof(value)))
        return 0;
    value = tenon_load_u64(tenon_cursor_at(c, c->pos), c->swapped);
    c->pos += sizeof(value);
    return value;
}

uint64_t tenon_cursor_skip(struct tenon_cursor *c, uint64_t n)
{
    uint64_t start = c->pos;

    if (need(c, n))
        c->pos += n;
    return start;
}

uint64_t tenon_cursor_offset(const struct tenon_cursor *c)
{
    return c->pos;
}

uint64_t tenon_cursor_left(const struct tenon_cursor *c)
{
    return c->size - c->pos;
}

bool tenon_cursor_ok(const struct tenon_cursor *c)
{
    return c->status == TENON_OK;
}

const unsigned char *tenon_cursor_at(const struct tenon_cursor *c, uint64_t off)
{
    return c->buf + (off - c->start);
}

enum tenon_status tenon_cursor_fail(const struct tenon_cursor *c, struct tenon_error *err)
{
    uint64_t left = c->size - c->fail_offset;

    if (c->status == TENON_ERR_TRUNCATED && c->fail.status == TENON_OK) {
        tenon_fail(err, c->status, c->fail_offset,
                   "%llu bytes needed here, but the file ends after %llu",
                   (unsigned long long)c->fail_need, (unsigned long long)left);
        tenon_fail_hint(err, "the download may be incomplete");
        return c->status;
    }
    if (c->status == TENON_ERR_LIMIT)
        return tenon_fail(err, c->status, c->fail_offset,
                          "the header goes on beyond the limit of %llu bytes",
                          (unsigned long long)c->limit);
    if (c->status == TENON_ERR_NO_MEMORY)
        return tenon_fail_memory(err);
    if (err != NULL && err->status == TENON_OK)
        *err = c->fail;
    return c->status;
}

unsigned char *tenon_cursor_take(struct tenon_cursor *c)
{
    size_t passed = (size_t)(c->pos - c->start), ahead = (size_t)(c->loaded - c->pos);
    unsigned char *rest, *cut;

    if (ahead > LEAST_READ)
        ahead = LEAST_READ; /* more may well be beyond the header */
    rest = tenon_mem_resize(NULL, ahead, 1);
    if (rest == NULL)
        return NULL;
    if (ahead != 0)
        memcpy(rest, tenon_cursor_at(c, c->pos), ahead);
    cut = tenon_mem_resize(c->buf, passed, 1);
    if (cut == NULL) {
        tenon_mem_free(rest);
        return NULL;
    }
    c->buf = rest;
    c->capacity = ahead;
    c->start = c->pos;
    c->loaded = c->pos + ahead;
    return cut;
}

void tenon_cursor_forget(struct tenon_cursor *c)
{
    if (c->pos - c->start < MUCH_PASSED)
        return;
    memmove(c->buf, tenon_cursor_at(c, c->pos), (size_t)(c->loaded - c->pos));
    c->start = c->pos;
}

void tenon_cursor_rewind(struct tenon_cursor *c, uint64_t off)
{
    c->pos = off;
    if (off < c->start)
        c->start = c->loaded = off;
}

float tenon_float_from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

double tenon_double_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}
