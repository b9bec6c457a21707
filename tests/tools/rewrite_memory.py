"""How much memory rewriting a model of very many tensors takes: `rewrite_memory.py TENON [COUNT]`.
Every writing command runs on models of COUNT tensors (1,000,000) of a few bytes each, where headers
are all there is, and may take 96 MiB and the bytes of its input's headers, those of an index
included. Prints a line for each; status 1 when one takes more. Needs a folder of about 1 GB."""
import json
import os
import shutil
import struct
import sys
import tempfile
import time

TENON = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
ALLOWED = 96 << 20
ROWS, COLS = 64, 8  # of the embedding
over = []


def entries():
    """Name and shape of every tensor: an embedding, and a layer for each of the others."""
    yield "model.embed_tokens.weight", [ROWS, COLS]
    for i in range(COUNT - 1):
        yield f"model.layers.{i}.w", [4]


def write_model(path):
    """All in F16, written piece by piece: what this process has had counts for its children."""
    at, used = 0, 1
    with open(path, "wb") as f:
        f.write(bytes(8) + b"{")
        for name, shape in entries():
            end = at + 2 * (shape[0] * shape[1] if len(shape) > 1 else shape[0])
            dims = ",".join(map(str, shape))
            text = (f'{"," if at else ""}"{name}":{{"dtype":"F16","shape":[{dims}],'
                    f'"data_offsets":[{at},{end}]}}')
            f.write(text.encode())
            used += len(text)
            at = end
        blanks = -(used + 1) % 8
        f.write(b"}" + b" " * blanks)
        f.seek(0)
        f.write(struct.pack("<Q", used + 1 + blanks))
        f.truncate(8 + used + 1 + blanks + at)


def header_bytes(path):
    """Of the headers of a file, of all files beside it of the same set, or of a folder."""
    if path.endswith(".gguf") or path.endswith(".safetensors"):
        names = [path]
    else:
        names = [os.path.join(path, name) for name in os.listdir(path)]
    if "-00001-of-" in path:
        stem = path[:path.index("-00001-of-")]
        names = [name for name in os.listdir(".") if name.startswith(stem)]
    total = 0 if not names[0].endswith(".gguf") else -32 * COUNT  # one payload in each 32 bytes
    for name in names:
        with open(name, "rb") as f:
            if name.endswith(".safetensors"):
                total += 8 + struct.unpack("<Q", f.read(8))[0]
            else:
                total += os.path.getsize(name)
    return total


def run(path, *args):
    """Runs the program on `path` and looks at what it took."""
    begin = time.monotonic()
    pid = os.posix_spawn(TENON, [TENON, *args, "-q"], os.environ)
    _, status, usage = os.wait4(pid, 0)
    took = time.monotonic() - begin
    allowed = ALLOWED + header_bytes(path)
    peak = usage.ru_maxrss << 10
    text = f"{' '.join(args):<78} {peak / 1e6:4.0f} of {allowed / 1e6:4.0f} MB {took:5.1f} s"
    print(text, flush=True)
    if status != 0:
        over.append(f"{text}: status {os.waitstatus_to_exitcode(status)}")
    elif peak > allowed:
        over.append(text)


def write_config(folder):
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
        json.dump({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": COLS,
                   "vocab_size": ROWS, "tie_word_embeddings": True}, f)


def run_safetensors():
    run("m.safetensors", "edit", "m.safetensors", "--set", "k=v", "-o", "edited.safetensors")
    run("edited.safetensors", "edit", "edited.safetensors", "--unset", "k", "--in-place")
    run("m.safetensors", "untie", "m.safetensors", "-o", "untied.safetensors")
    run("untied.safetensors", "tie", "untied.safetensors", "-o", "tied.safetensors")
    for name in ("edited", "untied", "tied"):
        os.remove(name + ".safetensors")
    run("m.safetensors", "convert", "m.safetensors", "--dtype", "F32", "-o", "wide.safetensors")
    os.remove("wide.safetensors")
    os.mkdir("folder")
    run("m.safetensors", "split", "m.safetensors", "--max-tensors", str(COUNT // 4), "-o",
        "folder/model")


def run_folder():
    write_config("folder")
    run("folder", "edit", "folder", "--set", "k=v", "-o", "edited")
    shutil.rmtree("edited")
    run("folder", "untie", "folder", "-o", "untied")
    run("untied", "tie", "untied", "-o", "tied")
    shutil.rmtree("untied")
    shutil.rmtree("tied")
    run("folder", "merge", "folder", "-o", "merged.safetensors")
    os.remove("merged.safetensors")
    shutil.rmtree("folder")


def run_gguf():
    run("m.safetensors", "convert", "m.safetensors", "--arch", "llama", "-o", "m.gguf")
    run("m.gguf", "edit", "m.gguf", "--set", "k:string=v", "-o", "edited.gguf")
    os.remove("edited.gguf")
    run("m.gguf", "convert", "m.gguf", "-o", "back.safetensors")
    os.remove("back.safetensors")
    run("m.gguf", "convert", "m.gguf", "--dtype", "F32", "-o", "wide.gguf")
    os.remove("wide.gguf")
    run("m.gguf", "split", "m.gguf", "--max-tensors", str(COUNT // 4), "-o", "g")
    run("g-00001-of-00004.gguf", "merge", "g-00001-of-00004.gguf", "-o", "merged.gguf")


def main():
    folder = tempfile.mkdtemp(prefix="rewrite_memory.", dir=".")
    os.chdir(folder)
    try:
        write_model("m.safetensors")
        run_safetensors()
        run_folder()
        run_gguf()
    finally:
        os.chdir("..")
        shutil.rmtree(folder)
    for text in over:
        print("FAULT " + text)
    return 1 if over else 0


sys.exit(main())
