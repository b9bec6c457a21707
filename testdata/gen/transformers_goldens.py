#!/usr/bin/env python3
"""What transformers computes in front of the first block, as small numbers.

    transformers_goldens.py OUT_FOLDER [NAME ...]     write the files anew
    transformers_goldens.py --check FOLDER [NAME ...] compute again and compare

For every row of transformers_families.py: a checkpoint of tiny size whose values follow from the
names of its tensors, opened by the reference; the vectors that enter the first block, and the
queries and keys of that block as they enter the inner product, are caught by hooks. The format of
the files is described in testdata/golden/README.md.

Needs torch and transformers in the versions below.
"""

import argparse
import contextlib
import importlib
import json
import os
import struct
import sys
import tempfile

import numpy as np
import torch
import transformers
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import transformers_families as families

VERSIONS = {"torch": "2.15.0", "transformers": "5.24.0"}
DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
MASK = 2**64 - 1


def seed_of(name):
    """FNV-1a of the tensor's name."""
    seed = 1469598103934665603
    for byte in name.encode():
        seed = (seed ^ byte) * 1099511628211 & MASK
    return seed


def values_of(name, shape):
    """The rule of gen_value() in gen.c: splitmix64 of seed and index, k/128 with |k| <= 127."""
    count = int(np.prod(shape, dtype=np.int64))
    with np.errstate(over="ignore"):
        state = np.uint64(seed_of(name) * 0x2545F4914F6CDD1D & MASK)
        state = state + np.arange(count, dtype=np.uint64)
        z = state + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    k = (z % np.uint64(255)).astype(np.int64) - 127
    return (k / 128.0).astype(np.float32).reshape(shape)


def header_of(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"]) for name, entry in header.items()}


def write_checkpoint(folder, config, tensors):
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    payload, header = {}, {}
    for name, (dtype, shape) in tensors.items():
        payload[name] = torch.from_numpy(values_of(name, shape)).to(DTYPES[dtype])
    from safetensors.torch import save_file
    save_file(payload, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})


def tensors_of(family, folder):
    """Names and shapes that the reference itself would save."""
    config_class = transformers.CONFIG_MAPPING[family.config["model_type"]]
    config = config_class.from_dict(dict(family.config))
    config.dtype = DTYPES[family.dtype]
    model = getattr(transformers, family.class_name)._from_config(config)
    model.to(DTYPES[family.dtype]).save_pretrained(folder)
    found = header_of(os.path.join(folder, "model.safetensors"))
    # Released files have neither tables that follow from the config nor the oldest names of norms.
    newer = lambda name: name.replace("Norm.gamma", "Norm.weight").replace("Norm.beta", "Norm.bias")
    return {newer(name): entry for name, entry in found.items() if not is_computed(family, name)}


def is_computed(family, name):
    return name.endswith(("inv_freq",) + family.computed)


def module_at(model, path):
    for part in path.split("."):
        model = model[int(part)] if part.isdigit() else getattr(model, part)
    return model


class Caught:
    """What the hooks have seen of the first block; first call wins."""

    def __init__(self):
        self.input = self.q = self.k = None

    def block(self, _module, args, kwargs):
        if self.input is None:
            self.input = (args[0] if args else kwargs["hidden_states"]).detach().clone()

    def heads(self, q, k):
        """[batch, heads, tokens, width] -> [tokens, heads * width]."""
        if self.input is not None and self.q is None:
            flat = lambda x: x[0].transpose(0, 1).reshape(x.shape[2], -1).detach().clone()
            self.q, self.k = flat(q), flat(k)

    def attention(self, module, query, key, value, mask, **kwargs):
        self.heads(query, key)
        # A result of the right form is enough: what follows is not looked at.
        repeat = query.shape[1] // value.shape[1]
        return value.repeat_interleave(repeat, dim=1).transpose(1, 2).contiguous(), None

    def projected(self, which, part):
        """Hook for a projection whose output [batch, tokens, width] holds `part` = (i, n)."""
        def hook(_module, _args, output):
            if self.input is not None and getattr(self, which) is None:
                i, n = part
                setattr(self, which, output[0].chunk(n, dim=-1)[i].detach().clone())
        return hook


@contextlib.contextmanager
def recording(model, family, caught):
    block = module_at(model, family.block)
    handles = [block.register_forward_pre_hook(caught.block, with_kwargs=True)]
    if isinstance(family.qk, tuple):
        for place, (which, path) in enumerate(zip("qk", family.qk)):
            part = (place, 3) if family.fused else (0, 1)
            hook = caught.projected(which, part)
            handles.append(module_at(model, path).register_forward_hook(hook))
    undo = wrap_function(family, caught) if isinstance(family.qk, families.Wrapped) else None
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        if undo:
            undo()


def wrap_function(family, caught):
    """Looks at what a function of the family's module returns."""
    owner = importlib.import_module(family.qk.module)
    *path, name = family.qk.name.split(".")
    for part in path:
        owner = getattr(owner, part)
    stored = owner.__dict__[name]
    plain = getattr(owner, name)

    def wrapper(*args, **kwargs):
        result = plain(*args, **kwargs)
        caught.heads(*family.qk.heads(args, result))
        return result

    setattr(owner, name, staticmethod(wrapper) if isinstance(stored, staticmethod) else wrapper)
    return lambda: setattr(owner, name, stored)


