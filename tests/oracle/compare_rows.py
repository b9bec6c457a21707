"""Rows looked up in quantized matrices, against the reference's dequantization of those rows: every
type that the gguf package can decode. `compare_rows.py TENON`."""
import os
import sys

import gguf
import numpy as np
import random_gguf
import reference

IDS = [0, 5, 2, 39, 5]
ROWS, COLUMNS = 40, 512


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


def main():
    comparison = reference.Comparison(sys.argv[1])
    path = os.path.join(comparison.folder, "rows.gguf")
    kinds = list(random_gguf.decodable(COLUMNS))
    for kind in kinds:
        data = random_gguf.encoded(kind, ROWS, COLUMNS, np.random.default_rng(int(kind)))
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
