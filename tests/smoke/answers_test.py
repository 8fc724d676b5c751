"""What the box sends itself: in a replayed capture, and through the real daemons to real clients.

    answers_test.py DATAPLANE SLUICED SLUICECTL [CLASS...]

`Live` wants root.
"""
import email.utils
import http.client
import json
import struct
import os
import select
import socket
import subprocess
import sys
import time

from both_ends import Watched
from box_case import main
from capture_files import Case, opened, pcap, read_pcap
from dns_test import asks, message
from http_case import HttpCase, request, segment
from http_hosts import within
from programs import wait_until
from real_servers import start_nginx
from workers_case import WorkersCase

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(ROOT, "control", "examples", "answers.yaml")
SECOND = 1_000_000_000
SYN, ACK = 0x02, 0x10
RULES = """version: 1
rules:
  - {{id: page, mode: enforce, when: l4.dport eq {port}, key: [ip.src], per: request,
     limits: [{{algorithm: token_bucket, rate: {rate}, burst: 1}}], on_exceed: {{{action}}}}}
"""


class Example(Case):
    """control/examples/answers.yaml, as an operator would try it."""

    def replay(self, frames, *more):
        """-> (verdicts of frames that come at one instant, their summary, frames that leave)"""
        capture = self.write("in.pcap", pcap([(SECOND, frame) for frame in frames]))
        summary = json.loads(self.ctl("replay", EXAMPLE, "--pcap", capture, "--json", "--verdicts",
                                      self.path("verdicts.tsv"), "--out", self.path("out.pcap"), *more)[0])
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        return [row[1] for row in rows], summary, [frame for _, frame, _ in read_pcap(self.read("out.pcap"))]

    def test_check_takes_it(self):
        shown = self.ctl("check", EXAMPLE)[0]
        self.assertIn("200 queries", shown)

    def test_a_replay_writes_what_the_box_would_send(self):
        accepted = [segment("", seq=0, src="198.51.100.7", dst="192.0.2.1", sport=80, dport=1024 + number, flags=SYN | ACK)
                    for number in range(22)]
        asked = [segment(request("/a", host="api.example"), sport=1024 + number) for number in range(22)]
        begun = [segment("", seq=0, sport=1024 + number, flags=SYN) for number in range(22)]
        verdicts, summary, frames = self.replay(begun + accepted + asked, "--inside", "198.51.100.0/24")
        self.assertEqual(verdicts, ["pass"] * 64 + ["reply"] * 2)
        self.assertEqual((summary["passed"], summary["replied"]), (64, 2))
        self.assertEqual(len(frames), 64 + 2 * 2)
        self.assertIn(b"HTTP/1.1 429 Too Many Requests\r\n", frames[64])
        self.assertIn(b"Retry-After: 1\r\n", frames[64])

    def test_nobody_is_answered_whose_server_is_not_seen_to_accept(self):
        asked = [segment(request("/a", host="api.example"), sport=1024 + number) for number in range(22)]
        verdicts, summary, frames = self.replay(opened(asked)[0])  # a SYN before each
        # Each request goes on without its bytes, for its server to say what it expects: nobody is charged for it.
        self.assertEqual(verdicts, ["pass"] * 2 * 22)
        self.assertEqual((summary["replied"], len(frames)), (0, 2 * 22))
        self.assertFalse([frame for frame in frames if frame[16:18] != struct.pack("!H", 40)])

    def test_queries_are_answered_by_turns(self):
        verdicts, summary, frames = self.replay([asks("www.example.com", sport=1024 + number) for number in range(204)])
        self.assertEqual(verdicts, ["pass"] * 200 + ["drop", "reply"] * 2)
        self.assertEqual(summary["replied"], 2)
        self.assertEqual(len(frames), 202)


