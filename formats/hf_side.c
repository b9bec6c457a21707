/* Files beside the weights: a fault in one is no reason not to open the model. */
#include "hf_side.h"

#include <string.h>

#include "fail.h"
#include "hf_names.h"

static enum tenon_status report_fault(const struct tenon_hf_side *side,
                                      const struct tenon_error *fault, struct tenon_error *err)
{
    size_t name_len = strlen(side->name);
    enum tenon_status st;

    if (fault->status == TENON_ERR_NO_MEMORY)
        return tenon_fail_memory(err);
    if (fault->offset != TENON_NO_OFFSET)
        st = tenon_model_find_fault(side->model, "side_file_unusable", TENON_NO_INDEX,
                                    TENON_NO_OFFSET, side->name, name_len, "offset %llu: %s%s%s",
                                    (unsigned long long)fault->offset, fault->message,
                                    fault->subject[0] != '\0' ? ": " : "", fault->subject);
    else
        st = tenon_model_find_fault(side->model, "side_file_unusable", TENON_NO_INDEX,
                                    TENON_NO_OFFSET, side->name, name_len, "%s", fault->message);
    return st == TENON_OK ? st : tenon_fail_memory(err);
}

static enum tenon_status read_text(const struct tenon_hf_side *side, const char *path,
                                   struct tenon_error *fault)
{
    struct tenon_source *source = NULL;
    char *text = NULL;
    size_t len = 0;
    enum tenon_status st = tenon_source_open_file(path, &source, fault);

    if (st == TENON_OK)
        st = tenon_source_slurp(source, side->limit, &text, &len, fault);
    tenon_source_free(source);
    if (st == TENON_OK)
        st = side->apply(side->user, text, len, fault);
    tenon_mem_free(text);
    return st;
}

enum tenon_status tenon_hf_read_side(const struct tenon_hf_side *side,
                                     enum tenon_hf_side_result *out_result, struct tenon_error *err)
{
    const char *path = tenon_hf_join(tenon_model_arena(side->model), side->prefix, side->name);
    enum tenon_hf_side_result result = TENON_HF_SIDE_USED;
    struct tenon_error fault = {0};
    enum tenon_status st;

    if (path == NULL)
        return tenon_fail_memory(err);
    st = read_text(side, path, &fault);
    if (st == TENON_ERR_NOT_FOUND) {
        result = TENON_HF_SIDE_ABSENT;
        st = TENON_OK;
    } else if (st != TENON_OK) {
        result = TENON_HF_SIDE_REFUSED;
        st = report_fault(side, &fault, err);
    }
    if (st == TENON_OK && result != TENON_HF_SIDE_ABSENT)
        st = tenon_model_add_side(side->model, path, err);
    if (st == TENON_OK && out_result != NULL)
        *out_result = result;
    return st;
}
