/* Checked sizes, allocation with failure injection, arenas. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_BLOCK_BYTES 0 /* one block per object, so that overruns are seen */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_BLOCK_BYTES 0
#endif
#endif
#ifndef ARENA_BLOCK_BYTES
#define ARENA_BLOCK_BYTES ((size_t)16 * 1024)
#endif

/* Failure injection: the only mutable globals of the library, never touched outside tests. */
static atomic_uint_fast64_t fail_countdown;
static atomic_bool fail_persistent;
static atomic_bool fail_tripped;
static atomic_uint_fast64_t alloc_count;

bool tenon_u64_add(uint64_t *out, uint64_t a, uint64_t b)
{
    uint64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

bool tenon_u64_mul(uint64_t *out, uint64_t a, uint64_t b)
{
    uint64_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool tenon_u64_align(uint64_t *out, uint64_t value, uint64_t alignment)
{
    uint64_t padded;

    if (!tenon_u64_add(&padded, value, alignment - 1))
        return false;
    *out = padded & ~(alignment - 1);
    return true;
}

bool tenon_size_add(size_t *out, size_t a, size_t b)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

bool tenon_size_mul(size_t *out, size_t a, size_t b)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

void tenon_mem_fail_at(uint64_t n, bool persistent)
{
    atomic_store(&fail_countdown, n);
    atomic_store(&fail_persistent, persistent);
    atomic_store(&fail_tripped, false);
    atomic_store(&alloc_count, 0);
}

uint64_t tenon_mem_count(void)
{
    return atomic_load(&alloc_count);
}

/* Whether a test wants this allocation to fail. */
static bool must_fail(void)
{
    atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed);
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0)
        return atomic_load_explicit(&fail_tripped, memory_order_relaxed) &&
               atomic_load_explicit(&fail_persistent, memory_order_relaxed);
    if (atomic_fetch_sub(&fail_countdown, 1) != 1)
        return false;
    atomic_store(&fail_tripped, true);
    return true;
}

void *tenon_mem_alloc(size_t n, size_t size)
{
    if (must_fail())
        return NULL;
    return calloc(n != 0 ? n : 1, size != 0 ? size : 1);
}

void *tenon_mem_resize(void *p, size_t n, size_t size)
{
    size_t bytes;

    if (!tenon_size_mul(&bytes, n, size) || must_fail())
        return NULL;
    return realloc(p, bytes != 0 ? bytes : 1);
}

void *tenon_mem_grow(void *p, size_t *room, size_t used, size_t size)
{
    size_t wanted;
    void *grown;

    if (used < *room)
        return p;
    if (!tenon_size_mul(&wanted, *room, 2))
        return NULL;
    if (wanted == 0)
        wanted = 16;
    grown = tenon_mem_resize(p, wanted, size);
    if (grown != NULL)
        *room = wanted;
    return grown;
}

void tenon_mem_free(void *p)
{
    free(p);
}

void *tenon_mem_map(size_t bytes)
{
    void *p;

    if (must_fail())
        return NULL;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

void tenon_mem_unmap(void *p, size_t bytes)
{
    (void)munmap(p, bytes); /* cannot fail for whole pages that were mapped */
}

/* Blocks form a list; the newest, at the head, is the one with room: bytes [used, end). Objects
 * are taken from its start, where alignment costs little, texts from its end. */
struct tenon_arena_block {
    struct tenon_arena_block *next;
    size_t used, end;
    _Alignas(max_align_t) unsigned char bytes[];
};

static struct tenon_arena_block *add_block(struct tenon_arena *arena, size_t bytes)
{
    size_t room = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
    struct tenon_arena_block *block;
    size_t total;

    if (!tenon_size_add(&total, sizeof(*block), room))
        return NULL;
    block = tenon_mem_alloc(1, total);
    if (block == NULL)
        return NULL;
    block->end = room;
    /* A block for one large object must not hide the room left in the current one. */
    if (arena->head != NULL && room > ARENA_BLOCK_BYTES) {
        block->next = arena->head->next;
        arena->head->next = block;
    } else {
        block->next = arena->head;
        arena->head = block;
    }
    return block;
}

/* A block with that much room. */
static struct tenon_arena_block *find_room(struct tenon_arena *arena, size_t bytes)
{
    struct tenon_arena_block *block = arena->head;

    return block != NULL && block->end - block->used >= bytes ? block : add_block(arena, bytes);
}

void *tenon_arena_alloc(struct tenon_arena *arena, size_t n, size_t size)
{
    struct tenon_arena_block *block;
    uint64_t padded;
    size_t bytes;
    void *p;

    if (!tenon_size_mul(&bytes, n, size) ||
        !tenon_u64_align(&padded, bytes, _Alignof(max_align_t)) || padded > SIZE_MAX)
        return NULL;
    bytes = (size_t)padded;
    block = find_room(arena, bytes);
    if (block == NULL)
        return NULL;
    p = block->bytes + block->used;
    block->used += bytes;
    return p;
}

/* `bytes` zeroed ones without alignment. */
static char *alloc_text(struct tenon_arena *arena, size_t bytes)
{
    struct tenon_arena_block *block = find_room(arena, bytes);

    if (block == NULL)
        return NULL;
    block->end -= bytes;
    return (char *)block->bytes + block->end;
}

void *tenon_arena_copy(struct tenon_arena *arena, const void *items, size_t n, size_t size)
{
    void *copy = tenon_arena_alloc(arena, n > 0 ? n : 1, size);

    if (copy != NULL && n > 0)
        memcpy(copy, items, n * size);
    return copy;
}

char *tenon_arena_text(struct tenon_arena *arena, const char *text, size_t len)
{
    size_t bytes;
    char *copy = tenon_size_add(&bytes, len, 1) ? alloc_text(arena, bytes) : NULL;

    if (copy != NULL && len != 0)
        memcpy(copy, text, len);
    return copy;
}

char *tenon_arena_bytes(struct tenon_arena *arena, const char *bytes, size_t len)
{
    char *copy = alloc_text(arena, len);

    if (copy != NULL && len != 0)
        memcpy(copy, bytes, len);
    return copy;
}

void tenon_arena_release(struct tenon_arena *arena)
{
    struct tenon_arena_block *block = arena->head;

    while (block != NULL) {
        struct tenon_arena_block *next = block->next;

        tenon_mem_free(block);
        block = next;
    }
    arena->head = NULL;
}
