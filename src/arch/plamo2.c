/* PLaMo 2 and 3. */
#include "arch/arch_rules.h"

static const struct tenon_name_rule own_names_rows[] = {
    NAME("embed_tokens", TOKEN_EMBD),
    NAME_AS("layers.layers.#.mixer.A_log", SSM_A, MAIN, RULE_BARE),
    NAME_AS("layers.layers.#.mixer.D", SSM_D, MAIN, RULE_BARE),
    NAME("layers.layers.#.mixer.conv1d", SSM_CONV1D),
    NAME("layers.layers.#.mixer.in_proj", SSM_IN),
    NAME("layers.layers.#.mixer.o_proj", ATTN_OUTPUT),
    NAME("layers.layers.#.mixer.out_proj", SSM_OUT),
    NAME("layers.layers.#.mixer.qkv_proj", ATTN_QKV),
    NAME("layers.layers.#.mlp.down_proj", FFN_DOWN),
    NAME("layers.layers.#.mlp.gate_up_proj", FFN_GATE_UP),
    NAME("layers.layers.#.post_mixer_norm", ATTN_POST_NORM),
    NAME("layers.layers.#.post_mlp_norm", FFN_POST_NORM),
    NAME("layers.layers.#.pre_mixer_norm", ATTN_NORM),
    NAME("layers.layers.#.pre_mlp_norm", FFN_NORM),
    NAME_AS("lm_head", OUTPUT, MAIN, RULE_TOP),
    NAME("norm", OUTPUT_NORM),
};
static const struct tenon_name_set own_names = NAME_SET(own_names_rows, HF);

static const struct tenon_name_rule gguf_names_rows[] = {
    NAME("blk.#.ffn_up", FFN_GATE_UP),
};
static const struct tenon_name_set gguf_names = NAME_SET(gguf_names_rows, GGUF);

static const struct tenon_arch_rules rules = {
    .prefixes = {"model."},
    .sets = {&own_names, &gguf_names, &tenon_names_gguf},
};

const struct tenon_arch tenon_arch_plamo2 = {
    .name = "plamo2",
    .title = "PLaMo 2 and 3",
    .model_types = "plamo2 plamo3",
    .gguf_names = "plamo2 plamo3",
    .tie_v4 = TENON_TIE_YES,
    .tie_v5 = TENON_TIE_YES,
    .gguf_head = TENON_GGUF_HEAD_OPTIONAL,
    .position = TENON_POSITION_ROPE,
    .rope_layout = TENON_ROPE_HALF,
    .rope_theta = 10000,
    .rope_partial = 1,
    .gguf_rope = TENON_GGUF_ROPE_NEOX,
    .norm = TENON_NORM_RMS,
    .norm_eps = 1e-06,
    .rules = &rules,
};
