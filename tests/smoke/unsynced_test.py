"""Amounts that workers have not told each other yet, over the death of the dataplane: none is lost.

    unsynced_test.py DATAPLANE SLUICED SLUICECTL
"""
import os
import pathlib
import struct
import time

import workers_case
from host_flood import Flow, HostFlood
from merged_case import MergedCase
from box_file import merged
from programs import wait_until

WORKERS = 4
SOURCES, HOSTS, FRAMES_PER_SECOND = 60, 20, 6000
BURST = 2400
FRAMES_UNTIL_KILLED = 1000
TABLE_KEYS = 4096  # as Box starts it
# The rate gives nothing while this runs. More than half of the burst is left until long after the last kill, so amounts
# wait for up to a second.
HOLD_EACH = workers_case.hold_each("ip.dst", "10/d", BURST)
# So much more than what is promised must have been in flight at the kills together: were it lost, it would be admitted.
TIMES_THE_PROMISE = 2
MOST_KILLS = 25
# For what is on its way at a time: a box that is started again and again need not have room for more.
FEW_FRAMES = {"memory": {"mbufs": 8192}}


def amounts_left(tables):
    """What the records of a dead dataplane's workers say, as (unsent, sent), one for each record in use."""
    size = (TABLE_KEYS + 1) * 32  # the last part of each worker's file, in whole pages
    left = []
    for path in tables.glob("worker-*"):
        records = path.read_bytes()[-(-(-size // 4096) * 4096):][:size]
        left += [(amounts & 0xFFFFFFFF, amounts >> 32)
                 for _, amounts, _, _ in struct.iter_unpack("<QQQQ", records) if amounts]
    return left


class Case(MergedCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.apply_merged(HOLD_EACH)
        self.assertEqual(self.promised, (WORKERS - 1) * (BURST // 16 // (WORKERS - 1)))

    def start_dataplane(self, config=None):
        super().start_dataplane(merged(FEW_FRAMES, config or {}))

    def kill_under_flood(self, flood):
        """What was in flight, as amounts_left() has it; the next dataplane runs, and the flood stands still."""
        before = flood.total()
        flood.go_on()
        wait_until("frames to come through", lambda: flood.total() - before >= FRAMES_UNTIL_KILLED, 60)
        self.box.kill(self.box.dataplane)
        flood.pause()
        left = amounts_left(pathlib.Path(os.path.realpath(self.box.folder / "state" / "tables")))
        self.start_dataplane()
        return left

    def expect_sent_again(self, left):
        """Nothing comes, so all that is sent now are the amounts that were found."""
        wait_until("all amounts to be with their owners", lambda: self.ledger("applied") >= len(left))
        self.assertEqual(self.ledger("sent"), len(left))
        self.assertEqual(self.ledger("applied"), len(left))

    def kill_again_and_again(self, flood, after_each):
        """Until so much was in flight at the kills that it could not be lost unseen."""
        in_flight = kills = 0
        while in_flight <= TIMES_THE_PROMISE * HOSTS * self.promised:
            left = self.kill_under_flood(flood)
            in_flight += sum(unsent + sent for unsent, sent in left)
            after_each(left)
            kills += 1
            self.assertLess(kills, MOST_KILLS, f"{in_flight} units in flight at {kills} kills are too few to prove anything")
        # Amounts wait as long as they do only while at least half is left.
        self.assertLess(max(flood.came_by_host().values()), BURST / 2)
        print(f"{kills} kills, {in_flight} units in flight", flush=True)
        return left

    def expect_the_bound(self, flood):
        came = self.flood_until_refused(flood)
        # What is counted twice at a kill is refused: no more than what was in flight.
        self.expect_the_promise(came, BURST / 2 + 1, BURST)
        self.assertGreater(flood.end(), sum(came.values()) * 1.05)

    def test_kills_under_a_flood(self):
        def after_each(left):
            self.box.wait_for_link(True)
            self.expect_sent_again(left)
        with HostFlood(self.hosts, Flow(SOURCES, HOSTS, FRAMES_PER_SECOND)) as flood:
            self.kill_again_and_again(flood, after_each)
            self.expect_the_bound(flood)

    def test_sluiced_is_dead_too(self):
        self.box.kill(self.box.sluiced)
        with HostFlood(self.hosts, Flow(SOURCES, HOSTS, FRAMES_PER_SECOND)) as flood:
            left = self.kill_again_and_again(flood, lambda left: None)
            self.box.start_sluiced()
            self.expect_sent_again(left)
            self.expect_the_bound(flood)


if __name__ == "__main__":
    workers_case.main()
