/* An output file that appears whole or not at all: written under another name in the target
 * folder, synced, then renamed. */
#ifndef TENON_TOOLS_SAVE_H
#define TENON_TOOLS_SAVE_H

#include "out.h"
#include "tenon/error.h"

/* Zero-initialise. */
struct tenon_save {
    struct tenon_out out; /* write to this */
    char *path;           /* the target, links resolved */
    char *temp;           /* the name it has until it is whole */
    bool force, begun;
    int mode; /* of the file that is replaced; -1: a new one */
};

/* Begins to write `path`. Without `force` an existing file is refused (EXISTS); what is there and
 * is no regular file is refused in any case. Fails with IO or NO_MEMORY. One at a time. */
TENON_MUST_USE enum tenon_status tenon_save_begin(struct tenon_save *save, const char *path,
                                                  bool force, struct tenon_error *err);

/* Makes it appear: writes what is buffered, syncs, renames, syncs the folder. On failure the
 * target is as before. */
TENON_MUST_USE enum tenon_status tenon_save_commit(struct tenon_save *save,
                                                   struct tenon_error *err);

/* Removes the unfinished file, if there is one, and frees everything. Always call it. */
void tenon_save_release(struct tenon_save *save);

/* Removes the unfinished file of whichever save is going on. Safe in a signal handler. */
void tenon_save_abort(void);

#endif
