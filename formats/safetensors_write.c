/* Writing safetensors as the reference does (0.8.0), byte for byte:
 *
 *   | N: u64 |
 * {"__metadata__":{...},"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...} | blanks up
 * to a multiple of 8 | payloads in the order of the entries, packed |
 *
 * Entries are sorted by dtype (the wider first, see `dtype_order`), then by the bytes of their
 * names. So every payload begins at a multiple of its element's size. Metadata is sorted by key;
 * the reference has it in random order, which is the same for at most one key. */
#include "safetensors_write.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "json_out.h"
#include "safetensors_private.h"
#include "text.h"

/* What the header's end is padded to where the plan says nothing. */
#define DEFAULT_ALIGNMENT 8

/* The order in which payloads lie. Types that are only known by the text of a file come last. */
static const enum tenon_dtype dtype_order[] = {
    TENON_DTYPE_U64,         TENON_DTYPE_I64,     TENON_DTYPE_F64,     TENON_DTYPE_C64,
    TENON_DTYPE_F32,         TENON_DTYPE_U32,     TENON_DTYPE_I32,     TENON_DTYPE_BF16,
    TENON_DTYPE_F16,         TENON_DTYPE_U16,     TENON_DTYPE_I16,     TENON_DTYPE_F8_E5M2FNUZ,
    TENON_DTYPE_F8_E4M3FNUZ, TENON_DTYPE_F8_E8M0, TENON_DTYPE_F8_E4M3, TENON_DTYPE_F8_E5M2,
    TENON_DTYPE_I8,          TENON_DTYPE_U8,      TENON_DTYPE_F6_E3M2, TENON_DTYPE_F6_E2M3,
    TENON_DTYPE_F4,          TENON_DTYPE_BOOL,
};

#define N_ORDERED (sizeof(dtype_order) / sizeof(dtype_order[0]))

/* Where a tensor goes. Most comparisons end with the first bytes of the names. */
struct place {
    uint32_t rank;
    uint64_t start; /* of the name, as a big-endian number padded with zeros */
    const struct tenon_plan_tensor *tensor;
};

static uint32_t rank_of(enum tenon_dtype dtype)
{
    uint32_t rank = 0;

    while (rank < N_ORDERED && dtype_order[rank] != dtype)
        rank++;
    return rank;
}

static uint64_t start_of(struct tenon_str name)
{
    unsigned char bytes[8] = {0};

    memcpy(bytes, name.data, name.len < sizeof(bytes) ? name.len : sizeof(bytes));
    return tenon_load_u64(bytes, true);
}

static int compare_str(struct tenon_str a, struct tenon_str b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return compare_str(x->tensor->name, y->tensor->name);
}

/* The permutation that sorting found, put to use. */
static enum tenon_status apply_order(struct tenon_plan *plan, size_t first, size_t n,
                                     const struct place *places, struct tenon_error *err)
{
    size_t *order = tenon_mem_alloc(n, sizeof(*order));

    if (order == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        order[i] = (size_t)(places[i].tensor - (plan->tensors + first));
    tenon_plan_reorder(plan, first, n, order);
    tenon_mem_free(order);
    return TENON_OK;
}

static enum tenon_status sort_tensors(struct tenon_plan *plan, size_t first, size_t n,
                                      struct tenon_error *err)
{
    struct place *places;
    enum tenon_status st;

    if (n < 2)
        return TENON_OK;
    places = tenon_mem_alloc(n, sizeof(*places));
    if (places == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct tenon_plan_tensor *t = &plan->tensors[first + i];

        places[i] = (struct place){rank_of(t->dtype), start_of(t->name), t};
    }
    qsort(places, n, sizeof(*places), compare_places);
    st = apply_order(plan, first, n, places, err);
    tenon_mem_free(places);
    return st;
}

/* --- what the format cannot hold --- */

static enum tenon_status refuse(const char *kind, struct tenon_str subject, const char *what,
                                struct tenon_error *err)
{
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "%s", what);
    tenon_fail_subject(err, kind, subject.data, subject.len);
    return TENON_ERR_CANNOT_REPRESENT;
}

/* The dtype's spelling, empty when the format has none. */
static struct tenon_str dtype_text(const struct tenon_plan_tensor *t)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(t->dtype);

    if (info != NULL)
        return (struct tenon_str){info->safetensors_id, strlen(info->safetensors_id)};
    if (t->n_sources == 1 && t->sources[0].model != NULL)
        return t->sources[0].tensor->dtype_text;
    return (struct tenon_str){"", 0};
}

