"""What becomes of packets as they pass, shown and captured, with the real programs.

    trace_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import re
import signal
import subprocess
import time

from box_case import BoxCase, main
from capture_files import opened, pcap, udp, udp6
from http_case import request, segment
from programs import wait_until

RULES = """version: 1
rules:
  - id: web
    mode: enforce
    key: [ip.src, http.host]
    when: http.host eq "www.example"
    per: request
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 2}]
  - id: names
    mode: enforce
    when: l4.dport eq 53
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]
  - id: watched
    mode: monitor
    when: ip.proto eq "udp"
    key: []
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]
"""
LONGEST = 30  # seconds that any trace here may take
RING = 256  # packets of a worker that wait to be read


class Case(BoxCase):
    """The same frames: a request with its SYN, a question of each of two sources, and another datagram."""
    ENDLESS = True

    def setUp(self):
        super().setUp()
        frames = opened(segment(request("/a"), sport=40000 + i) for i in range(64))[0]
        frames += [udp("192.0.2.7"), udp6("2001:db8::7"), udp("192.0.2.9", dport=9, size=1028)] * 16
        capture = os.path.join(self.box.folder, "in.pcap")
        with open(capture, "wb") as file:
            file.write(pcap([(at, frame) for at, frame in enumerate(frames)]))
        self.start = lambda: self.box.start_dataplane(
            f"net_pcap0,rx_pcap={capture},infinite_rx={int(self.ENDLESS)}", "net_null1,no-rx=1")
        self.start()
        self.box.start_sluiced()

    def api(self, method, path, body=None):
        status, text = self.box.api(method, path, body)
        return status, json.loads(text)

    def begin(self, **terms):
        status, begun = self.api("POST", "/v1/traces", json.dumps(terms))
        self.assertEqual(status, 201, begun)
        return begun

    def read(self, begun):
        status, answer = self.api("GET", f"/v1/traces/{begun['trace']}?wait=1")
        self.assertEqual(status, 200, answer)
        return answer

    def trace(self, *words):
        done = self.box.ctl("trace", "--json", "--for", f"{LONGEST}s", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


class Traces(Case):
    def test_a_packet_with_its_verdict_rule_and_key(self):
        self.apply(RULES)
        packets, _ = self.trace("--when", "l4.dport eq 53 and ip.src eq 192.0.2.7", "--count", "20")
        self.assertEqual(len(packets), 20)
        last = packets[-1]
        self.assertEqual({name: last[name] for name in ("dir", "src", "dport", "proto", "verdict", "reason",
                                                        "rule", "key", "limit", "matched", "matched_count")},
                         {"dir": "in", "src": "192.0.2.7", "dport": 53, "proto": 17, "verdict": "drop",
                          "reason": "over_limit", "rule": "names", "key": "192.0.2.7", "limit": "1",
                          "matched": ["names", "watched"], "matched_count": 2})
        self.assertTrue(3500 < last["wait_s"] <= 3600, last)
        self.assertNotIn("frame", last)

    def test_what_a_service_in_monitor_would_refuse_is_shown_with_its_reason(self):
        self.apply("version: 1\nservices:\n  - {id: names, protocol: dns, when: l4.dport eq 53, checksums: trust}\n"
                   + RULES.removeprefix("version: 1\n"))
        packets, _ = self.trace("--would-refuse", "--count", "3")
        self.assertEqual([(packet["dport"], packet["service"], packet["would_refuse"]) for packet in packets],
                         [(53, "names", "unreadable")] * 3)
        lines = self.box.ctl("trace", "--would-refuse", "--count", "2", "--for", f"{LONGEST}s").stdout.splitlines()
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assertIn(" service=names would_refuse=unreadable", line)
        packets, _ = self.trace("--when", "l4.dport eq 9", "--count", "1")
        self.assertEqual((packets[0]["service"], packets[0]["would_refuse"]), (None, None))

    def test_what_passes_is_shown_under_the_rules_that_match_it(self):
        self.apply(RULES)
        packets, _ = self.trace("--rule", "watched", "--when", "l4.dport eq 9", "--count", "3")
        self.assertEqual([(packet["verdict"], packet["rule"], packet["matched"], packet["bytes"])
                          for packet in packets], [("pass", None, ["watched"], 1042)] * 3)

    def test_a_condition_on_what_is_read_of_requests(self):
        begun = self.begin(when='http.host eq "www.example"', dropped=True)
        self.assertEqual(begun["unread_fields"], ["http.host"])
        self.assertFalse(self.read(begun)["judges"])
        self.apply(RULES)
        packets = []
        wait_until("a request to be refused", lambda: packets.extend(self.read(begun)["packets"]) or packets)
        first = packets[0]
        self.assertEqual((first["rule"], first["limit"], first["key"], first["verdict"], first["reason"]),
                         ("web", "1", "192.0.2.1|www.example", "drop", "over_limit"))
        self.assertEqual(self.begin(when='http.host eq "www.example"')["unread_fields"], [])
        done = self.box.ctl("trace", "--when", 'tls.sni eq "a.example"', "--for", "100ms")
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: no rule in force reads tls.sni", done.stderr)

    def test_lines_for_people(self):
        self.apply(RULES)
        done = self.box.ctl("trace", "--when", "ip.src eq 2001:db8::7", "--count", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1],
                         r"^\d\d:\d\d:\d\d\.\d{6} in +lab \[2001:db8::7\]:1000 > \[2001:db8::2\]:53 udp \d+ B: "
                         r"drop over_limit rule=names key=2001:db8::7 limit=1 wait=\d{4}s "
                         r"matched=names,watched$")

    def test_a_condition_that_is_none_has_a_caret(self):
        done = self.box.ctl("trace", "--when", "l4.dport eq 53 and ip.scr eq 192.0.2.7")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("condition:1:20: error:", done.stderr)
        self.assertIn("\n  l4.dport eq 53 and ip.scr eq 192.0.2.7\n                     ^", done.stderr)
        for condition, why in ((' ', "no condition"), ('http.request.headers["x"] eq "1"', "by rules alone"),
                               ("ip.src in $bad", "bad"), ("ip.src eq 'a", "error")):
            done = self.box.ctl("trace", "--when", condition)
            self.assertEqual(done.returncode, 1, condition)
            self.assertIn(why, done.stderr)
        self.assertEqual(self.box.ctl("trace", "--rule", "nobody").returncode, 1)
        self.assertEqual(self.box.ctl("trace", "--for", "soon").returncode, 2)

    def test_what_finds_no_room_is_counted_and_others_go_on(self):
        self.apply(RULES)
        follower = subprocess.Popen([self.box.sluicectl, "--socket", self.box.api_socket, "trace", "--json",
                                     "--count", str(2 * RING)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(follower.kill)
        wait_until("it to be under way", lambda: "traces packets" in self.box.log("dataplane.log"))
        follower.send_signal(signal.SIGSTOP)  # so that nobody empties the ring
        before = self.box.stats()["packets"]
        wait_until("more packets than have room", lambda: self.box.stats()["packets"] > before + 4 * RING)
        follower.send_signal(signal.SIGCONT)
        shown, said = follower.communicate(timeout=LONGEST)
        self.assertEqual(follower.returncode, 0, said)
        self.assertIn("more packets were meant", said)
        self.assertEqual(len(shown.splitlines()), 2 * RING)

    def test_bad_calls(self):
        for body in ("[]", '{"when":1}', '{"when":""}', '{"what":1}', '{"snap":9999}', '{"dropped":1}', "{"):
            self.assertEqual(self.api("POST", "/v1/traces", body)[0], 400, body)
        for name in ("x", "1-", "-1", "1-1x"):
            self.assertEqual(self.api("GET", f"/v1/traces/{name}")[0], 404, name)
        self.assertEqual(self.api("GET", "/v1/traces/1-1")[0], 410)
        self.assertEqual(self.api("GET", f"/v1/traces/{self.begin()['trace']}?wait=6")[0], 400)

    def test_another_dataplane_ends_it(self):
        name = self.begin()["trace"]
        follower = subprocess.Popen([self.box.sluicectl, "--socket", self.box.api_socket, "trace", "--when",
                                     "ip.src eq 203.0.113.1"], stderr=subprocess.PIPE, text=True)
        wait_until("it to be under way", lambda: self.box.log("dataplane.log").count("traces packets") == 2)
        self.box.kill(self.box.dataplane)
        self.start()
        wait_until("the new dataplane", lambda: self.api("GET", f"/v1/traces/{name}")[0] != 503)
        status, problem = self.api("GET", f"/v1/traces/{name}")
        self.assertEqual((status, problem["detail"]), (410, "the dataplane was started anew since it began"))
        said = follower.communicate(timeout=LONGEST)[1]
        self.assertIn(follower.returncode, (1, 3))
        self.assertIn("dataplane", said)

    def test_other_rules_while_it_goes_on(self):
        self.apply(RULES)
        begun = self.begin(rule="names")
        self.apply(RULES.replace("id: names", "id: others"))
        wait_until("the rule to be gone", lambda: not self.read(begun)["has_rule"])
        self.apply(RULES)
        wait_until("it to be back", lambda: self.read(begun)["has_rule"])
        self.assertEqual({packet["rule"] for packet in self.read(begun)["packets"]}, {"names"})
        self.assertEqual(self.box.ctl("panic", "pass").returncode, 0)
        begun = self.begin()
        answer = self.read(begun)
        self.assertFalse(answer["judges"])
        self.assertEqual({(packet["verdict"], packet["reason"]) for packet in answer["packets"]}, {("pass", "panic")})

    def test_it_is_recorded_and_closed_to_who_may_only_read(self):
        read_socket = str(self.box.folder / "read.sock")
        self.box.kill(self.box.sluiced, 15)
        self.box.start_sluiced("--read-socket", read_socket)
        begun = self.begin(when="ip.proto eq 17")
        self.assertIn('"call":"trace"', self.box.log("policy/audit.log"))
        api = self.box.api_socket
        self.box.api_socket = read_socket
        self.assertEqual(self.api("POST", "/v1/traces", "{}")[0], 403)
        self.assertEqual(self.api("GET", f"/v1/traces/{begun['trace']}")[0], 403)
        self.box.api_socket = api

    def test_a_capture_says_why_in_each_packet(self):
        self.apply(RULES)
        file = os.path.join(self.box.folder, "out.pcapng")
        done = self.box.ctl("capture", "--dropped", "--rule", "names", "--count", "10", "-w", file)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("10 packets captured", done.stderr)
        read = subprocess.run(["tshark", "-r", file, "-T", "fields", "-e", "frame.comment", "-e", "udp.dstport",
                               "-e", "frame.time_epoch"], capture_output=True, text=True, timeout=60)
        lines = [line.split("\t") for line in read.stdout.splitlines()]
        self.assertEqual(len(lines), 10, read.stderr)
        for comment, port, at in lines:
            self.assertRegex(comment, r"^drop over_limit rule=names key=\S+ limit=1 wait=\S+ matched=names,watched$")
            self.assertEqual(port, "53")
            self.assertLess(abs(float(at) - time.time()), 600)
        # Whole frames, unless it is said otherwise.
        for snap, bytes_ in (((), 1042), (("--snap", "64"), 64)):
            piped = subprocess.run([self.box.sluicectl, "--socket", self.box.api_socket, "capture", "--when",
                                    "l4.dport eq 9", "--count", "1", "-w", "-", *snap], capture_output=True, timeout=60)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            read = subprocess.run(["tshark", "-r", "-", "-T", "fields", "-e", "frame.cap_len", "-e", "frame.len"],
                                  input=piped.stdout, capture_output=True, timeout=60)
            self.assertEqual(read.stdout.split(), [str(bytes_).encode(), b"1042"])

    def test_a_capture_that_cannot_be_written(self):
        done = self.box.ctl("capture", "--count", "1", "-w", "/nowhere/out.pcapng")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write /nowhere/out.pcapng: No such file", done.stderr)


class Ends(Case):
    """How long a trace lasts does not depend on frames: each comes once, and then the workers sleep."""
    ENDLESS = False

    def test_four_at_a_time_and_none_outlives_its_reader(self):
        names = [self.begin()["trace"] for _ in range(4)]
        status, problem = self.api("POST", "/v1/traces", "{}")
        self.assertEqual(status, 502)
        self.assertEqual(problem["detail"], "4 traces are under way, and there is room for no more; "
                         "one whose reader has gone ends within 10 s")
        self.assertEqual(self.api("DELETE", f"/v1/traces/{names[0]}")[0], 200)
        self.assertEqual(self.api("GET", f"/v1/traces/{names[0]}")[0], 410)
        # The others end by themselves, since nobody reads them.
        ended = re.compile(r"ended (\d+) traces")
        wait_until("traces to end", lambda: sum(map(int, ended.findall(self.box.log("dataplane.log")))) == 3)
        status, problem = self.api("GET", f"/v1/traces/{names[1]}")
        self.assertEqual((status, problem["title"]), (410, "the trace has ended"))
        self.begin()


if __name__ == "__main__":
    main()
