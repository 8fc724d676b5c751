#!/usr/bin/env python3
"""sources.py [--apart SOURCE...] --layers LAYER...: which sources tests are made of, by their folders.

Prints a line for each layer, `LAYER:SOURCE SOURCE`: the *_test.cpp of unit/LAYER and below it that belong to no
longer LAYER; and one for `packets`. Those of programs of their own (--apart) are left out. What there was is written to
tests/sources.new of the build folder, and is tests/sources.txt once meson has configured it (--configured): so
scripts/lib/common.sh knows when a folder has to be configured anew, also behind a try that failed.
"""

import argparse
import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent
NEW, KEPT = "sources.new", "sources.txt"


def layer_of(folder: str, layers: list[str]) -> str | None:
    """The longest of the layers that the folder lies in."""
    inside = [layer for layer in layers if f"{folder}/".startswith(f"{layer}/")]
    return max(inside, key=len, default=None)


def sources_by_layer(layers: list[str], apart: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {layer: [] for layer in [*layers, "packets"]}
    for path in sorted(TESTS.glob("unit/**/*_test.cpp")):
        layer = layer_of(path.parent.relative_to(TESTS / "unit").as_posix(), layers)
        source = path.relative_to(TESTS).as_posix()
        if source in apart:
            continue
        if layer is None:
            sys.exit(f"tests/{source}: error: its folder is that of no layer in tests/meson.build")
        found[layer].append(source)
    packets = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.glob("packets/*_test.cpp"))
    found["packets"] = [source for source in packets if source not in apart]
    return found


def all_sources() -> str:
    """Every test there is, a line each: another list than last time needs another build."""
    return "".join(f"{path.relative_to(TESTS).as_posix()}\n" for path in sorted(TESTS.glob("**/*_test.cpp")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apart", nargs="*", default=[])
    parser.add_argument("--layers", nargs="*", default=[])
    parser.add_argument("--is-listed-in", type=pathlib.Path, metavar="BUILD",
                        help="exit with 1 if there are other tests than when BUILD was configured")
    parser.add_argument("--configured", type=pathlib.Path, metavar="BUILD",
                        help="BUILD is configured, with the tests that there were when meson asked")
    asked = parser.parse_args()
    build = asked.is_listed_in or asked.configured or os.environ.get("MESON_BUILD_ROOT")
    folder = pathlib.Path(build) / "tests" if build else None
    if asked.is_listed_in:
        # A try before this one that failed has told of nothing that is configured.
        (folder / NEW).unlink(missing_ok=True)
        sys.exit(0 if (folder / KEPT).exists() and (folder / KEPT).read_text() == all_sources() else 1)
    if asked.configured:
        if (folder / NEW).exists():
            (folder / NEW).replace(folder / KEPT)
        return
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / NEW).write_text(all_sources())
    for layer, sources in sources_by_layer(asked.layers, set(asked.apart)).items():
        print(f"{layer}:{' '.join(sources)}")


if __name__ == "__main__":
    main()
