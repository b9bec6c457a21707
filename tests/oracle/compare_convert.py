"""Conversions, bit for bit against numpy, ml_dtypes and the gguf package. `compare_convert.py TENON`.

Every number is worked out here by other programs' code from the same bits; NaN are as stated in
`cast`."""
import json
import os
import struct
import subprocess
import sys

import gguf
import ml_dtypes
import numpy
import random_gguf
import reference
import safetensors
from gguf import GGMLQuantizationType as Block

ROWS, WIDTH = 16, 512
CODES = {"F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2}
FLOATS = {"F64": numpy.float64, "F32": numpy.float32, "F16": numpy.float16,
          "BF16": ml_dtypes.bfloat16}
BITS = {8: numpy.uint64, 4: numpy.uint32, 2: numpy.uint16, 1: numpy.uint8}
CASTS = [("F32", "F16"), ("F32", "BF16"), ("F32", "F64"), ("BF16", "F16"), ("BF16", "F32"),
         ("F16", "F32"), ("F16", "BF16"), ("F64", "F32"), ("F64", "F16"), ("F64", "BF16")]
BLOCKS = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL",
          "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4")
# The package writes these, and its C twin the same bytes.
QUANTIZED = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0")


class Conversions(reference.Comparison):
    def __init__(self, tenon):
        super().__init__(tenon)
        self.wrong = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, source, target, *options, status=0):
        """Gives what the program said, or None when its status was another."""
        run = subprocess.run([self.tenon, "convert", source, "-o", target, "--force", "--no-sync",
                              *options], capture_output=True, check=False)
        self.files += 1
        if run.returncode != status:
            self.disagree(source, " ".join(options), f"{run.returncode}: {run.stderr.decode()}",
                          status)
            return None
        return run.stderr.decode()

    def same_bits(self, what, ours, theirs):
        """Two arrays of one type, of which every bit counts."""
        kind = BITS[theirs.dtype.itemsize]
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            self.disagree(what, "form", (ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
            return
        a, b = (numpy.ascontiguousarray(x).view(kind).reshape(-1) for x in (ours, theirs))
        self.values += a.size
        wrong = numpy.flatnonzero(a != b)
        if wrong.size:
            at = wrong[0]
            self.disagree(what, f"{wrong.size} of {a.size}, first number {at}", hex(a[at]),
                          hex(b[at]))


    def same_values(self, what, ours, theirs):
        """The same, but any NaN is as good as another."""
        theirs = theirs.copy()
        nan = numpy.isnan(theirs) & numpy.isnan(ours)
        theirs[nan] = ours[nan]
        self.same_bits(what, ours, theirs)


# --- files ---

INTEGERS = {"I64": numpy.int64, "I32": numpy.int32, "I16": numpy.int16, "I8": numpy.int8,
            "U8": numpy.uint8}
TYPES = {**FLOATS, **CODES, **INTEGERS}


def write_safetensors(path, tensors):
    """By hand, because the package wants pointers for types that numpy does not have."""
    header, data = {}, b""
    names = {numpy.dtype(kind): name for name, kind in TYPES.items()}
    for name, array in tensors.items():
        begin, data = len(data), data + array.tobytes()
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    """With the package, bytes as they are."""
    with open(path, "rb") as file:
        tensors = safetensors.deserialize(file.read())
    return {name: numpy.frombuffer(bytes(t["data"]), TYPES[t["dtype"]]).reshape(t["shape"])
            for name, t in tensors}


def write_gguf(path, tensors, endian=gguf.GGUFEndian.LITTLE):
    """`tensors`: name, array, and the type where the array is of bytes."""
    random_gguf.write(path, endian, [], tensors)


def read_gguf(path):
    return {t.name: t for t in gguf.GGUFReader(path).tensors}


# --- values ---

def edges(kind):
    """What is at the ends and the beginnings of shorter types, and half-way in them, with both signs
    and its neighbours."""
    marks = [0.0, 1.0, 65504.0, 65519.0, 65519.99, 65520.0, 65536.0, 448, 464, 57344, 61440,
             2.0 ** -14, 2.0 ** -24, 2.0 ** -25, 2.0 ** -26, 3 * 2.0 ** -25, 2.0 ** -126,
             2.0 ** -133, 2.0 ** -134, 3 * 2.0 ** -134, 2.0 ** -149, 2.0 ** -150, 3 * 2.0 ** -150,
             1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8, 1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11, 1 + 2.0 ** -24,
             1 + 3 * 2.0 ** -24,
             (2 - 2.0 ** -7) * 2.0 ** 127, (2 - 2.0 ** -8) * 2.0 ** 127, (2 - 2.0 ** -23) * 2.0 ** 127,
             (2 - 2.0 ** -24) * 2.0 ** 127]
    marks = numpy.array(marks).astype(kind)
    bits = marks[numpy.isfinite(marks)].view(BITS[marks.dtype.itemsize])
    near = [bits, bits + 1, bits + 2, bits[bits > 2] - 1, bits[bits > 2] - 2]
    near = numpy.concatenate(near).astype(bits.dtype).view(kind)
    special = numpy.array([numpy.inf, numpy.nan]).astype(kind)
    return numpy.concatenate([near, -near, special, -special])


def numbers(rng, kind):
    """All patterns of 16 bits; of wider types the edges, any bits, and what trained weights are."""
    size = numpy.dtype(kind).itemsize
    if size == 2:
        return numpy.arange(1 << 16, dtype=numpy.uint16).view(kind)
    any_bits = numpy.frombuffer(rng.bytes(size << 16), BITS[size]).view(kind)
    scales = 10.0 ** rng.integers(-46, 39, 1 << 16)
    some = (rng.standard_normal(1 << 16) * scales).astype(kind)
    near_halves = (rng.standard_normal(1 << 16) * 1e-5).astype(kind)
    return numpy.concatenate([edges(kind), any_bits, some, near_halves])


def matrix(values):
    return values[:values.size // WIDTH * WIDTH].reshape(-1, WIDTH)


# Bits of the fraction.
FRACTION = {"F64": 52, "F32": 23, "F16": 10, "BF16": 7}


def cast(values, source, target):
    """Rounded once, by numpy and ml_dtypes. Those differ in what they make of a NaN; here it keeps its
    sign and as many of its leading bits as there is room for, quiet, but in F16 only its sign; BF16 is
    F32 but for bits that are zero."""
    if (source, target) == ("BF16", "F32"):
        return (values.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
    kind = FLOATS[target]
    out = round_once(values, kind)
    nan = numpy.isnan(values)
    bits = values.view(BITS[values.dtype.itemsize])[nan].astype(numpy.uint64)
    negative = numpy.signbit(values[nan]).astype(numpy.uint64)
    fraction = bits & numpy.uint64((1 << FRACTION[source]) - 1)
    left = FRACTION[target] - FRACTION[source]
    fraction = fraction << numpy.uint64(left) if left > 0 else fraction >> numpy.uint64(-left)
    if target == "F16":
        fraction[:] = 0
    width = 8 * numpy.dtype(kind).itemsize
    ones = (1 << width - 1) - (1 << FRACTION[target] - 1)  # the exponent, and the bit that is quiet
    pattern = negative << numpy.uint64(width - 1) | fraction | numpy.uint64(ones)
    out.view(BITS[width // 8])[nan] = pattern.astype(BITS[width // 8])
    return out


def round_once(values, kind):
    """ml_dtypes goes from float64 to bfloat16 by way of float32: what is cut off there is kept as the
    last bit, so that the second rounding is that of the float64."""
    if values.dtype != numpy.float64 or kind != ml_dtypes.bfloat16:
        return values.astype(kind)
    near = values.astype(numpy.float32)
    bits = near.view(numpy.uint32).copy()
    finite = numpy.isfinite(values)
    bits[finite & (numpy.abs(near.astype(numpy.float64)) > numpy.abs(values))] -= 1
    bits[finite & (near.astype(numpy.float64) != values)] |= 1
    return bits.view(numpy.float32).astype(kind)


# --- comparisons ---

def check_casts(c, rng):
    for source, target in CASTS:
        values = matrix(numbers(rng, FLOATS[source]))
        there, back = c.path("a.safetensors"), c.path("b.safetensors")
        write_safetensors(there, {"a": values})
        if c.convert(there, back, "--dtype", target, "--allow-overflow") is None:
            continue
        c.same_bits(f"{source} to {target}", read_safetensors(back)["a"],
                    cast(values, source, target))


def check_scaled_codes(c, rng):
    """One scale for all, one a row, one a block of 128 x 128: the product in float32."""
    rows, width = 300, 200
    forms = {"one": ((1,), lambda x: x.reshape(1, 1)), "rows": ((rows, 1), lambda x: x),
             "blocks": ((3, 2), lambda x: numpy.kron(x, numpy.ones((128, 128)))[:rows, :width])}
    for code, kind in CODES.items():
        for form, (shape, spread) in forms.items():
            codes = numpy.frombuffer(rng.bytes(rows * width), numpy.uint8).reshape(rows, width)
            scales = numpy.exp2(rng.uniform(-12, 3, shape)).astype(numpy.float32)
            suffix = "weight_scale_inv" if form == "blocks" else "weight_scale"
            write_safetensors(c.path("a.safetensors"),
                              {"x.weight": codes.view(kind), "x." + suffix: scales})
            wide = codes.view(kind).astype(numpy.float32) * spread(scales).astype(numpy.float32)
            for target in ("F32", "BF16"):
                c.convert(c.path("a.safetensors"), c.path("b.safetensors"), "--dtype", target)
                found = read_safetensors(c.path("b.safetensors"))
                if list(found) != ["x.weight"]:
                    c.disagree(form, "tensors", list(found), ["x.weight"])
                c.same_values(f"{code} with {form} to {target}", found["x.weight"],
                              wide.astype(FLOATS[target]))


def check_mxfp4(c, rng):
    codes = numpy.frombuffer(rng.bytes(6 * 8 * 16 * 16), numpy.uint8).reshape(6, 8, 16, 16)
    scales = numpy.frombuffer(rng.bytes(6 * 8 * 16), numpy.uint8).reshape(6, 8, 16)
    nibbles = numpy.stack([codes & 15, codes >> 4], -1).reshape(6, 8, 16, 32)
    wide = (nibbles.view(ml_dtypes.float4_e2m1fn).astype(numpy.float64)
            * scales.view(ml_dtypes.float8_e8m0fnu).astype(numpy.float64)[..., None])
    wide = wide.astype(numpy.float32).reshape(6, 8, 512)
    write_safetensors(c.path("a.safetensors"), {"x_blocks": codes, "x_scales": scales})
    c.convert(c.path("a.safetensors"), c.path("b.safetensors"), "--dtype", "F32")
    c.same_values("MXFP4 to F32", read_safetensors(c.path("b.safetensors"))["x_blocks"], wide)


def check_quantized(c, rng):
    """To blocks, as the package quantizes."""
    scales = 10.0 ** rng.integers(-6, 4, (256, 1))
    values = (rng.standard_normal((256, WIDTH)) * scales).astype(numpy.float32)
    values[:8] = numpy.round(values[:8] * 4) / 4  # ties
    values[8, :] = 0
    values[9, :] = 1.5
    values += 0.0  # which of two zeros comes first is another matter in ggml: see test_encode_ggml
    for source in ("F32", "BF16", "F16"):
        stored = numpy.clip(values, -60000, 60000).astype(FLOATS[source])
        write_safetensors(c.path("a.safetensors"), {"a": stored})
        for target in QUANTIZED:
            c.convert(c.path("a.safetensors"), c.path("b.gguf"), "--arch", "none", "--force", "--dtype", target)
            theirs = gguf.quants.quantize(stored.astype(numpy.float32), Block[target])
            c.same_bits(f"{source} to {target}", read_gguf(c.path("b.gguf"))["a"].data, theirs)


def check_dequantized(c):
    """Every type that the package decodes."""
    kinds = list(random_gguf.decodable(WIDTH))
    for kind in kinds:
        data = random_gguf.encoded(kind, ROWS, WIDTH, numpy.random.default_rng(int(kind)))
        raw = None if kind in (Block.F32, Block.F16) else kind
        write_gguf(c.path("a.gguf"), [("a", data, raw)])
        c.convert(c.path("a.gguf"), c.path("b.safetensors"), "--dtype", "F32")
        c.same_bits(f"{kind.name} to F32", read_safetensors(c.path("b.safetensors"))["a"],
                    gguf.quants.dequantize(data, kind).astype(numpy.float32))
    print("decoded:", " ".join(kind.name for kind in kinds))


def check_containers(c):
    """Random models of the package, either byte order, to safetensors and back."""
    for seed in range(60):
        rng = reference.generator(seed)
        endian = gguf.GGUFEndian.BIG if seed % 2 else gguf.GGUFEndian.LITTLE
        tensors = [(f"t{i}.{reference.random_text(rng, 12)}",
                    *random_gguf.random_plain(rng, reference.random_shape(rng))) for i in range(9)]
        write_gguf(c.path("a.gguf"), tensors, endian)
        c.convert(c.path("a.gguf"), c.path("b.safetensors"))
        c.convert(c.path("b.safetensors"), c.path("c.gguf"))
        there, back = read_safetensors(c.path("b.safetensors")), read_gguf(c.path("c.gguf"))
        if len(there) != len(tensors) or len(back) != len(tensors):
            c.disagree(f"model {seed}", "tensors", (len(there), len(back)), len(tensors))
            continue
        for name, data, _ in tensors:
            c.same_bits(f"{name} there", there[name], data)
            c.same_bits(f"{name} back", back[name].data, data)


# --- what is too large for blocks ---

def large_values(rng, most):
    """Values of which each second block has one of magnitude `most`, or all up to it."""
    values = rng.standard_normal((8, WIDTH)).astype(numpy.float32)
    values[::2, 5] = most
    values[1, :] = rng.uniform(-1, 1, WIDTH) * most
    values[3, 256:] = abs(most)
    return values


def count_lost(values, decoded, size):
    """Finite values that are finite no longer, and large ones of which next to nothing is left."""
    values, decoded = values.reshape(-1, size), decoded.reshape(-1, size)
    large = numpy.abs(values) >= numpy.abs(values).max(axis=1, keepdims=True) / 2
    large &= numpy.abs(values).max(axis=1, keepdims=True) >= 65520
    gone = large & (numpy.abs(decoded) < numpy.abs(values) / 8)
    return int(numpy.sum(~numpy.isfinite(decoded) | gone))


def check_overflow(c, rng):
    """What blocks cannot hold is counted and refused; all else is not."""
    refused = 0
    for target in BLOCKS:
        for most in (6e4, -6.6e4, 1e5, -5e5, 1e6, 9e6, -1e7, 1e8, 1e12, 2e19, -1e30, 1e38, -3e38):
            for kind in (numpy.float32, numpy.float64):
                values = large_values(rng, most).astype(kind)
                write_safetensors(c.path("a.safetensors"), {"a": values})
                options = ("--arch", "none", "--force", "--dtype", target)
                said = c.convert(c.path("a.safetensors"), c.path("b.gguf"), *options,
                                 "--allow-overflow")
                decoded = gguf.quants.dequantize(read_gguf(c.path("b.gguf"))["a"].data,
                                                 Block[target])
                lost = count_lost(values.astype(numpy.float32), decoded,
                                  gguf.GGML_QUANT_SIZES[Block[target]][0])
                said = c.convert(c.path("a.safetensors"), c.path("b.gguf"), *options,
                                 status=3 if lost else 0)
                if lost and said is not None and f"'a': {lost} of {values.size} values" not in said:
                    c.disagree(f"{target} {most}", "lost", said, lost)
                refused += lost > 0
                c.values += 1
    print(f"{len(BLOCKS)} types of blocks, {refused} matrices too large for one")


def main():
    numpy.seterr(all="ignore")
    c = Conversions(sys.argv[1])
    rng = numpy.random.default_rng(1)
    check_casts(c, rng)
    check_scaled_codes(c, rng)
    check_mxfp4(c, rng)
    check_quantized(c, rng)
    check_dequantized(c)
    check_containers(c)
    check_overflow(c, rng)
    c.finish(500)


main()
