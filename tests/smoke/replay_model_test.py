"""sluicectl replay against the slow model in tests/model, line by line.

Half of it is made from seeds; the other half are real captures, found through SLUICE_SHARED or in
`../shared` beside the repository.
"""
import glob
import json
import os
import random
import sys
import unittest

from capture_files import Case, main

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MODEL = os.path.join(ROOT, "tests", "model")
sys.path.insert(0, MODEL)

import generate  # noqa: E402
from pcap import write_pcap  # noqa: E402
from replay_model import Box, replay  # noqa: E402

SEEDS = range(1, 61)
FRAMES = 400
SHARED = os.environ.get("SLUICE_SHARED") or os.path.join(ROOT, "..", "shared")
CAPTURES = sorted(glob.glob(os.path.join(SHARED, "data", "pcaps", "*.pcap")))
RULE_FILES = sorted(glob.glob(os.path.join(MODEL, "rules", "*.yaml")))


class Against(Case):
    def compare(self, rules, capture, options=(), **model):
        """Runs both; the first line that differs is shown with its number. -> the JSON summary"""
        out, _ = self.ctl("replay", rules, "--pcap", capture, "--json", "--verdicts",
                          self.path("verdicts.tsv"), *options)
        seen = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        wanted, summary, _ = replay(rules, capture, **model)
        for has, wants in zip(seen, wanted):
            self.assertEqual(has, wants, "sluicectl first, the model second")
        self.assertEqual(len(seen), len(wanted))
        self.assertEqual(json.loads(out), summary)
        return summary


class Seeds(Against):
    def test_the_same_verdicts(self):
        dropped = passed = exceeded = 0
        for seed in SEEDS:
            dice = random.Random(seed)
            rules = self.write(f"{seed}.yaml", generate.rule_file(dice))
            capture = self.write(f"{seed}.pcap", write_pcap(
                generate.capture(dice, FRAMES), order=dice.choice("<>"),
                nanoseconds=dice.random() < 0.8))
            enforce = seed % 4 == 0
            with self.subTest(seed=seed):
                summary = self.compare(rules, capture, ["--enforce"] * enforce, enforce=enforce)
                dropped += summary["dropped"]
                passed += summary["passed"]
                exceeded += sum(rule["exceeded"] for rule in summary["rules"])
        # The seeds are worth something: all happens, often.
        self.assertGreater(min(dropped, passed, exceeded), len(SEEDS) * FRAMES // 20)


class Captures(Against):
    @unittest.skipUnless(CAPTURES, "no captures: SLUICE_SHARED names no folder with data/pcaps")
    def test_the_same_verdicts(self):
        self.assertEqual(len(RULE_FILES), 6)
        for capture in CAPTURES:
            for rules in RULE_FILES:
                with self.subTest(capture=os.path.basename(capture),
                                  rules=os.path.basename(rules)):
                    self.compare(rules, capture)

    @unittest.skipUnless(CAPTURES, "no captures: SLUICE_SHARED names no folder with data/pcaps")
    def test_the_same_verdicts_inside_tunnels(self):
        config = self.write("sluice.yaml", """
version: 1
ports:
  - {name: uplink, outside: {device: net_tap0}, inside: {device: net_tap1}}
packets: {malformed: drop, tunnels: [gre, vxlan, ipip]}
""")
        box = Box(tunnels=("gre", "vxlan", "ipip"), malformed="drop", port="uplink",
                  inside=["10.0.0.0/8"])
        for capture in CAPTURES:
            with self.subTest(capture=os.path.basename(capture)):
                self.compare(RULE_FILES[0], capture,
                             ["--config", config, "--inside", "10.0.0.0/8"], box=box)


if __name__ == "__main__":
    main()
