"""Requests and handshakes without a pause over several workers, rules that are replaced meanwhile.

    busy_requests_test.py DATAPLANE SLUICED SLUICECTL
"""
import threading

import workers_case
from capture_files import client_hello
from http_case import HttpCase, request
from programs import wait_until

MOST = 20
PAGERS = 4
SOURCES = 12
RELOADS = 12
LOG = f"{{algorithm: sliding_log, count: {MOST}, window: 1h}}"
RULES = f"""version: 1
rules:
  - {{id: login, mode: enforce, when: http.request.uri.path eq "/login", key: [http.host], per: request, limits: [{LOG}]}}
  - {{id: names, mode: enforce, key: [tls.sni], per: handshake, limits: [{LOG}]}}
  - {{id: all, mode: monitor, when: dir eq "in" and proto.l7 eq "http" and l4.dport eq 80, key: [ip.src], per: request,
     limits: [{{algorithm: token_bucket, rate: 1M/s, burst: 1M}}]}}
"""
MORE = "  - {id: more, mode: monitor, key: [http.host], per: request, limits: [{algorithm: fixed_window, count: 9, window: 1h}]}\n"


class Pager(threading.Thread):
    """Asks for one page after the other over one connection until it is told to end."""

    def __init__(self, client, name):
        super().__init__(daemon=True)
        self.client, self.page = client, f"/page/{name}"
        self.pages = 0
        self.ending = threading.Event()
        self.start()

    def run(self):
        while not self.ending.is_set():
            self.client.send(request(f"{self.page}/{self.pages}"))
            assert self.client.answer() == f"{self.page}/{self.pages}"
            self.pages += 1

    def end(self):
        """How many pages came."""
        self.ending.set()
        self.join(60)
        assert not self.is_alive()
        return self.pages


class Case(HttpCase, workers_case.WorkersCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.apply(RULES)
        self.assertEqual(self.scopes(), {"login": "asked", "names": "asked", "all": "local"})
        self.serve()
        self.sources = self.add_sources(SOURCES)
        self.pagers = [Pager(self.client(source), number) for number, source in enumerate(self.sources[:PAGERS])]

    def log_in(self, host):
        for source in self.sources:
            self.ask(request("/login", host=host), source)
        return SOURCES

    def expect_pages_and_logins(self):
        """Each page and each login that its rule admits was judged once, and all pages came."""
        wait_until("pages of each", lambda: all(pager.pages > 10 for pager in self.pagers))
        pages = sum(pager.end() for pager in self.pagers)
        self.counted("all", pages + MOST, 0)
        self.assertEqual(sum(path.startswith("/page/") for _, path in self.server.seen), pages)
        for reason in ("ring_full", "tx_full", "no_memory", "lost_head", "no_ruleset", "panic"):
            self.assertEqual(self.reason(reason), 0, reason)

    def logins(self):
        return sum(path == "/login" for _, path in self.server.seen)

    def test_reloads_keep_every_bucket_and_no_request_passes_unjudged(self):
        for number in range(RELOADS):
            self.apply(RULES + MORE * (number % 2 == 0))
            self.ask(request("/login", host="a.example"), self.sources[number % SOURCES])
        wait_until("all requests to be judged", lambda: sum(self.counts("login")) == RELOADS)
        asked = self.use_up("login", lambda: self.log_in("a.example"))
        self.assertEqual(self.counts("login"), (MOST, asked - MOST))
        self.expect_pages_and_logins()
        self.assertEqual(self.logins(), MOST)

    def test_requests_and_handshakes_at_once(self):
        hellos = self.serve_first_bytes(443)
        hello = client_hello("shop.example")

        def shake_hands():
            for source in self.sources:
                self.ask(hello, source, 443)
            return SOURCES
        handshakes = self.use_up("names", shake_hands)
        asked = self.use_up("login", lambda: self.log_in("b.example"))
        self.assertEqual(self.counts("names"), (MOST, handshakes - MOST))
        self.assertEqual(self.counts("login"), (MOST, asked - MOST))
        self.assertEqual(self.box.stats()["units"]["tls_hello"], handshakes)
        self.expect_pages_and_logins()
        self.assertEqual((self.logins(), hellos.seen), (MOST, MOST))
        self.assertGreater(sum(worker["units"]["tls_hello"] > 0 for worker in self.box.workers()), 1)


if __name__ == "__main__":
    workers_case.main()
