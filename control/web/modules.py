"""Packages of npm for the dashboard, in a folder of the build: exactly those of package-lock.json, none of their scripts run.

    modules.py NPM SOURCE FOLDER STAMP [--or-none]

STAMP says in which folder they are. With --or-none it is empty where npm could not bring them, and a warning says so.
"""
import os
import pathlib
import shutil
import subprocess
import sys

FILES = ("package.json", "package-lock.json", ".npmrc")
FAULT = "control/web: npm could not bring what package-lock.json names (see above). It wants its registry, or a cache that has them"
HINT = f"{FAULT}; to build sluiced without the dashboard: meson configure -Dweb=disabled"
WITHOUT = f"""{FAULT}.
control/web: WARNING: sluiced is built without the dashboard's page; with the registry in reach: meson configure -Dweb=enabled"""


def install(npm, folder):
    """-> what npm said where it has failed; None: all are there."""
    # Nothing is written outside the build.
    cache = {"npm_config_cache": os.environ.get("npm_config_cache", str(folder.resolve() / "cache"))}
    try:
        done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"], cwd=folder,
                              env={**os.environ, **cache}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as fault:
        return str(fault)
    return done.stdout if done.returncode else None


def main(npm, source, folder, stamp, *options):
    folder, stamp = pathlib.Path(folder), pathlib.Path(stamp)
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(pathlib.Path(source) / name, folder / name)
    fault = install(npm, folder)
    if fault is not None and "--or-none" not in options:
        sys.exit(f"{fault}\n{HINT}")
    if fault is not None:
        print(f"{fault}\n{WITHOUT}", file=sys.stderr)
    stamp.write_text("" if fault is not None else f"{folder.resolve()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
