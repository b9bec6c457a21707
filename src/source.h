/* Where bytes come from: a file or memory. Nothing above this knows which. */
#ifndef TENON_SOURCE_H
#define TENON_SOURCE_H

#include <sys/types.h>

#include "tenon/error.h"

struct tenon_source;

/* Files that sources keep open at the same time. When there are more, one that nobody reads just
 * now is closed, and opened again by its path when it is needed. */
#define TENON_SOURCE_OPEN 48

/* Opens a regular file for positioned reads (links are followed). FIFOs, sockets, devices and
 * directories are refused without blocking. `path` is copied. */
enum tenon_status tenon_source_open_file(const char *path, struct tenon_source **out,
                                         struct tenon_error *err);

/* Bytes in memory, borrowed. */
enum tenon_status tenon_source_open_memory(const void *bytes, size_t n, const char *path,
                                           struct tenon_source **out, struct tenon_error *err);

void tenon_source_free(struct tenon_source *source);

uint64_t tenon_source_size(const struct tenon_source *source); /* when it was opened */
const char *tenon_source_path(const struct tenon_source *source);

bool tenon_source_in_memory(const struct tenon_source *source);

/* Which file it is, whatever its name is now. False, nothing written, for memory. */
bool tenon_source_identity(const struct tenon_source *source, dev_t *out_device, ino_t *out_inode);

/* Whether the file still has the size and the time of its last change that it had when it was
 * opened. Fails with TRUNCATED when it became shorter, MISMATCH when it changed otherwise. Never
 * for memory. */
enum tenon_status tenon_source_unchanged(const struct tenon_source *source,
                                         struct tenon_error *err);

/* The descriptor into `*out_fd`, open until it is let go. Thread-safe. Fails with MISUSE for
 * memory, and with IO, NOT_FOUND or MISMATCH when the file was closed and cannot be opened again.
 */
enum tenon_status tenon_source_hold(const struct tenon_source *source, int *out_fd,
                                    struct tenon_error *err);
void tenon_source_let_go(const struct tenon_source *source);

/* As tenon_source_read, through the descriptor `fd` that the caller holds (any number for memory):
 * for many small reads, which would otherwise each take hold of it, threads in each other's way. */
enum tenon_status tenon_source_read_held(const struct tenon_source *source, int fd, uint64_t off,
                                         void *buf, size_t n, struct tenon_error *err);

/* Exactly `n` bytes at `off`. TRUNCATED where the source ends before (also when it shrank since
 * it was opened), IO when the system refused. Thread-safe. */
enum tenon_status tenon_source_read(const struct tenon_source *source, uint64_t off, void *buf,
                                    size_t n, struct tenon_error *err);

/* Up to `n` bytes at `off`; `*out_n` says how many, fewer only at the end of the source. */
enum tenon_status tenon_source_read_some(const struct tenon_source *source, uint64_t off, void *buf,
                                         size_t n, size_t *out_n, struct tenon_error *err);

/* The whole source into fresh memory (tenon_mem_free), with a terminating NUL that `*out_n` does
 * not count. LIMIT when it is larger than `limit`. */
enum tenon_status tenon_source_slurp(const struct tenon_source *source, uint64_t limit, char **out,
                                     size_t *out_n, struct tenon_error *err);

#endif
