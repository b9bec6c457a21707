/* Writing new safetensors files as the reference does (0.8.0), byte for byte:
 *
 *   | N: u64 | header | blanks up to a multiple of 8 | payloads, packed |
 *
 *   {"__metadata__":{...},"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}
 *
 * Entries are sorted by dtype, the wider first, then by the bytes of their names; payloads lie in
 * the order of the entries, so that each begins at a multiple of its element's size. Metadata is
 * sorted by key; the reference has it in random order, which is the same for at most one key. */
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

/* --- metadata --- */

static int compare_metas(const void *a, const void *b)
{
    return tenon_safetensors_compare((*(const struct tenon_meta_entry *const *)a)->key,
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
        st = tenon_safetensors_check_meta(metas[i], err);
    }
    if (st == TENON_OK && file->n_metas > 1)
        qsort(metas, file->n_metas, sizeof(*metas), compare_metas);
    for (size_t i = 1; st == TENON_OK && i < file->n_metas; i++)
        if (tenon_safetensors_compare(metas[i - 1]->key, metas[i]->key) == 0)
            st = tenon_safetensors_refuse("key", metas[i]->key, "the key stands twice", err);
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

/* A header that is being made. */
struct header {
    const struct tenon_plan *plan;
    size_t first, n_tensors; /* its tensors in the plan */
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
        const struct tenon_plan_tensor t = tenon_plan_tensor(h->plan, h->first + i);
        uint64_t end = 0;

        if (i > 0 || h->n_metas > 0)
            tenon_json_put_text(out, ",");
        if (tenon_u64_add(&end, t.offset, t.bytes)) /* was checked when it was placed */
            tenon_safetensors_put_tensor(out, &t, t.offset, end);
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
static enum tenon_status place_payloads(struct tenon_plan *plan, struct header *h,
                                        struct tenon_error *err)
{
    for (size_t i = 0; i < h->n_tensors; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, h->first + i);
        enum tenon_status st = tenon_safetensors_check_tensor(&t, err);

        if (st != TENON_OK)
            return st;
        plan->tensors[h->first + i].offset = h->payload_bytes;
        if (!tenon_u64_add(&h->payload_bytes, h->payload_bytes, t.bytes))
            return tenon_safetensors_refuse("tensor", t.name, "its end does not fit 64 bits", err);
    }
    return TENON_OK;
}

/* Counts all places from the beginning of the file, now that the header's length is known. */
static enum tenon_status shift_payloads(struct tenon_plan *plan, struct tenon_plan_file *file,
                                        const struct header *h, struct tenon_error *err)
{
    struct tenon_plan_record *tensors = h->n_tensors > 0 ? plan->tensors + h->first : NULL;
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

/* Whether it is an edited copy of a file of this format. */
static bool is_copy(const struct tenon_plan_file *file)
{
    return file->like != NULL && strcmp(tenon_model_file(file->like, file->like_file)->format,
                                        tenon_format_safetensors.info.name) == 0;
}

enum tenon_status tenon_safetensors_layout(struct tenon_plan *plan, uint32_t file,
                                           struct tenon_error *err)
{
    struct tenon_plan_file *f = &plan->files[file];
    struct header h = {.plan = plan, .n_metas = f->n_metas};
    enum tenon_status st = check_file(f, err);

    if (st == TENON_OK && is_copy(f))
        return tenon_safetensors_layout_like(plan, file, err);
    tenon_plan_tensors_of(plan, file, &h.first, &h.n_tensors);
    h.alignment = f->alignment;
    if (st == TENON_OK)
        st = tenon_safetensors_sort(plan, h.first, h.n_tensors, err);
    if (st == TENON_OK)
        st = place_payloads(plan, &h, err);
    if (st == TENON_OK)
        st = sort_metas(f, &h.metas, err);
    if (st == TENON_OK)
        st = make_header(plan, f, &h, err);
    if (st == TENON_OK)
        st = shift_payloads(plan, f, &h, err);
    tenon_mem_free(h.metas);
    return st;
}
