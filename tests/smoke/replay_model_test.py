"""sluicectl replay against the slow model in tests/model, line by line.

Half of it is made from seeds; the other half are real captures, found through SLUICE_SHARED or in
`../shared` beside the repository.
"""
import glob
import json
import os
import sys
import unittest

from capture_files import Case, main

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MODEL = os.path.join(ROOT, "tests", "model")
sys.path.insert(0, MODEL)

from generate import Scenario  # noqa: E402
from replay_model import Box, replay  # noqa: E402

SEEDS = range(1, 81)
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
        total = dict.fromkeys(("passed", "tagged", "dropped", "exceeded", "skipped"), 0)
        for seed in SEEDS:
            with self.subTest(seed=seed):
                summary = self.compare_scenario(Scenario(seed, FRAMES))
                for member in ("passed", "tagged", "dropped"):
                    total[member] += summary[member]
                for rule in summary["rules"]:
                    total["exceeded"] += rule["exceeded"]
                    total["skipped"] += rule["skipped"]
        # The seeds are worth something: all happens, often.
        self.assertGreater(min(total.values()), len(SEEDS) * FRAMES // 50, total)

    def compare_scenario(self, scenario):
        rules = self.write("rules.yaml", scenario.rules)
        capture = self.write("in.pcap", scenario.capture)
        options = [word for prefix in scenario.inside for word in ("--inside", prefix)]
        options += ["--enforce"] * scenario.enforce
        box = Box(inside=scenario.inside)
        if scenario.has_box:
            options += ["--config", self.write("sluice.yaml", scenario.box_file())]
            box = Box(inside=scenario.inside, tunnels=scenario.tunnels,
                      malformed=scenario.malformed, port="uplink")
        return self.compare(rules, capture, options, box=box, enforce=scenario.enforce)


@unittest.skipUnless(CAPTURES, "no captures: SLUICE_SHARED names no folder with data/pcaps")
class Captures(Against):
    BOX_FILE = """
version: 1
ports:
  - {name: uplink, outside: {device: net_tap0}, inside: {device: net_tap1}}
packets: {malformed: drop, tunnels: [gre, vxlan, ipip]}
"""

    def test_the_same_verdicts(self):
        self.assertEqual(len(RULE_FILES), 13)
        for rules in RULE_FILES:
            self.over_all_captures(rules)

    def test_the_same_verdicts_inside_tunnels(self):
        config = self.write("sluice.yaml", self.BOX_FILE)
        box = Box(tunnels=("gre", "vxlan", "ipip"), malformed="drop", port="uplink",
                  inside=["10.0.0.0/8"])
        for name in ("1-sources", "7-tunnels"):
            self.over_all_captures(os.path.join(MODEL, "rules", name + ".yaml"),
                                   ["--config", config, "--inside", "10.0.0.0/8"], box=box)

    def over_all_captures(self, rules, options=(), **model):
        refused = 0
        for capture in CAPTURES:
            with self.subTest(rules=os.path.basename(rules), capture=os.path.basename(capture)):
                summary = self.compare(rules, capture, options, **model)
                refused += summary["tagged"] + summary["dropped"]
        self.assertGreater(refused, 50, f"{rules} has no bite")


if __name__ == "__main__":
    main()
