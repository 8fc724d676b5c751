"""Clients and servers that people run, on both sides of a box that answers; tshark reads what went over both links.

    clients_test.py DATAPLANE SLUICED SLUICECTL

Wants root.
"""
import http.client
import json
import time

from box_case import main
from clients_case import ClientsCase, NginxCase
from http_hosts import within
from programs import wait_until
from real_servers import NameServer, start_quic, start_tls

# Statuses in order, what a 429 carried, and a pause of Retry-After before the next request. wrk's timers count in ms
# that have begun.
WRK = """
local wait = 0
function delay() return wait end
function response(status, headers, body)
    wait = status == 429 and tonumber(headers["Retry-After"]) * 1000 + 1 or 0
    local sound = status ~= 429 or (headers["Content-Type"] == "application/problem+json" and
        headers["Connection"] == "close" and headers["RateLimit"] ~= nil and body:find("violated%-policies", 1) ~= nil)
    print("got", status, sound)
    io.stdout:flush()
end
"""


# Of 20 connections no more than 4,000 requests a second: fewer than what a source is answered at most.
PACED_WRK = "function delay() return 5 end\n"


class BehindIsNginx(NginxCase):
    def curl(self, path, *more):
        """-> (status, headers, body)"""
        done = self.run_outside("curl", "-sSi", "-m", "30", *more, f"http://{self.ADDRESS}{path}", check=True)
        head, _, body = done.stdout.replace("\r", "").partition("\n\n")
        status, *lines = head.splitlines()
        return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body

    def wrk(self, script, *options):
        path = self.box.folder / "wrk.lua"
        path.write_text(script)
        shown = self.run_outside("wrk", "-t1", *options, "--timeout", "30s", "-s", path, f"http://{self.ADDRESS}/wrk", check=True).stdout
        self.assertNotIn("Socket errors", shown)
        return shown

    def get(self, path):
        connection = http.client.HTTPConnection(self.ADDRESS, timeout=30)
        with within(self.hosts.outside):
            connection.connect()
        connection.request("GET", path)
        response = connection.getresponse()
        read = response.read().decode()
        connection.close()
        return response.status, dict(response.headers), read

    def retries_exactly_then(self, get):
        self.rules("action: reply", rate="30/m")
        served = []
        while (answer := get(path := f"/{len(served)}"))[0] == 200:  # a slow machine may come late enough to be admitted
            served.append(path)
            self.assertEqual(answer[2], "a page\n")
            self.assertLess(len(served), 20)
        self.assertTrue(served)
        status, headers, body = answer
        self.assertEqual((status, headers["Content-Type"], headers["Connection"]),
                         (429, "application/problem+json", "close"))
        self.assertEqual(json.loads(body)["violated-policies"], ["page"])
        self.assertEqual(int(headers["Content-Length"]), len(body))
        self.assertEqual(headers["RateLimit-Policy"], '"page";q=1;w=2')
        self.assertEqual(headers["RateLimit"], f'"page";r=0;t={headers["Retry-After"]}')
        self.nothing_is_open()
        time.sleep(int(headers["Retry-After"]))  # what the response promises
        self.assertEqual(get("/again")[::2], (200, "a page\n"))
        self.served_are([*served, "/again"])
        self.nothing_is_open()
        self.assertEqual(self.answers("replied"), 1)
        self.judge_both_ends()

    def test_curl(self):
        self.retries_exactly_then(self.curl)

    def test_http_client(self):
        self.retries_exactly_then(self.get)

    def test_wrk(self):
        self.rules("action: reply", rate="30/m")
        shown = self.wrk(WRK, "-c1", "-d7s")
        got = [line.split()[1:] for line in shown.splitlines() if line.startswith("got")]
        statuses = [int(status) for status, _ in got]
        self.assertIn(429, statuses)
        self.assertEqual({status for before, status in zip(statuses, statuses[1:]) if before == 429}, {200})
        self.assertEqual({sound for _, sound in got}, {"true"}, got)
        self.nothing_is_open()
        admitted, refused = self.counts("page")
        wait_until("nginx to log", lambda: len(self.served()) == admitted)
        self.assertEqual(self.answers("replied"), refused)
        self.judge_both_ends()

    def test_many_are_refused_and_the_next_is_served_at_once(self):
        self.rules("action: reply")
        self.assertEqual(self.curl("/first")[0], 200)
        self.assertIn("Non-2xx or 3xx responses", self.wrk(PACED_WRK, "-c20", "-d2s"))
        self.nothing_is_open()
        [other] = self.add_sources(1)
        self.assertEqual(self.curl("/next", "--interface", other)[0], 200)
        self.served_are(["/first", "/next"])
        self.nothing_is_open()
        self.judge_both_ends()


