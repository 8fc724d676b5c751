"""What the model says of budgets, candidates, overrides, origins, texts, tags and full tables, against
numbers worked out by hand."""
import datetime
import ipaddress
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "smoke"))

import dns  # noqa: E402
import http1  # noqa: E402
import request_streams  # noqa: E402
import streams  # noqa: E402
import tls  # noqa: E402
import mmdb_writer  # noqa: E402
import places  # noqa: E402
from derived import path_prefix, registrable_domain  # noqa: E402
import quic  # noqa: E402
from expression import compile_condition  # noqa: E402
from hello import BadHello, Hello, Octets  # noqa: E402
from hello_maker import pairs, part  # noqa: E402
from frame import Packet, dissect  # noqa: E402
from limiter import Limiter  # noqa: E402
from model_test import ENDS, IPV4, SECOND, UDP, octets, packet  # noqa: E402
from origins import Database, Origins  # noqa: E402
from overrides import parse_until  # noqa: E402
from rules import Client, Cost, read_rules  # noqa: E402
from schedules import Active, Days  # noqa: E402
from services import Seen, Service  # noqa: E402
from tags import tagged  # noqa: E402
from texts import text_of  # noqa: E402

BUCKET = "{{algorithm: token_bucket, rate: {}, burst: {}}}"


def source(text, **fields):
    return packet(**{"ip_src": ipaddress.ip_address(text), **fields})


class Schedules(unittest.TestCase):
    """2026-10-25 is a Sunday, on which Berlin's clocks go from 3:00 to 2:00 at 01:00 UTC; 2026-03-29 one on which 2:00 becomes
    3:00 at 01:00 UTC."""

    def holds(self, at, **active):
        moment = datetime.datetime.fromisoformat(at + "+00:00")
        return Active(active).holds(int(moment.timestamp()) * SECOND)

    def test_hours_that_come_twice_count_twice_and_skipped_ones_never_come(self):
        for hours, at, wanted in (
                ("02:00-03:00", "2026-10-24T23:59:59", False), ("02:00-03:00", "2026-10-25T00:00:00", True),
                ("02:00-03:00", "2026-10-25T01:59:59", True), ("02:00-03:00", "2026-10-25T02:00:00", False),
                ("01:30-02:30", "2026-10-25T00:30:00", False), ("01:30-02:30", "2026-10-25T01:00:00", True),
                ("02:00-03:00", "2026-03-29T01:00:00", False), ("02:30-04:00", "2026-03-29T01:00:00", True)):
            self.assertEqual(self.holds(at, days="sun", hours=hours, zone="Europe/Berlin"), wanted, (hours, at))

    def test_days_of_a_zone_begin_once_and_are_as_long_as_its_clocks_say(self):
        for zone, count, at, hours in (
                ("Europe/Berlin", 1, "2026-03-29T12:00:00", 23), ("Europe/Berlin", 1, "2026-10-25T12:00:00", 25),
                ("Europe/Berlin", 7, "2026-03-29T12:00:00", 167), ("Australia/Lord_Howe", 1, "2026-04-05T00:00:00", 24.5),
                ("Asia/Beirut", 1, "2026-03-29T00:00:00", 23), ("America/St_Johns", 1, "2010-11-07T03:00:00", 25),
                ("Pacific/Apia", 1, "2011-12-30T09:59:59", 24), ("Pacific/Apia", 1, "2011-12-30T10:00:00", 24)):
            time = int(datetime.datetime.fromisoformat(at + "+00:00").timestamp()) * SECOND
            days = Days(zone, count * 86400 * SECOND)
            begin, end = days.begin_of_window(time), days.end_of_window(time)
            self.assertEqual((end - begin) / SECOND / 3600, hours, (zone, at))
            self.assertTrue(begin <= time < end, (zone, at))

    def test_what_goes_over_midnight_belongs_to_the_day_on_which_it_begins(self):
        for at, wanted in (("2026-11-27T22:00:00", True), ("2026-11-28T05:59:59", True), ("2026-11-28T06:00:00", False),
                           ("2026-11-27T05:00:00", False), ("2026-11-28T22:00:00", False)):
            self.assertEqual(self.holds(at, days="fri", hours="22:00-06:00"), wanted, at)
        self.assertTrue(self.holds("2026-11-30T12:00:00", days="sat-mon"))
        self.assertFalse(self.holds("2026-12-01T12:00:00", days=["sat-mon", "wed"]))


