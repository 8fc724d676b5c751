"""HTTP/1 in every command, and through the real daemons between a real client and a real server.

    http_test.py DATAPLANE SLUICED SLUICECTL [CLASS...]

`Live` wants root.
"""
import json
import os
import sys
import time

from box_case import main
from capture_files import Case, opened, pcap
from http_case import SYN, HttpCase, request, segment
from programs import wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(ROOT, "control", "examples", "http.yaml")
SECOND = 1_000_000_000


class Inspect(Case):
    FIELDS = "http.request.method,http.host,http.request.uri,proto.l7"

    def inspect(self, frames, *options):
        capture = self.write("in.pcap", pcap([(at, frame) for at, frame in frames]))
        return self.ctl("inspect", "--pcap", capture, "--fields", self.FIELDS, *options)[0]

    def rows(self, frames):
        return [line.split("\t") for line in self.inspect(frames).splitlines()]

    def test_a_line_for_each_request_and_one_for_a_frame_without(self):
        many = "".join(request(f"/{i}") for i in range(30))
        rows = self.rows([(0, segment(many)), (1, segment("no request", sport=40001))])
        self.assertEqual(rows, [["1", "GET", "www.example", f"/{i}", "http"] for i in range(30)] +
                         [["2", "", "", "", ""]])

    def test_what_functions_make_of_a_request(self):
        capture = self.write("in.pcap", pcap([(0, segment(request("/a//b/c?d", host="www.Shop.co.uk:80")))]))
        fields = "path_prefix(http.request.uri.path,2),registrable_domain(http.host),ip.src"
        out, _ = self.ctl("inspect", "--pcap", capture, "--fields", fields)
        self.assertEqual(out, "1\t/a/b\tshop.co.uk\t192.0.2.1\n")
        line = json.loads(self.ctl("inspect", "--json", "--pcap", capture, "--fields", fields)[0])
        self.assertEqual(line["path_prefix(http.request.uri.path, 2)"], "/a/b")

    def test_json(self):
        lines = [json.loads(line) for line in self.inspect(
            [(0, segment(request("/a", host="A.Example:80") + request("/b"))), (1, segment("x", sport=9))],
            "--json").splitlines()]
        self.assertEqual(lines, [
            {"frame": 1, "http.request.method": "GET", "http.host": "a.example", "http.request.uri": "/a",
             "proto.l7": "http"},
            {"frame": 1, "http.request.method": "GET", "http.host": "www.example", "http.request.uri": "/b",
             "proto.l7": "http"},
            {"frame": 2}])

    def test_a_split_head_shows_where_it_is_complete_however_long_it_takes(self):
        text = request("/split")
        pieces = [(0, segment(text[:9])), (60 * SECOND, segment(text[9:20], 10)),
                  (200 * SECOND, segment(text[20:], 21)), (201 * SECOND, segment(text[20:], 21))]
        self.assertEqual([row[3] for row in self.rows(pieces)], ["", "", "/split", ""])

    def test_time_that_goes_back(self):
        text = request("/back")
        rows = self.rows([(9 * SECOND, segment(text[:9])), (1, segment(text[9:], 10)), (0, segment(text, sport=9))])
        self.assertEqual([row[3] for row in rows], ["", "/back", "/back"])


class Explain(Case):
    RULES = """version: 1
rules:
  - {id: paths, mode: enforce, key: [http.host, http.request.uri.path], per: request,
     limits: [{algorithm: token_bucket, rate: 1/d, burst: 2}]}
"""

    def explain(self, frames, number):
        """Of one of these frames, from 1 on."""
        frames, numbers = opened(frames)
        capture = self.write("in.pcap", pcap([(at * SECOND, frame) for at, frame in enumerate(frames)]))
        rules = self.write("rules.yaml", self.RULES)
        return json.loads(self.ctl("explain", rules, "--json", "--pcap", capture, "--frame", str(numbers[number - 1]))[0])

    def test_a_head_in_pieces_is_told_where_it_is_complete(self):
        text = request("/x/../Pieces")
        frames = [segment(text[:12]), segment(text[12:40], 13), segment(text[40:], 41)]
        before, last = self.explain(frames, 2), self.explain(frames, 3)
        self.assertNotIn("http.host", before["fields"])
        self.assertEqual(before["rules"][0]["outcome"], "skipped")
        self.assertEqual(last["fields"]["http.request.uri.path"], "/Pieces")
        limit = last["rules"][0]["limits"][0]
        self.assertEqual((limit["key"], limit["cost"], limit["before"]["remaining"], limit["after"]["remaining"]),
                         ("www.example|/Pieces", 1, 2, 1))

    def test_a_retransmission_is_told_as_one(self):
        refused = segment(request("/a"), sport=3)
        frames = [segment(request("/a"), sport=1), segment(request("/a"), sport=2), refused, refused]
        self.assertEqual([self.explain(frames, number)["reason"] for number in (2, 3, 4)],
                         ["within_limits", "over_limit", "retransmission"])

    def test_a_described_request(self):
        rules = self.write("rules.yaml", self.RULES)
        words = ("--src", "192.0.2.1", "--dst", "198.51.100.7", "--dport", "80")
        for http, more, key in (("GET http://A.Example/b?c", (), "a.example|/b"),
                                ("POST /b", ("--host", "other"), "other|/b"),
                                ("GET /b", ("-H", "Host: third:8080", "-H", "Accept: */*"), "third|/b")):
            account = json.loads(self.ctl("explain", rules, "--json", *words, "--http", http, *more)[0])
            self.assertEqual(account["rules"][0]["limits"][0]["key"], key)
        for wrong in ("no-colon", ": empty", "two: lines\r\nx: y"):
            self.ctl("explain", rules, *words, "--http", "GET /", "-H", wrong, exit=2)
        self.ctl("explain", rules, *words, "-H", "a: b", exit=2)


