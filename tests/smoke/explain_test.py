"""sluicectl explain: why a packet met its verdict."""
import json
import random

from capture_files import SECOND, Case, arp, main, opened, pcap, tcp, udp, udp6
from dns_test import asks
from http_case import request, segment

RULES = """version: 1
rules:
  - {id: shut, mode: enforce, when: l4.dport eq 99, on_match: drop}
  - {id: each, mode: enforce, key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 10/s, burst: 3}]}
  - {id: dns, when: l4.dport eq 53, key: [l4.sport],
     limits: [{algorithm: fixed_window, count: 2, window: 1s},
              {algorithm: token_bucket, rate: 1KB/s, burst: 100B, per: byte}]}
  - {id: idle, mode: "off", key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""


class Explain(Case):
    def explain(self, *arguments, expect=0):
        rules = self.write("rules.yaml", RULES)
        out, err = self.ctl("explain", rules, "--json", *arguments, exit=expect)
        return json.loads(out) if expect == 0 else err

    def rule(self, account, name):
        return next(rule for rule in account["rules"] if rule["id"] == name)


class Described(Explain):
    def test_a_rule_that_decides_on_sight(self):
        account = self.explain("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "99")
        self.assertEqual((account["verdict"], account["reason"], account["rule"]),
                         ("drop", "deny_rule", "shut"))
        self.assertEqual(self.rule(account, "shut")["outcome"], "on_sight")
        self.assertEqual(self.rule(account, "dns")["because"], "l4.dport is 99, not 53")
        self.assertEqual(self.rule(account, "idle")["outcome"], "off")
        # Nothing was spent.
        limit = self.rule(account, "each")["limits"][0]
        self.assertEqual((limit["before"]["remaining"], limit["after"]["remaining"]), (3, 3))

    def test_what_is_spent_and_by_whom(self):
        account = self.explain("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "53",
                               "--sport", "7", "--length", "80")
        self.assertEqual((account["verdict"], account["rule"]), ("pass", ""))
        self.assertEqual(account["fields"]["l4.dport"], "53")
        each, dns = self.rule(account, "each"), self.rule(account, "dns")
        self.assertEqual([limit["key"] for limit in each["limits"] + dns["limits"]],
                         ["10.0.0.1", "7", "7"])
        self.assertEqual([(limit["cost"], limit["before"]["remaining"], limit["after"]["remaining"])
                          for limit in each["limits"] + dns["limits"]],
                         [(1, 3, 2), (1, 2, 1), (80, 100, 20)])

    def test_the_network_or_range_that_a_key_goes_by(self):
        self.write("ranges.csv", "key,limit,rate,burst,count,expires,reason\n10.0.0.0/8,1,300/s,600,,,\n"
                                 "10.0.0.16-10.0.0.30,exempt,,,,,\n10.0.0.9,1,,7,,,\n")
        rules = self.write("ranges.yaml", """version: 1
rules:
  - {id: r, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 50/s, burst: 100}],
     overrides: {file: ranges.csv}}
""")
        for source, by, room, reason in (
                ("10.0.0.1", "10.0.0.0/8, line 2 of the override file", 600, "within_limits"),
                ("10.0.0.20", "10.0.0.16-10.0.0.30, line 3 of the override file", None, "exempt"),
                ("10.0.0.9", "line 4 of the override file", 7, "within_limits"), ("11.0.0.1", None, 100, "within_limits")):
            out, _ = self.ctl("explain", rules, "--json", "--src", source, "--dst", "192.0.2.1", "--dport", "80")
            account = json.loads(out)
            limit = account["rules"][0]["limits"][0]
            self.assertEqual((limit.get("by"), account["reason"]), (by, reason), source)
            if room:
                self.assertEqual(limit["before"]["remaining"], room, source)
            if by:
                self.assertIn(f"key {source}, which goes by {by}\n", self.ctl(
                    "explain", rules, "--src", source, "--dst", "192.0.2.1", "--dport", "80")[0])

    def test_payloads(self):
        rules = self.write("payloads.yaml", r"""version: 1
rules:
  - {id: hello, mode: enforce, when: 'starts_with(payload, "\x16\x03")', on_match: drop}
  - {id: admin, mode: enforce, when: 'payload contains "GET /admin" and l4.dport eq 80',
     on_match: drop}
  - {id: host, mode: enforce, when: 'payload matches "Host: [^\r]*example"', on_match: drop}
