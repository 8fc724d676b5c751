"""The real sluiced over its socket, with a dataplane that counts no packets.

    sluiced_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import json
import os
import pathlib
import pwd
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from capture_files import udp
from daemon_box import Answer, DaemonBox, UnixConnection, read_all, requests_of, wait_until
from relay import Relay

PROGRAMS = []
NONE = "0" * 16
ANSWER_SECONDS = 3  # that sluiced gives a dataplane
RULES = """version: 1
rules:
  - id: a
    description: "the first"
    mode: enforce
    when: ip.proto eq 17
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]
  - {id: b, mode: "off", key: [], scope: cluster, limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]}
"""
OTHER = """version: 1
rules:
  - {id: c, mode: enforce, when: ip.proto eq 6, on_match: drop}
limits:
  unused: {algorithm: token_bucket, rate: 1/s, burst: 2}
"""
NO_RULE = "version: 1\nrules: []\n"
FORM = {"Content-Type": "multipart/form-data; boundary=boundary"}


class Case(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)

    def start(self, rules=RULES):
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced()
        if rules:
            self.applied = self.good(self.box.put_rules(rules))["generation"]

    def ctl(self, *words):
        return subprocess.run([PROGRAMS[2], *words, "--socket", self.box.socket],
                              capture_output=True, text=True, timeout=60)

    def good(self, answer):
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json()

    def refused(self, answer, status):
        self.assertEqual(answer.status, status, answer.text)
        self.assertEqual(answer.type, "application/problem+json")
        problem = answer.json()
        self.assertEqual(problem["type"], "about:blank")
        self.assertEqual(problem["status"], status)
        self.assertTrue(problem["title"] and problem["detail"])
        return problem


class ReadOnly(Case):
    def test_the_socket_for_those_who_watch_changes_nothing(self):
        self.start()
        self.assertEqual(stat.S_IMODE(os.stat(self.box.read_socket).st_mode), 0o660)
        operators, self.box.socket = self.box.socket, self.box.read_socket
        for target in ("/v1/rules", "/v1/stats", "/v1/health", "/v1/metrics", "/v1/rules/source"):
            self.assertEqual(self.box.get(target).status, 200, target)
        for method, target, body in (("PUT", "/v1/rules", OTHER), ("POST", "/v1/rules/diff", OTHER),
                                     ("PUT", "/v1/rules/a/mode", '{"mode":"off"}'),
                                     ("POST", "/v1/panic", '{"pass":true}'),
                                     ("POST", "/v1/rollback", ""), ("POST", "/v1/confirm", "")):
            self.refused(self.box.ask(method, target, body), 403)
        self.assertNotIn("panic", requests_of(self.dataplane))
        self.box.socket = operators
        self.assertEqual(self.box.generation(), self.applied)


class WithoutDataplane(unittest.TestCase):
    def test_each_reason_why_there_is_none_is_told_once(self):
        box = DaemonBox(*PROGRAMS)
        self.addCleanup(box.close)
        sluiced = box.start_sluiced()
        told = lambda what: sluiced.log.read_text().count(what)
        wait_until("the first reason", lambda: told("No such file or directory; trying again") == 1)
        # Somebody has left a socket behind that nobody listens on.
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(box.folder / "dataplane.sock"))
        wait_until("the second reason", lambda: told("Connection refused; trying again") == 1)
        (box.folder / "dataplane.sock").unlink()
        wait_until("the first one again", lambda: told("No such file or directory; trying again") == 2)
        box.start_dataplane()
        wait_until("the dataplane", box.connected)
        self.assertEqual(told("trying again"), 3)


class Second(Case):
    """A sluiced beside one that runs."""

    def refused_start(self, state, socket_path, says):
        asked = requests_of(self.dataplane)
        second = self.box.run("sluiced", "--socket", socket_path, "--dataplane-socket",
                              self.box.folder / "dataplane.sock", "--state-dir", state)
        self.assertEqual(second.wait(30), 1)
        self.assertIn(says, second.log.read_text())
        self.assertEqual(requests_of(self.dataplane), asked)
        self.assertEqual(self.box.generation(), self.applied)

    def test_a_state_directory_that_one_has_is_refused_before_anything_is_sent(self):
        self.start()
        other = self.box.folder / "other.sock"
        self.refused_start(self.box.state, other,
                           f"another sluiced (pid {self.sluiced.pid}) has the state directory "
                           f"{self.box.state}; give each a --state-dir of its own")
        self.assertFalse(other.exists())
        self.good(self.box.ask("POST", "/v1/rules/a/key", '{"key":"192.0.2.1","action":"ban"}'))
        self.box.stop(self.sluiced, signal.SIGKILL)  # the lock ends with its process
        self.box.start_sluiced()
        self.assertIn("192.0.2.1", self.good(self.box.get("/v1/bans")).__repr__())

    def test_a_socket_that_is_taken_ends_it_before_anything_is_sent(self):
        state, other_state = self.box.state, self.box.folder / "other"
        self.dataplane = self.box.start_dataplane()
        self.box.state = other_state
        first = self.box.start_sluiced()
        self.good(self.box.put_rules(OTHER))
        self.box.stop(first)
        self.box.state = state
        self.sluiced = self.box.start_sluiced()
        self.applied = self.good(self.box.put_rules(RULES))["generation"]
        self.refused_start(other_state, self.box.socket, f"somebody listens on {self.box.socket} already")
        # The socket of those who watch counts as well, and the free one beside it is left as it was.
        free = self.box.folder / "free.sock"
        taken = self.box.folder / "free-read.sock"
        with socket.socket(socket.AF_UNIX) as holder:
            holder.bind(str(taken))
            holder.listen()
            self.refused_start(other_state, free, f"somebody listens on {taken} already")
        self.assertFalse(free.exists())


class Resources(Case):
    def test_rules(self):
        self.start(rules=None)
        self.assertEqual(self.good(self.box.get("/v1/rules")),
                         {"generation": NONE, "etag": "", "file": "", "unconfirmed": None, "rules": [],
                          "services": []})
        self.refused(self.box.get("/v1/rules/source"), 404)
        applied = self.good(self.box.put_rules(RULES, "?file=/etc/my%20rules.yaml"))
        self.assertEqual(list(applied), ["generation", "rules", "warnings", "unconfirmed", "panic"])
        self.assertEqual((len(applied["generation"]), applied["rules"]), (16, 1))
        shown = self.good(self.box.get("/v1/rules"))
        self.assertEqual((shown["generation"], shown["file"]),
                         (applied["generation"], "/etc/my rules.yaml"))
        first, second = shown["rules"]
        self.assertEqual(list(first), ["id", "kind", "description", "mode", "file_mode", "ends",
                                       "ended", "line", "when", "key", "action", "limits",
                                       "memory", "events"])
        self.assertEqual([first[name] for name in ("id", "description", "mode", "file_mode", "line",
                                                   "when", "key", "action")],
                         ["a", "the first", "enforce", "enforce", 3, "ip.proto eq 17", "ip.src",
                          "drop"])
        self.assertEqual(list(first["limits"][0]), ["name", "key", "text", "scope", "bound"])
        self.assertEqual((second["id"], second["mode"]), ("b", "off"))
        source = self.box.get("/v1/rules/source")
        self.assertEqual((source.status, source.type, source.text), (200, "application/yaml", RULES))

    def test_warnings_come_with_the_answer(self):
        self.start()
        applied = self.good(self.box.put_rules(OTHER))
        self.assertEqual(len(applied["warnings"]), 1)
        warning = applied["warnings"][0]
        self.assertEqual((warning["file"], warning["line"], warning["severity"]),
                         ("test.yaml", 5, "warning"))

    def test_strict_refuses_where_there_is_a_warning(self):
        self.start()
        problem = self.refused(self.box.put_rules(OTHER, "?strict=1&file=test.yaml"), 422)
        found = problem["problems"][0]
        self.assertEqual((found["file"], found["line"], found["severity"]), ("test.yaml", 5, "error"))
        self.refused(self.box.put_rules(OTHER, "?strict=yes"), 400)
        self.assertEqual(self.box.generation(), self.applied)
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)
        self.assertEqual(self.box.audit()[-1]["call"], "apply --strict")
        self.good(self.box.put_rules(OTHER.split("limits:")[0], "?strict=1"))
        self.good(self.box.put_rules(OTHER, "?strict=0"))

    def test_limits_that_boxes_share_need_a_cluster(self):
        self.start()
        shared = RULES.replace("mode: enforce", "mode: enforce\n    scope: cluster")
        problem = self.refused(self.box.put_rules(shared), 422)
        self.assertIn("sluice.yaml needs `cluster:` with a `store`", str(problem))

    def test_rules_that_are_refused_change_nothing(self):
        self.start()
        problem = self.refused(self.box.put_rules(RULES.replace("ip.src", "ip.scr")), 422)
        found = problem["problems"][0]
        self.assertEqual(list(found), ["file", "line", "column", "severity", "message"])
        self.assertEqual((found["file"], found["line"], found["column"], found["severity"]),
                         ("test.yaml", 7, 11, "error"))
        self.refused(self.box.put_rules(RULES.replace('mode: "off"', "mode: enforce")), 422)
        for text in ("", "{", "\0\0", "version: 1\n" * 1000, "&a [*a, *a]"):
            self.refused(self.box.put_rules(text), 422)
        self.refused(self.box.put_rules(NO_RULE), 409)
        self.refused(self.box.put_rules(NO_RULE, "?force=0"), 409)
        served = "version: 1\nservices: [{id: web, protocol: http, when: l4.dport eq 80, mode: enforce}]\nrules: []\n"
        self.refused(self.box.put_rules(served), 409)  # a service limits nothing
        self.refused(self.box.put_rules(NO_RULE, "?force=yes"), 400)
        self.assertEqual(self.box.generation(), self.applied)
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)
        forced = self.good(self.box.put_rules(NO_RULE, "?force=1"))
        self.assertEqual(forced["rules"], 0)
        self.assertNotEqual(forced["generation"], self.applied)

    def test_lists_that_come_along(self):
        self.start()
        listed = RULES.replace("ip.proto eq 17", "ip.src in $a").replace(
            "version: 1", "version: 1\ndata: {lists: {a: {type: cidr, file: /nowhere/a.txt}}}")
        self.refused(self.box.put_rules(listed), 422)
        self.refused(self.box.put_rules(listed), 422)
        whole = [("rules", None, listed), ("list", "%2Fnowhere%2Fa.txt", "192.0.2.0/24\n"),
                 ("list", "unused", "x")]
        self.good(self.put_form(whole))
        known, = self.good(self.box.get("/v1/rules/a/full"))["lists"]
        self.assertEqual((known["file"], known["known"], known["entries"]), ("/nowhere/a.txt", True, 1))
        told = self.good(self.box.ask("POST", "/v1/explain?account=1", json.dumps({"packet": {"frame": udp().hex()}})))
        self.assertEqual(told["notes"], [])  # no file of it is looked for
        generation = self.box.generation()
        for parts in ([], whole[1:], whole + whole[:1], [whole[0], ("list", None, "x")],
                      [whole[0], ("file", "a", "x")], [("rules", None, listed)] + [("list", "a", "")] * 5000):
            self.refused_or_closed(parts)
        self.refused_or_closed(whole, cut=20)
        self.assertEqual(self.box.generation(), generation)

    def test_forms_that_come_in_two_pieces(self):
        """Cut at every byte: each chunk of a body is read by itself."""
        self.start()
        listed = RULES.replace("ip.proto eq 17", "ip.src in $a").replace(
            "version: 1", "version: 1\ndata: {lists: {a: {type: cidr, file: /nowhere/a.txt}}}")
        body = self.form([("list", "%2Fnowhere%2Fa.txt", "192.0.2.0/24\n"), ("list", "empty", ""),
                          ("list", "unused", "x"), ("rules", None, listed)]).encode()
        whole = self.good(self.box.ask("POST", "/v1/rules/diff", body, FORM))
        other_case = {"Content-Type": FORM["Content-Type"].replace("multipart/form", "Multipart/Form")}
        self.assertEqual(self.good(self.box.ask("POST", "/v1/rules/diff", body, other_case)), whole)
        chunked = {**FORM, "Transfer-Encoding": "chunked"}
        for cut in range(1, len(body)):
            pieces = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[:cut], body[cut:], b""))
            answer = self.box.ask("POST", "/v1/rules/diff", pieces, chunked)
            self.assertEqual(answer.status, 200, f"cut at {cut}: {answer.text}")
            self.assertEqual(answer.json(), whole, f"cut at {cut}")

    def form(self, parts):
        return "".join(
            f'--boundary\r\nContent-Disposition: form-data; name="{name}"'
            + (f'; filename="{file}"' if file else "") + f"\r\n\r\n{content}\r\n"
            for name, file, content in parts) + "--boundary--\r\n"

    def put_form(self, parts, cut=0):
        body = self.form(parts)
        return self.box.ask("PUT", "/v1/rules", body[:len(body) - cut], FORM)

    def refused_or_closed(self, parts, cut=0):
        """In the middle of a body there is no other answer than the end of the connection."""
        try:
            answer = self.put_form(parts, cut)
        except OSError:
            return
        self.assertIn(answer.status, (400, 422), answer.text)

    def test_diff(self):
        self.start()
        other = RULES.replace("burst: 2", "burst: 9").replace("ip.proto eq 17", "ip.proto eq 6")
        diff = self.good(self.box.ask("POST", "/v1/rules/diff?file=x.yaml", other))
        self.assertEqual(list(diff), ["from", "to", "added", "removed", "changed", "owing_known", "reordered",
                                      "unchanged", "services", "warnings"])
        self.assertEqual((diff["from"], diff["added"], diff["removed"], diff["unchanged"]),
                         (self.applied, [], [], 1))
        self.assertEqual(diff["changed"], [{
            "id": "a",
            "settings": [{"what": "when", "from": "ip.proto eq 17", "to": "ip.proto eq 6"}],
            "limits": [{"name": "1", "change": "changed",
                        "from": "token_bucket 1/s burst 2 per packet",
                        "to": "token_bucket 1/s burst 9 per packet", "because": [],
                        "owing": {"keys": 2, "seconds": 4.0, "whole": True}}]}])
        reset = self.good(self.box.ask("POST", "/v1/rules/diff", RULES.replace("ip.src", "ip.dst")))
        limit = reset["changed"][0]["limits"][0]
        self.assertEqual((limit["change"], limit["because"]), ("reset", ["key"]))
        self.assertEqual(self.box.generation(), self.applied, "nothing changes")
        self.assertEqual(self.good(self.box.put_rules(other))["generation"], diff["to"])
        # What runs counts, modes set at run time too.
        self.good(self.box.put_mode("a", "monitor"))
        again = self.good(self.box.ask("POST", "/v1/rules/diff", other))
        self.assertEqual(again["changed"][0]["settings"],
                         [{"what": "mode", "from": "monitor", "to": "enforce"}])
        problem = self.refused(self.box.ask("POST", "/v1/rules/diff", "version: 2"), 422)
        self.assertEqual(problem["problems"][0]["line"], 1)

    def test_top(self):
        self.start()
        top = self.good(self.box.get("/v1/top"))
        self.assertEqual(top, {"window_s": 10.0, "samples": 70, "lost": 3, "keys": [
            {"rule": "a", "key": "10.0.0.1|53", "hits_per_s": 1500.0, "hits_error_per_s": 50.0,
             "denied_per_s": 0.5, "denied_error_per_s": 1.0, "bits_per_s": 6e6, "bits_error_per_s": 2e5, "remaining": 1234,
             "exempt": False, "banned": False},
            {"rule": "b", "key": "", "hits_per_s": 20.0, "hits_error_per_s": 0.0,
             "denied_per_s": 0.0, "denied_error_per_s": 0.0, "bits_per_s": 0.0, "bits_error_per_s": 0.0, "remaining": None,
             "exempt": False, "banned": False}]})
        self.good(self.box.get("/v1/top?by=bits"))
        self.assertEqual(len(self.good(self.box.get("/v1/top?rule=a&by=denied&count=1"))["keys"]), 1)
        self.refused(self.box.get("/v1/top?rule=nobody"), 404)
        for window in (1, 10, 60):
            self.assertEqual(self.good(self.box.get(f"/v1/top?window={window}s"))["window_s"], window)
        for wrong in ("by=name", "window=2s", "window=10", "count=0", "count=1001", "count=x", "count=-1", "count=5x"):
            self.refused(self.box.get("/v1/top?" + wrong), 400)

    def test_live_keys_come_page_by_page(self):
        self.start()
        first = self.good(self.box.get("/v1/keys?rule=a&most=2"))
        self.assertEqual((first["rule"], first["live"], first["next"]), ("a", 3, "0:2"))
        self.assertEqual([key["key"] for key in first["keys"]], ["10.0.0.1", None])
        self.assertEqual(first["keys"][1], {"key": None, "digest": "00000000000ab1", "tier": 1, "limit": "1", "lcore": 1,
                                            "carried": False, "shared": False, "level": 0, "remaining": 3, "most": 10,
                                            "left_s": 90.0, "banned": None})
        last = self.good(self.box.get("/v1/keys?rule=a&most=2&after=0:2"))
        self.assertEqual(([key["key"] for key in last["keys"]], last["next"]), (["10.0.0.3"], None))
        self.refused(self.box.get("/v1/keys?rule=nobody"), 404)
        for wrong in ("", "?rule=a&most=0", "?rule=a&most=1001", "?rule=a&most=x", "?rule=a&after=1", "?rule=a&after=x:y",
                      "?rule=a&after=1:"):
            self.refused(self.box.get("/v1/keys" + wrong), 400)
        done = subprocess.run([self.box.programs["sluicectl"], "--socket", self.box.socket, "keys", "--rule", "a"],
                              capture_output=True, text=True)
        for words in ("rule a: 3 live buckets", "10.0.0.1", "#00000000000ab1", "1m30s", "shared"):
            self.assertIn(words, done.stdout)

    def test_bans_of_every_source_come_page_by_page(self):
        boxed = ("  - {id: boxed, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}], "
                 "ban: {after: 3, within: 10s, for: 2m}, overrides: {file: %s}}\n")
        policy = self.box.folder / "keys.csv"
        policy.write_text("key,limit,rate,burst,count,expires,reason,ban\n192.0.2.9,,,,,,abuse,yes\n"
                          "192.0.2.10,,,,,2020-01-01,over,yes\n192.0.2.11,1,5/s,,,,,\n")
        self.start(None)
        self.good(self.box.put_rules(RULES + boxed % policy))
        self.assertEqual(self.good(self.box.ask("POST", "/v1/rules/a/bans", json.dumps(
            {"keys": ["10.0.0.2", "10.0.0.1"], "for": "1h", "reason": "both"})))["banned"], 2)
        bans, after, pages = [], "", 0
        while after is not None:
            page = self.good(self.box.get("/v1/bans?most=1&after=" + after))
            bans, after, pages = bans + page["bans"], page["next"], pages + 1
            self.assertLess(pages, 12)
        self.assertEqual([(ban["rule"], ban["key"], ban["source"]) for ban in bans],
                         [("a", "10.0.0.1", "operator"), ("a", "10.0.0.2", "operator"), ("boxed", "192.0.2.9", "policy"),
                          ("boxed", "10.0.0.1", "penalty_box")])
        self.assertEqual((bans[0]["reason"], bans[2]["left_s"], bans[3]["left_s"]), ("both", None, 90.0))
        self.assertTrue(3500 < bans[0]["left_s"] <= 3600, bans[0])
        of_one = self.good(self.box.get("/v1/bans?rule=boxed"))["bans"]
        self.assertEqual([ban["source"] for ban in of_one], ["policy", "penalty_box"])
        self.refused(self.box.get("/v1/bans?rule=nobody"), 404)
        for query, keys in (("source=policy", ["192.0.2.9"]), ("source=penalty_box", ["10.0.0.1"]), ("filter=abu", ["192.0.2.9"]),
                            ("filter=10.0.0.1", ["10.0.0.1", "10.0.0.1"]), ("source=operator&filter=both", ["10.0.0.1", "10.0.0.2"]),
                            ("filter=nothing", []), ("sort=end&source=policy", ["192.0.2.9"]),
                            ("sort=end&filter=.2", ["10.0.0.2", "192.0.2.9"]), ("sort=end&rule=boxed", ["192.0.2.9"])):
            self.assertEqual([ban["key"] for ban in self.good(self.box.get("/v1/bans?" + query))["bans"]], keys, query)
        # Two end at one instant: which of them is the first, nobody promises.
        by_end = [ban["key"] for ban in self.good(self.box.get("/v1/bans?sort=end"))["bans"]]
        self.assertEqual((sorted(by_end[:2]), by_end[2:]), (["10.0.0.1", "10.0.0.2"], ["192.0.2.9"]))
        first = self.good(self.box.get("/v1/bans?sort=end&most=2"))
        self.assertEqual((len(first["bans"]), first["boxes_read"]), (2, False))
        self.assertEqual([ban["key"] for ban in self.good(self.box.get("/v1/bans?sort=end&most=2&after=" + first["next"]))["bans"]], ["192.0.2.9"])
        for wrong in ("most=0", "after=x", "after=policy~a", "after=nobody~a~1", "source=x", "sort=key", "sort=end&after=x", "sort=end&after=end:1:2",
                      "after=end:1:0:0:0"):
            self.refused(self.box.get("/v1/bans?" + wrong), 400)
        self.refused(self.box.get("/v1/bans?after=operator~gone~1"), 409)

    def test_bans_of_networks(self):
        self.start()
        def posted(**body):
            return self.box.ask("POST", "/v1/rules/a/key", json.dumps({"action": "ban", **body}))
        self.assertEqual(self.good(posted(key="192.0.2.0/24", reason="abuse"))["key"], "192.0.2.0/24")
        self.assertEqual(self.good(self.box.ask("POST", "/v1/rules/a/bans", json.dumps(
            {"keys": ["2001:db8::/32", "10.0.0.1"]})))["banned"], 2)
        self.assertEqual([ban["key"] for ban in self.good(self.box.get("/v1/bans"))["bans"]],
                         ["10.0.0.1", "192.0.2.0/24", "2001:db8::/32"])
        for wrong in ("192.0.2.0/33", "192.0.2.0/x", "192.0.2.1/24", "/24", "shop/24"):
            self.refused(posted(key=wrong), 422)
        self.refused(self.box.ask("POST", "/v1/rules/a/key", json.dumps(
            {"key": "192.0.2.0/24", "action": "set", "rate": "5/s"})), 422)
        self.assertNotIn("warning", self.good(posted(key="0.0.0.0/1")))
        self.assertEqual(self.good(posted(key="0.0.0.0/0"))["warning"],
                         "every address of IPv4 is banned by 0.0.0.0/0")
        warning, = self.good(self.box.ask("POST", "/v1/rules/a/bans", json.dumps({"keys": ["10.0.0.2", "::/0"]})))["warnings"]
        self.assertEqual((warning["line"], warning["message"]), (2, "every address of IPv6 is banned by ::/0"))
        for key in ("0.0.0.0/1", "0.0.0.0/0", "::/0", "10.0.0.2"):
            self.good(posted(action="unban", key=key))
        # A reason is one line that acts on nothing.
        for hostile in ("a\x1b[2J", "a\nrule b", "a\tb", "\x9b31m", "\x7f"):
            for refused in (posted(key="10.0.0.1", reason=hostile),
                            self.box.ask("POST", "/v1/rules/a/bans", json.dumps(
                                {"keys": ["10.0.0.1"], "reason": hostile}))):
                self.assertIn("control characters", self.refused(refused, 422).__repr__())
        # Eight lengths are what a packet may cost.
        for length in range(8, 15):
            self.good(posted(key=f"10.0.0.0/{length}"))
        problem = self.refused(posted(key="10.0.0.0/15"), 422)
        self.assertIn("8 different lengths", problem["detail"])
        unban = json.dumps({"action": "unban", "key": "192.0.2.0/24"})
        self.assertEqual(self.good(self.box.ask("POST", "/v1/rules/a/key", unban))["set"], [])

    def test_an_argument_that_nobody_knows_is_refused(self):
        self.start()
        before = self.good(self.box.get("/v1/rules"))["etag"]
        for method, path, name, body in (("PUT", "/v1/rules?confrim=60s", "confrim", "version: 1\nrules: []\n"),
                                         ("DELETE", "/v1/rules/a?froce=1", "froce", None),
                                         ("GET", "/v1/bans?rul=a", "rul", None), ("POST", "/v1/confirm?x=", "x", None)):
            problem = self.refused(self.box.ask(method, path, body), 400)
            self.assertIn(f"takes no `{name}`", problem["detail"], path)
        self.assertEqual(self.good(self.box.get("/v1/rules"))["etag"], before)

    def test_a_member_that_nobody_knows_is_refused(self):
        self.start()
        for method, path, body in (("POST", "/v1/rules/a/bans", {"keys": ["10.0.0.1"], "for_s": 60}),
                                   ("POST", "/v1/rules/a/key", {"key": "10.0.0.1", "action": "ban", "For": "1h"}),
                                   ("POST", "/v1/rules/a/keys", {"keys": [{"key": "10.0.0.1", "rate": "5/s"}], "ttl": "1h"}),
                                   ("PUT", "/v1/rules/a/mode", {"mode": "off", "for": "1h"}),
                                   ("POST", "/v1/panic", {"pass": True, "until": "1h"}),
                                   ("POST", "/v1/merge", {"interval": "2ms", "rule": "a"})):
            problem = self.refused(self.box.ask(method, path, json.dumps(body)), 400)
            self.assertIn(f"there is no `{list(body)[-1]}` in the body; it may have `", problem["detail"], path)
        problem = self.refused(self.box.ask("POST", "/v1/rules/a/key", '{"key":"10.0.0.1","action":"frgive"}'), 400)
        self.assertIn("reset, forgive, grant, set, unset, ban or unban", problem["detail"])
        item = json.dumps({"keys": [{"key": "10.0.0.1", "rate": "5/s", "untill": "1h"}]})
        self.assertIn("there is no `untill`", self.refused(self.box.ask("POST", "/v1/rules/a/keys", item), 422)["detail"])
        self.assertEqual(self.good(self.box.get("/v1/bans"))["bans"], [])

    def test_a_member_that_stands_twice_is_refused(self):
        self.start()
        before = self.good(self.box.get("/v1/rules"))["etag"]
        for method, path, body, name in (
                ("POST", "/v1/rules/a/bans", '{"keys":["10.0.0.1"],"for":"1h","for":"1s"}', "for"),
                ("POST", "/v1/rules/a/unbans", '{"keys":["10.0.0.1"],"keys":["10.0.0.2"]}', "keys"),
                ("POST", "/v1/rules/a/key", '{"key":"10.0.0.1","action":"unban","action":"ban"}', "action"),
                ("POST", "/v1/rules/a/key", '{"key":"10.0.0.1","action":"ban","\\u006bey":"10.0.0.2"}', "key"),
                ("POST", "/v1/rules/a/keys", '{"keys":[{"key":"10.0.0.1"},{"key":"10.0.0.2","rate":"5/s","rate":"9/s"}]}', "rate"),
                ("PUT", "/v1/rules/a/mode", '{"mode":"monitor","mode":"off"}', "mode"),
                ("POST", "/v1/traces", '{"dropped":true,"dropped":false}', "dropped"),
                ("POST", "/v1/panic", '{"pass":false,"pass":true}', "pass"),
                ("POST", "/v1/merge", '{"interval":"2ms","interval":"3ms"}', "interval")):
            problem = self.refused(self.box.ask(method, path, body), 400)
            self.assertIn(f"the body has `{name}` twice in one object", problem["detail"], path)
        self.assertEqual(self.good(self.box.get("/v1/rules"))["etag"], before)
        self.assertNotIn("panic", requests_of(self.dataplane))
        # The same member in each of several objects is none that stands twice.
        body = '{"keys":[{"key":"10.0.0.1","rate":"5/s","burst":"5"},{"key":"10.0.0.2","rate":"5/s","burst":"5"}]}'
        self.good(self.box.ask("POST", "/v1/rules/a/keys", body))
        # Bodies and arguments of other kinds.
        form = [("rules", None, RULES), ("list", "l.txt", "10.0.0.1\n"), ("list", "l.txt", "10.0.0.2\n")]
        text = "".join(f'--boundary\r\nContent-Disposition: form-data; name="{name}"'
                       + (f'; filename="{file}"' if file else "") + f"\r\n\r\n{content}\r\n" for name, file, content in form)
        problem = self.refused(self.box.ask("PUT", "/v1/rules", text + "--boundary--\r\n", FORM), 400)
        self.assertIn("the list `l.txt` twice", problem["detail"])
        problem = self.refused(self.box.put_rules(OTHER, "?confirm=60s&confirm=1h"), 400)
        self.assertIn("the query has `confirm` twice", problem["detail"])
        self.assertEqual([rule["id"] for rule in self.good(self.box.get("/v1/rules"))["rules"]], ["a", "b"])

    def test_an_address_with_a_control_byte_is_refused(self):
        self.start()
        before = self.good(self.box.get("/v1/rules"))["etag"]
        for method, path in (("PUT", "/v1/rules?forgive=1%00"), ("PUT", "/v1/rules?force=1%000"), ("PUT", "/v1/rules?strict%00x=1"),
                             ("PUT", "/v1/rules?file=a%0Ab"), ("DELETE", "/v1/rules/a%00b"), ("GET", "/v1/keys?rule=a%1fb"),
                             ("GET", "/v1/stats%7F"), ("POST", "/v1/rollback?set=1%00")):
            problem = self.refused(self.box.ask(method, path, OTHER if method == "PUT" else None), 400)
            self.assertIn("control byte", problem["detail"], path)
        self.assertEqual(self.good(self.box.get("/v1/rules"))["etag"], before)
        # Escapes of other bytes, and what is none, stay what they are.
        self.good(self.box.put_rules(OTHER, "?file=a%20%C3%A9%1.yaml"))
        self.assertEqual(self.good(self.box.get("/v1/rules"))["file"], "a \u00e9%1.yaml")

    def test_an_address_with_a_nul_as_it_is_is_refused(self):
        self.start()
        before = self.good(self.box.get("/v1/rules"))["etag"]
        body = OTHER.encode()
        for address in (b"/v1/rules?forgive=1\0x", b"/v1/rules?forgive=1\0", b"/v1/rules\0?strict=1", b"/v1/rules?forgive=1\0HTTP/1.1",
                        b"/v1/rules\0 HTTP/1.1", b"/v1/rules?force=1\0  "):
            with self.box.raw() as client:
                client.sendall(b"PUT " + address + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                answer = read_all(client)
            self.assertRegex(answer, rb"^HTTP/1.1 400 ", address)
            self.assertIn(b"control byte", answer, address)
            self.assertEqual(self.good(self.box.get("/v1/rules"))["etag"], before, address)
        with self.box.raw() as client:  # requests behind one another have their own addresses
            client.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: x\r\n\r\nGET  /v1/rules HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertEqual(read_all(client).count(b"HTTP/1.1 200 "), 2)

    def test_a_ban_makes_another_generation_until_it_ends(self):
        self.start()
        put = lambda: self.box.ask("PUT", "/v1/rules", RULES + "# again\n", {"If-Match": f'"{self.applied}"'})
        self.good(self.box.ask("POST", "/v1/rules/a/key", json.dumps({"key": "10.0.0.1", "action": "ban"})))
        self.assertNotEqual(self.box.generation(), self.applied)
        self.assertIn("a ban or numbers of a key make another one too", self.refused(put(), 412)["detail"])
        self.good(self.box.ask("POST", "/v1/rules/a/key", json.dumps({"key": "10.0.0.1", "action": "unban"})))
        self.assertEqual(self.box.generation(), self.applied)
        self.good(put())

    def test_bans_in_bulk_are_all_or_none(self):
        self.start()
        def posted(body):
            return self.box.ask("POST", "/v1/rules/a/bans", body if isinstance(body, str) else json.dumps(body))
        problem = self.refused(posted({"keys": ["10.0.0.1", "shop", "10.0.0.1", 5]}), 422)
        self.assertEqual([one["line"] for one in problem["problems"]], [2, 3, 4])
        self.assertIn("there twice", problem["problems"][1]["message"])
        self.assertEqual(self.good(self.box.get("/v1/bans"))["bans"], [])
        for body in ("", "{", "[]", "{}", {"keys": []}, {"keys": "x"}, {"keys": ["10.0.0.1"], "tier": "x"},
                     {"keys": ["10.0.0.1"], "tier": 0}):
            self.refused(posted(body), 400)
        self.refused(posted({"keys": ["10.0.0.1"], "for": "0s"}), 422)
        self.refused(posted({"keys": ["10.0.0.1"], "for": ""}), 422)  # a template whose variable is empty
        self.refused(posted({"keys": ["10.0.0.1"] * 10_001}), 413)
        many = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(10_000)]
        self.assertEqual(self.good(posted({"keys": many}))["banned"], 10_000)
        problem = self.refused(posted({"keys": ["192.0.2.1"]}), 413)
        self.assertIn("override file", problem["detail"])
        self.assertEqual(self.good(posted({"keys": many[:5], "for": "1h"}))["banned"], 5)  # they take the others' place

    def test_bans_in_bulk_end_with_one_change(self):
        self.start()
        def posted(body):
            return self.box.ask("POST", "/v1/rules/a/unbans", body if isinstance(body, str) else json.dumps(body))
        def banned():
            return [ban["key"] for ban in self.good(self.box.get("/v1/bans?most=1000"))["bans"]]
        for body in ("", "{", "[]", "{}", {"keys": []}, {"keys": "x"}, {"keys": ["10.0.0.1"], "tier": "x"},
                     {"keys": ["10.0.0.1"], "for": "1h"}):
            self.refused(posted(body), 400)
        for reason in (7, "x" * 201, "two\nlines"):
            self.refused(posted({"keys": ["10.0.0.1"], "reason": reason}), 422)
        self.refused(posted({"keys": ["10.0.0.1"] * 10_001}), 413)
        self.refused(self.box.ask("POST", "/v1/rules/nobody/unbans", json.dumps({"keys": ["10.0.0.1"]})), 404)
        many = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(10_000)]
        self.good(self.box.ask("POST", "/v1/rules/a/bans", json.dumps({"keys": many[:9_999] + ["192.0.2.0/24"]})))
        # A text that is no key of the rule ends the call before anything is done.
        problem = self.refused(posted({"keys": ["10.0.0.1", "shop", 5]}), 422)
        self.assertEqual([one["line"] for one in problem["problems"]], [2, 3])
        self.assertEqual(len(banned()), 1000)
        # Keys without a ban of their own are told, and with which network they are banned.
        told = self.good(posted({"keys": many[:9_000] + ["10.0.0.1", "10.255.0.1", "192.0.2.7"]}))
        self.assertEqual((told["unbanned"], told["not_banned"]), (9_000, 2))
        self.assertEqual([(one["line"], one["severity"]) for one in told["warnings"]], [(9_002, "warning"), (9_003, "warning")])
        self.assertEqual(told["warnings"][0]["message"], "the key 10.255.0.1 is not banned")
        self.assertIn("192.0.2.7 is banned with its network 192.0.2.0/24", told["warnings"][1]["message"])
        self.assertEqual(set(banned()), {*many[9_000:9_999], "192.0.2.0/24"})
        after = self.good(self.box.get("/v1/rules"))
        self.assertEqual(after["generation"], told["generation"])
        problem = self.refused(posted({"keys": many[:200]}), 404)
        self.assertEqual((len(problem["problems"]), problem["detail"]), (100, "none of 200 keys was banned by itself, as far as workers have answered"))
        self.assertEqual(self.good(posted({"keys": many[9_000:9_999] + ["192.0.2.0/24"], "reason": "they called"}))["unbanned"], 1_000)
        self.assertEqual(banned(), [])
        calls = [line["call"] for line in self.box.audit()]
        self.assertIn("key unban a: 1000 keys, " + " ".join(many[9_000:9_010]) + " ... (they called)", calls)

    def test_events(self):
        self.start()
        told = self.good(self.box.get("/v1/events"))
        self.assertEqual((told["next"], told["missed"]), ("77-14", 0))
        time, key = "2025-11-24T16:00:00.005000000Z", "10.0.0.1|53"
        self.assertEqual(told["events"], [
            {"seq": 5, "time": time, "event": "limit_start", "rule": "a", "limit": "1", "key": key,
             "lcore": 1, "wait_s": 1.5},
            {"seq": 6, "time": time, "event": "limit_end", "rule": "a", "limit": "1", "key": key,
             "lcore": 1, "for_s": 1.5},
            {"seq": 7, "time": time, "event": "refill", "rule": "a", "limit": "1", "key": key,
             "lcore": 1},
            {"seq": 8, "time": time, "event": "ban", "edge": "start", "rule": "b", "key": key,
             "lcore": 1, "for_s": 1.5},
            {"seq": 9, "time": time, "event": "ban", "edge": "end", "rule": "b", "key": key,
             "lcore": 1, "for_s": 1.5},
            {"seq": 10, "time": time, "event": "lost", "lost": 9},
            {"seq": 11, "time": time, "event": "bridged", "pair": "uplink", "packets": 70},
            {"seq": 12, "time": time, "event": "checksums_trusted", "service": "web", "side": "clients"},
            {"seq": 13, "time": time, "event": "debts_forgiven", "rule": "a", "key": key, "debts": 3}])

        def numbers(query):
            return [event["seq"] for event in self.good(self.box.get("/v1/events" + query))["events"]]
        self.assertEqual(numbers("?rule=b"), [8, 9, 10, 11, 12])  # what was lost or bridged, or is a service's, concerns everybody
        self.assertEqual(numbers("?from=77-9"), [9, 10, 11, 12, 13])
        self.assertEqual(numbers("?from=76-9"), [5, 6, 7, 8, 9, 10, 11, 12, 13])  # of another dataplane
        self.assertEqual(numbers("?from=77-14&wait=1"), [])
        self.assertEqual([numbers("?kind=" + kind) for kind in ("ban", "limit_end", "lost")], [[8, 9], [6], [10]])
        self.assertEqual([numbers("?newest=2"), numbers("?newest=3&rule=a&kind=refill"), numbers("?newest=1000&from=77-12")], [[12, 13], [7], [12, 13]])
        self.assertEqual(self.good(self.box.get("/v1/events?newest=1"))["next"], "77-14")
        for wrong in ("from=9", "from=77-", "from=77-9x", "wait=21", "wait=x", "kind=ban_start", "kind=x", "newest=1001", "newest=x"):
            self.refused(self.box.get("/v1/events?" + wrong), 400)

    def test_budgets_and_candidates_are_shown_and_have_no_mode_to_set(self):
        self.start()
        bucket = "{algorithm: token_bucket, rate: 1/s, burst: 1}"
        self.good(self.box.put_rules(
            f"version: 1\nbypass: [{{when: eth.type eq 0x0806, key: [], limit: {bucket}}}]\n"
            f"rules: [{{id: a, mode: enforce, key: [ip.src], limits: [{bucket}],\n"
            "         candidates: [{name: five, limits: {\"1\": {burst: 5}}}]}]\n"))
        rules = self.good(self.box.get("/v1/rules"))["rules"]
        self.assertEqual([(rule["id"], rule["kind"], rule["mode"]) for rule in rules],
                         [("bypass.1", "bypass", "enforce"), ("a", "rule", "enforce"),
                          ("a.five", "candidate", "monitor")])
        self.assertIn("burst 5", rules[2]["limits"][0]["text"])
        self.refused(self.box.put_mode("bypass.1", "off"), 404)
        self.refused(self.box.put_mode("a.five", "enforce"), 404)
        self.good(self.box.put_mode("a", "off"))
        rules = self.good(self.box.get("/v1/rules"))["rules"]
        self.assertEqual([rule["mode"] for rule in rules], ["enforce", "off", "off"])

    def test_modes(self):
        self.start()
        set_now = self.good(self.box.put_mode("a", "monitor"))
        self.assertEqual(list(set_now), ["id", "mode", "generation"])
        self.assertNotEqual(set_now["generation"], self.applied)
        rule = self.good(self.box.get("/v1/rules"))["rules"][0]
        self.assertEqual((rule["mode"], rule["file_mode"]), ("monitor", "enforce"))
        self.refused(self.box.put_mode("nobody", "off"), 404)
        self.refused(self.box.put_mode("a", "loud"), 422)
        problem = self.refused(self.box.put_mode("b", "enforce"), 422)
        self.assertEqual(problem["problems"][0]["line"], 9)
        for body in ("", "{", "[]", "{}", '{"mode":1}', '"off"', "\xff" * 9, "[" * 100000):
            self.refused(self.box.ask("PUT", "/v1/rules/a/mode", body.encode("latin-1")),
                         413 if len(body) > 65536 else 400)
        self.assertEqual(self.box.generation(), set_now["generation"])
        self.assertEqual(self.good(self.box.put_rules(RULES))["generation"], self.applied)

    def test_stats(self):
        self.start()
        stats = self.good(self.box.get("/v1/stats"))
        self.assertEqual(list(stats), ["generation", "unconfirmed", "uptime_s", "panic", "packets", "verdicts",
                                       "verdict_bytes", "reasons", "table", "units", "answers", "would_refuse",
                                       "tracking", "table_full", "connections",
                                       "connection_events", "unread_connections", "asks", "ask_events", "shaping", "merge_interval_us",
                                       "clock", "heatmaps", "state", "rules", "services"])
        self.assertEqual(stats["services"], [])
        self.assertEqual(stats["connections"], {
            "connections": 80, "half_heads": 12, "held_lines": 24, "refused_connections": 6,
            "given_up_connections": 4, "quic_hellos": 18, "quic_half_hellos": 2})
        self.assertEqual({name: n for name, n in stats["connection_events"].items() if n}, {"refused_full": 10})
        self.assertEqual({name: n for name, n in stats["unread_connections"].items() if n}, {"http_gap": 8})
        self.assertEqual(stats["asks"], {"waiting_packets": 16, "reservations": 30})
        self.assertEqual({name: n for name, n in stats["ask_events"].items() if n}, {"no_answer": 22})
        self.assertEqual(stats["state"], {"survives": True, "rules": "found", "kept": 17, "mended": 2, "unknown": 3,
                                          "damaged": 9, "former_tables": 1, "former_debts": 4,
                                          "moved_debts": 6, "put_aside": 5, "not_kept": 10,
                                          "snapshot": {"done": 6, "failed": 7, "bytes": 8192, "age_s": 1.5}})
        self.assertEqual((stats["generation"], stats["packets"], stats["panic"],
                          stats["table_full"], stats["uptime_s"]),
                         (self.applied, 200, False, 14, 2.5))
        self.assertEqual((stats["verdicts"]["pass"], stats["verdicts"]["drop"]), (180, 20))
        self.assertEqual(sum(stats["reasons"].values()), 200)
        self.assertEqual(stats["rules"], [
            {"id": "a", "mode": "enforce", "ended": False, "matched": 60, "admitted": 30, "exceeded": 20,
             "skipped": 10, "admitted_bytes": 3000, "exceeded_bytes": 1280, "keys": 12},
            {"id": "b", "mode": "off", "ended": False, "matched": 0, "admitted": 0, "exceeded": 0, "skipped": 0,
             "admitted_bytes": 0, "exceeded_bytes": 0, "keys": 0}])
        self.assertEqual((stats["verdict_bytes"]["pass"], stats["verdict_bytes"]["drop"]), (18000, 1280))

    def test_ports_and_workers(self):
        self.start()
        ports = self.good(self.box.get("/v1/ports"))["ports"]
        self.assertEqual([port["side"] for port in ports], ["outside", "inside"])
        self.assertEqual(list(ports[0]), [
            "pair", "side", "device", "driver", "link_up", "held_down", "gone", "times_gone", "mtu", "set_mtu", "rx_queues",
            "tx_queues", "rss", "asked", "hashes", "handed_over", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_missed",
            "rx_no_mbuf", "rx_errors", "tx_errors", "tx_full", "kernel", "other_program"])
        self.assertIsNone(ports[1]["kernel"])
        self.assertEqual(ports[0]["kernel"], {
            "mode": "native", "program": 44, "fail": "open", "heartbeat_ns": 100_000_000, "beat_age_ns": 5_000_000,
            "takes_over": False, "bridged_packets": 70, "bridged_bytes": 4480, "dropped_packets": 6, "dropped_bytes": 384,
            "early_capacity": 1000, "early_networks": 8, "early_left_out": 2, "managed_packets": 30, "managed_refused": 4})
        workers = self.good(self.box.get("/v1/workers"))["workers"]
        self.assertEqual([worker["lcore"] for worker in workers], [1, 2])
        self.assertEqual(list(workers[0]), ["lcore", "bursts", "stalled_ms", "stalls", "handed_over",
                                            "table_slots", "table_entries", "table_evictions", "packets",
                                            "verdicts", "verdict_bytes", "reasons", "table", "units", "answers",
                                            "would_refuse", "tracking", "table_full", "connections", "connection_events", "unread_connections", "asks", "ask_events", "shaping", "ledger", "cycles", "lanes"])
        self.assertEqual((workers[0]["packets"], workers[0]["lanes"]), (100, ["uplink in q0"]))
        self.assertEqual(workers[0]["cycles"], {
            "of_turns": 256, "turns": 4, "packets": 10, "per_second": 2_000_000_000,
            "stages": {"receive": 160, "parse": 30, "match": 20, "key": 40, "locate": 50, "meter": 100, "send": 200,
                       "other": 5, "idle": 395}})

    def test_panic(self):
        self.start()
        for wanted in (True, False):
            answer = self.box.ask("POST", "/v1/panic", json.dumps({"pass": wanted}))
            self.assertEqual(self.good(answer), {"pass": wanted})
            self.assertEqual(self.good(self.box.get("/v1/stats"))["panic"], wanted)
        for body in ("", "{}", '{"pass":"yes"}', "[true]"):
            self.refused(self.box.ask("POST", "/v1/panic", body), 400)

    def test_merge_interval(self):
        self.start()
        answer = self.box.ask("POST", "/v1/merge", json.dumps({"interval": "2ms"}))
        self.assertEqual(self.good(answer), {"interval_us": 2000, "merged_limits": 0})
        for body, status in (("", 400), ("{}", 400), ('{"interval":2}', 400), ('{"interval":"soon"}', 422),
                             ('{"interval":"-1ms"}', 422)):
            self.refused(self.box.ask("POST", "/v1/merge", body), status)
        self.assertEqual(self.box.audit()[-1]["call"], "merge-interval 2ms")

    def test_health(self):
        self.start()
        health = self.good(self.box.get("/v1/health"))
        self.assertEqual(list(health), ["version", "dataplane", "panic", "checksums_trusted", "checksums_learning", "rss_fallen_back", "other_programs", "links_down", "low_mtus", "raised_mtus", "empty_lists", "inactive_rules", "tenants_aside", "rules_problem", "state", "store", "list_problem", "notify", "web", "cluster", "unconfirmed"])
        self.assertEqual(health["other_programs"], [])
        self.assertEqual(health["checksums_trusted"], [{"service": "web", "side": "clients"}])
        self.assertEqual(health["checksums_learning"], [{"service": "dns", "side": "servers"}])
        self.assertEqual((health["panic"], health["unconfirmed"]), (False, None))
        self.assertEqual(health["dataplane"], {"connected": True, "pid": self.dataplane.pid,
                                               "generation": self.applied})

    def test_health_says_who_learns_unless_the_service_is_off(self):
        for mode, learning in (("monitor", [{"service": "dns", "side": "servers"}]), ("off", [])):
            self.start(None) if not hasattr(self, "sluiced") else None
            self.good(self.box.put_rules(SERVED.format(mode=mode).replace("id: web", "id: dns")))
            self.assertEqual(self.good(self.box.get("/v1/health"))["checksums_learning"], learning, mode)

    def test_health_shows_panic_and_trials(self):
        self.start()
        self.good(self.box.put_rules(RULES, "?file=test.yaml&confirm=60s"))
        self.good(self.box.ask("POST", "/v1/panic", '{"pass":true}'))
        health = self.good(self.box.get("/v1/health"))
        self.assertTrue(health["panic"])
        self.assertEqual(health["unconfirmed"]["goes_back_to"], self.applied)
        self.box.stop(self.dataplane)
        wait_until("the end of the connection", lambda: not self.box.connected())
        self.assertEqual(self.good(self.box.get("/v1/health"))["panic"], None)

    def test_apply_says_that_nothing_is_judged(self):
        self.start()
        self.assertIs(self.good(self.box.put_rules(RULES))["panic"], False)
        self.good(self.box.ask("POST", "/v1/panic", '{"pass":true}'))
        self.assertIs(self.good(self.box.put_rules(RULES))["panic"], True)

    def test_rules_in_place_of_the_ones_that_were_read(self):
        self.start()
        shown = self.box.get("/v1/rules")
        self.assertRegex(shown.headers["ETag"], f'^"{self.applied}-[0-9a-f]{{16}}"$')
        other = RULES.replace("id: a", "id: z")
        for wrong in ('"00000000000000aa"', "0" * 16):
            problem = self.refused(self.box.ask("PUT", "/v1/rules?file=x", other, {"If-Match": wrong}), 412)
            self.assertIn(self.applied, problem["detail"])
        self.refused(self.box.ask("PUT", "/v1/rules?file=x", other, {"If-Match": "yesterday's"}), 400)
        self.assertEqual(self.box.generation(), self.applied)
        self.assertIn("refused", self.box.audit()[-1]["outcome"])
        self.good(self.box.ask("PUT", "/v1/rules?file=x", other, {"If-Match": shown.headers["ETag"]}))
        self.good(self.box.ask("PUT", "/v1/rules?file=x", RULES, {"If-Match": "*"}))
        self.assertEqual(self.box.generation(), self.applied)

    def test_metrics_satisfy_promtool(self):
        self.box.start_sluiced()
        without = self.box.get("/v1/metrics")
        self.assertIn("\nsluice_dataplane_up 0\n", without.text)
        self.check_metrics(without)
        self.box.start_dataplane()
        wait_until("the connection", self.box.connected)
        self.good(self.box.put_rules(RULES))
        answer = self.box.get("/v1/metrics")
        self.assertIn("\nsluice_dataplane_up 1\n", answer.text)
        self.assertIn('sluice_rule_packets_total{rule="a",outcome="exceeded"} 20\n', answer.text)
        self.check_metrics(answer)

    def check_metrics(self, answer):
        self.assertEqual(answer.type, "text/plain; version=0.0.4; charset=utf-8")
        promtool = shutil.which("promtool")
        self.assertIsNotNone(promtool, "promtool is in the package prometheus")
        done = subprocess.run([promtool, "check", "metrics"], input=answer.text, text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Http(Case):
    def test_what_is_not_there(self):
        self.start()
        for path in ("/", "/v1", "/v1/rule", "/v1/rules/", "/v1/rules/z/full", "/v1/rules//mode",
                     "/v1/rules/a/b/mode", "/V1/rules", "/v2/rules", "/v1/../etc", "/%FF"):
            self.refused(self.box.get(path), 404)

    def test_methods(self):
        self.start()
        for method, path, allow in (("DELETE", "/v1/rules", "GET, HEAD, PUT, POST"),
                                    ("GET", "/v1/rules/a", "PUT, DELETE"),
                                    ("DELETE", "/v1/stats", "GET, HEAD"),
                                    ("GET", "/v1/panic", "POST"),
                                    ("GET", "/v1/rules/a/mode", "PUT"),
                                    ("BREW", "/v1/health", "GET, HEAD")):
            answer = self.box.ask(method, path)
            self.refused(answer, 405)
            self.assertEqual(answer.headers["Allow"], allow)
        head = self.box.ask("HEAD", "/v1/stats")
        self.assertEqual((head.status, head.text), (200, ""))

    def test_many_requests_on_one_connection(self):
        self.start()
        with self.box.raw() as client:
            client.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n" * 20
                           + b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertEqual(read_all(client).count(b"HTTP/1.1 200"), 21)

    def test_sluicectl_understands_it_all(self):
        self.start(rules=None)
        rules = self.box.folder / "rules.yaml"
        rules.write_text(RULES)
        trial = ("apply", rules, "--confirm", "60s")
        for more in ((), ("--json",)):
            for words in (("apply", rules), trial, ("confirm",), trial, ("rules",), ("stats",),
                          ("rollback",), ("diff", rules), ("rules",), ("stats",),
                          ("mode", "a", "monitor"),
                          ("ports",), ("workers",), ("panic", "pass"), ("panic", "resume"),
                          ("ports", "--watch", "--count", "1"), ("keys", "--rule", "a"), ("bans",),
                          ("top", "--by", "bits"), ("merge-interval", "2ms"), ("health",)):
                done = subprocess.run([self.box.programs["sluicectl"], "--socket", self.box.socket,
                                       *words, *more], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                if more:
                    json.loads(done.stdout)


# The stand-in says of every bucket that 3 of 10 are left, of every key under a ban that it is banned
# for 90 s, and its second worker says nothing.
EXPLAINED = """version: 1
rules:
  - id: few
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 10}]
  - id: bytes
    mode: enforce
    when: l4.dport eq 53
    tiers:
      - {key: [ip.src], limits: [{algorithm: sliding_log, count: 10B, window: 1m, per: byte}]}
      - {key: [ip.dst, l4.dport], limits: [{algorithm: token_bucket, rate: 1/s, burst: 10}]}
  - id: boxed
    mode: enforce
    when: l4.dport eq 99
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 10}]
    ban: {after: 3, within: 10s, for: 2m, action: tag, dscp: cs1}
