/* One table of codecs per context: plain C first, then overwritten by what the processor can do.
 */
#ifndef TENON_QUANT_H
#define TENON_QUANT_H

#include "dtype/codec.h"

struct tenon_quant_ops {
    tenon_decode_fn decode[TENON_DTYPE_END];         /* NULL: no decoder */
    tenon_decode_f64_fn decode_f64[TENON_DTYPE_END]; /* NULL: use `decode` and widen */
    tenon_encode_fn encode[TENON_DTYPE_END];         /* NULL: no encoder */
};

/* Plain C everywhere. */
void tenon_quant_init_reference(struct tenon_quant_ops *ops);

/* The best for `cpu_flags` (tenon_cpu_detect(), or a part of it). All give the same bytes. */
void tenon_quant_init(struct tenon_quant_ops *ops, unsigned cpu_flags);

/* Swaps the multi-byte fields of `n` blocks in place, from big-endian files to little-endian or
 * back. A field is what a program of that byte order keeps as one integer or float: scales, the
 * 32-bit word of fifth bits in Q5_0 and Q5_1, the 16-bit codes of IQ2_XS, IQ1_S and IQ4_XS, the
 * scale words of IQ1_M and IQ3_XXS. Arrays of bytes stay as they are. Beyond ggml's own endian
 * converter this follows ggml's structs, which a big-endian machine writes as they lie in memory.
 * False, nothing changed, for types without a size and for IQ2_XXS, whose words ggml uses both as
 * bytes and as integers, so that there is no agreed big-endian form. */
bool tenon_quant_swap(enum tenon_dtype dtype, uint8_t *blocks, size_t n);

/* Whether one of `n` encoded elements (little-endian) is what a value that is too large for a float
 * type becomes: infinity, or NaN where there is none. True for types that this is not known of. */
bool tenon_quant_any_lost(enum tenon_dtype dtype, const uint8_t *encoded, size_t n);

#endif
