"""What the model says of paths that servers read otherwise, against tables worked out by hand."""
import os
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "smoke"))

import http1  # noqa: E402
from frame import Packet  # noqa: E402
from limiter import Limiter  # noqa: E402
from path_readings import has_lone_percent, has_nul, may_part, normal_path, other_paths  # noqa: E402
from rules import read_rules  # noqa: E402
from services import Seen, Service  # noqa: E402

HEAD = b"GET %s HTTP/1.1\r\nHost: a"
FOLDED = HEAD + b"\r\nX: a\r\n b"
SERVICE = {"id": "web", "protocol": "http", "when": "l4.dport eq 80"}
PATH = "http.request.uri.path"


def paths(target, readings, service=None, head=HEAD):
    """-> (the paths that are judged, why a service refuses it)"""
    packet = Packet()
    packet.service = service and Seen(service, 0)
    http1.add_request(packet, head % target, readings)
    units = [packet, *packet.further]
    return [unit.fields[PATH] for unit in units], service and packet.service.refusal


def service(mode):
    return Service({**SERVICE, "mode": mode}, {}, False)


class Paths(unittest.TestCase):
    def test_each_reading(self):
        for path, *readings in ((b"/a%2fb", b"/a%2Fb", b"/a/b"), (b"/a%3bb", b"/a%3Bb", b"/a;b"), (b"/a/../b", b"/b", b"/a/../b"),
                                (b"/a/%2E%2e/b", b"/b", b"/a/%2E%2e/b"), (b"/a//b/%7e", b"/a/b/~"), (b"/a/.", b"/a/", b"/a/."),
                                (b"/x/..%2fa%3Bb", b"/x/..%2Fa%3Bb", b"/a%3Bb", b"/x/..%2Fa;b", b"/a;b"),
                                (b"/a/./b%2F%40", b"/a/b%2F%40", b"/a/b/%40", b"/a/b%2F@", b"/a/b/@", b"/a/./b%2F%40"),
                                (b"/%zz", b"/%25zz", b"/%zz"), (b"/%%3b", b"/%25%3B", b"/%25;", b"/%%3b"), (b"/%252F", b"/%252F"),
                                (b"/%3f%23%25%20%00", b"/%3F%23%25%20%00"), (b"/a..b/...", b"/a..b/..."), (b"*", b"*"),
                                (b"/%2f", b"/%2F", b"/"), (b"/a%5C", b"/a%5C", b"/a\\")):
            self.assertEqual([normal_path(path), *other_paths(path)], readings, path)

    def test_what_is_refused(self):
        for path, wanted in ((b"/a%2Fb", True), (b"/%zz", True), (b"/%", True), (b"/%25", False), (b"/a/../b", False), (b"/%3b", False),
                             (b"*", False), (b"/%252f", False)):
            self.assertEqual(may_part(path) or has_lone_percent(path), wanted, path)


