"""Each fault of the store, of what speaks to it and of boxes, under a flood that comes to all boxes: the bound that is
stated for it holds, and two seconds after it has healed the limit is used up again.

    cluster_faults_test.py DATAPLANE SLUICED SLUICECTL STORE CLOCK_SHIM
"""
import dataclasses
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
import exact_bucket  # noqa: E402
from cluster_boxes import STAND_IN, rule_of  # noqa: E402
from cluster_case import ClusterCase, main  # noqa: E402
from faults import FAULTS, HOUR, OF_SENTINELS, YEAR, Fault  # noqa: E402
from programs import dice  # noqa: E402

CLIENTS, RATE = 2, 1500     # of each client, over all boxes
LIVE = 0.99
LIVE_AFTER = 0.95           # of the limit, over the ten seconds that begin two seconds after the last fault has healed
AFTERWARDS = 12.5           # seconds
LATEST_US = 100_000         # through a box, of 99 in 100 frames: whoever waited for the store would take longer


class Faults(ClusterCase):
    """A test for each row; at their end the table of all."""

    @classmethod
    def tearDownClass(cls):
        print(f"\n{'fault':<36} {'beyond':>8} {'D1':>6} {'live':>6} {'after':>6} {'p99, ms':>8}  bound")
        for name, verdict in cls.verdicts.items():
            print(f"{name:<36} {verdict.worst:>8.0f} {verdict.share:>6.2f} {verdict.live:>6.3f} {verdict.after:>6.3f} "
                  f"{(verdict.late_us[1] or 0) / 1000:>8.1f}  {cls.bound(verdict)}", flush=True)

    @staticmethod
    def bound(verdict):
        """What is beyond the promise may lie in frames that were judged and had not left yet, and need not."""
        return "BROKEN" if verdict.broken else "held" if verdict.share <= 1 else "beyond, by no more than may be in flight"

    def expect_of(self, fault):
        self.begin(RATE, CLIENTS)
        self.course.wait(2)
        self.course.fault(lambda: fault.cause(self.boxes), lambda: fault.heal(self.boxes), fault.seconds)
        self.course.wait(AFTERWARDS)
        verdict = self.end(fault.stated(self.limit, self.count))
        self.verdicts[fault.name] = verdict
        self.expect_the_bound(verdict)
        self.assertGreaterEqual(verdict.after, LIVE_AFTER)
        without, during = verdict.late_us
        if not fault.stops_a_box:
            self.assertLess(during or 0, LATEST_US + without)


class ProcessFaults(Faults):
    """One redis-server, behind a proxy for each box."""
    verdicts = {}


class SentinelFaults(Faults):
    """The store is found by sentinels, and a replica confirms: nothing is lost."""
    verdicts = {}
    config = {"cluster": {"durability": "replica"}}

    @classmethod
    def prepare(cls):
        cls.boxes.with_sentinels = True


class TwoWorkers(ClusterCase):
    """A client comes to both workers of each box."""
    limit = dataclasses.replace(ClusterCase.limit, in_flight=2 * ClusterCase.limit.in_flight)
    config = {"workers": {"lcores": "0@0,1@1,2@0"}}

    def test_workers_and_boxes_share_one_limit(self):
        for shares in ((1, 1, 1), (80, 15, 5)):
            self.begin(RATE, shares=shares)
            self.course.wait(10)
            verdict = self.end()
            self.expect_the_bound(verdict)
            self.assertGreaterEqual(verdict.live, LIVE)
            self.new_flood()


