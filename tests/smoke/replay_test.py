"""sluicectl replay: every sentence of its contract, on captures made by hand."""
import json
import os
import random
import subprocess

from capture_files import (SECOND, Case, arp, checksum, ethernet, icmp, ipv4, main, pcap, pcapng,
                           read_pcap, tcp, udp, udp6, udp_header)

MS = SECOND // 1000


def rule(text):
    return "version: 1\nrules:\n" + text


PER_SOURCE = rule("""
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 3}]
""")
NOTHING_LIMITED = rule("""
  - id: wide-open
    mode: enforce
    key: []
    limits: [{algorithm: token_bucket, rate: 1000000/s, burst: 1000000}]
""")
JSON_MEMBERS = ["packets", "passed", "tagged", "shaped", "dropped", "replied", "reset", "decoyed",
                "rules"]
COUNTED_AS = {"pass": "passed", "tag": "tagged", "shape": "shaped", "drop": "dropped",
              "reply": "replied", "reset": "reset", "decoy": "decoyed"}


class Replay(Case):
    def replay(self, rules, capture, *options):
        """-> (summary, verdict rows, standard error); every run is checked for conservation."""
        rules = self.write("rules.yaml", rules)
        capture = self.write("in.pcap", capture)
        out, err = self.ctl("replay", rules, "--pcap", capture, "--json", "--verdicts",
                            self.path("verdicts.tsv"), *options)
        summary = json.loads(out)
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        self.check_conservation(summary, rows)
        return summary, rows, err

    def check_conservation(self, summary, rows):
        self.assertEqual(list(summary), JSON_MEMBERS)
        verdicts = [summary[member] for member in COUNTED_AS.values()]
        self.assertEqual(sum(verdicts), summary["packets"])
        self.assertEqual(len(rows), summary["packets"])
        for verdict, member in COUNTED_AS.items():
            self.assertEqual(sum(row[1] == verdict for row in rows), summary[member])
        for entry in summary["rules"]:
            members = ["id", "matched", "admitted", "exceeded", "skipped"]
            self.assertIn([member for member in entry if member != "stance"],
                          [members, [*members, "banned", "bans"], [*members, "banned", "bans", "banned_sources"]])
            self.assertEqual(entry["matched"],
                             entry["admitted"] + entry["exceeded"] + entry["skipped"])
        for number, row in enumerate(rows, 1):
            self.assertEqual(len(row), 6, row)
            self.assertEqual(row[0], str(number))

    def verdicts(self, rules, frames, *options):
        return [row[1] for row in self.replay(rules, pcap(frames), *options)[1]]

    def rule_counts(self, summary, rule_id):
        entry = next(entry for entry in summary["rules"] if entry["id"] == rule_id)
        return entry["admitted"], entry["exceeded"], entry["skipped"]


