#include "heap.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What the linker calls the originals and the replacements. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__real_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *p, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
void *__wrap_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *p, size_t n);

static atomic_llong used, start, peak;

static void count(long long bytes)
{
    long long now = atomic_fetch_add(&used, bytes) + bytes;
    long long old = atomic_load(&peak);

    while (now > old && !atomic_compare_exchange_weak(&peak, &old, now))
        ;
}

void heap_start(void)
{
    atomic_store(&start, atomic_load(&used));
    atomic_store(&peak, atomic_load(&used));
}

size_t heap_peak(void)
{
    return (size_t)(atomic_load(&peak) - atomic_load(&start));
}

void *__wrap_malloc(size_t size)
{
    void *p = __real_malloc(size);

    count((long long)malloc_usable_size(p));
    return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = __real_calloc(n, size);

    count((long long)malloc_usable_size(p));
    return p;
}

void *__wrap_realloc(void *p, size_t size)
{
    long long before = (long long)malloc_usable_size(p);
    void *q = __real_realloc(p, size);

    if (q != NULL)
        count((long long)malloc_usable_size(q) - before);
    return q;
}

void *__wrap_mmap64(void *p, size_t n, int protection, int flags, int fd, off_t offset)
{
    void *q = __real_mmap64(p, n, protection, flags, fd, offset);

    if (q != MAP_FAILED)
        count((long long)n);
    return q;
}

int __wrap_munmap(void *p, size_t n)
{
    int failed = __real_munmap(p, n);

    if (!failed)
        count(-(long long)n);
    return failed;
}

void __wrap_free(void *p)
{
    count(-(long long)malloc_usable_size(p));
    __real_free(p);
}
