/* safetensors files with headers of every style that a reader takes: random, from a seed. */
#ifndef TENON_TESTS_ODD_HEADER_H
#define TENON_TESTS_ODD_HEADER_H

#include "gen.h"

/* Adds a file to `out`. It has 0 to 9 tensors in any order, with or without metadata, blanks in
 * front, behind and between, additional fields, escapes, and any padding. */
void odd_header_make(struct gen_bytes *out, uint64_t seed);

#endif
