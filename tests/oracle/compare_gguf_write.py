"""GGUF files that the reference package writes, and what is written of them here: the same bytes.
`compare_gguf_write.py REWRITE`. Each model is written twice by the package, the second time with keys
and tensors in another order; both files are read here and written in the order of the first."""
import filecmp
import os
import subprocess
import sys

import gguf
import random_gguf
import reference
from gguf import GGUFEndian, GGUFValueType as Type

MODELS = 300
ALIGNMENTS = (None, None, None, 8, 16, 32, 64, 128, 4096)


class Comparison:
    def __init__(self, rewrite):
        self.rewrite = rewrite
        self.models = self.files = self.bytes = self.differences = self.real = 0

    def same(self, source, like, out):
        run = subprocess.run([self.rewrite, source, out, like], capture_output=True, check=False)
        if run.returncode != 0:
            return self.differ(source, run.stderr.decode())
        with open(out, "rb") as ours, open(like, "rb") as theirs:
            a, b = ours.read(), theirs.read()
        self.files += 1
        self.bytes += len(a)
        if a != b:
            first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            self.differ(source, f"{len(a)} and {len(b)} bytes, different from {first} on")
        return None

    def unchanged(self, name, link, out):
        """An edited copy in which nothing is changed is the same file, but for version 1."""
        with open(link, "rb") as file:
            head = file.read(8)
        if head[:4] != b"GGUF" or 1 in (head[4], head[7]):
            return
        run = subprocess.run([self.rewrite, "--edit", link, out], capture_output=True, check=False)
        if run.returncode != 0:
            print(f"{name}: left out: {run.stderr.decode().strip()}")
            return
        self.real += 1
        if not filecmp.cmp(link, out, shallow=False):
            self.differ(name, "is not what it was")

    def differ(self, source, what):
        self.differences += 1
        if self.differences <= 10:
            print(f"model {self.models}, {os.path.basename(source)}: {what}")


def random_model(rng):
    pairs = random_gguf.random_meta(rng)
    for depth in (2, 3):
        pairs.insert(rng.randrange(len(pairs)), (f"nested.{depth}", Type.ARRAY, None,
                                                 random_gguf.random_nested(rng, depth)))
    pairs.append(("bytes", Type.ARRAY, None, rng.randbytes(rng.randrange(1, 40))))
    pairs = pairs[:rng.randrange(len(pairs) + 1)]
    tensors = random_gguf.random_tensors(rng, random_gguf.ALL_BLOCKS)
    if rng.random() < 0.3:  # what a loader does not take, but the writer writes
        tensors.append(("n" * rng.randrange(60, 90), *random_gguf.random_plain(rng, [3])))
        tensors.append(("empty", *random_gguf.random_plain(rng, [0, 3])))
        tensors.append(("scalar", *random_gguf.random_plain(rng, [])))
    rng.shuffle(tensors)
    return pairs, tensors, rng.choice(ALIGNMENTS)


def check_content(c, path, model):
    """The reference reader finds in our file what was to be written."""
    pairs, tensors, _ = model
    reader = gguf.GGUFReader(path)
    keys = [name for name in reader.fields if not name.startswith("GGUF.")]
    for key, _, _, _ in pairs:
        if key not in keys:
            c.differ(path, f"no key {key!r}")
    found = {t.name: t for t in reader.tensors}
    for name, data, _ in tensors:
        if name not in found or found[name].n_bytes != data.nbytes:
            c.differ(path, f"tensor {name!r}")
    if len(found) != len(tensors):
        c.differ(path, "number of tensors")


def main():
    c = Comparison(sys.argv[1])
    names = ("first.gguf", "shuffled.gguf", "ours.gguf")
    folder = reference.Comparison("").folder
    first, shuffled, ours = (os.path.join(folder, name) for name in names)
    for seed in range(MODELS):
        rng = reference.generator(seed)
        endian = GGUFEndian.BIG if seed % 3 == 2 else GGUFEndian.LITTLE
        model = random_model(rng)
        random_gguf.write(first, endian, *model)
        random_gguf.write(shuffled, endian, *model, order=rng)
        c.models += 1
        c.same(first, first, ours)
        c.same(shuffled, first, ours)
        check_content(c, ours, model)
    for name in reference.found_files(".gguf", first):
        c.unchanged(name, first, ours)
    for path in (first, shuffled, ours):
        os.remove(path)
    os.rmdir(folder)
    print(f"{c.models} models, {c.files} files, {c.bytes} bytes compared, "
          f"{c.real} real files copied, {c.differences} differences")
    sys.exit(1 if c.differences or c.files < 2 * MODELS else 0)


main()
