"""Random models, and the reference package writing them as GGUF files."""
import gguf
import numpy as np
import reference
from gguf import GGMLQuantizationType as Quant, GGUFValueType as Type

NAMES = {Type.UINT8: "u8", Type.INT8: "i8", Type.UINT16: "u16", Type.INT16: "i16",
         Type.UINT32: "u32", Type.INT32: "i32", Type.FLOAT32: "f32", Type.BOOL: "bool",
         Type.STRING: "string", Type.UINT64: "u64", Type.INT64: "i64", Type.FLOAT64: "f64"}
RANGES = {Type.UINT8: (0, 2**8), Type.INT8: (-2**7, 2**7), Type.UINT16: (0, 2**16),
          Type.INT16: (-2**15, 2**15), Type.UINT32: (0, 2**32), Type.INT32: (-2**31, 2**31),
          Type.UINT64: (0, 2**64), Type.INT64: (-2**63, 2**63)}
PLAIN = (np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64)
# Types with a big-endian form that the reference writer knows.
BLOCKS = (Quant.Q4_0, Quant.Q8_0, Quant.Q4_K, Quant.Q6_K)
# All that are quantized, but for one whose size the package has wrong.
ALL_BLOCKS = tuple(kind for kind, (elements, _) in gguf.GGML_QUANT_SIZES.items()
                   if elements > 1 and kind != Quant.Q8_1)


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


def random_nested(rng, depth):
    """Arrays in arrays, of elements whose type the writer finds out by itself."""
    kind = rng.choice([Type.INT32, Type.FLOAT32, Type.BOOL, Type.STRING])

    def make(left):
        count = rng.randrange(1, 4)
        return [random_value(rng, kind) if left == 1 else make(left - 1) for _ in range(count)]

    return make(depth)


def random_plain(rng, shape):
    dtype = rng.choice(PLAIN)
    bits = np.frombuffer(rng.randbytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), np.uint8)
    return bits.view(dtype).reshape(shape), None


def random_blocks(rng, shape, kinds):
    kind = rng.choice(kinds)
    _, size = gguf.GGML_QUANT_SIZES[kind]
    shape = shape[:3] + [rng.randrange(1, 3) * size]
    return np.frombuffer(rng.randbytes(int(np.prod(shape))), np.uint8).reshape(shape), kind


def random_tensors(rng, kinds=BLOCKS):
    """(name, data, quantized type or None)"""
    tensors = []
    for i in range(rng.randrange(1, 12)):
        name = f"t{i}.{reference.random_text(rng, 12)}"
        shape = reference.random_shape(rng)
        if rng.random() < 0.7:
            tensors.append((name, *random_plain(rng, shape)))
        else:
            tensors.append((name, *random_blocks(rng, shape, kinds)))
    return tensors


def decodable(columns):
    """The types that the package decodes."""
    for kind in Quant:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        try:
            gguf.quants.dequantize(np.zeros((1, columns // block * size), dtype=np.uint8), kind)
        except (NotImplementedError, ValueError, TypeError):
            continue
        yield kind


def encoded(kind, rows, columns, rng):
    """A matrix in that type: quantized by the reference, or well-formed random blocks."""
    values = rng.standard_normal((rows, columns)).astype(np.float32)
    try:
        return gguf.quants.quantize(values, kind)
    except NotImplementedError:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        # Bytes below 0x3c cannot make an infinite binary16 scale, wherever it stands.
        return rng.integers(0, 0x3C, (rows, columns // block * size), dtype=np.uint8)


def write(path, endian, pairs, tensors, alignment=None, order=None):
    """Has the package write a model; `order`, where given, shuffles pairs and tensors."""
    writer = gguf.GGUFWriter(path, "llama", endianess=endian)
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    for key, kind, item, value in pairs:
        writer.add_key_value(key, value, kind, sub_type=item)
    for name, data, kind in tensors:
        writer.add_tensor(name, data.copy(), raw_dtype=kind)
    if order is not None:
        for group in (writer.kv_data, writer.tensors):
            items = list(group[0].items())
            order.shuffle(items)
            group[0] = dict(items)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
