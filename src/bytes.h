/* The only way to get an integer out of a file: a bounded cursor that remembers its first
 * failure. Read a whole record, then ask once.
 *
 * The cursor runs over a source from offset 0 and keeps everything it has passed in one growing
 * buffer, so that names and values can stay where they are: positions are offsets into the source,
 * and the buffer moves while it grows. tenon_cursor_take hands over what was passed; after that
 * the cursor goes on with a buffer of its own. Who copies what it needs calls tenon_cursor_forget
 * on the way, and the buffer stays small. */
#ifndef TENON_BYTES_H
#define TENON_BYTES_H

#include "source.h"

struct tenon_cursor {
    const struct tenon_source *source;
    unsigned char *buf; /* bytes [start, loaded) of the source */
    size_t capacity;
    uint64_t start, loaded;
    uint64_t pos, size;       /* size: of the source */
    uint64_t limit;           /* the most bytes that may be loaded */
    bool swapped;             /* integers are big-endian */
    enum tenon_status status; /* first failure */
    uint64_t fail_offset;     /* where the failed read began */
    uint64_t fail_need;       /* how many bytes it wanted */
    struct tenon_error fail;  /* of a failed system call or allocation */
};

void tenon_cursor_init(struct tenon_cursor *c, const struct tenon_source *source, uint64_t limit);
void tenon_cursor_release(struct tenon_cursor *c);

/* Little-endian unless `swapped`. After a failure they return 0 and do not move. */
uint8_t tenon_cursor_u8(struct tenon_cursor *c);
uint16_t tenon_cursor_u16(struct tenon_cursor *c);
uint32_t tenon_cursor_u32(struct tenon_cursor *c);
uint64_t tenon_cursor_u64(struct tenon_cursor *c);

/* Passes over `n` bytes, loading them; returns the offset of the first. */
uint64_t tenon_cursor_skip(struct tenon_cursor *c, uint64_t n);

uint64_t tenon_cursor_offset(const struct tenon_cursor *c);
uint64_t tenon_cursor_left(const struct tenon_cursor *c); /* bytes up to the end of the source */
bool tenon_cursor_ok(const struct tenon_cursor *c);

/* The loaded bytes at `off`, valid until the next read; `off` must have been passed, and not
 * forgotten. */
const unsigned char *tenon_cursor_at(const struct tenon_cursor *c, uint64_t off);

/* Reports the remembered failure. */
enum tenon_status tenon_cursor_fail(const struct tenon_cursor *c, struct tenon_error *err);

/* Hands over the buffer, cut down to what was passed (tenon_mem_free); the cursor goes on from
 * there. NULL only when memory is gone; nothing has changed then. */
unsigned char *tenon_cursor_take(struct tenon_cursor *c);

/* Says that what was passed is not needed any more. It is given up once it is much. */
void tenon_cursor_forget(struct tenon_cursor *c);

/* Goes back to `off`, which was passed and not taken: it is read again where it was forgotten. */
void tenon_cursor_rewind(struct tenon_cursor *c, uint64_t off);

/* Integers at an address that is known to hold them, for packed values kept in memory. Inline:
 * walking an array of strings is nothing but loads of lengths. */
static inline uint16_t tenon_load_u16(const unsigned char *p, bool swapped)
{
    uint16_t little = (uint16_t)(p[0] | p[1] << 8);

    return swapped ? (uint16_t)(little << 8 | little >> 8) : little;
}

static inline uint32_t tenon_load_u32(const unsigned char *p, bool swapped)
{
    uint32_t little =
        (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

    return swapped ? __builtin_bswap32(little) : little;
}

static inline uint64_t tenon_load_u64(const unsigned char *p, bool swapped)
{
    uint64_t little = (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
                      (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
                      (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;

    return swapped ? __builtin_bswap64(little) : little;
}

/* The way back: writes `value` to the bytes at `p`. */
static inline void tenon_store_u64(unsigned char *p, uint64_t value, bool swapped)
{
    for (unsigned i = 0; i < 8; i++)
        p[swapped ? 7 - i : i] = (unsigned char)(value >> (8 * i));
}

float tenon_float_from_bits(uint32_t bits);
double tenon_double_from_bits(uint64_t bits);

#endif
