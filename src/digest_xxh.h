/* xxHash compiled into one file with that file's instruction set. Included by digest.c and its
 * variants only. */
#ifndef TENON_DIGEST_XXH_H
#define TENON_DIGEST_XXH_H

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "digest.h"

static_assert(sizeof(XXH3_state_t) <= sizeof(struct tenon_digest), "the state must fit");
static_assert(_Alignof(XXH3_state_t) <= 64, "the state must be aligned");

static inline XXH3_state_t *tenon_digest_state(struct tenon_digest *digest)
{
    return (XXH3_state_t *)(void *)digest->state;
}

static inline void tenon_digest_take(struct tenon_digest *digest, const void *bytes, size_t n)
{
    XXH3_128bits_update(tenon_digest_state(digest), bytes, n);
}

#endif
