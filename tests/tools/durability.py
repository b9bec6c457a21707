"""What is left when a rewrite is killed, runs out of space, or loses its input: `durability.py
TENON`. After everything each target is what it was or what the finished command makes of it, and
the inputs are as before. Prints the counts. TENON_KILLS is how many runs are killed (100). Exit
status 77 when nothing but the full file system, which takes privileges to mount, was left out."""
import hashlib
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

TENON = os.path.abspath(sys.argv[1])
KILLS = int(os.environ.get("TENON_KILLS", "100"))
ROWS, COLS = 4096, 256  # of the matrices: 2 MiB in BF16
MOST_DESCRIPTORS = 64
MOST_MEMORY = 96 << 20
faults = []


def fault(text):
    faults.append(text)
    print("FAULT " + text)


# --- models ---

def payload(seed, n):
    return hashlib.shake_128(str(seed).encode()).digest(n)


def bf16(seed, n):
    """`n` small numbers."""
    raw = bytearray(payload(seed, 2 * n))
    for i in range(1, 2 * n, 2):
        raw[i] = 0x3C | raw[i] & 0x80
    return bytes(raw)


def matrices(seed):
    tensors = {"model.embed_tokens.weight": bf16(seed, ROWS * COLS)}
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    for name in ("input_layernorm", "post_attention_layernorm"):
        tensors[f"model.layers.0.{name}.weight"] = bf16(name, COLS)
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        tensors[f"model.layers.0.self_attn.{name}.weight"] = bf16(name, COLS * COLS)
    tensors["model.norm.weight"] = bf16("norm", COLS)
    return tensors


def shape(data):
    n = len(data) // 2
    return [n] if n == COLS else [n // COLS, COLS]


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name in sorted(tensors):
        header[name] = {"dtype": "BF16", "shape": shape(tensors[name]),
                        "data_offsets": [at, at + len(tensors[name])]}
        at += len(tensors[name])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(tensors):
            f.write(tensors[name])


def write_folder(path, tensors, shards, tied):
    os.makedirs(path)
    names = sorted(tensors)
    parts = [names[i::shards] for i in range(shards)]
    where = {}
    for i, part in enumerate(parts):
        name = f"model-{i + 1:05d}-of-{shards:05d}.safetensors" if shards > 1 else \
            "model.safetensors"
        write_safetensors(os.path.join(path, name), {n: tensors[n] for n in part})
        where.update({n: name for n in part})
    with open(os.path.join(path, "config.json"), "w") as f:
        json.dump({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                   "hidden_size": COLS, "vocab_size": ROWS, "num_hidden_layers": 1,
                   "num_attention_heads": 4, "tie_word_embeddings": tied}, f, indent=2)
    if shards > 1:
        with open(os.path.join(path, "model.safetensors.index.json"), "w") as f:
            json.dump({"metadata": {"total_size": sum(map(len, tensors.values()))},
                       "weight_map": where}, f, indent=2)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def write_gguf(path, tensors):
    def key(name, kind, value):
        return text(name) + struct.pack("<I", kind) + value
    keys = [key("general.architecture", 8, text("llama")), key("general.name", 8, text("small"))]
    for name, value in (("block_count", 1), ("context_length", 128), ("embedding_length", COLS),
                        ("feed_forward_length", COLS), ("attention.head_count", 4)):
        keys.append(key("llama." + name, 4, struct.pack("<I", value)))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys)
    at = 0
    for name, data in tensors.items():
        dims = list(reversed(shape(data)))
        head += text(name) + struct.pack("<I", len(dims))
        head += struct.pack(f"<{len(dims)}QIQ", *dims, 30, at)
        at += len(data) + -len(data) % 32
    head += b"\0" * (-len(head) % 32)
    with open(path, "wb") as f:
        f.write(head)
        for data in tensors.values():
            f.write(data + b"\0" * (-len(data) % 32))