class TokenBucket(Replay):
    def test_exact_to_the_nanosecond(self):
        # 10/s, burst 3: a unit is 100 ms, a full bucket 300 ms of debt.
        start = 1_700_000_000 * SECOND
        trace = [  # (after the start, verdict, wait)
            (0, "pass", "0"), (0, "pass", "0"), (0, "pass", "0"),
            (0, "drop", str(100 * MS)), (0, "drop", str(100 * MS)),
            (100 * MS - 1, "drop", "1"),
            (100 * MS, "pass", "0"), (100 * MS, "drop", str(100 * MS)),
            (150 * MS, "drop", str(50 * MS)),
            (10_000 * MS, "pass", "0"), (10_000 * MS, "pass", "0"), (10_000 * MS, "pass", "0"),
            (10_000 * MS + 1, "drop", str(100 * MS - 1)),
        ]
        _, rows, _ = self.replay(PER_SOURCE, pcap([(start + at, udp()) for at, _, _ in trace]))
        self.assertEqual([(row[1], row[5]) for row in rows],
                         [(verdict, wait) for _, verdict, wait in trace])
        dropped = rows[3]
        self.assertEqual(dropped, ["4", "drop", "over_limit", "per-source", "192.0.2.1",
                                   str(100 * MS)])
        self.assertEqual(rows[0], ["1", "pass", "within_limits", "", "", "0"])

    def test_bytes_of_the_ip_packet(self):
        rules = rule("""
  - id: bytes
    mode: enforce
    key: [ip.src, l4.dport]
    limits: [{algorithm: token_bucket, per: byte, rate: 1KB/s, burst: 1000B}]
""")
        frames = [(0, udp(size=400)), (0, udp(size=400)), (0, udp(size=400)),
                  (0, udp(size=1001)), (200 * MS, udp(size=400, tags=[(0x8100, 5)]))]
        _, rows, _ = self.replay(rules, pcap(frames))
        self.assertEqual([(row[1], row[5]) for row in rows],
                         [("pass", "0"), ("pass", "0"), ("drop", str(200 * MS)),
                          ("drop", "never"), ("pass", "0")])
        self.assertEqual(rows[2][4], "192.0.2.1|53")

    def test_time_never_goes_back(self):
        frames = [(5 * SECOND, udp())] * 3 + [(3 * SECOND, udp()), (5 * SECOND + 100 * MS, udp())]
        _, rows, _ = self.replay(PER_SOURCE, pcap(frames))
        self.assertEqual([row[5] for row in rows], ["0", "0", "0", str(100 * MS), "0"])

    def test_each_timestamp_is_a_clock_reading_of_its_own(self):
        frames = [(i * 100 * MS, udp()) for i in range(100)]
        self.assertEqual(set(self.verdicts(PER_SOURCE, frames)), {"pass"})
        frames = [(i * 100 * MS - (i > 0), udp()) for i in range(100)]
        # One ns early from the second on: the debt stays at two units and one ns at most.
        self.assertEqual(set(self.verdicts(PER_SOURCE, frames)), {"pass"})

    def test_keys_do_not_share(self):
        frames = [(0, udp(src=f"192.0.2.{i % 10}")) for i in range(40)]
        self.assertEqual(self.verdicts(PER_SOURCE, frames).count("pass"), 30)

    def test_prefix_keys_share_per_prefix(self):
        rules = rule("""
  - id: net
    mode: enforce
    key: ["prefix(ip.src, 24|64)"]
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 2}]
""")
        frames = [(0, udp(src=f"192.0.2.{i}")) for i in range(4)] + \
                 [(0, udp6(src=f"2001:db8::{i}")) for i in range(3)]
        _, rows, _ = self.replay(rules, pcap(frames))
        self.assertEqual([row[1] for row in rows],
                         ["pass", "pass", "drop", "drop", "pass", "pass", "drop"])
        self.assertEqual(rows[2][4], "192.0.2.0/24")
        self.assertEqual(rows[6][4], "2001:db8::/64")