def run_model(family, folder, dtype):
    caught = Caught()
    ALL_ATTENTION_FUNCTIONS.register("record", caught.attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register("record", ALL_MASK_ATTENTION_FUNCTIONS["eager"])
    model, info = getattr(transformers, family.class_name).from_pretrained(
        folder, dtype=dtype, output_loading_info=True,
        attn_implementation="record" if family.qk == "interface" else "eager")
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if any(not is_computed(family, str(key)) for key in info[what]):
            raise ValueError(f"{what}: {info[what]}")
    model.eval()
    with torch.no_grad(), recording(model, family, caught):
        try:
            tower = module_at(model, family.tower) if family.tower else model
            tower(**inputs_of(family, model))
        except Exception:
            # What comes after the first block may be of no use with the recorded attention.
            if caught.input is None or (family.qk and caught.q is None):
                raise
    return model, caught


def inputs_of(family, model):
    if family.image:
        shape = (1, 3, *family.image)
        dtype = next(model.parameters()).dtype
        pixels = torch.from_numpy(values_of("pixel_values", shape)).to(dtype)
        return {"pixel_values": pixels, **family.extra}
    kwargs = {family.argument: torch.tensor([family.ids])}
    if family.positions is not None:
        positions = torch.tensor(family.positions)
        kwargs["position_ids"] = positions[:, None] if positions.dim() == 2 else positions[None]
    if family.types is not None:
        kwargs["token_type_ids"] = torch.tensor([family.types])
    if family.decoder and family.argument == "input_ids":
        kwargs["decoder_input_ids"] = kwargs["input_ids"]
    if family.features:
        dtype = next(model.parameters()).dtype
        kwargs["input_features"] = torch.zeros((1, *family.features), dtype=dtype)
    kwargs.update(family.extra)
    return kwargs


def format_matrix(word, matrix):
    matrix = matrix.reshape(-1, matrix.shape[-1]).float().numpy()
    lines = [f"{word} {matrix.shape[0]} {matrix.shape[1]}"]
    lines += [" ".join("%.9g" % x for x in row) for row in matrix]
    return lines


def golden_of(family):
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as folder:
        tensors = tensors_of(family, made)
        write_checkpoint(folder, family.config, tensors)
        model, caught = run_model(family, folder, DTYPES[family.compute])
        exact = caught
        if family.compute == "F32":
            _, exact = run_model(family, folder, torch.float64)
    lines = [f"class {family.class_name}", "config " + json.dumps(family.config)]
    for name in sorted(tensors):
        dtype, shape = tensors[name]
        lines.append(f"tensor {name} {dtype} {','.join(map(str, shape)) or '-'}")
    if family.image:
        lines.append(f"pixels 3 {family.image[0]} {family.image[1]}")
    else:
        lines.append("ids " + " ".join(map(str, family.ids)))
    streams = family.positions
    if streams is not None:
        streams = streams if isinstance(streams[0], list) else [streams]
        lines += ["positions " + " ".join(map(str, s)) for s in streams]
    if family.types is not None:
        lines.append("types " + " ".join(map(str, family.types)))
    if family.decoder:
        lines.append("side decoder")
    if family.compute != "F32":
        lines.append(f"compute {family.compute}")
    found = caught.input[0]
    if not family.image and is_lookup(model, family, found):
        lines.append("lookup")
    if family.scaled:
        lines.append("scaled")
    lines += format_matrix("input", found)
    own = [relative(found, exact.input[0])]
    if family.qk:
        lines += format_matrix("q", caught.q) + format_matrix("k", caught.k)
        own += [relative(caught.q, exact.q), relative(caught.k, exact.k)]
    lines.append("end")
    print(f"{family.name}: {len(tensors)} tensors, float32 against float64 " +
          " ".join("%.1e" % x for x in own), flush=True)
    return "\n".join(lines) + "\n"


def is_lookup(model, family, found):
    """Whether nothing is done to the rows of the matrix."""
    matrix = (module_at(model, family.tower) if family.tower else model).get_input_embeddings()
    weight = getattr(matrix, "weight", None)
    if weight is None or weight.shape[1] != found.shape[-1]:
        return False
    return torch.equal(weight[torch.tensor(family.ids)].float(), found.float())


def relative(a, b):
    """The largest difference over the largest value, row by row; the worst row."""
    a, b = (x.reshape(-1, x.shape[-1]).double() for x in (a, b))
    return float(((a - b).abs().amax(1) / b.abs().amax(1).clamp(min=1e-300)).max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    for name, module in (("torch", torch), ("transformers", transformers)):
        if module.__version__.split("+")[0] != VERSIONS[name]:
            raise SystemExit(f"{name} {VERSIONS[name]} is needed, found {module.__version__}")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    failed = []
    for family in families.FAMILIES:
        if args.names and family.name not in args.names:
            continue
        path = os.path.join(args.folder, family.name + ".txt")
        try:
            text = golden_of(family)
        except Exception as error:
            if os.environ.get("GOLDENS_TRACE"):
                raise
            print(f"{family.name}: {type(error).__name__}: {error}", flush=True)
            failed.append(family.name)
            continue
        if not args.check:
            with open(path, "w") as file:
                file.write(text)
        elif open(path).read() != text:
            print(f"{family.name}: differs from {path}")
            failed.append(family.name)
    if failed:
        raise SystemExit("failed: " + " ".join(failed))


if __name__ == "__main__":
    main()
