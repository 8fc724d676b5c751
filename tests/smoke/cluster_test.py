"""The short course of several boxes: one client's flood over three of them, by real programs and a real redis-server.
Each fault there is runs by scripts/test cluster.

    cluster_test.py DATAPLANE SLUICED SLUICECTL STORE
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from cluster_case import ClusterCase, main  # noqa: E402
from cluster_boxes import rules  # noqa: E402
from faults import named  # noqa: E402
from programs import wait_until  # noqa: E402
from spread_flood import raw_socket  # noqa: E402
import capture_files as frames  # noqa: E402

RATE = 1500          # of the client, over all boxes
LIVE, LIVE_AFTER = 0.99, 0.9
SECONDS, SYNC = 4, 0.1  # of a course; boxes tell each other what they have admitted once in so long, and admit in such steps
OPEN = """  - id: open
    mode: enforce
    when: dir eq "in" and ip.proto eq 6
    key: [ip.src]
    limits: [{algorithm: concurrency, count: 60, idle: 1m, scope: cluster}]
"""
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

    def test_open_connections_are_one_count(self):
        self.boxes.apply(rules(self.limit, self.scope) + OPEN)
        bounds = {rule["limits"][0]["cluster"]["overshoot"] for rule in json.loads(self.boxes.boxes[0].api("GET", "/v1/rules")[1])["rules"]
                  if rule["id"] == "open"}
        self.assertEqual(bounds, {6})
        hosts = [raw_socket(hosts.outside) for hosts in self.boxes.network.hosts]
        client = f"10.78.0.{next(self.clients)}"
        ports = iter(range(1000, 60_000))

        def more_open(at_least):
            for host in hosts:
                host.send(frames.tcp(client, "10.79.0.1", next(ports), 80))
            return sum(self.open_of(box) for box in self.boxes.boxes) >= at_least

        try:
            wait_until("the boxes to have as many connections as one would allow", lambda: more_open(60))
            for _ in range(100):
                more_open(60)
        finally:
            for host in hosts:
                host.close()
        opened = [self.open_of(box) for box in self.boxes.boxes]
        print(f"connections that each box has: {opened}", flush=True)
        self.assertLessEqual(sum(opened), 60 + 6)
        self.assertLess(max(opened), 60, "each box has some")

    @staticmethod
    def open_of(box):
        return next(rule.get("open_connections", 0) for rule in box.stats()["rules"] if rule["id"] == "open")

    def test_a_box_is_cut_off(self):
        self.expect_of("one box cut off")


if __name__ == "__main__":
    main()