class Spending(Replay):
    TWO = """
  - id: everyone
    mode: enforce
    key: []
    limits: [{{algorithm: token_bucket, rate: 1/h, burst: 5}}]
  - id: some
    mode: enforce
    when: l4.dport eq 1
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 1/h, burst: 2}}]
    on_exceed: {{action: {action}}}
"""

    def test_a_drop_spends_nothing(self):
        frames = [(0, udp(dport=1))] * 4 + [(0, udp(dport=2))] * 4
        self.assertEqual(self.verdicts(rule(self.TWO.format(action="drop")), frames),
                         ["pass", "pass", "drop", "drop", "pass", "pass", "pass", "drop"])

    def test_a_tag_spends_where_it_was_admitted(self):
        frames = [(0, udp(dport=1))] * 4 + [(0, udp(dport=2))] * 2
        self.assertEqual(self.verdicts(rule(self.TWO.format(action="tag, dscp: ef")), frames),
                         ["pass", "pass", "tag", "tag", "pass", "drop"])

    def test_all_limits_of_a_rule_must_admit(self):
        rules = rule("""
  - id: both
    mode: enforce
    key: [ip.src]
    limits:
      - {algorithm: token_bucket, rate: 10/s, burst: 4}
      - {algorithm: token_bucket, per: byte, rate: 1KB/s, burst: 200B}
""")
        # Two of 100 bytes empty the second limit; what it refuses leaves the first alone.
        frames = [(0, udp(size=100))] * 4 + [(0, udp(size=28))] * 1 + [(28 * MS, udp(size=28))]
        _, rows, _ = self.replay(rules, pcap(frames))
        self.assertEqual([(row[1], row[5]) for row in rows],
                         [("pass", "0"), ("pass", "0"), ("drop", str(100 * MS)),
                          ("drop", str(100 * MS)), ("drop", str(28 * MS)), ("pass", "0")])

    def test_the_strictest_decides_and_the_first_of_equals(self):
        rules = rule("""
  - {id: a, mode: enforce, key: [], on_exceed: {action: tag, dscp: 1},
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
  - {id: b, mode: enforce, key: [], on_exceed: {action: drop}, when: l4.dport eq 9,
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
  - {id: c, mode: enforce, key: [], on_exceed: {action: drop}, when: l4.dport eq 9,
     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}
""")
        _, rows, _ = self.replay(rules, pcap([(0, udp(dport=9))] * 2 + [(0, udp(dport=1))]))
        self.assertEqual([(row[1], row[3]) for row in rows],
                         [("pass", ""), ("drop", "b"), ("tag", "a")])
        # The wait is the longest of all limits that refused.
        self.assertEqual(rows[1][5], str(24 * 3600 * SECOND))


class OnMatch(Replay):
    RULES = rule("""
  - id: meter
    mode: enforce
    key: []
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]
  - {id: watched-deny, mode: monitor, when: "l4.dport in {8 9 10}", on_match: drop}
  - {id: allow-ten, mode: enforce, when: l4.dport eq 10, on_match: allow}
  - {id: deny, mode: enforce, when: "l4.dport in {9 10}", on_match: drop}
""")

    def test_decides_before_any_limit_and_the_first_wins(self):
        frames = [(0, udp(dport=port)) for port in (10, 10, 9, 8, 8)]
        summary, rows, _ = self.replay(self.RULES, pcap(frames))
        self.assertEqual([(row[1], row[2], row[3]) for row in rows],
                         [("pass", "allow_rule", "allow-ten"), ("pass", "allow_rule", "allow-ten"),
                          ("drop", "deny_rule", "deny"), ("pass", "within_limits", ""),
                          ("drop", "over_limit", "meter")])
        self.assertEqual(rows[2][4:], ["", ""])
        self.assertEqual(self.rule_counts(summary, "watched-deny"), (0, 5, 0))
        self.assertEqual(self.rule_counts(summary, "allow-ten"), (2, 0, 0))
        self.assertEqual(self.rule_counts(summary, "deny"), (0, 1, 0))

    def test_enforce_makes_the_watched_one_act(self):
        self.assertEqual(self.verdicts(self.RULES, [(0, udp(dport=10))], "--enforce"), ["drop"])


