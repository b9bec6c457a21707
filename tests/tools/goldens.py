"""`tenon embed` against what transformers computes in front of the first block.

    goldens.py TENON TENON_GEN FOLDER

Every golden file of FOLDER: the generator makes its checkpoint, and the program prints the input of
the first block, and its queries and keys, as JSON. The form of the files is described in the README
beside them.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

BOUND = 1e-6  # of the largest value in a row


def read(path):
    golden = {"positions": [], "matrices": {}}
    lines = iter(open(path, encoding="utf-8").read().splitlines())
    for line in lines:
        word, _, rest = line.partition(" ")
        if word in ("input", "q", "k"):
            rows = int(rest.split()[0])
            golden["matrices"][word] = [[float(x) for x in next(lines).split()]
                                        for _ in range(rows)]
        elif word == "positions":
            golden["positions"].append(rest)
        else:
            golden[word] = rest
    return golden


def arguments(golden):
    given = ["--ids", golden["ids"].replace(" ", ",")]
    for positions in golden["positions"]:
        given += ["--positions", positions.replace(" ", ",")]
    if "types" in golden:
        given += ["--type-ids", golden["types"].replace(" ", ",")]
    if "side" in golden:
        given += ["--side", golden["side"]]
    return given


def flat(values, rows):
    """Rows of numbers, one for each token, whatever was nested."""
    while isinstance(values[0][0], list):
        values = [item for group in values for item in group]
    step = len(values) // rows
    return [sum(values[i * step:(i + 1) * step], []) for i in range(rows)]


def distance(wanted, found, scale):
    worst = 0.0
    for ours, theirs in zip(found, wanted, strict=True):
        largest = max(abs(x) for x in theirs) or 1.0
        for x, y in zip(ours, theirs, strict=True):
            apart = abs(x * scale - y) / largest
            worst = worst if apart <= worst else apart
    return worst


def bfloat(value):
    """To the nearest bfloat16, ties to even, of a float32's double."""
    bits, = struct.unpack("<I", struct.pack("<f", value))
    bits = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


class Runs:
    def __init__(self, tenon):
        self.tenon = tenon
        self.matrices = self.failed = 0
        self.worst = 0.0

    def fail(self, name, text):
        self.failed += 1
        print(f"{name}: {text}")

    def compare(self, name, what, wanted, found, scale=1.0):
        apart = distance(wanted, flat(found, len(wanted)), scale)
        self.matrices += 1
        self.worst = max(self.worst, apart)
        if not apart <= BOUND:
            self.fail(name, f"{what} is {apart:.2g} away")

    def ask(self, name, model, golden, stage):
        run = subprocess.run([self.tenon, "embed", "--json", "--quiet", "--stage", stage,
                              *arguments(golden), model], capture_output=True, check=False)
        if run.returncode == 0:
            return json.loads(run.stdout)
        self.fail(name, run.stderr.decode())
        return None

    def model(self, name, model, golden):
        matrices = golden["matrices"]
        answer = self.ask(name, model, golden, "input")
        if answer is not None:
            values = answer["values"]
            if "compute" in golden:
                values = [[bfloat(x) for x in row] for row in values]
            self.compare(name, "input", matrices["input"], values)
            if "lookup" in golden and flat(values, len(values)) != matrices["input"]:
                self.fail(name, "rows are not those of the matrix")
        answer = self.ask(name, model, golden, "qk") if "q" in matrices else None
        if answer is not None:
            scale = answer["shape"][-1] ** -0.5 if "scaled" in golden else 1.0
            self.compare(name, "q", matrices["q"], answer["values"], scale)
            self.compare(name, "k", matrices["k"], answer["k_values"])


def main():
    tenon, gen, folder = sys.argv[1:]
    runs = Runs(tenon)
    work = tempfile.mkdtemp(prefix="tenon-goldens-", dir=os.getcwd())
    models = 0
    for file in sorted(os.listdir(folder)):
        golden = read(os.path.join(folder, file))
        if "ids" not in golden:
            continue
        model = os.path.join(work, "model")
        subprocess.run([gen, "--golden", os.path.join(folder, file), model], check=True)
        runs.model(file, model, golden)
        shutil.rmtree(model)
        models += 1
    shutil.rmtree(work)
    print(f"{models} models, {runs.matrices} matrices, the farthest value {runs.worst:.1e} of its "
          f"row; {runs.failed} failed")
    sys.exit(1 if runs.failed or models == 0 else 0)


main()