""")
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80")
        for words, rule, size in (
                (("--payload", "\\x16\\x03\\x01"), "hello", 3),
                (("--payload", "hex:16 03 01"), "hello", 3),
                (("--payload", "a GET /admin"), "admin", 12),
                (("--payload", "\\\\x16", "--flags", "ack"), "", 4),
                (("--http", "GET /admin", "--host", "x"), "admin", 32),
                (("--http", "GET /", "--host", "www.example.org"), "host", 41),
                (("--http", "GET /"), "", 35),
                (("--http", "GET /", "--header", "host: x"), "", 27),
                (("--payload", "abc", "--length", "60"), "", 32)):
            out, _ = self.ctl("explain", rules, "--json", *packet, *words)
            account = json.loads(out)
            self.assertEqual((account["rule"], account["fields"]["payload.len"]), (rule, str(size)))
        for words in (("--payload", "\\y"), ("--payload", "hex:1"), ("--payload", "hex:zz"),
                      ("--http", "GET"), ("--http", "GET /\r\nx"), ("--host", "x"),
                      ("--http", "GET /", "--payload", "x"), ("--http", "GET /", "--proto", "udp"),
                      ("--payload", "abc", "--length", "30")):
            self.ctl("explain", rules, *packet, *words, exit=2)
        for words, says in (
                (("--http", "GET /", "--proto", "udp"), "--http is the payload of a TCP packet, and --proto says udp"),
                (("--http", "GET /", "--payload", "x"), "--http is a payload, and excludes --payload"),
                (("--http", ""), "a method and a target, such as 'GET /x', found ``")):
            self.assertIn(says, self.ctl("explain", rules, *packet, *words, exit=2)[1])

    def test_a_request_is_what_a_client_sends(self):
        rules = self.write("clients.yaml", """version: 1
rules:
  - {id: bare, mode: enforce, when: l4.dport eq 0 or l4.sport eq 0 or not tcp.flags.ack, on_match: drop}
  - {id: web, mode: enforce, when: l4.dport eq 80 and http.host eq "192.0.2.1", key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 2/m, burst: 1}]}
""")
        request = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--http", "GET /x")
        out, _ = self.ctl("explain", rules, "--json", *request)
        account = json.loads(out)
        self.assertEqual((account["verdict"], account["reason"]), ("pass", "within_limits"))
        self.assertEqual([account["fields"][name] for name in ("l4.sport", "l4.dport", "tcp.flags", "http.host")],
                         ["49152", "80", "24", "192.0.2.1"])
        out, _ = self.ctl("explain", rules, *request)
        self.assertNotRegex(out, r"\d ns\b")

    def test_the_text_of_a_list_that_held_is_named(self):
        self.write("few.txt", "nikto\nsqlmap\n")
        rules = self.write("lists.yaml", """version: 1
data: {lists: {few: {type: string, file: few.txt}}}
rules:
  - {id: scrapers, mode: enforce, when: http.user_agent contains $few, on_match: drop}
""")
        out, _ = self.ctl("explain", rules, "--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--http", "GET /x",
                          "--header", "User-Agent: a sqlmap b")
        self.assertIn('which contains "sqlmap", one of 2', out)

    def test_how_an_ambiguous_request_was_read(self):
        rules = self.write("readings.yaml", """version: 1
rules:
  - {id: host, when: http.host eq "b.example", key: [http.host, http.request.uri.path],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 9, per: request}]}
""")
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--flags", "ack")
        two_hosts = ("--payload", "GET /x HTTP/1.1\\x0d\\x0aHost: a.example\\x0d\\x0a"
                     "Host: b.example\\x0d\\x0a\\x0d\\x0a")
        out, _ = self.ctl("explain", rules, "--json", *packet, *two_hosts)
        account = json.loads(out)
        self.assertEqual(account["fields"]["http.host"], "a.example")
        self.assertEqual((account["ambiguous"], account["other_readings"]), (True, [{"http.host": "b.example"}]))
        out, _ = self.ctl("explain", rules, *packet, *two_hosts)
        self.assertRegex(out, r"read here, and also:\n +http.host +b.example\n")
        self.assertRegex(out, r'host \(.*\) matches, as another server reads the request: http.host is "b.example"')
        self.assertIn("key b.example", out)
        rule = self.rule(account, "host")
        self.assertEqual((rule["outcome"], rule["other_reading"], rule["limits"][0]["after"]["remaining"]), ("metered", 1, 8))

        folded = ("--payload", "GET /x HTTP/1.1\\x0d\\x0aHost: a.example\\x0d\\x0aX: y\\x0d\\x0a z\\x0d\\x0a\\x0d\\x0a")
        out, _ = self.ctl("explain", rules, *packet, *folded)
        self.assertIn("servers read this request differently; the above is how it is read here\n", out)

        out, _ = self.ctl("explain", rules, "--json", *packet[:-2], "--http", "GET /x", "--host", "a.example")
        self.assertNotIn("ambiguous", json.loads(out))

    def test_why_a_request_is_refused_for_what_it_is(self):
        rules = self.write("doubts.yaml", """version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}