class Modes(Replay):
    RULES = rule("""
  - {id: watched, mode: monitor, key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 2}]}
  - {id: sleeping, mode: off, key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
""")

    def test_monitor_counts_and_does_not_act(self):
        summary, rows, _ = self.replay(self.RULES, pcap([(0, udp())] * 5))
        self.assertEqual({tuple(row[1:3]) for row in rows}, {("pass", "unmatched")})
        self.assertEqual([entry["id"] for entry in summary["rules"]], ["watched", "sleeping"])
        self.assertEqual(self.rule_counts(summary, "watched"), (2, 3, 0))
        self.assertEqual(self.rule_counts(summary, "sleeping"), (0, 0, 0))

    def test_enforce_leaves_off_alone(self):
        summary, rows, _ = self.replay(self.RULES, pcap([(0, udp())] * 5), "--enforce")
        self.assertEqual([row[1] for row in rows], ["pass"] * 2 + ["drop"] * 3)
        self.assertEqual(self.rule_counts(summary, "sleeping"), (0, 0, 0))

    def test_off_may_hold_what_is_not_built(self):
        rules = self.RULES + """
  - {id: later, mode: off, when: registrable_domain(http.host) eq "a", key: [http.host], per: request,
     scope: cluster, limits: [{algorithm: token_bucket, rate: 3/s, burst: 3}]}
"""
        summary, _, _ = self.replay(rules, pcap([(0, udp())]))
        self.assertEqual(len(summary["rules"]), 3)

    def test_what_no_cluster_can_share_is_refused(self):
        rules = self.write("rules.yaml", rule("""
  - {id: later, key: [http.host], scope: cluster, limits: [{algorithm: token_bucket, rate: 3/s, burst: 1}]}
"""))
        capture = self.write("in.pcap", pcap([(0, udp())]))
        out, err = self.ctl("replay", rules, "--pcap", capture, "--json", exit=1)
        self.assertEqual(out, "")
        self.assertIn("cannot share it", err)
        self.assertIn("rules.yaml:4:", err)

    def test_missing_key_parts(self):
        rules = """
  - {{id: ports, mode: enforce, key: [l4.dport], missing_key: {policy},
     limits: [{{algorithm: token_bucket, rate: 1/h, burst: 1}}]}}
"""
        frames = [(0, icmp()), (0, arp()), (0, icmp(src="192.0.2.9")), (0, udp()), (0, udp())]
        summary, rows, _ = self.replay(rule(rules.format(policy="skip")), pcap(frames))
        self.assertEqual([row[1] for row in rows], ["pass"] * 4 + ["drop"])
        self.assertEqual(self.rule_counts(summary, "ports"), (1, 1, 3))
        summary, rows, _ = self.replay(rule(rules.format(policy="share")), pcap(frames))
        self.assertEqual([row[1] for row in rows], ["pass", "drop", "drop", "pass", "drop"])
        self.assertEqual(self.rule_counts(summary, "ports"), (2, 3, 0))
        self.assertEqual([row[4] for row in rows], ["", "", "", "", "53"])


