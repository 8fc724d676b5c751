"""Bounds of the finished page: its size, and that it names no other host."""
import gzip
import re

FIRST_LOAD = 60 * 1024  # bytes, compressed: index.html and all that it names
HOST = re.compile(rb"(?:https?:|wss?:)?//([a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,})")
NAMESPACES = {b"www.w3.org"}  # names of markup languages, which nobody opens


class Broken(Exception):
    pass


def compressed(content):
    return gzip.compress(content, 9, mtime=0)


def judge(page, rows):
    total = 0
    for row in rows:
        content = (page / row["file"]).read_bytes()
        total += len(compressed(content))
        others = set(HOST.findall(content)) - NAMESPACES
        if others:
            raise Broken(f"{row['file']} names other hosts: {', '.join(sorted(map(bytes.decode, others)))}")
    if total > FIRST_LOAD:
        raise Broken(f"the first load is {total} bytes compressed, and may be {FIRST_LOAD}")
    return total
