"""GGUF files written by the reference package, with everything random, and real ones: tenon must
see in them what the reference reader sees. `compare_gguf.py TENON`."""
import os
import sys

import gguf
import numpy as np
import random_gguf
import reference
from gguf import GGUFValueType as Type
from random_gguf import NAMES

FILES = 220


def write(path, rng_seed, endian):
    rng = reference.generator(rng_seed)
    alignment = rng.choice([8, 16, 64, 128]) if rng.random() < 0.3 else None
    random_gguf.write(path, endian, random_gguf.random_meta(rng), random_gguf.random_tensors(rng),
                      alignment)


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
