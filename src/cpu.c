/* Asks the processor, and the operating system where that must save the registers too. */
#include "cpu.h"

#include <stdatomic.h>

/* The answer, once it is known. Mutable, because asking is dear: under a hypervisor each question
 * leaves the virtual machine, which takes microseconds. It is the same whoever asks first. */
#define ASKED (1u << 31)
static atomic_uint answer;

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

/* Bits of CPUID leaves and of XCR0, Intel's manual volume 2A and volume 1 chapter 13. */
enum {
    LEAF1_ECX_SSE41 = 1 << 19,
    LEAF1_ECX_OSXSAVE = 1 << 27,
    LEAF1_ECX_AVX = 1 << 28,
    LEAF1_ECX_F16C = 1 << 29,
    LEAF7_EBX_AVX2 = 1 << 5,
    LEAF7_EBX_BMI2 = 1 << 8,
    LEAF7_EBX_AVX512F = 1 << 16,
    LEAF7_EBX_AVX512DQ = 1 << 17,
    LEAF7_EBX_AVX512BW = 1 << 30,
    XCR0_AVX = 0x06,    /* the system saves xmm and ymm */
    XCR0_AVX512 = 0xe6, /* and the masks, the upper halves and zmm16 to zmm31 */
};

#define LEAF7_EBX_AVX512VL (1u << 31)

static bool has_all(unsigned word, unsigned bits)
{
    return (word & bits) == bits;
}

/* XCR0. The instruction by name, so that this file needs no -mxsave. */
static unsigned read_xcr0(void)
{
    unsigned low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static unsigned ask(void)
{
    const unsigned avx512 =
        LEAF7_EBX_AVX512F | LEAF7_EBX_AVX512DQ | LEAF7_EBX_AVX512BW | LEAF7_EBX_AVX512VL;
    unsigned eax, ebx, ecx, edx, xcr0, flags = 0;
    unsigned leaf7 = 0;

    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0)
        return 0;
    if (has_all(ecx, LEAF1_ECX_SSE41))
        flags |= TENON_CPU_SSE41;
    if (!has_all(ecx, LEAF1_ECX_OSXSAVE | LEAF1_ECX_AVX))
        return flags;
    xcr0 = read_xcr0();
    if (!has_all(xcr0, XCR0_AVX))
        return flags;
    if (has_all(ecx, LEAF1_ECX_F16C))
        flags |= TENON_CPU_F16C;
    if (__get_cpuid_count(7, 0, &eax, &leaf7, &ecx, &edx) == 0)
        return flags;
    if (has_all(leaf7, LEAF7_EBX_AVX2 | LEAF7_EBX_BMI2))
        flags |= TENON_CPU_AVX2;
    if (has_all(xcr0, XCR0_AVX512) && has_all(leaf7, avx512))
        flags |= TENON_CPU_AVX512;
    return flags;
}

#elif defined(__aarch64__)

/* NEON is part of every 64-bit ARM. */
static unsigned ask(void)
{
    return TENON_CPU_NEON;
}

#else

static unsigned ask(void)
{
    return 0;
}

#endif

unsigned tenon_cpu_detect(void)
{
    unsigned known = atomic_load_explicit(&answer, memory_order_relaxed);

    if (known == 0) {
        known = ask() | ASKED;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known & ~ASKED;
}
