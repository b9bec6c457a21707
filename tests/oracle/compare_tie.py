"""A real tied model, untied, in llama.cpp's loader, and back. `compare_tie.py TENON`: for every GGUF
file of TENON_MODELS_DIR that is tied and whose architecture may store its output."""
import filecmp
import glob
import json
import os
import subprocess
import sys
import tempfile

from llama import Llama


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


def main():
    folder = os.environ.get("TENON_MODELS_DIR")
    if not folder or "TENON_ORACLE_GGML" not in os.environ:
        print("TENON_MODELS_DIR or TENON_ORACLE_GGML is not set")
        return 77
    llama = Llama()
    n = failed = 0
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