class Rules(unittest.TestCase):
    def limiter(self, text, enforce=False, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {"rules.yaml": "version: 1\n" + text, **files}.items():
                mode = "wb" if isinstance(content, bytes) else "w"
                with open(os.path.join(folder, name.replace("_", ".")), mode) as file:
                    file.write(content)
            return Limiter(read_rules(os.path.join(folder, "rules.yaml")), enforce=enforce)

    def passed(self, limiter, time, what, offered=20):
        verdicts = [limiter.judge(time, what()) for _ in range(offered)]
        return sum(verdict.action == "pass" for verdict in verdicts)

    def counts(self, limiter):
        return {rule["id"]: (rule["admitted"], rule["exceeded"])
                for rule in limiter.summary()["rules"]}

    def test_several_shapers_have_one_departure(self):
        """Each is charged as of it, and nothing of a key leaves before what is held of it."""
        shape = "on_exceed: {action: shape, max_delay: 1s}"
        limiter = self.limiter(f"""rules:
  - {{id: source, mode: enforce, key: [ip.src], limits: [{BUCKET.format('10/s', 3)}], {shape}}}
  - {{id: web, mode: enforce, when: l4.dport eq 80, key: [],
     limits: [{{algorithm: leaky_bucket, rate: 2/s, queue: 9}}], {shape}}}
""")
        seen = [limiter.judge(0, source(address, l4_dport=port)) for address, port in
                (("10.0.0.1", 80), ("10.0.0.1", 80), *[("10.0.0.1", 53)] * 3, ("10.0.0.2", 53))]
        self.assertEqual([(one.action, one.wait) for one in seen],
                         [("pass", "0"), ("shape", "500000000"), ("shape", "500000000"),
                          ("shape", "500000000"), ("shape", "600000000"), ("pass", "0")])

    def test_what_is_held_names_the_key_whose_departure_it_waits_for(self):
        """Not the one that refuses it for a shorter time."""
        limiter = self.limiter("""rules:
  - id: held
    mode: enforce
    tiers:
      - {key: [l4.dport], limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 9}]}
      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 333/s, burst: 1}]}
    on_exceed: {action: shape, max_delay: 1s}
""")
        seen = [limiter.judge(0, source("10.0.0.1", l4_dport=53)) for _ in range(2)]
        self.assertEqual([(one.action, one.wait, one.key) for one in seen],
                         [("pass", "0", ""), ("shape", "100000000", "53")])

    def test_budgets_of_bypass(self):
        limiter = self.limiter(f"""
bypass:
  - {{when: l4.dport eq 53, key: [], limit: {BUCKET.format('10/s', 2)}}}
  - {{when: ip.src eq 10.0.0.1, key: [ip.src], limit: {BUCKET.format('1/s', 1)}}}
rules: [{{id: all, mode: enforce, on_match: drop}}]
""")
        seen = [limiter.judge(0, source("10.0.0.1", l4_dport=53)) for _ in range(4)]
        self.assertEqual([(one.action, one.rule, one.key) for one in seen],
                         [("pass", "bypass.1", ""), ("pass", "bypass.1", ""),
                          ("pass", "bypass.2", "10.0.0.1"), ("drop", "all", "")])
        self.assertEqual(self.counts(limiter), {"bypass.1": (2, 2), "bypass.2": (1, 1),
                                                "all": (0, 1)})

    def test_candidates_count_and_never_act(self):
        text = f"""
limits: {{a: {BUCKET.format('10/s', 4)}}}
rules:
  - id: r
    mode: enforce
    key: [ip.src]
    limits: [a, {BUCKET.format('1000/s', 100)}]
    candidates:
      - {{name: few, limits: {{a: {{burst: 2}}}}}}
      - {{name: second, limits: {{"2": {{burst: 3}}}}}}
      - {{name: log, limits: {{a: {{algorithm: sliding_log, count: 1, window: 1s}}}}}}
      - {{name: more, limits: {{a: {{burst: 6}}}}}}
"""
        for enforce in (False, True):
            limiter = self.limiter(text, enforce)
            self.assertEqual(self.passed(limiter, 0, lambda: source("10.0.0.1"), 10), 4)
            self.assertEqual(self.counts(limiter), {"r": (4, 6), "r.few": (2, 8),
                                                    "r.second": (3, 7), "r.log": (1, 9), "r.more": (6, 4)})

    def test_candidates_are_judged_in_the_place_of_their_rule(self):
        more = 'candidates: [{name: more, limits: {"1": {burst: 6}}}]'
        other = f"  - {{id: s, mode: enforce, key: [], limits: [{BUCKET.format('1/s', 3)}], on_exceed: {{action: %s}}}}"
        for mode, action, counted in (("enforce", "drop", (3, 0)), ("enforce", "pass", (6, 4)), ("monitor", "drop", (3, 0))):
            limiter = self.limiter(f"""
rules:
  - {{id: r, mode: {mode}, key: [ip.src], limits: [{BUCKET.format('1/s', 4)}], {more}}}
{other % action}
""")
            self.passed(limiter, 0, lambda: source("10.0.0.1"), 10)
            self.assertEqual(self.counts(limiter)["r.more"], counted)

    def test_overrides_and_their_ends(self):
        limiter = self.limiter(f"""
rules:
  - id: r
    mode: enforce
    key: [ip.src]
    limits: [{BUCKET.format('1/s', 5)}]
    overrides:
      file: keys.csv
      inline:
        - {{key: [10.0.0.2], limits: {{"1": {{rate: 10/s, burst: 20}}}}, until: '1970-01-01T12:00:00Z'}}
        - {{key: [10.0.0.3], exempt: true, until: 1970-01-01}}
""", keys_csv="key,limit,rate,burst,count,expires,reason\n10.0.0.1,1,,9,,,a contract\n")
        noon, midnight = 43_200 * SECOND, 86_400 * SECOND
        self.assertEqual(self.passed(limiter, 0, lambda: source("10.0.0.1")), 9)
        self.assertEqual(self.passed(limiter, 0, lambda: source("10.0.0.4")), 5)
        self.assertEqual(self.passed(limiter, noon - SECOND, lambda: source("10.0.0.2"), 50), 20)
        # Ten came back by the end; the ten that are still owed are more than the rule's burst.
        self.assertEqual(self.passed(limiter, noon, lambda: source("10.0.0.2")), 0)
        self.assertEqual(self.passed(limiter, noon + 3 * SECOND, lambda: source("10.0.0.2")), 0)
        self.assertEqual(self.passed(limiter, noon + 8 * SECOND, lambda: source("10.0.0.2")), 3)
        self.assertEqual(self.passed(limiter, midnight - 1, lambda: source("10.0.0.3")), 20)
        self.assertEqual(self.passed(limiter, midnight, lambda: source("10.0.0.3")), 5)
        self.assertEqual(limiter.counts["r"]["exempted"], 20)

    def test_bans_by_name_and_their_ends(self):
        limiter = self.limiter(f"""
rules:
  - id: r
    mode: enforce
    key: [ip.src]
    limits: [{BUCKET.format('1/s', 5)}]
    overrides:
      file: keys.csv
      inline:
        - {{key: [10.0.0.2], exempt: true}}
""", keys_csv="key,limit,rate,burst,count,expires,reason,ban\n10.0.0.1,,,,,1970-01-01,abuse,yes\n"
              "10.0.0.1,1,,9,,,once it is over,\n10.0.0.3,,,,,,,yes\n10.0.0.4,1,,7,,,,\n")
        midnight = 86_400 * SECOND
        banned = limiter.judge(midnight - SECOND, source("10.0.0.1"))
        self.assertEqual((banned.action, banned.reason, banned.longest), ("drop", "banned", SECOND))
        self.assertEqual(limiter.judge(midnight - SECOND, source("10.0.0.3")).reason, "banned")
        self.assertEqual(self.passed(limiter, midnight - SECOND, lambda: source("10.0.0.2")), 20)
        self.assertEqual(self.passed(limiter, midnight - SECOND, lambda: source("10.0.0.4")), 7)
        self.assertEqual(self.passed(limiter, midnight, lambda: source("10.0.0.1")), 9)
        self.assertEqual(limiter.counts["r"]["banned"], 2)

    def test_bans_of_all_that_a_source_sends(self):
        for spoofable, reason in (("", "unmatched"), (", spoofable: yes", "banned_source")):
            limiter = self.limiter(f"""
rules:
  - id: r
    mode: enforce
    when: ip.proto eq 1
    key: [ip.src]
    limits: [{BUCKET.format('1/s', 5)}]
    ban: {{after: 2, within: 1m, for: 1m, applies_to: source{spoofable}}}
""")
            for _ in range(7):
                limiter.judge(0, source("10.0.0.1", ip_proto=1))
            self.assertEqual(limiter.judge(0, source("10.0.0.1", ip_proto=2)).reason, reason)
            self.assertEqual(limiter.judge(0, source("10.0.0.2", ip_proto=2)).reason, "unmatched")
            self.assertEqual(limiter.judge(60 * SECOND, source("10.0.0.1", ip_proto=2)).reason, "unmatched")
            self.assertEqual(limiter.counts["r"].get("banned_sources", 0), int(reason == "banned_source"))

    def test_bans_of_networks(self):
        limiter = self.limiter(f"""
rules:
  - id: r
    mode: enforce
    key: [ip.src]
    limits: [{BUCKET.format('1/s', 5)}]
    overrides: {{file: keys.csv}}
""", keys_csv="key,limit,rate,burst,count,expires,reason,ban\n10.0.0.0/24,,,,,1970-01-01,abuse,yes\n"
              "10.0.0.1,exempt,,,,,,\n10.0.0.2,1,,9,,,,\n10.0.0.0/8,,,,,,,yes\n")
        for source_, reason in (("10.0.0.1", "exempt"), ("10.0.0.2", "banned"), ("10.0.0.3", "banned"),
                                ("10.1.0.1", "banned"), ("11.0.0.1", "within_limits")):
            self.assertEqual(limiter.judge(0, source(source_)).reason, reason, source_)

    def test_networks_and_ranges(self):
        limiter = self.limiter(f"""
rules:
  - id: r
    mode: enforce
    key: [ip.src]
    limits: [{BUCKET.format('1/s', 5)}]
    overrides:
      file: keys.csv
      inline:
        - {{key: [10.1.0.0/16], exempt: true, until: 1970-01-01}}
        - {{key: 10.0.0.5-10.0.0.20, limits: {{"1": {{burst: 8}}}}}}
""", keys_csv="key,limit,rate,burst,count,expires,reason,ban\n10.0.0.0/8,1,,7,,,,\n10.1.1.1,1,,9,,,,\n"
              "10.1.2.0/24,,,,,,,yes\n10.0.0.0/9,,,,,1970-01-01,,yes\n10.128.0.0/9,1,,3,,,,\n")
        midnight = 86_400 * SECOND
        for source_, reason in (("10.1.0.1", "exempt"), ("10.1.1.1", "banned"), ("10.1.2.3", "banned"),
                                ("10.2.0.1", "banned"), ("10.128.0.1", "within_limits")):
            self.assertEqual(limiter.judge(0, source(source_)).reason, reason, source_)
        for source_, passed in (("10.0.0.4", 7), ("10.0.0.5", 8), ("10.0.0.20", 8), ("10.0.0.21", 7), ("10.1.0.1", 7),
                                ("10.1.1.1", 9), ("10.200.0.1", 3), ("11.0.0.1", 5), ("10.1.2.3", 0)):
            self.assertEqual(self.passed(limiter, midnight, lambda at=source_: source(at)), passed, source_)

    def test_days_and_instants(self):
        self.assertEqual(parse_until("1970-01-01"), 86_400 * SECOND)
        self.assertEqual(parse_until("1970-01-02T00:00:01Z"), 86_401 * SECOND)

    def test_a_share_of_the_table(self):
        before, places.PLACES = places.PLACES, 300  # of which a rule has three
        self.addCleanup(setattr, places, "PLACES", before)
        rules = ("rules: [{{id: r, mode: enforce, key: [ip.src], table_share: 1%, on_full: {}, "
                 "limits: [{}]}}]")
        for on_full, wanted in (
                ("open", ["pass"] * 10),
                ("closed", ["pass"] * 3 + ["drop"] * 7),
                # Four of a network, which the sources without a place share.
                ("{coarsen: {factor: 4}}", ["pass"] * 7 + ["drop"] * 3)):
            limiter = self.limiter(rules.format(on_full, BUCKET.format("1/d", 1)))
            seen = [limiter.judge(0, source(f"10.0.0.{host}")) for host in range(10)]
            self.assertEqual([one.action for one in seen], wanted)
            self.assertEqual(limiter.judge(0, source("10.0.0.1")).reason, "over_limit")
            if on_full == "closed":
                self.assertEqual((seen[9].reason, seen[9].wait), ("table_full", ""))

    def test_the_last_step_is_the_rule(self):
        before, places.PLACES = places.PLACES, 100
        self.addCleanup(setattr, places, "PLACES", before)
        limiter = self.limiter("rules: [{id: r, mode: enforce, key: [l4.dport], table_share: 1%, "
                               "on_full: {coarsen: {factor: 3}}, limits: ["
                               + BUCKET.format("1/d", 1) + "]}]")
        seen = [limiter.judge(0, packet(l4_dport=port)).action for port in range(6)]
        self.assertEqual(seen, ["pass"] * 4 + ["drop"] * 2)


class Origin(unittest.TestCase):
    def test_of_addresses(self):
        countries = mmdb_writer.Database("Test")
        countries.add("10.0.0.0/8", mmdb_writer.country("NL"))
        countries.add("10.1.0.0/16", mmdb_writer.country("DE"))
        countries.add("2001:db8::/32", mmdb_writer.country("NO"))
        countries.add_alias("2002::/16")
        systems = mmdb_writer.Database("Test")
        systems.add("10.1.2.3/32", mmdb_writer.asn(4_200_000_000))
        origins = Origins(Database(countries.bytes()), Database(systems.bytes()))
        for address, wanted in (("10.2.0.1", {"country": "NL"}),
                                ("10.1.2.3", {"country": "DE", "asn": 4_200_000_000}),
                                ("11.0.0.1", {}), ("2001:db8::1", {"country": "NO"}),
                                ("2002:a01:203::1", {}), ("::10.1.2.3", {})):
            self.assertEqual(origins.of(ipaddress.ip_address(address)), wanted, address)


class Texts(unittest.TestCase):
    def test_conditions(self):
        fields = {"payload": b"GET /a}\"\xff\n", "l4.dport": 8005}
        for text, wanted in ((r'payload contains "}\""', True), (r'payload eq "GET /a}\x22"', False),
                             (r'lower(payload) contains "gEt"', True), ('payload contains "get"', False),
                             (r'ends_with(payload, "\xff\x0a")', True), (r'payload matches "\xff$"', True),
                             (r'payload matches "\xff.$"', False), (r'payload matches "(?s)\xff.$"', True),
                             ('lower(payload) matches "^gEt [/]"', True),
                             ('not starts_with(payload, "a") and l4.dport in $ports', True)):
            condition = compile_condition(text, {"ports": ["53", "8000..8010"]})
            self.assertEqual(condition(fields), wanted, text)
            self.assertEqual(compile_condition(f'not ({text})', {"ports": ["1"]})({}), True, text)

    def test_lists_of_texts(self):
        fields, lists = {"payload": b"GET /a.Example"}, {"words": ["et", "xyz"], "ends": [".example", "a"], "none": []}
        for text, wanted in (("payload contains $words", False), ("lower(payload) contains $words", True),
                             ("ends_with(payload, $ends)", False), ("ends_with(lower(payload), $ends)", True),
                             ("starts_with(payload, $ends)", False), ("lower(payload) contains $none", False),
                             ("not payload contains $none", True)):
            self.assertEqual(compile_condition(text, lists)(fields), wanted, text)
            self.assertFalse(compile_condition(f"{text} and payload eq \"\"", lists)({}), text)

    def test_names_of_types_of_dns(self):
        for text, wanted in (('dns.qtype eq "AAAA"', True), ('dns.qtype in {"a" "Aaaa"}', True), ('dns.qtype ne "ANY"', True),
                             ('dns.qtype in {"A" 29}', False), ('dns.qtype ge "https"', False)):
            self.assertEqual(compile_condition(text)({"dns.qtype": 28}), wanted, text)


    def test_prefixes_of_paths(self):
        for path, segments, wanted in ((b"/a/b/c", 2, b"/a/b"), (b"/a/b/c", 9, b"/a/b/c"), (b"/", 1, b"/"),
                                       (b"/a/", 1, b"/a"), (b"/a/", 2, b"/a/"), (b"*", 1, b"*")):
            self.assertEqual(path_prefix(path, segments), wanted)
        fields = {"http.request.uri.path": b"/a/b/c"}
        self.assertTrue(compile_condition('path_prefix(http.request.uri.path, 2) eq "/a/b"')(fields))
        self.assertTrue(compile_condition('lower(path_prefix( http.request.uri.path ,1)) eq "/A"')(fields))
        self.assertFalse(compile_condition('path_prefix(http.request.uri.path, 2) ne "/x"')({}))

    def test_registrable_domains(self):
        for name, wanted in ((b"www.shop.co.uk", b"shop.co.uk"), (b"co.uk", b"co.uk"), (b"uk", b"uk"),
                             (b"a.b.city.kawasaki.jp", b"city.kawasaki.jp"), (b"z.x.y.kawasaki.jp", b"x.y.kawasaki.jp"),
                             (b"a.www.ck", b"www.ck"), (b"a.b.other.ck", b"b.other.ck"), (b".", b"."),
                             (b"x.a.example", b"a.example"), (b"192.0.2.1", b"192.0.2.1"),
                             (b"[2001:db8::1]", b"[2001:db8::1]"), (rb"x.a\.b.com", rb"a\.b.com"),
                             (rb"x.a\\.com", rb"a\\.com")):
            self.assertEqual(registrable_domain(name), wanted)
        fields = {"http.host": b"www.shop.co.uk"}
        self.assertTrue(compile_condition('registrable_domain(http.host) in {"SHOP.co.uk"}')(fields))
        self.assertTrue(compile_condition('registrable_domain(http.host) matches "^SHOP[.]"')(fields))
        self.assertFalse(compile_condition('registrable_domain(dns.qname) eq "shop.co.uk"')(fields))


class Dns(unittest.TestCase):
    QUERY = octets("0007 0100 0001 0000 0000 0000 03 577757 02 612e 00 001c 0001")

    def test_fields_by_port(self):
        fields = {"proto.l7": b"dns", "dns.qr": 0, "dns.qname": b"www.a\\.", "dns.qtype": 28}
        self.assertEqual(dns.units_of(self.QUERY, (53, 9)), [fields])
        self.assertEqual(dns.units_of(self.QUERY, (9, 4000)), [fields])
        self.assertEqual(dns.units_of(self.QUERY + b"x", (9, 53)), [fields])
        self.assertEqual(dns.units_of(self.QUERY + b"x", (9, 4000)), [])
        self.assertEqual(dns.units_of(self.QUERY, (9, 5353)), [])
        for size in range(len(self.QUERY)):
            self.assertEqual(dns.units_of(self.QUERY[:size], (9, 53)), [], size)

    def test_names(self):
        for wire, text in (("00", [b"."]), ("01 41 c0 06", [b"a"]), ("02 ff20 00", [b"\\255\\032"]),
                           ("c0 0c", []), ("40 00", []), (("3f" + "78" * 63) * 4 + "00", [])):
            message = self.QUERY[:12] + octets(wire + "0001 0001")
            self.assertEqual([unit["dns.qname"] for unit in dns.units_of(message, (53, 1))], text, wire)

    def test_each_sound_question_of_a_query_is_a_unit(self):
        second = octets("0161 c010 0001 0001")  # a, then a question's second label
        for flags, count, body, names in (("0100", 2, second, [b"www.a\\.", b"a.a\\."]), ("0100", 1, second, [b"www.a\\."]),
                                          ("0100", 3, second + b"\x40", [b"www.a\\.", b"a.a\\."]),
                                          ("8180", 2, second, [b"www.a\\."])):
            message = octets(f"0007 {flags} {count:04x}") + self.QUERY[6:] + body
            self.assertEqual([unit["dns.qname"] for unit in dns.units_of(message, (9, 53))], names, (flags, count))

    def test_more_questions_than_units_are_none(self):
        for count, units in ((8, 8), (9, 0)):
            packet = Packet()
            packet.fields.update({"l4.sport": 9, "l4.dport": 53})
            dns.add_units(packet, octets(f"0007 0100 {count:04x} 0000 0000 0000") + octets("00 0001 0001") * count)
            self.assertEqual((packet.doubt, len(packet.further)), (None, max(units - 1, 0)))
            self.assertEqual("dns.qname" in packet.fields, units != 0)


class RequestStreams(unittest.TestCase):
    GET, POST = b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", b"POST / HTTP/1.1\r\nHost: a\r\n"

    def setUp(self):
        self.streams, self.now, self.is_open = request_streams.Streams(), 0, False

    def open(self, at):
        syn = Packet()
        syn.sequence, syn.fields["tcp.flags"], self.is_open = at % 2**32, 0x02, True
        self.streams.see(syn)

    def see(self, at, octets, dropped=False, behind=1):
        """-> (paths of the requests that are completed, why it is dropped)"""
        if not self.is_open:
            self.open(at)
        seen = Packet()
        self.now += behind
        seen.came = self.now
        seen.sequence, seen.fields["payload"] = at % 2**32, octets
        self.streams.see(seen)
        if seen.settle:
            seen.settle.fate = dropped
        units = [seen, *seen.further] if seen.requests else []
        return ([unit.fields["http.request.uri.path"] for unit in units],
                seen.doubt[0] if seen.doubt else None)

    def test_several_in_one_segment_and_one_in_several(self):
        first, second = self.GET % b"a", self.GET % b"b"
        self.assertEqual(self.see(-5, first + second + first[:7]), ([b"/a", b"/b"], None))
        self.assertEqual(self.see(-5 + len(first + second) + 7, first[7:]), ([b"/a"], None))

    def test_what_begins_behind_refused_bytes_is_kept_where_the_burst_has_refused_them(self):
        refused, head = self.POST + b"Content-Length: 4\r\n\r\n", self.GET % b"a"
        for behind, whole in ((0, [b"/a"]), (1, [])):
            self.setUp()
            self.assertEqual(self.see(0, refused, dropped=True), ([b"/"], None))
            self.assertEqual(self.see(len(refused), b"body" + head[:9], behind=behind), ([], "retransmission"))
            self.assertEqual(self.see(len(refused) + 4 + 9, head[9:]), (whole, None))

    def test_a_handshake_of_tls_is_unreadable_to_a_service(self):
        head = self.GET % b"a"
        service = Service({"id": "web", "protocol": "http", "when": "l4.dport eq 80", "mode": "enforce"}, {}, False)
        for begin in (b"", b"\r\n", head):
            stream, told = request_streams.Stream(0, http1.Readings()), []
            at = 0
            for octets in (begin + b"\x16", b"\x03\x01\x02\x03", head):
                packet = Packet()
                packet.came, packet.service = at, Seen(service, 0)
                stream.take(packet, at, octets)
                at += len(octets)
                told.append(packet.service.refusal)
            self.assertEqual(told, [None, "unreadable", "unreadable"], begin)

    def test_a_body_that_a_server_may_leave_unread_is_watched(self):
        get, chunks = b"GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        expects = self.POST + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"
        asks, unread = "ambiguous_request", "unreadable"
        for octets, enforced, monitored in (
                ((get + b"{1234567}", b"GET"), [None, None], [None, None]), ((get + b"\r\n", b"G"), [None, asks], [None, asks]),
                ((get + b"a=b", b"&c=", b"dGE"), [asks, unread, unread], [asks, None, None]),
                ((get + b"{1\nA B/1.1\n",), [None], [None]), ((chunks + b"3\r\n\r\n", b"G"), [None, asks], [None, asks]),
                ((expects + b"A B C/1.1\n",), [None], [None]),
                ((self.POST + b"Expect: 1\r\n\r\n",), [asks], [asks])):
            for mode, wanted in (("enforce", enforced), ("monitor", monitored)):
                service = Service({"id": "web", "protocol": "http", "when": "l4.dport eq 80", "mode": mode}, {}, False)
                stream, told, at = request_streams.Stream(0, http1.Readings()), [], 0
                for some in octets:
                    packet = Packet()
                    packet.came, packet.service = at, Seen(service, 0)
                    stream.take(packet, at, some)
                    at += len(some)
                    told.append(packet.service.refusal)
                self.assertEqual(told, wanted, (mode, octets))

    def test_before_their_turn(self):
        head = self.GET % b"a"
        self.assertEqual(self.see(0, head[:5]), ([], None))
        self.assertEqual(self.see(9, head[9:]), ([], None))
        self.assertEqual(self.see(5, head[5:9]), ([b"/a"], None))

    def test_repeats(self):
        head = self.GET % b"a"
        self.assertEqual(self.see(0, head), ([b"/a"], None))
        self.assertEqual(self.see(0, head), ([], None))
        self.assertEqual(self.see(len(head) - 1, b"?"), ([], None))  # keeps the connection alive
        self.assertEqual(self.see(0, head + self.GET % b"b", True), ([b"/b"], None))
        self.assertEqual(self.see(len(head), head), ([], "retransmission"))
        self.assertEqual(self.see(0, head), ([], None))
        self.assertEqual(self.see(0, head + head), ([], "retransmission"))

    def test_the_same_bytes_in_other_cuts_are_repeats(self):
        head = self.GET % b"a"
        self.assertEqual(self.see(0, head), ([b"/a"], None))
        self.assertEqual(self.see(3, head[3:]), ([], None))
        self.assertEqual(self.see(3, head[3:9]), ([], None))
        self.assertEqual(self.see(len(head), self.GET % b"b"), ([b"/b"], None))

    def test_behind_other_bytes_nothing_is_read(self):
        head = self.GET % b"a"
        for at, other in ((0, self.GET % b"b"), (3, head[3:-5] + b"?" + head[-4:])):
            self.setUp()
            self.assertEqual(self.see(0, head), ([b"/a"], None))
            self.assertEqual(self.see(at, other), ([], None))
            self.assertEqual(self.see(0, head + head), ([], None))
            self.assertEqual(self.see(len(head), head), ([], None))
        self.setUp()
        self.assertEqual(self.see(0, head[:9]), ([], None))
        self.assertEqual(self.see(4, b"?"), ([], None))
        self.assertEqual(self.see(9, head[9:]), ([], None))

    def test_behind_a_doubtful_end_nothing_is_read(self):
        folded = (self.GET % b"a")[:-2] + b"X: 1\r\n 2\r\n\r\n"
        self.assertEqual(self.see(0, folded + self.GET % b"b", True), ([b"/a"], None))
        self.assertEqual(self.see(len(folded), self.GET % b"b"), ([], None))
        self.assertEqual(self.see(0, folded), ([], "retransmission"))

    def test_without_a_syn_nothing_is_read(self):
        self.is_open = True
        self.assertEqual(self.see(0, self.GET % b"a"), ([], None))

    def test_bodies(self):
        sized, chunked = self.POST + b"Content-Length: 9\r\n\r\n", self.POST + b"Transfer-Encoding: chunked\r\n\r\n"
        self.assertEqual(self.see(0, sized + b"GET", True), ([b"/"], None))
        self.assertEqual(self.see(len(sized) + 3, b"123456"), ([], "retransmission"))
        at = len(sized) + 9
        self.assertEqual(self.see(at, chunked + b"1"), ([b"/"], None))
        at += len(chunked) + 1
        body = b"0\r\n" + b"GET / HTTP/1.1\r\n" + b"\r\n0;x\r\n\r\n"
        self.assertEqual(self.see(at, body + self.GET % b"a"), ([b"/a"], None))


class Http(unittest.TestCase):
    def test_a_target_that_is_also_the_reference_of_a_url_is_beyond_it(self):
        readings = http1.Readings()
        for target, is_beyond in ((b"//h/a", True), (b"/a\\b", True), (b"/a//../b", True), (b"/a%2F%2F%2E./b", True),
                                  (b"/a?//b\\", False), (b"/a//b", False)):
            seen, head = Packet(), b"GET %s HTTP/1.1\r\nHost: a" % target
            if is_beyond:
                self.assertRaises(streams.Beyond, http1.add_request, seen, head, readings)
            else:
                http1.add_request(seen, head, readings)
                self.assertEqual(seen.requests, 1, target)

    def fields(self, *lines):
        head = b"\r\n".join([b"GET / HTTP/1.1", b"Host: a", *lines])
        return http1.read_head(head)[0]

    def test_headers_by_name(self):
        fields = self.fields(b"X-Key:  k 1\t", b"x-key: second", b"X_!: ")
        self.assertEqual(fields['http.request.headers["x-key"]'], b"k 1")
        for text, wanted in (('http.request.headers["X-KEY"] eq "k 1"', True), ('http.request.headers["x_!"] ne ""', False),
                             ('http.request.headers["x_!"] eq ""', True), ('http.request.headers["x"] ne "1"', False)):
            self.assertEqual(compile_condition(text)(fields), wanted, text)

    def test_cookies_by_name(self):
        fields = self.fields(b"Cookie: a; a = 1 ;b=c=d;=e", b"Cookie: a=2; A=")
        for name, wanted in (("a", b"1"), ("b", b"c=d"), ("A", b""), ("B", None)):
            self.assertEqual(fields.get(f'http.cookies["{name}"]'), wanted, name)

    def test_costs_by_path(self):
        costs = Cost({"path": {"/": "2", "/a": "3", "/a/b": "5", "/c%2Fd": "7"}, "default": "11"})
        for path, wanted in ((b"/", 2), (b"/b/a", 2), (b"/a", 3), (b"/a/", 3), (b"/ab", 2), (b"/a/b/c", 5), (b"/a/bc", 3),
                             (b"/c%2Fd", 7), (b"/c", 2), (b"*", 11)):
            self.assertEqual(costs.of({"http.request.uri.path": path}), wanted, path)
        self.assertEqual((costs.of({}), Cost("4").of({})), (11, 4))

    def test_a_value_goes_on_in_the_next_line(self):
        fields = self.fields(b"X-Key: 1 \r\n\t2 ", b"Y: \r\n 3")
        self.assertEqual(fields['http.request.headers["x-key"]'], b"1 \r\n\t2")
        self.assertEqual(fields['http.request.headers["y"]'], b"3")


def hello(ciphers, *extensions, version=0x0303):
    block = b"".join(pairs([kind]) + part(2, content) for kind, content in extensions)
    return pairs([version]) + bytes(33) + part(2, pairs(ciphers)) + b"\1\0" + part(2, block)


class Hellos(unittest.TestCase):
    SNI = 0, part(2, b"\0" + part(2, b"A.example."))

    def test_the_fingerprint_of_foxio_s_example(self):
        ciphers = [0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC013, 0xC014, 0x9C, 0x9D,
                   0x2F, 0x35]
        algorithms = [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601]
        kinds = [0x1B, 0x33, 0x10, 0x4469, 0x17, 0x2D, 0x0D, 5, 0x23, 0x12, 0x2B, 0xFF01, 0x0B, 0x0A, 0x15]
        contents = {0x10: part(2, part(1, b"h2")), 0x0D: part(2, pairs(algorithms)), 0x2B: part(1, pairs([0x0304]))}
        extensions = [self.SNI, (0x0A0A, b""), *((kind, contents.get(kind, b"")) for kind in kinds)]
        found = Hello(hello([0x1A1A, *ciphers], *extensions)).fields("t")
        self.assertEqual(found, {"tls.sni": b"a.example", "tls.alpn": b"h2", "proto.scheme": b"https",
                                 "tls.ja4": b"t13d1516h2_8daaf6152771_e5627efa2ab1"})

    def test_what_is_not_read(self):
        for body in (hello([]), hello([1], self.SNI, self.SNI), hello([1], (0, part(2, 2 * self.SNI[1][2:]))), hello([1]) + b"x",
                     hello([1])[:-1], hello([1], version=0x0200), hello([1], (16, b"\0\2\2h"))):
            with self.assertRaises(BadHello, msg=body.hex()):
                Hello(body)

    def test_records_and_segments(self):
        message = b"\1" + part(3, hello([1], self.SNI))
        stream = b"\x16\3\1" + part(2, message[:3]) + b"\x16\3\3" + part(2, message[3:])
        streams = tls.Streams()
        syn = packet(ip_src=1, tcp_flags=2)
        syn.sequence = 0
        streams.see(syn)
        seen = []
        for at in range(0, len(stream), 7):
            one = packet(ip_src=1, payload=stream[at:at + 7])
            one.sequence = at
            streams.see(one)
            seen.append((one.handshakes, one.fields.get("tls.sni")))
        self.assertEqual(seen, [(0, None)] * (len(seen) - 1) + [(1, b"a.example")])
        again = packet(ip_src=1, payload=stream)  # behind a HelloRetryRequest
        again.sequence = len(stream)
        streams.see(again)
        self.assertEqual((again.handshakes, again.fields.get("tls.sni")), (0, b"a.example"))

    def test_a_second_hello_for_another_name_is_a_handshake(self):
        streams, at, seen = tls.Streams(), 0, []
        syn = packet(ip_src=1, tcp_flags=2)
        syn.sequence = 0
        streams.see(syn)
        for name in (b"A.example.", b"b.example"):
            message = b"\1" + part(3, hello([1], (0, part(2, b"\0" + part(2, name)))))
            stream = b"\x16\3\1" + part(2, message) + b"\x15\3\1\0\2\1\x5a"
            one = packet(ip_src=1, payload=stream)
            one.sequence, at = at, at + len(stream)
            streams.see(one)
            seen.append((one.handshakes, one.fields.get("tls.sni")))
        self.assertEqual(seen, [(1, b"a.example"), (1, b"b.example")])


class Quic(unittest.TestCase):
    """The clients' Initials of RFC 9001 (A.2) and RFC 9369 (A.2), both for one id and for example.com."""

    DCID = octets("8394c8f03e515708")

    def initial(self, name):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "l7", "quic", "rfc_packets.hpp")
        with open(path, encoding="utf-8") as file:
            text = file.read().split(name, 1)[1].split(";", 1)[0]
        return bytes.fromhex("".join(re.findall(r'"([0-9a-f]*)"', text)))

    def test_the_rfcs_packets(self):
        for name, version in (("kRfc9001Initial", 1), ("kRfc9369Initial", quic.VERSION2)):
            initial = self.initial(name)
            one, = quic.packets_of(initial)
            self.assertEqual((one.kind, one.version, one.dcid, one.token), ("initial", version, self.DCID, b""))
            (at, message), = quic.crypto_of(one.open(quic.Keys(version, self.DCID)))
            self.assertEqual((at, Hello(message[4:]).name), (0, b"example.com"))
            self.assertIsNone(one.open(quic.Keys(version, b"other")))

    def test_a_connection_counts_once(self):
        streams, fields = quic.Streams(), []
        for size in (1199, 1200, 1200):
            one = packet(ip_proto=17, l4_sport=1, l4_dport=9, payload=self.initial("kRfc9001Initial")[:size])
            streams.see(one)
            fields.append((one.handshakes, one.fields.get("quic.sni"), one.fields.get("quic.version")))
        self.assertEqual(fields, [(0, None, None), (1, b"example.com", 1), (0, None, 1)])

    def test_a_repeat_is_free_for_ten_seconds_and_four_times(self):
        for gap, wanted in ((0, [1] + [0] * 6), (1, [1, 0, 0, 0, 0, 1, 0]), (6, [1, 0, 1, 0, 1, 0, 1])):
            streams, counted = quic.Streams(), []
            for turn in range(7):
                one = packet(ip_proto=17, l4_sport=1, l4_dport=9, payload=self.initial("kRfc9001Initial"))
                one.came = turn * gap * 10 ** 9
                streams.see(one)
                counted.append(one.handshakes)
                if one.settle:
                    one.settle.fate = False
            self.assertEqual(counted, wanted)

    def test_numbers(self):
        for text, wanted in (("25", 37), ("7bbd", 15_293), ("9d7f3e7d", 494_878_333), ("c2197c5eff14e88c", 151_288_809_941_952_652)):
            self.assertEqual(quic.variable(Octets(octets(text))), wanted)


