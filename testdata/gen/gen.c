/* Byte builder, randomness, element types. */
#include "gen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *p, size_t n)
{
    p = realloc(p, n != 0 ? n : 1);
    if (p == NULL) {
        fputs("tenon_gen: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

void gen_bytes_release(struct gen_bytes *b)
{
    free(b->data);
    *b = (struct gen_bytes){0};
}

static unsigned char *extend(struct gen_bytes *b, size_t n)
{
    if (b->data == NULL || b->capacity - b->n < n) {
        b->capacity = 2 * b->capacity > b->n + n ? 2 * b->capacity : b->n + n + 64;
        b->data = grow(b->data, b->capacity);
    }
    b->n += n;
    return b->data + b->n - n;
}

void gen_raw(struct gen_bytes *b, const void *data, size_t n)
{
    unsigned char *at = extend(b, n);

    if (n != 0)
        memcpy(at, data, n);
}

void gen_text(struct gen_bytes *b, const char *text)
{
    gen_raw(b, text, strlen(text));
}

void gen_fill(struct gen_bytes *b, int byte, size_t n)
{
    unsigned char *at = extend(b, n);

    if (n != 0)
        memset(at, byte, n);
}

/* The low `n` bytes of `value`. */
static void put_int(struct gen_bytes *b, uint64_t value, unsigned n)
{
    unsigned char *at = extend(b, n);

    for (unsigned i = 0; i < n; i++)
        at[b->big ? n - 1 - i : i] = (unsigned char)(value >> (8 * i));
}

void gen_u8(struct gen_bytes *b, uint64_t value)
{
    put_int(b, value, 1);
}

void gen_u16(struct gen_bytes *b, uint64_t value)
{
    put_int(b, value, 2);
}

void gen_u32(struct gen_bytes *b, uint64_t value)
{
    put_int(b, value, 4);
}

void gen_u64(struct gen_bytes *b, uint64_t value)
{
    put_int(b, value, 8);
}

void gen_f32(struct gen_bytes *b, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_int(b, bits, 4);
}

void gen_f64(struct gen_bytes *b, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_int(b, bits, 8);
}

void gen_str(struct gen_bytes *b, const char *text)
{
    gen_u64(b, strlen(text));
    gen_text(b, text);
}

void gen_align(struct gen_bytes *b, size_t alignment)
{
    gen_fill(b, 0, (alignment - b->n % alignment) % alignment);
}

void gen_format(struct gen_bytes *b, const char *format, ...)
{
    char text[4096];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(text)) {
        fputs("tenon_gen: text too long\n", stderr);
        exit(1);
    }
    gen_raw(b, text, (size_t)n);
}

uint64_t gen_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

float gen_value(uint64_t seed, uint64_t i)
{
    uint64_t state = seed * 0x2545f4914f6cdd1du + i;

    return (float)((int)(gen_random(&state) % 255) - 127) / 128.0f;
}

/* Numbers from the specifications of both formats, on purpose not from the library's table. */
const struct gen_dtype gen_dtypes[] = {
    {"F64", 28, "F64", 1, 8},
    {"F32", 0, "F32", 1, 4},
    {"F16", 1, "F16", 1, 2},
    {"BF16", 30, "BF16", 1, 2},
    {"I64", 27, "I64", 1, 8},
    {"I32", 26, "I32", 1, 4},
    {"I16", 25, "I16", 1, 2},
    {"I8", 24, "I8", 1, 1},
    {"U64", -1, "U64", 1, 8},
    {"U32", -1, "U32", 1, 4},
    {"U16", -1, "U16", 1, 2},
    {"U8", -1, "U8", 1, 1},
    {"BOOL", -1, "BOOL", 1, 1},
    {"C64", -1, "C64", 1, 8},
    {"F8_E4M3", -1, "F8_E4M3", 1, 1},
    {"F8_E5M2", -1, "F8_E5M2", 1, 1},
    {"F8_E8M0", -1, "F8_E8M0", 1, 1},
    {"F8_E4M3FNUZ", -1, "F8_E4M3FNUZ", 1, 1},
    {"F8_E5M2FNUZ", -1, "F8_E5M2FNUZ", 1, 1},
    {"F6_E2M3", -1, "F6_E2M3", 4, 3},
    {"F6_E3M2", -1, "F6_E3M2", 4, 3},
    {"F4", -1, "F4", 2, 1},
    {"Q4_0", 2, NULL, 32, 18},
    {"Q4_1", 3, NULL, 32, 20},
    {"Q5_0", 6, NULL, 32, 22},
    {"Q5_1", 7, NULL, 32, 24},
    {"Q8_0", 8, NULL, 32, 34},
    {"Q8_1", 9, NULL, 32, 36},
    {"Q2_K", 10, NULL, 256, 84},
    {"Q3_K", 11, NULL, 256, 110},
    {"Q4_K", 12, NULL, 256, 144},
    {"Q5_K", 13, NULL, 256, 176},
    {"Q6_K", 14, NULL, 256, 210},
    {"Q8_K", 15, NULL, 256, 292},
    {"IQ2_XXS", 16, NULL, 256, 66},
    {"IQ2_XS", 17, NULL, 256, 74},
    {"IQ3_XXS", 18, NULL, 256, 98},
    {"IQ1_S", 19, NULL, 256, 50},
    {"IQ4_NL", 20, NULL, 32, 18},
    {"IQ3_S", 21, NULL, 256, 110},
    {"IQ2_S", 22, NULL, 256, 82},
    {"IQ4_XS", 23, NULL, 256, 136},
    {"IQ1_M", 29, NULL, 256, 56},
    {"TQ1_0", 34, NULL, 256, 54},
    {"TQ2_0", 35, NULL, 256, 66},
    {"MXFP4", 39, NULL, 32, 17},
    {"NVFP4", 40, NULL, 64, 36},
    {"Q1_0", 41, NULL, 128, 18},
    {"Q2_0", 42, NULL, 64, 18},
};
const size_t gen_n_dtypes = sizeof(gen_dtypes) / sizeof(gen_dtypes[0]);

const struct gen_dtype *gen_dtype_find(const char *name)
{
    for (size_t i = 0; i < gen_n_dtypes; i++) {
        if (strcmp(gen_dtypes[i].name, name) == 0)
            return &gen_dtypes[i];
    }
    fprintf(stderr, "tenon_gen: no element type %s\n", name);
    exit(1);
}

uint16_t gen_half(float value)
{
    int exponent;
    double fraction = frexp(fabs((double)value), &exponent); /* 0.5 <= fraction < 1 */
    uint16_t sign = signbit(value) ? 0x8000 : 0;

    if (value != value)
        return 0x7e00;
    if (fraction == 0)
        return sign;
    if (exponent < -13) /* subnormal: units of 2^-24 */
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(fraction, exponent + 24)));
    if (exponent > 16)
        return sign | 0x7c00;
    /* A carry out of the 11 bits moves on into the exponent, as it should. */
    return (uint16_t)(sign | (((exponent + 13) << 10) + (int)nearbyint(fraction * 2048)));
}

uint16_t gen_bfloat(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
