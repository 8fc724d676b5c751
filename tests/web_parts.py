"""The dashboard without a browser: its types (tsc), and tests of its pure parts (node --test).

    web_parts.py NODE ROOT MODULES

MODULES is the stamp of control/web/modules.py. Ends with the lines of Python's unittest, so that single cases are counted.
"""
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = "tests/unit/control/web"
SOURCES = "control/web/src"


def mirror(root, modules, folder):
    shutil.rmtree(modules / folder, ignore_errors=True)
    shutil.copytree(root / folder, modules / folder)


def types_hold(node, modules):
    return subprocess.run([node, modules / "node_modules/typescript/bin/tsc", "-p", "tsconfig.json"], cwd=modules, check=False).returncode == 0


def built(node, modules):
    """Tests as node runs them: each one file, with packages as a browser gets them."""
    out = modules / "tests-out"
    shutil.rmtree(out, ignore_errors=True)
    sources = sorted(str(path.relative_to(modules)) for path in (modules / TESTS).rglob("*_test.ts"))
    subprocess.run([node, modules / "node_modules/esbuild/bin/esbuild", *sources, "--bundle", "--format=esm", "--platform=neutral",
                    "--main-fields=module,main", "--external:node:*", "--target=node18", f"--outdir={out}", "--out-extension:.js=.mjs", "--log-level=warning"], cwd=modules, check=True)
    return sorted(out.rglob("*.mjs"))


def main(node, root, stamp):
    root, modules = pathlib.Path(root), pathlib.Path(pathlib.Path(stamp).read_text(encoding="utf-8").strip())
    for folder in (SOURCES, TESTS):
        mirror(root, modules, folder)
    shutil.copyfile(root / "control/web/tsconfig.json", modules / "tsconfig.json")
    typed = types_hold(node, modules)
    done = subprocess.run([node, "--test", "--test-reporter=tap", *built(node, modules)], cwd=modules, check=False,
                          stdout=subprocess.PIPE, text=True)
    counts = {name: int(found) for name, found in re.findall(r"^# (tests|fail|skipped) (\d+)$", done.stdout, re.M)}
    fine = typed and done.returncode == 0 and counts.get("tests", 0) > 0
    if done.returncode:
        print(done.stdout)
    print("" if typed else "FAIL: types")
    print(f"Ran {counts.get('tests', 0) + 1} tests in 0s\n")
    print("OK" if fine else f"FAILED (failures={max(1, counts.get('fail', 0) + (not typed))})")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
