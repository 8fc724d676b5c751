#!/usr/bin/env python3
"""clang-tidy over the sources in BUILD/compile_commands.json, two at a time.

What was clean is remembered by a hash of everything clang-tidy could see (the file, the project's
headers it reaches, its command line, .clang-tidy, the tool's version), so a second run is quick.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TIDY = "clang-tidy-19"
CHECKED = ("lib", "dataplane", "control")
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.M)
# g++ knows warnings that clang does not, and its library calls what it has deprecated.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument",
         "--extra-arg=-Wno-deprecated-declarations"]


def reach(root, path):
    """The file and the project's headers it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        here = todo.pop()
        if here in seen or not (root / here).is_file():
            continue
        seen.add(here)
        todo += [name.decode() for name in INCLUDE.findall((root / here).read_bytes())]
    return sorted(seen)


def fingerprint(root, path, command, settings):
    digest = hashlib.sha256(settings + json.dumps(command).encode())
    for name in reach(root, path):
        digest.update(name.encode() + b"\0" + (root / name).read_bytes())
    return digest.hexdigest()


def check_one(commands, path):
    done = subprocess.run([TIDY, "-p", str(commands), "--quiet", *EXTRA, str(path)],
                          capture_output=True, text=True)
    return done.returncode, done.stdout or done.stderr


class Cache:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.used = set()

    def knows(self, key):
        self.used.add(key)
        return (self.folder / key).exists()

    def add(self, key):
        (self.folder / key).touch()

    def prune(self):
        for entry in self.folder.iterdir():
            if entry.name not in self.used:
                entry.unlink()


def units(root, commands):
    """Path of each source to check, with the command that compiles it."""
    for entry in commands:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        if path.split(os.sep)[0] in CHECKED:
            yield path, entry["command"]


def check_all(root, commands, todo, cache):
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        work = {pool.submit(check_one, commands, root / path): (path, key) for path, key in todo}
        for number, future in enumerate(concurrent.futures.as_completed(work), 1):
            path, key = work[future]
            code, output = future.result()
            print(f"clang-tidy [{number}/{len(todo)}] {path}{'' if code == 0 else ': FAILED'}",
                  file=sys.stderr)
            if code == 0:
                cache.add(key)
            else:
                failed += 1
                print(output.strip())
    return failed


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    settings = version + (root / ".clang-tidy").read_bytes() + " ".join(EXTRA).encode()
    keyed = functools.partial(fingerprint, root)
    cache = Cache(build / ".tidy")
    commands = json.loads((build / "compile_commands.json").read_text())
    everything = [(path, keyed(path, command, settings)) for path, command in units(root, commands)]
    todo = [(path, key) for path, key in everything if not cache.knows(key)]
    failed = check_all(root, build, todo, cache)
    cache.prune()
    print(f"clang-tidy: {len(everything)} sources, {len(todo)} of them looked at again, "
          f"{failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
