/* Laying out GGUF files: the header's bytes, and where every payload goes. The picture of the file
 * stands in gguf.c.
 *
 * A new file is what the `gguf` package and llama.cpp write: version 3, payloads in the order of
 * the records, each padded to the alignment, the last one, too. An edited copy (`like`) keeps the
 * places, gaps and the end of the file it was made from. */
#include "gguf_write.h"

#include <inttypes.h>
#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "gguf.h"
#include "names.h"
#include "quant.h"
#include "text.h"

#define NEWEST_VERSION 3
#define OLDEST_VERSION 2 /* version 1 is not written: nothing reads it any more */

/* --- putting bytes --- */

void tenon_gguf_put(struct tenon_gguf_out *out, const void *bytes, uint64_t n)
{
    tenon_window_put(out->window, bytes, (size_t)n); /* fits: so many bytes are in memory */
}

void tenon_gguf_put_int(struct tenon_gguf_out *out, uint64_t value, unsigned width)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < width; i++)
        bytes[out->swapped ? width - 1 - i : i] = (unsigned char)(value >> (8 * i));
    tenon_gguf_put(out, bytes, width);
}

void tenon_gguf_put_string(struct tenon_gguf_out *out, struct tenon_str str)
{
    tenon_gguf_put_int(out, str.len, 8);
    tenon_gguf_put(out, str.data, str.len);
}

static uint32_t type_number(const struct tenon_plan_tensor *t)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(t->dtype);

    return info != NULL ? (uint32_t)info->gguf_id : t->dtype_raw; /* fits: checked before */
}

static void put_record(struct tenon_gguf_out *out, const struct tenon_plan_tensor *t,
                       uint64_t place)
{
    tenon_gguf_put_string(out, t->name);
    tenon_gguf_put_int(out, t->n_dims, 4);
    for (uint32_t d = t->n_dims; d > 0; d--)
        tenon_gguf_put_int(out, t->dims[d - 1], 8);
    tenon_gguf_put_int(out, type_number(t), 4);
    tenon_gguf_put_int(out, place, 8);
}

/* The header of a file of the plan. While it is measured nothing has its offset yet, but all
 * numbers are as wide as they will be. */
static enum tenon_status put_header(const struct tenon_plan *plan, uint32_t file, const void *state,
                                    struct tenon_window *to)
{
    const struct tenon_plan_file *f = &plan->files[file];
    struct tenon_gguf_out out = {.window = to, .swapped = f->big_endian};
    uint64_t start = 0;
    size_t first, n;

    (void)state;
    tenon_plan_tensors_of(plan, file, &first, &n);
    if (!tenon_u64_align(&start, f->head_bytes, f->alignment))
        return tenon_fail(to->err, TENON_ERR_MISUSE, TENON_NO_OFFSET, "the layout does not hold");
    tenon_gguf_put(&out, "GGUF", 4);
    tenon_gguf_put_int(&out, f->version, 4);
    tenon_gguf_put_int(&out, n, 8);
    tenon_gguf_put_int(&out, f->n_metas, 8);
    for (size_t i = 0; i < f->n_metas; i++)
        tenon_gguf_put_pair(&out, &f->metas[i]);
    for (size_t i = 0; to->st == TENON_OK && i < n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, first + i);

        put_record(&out, &t, t.offset - start);
    }
    return to->st;
}

/* --- what can be written --- */

static enum tenon_status fail_tensor(const struct tenon_plan_tensor *t, enum tenon_status st,
                                     struct tenon_error *err)
{
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    return st;
}

/* Whether the tensor is written as a GGUF file has it already. */
static bool is_copy_of_gguf(const struct tenon_plan *plan, const struct tenon_plan_tensor *t)
{
    const struct tenon_plan_source *source = tenon_plan_sources(t);

    return t->n_sources == 1 && source->model != NULL && tenon_plan_tensor_is_copy(plan, t) &&
           strcmp(tenon_model_file(source->model, source->tensor->file)->format,
                  tenon_format_gguf.info.name) == 0;
}

/* What the reader lets through, a copy may have, too. */
static enum tenon_status check_shape(const struct tenon_gguf_layout *l,
                                     const struct tenon_plan_tensor *t, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(t->dtype);
    uint64_t row = t->n_dims != 0 ? t->dims[t->n_dims - 1] : 1;

    if (t->n_dims > TENON_GGUF_LOADER_DIMS && !is_copy_of_gguf(l->plan, t)) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "%" PRIu32 " dimensions, the loader takes at most %d", t->n_dims,
                   TENON_GGUF_LOADER_DIMS);
        return fail_tensor(t, TENON_ERR_CANNOT_REPRESENT, err);
    }
    if (info != NULL && info->block_elements > 1 && row % info->block_elements != 0) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "rows of %" PRIu64 " are not whole blocks of %s, which have %" PRIu32, row,
                   info->name, info->block_elements);
        return fail_tensor(t, TENON_ERR_CANNOT_REPRESENT, err);
    }
    return TENON_OK;
}

