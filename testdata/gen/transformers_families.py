"""The tiny models of transformers_goldens.py, one row each.

A config holds what its family's config.json needs at these sizes; what a row leaves out is the
default of the reference's config class, and the library has to know it. Where a family is here
twice, the rows differ in what the name says.
"""

from dataclasses import dataclass, field

IDS = [7, 0, 39, 21, 7]
FAR = [0, 3, 20, 41, 90]


@dataclass
class Family:
    name: str
    class_name: str
    config: dict
    block: str = "model.layers.0"
    qk: object = "interface"  # or (module of q, module of k), or None
    ids: list = field(default_factory=lambda: list(IDS))
    positions: object = None  # a list, or one list for each stream
    types: object = None
    dtype: str = "F32"
    compute: str = "F32"
    decoder: bool = False
    image: object = None
    extra: dict = field(default_factory=dict)
    patch: object = None


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
