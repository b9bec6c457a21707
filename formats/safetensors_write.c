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

/* What a header is made of, besides the plan's tensors; in the plan's arena. */
struct header {
    const struct tenon_meta_entry **metas; /* sorted by key */
    size_t n_metas;
    size_t text_len; /* without length field and padding */
    size_t len;      /* with both */
};

/* --- metadata --- */

static int compare_metas(const void *a, const void *b)
{
    return tenon_str_compare((*(const struct tenon_meta_entry *const *)a)->key,
                             (*(const struct tenon_meta_entry *const *)b)->key);
}

/* The pairs of the file, checked and sorted by key. */
static enum tenon_status sort_metas(struct tenon_plan *plan, uint32_t number, struct header *h,
                                    struct tenon_error *err)
{
    const struct tenon_plan_file *file = &plan->files[number];
    const struct tenon_meta_entry **metas = tenon_arena_alloc(
        &plan->arena, file->n_metas > 0 ? file->n_metas : 1, sizeof(struct tenon_meta_entry *));
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
        if (tenon_str_compare(metas[i - 1]->key, metas[i]->key) == 0)
            st = tenon_safetensors_refuse("key", metas[i]->key, "the key stands twice", err);
    h->metas = metas;
    h->n_metas = file->n_metas;
    return st;
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

/* Everything between the braces. `data` is where payloads begin: places count from there. */
static void put_text(struct tenon_json_out *out, const struct tenon_plan *plan, uint32_t file,
                     const struct header *h, uint64_t data)
{
    size_t first, n;

    tenon_plan_tensors_of(plan, file, &first, &n);
    tenon_json_put_text(out, "{");
    if (h->n_metas > 0)
        put_metas(out, h->metas, h->n_metas);
    for (size_t i = 0; i < n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, first + i);
        uint64_t begin = t.offset - data, end = 0;

        if (i > 0 || h->n_metas > 0)
            tenon_json_put_text(out, ",");
        if (tenon_u64_add(&end, begin, t.bytes)) /* was checked when it was placed */
            tenon_safetensors_put_tensor(out, &t, begin, end);
    }
    tenon_json_put_text(out, "}");
}

static enum tenon_status put_header(const struct tenon_plan *plan, uint32_t file, const void *state,
                                    struct tenon_window *to)
{
    const struct header *h = state;
    struct tenon_json_out out = {.window = to};
    unsigned char length[TENON_SAFETENSORS_PREFIX];

    tenon_store_u64(length, h->len - TENON_SAFETENSORS_PREFIX, false);
    tenon_window_put(to, length, sizeof(length));
    put_text(&out, plan, file, h, h->len);
    tenon_json_put_fill(&out, ' ', h->len - TENON_SAFETENSORS_PREFIX - h->text_len);
    return to->st;
}

/* Finds the length of the header, from payloads that count from 0. */
static enum tenon_status measure_header(const struct tenon_plan *plan, uint32_t file,
                                        struct header *h, struct tenon_error *err)
{
    struct tenon_json_out out = {0};
    uint64_t end = 0;

    put_text(&out, plan, file, h, 0);
    h->text_len = out.len;
    if (!tenon_u64_align(&end, (uint64_t)out.len + TENON_SAFETENSORS_PREFIX,
                         plan->files[file].alignment) ||
        end > TENON_SAFETENSORS_MOST_HEADER + TENON_SAFETENSORS_PREFIX)
        return tenon_fail(err, TENON_ERR_CANNOT_REPRESENT, TENON_NO_OFFSET,
                          "the header would take %zu bytes, at most %d are read by other programs",
                          out.len, TENON_SAFETENSORS_MOST_HEADER);
    h->len = (size_t)end;
    return TENON_OK;
}

/* --- the whole file --- */

/* One payload after the other, places counting from the end of the header; `*out_bytes` is where
 * they end. */
static enum tenon_status place_payloads(struct tenon_plan *plan, uint32_t file, uint64_t *out_bytes,
                                        struct tenon_error *err)
{
    uint64_t end = 0;
    size_t first, n;

    tenon_plan_tensors_of(plan, file, &first, &n);
    for (size_t i = 0; i < n; i++) {
        const struct tenon_plan_tensor t = tenon_plan_tensor(plan, first + i);
        enum tenon_status st = tenon_safetensors_check_tensor(&t, err);

        if (st != TENON_OK)
            return st;
        plan->tensors[first + i].offset = end;
        if (!tenon_u64_add(&end, end, t.bytes))
            return tenon_safetensors_refuse("tensor", t.name, "its end does not fit 64 bits", err);
    }
    *out_bytes = end;
    return TENON_OK;
}

/* Counts all places from the beginning of the file, now that the header's length is known. */
static enum tenon_status shift_payloads(struct tenon_plan *plan, uint32_t file, uint64_t head,
                                        uint64_t payload_bytes, struct tenon_error *err)
{
    uint64_t *bytes = &plan->files[file].bytes;
    size_t first, n;
    bool fits = tenon_u64_add(bytes, payload_bytes, head);

    tenon_plan_tensors_of(plan, file, &first, &n);
    for (size_t i = 0; fits && i < n; i++)
        fits =
            tenon_u64_add(&plan->tensors[first + i].offset, plan->tensors[first + i].offset, head);
    if (!fits || *bytes > INT64_MAX)
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
    struct header *h;
    uint64_t payload_bytes = 0;
    size_t first, n;
    enum tenon_status st = check_file(&plan->files[file], err);

    if (st == TENON_OK && is_copy(&plan->files[file]))
        return tenon_safetensors_layout_like(plan, file, err);
    h = tenon_arena_alloc(&plan->arena, 1, sizeof(*h));
    if (st == TENON_OK && h == NULL)
        st = tenon_fail_memory(err);
    tenon_plan_tensors_of(plan, file, &first, &n);
    if (st == TENON_OK)
        st = tenon_safetensors_sort(plan, first, n, err);
    if (st == TENON_OK)
        st = place_payloads(plan, file, &payload_bytes, err);
    if (st == TENON_OK)
        st = sort_metas(plan, file, h, err);
    if (st == TENON_OK)
        st = measure_header(plan, file, h, err);
    if (st == TENON_OK)
        st = tenon_plan_set_head(plan, file, (struct tenon_plan_head){put_header, h}, h->len, err);
    if (st == TENON_OK)
        st = shift_payloads(plan, file, h->len, payload_bytes, err);
    return st;
}