class Example(Case):
    """control/examples/http.yaml, as an operator would try it."""

    def judge(self, requests):
        """-> [(verdict, reason, rule, key)] of requests from (address, text), a connection each, at one instant"""
        frames, numbers = opened((segment(text, sport=1024 + number, src=source)
                                  for number, (source, text) in enumerate(requests)), answered=True)
        capture = self.write("in.pcap", pcap([(0, frame) for frame in frames]))
        self.ctl("replay", EXAMPLE, "--pcap", capture, "--verdicts", self.path("verdicts.tsv"), "--inside", "198.51.100.0/24")
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        return [(row[1], row[3], row[4]) for row in rows if int(row[0]) in numbers]

    def test_check_takes_it(self):
        self.assertIn("5 requests", self.ctl("check", EXAMPLE)[0])

    def test_attempts_to_log_in_are_limited_by_address(self):
        login = request("/x/../login?next=/", "POST", headers=["Content-Length: 0"])
        verdicts = self.judge([("192.0.2.1", login)] * 7 + [("192.0.2.2", login), ("192.0.2.1", request("/login"))])
        self.assertEqual([verdict for verdict, _, _ in verdicts], ["pass"] * 5 + ["drop"] * 2 + ["pass"] * 2)
        self.assertEqual(verdicts[5], ("drop", "login", "192.0.2.1"))

    def test_api_keys_have_a_rate_each_and_those_without_share_one(self):
        def call(key):
            return request("/api/v1", headers=[f"X-API-Key: {key}"] if key else [])
        verdicts = self.judge([(f"192.0.2.{i}", call("one")) for i in range(21)] + [("192.0.2.1", call("two"))] +
                              [(f"192.0.2.{i}", call("")) for i in range(21)])
        self.assertEqual([verdicts[i][0] for i in (19, 20, 21, 41, 42)], ["pass", "drop", "pass", "pass", "drop"])
        self.assertEqual(verdicts[20][1:], ("api-key", "one"))

    def test_parts_of_the_interface_are_limited_by_the_beginning_of_their_path(self):
        calls = [("192.0.2.1", request(f"/api/orders/{i}", headers=[f"X-Api-Key: {i}"])) for i in range(11)]
        verdicts = self.judge(calls + [("192.0.2.1", request("/api/items/1")), ("192.0.2.2", request("/api/orders/1"))])
        self.assertEqual(verdicts[9], ("pass", "", ""))
        self.assertEqual(verdicts[10], ("drop", "api-part", "192.0.2.1|/api/orders"))
        self.assertEqual([verdict for verdict, _, _ in verdicts[11:]], ["pass", "pass"])

    def test_robots_are_limited_by_their_name(self):
        bot = request(headers=["User-Agent: SomeBot/1.0"])
        browser = request(headers=["User-Agent: Mozilla/5.0"])
        verdicts = self.judge([(f"192.0.2.{i}", bot) for i in range(4)] + [("192.0.2.9", browser)])
        self.assertEqual([verdict for verdict, _, _ in verdicts], ["pass"] * 3 + ["drop", "pass"])
        self.assertEqual(verdicts[3][1:], ("bots", "SomeBot/1.0"))

    def test_a_host_is_limited_whatever_its_case(self):
        verdicts = self.judge([("192.0.2.1", request(host="Hot.Example" if i % 2 else "hot.example:80"))
                               for i in range(101)] + [("192.0.2.1", request(host="cold.example"))])
        self.assertEqual(verdicts[99][0], "pass")
        self.assertEqual(verdicts[100], ("drop", "one-host", "hot.example"))
        self.assertEqual(verdicts[101][0], "pass")


