"""The help, the manual page and the completions of every shell name the same commands and options.
Arguments: top of the tree, the program, folder of completions,
source of the manual page ("" when pages are not built)."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from tree import tree  # noqa: E402

SHELLS = {"bash": "tenon", "fish": "tenon.fish", "zsh": "_tenon"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def options(text):
    """Long options that a help text lists (not those that its prose mentions)."""
    return set(re.findall(r"^  (?:-\w, |    )--([a-z][a-z-]+)", text, re.M))


def section(page, command):
    """The part of the manual page about one command."""
    match = re.search(rf"^## tenon {command}\b.*?(?=^#|\Z)", page, re.M | re.S)
    return match.group() if match else ""


def mentions(shell, text, command, option):
    if shell == "fish":
        return re.search(rf"__fish_seen_subcommand_from {command}\b.* -l {option}\b", text)
    return f"--{option}" in text


def main():
    t = tree()
    program, folder, page_path = sys.argv[2:5]
    scripts = {}
    for shell, name in SHELLS.items():
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            scripts[shell] = file.read()
    page = ""
    if page_path:
        with open(page_path, encoding="utf-8") as file:
            page = file.read().replace("\\-", "-").replace("\\_", "_")
    general = options(run(program, "help"))
    commands = re.findall(r'^X\((\w+),', t.text("tools/commands.def"), re.M)
    for command in commands:
        for shell, text in scripts.items():
            if not re.search(rf"\b{command}\b", text):
                t.fault(f"completion for {shell}", 0, f"does not know {command}")
        if page and not section(page, command):
            t.fault("manual page", 0, f"has no section about {command}")
        for option in sorted(options(run(program, "help", command)) - general):
            if page and f"--{option}*" not in section(page, command):
                t.fault("manual page", 0, f"{command}: does not mention --{option}")
            for shell, text in scripts.items():
                if not mentions(shell, text, command, option):
                    t.fault(f"completion for {shell}", 0, f"{command}: does not offer --{option}")
    for option in sorted(general):
        if page and f"--{option}*" not in page:
            t.fault("manual page", 0, f"does not mention --{option}")
    t.finish()


main()
