"""What the shared library exports is what its public headers declare, and all of it begins with
tenon_. Second argument: the library."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from tree import code, line_of, tree  # noqa: E402


def declared(t):
    """Name -> (path, line) of every function declared with TENON_API."""
    found = {}
    for path in t.files(r"src/include/tenon/\w+\.h$"):
        text = code(t.text(path))
        for match in re.finditer(r"^TENON_API\b(?: TENON_MUST_USE)?[^;{(]*?\b(\w+)\s*\(", text, re.M):
            found[match.group(1)] = (path, line_of(text, match.start()))
    return found


def main():
    t = tree()
    library = sys.argv[2]
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                         check=True)
    exported = {line.split()[-1] for line in run.stdout.splitlines()}
    public = declared(t)
    for name in sorted(exported):
        if not name.startswith("tenon_"):
            t.fault(os.path.basename(library), 0, f"exports {name}, without the prefix")
        elif name not in public:
            t.fault(os.path.basename(library), 0, f"exports {name}, which no public header declares")
    for name, (path, line) in public.items():
        if name not in exported:
            t.fault(path, line, f"{name} is declared, but not in the library")
    if not exported:
        t.fault(os.path.basename(library), 0, "exports nothing")
    t.finish()


main()
