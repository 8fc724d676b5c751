#!/usr/bin/env python3
"""clang-tidy over the sources in BUILD/compile_commands.json, two at a time.

With TIDY_SECONDS in the environment no further source is begun after so many seconds, and what was left out is
counted; sources of the last commit and of the working tree come first, the others in an order that changes with the
commit, so that each gets its turn.

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
import time

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


def git(root, *words):
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(root), *words], capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def by_novelty(root, todo):
    """The newest first, then a shuffle that the commit decides."""
    commit = "".join(git(root, "rev-parse", "HEAD"))
    new = set(git(root, "diff", "--name-only", "HEAD~1") or git(root, "diff", "--name-only", "HEAD"))
    return sorted(todo, key=lambda work: (work[0] not in new,
                                          hashlib.sha256(f"{commit} {work[0]}".encode()).digest()))


def check_all(root, commands, todo, cache, deadline):
    """How many have findings, and how many were looked at before the deadline."""
    failed = looked_at = 0

    def check(path):
        return check_one(commands, path) if time.monotonic() < deadline else None
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        work = {pool.submit(check, root / path): (path, key) for path, key in todo}
        for future in concurrent.futures.as_completed(work):
            path, key = work[future]
            if (result := future.result()) is None:
                continue
            code, output = result
            looked_at += 1
            print(f"clang-tidy [{looked_at}/{len(todo)}] {path}{'' if code == 0 else ': FAILED'}",
                  file=sys.stderr)
            if code == 0:
                cache.add(key)
            else:
                failed += 1
                print(output.strip())
    return failed, looked_at


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    settings = version + (root / ".clang-tidy").read_bytes() + " ".join(EXTRA).encode()
    keyed = functools.partial(fingerprint, root)
    cache = Cache(build / ".tidy")
    commands = json.loads((build / "compile_commands.json").read_text())
    everything = [(path, keyed(path, command, settings)) for path, command in units(root, commands)]
    todo = [(path, key) for path, key in everything if not cache.knows(key)]
    seconds = os.environ.get("TIDY_SECONDS")
    deadline = time.monotonic() + float(seconds) if seconds else float("inf")
    failed, looked_at = check_all(root, build, by_novelty(root, todo), cache, deadline)
    cache.prune()
    print(f"clang-tidy: {len(everything)} sources, {looked_at} of them looked at again, {failed} with findings"
          + (f"; {len(todo) - looked_at} not looked at within {seconds} s" if looked_at < len(todo) else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