class Live(Watched, HttpCase):
    is_sound = True  # what goes over both links

    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.watch()
        self.serve()

    def tearDown(self):
        if self.is_sound:
            self.judge_both_ends()

    def rules(self, action, rate="1/d", port=80):
        self.apply(RULES.format(action=action, rate=rate, port=port))

    def answers(self, event):
        return self.box.stats()["answers"][event]

    def get(self, path="/", method="GET", body=None, port=80):
        """-> (the response, its body) over a connection of its own"""
        connection = http.client.HTTPConnection(self.ADDRESS, port, timeout=30)
        with within(self.hosts.outside):
            connection.connect()
        connection.request(method, path, body)
        response = connection.getresponse()
        read = response.read()
        connection.close()
        return response, read

    def open_connections(self):
        """Of the server, but for those that its own side has closed."""
        shown = subprocess.run(["ip", "netns", "exec", self.hosts.inside, "ss", "-Htn", "sport", "=", ":80"],
                               capture_output=True, text=True, check=True).stdout
        return [line for line in shown.splitlines() if not line.startswith(("TIME-WAIT", "LISTEN"))]

    def nothing_is_open(self):
        wait_until("the server to have no connection left", lambda: not self.open_connections())

    def test_a_refused_request_gets_a_response_that_says_how_long_to_wait(self):
        self.rules("action: reply", rate="30/m")
        served = []
        while (got := self.get(path := f"/{len(served)}"))[0].status == 200:  # a slow machine may be late enough
            served.append(path)
            self.assertLess(len(served), 20)
        self.assertTrue(served)
        response, body = got
        self.assertEqual((response.status, response.reason), (429, "Too Many Requests"))
        self.assertEqual(response.headers["Content-Type"], "application/problem+json")
        self.assertEqual(json.loads(body)["violated-policies"], ["page"])
        self.assertEqual(response.headers["Connection"], "close")
        self.assertEqual(response.headers["Cache-Control"], "no-store")
        made = email.utils.parsedate_to_datetime(response.headers["Date"]).timestamp()
        self.assertLessEqual(abs(made - time.time()), 60)
        wait = int(response.headers["Retry-After"])
        self.assertIn(wait, (1, 2))
        self.assertEqual(response.headers["RateLimit-Policy"], '"page";q=1;w=2')
        self.assertEqual(response.headers["RateLimit"], f'"page";r=0;t={wait}')
        time.sleep(wait)  # what the response promises
        self.assertEqual(self.get("/third")[0].status, 200)
        self.assertEqual([path for _, path in self.server.seen], [*served, "/third"])
        self.nothing_is_open()
        self.assertEqual(self.answers("replied"), 1)

    def test_a_host_that_is_closed_is_refused_each_time_and_no_other(self):
        self.apply("""version: 1
rules:
  - {id: full, mode: enforce, when: l4.dport eq 80, key: [], limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]}
  - {id: closed, mode: enforce, when: 'http.host eq "closed.example"',
     on_match: {action: reply, status: 403, headers: {X-Why: closed}, body: closed}}
""")
        url = f"http://{self.ADDRESS}/"

        def curl(path, host):
            return subprocess.run(["ip", "netns", "exec", self.hosts.outside, "curl", "-sSi", "-m", "30", "-H", f"Host: {host}",
                                   url + path], capture_output=True, text=True, check=True).stdout.replace("\r", "")

        for number in range(3):
            head, _, body = curl(f"closed{number}", "closed.example").partition("\n\n")
            self.assertTrue(head.startswith("HTTP/1.1 403 Forbidden\n"), head)
            self.assertIn("\nX-Why: closed\n", head)
            self.assertNotIn("Retry-After", head)
            self.assertNotIn("RateLimit", head)
            self.assertEqual(body, "closed")
            self.assertTrue(curl(f"open{number}", "open.example").startswith("HTTP/1.1 200 "))
        self.assertEqual([path for _, path in self.server.seen], ["/open0", "/open1", "/open2"])
        self.nothing_is_open()
        self.assertEqual(self.answers("replied"), 3)
        closed = next(rule for rule in self.box.stats()["rules"] if rule["id"] == "closed")
        self.assertEqual((closed["admitted"], closed["exceeded"]), (0, 3))
        self.assertEqual(self.box.stats()["reasons"]["deny_rule"], 3)
        told = self.box.ctl("explain", "--src", "10.78.0.1", "--dst", self.ADDRESS, "--dport", "80", "--http", "GET /",
                            "--host", "closed.example").stdout
        self.assertIn("\n  reply (a rule with on_match matched: drop, or an answer), by closed\n", told)
        self.assertIn("HTTP/1.1 403 Forbidden", told)

    def test_explain_shows_the_response_that_the_box_sends_now(self):
        """Of a bucket that has refilled in part: less time than a token takes."""
        self.rules("action: reply", rate="1/h")
        self.assertEqual(self.get()[0].status, 200)

        def told():
            return int(self.get()[0].headers["Retry-After"])

        wait_until("the wait to be shorter than a token takes", lambda: told() < 3600)
        before = told()
        account = json.loads(self.box.ctl("explain", "--json", "--src", "10.78.0.1", "--dst", self.ADDRESS, "--dport", "80",
                                          "--http", "GET /").stdout)
        after = told()
        head = account["answer"]["headers"]
        wait = int(head["retry-after"])
        self.assertTrue(after <= wait <= before < 3600, (after, wait, before))
        self.assertEqual(head["ratelimit"], f'"page";r=0;t={wait}')

    def test_curl_sees_it_too_and_a_head_has_no_body(self):
        self.rules("action: reply, status: 503, body: later, headers: {X-Why: full}, x_ratelimit: true")
        self.assertEqual(self.get()[0].status, 200)
        url = f"http://{self.ADDRESS}/curl"
        for more, body in (([], "later"), (["--head"], "")):
            shown = subprocess.run(["ip", "netns", "exec", self.hosts.outside, "curl", "-sSi", "-m", "30", *more, url],
                                   capture_output=True, text=True, check=True).stdout.replace("\r", "")
            head, _, rest = shown.partition("\n\n")
            lines = head.splitlines()
            self.assertEqual(lines[0], "HTTP/1.1 503 Service Unavailable")
            self.assertIn("X-Why: full", lines)
            self.assertIn("X-RateLimit-Remaining: 0", lines)
            self.assertEqual(rest, body)
        self.nothing_is_open()

    def test_a_body_on_its_way_and_a_head_in_pieces(self):
        self.rules("action: reply")
        self.assertEqual(self.get()[0].status, 200)
        self.assertEqual(self.get("/upload", "POST", b"x" * 3000)[0].status, 429)
        client = self.client()
        for piece in ("GET /pieces HTTP/1.1\r\nHo", "st: www.example\r\n", "\r\n"):
            client.send(piece)
            time.sleep(0.02)  # most likely a segment each; what is answered is the same if not
        response = http.client.HTTPResponse(client.socket)
        response.begin()
        self.assertEqual(response.status, 429)
        self.assertEqual(len(self.server.seen), 1)
        self.nothing_is_open()

    def test_a_connection_that_had_its_answer_gets_a_response_again(self):
        """Kept alive: the client has acknowledged the first answer, so that the next one stands where it must."""
        self.rules("action: reply")
        client = self.client()
        client.send(request("/kept"))
        self.assertEqual(client.answer(), "/kept")
        client.send(request("/refused"))
        response = http.client.HTTPResponse(client.socket)
        response.begin()
        self.assertEqual(response.status, 429)
        self.nothing_is_open()

    def test_a_refusal_goes_behind_the_answer_that_is_on_its_way(self):
        self.is_sound = False  # ACKs stand behind the request that its server never gets
        self.rules("action: reply")
        client = self.client()
        self.server.wait_before_answers()
        client.send(request("/one"))
        wait_until("the first request to be at the server", lambda: self.server.asked)
        client.send(request("/two"))
        wait_until("the second request to be refused", lambda: self.answers("waiting") == 1)
        self.server.answer_now()
        self.assertEqual(client.answer(), "/one")
        self.assertTrue(client.answers.read().startswith(b"HTTP/1.1 429 "))
        self.assertEqual((self.answers("replied"), self.answers("may_be_answering")), (1, 0))
        self.assertEqual([path for _, path in self.server.seen], ["/one"])
        self.nothing_is_open()

    def test_a_server_that_lacks_what_came_before_asks_and_gets_its_reset(self):
        """A firewall of its own loses the head's first piece: the RST is beyond what the server awaits (RFC 5961)."""
        self.is_sound = False  # the recording stands before that firewall
        self.rules("action: reply")
        self.assertEqual(self.get()[0].status, 200)
        client = self.client()
        for words in ("table ip lost", "chain ip lost input { type filter hook input priority 0; }",
                      "rule ip lost input tcp dport 80 tcp flags & psh == psh drop"):
            subprocess.run(["ip", "netns", "exec", self.hosts.inside, "nft", "add " + words], check=True)
        client.send("GET /pieces HTTP/1.1\r\nHo")
        client.send("st: www.example\r\n\r\n")
        response = http.client.HTTPResponse(client.socket)
        response.begin()
        self.assertEqual(response.status, 429)
        self.nothing_is_open()
        self.assertGreaterEqual(self.answers("challenge_reset"), 1)

    def test_a_decoy_is_a_success_that_never_was(self):
        self.rules("action: decoy, status: 200, body: '{\"ok\":true}', content_type: application/json")
        self.assertEqual(self.get("/real")[0].status, 200)
        response, body = self.get("/never", "POST", b"a=b")
        self.assertEqual((response.status, body), (200, b'{"ok":true}'))
        self.assertEqual(response.headers["Content-Type"], "application/json")
        self.assertIsNone(response.headers["Retry-After"])
        self.assertEqual([path for _, path in self.server.seen], ["/real"])
        self.nothing_is_open()
        self.assertEqual(self.answers("decoyed"), 1)

    def test_reset_ends_both_sides(self):
        self.rules("action: reset")
        self.assertEqual(self.get()[0].status, 200)
        client = self.client()
        client.send(request("/reset"))
        with self.assertRaises(ConnectionResetError):
            client.socket.recv(1)
        self.nothing_is_open()
        self.assertEqual(len(self.server.seen), 1)
        self.assertEqual(self.answers("reset"), 1)
        self.assertEqual(self.box.stats()["verdicts"]["reset"], 1)

    def test_every_second_refused_query_is_answered_truncated(self):
        self.apply("""version: 1
rules:
  - {id: ask, mode: enforce, when: l4.dport eq 53, key: [ip.src], per: query,
     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}],
     on_exceed: {action: dns_truncate, slip: 2, then: drop}}
""")
        with within(self.hosts.inside):
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind((self.ADDRESS, 53))
        with within(self.hosts.outside):
            client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            client.connect((self.ADDRESS, 53))
        self.addCleanup(server.close)
        self.addCleanup(client.close)
        client.settimeout(30)
        query = message("www.example.com")
        for _ in range(5):
            client.send(query)
        wait_until("all queries to be judged", lambda: self.counts("ask") == (1, 4))
        wait_until("answers", lambda: self.answers("dns_truncated") == 2)
        for _ in range(2):
            answer = client.recv(4096)
            self.assertEqual(answer[:2], query[:2])
            self.assertEqual((answer[2] & 0x82, answer[12:]), (0x82, query[12:]))
            self.assertLessEqual(len(answer), len(query))
        self.assertEqual(len(server.recv(4096)), len(query))
        self.assertFalse(select.select([server], [], [], 0)[0])
        stats = self.box.stats()
        self.assertEqual(stats["verdicts"]["reply"], 2)
        self.assertEqual(stats["reasons"]["over_limit"], 4, stats["reasons"])