def gguf_tensors(tied):
    tensors = {"token_embd.weight": bf16(1, ROWS * COLS), "output_norm.weight": bf16("n", COLS)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensors[f"blk.0.{name}.weight"] = bf16(name, COLS * COLS)
    if not tied:
        tensors["output.weight"] = tensors["token_embd.weight"]
    return tensors


# --- what lies in a folder ---

def contents(folder):
    """Path -> bytes of every file below; unfinished ones apart."""
    files, strays = {}, []
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            if name.startswith("."):
                strays.append(path)
                continue
            with open(path, "rb") as f:
                files[os.path.relpath(path, folder)] = f.read()
    return files, strays


def copy_tree(source, target):
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


# --- commands ---

# Name, arguments, and whether the output is there before (then in other bytes).
COMMANDS = (
    ("tie a file of GGUF", ["tie", "untied.gguf", "-o", "out/o.gguf", "--force"], "o.gguf"),
    ("untie a file of GGUF", ["untie", "tied.gguf", "-o", "out/o.gguf", "--force"], "o.gguf"),
    ("tie a folder", ["tie", "untied", "-o", "out/new"], None),
    ("tie a folder of shards", ["tie", "shards", "-o", "out/new"], None),
    ("tie a folder of shards in place", ["tie", "out/shards", "--in-place"], "shards"),
    ("untie a file in place", ["untie", "out/tied.gguf", "--in-place"], "tied.gguf"),
    ("edit a file of GGUF", ["edit", "tied.gguf", "--set", "general.name=" + "x" * 5000, "-o",
                             "out/o.gguf", "--force"], "o.gguf"),
    ("edit a file of safetensors in place", ["edit", "out/model.safetensors", "--set",
                                             "note=" + "x" * 500, "--in-place"],
     "model.safetensors"),
    ("convert a file to F16", ["convert", "model.safetensors", "-o", "out/o.safetensors", "--dtype",
                               "F16", "--force"], "o.safetensors"),
    ("convert a folder to shards", ["convert", "untied", "-o", "out/new", "--max-shard-size",
                                    "1MB"], None),
    ("split a file of GGUF", ["split", "untied.gguf", "--max-size", "1M", "-o", "out/part"], None),
    ("merge shards", ["merge", "shards", "-o", "out/o.safetensors", "--force"], "o.safetensors"),
)


def prepare_inputs():
    write_gguf("tied.gguf", gguf_tensors(True))
    write_gguf("untied.gguf", gguf_tensors(False))
    write_folder("untied", matrices(1), 1, False)
    write_folder("shards", matrices(1), 3, False)
    write_safetensors("model.safetensors", matrices(2))


def prepare_before(before):
    """What is in `out` before a command runs."""
    shutil.rmtree("before", ignore_errors=True)
    os.makedirs("before")
    if before is None:
        return
    if os.path.isdir(before):
        shutil.copytree(before, os.path.join("before", before))
    elif os.path.exists(before):
        shutil.copy(before, "before")
    else:
        with open(os.path.join("before", before), "wb") as f:
            f.write(b"old" * 1000)


def run(arguments, **how):
    return subprocess.run([TENON, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          **how)


def judge(what, before, after, counts):
    """Compares `out` with what it was and what the finished command makes of it."""
    now, strays = contents("out")
    for name in set(before) | set(after) | set(now):
        if now.get(name) not in (before.get(name), after.get(name)):
            fault(f"{what}: '{name}' is neither old nor new")
    changed = [n for n in set(before) | set(after) if before.get(n) != after.get(n)]
    new = [n for n in changed if now.get(n) == after.get(n)]
    counts["old" if not new else "new" if len(new) == len(changed) else "between"] += 1
    index = [n for n in new if n.endswith(".index.json")]
    if index and not all(n in new for n in changed if n in after):
        fault(f"{what}: the index is there, the shards are not")
    counts["strays"] += len(strays) > 0
    return strays


def kill_at(delay, arguments, number):
    process = subprocess.Popen([TENON, *arguments], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(delay)
    process.send_signal(number)
    return process.wait()


def kills():
    inputs, _ = contents("in")
    each = -(-KILLS // len(COMMANDS))
    total = {"old": 0, "new": 0, "between": 0, "strays": 0}
    n = stopped = 0
    for name, arguments, before_name in COMMANDS:
        prepare_before(before_name)
        before, _ = contents("before")
        copy_tree("before", "out")
        begin = time.perf_counter()
        done = run(arguments)
        length = time.perf_counter() - begin
        if done.returncode != 0:
            fault(f"{name}: {done.stderr.decode()}")
            continue
        after, strays = contents("out")
        if strays or after == before:
            fault(f"{name}: strays {strays}, or nothing done")
        for i in range(each + 4):
            number = signal.SIGKILL if i < each else signal.SIGTERM
            copy_tree("before", "out")
            status = kill_at(length * (i if i < each else (i - each) * each // 4) / each, arguments,
                             number)
            counts = total if i < each else {"old": 0, "new": 0, "between": 0, "strays": 0}
            strays = judge(name, before, after, counts)
            n += i < each
            stopped += i < each and status == -signal.SIGKILL
            if i >= each and (counts["strays"] or counts["between"]):
                fault(f"{name}: ended by SIGTERM, left {strays or 'a mixture'}")
        if contents("in")[0] != inputs:
            fault(f"{name}: an input has changed")
    print(f"{n} runs of {len(COMMANDS)} commands, {stopped} of them killed: {total['old']} old, "
          f"{total['new']} new, {total['between']} sets between two renames, "
          f"{total['strays']} with unfinished files beside the target")


def stale_is_reported():
    copy_tree("before", "out")
    child = subprocess.Popen(["true"])
    child.wait()
    path = f"out/.o.gguf.{child.pid}.tmp"
    with open(path, "wb") as f:
        f.write(b"half")
    done = run(["edit", "tied.gguf", "--set", "general.name=x", "-o", "out/o.gguf", "--force"])
    if done.returncode != 0 or path.encode() not in done.stderr or not os.path.exists(path):
        fault(f"an unfinished file is not reported: {done.stderr.decode()}")


# --- limits ---

def expect_old(what, done, before, wanted=4):
    now, strays = contents("out")
    if done.returncode != wanted or now != before or strays:
        fault(f"{what}: status {done.returncode}, {done.stderr.decode()} strays {strays}")


def file_size_limit():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    n = 0
    for name, arguments, before_name in COMMANDS:
        if arguments[0] == "split" or "--max-shard-size" in arguments:
            continue  # files below the limit
        prepare_before(before_name)
        copy_tree("before", "out")
        expect_old(f"limit on file sizes: {name}", run(arguments, preexec_fn=limit),
                   contents("before")[0])
        n += 1
    print(f"{n} commands beyond RLIMIT_FSIZE: all old")


FULL = """set -e
mount -t tmpfs -o size=3m tmpfs full
cp "$1" full/model
before=$(cksum <full/model)
set +e
"$2" edit full/model --set general.name=x --in-place 2>full.err
status=$?
after=$(cksum <full/model)
ls -A full >full.list
umount full
echo "$status" "$before" = "$after" "$(tr '\\n' ' ' <full.list)"
[ "$before" = "$after" ] && [ $status = 4 ] && [ "$(cat full.list)" = model ]
"""


def full_disk():
    """A file system of 3 MiB that holds a model of 2.5 MiB. False when it may not be mounted."""
    os.makedirs("full", exist_ok=True)
    for namespace in (["unshare", "-m"], ["unshare", "-rm"]):
        probe = subprocess.run([*namespace, "mount", "-t", "tmpfs", "tmpfs", "full"],
                               stderr=subprocess.DEVNULL)
        if probe.returncode == 0:
            break
    else:
        print("no full file system: mounting one is not permitted")
        return False
    done = subprocess.run([*namespace, "sh", "-c", FULL, "sh", "tied.gguf", TENON],
                          stdout=subprocess.PIPE)
    if done.returncode != 0:
        with open("full.err") as f:
            fault(f"full file system: {done.stdout.decode()} {f.read()}")
    else:
        print("a full file system: the model in it is old")
    return True


def shrunk_input():
    """Through a pipe the reader decides when the input shrinks; beside it, as soon as there is an
    unfinished file."""
    size = 32 << 20
    with open("large.safetensors", "wb") as f:
        text = json.dumps({"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}})
        f.write(struct.pack("<Q", len(text)) + text.encode())
        f.truncate(8 + len(text) + size)
    whole = os.path.getsize("large.safetensors")
    arguments = ["edit", "large.safetensors", "--set", "note=x", "-o"]
    os.makedirs("shrunk", exist_ok=True)
    os.mkfifo("shrunk/pipe")
    process = subprocess.Popen([TENON, *arguments, "shrunk/pipe"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    with open("shrunk/pipe", "rb", buffering=0) as pipe:
        pipe.read(1000)
        os.truncate("large.safetensors", whole // 2)
        while pipe.read(1 << 20):
            pass
    said = process.stderr.read().decode()
    if process.wait() != 3 or "ends after" not in said:
        fault(f"input shrunk under a pipe: status {process.returncode}, {said}")
    os.unlink("shrunk/pipe")
    caught = 0
    for _ in range(40):
        os.truncate("large.safetensors", whole)
        process = subprocess.Popen([TENON, *arguments, "shrunk/out"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        while process.poll() is None and not os.listdir("shrunk"):
            pass
        os.truncate("large.safetensors", whole // 2)
        said = process.stderr.read().decode()
        there = os.listdir("shrunk")
        if process.wait() == 0:
            os.unlink("shrunk/out")
            continue
        caught += 1
        if process.returncode != 3 or there:
            fault(f"input shrunk: status {process.returncode}, {said}, left {there}")
    if caught == 0:
        fault("no input was shrunk in time")
    print(f"1 input shrunk under a pipe and {caught} under a file: all refused, nothing left")
    os.unlink("large.safetensors")


def thousand_shards():
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_DESCRIPTORS, MOST_DESCRIPTORS))
    tensors = matrices(1)
    tensors.update({f"model.layers.{i}.mlp.up_proj.weight": bf16(i, COLS) for i in range(1000)})
    write_folder("thousand", tensors, 1000, False)
    n = 0
    for arguments in (["hash", "thousand"], ["tie", "thousand", "-o", "tied_thousand"],
                      ["tie", "thousand", "-j", "8", "--verify", "-o", "tied_again"],
                      ["merge", "thousand", "-o", "merged.safetensors"]):
        done = run(arguments, preexec_fn=limit)
        n += 1
        if done.returncode != 0:
            fault(f"1000 shards, {arguments[0]}: {done.stderr.decode()}")
    if contents("tied_thousand")[0] != contents("tied_again")[0]:
        fault("1000 shards: other bytes with other threads")
    print(f"{n} commands on 1000 shards with at most {MOST_DESCRIPTORS} descriptors")


def peak(arguments):
    """The most memory that a command had."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(TENON, [TENON, *arguments])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        fault(f"{arguments}: status {status}")
    return usage.ru_maxrss << 10


def memory():
    """Of a model of holes, larger than the limit in every way."""
    rows, cols = 64 << 10, 1 << 10
    size = rows * cols * 4
    with open("holes.safetensors", "wb") as f:
        text = json.dumps({"a": {"dtype": "F32", "shape": [rows, cols], "data_offsets": [0, size]}})
        f.write(struct.pack("<Q", len(text)) + text.encode())
        f.truncate(8 + len(text) + size)
    most = 0
    for arguments in (["edit", "holes.safetensors", "--set", "note=x"],
                      ["convert", "holes.safetensors", "--to", "safetensors", "--dtype", "F16",
                       "-j", "64"],
                      ["convert", "holes.safetensors", "--to", "safetensors", "--dtype", "BF16",
                       "-j", "1"]):
        most = max(most, peak([*arguments, "--no-sync", "-o", "/dev/null"]),
                   peak([*arguments, "--no-sync", "--force", "-o", "holes_out.safetensors"]))
    print(f"most memory of a rewrite of {size >> 20} MiB: {most / (1 << 20):.1f} MiB")
    if most > MOST_MEMORY:
        fault("that is too much")


def main():
    shutil.rmtree("durability_files", ignore_errors=True)
    os.makedirs("durability_files/in")
    os.chdir("durability_files/in")
    prepare_inputs()
    os.chdir("..")
    # The commands name inputs as they lie in `in`.
    for name in os.listdir("in"):
        os.symlink(os.path.join("in", name), name)
    kills()
    stale_is_reported()
    file_size_limit()
    mounted = full_disk()
    shrunk_input()
    thousand_shards()
    memory()
    os.chdir("..")
    shutil.rmtree("durability_files")
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0 if mounted else 77)


main()
