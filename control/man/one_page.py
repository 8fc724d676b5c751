"""one_page.py MANDOC OUTPUT PAGE...: the manual's pages as one page for a browser."""
import pathlib
import re
import subprocess
import sys

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice: the manual</title>
<style>
body { font: 16px/1.45 sans-serif; max-width: 60em; margin: 1em auto; padding: 0 1em; }
pre, code, b { font-family: monospace; }
pre { background: #f4f4f4; padding: .6em; overflow-x: auto; }
table { border-collapse: collapse; margin: .6em 0; }
td { border: 1px solid #bbb; padding: .2em .5em; vertical-align: top; }
table.head, table.foot { display: none; }
h1.page { border-top: 2px solid #888; padding-top: 1em; }
div.Bd-indent { margin-left: 2em; }
</style>
</head>
<body>
<h1>Sluice: the manual</h1>
"""


def name_of(path):
    name, section = path.name.rsplit(".", 1)
    return f"{name}({section})"


def anchor_of(path):
    return path.name.replace(".", "-")


def fragment(mandoc, path, names):
    """The page without a head of its own; its anchors begin with its name, and pages it names are links."""
    text = subprocess.run([mandoc, "-T", "html", "-O", "fragment", path], check=True, capture_output=True,
                          text=True).stdout
    anchor = anchor_of(path)
    text = re.sub(r"<pre>.*?</pre>", lambda block: re.sub(r"\n?<br/>", "", block[0]), text, flags=re.S)
    text = text.replace('<p class="Pp"></p>\n', "")
    text = re.sub(r'(id="|href="#)', rf"\1{anchor}.", text)
    for name, other in names.items():
        bare, section = name[:-1].split("(")
        text = re.sub(rf"(<b>)?\b{re.escape(bare)}(</b>)?\({section}\)", f'<a href="#{other}">{name}</a>', text)
    return f'<h1 class="page" id="{anchor}">{name_of(path)}</h1>\n{text}'


def main():
    mandoc, output, *pages = sys.argv[1:]
    paths = [pathlib.Path(page) for page in pages]
    names = {name_of(path): anchor_of(path) for path in paths}
    contents = "".join(f'<li><a href="#{anchor}">{name}</a></li>\n' for name, anchor in names.items())
    body = "".join(fragment(mandoc, path, names) for path in paths)
    pathlib.Path(output).write_text(f"{HEAD}<ul>\n{contents}</ul>\n{body}</body>\n</html>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