rules:
  - {id: paths, mode: enforce, when: http.request.uri.path ne "/x", key: [http.host],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 9, per: request}]}
""")
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--flags", "psh,ack")
        host, end = "Host: a.example\\x0d\\x0a", "\\x0d\\x0a"
        first = "POST /y HTTP/1.1\\x0d\\x0a" + host
        for text, reason, causes, judged_by_both in (
                ("GET / HTTP/1.0\\x0a\\x0a", "ambiguous_request", ["bare_lf"], False),
                ("GET /a%2Fb HTTP/1.1\\x0d\\x0a" + host + end, "ambiguous_request", ["encoded_slash"], True),
                (first + host + end, "ambiguous_request", ["duplicate_host"], True),
                (first + "Content-Length: 3\\x0d\\x0aTransfer-Encoding: chunked\\x0d\\x0a" + end,
                 "ambiguous_request", ["length_and_encoding"], False),
                (first + "Content-Length: x\\x0d\\x0a" + end, "malformed_request", ["bad_content_length"], False),
                # Both would make its other readings, and refuse it for what they are.
                (first + "Host: 0x7f.1\\x0d\\x0a" + end, "ambiguous_request", ["duplicate_host", "bad_host"], False),
                ("GET /x/../a%2Fb%3Bc y HTTP/1.1\\x0d\\x0a" + host + "Host: b.example\\x0d\\x0a" + end, "ambiguous_request",
                 ["space_in_target", "encoded_slash", "duplicate_host", "too_many_readings"], False)):
            out, _ = self.ctl("explain", rules, "--json", *packet, "--payload", text)
            account = json.loads(out)
            self.assertEqual((account["verdict"], account["reason"]), ("drop", reason), text)
            doubts = account["doubts"]
            self.assertEqual(([cause["name"] for cause in doubts["causes"]], doubts["judged_by_both"]),
                             (causes, judged_by_both), text)
            out, _ = self.ctl("explain", rules, *packet, "--payload", text)
            self.assertIn(f"  cause          {causes[0]}: read here as: ", out)
            self.assertEqual("both judges it, as each of its readings\n" in out, judged_by_both, text)
            self.assertEqual("refuses it under refuse and under both\n" in out, not judged_by_both, text)
            self.assertEqual(doubts["refused_by_both"], not judged_by_both, text)
        out, _ = self.ctl("explain", rules, "--json", *packet, "--payload", first + "Content-Length: 0\\x0d\\x0a" + end)
        self.assertNotIn("doubts", json.loads(out))

    def test_doubts_that_no_rule_cares_about(self):
        rules = self.write("protocols.yaml", """version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}
rules:
  - {id: any, mode: enforce, when: proto.l7 eq "http", key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 9}]}
""")
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--flags", "psh,ack", "--payload",
                  "GET / HTTP/1.0\\x0a\\x0a")
        account = json.loads(self.ctl("explain", rules, "--json", *packet)[0])
        self.assertEqual((account["verdict"], account["service"]["fate"]), ("pass", "passed"))
        self.assertEqual([cause["name"] for cause in account["doubts"]["causes"]], ["bare_lf"])
        self.assertEqual((account["doubts"]["judged_by_both"], account["doubts"]["refused_by_both"]), (False, False))
        out, _ = self.ctl("explain", rules, *packet)
        self.assertIn("  on_ambiguous   no rule reads requests, so that no service refuses it for that\n", out)

    def test_what_the_readings_of_a_request_leave_to_the_next(self):
        rules = self.write("readings.yaml", """version: 1