class LiveDownload(HttpCase):
    """nginx and a client that asks again in the middle of a download."""
    SIZE = 10_000_000

    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.served = start_nginx(self.box, self.hosts.inside, self.ADDRESS)
        files = self.box.folder / "nginx" / "files"
        files.mkdir()
        self.content = os.urandom(self.SIZE)
        (files / "large").write_bytes(self.content)

    def answers(self, event):
        return self.box.stats()["answers"][event]

    def download(self, read_before):
        """-> what comes on one connection whose client asks again once it has read so much"""
        with within(self.hosts.outside):
            client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self.addCleanup(client.close)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)  # the rest does not fit
            client.settimeout(60)
            client.connect((self.ADDRESS, 80))
        client.sendall(request("/files/large").encode())
        answers = client.makefile("rb")
        read = answers.read(read_before)
        client.sendall(request("/second").encode())
        wait_until("the second request to be refused", lambda: self.answers("waiting") == 1)
        return read + answers.read()

    def test_a_refusal_comes_behind_the_whole_of_it(self):
        self.apply(RULES.format(action="action: reply", rate="1/d", port=80))
        head, _, rest = self.download(1_000_000).partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 200 "))
        self.assertIn(f"Content-Length: {self.SIZE}".encode(), head)
        self.assertEqual(rest[:self.SIZE], self.content)
        self.assertTrue(rest[self.SIZE:].startswith(b"HTTP/1.1 429 Too Many Requests\r\n"), rest[self.SIZE:][:200])
        wait_until("nginx to log", lambda: self.served())
        self.assertEqual(self.served(), ["/files/large"])
        self.assertEqual((self.answers("replied"), self.answers("unanswered"), self.answers("may_be_answering")), (1, 0, 0))


