#!/usr/bin/env python3
"""How the reference converter writes the golden models as GGUF: metadata, names and recipes.

    gguf_goldens.py LLAMA_CPP GOLDENS OUT_FOLDER [NAME ...]
    gguf_goldens.py --check LLAMA_CPP GOLDENS FOLDER [NAME ...]

LLAMA_CPP is a checkout of llama.cpp with its converter. Every model of the folder GOLDENS that the
converter knows is converted to F32; for each tensor in front of the inner product of the first
block it is found out by which of a few rearrangements its values come from the checkpoint, so that
the same file can be made without the converter. The format of the files is described in
testdata/golden/README.md. The tokenizer, which the models do not have, is left out.

Needs torch, transformers and the gguf package of that checkout.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from transformers_goldens import values_of, write_checkpoint

# What comes before the inner product of the first block.
WANTED = re.compile(
    r"^((enc\.|dec\.)?(token_embd|position_embd|token_types|embed_proj|output)"
    r"|rope_(freqs|factors)|(enc\.|dec\.)?blk\.0\.attn_(norm|norm_2|q|k|v|qkv|q_norm|k_norm|rel_b|"
    r"q_a|q_b|kv_a_mqa|kv_b|k_b|v_b|q_a_norm|kv_a_norm)\b)")
# What the converter asks of a config although the reference's class has a default for it, and the
# names that it knows a class by.
MORE = {
    "cohere2": {"rotary_pct": 1.0},
    "eurobert": {"classifier_pooling": "mean"},
    "falcon": {"num_kv_heads": 1},
    "gpt2": {"n_ctx": 64},
    "gpt_neox": {"rotary_pct": 0.25, "rotary_emb_base": 10000, "use_parallel_residual": True},
    "nomic_bert": {"n_positions": 2048, "max_trained_positions": 2048,
                   "rotary_emb_fraction": 1.0, "rotary_emb_base": 1000.0,
                   "rotary_emb_interleaved": False, "qkv_proj_bias": False,
                   "mlp_fc1_bias": False, "mlp_fc2_bias": False, "activation_function": "swiglu",
                   "causal": False, "prenorm": False, "use_rms_norm": False,
                   "rotary_emb_scale_base": None, "layer_norm_epsilon": 1e-12,
                   "n_embd": 32, "n_head": 4, "n_layer": 2, "n_inner": 32},
    "mpt": {"architectures": ["MPTForCausalLM"]},
}
# Where llama.cpp computes something else than transformers, and knows no better from the file.
NOTES = {
    "camembert": ["differs input", "differs qk"],  # keeps the rows before the first position
    # Heads have no keys of their own there: queries are taken to the latent that they share.
    "deepseek_v2": ["refused qk"],
    "deepseek_v3": ["refused qk"],
    "deepseek_v3_yarn": ["refused qk"],
    "gemma_bf16": ["differs input"],   # the scale is not rounded to the type of the weights
    "gemma3_bf16": ["differs input"],
    "glm": ["differs qk"],             # the converter does not find the eps, and writes another
    "gpt_oss": ["differs qk"],         # no key says that the ramp of yarn is not to be truncated
    "llama_dynamic": ["differs qk"],   # no key says dynamic
    "minicpm3": ["differs qk"],        # norms of latents have an eps of their own, not the file's
    "smollm3_no_rope": ["differs qk"],  # no key says which layers do not rotate
    "roberta": ["tokens 3"],           # padding, the last two, counts on like any token
}
TOKENIZER = {"model": {"type": "WordPiece", "vocab": {f"t{i}": i for i in range(40)}},
             "added_tokens": []}
SKIPPED = re.compile(r"^(tokenizer|general|GGUF)\.")


def read_golden(path):
    config, tensors = None, {}
    for line in open(path):
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "config":
            config = json.loads(rest)
        elif word == "tensor":
            name, dtype, shape = rest.split()
            tensors[name] = (dtype, [] if shape == "-" else [int(n) for n in shape.split(",")])
        elif word in ("input", "pixels"):
            break
    return config, tensors


def convert(folder, out, more):
    """What convert_hf_to_gguf.py does, without a tokenizer."""
    import conversion
    import gguf
    hparams = conversion.ModelBase.load_hparams(folder, False)
    architecture = conversion.get_model_architecture(hparams, conversion.ModelType.TEXT)
    model_class = conversion.get_model_class(architecture, mmproj=False)

    class WithoutVocabulary(model_class):
        model_arch = model_class.model_arch

        def set_vocab(self):
            pass

    model = WithoutVocabulary(folder, gguf.LlamaFileType.ALL_F32, out, hparams={**hparams, **more})
    model.write()
    return model


def recipes(tensors):
    """Each rearrangement of each tensor, by its bytes."""
    found = {}

    def add(array, recipe):
        found.setdefault((array.shape, np.ascontiguousarray(array, dtype="<f4").tobytes()), recipe)

    for name, (_dtype, shape) in tensors.items():
        plain = values_of(name, shape)
        add(plain, f"copy {name}")
        add(plain.reshape(-1), f"copy {name}")
        if plain.ndim >= 1 and plain.shape[0] > 0:
            for heads in (1, 2, 4, 8):
                if shape[0] % (2 * heads) == 0:
                    turned = plain.reshape(heads, 2, shape[0] // heads // 2, *shape[1:])
                    add(turned.swapaxes(1, 2).reshape(shape), f"permute {heads} {name}")
        add(plain + np.float32(1), f"plus_one {name}")
        if plain.ndim == 2:
            add(np.ascontiguousarray(plain.T), f"transpose {name}")
            for heads, width in ((4, 8),):
                if shape[0] == heads * 2 * width:
                    upper = plain.reshape(heads, 2 * width, -1)[:, :width]
                    add(upper.transpose(0, 2, 1), f"transpose_heads {heads} {width} {name}")
        if plain.ndim >= 1:
            # The parts of each head: [q k v] [q k v] ...
            for heads in (2, 4):
                if shape[0] % (3 * heads) == 0:
                    parts = plain.reshape(heads, 3, -1, *shape[1:])
                    add(parts.swapaxes(0, 1).reshape(shape), f"regroup {heads} {name}")
    return found


def gathered(tensors, wanted):
    """Rows of one tensor in another order: 'gather NAME FIRST-LAST ...'."""
    rows = [row.tobytes() for row in wanted.reshape(-1, wanted.shape[-1])]
    for name, (_dtype, shape) in tensors.items():
        if len(shape) != 2 or shape[1] != wanted.shape[-1]:
            continue
        place = {row.tobytes(): i for i, row in enumerate(values_of(name, shape))}
        order = [place.get(row) for row in rows]
        if None in order:
            continue
        runs = []
        for i in order:
            if runs and runs[-1][1] == i - 1:
                runs[-1][1] = i
            else:
                runs.append([i, i])
        return f"gather {name} " + " ".join(f"{first}-{last}" for first, last in runs)
    return None


def text_of(value, kind):
    if kind == "STRING":
        return json.dumps(value)
    if kind == "BOOL":
        return "true" if value else "false"
    return "%.9g" % value if kind.startswith("FLOAT") else str(int(value))


def facts_of(golden, name):
    import gguf
    config, tensors = read_golden(os.path.join(golden, name + ".txt"))
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "model"
        folder.mkdir()
        write_checkpoint(folder, {**config, **MORE.get(name, {})}, tensors)
        (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
        out = Path(work) / "model.gguf"
        convert(folder, out, MORE.get(name, {}))
        reader = gguf.GGUFReader(out)
        lines = list(NOTES.get(name, []))
        for field in reader.fields.values():
            if SKIPPED.match(field.name) and field.name != "general.architecture":
                continue
            kinds = [kind.name for kind in field.types]
            if kinds[0] == "ARRAY":
                items = field.contents()
                lines.append(f"kv {field.name} ARRAY {kinds[1]} " +
                             " ".join(text_of(item, kinds[1]) for item in items))
            else:
                lines.append(f"kv {field.name} {kinds[0]} {text_of(field.contents(), kinds[0])}")
        found = recipes(tensors)
        for tensor in reader.tensors:
            if not WANTED.match(tensor.name):
                continue
            shape = [int(n) for n in reversed(tensor.shape)]
            if tensor.tensor_type.name != "F32":
                raise ValueError(f"{tensor.name} is {tensor.tensor_type.name}")
            data = np.ascontiguousarray(tensor.data, dtype="<f4").reshape(shape)
            recipe = found.get((tuple(shape), data.tobytes())) or \
                found.get(((data.size,), data.tobytes()))
            if recipe is None:
                recipe = gathered(tensors, data)
            if recipe is None and data.size <= 64:
                recipe = "values " + " ".join("%.9g" % x for x in data.reshape(-1))
            if recipe is None:
                raise ValueError(f"{tensor.name} {shape} comes from nothing that is tried here")
            lines.append(f"tensor {tensor.name} {','.join(map(str, shape))} {recipe}")
    return "\n".join(lines) + "\nend\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("llama_cpp")
    parser.add_argument("goldens")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    sys.path[:0] = [args.llama_cpp, os.path.join(args.llama_cpp, "gguf-py")]
    known = args.folder if args.check else args.goldens
    names = args.names or sorted(name[:-4] for name in os.listdir(known))
    failed = []
    for name in names:
        path = os.path.join(args.folder, name + ".txt")
        try:
            text = facts_of(args.goldens, name)
        except (Exception, SystemExit) as error:
            if os.environ.get("GOLDENS_TRACE"):
                raise
            print(f"{name}: {type(error).__name__}: {str(error)[:150]}", flush=True)
            failed.append(name)
            continue
        if not args.check:
            with open(path, "w") as file:
                file.write(text)
            print(f"{name}: {text.count('tensor ')} tensors", flush=True)
        elif open(path).read() != text:
            print(f"{name}: differs from {path}")
            failed.append(name)
    print(f"{len(names) - len(failed)} models, not {len(failed)}: {' '.join(failed)}")
    return args.check and bool(failed)


if __name__ == "__main__":
    sys.exit(main())