rules:
  - {id: paths, mode: enforce, key: [http.request.uri.path], per: request, cost: {path: {"/dear": 5}},
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 3}]}
  - {id: all, mode: enforce, key: [ip.src], per: request, cost: {path: {"/dear": 9, "/a/b": 2}},
     limits: [{algorithm: token_bucket, rate: 1/h, burst: 6}]}
""")
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--flags", "psh,ack", "--payload")

        def shortages(*paths):
            text = "".join(f"GET {path} HTTP/1.1\\x0d\\x0aHost: a.example\\x0d\\x0a\\x0d\\x0a" for path in paths)
            units = json.loads(self.ctl("explain", rules, "--json", *packet, text)[0])["units"]
            return [unit["refused"] and (unit["rule"], *(unit["limit"][name] for name in ("key", "left", "cost"))) for unit in units]

        # The other reading of each of the first three is charged to /x/y too.
        self.assertEqual(shortages("/x%2Fy", "/x%2Fy", "/x%2Fy", "/x/y"), [False, False, False, ("paths", "/x/y", 0, 1)])
        # The readings of one request are charged together, as the dearest of them.
        self.assertEqual(shortages("/a%2Fb", "/c", "/d", "/e", "/f", "/g"), [False] * 5 + [("all", "10.0.0.1", 0, 1)])
        # A request that has no room is charged nothing.
        self.assertEqual(shortages("/dear", "/c", "/d", "/e", "/f", "/g", "/a/b"),
                         [("paths", "/dear", 3, 5)] + [False] * 5 + [("all", "10.0.0.1", 1, 2)])

    def test_of_a_banned_key_no_limit_is_short(self):
        rules = self.write("banned.yaml", """version: 1
rules:
  - {id: login, mode: enforce, when: l4.dport eq 80, key: [ip.src], per: request, ban: {after: 1, within: 1m, for: 1h},
     limits: [{algorithm: token_bucket, rate: 3/h, burst: 1}]}
""")
        two = request("/a") * 2
        frames, numbers = opened([segment(text, sport=sport) for sport, text in enumerate((request("/a"), two, two), 40000)])
        capture = self.write("in.pcap", pcap([(SECOND, frame) for frame in frames]))
        # The first refusal bans the key, within its packet too.
        for number, reason, units in ((numbers[1], "over_limit", [("over_limit", True), ("banned", False)]),
                                      (numbers[2], "banned", [("banned", False)] * 2)):
            account = json.loads(self.ctl("explain", rules, "--json", "--pcap", capture, "--frame", str(number))[0])
            self.assertEqual((account["verdict"], account["reason"]), ("drop", reason))
            self.assertEqual([(unit["reason"], "limit" in unit) for unit in account["units"]], units)

    def test_a_source_that_is_banned_for_all_that_it_sends(self):
        rules = self.write("sources.yaml", """version: 1
rules:
  - {id: shut, mode: enforce, when: l4.dport eq 99, on_match: drop}
  - {id: dns, mode: enforce, when: l4.dport eq 53, key: ["prefix(ip.src, 24|64)"], limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}],
     ban: {after: 1, within: 1m, for: 1h, applies_to: source, spoofable: yes}}
  - {id: all, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/h, burst: 9}]}
""")
        capture = self.write("in.pcap", pcap([(SECOND, frame) for frame in (
            udp("10.0.0.1", dport=53), udp("10.0.0.1", dport=53), udp("10.0.0.2", dport=99), udp("10.0.1.1", dport=99))]))
        account = json.loads(self.ctl("explain", rules, "--json", "--pcap", capture, "--frame", "3")[0])
        self.assertEqual([account[name] for name in ("verdict", "reason", "rule", "banned_source", "wait_ns")],
                         ["drop", "banned_source", "dns", "10.0.0.0/24", 3600 * SECOND])
        self.assertEqual([(rule["id"], rule["outcome"]) for rule in account["rules"]],
                         [("shut", "of_banned_source"), ("dns", "no_match"), ("all", "of_banned_source")])
        out, _ = self.ctl("explain", rules, "--pcap", capture, "--frame", "3")
        self.assertIn("by dns, key 10.0.0.0/24, banned for another", out)
        self.assertIn("matches, but the packet's source is banned before any rule", out)
        account = json.loads(self.ctl("explain", rules, "--json", "--pcap", capture, "--frame", "4")[0])
        self.assertEqual((account["reason"], "banned_source" in account), ("deny_rule", False))

    def test_which_of_several_requests_has_no_room(self):
        rules = self.write("several.yaml", """version: 1
