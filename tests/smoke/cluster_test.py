"""The short course of several boxes: one client's flood over three of them, by real programs and a real redis-server.
Each fault there is runs by scripts/test cluster.

    cluster_test.py DATAPLANE SLUICED SLUICECTL STORE
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from cluster_case import ClusterCase, main  # noqa: E402
from faults import named  # noqa: E402

RATE = 1500          # of the client, over all boxes
LIVE, LIVE_AFTER = 0.99, 0.9
SECONDS, SYNC = 4, 0.1  # of a course; boxes tell each other what they have admitted once in so long, and admit in such steps
COURSES = 5          # of which one has to be without a fault: a machine with much to do stalls the store


class NothingIsShared(ClusterCase):
    """The test of the test: what each box admits for itself is three times the limit, and the check says so."""
    scope = "box"

    def test_the_check_finds_it(self):
        self.begin(RATE)
        self.course.wait(2)
        verdict = self.end()
        self.assertEqual(len(verdict.broken), 1)
        self.assertGreater(verdict.share, 1.0)
        self.assertGreater(verdict.live, 2.0)


class OneLimit(ClusterCase):
    def test_evenly_and_unevenly_the_sum_stays_at_the_limit(self):
        for shares in ((1, 1, 1), (80, 15, 5)):
            self.assertTrue(any(self.is_without_fault(shares) for _ in range(COURSES)), "the store was late in each course")

    def is_without_fault(self, shares):
        """A course; false where a box had to judge without the store, by its own count. The bound holds then, too."""
        before = self.boxes.without_store()
        self.begin(RATE, shares=shares)
        self.course.wait(SECONDS)
        verdict, alone = self.end(), self.boxes.without_store() - before
        self.expect_the_bound(verdict)
        self.new_flood()
        print(f"{alone} charges without the store", flush=True)
        if not alone:
            # A step may end before what is measured, and another begin behind it.
            self.assertGreaterEqual(verdict.live, LIVE - 2 * SYNC / (SECONDS - 1))
        return not alone

    def expect_of(self, name):
        fault = named(name)
        self.begin(RATE)
        self.course.fault(lambda: fault.cause(self.boxes), lambda: fault.heal(self.boxes), min(fault.seconds, 2))
        self.course.wait(4)
        verdict = self.end(fault.stated(self.limit, self.count))
        self.expect_the_bound(verdict)
        self.assertGreaterEqual(verdict.after, LIVE_AFTER)

    def test_the_store_dies_and_comes_back_empty(self):
        self.expect_of("redis killed, back empty after 5 s")

    def test_the_store_is_flushed(self):
        self.expect_of("FLUSHALL")

    def test_what_all_boxes_count_is_not_given_back_on_one(self):
        for action in ({"action": "reset"}, {"action": "forgive"}, {"action": "grant", "units": "600"}):
            status, answer = self.boxes.boxes[0].api("POST", "/v1/rules/shared/key", json.dumps({"key": "192.0.2.1", **action}))
            self.assertEqual((status, b"counted by the cluster" in answer), (409, True), answer)

    def test_a_box_is_cut_off(self):
        self.expect_of("one box cut off")


if __name__ == "__main__":
    main()
