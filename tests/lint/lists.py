"""List files: sorted as their head comment says, and complete: every row has its file, every file
its row, every status a test that produces it, every sample its line in the README."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from tree import rows, tree  # noqa: E402

# list file, column to sort by, numeric
SORTED = (
    ("src/include/tenon/findings.def", 0, False),
    ("src/include/tenon/errors.def", 2, True),
    ("src/include/tenon/roles.def", 1, True),
    ("src/include/tenon/verdicts.def", 1, True),
    ("testdata/corrupt_folder.def", 0, False),
    ("testdata/corrupt_gguf.def", 0, False),
    ("testdata/corrupt_json.def", 0, False),
    ("testdata/corrupt_output.def", 0, False),
    ("testdata/corrupt_reports.def", 0, False),
    ("testdata/corrupt_safetensors.def", 0, False),
    ("src/archs.def", 0, False),
    ("src/include/tenon/archs.def", 0, False),
)


def check_sorted(t, path, column, numeric):
    if path not in t.paths:
        return
    last = None
    for line, cols in rows(t.text(path)):
        key = int(cols[column]) if numeric else cols[column]
        if last is not None and key <= last:
            t.fault(path, line, f"{key} stands after {last}: sort the rows, each once")
        last = key


def check_files(t, def_path, column, folder, pattern):
    """Every row's file exists in `folder`, and every file there that matches has a row."""
    if def_path not in t.paths:
        return
    named = {}
    for line, cols in rows(t.text(def_path)):
        named.setdefault(cols[column].strip('"'), line)
    for name, line in named.items():
        if f"{folder}/{name}.c" not in t.paths:
            t.fault(def_path, line, f"{folder}/{name}.c is not there")
    for path in t.files(pattern):
        stem = os.path.basename(path)[:-2]
        if stem not in named:
            t.fault(path, 1, f"no row in {def_path}")


def check_commands(t):
    path = "tools/commands.def"
    if path not in t.paths:
        return
    named = {cols[0].strip('"') for _, cols in rows(t.text(path))}
    found = {os.path.basename(p)[4:-2] for p in t.files(r"tools/cmd_\w+\.c$")}
    for name in sorted(named - found):
        t.fault(path, 1, f"tools/cmd_{name}.c is not there")
    for name in sorted(found - named):
        t.fault(f"tools/cmd_{name}.c", 1, f"no row in {path}")


def check_statuses(t):
    """Each status is produced by a row of damage or named by a test."""
    path = "src/include/tenon/errors.def"
    tests = "".join(t.text(p) for p in t.files(r"tests/.*\.(c|test)$"))
    damage = {cols[2] for p in t.files(r"testdata/corrupt_\w+\.def$") for _, cols in rows(t.text(p))}
    for line, cols in rows(t.text(path)):
        name = f"TENON_ERR_{cols[0]}"
        if cols[1] not in damage and name not in tests and cols[0] != "OK":
            t.fault(path, line, f"no test produces {cols[1]}")


def check_findings(t):
    """Each code is recorded somewhere, and each recorded code has a row."""
    path = "src/include/tenon/findings.def"
    named = {cols[0]: line for line, cols in rows(t.text(path))}
    used = set()
    for source in t.files(r"(src|formats|tools)/.*\.(c|h|def)$"):
        if source != path:
            used |= set(re.findall(r'"([a-z0-9_]+)"', t.text(source)))
    for code, line in named.items():
        if code not in used:
            t.fault(path, line, f"nothing records {code}")


def check_samples(t):
    text = t.text("testdata/gen/gen_samples.c")
    table = text[text.index("gen_samples[] = {"):text.index("gen_n_samples =")]
    names = re.findall(r'(?:\(|\{)"(\w+)",', table)
    readme = t.text("testdata/README.md").split("## Damage")[0]
    readme = re.findall(r"^\| `(\w+)` \|", readme, re.M)
    for name in sorted(set(names) ^ set(readme)):
        t.fault("testdata/README.md", 1, f"sample {name} is not in both the table and the generator")


def check_umbrella(t):
    umbrella = t.text("src/include/tenon/tenon.h")
    build = t.text("src/include/tenon/meson.build")
    for path in t.files(r"src/include/tenon/\w+\.h$"):
        name = os.path.basename(path)
        if name != "tenon.h" and f'#include "tenon/{name}"' not in umbrella:
            t.fault("src/include/tenon/tenon.h", 1, f"does not include {name}")
        if f"'{name}'" not in build:
            t.fault("src/include/tenon/meson.build", 1, f"does not install {name}")


def main():
    t = tree()
    for path, column, numeric in SORTED:
        check_sorted(t, path, column, numeric)
    check_files(t, "formats/formats.def", 1, "formats", r"formats/lookalike_\w+\.c$")
    check_commands(t)
    check_statuses(t)
    check_findings(t)
    check_samples(t)
    check_umbrella(t)
    t.finish()


main()