class Live(HttpCase):
    # So slow that no clock comes into it.
    RULES = """version: 1
rules:
  - {id: login, mode: enforce, when: http.request.uri.path eq "/login", key: [http.host, http.request.uri.path],
     per: request, limits: [{algorithm: token_bucket, rate: 1/d, burst: 5}]}
  - {id: all, mode: monitor, when: proto.l7 eq "http" and l4.dport eq 80, key: [ip.src], per: request,
     limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]}
"""

    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.apply(self.RULES)
        self.serve()

    def test_each_request_counts_once_however_it_is_sent(self):
        client = self.client()
        for path in ("/kept", "/alive"):
            client.send(request(path))
            self.assertEqual(client.answer(), path)
        for piece in ("GE", "T /spl", "it HTTP/1.1\r\nHo", "st: www.example\r\n", "\r", "\n"):
            client.send(piece)
            time.sleep(0.02)  # most likely a segment each; what is counted is the same if not
        self.assertEqual(client.answer(), "/split")
        client.send("".join(request(f"/line/{number}") for number in range(5)))
        self.assertEqual([client.answer() for _ in range(5)], [f"/line/{number}" for number in range(5)])
        hidden = request("/hidden")
        client.send(request("/body", "POST", headers=["Content-Length: 9000"]) + hidden + "x" * (9000 - len(hidden)))
        self.assertEqual(client.answer(), "/body")
        client.send(request("/chunks", "POST", headers=["Transfer-Encoding: chunked"]))
        for chunk in (hidden, "y" * 3000, hidden):
            client.send(f"{len(chunk):x}\r\n{chunk}\r\n")
        client.send("0\r\n\r\n" + request("/behind"))
        self.assertEqual([client.answer(), client.answer()], ["/chunks", "/behind"])
        self.counted("all", 11, 0)
        self.assertEqual(len(self.server.seen), 11)

    def test_a_refused_request_is_never_charged_again_and_all_else_goes_on(self):
        for _ in range(5):
            client = self.client()
            client.send(request("/login"))
            self.assertEqual(client.answer(), "/login")
        refused = self.client()
        refused.send("GET /login HTTP/1.1\r\nHost:")
        refused.send(" www.example\r\n\r\n")  # sent again by the kernel, more and more slowly
        wait_until("the segment to come again", lambda: self.reason("retransmission") >= 2)
        other = self.client()
        other.send(request("/page"))
        self.assertEqual(other.answer(), "/page")
        self.counted("login", 5, 1)
        self.counted("all", 6, 0)  # not the request that another rule refuses
        self.assertEqual(self.server.seen, [("GET", "/login")] * 5 + [("GET", "/page")])
        shown = self.box.ctl("key", "show", "login", "WWW.example|/login").stdout
        self.assertIn("www.example|/login", shown)
        wait_until("the key in top", lambda: "www.example|/login" in self.box.ctl("top", "--rule", "login").stdout)

    def test_explain_tells_the_box_s_own_buckets(self):
        client = self.client()
        client.send(request("/login"))
        self.assertEqual(client.answer(), "/login")
        self.counted("login", 1, 0)
        words = ("--src", "10.78.0.1", "--dst", self.ADDRESS, "--dport", "80", "--http", "GET /login", "--host",
                 "www.example")
        account = json.loads(self.box.ctl("explain", "--json", *words).stdout)
        text = request("/login")
        capture = self.box.folder / "halves.pcap"
        capture.write_bytes(pcap([(0, segment("", 0, flags=SYN)), (1, segment(text[:9], 1)), (2, segment(text[9:], 10))]))
        half = json.loads(self.box.ctl("explain", "--json", "--pcap", str(capture), "--frame", "3").stdout)
        for told in (account, half):
            limit = told["rules"][0]["limits"][0]
            self.assertEqual((limit["key"], limit["before"]["remaining"], limit["after"]["remaining"]), ("www.example|/login", 4, 3))
        five = 5 * "GET /login HTTP/1.1\\x0d\\x0aHost: www.example\\x0d\\x0a\\x0d\\x0a"
        told = json.loads(self.box.ctl("explain", "--json", *words[:6], "--flags", "psh,ack", "--payload", five).stdout)
        self.assertEqual((told["verdict"], [unit["refused"] for unit in told["units"]]), ("drop", [False] * 4 + [True]))
        self.assertEqual(told["units"][-1]["limit"], {"name": "1", "key": "www.example|/login", "left": 0, "cost": 1})


if __name__ == "__main__":
    Case.sluicectl = sys.argv[3]
    main()