class Input(Replay):
    FRAMES = [(1_700_000_000 * SECOND + i * 30 * MS, udp()) for i in range(20)]

    def test_captures_that_span_decades(self):
        per_day = rule("""
  - id: per-day
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 3}, {algorithm: sliding_window, count: 9, window: 1d},
             {algorithm: fixed_window, count: 9, window: 1d, phase: per_key}]
""")
        once = [row[1:] for row in self.replay(per_day, pcap(self.FRAMES))[1]]
        self.assertEqual(once.count(["drop", "over_limit", "per-day", "192.0.2.1", "40000000"]), 1)
        years = 365 * 86_400 * SECOND
        begins = [0, 3 * years, 30 * years, 41 * years, 54 * years, 100 * years]
        frames = [(begin + time - self.FRAMES[0][0], frame) for begin in begins
                  for time, frame in self.FRAMES]
        _, rows, err = self.replay(per_day, pcap(frames))
        for begin in range(0, len(rows), len(once)):
            self.assertEqual([row[1:3] for row in rows[begin:begin + len(once)]],
                             [row[:2] for row in once], begin)
        self.assertEqual(err, "")

    def test_every_format_gives_the_same_verdicts(self):
        _, expected, _ = self.replay(PER_SOURCE, pcap(self.FRAMES))
        self.assertIn("drop", [row[1] for row in expected])
        for capture in (pcap(self.FRAMES, order=">"), pcap(self.FRAMES, nanoseconds=False),
                        pcap(self.FRAMES, nanoseconds=False, order=">"), pcapng(self.FRAMES),
                        pcapng(self.FRAMES, order=">")):
            self.assertEqual(self.replay(PER_SOURCE, capture)[1], expected)

    def test_a_cut_last_record_is_a_warning(self):
        for capture in (pcap(self.FRAMES), pcapng(self.FRAMES)):
            summary, _, err = self.replay(PER_SOURCE, capture[:-5])
            self.assertEqual(summary["packets"], 19)
            self.assertIn("warning", err)
            self.assertIn("cut", err)
        self.assertEqual(self.replay(PER_SOURCE, pcap(self.FRAMES))[2], "")

    def test_interfaces_of_other_link_types_and_snap_lengths(self):
        frames = [(time, frame, 2 * (number % 2)) for number, (time, frame) in
                  enumerate(self.FRAMES)]
        frames.insert(1, (frames[0][0], b"cooked", 1))
        capture = self.write("in.pcapng", pcapng(frames, links=(1, 113, 1)))
        rules = self.write("rules.yaml", PER_SOURCE)
        expected, _, _ = self.replay(PER_SOURCE, pcap(self.FRAMES))
        out, err = self.ctl("replay", rules, "--pcap", capture, "--json")
        self.assertEqual(json.loads(out), {**expected, "not_ethernet": 1})
        self.assertIn("1 frames that are not Ethernet's are left out (1 on LINUX_SLL)", err)
        out, _ = self.ctl("replay", rules, "--pcap", capture)
        self.assertRegex(out, r"not Ethernet, left out +1\n")
        for frame, code in ((1, 0), (2, 1), (3, 0)):  # explain numbers them in the same way
            self.ctl("explain", rules, "--pcap", capture, "--frame", str(frame), exit=code)

    def test_refused(self):
        rules = self.write("rules.yaml", PER_SOURCE)
        broken = pcap(self.FRAMES) + b"\0" * 8 + b"\xff\xff\xff\x7f" * 2 + b"x" * 64
        for capture, word in ((pcap(self.FRAMES, link=113), "Ethernet"), (b"", "pcap"),
                              (b"no capture at all, but long enough", "pcap"),
                              (broken, "in.pcap")):
            path = self.write("in.pcap", capture)
            out, err = self.ctl("replay", rules, "--pcap", path, "--json", exit=1)
            self.assertEqual(out, "")
            self.assertIn(word, err)
        _, err = self.ctl("replay", rules, "--pcap", self.path("absent"), exit=1)
        self.assertIn("No such file", err)

    def test_standard_input(self):
        rules = self.write("rules.yaml", PER_SOURCE)
        out, _ = self.ctl("replay", rules, "--pcap", "-", "--json", stdin=pcap(self.FRAMES))
        self.assertEqual(json.loads(out)["packets"], 20)

    def test_an_empty_capture(self):
        summary, rows, _ = self.replay(PER_SOURCE, pcap([]))
        self.assertEqual((summary["packets"], rows), (0, []))

    def test_a_snap_length_makes_nothing_malformed(self):
        frames = [(0, udp(size=1000))] * 2
        for snap in (16, 30, 38, 42, 60):
            _, rows, _ = self.replay(NOTHING_LIMITED, pcap(frames, snap=snap))
            self.assertEqual({row[2] for row in rows}, {"within_limits"}, snap)

    def test_malformed_is_counted_and_passed(self):
        frames = [(0, udp()[:20]), (0, udp()), (0, b"\x02\0\0")]
        summary, rows, _ = self.replay(PER_SOURCE, pcap(frames))
        self.assertEqual([row[1:] for row in rows],
                         [["pass", "truncated_l3", "", "", "0"],
                          ["pass", "within_limits", "", "", "0"],
                          ["pass", "truncated_l2", "", "", "0"]])
        self.assertEqual(self.rule_counts(summary, "per-source"), (1, 0, 0))


