/* Bytes to where they belong in the file that is being written, or compared with what lies there.
 */
#include <string.h>

#include "fail.h"
#include "plan_run.h"

void tenon_run_name(const struct tenon_run *run, uint64_t at, struct tenon_error *err)
{
    const struct tenon_plan *plan = run->plan;
    size_t first, n;

    if (err == NULL)
        return;
    tenon_plan_tensors_of(plan, run->file, &first, &n);
    for (size_t i = first; i < first + n; i++) {
        uint64_t offset = plan->tensors[i].offset;

        if (offset <= at && at - offset < tenon_plan_tensor_bytes(plan, i)) {
            struct tenon_str name = tenon_plan_name(plan, i);

            tenon_fail_subject(err, "tensor", name.data, name.len);
            return;
        }
    }
}

/* An error about the place of the first byte that differs. */
static enum tenon_status fail_differs(const unsigned char *a, const unsigned char *b, uint64_t off,
                                      struct tenon_error *err)
{
    while (*a == *b) {
        a++;
        b++;
        off++;
    }
    return tenon_fail(err, TENON_ERR_MISMATCH, off, "what was written is not what was planned");
}

static enum tenon_status compare(struct tenon_run *run, uint64_t off, const unsigned char *bytes,
                                 size_t n, unsigned char *own, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && n > 0) {
        size_t part = n < TENON_MAKE_BYTES ? n : TENON_MAKE_BYTES;

        st = tenon_sink_read(run->sink, off, own, part, err);
        if (st == TENON_OK && memcmp(own, bytes, part) != 0)
            st = fail_differs(own, bytes, off, err);
        bytes += part;
        off += part;
        n -= part;
    }
    return st;
}

enum tenon_status tenon_run_put(struct tenon_run *run, uint64_t off, const unsigned char *bytes,
                                size_t n, unsigned char *own, struct tenon_error *err)
{
    enum tenon_status st = run->comparing ? compare(run, off, bytes, n, own, err)
                                          : tenon_sink_write(run->sink, off, bytes, n, err);

    if (st != TENON_OK && err != NULL)
        tenon_run_name(run, st == TENON_ERR_MISMATCH ? err->offset : off, err);
    return st;
}

enum tenon_status tenon_run_put_zeros(struct tenon_run *run, uint64_t off, uint64_t n,
                                      const struct tenon_make_buffers *buffers,
                                      struct tenon_error *err)
{
    size_t most = n < TENON_MAKE_BYTES ? (size_t)n : TENON_MAKE_BYTES;
    enum tenon_status st = TENON_OK;

    memset(buffers->stored, 0, most);
    while (st == TENON_OK && n > 0) {
        size_t part = n < most ? (size_t)n : most;

        st = tenon_run_put(run, off, buffers->stored, part, buffers->values, err);
        off += part;
        n -= part;
    }
    return st;
}

/* Bytes to copy, of which some from `done` on could not be read. */
static void name_unread(const struct tenon_run *run, const struct tenon_sink_copy *copy,
                        uint64_t done, struct tenon_error *err)
{
    if (err != NULL && err->offset != TENON_NO_OFFSET)
        done = err->offset - copy->from;
    tenon_run_name(run, copy->to + done, err);
}

/* By the system as far as it goes, the rest by hand. */
enum tenon_status tenon_run_put_source(struct tenon_run *run, const struct tenon_sink_copy *copy,
                                       const struct tenon_make_buffers *buffers,
                                       struct tenon_error *err)
{
    uint64_t done = run->comparing || run->stream ? 0 : tenon_sink_copy(run->sink, copy);
    enum tenon_status st = TENON_OK;

    while (st == TENON_OK && done < copy->n) {
        uint64_t left = copy->n - done;
        size_t part = left < TENON_MAKE_BYTES ? (size_t)left : TENON_MAKE_BYTES;

        st = tenon_source_read(copy->source, copy->from + done, buffers->stored, part, err);
        if (st == TENON_OK)
            st = tenon_run_put(run, copy->to + done, buffers->stored, part, buffers->values, err);
        else
            name_unread(run, copy, done, err);
        done += part;
    }
    return st;
}

enum tenon_status tenon_run_read_source(const struct tenon_run *run,
                                        const struct tenon_sink_copy *copy, unsigned char *out,
                                        struct tenon_error *err)
{
    enum tenon_status st = tenon_source_read(copy->source, copy->from, out, (size_t)copy->n, err);

    if (st != TENON_OK)
        name_unread(run, copy, 0, err);
    return st;
}
