/* A text that is read once, from its first byte to its last, and given back on the way: what is
 * made of it need not stand beside the whole of it. */
#ifndef TENON_SCROLL_H
#define TENON_SCROLL_H

#include "mem.h"

/* Zero-initialise. The caller fills `data` and may change it. */
struct tenon_scroll {
    char *data;
    size_t len;
    size_t passed; /* bytes before that are gone */
    bool mapped;
};

/* Room for `len` bytes. False when memory is gone. */
bool tenon_scroll_new(struct tenon_scroll *scroll, size_t len);

/* Says that the bytes before `place` will not be read again. A large text loses them, a little
 * later; `place` never goes back. */
void tenon_scroll_pass(struct tenon_scroll *scroll, size_t place);

/* Takes the pages that hold the bytes from `from` to `to`, not passed yet, out of the text: they
 * stay when the rest goes, and those before them go. False where that is not worth it, or not
 * possible: nothing has changed then. Else the caller gives `*out_bytes` bytes at `*out_pages` to
 * tenon_mem_unmap in the end. */
bool tenon_scroll_keep(struct tenon_scroll *scroll, size_t from, size_t to, void **out_pages,
                       size_t *out_bytes);

void tenon_scroll_release(struct tenon_scroll *scroll);

#endif
