"""The lints of scripts/check that hold pages and comments, over trees of their own.

    lint_test.py
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import lint_comments  # noqa: E402
import lint_pages  # noqa: E402
import lint_web  # noqa: E402

BUILD = "project('sluice', 'cpp', version: '1.2.0', license: 'x')\n"
CHANGES = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n\n## [1.1.0]\n"


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def lint(self, name):
        """(exit code, its lines)"""
        done = subprocess.run([sys.executable, ROOT / f"scripts/lint_{name}.py", self.folder], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()


class Web(Lint):
    def setUp(self):
        super().setUp()
        self.write("control/web/package.json", '{"dependencies": {"a": "1.2.3"}, "devDependencies": {"b": "1.0.0"}}')
        self.write("control/web/package-lock.json", '{"packages": {"": {}, "node_modules/a": {"integrity": "sha512-x"}}}')
        self.write("control/web/.npmrc", "save-exact=true\n")
        self.write("control/web/src/a.tsx", "place.textContent = text; const styles = 1; evaluate(); <p class='style'/>\n")

    def test_sources_in_order_pass(self):
        code, lines = self.lint("web")
        self.assertEqual((code, len(lines)), (0, 1), lines)

    def test_ways_from_a_text_to_markup_code_style_and_other_hosts_are_found(self):
        for line in ("a.innerHTML = b", "a.outerHTML += b", "a.insertAdjacentHTML('x', b)", "document.write(b)", "eval(b)", "new Function(b)",
                     "setTimeout('b')", "<p style={b}/>", "a.setAttribute('style', b)", "a.style.cssText = b", "<style>", "dangerouslySetInnerHTML",
                     "fetch('https://x.example/')", "background: url(//x.example/a)", "document.cookie"):
            self.write("control/web/src/a.tsx", f"\n{line}\n")
            code, lines = self.lint("web")
            self.assertEqual((code, len(lines)), (1, 1), line)
            self.assertTrue(lines[0].startswith("control/web/src/a.tsx:2: error: "), lines)

    def test_versions_are_exact_and_the_lock_file_has_no_address(self):
        self.write("control/web/package.json", '{"dependencies": {"a": "^1.2.3"}, "devDependencies": {"b": "latest"}}')
        self.write("control/web/package-lock.json", '{"packages": {"node_modules/a": {"resolved": "https://x.example/a.tgz"}}}')
        self.write("control/web/.npmrc", "registry=https://x.example\n")
        self.assertEqual(len(self.lint("web")[1]), 2 + 3 + 1)
        self.assertEqual(list(lint_web.faults_of_versions({"dependencies": {"a": "1.2.3-rc.1"}})), ["a 1.2.3-rc.1 is no exact version"])


class Pages(Lint):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        self.write("meson.build", BUILD)
        self.write("CHANGELOG.md", CHANGES)
        self.write("README.md", "# x\n[doc](control/doc), [there](https://x.example/y.md)\n")
        self.write("control/doc/README.md", "[a](../../CHANGELOG.md)\n[b](decisions/README.md)\n[c](../man/x.1.scd)\n")
        self.write("control/doc/decisions/README.md", "[0001](0001-a.md)\n")
        self.write("control/doc/decisions/0001-a.md", "[code](../../../meson.build#x)\n")
        self.write("control/man/x.1.scd", "x(1)\n")

    def test_pages_in_order_pass(self):
        code, lines = self.lint("pages")
        self.assertEqual((code, len(lines)), (0, 1), lines)

    def test_the_front_page_is_short_and_so_are_its_cells(self):
        cell = "x" * lint_pages.LONGEST_CELL
        self.write("README.md", f"| {cell} | \\| {cell[3:]} |\n" + "x\n" * (lint_pages.MOST_LINES - 1))
        self.assertEqual(self.lint("pages")[0], 0)
        self.write("README.md", f"| a | {cell}x |\n{cell}x\n" + "x\n" * (lint_pages.MOST_LINES - 1))
        self.assertEqual(self.lint("pages"), (1, [
            f"README.md: error: {lint_pages.MOST_LINES + 1} lines, stop is {lint_pages.MOST_LINES}",
            f"README.md:1: error: a cell of {lint_pages.LONGEST_CELL + 1} characters, stop is {lint_pages.LONGEST_CELL}"]))

    def test_a_link_that_leads_nowhere_is_told_and_code_has_none(self):
        self.write("README.md", "[a](gone.md) and ![p](p.svg)\n```\n[b](gone.md)\n```\n`[c](gone.md)`\n[d](#below)\n[e](gone/#x)\n")
        lost = ((1, "gone.md"), (1, "p.svg"), (7, "gone"))
        self.assertEqual(self.lint("pages"), (1, [f"README.md:{line}: error: {target} is not there" for line, target in lost]))

    def test_a_heading_has_its_blank(self):
        self.write("README.md", "# a\n#b / c\n```\n#!/bin/sh\n```\n##d\n### e\n")
        self.assertEqual(self.lint("pages"), (1, [f"README.md:{line}: error: no heading: a blank is missing" for line in (2, 6)]))

    def test_each_page_stands_in_an_index(self):
        for name in ("lib/DESIGN.md", "control/doc/decisions/0002-b.md", "control/man/y.5.scd", "lib/README.md"):
            self.write(name, "x\n")
        code, lines = self.lint("pages")
        self.assertEqual((code, sorted(line.split(":")[0] for line in lines)),
                         (1, ["control/doc/decisions/0002-b.md", "control/man/y.5.scd", "lib/DESIGN.md"]))

    def test_the_changelog_has_the_version_that_is_built(self):
        for changes, newest in ((CHANGES.replace("1.2.0", "1.3.0"), "1.3.0"), ("## [Unreleased]\n", "none")):
            self.write("CHANGELOG.md", changes)
            self.assertEqual(self.lint("pages"),
                             (1, [f"CHANGELOG.md: error: its newest version is {newest}, that of meson.build 1.2.0"]))


class Comments(Lint):
    def test_the_first_word_of_a_block_counts(self):
        text = "// What is read.\n// Of it all.\nint a;  // Whose\n    // `Where` it is.\n#if 1\n//\n// As before.\n//NOLINTNEXTLINE(x)\n"
        self.assertEqual(list(lint_comments.blocks(text)), [(1, "What is read."), (4, "`Where` it is.")])
        for words, pointing in (("What is read.", True), ("`Where` it is.", True), ("(It goes.)", True), ("Whatever comes", True),
                                ("Iterations", False), ("Amounts of what", False), ("2^20 keys", False), ("", False)):
            self.assertEqual(lint_comments.points(words), pointing, words)

    def test_more_of_them_than_the_stop_are_an_error(self):
        most = int(lint_comments.STOP * 1000)
        for pointing, code in ((most, 0), (most + 1, 1)):
            self.write("lib/a/a.hpp", "// What is read.\nint a;\n" * pointing)
            self.write("dataplane/b.cpp", "// Bytes read.\nint a;\n" * (1000 - pointing))
            self.write("tests/c.cpp", "// What is read.\nint a;\n" * 1000)
            got, lines = self.lint("comments")
            self.assertEqual((got, len(lines)), (code, 1))
            self.assertIn(f"{pointing} of 1000 begin by pointing", lines[0])

    def test_the_stop_is_that_of_this_tree(self):
        """A stop far above what there is holds nothing."""
        self.folder = ROOT
        code, lines = self.lint("comments")
        share = float(lines[0].split("pointing: ")[1].split("%")[0])
        self.assertEqual(code, 0)
        self.assertLess(100 * lint_comments.STOP - share, 1.5, "lower STOP in scripts/lint_comments.py")


if __name__ == "__main__":
    unittest.main()
