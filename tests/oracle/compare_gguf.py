"""GGUF files written by the reference package, with everything random, and real ones: tenon must
see in them what the reference reader sees. `compare_gguf.py TENON`."""
import os
import sys

import gguf
import numpy as np
import reference
from gguf import GGMLQuantizationType as Quant, GGUFValueType as Type

FILES = 220
NAMES = {Type.UINT8: "u8", Type.INT8: "i8", Type.UINT16: "u16", Type.INT16: "i16",
         Type.UINT32: "u32", Type.INT32: "i32", Type.FLOAT32: "f32", Type.BOOL: "bool",
         Type.STRING: "string", Type.UINT64: "u64", Type.INT64: "i64", Type.FLOAT64: "f64"}
RANGES = {Type.UINT8: (0, 2**8), Type.INT8: (-2**7, 2**7), Type.UINT16: (0, 2**16),
          Type.INT16: (-2**15, 2**15), Type.UINT32: (0, 2**32), Type.INT32: (-2**31, 2**31),
          Type.UINT64: (0, 2**64), Type.INT64: (-2**63, 2**63)}
PLAIN = (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64)
# Types with a big-endian form that the reference writer knows.
BLOCKS = (Quant.Q4_0, Quant.Q8_0, Quant.Q4_K, Quant.Q6_K)


def random_value(rng, kind):
    if kind == Type.STRING:
        return reference.random_text(rng)
    if kind == Type.BOOL:
        return rng.random() < 0.5
    if kind == Type.FLOAT32:
        return float(np.float32(rng.choice([0.0, -0.0, 0.1, 1e-45, 3.4e38, float("inf"),
                                            float("nan"), rng.uniform(-1e6, 1e6)])))
    if kind == Type.FLOAT64:
        return rng.choice([0.1, 5e-324, 1.7e308, float("-inf"), rng.uniform(-1e9, 1e9)])
    low, high = RANGES[kind]
    return rng.choice([low, high - 1, rng.randrange(low, high)])


def random_meta(rng):
    """(key, type, element type or None, value) for every type, in random order."""
    pairs = []
    for kind in NAMES:
        for array in (False, True):
            key = f"k.{NAMES[kind]}.{array}.{reference.random_text(rng, 6)}"
            if array:
                value = [random_value(rng, kind) for _ in range(rng.randrange(1, 9))]
                pairs.append((key, Type.ARRAY, kind, value))
            else:
                pairs.append((key, kind, None, random_value(rng, kind)))
    rng.shuffle(pairs)
    return pairs


def random_tensors(rng):
    tensors = []
    for i in range(rng.randrange(1, 12)):
        name = f"t{i}.{reference.random_text(rng, 12)}"
        shape = reference.random_shape(rng)
        if rng.random() < 0.7:
            dtype = rng.choice(PLAIN)
            bits = np.frombuffer(rng.randbytes(int(np.prod(shape)) * np.dtype(dtype).itemsize),
                                 np.uint8)
            tensors.append((name, bits.view(dtype).reshape(shape), None))
        else:
            kind = rng.choice(BLOCKS)
            elements, size = gguf.GGML_QUANT_SIZES[kind]
            row = rng.randrange(1, 3) * size
            shape = shape[:3] + [row]
            data = np.frombuffer(rng.randbytes(int(np.prod(shape))), np.uint8).reshape(shape)
            tensors.append((name, data, kind))
    return tensors


def write(path, rng_seed, endian):
    rng = reference.generator(rng_seed)
    writer = gguf.GGUFWriter(path, "llama", endianess=endian)
    if rng.random() < 0.3:
        writer.add_custom_alignment(rng.choice([8, 16, 64, 128]))
    for key, kind, item, value in random_meta(rng):
        writer.add_key_value(key, value, kind, sub_type=item)
    for name, data, kind in random_tensors(rng):
        writer.add_tensor(name, data.copy(), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare_meta(c, path, reader):
    ours = c.ask("meta", "--json", "--full", path)
    if ours is None:
        return
    fields = [f for f in reader.fields.values() if not f.name.startswith("GGUF.")]
    entries = ours["entries"]
    c.same(path, "number of pairs", len(entries), len(fields))
    for entry, field in zip(entries, fields):
        c.same(path, "key", entry["key"], field.name)
        kind = NAMES.get(field.types[0], "array")
        if field.types[0] == Type.ARRAY:
            item = NAMES.get(field.types[-1]) if len(field.types) > 1 else None
            if item is None or not field.data:  # an empty array: the reader forgets its type
                c.same(path, field.name, entry["value"], [])
                continue
            kind = f"array<{item}>"
        c.same(path, f"type of {field.name}", entry["type"], kind)
        value = field.contents()
        narrow = np.float32 if Type.FLOAT32 in field.types else float
        c.same(path, field.name, entry["value"], plain(value), narrow)


def plain(value):
    """numpy's values as Python's own."""
    if isinstance(value, (list, np.ndarray)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def compare_tensors(c, path, reader):
    ours = c.ask("ls", "--json", path)
    if ours is None:
        return
    tensors = ours["tensors"]
    c.same(path, "number of tensors", len(tensors), len(reader.tensors))
    for mine, theirs in zip(tensors, reader.tensors):
        c.same(path, "name", mine["name"], theirs.name)
        c.same(path, f"dtype of {theirs.name}", mine["dtype"], theirs.tensor_type.name)
        c.same(path, f"shape of {theirs.name}", mine["shape"],
               [int(n) for n in reversed(theirs.shape)])
        c.same(path, f"elements of {theirs.name}", mine["parameters"], int(theirs.n_elements))
        c.same(path, f"bytes of {theirs.name}", mine["bytes"], int(theirs.n_bytes))
        c.same(path, f"offset of {theirs.name}", mine["offset"], int(theirs.data_offset))


def compare_file(c, path):
    reader = gguf.GGUFReader(path)
    c.files += 1
    compare_meta(c, path, reader)
    compare_tensors(c, path, reader)


def compare_twins(c, little, big):
    """The same model in the other byte order: everything but the file's name is the same."""
    for command in (["meta", "--full"], ["ls"], ["hash", "--values"]):
        a, b = (c.ask(*command, "--json", path) for path in (little, big))
        drop_names(a)
        drop_names(b)
        c.same(big, " ".join(command), a == b, True)


def drop_names(value):
    if isinstance(value, dict):
        for key in ("file", "path", "model", "hash", "xxh3"):
            if key != "hash":
                value.pop(key, None)
    for item in value.values() if isinstance(value, dict) else value or []:
        if isinstance(item, (dict, list)):
            drop_names(item)


def main():
    c = reference.Comparison(sys.argv[1])
    little, big = (os.path.join(c.folder, name) for name in ("little.gguf", "big.gguf"))
    for seed in range(FILES):
        write(little, seed, gguf.GGUFEndian.LITTLE)
        compare_file(c, little)
        if seed % 2 == 0:
            write(big, seed, gguf.GGUFEndian.BIG)
            compare_file(c, big)
            compare_twins(c, little, big)
    link = os.path.join(c.folder, "real.gguf")
    for name in reference.found_files(".gguf", link):
        with open(link, "rb") as file:
            head = file.read(8)
        # The reference reads versions 2 and 3.
        if head[:4] != b"GGUF" or head[4] not in (2, 3):
            continue
        try:
            compare_file(c, link)
        except ValueError as error:
            print(f"{name}: left out, the reference says: {error}")
    c.finish(FILES)


main()
