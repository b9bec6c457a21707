/* Chooses the decoders for ARM. */
#include "arm/decode_arm.h"

#include "cpu.h"

void tenon_decode_init_arm(struct tenon_quant_ops *ops, unsigned cpu_flags)
{
    if ((cpu_flags & TENON_CPU_NEON) == 0)
        return;
#define DECODE(id) ops->decode[TENON_DTYPE_##id] = tenon_decode_##id##_neon;
#include "arm/decode_neon.def"
#undef DECODE
}
