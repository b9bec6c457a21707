/* Access to the table of element types. */
#include "tenon/dtype.h"

#include <string.h>

#include "mem.h"

static const struct tenon_dtype_info rows[] = {
#define X(id, number, name, block, bytes, values, gguf, st, family)                                \
    {TENON_DTYPE_##id, name, block, bytes, values, gguf, st, TENON_DTYPE_FAMILY_##family},
#include "tenon/dtypes.def"
#undef X
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Where each type stands in `rows`: ROW_F64 = 0, ROW_F32 = 1 ... */
enum row_index {
#define X(id, number, name, block, bytes, values, gguf, st, family) ROW_##id,
#include "tenon/dtypes.def"
#undef X
};

static const struct tenon_dtype_info *const by_number[TENON_DTYPE_END] = {
#define X(id, number, name, block, bytes, values, gguf, st, family) [number] = &rows[ROW_##id],
#include "tenon/dtypes.def"
#undef X
};

const struct tenon_dtype_info *tenon_dtype_info(enum tenon_dtype dtype)
{
    return (size_t)dtype < TENON_DTYPE_END ? by_number[dtype] : NULL;
}

const struct tenon_dtype_info *tenon_dtype_at(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

const char *tenon_dtype_name(enum tenon_dtype dtype)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);

    return info != NULL ? info->name : "UNKNOWN";
}

/* Equal but for ASCII case; `name` is not terminated. */
static bool equal_ignoring_case(const char *upper, const char *name, size_t len)
{
    if (strlen(upper) != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];

        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        if (c != upper[i])
            return false;
    }
    return true;
}

enum tenon_dtype tenon_dtype_from_name(const char *name, size_t len)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (equal_ignoring_case(rows[i].name, name, len))
            return rows[i].dtype;
    return TENON_DTYPE_UNKNOWN;
}

enum tenon_dtype tenon_dtype_from_gguf(uint32_t id)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].gguf_id >= 0 && (uint32_t)rows[i].gguf_id == id)
            return rows[i].dtype;
    return TENON_DTYPE_UNKNOWN;
}

enum tenon_dtype tenon_dtype_from_safetensors(const char *name, size_t len)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const char *id = rows[i].safetensors_id;

        if (len != 0 && strlen(id) == len && memcmp(id, name, len) == 0)
            return rows[i].dtype;
    }
    return TENON_DTYPE_UNKNOWN;
}

bool tenon_dtype_bytes(enum tenon_dtype dtype, uint64_t n_elements, uint64_t *out_bytes)
{
    const struct tenon_dtype_info *info = tenon_dtype_info(dtype);

    if (info == NULL || info->block_bytes == 0 || n_elements % info->block_elements != 0)
        return false;
    return tenon_u64_mul(out_bytes, n_elements / info->block_elements, info->block_bytes);
}
