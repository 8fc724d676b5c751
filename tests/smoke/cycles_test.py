"""Where the time of a running box's workers goes: by API, metrics and sluicectl, of packets and of pauses.

    cycles_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import re

from box_case import NULL, BoxCase, main
from programs import wait_until

RULES = """version: 1
rules:
  - id: each
    mode: enforce
    when: ip.proto eq 17
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 500}]
"""
STAGES = ["receive", "parse", "match", "key", "locate", "meter", "send", "other", "idle"]
SAMPLES = 20  # turns that are measured: one in `of_turns` is


class Cycles(BoxCase):
    def start(self, *devices):
        self.box.start_dataplane(*devices)
        self.box.start_sluiced()
        self.apply(RULES)

    def ask(self, *words):
        done = self.box.ctl(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def cycles(self):
        worker, = self.box.workers()
        return worker["cycles"]

    def measured(self):
        """Once so many turns have been measured since the rules were applied."""
        before = self.cycles()
        wait_until("measured turns", lambda: self.cycles()["turns"] >= before["turns"] + SAMPLES)
        now = self.cycles()
        return now["packets"] - before["packets"], {name: now["stages"][name] - before["stages"][name] for name in STAGES}

    def test_of_packets_that_never_cease(self):
        self.start(*NULL)
        packets, grown = self.measured()
        self.assertGreater(packets, SAMPLES)
        for stage in STAGES[:7]:
            self.assertGreater(grown[stage], 0, stage)
        self.assertGreater(sum(grown.values()) / 2, grown["idle"])

    def test_of_a_box_to_which_nothing_comes(self):
        self.start("net_null0,no-rx=1", "net_null1,no-rx=1")
        packets, grown = self.measured()
        self.assertEqual(packets, 0)
        self.assertGreater(grown["idle"], 0)
        self.assertEqual({grown[stage] for stage in STAGES[:-1]}, {0})
        shown = self.ask("workers", "--cycles")
        self.assertRegex(shown, r"\n +\d+ +0 %\n")

    def test_of_all_who_tell_it(self):
        self.start(*NULL)
        self.measured()
        cycles = self.cycles()
        self.assertEqual((cycles["of_turns"], list(cycles["stages"])), (256, STAGES))
        self.assertGreater(cycles["per_second"], 1_000_000)
        status, metrics = self.box.api("GET", "/v1/metrics")
        self.assertEqual(status, 200)
        found = dict(re.findall(r'sluice_worker_cycles_total\{lcore="\d+",stage="(\w+)"\} (\d+)', metrics.decode()))
        self.assertEqual(list(found), STAGES)
        for stage in STAGES:
            self.assertGreaterEqual(int(found[stage]), cycles["stages"][stage])
        counted, = re.findall(r'sluice_worker_cycles_packets_total\{lcore="\d+"\} (\d+)', metrics.decode())
        self.assertGreaterEqual(int(counted), cycles["packets"])
        shown = self.ask("workers", "--cycles")
        self.assertRegex(shown, r"LCORE +RECEIVE +PARSE +MATCH +KEY +LOCATE +METER +SEND +OTHER +ALL +BUSY\n")
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)
        answer = json.loads(self.ask("workers", "--cycles", "--json"))
        self.assertEqual(answer["workers"][0]["cycles"]["of_turns"], 256)


if __name__ == "__main__":
    main()
