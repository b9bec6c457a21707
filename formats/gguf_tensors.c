/* The tensor records of a GGUF header. */
#include "gguf.h"

#include <inttypes.h>
#include <string.h>

#include "fail.h"
#include "text.h"

/* Where the loader wants the next payload: directly behind the last one, padded. */
struct expectation {
    bool known;
    uint64_t data_off;
    uint64_t n_gaps, n_steps_back; /* how often that was not so */
    size_t first_gap, first_back;  /* the tensors where it began */
    uint64_t gap_bytes;
};

static enum tenon_status read_record(struct tenon_gguf *g, struct tenon_gguf_record *out,
                                     struct tenon_error *err)
{
    struct tenon_cursor *c = &g->cursor;
    enum tenon_status st;
    uint64_t count_off;
    uint32_t most = g->limits->dims < TENON_GGUF_MAX_DIMS ? g->limits->dims : TENON_GGUF_MAX_DIMS;

    out->offset = tenon_cursor_offset(c);
    st = tenon_gguf_pass_string(g, &out->name_off, &out->name_len, err);
    if (st != TENON_OK)
        return st;
    count_off = tenon_cursor_offset(c);
    out->n_dims = tenon_cursor_u32(c);
    if (out->n_dims > most)
        st = tenon_fail(err, TENON_ERR_LIMIT, count_off, "%u dimensions, at most %u are allowed",
                        (unsigned)out->n_dims, (unsigned)most);
    else /* fits: at most 64 dimensions */
        out->dims_off = tenon_cursor_skip(c, out->n_dims * g->length_bytes);
    out->type = tenon_cursor_u32(c);
    out->data_off = tenon_cursor_u64(c);
    if (st == TENON_OK && !tenon_cursor_ok(c))
        st = tenon_cursor_fail(c, err);
    if (st != TENON_OK)
        tenon_fail_subject(err, "tensor", (const char *)tenon_cursor_at(c, out->name_off),
                           (size_t)out->name_len);
    return st;
}

enum tenon_status tenon_gguf_pass_records(struct tenon_gguf *g, struct tenon_error *err)
{
    struct tenon_gguf_record record = {0};
    enum tenon_status st = TENON_OK;

    g->records_off = tenon_cursor_offset(&g->cursor);
    for (uint64_t i = 0; st == TENON_OK && i < g->declared_tensors; i++) {
        tenon_cursor_forget(&g->cursor);
        st = read_record(g, &record, err);
    }
    g->end = tenon_cursor_offset(&g->cursor);
    return st;
}

static struct tenon_str record_name(const struct tenon_gguf *g, const struct tenon_gguf_record *r)
{
    return (struct tenon_str){(const char *)tenon_cursor_at(&g->cursor, r->name_off),
                              (size_t)r->name_len};
}

/* Dims stand innermost first; ours is the outermost. */
static void load_dims(const struct tenon_gguf *g, const struct tenon_gguf_record *r,
                      uint64_t dims[TENON_GGUF_MAX_DIMS])
{
    const unsigned char *p = tenon_cursor_at(&g->cursor, r->dims_off);

    for (uint32_t i = 0; i < r->n_dims; i++) {
        dims[r->n_dims - 1 - i] = g->length_bytes == 4 ? tenon_load_u32(p, g->cursor.swapped)
                                                       : tenon_load_u64(p, g->cursor.swapped);
        p += g->length_bytes;
    }
}

static enum tenon_status check_name(struct tenon_gguf *g, const struct tenon_gguf_record *r,
                                    struct tenon_error *err)
{
    struct tenon_str name = record_name(g, r);

    if (name.len == 0)
        return tenon_gguf_find_fault(g, err, "name_empty", r->offset, name,
                                     "a tensor without a name");
    if (memchr(name.data, '\0', name.len) != NULL)
        return tenon_gguf_find_fault(g, err, "nul_in_name", r->offset, name,
                                     "the loader takes the name to end at its first NUL");
    if (!tenon_utf8_valid(name.data, name.len))
        return tenon_gguf_find_fault(g, err, "name_not_utf8", r->offset, name,
                                     "the name is not UTF-8");
    if (name.len >= TENON_GGUF_LOADER_NAME_BYTES)
        return tenon_gguf_find_fault(g, err, "name_too_long", r->offset, name,
                                     "a name of %zu bytes, the loader takes at most %d", name.len,
                                     TENON_GGUF_LOADER_NAME_BYTES - 1);
    return TENON_OK;
}

static enum tenon_status check_type(struct tenon_gguf *g, const struct tenon_gguf_record *r,
                                    struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(tenon_dtype_from_gguf(r->type));

    if (info == NULL)
        return tenon_gguf_find_fault(g, err, "unknown_dtype", r->offset, record_name(g, r),
                                     "element type %u is not known", (unsigned)r->type);
    if (info->family == TENON_DTYPE_FAMILY_removed)
        return tenon_gguf_find_fault(g, err, "dtype_removed", r->offset, record_name(g, r),
                                     "element type %u, %s, was removed from the format",
                                     (unsigned)r->type, info->name);
    return TENON_OK;
}

