"""sluicectl replay against the slow model in tests/model, line by line.

Rules and captures are made from seeds; then real captures, found through SLUICE_SHARED or in
`../shared` beside the repository. A seed that differs is cut down, and printed with the command that
shows it again (tests/model/compare.py).
"""
import glob
import json
import os
import re
import struct
import sys
import unittest
from collections import Counter

from capture_files import Case, main, pcap, udp

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MODEL = os.path.join(ROOT, "tests", "model")
sys.path.insert(0, MODEL)

from compare import compare_seed, difference  # noqa: E402
from generate import Connections, Dialogues, FullTable, Hellos, Quics, Requests, Scenario, ServedQuics, ServedRequests, Streams  # noqa: E402
from places import PLACES  # noqa: E402
from replay_model import Box  # noqa: E402
from streams import Beyond  # noqa: E402

SEEDS = range(1, 151)
FRAMES = 400
FULL_SEEDS = range(1, 6)
REQUEST_SEEDS = range(1, 41)
CONNECTION_SEEDS = range(1, 41)
SERVICE_SEEDS = range(1, 41)
SERVED_SEEDS = range(1, 21)  # requests to services, and as many over QUIC
HELLO_SEEDS = range(1, 21)  # over TCP, and as many over QUIC
SERVICE_REASONS = ["bad_ack", "bad_handshake", "behind_end", "doubtful_options", "midstream", "out_of_window", "rst_out_of_window",
                   "tcp_fragment", "wrong_checksum"]
SHARED = os.environ.get("SLUICE_SHARED") or os.path.join(ROOT, "..", "shared")
CAPTURES = sorted(glob.glob(os.path.join(SHARED, "data", "pcaps", "*.pcap")))
RULE_FILES = sorted(glob.glob(os.path.join(MODEL, "rules", "*.yaml")))


class Against(Case):
    def compare(self, rules, capture, options=(), **model):
        """Runs both; the first line that differs is shown with its number. -> the JSON summary"""
        text, _, done = difference(self.sluicectl, [rules, "--pcap", capture, *options],
                                   self.folder, model.pop("box", Box()), **model)
        self.assertIsNone(text, text)
        return done.summary

    def compare_seeds(self, seeds, *how):
        """-> what all summaries add up to, of verdicts and of what rules counted."""
        total = Counter()
        for seed in seeds:
            report, summary = compare_seed(self.sluicectl, seed, *how)
            if report:
                self.fail(report)
            for one in (summary, *summary["rules"]):
                total.update({name: count for name, count in one.items() if isinstance(count, int)})
            for rule in summary["rules"]:
                total["of bypass"] += rule["admitted"] * rule["id"].startswith("bypass.")
                total["of candidates"] += rule["exceeded"] * (".c" in rule["id"])
        return total


