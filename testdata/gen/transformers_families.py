"""The tiny models of transformers_goldens.py, one row each.

A config holds what its family's config.json needs at these sizes; what a row leaves out is the
default of the reference's config class, and the library has to know it. Where a family is here
twice, the rows differ in what the name says.
"""

from dataclasses import dataclass, field

IDS = [7, 0, 39, 21, 7]
FAR = [0, 3, 20, 41, 90]


@dataclass
class Wrapped:
    """A function that sees queries and keys, and how to get both from it: [batch, heads, tokens,
    width]."""
    module: str
    name: str
    heads: object


@dataclass
class Family:
    name: str
    class_name: str
    config: dict
    block: str = "model.layers.0"
    # "interface": what the attention function of the reference is given; two modules whose output
    # it is (thirds of it, when fused); a Wrapped function; None: not recorded.
    qk: object = "interface"
    fused: bool = False
    scaled: bool = False  # the queries are multiplied by width^-0.5 before they can be seen
    computed: tuple = ()  # ends of names of tensors that are made from the config
    ids: list = field(default_factory=lambda: list(IDS))
    positions: object = None  # a list, or one list for each stream
    types: object = None
    dtype: str = "F32"
    compute: str = "F32"
    decoder: bool = False
    image: object = None
    tower: object = None  # the module that is run, if not the whole model
    argument: str = "input_ids"
    features: object = None  # the form of zeros that an encoder of sounds wants
    extra: dict = field(default_factory=dict)


def text(model_type, **more):
    """What decoders of the Llama kind share."""
    config = {
        "model_type": model_type,
        "vocab_size": 40,
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    config.update(more)
    return {key: value for key, value in config.items() if value is not None}


def rope(rope_type, **more):
    return {"rope_type": rope_type, "rope_theta": 10000.0, **more}


FAMILIES = []


def add(name, class_name, config, **more):
    config = {"architectures": [class_name], **config}
    FAMILIES.append(Family(name, class_name, config, **more))


# Llama, once for every scaling of the rotation, in the new and the old spelling.
add("llama", "LlamaForCausalLM", text("llama"))
add("llama_far", "LlamaForCausalLM", text("llama", head_dim=16, rope_theta=500000.0), positions=FAR)
add("llama_linear", "LlamaForCausalLM",
    text("llama", rope_scaling={"type": "linear", "factor": 4.0}), positions=FAR)
add("llama_dynamic", "LlamaForCausalLM",
    text("llama", max_position_embeddings=64, rope_parameters=rope("dynamic", factor=2.0)),
    positions=FAR)
add("llama_yarn", "LlamaForCausalLM",
    text("llama", head_dim=16, rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=32)), positions=FAR)
add("llama3", "LlamaForCausalLM",
    text("llama", head_dim=16, rope_theta=500000.0, rope_scaling={
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}), positions=FAR)
add("llama_biases", "LlamaForCausalLM", text("llama", attention_bias=True), dtype="BF16")
add("mistral", "MistralForCausalLM", text("mistral", head_dim=16))
add("mixtral", "MixtralForCausalLM", text("mixtral", num_local_experts=2))
add("qwen2", "Qwen2ForCausalLM", text("qwen2", rope_theta=1000000.0), positions=FAR)
add("qwen3", "Qwen3ForCausalLM", text("qwen3", head_dim=16))
add("phi", "PhiForCausalLM", text("phi", num_key_value_heads=4, hidden_size=64))
add("phi3", "Phi3ForCausalLM", text("phi3"))
add("phi3_longrope_short", "Phi3ForCausalLM",
    text("phi3", hidden_size=64, original_max_position_embeddings=32, partial_rotary_factor=0.5,
         rope_scaling={"type": "longrope", "short_factor": [1.0, 1.1, 1.25, 1.5],
                       "long_factor": [1.0, 2.0, 3.5, 4.0]}))
add("phi3_longrope_long", "Phi3ForCausalLM",
    text("phi3", hidden_size=64, original_max_position_embeddings=32, partial_rotary_factor=0.5,
         rope_scaling={"type": "longrope", "short_factor": [1.0, 1.1, 1.25, 1.5],
                       "long_factor": [1.0, 2.0, 3.5, 4.0]}), positions=FAR)
