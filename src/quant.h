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
 * back. False for a type whose blocks no known program writes in big-endian form. */
bool tenon_quant_swap(enum tenon_dtype dtype, uint8_t *blocks, size_t n);

#endif
