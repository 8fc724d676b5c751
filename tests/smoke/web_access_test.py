"""The dashboard: who may do what, by which way in.

    web_access_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import pwd
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

from daemon_box import Answer, DaemonBox, UnixConnection, read_all, requests_of, wait_until
from route_table import calls

SLUICED, FAKE_DATAPLANE, SLUICECTL = (os.path.abspath(program) for program in sys.argv[1:4])
RULES = ("version: 1\nrules:\n  - {id: a, mode: enforce, when: ip.proto eq 17, key: [ip.src], "
         "limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}], on_exceed: {action: drop}}\n")
SECRET = "0123456789abcdef-of-the-proxy"
API_TOKEN = "7f3c0de5b1a94e02c8d6"
PAGES, OF_USER = 32, 8  # that wait for the next second, and those of one user
OWN = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
ROLES = ["view", "operate", "admin"]
# A call of each verb, its body, and the least role that may make it; and one that its row leaves to a stronger role.
CALLS = [*calls(), ("PUT", "/v1/rules/a/mode", '{"mode":"off"}', "admin")]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class WebAccess(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(SLUICED, FAKE_DATAPLANE, SLUICECTL)
        self.addCleanup(self.box.close)
        self.port = free_port()
        self.config = self.box.folder / "sluice.yaml"
        self.tokens = self.box.folder / "tokens"
        self.web_socket = None
        self.write_secret("secret", SECRET)

    def write_secret(self, name, text):
        path = self.box.folder / name
        path.write_text(text + "\n")
        path.chmod(0o600)

    def start(self, web="", listen=None):
        listen = listen or f"127.0.0.1:{self.port}"
        self.web_socket = listen if listen.startswith("/") else None
        self.config.write_text(f'version: 1\nweb: {{listen: "{listen}", tokens_file: tokens{web}}}\n')
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced("--config", self.config)
        self.assertEqual(self.box.put_rules(RULES).status, 200)

    def ctl(self, *words, code=0):
        done = subprocess.run([SLUICECTL, "--socket", self.box.socket, *map(str, words)], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def connect(self, way="web"):
        if isinstance(way, int):
            return http.client.HTTPConnection("127.0.0.1", way, timeout=60)
        if way == "unix":
            return UnixConnection(self.box.socket)
        if way == "read":
            return UnixConnection(self.box.read_socket)
        return UnixConnection(self.web_socket) if self.web_socket else \
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, target, body=None, headers=None, way="web", token=None):
        connection = self.connect(way)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        try:
            connection.request(method, target, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def link(self, role="view", *words):
        return json.loads(self.ctl("--json", "dashboard", "--role", role, *words))

    def begin(self, body, **options):
        return self.ask("POST", "/v1/session", json.dumps(body), {"Content-Type": "application/json"}, **options)

    def session(self, role, **options):
        answer = self.begin({"secret": self.link(role)["secret"]}, **options)
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(answer.json()["role"], role)
        return answer.json()["session"]

    def token_of(self, name, role, *words):
        return self.ctl("dashboard", "token", "add", name, "--role", role, "--config", self.config, *words).strip()

    def check_calls(self, role, what, headers=None, **options):
        """Each verb, as that role by that way in: who may is not told of roles, who may not is told which is needed."""
        for method, target, body, needed in CALLS:
            answer = self.ask(method, target, body, headers, **options)
            told = f"{what} as {role}: {method} {target}: {answer.status} {answer.text}"
            if ROLES.index(role) >= ROLES.index(needed):
                self.assertNotIn(answer.status, (401, 403, 415), told)
            else:
                self.assertEqual(answer.status, 403, told)
                self.assertEqual(answer.json()["title"], "role", told)
                # Who may set no mode at all is told of the least one first.
                least = "operate" if target.endswith("/mode") and role == "view" else needed
                self.assertIn(f"needs the role {least}", answer.json()["detail"], told)

    def test_sessions_are_told_of_lists_as_who_made_their_link(self):
        self.start(f', behind_proxy: [{{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}}]')
        listed = self.box.folder / "bad.txt"
        listed.write_text("192.0.2.0/24\n")
        listed.chmod(0o600)
        rules = ("version: 1\ndata: {lists: {bad: {type: cidr, file: " + str(listed) + "}}}\n"
                 "rules: [{id: a, mode: enforce, when: ip.src in $bad, on_match: drop}]\n")
        self.assertEqual(self.box.put_rules(rules).status, 200)
        linked = self.session("view")
        named = self.begin({"token": self.token_of("ada", "admin")}).json()["session"]
        question = json.dumps({"packet": {"frame": "00"}})
        for way in ("web", "unix", "read"):
            for token, reads in ((linked, True), (named, False)):
                found = self.ask("GET", "/v1/find?of=192.0.2.7", way=way, token=token).json()
                self.assertEqual((found["lists_read"], found["unread"]), (reads, [] if reads else ["a"]), way)
                told = self.ask("POST", "/v1/explain?account=1", question, OWN, way=way, token=token)
                self.assertEqual(told.status, 200, told.text)
                self.assertEqual("is left out" in told.text, not reads, way)
        # No file is opened with the rights of who made the link.
        refused = self.ask("PUT", "/v1/rules", rules, {"Content-Type": "application/yaml"}, token=self.session("admin"))
        self.assertEqual(refused.status, 422, refused.text)
        self.assertIn("bad.txt", refused.text)

    def test_changes_are_told_with_the_name_of_their_session(self):
        self.start(f', behind_proxy: [{{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}}]')
        proxied = {**OWN, "X-Key": SECRET, "X-Sluice-User": "alice", "X-Sluice-Role": "admin"}
        self.assertEqual(self.box.get("/v1/history").json()["in_force"]["by_name"], None)
        banned = self.ask("POST", "/v1/rules/a/bans", '{"keys":["192.0.2.7"]}', proxied)
        self.assertEqual(banned.status, 200, banned.text)
        me = pwd.getpwuid(os.getuid()).pw_name
        changed = self.ask("PUT", "/v1/rules", RULES.replace("5/s", "6/s"), {"Content-Type": "application/yaml"},
                           token=self.session("admin"))
        self.assertEqual(changed.status, 200, changed.text)
        told = self.box.get("/v1/history").json()
        self.assertEqual([told["in_force"]["by_name"], told["sets"][0]["by_name"]], [me, "alice"])
        self.assertRegex(self.ctl("history"), rf"{me} \(web\)[\s\S]*alice \(web\)")

    def test_every_verb_role_and_way_in(self):
        self.start(f', behind_proxy: [{{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}}]')
        self.check_calls("admin", "the socket of operators", way="unix")
        self.check_calls("view", "the socket that shows", way="read")
        for role in ROLES:
            token = self.session(role)
            self.check_calls(role, "a session", token=token)
            self.check_calls(role, "a session by the socket that shows", way="read", token=token)
            self.check_calls(role, "a session by that of operators", way="unix", token=token)
            named = self.begin({"token": self.token_of("of-" + role, role)})
            self.assertEqual((named.status, named.json()["user"]), (201, "of-" + role))
            self.check_calls(role, "a named token", token=named.json()["session"])
            headers = {**OWN, "X-Key": SECRET, "X-Sluice-User": "eve", "X-Sluice-Role": role}
            self.check_calls(role, "a proxy by its address", headers)
        without_role = {**OWN, "X-Key": SECRET, "X-Sluice-User": "eve"}
        self.check_calls("view", "a proxy that says no role", without_role)
        told = self.ask("GET", "/v1/session", headers=without_role).json()
        self.assertEqual((told["user"], told["role"], told["via"], told["verbs"]["ban"], told["needs"]["ban"]),
                         ("eve", "view", "proxy", False, "operate"))

    def test_every_verb_by_tcp(self):
        """The token of the API, at a listener of its own, whatever roles are claimed beside it."""
        self.start()
        self.write_secret("api-token", API_TOKEN)
        with_web = self.config.read_text()
        for read_only, role in (("true", "view"), ("false", "admin")):
            self.box.stop(self.sluiced)
            port = free_port()
            self.config.write_text(with_web + f'api: {{listen: "127.0.0.1:{port}", token_file: api-token, read_only: {read_only}}}\n')
            self.sluiced = self.box.start_sluiced("--config", self.config)
            self.box.put_mode("a", "enforce")
            self.check_calls(role, "the token of the API", {"X-Sluice-User": "eve", "X-Sluice-Role": "admin"}, token=API_TOKEN, way=port)
            self.assertEqual(self.ask("GET", "/v1/stats", token=API_TOKEN).status, 401)  # it opens no dashboard
            self.assertEqual(self.ask("GET", "/v1/stats", token=self.session("admin"), way=port).status, 401)

    def live(self, token, after=0):
        return self.ask("GET", f"/v1/live?after={after}&wait=10", token=token)

    def look(self, token, seen, over):
        """As an open page: asks for second after second."""
        while not over.is_set():
            answer = self.live(token, seen[-1] if seen else 0)
            if answer.status == 200:
                seen.append(answer.json()["snapshot"])
            else:
                over.wait(0.1)

    def test_the_thirty_third_page_is_told_at_once_when_to_come_again(self):
        self.start()
        sessions = [self.begin({"token": self.token_of(f"user-{n}", "view")}).json()["session"] for n in range(PAGES // OF_USER + 1)]
        last = sessions.pop()
        over, seen = threading.Event(), [[] for _ in range(PAGES)]
        self.addCleanup(over.set)
        with concurrent.futures.ThreadPoolExecutor(PAGES) as pool:
            pages = [pool.submit(self.look, token, seen[at], over) for at, token in enumerate(sessions * OF_USER)]
            for token in (last, sessions[0]):  # one of somebody else, and the ninth of somebody
                answers = []
                wait_until("a page too many", lambda token=token, answers=answers: answers.append(self.timed(token)) or answers[-1][1].status == 503)
                seconds, answer = answers[-1]
                self.assertLess(seconds, 3)
                self.assertEqual((answer.json()["again_in"], answer.headers["Retry-After"]), (5, "5"))
            for path in ("/v1/stats", "/v1/session", "/v1/health", "/"):  # other calls have other places
                self.assertEqual(self.ask("GET", path, token=last).status, 200, path)
            before = [len(one) for one in seen]
            wait_until("all others to go on", lambda: all(len(one) > count for one, count in zip(seen, before)))
            over.set()
            for page in pages:
                page.result()
        self.assertEqual(self.live(last).status, 200)

    def timed(self, token):
        begin = time.monotonic()
        answer = self.live(token)
        return time.monotonic() - begin, answer

    def test_a_proxy_by_the_unix_socket(self):
        me = pwd.getpwuid(os.geteuid()).pw_name
        path = str(self.box.folder / "web.sock")
        self.start(f", behind_proxy: [{{user: {me}}}]", listen=path)
        for role in ROLES:
            self.check_calls(role, "a proxy by its user", {**OWN, "X-Sluice-User": "eve", "X-Sluice-Role": role})
        self.assertEqual(self.ask("GET", "/v1/stats").status, 401)  # it names nobody
        self.assertEqual(self.box.put_mode("a", "enforce").status, 200)
        mode = self.ask("PUT", "/v1/rules/a/mode", '{"mode":"monitor"}',
                        {**OWN, "X-Sluice-User": "eve", "X-Sluice-Role": "operate"})
        self.assertEqual(mode.status, 200, mode.text)
        line = self.box.audit()[-1]
        self.assertEqual((line["call"], line["name"], line["via"], line["uid"]), ("mode a monitor", "eve", "web", 65534))

    def test_operate_takes_rules_down_to_monitor_and_not_back(self):
        self.start()
        token = self.session("operate")
        put = lambda mode: self.ask("PUT", "/v1/rules/a/mode", json.dumps({"mode": mode}), token=token)
        self.assertEqual(put("off").status, 403)
        self.assertEqual(put("monitor").status, 200)
        for mode in ("enforce", "off", "monitor"):
            self.assertEqual(put(mode).status, 403, mode)

    def test_headers_of_those_who_are_no_proxies(self):
        self.start(', behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]')
        claims = {"X-Sluice-User": "root", "X-Sluice-Role": "admin"}
        for extra in ({}, {"X-Key": ""}, {"X-Key": SECRET + "x"}, {"X-Key": SECRET.upper()}, {"X-Kex": SECRET}):
            answer = self.ask("GET", "/v1/stats", headers={**claims, **extra})
            self.assertEqual((answer.status, answer.json()["title"]), (401, "no session"), extra)
        # Nor do they lift a session, or who comes by a Unix socket.
        token = self.session("view")
        self.assertEqual(self.ask("POST", "/v1/panic", "{}", {**claims, **OWN}, token=token).status, 403)
        self.assertEqual(self.ask("POST", "/v1/panic", "{}", {**claims, **OWN}, way="read").status, 403)

    def raw(self, *lines):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            client.sendall("\r\n".join(["GET /v1/session HTTP/1.1", *lines, "Connection: close", "", ""]).encode())
            answer = read_all(client).decode()
        return int(answer.split(" ")[1]), answer

    def test_viewers_leave_places_to_who_may_change_something(self):
        self.start()
        admin = self.session("admin")
        held = []
        for _ in range(2):
            token = self.session("view")
            for _ in range(40):
                one = socket.create_connection(("127.0.0.1", self.port))
                self.addCleanup(one.close)
                one.sendall((f"POST /v1/simulate HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {token}\r\n"
                             "Content-Type: application/json\r\nContent-Length: 50000\r\n\r\n{").encode())
                held.append(one)
        answer = self.ask("POST", "/v1/rollback", None, OWN, token=admin)
        self.assertEqual((answer.status, answer.json()["title"]), (409, "nothing to go back to"))

    def test_conditions_of_traces_are_bounded(self):
        self.start()
        token = self.session("operate")
        patterns = " or ".join(f'http.host matches "a{{1,50}}{number}"' for number in range(9))
        for when in (patterns, "ip.proto eq 17" + 3000 * " "):
            answer = self.ask("POST", "/v1/traces", json.dumps({"when": when}), OWN, token=token)
            self.assertEqual((answer.status, answer.json()["title"]), (422, "too much of a condition"))

    def test_heads_that_may_be_read_in_two_ways(self):
        self.start(', behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]')
        host, key = f"Host: 127.0.0.1:{self.port}", f"X-Key: {SECRET}"
        good = [host, key, "X-Sluice-User: eve", "x-sluice-ROLE: operate"]
        status, text = self.raw(*good)
        self.assertEqual(status, 200, text)
        self.assertIn('"role":"operate"', text)
        bad = {
            "two roles": [*good, "X-Sluice-Role: view"], "two users": [*good, "X-Sluice-User: bob"],
            "two keys": [*good, key], "two hosts": [*good, host],
            "a role of another case": [*good[:3], "X-Sluice-Role: Admin"],
            "a list of roles": [*good[:3], "X-Sluice-Role: view, admin"],
            "no role": [*good[:3], "X-Sluice-Role:"], "no user": [host, key, "X-Sluice-User:"],
            "a role over two lines": [*good[:3], "X-Sluice-Role: ad\r\n min"],
            "a role on the next line": [*good[:3], "X-Sluice-Role:\r\n\tadmin"],
            "a line that goes on": [*good, "X-Other: a\r\n b"],
            "a NUL in a role": [*good[:3], "X-Sluice-Role: admin\0view"], "a NUL behind a role": [*good, "X-Other: a\0"],
            "NULs in the last line": [host, key, "X-Sluice-Role: view", "X-Sluice-User: al\0\0bo"],
            "a NUL in the host": [host + "\0evil", *good[1:]],
            "two conditions": [*good, 'If-Match: "0000000000000000"', 'If-Match: "0000000000000001"'],
            "an empty condition": [*good, "If-Match:"], "a blank condition": [*good, "If-Match: ", 'If-Match: "0000000000000000"'],
        }
        for what, lines in bad.items():
            status, text = self.raw(*lines)
            self.assertEqual(status, 400, what + ": " + text)

    def test_hosts(self):
        self.start(", hosts: [sluice.example.net]")
        token = self.session("view")
        for host in ("localhost", "LOCALHOST:1", f"127.0.0.1:{self.port}", "[::1]:9", "sluice.example.net",
                     "Sluice.Example.Net:443"):
            for way in ("web", "read"):
                self.assertEqual(self.ask("GET", "/v1/session", headers={"Host": host}, token=token, way=way).status,
                                 200, host)
        for host in ("evil.example", "localhost.evil.example", "sluice.example.net.", "a sluice.example.net", "",
                     "localhost:80:80", "[::1", "<script>alert(1)</script>", "evil\x7f"):
            for way in ("web", "read"):
                for target in ("/", "/v1/session"):
                    answer = self.ask("GET", target, headers={"Host": host}, token=token, way=way)
                    self.assertEqual((answer.status, answer.json()["title"]), (403, "host"), (host, way, target))
                    self.assertIn("hosts: [", answer.json()["detail"])
            time.sleep(0.9)  # refusals are answered at a pace
        self.assertNotIn("\x7f", (self.box.state / "audit.log").read_text())

    def test_pages_of_others(self):
        self.start(', behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]')
        proxied = {"X-Key": SECRET, "X-Sluice-User": "eve", "X-Sluice-Role": "admin"}
        here = f"http://127.0.0.1:{self.port}"
        for way, base in (("unix", {"Host": f"127.0.0.1:{self.port}"}), ("web", proxied)):
            put = lambda **headers: self.ask(
                "PUT", "/v1/rules/a/mode", '{"mode":"monitor"}',
                {**base, **{name.replace("_", "-"): value for name, value in headers.items()}}, way=way)
            self.assertEqual(put(Sec_Fetch_Site="same-origin", Content_Type="application/json").status, 200)
            self.assertEqual(put(Origin=here, Content_Type="application/json; charset=utf-8").status, 200)
            for wrong in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": "null"},
                          {"Origin": "https://evil.example"}, {"Origin": here + "0"},
                          {"Sec_Fetch_Site": "cross-site", "Origin": here}):
                answer = put(Content_Type="application/json", **wrong)
                self.assertEqual((answer.status, answer.json()["title"]), (403, "origin"), (way, wrong))
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
                self.assertEqual(put(Origin=here, Content_Type=kind).status, 415, (way, kind))
            # Nor may another page's picture hold places of those who look.
            self.assertEqual(self.ask("GET", "/v1/stats", headers={**base, "Sec-Fetch-Site": "cross-site"},
                                      way=way).status, 403)
            time.sleep(2)  # refusals are answered at a pace
        # No browser: sluicectl and curl say neither.
        self.assertEqual(self.box.put_mode("a", "monitor").status, 200)

    def test_pages_of_others_without_a_dashboard(self):
        """Whoever forwards the socket to a port must not lend it to every page of a browser there."""
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced()
        self.assertEqual(self.box.put_rules(RULES).status, 200)
        put = lambda **headers: self.ask(  # noqa: E731
            "PUT", "/v1/rules/a/mode", '{"mode":"monitor"}', {"Host": "localhost:8480", **headers}, way="unix")
        for wrong in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = put(**wrong)
            self.assertEqual((answer.status, answer.json()["title"]), (403, "origin"), wrong)
        self.assertEqual(put().status, 200)
        # Without a dashboard no page is ours, by whatever name it was opened.
        for name in ("localhost:8480", "evil.example:8480"):
            self.assertEqual(put(Host=name, Origin="http://" + name).status, 403, name)
        self.assertEqual(self.ask("GET", "/v1/stats", headers={"Sec-Fetch-Site": "cross-site"}, way="read").status, 403)

    def test_a_session_beside_the_password_of_a_proxy(self):
        """nginx asks for a password by Authorization and sends it on: the session has a header of its own."""
        self.start(', behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]')
        admin = self.session("admin")
        basic = {"Authorization": "Basic ZXZlOng=", "X-Key": SECRET, "X-Sluice-User": "eve", "X-Sluice-Role": "view"}
        role = lambda **headers: self.ask(  # noqa: E731
            "GET", "/v1/session", headers={**basic, **headers}).json()["role"]
        self.assertEqual(role(), "view")
        self.assertEqual(role(**{"X-Sluice-Session": admin}), "admin")
        self.assertEqual(role(**{"X-Sluice-Session": "of-before-a-restart"}), "view")
        self.assertEqual(self.ask("GET", "/v1/session", headers={"X-Sluice-Session": admin}).json()["role"], "admin")
        self.assertEqual(self.ask("GET", "/v1/session", headers={"X-Sluice-Session": "x"}).status, 401)

    def test_links(self):
        self.start()
        made = self.link("operate", "--for", "30m")
        self.assertEqual(made["url"], f"http://127.0.0.1:{self.port}/#secret={made['secret']}")
        self.assertEqual(len(made["secret"]), 64)
        self.assertEqual(self.begin({"secret": made["secret"][:-1] + "x"}).status, 401)
        answer = self.begin({"secret": made["secret"]})
        self.assertEqual(answer.status, 201)
        self.assertIn(answer.json()["expires_in_s"], range(1790, 1801))
        used = self.begin({"secret": made["secret"]})
        self.assertEqual((used.status, used.json()["title"]), (401, "no session"))
        self.assertIn("was used", used.json()["detail"])
        text = self.ctl("dashboard")
        self.assertIn(f"ssh -N -L 8480:{self.box.read_socket} ", text)
        self.assertIn("http://localhost:8480/#secret=", text)
        # Only the full socket makes links: neither the one that shows, nor any session.
        admin = self.session("admin")
        for options in ({"way": "read"}, {"token": admin}, {"way": "unix", "token": admin}):
            self.assertEqual(self.ask("POST", "/v1/session/link", "{}", **options).status, 403)
        for body in ('{"role":"none"}', '{"role":"root"}', '{"for":"13h"}', '{"for":"1s"}'):
            self.assertEqual(self.ask("POST", "/v1/session/link", body, way="unix").status, 422, body)
        calls = [line["call"] for line in self.box.audit()]
        self.assertIn("session link", calls)
        self.assertNotIn(made["secret"], (self.box.state / "audit.log").read_text() + self.sluiced.log.read_text())

    def test_a_session_ends(self):
        self.start()
        token = self.session("view")
        told = self.ask("GET", "/v1/session", token=token).json()
        self.assertEqual((told["via"], told["role"], told["verbs"]["apply"]), ("session", "view", False))
        self.assertIsInstance(told["zone"]["offset_s"], int)
        self.assertIn("name", told["zone"])
        self.assertEqual(self.ask("GET", "/v1/session", token=token, way="read").json()["via"], "session")
        self.assertEqual(self.ask("DELETE", "/v1/session", token=token).status, 200)
        for way in ("web", "read", "unix"):
            answer = self.ask("GET", "/v1/session", token=token, way=way)
            self.assertEqual((answer.status, answer.json()["title"]), (401, "no session"), way)
        self.assertEqual(self.ask("GET", "/v1/session", way="read").json()["via"], "unix")
        left = self.session("admin")
        self.box.stop(self.sluiced)
        self.sluiced = self.box.start_sluiced("--config", self.config)
        self.assertEqual(self.ask("GET", "/v1/session", token=left).status, 401)

    def test_named_tokens(self):
        self.start()
        alice, bob = self.token_of("alice", "operate", "--for", "30d"), self.token_of("bob", "view")
        self.assertEqual(self.tokens.stat().st_mode & 0o777, 0o600)
        self.assertNotIn(alice, self.tokens.read_text())
        told = self.ctl("dashboard", "token", "list", "--config", self.config)
        self.assertRegex(told, r"alice  operate  20..-..-..T..:..:..Z\nbob  view  never\n")
        self.assertIn("already", self.ctl("dashboard", "token", "add", "bob", "--config", self.config, code=1))
        session = self.begin({"token": alice}).json()["session"]
        self.assertEqual(self.ask("GET", "/v1/session", token=session).json()["role"], "operate")
        # The file is read anew: another role, a bad line, no token any more.
        text = self.tokens.read_text()
        self.tokens.write_text(text.replace("alice operate", "alice view"))
        self.assertEqual(self.ask("GET", "/v1/session", token=session).json()["role"], "view")
        self.tokens.write_text("carol\n" + text.replace("bob view", "bob viewer"))
        self.assertEqual(self.ask("GET", "/v1/session", token=session).json()["role"], "operate")
        self.assertEqual(self.begin({"token": bob}).status, 401)
        problem = self.box.get("/v1/health").json()["web"]["problem"]
        self.assertIn("tokens:1: a line is NAME ROLE END SHA256", problem)
        self.assertIn("tokens:3: a role is view, operate, admin or tenant:NAME, found `viewer`; did you mean `view`?", problem)
        self.tokens.write_text(text)
        self.ctl("dashboard", "token", "remove", "alice", "--config", self.config)
        self.assertEqual(self.ask("GET", "/v1/session", token=session).status, 401)
        self.assertEqual(self.begin({"token": alice}).status, 401)
        self.assertEqual(self.begin({"token": bob}).status, 201)
        self.tokens.chmod(0o644)
        self.assertEqual(self.begin({"token": bob}).status, 401)
        self.assertIn("lets others read", self.box.get("/v1/health").json()["web"]["problem"])

    def test_a_tokens_file_behind_a_link_is_written_where_it_is(self):
        kept = self.box.folder / "kept"
        kept.mkdir()
        (kept / "tokens").write_text("")
        (kept / "tokens").chmod(0o600)
        self.tokens.symlink_to(kept / "tokens")
        self.start()
        token = self.token_of("alice", "view")
        self.assertTrue(self.tokens.is_symlink())
        self.assertIn("alice view", (kept / "tokens").read_text())
        self.assertEqual(self.begin({"token": token}).status, 201)

    def test_a_link_is_not_used_up_where_no_session_begins(self):
        self.start()
        made = [self.link("view")["secret"] for _ in range(32)]
        for secret in made[:31]:
            self.assertEqual(self.begin({"secret": secret}).status, 201)
        last = self.link("view")["secret"]
        self.assertEqual(self.begin({"secret": made[31]}).status, 201)
        answer = self.begin({"secret": last})
        if answer.status == 503:  # not where a machine took ten seconds for 32 sessions
            self.assertIn("many sessions", answer.json()["detail"])
            self.assertEqual(self.begin({"secret": last}).status, 503)

    def test_sessions_are_bounded(self):
        self.start()
        bob = self.token_of("bob", "view")
        sessions = [self.begin({"token": bob}).json()["session"] for _ in range(17)]
        # The one that was idle for longest has made room.
        self.assertEqual(self.ask("GET", "/v1/session", token=sessions[0]).status, 401)
        self.assertEqual(self.ask("GET", "/v1/session", token=sessions[1]).status, 200)
        self.assertEqual(self.box.get("/v1/health").json()["web"]["sessions"], 16)

    def test_bodies_of_strangers_are_small(self):
        self.start()
        self.assertEqual(self.begin({"token": "x" * 5000}).status, 413)
        answer = self.ask("POST", "/v1/session", "[]")
        self.assertEqual(answer.status, 400)
        for body in ("{}", '{"secret":1}', '{"secret":"a","token":"b"}', '{"secret":"a","secret":"b"}', "x"):
            self.assertEqual(self.ask("POST", "/v1/session", body).status, 400, body)
        token = self.session("view")
        self.assertEqual(self.ask("POST", "/v1/explain", "x" * 70_000, token=token).status, 413)

    def test_another_user_of_the_machine(self):
        self.start()
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "curl", "-s", "-o", "/dev/null",
                  "-w", "%{http_code}"]
        curl = lambda *words: subprocess.run([*nobody, *words], capture_output=True, text=True, timeout=60).stdout
        base = f"http://127.0.0.1:{self.port}"
        self.assertEqual(curl(base + "/"), "200")
        self.assertEqual(curl(base + "/v1/session"), "401")
        self.assertEqual(curl("-H", "X-Sluice-User: root", "-H", "X-Sluice-Role: admin", base + "/v1/rules"), "401")
        self.assertEqual(curl("-X", "POST", "-d", '{"pass":true}', base + "/v1/panic"), "401")
        for path in (self.box.socket, self.box.read_socket):
            os.chmod(path, 0o666)
            self.assertEqual(curl("--unix-socket", path, "http://localhost/v1/session"), "403")

    def test_refusals_are_few_in_the_audit_and_a_session_is_answered_meanwhile(self):
        self.start()
        token = self.session("view")
        answered = 0
        for _ in range(200):
            try:
                answered += self.begin({"secret": "wrong"}).status == 401
            except (http.client.HTTPException, ConnectionError):
                pass
        self.assertIn(answered, range(20, 150))
        self.assertEqual(self.ask("GET", "/v1/session", token=token).status, 200)
        self.assertLessEqual(sum(line["outcome"].startswith("refused") for line in self.box.audit()), 6)
        text = self.box.get("/v1/metrics").text
        self.assertRegex(text, r'turned_away_total\{reason="web"\} 200\n')

    def test_the_page_and_its_headers(self):
        self.start()
        answer = self.ask("GET", "/")
        self.assertEqual(answer.status, 200)
        policy = answer.headers["Content-Security-Policy"]
        self.assertEqual(policy.split("; ")[0], "default-src 'none'")
        self.assertIn("require-trusted-types-for 'script'", policy)
        for name, value in (("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Opener-Policy", "same-origin"),
                            ("Cross-Origin-Resource-Policy", "same-origin"), ("Referrer-Policy", "same-origin")):
            for target in ("/", "/v1/session", "/none"):
                self.assertEqual(self.ask("GET", target).headers[name], value)
        self.assertEqual(self.ask("GET", "/v1/session").headers["Cache-Control"], "no-store")
        for target in ("/none", "/../etc/passwd", "/assets/", "/%2e%2e/x", "//", "/assets/../v1/stats"):
            self.assertEqual(self.ask("GET", target).status, 404, target)
        self.assertEqual(self.ask("HEAD", "/").text, "")
        self.assertEqual(self.ask("POST", "/", "{}").status, 405)
        for way in ("unix", "read"):
            self.assertEqual(self.ask("GET", "/", way=way).text, answer.text)

    def test_it_is_off_until_asked_for(self):
        self.box.start_dataplane()
        self.box.start_sluiced()
        for method, target in (("GET", "/"), ("POST", "/v1/session"), ("POST", "/v1/session/link")):
            answer = self.box.ask(method, target, '{"secret":"x"}' if method == "POST" else None)
            self.assertEqual(answer.status, 404)
            self.assertIn("`web:` in sluice.yaml", answer.json()["detail"])
        self.assertIsNone(self.box.get("/v1/health").json()["web"])
        self.assertEqual(self.box.ask("GET", "/v1/stats", headers={"Host": "anything"}).status, 200)

    def test_who_can_reach_it_is_said(self):
        self.start(', behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]')
        reach = self.box.get("/v1/health").json()["web"]["reach"]
        log = self.sluiced.log.read_text()
        for line in reach:
            self.assertIn(line, log)
        self.assertIn(f"whoever is on this machine, at 127.0.0.1:{self.port}", reach[0])
        self.assertIn(self.box.socket + ": admin", "\n".join(reach))
        self.assertIn("it can be reached by", self.ctl("health"))

    def test_files_that_others_may_read_are_refused_at_the_start(self):
        (self.box.folder / "secret").chmod(0o644)
        self.config.write_text(f'version: 1\nweb: {{listen: "127.0.0.1:{self.port}", behind_proxy: '
                               '[{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]}\n')
        done = subprocess.run([SLUICED, "--config", self.config, "--socket", self.box.socket, "--state-dir",
                               self.box.state], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the secret of a proxy", done.stderr + done.stdout)

    def test_get_changes_nothing(self):
        """Every GET of the table of routes, as admin: nothing is recorded, sent or other than before."""
        self.start()
        source = pathlib.Path(__file__).resolve().parents[2] / "control/daemon/api/route.cpp"
        paths = re.findall(r'\{"GET",\s*"([^"]+)"', source.read_text())
        self.assertGreater(len(paths), 18)
        before = (self.box.generation(), self.box.audit(), requests_of(self.dataplane))
        for path in paths:
            answer = self.ask("GET", path.replace("*", "a") + ("?rule=a" if path.endswith(("keys", "bans")) else ""),
                              way="unix")
            self.assertNotIn(answer.status, (403, 405), path)
        after = (self.box.generation(), self.box.audit(), requests_of(self.dataplane))
        self.assertEqual(before[:2], after[:2])
        told = {word for word in after[2][len(before[2]):]}
        questions = {"stats", "top", "key", "events", "list", "owed", "packet", "drops", "read_trace", "rules", "ping", "hello"}
        self.assertLessEqual(told, questions)

    def test_many_people_by_one_address_have_places_of_their_own(self):
        self.start()
        tokens = [self.session("view"), self.begin({"token": self.token_of("bob", "view")}).json()["session"]]
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda token: self.ask("GET", "/v1/stats", token=token).status, tokens * 30))
        self.assertEqual(set(answers), {200})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
