#!/usr/bin/env python3
"""Figures of speed in documents: a script has written them, or they are no measurement.

lint_figures.py ROOT: in no Markdown page stands a number of ns, cycles, Mpps or millions a second, but in the report
of the benchmarks, between the marks that it fills, and on lines that say <!-- arithmetic -->: what follows from code or
from a standard, and no machine can make it another number.
"""
import pathlib
import re
import subprocess
import sys

FIGURE = re.compile(r"\b[0-9](?:[0-9.,]*[0-9])?(?: ?(?:ns|Mpps|cycles)| M(?: [a-z]+)?/s| million [a-z]+ a second)\b")
WRITTEN = "tests/bench/README.md"
BEGIN, END = "<!-- scripts/bench: begin -->", "<!-- scripts/bench: end -->"
ARITHMETIC = "<!-- arithmetic -->"


def figures(text):
    """(line number, figure) of those by hand."""
    between = False
    for number, line in enumerate(text.splitlines(), 1):
        between = (between or BEGIN in line) and END not in line
        if not between and ARITHMETIC not in line:
            yield from ((number, found.group()) for found in FIGURE.finditer(line))


def main(root):
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True, check=True).stdout.split("\n")
    pages = [name for name in listed if name and name != WRITTEN and (pathlib.Path(root) / name).exists()]
    failed = 0
    for name in pages:
        for number, figure in figures((pathlib.Path(root) / name).read_text(encoding="utf-8")):
            print(f"{name}:{number}: error: {figure}: which script wrote it? The report is {WRITTEN}")
            failed += 1
    if not failed:
        print(f"figures: {len(pages)} pages without one by hand")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
