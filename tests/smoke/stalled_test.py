"""The owner of a share of the keys stands still, and nobody else does: the others go ahead as far as they may, keys of
other owners are served as before, and nothing is lost once it goes on.

    stalled_test.py DATAPLANE SLUICED SLUICECTL
"""
import time

import workers_case
from host_flood import Flow, HostFlood
from one_thread import stopped, threads_named
from programs import wait_until, wait_until_still

WORKERS = 4
# It neither receives from the ports nor sends to them, so that the frames of others go on.
STALLED = 2
SOURCES, HOSTS, FRAMES_PER_SECOND = 40, 40, 6000
BURST = 1600
# The rate gives nothing while this runs.
HOLD_EACH = f"""version: 1
rules:
  - id: hold
    mode: enforce
    when: dir eq "in" and ip.proto eq 17
    key: [ip.dst]
    limits: [{{algorithm: token_bucket, rate: 10/d, burst: {BURST}}}]
"""
# Were it lost each time by how much the others are ahead, it would come to three times what is promised.
STALLS = 3


class Case(workers_case.WorkersCase):
    def setUp(self):
        super().setUp()
        self.start("--watchdog-stall", "300")
        self.apply(HOLD_EACH)
        self.assertEqual(self.scopes(), {"hold": "merged"})
        self.promised = self.merged()["promised_overshoot"]
        self.thread, = threads_named(self.box.dataplane, f"rte-worker-{self.stalled()['lcore']}")

    def merged(self):
        return self.box.stats()["rules"][0]["merged"]

    def stalled(self):
        return self.box.workers()[STALLED]

    def ledger(self, event):
        return sum(worker["ledger"][event] for worker in self.box.workers())

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
            self.assertEqual([worker["stalled_ms"] > 0 for worker in self.box.workers()],
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

    def expect_each_amount_once(self):
        time.sleep(1.2)  # so that what may wait has been told as well
        wait_until("all amounts to be with their owners", lambda: self.ledger("sent") == self.ledger("applied"))
        for event in ("returned", "no_place", "no_record", "dropped", "expired"):
            self.assertEqual(self.ledger(event), 0, event)

    def flood_until_refused(self, flood):
        flood.go_on()
        return wait_until_still("what comes through", flood.came_by_host, 1.5, 300)

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
            self.assertEqual(self.stalled()["stalls"], STALLS)
            self.assertEqual(self.box.log("dataplane.log").count("has stalled"), STALLS)
            self.expect_each_amount_once()
            came = self.flood_until_refused(flood)
        self.expect_each_amount_once()
        self.assertEqual(self.reasons()["tx_full"], 0)
        for host, count in came.items():
            self.assertLessEqual(count, BURST + self.promised, f"host {host}")
            self.assertGreaterEqual(count, BURST, f"host {host}: what was used has been counted twice")
        merged = self.merged()
        self.assertLessEqual(merged["measured_overshoot"], merged["promised_overshoot"])
        print(f"{len(held_back[0])} of {HOSTS} keys held back; of {BURST} and {self.promised} promised beyond: "
              f"{min(came.values())} to {max(came.values())}", flush=True)


if __name__ == "__main__":
    workers_case.main()
