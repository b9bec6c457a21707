"""Integers from a file are added, multiplied and shifted only by the checked functions of mem.h.

A heuristic over formats/*.c: flags + * << and += *= on a variable or member whose name says that it
came from a file: *_off, *_offset, *_bytes, *_len, n_*, *_count. What is safe for a reason that a
machine cannot see carries the reason in a comment on the same line or the line above, which begins
with "cannot overflow" or "fits:".
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from tree import code, tree  # noqa: E402

# `length_bytes` is 4 or 8 by the version of a format, whatever the file says.
NAME = r"(?:\w+(?:->|\.))*(?:n_\w+|(?!length_bytes)\w+_(?:off|offset|bytes|len|count)|offset|count)\b(?!\s*\()"
OPERATOR = r"\s(?:\+|\*|<<)\s"  # the layout puts blanks around binary operators only
AFTER = re.compile(rf"(?<![\w.>]){NAME}(?:{OPERATOR}|\s(?:\+|\*|<<)=\s)")
BEFORE = re.compile(rf"[\w)\]]{OPERATOR}{NAME}")
REASON = re.compile(r"/\*.*(cannot overflow|fits:)", re.I)


def main():
    t = tree()
    for path in t.files(r"formats/.*\.c$"):
        source = t.text(path).split("\n")
        for number, line in enumerate(code(t.text(path)).split("\n"), 1):
            if "tenon_u64_" in line or "tenon_size_" in line:
                continue
            if not (AFTER.search(line) or BEFORE.search(line)):
                continue
            near = source[max(number - 2, 0):number]
            if any(REASON.search(text) for text in near):
                continue
            t.fault(path, number, f"unchecked arithmetic: {line.strip()}")
    t.finish()


main()