/* What is odd about a record but does not stop us. */
static enum tenon_status check_record(struct tenon_gguf *g, const struct tenon_gguf_record *r,
                                      struct tenon_error *err)
{
    enum tenon_status st = check_name(g, r, err);

    if (st == TENON_OK)
        st = check_type(g, r, err);
    if (st == TENON_OK && r->n_dims > TENON_GGUF_LOADER_DIMS)
        st = tenon_gguf_find_fault(g, err, "many_dims", r->offset, record_name(g, r),
                                   "%u dimensions, the loader takes at most %d",
                                   (unsigned)r->n_dims, TENON_GGUF_LOADER_DIMS);
    if (st == TENON_OK && r->data_off % g->alignment != 0)
        st = tenon_gguf_find_fault(g, err, "tensor_unaligned", r->offset, record_name(g, r),
                                   "begins at %" PRIu64
                                   ", which is no multiple of the alignment %" PRIu64,
                                   r->data_off, g->alignment);
    return st;
}

static enum tenon_status add_tensor(struct tenon_gguf *g, const struct tenon_gguf_record *r,
                                    struct tenon_error *err)
{
    uint64_t dims[TENON_GGUF_MAX_DIMS];
    struct tenon_tensor t = {.name = record_name(g, r),
                             .dims = dims,
                             .record_offset = r->offset,
                             .n_dims = (uint8_t)r->n_dims,
                             .file = (uint16_t)g->file,
                             .dtype_raw = r->type,
                             .dtype = (uint8_t)tenon_dtype_from_gguf(r->type),
                             .flags = g->cursor.swapped ? TENON_TENSOR_BIG_ENDIAN : 0};

    load_dims(g, r, dims);
    if (!tenon_u64_add(&t.offset, g->data_start, r->data_off)) {
        tenon_fail(err, TENON_ERR_CORRUPT, r->offset, "its start does not fit 64 bits");
        tenon_fail_subject(err, "tensor", t.name.data, t.name.len);
        return TENON_ERR_CORRUPT;
    }
    return tenon_model_add_tensor(g->model, &t, err);
}

/* Compares the place of tensor `i` of the file with where the loader expects it. Each departure
 * counts once: what follows is measured from the new place. */
static void follow_layout(const struct tenon_gguf *g, size_t i, struct expectation *e)
{
    const struct tenon_tensor *t = tenon_model_tensor(g->model, g->first_tensor + i);
    uint64_t off = t->offset - g->data_start, end;

    if (e->known && off > e->data_off && e->n_gaps++ == 0) {
        e->first_gap = i;
        e->gap_bytes = off - e->data_off;
    }
    if (e->known && off < e->data_off && e->n_steps_back++ == 0)
        e->first_back = i;
    e->known = (t->flags & TENON_TENSOR_SIZE_UNKNOWN) == 0 && tenon_u64_add(&end, off, t->bytes) &&
               tenon_u64_align(&e->data_off, end, g->alignment);
}

static enum tenon_status report_layout(struct tenon_gguf *g, const struct expectation *e,
                                       struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;
    const struct tenon_tensor *t;

    if (e->n_gaps != 0) {
        t = tenon_model_tensor(g->model, g->first_tensor + e->first_gap);
        st = tenon_gguf_find_fault(g, err, "gap", t->record_offset, t->name,
                                   "%" PRIu64 " unused bytes before it, and %" PRIu64
                                   " more such gaps: the loader takes none",
                                   e->gap_bytes, e->n_gaps - 1);
    }
    if (st == TENON_OK && e->n_steps_back != 0) {
        t = tenon_model_tensor(g->model, g->first_tensor + e->first_back);
        st = tenon_gguf_find_fault(g, err, "out_of_order", t->record_offset, t->name,
                                   "lies before the end of the tensor listed before it (%" PRIu64
                                   " in all): the loader takes tensors in order only",
                                   e->n_steps_back);
    }
    return st;
}

enum tenon_status tenon_gguf_add_tensors(struct tenon_gguf *g, struct tenon_error *err)
{
    struct expectation e = {.known = true};
    struct tenon_gguf_record record = {0};
    enum tenon_status st = TENON_OK;

    tenon_cursor_rewind(&g->cursor, g->records_off);
    for (size_t i = 0; st == TENON_OK && i < g->declared_tensors; i++) {
        tenon_cursor_forget(&g->cursor);
        st = read_record(g, &record, err);
        if (st == TENON_OK)
            st = check_record(g, &record, err);
        if (st == TENON_OK)
            st = add_tensor(g, &record, err);
        if (st == TENON_OK)
            follow_layout(g, i, &e);
    }
    if (st == TENON_OK && tenon_cursor_offset(&g->cursor) != g->end)
        st = tenon_fail(err, TENON_ERR_MISMATCH, g->records_off,
                        "the file changed while its header was read");
    return st == TENON_OK ? report_layout(g, &e, err) : st;
}