"""

SERVED = """version: 1
services: [{{id: web, protocol: http, when: l4.dport eq 80, mode: {mode}}}]
rules:
  - {{id: requests, mode: enforce, when: l4.dport eq 80, per: request, key: [ip.src],
     limits: [{{algorithm: token_bucket, rate: 1/s, burst: 10}}]}}
"""


class Explained(Case):
    def explain(self, *words, exit=0):
        done = self.ctl("explain", "--src", "10.0.0.1", "--dst", "192.0.2.1", *words)
        self.assertEqual(done.returncode, exit, done.stdout + done.stderr)
        return done.stdout if exit == 0 else done.stderr

    def account(self, *words):
        return json.loads(self.explain("--json", *words))

    @staticmethod
    def rule(account, name):
        return next(rule for rule in account["rules"] if rule["id"] == name)

    def test_what_the_worker_has(self):
        self.start(EXPLAINED)
        account = self.account("--dport", "80")
        self.assertEqual((account["verdict"], account["reason"], account["lcore"]),
                         ("pass", "within_limits", 1))
        self.assertEqual((account["generation"], account["notes"], account["others"]), (self.applied, [], []))
        limit = self.rule(account, "few")["limits"][0]
        self.assertEqual((limit["key"], limit["before"]["remaining"], limit["after"]["remaining"]),
                         ("10.0.0.1", 10, 9))
        account = self.account("--dport", "53")
        self.assertEqual((account["verdict"], account["rule"], account["wait_ns"]), ("drop", "bytes", "never"))
        first, second = self.rule(account, "bytes")["limits"]
        self.assertEqual((first["cost"], first["admitted"], first["after"]["remaining"]),
                         (28, False, 10))
        self.assertEqual((second["key"], second["admitted"], second["after"]["remaining"]),
                         ("192.0.2.1|53", True, 10))

    def test_bans(self):
        self.start(EXPLAINED)
        account = self.account("--dport", "99")
        self.assertEqual((account["verdict"], account["reason"]), ("pass", "within_limits"))
        rule = self.rule(account, "boxed")
        self.assertEqual(rule["ban"]["text"], "after 3 refusals within 10s, for 2m: tag dscp cs1")
        none = {"refusals_left": 3, "banned_ns": 0}
        self.assertEqual(rule["ban"]["keys"], [{"key": "10.0.0.1", "before": none, "after": none}])
        text = self.explain("--dport", "99")
        for line in ("the running box, generation " + self.applied, "on the worker of lcore 1",
                     "      ban: after 3 refusals within 10s, for 2m: tag dscp cs1",
                     "        before: 3 refusals left; after: 3 refusals left"):
            self.assertIn(line, text)
        self.assertEqual(self.ctl("key", "ban", "boxed", "10.0.0.1").returncode, 0)
        account = self.account("--dport", "99")
        self.assertEqual((account["verdict"], account["reason"], account["rule"]), ("tag", "banned", "boxed"))
        self.assertEqual(self.rule(account, "boxed")["limits"][0]["fate"], "banned")
        self.assertEqual(self.ctl("key", "unban", "boxed", "10.0.0.1").returncode, 0)
        self.assertEqual(self.ctl("key", "set", "boxed", "10.0.0.1", "--exempt").returncode, 0)
        account = self.account("--dport", "99")
        self.assertEqual((account["verdict"], account["reason"]), ("pass", "within_limits"))
        self.assertEqual(self.rule(account, "boxed")["limits"][0]["fate"], "exempt")

    def test_services_run_in_the_mode_that_was_set(self):
        for in_file, set_since in (("monitor", "enforce"), ("enforce", "monitor"), ("enforce", "off")):
            self.start(SERVED.format(mode=in_file)) if not hasattr(self, "sluiced") else self.good(
                self.box.put_rules(SERVED.format(mode=in_file)))
            words = ("--dport", "80", "--http", "GET /")
            self.assertEqual(self.account(*words)["service"]["mode"], in_file)
            self.good(self.box.put_mode("web", set_since))
            service = self.account(*words).get("service", {"mode": "off"})
            self.assertEqual(service["mode"], set_since)
            shown = {"id": "web", "protocol": "http", "mode": set_since, "file_mode": in_file}
            self.assertEqual(shown | self.good(self.box.get("/v1/stats"))["services"][0],
                             shown | {"checksums": {"clients": "trusting", "servers": "verifying"}})
            self.assertIn(f"web      http      {set_since} (file: {in_file})", self.ctl("stats").stdout)
            self.assertIn(f'sluice_service_info{{service="web",protocol="http",mode="{set_since}"}} 1\n',
                          self.box.get("/v1/metrics").text)

    def test_services_are_known_by_their_ids(self):
        self.start(SERVED.format(mode="monitor"))
        shown = self.ctl("rules", "web")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("web: service of http, monitor\nfrom line 2\n\nwhen: l4.dport eq 80\n", shown.stdout)
        self.assertIn("on_unreadable: refuse\n", shown.stdout)
        self.assertEqual(json.loads(self.ctl("rules", "web", "--json").stdout)["id"], "web")
        self.assertIn("there is no rule nosuch", self.ctl("rules", "nosuch").stderr)
        counted = self.ctl("stats", "--rule", "web")
        self.assertIn("web      http      monitor", counted.stdout)
        self.assertNotIn("VERDICT", counted.stdout)
        self.assertIn("no rule or service nosuch", self.ctl("stats", "--rule", "nosuch").stderr)
        self.assertIn("id of the rule or service", self.ctl("mode", "--help").stdout)
        for rule, exit in (("requests", 0), ("web", 0), ("b", 0), ("nosuch", 1)):  # of b there are events
            done = self.ctl("events", "--rule", rule)
            self.assertEqual(done.returncode, exit, done.stdout)
            self.assertEqual("no rule or service in force is called nosuch" in done.stderr, exit == 1)

    def changing(self):
        """A socket of sluiced behind which other rules come each time that the worker is asked."""
        bursts = iter(range(11, 1000))

        def before(target):
            if target.startswith("/v1/explain"):
                self.good(self.box.put_rules(EXPLAINED.replace("burst: 10", f"burst: {next(bursts)}", 1)))
        relay = Relay(str(self.box.folder / "relay.sock"), self.box.socket, before)
        self.addCleanup(relay.close)
        return relay.path

    def explain_through(self, path):
        return subprocess.run([PROGRAMS[2], "explain", "--json", "--src", "10.0.0.1", "--dst", "192.0.2.1",
                               "--dport", "80", "--socket", path], capture_output=True, text=True, timeout=60)

    def test_it_is_told_by_the_rules_that_decide(self):
        self.start(EXPLAINED)
        path = self.changing()
        for burst in (11, 12):
            done = self.explain_through(path)
            self.assertEqual(done.returncode, 0, done.stderr)
            account = json.loads(done.stdout)
            self.assertNotEqual(account["generation"], self.applied)
            self.assertEqual(account["generation"], self.box.generation())
            self.assertIn(f"burst {burst}", self.rule(account, "few")["limits"][0]["text"])

    def test_what_cannot_be_told(self):
        self.start(EXPLAINED)
        self.explain("--enforce", exit=2)
        self.explain("--config", "x", exit=2)
        self.explain("--pcap", "x", "--frame", "1", exit=2)
        self.ctl("panic", "pass")
        self.assertIn("panic pass", self.account("--dport", "80")["notes"][0])
        self.dataplane.kill()
        self.dataplane.wait()
        wait_until("sluiced to notice",
                   lambda: not self.box.get("/v1/health").json()["dataplane"]["connected"])
        self.explain("--dport", "80", exit=3)


class AskedPacket(Case):
    """What a worker would make of a packet; that of the stand-in has seen none."""

    def ask(self, body, query=""):
        return self.box.ask("POST", "/v1/explain" + query, json.dumps(body) if isinstance(body, dict) else body)

    def test_the_workers_answer_by_names(self):
        self.start(None)
        self.refused(self.ask({"packet": {"frame": "00"}}), 404)
        self.applied = self.good(self.box.put_rules("version: 1\nrules:\n  - {id: none, mode: 'off', when: l4.dport eq 9, on_match: drop}\n" +
                   EXPLAINED.split("rules:\n")[1]))["generation"]
        question = {"packet": {"frame": udp().hex().upper(), "dir": "out"}, "before": [{"frame": "01", "age_ns": 5}]}
        told = self.good(self.ask(question))
        shown = {rule["id"]: rule for rule in self.good(self.box.get("/v1/rules"))["rules"]}
        names = [(rule, limit["name"]) for rule in ("few", "bytes") for limit in shown[rule]["limits"]]
        self.assertEqual((told["verdict"], told["reason"], (told["rule"], told["limit"]), told["wait_ns"]),
                         ("drop", "over_limit", names[1], "never"))
        self.assertEqual((told["lcore"], told["sure"], told["enforces"], told["generation"]), (1, True, True, self.applied))
        self.assertEqual([(limit["rule"], limit["limit"]) for limit in told["limits"]], names)
        self.assertEqual([(limit["cost"], limit["admitted"], limit["charged"]) for limit in told["limits"]],
                         [(1, True, False), (28, False, False), (1, True, False)])
        self.assertEqual((told["units"], told["bans"]), ([], []))
        # Nothing is changed by a question.
        self.box.socket = self.box.read_socket
        self.assertEqual(self.good(self.ask(question))["rule"], "bytes")
        self.assertNotIn("account", told)
        told = self.good(self.ask(question, "?account=1"))
        account = told["account"]
        self.assertEqual([(rule["id"], rule["outcome"]) for rule in account["rules"]][:3],
                         [("none", "off"), ("few", "metered"), ("bytes", "metered")])
        self.assertEqual((account["verdict"], account["rule"], account["fields"]["dir"]), ("drop", "bytes", "out"))
        self.assertEqual((told["notes"], told["generation"]), ([], self.applied))
        self.assertIn("\nrules\n  none (off) is off: l4.dport is 53, not 9\n  few (enforce) matches\n", told["text"])
        self.assertTrue(told["text"].endswith(", by bytes, never fits\n"), told["text"])
        # More than there are places: each gives its own back. How many are let in at once is counted in
        # tests/unit/control/daemon/api/explain_test.cpp.
        for _ in range(6):
            self.assertEqual(self.good(self.ask(question, "?account=1"))["account"]["rule"], "bytes")
        with ThreadPoolExecutor(16) as clients:
            answers = list(clients.map(lambda _: self.ask(question, "?account=1"), range(16)))
        for answer in answers:
            if answer.status != 200:
                self.assertIn("other packets are being explained", self.refused(answer, 429)["detail"])
        self.assertIn(200, [answer.status for answer in answers])
        self.assertEqual(self.good(self.ask(question, "?account=1"))["account"]["rule"], "bytes")
        self.refused(self.ask(question, "?account=yes"), 400)

    def test_wrong_questions(self):
        self.start(EXPLAINED)
        frame = {"frame": "00"}
        for body in ("[]", {}, {"packet": "00"}, {"packet": {"frame": ""}}, {"packet": {"frame": "0"}},
                     {"packet": {"frame": "0g"}}, {"packet": {"frame": "00", "dir": "up"}},
                     {"packet": {"frame": "00", "age_ns": -1}}, {"packet": {"frame": "00", "size": 1}},
                     {"packet": frame, "before": frame}, {"packet": frame, "before": [frame] * 65},
                     {"packet": frame, "pair": "lab"}, {"packet": {"frame": "00" * 65_536}}):
            self.refused(self.ask(body), 400)
        self.assertIn("lcore 1 has not answered", self.refused(self.ask({"packet": frame, "port": "silent"}), 503)["detail"])


COMPLETED = SERVED.format(mode="monitor").replace("rules:\n", """rules:
  - {id: other, mode: enforce, when: l4.dport eq 53, on_match: drop}
