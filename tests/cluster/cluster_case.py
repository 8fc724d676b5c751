"""Boxes that run for the tests of a class: what the short course and the table of faults begin with."""
import dataclasses
import sys
import unittest

from cluster_boxes import ClusterBoxes, rules
from course import Course
from exact_bucket import Limit
from spread_flood import SpreadFlood

BURST_OF_A_WORKER = 32


class ClusterCase(unittest.TestCase):
    """A class has its boxes from its first test to its last; each test a flood and clients of its own."""
    programs = []  # sluice-dataplane, sluiced, sluicectl, sluice-store, and clock_shim where clocks are stepped
    scope = "cluster"
    store = None  # in the place of sluice-store
    count = 3
    flood = None
    with_slot = None  # boxes that come by the store; None: all
    config = None  # more of each sluice.yaml
    limit = Limit(rate=200, burst=1000, promised=1000 // 8, in_flight=BURST_OF_A_WORKER)
    clients = iter(range(1, 60_000))

    @classmethod
    def setUpClass(cls):
        store = cls.store or (cls.programs[3] if cls.scope == "cluster" else None)
        cls.boxes = ClusterBoxes(cls.programs[:3], store, cls.count, *cls.programs[4:])
        cls.addClassCleanup(cls.boxes.close)
        cls.prepare()
        cls.boxes.open(cls.config)
        cls.boxes.apply(cls.rules())
        if cls.scope == "cluster":
            cls.boxes.wait_until_shared(cls.with_slot)
            cls.limit = dataclasses.replace(cls.limit, promised=cls.boxes.promised())
            assert 0 < cls.limit.promised <= cls.limit.burst // 8, cls.limit

    @classmethod
    def rules(cls):
        return rules(cls.limit, cls.scope)

    @classmethod
    def prepare(cls):
        """What is to be otherwise before the boxes start."""

    def setUp(self):
        self.new_flood()

    def new_flood(self):
        """In the place of the one before: two takers would tell each frame twice."""
        if self.flood is not None:
            self.flood.__exit__()
        self.flood = SpreadFlood(self.boxes.network, self.boxes.folder)
        self.addCleanup(self.flood.__exit__)
        self.flood.__enter__()
        self.course = Course(self.boxes, self.flood, self.limit)

    def begin(self, rate, clients=1, shares=None):
        """So many clients that no test has had before, each with this rate."""
        self.sending = [next(self.clients) for _ in range(clients)]
        self.course.begin(dict.fromkeys(self.sending, rate), shares or [1] * self.count)

    def end(self, limit=None):
        """`limit`: what is stated where it is more than the rule's."""
        verdict = self.course.end(limit)
        print(f"{self.id().split('.')[-1]}: {verdict}", flush=True)
        return verdict

    def expect_the_bound(self, verdict):
        self.assertEqual(verdict.broken, [], "\n" + verdict.history)


def main():
    """The programs come as arguments, by their paths, then what is unittest's."""
    given = [word for word in sys.argv[1:] if "/" in word]
    ClusterCase.programs = given
    unittest.main(module="__main__", argv=[word for word in sys.argv if word not in given], verbosity=2)