class Requests(unittest.TestCase):
    REFUSE, BOTH = http1.Readings("refuse"), http1.Readings("stricter")

    def test_of_no_service_all_readings_are_judged(self):
        for readings in (self.REFUSE, self.BOTH, http1.Readings()):
            # Of both hosts: the header names another one.
            self.assertEqual(paths(b"http://a%2Fb/c%2Fd?/../", readings), ([b"/c%2Fd", b"/c/d"] * 2, None))

    def test_of_a_service_an_encoded_slash_is_refused_or_judged(self):
        for mode, judged in (("enforce", [b"/c%2Fd"]), ("monitor", [b"/c%2Fd", b"/c/d"])):
            self.assertEqual(paths(b"/c%2Fd", self.REFUSE, service(mode)), (judged, "ambiguous_request"))
            self.assertEqual(paths(b"/c%2Fd", self.BOTH, service(mode)), ([b"/c%2Fd", b"/c/d"], None))
            for readings in (self.REFUSE, self.BOTH):
                self.assertEqual(paths(b"/c/../d", readings, service(mode)), ([b"/d", b"/c/../d"], None))

    def test_of_a_service_a_path_that_may_end_at_nul_is_refused_always(self):
        for readings in (self.REFUSE, self.BOTH):
            self.assertEqual(paths(b"/c%00d", readings, service("enforce")), ([b"/c%00d"], "ambiguous_request"))
            self.assertEqual(paths(b"/c%00d", readings), ([b"/c%00d"], None))
        self.assertEqual([has_nul(path) for path in (b"/%00", b"/%0", b"/%2500", b"*%00")], [True, False, False, False])

    def test_a_target_with_another_host_has_both(self):
        for one, readings in ((None, self.REFUSE), (service("enforce"), self.REFUSE), (service("monitor"), self.BOTH)):
            packet = Packet()
            packet.service = one and Seen(one, 0)
            http1.add_request(packet, HEAD % b"http://B/x/../y", readings)
            self.assertEqual([(unit.fields["http.host"], unit.fields[PATH]) for unit in (packet, *packet.further)],
                             [(b"b", b"/y"), (b"b", b"/x/../y"), (b"a", b"/y"), (b"a", b"/x/../y")])

    def test_a_line_alone_is_a_request_without_a_host_that_ends_its_connection(self):
        for one, readings, refusal in ((service("enforce"), self.BOTH, None), (service("monitor"), self.BOTH, None),
                                       (service("enforce"), self.REFUSE, "ambiguous_request"),
                                       (service("monitor"), self.REFUSE, "ambiguous_request")):
            packet = Packet()
            packet.service = Seen(one, 0)
            self.assertEqual(http1.add_request(packet, b"GET /a?q", readings), (0, True))
            self.assertEqual((packet.fields["http.request.method"], packet.fields[PATH], packet.fields.get("http.host")), (b"GET", b"/a", None))
            self.assertEqual((packet.service.refusal, len(packet.further)), (refusal, 0))

    def test_what_some_read_as_another_host_is_none(self):
        for host, is_one in ((b"a_b.Example.:80", True), (b"192.0.2.1:80", True), (b"[2001:DB8::1]", True), (b"a.1b", True), (b"", True),
                             (b"%61.example", False), (b"a!b", False), (b"a:x", False), (b"a:123456", False), (b"127.1", False),
                             (b"192.0.2.01", False), (b"1.2.3.256", False), (b"a.0x1f.", False), (b"0x", False), (b"[a.b]", False), (b"[fe80::1%25a]", False)):
            self.assertEqual(http1.is_host(host), is_one, host)
            for one, readings, refusal in ((None, self.BOTH, None), (service("enforce"), self.BOTH, "ambiguous_request"),
                                           (service("enforce"), self.REFUSE, "ambiguous_request")):
                for head in (b"GET / HTTP/1.1\r\nHost: " + host, b"GET http://" + host + b"/ HTTP/1.1\r\nHost: b") if host else ():
                    packet = Packet()
                    packet.service = one and Seen(one, 0)
                    self.assertEqual(http1.add_request(packet, head, readings)[1], not one and not is_one, head)
                    self.assertEqual(one and packet.service.refusal, None if is_one else refusal, head)
        self.assertEqual([http1.normal_host(host) for host in (b"A.:80", b"%61A:80", b"[A]")], [b"a", b"%61a:80", b"a"])

    def test_two_host_lines_are_two_readings(self):
        for one, readings, judged, refusal in ((None, self.REFUSE, [b"a", b"b"], None), (service("monitor"), self.BOTH, [b"a", b"b"], None),
                                               (service("enforce"), self.BOTH, [b"a", b"b"], None),
                                               (service("enforce"), self.REFUSE, [b"a"], "ambiguous_request"),
                                               (service("monitor"), self.REFUSE, [b"a", b"b"], "ambiguous_request")):
            packet = Packet()
            packet.service = one and Seen(one, 0)
            http1.add_request(packet, HEAD % b"/" + b"\r\nHost: B.", readings)
            self.assertEqual([unit.fields["http.host"] for unit in (packet, *packet.further)], judged)
            self.assertEqual(one and packet.service.refusal, refusal)
        same = Packet()
        http1.add_request(same, HEAD % b"/" + b"\r\nHost: A", self.BOTH)
        self.assertEqual(same.further, [])

    def test_a_method_with_small_letters_is_another_in_capitals(self):
        for method, has_methods, methods in ((b"GET", True, [b"GET"]), (b"Post", True, [b"Post", b"POST"]), (b"Post", False, [b"Post"])):
            packet = Packet()
            packet.service = Seen(service("enforce"), 0)
            http1.add_request(packet, HEAD.replace(b"GET", method) % b"/", http1.Readings("refuse", has_methods=has_methods))
            self.assertEqual([unit.fields["http.request.method"] for unit in (packet, *packet.further)], methods)
            self.assertIsNone(packet.service.refusal)

    def test_the_first_and_the_last_of_what_rules_name_are_two_readings(self):
        named = http1.named_in("""http.request.headers["X"] http.request.headers["host"] http.request.headers["Cookie"] http.cookies["c"] http.referer""")
        twice = ((b"X: 1\r\nX: 2\r\nx: 3", 'http.request.headers["x"]', [b"1", b"3", b"2"]), (b"X: 1\r\nX: 2\r\nX: 1", 'http.request.headers["x"]', [b"1", b"2"]),
                 (b"Y: 1\r\nY: 2", 'http.request.headers["y"]', [b"1"]),
                 (b"Cookie: c=1; c=2", 'http.cookies["c"]', [b"1", b"2"]), (b"Cookie: c=1; c=2; c=3", 'http.cookies["c"]', [b"1", b"3", b"2"]),
                 (b"Cookie: c=1; c=2; c=1", 'http.cookies["c"]', [b"1", b"2"]), (b"Cookie: c=1; c=1; c=; c=2; c=; c=2", 'http.cookies["c"]', [b"1", b"2", b"", b"2"]),
                 (b"Cookie: c=1; C=2", 'http.cookies["c"]', [b"1"]),
                 (b"Cookie: b=1; b=2", 'http.cookies["b"]', [b"1"]), (b"Cookie: b=1\r\nCookie: b=1;", 'http.request.headers["cookie"]', [b"b=1", b"b=1;"]),
                 (b"Cookie: c=1\r\ncookie: c=1 ", 'http.cookies["c"]', [b"1"]), (b"Referer: a\r\nReferer: b", "http.referer", [b"a", b"b"]),
                 (b"User-Agent: a\r\nUser-Agent: b", "http.user_agent", [b"a"]))
        for one, said in ((None, "refuse"), (service("monitor"), "refuse"), (service("enforce"), "both"), (service("enforce"), "refuse")):
            for lines, field, texts in twice:
                packet = Packet()
                packet.service = one and Seen(one, 0)
                http1.add_request(packet, HEAD % b"/" + b"\r\n" + lines, http1.Readings(said, named=named))
                self.assertEqual([unit.fields[field] for unit in (packet, *packet.further)], texts, lines)
                self.assertIsNone(one and packet.service.refusal)

    def test_a_high_blank_at_an_end_is_refused(self):
        readings = http1.Readings(named=http1.named_in('http.request.headers["X"]'))
        for line, refusal in ((b"X: a\xa0", "ambiguous_request"), (b"X: \x85a", "ambiguous_request"), (b"X: b\r\nX: \xa0", "ambiguous_request"),
                              (b"X: \xc3\xa0", None), (b"Y: a\xa0", None), (b"X: a\xa0z", None)):
            packet = Packet()
            packet.service = Seen(service("enforce"), 0)
            http1.add_request(packet, HEAD % b"/" + b"\r\n" + line, readings)
            self.assertEqual(packet.service.refusal, refusal, line)

    def test_more_than_four_texts_between_are_refused(self):
        readings = http1.Readings("both", named=http1.named_in('http.request.headers["x"]'))
        for count, refusal in ((6, None), (7, "ambiguous_request")):
            packet = Packet()
            packet.service = Seen(service("enforce"), 0)
            http1.add_request(packet, HEAD % b"/" + b"".join(b"\r\nX: %d\r\nY: %d" % (one, one) for one in range(count)), readings)
            self.assertEqual(packet.service.refusal, refusal)
            self.assertEqual(len(packet.further), 0 if refusal else 5)

    def test_more_than_four_cookies_between_are_refused(self):
        readings = http1.Readings("both", named=http1.named_in('http.cookies["c"] http.cookies["d"]'))
        for names, refusal in (("c" * 6, None), ("cd" * 4, None), ("c" * 7, "ambiguous_request"), ("cd" * 5, "ambiguous_request")):
            packet = Packet()
            packet.service = Seen(service("enforce"), 0)
            line = "; ".join(f"{name}={number}" for number, name in enumerate(names))
            http1.add_request(packet, HEAD % b"/" + b"\r\nCookie: " + line.encode(), readings)
            self.assertEqual(packet.service.refusal, refusal, line)
            self.assertEqual(len(packet.further), 0 if refusal else 5)

    def test_of_two_lines_of_cookies_a_server_may_know_one(self):
        readings = http1.Readings(named=http1.named_in('http.cookies["c"] http.cookies["d"]'))
        for lines, texts in ((b"Cookie: c=1; c=2\r\nCookie: c=3; c=4", [(b"1", None), (b"4", None), (b"2", None), (b"3", None), (b"2", None), (b"3", None)]),
                             (b"Cookie: c=1\r\nCookie: c=3; c=4", [(b"1", None), (b"4", None), (b"3", None), (b"3", None)]),
                             (b"Cookie: c=1; c=2\r\nCookie: d=3", [(b"1", b"3"), (b"2", b"3"), (b"2", None), (None, b"3")]),
                             (b"Cookie: c=1\r\nCookie: c=2\r\nCookie: d=3", [(b"1", b"3"), (b"2", b"3"), (b"1", None), (None, b"3")]),
                             (b"Cookie: c=1\r\nCookie: d=3", [(b"1", b"3")])):
            packet = Packet()
            http1.add_request(packet, HEAD % b"/" + b"\r\n" + lines, readings)
            self.assertEqual([tuple(unit.fields.get(f'http.cookies["{name}"]') for name in "cd") for unit in (packet, *packet.further)], texts, lines)

    def test_a_header_with_other_joints_is_taken_for_one_that_rules_name(self):
        readings = http1.Readings(named=http1.named_in(
            'http.request.headers["X-Api-Key"] http.user_agent http.request.headers["cookie"] http.request.headers["app_key"] '
            'http.request.headers["a-b"] http.request.headers["a~b"] http.request.headers["content_length"]'))
        key, agent = 'http.request.headers["x-api-key"]', "http.user_agent"
        named, hyphen, tilde = 'http.request.headers["app_key"]', 'http.request.headers["a-b"]', 'http.request.headers["a~b"]'
        for lines, field, texts in ((b"X_Api.Key: 1", key, [None, b"1"]), (b"X_Api_Key: 1\r\nX-Api-Key: 2", key, [b"2", b"1"]),
                                    (b"X_Api_Key: 1\r\nX-Api-Key: 1", key, [b"1"]), (b"XxApi_Key: 1", key, [None]),
                                    (b"X_Api_Key: 1\r\nx_api_key: 2\r\nX_Api_Key: 3", key, [None, b"1", b"3", b"2"]),
                                    (b"X!Api~Key: 1", key, [None, b"1"]), (b"X|Api'Key: 1\r\nX-Api-Key: 2", key, [b"2", b"1"]),
                                    (b"XaApi-Key: 1\r\nX-Api-Key2: 1\r\nXApiKey: 1\r\nX-Api0Key: 1", key, [None]),
                                    (b"App-Key: 1", named, [None, b"1"]), (b"App-Key: 1\r\nApp_Key: 2", named, [b"2", b"1"]),
                                    (b"App.Key: 1\r\nApp_Key: 1", named, [b"1"]), (b"AppKey: 1", named, [None]),
                                    (b"A-B: 1", tilde, [None, b"1"]), (b"A-B: 1\r\nA~b: 2", tilde, [b"2", b"1"]),
                                    (b"A-B: 1\r\nA~b: 2", hyphen, [b"1", b"2"]), (b"A-B: 1\r\nA~b: 1", hyphen, [b"1"]),
                                    (b"A_B: 1", hyphen, [None, b"1"]), (b"A_B: 1", tilde, [None, b"1"]),
                                    (b"Content-Length: 0", 'http.request.headers["content_length"]', [None]),
                                    (b"User_Agent: a", agent, [None, b"a"]),
                                    (b"User_Agent: a\r\nUser-Agent: b\r\nUser-Agent: c", agent, [b"b", b"c", b"a"])):
            packet = Packet()
            packet.service = Seen(service("enforce"), 0)
            http1.add_request(packet, HEAD % b"/" + b"\r\n" + lines, readings)
            self.assertEqual([unit.fields.get(field) for unit in (packet, *packet.further)], texts, lines)
            self.assertIsNone(packet.service.refusal)

    def test_another_host_is_another_text_of_its_header(self):
        packet = Packet()
        http1.add_request(packet, HEAD % b"/" + b"\r\nHost: B", http1.Readings(named=http1.named_in('http.request.headers["host"]')))
        self.assertEqual([(unit.fields["http.host"], unit.fields['http.request.headers["host"]']) for unit in (packet, *packet.further)],
                         [(b"a", b"a"), (b"b", b"a"), (b"a", b"B"), (b"b", b"B")])

    def test_a_folded_head_has_all_paths(self):
        for one in (None, service("monitor")):
            self.assertEqual(paths(b"/c%2Fd", self.REFUSE, one, FOLDED)[0], [b"/c%2Fd", b"/c/d"])

    def test_what_no_rule_reads_is_not_in_doubt(self):
        unread = http1.Readings("refuse", has_paths=False)
        self.assertEqual(paths(b"/c%2Fd", unread, service("enforce")), ([b"/c%2Fd"], None))
        self.assertEqual(paths(b"/%", unread, service("enforce")), ([b"/%25"], "ambiguous_request"))