""")
ACTIONS = ["show", "list", "reset", "grant", "set", "unset", "ban", "unban"]


class Completed(Case):
    """What the shells offer, of a running sluiced."""

    # Words that were typed -> what is offered; the last word is begun.
    OFFERED = ((("key", ""), ACTIONS), (("key", "un"), ["unset", "unban"]),
               (("key", "ban", ""), ["other", "requests"]), (("key", "show", "re"), ["requests"]),
               (("mode", ""), ["other", "requests", "web"]), (("mode", "web", ""), ["monitor", "enforce", "off"]),
               (("rules", "o"), ["other"]), (("rule", ""), ["add", "replace", "delete"]),
               (("rule", "delete", "w"), []), (("keys", "--rule", "o"), ["other"]), (("stats", "--rule", ""), ["other", "requests", "web"]),
               (("panic", ""), ["pass", "resume"]), (("xdp", ""), ["status"]))

    def script(self, shell):
        done = subprocess.run([PROGRAMS[2], "completion", shell], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def offered(self, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "SLUICE_SOCKET": self.box.socket})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_ids(self):
        self.start(COMPLETED)
        ids = [PROGRAMS[2], "completion", "ids"]
        self.assertEqual(sorted(self.offered(ids)), ["other", "requests", "web"])
        self.box.stop(self.sluiced)
        self.assertEqual(self.offered(ids), [])

    def test_bash(self):
        self.start(COMPLETED)
        script = self.script("bash")
        for words, wanted in self.OFFERED:
            typed = " ".join(f"'{word}'" for word in (PROGRAMS[2], *words))
            shown = self.offered(["bash", "-c", f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words)}; _sluicectl\n"
                                  'printf "%s\\n" "${COMPREPLY[@]}"'])
            self.assertEqual(sorted(shown), sorted(wanted), words)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        """Which words are begun is the shell's own affair: it is given all of them."""
        self.start(COMPLETED)
        given = "compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- $@; }\n"
        script = given + self.script("zsh")
        for words, wanted in self.OFFERED:
            if words[-1] == "":
                typed = " ".join(f"'{word}'" for word in (PROGRAMS[2], *words))
                shown = self.offered(["zsh", "-fc", f"{script}\nwords=({typed}); CURRENT={len(words) + 1}; _sluicectl"])
                self.assertEqual(sorted(shown), sorted(wanted), words)


