"""Text: no tabs, trailing blanks, CR, invisible or bidirectional characters; a final newline; no
// comments in C; no words of anybody's machine."""
import os
import re
import sys
import unicodedata

sys.path.insert(0, os.path.dirname(__file__))
from tree import TOKEN, line_of, tree  # noqa: E402

TEXT = r".*(\.(c|h|def|md|build|py|sh|scd|test|txt|dict|yml|awk|fish|bash)|/run|tools/[a-z]+)$"

# Paths and names of workplaces, not of projects. Split, so that this file does not name them.
MACHINE = re.compile("|".join((
    "/" + r"work/", "/" + r"home/\w", "/" + r"tmp/\w", "/" + r"root/", "/" + r"farm/",
    "bash" + "_jobs", "sub" + "agent", r"deb\.debian" + r"\.org", r"pypi" + r"\.org",
    r"registry\.npm" + "js", "files\\.python" + "hosted")))


def invisible(char):
    return char not in "\n" and (unicodedata.category(char) in ("Cf", "Cc", "Zl", "Zp", "Co"))


def check_comments(t, path, text):
    for match in TOKEN.finditer(text):
        if match.group().startswith("//"):
            t.fault(path, line_of(text, match.start()), "a // comment; /* */ only")


def check_text(t, path):
    try:
        text = t.text(path)
    except UnicodeDecodeError:
        t.fault(path, 1, "not UTF-8")
        return
    if text and not text.endswith("\n"):
        t.fault(path, text.count("\n") + 1, "no newline at the end")
    if text.endswith("\n\n"):
        t.fault(path, text.count("\n"), "blank lines at the end")
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line and not path.endswith(".scd"):  # scdoc indents by tabs
            t.fault(path, number, "a tab")
        if line != line.rstrip():
            t.fault(path, number, "blanks at the end")
        if any(invisible(char) for char in line if char != "\t"):
            t.fault(path, number, "an invisible character")
        if MACHINE.search(line):
            t.fault(path, number, f"words of a machine: {MACHINE.search(line).group()}")
    if path.endswith((".c", ".h", ".def")):
        check_comments(t, path, text)


def main():
    t = tree()
    for path in t.files(TEXT):
        check_text(t, path)
    t.finish()


main()
