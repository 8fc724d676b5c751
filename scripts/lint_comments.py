#!/usr/bin/env python3
"""Comments say what they are about: the share of those whose first word points at something unnamed.

lint_comments.py [ROOT] [--list]: "What a worker has told" leaves the reader to find a name for it; "Amounts that a worker
has told" has one. Counted are blocks of whole lines in the product; no more than STOP of them may point.
"""
import argparse
import pathlib
import re
import sys

STOP = 0.02
POINTING = set("As From He His It Its Of Such That Their These They This Those What Whatever Where Wherever Whether Which "
               "Who Whoever Whom Whose".split())
TOPS, SUFFIXES = ("lib", "dataplane", "control"), {".cpp", ".hpp", ".c", ".h"}
FIRST_WORD = re.compile(r"[\"'`(*]*([A-Za-z]+)")


def blocks(text):
    """(line number, first line) of each comment that has lines of its own; directives of tools are none."""
    within = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped.startswith("//"):
            within = False
            continue
        words = stripped.lstrip("/!<").strip()
        if words and not within and not re.match(r"NOLINT|clang-format|SPDX", words):
            yield number, words
        within = True


def points(words):
    first = FIRST_WORD.match(words)
    return first is not None and first[1] in POINTING


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="each comment that points")
    arguments = parser.parse_args()
    count, pointing = 0, []
    for file in (file for top in TOPS for file in sorted((arguments.root / top).rglob("*")) if file.suffix in SUFFIXES):
        for number, words in blocks(file.read_text(encoding="utf-8")):
            count += 1
            if points(words):
                pointing.append(f"{file.relative_to(arguments.root)}:{number}: {words}")
    if arguments.list:
        print("\n".join(pointing))
    share = len(pointing) / max(1, count)
    told = f"{len(pointing)} of {count} begin by pointing: {share:.1%}, stop {STOP:.1%}"
    print(f"comments: {'error: ' if share > STOP else ''}{told}")
    return 1 if share > STOP else 0


if __name__ == "__main__":
    sys.exit(main())
