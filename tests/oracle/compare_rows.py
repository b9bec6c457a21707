"""Rows looked up in quantized matrices, against the reference's dequantization of those rows: every
type that the gguf package can decode. `compare_rows.py TENON`."""
import os
import sys

import gguf
import numpy as np
import reference

IDS = [0, 5, 2, 39, 5]
ROWS, COLUMNS = 40, 512


def encoded(kind, rng):
    """A matrix in that type: quantized by the reference, or well-formed random blocks."""
    values = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    try:
        return gguf.quants.quantize(values, kind)
    except NotImplementedError:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        # Bytes below 0x3c cannot make an infinite binary16 scale, wherever it stands.
        return rng.integers(0, 0x3C, (ROWS, COLUMNS // block * size), dtype=np.uint8)


def write(path, kind, data):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(COLUMNS)
    raw = None if kind in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16) else kind
    writer.add_tensor("token_embd.weight", data, raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def decodable():
    for kind in gguf.GGMLQuantizationType:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        try:
            gguf.quants.dequantize(np.zeros((1, COLUMNS // block * size), dtype=np.uint8), kind)
        except (NotImplementedError, ValueError, TypeError):
            continue
        yield kind


def main():
    comparison = reference.Comparison(sys.argv[1])
    path = os.path.join(comparison.folder, "rows.gguf")
    kinds = list(decodable())
    for kind in kinds:
        data = encoded(kind, np.random.default_rng(int(kind)))
        write(path, kind, data)
        ids = ",".join(map(str, IDS))
        ours = comparison.ask("embed", "--stage", "token", "--json", "--ids", ids, path)
        if ours is not None:
            theirs = gguf.quants.dequantize(data[IDS], kind).astype(np.float32).tolist()
            comparison.same(kind.name, "rows", ours["values"], theirs, np.float32)
        comparison.files += 1
    print(" ".join(kind.name for kind in kinds))
    comparison.finish(26)


main()
