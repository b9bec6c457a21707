/* The table of codecs and the byte order of blocks. */
#include "quant.h"

#include <string.h>

#include "cpu.h"
#include "dtype/codecs.h"
#if TENON_HAVE_X86_VARIANTS
#include "x86/decode_x86.h"
#include "x86/encode_x86.h"
#elif TENON_HAVE_ARM_VARIANTS
#include "arm/decode_arm.h"
#endif

void tenon_quant_init_reference(struct tenon_quant_ops *ops)
{
    memset(ops, 0, sizeof(*ops));
#define DECODE(id)     ops->decode[TENON_DTYPE_##id] = tenon_decode_##id;
#define DECODE_F64(id) ops->decode_f64[TENON_DTYPE_##id] = tenon_decode_f64_##id;
#define ENCODE(id)     ops->encode[TENON_DTYPE_##id] = tenon_encode_##id;
#include "dtype/codecs.def"
#undef DECODE
#undef DECODE_F64
#undef ENCODE
}

void tenon_quant_init(struct tenon_quant_ops *ops, unsigned cpu_flags)
{
    tenon_quant_init_reference(ops);
#if TENON_HAVE_X86_VARIANTS
    tenon_decode_init_x86(ops, cpu_flags);
    tenon_encode_init_x86(ops, cpu_flags);
#elif TENON_HAVE_ARM_VARIANTS
    tenon_decode_init_arm(ops, cpu_flags);
#endif
    (void)cpu_flags;
}

/* `count` integers or floats of `width` bytes each, from byte `offset` of a block. */
struct field {
    enum tenon_dtype dtype;
    uint16_t offset;
    uint8_t width, count;
};

/* Every field of more than one byte. Rows of one type stand together. */
static const struct field fields[] = {
    {TENON_DTYPE_F64, 0, 8, 1},     {TENON_DTYPE_F32, 0, 4, 1},      {TENON_DTYPE_F16, 0, 2, 1},
    {TENON_DTYPE_BF16, 0, 2, 1},    {TENON_DTYPE_I64, 0, 8, 1},      {TENON_DTYPE_I32, 0, 4, 1},
    {TENON_DTYPE_I16, 0, 2, 1},     {TENON_DTYPE_U64, 0, 8, 1},      {TENON_DTYPE_U32, 0, 4, 1},
    {TENON_DTYPE_U16, 0, 2, 1},     {TENON_DTYPE_C64, 0, 4, 2},      {TENON_DTYPE_Q4_0, 0, 2, 1},
    {TENON_DTYPE_Q4_1, 0, 2, 2},    {TENON_DTYPE_Q5_0, 0, 2, 1},     {TENON_DTYPE_Q5_0, 2, 4, 1},
    {TENON_DTYPE_Q5_1, 0, 2, 2},    {TENON_DTYPE_Q5_1, 4, 4, 1},     {TENON_DTYPE_Q8_0, 0, 2, 1},
    {TENON_DTYPE_Q8_1, 0, 2, 2},    {TENON_DTYPE_Q2_K, 80, 2, 2},    {TENON_DTYPE_Q3_K, 108, 2, 1},
    {TENON_DTYPE_Q4_K, 0, 2, 2},    {TENON_DTYPE_Q5_K, 0, 2, 2},     {TENON_DTYPE_Q6_K, 208, 2, 1},
    {TENON_DTYPE_Q8_K, 0, 4, 1},    {TENON_DTYPE_Q8_K, 260, 2, 16},  {TENON_DTYPE_IQ2_XS, 0, 2, 33},
    {TENON_DTYPE_IQ3_XXS, 0, 2, 1}, {TENON_DTYPE_IQ3_XXS, 66, 4, 8}, {TENON_DTYPE_IQ1_S, 0, 2, 1},
    {TENON_DTYPE_IQ1_S, 34, 2, 8},  {TENON_DTYPE_IQ4_NL, 0, 2, 1},   {TENON_DTYPE_IQ3_S, 0, 2, 1},
    {TENON_DTYPE_IQ2_S, 0, 2, 1},   {TENON_DTYPE_IQ4_XS, 0, 2, 2},   {TENON_DTYPE_IQ1_M, 48, 2, 4},
    {TENON_DTYPE_TQ1_0, 52, 2, 1},  {TENON_DTYPE_TQ2_0, 64, 2, 1},   {TENON_DTYPE_Q1_0, 0, 2, 1},
    {TENON_DTYPE_Q2_0, 0, 2, 1},
};

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void swap_16(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t v;

        memcpy(&v, p + 2 * i, sizeof(v));
        v = __builtin_bswap16(v);
        memcpy(p + 2 * i, &v, sizeof(v));
    }
}

static void swap_32(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v;

        memcpy(&v, p + 4 * i, sizeof(v));
        v = __builtin_bswap32(v);
        memcpy(p + 4 * i, &v, sizeof(v));
    }
}

static void swap_64(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v;

        memcpy(&v, p + 8 * i, sizeof(v));
        v = __builtin_bswap64(v);
        memcpy(p + 8 * i, &v, sizeof(v));
    }
}

static void swap_items(uint8_t *p, unsigned width, size_t n)
{
    if (width == 2)
        swap_16(p, n);
    else if (width == 4)
        swap_32(p, n);
    else
        swap_64(p, n);
}

/* One field of `n` blocks. */
static void swap_field(const struct field *field, uint8_t *blocks, size_t block_bytes, size_t n)
{
    if ((size_t)field->width * field->count == block_bytes) {
        swap_items(blocks, field->width, n * field->count);
        return;
    }
    for (size_t i = 0; i < n; i++)
        swap_items(blocks + i * block_bytes + field->offset, field->width, field->count);
}

bool tenon_quant_swap(enum tenon_dtype dtype, uint8_t *blocks, size_t n)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);

    /* IQ2_XXS: see the header. */
    if (info == NULL || info->block_bytes == 0 || dtype == TENON_DTYPE_IQ2_XXS)
        return false;
    for (size_t f = 0; f < N_FIELDS; f++)
        if (fields[f].dtype == dtype)
            swap_field(&fields[f], blocks, info->block_bytes, n);
    return true;
}

static bool any_code16(const uint8_t *encoded, size_t n, uint16_t code)
{
    uint16_t found = 0;

    for (size_t i = 0; i < n; i++) {
        uint16_t bits;

        memcpy(&bits, encoded + 2 * i, sizeof(bits));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        bits = __builtin_bswap16(bits);
#endif
        found |= (uint16_t)((bits & 0x7fff) == code);
    }
    return found != 0;
}

static bool any_code8(const uint8_t *encoded, size_t n, uint8_t code)
{
    uint8_t found = 0;

    for (size_t i = 0; i < n; i++)
        found |= (uint8_t)((encoded[i] & 0x7f) == code);
    return found != 0;
}

bool tenon_quant_any_lost(enum tenon_dtype dtype, const uint8_t *encoded, size_t n)
{
    if (dtype == TENON_DTYPE_F16)
        return any_code16(encoded, n, 0x7c00);
    if (dtype == TENON_DTYPE_BF16)
        return any_code16(encoded, n, 0x7f80);
    if (dtype == TENON_DTYPE_F8_E4M3)
        return any_code8(encoded, n, 0x7f);
    if (dtype == TENON_DTYPE_F8_E5M2)
        return any_code8(encoded, n, 0x7c);
    return true;
}
