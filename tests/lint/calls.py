"""What the library must not do: print, exit, abort, read the environment, assert on input, allocate
around mem.h, cast byte pointers to wider ones, keep mutable globals of its own."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from tree import code, line_of, tree  # noqa: E402

BANNED = {
    r"\b(?:printf|puts|putchar|perror|vprintf|fprintf|vfprintf|fputs|fputc|putc|fwrite)\s*\(":
        "the library prints nothing",
    r"\b(?:exit|_Exit|_exit|abort|quick_exit|atexit|raise)\s*\(": "the library ends no process",
    r"\b(?:getenv|secure_getenv|setlocale|system|popen)\s*\(": "the library asks no environment",
    r"(?<!static_)(?<!_Static_)\bassert\s*\(": "an assertion; input may never decide one",
    r"\balloca\s*\(": "no alloca",
    r"\b(?:strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|strtod)\s*\(":
        "an unbounded or locale-bound function",
    r"\b(?:rand|srand|random|time|clock)\s*\(": "answers may not depend on chance or time",
}
ALLOCATION = re.compile(r"(?<![\w.>])(?:malloc|calloc|realloc|free|strdup|strndup)\s*\(")
ALLOCATORS = ("src/mem.c",)

# A cast to a pointer to integers wider than a byte; in readers also to floats (elsewhere buffers of
# values are handed on as void pointers).
INTEGER = r"u?int(?:16|32|64)_t|unsigned(?:\s+int)?|int|long|short|size_t"
WIDE = r"\(\s*(?:const\s+)?(?:{})\s*(?:const\s*)?\*\s*(?:const\s*)?\)"
WIDE_SRC = re.compile(WIDE.format(INTEGER))
WIDE_FORMATS = re.compile(WIDE.format(INTEGER + "|float|double"))
# A function for qsort gets its items as void pointers.
COMPARES = re.compile(r"\(const void \*\w+, const void \*\w+\)\n\{(?:(?!\n\}).)*$", re.S)
# Vector code loads through its own unaligned loads.
WIDE_ALLOWED = re.compile(r"^src/(x86|arm)/")
# Floats as texts: the decimal point of the locale is exchanged there.
LOCALE_ALLOWED = ("src/meta_text_read.c", "src/meta_text_write.c")
# The seed of the hash table, which no answer depends on.
CHANCE_ALLOWED = ("src/names.c",)


def main():
    t = tree()
    for path in t.files(r"(src|formats)/.*\.[ch]$"):
        text = code(t.text(path))
        for pattern, why in BANNED.items():
            if "chance" in why and path in CHANCE_ALLOWED:
                continue
            if "locale" in why and path in LOCALE_ALLOWED:
                pattern = pattern.replace("|strtod", "")
            for match in re.finditer(pattern, text):
                t.fault(path, line_of(text, match.start()), f"{match.group()}...): {why}")
        if path not in ALLOCATORS:
            for match in ALLOCATION.finditer(text):
                t.fault(path, line_of(text, match.start()), "allocation goes through mem.h")
        if not WIDE_ALLOWED.match(path):
            wide = WIDE_FORMATS if path.startswith("formats/") else WIDE_SRC
            for match in wide.finditer(text):
                if COMPARES.search(text[max(0, match.start() - 300):match.start()]):
                    continue
                t.fault(path, line_of(text, match.start()),
                        f"{match.group()}: bytes are read through tenon_load_* or memcpy")
    t.finish()


main()
