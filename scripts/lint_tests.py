#!/usr/bin/env python3
"""lint_tests.py [ROOT]: a test that no program is made of can never fail.

Sources of unit/ and packets/ are found by their folders (tests/sources.py), those of `apart` in tests/meson.build by
name; a test of the real programs has a row in `smoke_tests`, a fuzz target a line in `fuzz_targets`; whatever else there
is, a meson.build names.
"""
import pathlib
import re
import subprocess
import sys


def outside(text: str, span: tuple[int, int]) -> str:
    return text[:span[0]] + text[span[1]:]


def unlisted_apart(text: str) -> list[str]:
    """Sources that are kept out of the test of their folder, and that no program takes either."""
    apart = re.search(r"^apart = (.*?\])\n", text, re.M | re.S)
    if apart is None:
        sys.exit("tests/meson.build: error: lint_tests.py finds no `apart`")
    elsewhere = outside(text, apart.span())
    lost = [source for source in re.findall(r"'([^']+)'", apart[1]) if f"'{source}'" not in elsewhere]
    for name in re.findall(r"\b[a-z_]+\b", re.sub(r"'[^']*'", "", apart[1])):
        given = re.search(rf"^{name} = (\[.*?\]|'[^']*')\n", text, re.M | re.S)
        if given is None:
            sys.exit(f"tests/meson.build: error: lint_tests.py finds no `{name}`")
        if not re.search(rf"\b{name}\b", outside(elsewhere, re.search(re.escape(given[0]), elsewhere).span())):
            lost += re.findall(r"'([^']+)'", given[1])
    return lost


def rows_of(table: str, text: str) -> set[str]:
    """The names in a table and in what is added to it."""
    rows = re.findall(rf"^\s*{table} \+?= \{{(.*?)\}}\n", text, re.M | re.S)
    return {name for row in rows for name in re.findall(r"'(\w+)': ", row)}


def lost_in(root: pathlib.Path, sources: list[str]) -> list[str]:
    text = (root / "tests/meson.build").read_text()
    others = "".join(path.read_text() for path in sorted((root / "tests").glob("**/meson.build")))
    smoke, fuzz = rows_of("smoke_tests", text), rows_of("fuzz_targets", text)
    apart = set(unlisted_apart(text))
    lost = []
    for source in sources:
        path = pathlib.PurePosixPath(source).relative_to("tests")
        name = re.sub(r"_(test|fuzz)$", "", path.stem)
        if path.parts[0] in ("unit", "packets") and path.suffix == ".cpp":
            listed = path.as_posix() not in apart and (path.parts[0] == "unit" or len(path.parts) == 2)
        elif path.parts[0] == "fuzz":
            listed = name in fuzz
        elif path.parts[0] == "smoke":
            listed = name in smoke or f"smoke/{path.name}'" in others
        else:
            forms = (path, path.with_name(name), path.name, *([path.relative_to(path.parts[0])] if len(path.parts) > 1 else []))
            listed = any(f"'{one}'" in others for one in forms)
        if not listed:
            lost.append(source)
    return lost


def main() -> None:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    sources = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard", "--",
                              "tests/*_test.cpp", "tests/*_fuzz.cpp", "tests/*_test.py"],
                             check=True, capture_output=True, text=True).stdout.split()
    lost = lost_in(root, sources)
    for source in lost:
        print(f"{source}: error: no program of tests/meson.build is made of it")
    if lost:
        sys.exit(1)
    print(f"listed: {len(sources)} files of tests are built")


if __name__ == "__main__":
    main()