class WhenThingsEnd(Case):
    def test_without_a_dataplane(self):
        self.box.start_sluiced()
        for answer in (self.box.get("/v1/stats"), self.box.get("/v1/ports"),
                       self.box.get("/v1/workers"), self.box.put_rules(RULES),
                       self.box.ask("POST", "/v1/panic", '{"pass":true}')):
            self.refused(answer, 503)
        self.assertEqual(self.good(self.box.get("/v1/health"))["dataplane"],
                         {"connected": False, "pid": 0, "generation": NONE})
        self.assertEqual(self.box.generation(), NONE)
        self.assertFalse((self.box.state / "rules.json").exists())

    def test_bans_without_a_dataplane_are_those_that_sluiced_knows(self):
        self.start(RULES + "  - {id: boxed, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}], "
                           "ban: {after: 3, within: 10s, for: 2m}}\n")
        self.good(self.box.ask("POST", "/v1/rules/boxed/bans", json.dumps({"keys": ["10.0.0.2"]})))
        told = self.good(self.box.get("/v1/bans"))
        self.assertEqual((told["boxes_read"], len(told["bans"])), (True, 2))
        self.assertEqual(self.ctl("bans").returncode, 0)
        self.dataplane.kill()
        self.dataplane.wait()
        wait_until("sluiced to notice", lambda: not self.box.connected())
        told = self.good(self.box.get("/v1/bans"))
        self.assertEqual((told["boxes_read"], told["next"]), (False, None))
        self.assertEqual([ban["source"] for ban in told["bans"]], ["operator"])
        done = self.ctl("bans")
        self.assertEqual(done.returncode, 3)
        self.assertIn("10.0.0.2", done.stdout)
        self.assertIn("the penalty boxes' are not known", done.stderr)

    def test_sluiced_is_killed_and_re_attaches(self):
        self.start()
        running = self.good(self.box.put_mode("a", "monitor"))["generation"]
        self.box.stop(self.sluiced, signal.SIGKILL)
        asked = requests_of(self.dataplane)
        again = self.box.start_sluiced()
        shown = self.good(self.box.get("/v1/rules"))
        self.assertEqual(shown["generation"], running)
        self.assertEqual((shown["file"], shown["rules"][0]["mode"], shown["rules"][0]["file_mode"]),
                         ("test.yaml", "monitor", "enforce"))
        self.assertEqual(self.good(self.box.get("/v1/stats"))["generation"], running)
        self.assertEqual(requests_of(self.dataplane), asked + ["hello"])
        self.assertIn("re-attached", again.log.read_text())

    def test_rules_over_no_service_are_named_at_the_start(self):
        self.start("""version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}
rules:
  - {id: headers, mode: enforce, when: l4.dport eq 22, on_match: drop}
  - {id: of-web, mode: enforce, when: l4.dport eq 80 and http.host eq "a", on_match: drop}
  - {id: watched, when: http.host eq "a", on_match: drop}
  - {id: anywhere, mode: enforce, when: http.host eq "a", on_match: drop}
  - {id: elsewhere, mode: enforce, when: l4.dport eq 81 and http.host eq "a", on_match: drop}
""")
        named = ("rules over no service, which connections that cannot be read go around: elsewhere\n",
                 "rules beyond their services, where connections that cannot be read go around them: anywhere (beyond "
                 "service web by l4.dport)\n")
        for words in ("rules over no service", "rules beyond"):
            self.assertNotIn(words, self.sluiced.log.read_text())
        self.box.stop(self.sluiced)
        log = self.box.start_sluiced().log
        for words in named:
            wait_until(words, lambda: words in log.read_text())

    def test_a_new_dataplane_is_brought_the_rules(self):
        self.start()
        self.box.stop(self.dataplane, signal.SIGKILL)
        wait_until("sluiced to notice", lambda: not self.box.connected())
        self.refused(self.box.put_rules(OTHER), 503)
        self.assertEqual(self.box.generation(), self.applied)
        dataplane = self.box.start_dataplane()
        wait_until("the rules", lambda: "apply" in requests_of(dataplane))
        self.assertEqual(self.good(self.box.get("/v1/stats"))["generation"], self.applied)

    def test_the_dataplane_s_rules_are_taken_over(self):
        self.start()
        self.box.stop(self.sluiced)
        (self.box.state / "rules.json").unlink()
        self.box.start_sluiced()
        self.assertEqual(self.box.generation(), self.applied)
        self.assertEqual(self.box.get("/v1/rules/source").text, RULES)
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)

    def test_a_damaged_store_is_kept_aside(self):
        self.start()
        self.box.stop(self.sluiced)
        (self.box.state / "rules.json").write_text("{")
        again = self.box.start_sluiced()
        self.assertEqual(self.box.generation(), self.applied, "from the dataplane")
        aside = list(self.box.state.glob("rules.json.bad-*"))
        self.assertEqual([path.read_text() for path in aside], ["{"])
        self.assertIn(str(aside[0]), again.log.read_text())

    def test_a_dataplane_that_refuses(self):
        self.box.start_dataplane("there is no room")
        self.box.start_sluiced()
        problem = self.refused(self.box.put_rules(RULES), 502)
        self.assertIn("there is no room", problem["detail"])
        self.assertEqual(self.box.generation(), NONE)

    def test_a_dataplane_that_hangs_holds_nobody_up(self):
        self.start()
        self.dataplane.send_signal(signal.SIGSTOP)
        status = pathlib.Path(f"/proc/{self.dataplane.pid}/status")
        wait_until("the dataplane to stop", lambda: "State:\tT" in status.read_text())
        try:
            self.refused(self.box.get("/v1/stats"), 503)
            # From now on it is known: nobody waits for an answer until the time for one is over.
            started = time.monotonic()
            for _ in range(10):
                self.refused(self.box.get("/v1/stats"), 503)
                self.assertEqual(self.box.generation(), self.applied)
            self.assertLess(time.monotonic() - started, 10 * ANSWER_SECONDS)
        finally:
            self.dataplane.send_signal(signal.SIGCONT)
        wait_until("the connection", self.box.connected)
        self.good(self.box.get("/v1/stats"))

    def test_the_first_rules(self):
        (self.box.folder / "first.yaml").write_text(RULES)
        (self.box.folder / "sluice.yaml").write_text("version: 1\nrules: first.yaml\n")
        self.box.start_dataplane()
        sluiced = self.box.start_sluiced("--config", self.box.folder / "sluice.yaml")
        self.assertEqual(self.good(self.box.get("/v1/rules"))["file"],
                         str(self.box.folder / "first.yaml"))
        self.assertEqual(self.box.stop(sluiced), 0)

    def test_first_rules_with_errors_are_said_and_left_out(self):
        (self.box.folder / "first.yaml").write_text("version: 1\nruels: []\n")
        sluiced = self.box.start_sluiced("--rules", self.box.folder / "first.yaml")
        wait_until("the file's error", lambda: "first.yaml:2:1: error:" in sluiced.log.read_text())
        self.assertEqual(self.box.generation(), NONE)


