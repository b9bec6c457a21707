"""The program against others on the same files: `bench_program.py TENON TENON_GEN`. Prints ratios,
judges nothing; what is not installed is left out. Needs 1.1 GB where it runs."""
import os
import shutil
import subprocess
import sys
import time

RUNS = 5


def seconds(*command, runs=RUNS):
    """The shortest of some runs, files in the page cache."""
    best = None
    for _ in range(runs):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        took = time.perf_counter() - begin
        best = took if best is None else min(best, took)
    return best


def listing(tenon, gen):
    path = "bench_vocabulary.gguf"
    subprocess.run([gen, "--large", "vocabulary", path], check=True)
    ours = seconds(tenon, "ls", path)
    print(f"tenon ls, 151936 tokens, 400 tensors: {1e3 * ours:.1f} ms")
    python = os.environ.get("TENON_ORACLE_PYTHON")
    if python:
        theirs = seconds(python, "-c", "import gguf, sys; gguf.GGUFReader(sys.argv[1])", path,
                         runs=1)
        print(f"gguf package: {theirs:.2f} s; tenon is {theirs / ours:.0f} times as fast")
    os.remove(path)


def sweeps(tenon, gen):
    path = "bench_bf16.safetensors"
    subprocess.run([gen, "--large", "bf16", path], check=True)
    one = seconds(tenon, "hash", "-j1", path)
    two = seconds(tenon, "hash", "-j2", path)
    print(f"tenon hash, 1 GiB: -j1 {one:.2f} s, -j2 {two:.2f} s, speed-up {one / two:.2f}")
    if shutil.which("xxhsum"):
        theirs = seconds("xxhsum", "-H2", path)
        print(f"xxhsum -H2: {theirs:.2f} s; tenon hash -j1 has {theirs / one:.2f} of its speed")
    read = seconds("dd", f"if={path}", "of=/dev/null", "bs=1M", "status=none")
    stats = seconds(tenon, "ls", "--stats", "-j2", path)
    print(f"tenon ls --stats -j2: {stats:.2f} s, {stats / read:.2f} times one read ({read:.2f} s)")
    os.remove(path)


def main():
    tenon, gen = (os.path.abspath(path) for path in sys.argv[1:3])
    listing(tenon, gen)
    sweeps(tenon, gen)


main()
