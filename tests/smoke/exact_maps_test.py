"""sluicectl replay --heatmap: both maps of every key, beside those of the slow model (tests/model/heatmap.py)."""
import calendar
import json
import pathlib
import random
import sys
import time
import types
from fractions import Fraction

from capture_files import SECOND, Case, main, pcap, udp

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "model"))
import heatmap  # noqa: E402
import meters  # noqa: E402

START = 1_764_504_007 * SECOND + 123_456_789  # within columns of every length
BUCKET = """version: 1
rules:
  - {id: per-source, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 4/s, burst: 20}]}
"""
WINDOW = """version: 1
rules:
  - {id: per-source, mode: monitor, key: [ip.src], limits: [{algorithm: fixed_window, count: 30, window: 10s}]}
"""
BYTES = """version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 2KB/s, burst: 60KB, per: byte}]
"""


def seconds_of(instant):
    return calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%SZ"))


def crowd(seed, packets=6000, seconds=47, keys=300):
    """(ns, source, bytes): few send much, most send little; some packets come at one instant."""
    dice = random.Random(seed)
    instants = sorted(START + dice.randrange(seconds * SECOND) for _ in range(packets))
    drawn = []
    for at in instants:
        key = f"10.0.{min(int(dice.paretovariate(0.6)), keys) % 256}.7"
        for _ in range(1 if dice.random() < 0.9 else 3):
            drawn.append((at, key, dice.choice((60, 60, 600, 1400))))
    return drawn


class ExactMaps(Case):
    def replay(self, rules, drawn, *options):
        capture = self.write("in.pcap", pcap([(at, udp(src=key, size=size)) for at, key, size in drawn]))
        out, err = self.ctl("replay", self.write("rules.yaml", rules), "--pcap", capture, "--heatmap", "--json", *options)
        self.assertEqual(err, "")
        return json.loads(out)["heatmaps"]

    def check(self, rules, limit, make, step, *options, per=lambda size: 1):
        drawn = crowd(seed=step)
        found, = self.replay(rules, drawn, *options)
        self.assertEqual((found["rule"], found["limit"], found["step_s"]), ("per-source", 0, step))
        wanted = heatmap.exact_maps([(at, key, per(size)) for at, key, size in drawn], limit, make, step)
        columns = {seconds_of(column["at"]): (column["offered"], column["left"]) for column in found["columns"]}
        self.assertEqual(columns, wanted)
        self.assertTrue(any(left[0][0] == 0 for _, left in wanted.values()), "somebody is refused")
        self.assertTrue(all(column["one_in"] == 1 and column["error"] == 0 for column in found["columns"]))

    def test_of_a_token_bucket(self):
        limit = types.SimpleNamespace(algorithm="token_bucket", rate=Fraction(4, SECOND), burst=20)
        self.check(BUCKET, limit, meters.TokenBucket, 5)

    def test_of_a_window_by_the_clock(self):
        limit = types.SimpleNamespace(algorithm="fixed_window", count=30, window=10 * SECOND, phase="clock", utc_offset=0,
                                      days=None)
        self.check(WINDOW, limit, meters.FixedWindow, 10)

    def test_of_bytes(self):
        limit = types.SimpleNamespace(algorithm="token_bucket", rate=Fraction(2000, SECOND), burst=60_000)
        self.check(BYTES, limit, meters.TokenBucket, 30, per=lambda size: size)

    def test_of_several_workers_as_of_one(self):
        limit = types.SimpleNamespace(algorithm="token_bucket", rate=Fraction(4, SECOND), burst=20)
        self.check(BUCKET, limit, meters.TokenBucket, 5, "--workers", "4")

    def test_a_pause_is_nobody_and_not_no_data(self):
        drawn = [(START, "10.0.0.1", 60), (START + 20 * SECOND, "10.0.0.2", 60)]
        found, = self.replay(BUCKET, drawn)
        self.assertEqual([column["groups"] for column in found["columns"]], [1, 0, 0, 0, 1])

    def test_it_is_drawn_for_people_and_not_without_the_option(self):
        capture = self.write("in.pcap", pcap([(START, udp(src="10.0.0.1"))] * 30))
        rules = self.write("rules.yaml", BUCKET)
        out, _ = self.ctl("replay", rules, "--pcap", capture, "--heatmap")
        self.assertIn("rule per-source, limit 1: 4 packets per second, 20 at once", out)
        self.assertIn("1 group in the last column, all of them watched", out)
        self.assertIn("refused now |@|", out)
        out, _ = self.ctl("replay", rules, "--pcap", capture)
        self.assertNotIn("refused now", out)
        out, _ = self.ctl("replay", rules, "--pcap", capture, "--json")
        self.assertNotIn("heatmaps", json.loads(out))
        nobody = self.write("none.yaml", "version: 1\nrules:\n  - {id: a, when: l4.dport eq 9, key: [ip.src], limits: "
                                         "[{algorithm: token_bucket, rate: 4/s, burst: 20}]}\n")
        out, _ = self.ctl("replay", nobody, "--pcap", capture, "--heatmap")
        self.assertTrue(out.endswith("no packet met a limit: there is no heat map\n"), out)


if __name__ == "__main__":
    main()
