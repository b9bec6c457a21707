"""Who may include whom: src <- formats <- tools; tools see public headers only; no format file
includes another's header; cJSON.h is included once."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from tree import code, tree  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def layer(path):
    if path.startswith("src/include/"):
        return 0
    return {"src": 1, "formats": 2, "tools": 3}.get(path.split("/")[0], 4)


def target(t, path, name):
    """The file in the tree that an include names, or None."""
    for folder in (os.path.dirname(path), "src/include", "src", "formats", "tools"):
        found = os.path.normpath(os.path.join(folder, name))
        if found in t.paths:
            return found
    return None


def check_file(t, path, cjson):
    text = t.text(path)
    plain = code(text)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if plain[match.start():match.start() + 1] == " " and "#" not in plain.split("\n")[line - 1]:
            continue  # inside a comment
        name = match.group(1) or match.group(2)
        if name.endswith("cJSON.h"):
            cjson.append((path, line))
        if not match.group(1):
            continue
        found = target(t, path, name)
        if found is None:
            continue
        if layer(found) > layer(path):
            t.fault(path, line, f"includes {found}, of a higher layer")
        if layer(path) == 0 and layer(found) != 0:
            t.fault(path, line, f"a public header includes the private {found}")
        if layer(path) == 3 and layer(found) in (1, 2):
            t.fault(path, line, f"tools see public headers only, not {found}")


def main():
    t = tree()
    cjson = []
    for path in t.files(r"(src|formats|tools)/.*\.[ch]$"):
        check_file(t, path, cjson)
    for path, line in cjson[1:]:
        t.fault(path, line, f"cJSON.h is included in {cjson[0][0]} already")
    t.finish()


main()
