"""sluicectl simulate: the published comparison against slow models, loads, plots, errors."""
import bisect
import collections
import json
import os
import shutil
import unittest
import xml.dom.minidom

from capture_files import SECOND, Case, arp, main, pcap, tcp, udp

MS = 1_000_000
ASK_EVERY = 100_000
BACKLOG, COUNT = 10_000, 1000
STALLS = [(4 * SECOND, SECOND), (6 * SECOND, SECOND)]


class Tokens:
    """A bucket in grains: a ns adds `rate` grains, a unit is a second's ns of them."""

    def __init__(self, rate, burst):
        self.rate, self.full, self.grains, self.at = rate, burst * SECOND, burst * SECOND, 0

    def fill(self, now):
        poured = self.grains + (now - self.at) * self.rate
        self.grains, self.at = min(poured, self.full), now
        return poured - self.grains

    def take(self):
        if self.grains < SECOND:
            return False
        self.grains -= SECOND
        return True


class Bucket:
    def __init__(self):
        self.tokens = Tokens(COUNT, COUNT)

    def units(self, now):
        self.tokens.fill(now)
        units = self.tokens.grains // SECOND
        self.tokens.grains -= units * SECOND
        return units


class TwoBuckets:
    """Green out of the first, else yellow out of the second; what overflows may go on."""

    def __init__(self, first, second, overflows=False):
        self.first, self.second, self.overflows = first, second, overflows

    def units(self, now):
        over = self.first.fill(now)
        self.second.fill(now)
        if self.overflows:
            self.second.grains = min(self.second.grains + over, self.second.full)
        units = 0
        while self.first.take() or self.second.take():
            units += 1
        return units


class PeakBucket:
    """RFC 2698: what passes takes from the peak bucket, green or yellow."""

    def __init__(self):
        self.peak = Tokens(COUNT, COUNT)

    def units(self, now):
        self.peak.fill(now)
        units = 0
        while self.peak.take():
            units += 1
        return units


class Listed:
    """What was let through, by when; subclasses say how fine the when is and what of it counts."""

    def __init__(self):
        self.list = collections.Counter()

    def units(self, now):
        units = max(0, COUNT - self.used(now))
        if units:
            self.list[self.when(now)] += units
        return units

    def when(self, now):
        return now // SECOND


class Fixed(Listed):
    def used(self, now):
        return self.list[self.when(now)]