rules:
  - {id: login, mode: enforce, when: http.request.uri.path eq "/login", key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 3/h, burst: 3, per: request}]}
""")
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--flags", "psh,ack")

        def asked(*paths):
            return "".join(f"GET {path} HTTP/1.1\\x0d\\x0aHost: a.example\\x0d\\x0a\\x0d\\x0a" for path in paths)

        five = ("--payload", asked("/login", "/login", "/x", "/login", "/login"))
        out, _ = self.ctl("explain", rules, "--json", *packet, *five)
        account = json.loads(out)
        self.assertEqual([unit["refused"] for unit in account["units"]], [False] * 4 + [True])
        last = account["units"][-1]
        self.assertEqual((last["rule"], last["limit"]["key"], last["limit"]["left"], last["limit"]["cost"]),
                         ("login", "10.0.0.1", 0, 1))
        self.assertEqual((last["kind"], last["fields"]["http.request.uri.path"]), ("request", "/login"))
        out, _ = self.ctl("explain", rules, *packet, *five)
        self.assertIn("  request 1 of 5: not refused\n", out)
        self.assertRegex(out, r"\n  request 5 of 5: drop \(.*\), by login: limit 1, key 10.0.0.1 has 0 left behind those")
        for paths, refused in ((("/login", "/x"), [False, False]), (("/login",), None)):
            out, _ = self.ctl("explain", rules, "--json", *packet, "--payload", asked(*paths))
            units = json.loads(out).get("units")
            self.assertEqual(units and [unit["refused"] for unit in units], refused)

    def test_each_of_several_requests_that_another_reading_or_the_service_refuses(self):
        inner = '  - {id: inner, mode: enforce, when: http.request.uri.path eq "/x/y", on_match: drop}\n'
        rules = self.write("readings.yaml", "version: 1\nrules:\n" + inner)
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80", "--flags", "psh,ack", "--payload")
        host, end = "Host: a.example\\x0d\\x0a", "\\x0d\\x0a"
        first = "GET /a HTTP/1.1\\x0d\\x0a" + host + end
        # The reading that decodes the slash is refused; of no service, each reading is judged.
        text = first + "GET /x%2Fy HTTP/1.1\\x0d\\x0a" + host + end
        account = json.loads(self.ctl("explain", rules, "--json", *packet, text)[0])
        self.assertEqual(account["verdict"], "drop")
        self.assertEqual([unit["refused"] for unit in account["units"]], [False, True])
        self.assertEqual((account["units"][1]["rule"], account["units"][1]["fields"]["http.request.uri.path"]),
                         ("inner", "/x/y"))
        # No rule decides about a packet that its service refuses: none of its requests has a fate of its own.
        web = "services:\n  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}\n"
        rules = self.write("served.yaml", "version: 1\n" + web + "rules:\n" + inner)
        text = first + "GET /b HTTP/1.1\\x0d\\x0a" + host + end + "GET / HTTP/1.0\\x0a\\x0a"
        account = json.loads(self.ctl("explain", rules, "--json", *packet, text)[0])
        self.assertEqual((account["verdict"], account["reason"]), ("drop", "ambiguous_request"))
        self.assertEqual([unit["refused"] for unit in account["units"]], [None] * len(account["units"]))
        self.assertGreater(len(account["units"]), 1)
        self.assertNotIn("not refused", self.ctl("explain", rules, *packet, text)[0])

    def test_a_request_is_read_on_a_connection_that_has_begun(self):
        service = "services:\n  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}\n"
        for services in ("", service):
            rules = self.write("begun.yaml", f"""version: 1
{services}rules:
  - {{id: hosts, mode: enforce, when: not tcp.flags.syn, key: [http.host], limits: [{{algorithm: token_bucket, rate: 1/s,
     burst: 9, per: request}}]}}