class Limits(unittest.TestCase):
    """Of one request after another, each with its verdict."""

    def judge(self, rules, *targets):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("version: 1\nrules:\n" + rules)
            file.flush()
            limiter, verdicts = Limiter(read_rules(file.name)), []
        for target in targets:
            packet = Packet()
            packet.fields["ip.proto"] = 6
            for one in target.split():
                http1.add_request(packet, HEAD % one.encode(), http1.Readings())
            verdict = limiter.judge(0, packet)
            verdicts.append((verdict.action, verdict.key))
        return verdicts, limiter.counts

    def test_the_keys_of_all_are_charged_or_none(self):
        for per in ("request", "packet"):
            rules = f"  - {{id: r, mode: enforce, key: [{PATH}], per: {per}, limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}]}}\n"
            verdicts, counts = self.judge(rules, "/a%2Fb", "/a/b", "/c%2f..%2Fa%2Fb", "/c%2F..%2fa%2Fb", "/a%2Fb")
            self.assertEqual(verdicts, [("pass", ""), ("drop", "/a/b"), ("drop", "/a/b"), ("drop", "/a/b"), ("drop", "/a%2Fb")])
            self.assertEqual(counts["r"], dict(matched=9, admitted=2, exceeded=7, skipped=0))

    def test_one_key_is_charged_once_as_the_dearest(self):
        rules = ('  - {id: r, mode: enforce, key: [], per: request, cost: {path: {"/a%2Fb": 2, "/a/b": 5}},\n'
                 "     limits: [{algorithm: token_bucket, rate: 1/d, burst: 10}]}\n")
        verdicts, counts = self.judge(rules, "/a%2Fb", "/a%2Fb", "/")
        self.assertEqual([action for action, _ in verdicts], ["pass", "pass", "drop"])
        self.assertEqual(counts["r"], dict(matched=5, admitted=4, exceeded=1, skipped=0))

    def test_the_values_of_all_count_each_once(self):
        for per in ("request", "packet"):
            rules = f"  - {{id: r, mode: enforce, key: [], per: {per}, limits: [{{algorithm: distinct, of: {PATH}, count: 2, window: 1h}}]}}\n"
            verdicts, _ = self.judge(rules, "/a%2Fb", "/a/b", "/c", "/a%2Fc", "/a%2Fb")
            self.assertEqual([action for action, _ in verdicts], ["pass", "pass", "drop", "drop", "pass"], per)

    def test_a_reading_speaks_for_itself_alone(self):
        rules = (f"  - {{id: ok, mode: enforce, when: '{PATH} eq \"/a%2Fb\"', on_match: allow}}\n"
                 "  - {id: no, mode: enforce, when: 'http.request.method eq \"GET\"', on_match: drop}\n")
        verdicts, counts = self.judge(rules, "/a%2Fb", "/c%2Fd")
        self.assertEqual([action for action, _ in verdicts], ["drop", "drop"])
        self.assertEqual([counts[name]["matched"] for name in ("ok", "no")], [1, 2])


if __name__ == "__main__":
    unittest.main()
