"""safetensors files written by the reference package, with everything random, and real ones: tenon
must see in them what the reference reader sees. `compare_safetensors.py TENON`."""
import json
import os
import sys

import numpy as np
import reference
from safetensors import SafetensorError, TensorSpec, safe_open, serialize_file

FILES = 220
# dtype -> (name that the writer takes, bits)
DTYPES = {
    "F64": ("float64", 64), "F32": ("float32", 32), "F16": ("float16", 16),
    "BF16": ("bfloat16", 16), "I64": ("int64", 64), "I32": ("int32", 32), "I16": ("int16", 16),
    "I8": ("int8", 8), "U64": ("uint64", 64), "U32": ("uint32", 32), "U16": ("uint16", 16),
    "U8": ("uint8", 8), "BOOL": ("bool", 8), "C64": ("complex64", 64),
    "F8_E4M3": ("float8_e4m3fn", 8), "F8_E5M2": ("float8_e5m2", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8), "F8_E4M3FNUZ": ("float8_e4m3fnuz", 8),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", 8),
}


def random_tensors(rng):
    tensors = {}
    for i in range(rng.randrange(0, 16)):
        dtype = rng.choice(list(DTYPES))
        shape = rng.choice([[], [0], reference.random_shape(rng), [2, 0, 3],
                            reference.random_shape(rng, 8, 3)])
        n = int(np.prod(shape, dtype=np.uint64)) * DTYPES[dtype][1] // 8
        data = np.frombuffer(rng.randbytes(n), np.uint8).copy()
        tensors[f"t{i}.{reference.random_text(rng, 12)}"] = DTYPES[dtype][0], shape, data
    return tensors


def write(path, rng):
    metadata = {reference.random_text(rng): reference.random_text(rng, 200)
                for _ in range(rng.randrange(0, 5))}
    tensors = random_tensors(rng)
    specs = {name: TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=data.size)
             for name, (dtype, shape, data) in tensors.items()}
    serialize_file(specs, path, metadata or None)


def header(path):
    """Offsets, which the reference reader does not tell: from the header by Python's own JSON."""
    with open(path, "rb") as file:
        n = int.from_bytes(file.read(8), "little")
        return 8 + n, json.loads(file.read(n))


def compare_meta(c, path, reader):
    ours = c.ask("meta", "--json", "--full", path)
    if ours is None:
        return
    theirs = reader.metadata() or {}
    c.same(path, "number of pairs", len(ours["entries"]), len(theirs))
    for entry in ours["entries"]:
        c.same(path, f"value of {entry['key']!r}", entry["value"], theirs.get(entry["key"]))


def compare_tensors(c, path, reader):
    ours = c.ask("ls", "--json", path)
    if ours is None:
        return
    data, entries = header(path)
    mine = {t["name"]: t for t in ours["tensors"]}
    c.same(path, "names", sorted(mine), sorted(reader.keys()))
    for name in reader.keys():
        piece, tensor = reader.get_slice(name), mine.get(name)
        if tensor is None:
            continue
        begin, end = entries[name]["data_offsets"]
        c.same(path, f"dtype of {name}", tensor["dtype"], piece.get_dtype())
        c.same(path, f"shape of {name}", tensor["shape"], list(piece.get_shape()))
        c.same(path, f"offset of {name}", tensor["offset"], data + begin)
        c.same(path, f"bytes of {name}", tensor["bytes"], end - begin)


def compare_file(c, path):
    with safe_open(path, "np") as reader:
        c.files += 1
        compare_meta(c, path, reader)
        compare_tensors(c, path, reader)


def main():
    c = reference.Comparison(sys.argv[1])
    path = os.path.join(c.folder, "random.safetensors")
    for seed in range(FILES):
        write(path, reference.generator(seed))
        compare_file(c, path)
    link = os.path.join(c.folder, "real.safetensors")
    for name in reference.found_files(".safetensors", link):
        try:
            compare_file(c, link)
        except SafetensorError as error:
            print(f"{name}: left out, the reference says: {error}")
    c.finish(FILES)


main()