""")
            out, _ = self.ctl("explain", rules, "--json", "--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "80",
                              "--http", "GET /x", "--host", "a.example")
            account = json.loads(out)
            self.assertEqual((account["verdict"], account["reason"]), ("pass", "within_limits"), services)
            self.assertEqual(self.rule(account, "hosts")["limits"][0]["after"]["remaining"], 8, services)

    def test_a_cost_that_never_fits(self):
        account = self.explain("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "53",
                               "--length", "101")
        limit = self.rule(account, "dns")["limits"][1]
        self.assertEqual((limit["admitted"], limit["before"]["wait_ns"]), (False, "never"))
        # A monitoring rule whose limit refuses spends nothing.
        self.assertEqual(self.rule(account, "dns")["limits"][0]["after"]["remaining"], 2)

    def test_what_the_client_is(self):
        rules = self.write("clients.yaml", """version: 1
client_ip: {ipv4_prefix: 24, ipv6_prefix: 64, unwrap: [nat64]}
rules:
  - {id: near, when: "client.ip in {192.0.2.0/23}", key: [client.ip, payload],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 9}]}
  - {id: far, when: client.ip eq 198.51.100.0, key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 9}]}
""")
        out, _ = self.ctl("explain", rules, "--json", "--src", "64:ff9b::c000:207", "--dst",
                          "2001:db8::1", "--dport", "53")
        account = json.loads(out)
        self.assertEqual(account["fields"]["client.ip"], "192.0.2.0/24")
        self.assertEqual(account["fields"]["ip.src"], "64:ff9b::c000:207")
        near, far = self.rule(account, "near"), self.rule(account, "far")
        self.assertEqual(near["because"], "client.ip is 192.0.2.0/24, in 192.0.2.0/23")
        self.assertEqual(near["limits"][0]["key"].split("|")[0], "192.0.2.0/24")
        self.assertEqual(far["because"],
                         "client.ip is 192.0.2.0/24, not 198.51.100.0/24")
        self.assertEqual((near["outcome"], far["outcome"]), ("metered", "no_match"))
        # Without settings it is ip.src, and nothing is said of it.
        self.assertNotIn("client.ip", self.explain("--src", "10.0.0.1", "--dst", "192.0.2.1",
                                                   "--dport", "53")["fields"])

    def test_tiers_and_costs(self):
        rules = self.write("tiers.yaml", """version: 1
rules:
  - id: tiers
    mode: enforce
    cost: 2
    tiers:
      - {key: [l4.dport], limits: [{algorithm: token_bucket, rate: 1/s, burst: 9}]}
      - {key: ["prefix(ip.src, 24|64)"], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5,
                                               per: connection}]}
""")
        for words, want in ((("--flags", "syn"), [("0", 2, 9, 7), ("10.0.0.0/24", 2, 5, 3)]),
                            (("--flags", "ack"), [("0", 2, 9, 7), ("10.0.0.0/24", 0, 5, 5)]),
                            (("--proto", "47"), [("", 2, None, None), ("10.0.0.0/24", 0, 5, 5)])):
            out, _ = self.ctl("explain", rules, "--json", "--src", "10.0.0.1", "--dst",
                              "192.0.2.1", *words)
            limits = json.loads(out)["rules"][0]["limits"]
            self.assertEqual([(limit["key"], limit["cost"],
                               limit["before"] and limit["before"]["remaining"],
                               limit["after"] and limit["after"]["remaining"])
                              for limit in limits], want)

    def test_wrong_questions(self):
        capture = self.write("in.pcap", pcap([(0, udp())]))
        packet = ("--src", "10.0.0.1", "--dst", "192.0.2.1")
        self.ctl("explain", "--socket", "/nowhere", *packet, exit=3)
        self.ctl("explain", "--socket", "/nowhere", "--pcap", capture, "--frame", "1", exit=3)
        for arguments in ((), ("--src", "10.0.0.1"), ("--pcap", capture), ("--frame", "1"),
                          ("--pcap", capture, "--frame", "0"), packet + ("--frame", "1"),
                          packet + ("--pcap", capture, "--frame", "1"),
                          packet + ("--dport", "65536"), packet + ("--flags", "sin"),
                          packet + ("--dscp", "64"), packet + ("--vlan", "4095")):
            self.explain(*arguments, expect=2)
        # Elsewhere a day is its end.
        self.assertIn("expected an instant such as 2027-12-31T12:00:00Z, found `2027-12-31`",
                      self.explain(*packet, "--at", "2027-12-31", expect=2))
        self.assertIn("--dst, the receiver's address, is missing", self.explain("--src", "10.0.0.1", expect=2))
        self.assertIn("--src, the sender's address, is missing", self.explain("--dport", "80", expect=2))
        for number in ("0", "-1", "1x", "99999999999999999999"):
            self.assertIn(f"--frame: `{number}` is no number from 1 on", self.explain("--pcap", capture, f"--frame={number}", expect=2))

    def test_for_people(self):
        rules = self.write("rules.yaml", RULES)
        out, _ = self.ctl("explain", rules, "--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport",
                          "53", "--length", "200")
        for line in ("  ip.src         10.0.0.1", "  shut (enforce) does not match: l4.dport is 53, "
                     "not 99", "        key 10.0.0.1",
                     "        before: 100 left (new), 200 never fits; after: 100 left",
                     "  pass (every enforcing rule that judged it had room)"):
            self.assertIn(line + "\n", out)


ANSWERS = """version: 1
rules:
  - {{id: page, mode: enforce, when: 'l4.dport in {{53 80 443}}', key: [ip.src],
     limits: [{{algorithm: token_bucket, rate: {rate}, burst: 1}}], on_exceed: {{{action}}}}}
