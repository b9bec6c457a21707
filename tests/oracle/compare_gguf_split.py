"""Sets of llama.cpp's split tool and ours are the same: its sets merge here, ours there.
`compare_gguf_split.py TENON TENON_GEN`; the tool is named by TENON_ORACLE_GGUF_SPLIT."""
import os
import subprocess
import sys

import rewriting

TOOL = os.environ.get("TENON_ORACLE_GGUF_SPLIT")
SAMPLES = ("tied", "untied", "tied_q8_0", "tied_v2", "qwen2", "t5", "gpt2", "bert")


class Splitting(rewriting.Rewriting):
    n_files = n_bytes = 0

    def tool(self, *args):
        run = subprocess.run([TOOL, *args], capture_output=True, check=False)
        self.check(run.returncode == 0, f"{args}: {run.stderr.decode()[-300:]}")


def split_both(t, model, ours, theirs):
    """The same limit makes the same files, byte for byte."""
    for path in (ours, theirs):
        os.mkdir(path)
    limit = t.limit
    if limit[0] == "tensors":
        t.run("split", model, "-o", os.path.join(ours, "m"), "--max-tensors", limit[1])
        t.tool("--split", "--split-max-tensors", limit[1], model, os.path.join(theirs, "m"))
    else:
        t.run("split", model, "-o", os.path.join(ours, "m"), "--max-size", limit[1] + "B")
        t.tool("--split", "--split-max-size", limit[1], model, os.path.join(theirs, "m"))
    names = sorted(os.listdir(theirs))
    t.check(sorted(os.listdir(ours)) == names, f"{model}: {os.listdir(ours)} and {names}")
    for name in names:
        t.n_files += 1
        t.n_bytes += os.path.getsize(os.path.join(theirs, name))
        if t.rewritten:  # the tool writes version 3 only
            t.same(os.path.join(ours, name), os.path.join(theirs, name))


def merge_crosswise(t, model, ours, theirs):
    """Their set merges here to the file that was split; ours there to the same tensors, where keys
    about the set stay."""
    merged, there = t.path("merged.gguf"), t.path("there.gguf")
    t.run("merge", t.first(theirs), "-o", merged)
    if t.rewritten:
        t.same(merged, model)
    t.tool("--merge", t.first(ours), there)
    values = t.values(model)
    for path in (merged, there, t.first(ours), t.first(theirs)):
        t.check(t.values(path) == values, f"{path}: values differ from {model}")
    t.remove(merged, there)


def compare(t, model, limits):
    with open(model, "rb") as file:
        t.rewritten = file.read(5)[4] == 3
    for t.limit in limits:
        ours, theirs = t.path("ours"), t.path("theirs")
        split_both(t, model, ours, theirs)
        merge_crosswise(t, model, ours, theirs)
        t.remove(ours, theirs)


def main():
    if TOOL is None:
        print("TENON_ORACLE_GGUF_SPLIT is not set")
        sys.exit(77)
    t = Splitting(*sys.argv[1:])
    for name in SAMPLES:
        compare(t, t.sample(name), [("tensors", str(n)) for n in (1, 2, 5, 7, 20, 128)])
    for model in rewriting.real_models():
        size = os.path.getsize(model)
        compare(t, model, [("tensors", "10"), ("size", f"{size // 3000000 + 1}M")]
                if size > 200000000 else [("tensors", "3"), ("size", "1M")])
    print(f"{t.n_files} files of sets, {t.n_bytes} bytes")
    t.finish(100)


main()