class Clients(unittest.TestCase):
    def client(self, source, *lines, hops=1):
        client = Client({"trusted_proxies": ["10.0.0.0/8", "$own"], "ipv4_prefix": "24", "unwrap": ["v4mapped"],
                         "from": {"header": "X-Real-IP", "hops_from_right": str(hops)}}, {"own": ["fd00::/8"]})
        asking = packet(ip_src=ipaddress.ip_address(source))
        asking.headers = [("x-real-ip", line) for line in lines]
        found = client.of_packet(asking)
        return found and text_of("", found)

    def test_proxies_name_them(self):
        for source, lines, hops, wanted in (
                ("10.0.0.1", [b"192.0.2.9"], 1, "192.0.2.0/24"), ("fd00::1", [b"192.0.2.9"], 1, "192.0.2.0/24"),
                ("11.0.0.1", [b"192.0.2.9"], 1, "11.0.0.0/24"), ("10.0.0.1", [], 1, None),
                ("10.0.0.1", [b"192.0.2.9", b"::ffff:1.2.3.4"], 1, "1.2.3.0/24"),
                ("10.0.0.1", [b"1.2.3.4 ,\t192.0.2.9,::2"], 2, "192.0.2.0/24"), ("10.0.0.1", [b"1.2.3.4"], 2, None),
                ("10.0.0.1", [b"1.2.3.4, unknown"], 1, None)):
            self.assertEqual(self.client(source, *lines, hops=hops), wanted, (source, lines, hops))

    def test_addresses_in_headers(self):
        for text, wanted in (("192.0.2.1:80", "192.0.2.1"), ("[::1]:65535", "::1"), ("[::1]", "::1"), ("::1:80", "::1:80"),
                             ("::ffff:192.0.2.1", "192.0.2.1"), ("[::ffff:c000:201]:80", "192.0.2.1"),
                             ("::ffff:0:192.0.2.1", "::ffff:0:c000:201"), ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
                             ("192.0.2.1:", None), ("192.0.2.1:65536", None), ("[192.0.2.1]", None), ("[::1", None),
                             ("fe80::1%1", None), ("[::1]80", None), ("", None), ("a.example", None)):
            self.assertEqual(Client({}).address(text), wanted and ipaddress.ip_address(wanted), text)


