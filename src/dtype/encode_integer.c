/* Integers and BOOL take whole numbers inside their range and nothing else: a fraction, a number
 * out of range, an infinity or a NaN is refused. Negative zero is zero. */
#include "dtype/codecs.h"

#include "dtype/encode.h"

/* Bounds as floats: `low` is in the range, `end` the first number beyond it. */
struct range {
    size_t bytes;
    float low, end;
};

/* Whether `f` is in the range and has no fraction; then its bits, in two's complement. */
static bool take_whole(uint64_t *out_bits, float f, const struct range *range)
{
    float whole;

    if (!(f >= range->low && f < range->end))
        return false;
    if (f < 0) {
        *out_bits = (uint64_t)(int64_t)f;
        whole = (float)(int64_t)*out_bits;
    } else {
        *out_bits = (uint64_t)f;
        whole = (float)*out_bits;
    }
    return whole == f;
}

static size_t encode_whole(uint8_t *out, const float *in, size_t n, const struct range *range)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;

        if (!take_whole(&bits, in[i], range))
            return i;
        for (size_t k = 0; k < range->bytes; k++)
            *out++ = (uint8_t)(bits >> 8 * k);
    }
    return SIZE_MAX;
}

#define ENCODE_WHOLE(id, low, end)                                                                 \
    size_t tenon_encode_##id(uint8_t *out, const float *in, size_t n)                              \
    {                                                                                              \
        static const struct range range = {TENON_BLOCK_BYTES_##id, low, end};                      \
                                                                                                   \
        return encode_whole(out, in, n, &range);                                                   \
    }

ENCODE_WHOLE(I64, -0x1p63f, 0x1p63f)
ENCODE_WHOLE(I32, -0x1p31f, 0x1p31f)
ENCODE_WHOLE(I16, -0x1p15f, 0x1p15f)
ENCODE_WHOLE(I8, -0x1p7f, 0x1p7f)
ENCODE_WHOLE(U64, 0, 0x1p64f)
ENCODE_WHOLE(U32, 0, 0x1p32f)
ENCODE_WHOLE(U16, 0, 0x1p16f)
ENCODE_WHOLE(U8, 0, 0x1p8f)
ENCODE_WHOLE(BOOL, 0, 2)
