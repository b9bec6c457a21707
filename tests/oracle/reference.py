"""What the comparisons share: running tenon, counting what agrees, random text and shapes."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile


class Comparison:
    """Runs tenon on files and counts what agrees."""

    def __init__(self, tenon):
        self.tenon = tenon
        self.files = self.values = self.disagreements = 0
        self.folder = tempfile.mkdtemp(prefix="tenon-oracle-", dir=os.getcwd())

    def ask(self, *args):
        run = subprocess.run([self.tenon, *args], capture_output=True, check=False)
        if run.returncode != 0:
            self.disagree(args[-1], " ".join(args), run.stderr.decode(), "")
            return None
        return json.loads(run.stdout)

    def disagree(self, path, what, ours, theirs):
        self.disagreements += 1
        if self.disagreements <= 20:
            print(f"{os.path.basename(path)}: {what}: tenon {ours!r}, reference {theirs!r}")

    def same(self, path, what, ours, theirs, narrow=float):
        """Compares two values or lists of values. Floats must be equal after `narrow`, which for a
        float32 printed with few digits gives back the number that was meant."""
        if isinstance(theirs, list):
            if not isinstance(ours, list) or len(ours) != len(theirs):
                self.disagree(path, what, ours, theirs)
                return
            for i, pair in enumerate(zip(ours, theirs)):
                self.same(path, f"{what}[{i}]", *pair, narrow)
            return
        self.values += 1
        if isinstance(theirs, float):
            ours = float(narrow(number(ours)))
            equal = ours == theirs or (math.isnan(ours) and math.isnan(theirs))
        else:
            equal = type(ours) is type(theirs) and ours == theirs
        if not equal:
            self.disagree(path, what, ours, theirs)

    def finish(self, least):
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        os.rmdir(self.folder)
        print(f"{self.files} files, {self.values} values compared, "
              f"{self.disagreements} disagreements")
        sys.exit(1 if self.disagreements or self.files < least else 0)


def number(value):
    """A JSON number, or one of the names that stand for what JSON cannot say."""
    return float(value)  # Python knows NaN, Infinity and -Infinity by these names


def found_files(ending, link):
    """Real files, where folders of them are named in the environment. Each is shown as `link`, so
    that a lone member of a set is read alone."""
    for variable in ("TENON_MODELS_DIR", "TENON_REAL_DIR"):
        for folder, _, names in sorted(os.walk(os.environ.get(variable, ""))):
            for name in sorted(names):
                if not name.endswith(ending):
                    continue
                if os.path.lexists(link):
                    os.remove(link)
                os.symlink(os.path.realpath(os.path.join(folder, name)), link)
                yield name


def random_text(rng, most=24):
    """Text of any script, with what JSON and terminals find difficult."""
    alphabets = ("abcdefghijklmnopqrstuvwxyz_.0123456789", "äöüßéñçł", "日本語中文한국", "שלום عربى",
                 "\"\\/\b\f\n\r\t\x01\x7f", "😀🚀\U0001f468\u200d", "\u2028\u202e\ufeff")
    return "".join(rng.choice(rng.choice(alphabets)) for _ in range(rng.randrange(1, most)))


def random_shape(rng, most_dims=4, most=9):
    return [rng.randrange(1, most) for _ in range(rng.randrange(1, most_dims + 1))]


def generator(seed):
    return random.Random(seed)
