"""What makes the dashboard's page: its bounds, its embedding, and npm that cannot bring what is wanted.

    web_build_test.py
"""
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[1] / "control/web"
sys.path.insert(0, str(HOME))
import embed  # noqa: E402
import page_chunks  # noqa: E402
import page_rules  # noqa: E402

ROWS = [{"path": "/", "file": "index.html", "type": "text/html", "immutable": False},
        {"path": "/assets/a-1.js", "file": "a.js", "type": "text/javascript", "immutable": True}]


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("index.html", b"<!doctype html>")
        self.write("a.js", b"const a = 'http://www.w3.org/2000/svg'; " * 40)

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def test_a_page_within_its_bounds_passes(self):
        self.assertLess(page_rules.judge(self.folder, ROWS)[page_rules.FIRST], 300)

    def test_the_first_load_is_bounded(self):
        noise = bytes(b"" .join(embed.digest_of(str(n).encode()).encode() for n in range(2200)))
        self.write("a.js", noise)
        with self.assertRaisesRegex(page_rules.Broken, "the first load is"):
            page_rules.judge(self.folder, ROWS)

    def test_what_is_loaded_later_has_a_bound_of_its_own(self):
        noise = "".join(embed.digest_of(str(n).encode()) for n in range(2200)).encode()
        self.write("a.js", noise)
        for part, fits in ((page_rules.EDITOR, True), ("control/web/src/screens/x/x.tsx", False)):
            rows = [ROWS[0], {**ROWS[1], "loads": [part]}]
            if fits:
                self.assertGreater(page_rules.judge(self.folder, rows)[part], page_rules.BUDGETS[page_rules.FIRST])
            else:
                with self.assertRaisesRegex(page_rules.Broken, "x.tsx is"):
                    page_rules.judge(self.folder, rows)
        self.write("a.js", noise + "".join(embed.digest_of(f"more {n}".encode()) for n in range(2200)).encode())
        with self.assertRaisesRegex(page_rules.Broken, "editor.ts is"):
            page_rules.judge(self.folder, [ROWS[0], {**ROWS[1], "loads": [page_rules.EDITOR]}])

    def test_chunks_are_of_the_first_load_or_of_what_imports_them(self):
        def output(*imports, entry=None):
            row = {"imports": [{"path": path, "kind": kind} for path, kind in imports]}
            return {**row, "entryPoint": entry} if entry else row

        now, later = "import-statement", "dynamic-import"
        outputs = {"o/app-1.js": output(("o/base-2.js", now), ("o/screen-3.js", later), entry="s/main.tsx"), "o/app-9.css": {"imports": [], "entryPoint": "s/main.tsx"},
                   "o/base-2.js": output(), "o/screen-3.js": output(("o/base-2.js", now), ("o/both-5.js", now), ("o/editor-4.js", later), entry="s/screen.tsx"),
                   "o/editor-4.js": output(("o/both-5.js", now), entry="s/editor.ts"), "o/both-5.js": output()}
        self.assertEqual(page_chunks.loads_of({"outputs": outputs}, "s"), {
            "app-1.js": [page_rules.FIRST], "base-2.js": [page_rules.FIRST], "screen-3.js": ["s/screen.tsx"], "editor-4.js": ["s/editor.ts"],
            "both-5.js": ["s/editor.ts", "s/screen.tsx"]})

    def test_no_other_host_is_named(self):
        for text in (b"fetch('https://x.example/a')", b"url(//cdn.example.org/a)", b"new WebSocket('wss://x.example')"):
            self.write("a.js", text)
            with self.assertRaisesRegex(page_rules.Broken, "a.js names other hosts: (x|cdn)"):
                page_rules.judge(self.folder, ROWS)

    def test_what_is_embedded_is_the_same_for_the_same_files_alone(self):
        def made():
            embed.write(self.folder, ROWS, self.folder)
            return (self.folder / "web_assets.cpp").read_text(), (self.folder / "web_assets.bin").read_bytes()

        first = made()
        self.assertEqual(made(), first)
        self.write("a.js", b"const a = 'http://www.w3.org/2000/svh'; " * 40)
        other = made()
        self.assertEqual(len(other[1]), len(first[1]))
        self.assertNotEqual(other[0].splitlines()[0], first[0].splitlines()[0])  # so that it is assembled anew

    def test_each_row_of_the_table_has_its_bytes(self):
        embed.write(self.folder, ROWS, self.folder)
        blob = (self.folder / "web_assets.bin").read_bytes()
        places = re.findall(r"web_bytes\((\d+), (\d+)\)", (self.folder / "web_assets.cpp").read_text())
        parts = [blob[int(begin):int(begin) + int(size)] for begin, size in places]
        self.assertEqual(len(parts), 4)
        self.assertEqual(parts[0], b"<!doctype html>")
        self.assertEqual(parts[1], b"")  # compressed it is larger
        self.assertEqual(gzip.decompress(parts[3]), parts[2])

    def test_an_npm_that_reaches_no_registry_says_how_to_build_without(self):
        npm = self.folder / "npm"
        npm.write_text("#!/bin/sh\necho 'npm ERR! network' >&2\nexit 1\n")
        npm.chmod(0o755)
        for program in (npm, self.folder / "none"):
            done = subprocess.run([sys.executable, HOME / "modules.py", program, HOME, self.folder / "m", self.folder / "stamp"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("-Dweb=disabled", done.stderr)
            self.assertFalse((self.folder / "stamp").exists())
            done = subprocess.run([sys.executable, HOME / "modules.py", program, HOME, self.folder / "m", self.folder / "stamp", "--or-none"],
                                  capture_output=True, text=True, check=True)
            self.assertIn("WARNING: sluiced is built without the dashboard's page", done.stderr)
            self.assertEqual((self.folder / "stamp").read_text(), "")
            subprocess.run([sys.executable, HOME / "bundle.py", "/no/node", HOME.parents[1], self.folder / "stamp", self.folder, self.folder / "d"], check=True)
            self.assertEqual((self.folder / "web_assets.cpp").read_bytes(), (HOME / "no_assets.cpp").read_bytes())
            (self.folder / "stamp").unlink()


if __name__ == "__main__":
    unittest.main()