"""


def opened_first(frames):
    """The rule counts packets: a SYN is the one that it admits."""
    sent, numbers = opened(frames)
    return [frame for number, frame in enumerate(sent, 1) if number not in numbers] + frames


class Answered(Case):
    """What the box would send for a packet that it answers: the last one of a few."""

    def explain(self, action, frames, *more, rate="30/m"):
        rules = self.write("answers.yaml", ANSWERS.format(action=action, rate=rate))
        frames = opened_first(frames)
        capture = self.write("in.pcap", pcap([(SECOND, frame) for frame in frames]))
        return self.ctl("explain", rules, "--pcap", capture, "--frame", str(len(frames)), *more)[0]

    def answer(self, action, *frames):
        account = json.loads(self.explain(action, [udp(), *frames], "--json"))
        return account["verdict"], account.get("answer")

    def test_a_response_with_its_numbers(self):
        verdict, answer = self.answer("action: reply", segment(request("/a", host="api.example"), src="192.0.2.1"))
        self.assertEqual((verdict, answer["event"], answer["every"]), ("reply", "replied", 1))
        self.assertEqual(answer["status_line"], "HTTP/1.1 429 Too Many Requests")
        headers = answer["headers"]
        self.assertEqual((headers["retry-after"], headers["ratelimit-policy"], headers["ratelimit"]),
                         ("2", '"page";q=1;w=2', '"page";r=0;t=2'))
        self.assertEqual(headers["date"], "Thu, 01 Jan 1970 00:00:01 GMT")
        self.assertEqual(int(headers["content-length"]), answer["body_bytes"])
        self.assertGreater(answer["body_bytes"], 0)

    def test_a_window_of_less_than_a_second_is_left_out(self):
        rules = self.write("fast.yaml", ANSWERS.format(action="action: reply", rate="100/s"))
        frames = opened_first([udp(), segment(request("/a"), src="192.0.2.1")])
        capture = self.write("in.pcap", pcap([(SECOND, frame) for frame in frames]))
        out, _ = self.ctl("explain", rules, "--pcap", capture, "--frame", "3", "--json")
        headers = json.loads(out)["answer"]["headers"]
        self.assertEqual(headers["ratelimit-policy"], '"page";q=1')
        self.assertEqual(headers["retry-after"], "1")

    def test_other_answers(self):
        asked = segment(request("/a"), src="192.0.2.1")
        head = segment(request("/a", "HEAD"), src="192.0.2.1")
        verdict, answer = self.answer("action: decoy, status: 201, body: made", asked)
        self.assertEqual((verdict, answer["event"], answer["status_line"], answer["body_bytes"]),
                         ("decoy", "decoyed", "HTTP/1.1 201 Created", 4))
        self.assertNotIn("retry-after", answer["headers"])
        self.assertEqual(self.answer("action: decoy, status: 201, body: made", head)[1]["body_bytes"], 0)
        self.assertEqual(self.answer("action: reset", asked), ("reset", {"event": "reset", "every": 1}))
        query = asks("www.example.com", src="192.0.2.1")
        for action, event, every in (("dns_truncate, slip: 3", "dns_truncated", 3), ("reply", "dns_refused", 2),
                                     ("decoy", "dns_empty", 2), ("reply, slip: 0", "", 1)):
            self.assertEqual(self.answer(f"action: {action}", query)[1], {"event": event, "every": every}, action)
        self.assertEqual(self.answer("action: reply", tcp(flags=0x10))[1]["event"], "not_answerable")
        self.assertEqual(self.answer("action: drop", asked), ("drop", None))

    def test_for_people(self):
        out = self.explain("action: reply, body: later", [udp(), segment(request("/a"), src="192.0.2.1")])
        self.assertIn("answer\n  replied (requests of HTTP answered as the rule's `reply` says)\n"
                      "    HTTP/1.1 429 Too Many Requests\n", out)
        self.assertIn("    Retry-After: 2\n", out)
        self.assertNotIn("answer", self.explain("action: drop", [udp(), udp()]))


class Captured(Explain):
    def test_says_of_every_frame_what_replay_says(self):
        source = random.Random(7)
        frames, now = [], 1_700_000_000 * SECOND
        for _ in range(40):
            now += source.choice([0, 0, 1, SECOND // 20])
            frames.append((now, source.choice([
                lambda: udp(src=f"192.0.2.{source.randrange(3)}", dport=source.choice([53, 99])),
                lambda: tcp(src=f"192.0.2.{source.randrange(3)}"), udp6, arp])()))
        capture = self.write("in.pcap", pcap(frames))
        rules = self.write("rules.yaml", RULES)
        self.ctl("replay", rules, "--pcap", capture, "--verdicts", self.path("verdicts.tsv"))
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        verdicts = set()
        for number, row in enumerate(rows, 1):
            account = self.explain("--pcap", capture, "--frame", str(number))
            self.assertEqual([str(account["frame"]), account["verdict"], account["reason"],
                              account["rule"]], row[:4])
            verdicts.add(account["verdict"])
            self.check_limits(account)
        self.assertEqual(verdicts, {"pass", "drop"})

    def check_limits(self, account):
        forwarded = account["verdict"] == "pass"
        each = self.rule(account, "each")
        if each["outcome"] == "skipped":  # not IP: no source, so no bucket
            self.assertEqual([limit["before"] for limit in each["limits"]], [None])
            return
        for limit in each["limits"]:
            before, after = limit["before"], limit["after"]
            spent = 1 if forwarded else 0
            self.assertEqual(after["remaining"], before["remaining"] - spent)
            self.assertEqual(limit["admitted"], before["remaining"] > 0)
            if account["reason"] == "over_limit":
                self.assertEqual(account["wait_ns"], before["wait_ns"])

    def test_times_are_in_peoples_units(self):
        """Of a packet that has no room yet, of one that gets its key banned, of the banned, and of one that waits."""
        banning = self.write("banning.yaml", """version: 1
