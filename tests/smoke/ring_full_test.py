"""An owner of many keys stands still until the rings of amounts to it are full, and is flooded on: the others put off what
they would tell it, and once it goes on everything is told, once.

    ring_full_test.py DATAPLANE SLUICED SLUICECTL
"""
import time

import workers_case
from host_flood import Flow, HostFlood
from merged_case import MergedCase
from one_thread import stopped, threads_named
from programs import wait_until, wait_until_still

# It neither receives from the ports nor sends to them, so that the frames of others go on.
STALLED = 2
RING = 2048  # amounts from one worker to another, of four
# A worker sends two amounts of a key, and is then as far ahead as it may be: a quarter of the keys must be many.
SOURCES, HOSTS, FRAMES_PER_SECOND = 12, 8 * RING, 12000
BURST = 16
# The rate gives nothing while this runs.
HOLD_EACH = workers_case.hold_each("ip.dst", "1/d", BURST)


class Case(MergedCase):
    def setUp(self):
        super().setUp()
        self.start({"memory": {"tables": {"keys": 2 * HOSTS}}, "workers": {"watchdog": {"stall": "300ms"}}})
        self.apply_merged(HOLD_EACH)

    def fill_rings(self, flood):
        """How often each worker has found its ring to the owner full."""
        thread, = threads_named(self.box.dataplane, f"rte-worker-{self.box.workers()[STALLED]['lcore']}")
        with stopped(thread):
            flood.go_on()
            wait_until("rings to be full, of two workers at least",
                       lambda: sum(full > 0 for full in self.ledgers("ring_full")) >= 2, 90)
            found = self.ledger("ring_full")
            wait_until("much more to find them so", lambda: self.ledger("ring_full") > 2 * found, 90)
            flood.pause()
            wait_until_still("what is on its way", lambda: [worker["packets"] for worker in self.box.workers()])
            unsent = self.ledger("sent") - self.ledger("applied")
            full = self.ledgers("ring_full")
        self.assertGreaterEqual(unsent, 2 * RING)
        wait_until("it to go on", lambda: self.box.workers()[STALLED]["stalled_ms"] == 0)
        return full

    def test_rings_of_amounts_that_are_full(self):
        with HostFlood(self.hosts, Flow(SOURCES, HOSTS, FRAMES_PER_SECOND)) as flood:
            flood.pause()
            full = self.fill_rings(flood)
            self.expect_each_amount_once()
            # A source sends to all hosts before the next one does: all four workers together judge all hosts.
            came = self.flood_until_refused(flood, HOSTS // 3)
        self.expect_each_amount_once()
        self.expect_the_promise(came, BURST, BURST)
        print(f"rings found full {full} times", flush=True)


if __name__ == "__main__":
    workers_case.main()
