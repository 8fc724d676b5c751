"""The short course of several boxes: one client's flood over three of them, by real programs and a real redis-server.

    cluster_test.py DATAPLANE SLUICED SLUICECTL STORE
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from cluster_case import ClusterCase, main  # noqa: E402


class NothingIsShared(ClusterCase):
    """The test of the test: what each box admits for itself is three times the limit, and the check says so."""
    scope = "box"

    def test_the_check_finds_it(self):
        self.begin(1500)
        self.course.wait(2)
        verdict = self.end()
        self.assertEqual(len(verdict.broken), 1)
        self.assertGreater(verdict.share, 1.0)
        self.assertGreater(verdict.live, 2.0)


if __name__ == "__main__":
    main()
