/* Chooses the encoders for x86; compiled for the common base. */
#include "x86/encode_x86.h"

#include "cpu.h"

void tenon_encode_init_x86(struct tenon_quant_ops *ops, unsigned cpu_flags)
{
    const unsigned needed = TENON_CPU_AVX2 | TENON_CPU_F16C;

    if ((cpu_flags & needed) != needed)
        return;
#define ENCODE(id) ops->encode[TENON_DTYPE_##id] = tenon_encode_##id##_avx2;
#include "dtype/encoders.def"
#undef ENCODE
}
