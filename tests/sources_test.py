"""How sources of tests are found.

    sources_test.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sources(self, *words):
        return subprocess.run([sys.executable, TESTS / "sources.py", *words], capture_output=True, text=True,
                              env={**os.environ, "MESON_BUILD_ROOT": str(self.folder)}).returncode

    def test_a_try_to_configure_that_fails_tells_of_nothing(self):
        self.assertEqual(self.sources("--is-listed-in", self.folder), 1)
        self.sources()  # as meson calls it, which is then stopped
        self.assertEqual(self.sources("--is-listed-in", self.folder), 1)
        self.sources()
        self.assertEqual(self.sources("--configured", self.folder), 0)
        self.assertEqual(self.sources("--is-listed-in", self.folder), 0)
        self.assertEqual(self.sources("--configured", self.folder), 0, "meson had nothing to do")
        self.assertEqual(self.sources("--is-listed-in", self.folder), 0)
        (self.folder / "tests/sources.txt").write_text("unit/a/gone_test.cpp\n")
        self.assertEqual(self.sources("--is-listed-in", self.folder), 1)


if __name__ == "__main__":
    unittest.main()
