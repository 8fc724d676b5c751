"""The model itself, against numbers worked out by hand."""
import ipaddress
import os
import sys
import tempfile
import unittest
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import pcap  # noqa: E402
from expression import BadExpression, compile_condition  # noqa: E402
from frame import Packet, dissect  # noqa: E402
from generate import Scenario  # noqa: E402
from limiter import Limiter, part_text  # noqa: E402
from rules import Client, parse_rate, parse_size, read_rules  # noqa: E402
from texts import escape, room_in, text_of  # noqa: E402

MS = 1_000_000
SECOND = 1000 * MS
ENDS = "020000000001 020000000002 "
IPV4 = "0800 45b8 {} 0001 {} 40 {} 0000 c0000201 c6336407 "
IPV6 = "86dd 6b812345 {} {} 40 20010db8000000000000000000000001 20010db8000000000000000000000002 "
UDP = "0035 0400 {} 0000 "


def octets(text):
    return bytes.fromhex(text.replace(" ", ""))


def rules_of(text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\n" + text)
        file.flush()
        return read_rules(file.name)


def packet(units=100, malformed=None, **fields):
    made = Packet()
    made.fields = {name.replace("_", "."): value for name, value in fields.items()}
    made.units, made.malformed = units, malformed
    return made


class Buckets(unittest.TestCase):
    def run_trace(self, rules, trace):
        """`trace`: (time, packet, verdict and wait). -> the limiter"""
        limiter = Limiter(rules_of(rules))
        for time, what, wanted in trace:
            verdict = limiter.judge(time, what)
            self.assertEqual((verdict.action, verdict.wait), wanted, time)
        return limiter

    def test_different_values(self):
        # Two count in the half they were last shown in and in the next: 1 is shown again, 2 is not.
        def to(port):
            return packet(ip_src=ipaddress.ip_address("10.0.0.1"), l4_dport=port)
        passes, drop = ("pass", "0"), "drop"
        self.run_trace("""
rules:
  - id: a
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: distinct, of: l4.dport, count: 2, window: 2s}]
""", [(0, to(1), passes), (0, to(2), passes), (0, to(1), passes),
      (0, to(3), (drop, str(2 * SECOND))), (0, packet(ip_src=ipaddress.ip_address("10.0.0.1")), passes),
      (1500 * MS, to(1), passes), (1500 * MS, to(3), (drop, str(500 * MS))),
      (2 * SECOND, to(3), passes), (2 * SECOND, to(2), (drop, str(1 * SECOND))),
      (3 * SECOND, to(2), passes)])

    def test_bans(self):
        # Two pass, then each is refused; the third refusal within a second bans for two.
        drop = ("drop", str(3600 * SECOND - 1))
        limiter = self.run_trace("""
rules:
  - id: a
    mode: enforce
    key: []
    limits: [{algorithm: sliding_log, count: 1, window: 1h}]
    ban: {after: 3, within: 1s, for: 2s}
""", [(0, packet(), ("pass", "0")), (1, packet(), drop),
            (2, packet(), ("drop", str(3600 * SECOND - 2))),
            (SECOND + 1, packet(), ("drop", str(3599 * SECOND - 1))),
            (SECOND + 2, packet(), ("drop", str(3599 * SECOND - 2))),
            (SECOND + 3, packet(), ("drop", str(3599 * SECOND - 3))),
            (SECOND + 4, packet(), ("drop", str(2 * SECOND - 1))),
            (3 * SECOND + 2, packet(), ("drop", "1")),
            (3 * SECOND + 3, packet(), ("drop", str(3597 * SECOND - 3)))])
        self.assertEqual(limiter.summary()["rules"][0],
                         {"id": "a", "matched": 9, "admitted": 1, "exceeded": 8, "skipped": 0,
                          "banned": 2, "bans": 1})

    def test_packets(self):
        # A unit is 100 ms; three at one instant.
        self.run_trace("""
rules:
  - {id: a, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 10/s, burst: 3}]}
""", [(0, packet(), ("pass", "0")), (0, packet(), ("pass", "0")), (0, packet(), ("pass", "0")),
            (0, packet(), ("drop", str(100 * MS))), (99 * MS, packet(), ("drop", str(MS))),
            (100 * MS, packet(), ("pass", "0")), (50 * MS, packet(), ("drop", str(100 * MS))),
            (350 * MS, packet(), ("pass", "0")), (350 * MS, packet(), ("pass", "0")),
            (350 * MS, packet(), ("drop", str(50 * MS)))])

    def test_a_unit_that_is_no_whole_nanosecond(self):
        # 3/s: a unit is 333333333 1/3 ns; two are 666666666 2/3.
        self.run_trace("""
rules:
  - {id: a, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 3/s, burst: 1}]}
""", [(0, packet(), ("pass", "0")), (0, packet(), ("drop", "333333334")),
            (333333333, packet(), ("drop", "1")), (333333334, packet(), ("pass", "0")),
            (666666666, packet(), ("drop", "2")), (666666668, packet(), ("pass", "0"))])

    def test_bytes_and_never(self):
        self.run_trace("""
rules:
  - {id: a, mode: enforce, per: byte, key: [],
     limits: [{algorithm: token_bucket, rate: 8Kbit/s, burst: 150B}]}
""", [(0, packet(100), ("pass", "0")), (0, packet(100), ("drop", str(50 * MS))),
            (0, packet(151), ("drop", "never")), (0, packet(0), ("pass", "0")),
            (49 * MS, packet(100), ("drop", str(MS))), (50 * MS, packet(100), ("pass", "0"))])

    def test_connections(self):
        syn = packet(tcp_flags=0x02, ip_dst=ipaddress.ip_address("192.0.2.1"))
        other = [packet(tcp_flags=flags) for flags in (0x12, 0x10, 0x04)] + [packet()]
        limiter = self.run_trace("""
rules:
  - {id: a, mode: enforce, per: connection, key: [],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
""", [(0, syn, ("pass", "0"))] + [(0, what, ("pass", "0")) for what in other] +
            [(0, packet(tcp_flags=0xC2), ("pass", "0")), (0, syn, ("drop", str(SECOND))),
             (SECOND, syn, ("pass", "0"))])
        self.assertEqual(limiter.summary()["rules"][0], {"id": "a", "matched": 8, "admitted": 3,
                                                         "exceeded": 1, "skipped": 4})

    def test_cost(self):
        self.run_trace("""
rules:
  - {id: a, mode: enforce, cost: 5, key: [],
     limits: [{algorithm: token_bucket, rate: 10/s, burst: 12}]}
""", [(0, packet(), ("pass", "0")), (0, packet(), ("pass", "0")),
            (0, packet(), ("drop", str(300 * MS))), (300 * MS, packet(), ("pass", "0"))])
        self.run_trace("""
rules:
  - {id: a, mode: enforce, per: byte, cost: 3, key: [],
     limits: [{algorithm: sliding_log, count: 2KB, window: 1s}]}
""", [(0, packet(600), ("pass", "0")), (0, packet(67), ("drop", str(SECOND))),
            (0, packet(66), ("pass", "0")), (0, packet(667), ("drop", "never"))])

    TWO = """
rules:
  - {{id: all, mode: enforce, key: [], limits: [{{algorithm: token_bucket, rate: 1/h, burst: 3}}]}}
  - {{id: one, mode: {mode}, when: l4.dport eq 1, key: [], on_exceed: {{action: {action}}},
     limits: [{{algorithm: token_bucket, rate: 1/h, burst: 1}}]}}
"""

    def verdicts(self, rules, packets, enforce=False):
        limiter = Limiter(rules_of(rules), enforce=enforce)
        return [limiter.judge(0, what).columns() for what in packets], limiter.summary()

    def test_a_drop_spends_nothing_and_a_tag_does(self):
        packets = [packet(l4_dport=1)] * 3 + [packet(l4_dport=2)] * 2
        hour = str(3600 * SECOND)
        within = ["pass", "within_limits", "", "", "0"]
        refused = ["drop", "over_limit", "one", "", hour]
        rows, _ = self.verdicts(self.TWO.format(mode="enforce", action="drop"), packets)
        self.assertEqual(rows, [within, refused, refused, within, within])
        for action in ("tag", "pass"):
            rows, summary = self.verdicts(
                self.TWO.format(mode="enforce", action=action + ", dscp: 1" * (action == "tag")),
                packets)
            tagged = [action, "over_limit", "one", "", "0"]
            self.assertEqual(rows, [within, tagged, tagged,
                                    ["drop", "over_limit", "all", "", hour]] + [
                                        ["drop", "over_limit", "all", "", hour]])
            self.assertEqual(summary["rules"][1], {"id": "one", "matched": 3, "admitted": 1,
                                                   "exceeded": 2, "skipped": 0})

    def test_monitor_counts_and_decides_nothing(self):
        packets = [packet(l4_dport=1)] * 4
        rules = self.TWO.format(mode="monitor", action="drop")
        rows, summary = self.verdicts(rules, packets)
        self.assertEqual([row[0] for row in rows], ["pass", "pass", "pass", "drop"])
        self.assertEqual(summary["rules"][1]["exceeded"], 3)
        rows, _ = self.verdicts(rules, packets, enforce=True)
        self.assertEqual([row[0] for row in rows], ["pass", "drop", "drop", "drop"])

    def test_monitor_spends_only_what_is_forwarded(self):
        rules = self.TWO.format(mode="monitor", action="drop").replace("burst: 3", "burst: 1")
        packets = [packet(l4_dport=2), packet(l4_dport=1), packet(l4_dport=1)]
        _, summary = self.verdicts(rules, packets)
        self.assertEqual(summary["rules"][1], {"id": "one", "matched": 2, "admitted": 0, "exceeded": 0, "skipped": 2})

    def test_the_strictest_and_the_first_of_equals(self):
        one = "{algorithm: token_bucket, rate: 1/s, burst: 1}"
        rules = "rules:\n" + "".join(
            f"  - {{id: {name}, mode: enforce, key: [l4.dport], on_exceed: {{action: {action}}},"
            f" limits: [{one.replace('1/s', rate)}]}}\n"
            for name, action, rate in (("a", "tag", "1/h"), ("b", "drop", "1/s"),
                                       ("c", "drop", "1/m"), ("d", "pass", "1/d")))
        rows, _ = self.verdicts(rules, [packet(l4_dport=5)] * 2)
        self.assertEqual(rows[1], ["drop", "over_limit", "b", "5", str(86400 * SECOND)])

    def test_missing_keys(self):
        rules = """
rules:
  - {id: a, mode: enforce, key: [ip.src, l4.dport], missing_key: %s,
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
"""
        packets = [packet(l4_dport=1), packet(l4_dport=2), packet()]
        rows, summary = self.verdicts(rules % "skip", packets)
        self.assertEqual(rows, [["pass", "unmatched", "", "", "0"]] * 3)
        self.assertEqual(summary["rules"][0]["skipped"], 3)
        rows, summary = self.verdicts(rules % "share", packets)
        self.assertEqual([row[0] for row in rows], ["pass", "drop", "drop"])
        self.assertEqual(rows[1][3], "")

    def test_tiers(self):
        rules = """
rules:
  - id: a
    mode: enforce
    missing_key: %s
    tiers:
      - {key: [l4.dport], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
      - {key: [ip.ttl], limits: [{algorithm: token_bucket, rate: 1/h, burst: 3}]}
"""
        packets = [packet(l4_dport=5, ip_ttl=9)] * 3 + [packet(ip_ttl=9)] * 2 + [packet()]
        within, hour = ["pass", "within_limits", "", "", "0"], str(3600 * SECOND)
        fine = ["drop", "over_limit", "a", "5", str(SECOND)]
        coarse = ["drop", "over_limit", "a", "9", hour]
        rows, summary = self.verdicts(rules % "skip", packets)
        self.assertEqual(rows, [within, within, fine, within, coarse,
                                ["pass", "unmatched", "", "", "0"]])
        self.assertEqual(summary["rules"][0], {"id": "a", "matched": 6, "admitted": 3,
                                               "exceeded": 2, "skipped": 1})
        rows, summary = self.verdicts(rules % "share", packets + packets[:1])
        self.assertEqual(rows[3:], [within, coarse, within, coarse])
        self.assertEqual(summary["rules"][0]["skipped"], 0)

    def test_on_match(self):
        rules = """
rules:
  - {id: meter, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
  - {id: seen, mode: monitor, when: l4.dport, on_match: drop}
  - {id: let, mode: enforce, when: l4.dport eq 1, on_match: allow}
  - {id: deny, mode: enforce, when: "l4.dport in {1 2}", on_match: drop}
"""
        rows, summary = self.verdicts(rules, [packet(l4_dport=1)] * 2 + [packet(l4_dport=2)])
        self.assertEqual(rows, [["pass", "allow_rule", "let", "", "0"]] * 2 +
                         [["drop", "deny_rule", "deny", "", ""]])
        self.assertEqual([(rule["admitted"], rule["exceeded"]) for rule in summary["rules"]],
                         [(0, 0), (0, 3), (2, 0), (0, 1)])

    def test_on_match_with_an_action(self):
        rules = """
rules:
  - {id: meter, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
  - {id: seen, mode: monitor, when: l4.dport, on_match: {action: tag, dscp: 8}}
  - {id: marks, mode: enforce, when: l4.dport eq 1, on_match: {action: tag, dscp: ef}}
  - {id: ends, mode: enforce, when: "l4.dport in {1 2}", on_match: {action: reset}}
"""
        rows, summary = self.verdicts(rules, [packet(l4_dport=1)] * 2 + [packet(l4_dport=2)])
        self.assertEqual(rows, [["tag", "allow_rule", "marks", "", "0"]] * 2 +
                         [["reset", "deny_rule", "ends", "", ""]])
        self.assertEqual([(rule["admitted"], rule["exceeded"]) for rule in summary["rules"]],
                         [(0, 0), (3, 0), (2, 0), (0, 1)])

    def test_malformed_is_not_judged(self):
        for policy, wait in (("pass", "0"), ("drop", "")):
            limiter = Limiter(rules_of(self.TWO.format(mode="enforce", action="drop")), policy)
            verdict = limiter.judge(0, packet(malformed="too_deep"))
            self.assertEqual(verdict.columns(), [policy, "too_deep", "", "", wait])
            self.assertEqual(limiter.summary()["rules"][0]["matched"], 0)


class Units(unittest.TestCase):
    def test_rates(self):
        for text, per_second in (("50/s", 50), ("300/m", 5), ("1/d", Fraction(1, 86400)),
                                 ("2K/s", 2000), ("20Mbit/s", 2_500_000), ("5MB/s", 5_000_000),
                                 ("6KiB/m", Fraction(6144, 60))):
            self.assertEqual(parse_rate(text) * SECOND, per_second, text)

    def test_sizes(self):
        for text, size in (("7", 7), ("256KiB", 262144), ("10KB", 10000), ("28B", 28)):
            self.assertEqual(parse_size(text), size, text)

    def test_texts(self):
        for text in ("2001:db8::1", "::ffff:192.0.2.1", "::192.0.2.1", "::", "::1",
                     "2001:db8:0:1:1:1:1:1", "2001:0:0:1::1", "192.0.2.1"):
            self.assertEqual(text_of("ip.src", ipaddress.ip_address(text)), text)
        self.assertEqual(text_of("eth.type", 0x800), "0x0800")
        self.assertEqual(escape("a|b\\c\n\x7f"), "a\\x7cb\\x5cc\\x0a\\x7f")


class Conditions(unittest.TestCase):
    FIELDS = {"ip.src": ipaddress.ip_address("10.1.2.3"), "l4.dport": 53, "tcp.flags.syn": 0,
              "ip.frag": "none", "eth.src": "02:00:00:00:00:01", "ip.ttl": 64}

    def test_each(self):
        for text, wanted in (
                ("l4.dport eq 53", True), ("l4.dport == 0x35", True), ("l4.dport ne 53", False),
                ("l4.dport in {1 53}", True), ("l4.dport < 53", False), ("l4.dport<=53", True),
                ("l4.sport eq 53", False), ("l4.sport ne 53", False), ("not l4.sport eq 53", True),
                ("ip.src in {10.0.0.0/8 2001:db8::/32}", True), ("ip.src eq 10.1.2.4", False),
                ("prefix(ip.src, 24|64) eq 10.1.2.0/24", True), ("ip.dst in {0.0.0.0/0}", False),
                ("tcp.flags.syn", False), ("l4.dport", True), ("l4.sport", False),
                ('ip.frag ne "first"', True), ('ip.frag in {"first" "none"}', True),
                ("eth.src eq 02:00:00:00:00:01", True),
                ("ip.ttl eq 64 or l4.dport eq 1 and l4.dport eq 2", True),
                ("(ip.ttl eq 64 or l4.dport eq 1) and l4.dport eq 2", False),
                ("not ip.ttl eq 1 and l4.dport eq 2", False),
                ("not (ip.ttl eq 1 and l4.dport)", True),
                ("not not tcp.flags.syn or not ip.ttl eq 64", False)):
            self.assertEqual(compile_condition(text)(self.FIELDS), wanted, text)

    def test_what_is_not_understood(self):
        with self.assertRaises(BadExpression):
            compile_condition("l4.dport resembles 5")


class Keys(unittest.TestCase):
    def test_client(self):
        for settings, source, wanted in (
                ({}, "192.0.2.7", "192.0.2.7"), ({}, "64:ff9b::c000:207", "64:ff9b::c000:207"),
                ({"unwrap": ["nat64"]}, "64:ff9b::c000:207", "192.0.2.7"),
                ({"unwrap": ["nat64"]}, "::ffff:192.0.2.7", "::ffff:192.0.2.7"),
                ({"unwrap": ["v4mapped"], "ipv4_prefix": "24"}, "::ffff:192.0.2.7", "192.0.2.0/24"),
                ({"ipv6_prefix": "64"}, "2001:db8::7", "2001:db8::/64")):
            self.assertEqual(text_of("", Client(settings).of(ipaddress.ip_address(source))), wanted)

    def test_client_in_a_condition_and_in_prefix(self):
        fields = {"client.ip": ipaddress.ip_network("192.0.2.0/24")}
        for text, wanted in (("client.ip in {192.0.0.0/16}", True), ("client.ip eq 192.0.3.0", False),
                             ("client.ip ne 192.0.2.0", False),
                             ("prefix(client.ip, 16) eq 192.0.0.0/16", True)):
            self.assertEqual(compile_condition(text)(fields), wanted, text)
        self.assertEqual(part_text("prefix(client.ip, 28)", fields), "192.0.2.0/24")

    def test_texts(self):
        fields = {"payload": b"Ab|\0"}
        self.assertEqual(escape(part_text("payload", fields, ["payload"])), "Ab\\x7c\\x00")
        self.assertEqual(part_text("lower( payload )", fields, ["lower( payload )"]), "ab\\x7c\\x00")
        self.assertIsNone(part_text("payload", {}, ["payload"]))
        self.assertEqual([room_in(["payload"] * texts + ["ip.src"] * addresses)
                          for texts, addresses in ((1, 0), (1, 1), (2, 1), (16, 0))],
                         [255, 255, 146, 16])
        # As b2sum -l 128 has it.
        self.assertEqual(part_text("payload", {"payload": b"x" * 300}, ["payload"]),
                         "x" * 48 + "\\hc2f093e41879e412280bfcc0ed6533e4")


class Frames(unittest.TestCase):
    def test_udp_in_a_tag(self):
        frame = octets(ENDS + "88a8 2005 8100 0006" + IPV4.format("0020", "0000", "11") +
                       UDP.format("000b") + "61626364")
        seen = dissect(frame, len(frame))
        self.assertIsNone(seen.malformed)
        self.assertEqual(seen.units, 32)
        self.assertEqual(seen.fields.pop("payload"), b"abc")
        self.assertEqual({name: text_of(name, value) for name, value in seen.fields.items()}, {
            "eth.dst": "02:00:00:00:00:01", "eth.src": "02:00:00:00:00:02", "eth.type": "0x0800",
            "vlan.id": "5", "vlan.inner_id": "6", "ip.version": "4", "ip.dscp": "46",
            "ip.len": "32", "ip.frag": "none", "ip.ttl": "64", "ip.proto": "17",
            "ip.src": "192.0.2.1", "ip.dst": "198.51.100.7", "l4.sport": "53", "l4.dport": "1024",
            "payload.len": "3"})

    def outcome(self, text, wire=None):
        frame = octets(ENDS + text)
        return dissect(frame, wire or len(frame)).malformed

    def test_malformed(self):
        for text, reason in (
                ("08", "truncated_l2"), ("8100 00", "truncated_l2"), ("8847 0000", "truncated_l2"),
                ("0800 45", "truncated_l3"), ("0800 " + "46" + "00" * 19, "truncated_l3"),
                ("0800 55" + "00" * 19, "bad_ip_header"), ("0800 44" + "00" * 19, "bad_ip_header"),
                (IPV4.format("0013", "0000", "11"), "bad_ip_header"),
                (IPV4.format("001b", "0000", "11") + UDP.format("0008"), "truncated_l4"),
                (IPV4.format("001c", "0000", "11") + UDP.format("0007"), "bad_l4_header"),
                (IPV4.format("0028", "0000", "06") + "00" * 12 + "40" + "00" * 7, "bad_l4_header"),
                (IPV4.format("0028", "0000", "06") + "00" * 12 + "60" + "00" * 7, "bad_l4_header"),
                (IPV4.format("0028", "0000", "06") + "00" * 12 + "50" + "00" * 7, None),
                (IPV4.format("0000", "0000", "11") + UDP.format("0000"), None),
                (IPV4.format("ffff", "0000", "11") + UDP.format("ffff"), None),
                (IPV4.format("001b", "0001", "11") + "00" * 7, None),
                (IPV6.format("0008", "3c") + "3b01" + "00" * 6, "truncated_l3"),
                (IPV6.format("0088", "3c") + "3c00000000000000" * 17, "too_deep"),
                (IPV6.format("0080", "3c") + "3c00000000000000" * 15 + "3b00000000000000", None)):
            self.assertEqual(self.outcome(text), reason, text)

    def test_a_snap_length_makes_nothing_malformed(self):
        tcp = "0035 0400" + "00" * 8 + "5002" + "00" * 6
        frame = octets(ENDS + IPV6.format("0014", "06") + tcp)
        for size in range(len(frame)):
            self.assertIsNone(dissect(frame[:size], len(frame)).malformed, size)
        self.assertEqual(dissect(frame[:58], len(frame)).fields["l4.dport"], 1024)
        self.assertNotIn("tcp.flags", dissect(frame[:67], len(frame)).fields)
        self.assertEqual(dissect(frame[:68], len(frame)).fields["tcp.flags.syn"], 1)

    def test_what_bytes_cost(self):
        udp = IPV4 + UDP.format("0008")
        for text, padding, units in (
                (udp.format("001c", "0000", "11"), 0, 28),
                (udp.format("001c", "0000", "11"), 18, 28),
                (udp.format("001c", "0000", "11"), 19, 47),
                (udp.format("0000", "0000", "11"), 9, 37),
                (udp.format("0900", "0000", "11"), 9, 37), ("0806" + "00" * 28, 18, 46),
                (IPV6.format("0000", "3b"), 6, 40), (IPV6.format("0000", "3b"), 7, 47)):
            frame = octets(ENDS + text) + bytes(padding)
            self.assertEqual(dissect(frame, len(frame)).units, units, text)

    def test_tunnels(self):
        inner = octets(IPV4[5:].format("001c", "0000", "11") + UDP.format("0008"))
        outer = octets(ENDS + IPV4.format("0034", "2000", "2f") + "0000 0800")
        frame = outer.replace(b"\xc0\0\2\1", b"\x0a\0\0\1") + inner
        self.assertEqual(text_of("", dissect(frame, 66).fields["ip.src"]), "10.0.0.1")
        seen = dissect(frame, 66, ["gre"]).fields
        self.assertEqual([str(seen[name]) for name in ("outer.ip.src", "ip.src", "l4.sport")],
                         ["10.0.0.1", "192.0.2.1", "53"])

    def test_tunnels_over_udp(self):
        inner = octets(IPV4[5:].format("001c", "0000", "11") + UDP.format("0008"))
        for name, port, head in (("gtpu", 2152, "30ff 001c 0000 0007"), ("gtpu", 2152, "36ff 0024 0000 0007 0009 0085 0100 0000"),
                                 ("geneve", 6081, "0100 0800 0000 0700 0000 0000"), ("geneve:9", 9, "0080 0800 0000 0700")):
            carried = octets(head) + inner
            udp = port.to_bytes(2, "big") * 2 + (8 + len(carried)).to_bytes(2, "big") + b"\0\0"
            outer = octets(ENDS + IPV4.format(f"{28 + len(carried):04x}", "2000", "11"))
            frame = outer.replace(b"\xc0\0\2\1", b"\x0a\0\0\1") + udp + carried
            seen = dissect(frame, len(frame), [name]).fields
            self.assertEqual([str(seen[field]) for field in ("outer.ip.src", "ip.src", "l4.sport")],
                             ["10.0.0.1", "192.0.2.1", "53"], head)
            self.assertNotIn("outer.ip.src", dissect(frame, len(frame), ["vxlan", "geneve:10"]).fields)
            self.assertNotIn("outer.ip.src", dissect(frame[:42], len(frame), [name]).fields)

    def test_metadata_of_cisco(self):
        packet = IPV4[5:].format("001c", "0000", "11") + UDP.format("0008")
        for shims, kind in (("8909 0101 0001 0007 0800", 0x0800), ("8909 0102 0001 0007 0001 0008 0000 0000 0800", 0x0800),
                            ("8100 0005 8909 0101 0001 0007 0800", 0x0800), ("8909 0101 0001 0007 8100 0005 0800", 0x0800),
                            ("8909 0100 0001 0007 0800", 0x8909)):
            frame = octets(ENDS + shims + packet)
            seen = dissect(frame, len(frame))
            self.assertEqual((seen.fields["eth.type"], "l4.sport" in seen.fields), (kind, kind == 0x0800), shims)
        self.assertEqual(dissect(octets(ENDS + "8909 0104 0001 0007"), 20).malformed, "truncated_l2")


class Captures(unittest.TestCase):
    FRAMES = [(1_700_000_000 * SECOND + 123_456_000, b"abc", 3), (5, b"", 0), (MS, b"x" * 70, 1514)]

    def read(self, data):
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            return pcap.read_capture(file.name)

    def test_every_format(self):
        for order in "<>":
            for write in (pcap.write_pcap, pcap.write_pcapng):
                data = write(self.FRAMES, order)
                capture = self.read(data)
                self.assertEqual((capture.frames, capture.cut), (self.FRAMES, False))
                cut = self.read(data[:-1])
                self.assertEqual((cut.frames, cut.cut), (self.FRAMES[:2], True))
        times = [time for time, _, _ in
                 self.read(pcap.write_pcap(self.FRAMES, nanoseconds=False)).frames]
        self.assertEqual(times, [self.FRAMES[0][0], 0, MS])

    def test_interfaces_of_other_link_types(self):
        for order in "<>":
            capture = self.read(pcap.write_mixed_pcapng(self.FRAMES * 2, order))
            self.assertEqual(capture.frames, self.FRAMES + [None] + self.FRAMES)

    def test_refused(self):
        for data in (b"", b"nonsense", pcap.write_pcap([])[:20] + b"\x71\0\0\0"):
            with self.assertRaises(pcap.BadCapture):
                self.read(data)


class Generator(unittest.TestCase):
    def test_a_seed_is_reproducible_and_readable(self):
        for seed in range(8):
            one, other = Scenario(seed, 50), Scenario(seed, 50)
            self.assertEqual((one.rules, one.files), (other.rules, other.files))
            self.assertEqual(one.frames, other.frames)
            with tempfile.TemporaryDirectory() as folder:
                self.assertGreater(len(read_rules(one.write(folder)[0])), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
