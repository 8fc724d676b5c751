"""The short course of scripts/served, before three servers.

    served_test.py DATAPLANE SLUICED SLUICECTL
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "served"))
import served  # noqa: E402
from box_case import main  # noqa: E402
from box_case import BoxCase  # noqa: E402

CONNECTIONS = 256
# How the words begin of what does not hold yet. Empty: the law, whole.
NOT_YET = ()


class ShortCourse(unittest.TestCase):
    def test_nothing_is_served_uncounted_and_nobody_innocent_is_hurt(self):
        given = served.arguments(["--short", "--seed", "1", "--connections", str(CONNECTIONS), "--programs", *BoxCase.programs])
        found = [words for words in served.run(given) if not words.startswith(NOT_YET)]
        self.assertEqual(found, [])

    def test_so_it_is_where_the_trust_in_checksums_is_learnt(self):
        given = served.arguments(["--short", "--seed", "1", "--services", "auto", "--only", "evasions", "--servers", "nginx",
                                  "--programs", *BoxCase.programs])
        self.assertEqual(served.run(given), [])

    def test_rules_alone_are_walked_around_and_the_harness_sees_it(self):
        given = served.arguments(["--short", "--seed", "1", "--services", "none", "--only", "evasions", "--servers", "nginx",
                                  "--programs", *BoxCase.programs])
        found = served.run(given)
        self.assertTrue(any("UNCOUNTED" in words for words in found), found)


if __name__ == "__main__":
    main()
