/* What probes share: looking at the first bytes and the name of a file. Pure; nothing here reads
 * outside the probe's bytes, however few they are. */
#ifndef TENON_FORMATS_PROBE_H
#define TENON_FORMATS_PROBE_H

#include "format.h"

/* Whether the `n` bytes at `magic` stand at offset `off`. */
bool tenon_probe_has(const struct tenon_probe *probe, size_t off, const void *magic, size_t n);

/* The same for a string literal, without its terminator. */
#define TENON_PROBE_HAS(probe, off, literal)                                                       \
    tenon_probe_has((probe), (off), (literal), sizeof(literal) - 1)

/* The offset of the first `n` bytes like `needle`, or probe->n when there are none. */
size_t tenon_probe_find(const struct tenon_probe *probe, const void *needle, size_t n);

/* The offset of the first byte that is no blank (after a UTF-8 byte order mark, too). */
size_t tenon_probe_text_start(const struct tenon_probe *probe);

/* Whether `text` stands at `off`, ignoring ASCII case; `text` must be lower case. */
bool tenon_probe_has_nocase(const struct tenon_probe *probe, size_t off, const char *text);

/* Little-endian integers; 0 where the bytes end before. */
uint16_t tenon_probe_u16(const struct tenon_probe *probe, size_t off);
uint32_t tenon_probe_u32(const struct tenon_probe *probe, size_t off);

/* The name of a zip archive's first member: its length, or 0 when this is no zip archive. */
size_t tenon_probe_zip_member(const struct tenon_probe *probe, const char **out_name);

/* Whether `name` is that of a piece of a file cut into bytes: x.gguf.part1of2, x.gguf.00,
 * x.gguf-split-a. */
bool tenon_name_is_raw_part(const char *name);

/* Whether `text` of `n` bytes ends with `suffix`. */
bool tenon_text_ends_with(const char *text, size_t n, const char *suffix);

#endif
