#!/usr/bin/env python3
"""Rotations at long positions as PyTorch models and as ggml compute them.

    rope_goldens.py LIBGGML_BASE OUT_FILE
    rope_goldens.py --check LIBGGML_BASE FILE

Frequencies and cosines come from the rotary module of transformers' Llama, and from ggml_rope_ext
on vectors of ones and zeros; LIBGGML_BASE is ggml's base library, with libggml-cpu-x64 beside it.
The format of the file is described in testdata/golden/README.md.
"""

import argparse
import ctypes
import math
import os

import numpy as np
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

POSITIONS = (17, 4095, 131071)
GGML_F32, GGML_I32, NEOX = 0, 26, 2


def rotation(name, width, theta, scaling=None, most=131072, length=0, ggml=True, **params):
    return dict(name=name, width=width, theta=theta, scaling=scaling or "default", most=most,
                length=length, ggml=ggml, params=params)


# As released models have them, and widths that are no power of two.
ROTATIONS = (
    rotation("llama2", 128, 10000.0),
    rotation("llama3_base", 128, 500000.0),
    rotation("qwen2", 128, 1000000.0),
    rotation("phi3_mini", 96, 10000.0),
    rotation("phi2", 32, 10000.0),
    rotation("linear", 128, 10000.0, "linear", factor=8.0),
    rotation("dynamic", 128, 10000.0, "dynamic", most=4096, length=131072, ggml=False, factor=2.0,
             max_positions=4096),
    rotation("qwen_yarn", 128, 1000000.0, "yarn", factor=4.0, original=32768),
    rotation("gpt_oss", 64, 150000.0, "yarn", factor=32.0, original=4096, truncate=0),
    rotation("llama31", 128, 500000.0, "llama3", factor=8.0, low_freq_factor=1.0,
             high_freq_factor=4.0, original=8192),
    rotation("phi3_long", 96, 10000.0, "longrope", length=131072, original=4096,
             max_positions=131072,
             short_factors=[1 + i / 64 for i in range(48)],
             long_factors=[1 + i * i / 32 for i in range(48)]),
)


def of_transformers(r):
    """Frequencies, magnitude, and for each position cosines and sines."""
    names = {"original": "original_max_position_embeddings", "short_factors": "short_factor",
             "long_factors": "long_factor"}
    parameters = {"rope_type": r["scaling"], "rope_theta": r["theta"]}
    for key, value in r["params"].items():
        if key == "truncate":
            value = bool(value)
        if key != "max_positions":
            parameters[names.get(key, key)] = value
    if r["scaling"] == "longrope":
        parameters["factor"] = r["most"] / r["params"]["original"]
    config = LlamaConfig(hidden_size=2 * r["width"], num_attention_heads=2,
                         max_position_embeddings=r["most"], rope_parameters=parameters)
    module = LlamaRotaryEmbedding(config)
    angles = {}
    for position in POSITIONS:
        ids = torch.tensor([[position]])
        if r["length"]:
            ids = torch.tensor([[position, r["length"] - 1]])
        cosines, sines = module(torch.zeros(1, dtype=torch.float32), ids)
        half = r["width"] // 2
        angles[position] = (cosines[0, 0, :half].numpy(), sines[0, 0, :half].numpy())
    return module.inv_freq.numpy(), module.attention_scaling, angles


class Ggml:
    """As much of the library as one node needs."""

    def __init__(self, base):
        self.base = ctypes.CDLL(base, mode=ctypes.RTLD_GLOBAL)
        self.cpu = ctypes.CDLL(os.path.join(os.path.dirname(base), "libggml-cpu-x64.so"))
        pointer = ctypes.c_void_p
        for name in ("ggml_init", "ggml_new_tensor_3d", "ggml_new_tensor_1d", "ggml_rope_ext",
                     "ggml_new_graph", "ggml_get_data"):
            getattr(self.base, name).restype = pointer

    class Params(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p),
                    ("no_alloc", ctypes.c_bool)]

    def rope(self, width, x, positions, divisors, args):
        """`x` is positions x width; `args`: base, scale, ext, attn, beta_fast, beta_slow,
        original."""
        p, i64 = ctypes.c_void_p, ctypes.c_int64
        context = p(self.base.ggml_init(self.Params(1 << 22, None, False)))
        n = i64(len(positions))
        a = p(self.base.ggml_new_tensor_3d(context, GGML_F32, i64(width), i64(1), n))
        b = p(self.base.ggml_new_tensor_1d(context, GGML_I32, n))
        self.put(a, np.asarray(x, dtype="<f4"))
        self.put(b, np.asarray(positions, dtype="<i4"))
        c = p(None)
        if divisors is not None:
            c = p(self.base.ggml_new_tensor_1d(context, GGML_F32, i64(len(divisors))))
            self.put(c, np.asarray(divisors, dtype="<f4"))
        base, scale, ext, attn, fast, slow, original = args
        f = ctypes.c_float
        out = p(self.base.ggml_rope_ext(context, a, b, c, width, NEOX, original, f(base), f(scale),
                                        f(ext), f(attn), f(fast), f(slow)))
        graph = p(self.base.ggml_new_graph(context))
        self.base.ggml_build_forward_expand(graph, out)
        self.cpu.ggml_graph_compute_with_ctx(context, graph, 1)
        count = len(positions) * width
        data = ctypes.cast(p(self.base.ggml_get_data(out)), ctypes.POINTER(ctypes.c_float))
        result = np.ctypeslib.as_array(data, (count,)).copy().reshape(len(positions), width)
        self.base.ggml_free(context)
        return result

    def put(self, tensor, array):
        ctypes.memmove(self.base.ggml_get_data(tensor), array.ctypes.data, array.nbytes)


