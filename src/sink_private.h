/* What a set of targets is made of; for sink*.c only. */
#ifndef TENON_SINK_PRIVATE_H
#define TENON_SINK_PRIVATE_H

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>

#include "sink.h"

/* Folders that one set may make. */
#define TENON_SINK_FOLDERS 64

enum tenon_sink_kind { TENON_SINK_FILE = 0, TENON_SINK_STREAM = 1 };

/* What lies in the folder under a name of ours. */
enum tenon_sink_state {
    TENON_SINK_NOTHING = 0,
    TENON_SINK_TEMP = 1,  /* the temporary file, or it is about to be made */
    TENON_SINK_NAMED = 2, /* the target is the new file */
};

struct tenon_sink_file {
    const char *path; /* as the user named it; borrowed */
    char *resolved;   /* with links followed */
    const char *name; /* the last component of it */
    char *temp, *aside;
    size_t folder;
    enum tenon_sink_kind kind;
    bool last, may_replace;
    bool exists; /* and then: */
    dev_t device;
    ino_t inode;
    mode_t mode;
    uid_t owner;
    gid_t group;
    uint64_t links;
    uint64_t bytes;
    bool complete;   /* ended */
    bool kept_aside; /* the file that was replaced has a second name, `aside` */
    atomic_int state;
};

/* Folders stay open, so that a set lands where it began even when one of them is moved. */
struct tenon_sink_folder {
    char *path;
    int fd;
    dev_t device;
    ino_t inode;
};

struct tenon_sink {
    struct tenon_sink_options options;
    struct tenon_sink_file *files;
    size_t n_files, room;
    struct tenon_sink_folder *folders;
    size_t n_folders, folder_room;
    char *made[TENON_SINK_FOLDERS]; /* folders that were made, outermost first */
    size_t n_made;
    size_t slot;    /* in the table of running sets */
    size_t current; /* the target that was begun */
    int fd;         /* its descriptor, or -1 */
    uint64_t streamed;
    atomic_bool no_copy; /* copy_file_range does not work between these files */
    bool committed;
    bool removed; /* something was, since */
};

/* Follows links, opens the folder, looks at what is there (sink_target.c). */
enum tenon_status tenon_sink_resolve(struct tenon_sink *sink, struct tenon_sink_file *file,
                                     struct tenon_error *err);

/* Writes to the disk which names the folders hold, but with the option no_sync. */
enum tenon_status tenon_sink_sync_folders(const struct tenon_sink *sink, struct tenon_error *err);

/* Notes files that processes which are gone have left beside the targets. */
void tenon_sink_note_stale(const struct tenon_sink *sink);

/* ".NAME.PID.WHAT" for a target, or with a number after PID when `number` is not 0; long names are
 * cut. To be freed with tenon_mem_free; NULL when memory is gone. */
char *tenon_sink_name_beside(const char *name, const char *what, unsigned number);

/* Keeps signal handlers out of this thread, while names on the disk and what we note about them do
 * not agree. */
void tenon_sink_hold_signals(sigset_t *old);
void tenon_sink_let_signals(const sigset_t *old);

/* Tells the caller something. */
TENON_PRINTF(2, 3) void tenon_sink_note(const struct tenon_sink *sink, const char *format, ...);

/* An error about a target. */
TENON_PRINTF(4, 5)
enum tenon_status tenon_sink_fail(const struct tenon_sink_file *file, int error,
                                  struct tenon_error *err, const char *format, ...);

#endif
