/* Large texts stand in pages of their own, small ones where everything does. */
#include "scroll.h"

/* What is given back at once, many pages. Texts that are not several times as long are kept to
 * their end. */
#define STEP  ((size_t)1 << 20)
#define LARGE (4 * STEP)

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif

/* Whole pages of any size that there is. */
#define PAGE ((size_t)1 << 16)

/* Where accesses are watched, those of small texts are forbidden to the byte. */
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
#define FORBID(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define ALLOW(p, n)  ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define FORBID(p, n) ((void)0)
#define ALLOW(p, n)  ((void)0)
#endif

bool tenon_scroll_new(struct tenon_scroll *scroll, size_t len)
{
    bool mapped = len >= LARGE;
    char *data = mapped ? tenon_mem_map(len) : tenon_mem_resize(NULL, len, 1);

    if (data == NULL)
        return false;
    *scroll = (struct tenon_scroll){.data = data, .len = len, .mapped = mapped};
    return true;
}

void tenon_scroll_pass(struct tenon_scroll *scroll, size_t place)
{
    size_t n = place > scroll->passed ? place - scroll->passed : 0;

    if (scroll->mapped)
        n -= n % STEP;
    if (n == 0)
        return;
    if (scroll->mapped)
        tenon_mem_unmap(scroll->data + scroll->passed, n);
    else
        FORBID(scroll->data + scroll->passed, n);
    scroll->passed += n;
}

bool tenon_scroll_keep(struct tenon_scroll *scroll, size_t from, size_t to, void **out_pages,
                       size_t *out_bytes)
{
    size_t first = from - from % PAGE, end = to + (PAGE - 1 - (to + PAGE - 1) % PAGE);

    if (!scroll->mapped || to - from < STEP || first < scroll->passed)
        return false;
    if (end > scroll->len)
        end = scroll->len;
    if (first > scroll->passed)
        tenon_mem_unmap(scroll->data + scroll->passed, first - scroll->passed);
    *out_pages = scroll->data + first;
    *out_bytes = end - first;
    scroll->passed = end;
    return true;
}

void tenon_scroll_release(struct tenon_scroll *scroll)
{
    if (scroll->mapped) {
        if (scroll->passed < scroll->len)
            tenon_mem_unmap(scroll->data + scroll->passed, scroll->len - scroll->passed);
    } else {
        ALLOW(scroll->data, scroll->len);
        tenon_mem_free(scroll->data);
    }
    *scroll = (struct tenon_scroll){0};
}
