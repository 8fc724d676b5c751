"""How sources of tests are found, and those that nothing is made of.

    sources_test.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
MESON = """apart_sources = ['unit/a/apart_test.cpp']
lost_sources = ['unit/a/lost_test.cpp', 'unit/a/too_test.cpp']
apart = apart_sources + lost_sources + [
  'packets/alone_test.cpp', 'packets/nobody_test.cpp']
executable('x', apart_sources, 'packets/alone_test.cpp')
fuzz_targets = {
  'dns': 1,
}
smoke_tests = {
  'box': [box, 180],
}
if has_kernel
  smoke_tests += {'kernel': [box, 300]}
endif
test('schema', files('smoke/schema_test.py'))
test('model', files('model/model' + '_test.py'))
"""
BUILT = ["unit/a/b_test.cpp", "unit/a/apart_test.cpp", "packets/b_test.cpp", "packets/alone_test.cpp", "fuzz/dns_fuzz.cpp",
         "smoke/box_test.py", "smoke/kernel_test.py", "smoke/schema_test.py", "model/model_test.py"]
LOST = ["fuzz/box_fuzz.cpp", "model/other_test.py", "packets/nobody_test.cpp", "packets/sub/b_test.cpp", "smoke/dns_test.py",
        "unit/a/lost_test.cpp", "unit/a/too_test.cpp"]


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

    def lint(self):
        return subprocess.run([sys.executable, TESTS.parent / "scripts/lint_tests.py", self.folder], capture_output=True, text=True)

    def write(self, *sources):
        for source in sources:
            path = self.folder / "tests" / source
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def test_a_source_that_no_program_is_made_of_is_told(self):
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        self.write("meson.build", *BUILT)
        (self.folder / "tests/meson.build").write_text(MESON)
        done = self.lint()
        self.assertEqual((done.returncode, done.stdout), (0, f"listed: {len(BUILT)} files of tests are built\n"))
        self.write(*LOST)
        done = self.lint()
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()], [f"tests/{source}" for source in LOST])


if __name__ == "__main__":
    unittest.main()