def of_ggml(ggml, r):
    """The same from ggml, with the arguments that llama.cpp gives it."""
    params, half = r["params"], r["width"] // 2
    scale, ext, attn, divisors, original = 1.0, 0.0, 1.0, None, 0
    if r["scaling"] in ("linear", "yarn"):
        scale = 1 / params["factor"]
    if r["scaling"] == "yarn":
        # The kernel multiplies by 1 + 0.1 ln(s) itself, which is the magnitude that is wanted.
        ext, original = 1.0, params["original"]
    if r["scaling"] == "llama3":
        divisors = llama3_divisors(r)
    if r["scaling"] == "longrope":
        divisors = np.asarray(params["long_factors"], dtype="<f4")
        original = params["original"]
        attn = math.sqrt(1 + math.log(r["most"] / original) / math.log(original))
        original = 0
    x = np.zeros((len(POSITIONS), r["width"]), dtype="<f4")
    x[:, :half] = 1
    y = ggml.rope(r["width"], x, POSITIONS, divisors,
                  (r["theta"], scale, ext, attn, 32.0, 1.0, original))
    return {p: (y[i, :half], y[i, half:]) for i, p in enumerate(POSITIONS)}, divisors


def llama3_divisors(r):
    """rope_freqs.weight as the reference converter computes it."""
    params, divisors = r["params"], []
    low = params["original"] / params["low_freq_factor"]
    high = params["original"] / params["high_freq_factor"]
    for i in range(0, r["width"], 2):
        frequency = 1.0 / (r["theta"] ** (i / r["width"]))
        length = 2 * math.pi / frequency
        if length < high:
            divisors.append(1.0)
        elif length > low:
            divisors.append(params["factor"])
        else:
            smooth = (params["original"] / length - params["low_freq_factor"]) / \
                (params["high_freq_factor"] - params["low_freq_factor"])
            divisors.append(1 / ((1 - smooth) / params["factor"] + smooth))
    return np.asarray(divisors, dtype="<f4")


def row(word, values):
    return word + " " + " ".join("%.9g" % x for x in np.asarray(values, dtype=np.float32).ravel())


def text_of(ggml, r):
    lines = [f"rotation {r['name']}", f"scaling {r['scaling']}", f"width {r['width']}",
             "theta %.9g" % r["theta"]]
    if r["length"]:
        lines.append(f"length {r['length']}")
    lines += [row(key, value) for key, value in r["params"].items()]
    frequencies, magnitude, angles = of_transformers(r)
    lines += [row("hf_magnitude", [magnitude]), row("hf_frequencies", frequencies)]
    theirs, divisors = of_ggml(ggml, r) if r["ggml"] else ({}, None)
    if divisors is not None:
        lines.append(row("ggml_divisors", divisors))
    for position in POSITIONS:
        lines.append(f"at {position}")
        lines += [row("hf_cos", angles[position][0]), row("hf_sin", angles[position][1])]
        if r["ggml"]:
            lines += [row("ggml_cos", theirs[position][0]), row("ggml_sin", theirs[position][1])]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("ggml")
    parser.add_argument("file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    ggml = Ggml(args.ggml)
    text = "".join(text_of(ggml, r) for r in ROTATIONS) + "end\n"
    if args.check:
        raise SystemExit(open(args.file).read() != text)
    with open(args.file, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
