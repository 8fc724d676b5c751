#!/usr/bin/env python3
"""The dashboard's sources: text nodes only, one origin, exact versions, a lock file without addresses.

lint_web.py [ROOT]
"""
import json
import pathlib
import re
import sys

HOME = "control/web"
SUFFIXES = {".ts", ".tsx", ".css", ".html"}
# Ways from a text to markup, code or a style that the page's policy would stop in a browser, where only its user sees it.
UNWANTED = [
    (re.compile(r"\b(?:inner|outer)HTML\b|insertAdjacentHTML|dangerouslySetInnerHTML|createContextualFragment|DOMParser|\bsrcdoc\b"
                r"|document\s*\.\s*write"), "makes markup of a text"),
    (re.compile(r"\beval\s*\(|\bnew\s+Function\b|\bset(?:Timeout|Interval)\s*\(\s*[\"'`]|javascript:"), "makes code of a text"),
    (re.compile(r"\bstyle\s*=|setAttribute\s*\(\s*[\"'`](?:style|on)|\.cssText\b|<style\b"), "has a style of its own: use a class"),
    (re.compile(r"(?:https?:|wss?:)//|url\(\s*[\"']?//|@import\s+(?:url|[\"']//)"), "names another host"),
    (re.compile(r"\bdocument\s*\.\s*cookie\b"), "uses a cookie"),
]
EXACT = re.compile(r"\d+\.\d+\.\d+\Z")


def faults_of_text(text):
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in UNWANTED:
            if pattern.search(line):
                yield number, what


def faults_of_versions(package):
    for group in ("dependencies", "devDependencies"):
        for name, version in package.get(group, {}).items():
            if not EXACT.match(version):
                yield f"{name} {version} is no exact version"


def faults_of_lock(text):
    for word in ("resolved", "funding", "://"):
        if word in text:
            yield f"has `{word}`: an address (.npmrc leaves out `resolved`; take `funding` out by hand)"
    for name, row in json.loads(text)["packages"].items():
        if name and "integrity" not in row:
            yield f"{name} has no integrity"


def faults(root):
    for file in sorted((root / HOME / "src").rglob("*")):
        if file.suffix in SUFFIXES:
            for number, what in faults_of_text(file.read_text(encoding="utf-8")):
                yield f"{file.relative_to(root)}:{number}: error: {what}"
    package = json.loads((root / HOME / "package.json").read_text(encoding="utf-8"))
    yield from (f"{HOME}/package.json: error: {what}" for what in faults_of_versions(package))
    lock = (root / HOME / "package-lock.json").read_text(encoding="utf-8")
    yield from (f"{HOME}/package-lock.json: error: {what}" for what in faults_of_lock(lock))
    if re.search(r"//|registry\s*=", (root / HOME / ".npmrc").read_text(encoding="utf-8")):
        yield f"{HOME}/.npmrc: error: names a host"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(faults(root))
    print("\n".join(found) if found else "web: text nodes only, one origin, exact versions, no address in the lock file")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
