"""Untied and tied again. `compare_tie.py TENON`: random models that the reference packages wrote come
back byte for byte; every GGUF file of TENON_MODELS_DIR that is tied and whose architecture may store
its output is, in between, a model for llama.cpp's loader."""
import filecmp
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

import gguf
import numpy
import safetensors.numpy
from gguf import GGMLQuantizationType as Block

from llama import Llama

RANDOM_MODELS = 200


def tenon(*args):
    return subprocess.run([sys.argv[1], *args], capture_output=True, text=True, check=False)


def hashes(path):
    """The hash of every tensor's values, by name."""
    tensors = tenon("hash", "--values", path).stdout.split("\n\n")[0]
    return dict(reversed(line.split("  ", 1)) for line in tensors.splitlines())


def faults_of(path, folder, llama):
    untied, tied = os.path.join(folder, "untied.gguf"), os.path.join(folder, "tied.gguf")
    run = tenon("untie", path, "-o", untied)
    before = llama.load(path)
    if before is None:
        return [f"llama.cpp refuses the file itself: {llama.why()}"]
    if run.returncode != 0:
        forced = tenon("untie", path, "-o", untied, "--force")
        after = llama.load(untied) if forced.returncode == 0 else None
        os.remove(untied)
        return [] if after is None else ["refused, although llama.cpp loads the result"]
    faults = []
    after = llama.load(untied)
    verdict = json.loads(tenon("tied", "--json", "--no-groups", untied).stdout)
    if after is None:
        faults.append(f"llama.cpp refuses what untie wrote: {llama.why()}")
    elif after != before + verdict["saving"]["parameters"]:
        faults.append(f"{before} parameters became {after}")
    if verdict["verdict"] != "identical" or not verdict["consistent"]:
        faults.append(f"the verdict is {verdict['verdict']}")
    old, new = hashes(path), hashes(untied)
    if not old or any(new.get(name) != value for name, value in old.items()):
        faults.append("values changed")
    if new.get("output.weight") != old.get("token_embd.weight"):
        faults.append("the output is not the input")
    back = tenon("tie", untied, "-o", tied, "--verify")
    if back.returncode != 0 or not filecmp.cmp(path, tied, shallow=False):
        faults.append(f"tie does not give the file back {back.stderr}")
    os.remove(untied)
    os.remove(tied)
    return faults


def random_safetensors(rng, path):
    """Names of several families, metadata with and without a record of the alias."""
    embedding, head = rng.choice([("model.embed_tokens.weight", "lm_head.weight"),
                                  ("transformer.wte.weight", "lm_head.weight"),
                                  ("wte.weight", "lm_head.weight"),
                                  ("model.decoder.embed_tokens.weight", "lm_head.weight")])
    if rng.random() < 0.2:
        embedding, head = head, embedding  # the head is the one that is stored
    dtype = rng.choice(["float32", "float16", "float64"])
    rows, width = rng.randrange(1, 40), rng.randrange(1, 40)
    values = numpy.frombuffer(rng.randbytes(rows * width), numpy.uint8)
    tensors = {embedding: values.reshape(rows, width).astype(dtype)}
    for i in range(rng.randrange(12)):
        name = rng.choice(["a", "model.layers.%d.mlp.up_proj.weight", "z\u00e9%d", "\"%d\""])
        kind = rng.choice(["int8", "uint8", "int64", "float32", "float16", "bool"])
        shape = [rng.randrange(5) for _ in range(rng.randrange(4))]
        tensors[name % i if "%" in name else name] = numpy.ones(shape, kind)
    metadata = {"format": "pt"} if rng.random() < 0.7 else {}
    if rng.random() < 0.3:
        metadata[head] = embedding
    for i in range(rng.choice([0, 0, 0, 1, 3])):
        metadata[f"key {i}\n"] = "x" * rng.randrange(100)
    safetensors.numpy.save_file(tensors, path, metadata or None)


def random_gguf(rng, path):
    """Architectures that may store their output, plain and quantized matrices, alignments."""
    writer = gguf.GGUFWriter(path, rng.choice(["llama", "qwen2", "gemma3", "gpt2", "phi3"]),
                             endianess=rng.choice(list(gguf.GGUFEndian)))
    if rng.random() < 0.5:
        writer.add_custom_alignment(rng.choice([8, 32, 64, 128]))
    for i in range(rng.randrange(6)):
        writer.add_string(f"text.{i}", "x" * rng.randrange(1, 50))
        writer.add_array(f"list.{i}", [rng.randrange(100) for _ in range(rng.randrange(1, 9))])
    rows, width = rng.randrange(1, 9), 256
    block = rng.choice([Block.F32, Block.F16, Block.BF16, Block.Q8_0, Block.Q4_0, Block.Q4_K,
                        Block.Q6_K, Block.IQ4_XS])
    elements, size = gguf.GGML_QUANT_SIZES[block]
    data = rng.randbytes(rows * width // elements * size)
    names = ["token_embd.weight"] + [f"blk.{i}.attn_norm.weight" for i in range(rng.randrange(9))]
    rng.shuffle(names)
    for name in names:
        if name == "token_embd.weight" and block in (Block.F32, Block.F16):
            kind = numpy.float32 if block == Block.F32 else numpy.float16
            writer.add_tensor(name, numpy.arange(rows * width).reshape(rows, width).astype(kind))
        elif name == "token_embd.weight":
            bytes_of = numpy.frombuffer(data, numpy.uint8).reshape(rows, -1)
            writer.add_tensor(name, bytes_of, raw_dtype=block)
        else:
            writer.add_tensor(name, numpy.ones(rng.randrange(1, 50), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def random_faults():
    rng = random.Random(1)
    faults = []
    with tempfile.TemporaryDirectory() as work:
        path, untied, tied = (os.path.join(work, name) for name in ("a", "b", "c"))
        for i in range(RANDOM_MODELS):
            (random_gguf if i % 2 else random_safetensors)(rng, path)
            first = tenon("untie", path, "-o", untied, "--force")
            verdict = json.loads(tenon("tied", "--json", "--no-groups", untied).stdout or "{}")
            second = tenon("tie", untied, "-o", tied, "--force")
            if first.returncode != 0 or second.returncode != 0:
                faults.append(f"random model {i}: {first.stderr}{second.stderr}")
            elif verdict["verdict"] != "identical" or not verdict["consistent"]:
                faults.append(f"random model {i}: {verdict['verdict']} after untie")
            elif not filecmp.cmp(path, tied, shallow=False):
                faults.append(f"random model {i}: does not come back")
    return faults


def main():
    folder = os.environ.get("TENON_MODELS_DIR")
    if not folder or "TENON_ORACLE_GGML" not in os.environ:
        print("TENON_MODELS_DIR or TENON_ORACLE_GGML is not set")
        return 77
    faults = random_faults()
    for fault in faults[:10]:
        print(fault)
    print(f"{RANDOM_MODELS} random models untied and tied again, {len(faults)} failed")
    llama = Llama()
    n = 0
    failed = len(faults)
    for path in sorted(glob.glob(os.path.join(folder, "**", "*.gguf"), recursive=True)):
        answer = tenon("tied", "--json", "--no-groups", path)
        if answer.returncode != 0 or json.loads(answer.stdout)["verdict"] != "absent":
            continue
        n += 1
        with tempfile.TemporaryDirectory() as work:
            faults = faults_of(path, work, llama)
        for fault in faults:
            print(f"{path}: {fault}")
        failed += len(faults) > 0
    print(f"{n} tied models untied, loaded and tied again, {failed} failed")
    return n == 0 or failed > 0


sys.exit(main())
