"""The owner of a share of the keys stands still, and nobody else does: the others go ahead as far as they may, keys of
other owners are served as before, and nothing is lost once it goes on.

    stalled_test.py DATAPLANE SLUICED SLUICECTL
"""
import time

import workers_case
from host_flood import Flow, HostFlood
from merged_case import MergedCase
from one_thread import stopped, threads_named
from programs import wait_until, wait_until_still

WORKERS = 4
# It neither receives from the ports nor sends to them, so that the frames of others go on.
STALLED = 2
SOURCES, HOSTS, FRAMES_PER_SECOND = 40, 40, 6000
BURST = 1600
# The rate gives nothing while this runs.
HOLD_EACH = workers_case.hold_each("ip.dst", "10/d", BURST)
# Were it lost each time by how much the others are ahead, it would come to three times what is promised.
STALLS = 3


class Case(MergedCase):
    def setUp(self):
        super().setUp()
        self.start({"workers": {"watchdog": {"stall": "300ms"}}})
        self.apply_merged(HOLD_EACH)
        self.thread, = threads_named(self.box.dataplane, f"rte-worker-{self.stalled()['lcore']}")

    def stalled(self):
        return self.box.workers()[STALLED]

    def stall_under_flood(self, flood):
        """What came while the worker stood still and the flood went on, by source and host."""
        before = flood.came()

        def meanwhile():
            return {key: count - before.get(key, 0) for key, count in flood.came().items()}
        with stopped(self.thread):
            bursts = self.stalled()["bursts"]
            flood.go_on()
            wait_until("keys of others to get far more than the others may be ahead by", lambda: max(
                flood.by_host(meanwhile()).values()) > 3 * self.promised, 60)
            flood.pause()
            wait_until_still("what is on its way", flood.came)
            # Others may be kept from their processor for a while: they go on by themselves.
            wait_until("it alone to stand still", lambda: [worker["stalled_ms"] > 0 for worker in self.box.workers()] ==
                       [index == STALLED for index in range(WORKERS)])
            self.assertEqual(self.stalled()["bursts"], bursts)
            came = meanwhile()
        wait_until("it to go on", lambda: self.stalled()["stalled_ms"] == 0)
        # The frames that had waited for it are nobody's of the next time.
        wait_until_still("what had waited for it", flood.came)
        return came

    def hosts_held_back(self, flood, came):
        """Those whose owner stood still; everybody else was served as ever."""
        sources = {source for (source, _), count in came.items() if count}
        self.assertLess(len(sources), SOURCES, "those of the worker that stood still wait for it")
        self.assertGreater(len(sources), SOURCES / 3)
        counts = flood.by_host(came)
        # All hosts are sent the same.
        held_back = {host for host, count in counts.items() if count < 0.9 * max(counts.values())}
        for host in held_back:
            self.assertLessEqual(counts[host], self.promised, f"host {host}")
            self.assertGreater(counts[host], self.promised / 3, f"host {host}")
        return held_back

    def test_an_owner_that_stands_still(self):
        with HostFlood(self.hosts, Flow(SOURCES, HOSTS, FRAMES_PER_SECOND)) as flood:
            flood.pause()
            held_back = []
            for _ in range(STALLS):
                used_up = self.ledger("used_up")
                held_back.append(self.hosts_held_back(flood, self.stall_under_flood(flood)))
                self.assertGreater(self.ledger("used_up"), used_up)
            self.assertGreater(len(held_back[0]), 0)
            self.assertLess(len(held_back[0]), HOSTS * 0.75)
            self.assertEqual(held_back, held_back[:1] * STALLS, "a key has one owner")
            # Each time is told once, also those in which the processor was somebody else's.
            stalled = self.stalled()
            self.assertGreaterEqual(stalled["stalls"], STALLS)
            self.assertEqual(self.box.log("dataplane.log").count(f"the worker on lcore {stalled['lcore']} has stalled"),
                             stalled["stalls"])
            self.expect_each_amount_once()
            came = self.flood_until_refused(flood)
        self.expect_each_amount_once()
        self.assertEqual(self.reasons()["tx_full"], 0)
        self.expect_the_promise(came, BURST, BURST)
        print(f"{len(held_back[0])} of {HOSTS} keys held back", flush=True)


if __name__ == "__main__":
    workers_case.main()
