#!/usr/bin/env python3
"""Pages for people: the front page is short, links lead to files, indexes are whole, the changelog has the version that is built.

lint_pages.py [ROOT]
"""
import os
import pathlib
import re
import subprocess
import sys

FRONT, CHANGES, BUILD = "README.md", "CHANGELOG.md", "meson.build"
MOST_LINES, LONGEST_CELL = 130, 120
INDEX, DECISIONS = "control/doc/README.md", "control/doc/decisions/README.md"
APART = {FRONT, INDEX, ".github/pull_request_template.md"}
CELL_END = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"!?\[[^][]*\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)


def front_faults(text):
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        yield f"{FRONT}: error: {len(lines)} lines, stop is {MOST_LINES}"
    for number, line in enumerate(lines, 1):
        cells = CELL_END.split(line) if line.startswith("|") else []
        for cell in (cell.strip() for cell in cells):
            if len(cell) > LONGEST_CELL:
                yield f"{FRONT}:{number}: error: a cell of {len(cell)} characters, stop is {LONGEST_CELL}"


def links(name, text):
    """(line, what a link within the tree leads to)"""
    text = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for found in LINK.finditer(text):
        target = found[1].split("#")[0]
        if target and not re.match(r"[a-z]+:", target):
            line = text.count("\n", 0, found.start()) + 1
            yield line, os.path.normpath(pathlib.PurePosixPath(name).parent / target)


def lost_links(root, name, text):
    for line, target in links(name, text):
        if not (root / target).exists():
            yield f"{name}:{line}: error: {target} is not there"


def torn_headings(name, text):
    """Headings without their blank, as a formatter of code leaves them."""
    for number, line in enumerate(CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text).splitlines(), 1):
        if re.match(r"#+[^#\s]", line):
            yield f"{name}:{number}: error: no heading: a blank is missing"


def unlisted(texts, manuals):
    """Pages that no index leads to. That of a folder, README.md, is found there; the others want a line."""
    listed = {index: {target for _, target in links(index, texts.get(index, ""))} for index in (INDEX, DECISIONS)}
    for name in [*texts, *manuals]:
        index = DECISIONS if name.startswith("control/doc/decisions/") else INDEX
        if not name.endswith("/README.md") and name not in APART and name not in listed[index]:
            yield f"{name}: error: {index} does not lead to it"


def version_faults(build, changes):
    built = re.search(r"^project\(.*?version: '([^']+)'", build, re.M | re.S)
    newest = re.search(r"^## \[([0-9][^]]*)\]( - \d{4}-\d\d-\d\d)?$", changes, re.M)
    if not built or not newest or built[1] != newest[1]:
        yield (f"{CHANGES}: error: its newest version is {newest[1] if newest else 'none'}, "
               f"that of {BUILD} {built[1] if built else 'none'}")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md", "*.scd"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    there = [name for name in listed if (root / name).exists()]
    texts = {name: (root / name).read_text(encoding="utf-8") for name in there if name.endswith(".md")}
    faults = [*front_faults(texts[FRONT]), *version_faults((root / BUILD).read_text(encoding="utf-8"), texts[CHANGES]),
              *unlisted(texts, [name for name in there if name.endswith(".scd")])]
    for name, text in texts.items():
        faults += [*lost_links(root, name, text), *torn_headings(name, text)]
    for fault in faults:
        print(fault)
    if not faults:
        print(f"pages: links of {len(texts)} lead to files, indexes are whole, {FRONT} has {len(texts[FRONT].splitlines())} lines")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