class Tunnels(unittest.TestCase):
    INNER = octets(IPV4.format("001c", "0000", "11")[5:] + UDP.format("0008"))

    def seen(self, proto, carried, fragment="0000"):
        outer = octets(ENDS + IPV4.format(f"{20 + len(carried):04x}", fragment, proto)) + carried
        packet = dissect(outer, len(outer), ["gre", "vxlan"])
        return packet.malformed, "outer.ip.src" in packet.fields, bool(packet.around)

    def test_a_first_fragment_that_ends_in_the_header(self):
        whole = octets("9c40 12b5 0000 0000" + "0800 0000 0000 0100" + ENDS + "0800") + self.INNER
        for size, wanted in ((8, "truncated_l4"), (16, "truncated_l4"), (24, "truncated_l4"), (40, "truncated_l3")):
            self.assertEqual(self.seen("11", whole[:size], "2000"), (wanted, False, False), size)
        self.assertEqual(self.seen("11", whole[:16]), (None, False, False))
        self.assertEqual(self.seen("11", whole, "2000"), (None, True, True))
        self.assertEqual(self.seen("11", whole), (None, True, False))

    def test_wccp(self):
        for head, wanted in (("0000 883e", True), ("0000 883e 8001 0203", True), ("2000 883e 0000 0000", False)):
            self.assertEqual(self.seen("2f", octets(head) + self.INNER), (None, wanted, False), head)