class Seeds(Against):
    def test_the_same_verdicts(self):
        total = self.compare_seeds(SEEDS, FRAMES, Scenario)
        # The seeds are worth something: all happens, often.
        often, seldom = len(SEEDS) * FRAMES // 50, len(SEEDS) * FRAMES // 200
        for name in ("passed", "tagged", "dropped", "exceeded", "skipped"):
            self.assertGreater(total[name], often, (name, total))
        for name in ("banned", "exempted", "of bypass", "of candidates"):
            self.assertGreater(total[name], seldom, (name, total))

    def test_the_same_verdicts_where_a_rule_has_no_more_places(self):
        self.compare_seeds(FULL_SEEDS, FRAMES, FullTable)

    def test_the_same_verdicts_on_requests(self):
        self.compare_units(REQUEST_SEEDS, Requests)

    def test_the_same_verdicts_on_requests_however_they_come(self):
        self.compare_units(REQUEST_SEEDS, Streams)

    def test_the_same_verdicts_on_hellos(self):
        self.compare_units(HELLO_SEEDS, Hellos)

    def test_the_same_verdicts_on_initials(self):
        self.compare_units(HELLO_SEEDS, Quics)

    def test_the_same_verdicts_on_requests_to_services(self):
        """Under each on_ambiguous, and what is refused under one is judged under another."""
        wanted, refused = {"", "refuse", "both", "stricter"}, Counter()
        for seed in SERVED_SEEDS:
            scenario = ServedRequests(seed, FRAMES)
            wanted.discard(scenario.on_ambiguous or "")
            for service in self.summary_of(seed, ServedRequests)["services"]:
                refused[scenario.on_ambiguous] += service["refused"].get("ambiguous_request", 0)
        self.assertEqual(wanted, set())
        self.assertGreater(refused["refuse"], FRAMES // 40)
        # A host that is none is refused under each.
        self.assertGreater(refused["refuse"], 2 * max(refused["both"], refused["stricter"]))

    def test_the_same_verdicts_on_initials_to_services(self):
        refused = Counter()
        for seed in SERVED_SEEDS:
            for service in self.summary_of(seed, ServedQuics)["services"]:
                refused.update(service["refused"])
        self.assertEqual(sorted(refused), ["lost_head", "overlap", "unreadable"])

    def summary_of(self, seed, kind):
        report, summary = compare_seed(self.sluicectl, seed, FRAMES, kind)
        self.assertIsNone(report, report)
        return summary

    def test_the_same_verdicts_on_connections(self):
        total = self.compare_seeds(CONNECTION_SEEDS, FRAMES, Connections)
        for name in ("passed", "dropped", "exceeded"):
            self.assertGreater(total[name], len(CONNECTION_SEEDS) * FRAMES // 50, (name, total))

    def test_the_same_verdicts_on_dialogues_with_services(self):
        refused, would_refuse, rewritten = Counter(), Counter(), 0
        for seed in SERVICE_SEEDS:
            report, summary = compare_seed(self.sluicectl, seed, FRAMES, Dialogues)
            self.assertIsNone(report, report)
            for service in summary["services"]:
                refused.update(service["refused"])
                would_refuse.update(service["would_refuse"])
                rewritten += service["rewritten"]
        # The seeds are worth something: all that a service may refuse happens, in both modes.
        for counts in (refused, would_refuse):
            self.assertEqual(sorted(counts), sorted(SERVICE_REASONS))
        self.assertGreater(min(refused.values()), len(SERVICE_SEEDS) // 2, refused)
        self.assertGreater(rewritten, FRAMES)

    def compare_units(self, seeds, kind):
        total = self.compare_seeds(seeds, FRAMES, kind)
        for name in ("passed", "dropped", "exceeded", "skipped"):
            self.assertGreater(total[name], len(seeds) * FRAMES // 50, (name, total))


class FullTables(Case):
    """More keys than the whole table holds: what is promised however keys find their places."""
    KEYS = PLACES + PLACES // 20
    PER_NETWORK = 250
    FACTOR = 4

    def capture(self):
        """Each source once, then the first ones again."""
        frame = bytearray(udp(src="10.0.0.0", dst="192.0.2.1"))
        head = struct.pack("<IIII", 0, 0, len(frame), len(frame))
        with open(self.path("in.pcap"), "wb") as file:
            file.write(pcap([]))
            for number in [*range(self.KEYS), *range(1000)]:
                network, host = divmod(number, self.PER_NETWORK)
                frame[26:30] = struct.pack("!I", 0x0A000000 + network * 256 + host)
                file.write(head + frame)
        return self.path("in.pcap")

    def counts(self, capture, on_full):
        """-> Counter of (verdict, reason), the same of the sources that came again, of the networks
        that were refused, and standard error"""
        rules = self.write("rules.yaml", "version: 1\nrules:\n  - {id: each, mode: enforce, "
                           f"key: [ip.src], on_full: {on_full}, "
                           "limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}\n")
        out, err = self.ctl("replay", rules, "--pcap", capture, "--json", "--verdicts",
                            self.path("verdicts"))
        first, again = Counter(), Counter()
        with open(self.path("verdicts"), encoding="ascii") as lines:
            for number, line in enumerate(lines):
                (first if number < self.KEYS else again)[tuple(line.split("\t")[1:3])] += 1
        summary = json.loads(out)
        dropped = first["drop", "table_full"] + first["drop", "over_limit"] + \
            again["drop", "table_full"] + again["drop", "over_limit"]
        self.assertEqual(summary["packets"], self.KEYS + 1000)
        self.assertEqual(summary["dropped"], dropped)
        self.assertEqual(summary["rules"][0]["exceeded"] + summary["rules"][0]["admitted"],
                         self.KEYS + 1000)
        full = re.search(r"the table was full (\d+) times", err)
        return first, again, int(full[1]) if full else 0

    def test_on_full(self):
        capture = self.capture()
        first, again, full = self.counts(capture, "closed")
        admitted = first["pass", "within_limits"]
        self.assertLessEqual(admitted, PLACES)
        self.assertGreater(admitted, PLACES * 9 // 10)
        self.assertEqual(first["drop", "table_full"], self.KEYS - admitted)
        self.assertEqual(first["drop", "over_limit"], 0)  # a new key has a full bucket
        self.assertEqual(again["pass", "within_limits"], 0)  # and no key has two
        self.assertEqual(full, self.KEYS - admitted + again["drop", "table_full"])
        first, again, full = self.counts(capture, "open")
        self.assertEqual(first["pass", "within_limits"], self.KEYS)
        self.assertGreaterEqual(full, self.KEYS - PLACES)
        first, again, full = self.counts(capture, f"{{coarsen: {{factor: {self.FACTOR}}}}}")
        networks = -(-self.KEYS // self.PER_NETWORK)
        admitted = first["pass", "within_limits"] + again["pass", "within_limits"]
        self.assertLessEqual(admitted, PLACES + networks * self.FACTOR + self.FACTOR ** 3)
        self.assertGreaterEqual(full, self.KEYS - PLACES)
        self.assertEqual(first["drop", "table_full"], 0)


@unittest.skipUnless(CAPTURES, "no captures: SLUICE_SHARED names no folder with data/pcaps")
class Captures(Against):
    BOX_FILE = """
version: 1
ports:
  - {name: uplink, outside: {device: net_tap0}, inside: {device: net_tap1}}
packets: {malformed: drop, tunnels: [gre, vxlan, ipip]}
"""

    # Requests that are malformed, of a capture that has nothing else, and rules that count requests.
    BEYOND = [("14-values.yaml", "o02-http-methods.pcap")]

    def test_the_same_verdicts(self):
        self.assertEqual(len(RULE_FILES), 16)
        beyond = [(os.path.basename(rules), capture) for rules in RULE_FILES for capture in self.over_all_captures(rules)]
        self.assertEqual(beyond, [pair for pair in self.BEYOND if os.path.join(SHARED, "data", "pcaps", pair[1]) in CAPTURES])

    def test_the_same_verdicts_inside_tunnels(self):
        config = self.write("sluice.yaml", self.BOX_FILE)
        box = Box(tunnels=("gre", "vxlan", "ipip"), malformed="drop", port="uplink",
                  inside=["10.0.0.0/8"])
        for name in ("1-sources", "7-tunnels"):
            self.over_all_captures(os.path.join(MODEL, "rules", name + ".yaml"),
                                   ["--config", config, "--inside", "10.0.0.0/8"], box=box)

    def over_all_captures(self, rules, options=(), **model):
        """-> the captures with what the model does not read."""
        refused, beyond = 0, []
        for capture in CAPTURES:
            with self.subTest(rules=os.path.basename(rules), capture=os.path.basename(capture)):
                try:
                    summary = self.compare(rules, capture, options, **model)
                except Beyond:
                    beyond.append(os.path.basename(capture))
                    continue
                refused += summary["tagged"] + summary["dropped"]
        self.assertGreater(refused, 50, f"{rules} has no bite")
        return beyond


if __name__ == "__main__":
    main()