class Sliding(Listed):
    def used(self, now):
        window, into = divmod(now, SECOND)
        used = self.list[window] * SECOND + self.list[window - 1] * (SECOND - into)
        return -(-used // SECOND)


class Counters(Listed):
    def __init__(self, sums):
        super().__init__()
        self.sums = sums
        self.edges = [k * SECOND // 60 for k in range(60 * 20)]

    def when(self, now):
        return bisect.bisect_right(self.edges, now) - 1

    def used(self, now):
        current = self.when(now)
        return sum(units for k, units in self.list.items() if k > current - self.sums)


class Log(Listed):
    def when(self, now):
        return now

    def used(self, now):
        return sum(units for at, units in self.list.items() if at > now - SECOND)


MODELS = {
    "token_bucket": Bucket,
    "leaky_bucket": Bucket,
    "fixed_window": Fixed,
    "sliding_window": Sliding,
    "sliding_counters": lambda: Counters(61),
    "counters_lenient": lambda: Counters(60),
    "sliding_log": Log,
    "srtcm": lambda: TwoBuckets(Tokens(COUNT, 500), Tokens(0, 500), overflows=True),
    "trtcm_rfc2698": PeakBucket,
    "trtcm_rfc4115": lambda: TwoBuckets(Tokens(500, 500), Tokens(500, 500)),
}


def expected_bars(model, stalls):
    """Asks each 100 us until the backlog is gone; units in each bar of 0.1 s."""
    bars, waiting, now = [], BACKLOG, 0
    while waiting:
        if not any(start <= now < start + length for start, length in stalls):
            units = min(model.units(now), waiting)
            waiting -= units
            if units:
                bar = now // (100 * MS)
                bars += [0] * (bar + 1 - len(bars))
                bars[bar] += units
        now += ASK_EVERY
    return bars


class Simulate(Case):
    def runs(self, *words):
        out, err = self.ctl("simulate", "--json", *words)
        self.assertEqual(err, "")
        return json.loads(out)["runs"]

    def test_the_published_comparison(self):
        runs = self.runs("--compare")
        self.assertEqual([run["algorithm"] for run in runs], 2 * list(MODELS))
        for run, stalls in zip(runs, [[]] * len(MODELS) + [STALLS] * len(MODELS)):
            with self.subTest(run["algorithm"], stalls=stalls):
                self.assertEqual(
                    [(s["from_ns"], s["length_ns"]) for s in run["stalls"]], stalls)
                self.assertEqual((run["offered"], run["admitted"], run["waiting"]),
                                 (BACKLOG, BACKLOG, 0))
                bars = [bar["admitted"] for bar in run["bars"]]
                while bars[-1] == 0:  # a leaky bucket's bars go on until its queue is empty
                    bars.pop()
                self.assertEqual(bars, expected_bars(MODELS[run["algorithm"]](), stalls))

    def test_the_comparison_as_a_table(self):
        out, err = self.ctl("simulate", "--compare")
        self.assertEqual(err, "")
        first, second = out.split("\n\n")
        self.assertTrue(first.startswith("asker never stalled\nFROM s  token_bucket "), first)
        self.assertTrue(second.startswith("asker stalled at 4s for 1s, at 6s for 1s\n"), second)
        rows = [line.split() for line in first.splitlines()]
        self.assertEqual(rows[2], "0.0 1,099 1,099 100 1,000 1,000 1,000 1,000 1,000 1,099 1,099 "
                                  "1,098".split())
        self.assertIn("fixed_window: 10,000 of 10,000 admitted, the last at 9 s; "
                      "most in any 1 s: 1,000", first)

    def test_one_algorithm_with_its_own_load(self):
        run, = self.runs("--algorithm", "fixed_window", "--count", "10", "--window", "1s", "--load",
                         "constant", "--offer", "20/s", "--duration", "2s", "--bar", "500ms")
        self.assertEqual([(bar["offered"], bar["admitted"], bar["refused"]) for bar in run["bars"]],
                         [(10, 10, 0), (10, 0, 10), (10, 10, 0), (10, 0, 10)])
        run, = self.runs("--algorithm", "srtcm", "--cir", "1/s", "--cbs", "3", "--ebs", "2",
                         "--load", "bursts", "--size", "9", "--every", "1s", "--duration", "2s",
                         "--bar", "1s")
        self.assertEqual([(bar["admitted"], bar["yellow"], bar["refused"]) for bar in run["bars"]],
                         [(5, 2, 4), (1, 0, 8)])
        run, = self.runs("--algorithm", "sliding_log", "--count", "5", "--window", "1s", "--load",
                         "bursts", "--size", "3", "--every", "400ms", "--duration", "2s", "--bar",
                         "1s", "--stall", "300ms:200ms")
        # 3 at 0 s; 2 of 3 at 0.5 s (stalled from 0.4 s); 0 at 0.8 s; 3 at 1.2 s; 2 at 1.6 s.
        self.assertEqual([bar["admitted"] for bar in run["bars"]], [5, 5])

    def test_the_same_seed_is_the_same_load(self):
        words = ("--algorithm", "token_bucket", "--rate", "100/s", "--burst", "5", "--load",
                 "poisson", "--offer", "150/s")
        first = self.runs(*words)
        self.assertEqual(self.runs(*words), first)
        self.assertNotEqual(self.runs(*words, "--seed", "7"), first)
        self.assertEqual(len(first[0]["bars"]), 100)

    def test_a_capture(self):
        frames = [(1000 * SECOND + ns, udp(size=size)) for ns, size in
                  ((0, 500), (10 * MS, 600), (5 * MS, 300), (SECOND, 1000))]
        capture = self.write("in.pcap", pcap(frames + [(1000 * SECOND + SECOND, arp())]))
        limit = ("--algorithm", "token_bucket", "--load", "capture", "--pcap", capture, "--bar",
                 "1s")
        run, = self.runs(*limit, "--rate", "1/s", "--burst", "2")
        self.assertEqual([(bar["offered"], bar["admitted"]) for bar in run["bars"]],
                         [(3, 2), (2, 1)])
        run, = self.runs(*limit, "--per", "byte", "--rate", "1KB/s", "--burst", "900B")
        # 500 and 300 bytes fit, an ARP frame counts without its Ethernet header.
        self.assertEqual([(bar["offered"], bar["admitted"]) for bar in run["bars"]],
                         [(1400, 800), (1000 + len(arp()) - 14, len(arp()) - 14)])
        syns = [(1000 * SECOND, tcp(flags=flags)) for flags in (0x02, 0x12, 0x02, 0x10, 0x02)]
        self.write("in.pcap", pcap(syns + frames))
        run, = self.runs(*limit, "--per", "connection", "--rate", "1/s", "--burst", "2")
        self.assertEqual([(bar["offered"], bar["admitted"]) for bar in run["bars"]], [(3, 2)])
        self.write("cut.pcap", pcap(frames)[:-1])
        _, err = self.ctl("simulate", *limit[:4], "--pcap", self.path("cut.pcap"), "--rate", "1/s",
                          "--burst", "2")
        self.assertIn("warning", err)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_a_plot(self):
        plot = self.path("it's a plot.svg")
        self.ctl("simulate", "--compare", "--svg", plot)
        document = xml.dom.minidom.parse(plot)
        self.assertEqual(document.documentElement.tagName, "svg")
        whole = self.read("it's a plot.svg").decode()
        for name in MODELS:
            self.assertEqual(whole.count(f"{name}, asker never stalled"), 1)
            self.assertEqual(whole.count(f"{name}, asker stalled at 4s"), 1)
        out, err = self.ctl("simulate", "--algorithm", "sliding_log", "--count", "10", "--window",
                            "1s", "--svg", self.path("no/such/folder.svg"), exit=1)
        self.assertEqual(out, "")
        self.assertRegex(err, "cannot write .*no/such/folder.svg: No such file or directory")

    def test_a_plot_without_gnuplot_names_the_package(self):
        search, os.environ["PATH"] = os.environ["PATH"], self.folder
        try:
            out, err = self.ctl("simulate", "--compare", "--svg", self.path("x.svg"), exit=1)
        finally:
            os.environ["PATH"] = search
        self.assertEqual(out, "")
        self.assertIn("apt-get install gnuplot-nox", err)

    def test_what_is_wrong(self):
        bucket = ("--algorithm", "token_bucket", "--rate", "1/s", "--burst", "1")
        for words, code, says in (
                ((), 2, "--algorithm is one of"),
                (("--compare", "--algorithm", "srtcm"), 2, "leave out --algorithm"),
                (("--compare", "--rate", "1/s"), 2, "--count and --window only"),
                (("--compare", "--count", "333333333"), 1, "nearest that fit"),
                ((*bucket, "--load", "bursty"), 2, "did you mean"),
                ((*bucket, "--load", "capture"), 2, "--pcap"),
                ((*bucket, "--load", "capture", "--pcap", "/no/such"), 1, "/no/such"),
                ((*bucket, "--stall", "4s"), 2, "START:LENGTH"),
                ((*bucket, "--per", "request"), 2, "--per is one of packet, byte, connection"),
                ((*bucket, "--count", "1"), 2, "has no --count"),
                (("--algorithm", "fixed_window", "--count", "0", "--window", "1s"), 1,
                 "at least 1"),
                (("--no-such",), 2, "--help")):
            with self.subTest(words):
                out, err = self.ctl("simulate", *words, exit=code)
                self.assertEqual(out, "")
                self.assertIn(says, err)


if __name__ == "__main__":
    main()
