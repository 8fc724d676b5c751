#!/usr/bin/env python3
"""The size budgets: lines per file and function, parameters per function (universal-ctags).

Over the stop is an error. Over the aim is a warning, shown with --warn. A signature that a library
dictates is excused by clang-tidy's own word for it, NOLINTNEXTLINE(readability-function-size).
"""
import argparse
import pathlib
import subprocess
import sys

FILE_AIM, FILE_STOP = 250, 400
FUNCTION_AIM, FUNCTION_STOP = 30, 60
PARAMETERS_AIM, PARAMETERS_STOP = 4, 5
SUFFIXES = {".cpp", ".hpp", ".py", ".sh", ".ts", ".tsx", ".css"}
CTAGS = ["ctags", "-f", "-", "--languages=C++,Python", "--langmap=C++:.cpp.hpp", "--kinds-C++=f",
         "--kinds-Python=fm", "--fields=+neS", "--excmd=number", "-L", "-"]


def is_script(file):
    if file.suffix in SUFFIXES:
        return True
    return file.suffix == "" and file.open("rb").read(2) == b"#!"


def sources(root):
    tops = ("lib", "dataplane", "control", "scripts")
    files = (file for top in tops for file in sorted((root / top).rglob("*")) if file.is_file())
    return [file for file in files if is_script(file)]


def judge(where, what, size, aim, stop):
    if size > stop:
        return ("error", f"{where}: error: {what}: {size}, stop is {stop}")
    if size > aim:
        return ("warning", f"{where}: warning: {what}: {size}, aim is {aim}")
    return None


def parameter_count(signature):
    """Commas outside brackets, plus one. `self` is not a parameter to whoever calls."""
    inner = signature.strip()[1:signature.rfind(")")].strip()
    if not inner or inner == "void":
        return 0
    depth, commas = 0, 0
    for character in inner:
        depth += (character in "(<[{") - (character in ")>]}")
        commas += character == "," and depth == 0
    return commas + 1 - (inner.split(",")[0].strip() in ("self", "cls"))


def excused(path, line):
    before = pathlib.Path(path).read_text().splitlines()[max(0, line - 2):line - 1]
    return any("NOLINTNEXTLINE(readability-function-size)" in text for text in before)


def functions(files):
    listing = subprocess.run(CTAGS, input="\n".join(map(str, files)), text=True,
                             capture_output=True, check=True).stdout
    for line in listing.splitlines():
        name, path, *rest = line.split("\t")
        fields = dict(part.split(":", 1) for part in rest if ":" in part)
        if "line" in fields and "end" in fields:
            yield name, path, int(fields["line"]), int(fields["end"]), fields.get("signature", "()")


def verdicts(root):
    files = sources(root)
    for file in files:
        lines = file.read_bytes().count(b"\n")
        yield judge(file.relative_to(root), "lines in the file", lines, FILE_AIM, FILE_STOP)
    for name, path, first, last, signature in functions(files):
        where = f"{pathlib.Path(path).relative_to(root)}:{first}"
        yield judge(where, f"lines in {name}()", last - first + 1, FUNCTION_AIM, FUNCTION_STOP)
        if excused(path, first):
            continue
        yield judge(where, f"parameters of {name}()", parameter_count(signature),
                    PARAMETERS_AIM, PARAMETERS_STOP)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--warn", action="store_true", help="list what is above the aims too")
    arguments = parser.parse_args()
    found = [verdict for verdict in verdicts(arguments.root) if verdict]
    errors = [text for kind, text in found if kind == "error"]
    warnings = [text for kind, text in found if kind == "warning"]
    for line in errors + (warnings if arguments.warn else []):
        print(line)
    if not errors:
        print(f"sizes: within the stops, {len(warnings)} above the aims")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
