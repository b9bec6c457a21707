#include "ggml_encoders.h"

#include <dlfcn.h>
#include <stdio.h>

#include "ggml_decoders.h"

bool ggml_encoders_open(struct ggml_encoders *out)
{
    void *library = ggml_library_open();

    if (library == NULL)
        return false;
    /* ISO C has no conversion from object to function pointers; POSIX makes them alike. */
    *(void **)&out->quantize = dlsym(library, "ggml_quantize_chunk");
    *(void **)&out->needs_importance = dlsym(library, "ggml_quantize_requires_imatrix");
    if (out->quantize != NULL && out->needs_importance != NULL)
        return true;
    printf("the library of TENON_ORACLE_GGML has no ggml_quantize_chunk\n");
    return false;
}

/* Types of ggml that ggml_quantize_chunk does not take: integers, F64, activation formats. */
static bool is_encodable(int gguf_id)
{
    static const int others[] = {9, 15, 24, 25, 26, 27, 28};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i] == gguf_id)
            return false;
    return gguf_id >= 0;
}

bool ggml_encodes(const struct ggml_encoders *ggml, enum tenon_dtype dtype)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);

    return info->block_bytes > 0 && is_encodable(info->gguf_id) &&
           !ggml->needs_importance(info->gguf_id);
}

void ggml_encode(const struct ggml_encoders *ggml, enum tenon_dtype dtype, const float *in,
                 uint8_t *out, size_t n_rows, size_t row)
{
    if (n_rows > 0)
        ggml->quantize(tenon_dtype_info(dtype)->gguf_id, in, out, 0, (int64_t)n_rows, (int64_t)row,
                       NULL);
}