class Box(Replay):
    CONFIG = """
version: 1
ports:
  - name: uplink
    outside: {device: net_tap0}
    inside: {device: net_tap1, rss: destination}
packets: {malformed: drop, tunnels: [gre]}
"""

    def test_config_gives_the_packet_policies(self):
        config = self.write("sluice.yaml", self.CONFIG)
        gre = b"\0\0\x08\0" + ipv4("10.0.0.1", "10.0.0.2", 17, udp_header(1, 2))
        tunnelled = ethernet(ipv4("192.0.2.1", "198.51.100.7", 47, gre), 0x0800)
        rules = rule("""
  - {id: inner, mode: enforce, when: ip.src eq 10.0.0.1, on_match: drop}
  - {id: named, mode: enforce, when: port eq "uplink" and ip.src eq 192.0.2.7, on_match: drop}
""")
        frames = [(0, udp()[:20]), (0, tunnelled), (0, udp(src="192.0.2.7")), (0, udp())]
        _, rows, _ = self.replay(rules, pcap(frames), "--config", config)
        self.assertEqual([row[1:4] for row in rows],
                         [["drop", "truncated_l3", ""], ["drop", "deny_rule", "inner"],
                          ["drop", "deny_rule", "named"], ["pass", "unmatched", ""]])
        self.assertEqual([row[5] for row in rows], ["", "", "", "0"])
        _, rows, _ = self.replay(rules, pcap(frames))
        self.assertEqual([row[1] for row in rows], ["pass"] * 4)

    def test_inside_gives_the_direction(self):
        rules = rule("""
  - {id: out, mode: enforce, when: dir eq "out", on_match: drop}
""")
        frames = [(0, udp(src="10.1.0.1")), (0, udp(src="11.0.0.1", dst="10.1.0.1")),
                  (0, udp6(src="2001:db8::1")), (0, arp()), (0, udp(src="172.16.0.1"))]
        self.assertEqual(self.verdicts(rules, frames), ["pass"] * 5)
        self.assertEqual(self.verdicts(rules, frames, "--inside", "10.0.0.0/8", "--inside",
                                       "2001:db8::/32"),
                         ["drop", "pass", "drop", "pass", "pass"])
        self.ctl("replay", self.path("rules.yaml"), "--pcap", self.path("in.pcap"), "--inside",
                 "10.0.0.1/8", exit=2)


