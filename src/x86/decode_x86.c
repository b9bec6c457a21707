/* Chooses the decoders for x86; compiled for the common base. */
#include "x86/decode_x86.h"

#include "cpu.h"

void tenon_decode_init_x86(struct tenon_quant_ops *ops, unsigned cpu_flags)
{
    const unsigned needed = TENON_CPU_AVX2 | TENON_CPU_F16C;

    if ((cpu_flags & needed) != needed)
        return;
#define DECODE(id) ops->decode[TENON_DTYPE_##id] = tenon_decode_##id##_avx2;
#include "x86/decode_avx2.def"
#undef DECODE
}
