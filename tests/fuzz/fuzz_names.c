/* Tensor names against the rules of every family: first byte the family, then the name. */
#include "tenon/arch.h"

#include "fuzz_model.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tenon_arch *arch = NULL;
    struct tenon_name_match match;

    if (size == 0)
        return 0;
    /* 0, and numbers beyond the list, stand for "no family known". */
    if (data[0] != 0)
        arch = tenon_arch_at(data[0] - 1u);
    match = tenon_arch_match(arch, (const char *)data + 1, size - 1);
    if (match.layer < -1 || match.expert < -1 || match.role >= TENON_ROLE_END)
        abort();
    tenon_arch_find((const char *)data, size);
    tenon_arch_find_gguf((const char *)data, size);
    tenon_arch_find_model_type((const char *)data, size);
    return 0;
}
