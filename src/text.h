/* Making text from files harmless. */
#ifndef TENON_TEXT_H
#define TENON_TEXT_H

#include "tenon/text.h"

bool tenon_utf8_valid(const char *text, size_t len);

/* The value of a hexadecimal digit, -1 for anything else. */
int tenon_hex_digit(int c);

bool tenon_str_equal(struct tenon_str s, const char *text);

/* The order of bytes, a beginning before what it begins: below, equal to or above zero. */
int tenon_str_compare(struct tenon_str a, struct tenon_str b);

#endif
