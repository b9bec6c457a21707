/* How metadata values are packed in GGUF files: shared by the reader and the iterator. */
#ifndef TENON_META_PACKED_H
#define TENON_META_PACKED_H

#include "tenon/meta.h"

/* Bytes of one packed element; 0 for strings, arrays and types that do not exist. */
uint32_t tenon_meta_type_bytes(enum tenon_meta_type type);

/* Decodes one fixed-size value at `p` (tenon_meta_type_bytes of it must be there). Strings and
 * arrays only set the type. */
void tenon_meta_decode(struct tenon_meta_value *out, enum tenon_meta_type type,
                       const unsigned char *p, bool swapped);

#endif