add("gemma", "GemmaForCausalLM", text("gemma", hidden_size=48, head_dim=16))
add("gemma_bf16", "GemmaForCausalLM", text("gemma", hidden_size=48, head_dim=16),
    dtype="BF16", compute="BF16", qk=None)
add("gemma2", "Gemma2ForCausalLM", text("gemma2", hidden_size=48, head_dim=16))
add("gemma3", "Gemma3ForCausalLM", text("gemma3_text", hidden_size=48, head_dim=16), positions=FAR)
add("gpt2", "GPT2LMHeadModel",
    {"model_type": "gpt2", "vocab_size": 40, "n_embd": 32, "n_layer": 2, "n_head": 4,
     "n_positions": 64}, block="transformer.h.0")
add("gpt_neox", "GPTNeoXForCausalLM",
    text("gpt_neox", num_key_value_heads=None, hidden_size=64), block="gpt_neox.layers.0",
    positions=FAR)
add("gptj", "GPTJForCausalLM",
    {"model_type": "gptj", "vocab_size": 40, "n_embd": 64, "n_layer": 2, "n_head": 4,
     "n_positions": 128, "rotary_dim": 8}, block="transformer.h.0", positions=FAR)
add("bert", "BertModel",
    text("bert", num_key_value_heads=None, max_position_embeddings=64, type_vocab_size=2),
    block="encoder.layer.0", types=[0, 0, 1, 1, 0])


def modeling(family):
    return f"transformers.models.{family}.modeling_{family}"


def rotated(family, groups=1):
    """What apply_rotary_pos_emb returns; the keys may be repeated for each of a group of heads."""
    return Wrapped(modeling(family), "apply_rotary_pos_emb",
                   lambda _args, result: (result[0], result[1][:, ::groups]))


# Falcon: all heads share one key; the newer form has groups.
falcon = {"model_type": "falcon", "vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2,
          "num_attention_heads": 4}
add("falcon", "FalconForCausalLM", falcon, block="transformer.h.0", positions=FAR,
    qk=rotated("falcon"))
add("falcon_groups", "FalconForCausalLM",
    {**falcon, "new_decoder_architecture": True, "num_kv_heads": 2}, block="transformer.h.0",
    positions=FAR, qk=rotated("falcon", 2))
add("falcon_alibi", "FalconForCausalLM",
    {**falcon, "alibi": True, "bias": True, "multi_query": False, "parallel_attn": False},
    block="transformer.h.0",
    qk=Wrapped(modeling("falcon"), "FalconAttention._split_heads",
               lambda _args, result: (result[0].transpose(1, 2), result[1].transpose(1, 2))))

# Learned positions, no positions, biases on scores.
add("gpt_neo", "GPTNeoForCausalLM",
    {"model_type": "gpt_neo", "vocab_size": 40, "hidden_size": 32, "num_layers": 2, "num_heads": 4,
     "max_position_embeddings": 64, "attention_types": [[["global", "local"], 1]]},
    block="transformer.h.0",
    qk=Wrapped(modeling("gpt_neo"), "GPTNeoSelfAttention._attn",
               lambda args, _result: (args[1], args[2])))
add("openai_gpt", "OpenAIGPTLMHeadModel",
    {"model_type": "openai-gpt", "vocab_size": 40, "n_embd": 32, "n_layer": 2, "n_head": 4,
     "n_positions": 64}, block="transformer.h.0",
    qk=("transformer.h.0.attn.c_attn",) * 2, fused=True)
add("gpt_bigcode", "GPTBigCodeForCausalLM",
    {"model_type": "gpt_bigcode", "vocab_size": 40, "n_embd": 32, "n_layer": 2, "n_head": 4,
     "n_positions": 64}, block="transformer.h.0")
