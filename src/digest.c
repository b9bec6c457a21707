/* xxHash's streaming form, compiled for the baseline; wider forms are compiled apart. */
#include "digest.h"

#include "cpu.h"
#include "digest_xxh.h"
#if TENON_HAVE_X86_VARIANTS
#include "x86/digest_x86.h"
#endif

void tenon_digest_start(struct tenon_digest *digest)
{
    XXH3_128bits_reset(tenon_digest_state(digest));
}

void tenon_digest_update(struct tenon_digest *digest, const void *bytes, size_t n)
{
    tenon_digest_take(digest, bytes, n);
}

struct tenon_hash tenon_digest_finish(const struct tenon_digest *digest)
{
    XXH128_hash_t hash = XXH3_128bits_digest((const XXH3_state_t *)(const void *)digest->state);

    return (struct tenon_hash){hash.high64, hash.low64};
}

tenon_digest_update_fn tenon_digest_choose(unsigned cpu_flags)
{
#if TENON_HAVE_X86_VARIANTS
    if ((cpu_flags & TENON_CPU_AVX512) != 0)
        return tenon_digest_update_avx512;
    if ((cpu_flags & TENON_CPU_AVX2) != 0)
        return tenon_digest_update_avx2;
#endif
    (void)cpu_flags;
    return tenon_digest_update;
}
