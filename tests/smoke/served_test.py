"""The short course of scripts/served, before three servers, and what others have served uncounted before two of those.

    served_test.py DATAPLANE SLUICED SLUICECTL
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "served"))
import evasions  # noqa: E402
import served  # noqa: E402
from box_case import main  # noqa: E402
from box_case import BoxCase  # noqa: E402

CONNECTIONS = 256
# How the words begin of what does not hold yet. Empty: the law, whole.
NOT_YET = ()
# With what python3 has and a small package.
WITH_OTHERS = ("--only", "evasions", "--servers", "nginx,simple,aiohttp")
COURSES = {"whole": ("--connections", str(CONNECTIONS)), "learnt": ("--services", "auto", *WITH_OTHERS),
           "rules alone": ("--services", "none", *WITH_OTHERS)}


class ShortCourse(unittest.TestCase):
    """All are on their way at once: they wait more than they work."""

    @classmethod
    def setUpClass(cls):
        cls.given, cls.courses = {}, {}
        for name, words in COURSES.items():
            cls.given[name] = served.arguments(["--short", "--seed", "1", *words, "--programs", *BoxCase.programs])
            cls.courses[name] = served.Course(cls.given[name])
            cls.addClassCleanup(cls.courses[name].stop)

    def test_nothing_is_served_uncounted_and_nobody_innocent_is_hurt(self):
        found = [words for words in self.courses["whole"].end() if not words.startswith(NOT_YET)]
        self.assertEqual(found, [])

    def test_so_it_is_where_the_trust_in_checksums_is_learnt_and_before_other_servers(self):
        self.assertEqual(self.courses["learnt"].end(), [])

    def test_rules_alone_are_walked_around_and_the_harness_sees_it(self):
        found = [words for words in self.courses["rules alone"].end() if "UNCOUNTED" in words]
        self.assertTrue(any(", nginx: " in words for words in found), found)
        names = self.given["rules alone"].names
        for row, name in ((row, name) for row in evasions.EVASIONS for name in row.served_by if name in names):
            self.assertTrue(any(words.startswith(f"{row.name}, {name}: ") for words in found), (row.name, name, found))


if __name__ == "__main__":
    main()