class LiveWorkers(HttpCase, WorkersCase):
    """Clients' frames go to workers by their own addresses, the server's by the server's: to one of them."""
    SOURCES = 8

    def setUp(self):
        super().setUp()
        self.start({"ports": [{"inside": {"rss": "source"}}]})
        self.serve()

    def of_workers(self, event):
        return [worker["answers"][event] for worker in self.box.workers()]

    def lose_data(self):
        """From now on a firewall at the server's host loses all data: RSTs are beyond what the server awaits."""
        for words in ("table ip lost", "chain ip lost input { type filter hook input priority 0; }",
                      "rule ip lost input tcp dport 80 tcp flags & psh == psh drop"):
            subprocess.run(["ip", "netns", "exec", self.hosts.inside, "nft", "add " + words], check=True)

    def open_connections(self):
        shown = subprocess.run(["ip", "netns", "exec", self.hosts.inside, "ss", "-Htn", "state", "established"],
                               capture_output=True, text=True, check=True).stdout
        return [line for line in shown.splitlines() if f"{self.ADDRESS}:80 " in line]

    def test_a_challenge_comes_to_another_worker_than_the_request(self):
        self.apply(RULES.format(action="action: reply", rate="1/d", port=80))
        sources = self.add_sources(self.SOURCES)
        for source in sources:
            client = self.ask(request("/first"), source)
            self.assertEqual(client.answer(), "/first")
            client.close()
        wait_until("these to be closed", lambda: not self.open_connections())
        clients = [self.client(source) for source in sources]
        wait_until("all to be connected", lambda: len(self.open_connections()) >= len(clients))
        self.lose_data()
        for client in clients:
            client.send("GET /pieces HTTP/1.1\r\nHo")
            client.send("st: www.example\r\n\r\n")
            response = http.client.HTTPResponse(client.socket)
            response.begin()
            self.assertEqual(response.status, 429)
        wait_until("the server to have no connection left", lambda: not self.open_connections())
        replied, challenged = self.of_workers("replied"), self.of_workers("challenge_reset")
        self.assertEqual(sum(replied), self.SOURCES)
        self.assertGreater(sum(count > 0 for count in replied), 1, replied)
        asked, = (worker for worker, count in enumerate(challenged) if count > 0)
        self.assertGreaterEqual(challenged[asked], self.SOURCES, challenged)
        self.assertLess(replied[asked], self.SOURCES, "those of others came to this worker too")


if __name__ == "__main__":
    Case.sluicectl = sys.argv[3]
    main()
