/* What a run did to a folder, and what may be left of it when the power goes meanwhile.
 *
 * A model of a file system that promises no more than POSIX: bytes of a file, its size and its mode
 * are on the disk after a sync of that file, names after a sync of the folder they are in. Anything
 * else may be there or not, each page of each write and each name for itself, in whatever order. A
 * rename is there whole or not at all. After a sync that failed, what it was to write may never
 * come to be, whatever later syncs say. */
#ifndef TENON_TESTS_POWER_LOG_H
#define TENON_TESTS_POWER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct power_log;

/* Reads what is in `folder` and below, and writes down what is done to it from now on, until the
 * end. One at a time. */
struct power_log *power_log_begin(const char *folder);
void power_log_end(struct power_log *log);
void power_log_free(struct power_log *log);

/* Operations. The power can go after 0, 1, ... or all of them. */
size_t power_log_length(const struct power_log *log);

/* True when something was done that a run must not do: a file opened for writing that was there. */
bool power_log_is_rude(const struct power_log *log);

/* As if nobody had called the syncs of files, or of folders: shows that they matter. */
void power_log_forget_syncs(struct power_log *log, bool folders);

/* What is on the disk when the power comes back. */
struct power_state;

/* Tells `look` of what can be left when the power goes after `at` operations: everything, if those
 * are no more than `most` states, or else some of them. Returns how many. */
typedef void (*power_look_fn)(struct power_state *state, void *user);
size_t power_log_cut(const struct power_log *log, size_t at, size_t most, power_look_fn look,
                     void *user);

/* False when there is no file of that path. The bytes are there until the next call. */
struct power_file {
    const unsigned char *bytes;
    size_t n;
    mode_t mode;
};
bool power_state_read(struct power_state *state, const char *path, struct power_file *out);

/* The names in all folders, one after the other: NULL after the last. `was_there` says that the
 * name led to the same file or folder in the beginning. */
const char *power_state_name(const struct power_state *state, size_t i, bool *was_there);

/* The names there were in the beginning. */
size_t power_log_names(const struct power_log *log);

#endif
