/* XXH3 with wide registers: as tenon_digest_update. */
#ifndef TENON_X86_DIGEST_X86_H
#define TENON_X86_DIGEST_X86_H

#include "digest.h"

void tenon_digest_update_avx2(struct tenon_digest *digest, const void *bytes, size_t n);
void tenon_digest_update_avx512(struct tenon_digest *digest, const void *bytes, size_t n);

#endif