static enum tenon_status check_tensor(const struct tenon_plan_tensor *t, struct tenon_error *err)
{
    if (tenon_str_equal(t->name, TENON_SAFETENSORS_META))
        return refuse("tensor", t->name, "the name is reserved in safetensors files", err);
    if (!tenon_utf8_valid(t->name.data, t->name.len))
        return refuse("tensor", t->name, "its name is not valid UTF-8", err);
    if (memchr(t->name.data, '\0', t->name.len) != NULL)
        return refuse("tensor", t->name, "a NUL character in its name", err);
    if (dtype_text(t).len != 0)
        return TENON_OK;
    tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET, "safetensors files have no %s",
               t->dtype != TENON_DTYPE_UNKNOWN ? tenon_dtype_name(t->dtype)
                                               : "element type for its codes");
    tenon_fail_subject(err, "tensor", t->name.data, t->name.len);
    tenon_fail_hint(err, "store its values in another type, with --dtype BF16 for example");
    return TENON_ERR_CANNOT_REPRESENT;
}

static enum tenon_status check_meta(const struct tenon_meta_entry *meta, struct tenon_error *err)
{
    if (meta->type != TENON_META_STRING) {
        tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                   "metadata of safetensors files is text, not %s",
                   tenon_meta_type_name(meta->type));
        tenon_fail_subject(err, "key", meta->key.data, meta->key.len);
        return TENON_ERR_CANNOT_REPRESENT;
    }
    if (!tenon_utf8_valid(meta->key.data, meta->key.len) ||
        !tenon_utf8_valid(meta->value.as.str.data, meta->value.as.str.len))
        return refuse("key", meta->key, "key or value is not valid UTF-8", err);
    return TENON_OK;
}

/* --- metadata --- */

static int compare_metas(const void *a, const void *b)
{
    return compare_str((*(const struct tenon_meta_entry *const *)a)->key,
                       (*(const struct tenon_meta_entry *const *)b)->key);
}

/* The pairs of `file`, checked and sorted by key, to be freed. */
static enum tenon_status sort_metas(const struct tenon_plan_file *file,
                                    const struct tenon_meta_entry ***out, struct tenon_error *err)
{
    const struct tenon_meta_entry **metas = tenon_mem_alloc(file->n_metas, sizeof(*metas));
    enum tenon_status st = TENON_OK;

    if (metas == NULL)
        return tenon_fail_memory(err);
    for (size_t i = 0; st == TENON_OK && i < file->n_metas; i++) {
        metas[i] = &file->metas[i];
        st = check_meta(metas[i], err);
    }
    if (st == TENON_OK && file->n_metas > 1)
        qsort(metas, file->n_metas, sizeof(*metas), compare_metas);
    for (size_t i = 1; st == TENON_OK && i < file->n_metas; i++)
        if (compare_str(metas[i - 1]->key, metas[i]->key) == 0)
            st = refuse("key", metas[i]->key, "the key stands twice", err);
    if (st != TENON_OK) {
        tenon_mem_free(metas);
        return st;
    }
    *out = metas;
    return TENON_OK;
}

/* --- the header --- */

static void put_metas(struct tenon_json_out *out, const struct tenon_meta_entry *const *metas,
                      size_t n)
{
    tenon_json_put_text(out, "\"" TENON_SAFETENSORS_META "\":{");
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            tenon_json_put_text(out, ",");
        tenon_json_put_string(out, metas[i]->key);
        tenon_json_put_text(out, ":");
        tenon_json_put_string(out, metas[i]->value.as.str);
    }
    tenon_json_put_text(out, "}");
}

/* The entry of one tensor, whose payload ends at `end`. Offsets count from the end of the header.
 */
static void put_tensor(struct tenon_json_out *out, const struct tenon_plan_tensor *t, uint64_t end)
{
    tenon_json_put_string(out, t->name);
    tenon_json_put_text(out, ":{\"dtype\":");
    tenon_json_put_string(out, dtype_text(t));
    tenon_json_put_text(out, ",\"shape\":[");
    for (uint32_t d = 0; d < t->n_dims; d++) {
        if (d > 0)
            tenon_json_put_text(out, ",");
        tenon_json_put_u64(out, t->dims[d]);
    }
    tenon_json_put_text(out, "],\"data_offsets\":[");
    tenon_json_put_u64(out, t->offset);
    tenon_json_put_text(out, ",");
    tenon_json_put_u64(out, end);
    tenon_json_put_text(out, "]}");
}

/* A header that is being made. */
struct header {
    const struct tenon_plan_tensor *tensors;
    size_t n_tensors;
    const struct tenon_meta_entry **metas;
    size_t n_metas;
    uint64_t payload_bytes;
    uint64_t alignment; /* of its end in the file */
    size_t text_len;    /* without length field and padding */
    size_t len;         /* with both */
};

