"""Bounds of the finished page: its size, that of what it loads later, and that it names no other host."""
import gzip
import re

FIRST = "first load"  # index.html and all that it names
EDITOR = "control/web/src/editor/editor.ts"
# Bytes, compressed, of what is loaded at once: the page, its editor, and any other part that is imported when it is wanted.
BUDGETS = {FIRST: 60 * 1024, EDITOR: 120 * 1024}
OTHER_PART = 60 * 1024
HOST = re.compile(rb"(?:https?:|wss?:)?//([a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,})")
NAMESPACES = {b"www.w3.org"}  # names of markup languages, which nobody opens


class Broken(Exception):
    pass


def compressed(content):
    return gzip.compress(content, 9, mtime=0)


def sizes_of(page, rows):
    """-> {what wants it: bytes, compressed}"""
    sizes = {}
    for row in rows:
        size = len(compressed((page / row["file"]).read_bytes()))
        for wanted_by in row.get("loads", [FIRST]):
            sizes[wanted_by] = sizes.get(wanted_by, 0) + size
    return sizes


def judge(page, rows):
    """-> sizes_of(), or Broken"""
    for row in rows:
        others = set(HOST.findall((page / row["file"]).read_bytes())) - NAMESPACES
        if others:
            raise Broken(f"{row['file']} names other hosts: {', '.join(sorted(map(bytes.decode, others)))}")
    sizes = sizes_of(page, rows)
    for wanted_by, size in sizes.items():
        most = BUDGETS.get(wanted_by, OTHER_PART)
        if size > most:
            raise Broken(f"the {wanted_by} is {size} bytes compressed, and may be {most}")
    return sizes
