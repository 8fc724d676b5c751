"""Packages of npm for the dashboard, in a folder of the build: exactly those of package-lock.json, none of their scripts run.

    modules.py NPM SOURCE FOLDER STAMP

STAMP says in which folder they are.
"""
import os
import pathlib
import shutil
import subprocess
import sys

FILES = ("package.json", "package-lock.json", ".npmrc")
HINT = """control/web: npm could not bring what package-lock.json names (see above). It wants its registry, or a cache that has
them; to build sluiced without the dashboard: meson configure -Dweb=disabled"""


def main(npm, source, folder, stamp):
    folder, stamp = pathlib.Path(folder), pathlib.Path(stamp)
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(pathlib.Path(source) / name, folder / name)
    # Nothing is written outside the build.
    cache = {"npm_config_cache": os.environ.get("npm_config_cache", str(folder.resolve() / "cache"))}
    try:
        done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], cwd=folder,
                              env={**os.environ, **cache}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as fault:
        sys.exit(f"{fault}\n{HINT}")
    if done.returncode:
        sys.exit(f"{done.stdout}\n{HINT}")
    stamp.write_text(f"{folder.resolve()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
