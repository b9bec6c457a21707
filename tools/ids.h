/* Lists of token ids as people write them. */
#ifndef TENON_TOOLS_IDS_H
#define TENON_TOOLS_IDS_H

#include "tenon/error.h"

/* Sequences one after another. Zero-initialise; `rows` is the number that ids must stay below,
 * `matrix` the file of those rows, for errors about ids that came with the command (may be NULL).
 */
struct tenon_ids {
    uint64_t rows;
    const char *matrix;
    uint64_t *ids;
    size_t n, capacity;
    size_t *ends; /* where each sequence ends in `ids` */
    size_t n_sequences, sequence_capacity;
};

/* Adds one sequence: numbers and ranges a-b, separated by blanks, tabs or commas. A text without
 * any adds nothing. `line` (0: none) is named in errors. Fails with MISUSE or NO_MEMORY. */
TENON_MUST_USE enum tenon_status tenon_ids_add(struct tenon_ids *ids, const char *text, size_t line,
                                               struct tenon_error *err);

/* Adds one sequence for each line of a file, or of standard input for "-". */
TENON_MUST_USE enum tenon_status tenon_ids_read(struct tenon_ids *ids, const char *path,
                                                struct tenon_error *err);

void tenon_ids_release(struct tenon_ids *ids);

#endif