static enum tenon_status check_type(const struct tenon_gguf_layout *l,
                                    const struct tenon_plan_tensor *t, struct tenon_error *err)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(t->dtype);

    if (info != NULL && info->gguf_id < 0) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "GGUF has no type %s",
                   info->name);
        return fail_tensor(t, TENON_ERR_CANNOT_REPRESENT, err);
    }
    if ((info == NULL || info->block_bytes == 0) && !is_copy_of_gguf(l->plan, t)) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "%s cannot be written, only copied from a GGUF file",
                   info != NULL ? info->name : "an element type that is not known");
        return fail_tensor(t, TENON_ERR_CANNOT_REPRESENT, err);
    }
    return TENON_OK;
}

/* Whether some source has its payload in the other byte order. */
static bool crosses_order(const struct tenon_plan_file *file, const struct tenon_plan_tensor *t)
{
    for (size_t i = 0; i < t->n_sources; i++)
        if (tenon_plan_sources(t)[i].model != NULL &&
            ((tenon_plan_sources(t)[i].tensor->flags & TENON_TENSOR_BIG_ENDIAN) != 0) !=
                file->big_endian)
            return true;
    return false;
}

/* Payloads are turned around field by field, where it is agreed what the fields are. */
static enum tenon_status check_order(const struct tenon_gguf_layout *l,
                                     const struct tenon_plan_tensor *t, struct tenon_error *err)
{
    if (!crosses_order(l->file, t) || tenon_quant_swap(t->dtype, NULL, 0))
        return TENON_OK;
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
               "there is no agreed way to write %s in the other byte order",
               t->dtype == TENON_DTYPE_UNKNOWN ? "a type that is not known"
                                               : tenon_dtype_name(t->dtype));
    tenon_fail_hint(err, "keep the byte order, or convert it to another type first");
    return fail_tensor(t, TENON_ERR_CANNOT_REPRESENT, err);
}

static enum tenon_status check_tensors(const struct tenon_gguf_layout *l, struct tenon_error *err)
{
    enum tenon_status st = TENON_OK;

    for (size_t i = 0; st == TENON_OK && i < l->n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(l->plan, l->first + i);

        st = check_type(l, &t, err);
        if (st == TENON_OK)
            st = check_shape(l, &t, err);
        if (st == TENON_OK)
            st = check_order(l, &t, err);
    }
    return st;
}

/* Long names are allowed by the specification; the loader stops at them. */
static enum tenon_status note_long_names(const struct tenon_gguf_layout *l, struct tenon_error *err)
{
    struct tenon_str first = {"", 0};
    char name[TENON_ERROR_SUBJECT_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct tenon_str long_name = tenon_plan_name(l->plan, l->first + i);

        if (long_name.len < TENON_GGUF_LOADER_NAME_BYTES)
            continue;
        first = n++ == 0 ? long_name : first;
    }
    if (n == 0)
        return TENON_OK;
    tenon_text_sanitise(name, sizeof(name), first.data, first.len);
    return tenon_plan_add_note(l->plan, err,
                               "%zu names of more than %d bytes, first '%s': llama.cpp does not "
                               "open a file with such names",
                               n, TENON_GGUF_LOADER_NAME_BYTES - 1, name);
}

static struct tenon_str key_of(const void *owner, uint32_t i)
{
    return ((const struct tenon_plan_file *)owner)->metas[i].key;
}

static enum tenon_status check_pairs(const struct tenon_plan_file *file, struct tenon_error *err)
{
    struct tenon_names names = {0};
    enum tenon_status st = TENON_OK;

    if (file->n_metas >= TENON_NO_INDEX)
        return tenon_fail(err, TENON_ERR_LIMIT, TENON_NO_OFFSET, "too many keys");
    if (!tenon_names_reserve(&names, file->n_metas, file, key_of))
        st = tenon_fail_memory(err);
    for (uint32_t i = 0; st == TENON_OK && i < file->n_metas; i++) {
        uint32_t known = tenon_names_add(&names, i, file, key_of);

        if (known == TENON_NO_INDEX) {
            st = tenon_fail_memory(err);
        } else if (known != i) {
            st = tenon_fail(err, TENON_ERR_NAME_CLASH, TENON_NO_OFFSET,
                            "two pairs with this key would be written");
            tenon_fail_subject(err, "key", file->metas[i].key.data, file->metas[i].key.len);
        } else {
            st = tenon_gguf_check_pair(&file->metas[i], err);
        }
    }
    tenon_names_release(&names);
    return st;
}

/* --- what the file says about itself --- */

static enum tenon_status settle_version(struct tenon_plan_file *file, struct tenon_error *err)
{
    if (file->version > NEWEST_VERSION)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "version %" PRIu32 ", at most %d can be written", file->version,
                          NEWEST_VERSION);
    if (file->version < OLDEST_VERSION)
        file->version = NEWEST_VERSION;
    return TENON_OK;
}

static const struct tenon_meta_entry *find_alignment(const struct tenon_plan_file *file)
{
    for (size_t i = 0; i < file->n_metas; i++)
        if (tenon_str_equal(file->metas[i].key, TENON_GGUF_KEY_ALIGNMENT))
            return &file->metas[i];
    return NULL;
}

