#!/usr/bin/env python3
"""compiles.py BUILD FOLDER: the sources below FOLDER compile, as BUILD would compile them. For programs that no test runs.
Exit 1: one does not; what the compiler says is printed."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

OF_OUTPUT = {"-o", "-MF", "-MQ"}  # each with a value
DROPPED = {"-c", "-MD", "ccache"}


def commands(build, folder):
    """-> {source: command that reads it and writes nothing}, each once."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in database:
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if folder in source.parents and source not in found:
            words = iter(shlex.split(entry["command"]))
            kept = [word for word in words if not (word in OF_OUTPUT and next(words))]
            found[source] = [word for word in kept if word not in DROPPED] + ["-fsyntax-only", "-O0", "-fno-lto"]
    return found


def complaint(build, command):
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    found = commands(build, folder)
    if not found:
        sys.exit(f"{build} compiles nothing below {folder}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(lambda command: complaint(build, command), found.values()) if text]
    print("".join(complaints) + f"{len(found) - len(complaints)} of {len(found)} sources below {folder.name} compile")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
