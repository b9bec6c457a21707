"""What NumPy does with the ids of bench_embed.c: takes rows of a float32 table, and rows of bfloat16
(as uint16) that it widens, from memory, 32 at a time into the same array, with one thread."""
import os
import sys
import time

try:
    import numpy as np
except ImportError:
    python = os.environ.get("TENON_ORACLE_PYTHON", "")
    if python == "" or os.path.realpath(sys.executable) == os.path.realpath(python):
        print("skipped: no NumPy (TENON_ORACLE_PYTHON names a Python that has it)")
        sys.exit(0)
    os.execv(python, [python, __file__])

ROWS, COLS, N_IDS, BATCH, SLICES, RUNS = 150000, 4096, 1000000, 32, 25, 3


def take(table, ids, out):
    np.take(table, ids, axis=0, out=out, mode="clip")  # "raise" copies through a buffer


def take_and_widen(table, ids, out):
    np.left_shift(table[ids].astype(np.uint32), 16, out=out.view(np.uint32))


def best_time(way, table, ids):
    """The sum of the best times of each slice."""
    out = np.empty((BATCH, COLS), np.float32)
    total = 0
    for part in np.split(ids, SLICES):
        times = []
        for _ in range(RUNS):
            begin = time.monotonic()
            for i in range(0, len(part), BATCH):
                way(table, part[i:i + BATCH], out)
            times.append(time.monotonic() - begin)
        total += min(times)
    return total


def main():
    random = np.random.default_rng(7)
    ids = random.integers(0, ROWS, N_IDS)
    narrow = random.integers(0, 0x4000, (ROWS, COLS), dtype=np.uint16)
    wide = np.left_shift(narrow, 16, dtype=np.uint32).view(np.float32)
    for what, way, table in [("float32", take, wide), ("bfloat16, widened", take_and_widen, narrow)]:
        took = best_time(way, table, ids)
        print(f"NumPy {np.__version__}, {N_IDS} ids of {ROWS} x {COLS} {what}: {took:.2f} s, "
              f"{N_IDS * COLS * 4 / took / 1e9:.2f} GB/s")


main()
