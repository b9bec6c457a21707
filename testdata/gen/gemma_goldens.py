#!/usr/bin/env python3
"""Scaled rows of a real quantized model, as hashes.

    gemma_goldens.py MODEL OUT_FILE
    gemma_goldens.py --check MODEL FILE

MODEL is gemma-3-270m-q4_k_m.gguf. Rows of its input matrix are dequantized by the gguf package and
multiplied by the float32 root of the width, as llama.cpp does; of each the file has FNV-1a of its
bytes, and its first values. The format is described in testdata/golden/README.md.
"""

import argparse

import gguf
import numpy as np

IDS = (0, 1, 2, 3, 105, 106, 107, 108, 200, 999, 1000, 4242, 65535, 65536, 123456, 200001, 235265,
       255999, 262142, 262143)


def fnv(data):
    h = 14695981039346656037
    for byte in data:
        h = (h ^ byte) * 1099511628211 & (2**64 - 1)
    return h


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("model")
    parser.add_argument("file")
    args = parser.parse_args()
    matrix = next(t for t in gguf.GGUFReader(args.model).tensors if t.name == "token_embd.weight")
    rows = gguf.quants.dequantize(matrix.data[list(IDS)], matrix.tensor_type).astype("<f4")
    rows *= np.sqrt(np.float32(rows.shape[1]))
    lines = [f"id {i} {fnv(row.tobytes()):016x} " + " ".join("%.9g" % x for x in row[:4])
             for i, row in zip(IDS, rows)]
    text = "\n".join(lines) + "\nend\n"
    if args.check:
        raise SystemExit(open(args.file).read() != text)
    with open(args.file, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
