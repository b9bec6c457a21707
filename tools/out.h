/* Buffered output that remembers its first failure: write everything, then ask once. */
#ifndef TENON_TOOLS_OUT_H
#define TENON_TOOLS_OUT_H

#include "tenon/api.h"

/* Zero-initialise through tenon_out_init. After a failed write nothing more is written. */
struct tenon_out {
    char *buf;
    size_t used, capacity;
    uint64_t total; /* bytes accepted so far */
    int fd;         /* -1: everything stays in `buf` */
    bool sums;      /* `sum` is kept */
    uint32_t sum;   /* CRC-32 of what was accepted since it was last set to 0 */
    int error;      /* errno of the first failure, ENOMEM included; 0 when there was none */
};

/* Output to a file descriptor, which stays the caller's, or to memory (`fd` -1). */
void tenon_out_init(struct tenon_out *out, int fd);
void tenon_out_release(struct tenon_out *out);

void tenon_out_write(struct tenon_out *out, const void *bytes, size_t n);
void tenon_out_text(struct tenon_out *out, const char *text);
TENON_PRINTF(2, 3) void tenon_out_printf(struct tenon_out *out, const char *format, ...);

/* Text that is not ours, with everything unsafe escaped as tenon_text_sanitise does. */
void tenon_out_safe(struct tenon_out *out, const char *text, size_t len);

/* `text` wrapped to `width` columns, lines after the first indented by `indent`; 0: unwrapped.
 * The text begins at column `column` and ends with a newline. */
void tenon_out_wrapped(struct tenon_out *out, const char *text, unsigned column, unsigned indent,
                       unsigned width);

/* The lower-case hexadecimal form of a 128-bit hash, 32 digits. */
void tenon_out_hash(struct tenon_out *out, uint64_t high, uint64_t low);

/* Hands everything to the system. False when this or an earlier write failed (`out->error`). */
bool tenon_out_flush(struct tenon_out *out);

/* `value` for printf: which sign a NaN has depends on the processor, and means nothing. */
double tenon_out_real(double value);

/* The shortest decimal form that reads back as the same double; "NaN", "Infinity" and
 * "-Infinity" for the others. `buf` holds 32 bytes. `single`: the same float32 is enough. */
char *tenon_out_number(char *buf, double value, bool single);

/* "1,234,567": for people. `buf` holds 32 bytes. */
char *tenon_out_grouped(char *buf, uint64_t value);

/* "1.35 GB", "928 B"; "671 M", "1.10 B": for people. `buf` holds 32 bytes. */
char *tenon_out_bytes(char *buf, uint64_t bytes);
char *tenon_out_count(char *buf, uint64_t count);

#endif
