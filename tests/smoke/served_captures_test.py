"""Real captures under rules that nobody reaches: anywhere no frame is refused, and of enforced services no more than is listed.

    served_captures_test.py SLUICECTL
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "served"))
import replayed  # noqa: E402
from capture_files import Case, main  # noqa: E402

CAPTURES = replayed.captures()


@unittest.skipUnless(CAPTURES, "no captures: SLUICE_SHARED names no folder with data/pcaps")
class Captures(Case):
    def test_nothing_is_refused_beyond_the_list(self):
        self.assertEqual(replayed.check_captures(self.sluicectl, self.folder, CAPTURES), [])


if __name__ == "__main__":
    main()
