"""Several workers on ports with one queue each: the real dataplane, sluiced and sluicectl.

    handover_test.py DATAPLANE SLUICED SLUICECTL
"""
import signal

import workers_case
from box_file import pair
from numbered_frames import Sending, frame_of, send_numbered
from programs import wait_until

SOURCES = 60
BURST = 25

HOLD_EACH = workers_case.hold_each("ip.src", "1/d", BURST)
WATCH_ALL = """version: 1
rules:
  - {id: watch, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1000}]}
  - {id: together, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1000}]}
  - {id: there, when: dir eq "out", key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1000}]}
"""


class Case(workers_case.WorkersCase):
    LCORES = "0@0,1@1,2@1,3@0"

    def send(self, count, rate):
        """What came through to the inside, by host."""
        return {source: numbers for (source, _), numbers in
                send_numbered(self.hosts, Sending(count, SOURCES, rate)).items()}

    def packets(self):
        return [worker["packets"] for worker in self.box.workers()]

    def expect_nothing_lost(self):
        reasons = self.reasons()
        for reason in ("ring_full", "tx_full", "no_memory"):
            self.assertEqual(reasons[reason], 0, reason)

    def test_every_frame_once_in_order_and_by_all_workers(self):
        self.start()
        self.apply(WATCH_ALL)
        came = self.send(100, 4000)
        self.assertEqual(sorted(came), list(range(SOURCES)))
        for source, numbers in came.items():
            self.assertEqual(numbers, list(range(100)), f"source {source}")
        self.expect_nothing_lost()
        for packets in self.packets():
            self.assertGreater(packets, SOURCES * 100 / 20)
        workers = self.box.workers()
        handed = sum(worker["handed_over"] for worker in workers)
        self.assertGreater(handed, SOURCES * 100 / 4)
        self.assertEqual(workers[0]["lanes"], ["lab in q0", "lab out q0"])
        self.assertEqual(workers[1]["lanes"], ["lab in handed over", "lab out handed over"])

    def test_each_source_is_held_to_its_limit_exactly(self):
        self.start()
        self.apply(HOLD_EACH)
        came = self.send(60, 4000)
        self.assertEqual(sorted(came), list(range(SOURCES)))
        for source, numbers in came.items():
            self.assertEqual(numbers, list(range(BURST)), f"source {source}")
        rule = self.box.stats()["rules"][0]
        self.assertEqual((rule["admitted"], rule["exceeded"]),
                         (SOURCES * BURST, SOURCES * (60 - BURST)))
        self.expect_nothing_lost()
        # The worker that is asked about a packet is the one that has its source.
        lcores = set()
        for source in range(SOURCES):
            told = self.told_of(frame_of(source))
            self.assertEqual((told["sure"], told["reason"], told["limits"][0]["bucket"]), (True, "over_limit", True), source)
            lcores.add(told["lcore"])
        self.assertEqual(lcores, {1, 2, 3})

    def test_a_restart_moves_no_key_to_another_worker(self):
        def judged():
            before = self.packets()
            self.send(40, 4000)
            return [after - first for first, after in zip(before, self.packets())]
        self.box.seeded_rss = False
        self.start()
        self.apply(WATCH_ALL)
        first = judged()
        self.box.kill(self.box.dataplane, signal.SIGKILL)
        key = self.box.folder / "state" / "rss-key"
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.start_dataplane()
        self.box.wait_for_link(True)
        # Whole hosts: 40 frames each, give or take what the kernels say to each other.
        for here, there in zip(first, judged()):
            self.assertLess(abs(here - there), 20)

    def test_the_tools_say_how_frames_are_spread(self):
        self.start({"ports": [{}, pair("net_null0", "net_null1", "more", outside={"rss": "source_prefix"},
                                       hand_over=False)]})
        self.apply(WATCH_ALL)
        ports = self.box.ctl("ports").stdout
        self.assertIn("source, handed over", ports)
        health = self.box.ctl("health").stdout
        self.assertIn("port lab outside cannot spread frames by source: its workers hand them to one another", health)
        self.assertIn("port more outside cannot spread frames by source_prefix", health)
        # The one worker of `more` and those of `lab` do not agree on whose a source is.
        self.assertEqual(self.scopes(), {"watch": "merged", "together": "merged", "there": "merged"})
        self.box.kill(self.box.dataplane, signal.SIGTERM)
        self.start_dataplane({"ports": [{"inside": {"rss": "destination"}}]})
        self.box.wait_for_link(True)
        wait_until("the scopes to be those of the box", lambda: self.scopes() == {"watch": "merged", "together": "merged", "there": "local"})
        self.assertIn("HANDED OVER", self.box.ctl("workers").stdout)
        self.assertIn("sluice_worker_handed_over_total",
                      self.box.api("GET", "/v1/metrics")[1].decode())
        changed = self.box.folder / "next.yaml"
        changed.write_text(WATCH_ALL.replace('dir eq "out"', "ip.proto eq 17"))
        diff = self.box.ctl("diff", str(changed)).stdout
        self.assertIn(", local -> ", diff)
        self.assertIn(", merged", diff)
        told = self.box.ctl("explain", "--src", "192.0.2.7", "--dst", "198.51.100.1", "--proto", "udp")
        self.assertIn("burst 1000 per packet, merged", told.stdout, told.stderr)


if __name__ == "__main__":
    workers_case.main()
