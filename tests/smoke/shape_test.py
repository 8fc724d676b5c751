"""Packets that depart later, through the real programs between two hosts.

    shape_test.py DATAPLANE SLUICED SLUICECTL

Bounds are what the box promises: nothing departs early, whatever the machine does meanwhile; how late it departs is
what the machine lets it.
"""
import json
import os
import signal

from box_case import HostsCase, main
from programs import ip, wait_until
from timed_frames import Taker

MS, SECOND = 1_000_000, 1_000_000_000
OFFERED = 10_000
DEPARTURES = "SLUICE_DEPARTURES"  # names a file for what scripts/plot shape draws: of ten seconds
RATE = 1000 if DEPARTURES in os.environ else 2000
# Two clocks are compared, the box's and the kernel's; they are read by nobody at the same instant.
CLOCKS = 2 * MS


def rules(rate, delay, queue=6000):
    return f"""version: 1
rules:
  - {{id: even, mode: enforce, when: 'dir eq "in" and ip.src eq 10.78.1.1', key: [ip.src],
     limits: [{{algorithm: leaky_bucket, rate: {rate}, queue: {queue}}}],
     on_exceed: {{action: shape, max_delay: {delay}, overflow: drop}}}}
"""


class Case(HostsCase):
    def setUp(self):
        super().setUp()
        # Everything that is sent at once fits into the kernel's ring, however long the worker sleeps.
        self.start_between("af_packet", {"memory": {"mbufs": 32768, "held": "50%"}, "workers": {"idle_sleep": "100us"}},
                           ports=",framecnt=16384,blocksz=1048576")
        self.box.start_sluiced()
        self.taker = Taker(self.hosts)
        self.addCleanup(self.taker.close)

    def held(self):
        return self.box.stats()["shaping"]["held_packets"]

    def test_ten_thousand_offered_at_once_leave_evenly(self):
        """As many in each second, in order, none lost, none early."""
        self.apply(rules(f"{RATE}/s", "15s", queue=OFFERED))
        begun = self.taker.send(OFFERED)
        came = self.taker.take(OFFERED)
        self.assertEqual([number for number, _ in came], list(range(OFFERED)))
        for number, at in came:
            self.assertGreaterEqual(at - begun, number * SECOND // RATE - CLOCKS, f"packet {number} left early")
        self.assertEqual(self.taker.rest(), [])
        stats = self.box.stats()
        # One that comes when the one before has departed, as behind a pause of the sender, is not held.
        self.assertGreater(stats["verdicts"]["shape"], OFFERED // 2)
        self.assertEqual(stats["verdicts"]["drop"], 0)
        self.assertEqual(stats["shaping"]["held_packets"], 0)
        late = sorted(at - begun - number * SECOND // RATE for number, at in came)
        print(f"late by {late[len(late) // 2] / MS:.3f} ms in the middle, {late[-1] / MS:.3f} ms at most", flush=True)
        self.keep(came)

    def keep(self, came):
        if DEPARTURES in os.environ:
            with open(os.environ[DEPARTURES], "w", encoding="utf-8") as file:
                json.dump({"begun": self.taker.sent[0], "ended": self.taker.sent[1], "came": [at for _, at in came]}, file)

    def test_beyond_max_delay_is_dropped_and_counted(self):
        self.apply(rules("100/s", "500ms"))
        self.taker.send(200)
        came = self.taker.take(51)
        self.assertEqual([number for number, _ in came[:51]], list(range(51)))
        wait_until("all to be counted", lambda: sum(self.box.stats()["verdicts"].values()) >= 200)
        rest = self.taker.rest()
        stats = self.box.stats()["verdicts"]
        # What was sent for longer than a departure takes has made room for more.
        self.assertEqual(stats["drop"], 200 - 51 - len(rest))
        self.assertEqual(stats["shape"] + stats["pass"], 51 + len(rest))

    def test_a_reload_leaves_departures_as_they_are(self):
        self.apply(rules("100/s", "10s"))
        begun = self.taker.send(100)
        self.wait_for_some()
        self.apply("version: 1\nrules: []\n", "--force")
        came = self.taker.take(100)
        self.assertEqual([number for number, _ in came], list(range(100)))
        for number, at in came:
            self.assertGreaterEqual(at - begun, number * 10 * MS - CLOCKS, f"packet {number} left early")

    def wait_for_some(self):
        wait_until("packets to be held", lambda: self.held() > 0)

    def test_panic_holds_nothing_back(self):
        self.apply(rules("2/s", "1m"))
        self.taker.send(100)
        self.wait_for_some()
        done = self.box.ctl("panic", "pass")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        came = self.taker.take(100)
        self.assertEqual([number for number, _ in came], list(range(100)))
        wait_until("nothing to be held", lambda: self.held() == 0)

    def test_what_is_held_is_sent_when_the_box_stops(self):
        self.apply(rules("2/s", "1m"))
        self.taker.send(100)
        wait_until("all to be held", lambda: self.held() >= 90)
        self.box.kill(self.box.dataplane, signal.SIGTERM)
        came = self.taker.take(100)
        self.assertEqual([number for number, _ in came], list(range(100)))

    def test_a_link_that_goes_down_loses_nothing_uncounted(self):
        self.apply(rules("100/s", "10s"))
        self.taker.send(100)
        self.wait_for_some()
        ip("-n", self.hosts.inside, "link", "set", "eth0", "down")
        wait_until("nothing to be held", lambda: self.held() == 0)
        stats = self.box.stats()
        verdicts = stats["verdicts"]
        self.assertEqual(verdicts["pass"] + verdicts["shape"] + stats["reasons"]["link_down"], 100)
        self.assertGreater(stats["reasons"]["link_down"], 0)


if __name__ == "__main__":
    main()