class Output(Replay):
    def forwarded(self, rules, capture, *options):
        self.replay(rules, capture, "--out", self.path("out.pcap"), *options)
        return read_pcap(self.read("out.pcap"))

    def test_identity_when_nothing_is_limited(self):
        frames = [(1_700_000_000 * SECOND + i, udp(size=28 + i)) for i in range(100)]
        frames += [(4_000_000_000 * SECOND + 999_999_999, arp()), (0, b"\x02\0\0"), (5, udp6())]
        out = self.forwarded(NOTHING_LIMITED, pcap(frames))
        self.assertEqual(out, [(time, frame, len(frame)) for time, frame in frames])
        self.assertEqual(self.read("out.pcap"), pcap(frames))

    def test_cut_frames_keep_their_size_on_the_wire(self):
        out = self.forwarded(NOTHING_LIMITED, pcap([(7, udp(size=1000))], snap=60))
        self.assertEqual(out, [(7, udp(size=1000)[:60], 1014)])

    def test_holds_what_was_forwarded(self):
        frames = [(i * 30 * MS, udp(sport=i + 1)) for i in range(40)]
        out = self.forwarded(PER_SOURCE, pcap(frames))
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        passed = [int(row[0]) - 1 for row in rows if row[1] == "pass"]
        self.assertTrue(0 < len(passed) < 40)
        self.assertEqual([(time, frame) for time, frame, _ in out], [frames[i] for i in passed])

    def test_tags_are_written(self):
        rules = rule("""
  - {id: colour, mode: enforce, key: [], on_exceed: {action: tag, dscp: ef, pcp: 5},
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]}
""")
        tagged = udp(size=60, tags=[(0x8100, 0x0007)])
        plain = ethernet(ipv4("192.0.2.1", "198.51.100.7", 17, udp_header(1, 2), tos=0x03), 0x0800)
        out = [frame for _, frame, _ in
               self.forwarded(rules, pcap([(0, udp()), (0, tagged), (0, plain), (0, udp6())]))]
        self.assertEqual(out[0], udp())
        self.assertEqual(out[1][14:16], b"\xa0\x07")  # PCP 5, VLAN 7
        self.assertEqual(out[1][19], 0xB8)
        self.assertEqual(checksum(out[1][18:38]), 0)
        self.assertEqual(out[1][:14], tagged[:14])
        self.assertEqual(out[1][38:], tagged[38:])
        self.assertEqual(out[2][15], 0xBB)  # ECN stays
        self.assertEqual(checksum(out[2][14:34]), 0)
        self.assertEqual(out[3][14:16], b"\x6b\x80")
        self.assertEqual(out[3][16:], udp6()[16:])

    def dscp_of(self, frame):
        self.assertEqual(checksum(frame[14:34]), 0)
        return frame[15] >> 2

    def test_a_colour_writes_its_own_tag(self):
        # One packet is green, one yellow, the rest is red, which goes on with a tag as well.
        rules = rule("""
  - id: colours
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: srtcm, cir: 1/h, cbs: 1, ebs: 1}]
    on_exceed: {action: tag, dscp: cs7}
    on_color: {green: {action: tag, dscp: af11}, yellow: {action: tag, dscp: af12},
               red: {action: tag, dscp: cs1, pcp: 6}}
""")
        vlan = udp(size=60, tags=[(0x8100, 0x2007)])
        out = [frame for _, frame, _ in
               self.forwarded(rules, pcap([(0, udp()), (0, udp()), (0, udp()), (0, vlan)]))]
        self.assertEqual([self.dscp_of(frame) for frame in out[:3]], [10, 12, 8])
        self.assertEqual(out[3][14:16], b"\xc0\x07")  # PCP 6, VLAN 7
        self.assertEqual(out[3][19] >> 2, 8)
        self.assertEqual(checksum(out[3][18:38]), 0)

    def test_a_ban_writes_its_own_tag(self):
        # The second packet is refused, which bans its source.
        rules = rule("""
  - id: banning
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]
    on_exceed: {action: tag, dscp: ef}
    ban: {after: 1, within: 1m, for: 1h, action: tag, dscp: cs1}
""")
        other = udp(src="192.0.2.9")
        out = [frame for _, frame, _ in self.forwarded(
            rules, pcap([(0, udp()), (0, udp()), (MS, udp()), (2 * MS, udp()), (2 * MS, other)]))]
        self.assertEqual([self.dscp_of(frame) for frame in out], [0, 46, 8, 8, 0])
        self.assertEqual([frame[16:24] + frame[26:] for frame in out[:4]],
                         [udp()[16:24] + udp()[26:]] * 4)

    def test_never_overwrites_its_input(self):
        rules = self.write("rules.yaml", PER_SOURCE)
        capture = self.write("in.pcap", pcap([(0, udp())]))
        for option in ("--out", "--verdicts"):
            _, err = self.ctl("replay", rules, "--pcap", capture, option, capture, exit=1)
            self.assertIn("overwritten", err)
        self.assertEqual(self.read("in.pcap"), pcap([(0, udp())]))

    def test_a_full_disk_is_no_success(self):
        rules = self.write("rules.yaml", PER_SOURCE)
        capture = self.write("in.pcap", pcap([(0, udp())]))
        for option in ("--out", "--verdicts"):
            self.ctl("replay", rules, "--pcap", capture, option, "/dev/full", exit=1)


