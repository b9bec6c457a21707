/* Making text from files harmless. */
#ifndef TENON_TEXT_H
#define TENON_TEXT_H

#include "tenon/text.h"

bool tenon_utf8_valid(const char *text, size_t len);

/* The value of a hexadecimal digit, -1 for anything else. */
int tenon_hex_digit(int c);

bool tenon_str_equal(struct tenon_str s, const char *text);

#endif
