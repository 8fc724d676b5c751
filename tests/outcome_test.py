"""What scripts/test says of programs that failed: which case, and why, in one line."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts/lib/testing"))
import outcome  # noqa: E402

LINE = "-" * 70
FAILED = f"""test_a (t.A.test_a) ... FAIL
test_b (t.A.test_b) ... ERROR
test_c (t.A.test_c) ... skipped 'no namespace'

{'=' * 70}
ERROR: test_b (t.A.test_b)
{LINE}
Traceback (most recent call last):
  File "t.py", line 4, in test_b
    open("x")
FileNotFoundError: [Errno 2] No such file or directory: 'x'

{'=' * 70}
FAIL: test_a (t.A.test_a)
{LINE}
Traceback (most recent call last):
  File "t.py", line 3, in test_a
    self.assertEqual(1, 2)
AssertionError: 1 != 2 : seed 7

{LINE}
Ran 4 tests in 0.1s

FAILED (failures=1, errors=1, skipped=1)
"""


class OutcomeTest(unittest.TestCase):
    def test_a_failed_case_of_unittest_has_its_reason(self):
        read = outcome.read_unittest("t", FAILED, 1)
        self.assertEqual((read.passed, read.failed, read.skipped), (1, 2, 1))
        self.assertEqual(read.notes, [
            "t: ERROR: test_b (t.A.test_b): FileNotFoundError: [Errno 2] No such file or directory: 'x'",
            "t: FAIL: test_a (t.A.test_a): AssertionError: 1 != 2 : seed 7",
            "t: test_c (t.A.test_c) ... skipped 'no namespace'"])

    def test_a_long_reason_is_cut(self):
        self.assertEqual(len(outcome.reason_of("y" * 5000)), outcome.LONGEST_REASON + 1)

    def test_a_failed_case_of_gtest_has_its_reason(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
            report.write('<testsuites><testsuite><testcase name="a" classname="S" status="run">'
                         '<failure message="f.cpp:3&#x0A;Expected equality of these values:&#x0A;  1&#x0A;  2"/></testcase></testsuite></testsuites>')
            report.flush()
            read = outcome.read_gtest("g", report.name, 1)
        self.assertEqual(read.notes, ["g: S.a: failed: f.cpp:3 | Expected equality of these values: | 1 | 2"])


if __name__ == "__main__":
    unittest.main()