class Workers(Replay):
    def random_frames(self):
        dice = random.Random(7)
        time, frames = 0, []
        for _ in range(3000):
            time += dice.choice((0, 0, 1, 5 * MS))
            make = dice.choice((udp, udp, udp, tcp, icmp, udp6, arp))
            if make is arp:
                frames.append((time, arp()))
            elif make is udp6:
                frames.append((time, udp6(src=f"2001:db8::{dice.randrange(20)}")))
            else:
                frames.append((time, make(src=f"192.0.2.{dice.randrange(40)}")))
        return frames

    def test_a_source_key_is_exact_on_any_number(self):
        capture = pcap(self.random_frames())
        summary, expected, _ = self.replay(PER_SOURCE, capture, "--workers", "1")
        self.assertGreater(summary["dropped"], 100)
        for workers in (2, 3, 8):
            other, rows, _ = self.replay(PER_SOURCE, capture, "--workers", str(workers))
            self.assertEqual(rows, expected)
            self.assertEqual(other, summary)

    def test_many_workers_take_what_a_machine_has(self):
        rules = self.write("rules.yaml", "version: 1\nrules:\n  - {id: a, mode: enforce, key: [l4.dport], "
                           "limits: [{algorithm: token_bucket, rate: 1000/s, burst: 1000}]}\n")
        capture = self.write("in.pcap", pcap([(0, udp()), (1, udp("192.0.2.2"))]))
        replay = subprocess.Popen([self.sluicectl, "replay", rules, "--pcap", capture, "--workers", "64"],
                                  stdout=subprocess.DEVNULL)
        _, status, use = os.wait4(replay.pid, 0)
        replay.returncode = status
        self.assertEqual(status, 0)
        self.assertLess(use.ru_maxrss, 2_500_000)  # KiB; half of it are the tables of 64 workers

    def test_workers_that_judge_nothing_take_little(self):
        rules, capture = self.write("rules.yaml", PER_SOURCE), self.write("in.pcap", pcap([(0, udp()), (1, udp())]))
        process = subprocess.Popen([self.sluicectl, "replay", rules, "--pcap", capture, "--workers", "64", "--json"],
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertLess(usage.ru_maxrss, 2 << 20)  # KiB

    def test_one_worker_judges_what_cannot_be_shared(self):
        rules = rule("""
  - {id: all, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/d, burst: 5}]}
""")
        frames = [(0, udp(src=f"192.0.2.{i}")) for i in range(200)]
        self.assertEqual(self.verdicts(rules, frames).count("pass"), 5)
        self.assertEqual(self.verdicts(rules, frames, "--workers", "4").count("pass"), 5)
        # One source is one worker, and what is not IP the first.
        self.assertEqual(self.verdicts(rules, [(0, udp())] * 99, "--workers", "4").count("pass"), 5)
        self.assertEqual(self.verdicts(rules, [(0, arp())] * 99, "--workers", "4").count("pass"), 5)

    def test_workers_share_what_is_merged(self):
        rules = rule("""
  - {id: all, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/d, burst: 50}]}
""")
        for gap in (0, 2_000_000, 1_000_000_000):  # ns
            frames = [(gap * i, udp(src=f"192.0.2.{i}")) for i in range(200)]
            self.assertEqual(self.verdicts(rules, frames).count("pass"), 50)
            passed = self.verdicts(rules, frames, "--workers", "4").count("pass")
            self.assertGreaterEqual(passed, 50)
            self.assertLessEqual(passed, 50 + 3 * 2)  # (workers - 1) * max_unsynced

    def test_out_keeps_the_order(self):
        frames = [(i // 40, udp(src=f"192.0.2.{i % 50}", sport=i)) for i in range(500)]
        self.replay(NOTHING_LIMITED, pcap(frames), "--workers", "5", "--out",
                    self.path("out.pcap"))
        self.assertEqual(self.read("out.pcap"), pcap(frames))


class Usage(Replay):
    def test_wrong_usage(self):
        rules = self.write("rules.yaml", PER_SOURCE)
        for words in (("replay",), ("replay", rules), ("replay", rules, "--pcap", "x", "--workers",
                                                       "0"),
                      ("replay", rules, "--pcap", "x", "--workers", "many"),
                      ("replay", rules, "--pcap", "x", "--nonsense")):
            out, err = self.ctl(*words, exit=2)
            self.assertEqual(out, "")
            self.assertIn("error", err)

    def test_tables_for_people(self):
        rules = self.write("rules.yaml", PER_SOURCE)
        capture = self.write("in.pcap", pcap([(0, udp())] * 5))
        out, _ = self.ctl("replay", rules, "--pcap", capture)
        for word in ("passed", "dropped", "over_limit", "per-source", "EXCEEDED"):
            self.assertIn(word, out)
        self.assertNotIn("\033", out)

    def test_rules_with_errors(self):
        rules = self.write("rules.yaml", "version: 1\nrules:\n  - {id: a, when: ip.scr eq 1}\n")
        capture = self.write("in.pcap", pcap([(0, udp())]))
        out, err = self.ctl("replay", rules, "--pcap", capture, "--json", exit=1)
        self.assertEqual(out, "")
        self.assertIn("rules.yaml:3:", err)


if __name__ == "__main__":
    main()