class WindowFaults(ClusterCase):
    """Windows of UTC, and a box whose UTC is stepped: it has its share of them meanwhile, nobody else has less, and
    afterwards all of it is shared again."""
    COUNT, WINDOW = 2000, 4  # s
    APART = 10  # seconds after its last answer for which a box whose clock was wrong goes by its share
    algorithm = "fixed_window"
    limit = dataclasses.replace(ClusterCase.limit, rate=COUNT // WINDOW, burst=COUNT, promised=COUNT // 8)

    @classmethod
    def rules(cls):
        return rule_of(f"{{algorithm: {cls.algorithm}, count: {cls.COUNT}, window: {cls.WINDOW}s, scope: cluster}}")

    @classmethod
    def prepare(cls):
        cls.boxes.boxes[0].step_clock(cls.boxes.folder, cls.programs[4])

    def expect_of(self, seconds):
        clock, slides = self.boxes.boxes[0].clock, self.algorithm == "sliding_window"
        self.begin(2 * self.limit.rate)
        self.course.wait(self.WINDOW)
        self.course.fault(lambda: clock.step(seconds), lambda: clock.step(0), 3 * self.WINDOW)
        self.course.wait(self.APART + 5 * self.WINDOW)
        ended = time.time_ns()
        self.flood.end()
        # One box in three goes by its share, and had its credit before it knew.
        excess = self.limit.promised * (2 if slides else 1)
        wrong = dataclasses.replace(self.limit, promised=excess + self.COUNT // self.count + self.limit.promised)
        departures = self.flood.departures()
        found = exact_bucket.check_windows(departures, self.COUNT, self.WINDOW * exact_bucket.SECOND, wrong, slides)
        self.assertEqual(exact_bucket.refusals(found, wrong), [])
        again = self.course.faults[-1][1] + (self.APART + 2 * self.WINDOW) * exact_bucket.SECOND
        later = [each for each in departures if each[0] >= again]
        found = exact_bucket.check_windows(later, self.COUNT, self.WINDOW * exact_bucket.SECOND, self.limit, slides)
        self.assertEqual(exact_bucket.refusals(found, self.limit), [])
        whole = [number for number in range(again // (self.WINDOW * exact_bucket.SECOND) + 1, ended // (self.WINDOW * exact_bucket.SECOND))]
        admitted = [sum(at // (self.WINDOW * exact_bucket.SECOND) == number for at, *_ in later) for number in whole]
        print(f"{self.id()}: admitted in whole windows after it {admitted} of {self.COUNT}", flush=True)
        self.assertGreaterEqual(len(admitted), 2)
        self.assertGreaterEqual(min(admitted), LIVE_AFTER * self.COUNT)

    def test_an_hour_ahead(self):
        self.expect_of(HOUR)

    def test_an_hour_behind(self):
        self.expect_of(-HOUR)

    def test_a_year_ahead(self):
        self.expect_of(YEAR)


class SlidingFaults(WindowFaults):
    algorithm = "sliding_window"


class HostileStore(ClusterCase):
    """Whoever speaks for the store says what is not so: boxes may be stricter by it, and never admit more than each
    for itself."""
    store = STAND_IN

    def setUp(self):
        super().setUp()
        told = self.boxes.told
        self.addCleanup(setattr, told, "lie", told.lie)

    def each_for_itself(self):
        return dataclasses.replace(self.limit, rate=self.limit.rate * self.count, burst=self.limit.burst * self.count)

    def test_the_truth_is_shared(self):
        self.begin(RATE)
        self.course.wait(5)
        verdict = self.end()
        self.expect_the_bound(verdict)
        self.assertGreaterEqual(verdict.live, LIVE)

    def test_that_nothing_is_owed(self):
        self.boxes.told.lie = lambda batch, levels: [0] * len(levels)
        self.begin(RATE)
        self.course.wait(5)
        self.expect_the_bound(self.end(self.each_for_itself()))

    def test_that_more_is_owed_than_there_are_units(self):
        self.begin(RATE)
        self.course.fault(lambda: setattr(self.boxes.told, "lie", lambda batch, levels: [2**64 - 1] * len(levels)),
                          lambda: setattr(self.boxes.told, "lie", lambda batch, levels: levels), 3)
        self.course.wait(3)
        self.expect_the_bound(self.end())

    def test_too_few_levels_and_bytes_that_are_no_message(self):
        self.begin(RATE)
        self.course.fault(lambda: setattr(self.boxes.told, "lie", lambda batch, levels: levels[1:]),
                          lambda: setattr(self.boxes.told, "lie", lambda batch, levels: levels), 2)
        for box in range(self.count):
            self.boxes.told.babble(box, dice("bytes that are no message").randbytes(3000))
        self.course.wait(3)
        self.boxes.wait_until_shared()
        self.expect_the_bound(self.end())


class PlayedFaults(ClusterCase):
    """The same bounds where the store is played: without a redis-server."""
    store = STAND_IN

    def expect_of(self, fault):
        self.begin(RATE)
        self.course.wait(2)
        self.course.fault(fault.cause, fault.heal, fault.seconds)
        self.course.wait(6)
        verdict = self.end(fault.stated(self.limit, self.count))
        self.expect_the_bound(verdict)
        self.assertGreaterEqual(verdict.after, LIVE_AFTER)

    def silent(self, *boxes, **stated):
        told = self.boxes.told
        self.expect_of(Fault("silent", lambda: told.silent.update(boxes), told.silent.clear, 3, **stated))

    def test_it_says_nothing_to_anybody(self):
        self.silent(0, 1, 2)

    def test_it_says_nothing_to_one_box(self):
        self.silent(0, cut_off=1)

    def test_it_has_lost_everything(self):
        self.expect_of(Fault("lost", self.boxes.told.kept.begin_anew, lambda: None, 0, lost=True))


class OneBoxTooMany(ClusterCase):
    """Four boxes of a cluster of three: one has no slot and no credit, and judges by its share."""
    count, size, with_slot = 4, 3, 3

    @classmethod
    def prepare(cls):
        cls.boxes.size = cls.size

    def test_it_has_its_share_and_no_more(self):
        self.begin(RATE)
        self.course.wait(10)
        self.expect_the_bound(self.end(Fault("a box too many", None, None, 0, cut_off=1).stated(self.limit, self.size)))


class OneName(OneBoxTooMany):
    """Two boxes of one name: one of them holds the slot."""
    count, with_slot = 3, 2

    @classmethod
    def prepare(cls):
        cls.boxes.nodes[1] = cls.boxes.nodes[0]


def add_tests():
    for case, faults in ((ProcessFaults, FAULTS), (SentinelFaults, OF_SENTINELS)):
        for fault in faults:
            words = "".join(letter if letter.isalnum() else "_" for letter in fault.name)
            setattr(case, f"test_{words}", lambda self, fault=fault: self.expect_of(fault))


if __name__ == "__main__":
    add_tests()
    main()