static void put_header(struct tenon_json_out *out, const struct header *h)
{
    tenon_json_put_text(out, "{");
    if (h->n_metas > 0)
        put_metas(out, h->metas, h->n_metas);
    for (size_t i = 0; i < h->n_tensors; i++) {
        const struct tenon_plan_tensor *t = &h->tensors[i];

        if (i > 0 || h->n_metas > 0)
            tenon_json_put_text(out, ",");
        put_tensor(out, t, i + 1 < h->n_tensors ? t[1].offset : h->payload_bytes);
    }
    tenon_json_put_text(out, "}");
}

static enum tenon_status measure_header(struct header *h, struct tenon_error *err)
{
    struct tenon_json_out out = {0};
    uint64_t end = 0;

    put_header(&out, h);
    h->text_len = out.len;
    if (!tenon_u64_align(&end, (uint64_t)out.len + TENON_SAFETENSORS_PREFIX, h->alignment) ||
        end > TENON_SAFETENSORS_MOST_HEADER + TENON_SAFETENSORS_PREFIX)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the header would take %zu bytes, at most %d are read by other programs",
                          out.len, TENON_SAFETENSORS_MOST_HEADER);
    h->len = (size_t)end;
    return TENON_OK;
}

static enum tenon_status make_header(struct tenon_plan *plan, struct tenon_plan_file *file,
                                     struct header *h, struct tenon_error *err)
{
    struct tenon_json_out out = {0};
    enum tenon_status st = measure_header(h, err);
    char *head;

    if (st != TENON_OK)
        return st;
    head = tenon_arena_alloc(&plan->arena, h->len, 1);
    if (head == NULL)
        return tenon_fail_memory(err);
    tenon_store_u64((unsigned char *)head, h->len - TENON_SAFETENSORS_PREFIX, false);
    out.data = head + TENON_SAFETENSORS_PREFIX;
    put_header(&out, h);
    tenon_json_put_fill(&out, ' ', h->len - TENON_SAFETENSORS_PREFIX - h->text_len);
    file->head = (const unsigned char *)head;
    file->head_bytes = h->len;
    return TENON_OK;
}

/* --- the whole file --- */

/* One payload after the other, places counting from the end of the header. */
static enum tenon_status place_payloads(struct header *h, struct tenon_plan_tensor *tensors,
                                        struct tenon_error *err)
{
    for (size_t i = 0; i < h->n_tensors; i++) {
        enum tenon_status st = check_tensor(&tensors[i], err);

        if (st != TENON_OK)
            return st;
        tensors[i].offset = h->payload_bytes;
        if (!tenon_u64_add(&h->payload_bytes, h->payload_bytes, tensors[i].bytes))
            return refuse("tensor", tensors[i].name, "its end does not fit 64 bits", err);
    }
    return TENON_OK;
}

/* Counts all places from the beginning of the file, now that the header's length is known. */
static enum tenon_status shift_payloads(struct tenon_plan_file *file, const struct header *h,
                                        struct tenon_plan_tensor *tensors, struct tenon_error *err)
{
    bool fits = tenon_u64_add(&file->bytes, h->payload_bytes, file->head_bytes);

    for (size_t i = 0; fits && i < h->n_tensors; i++)
        fits = tenon_u64_add(&tensors[i].offset, tensors[i].offset, file->head_bytes);
    if (!fits || file->bytes > INT64_MAX)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the file would be larger than files can be");
    return TENON_OK;
}

static enum tenon_status check_file(struct tenon_plan_file *file, struct tenon_error *err)
{
    if (file->big_endian)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "safetensors files are little-endian");
    if (file->alignment < DEFAULT_ALIGNMENT)
        file->alignment = DEFAULT_ALIGNMENT;
    if ((file->alignment & (file->alignment - 1)) != 0)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "an alignment of %llu, which is no power of two",
                          (unsigned long long)file->alignment);
    return TENON_OK;
}

enum tenon_status tenon_safetensors_layout(struct tenon_plan *plan, uint32_t file,
                                           struct tenon_error *err)
{
    struct tenon_plan_file *f = &plan->files[file];
    struct header h = {.n_metas = f->n_metas};
    struct tenon_plan_tensor *tensors;
    size_t first;
    enum tenon_status st = check_file(f, err);

    tenon_plan_tensors_of(plan, file, &first, &h.n_tensors);
    tensors = plan->tensors + first;
    h.tensors = tensors;
    h.alignment = f->alignment;
    if (st == TENON_OK)
        st = sort_tensors(plan, first, h.n_tensors, err);
    if (st == TENON_OK)
        st = place_payloads(&h, tensors, err);
    if (st == TENON_OK)
        st = sort_metas(f, &h.metas, err);
    if (st == TENON_OK)
        st = make_header(plan, f, &h, err);
    if (st == TENON_OK)
        st = shift_payloads(f, &h, tensors, err);
    tenon_mem_free(h.metas);
    return st;
}
