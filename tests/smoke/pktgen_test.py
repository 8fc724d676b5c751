"""sluice-pktgen alone, over ports in memory and into files, and through a box over memif.

    pktgen_test.py DATAPLANE SLUICED SLUICECTL PKTGEN
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import both_ends
from box_case import BoxCase
from programs import PATIENCE, wait_until

PKTGEN = sys.argv.pop(4)
PCAP_HEADER = 24  # bytes
VARIANTS = ([], ["--ipv6", "--vlan", "7"], ["--latency"])
LOOP = "net_ring0"  # what is sent into it comes out of it
# Sources have ports of all kinds, and tshark would take zeros behind some of them for a protocol.
NO_GUESSES = ("-d", "udp.port==1024-65535,data", "-d", "tcp.port==1024-65535,data")
THREE_EACH = """version: 1
rules:
  - id: three
    mode: enforce
    when: dir eq "in"
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/d, burst: 3}]
"""
ADMIT = """version: 1
rules:
  - id: all
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1G/s, burst: 1M}]
"""


def pktgen(*words):
    return subprocess.run([PKTGEN, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE)


def counts(done):
    if done.returncode:
        raise AssertionError(f"ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def sending(case, *words):
    """The process, once it has sent for a second, and what it said until then. It never sleeps, so others go first."""
    process = subprocess.Popen(["nice", PKTGEN, *map(str, words), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    case.addCleanup(process.stderr.close)
    case.addCleanup(process.stdout.close)
    case.addCleanup(process.wait)
    case.addCleanup(process.kill)
    said = ""
    while " sent " not in said:
        line = process.stderr.readline()
        case.assertNotEqual(line, "", said)
        said += line
    return process, said


def until_signalled(case, number, *words):
    process, _ = sending(case, *words)
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, json.loads(out)


class Alone(unittest.TestCase):
    def test_every_frame_comes_back_once_and_in_order(self):
        found = counts(pktgen("--tx", LOOP, "--count", 50_000, "--profile", "benign", "--latency", "--linger", "10s", "--json"))
        self.assertEqual((found["sent"], found["received"], found["lost"]), (50_000, 50_000, 0))
        self.assertEqual((found["reordered"], found["duplicates"], found["foreign"]), (0, 0, 0))
        self.assertEqual(found["delay_us"]["frames"] + found["met_pauses"], 50_000)
        delays = [found["delay_us"][name] for name in ("least", "p50", "p99", "p99_9", "most")]
        self.assertEqual(delays, sorted(delays))

    def test_over_several_queues_none_is_lost(self):
        found = counts(pktgen("--tx", LOOP, "--queues", 4, "--count", 10_000, "--latency", "--linger", "10s", "--json"))
        self.assertEqual((found["sent"], found["received"], found["duplicates"]), (10_000, 10_000, 0))

    def test_what_never_comes_back_is_lost(self):
        found = counts(pktgen("--tx", "net_null0,no-rx=1", "--count", 1000, "--json"))
        self.assertEqual((found["sent"], found["received"], found["lost"]), (1000, 0, 1000))

    def test_the_text_has_the_counts(self):
        done = pktgen("--tx", LOOP, "--count", 1000, "--linger", "10s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"sent +1000 frames")
        self.assertRegex(done.stdout, r"lost +0 frames")

    def test_a_search_over_what_loses_nothing(self):
        found = counts(pktgen("--tx", LOOP, "--search", "--rate", 1000, "--trial", "100ms", "--repeats", 20,
                              "--loss", 0, "--json"))
        self.assertEqual(found["throughput_pps"], 1000)
        self.assertEqual(found["trials"][-1]["result"], "passed")
        self.assertEqual([one["share"] for one in found["delays"]], [0.5, 0.9])
        self.assertEqual([one["lost"] for one in found["delays"]], [0, 0])

    def test_where_all_is_lost_no_rate_passes(self):
        done = pktgen("--tx", "net_null0,no-rx=1", "--search", "--rate", 1000, "--trial", "10ms", "--tolerance", 25, "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["throughput_pps"], found["delays"]), (0, []))
        self.assertEqual({one["result"] for one in found["trials"]}, {"lost"})

    def test_a_rate_below_one_a_second_is_no_flood(self):
        done = pktgen("--tx", "net_null0,no-rx=1", "--search", "--rate", 1, "--trial", "10ms", "--tolerance", 25, "--json")
        found = json.loads(done.stdout)
        self.assertEqual([one["sent"] for one in found["trials"]], [1] * len(found["trials"]))

    def test_a_signal_ends_it_with_its_counts(self):
        code, found = until_signalled(self, signal.SIGINT, "--tx", LOOP)
        self.assertEqual(code, 0)
        self.assertTrue(found["interrupted"])
        self.assertGreater(found["sent"], 0)
        code, found = until_signalled(self, signal.SIGTERM, "--tx", LOOP, "--duration", "1h")
        self.assertEqual(code, 128 + signal.SIGTERM)
        self.assertGreater(found["sent"], 0)

    def test_a_second_signal_ends_the_waiting_too(self):
        process, _ = sending(self, "--tx", "net_null0,no-rx=1", "--linger", "1m")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3)
        self.assertGreater(json.loads(process.stdout.read())["lost"], 0)

    def test_what_cannot_be_is_refused(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        waiting, alone = (f"net_memif0,role={role},id=0,socket={folder.name}/{role}.sock,socket-abstract=no"
                          for role in ("server", "client"))
        for code, says, words in (
                (2, "--tx DEVICE is required", []),
                (2, "--bidir wants two ports", ["--tx", LOOP, "--bidir"]),
                (2, "no profile `x`", ["--tx", LOOP, "--profile", "x"]),
                (2, "the least is 76", ["--tx", LOOP, "--profile", "syn_flood", "--size", "64", "--latency"]),
                (2, "--vlan", ["--tx", LOOP, "--size", "1519"]),
                (2, "--throughput-only", ["--tx", LOOP, "--profile", "syn_flood", "--size", "64", "--search"]),
                (1, "DPDK does not start", ["--tx", "net_nonsense0"]),
                (1, "none that DPDK knows", ["--tx", "0000:ff:1f.7"]),
                (1, "refuses 2 queues", ["--tx", "net_pcap0,tx_pcap=/dev/null", "--queues", "2"]),
                (1, "does not start", ["--tx", alone]),
                (1, "has no link", ["--tx", waiting, "--wait", "0.1"])):
            done = pktgen(*words)
            self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
            self.assertIn(says, done.stderr, words)
            self.assertEqual(done.stdout, "", words)


class Strangers(unittest.TestCase):
    """Frames at the receiving port that the search has not sent, without end."""

    def search(self, *words, first=()):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = f"{folder.name}/others.pcap"
        counts(pktgen("--tx", f"net_pcap0,tx_pcap={file}", "--count", 200, "--settle", 0, "--json", *first))
        done = pktgen("--tx", "net_null0,no-rx=1", "--rx", f"net_pcap0,rx_pcap={file},infinite_rx=1", "--search", "--rate", 1000,
                      "--trial", "100ms", "--tolerance", 25, "--linger", "10ms", "--json", *words)
        return done.returncode, json.loads(done.stdout)

    def expect_none(self, code, found):
        self.assertEqual((code, found["throughput_pps"], found["probed"]), (3, 0, True))
        for trial in found["trials"]:
            self.assertEqual((trial["result"], trial["received"]), ("lost", 0))
            self.assertGreater(trial["foreign"], 0)

    def test_frames_of_others_do_not_stand_for_lost_ones(self):
        self.expect_none(*self.search("--throughput-only"))

    def test_frames_of_an_earlier_trial_do_not_either(self):
        self.expect_none(*self.search("--warm-up", 1000, first=["--latency"]))

    def test_a_search_without_room_for_probes_says_so(self):
        _, found = self.search("--throughput-only", "--profile", "syn_flood", "--size", 64)
        self.assertFalse(found["probed"])


class Files(unittest.TestCase):
    """tshark, which shares no code with it, reads what it writes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, *words):
        file = self.folder / "sent.pcap"
        counts(pktgen("--tx", f"net_pcap0,tx_pcap={file}", "--count", 200, "--settle", 0, "--json", *words))
        return file

    def joined(self, parts):
        """The captures one after the other, as one: it is the starting of tshark that takes time."""
        joined = self.folder / "joined.pcap"
        joined.write_bytes(parts[0] + b"".join(part[PCAP_HEADER:] for part in parts[1:]))
        return joined

    @staticmethod
    def of_its_own(number, *words):
        """To an address of its own: joined captures have no connection, datagram or address in common."""
        return [*words, "--dst", f"2001:2::{number:x}" if "--ipv6" in words else f"198.18.1.{number}"]

    def judge(self, file, *asked):
        """What is asked of each frame, all of which are sound. Of joined captures, every 200 frames are of one."""
        fields = [*both_ends.UNSOUND, "icmp.checksum.status", "icmpv6.checksum.status"]
        found = []
        for number, row in enumerate(both_ends.read(file, [*fields, *asked], *NO_GUESSES), 1):
            values = dict(zip(fields, row))
            self.assertEqual(values["_ws.malformed"], "", f"frame {number}")
            for name in (name for name in fields if name.endswith("status")):
                self.assertNotIn("0", values[name].split(","), f"frame {number}: {name}")
            found.append(row[len(fields):])
        return found

    def test_every_profile_is_sound(self):
        names = [line.split()[0] for line in pktgen("--list").stdout.splitlines()]
        self.assertGreater(len(names), 12)
        variants = [["--profile", name, *more] for name in names for more in VARIANTS]
        # Where one of all is unsound, the number of its frame leads to the variant.
        parts = [self.written(*self.of_its_own(number, *words)).read_bytes() for number, words in enumerate(variants, 1)]
        self.assertEqual(len(self.judge(self.joined(parts))), 200 * len(variants))

    def test_a_source_keeps_to_one_queue(self):
        files = [self.folder / f"queue{number}.pcap" for number in range(4)]
        device = ",".join(["net_pcap0", *(f"tx_pcap={file}" for file in files)])
        counts(pktgen("--tx", device, "--queues", 4, "--count", 1000, "--settle", 0, "--sources", 64, "--json"))
        sources = [[row[0] for row in both_ends.read(file, ["ip.src"])] for file in files]
        self.assertEqual(sum(map(len, sources)), 1000)
        self.assertEqual(len(set().union(*sources)), 64)
        self.assertEqual(sum(len(set(of_queue)) for of_queue in sources), 64)
        self.assertTrue(all(sources))

    def test_the_way_back_is_sound_and_swapped(self):
        files = [self.folder / f"sent{number}.pcap" for number in (0, 1)]
        variants = [["--profile", name, *more] for name in ("benign", "icmp_flood", "fragments", "dns_amplification")
                    for more in VARIANTS]
        parts = [[], []]
        for number, words in enumerate(variants, 1):
            counts(pktgen("--tx", f"net_pcap0,tx_pcap={files[0]}", "--rx", f"net_pcap1,tx_pcap={files[1]}", "--bidir",
                          "--count", 200, "--settle", 0, "--json", *self.of_its_own(number, *words)))
            for file, part in zip(files, parts):
                part.append(file.read_bytes())
        there, back = (self.judge(self.joined(part), "ip.src", "ip.dst", "ipv6.src", "ipv6.dst") for part in parts)
        self.assertEqual([len(there), len(back)], [200 * len(variants)] * 2)
        for number, words in enumerate(variants):
            with self.subTest(words=words):
                those = slice(200 * number, 200 * (number + 1))
                version = slice(2, 4) if "--ipv6" in words else slice(0, 2)
                self.assertTrue(all(there[those][0][version]))
                self.assertEqual([row[version] for row in there[those]], [row[version][::-1] for row in back[those]])

    def test_tshark_joins_the_fragments(self):
        """It marks one whose second part begins too early, and finds no datagram in second parts alone."""
        for family, more, whole in ("ip", [], 1480 + 24), ("ipv6", ["--ipv6"], 1448 + 24):
            fields = [f"{family}.reassembled.length", f"{family}.fragment.overlap", "udp.srcport", "udp.checksum.status"]
            for profile, length, overlaps in (("fragments", whole, False), ("fragment_overlap", whole - 16, True)):
                with self.subTest(profile=profile, family=family):
                    found = list(both_ends.read(self.written("--profile", profile, *more), fields, *NO_GUESSES))
                    joined = [row for row in found if row[0]]
                    self.assertEqual(len(joined), 100)
                    self.assertEqual({row[0] for row in joined}, {str(length)})
                    self.assertEqual({row[3] for row in joined}, {"1"}, "the checksum of the whole")
                    self.assertEqual(any("1" in row[1].split(",") for row in joined), overlaps)
            found = list(both_ends.read(self.written("--profile", "fragment_flood", *more), fields, *NO_GUESSES))
            self.assertEqual((len(found), {row[2] for row in found}, {row[0] for row in found}), (200, {""}, {""}))

    def test_what_applications_send_is_read_by_tshark(self):
        for profile, field, value in (("http_get", "http.host", "www.example.com"),
                                      ("tls_hello", "tls.handshake.extensions_server_name", "www.example.com"),
                                      ("dns_query", "dns.qry.name", "www.example.com"),
                                      ("dns_amplification", "dns.count.answers", "1")):
            with self.subTest(profile=profile):
                found = list(both_ends.read(self.written("--profile", profile), [field]))
                self.assertEqual({row[0] for row in found}, {value})