class Others(ClientsCase):
    def s_client(self, name):
        done = self.run_outside("openssl", "s_client", "-connect", f"{self.ADDRESS}:443", "-servername", name, "-brief")
        return done.returncode, done.stderr

    def refuses_hello(self, fallback, said):
        start_tls(self.box, self.hosts.inside, self.ADDRESS)
        self.rules(f"action: reply, tls_fallback: {fallback}", per="handshake", when='tls.sni eq "closed.example"')
        self.assertEqual(self.s_client("closed.example")[0], 0)
        code, shown = self.s_client("closed.example")
        self.assertEqual(code, 1)
        self.assertIn(said, shown)
        self.nothing_is_open(443)
        code, shown = self.s_client("open.example")
        self.assertEqual(code, 0, shown)
        self.assertEqual(self.counts("page"), (1, 1))
        self.nothing_is_open(443)
        self.judge_both_ends()

    def test_openssl_sees_an_alert(self):
        self.refuses_hello("alert", "alert access denied")
        self.assertEqual(self.answers("tls_alert"), 1)

    def test_openssl_sees_a_reset(self):
        self.refuses_hello("reset", "errno=104")
        self.assertEqual(self.answers("reset"), 1)

    def gtlsclient(self, name):
        """What it says; it asks for the name that it looks up, and gives up after 50 s without an answer."""
        hosts = self.box.folder / "hosts"
        hosts.write_text(f"{self.ADDRESS} closed.example open.example\n")
        done = self.run_outside("sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', hosts,
                                "gtlsclient", "--exit-on-all-streams-close", "--timeout=50s",
                                "--handshake-timeout=50s", name, "443", f"https://{name}/index.html")
        return done.stdout + done.stderr

    def test_a_quic_client_is_refused_at_once(self):
        start_quic(self.box, self.hosts.inside, self.ADDRESS)
        self.rules("action: reset", per="handshake", when='quic.sni eq "closed.example"')
        for name in ("closed.example", "open.example"):
            self.assertIn("[:status: 200]", self.gtlsclient(name))
        shown = self.gtlsclient("closed.example")
        self.assertIn("CONNECTION_CLOSE(0x1c) error_code=CONNECTION_REFUSED", shown)
        self.assertNotIn("handshake has completed", shown)
        self.assertEqual(self.counts("page"), (1, 1))
        self.assertEqual(self.answers("quic_closed"), 1)
        self.judge_both_ends()
        closed = [row[0] for row in self.ends.read("outside", ["quic.cc.error_code", "quic.long.packet_type"]) if row[0]]
        self.assertIn("2", closed)  # as tshark opens it

    def test_dig_falls_back_to_tcp(self):
        server = NameServer(self.hosts.inside, self.ADDRESS)
        self.addCleanup(server.close)
        self.rules("action: dns_truncate, slip: 1, then: drop", when="l4.dport eq 53 and ip.proto eq 17", per="query")
        for refused in (False, True):
            done = self.run_outside("dig", f"@{self.ADDRESS}", "www.example.com", "+tries=1", "+time=30", check=True)
            self.assertEqual(";; Truncated, retrying in TCP mode." in done.stdout, refused, done.stdout)
            self.assertIn("status: NOERROR", done.stdout)
            self.assertRegex(done.stdout, r"www\.example\.com\.\s+60\s+IN\s+A\s+192\.0\.2\.1")
            self.assertNotIn("WARNING", done.stdout)
        self.assertEqual(server.seen, ["udp", "tcp"])
        self.assertEqual(self.answers("dns_truncated"), 1)
        self.judge_both_ends()


if __name__ == "__main__":
    main()