static bool is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* Another alignment than the usual one has to be told. */
static enum tenon_status add_alignment(struct tenon_gguf_layout *l, struct tenon_error *err)
{
    struct tenon_plan_file *file = l->file;
    size_t n = file->n_metas, room = 0;
    struct tenon_meta_entry *metas = NULL;

    if (tenon_size_add(&room, n, 1))
        metas = tenon_arena_alloc(&l->plan->arena, room, sizeof(*metas));
    if (metas == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        metas[i] = file->metas[i];
    metas[n] = (struct tenon_meta_entry){
        .key = {TENON_GGUF_KEY_ALIGNMENT, sizeof(TENON_GGUF_KEY_ALIGNMENT) - 1},
        .type = TENON_META_U32,
        .item = TENON_META_U32,
        .count = 1,
        .value = {.type = TENON_META_U32, .as.u64 = l->alignment},
        .offset = TENON_NO_OFFSET,
    };
    file->metas = metas;
    file->n_metas = room;
    return TENON_OK;
}

/* The key decides; without one, in a new file, the plan. */
static enum tenon_status settle_alignment(struct tenon_gguf_layout *l, struct tenon_error *err)
{
    const struct tenon_meta_entry *entry = find_alignment(l->file);
    int64_t alignment = TENON_GGUF_ALIGNMENT;
    bool good = true;

    if (entry != NULL)
        good = entry->type != TENON_META_F32 && entry->type != TENON_META_F64 &&
               tenon_meta_value_int(&entry->value, &alignment);
    else if (l->file->like == NULL && l->file->alignment != 0)
        alignment = l->file->alignment <= UINT32_MAX ? (int64_t)l->file->alignment : 0;
    if (!good || !is_power_of_two(alignment)) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "the alignment must be a power of two, of type u32");
        tenon_fail_subject(err, "key", TENON_GGUF_KEY_ALIGNMENT,
                           sizeof(TENON_GGUF_KEY_ALIGNMENT) - 1);
        return TENON_ERR_CANNOT_REPRESENT;
    }
    l->file->alignment = l->alignment = (uint64_t)alignment;
    return entry == NULL && alignment != TENON_GGUF_ALIGNMENT ? add_alignment(l, err) : TENON_OK;
}

/* --- the whole --- */

static enum tenon_status fail_size(struct tenon_error *err)
{
    return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                      "the file would end beyond 64 bits");
}

/* Whether a file without tensors ends where its header does, without padding, as the one it was
 * made from. */
static bool ends_with_header(const struct tenon_gguf_layout *l)
{
    const struct tenon_file *like;

    if (l->file->like == NULL)
        return false;
    like = tenon_model_file(l->file->like, l->file->like_file);
    return like->bytes == like->header_bytes && like->bytes % l->alignment != 0;
}

/* Tells the plan about the header, and gives every tensor its offset in the file. */
static enum tenon_status finish(struct tenon_gguf_layout *l, struct tenon_error *err)
{
    uint32_t file = (uint32_t)(l->file - l->plan->files);
    struct tenon_window count = {.err = err};
    uint64_t start;
    enum tenon_status st;

    l->file->head_bytes = 0;
    st = put_header(l->plan, file, NULL, &count);
    if (st != TENON_OK)
        return st;
    if (!tenon_u64_align(&start, count.n, l->alignment))
        return fail_size(err);
    if (l->n == 0 && ends_with_header(l))
        start = count.n;
    if (!tenon_u64_add(&l->file->bytes, start, l->data_bytes))
        return fail_size(err);
    st = tenon_plan_set_head(l->plan, file, (struct tenon_plan_head){.put = put_header}, count.n,
                             err);
    if (st != TENON_OK)
        return st;
    for (size_t i = l->first; i < l->first + l->n; i++)
        l->plan->tensors[i].offset += start; /* fits: before the file's end, or wraps back */
    for (size_t i = l->first_rest; i < l->plan->n_rests; i++)
        l->plan->rests[i].offset += start; /* fits: the same */
    return TENON_OK;
}

enum tenon_status tenon_gguf_layout(struct tenon_plan *plan, uint32_t file, struct tenon_error *err)
{
    struct tenon_gguf_layout l = {
        .plan = plan, .file = &plan->files[file], .first_rest = plan->n_rests};
    enum tenon_status st;

    tenon_plan_tensors_of(plan, file, &l.first, &l.n);
    st = settle_version(l.file, err);
    if (st == TENON_OK)
        st = settle_alignment(&l, err);
    if (st == TENON_OK)
        st = tenon_gguf_settle_set(plan, l.file, err);
    if (st == TENON_OK)
        st = check_pairs(l.file, err);
    if (st == TENON_OK)
        st = check_tensors(&l, err);
    if (st == TENON_OK)
        st = note_long_names(&l, err);
    if (st == TENON_OK)
        st = tenon_gguf_place(&l, err);
    if (st == TENON_OK)
        st = finish(&l, err);
    return st;
}
