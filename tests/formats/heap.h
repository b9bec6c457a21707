/* Counts what the program under test takes from the heap and in pages of its own: the linker sends
 * malloc, mmap and their kin here (-Wl,--wrap). Allocations made inside shared libraries are not
 * seen. */
#ifndef TENON_TESTS_HEAP_H
#define TENON_TESTS_HEAP_H

#include <stddef.h>

/* Forgets the peak. */
void heap_start(void);

/* The most bytes in use at once since heap_start, less what was in use then. */
size_t heap_peak(void);

#endif
