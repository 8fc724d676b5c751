#!/usr/bin/env python3
"""The layers: who may include whom, which folder alone may see a vendor's header, and one class a
name: all layers share one namespace, where two classes of one name break the one-definition rule.

The same table is drawn in lib/README.md and held by the dependencies of meson's static libraries.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

# Rooms of lib/ from the lowest to the highest: an include across rooms points to an earlier one.
ROOMS = ["base", "share", "confine", "packet", "capture", "match", "bucket", "peer", "l7", "respond", "rules", "watch",
         "engine", "policy", "wire"]

# Keys, their buckets and the arithmetic over these.
STATE = ["lib/bucket/hash", "lib/bucket/pool", "lib/bucket/meter", "lib/bucket/table"]
LOW = ["lib/base", "lib/share", "lib/packet", "lib/match"]
RESPOND = ["lib/respond", "lib/respond/answer", "lib/respond/act"]
ENGINE = [*LOW, *STATE, "lib/peer", "lib/l7", *RESPOND, "lib/respond/shape", "lib/rules", "lib/rules/load", "lib/watch"]

# A layer may include itself and what stands here. A name that has a line of its own allows that
# layer alone; any other, all within the folder.
MAY_INCLUDE = {
    "lib/base": [],
    "lib/share": ["lib/base"],
    "lib/confine": ["lib/base"],
    "lib/packet": ["lib/base"],
    "lib/capture": ["lib/base", "lib/packet"],
    "lib/match": ["lib/base", "lib/packet"],
    "lib/bucket/hash": ["lib/base"],
    "lib/bucket/pool": ["lib/base", "lib/share"],
    "lib/bucket/meter": ["lib/base", "lib/share", "lib/bucket/hash", "lib/bucket/pool"],
    "lib/bucket/table": ["lib/base", "lib/share", *STATE],
    "lib/peer/link": ["lib/base", "lib/share"],
    "lib/peer/merge": ["lib/base", "lib/share", *STATE, "lib/peer/link"],
    "lib/peer/reserve": ["lib/base", "lib/share", *STATE, "lib/peer/link"],
    "lib/peer/follow": ["lib/base", "lib/share", *STATE, "lib/peer/link"],
    "lib/peer/store": ["lib/base", "lib/share", *STATE, "lib/peer/link", "lib/peer/merge"],
    "lib/l7": [*LOW, "lib/bucket/hash", "lib/bucket/pool"],
    "lib/respond": ["lib/base", "lib/packet"],
    "lib/respond/shape": ["lib/base"],
    "lib/respond/answer": ["lib/base", "lib/share", "lib/packet", "lib/bucket/hash", "lib/bucket/pool", "lib/l7", "lib/respond"],
    "lib/respond/act": [*LOW, "lib/bucket/hash", "lib/l7", "lib/respond", "lib/respond/answer"],
    "lib/rules": ["lib/base", "lib/packet", "lib/match", *STATE, "lib/l7", "lib/respond", "lib/respond/answer"],
    "lib/rules/load": ["lib/base", "lib/packet", "lib/match", *STATE, "lib/peer/merge", "lib/l7", "lib/respond",
                       "lib/respond/answer", "lib/rules"],
    "lib/watch/top": [*LOW, *STATE, "lib/respond", "lib/rules", "lib/rules/load"],
    "lib/watch/events": [*LOW, *STATE, "lib/respond", "lib/rules", "lib/rules/load"],
    "lib/watch/heatmap": [*LOW, *STATE, "lib/respond", "lib/rules", "lib/rules/load"],
    "lib/watch/trace": [*LOW, *STATE, "lib/respond", "lib/rules", "lib/rules/load"],
    # The burst and its columns; one limit; one key; what others know of it; a packet; a stage.
    "lib/engine/burst": ENGINE,
    "lib/engine/check": [*ENGINE, "lib/engine/burst"],
    "lib/engine/key": [*ENGINE, "lib/engine/burst", "lib/engine/check"],
    "lib/engine/remote": [*ENGINE, "lib/engine/burst", "lib/engine/check", "lib/engine/key"],
    "lib/engine/decide": [*ENGINE, "lib/engine/burst", "lib/engine/check", "lib/engine/key", "lib/engine/remote"],
    "lib/engine/stage": [*ENGINE, "lib/engine/burst", "lib/engine/check", "lib/engine/key", "lib/engine/remote",
                         "lib/engine/decide"],
    "lib/engine": [*ENGINE, "lib/engine/burst", "lib/engine/check", "lib/engine/key", "lib/engine/remote",
                   "lib/engine/decide", "lib/engine/stage"],
    "lib/policy": ["lib/base", "lib/packet", "lib/match", *STATE, "lib/peer/merge", "lib/l7", "lib/respond", "lib/respond/answer",
                   "lib/rules"],
    "lib/wire": ["lib/base", "lib/packet", "lib/match", *STATE, "lib/peer", "lib/l7", *RESPOND, "lib/rules", "lib/rules/load",
                 "lib/watch"],
    "dataplane": [*ENGINE, "lib/confine", "lib/engine", "lib/engine/burst", "lib/engine/check", "lib/engine/key",
                  "lib/engine/remote", "lib/engine/decide", "lib/engine/stage", "lib/wire"],
    "control": ["lib"],
    "tests": ["lib", "dataplane", "control"],
}

# What only one layer may name, whether included or written out. Tests may test any of it.
ONE_HOME = [
    (re.compile(r"#\s*include\s*[<\"]rte_\w+\.h"), "dataplane", "DPDK"),
    (re.compile(r"#\s*include\s*[<\"]yaml-cpp/"), "lib/policy", "the YAML reader"),
    (re.compile(r"#\s*include\s*[<\"](hs/)?hs_runtime\.h"), "lib/match", "Hyperscan's runtime"),
    (re.compile(r"#\s*include\s*[<\"](hs/)?hs(_com\w+)?\.h"), "lib/policy", "Hyperscan's compiler"),
    (re.compile(r"#\s*include\s*[<\"]maxminddb"), "lib/policy", "libmaxminddb"),
    (re.compile(r"#\s*include\s*[<\"]absl/"), "lib/policy", "Abseil's time zones"),
    (re.compile(r"#\s*include\s*[<\"]blake2"), "lib/rules", "BLAKE2b"),
    (re.compile(r"#\s*include\s*[<\"]openssl/(?!err|ssl|x509v3)"), "lib/l7", "OpenSSL's ciphers"),
    (re.compile(r"#\s*include\s*[<\"]openssl/(err|ssl|x509v3)"), "control", "OpenSSL's TLS"),
    (re.compile(r"#\s*include\s*[<\"]hiredis/"), "control", "hiredis"),
    (re.compile(r"#\s*include\s*[<\"]pcap(/\w+|\.)"), "lib/capture", "libpcap"),
    (re.compile(r"\b__builtin_prefetch\b"), "lib/base", "the prefetch (prefetch0 and prefetch1 are not dropped)"),
    (re.compile(r"#\s*include\s*<atomic>|\bstd::atomic"), "lib/share", "std::atomic"),
]
# Stand-ins of tests for a class that a private constructor names as its friend.
STAND_INS = {"QuiesceBoard"}
# Classes, structs, unions, enums and aliases that are defined, not declared, with their scopes.
CTAGS = ["ctags", "-f", "-", "--output-format=json", "--languages=C++", "--langmap=C++:.cpp.hpp",
         "--kinds-C++=csugt", "--fields=+nZ", "-L", "-"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer_of(path):
    return max((layer for layer in MAY_INCLUDE if within(path, layer)), key=len, default=None)


def allows(name, layer):
    return name == layer or (name not in MAY_INCLUDE and within(layer, name))


def points_up(here, there):
    below, above = (layer.split("/")[1:2] for layer in (here, there))
    return here.startswith("lib/") and below != above and ROOMS.index(above[0]) > ROOMS.index(below[0])


def problems_in_line(here, line):
    code = line.split("//")[0]
    include = INCLUDE.match(code)
    there = layer_of(include[1]) if include else None
    if there and there != here and not any(allows(name, there) for name in MAY_INCLUDE[here]):
        yield f"{here} may not include {include[1]}"
    elif there and points_up(here, there):
        yield f"{here} may not include {include[1]}, which is of a higher room"
    for pattern, home, what in ONE_HOME:
        if pattern.search(code) and here not in (home, "tests"):
            yield f"{what} belongs in {home} only"


def problems(root, path):
    here = layer_of(path)
    if here is None:
        if path.startswith("lib/"):
            yield f"{path}: error: this folder of lib/ has no line in scripts/lint_layers.py"
        return
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        for problem in problems_in_line(here, line):
            yield f"{path}:{number}: error: {problem}"


def types_of(root, files):
    """-> (name, place) of each type in a named namespace; types within classes and files are safe."""
    listing = subprocess.run(CTAGS, input="\n".join(files), text=True, cwd=root,
                             capture_output=True, check=True).stdout
    for tag in map(json.loads, listing.splitlines()):
        if tag.get("scopeKind") == "namespace" and "__anon" not in tag["scope"]:
            yield f"{tag['scope']}::{tag['name']}", f"{tag['path']}:{tag['line']}"


def clashes(root, files):
    places = collections.defaultdict(list)
    for name, place in types_of(root, files):
        if not (place.startswith("tests/") and name.split("::")[-1] in STAND_INS):
            places[name].append(place)
    for name, found in sorted(places.items()):
        first, *others = found
        for other in others:
            if other.split(":")[0] != first.split(":")[0]:  # else a specialisation beside it
                yield f"{other}: error: {name} is the name of another class, at {first}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = sorted(str(file.relative_to(root)) for top in ("lib", "dataplane", "control", "tests")
                   for file in (root / top).rglob("*.[ch]pp"))
    found = [problem for path in files for problem in problems(root, path)]
    found += clashes(root, files)
    print("\n".join(found) if found else f"layers: {len(files)} files in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
