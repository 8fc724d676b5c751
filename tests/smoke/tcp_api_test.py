"""The API by TCP: the token, what it opens, and what strangers cannot do.

    tcp_api_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import unittest

from daemon_box import DaemonBox, wait_until

SLUICED, FAKE_DATAPLANE, SLUICECTL = (os.path.abspath(program) for program in sys.argv[1:4])
# Of refusals, at once; one more each ten minutes.
RECORDED = 5
TOKEN = "7f3c0de5b1a94e02c8d6"


def free_port(family=socket.AF_INET, host="127.0.0.1"):
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class TcpApi(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(SLUICED, FAKE_DATAPLANE, SLUICECTL)
        self.addCleanup(self.box.close)
        self.port = free_port()
        self.token_file = self.box.folder / "token"
        self.write_token(TOKEN + "\n")

    def write_token(self, text, mode=0o600):
        self.token_file.write_text(text)
        self.token_file.chmod(mode)

    def config(self, listen=None, more=""):
        path = self.box.folder / "sluice.yaml"
        listen = listen or f"127.0.0.1:{self.port}"
        path.write_text(f'version: 1\napi: {{listen: "{listen}", token_file: token{more}}}\n')
        return path

    def start(self, **options):
        self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced("--config", self.config(**options))
        self.box.connected()

    def refused_start(self, **options):
        """What sluiced says when it does not start."""
        done = subprocess.run([SLUICED, "--config", self.config(**options), "--socket", self.box.socket,
                               "--state-dir", self.box.state], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def ask(self, target, method="GET", token=TOKEN, body=None, scheme="Bearer"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        headers = {} if token is None else {"Authorization": f"{scheme} {token}"}
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer, answer.read()

    def status(self, *words, **options):
        return self.ask(*words, **options)[0].status

    def metric(self, reason):
        text = self.box.get("/v1/metrics").text
        name = f'sluice_api_connections_turned_away_total{{reason="{reason}"}} '
        return int(text.split(name)[1].split("\n")[0])

    def test_the_token_opens_what_changes_nothing(self):
        self.start()
        answer, body = self.ask("/v1/metrics")
        self.assertEqual(answer.status, 200)
        self.assertIn(b"sluice_", body)
        self.assertEqual(self.status("/v1/stats", scheme="bearer"), 200)
        self.assertEqual(self.status("/v1/rules", "PUT", body="version: 1\nrules: []\n"), 403)
        self.assertEqual(self.status("/v1/panic", "POST", body='{"pass":true}'), 403)
        self.assertEqual(self.status("/v1/traces", "POST", body="{}"), 403)
        self.assertEqual(self.status("/v1/traces/77-1"), 403)
        # What it is not told by a Unix socket either, unless it is root's.
        (self.box.folder / "a.txt").write_text("192.0.2.0/24\n")
        listed = ("version: 1\ndata: {lists: {a: {type: cidr, file: " + str(self.box.folder / "a.txt") + "}}}\n"
                  "rules: [{id: a, mode: enforce, when: ip.src in $a, on_match: drop}]\n")
        self.assertEqual(self.box.put_rules(listed).status, 200)
        question = '{"packet":{"frame":"00"}}'
        self.assertEqual(self.status("/v1/explain", "POST", body=question), 200)
        answer, told = self.ask("/v1/explain?account=1", "POST", body=question)
        self.assertEqual(answer.status, 200, told)
        self.assertIn("why a condition that reads one holds, or does not, is left out", told.decode())
        self.assertNotIn("192.0.2.0", told.decode())
        # Nor whether an address is in a list: one that is and one that is not are alike.
        for address in ("192.0.2.7", "198.51.100.7"):
            found = json.loads(self.ask(f"/v1/find?of={address}")[1])
            self.assertEqual((found["lists_read"], found["findings"], found["everybody"], found["unread"]), (False, [], [], ["a"]))
        found = self.box.get("/v1/find?of=192.0.2.7").json()
        self.assertTrue(found["lists_read"])
        self.assertEqual([row["entry"] for row in found["findings"]], ["192.0.2.0/24"])

    def test_without_it_nothing_is_told(self):
        self.start()
        for token in (None, "", "7f3c0de5b1a94e02c8d", TOKEN + "0", TOKEN[:-1] + "7", "x" * 5000, TOKEN.upper()):
            answer, body = self.ask("/v1/metrics", token=token)
            self.assertEqual(answer.status, 401, token)
            self.assertEqual(answer.getheader("WWW-Authenticate"), 'Bearer realm="sluice"')
            self.assertNotIn(b"sluice_", body)
            self.assertIn(b"--token-file", body)
        self.assertEqual(self.status("/v1/metrics", scheme="Basic"), 401)
        self.assertEqual(self.metric("token"), 8)
        lines = [line for line in self.box.audit() if line["call"].startswith("api ")]
        self.assertEqual(len(lines), RECORDED)
        self.assertEqual((lines[0]["source"], lines[0]["outcome"]), ("127.0.0.1", "refused: not the token"))
        told = self.sluiced.log.read_text() + (self.box.state / "audit.log").read_text()
        self.assertNotIn(TOKEN[:8], told)

    def test_many_wrong_tokens_are_counted_and_the_right_one_is_answered(self):
        self.start()
        answered = 0
        for _ in range(200):
            try:
                answered += self.status("/v1/metrics", token="wrong") == 401
            except (http.client.HTTPException, ConnectionError):
                pass
        self.assertTrue(20 <= answered < 100, answered)
        self.assertEqual(self.metric("token"), 200)
        self.assertEqual(len([line for line in self.box.audit() if line["call"].startswith("api ")]), RECORDED)
        self.assertEqual(self.status("/v1/metrics"), 200)

    def test_strangers_keep_nobody_off_the_unix_socket(self):
        self.start()
        crowd = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(300)]
        for one in crowd:
            self.addCleanup(one.close)
        for one in crowd[:150]:
            try:
                one.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: x\r\n")
            except OSError:
                pass
        wait_until("the oldest to go", lambda: self.metric("crowd") >= 300 - 96)
        self.assertEqual(self.box.get("/v1/stats").status, 200)
        # Nor does a head that is too long, or none.
        for head in (b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", b"\0\1\2\r\n\r\n", b"\x16\x03\x01\0\0\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
                try:
                    one.sendall(head)
                    said = one.recv(4096)
                except ConnectionError:
                    said = b""
                self.assertNotIn(b" 200 ", said)
        self.assertEqual(self.box.get("/v1/stats").status, 200)

    def test_strangers_take_no_place_of_those_with_the_token(self):
        self.start()
        for source in ("127.0.0.2", "127.0.0.3", "127.0.0.4"):
            for _ in range(24):
                one = socket.create_connection(("127.0.0.1", self.port), source_address=(source, 0))
                self.addCleanup(one.close)
                one.sendall(b"GET /v1/stats HTTP/1.1\r\nX: " + b"x" * 8300)
        for _ in range(5):
            self.assertEqual(self.status("/v1/rules"), 200)

    def test_changes_where_it_is_said_so(self):
        self.start(more=", read_only: false")
        rules = "version: 1\nrules:\n  - {id: a, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n"
        self.assertEqual(self.status("/v1/rules?file=x", "PUT", body=rules), 200)
        last = self.box.audit()[-1]
        self.assertEqual((last["outcome"], last["source"]), ("done", "127.0.0.1"), last)

    def test_sluicectl_by_url(self):
        self.start()
        url = f"http://127.0.0.1:{self.port}"
        def ctl(*words, env=()):
            return subprocess.run([SLUICECTL, *words], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, **dict(env)})
        done = ctl("--url", url, "--token-file", str(self.token_file), "health", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["dataplane"]["connected"])
        done = ctl("stats", env={"SLUICE_URL": url + "/", "SLUICE_TOKEN_FILE": str(self.token_file)})
        self.assertEqual(done.returncode, 0, done.stderr)
        done = ctl("--url", url, "stats")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unauthorized", done.stderr)
        done = ctl("--url", url, "--token-file", "/nowhere", "stats")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/nowhere", done.stderr)
        done = ctl("--url", f"http://127.0.0.1:{free_port()}", "stats")
        self.assertEqual(done.returncode, 3)
        self.assertIn("no answer from sluiced at http://", done.stderr)

    def test_ipv6(self):
        self.port = free_port(socket.AF_INET6, "::1")
        self.start(listen=f"[::1]:{self.port}")
        with socket.create_connection(("::1", self.port)) as one:
            one.sendall(f"GET /v1/health HTTP/1.0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            self.assertIn(b" 200 ", one.recv(4096))

    def test_what_keeps_it_from_starting(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            self.assertIn(f"the API cannot listen on 127.0.0.1:{self.port}: Address already in use",
                          self.refused_start())
        self.assertIn("cannot listen on 192.0.2.1:1: Cannot assign", self.refused_start(listen="192.0.2.1:1"))
        for text, mode, why in ((TOKEN, 0o644, "its mode 0644"), (TOKEN, 0o660, "its mode 0660"),
                                ("short\n", 0o600, "16 to 512"), ("", 0o600, "16 to 512"),
                                ("a b" * 9, 0o600, "without a space"), ("x" * 513, 0o600, "16 to 512"),
                                (TOKEN + "\n" + TOKEN, 0o600, "one line")):
            self.write_token(text, mode)
            said = self.refused_start()
            self.assertIn(why, said)
            self.assertNotIn(TOKEN, said)
        self.token_file.unlink()
        self.assertIn("No such file", self.refused_start())
        self.token_file.mkdir()
        self.assertIn("is no file", self.refused_start())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
