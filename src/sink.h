/* Where bytes go: a set of files that appears whole or not at all.
 *
 * A file is written as ".NAME.PID.tmp" in the folder of its target, synced and closed. When all are
 * there, they get their names; those marked `last` (an index) after the others, which is when the
 * set counts as written. If that fails half-way, files that were replaced get their old bytes back
 * and new ones go away again. A process that is killed between two renames leaves a set in which
 * each single file is whole, old or new; the files it had put aside are ".NAME.PID.old" beside
 * them.
 *
 * A power cut does what a kill does: a name that is new leads to bytes that are on the disk, and
 * those marked `last` are new only where the names of all others are on the disk, too. Once the
 * commit has returned, the whole set is there for good.
 *
 * "-" is standard output; a FIFO or a character device is written to as it is, in order.
 *
 *   new -> add ... -> check -> (begin -> write ... -> end) ... -> commit -> free */
#ifndef TENON_SINK_H
#define TENON_SINK_H

#include <sys/types.h>

#include "source.h"
#include "tenon/plan.h"

struct tenon_sink;

struct tenon_sink_options {
    bool force;         /* replace what is there */
    bool no_sync;       /* no fsync */
    tenon_note_fn note; /* may be NULL */
    void *user;
};

/* An empty set with room for `n_files`. `options` is copied. */
enum tenon_status tenon_sink_new(size_t n_files, const struct tenon_sink_options *options,
                                 struct tenon_sink **out, struct tenon_error *err);

/* Makes `folder` and the folders above it that are missing. They are removed again when the set
 * does not come to be. */
enum tenon_status tenon_sink_make_folder(struct tenon_sink *sink, const char *folder,
                                         struct tenon_error *err);

/* Adds a target of `bytes` bytes; links are followed to what they point to. `path` is borrowed.
 * Nothing is written yet. Fails with IO, or MISUSE for a folder, a block device, a link into a
 * content-addressed store, and for a target that is already in the set. */
struct tenon_sink_target {
    const char *path;
    uint64_t bytes;
    bool last;
};
enum tenon_status tenon_sink_add(struct tenon_sink *sink, const struct tenon_sink_target *target,
                                 struct tenon_error *err);

/* Whether target `i` is that file now, under whatever name. */
bool tenon_sink_is(const struct tenon_sink *sink, size_t i, dev_t device, ino_t inode);

/* Allows target `i` to be replaced, whatever the options say. */
void tenon_sink_allow(struct tenon_sink *sink, size_t i);

/* True when bytes can only be written in order, and not be read back. */
bool tenon_sink_is_stream(const struct tenon_sink *sink, size_t i);

/* Refuses existing targets (EXISTS), and sets that do not fit the file system (IO, ENOSPC). Notes
 * unfinished files of processes that are gone, and hard links that will be broken. */
enum tenon_status tenon_sink_check(struct tenon_sink *sink, struct tenon_error *err);

/* Begins to write target `i`. One at a time. */
enum tenon_status tenon_sink_begin(struct tenon_sink *sink, size_t i, struct tenon_error *err);

/* `n` bytes at `off` of the target that was begun. Thread-safe; streams: in order. */
enum tenon_status tenon_sink_write(struct tenon_sink *sink, uint64_t off, const void *buf, size_t n,
                                   struct tenon_error *err);

/* Copies from a source without a look at the bytes, as far as the system can; the caller writes the
 * rest. Gives back how many bytes were copied. Thread-safe; not for streams. */
struct tenon_sink_copy {
    const struct tenon_source *source;
    uint64_t from, to, n;
};
uint64_t tenon_sink_copy(struct tenon_sink *sink, const struct tenon_sink_copy *copy);

/* `n` bytes at `off` of what was written to the target that was begun. Not for streams. */
enum tenon_status tenon_sink_read(struct tenon_sink *sink, uint64_t off, void *buf, size_t n,
                                  struct tenon_error *err);

/* Writes what was begun to the disk, so that reading back reads the disk. */
enum tenon_status tenon_sink_sync(struct tenon_sink *sink, struct tenon_error *err);

/* Ends the target that was begun: its size is checked, it is synced and closed. */
enum tenon_status tenon_sink_end(struct tenon_sink *sink, struct tenon_error *err);

/* Gives all files their names. */
enum tenon_status tenon_sink_commit(struct tenon_sink *sink, struct tenon_error *err);

/* After the commit: removes `path`, which belonged to what was replaced. What cannot be removed is
 * noted. */
void tenon_sink_remove(struct tenon_sink *sink, const char *path);

/* Removes what is unfinished, and everything else that a set without commit has made. Writes to the
 * disk that what tenon_sink_remove removed is gone. */
void tenon_sink_free(struct tenon_sink *sink);

/* Removes the unfinished files of all sets. Safe in a signal handler. */
void tenon_sink_abort(void);

#endif
