#include "window.h"

#include <string.h>

static void hand_on(struct tenon_window *window, const void *bytes, size_t n)
{
    if (window->st == TENON_OK && n > 0)
        window->st = window->put(window->user, bytes, n, window->err);
}

/* As many of `n` bytes as there is room for, of which at least one is left afterwards. */
static size_t make_room(struct tenon_window *window, uint64_t n)
{
    size_t left;

    if (window->used == window->room) {
        hand_on(window, window->bytes, window->used);
        window->used = 0;
    }
    left = window->room - window->used;
    return n < left ? (size_t)n : left;
}

void tenon_window_put(struct tenon_window *window, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;

    window->n += n;
    while (window->put != NULL && n > 0) {
        size_t part = make_room(window, n);

        memcpy(window->bytes + window->used, from, part);
        window->used += part;
        from += part;
        n -= part;
    }
}

void tenon_window_fill(struct tenon_window *window, unsigned char byte, uint64_t n)
{
    window->n += n;
    while (window->put != NULL && n > 0) {
        size_t part = make_room(window, n);

        memset(window->bytes + window->used, byte, part);
        window->used += part;
        n -= part;
    }
}

enum tenon_status tenon_window_end(struct tenon_window *window)
{
    if (window->put != NULL)
        hand_on(window, window->bytes, window->used);
    window->used = 0;
    return window->st;
}