rules:
  - {id: web, mode: enforce, key: [ip.src], ban: {after: 2, within: 1m, for: 10m},
     limits: [{algorithm: token_bucket, rate: 2/m, burst: 1}]}
""")
        shaping = self.write("shaping.yaml", """version: 1
rules:
  - {id: slow, mode: enforce, key: [ip.src], on_exceed: {action: shape, max_delay: 1m},
     limits: [{algorithm: leaky_bucket, rate: 2/m, queue: 2}]}
""")
        capture = self.write("in.pcap", pcap([(SECOND * i, udp()) for i in range(1, 5)]))
        for rules, frame, lines in (
                (banning, 2, ("        before: 0 left, 1 fits in 29 s; after: 0 left\n", ", by web, fits in 29 s\n")),
                (banning, 3, ("        before: 1 refusal left; after: banned for another 10m\n", ", by web, fits in 28 s\n")),
                (banning, 4, ("        before: banned for another 9m59s; after: banned for another 9m59s\n",
                              "        the key is banned\n", ", by web, fits in 9m59s\n")),
                (shaping, 2, (", departs in 29 s\n",))):
            out, _ = self.ctl("explain", rules, "--pcap", capture, "--frame", str(frame))
            for line in lines:
                self.assertIn(line, out)
            self.assertNotRegex(out, r"\d ns\b")

    def test_a_frame_that_is_not_there(self):
        capture = self.write("in.pcap", pcap([(0, udp())]))
        self.assertIn("has no frame 2", self.explain("--pcap", capture, "--frame", "2", expect=1))


if __name__ == "__main__":
    main()
