"""The dashboard: a script with chunks, one style sheet, an icon and the page that names them, by esbuild; embedded as C++.

    bundle.py NODE ROOT STAMP OUT DEPFILE

OUT gets web_assets.cpp and web_assets.bin, dashboard-copyright.txt, and `page/`: the files as a browser gets them
with manifest.json, for tests.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import embed
import page_chunks
import page_rules

SOURCES = "control/web/src"
# What Debian's own esbuild (0.17) knows too.
FLAGS = ("--bundle", "--minify", "--splitting", "--format=esm", "--target=es2021", "--charset=utf8", "--legal-comments=none",
         "--jsx=automatic", "--jsx-import-source=preact", "--entry-names=[name]-[hash]", "--chunk-names=[name]-[hash]")
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
         ".html": "text/html; charset=utf-8"}


def mirror(root, modules):
    """Sources beside node_modules, where esbuild and tsc look for packages."""
    copy = modules / SOURCES
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root / SOURCES, copy)
    shutil.copyfile(root / "control/web/tsconfig.json", modules / "tsconfig.json")


def bundle(node, modules, assets):
    """-> what esbuild says of inputs and outputs"""
    shutil.rmtree(assets, ignore_errors=True)
    meta = modules / "meta.json"
    subprocess.run([node, modules / "node_modules/esbuild/bin/esbuild", f"app={SOURCES}/main.tsx", *FLAGS,
                    f"--outdir={assets}", f"--metafile={meta}", "--log-level=warning"], cwd=modules, check=True)
    return json.loads(meta.read_text())


def add_icon(root, assets):
    content = (root / SOURCES / "icon.svg").read_bytes()
    (assets / f"icon-{hashlib.sha256(content).hexdigest()[:8].upper()}.svg").write_bytes(content)


def write_page(root, assets, page, first):
    """index.html, where {app.js} stands for the path of what esbuild has named app-HASH.js, and {chunks} for its chunks."""
    text = (root / SOURCES / "index.html").read_text(encoding="utf-8")
    chunks = sorted(name for name in first if not name.startswith("app-"))
    text = text.replace("{chunks}", "".join(f'<link rel="modulepreload" href="/assets/{name}">\n' for name in chunks))
    for file in assets.iterdir():
        text = text.replace(f"{{{file.stem.rsplit('-', 1)[0]}{file.suffix}}}", f"/assets/{file.name}")
    (page / "index.html").write_text(text, encoding="utf-8")


def listed(page, loads):
    """Assets in the order of their paths: path, file, type, whether the path has the hash of the content, what wants them."""
    rows = [{"path": "/", "file": "index.html", "type": TYPES[".html"], "immutable": False, "loads": [page_rules.FIRST]}]
    for file in sorted((page / "assets").iterdir()):
        rows.append({"path": f"/assets/{file.name}", "file": f"assets/{file.name}", "type": TYPES[file.suffix],
                     "immutable": True, "loads": loads.get(file.name, [page_rules.FIRST])})
    return rows


def packages_in(meta):
    """Folders of node_modules that have a part in the bundle."""
    found = set()
    for name in meta["inputs"]:
        parts = name.split("node_modules/")[-1].split("/") if "node_modules/" in name else []
        if parts:
            found.add("/".join(parts[:2] if parts[0].startswith("@") else parts[:1]))
    return sorted(found)


def licences(modules, packages):
    texts = []
    for name in packages:
        folder = modules / "node_modules" / name
        [text] = [file.read_text(encoding="utf-8") for file in folder.glob("LICENSE*")]
        version = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]
        texts.append(f"{name} {version}\n\n{text.strip()}\n")
    return "The dashboard contains:\n\n" + "\n\n".join(texts)


def write_none(root, out, depfile):
    """As a build without npm: npm could bring nothing."""
    source = root / "control/web/no_assets.cpp"
    (out / "web_assets.cpp").write_bytes(source.read_bytes())
    (out / "web_assets.bin").write_bytes(b"")
    (out / "dashboard-copyright.txt").write_text("The dashboard is no part of this build.\n", encoding="utf-8")
    pathlib.Path(depfile).write_text(f"{os.path.relpath(out / 'web_assets.cpp')}: {source}\n", encoding="utf-8")


def main(node, root, stamp, out, depfile):
    root, out = pathlib.Path(root), pathlib.Path(out)
    modules, page = pathlib.Path(stamp).read_text(encoding="utf-8").strip(), out / "page"
    if modules == "":
        write_none(root, out, depfile)
        return
    modules = pathlib.Path(modules)
    mirror(root, modules)
    meta = bundle(node, modules, (page / "assets").resolve())
    add_icon(root, page / "assets")
    loads = page_chunks.loads_of(meta, SOURCES)
    write_page(root, page / "assets", page, [name for name, wanted in loads.items() if page_rules.FIRST in wanted and name.endswith(".js")])
    rows = listed(page, loads)
    (page / "manifest.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    page_rules.judge(page, rows)
    embed.write(page, rows, out)
    (out / "dashboard-copyright.txt").write_text(licences(modules, packages_in(meta)), encoding="utf-8")
    own = [root / name for name in meta["inputs"] if name.startswith(SOURCES)]
    pathlib.Path(depfile).write_text(f"{os.path.relpath(out / 'web_assets.cpp')}: {' '.join(map(str, own))}\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (subprocess.CalledProcessError, page_rules.Broken) as fault:
        sys.exit(f"control/web: {fault}")