class ThroughABox(BoxCase):
    def start(self, rules):
        self.box.start_dataplane(*(f"net_memif{number},role=server,id=0,socket={self.box.folder}/m{number}.sock,"
                                   "socket-abstract=no" for number in (0, 1)))
        self.box.start_sluiced()
        self.apply(rules)

    def ports(self):
        ends = [f"net_memif{number},role=client,id=0,socket={self.box.folder}/m{number}.sock,socket-abstract=no"
                for number in (0, 1)]
        return ["--tx", ends[0], "--rx", ends[1], "--latency"]

    def send(self, *words):
        return counts(pktgen(*self.ports(), "--json", *words))

    def test_after_a_signal_what_is_under_way_still_arrives(self):
        self.start(ADMIT)
        code, found = until_signalled(self, signal.SIGINT, *self.ports(), "--rate", 50_000, "--sources", 1024, "--linger", "5s")
        self.assertEqual((code, found["interrupted"]), (0, True))
        reasons = self.judged(found["sent"])
        self.assertEqual(found["received"], reasons["within_limits"])
        self.assertEqual(self.admitted(reasons), found["sent"])

    def test_both_ways_at_once(self):
        self.start(ADMIT)
        found = self.send("--count", 10_000, "--rate", 10_000, "--sources", 1024, "--settle", 1.5, "--linger", "5s", "--bidir")
        reasons = self.judged(20_000)
        self.assertEqual((found["sent"], found["back"]["sent"]), (10_000, 10_000))
        self.assertEqual(found["received"] + found["back"]["received"], reasons["within_limits"])
        self.assertEqual(self.admitted(reasons), 20_000)
        for way in found, found["back"]:
            self.assertEqual((way["duplicates"], way["foreign"], way["returned"]), (0, 0, 0))

    def test_what_the_box_refuses_one_way_is_lost_that_way_alone(self):
        self.start(THREE_EACH)
        found = self.send("--count", 1600, "--rate", 4000, "--sources", 16, "--linger", "5s", "--bidir")
        reasons = self.judged(3200)
        self.assertEqual(reasons["over_limit"], 1600 - 16 * 3)
        self.assertGreaterEqual(found["lost"], 1600 - 16 * 3)
        self.assertGreater(found["back"]["received"], 16 * 3)

    def test_a_search_both_ways_passes_no_rate_of_which_one_way_loses(self):
        self.start(THREE_EACH)
        done = pktgen(*[word for word in self.ports() if word != "--latency"], "--search", "--rate", 1000, "--trial", "100ms",
                      "--sources", 1, "--tolerance", 25, "--bidir", "--json")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["throughput_pps"], found["bidirectional"]), (3, 0, True))
        self.assertEqual({one["result"] for one in found["trials"]}, {"lost"})

    def test_what_the_port_has_no_room_for_is_lost_where_a_frame_has_one_chance(self):
        self.start(ADMIT)
        process, _ = sending(self, *self.ports(), "--rate", 20_000, "--sources", 16, "--backlog", 32, "--drop-refused",
                             "--linger", "5s")
        dataplane = self.box.dataplane.pid
        os.kill(dataplane, signal.SIGSTOP)
        try:
            lost = 0
            while lost < 10_000:  # more than both rings hold
                sent, received = re.search(r"sent (\d+) .*received (\d+)", process.stderr.readline()).groups()
                lost = int(sent) - int(received)
        finally:
            os.kill(dataplane, signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        found = json.loads(process.communicate(timeout=PATIENCE)[0])
        self.assertGreater(found["dropped"], 0)
        self.assertGreater(found["refused_bursts"], 0)
        reasons = self.judged(found["sent"] - found["dropped"])
        self.assertEqual(found["received"], reasons["within_limits"])
        self.assertEqual(found["lost"], found["sent"] - found["received"])

    def judged(self, sent):
        """What the box says of as many packets."""
        wait_until("every frame to be judged", lambda: self.box.stats()["packets"] == sent)
        return self.box.stats()["reasons"]

    @staticmethod
    def admitted(reasons):
        """What a full ring to the generator, or a link that it has just brought up, kept back was admitted too."""
        return reasons["within_limits"] + reasons["tx_full"] + reasons["link_down"]

    def test_what_the_box_admits_arrives(self):
        self.start(ADMIT)
        found = self.send("--count", 20_000, "--rate", 20_000, "--sources", 1024, "--settle", 1.5, "--linger", "5s")
        reasons = self.judged(found["sent"])
        self.assertEqual(found["sent"], 20_000)
        self.assertEqual(found["received"], reasons["within_limits"])
        self.assertEqual(self.admitted(reasons), 20_000)
        self.assertEqual((found["duplicates"], found["foreign"], found["returned"]), (0, 0, 0))

    def test_what_the_box_refuses_is_lost(self):
        self.start(THREE_EACH)
        found = self.send("--count", 1600, "--rate", 4000, "--sources", 16, "--linger", "5s")
        reasons = self.judged(1600)
        self.assertEqual(found["received"], reasons["within_limits"])
        self.assertEqual((self.admitted(reasons), reasons["over_limit"]), (16 * 3, 1600 - 16 * 3))
        self.assertEqual(found["lost"], 1600 - found["received"])


class WithABoxOfItsOwn(unittest.TestCase):
    """scripts/pktgen --try."""
    BUILD = pathlib.Path(PKTGEN).resolve().parents[2]
    TRY = pathlib.Path(__file__).resolve().parents[2] / "scripts/lib/bench/try_pktgen.py"

    def try_box(self, *words):
        return subprocess.run([sys.executable, self.TRY, "--build", self.BUILD, "--idle-sleep", "1ms", *map(str, words)], capture_output=True,
                              text=True, timeout=2 * PATIENCE)

    def test_both_count_the_same_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "rules.yaml"
            rules.write_text(THREE_EACH)
            done = self.try_box(rules, "--within", folder, "--count", 1600, "--rate", 4000, "--sources", 16, "--latency",
                                "--linger", "5s", "--json")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [rules])
        found = counts(done)
        last = done.stderr.splitlines()[-1]
        box = json.loads(last.removeprefix("box: "))
        self.assertEqual((found["sent"], box["packets"]), (1600, 1600))
        self.assertEqual(found["received"], box["reasons"].get("within_limits", 0))
        self.assertEqual(box["reasons"]["over_limit"], 1600 - 16 * 3)

    def test_bad_rules_are_refused_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = pathlib.Path(folder) / "rules.yaml"
            rules.write_text("version: 7\n")
            done = self.try_box(rules, "--within", folder, "--count", 10)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [rules])
        self.assertEqual(done.returncode, 1)
        self.assertIn("this version reads", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_what_cannot_be_is_refused(self):
        for says, words in (("there is no file", ["/nonexistent"]), ("--tx: --try has ports", [__file__, "--tx", "net_null0"])):
            done = self.try_box(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    BoxCase.programs = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
