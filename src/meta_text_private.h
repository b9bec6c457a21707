/* What the two directions of metadata as text share. */
#ifndef TENON_META_TEXT_PRIVATE_H
#define TENON_META_TEXT_PRIVATE_H

#include "meta_text.h"

/* What JSON spells with a backslash and one letter, and those letters. */
#define TENON_META_SPECIALS "\"\\\b\f\n\r\t"
#define TENON_META_LETTERS  "\"\\bfnrt"

/* Bytes that grow. Zero-initialise; release with tenon_mem_free(data). */
struct tenon_meta_buffer {
    char *data;
    size_t n, room;
    bool failed; /* memory is gone; nothing more is added */
};

void tenon_meta_put(struct tenon_meta_buffer *b, const void *bytes, size_t n);

/* Whether a string of the pair is not UTF-8, so that all are spelled in digits. */
bool tenon_meta_needs_hex(const struct tenon_meta_entry *entry);

/* Adds key and value as texts, of a pair that is no string in UTF-8. */
void tenon_meta_spell(const struct tenon_meta_entry *typed, bool hex, struct tenon_meta_buffer *key,
                      struct tenon_meta_buffer *value);

/* Reads a pair of texts as the end of its key says, right or wrong, into `*out`, with what it needs
 * in `b`. False when the end of the key says nothing. */
bool tenon_meta_parse(struct tenon_meta_buffer *b, const struct tenon_meta_entry *text,
                      struct tenon_meta_entry *out);

#endif