opt = {"model_type": "opt", "vocab_size": 40, "hidden_size": 32, "ffn_dim": 32,
       "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64}
add("opt", "OPTForCausalLM", opt, block="model.decoder.layers.0", scaled=True)
add("opt_projected", "OPTForCausalLM",
    {**opt, "word_embed_proj_dim": 16, "do_layer_norm_before": False},
    block="model.decoder.layers.0", scaled=True)
add("biogpt", "BioGptForCausalLM",
    {"model_type": "biogpt", "vocab_size": 40, "hidden_size": 32, "intermediate_size": 32,
     "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64},
    block="biogpt.layers.0")
add("bloom", "BloomForCausalLM",
    {"model_type": "bloom", "vocab_size": 40, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    block="transformer.h.0",
    qk=Wrapped(modeling("bloom"), "BloomAttention._reshape", lambda _args, result: result[:2]))
add("mpt", "MptForCausalLM",
    {"model_type": "mpt", "vocab_size": 40, "d_model": 32, "n_layers": 2, "n_heads": 4,
     "expansion_ratio": 1, "max_seq_len": 64}, block="transformer.blocks.0",
    qk=("transformer.blocks.0.attn.Wqkv",) * 2, fused=True)

# Encoders.
def encoder(model_type, **more):
    return text(model_type, num_key_value_heads=None, max_position_embeddings=64, **more)


add("bert_default_types", "BertForMaskedLM", encoder("bert"), block="bert.encoder.layer.0")
add("roberta", "RobertaModel", encoder("roberta", pad_token_id=1, layer_norm_eps=1e-5,
    type_vocab_size=1), block="encoder.layer.0", ids=[7, 3, 39, 1, 1])
add("xlm_roberta", "XLMRobertaForMaskedLM", encoder("xlm-roberta", pad_token_id=1,
    layer_norm_eps=1e-5, type_vocab_size=1), block="roberta.encoder.layer.0")
add("camembert", "CamembertModel", encoder("camembert", pad_token_id=1, layer_norm_eps=1e-5,
    type_vocab_size=1), block="encoder.layer.0")
add("electra", "ElectraModel", encoder("electra", embedding_size=16), block="encoder.layer.0",
    types=[0, 0, 1, 1, 0])
add("albert", "AlbertModel", encoder("albert", embedding_size=16),
    block="encoder.albert_layer_groups.0", types=[0, 0, 1, 1, 0])
add("distilbert", "DistilBertModel",
    {"model_type": "distilbert", "vocab_size": 40, "dim": 32, "hidden_dim": 32, "n_layers": 2,
     "n_heads": 4, "max_position_embeddings": 64}, block="transformer.layer.0")
add("mpnet", "MPNetModel", encoder("mpnet", pad_token_id=1), block="encoder.layer.0",
    qk=("encoder.layer.0.attention.attn.q", "encoder.layer.0.attention.attn.k"))
deberta = encoder("deberta-v2", relative_attention=True, position_buckets=8,
    norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"], type_vocab_size=0)
deberta_qk = tuple(f"encoder.layer.0.attention.self.{name}_proj" for name in ("query", "key"))
add("deberta_v2", "DebertaV2Model", {**deberta, "position_biased_input": False},
    block="encoder.layer.0", qk=deberta_qk)
add("deberta_v2_positions", "DebertaV2Model",
    {**deberta, "position_biased_input": True, "type_vocab_size": 2}, block="encoder.layer.0",
    qk=deberta_qk, types=[0, 0, 1, 1, 0])
add("modernbert", "ModernBertModel",
    text("modernbert", num_key_value_heads=None, cls_token_id=1, sep_token_id=2), block="layers.0",
    positions=FAR)
add("nomic_bert", "NomicBertModel", text("nomic_bert", num_key_value_heads=None, type_vocab_size=2),
    block="layers.0", types=[0, 0, 1, 1, 0])
add("eurobert", "EuroBertModel", text("eurobert"), block="layers.0")
add("jina_v3", "JinaEmbeddingsV3Model",
    text("jina_embeddings_v3", num_key_value_heads=None, type_vocab_size=1), block="layers.0")
add("esm", "EsmModel", encoder("esm", position_embedding_type="rotary", token_dropout=False,
    mask_token_id=3, pad_token_id=1), block="encoder.layer.0", scaled=True)
add("esm_token_dropout", "EsmModel", encoder("esm", position_embedding_type="rotary",
    token_dropout=True, mask_token_id=3, pad_token_id=1), block="encoder.layer.0", scaled=True,
    ids=[7, 3, 39, 21, 7])
add("esm_learned", "EsmModel", encoder("esm", emb_layer_norm_before=True, token_dropout=False,
    mask_token_id=3, pad_token_id=1), block="encoder.layer.0", scaled=True)
add("roformer", "RoFormerModel", encoder("roformer", type_vocab_size=2), block="encoder.layer.0",
    computed=("embed_positions.weight",),
    types=[0, 0, 1, 1, 0],
    qk=Wrapped(modeling("roformer"), "RoFormerSelfAttention.apply_rotary_position_embeddings",
               lambda _args, result: result[:2]))

# Encoder and decoder.
def both(model_type, **more):
    return {"model_type": model_type, "vocab_size": 40, "d_model": 32, "encoder_layers": 2,
            "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
            "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64,
            "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2,
            **more}


def add_both(name, class_name, config, **more):
    add(name, class_name, config, block="model.encoder.layers.0", **more)
    add(name + "_decoder", class_name, config, block="model.decoder.layers.0", decoder=True, **more)


add_both("bart", "BartForConditionalGeneration", both("bart"))
add_both("mbart", "MBartForConditionalGeneration", both("mbart", scale_embedding=True))
add_both("pegasus", "PegasusForConditionalGeneration", both("pegasus", pad_token_id=0,
    scale_embedding=True))
add_both("marian", "MarianMTModel", both("marian", pad_token_id=39, scale_embedding=True))
add_both("m2m_100", "M2M100ForConditionalGeneration", both("m2m_100"))
add_both("blenderbot", "BlenderbotForConditionalGeneration", both("blenderbot", pad_token_id=0))
add("whisper_decoder", "WhisperForConditionalGeneration",
    both("whisper", max_source_positions=8, max_target_positions=32, num_mel_bins=8),
    block="model.decoder.layers.0", decoder=True, argument="decoder_input_ids", features=(8, 16),
    scaled=True)
add("xglm", "XGLMForCausalLM",
    {"model_type": "xglm", "vocab_size": 40, "d_model": 32, "ffn_dim": 32, "num_layers": 2,
     "attention_heads": 4, "max_position_embeddings": 64}, block="model.layers.0",
    scaled=True,
    qk=Wrapped("torch", "bmm", lambda args, _result: (args[0][None], args[1].transpose(1, 2)[None])))
t5 = {"vocab_size": 40, "d_model": 32, "d_kv": 16, "d_ff": 32, "num_layers": 2, "num_heads": 4,
      "decoder_start_token_id": 0}
for side, decoder in (("encoder", False), ("decoder", True)):
    attention = f"{side}.block.0.layer.0.SelfAttention"
    add("t5" + ("_decoder" if decoder else ""), "T5ForConditionalGeneration",
        {"model_type": "t5", **t5}, block=f"{side}.block.0", decoder=decoder,
        qk=(attention + ".q", attention + ".k"))
add("mt5", "MT5EncoderModel", {"model_type": "mt5", **t5}, block="encoder.block.0",
    qk=("encoder.block.0.layer.0.SelfAttention.q", "encoder.block.0.layer.0.SelfAttention.k"))

# More decoders with a rotation.
add("codegen", "CodeGenForCausalLM",
    {"model_type": "codegen", "vocab_size": 40, "n_embd": 64, "n_layer": 2, "n_head": 4,
     "n_positions": 128, "rotary_dim": 8}, block="transformer.h.0", positions=FAR)
add("cohere", "CohereForCausalLM", text("cohere"), positions=FAR)
add("cohere_norms", "CohereForCausalLM", text("cohere", use_qk_norm=True))
add("cohere2", "Cohere2ForCausalLM", text("cohere2", hidden_size=64), positions=FAR)
add("glm", "GlmForCausalLM", text("glm", hidden_size=64, head_dim=16), positions=FAR)
add("glm4", "Glm4ForCausalLM", text("glm4", head_dim=16), positions=FAR)
add("glm4_moe", "Glm4MoeForCausalLM",
    text("glm4_moe", head_dim=16, n_routed_experts=2, num_experts_per_tok=1,
         moe_intermediate_size=16, n_group=1, topk_group=1, use_qk_norm=True), positions=FAR)
add("olmo", "OlmoForCausalLM", text("olmo", clip_qkv=1.5))
add("olmo2", "Olmo2ForCausalLM", text("olmo2"))
add("olmo3", "Olmo3ForCausalLM", text("olmo3"), positions=FAR)
add("olmoe", "OlmoeForCausalLM", text("olmoe", num_experts=2, num_experts_per_tok=1))
add("stablelm", "StableLmForCausalLM", text("stablelm", hidden_size=64, use_qkv_bias=True),
    positions=FAR)
add("stablelm_norms", "StableLmForCausalLM", text("stablelm", hidden_size=64, qk_layernorm=True))
add("starcoder2", "Starcoder2ForCausalLM", text("starcoder2"))
add("granite", "GraniteForCausalLM", text("granite", embedding_multiplier=12.0,
    attention_multiplier=0.0625))
add("minicpm3", "MiniCPM3ForCausalLM",
    text("minicpm3", num_key_value_heads=4, kv_lora_rank=16, q_lora_rank=16, qk_nope_head_dim=8,
         qk_rope_head_dim=8, v_head_dim=8), positions=FAR)
add("nemotron", "NemotronForCausalLM", text("nemotron", hidden_size=64), positions=FAR)
add("persimmon", "PersimmonForCausalLM", text("persimmon", num_key_value_heads=None,
    hidden_size=64), positions=FAR)
add("smollm3", "SmolLM3ForCausalLM", text("smollm3"), positions=FAR)
add("smollm3_no_rope", "SmolLM3ForCausalLM", text("smollm3", no_rope_layers=[0, 1]), positions=FAR)
add("ernie4_5", "Ernie4_5ForCausalLM", text("ernie4_5", head_dim=16), positions=FAR)
add("gpt_oss", "GptOssForCausalLM",
    text("gpt_oss", head_dim=16, num_local_experts=2, num_experts_per_tok=1,
         rope_scaling={"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                       "truncate": False, "original_max_position_embeddings": 64}), positions=FAR)
mla = dict(q_lora_rank=16, kv_lora_rank=16, qk_nope_head_dim=8, qk_rope_head_dim=8, v_head_dim=8,
           n_routed_experts=2, num_experts_per_tok=1, moe_intermediate_size=16,
           num_key_value_heads=4, first_k_dense_replace=1)
add("deepseek_v2", "DeepseekV2ForCausalLM", text("deepseek_v2", **mla), positions=FAR)
add("deepseek_v3", "DeepseekV3ForCausalLM", text("deepseek_v3", n_group=1, topk_group=1, **mla),
    positions=FAR)
add("deepseek_v3_yarn", "DeepseekV3ForCausalLM",
    text("deepseek_v3", n_group=1, topk_group=1, **mla, rope_scaling={
        "type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 0.5, "beta_fast": 32,
        "beta_slow": 1, "original_max_position_embeddings": 32}), positions=FAR)
add("exaone4", "Exaone4ForCausalLM", text("exaone4"), positions=FAR)
add("helium", "HeliumForCausalLM", text("helium", head_dim=16), positions=FAR)
add("hunyuan", "HunYuanDenseV1ForCausalLM",
    text("hunyuan_v1_dense", head_dim=16, rope_scaling={"type": "dynamic", "alpha": 1000.0,
         "factor": 1.0}), positions=FAR)
add("seed_oss", "SeedOssForCausalLM", text("seed_oss", head_dim=16))
add("lfm2", "Lfm2ForCausalLM", text("lfm2", layer_types=["full_attention", "conv"]), positions=FAR)
add("nanochat", "NanoChatForCausalLM", text("nanochat"), positions=FAR)
add("apertus", "ApertusForCausalLM", text("apertus"), positions=FAR)
add("arcee", "ArceeForCausalLM", text("arcee"))
add("bitnet", "BitNetForCausalLM", text("bitnet", tie_word_embeddings=True))
add("gemma3_linear", "Gemma3ForCausalLM",
    text("gemma3_text", hidden_size=48, head_dim=16, sliding_window_pattern=1,
         rope_scaling={"rope_type": "linear", "factor": 8.0}), positions=FAR)
add("gemma3_bf16", "Gemma3ForCausalLM", text("gemma3_text", hidden_size=48, head_dim=16),
    dtype="BF16", compute="BF16", qk=None)
add("gemma4", "Gemma4ForCausalLM",
    text("gemma4_text", hidden_size=48, head_dim=16, global_head_dim=16,
         hidden_size_per_layer_input=0, layer_types=["full_attention", "full_attention"]),
    positions=FAR)
add("qwen2_moe", "Qwen2MoeForCausalLM", text("qwen2_moe", num_experts=2, num_experts_per_tok=1))
add("qwen3_moe", "Qwen3MoeForCausalLM", text("qwen3_moe", head_dim=16, num_experts=2,
    num_experts_per_tok=1))
add("qwen3_next", "Qwen3NextForCausalLM",
    text("qwen3_next", head_dim=16, num_experts=2, num_experts_per_tok=1,
         layer_types=["full_attention", "full_attention"]), positions=FAR)
add("llama4", "Llama4ForCausalLM",
    text("llama4_text", head_dim=16, num_local_experts=2, intermediate_size_mlp=32), positions=FAR)
# This version of the reference does not look at the base in attn_config, which llama.cpp reads.
add("dbrx", "DbrxForCausalLM",
    {"model_type": "dbrx", "vocab_size": 40, "d_model": 32, "n_heads": 4, "n_layers": 2,
     "max_seq_len": 128, "rope_theta": 500000.0,
     "ffn_config": {"ffn_hidden_size": 16, "moe_num_experts": 2, "moe_top_k": 1},
     "attn_config": {"kv_n_heads": 2, "clip_qkv": 1.5, "rope_theta": 500000.0}},
    block="transformer.blocks.0")

# Three streams of positions: words, then an image of two by two, as the reference counts them.
STREAMS = [[0, 1, 1, 1, 3], [0, 1, 1, 2, 3], [0, 1, 2, 1, 3]]
vision = {"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2, "patch_size": 4,
          "intermediate_size": 32, "out_hidden_size": 32}
add("qwen2_vl", "Qwen2VLForConditionalGeneration",
    {"model_type": "qwen2_vl", "text_config": {**text("qwen2_vl_text", hidden_size=64),
     "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}}, "vision_config": vision},
    block="model.language_model.layers.0", positions=STREAMS)
add("qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration",
    {"model_type": "qwen2_5_vl", "text_config": {**text("qwen2_5_vl_text", hidden_size=64),
     "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}}, "vision_config": vision},
    block="model.language_model.layers.0", positions=STREAMS)
add("qwen3_vl", "Qwen3VLForConditionalGeneration",
    {"model_type": "qwen3_vl", "text_config": {**text("qwen3_vl_text", head_dim=16),
     "rope_scaling": {"rope_type": "default", "mrope_interleaved": True,
                      "mrope_section": [3, 3, 2]}},
     "vision_config": {**vision, "num_position_embeddings": 16, "deepstack_visual_indexes": [0]}},
    block="model.language_model.layers.0", positions=STREAMS)

# Images.
tower = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 4, "image_size": 12, "patch_size": 4, "num_channels": 3}
add("vit", "ViTModel", {"model_type": "vit", **tower}, block="layers.0", image=(12, 12),
    qk=None)
add("vit_interpolated", "ViTModel", {"model_type": "vit", **tower}, block="layers.0",
    image=(20, 16), qk=None, extra={"interpolate_pos_encoding": True})
add("dinov2", "Dinov2Model", {"model_type": "dinov2", **tower}, block="encoder.layer.0",
    image=(12, 12), qk=None)
add("dinov2_interpolated", "Dinov2Model", {"model_type": "dinov2", **tower},
    block="encoder.layer.0", image=(20, 16), qk=None)
add("dinov2_registers", "Dinov2WithRegistersModel",
    {"model_type": "dinov2_with_registers", **tower, "num_register_tokens": 2},
    block="encoder.layer.0", image=(12, 12), qk=None)
words = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 16, "projection_dim": 16}
for name, class_name in (("clip", "CLIPModel"), ("siglip", "SiglipModel")):
    config = {"model_type": name, "text_config": {"model_type": name + "_text_model", **words},
              "vision_config": {"model_type": name + "_vision_model", **tower}}
    add(name + "_vision", class_name, config, block="vision_model.encoder.layers.0",
        tower="vision_model", image=(12, 12), qk=None)
    add(name + "_vision_interpolated", class_name, config, block="vision_model.encoder.layers.0",
        tower="vision_model", image=(20, 16), qk=None, extra={"interpolate_pos_encoding": True})
    add(name + "_text", class_name, config, block="text_model.encoder.layers.0",
        tower="text_model")
# Towers stored alone, without the name of their module.
for name, family in (("clip", "CLIP"), ("siglip", "Siglip")):
    add(name + "_vision_alone", family + "VisionModel",
        {"model_type": name + "_vision_model", **tower}, block="encoder.layers.0", image=(12, 12),
        qk=None)
    add(name + "_text_alone", family + "TextModel", {"model_type": name + "_text_model", **words},
        block="encoder.layers.0")
