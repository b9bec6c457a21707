"""Random dictionaries of tensors through `tenon convert`: what it writes must be what the reference
package writes, byte for byte, and its reader must open it; and also a copy with one more pair of
metadata, which keeps the style of the input.

The input is written here, by nobody's writer: entries in any order, odd spacing, any padding. The
reference has metadata of several keys in random order; there the expected bytes are those with the
keys sorted, made from the reference's own header."""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import numpy
from safetensors import TensorSpec, safe_open, serialize

TENON = sys.argv[1]
FILES = 300

# Names in headers, names that the package takes, bits of an element.
DTYPES = [("BOOL", "bool", 8), ("U8", "uint8", 8), ("I8", "int8", 8), ("U16", "uint16", 16),
          ("I16", "int16", 16), ("F16", "float16", 16), ("BF16", "bfloat16", 16),
          ("U32", "uint32", 32), ("I32", "int32", 32), ("F32", "float32", 32),
          ("U64", "uint64", 64), ("I64", "int64", 64), ("F64", "float64", 64),
          ("C64", "complex64", 64), ("F8_E4M3", "float8_e4m3fn", 8), ("F8_E5M2", "float8_e5m2", 8),
          ("F8_E8M0", "float8_e8m0fnu", 8), ("F8_E4M3FNUZ", "float8_e4m3fnuz", 8),
          ("F8_E5M2FNUZ", "float8_e5m2fnuz", 8), ("F4", "float4_e2m1fn_x2", 4)]
ALPHABET = "abcXYZ019._-/ \"\\\b\f\n\r\t\x01\x1f\x7f\u00e9\u4e16\uffff\U0001f600{}[]:,"


def random_name(rng):
    if rng.random() < 0.5:
        return "model.layers.%d.%s.weight" % (rng.randrange(40), rng.choice(["q", "k", "v", "up"]))
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(12)))


def random_tensors(rng):
    tensors = {}
    for _ in range(rng.randrange(13)):
        dtype, package, bits = rng.choice(DTYPES)
        shape = [rng.choice([0, 1, 2, 3, 5, 8]) for _ in range(rng.randrange(4))]
        if bits < 8:  # the package counts pairs in the last dimension
            shape = shape or [1]
            shape[-1] *= 2
        n = bits
        for size in shape:
            n *= size
        if dtype == "BOOL":
            data = bytes(rng.randrange(2) for _ in range(n // 8))
        else:
            data = rng.randbytes(n // 8)
        tensors[random_name(rng)] = (dtype, package, shape, data)
    tensors.pop("__metadata__", None)
    return tensors


def random_metadata(rng):
    n = rng.choice([0, 0, 1, 1, 2, 5])
    return {random_name(rng) + str(i): random_name(rng) for i in range(n)}


def spaces(rng):
    return rng.choice(["", "", " ", "\n", "\t "])


def scrambled(rng, tensors, metadata):
    """A file of these tensors that no writer would make."""
    names = list(tensors)
    rng.shuffle(names)
    places, data = {}, b""
    for name in names:
        places[name] = [len(data), len(data) + len(tensors[name][3])]
        data += tensors[name][3]
    rng.shuffle(names)
    members = [(name, {"dtype": tensors[name][0], "shape": tensors[name][2],
                       "data_offsets": places[name]}) for name in names]
    if metadata:
        members.insert(rng.randrange(len(members) + 1), ("__metadata__", metadata))
    ascii_only = rng.random() < 0.5
    text = ",".join(spaces(rng) + json.dumps(name, ensure_ascii=ascii_only) + spaces(rng) + ":" +
                    spaces(rng) + json.dumps(value, ensure_ascii=ascii_only) + spaces(rng)
                    for name, value in members)
    header = ("{" + text + "}" + " " * rng.randrange(20)).encode()
    return struct.pack("<Q", len(header)) + header + data


def sort_metadata(raw, metadata):
    """The reference's file with the keys of its metadata sorted by their bytes."""
    n = struct.unpack("<Q", raw[:8])[0]
    header = raw[8:8 + n]
    text = header.decode().rstrip(" ")
    pairs = {}
    decoder = json.JSONDecoder()
    start = at = len('{"__metadata__":{')
    while text[at - 1] != "}":  # each pair as the reference spells it
        key, after_key = decoder.raw_decode(text, at)
        _, end = decoder.raw_decode(text, after_key + 1)
        pairs[key.encode()] = text[at:end]
        at = end + 1
    assert len(pairs) == len(metadata)
    ordered = ",".join(pairs[key] for key in sorted(pairs))
    new = text[:start] + ordered + text[at - 1:]
    return raw[:8] + new.encode() + header[len(new.encode()):] + raw[8 + n:]


def reference(tensors, metadata):
    keep = {name: numpy.frombuffer(data or b"\0", dtype=numpy.uint8)
            for name, (_, _, _, data) in tensors.items()}
    specs = {}
    for name, (_, package, shape, data) in tensors.items():
        given = list(shape)
        if package == "float4_e2m1fn_x2":
            given[-1] //= 2
        specs[name] = TensorSpec(dtype=package, shape=given, data_ptr=keep[name].ctypes.data,
                                 data_len=len(data))
    raw = serialize(specs, metadata or None)
    return sort_metadata(raw, metadata) if len(metadata) > 1 else raw


def check_reading(path, tensors, metadata):
    """The reference must see the same in it; offsets it does not tell."""
    with open(path, "rb") as file:
        raw = file.read()
    n = struct.unpack("<Q", raw[:8])[0]
    entries = json.loads(raw[8:8 + n])
    with safe_open(path, framework="numpy") as opened:
        assert set(opened.keys()) == set(tensors)
        assert (opened.metadata() or {}) == metadata
        for name, (dtype, _, shape, data) in tensors.items():
            begin, end = entries[name]["data_offsets"]
            piece = opened.get_slice(name)
            assert piece.get_dtype() == dtype and list(piece.get_shape()) == shape
            assert raw[8 + n + begin:8 + n + end] == data


def compare(rng, folder, seen):
    tensors, metadata = random_tensors(rng), random_metadata(rng)
    given, written = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    with open(given, "wb") as file:
        file.write(scrambled(rng, tensors, metadata))
    subprocess.run([TENON, "convert", given, "-o", written, "--to", "safetensors", "--force"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(written, "rb") as file:
        got = file.read()
    wanted = reference(tensors, metadata)
    if got != wanted:
        print("got   ", got[:600])
        print("wanted", wanted[:600])
        sys.exit("they differ")
    check_reading(written, tensors, metadata)
    subprocess.run([TENON, "edit", given, "--set", "tenon key=value", "-o", written, "--force"],
                   check=True, stdout=subprocess.DEVNULL)
    check_reading(written, tensors, {**metadata, "tenon key": "value"})
    seen.update(dtype for dtype, _, _, _ in tensors.values())


def main():
    rng = random.Random(20)
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(FILES):
            compare(rng, folder, seen)
    missing = {dtype for dtype, _, _ in DTYPES} - seen
    if missing:
        sys.exit("never written: %s" % ", ".join(sorted(missing)))
    print("%d files as the reference writes them, %d element types" % (FILES, len(seen)))


main()
