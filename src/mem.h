/* Memory and sizes: every allocation and every product of numbers from a file goes through here.
 */
#ifndef TENON_MEM_H
#define TENON_MEM_H

#include "tenon/api.h"

/* Checked arithmetic: false on overflow, *out then untouched. The `_size` forms are for memory,
 * the others for file offsets. */
bool tenon_u64_add(uint64_t *out, uint64_t a, uint64_t b);
bool tenon_u64_mul(uint64_t *out, uint64_t a, uint64_t b);
bool tenon_u64_align(uint64_t *out, uint64_t value, uint64_t alignment); /* up; power of two */
bool tenon_size_add(size_t *out, size_t a, size_t b);
bool tenon_size_mul(size_t *out, size_t a, size_t b);

/* Zeroed memory for `n` items of `size` bytes; NULL when it cannot be had, or the product
 * overflows. n == 0 gives a pointer that may be freed. */
void *tenon_mem_alloc(size_t n, size_t size);

/* Grows or shrinks; new bytes are not zeroed. On failure NULL, and `p` stays as it was. */
void *tenon_mem_resize(void *p, size_t n, size_t size);

/* Room for one more than `used` items in a growing array: gives back `p` itself while `*room`
 * suffices, else the array moved to twice the room. On failure NULL, and `p` stays as it was. */
void *tenon_mem_grow(void *p, size_t *room, size_t used, size_t size);

void tenon_mem_free(void *p);

/* Zeroed pages of their own, of which any range of whole pages can be given back on its own. NULL
 * when they cannot be had; `bytes` is not 0. */
void *tenon_mem_map(size_t bytes);
void tenon_mem_unmap(void *p, size_t bytes);

/* For tests: the n-th allocation from now on (1 is the next) fails, and all later ones if
 * `persistent`. n == 0 switches it off. tenon_mem_count is the number of allocations since. */
void tenon_mem_fail_at(uint64_t n, bool persistent);
uint64_t tenon_mem_count(void);

/* Memory that dies together. Zero-initialise (`struct tenon_arena a = {0};`), release once. Texts
 * are packed without gaps: many small ones cost their bytes. */
struct tenon_arena_block;
struct tenon_arena {
    struct tenon_arena_block *head;
};

/* Zeroed, aligned for any type; NULL when memory is gone or the product overflows. */
void *tenon_arena_alloc(struct tenon_arena *arena, size_t n, size_t size);

/* The same with the bytes of `items`. */
void *tenon_arena_copy(struct tenon_arena *arena, const void *items, size_t n, size_t size);

/* A copy of `len` bytes, terminated; or not, for texts whose length is kept. Not aligned. NULL when
 * memory is gone, never otherwise. */
char *tenon_arena_text(struct tenon_arena *arena, const char *text, size_t len);
char *tenon_arena_bytes(struct tenon_arena *arena, const char *bytes, size_t len);

void tenon_arena_release(struct tenon_arena *arena);

#endif
