/* StarCoder, SantaCoder. */
#include "arch/arch_rules.h"

static const struct tenon_arch_rules rules = {
    .prefixes = {"transformer."},
    .sets = {&tenon_names_gpt2, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_gpt_bigcode = {
    .name = "gpt_bigcode",
    .title = "StarCoder, SantaCoder",
    .model_types = "gpt_bigcode",
    .gguf_names = "starcoder",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_LEARNED,
    .norm = TENON_NORM_LAYER,
    .norm_eps = 1e-05,
    .qkv = TENON_QKV_GROUPS,
    .flags = TENON_ARCH_MULTI_QUERY | TENON_ARCH_TYPES_LAST,
    .rules = &rules,
};