class Tags(unittest.TestCase):
    def test_dscp_with_its_checksum_and_pcp(self):
        inner = IPV4.format("001c", "0000", "11")[5:]
        frame = octets(ENDS + "8100 2005 0800" + inner + UDP.format("0008"))
        seen = tagged(frame, dissect(frame, len(frame)), {"dscp": "ef", "pcp": "5"})
        self.assertEqual(seen[14:16].hex(), "a005")
        self.assertEqual(seen[19], 46 << 2)
        self.assertEqual(seen[28:30].hex(), "0000")  # 0x45b8 is EF already
        seen = tagged(frame, dissect(frame, len(frame)), {"dscp": "0"})
        self.assertEqual((seen[19], seen[28:30].hex()), (0, "00b8"))  # what the header lost
        self.assertEqual(seen[14:16], frame[14:16])


class OpenConnections(unittest.TestCase):
    """What opens a connection and what closes it."""

    RULES = """
rules:
  - {id: r, mode: enforce, key: [ip.src], when: l4.dport eq 80,
     limits: [{algorithm: concurrency, count: 1, idle: 10s}]}
"""
    FIN, SYN, RST, ACK = 1, 2, 4, 16
    limiter = Rules.limiter

    def segment(self, sport, flags, numbers, carried=0, back=False):
        ends = [("192.0.2.1", sport), ("203.0.113.1", 80)]
        (src, sport), (dst, dport) = ends[::-1] if back else ends
        made = source(src, ip_dst=ipaddress.ip_address(dst), l4_sport=sport, l4_dport=dport, tcp_flags=flags,
                      dir="out" if back else "in", ip_ttl=64)
        made.numbers, made.carried = numbers, carried
        return made

    def expect(self, *trace):
        limiter = self.limiter(self.RULES)
        for number, (time, what, wanted) in enumerate(trace):
            verdict = limiter.judge(time * SECOND, what)
            self.assertEqual((verdict.action, verdict.wait), wanted, number)

    def test_idle(self):
        one, two = (self.segment(port, self.SYN, (100, 0)) for port in (1, 2))
        answer = self.segment(1, self.SYN | self.ACK, (500, 101), back=True)
        self.expect((0, one, ("pass", "0")), (1, two, ("drop", str(9 * SECOND))), (2, one, ("pass", "0")),
                    (5, answer, ("pass", "0")), (12, two, ("drop", str(3 * SECOND))), (15, two, ("pass", "0")))

    def test_fins_of_both_and_resets_that_are_expected(self):
        one, two = (self.segment(port, self.SYN, (100, 0)) for port in (1, 2))
        answer = self.segment(1, self.SYN | self.ACK, (500, 101), back=True)
        refused, fine = ("drop", str(10 * SECOND)), ("pass", "0")
        fin, reset = self.FIN | self.ACK, self.RST
        self.expect((0, one, fine), (0, answer, fine),
                    (0, self.segment(1, fin, (101, 501), carried=5), fine), (0, two, refused),
                    (0, self.segment(1, fin, (502, 107), back=True), fine), (0, two, refused),
                    (0, self.segment(1, fin, (501, 107), back=True), fine), (0, two, fine))
        self.expect((0, one, fine), (0, answer, fine), (0, self.segment(1, reset, (102, 0)), fine),
                    (0, two, refused), (0, self.segment(1, reset, (101, 0)), fine), (0, two, fine))


if __name__ == "__main__":
    unittest.main()