def slow_rules(count=700):
    """Forty kilobytes each: they take far longer to compile than any other call, and leave one rule."""
    addresses = " ".join(f"10.{i % 250}.{i // 250}.{i % 7}" for i in range(3000))
    off = "".join(f"  - {{id: r{i}, mode: \"off\", on_match: drop, when: \"ip.src in {{{addresses}}}\"}}\n"
                  for i in range(count))
    return "version: 1\nrules:\n  - {id: on, mode: enforce, on_match: drop}\n" + off


def cpu_seconds(pid):
    """That a process and the children that it has waited for have computed."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class WhileOthersCompile(Case):
    def send(self, rules, query=""):
        """Asks, and does not wait for the answer."""
        connection = UnixConnection(self.box.socket)
        self.addCleanup(connection.close)
        connection.request("PUT", "/v1/rules" + query, rules)
        return connection

    def wait_until_compiled(self, since):
        """The daemon has computed for a while beyond `since`, so what was sent is being compiled."""
        wait_until("rules to be compiled", lambda: cpu_seconds(self.sluiced.pid) > since + 0.2)

    def is_answered(self, connection):
        return bool(select.select([connection.sock], [], [], 0)[0])

    def test_only_the_newest_of_those_that_wait_is_compiled(self):
        self.start()
        slow = self.send(slow_rules())
        self.wait_until_compiled(cpu_seconds(self.sluiced.pid))
        others = []
        for i in range(6):
            others.append(self.send(OTHER.replace("id: c", f"id: c{i}")))
            # One waits, all others have been told; so from the third on they come in this order.
            wait_until("all but one to be answered", lambda: sum(map(self.is_answered, others)) == i)
        # Which of the first two was the older one nobody knows.
        for other in others[:-1]:
            problem = self.refused(Answer(other.getresponse()), 409)
            self.assertEqual(problem["title"], "superseded")
            self.assertIn("newer rules", problem["detail"])
        self.assertEqual(self.box.generation(), self.applied)
        self.good(self.box.get("/v1/stats"))
        self.assertFalse(self.is_answered(slow), "all this while the first is compiled")
        self.assertFalse(self.is_answered(others[-1]))
        first = self.good(Answer(slow.getresponse()))
        last = self.good(Answer(others[-1].getresponse()))
        self.assertEqual(self.box.generation(), last["generation"])
        self.assertEqual([rule["id"] for rule in self.good(self.box.get("/v1/rules"))["rules"]],
                         ["c5"])
        self.assertEqual(requests_of(self.dataplane).count("apply"), 3)
        audit = self.box.audit()[1:]
        self.assertEqual([entry["outcome"].split(" ")[0] for entry in audit],
                         ["refused:"] * 5 + ["done"] * 2)
        self.assertEqual([entry["after"] for entry in audit[5:]],
                         [first["generation"], last["generation"]])

    def test_nobody_else_waits_for_it(self):
        self.start()
        rules = slow_rules()
        self.good(self.box.put_rules(OTHER, "?confirm=1s"))
        time.sleep(0.8)
        slow = self.send(rules)
        wait_until("the deadline to be kept", lambda: self.box.generation() == self.applied)
        self.good(self.box.put_mode("a", "monitor"))
        self.assertFalse(self.is_answered(slow), "it is still compiled")
        self.good(Answer(slow.getresponse()))

    def test_sluiced_ends_in_the_middle_of_it(self):
        self.start()
        connection = self.send(slow_rules())
        self.wait_until_compiled(cpu_seconds(self.sluiced.pid))
        self.sluiced.terminate()
        self.assertEqual(self.sluiced.wait(timeout=60), 0)
        try:
            problem = self.refused(Answer(connection.getresponse()), 422)
            self.assertIn("interrupted", problem["problems"][0]["message"])
        except OSError:
            pass  # the connection ended first
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)

    def test_bans_that_another_call_ends_meanwhile_are_no_fault(self):
        self.start()
        self.good(self.box.put_rules(slow_rules(500) + "  - " + RULES.partition("  - ")[2]))
        self.good(self.box.ask("POST", "/v1/rules/a/bans", json.dumps({"keys": ["10.0.0.1", "10.0.0.2"]})))
        calls = [UnixConnection(self.box.socket) for _ in range(2)]
        for connection in calls:
            self.addCleanup(connection.close)
            before = cpu_seconds(self.sluiced.pid)
            connection.request("POST", "/v1/rules/a/unbans", json.dumps({"keys": ["10.0.0.1", "10.0.0.2", "10.0.0.3"]}))
            self.wait_until_compiled(before)
        self.assertFalse(any(map(self.is_answered, calls)), "both have read the bans that they are to end")
        told = sorted((self.good(Answer(connection.getresponse())) for connection in calls), key=lambda one: one["ended"])
        self.assertEqual([(one["unbanned"], one["not_banned"], one["ended"]) for one in told], [(2, 1, 0), (0, 1, 2)])
        self.assertEqual({one["generation"] for one in told}, {self.box.generation()})
        self.assertEqual(told[1]["warnings"][0]["message"], "the ban of 10.0.0.1 had ended by then")
        self.assertEqual(self.good(self.box.get("/v1/bans"))["bans"], [])

    def test_nobody_else_waits_for_a_rollback(self):
        self.start()
        slow = self.good(self.box.put_rules(slow_rules(500)))["generation"]  # compiled three times here
        self.good(self.box.put_rules(RULES))
        connection = UnixConnection(self.box.socket)
        self.addCleanup(connection.close)
        before = cpu_seconds(self.sluiced.pid)
        connection.request("POST", "/v1/rollback")
        self.wait_until_compiled(before)
        self.good(self.box.put_mode("a", "monitor"))
        self.assertFalse(self.is_answered(connection), "it is still compiled")
        # It goes back from what is in force by then.
        self.good(Answer(connection.getresponse()))
        self.assertEqual(self.box.generation(), slow)


class Process(Case):
    def test_exit_codes(self):
        for words, wanted, says in ((["--version"], 0, "sluiced "), (["--help"], 0, "--config"),
                                    (["--nonsense"], 2, "nonsense"),
                                    (["--config", "/nowhere.yaml"], 1, "No such file"),
                                    (["--socket", "/proc/none/s"], 1, "/proc/none"),
                                    (["--socket", self.box.socket, "--socket-group", "no-such"], 1,
                                     "no-such")):
            done = subprocess.run([self.box.programs["sluiced"], "--state-dir", self.box.state,
                                   *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, wanted, done.stderr)
            self.assertIn(says, done.stdout + done.stderr)

    def test_a_second_one_is_refused_and_the_first_goes_on(self):
        self.start()
        second = self.box.run("sluiced", "--socket", self.box.socket, "--state-dir",
                              self.box.folder / "other")
        self.assertEqual(second.wait(30), 1)
        self.assertIn("somebody listens", second.log.read_text())
        self.assertEqual(self.box.generation(), self.applied)

    def test_signals(self):
        for stop in (signal.SIGTERM, signal.SIGINT):
            sluiced = self.box.start_sluiced()
            sluiced.send_signal(signal.SIGHUP)
            self.good(self.box.get("/v1/health"))
            self.assertEqual(self.box.stop(sluiced, stop), 0)
            self.assertFalse(os.path.exists(self.box.socket))

    def test_systemd_is_told(self):
        path = str(self.box.folder / "notify.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(path)
            notify.settimeout(30)
            sluiced = self.box.start_sluiced(env={"NOTIFY_SOCKET": path})
            self.assertEqual(notify.recv(1000), b"READY=1")
            self.assertEqual(self.box.stop(sluiced), 0)
            self.assertEqual(notify.recv(1000), b"STOPPING=1")

    def test_the_socket(self):
        self.box.start_sluiced()
        self.assertEqual(stat.S_IMODE(os.stat(self.box.socket).st_mode), 0o660)

    def test_log_formats(self):
        sluiced = self.box.start_sluiced("--log-format", "json")
        self.box.stop(sluiced)
        for line in sluiced.log.read_text().splitlines():
            self.assertEqual(list(json.loads(line)), ["time", "level", "message"])
        sluiced = self.box.start_sluiced("--log-format", "journal")
        self.box.stop(sluiced)
        for line in sluiced.log.read_text().splitlines():
            self.assertRegex(line, r"^<[3467]>\S")

    def test_audit_of_trials(self):
        self.start()
        self.good(self.box.put_rules(OTHER, "?confirm=60s"))
        other = self.box.generation()
        self.good(self.box.ask("POST", "/v1/confirm"))
        self.refused(self.box.ask("POST", "/v1/confirm"), 409)
        self.good(self.box.ask("POST", "/v1/rollback"))
        self.refused(self.box.ask("POST", "/v1/rollback"), 409)
        entries = [(entry["call"], entry["before"], entry["after"], entry["outcome"].split(":")[0])
                   for entry in self.box.audit()[1:]]
        self.assertEqual(entries, [
            ("apply --confirm 60s", self.applied, other, "done"),
            ("confirm", self.applied, other, "done"), ("confirm", other, other, "refused"),
            ("rollback", other, self.applied, "done"),
            ("rollback", self.applied, self.applied, "refused")])
        self.assertEqual({entry["pid"] for entry in self.box.audit()}, {os.getpid()})

    def test_a_rule_with_a_ttl_ends(self):
        self.start(rules=None)
        text = OTHER.replace("when: ip.proto", "ttl: 2s, when: ip.proto")
        text += "  other: {algorithm: token_bucket, rate: 1/s, burst: 2}\n"
        applied = self.good(self.box.put_rules(text))["generation"]

        def rule():
            return self.good(self.box.get("/v1/rules"))["rules"][0]
        before = rule()
        self.assertEqual((before["mode"], before["ended"]), ("enforce", False))
        self.assertRegex(before["ends"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        wait_until("the end of the rule", lambda: rule()["ended"])
        after = rule()
        self.assertEqual((after["mode"], after["file_mode"], after["ends"]),
                         ("off", "enforce", before["ends"]))
        shown = subprocess.run([self.box.programs["sluicectl"], "--socket", self.box.socket, "rules"],
                               capture_output=True, text=True, check=True)
        self.assertIn("ended " + after["ends"], shown.stdout)
        for keys in (self.box.get("/v1/keys?rule=c"),
                     self.box.ask("POST", "/v1/rules/c/key", '{"key":"10.0.0.1","action":"reset"}')):
            self.assertEqual((keys.status, keys.json()["title"]), (409, "the rule is off"))
        self.refused(self.box.put_mode("c", "enforce"), 404)
        wait_until("the audit", lambda: len(self.box.audit()) == 3)
        end = next(line for line in self.box.audit() if line["call"] == "ttl c")
        self.assertEqual((end["before"], end["after"], end["outcome"]),
                         (applied, self.box.generation(), "the rule has ended"))

    def test_audit(self):
        self.start()
        self.box.put_mode("a", "off")
        self.box.put_rules(NO_RULE)
        self.box.ask("POST", "/v1/panic", '{"pass":true}')
        apply, mode, empty, panic = self.box.audit()
        self.assertEqual(list(apply), ["time", "uid", "pid", "call", "before", "after", "outcome"])
        self.assertEqual((apply["uid"], apply["pid"], apply["call"], apply["before"],
                          apply["after"], apply["outcome"]),
                         (os.getuid(), os.getpid(), "apply", NONE, self.applied, "done"))
        self.assertEqual((mode["call"], mode["before"]), ("mode a off", self.applied))
        self.assertNotEqual(mode["after"], mode["before"])
        self.assertTrue(empty["outcome"].startswith("refused: "))
        self.assertEqual(empty["after"], empty["before"])
        self.assertEqual((panic["before"], panic["after"]), ("resume", "pass"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_strangers_are_refused(self):
        self.box.start_sluiced("--socket-mode", "0666")
        user = pwd.getpwnam("nobody")
        code = ("import socket, sys\n"
                "client = socket.socket(socket.AF_UNIX)\n"
                "client.connect(sys.argv[1])\n"
                "client.sendall(b'GET /v1/rules HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n"
                "print(client.recv(9999).decode())\n")
        done = subprocess.run(["/usr/bin/python3", "-c", code, self.box.socket], user=user.pw_uid,
                              group=user.pw_gid, extra_groups=[], capture_output=True, text=True)
        self.assertIn(" 403 ", done.stdout.splitlines()[0], done.stderr)
        self.assertNotIn("generation", done.stdout)


class Hostile(Case):
    def setUp(self):
        super().setUp()
        self.start()

    def tearDown(self):
        self.assertEqual(self.box.generation(), self.applied, "it goes on, and nothing has changed")
        self.assertIsNone(self.sluiced.poll())

    def say(self, data):
        """Sends it all, closes the way there, and reads what comes."""
        with self.box.raw() as client:
            try:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return read_all(client)

    def test_garbage(self):
        for data in (b"", b"\0" * 1000, b"\xff" * 100000, b"GET", b"GET / HTTP/9.9\r\n\r\n",
                     b"\r\n\r\n\r\n", b"GET /v1/rules\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                     b"GET /v1/rules HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 100000 + b"\r\n",
                     b"GET /" + b"a" * 1000000 + b" HTTP/1.1\r\n\r\n"):
            answer = self.say(data)
            self.assertNotIn(b"HTTP/1.1 2", answer[:12])

    def test_lengths_that_lie(self):
        head = b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\n"
        body = OTHER.encode()
        for lie in (b"Content-Length: %d\r\n\r\n" % (len(body) + 1), b"Content-Length: -1\r\n\r\n",
                    b"Content-Length: 1x\r\n\r\n", b"Content-Length: 99999999999999999999\r\n\r\n",
                    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"Content-Length: 10\r\n\r\n",
                    b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n"):
            answer = self.say(head + lie + body)
            self.assertNotIn(b"HTTP/1.1 2", answer[:12], lie)

    def test_too_large_is_refused_before_it_is_sent(self):
        with self.box.raw() as client:
            client.sendall(b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n"
                           b"Expect: 100-continue\r\n\r\n")
            self.assertIn(b"HTTP/1.1 413", client.recv(1000))

    def test_chunks_without_end_are_cut_off(self):
        chunk = b"100000\r\n" + b"#" * 0x100000 + b"\r\n"
        with self.box.raw() as client:
            client.sendall(b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            with self.assertRaises(OSError):
                for _ in range(100):
                    client.sendall(chunk)

    def test_all_uploads_together_are_bounded(self):
        chunk = b"100000\r\n" + b"#" * 0x100000 + b"\r\n"
        closed = 0
        clients = [self.box.raw() for _ in range(4)]
        try:
            for client in clients:
                try:
                    client.sendall(b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\n"
                                   b"Transfer-Encoding: chunked\r\n\r\n")
                    for _ in range(60):
                        client.sendall(chunk)
                except OSError:
                    closed += 1
        finally:
            for client in clients:
                client.close()
        self.assertGreaterEqual(closed, 1)

    def test_slow_clients_are_closed_and_hold_nobody_up(self):
        silent = [self.box.raw() for _ in range(20)]
        trickling = self.box.raw()
        request = b"GET /v1/rules HTTP/1.1\r\nHost: " + b"x" * 10000
        sent, started = 0, time.monotonic()
        try:
            while time.monotonic() - started < 90:
                trickling.sendall(request[sent:sent + 1])
                sent += 1
                if sent % 10 == 0:
                    self.good(self.box.get("/v1/health"))
                time.sleep(0.2)
            self.fail("a client that trickles is never closed")
        except OSError:
            pass
        for client in silent:
            self.assertEqual(read_all(client), b"")
            client.close()
        trickling.close()

    def test_a_hundred_that_trickle_hold_nobody_up(self):
        """Half heads take no place; half bodies take those of their user, but for the kept ones."""
        half = (b"GET /v1/rules HTTP/1.1\r\nHost: x",
                b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n#",
                b"POST /v1/panic HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        clients = []
        try:
            for at in range(120):
                clients.append(self.box.raw())
                clients[-1].sendall(half[at % 3])
            started = time.monotonic()
            for _ in range(3):
                self.good(self.box.get("/v1/health"))
                self.assertIn("sluice_dataplane_up 1", self.box.get("/v1/metrics").text)
                self.good(self.box.ask("POST", "/v1/panic", '{"pass":true}'))
            # Far less than what a trickling client is given (20 s); nothing else is waited for.
            self.assertLess(time.monotonic() - started, 10)
        finally:
            for client in clients:
                client.close()

    def test_a_user_with_many_requests_keeps_no_other_user_out(self):
        """60 half uploads of root's: more than all places; somebody else's file is applied."""
        self.box.stop(self.sluiced)
        self.sluiced = self.box.start_sluiced("--socket-mode", "0666", "--socket-group", "nogroup")
        head = b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n#"
        clients = []
        try:
            for _ in range(60):
                clients.append(self.box.raw())
                clients[-1].sendall(head)
            script = ("import os, sys; sys.path.insert(0, sys.argv[2]); os.setgid(65534); os.setuid(65534);"
                      "from daemon_box import Answer, UnixConnection; c = UnixConnection(sys.argv[1], 8);"
                      "c.request('GET', '/v1/rules'); print(Answer(c.getresponse()).status)")
            done = subprocess.run([sys.executable, "-c", script, self.box.socket,
                                   str(pathlib.Path(__file__).parent)], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.stdout.strip(), "200", done.stderr)
        finally:
            for client in clients:
                client.close()

    def test_who_may_not_speak_is_counted(self):
        os.chmod(self.box.socket, 0o666)  # as somebody else's umask or tool may do
        script = ("import os, sys; sys.path.insert(0, sys.argv[2]); os.setgroups([]); os.setgid(65534);"
                  "os.setuid(65534); from daemon_box import Answer, UnixConnection;"
                  "c = UnixConnection(sys.argv[1], 8);"
                  "c.request('GET', '/v1/rules'); print(Answer(c.getresponse()).status)")
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", script, self.box.socket,
                                   str(pathlib.Path(__file__).parent)], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.stdout.strip(), "403", done.stderr)
        self.assertIn('sluice_api_connections_turned_away_total{reason="stranger"} 2',
                      self.box.get("/v1/metrics").text)
        self.assertEqual(self.sluiced.log.read_text().count("refused uid 65534"), 1)

    def test_who_waits_in_vain_for_a_place_is_told(self):
        head = b"PUT /v1/rules HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n#"
        clients = [self.box.raw() for _ in range(24)]
        try:
            for client in clients:
                client.sendall(head)
            ended = threading.Event()

            def trickle():
                """Whoever sends nothing for long gives up its place."""
                while not ended.wait(1):
                    for client in clients:
                        client.sendall(b"#")
            trickling = threading.Thread(target=trickle)
            trickling.start()
            try:
                answer = self.box.get("/v1/rules")
            finally:
                ended.set()
                trickling.join()
            problem = self.refused(answer, 503)
            self.assertEqual(problem["title"], "busy", "sluicectl knows by it that sluiced is there")
            self.assertEqual(answer.headers["Retry-After"], "1")
            metrics = self.box.get("/v1/metrics").text
            self.assertIn('sluice_api_connections_turned_away_total{reason="no_place"} 1', metrics)
            self.assertIn("as many requests under way", self.sluiced.log.read_text())
        finally:
            for client in clients:
                client.close()

    def test_a_client_that_reads_nothing(self):
        with self.box.raw() as client:
            client.setblocking(False)
            try:
                for _ in range(100000):
                    client.sendall(b"GET /v1/metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            except OSError:
                pass
            self.good(self.box.get("/v1/stats"))


if __name__ == "__main__":
    PROGRAMS[:] = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
