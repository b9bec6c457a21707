"""What the tests of rewriting share: running tenon, and files that must be the same."""
import filecmp
import glob
import json
import os
import subprocess
import sys
import tempfile


class Rewriting:
    """Runs commands in a folder of its own and counts what holds."""

    def __init__(self, tenon, generator):
        self.tenon, self.generator = tenon, generator
        self.folder = tempfile.mkdtemp(prefix="tenon-oracle-", dir=os.getcwd())
        self.checks = self.failures = self.n_loads = 0

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def sample(self, name):
        """The path of a sample, or of the first file of a set."""
        out = self.path(name)
        subprocess.run([self.generator, name + "_gguf", out], check=True)
        return self.first(out) if os.path.isdir(out) else out

    def first(self, folder):
        names = [name for name in sorted(os.listdir(folder)) if name.endswith(".gguf")]
        return os.path.join(folder, names[0])

    def run(self, *args, status=0):
        """Runs tenon; its exit status must be `status`. Returns what it said."""
        run = subprocess.run([self.tenon, *args], capture_output=True, check=False)
        said = (run.stdout + run.stderr).decode()
        self.check(run.returncode == status, f"{' '.join(args)}: {run.returncode}: {said}")
        return said

    def values(self, path):
        """The hash of every tensor's values, by name."""
        tensors = json.loads(self.run("hash", "--values", "--json", path))["tensors"]
        return {t["name"]: t["xxh3"] for t in tensors}

    def same(self, a, b):
        self.check(filecmp.cmp(a, b, shallow=False), f"{a} and {b} differ")

    def check(self, good, what):
        self.checks += 1
        if not good:
            self.failures += 1
            print(what)

    def remove(self, *paths):
        for path in paths:
            if os.path.isdir(path):
                self.remove(*(os.path.join(path, name) for name in os.listdir(path)))
                os.rmdir(path)
            elif os.path.lexists(path):
                os.remove(path)

    def finish(self, least):
        self.remove(self.folder)
        print(f"{self.checks} checks, {self.n_loads} models loaded, {self.failures} failures")
        sys.exit(1 if self.failures or self.checks < least else 0)


def real_models():
    """Real GGUF models that llama.cpp can use, where folders of them are named."""
    patterns = (("TENON_MODELS_DIR", "gemma*.gguf"),
                ("TENON_REAL_DIR", "gguf-v3/ollama-llama-2-tiny-random.gguf"))
    return [path for variable, pattern in patterns if variable in os.environ
            for path in glob.glob(os.path.join(os.environ[variable], pattern))]
