"""What the lints share: the files of the tree, C without comments and strings, and the report.

A lint is a program that takes the top of the tree as its first argument, prints one line
"FILE:LINE: what is wrong" for each fault, and exits with 1 when there was one.
"""
import os
import re
import sys

# Not part of the project: version control and build folders.
SKIP = re.compile(r"^(\.git|build.*|__pycache__|\.cache)$")


class Tree:
    def __init__(self, root):
        self.root = root
        self.faults = 0
        self.paths = sorted(self._walk())

    def _walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if not SKIP.match(f) and not
                          os.path.exists(os.path.join(folder, f, "build.ninja"))]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def files(self, pattern):
        """Paths that match the regular expression from their start."""
        return [p for p in self.paths if re.match(pattern, p)]

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def fault(self, path, line, what):
        print(f"{path}:{line}: {what}")
        self.faults += 1

    def finish(self):
        sys.exit(1 if self.faults else 0)


def tree():
    return Tree(sys.argv[1])


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def _blank(match):
    """A comment becomes blanks, a string an empty one: same length, same lines."""
    text = match.group()
    if text[0] == "/":
        return re.sub(r"[^\n]", " ", text)
    return text[0] + " " * (len(text) - 2) + text[0]


def code(text):
    """C source with its comments and the contents of its strings blanked out."""
    return TOKEN.sub(_blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def rows(text):
    """The rows X(a, b, ...) of a list file, each as (line number, [columns])."""
    found = []
    for match in re.finditer(r"^X\(", text, re.M):
        found.append((line_of(text, match.start()), columns(text, match.end())))
    return found


def columns(text, at):
    """Splits at commas outside strings and parentheses, up to the closing parenthesis."""
    out, start, depth = [], at, 0
    while at < len(text):
        quoted = TOKEN.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        if text[at] in "([{":
            depth += 1
        elif depth == 0 and text[at] in ",)":
            out.append(" ".join(text[start:at].split()))
            start = at + 1
            if text[at] == ")":
                break
        elif text[at] in ")]}":
            depth -= 1
        at += 1
    return out
