/* xxHash compiled for AVX512: it chooses its registers by the compiler's flags. */
#include "x86/digest_x86.h"

#include "digest_xxh.h"

void tenon_digest_update_avx512(struct tenon_digest *digest, const void *bytes, size_t n)
{
    tenon_digest_take(digest, bytes, n);
}
