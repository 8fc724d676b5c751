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
WITH_OTHERS = "nginx,simple,aiohttp"


class ShortCourse(unittest.TestCase):
    def test_nothing_is_served_uncounted_and_nobody_innocent_is_hurt(self):
        given = served.arguments(["--short", "--seed", "1", "--connections", str(CONNECTIONS), "--programs", *BoxCase.programs])
        found = [words for words in served.run(given) if not words.startswith(NOT_YET)]
        self.assertEqual(found, [])

    def test_so_it_is_where_the_trust_in_checksums_is_learnt_and_before_other_servers(self):
        given = served.arguments(["--short", "--seed", "1", "--services", "auto", "--only", "evasions", "--servers", WITH_OTHERS,
                                  "--programs", *BoxCase.programs])
        self.assertEqual(served.run(given), [])

    def test_rules_alone_are_walked_around_and_the_harness_sees_it(self):
        given = served.arguments(["--short", "--seed", "1", "--services", "none", "--only", "evasions", "--servers", WITH_OTHERS,
                                  "--programs", *BoxCase.programs])
        found = [words for words in served.run(given) if "UNCOUNTED" in words]
        self.assertTrue(any(", nginx: " in words for words in found), found)
        for row, name in ((row, name) for row in evasions.EVASIONS for name in row.served_by if name in given.names):
            self.assertTrue(any(words.startswith(f"{row.name}, {name}: ") for words in found), (row.name, name, found))


if __name__ == "__main__":
    main()
