"""Clients that proxies name, and requests that cost by their paths: the real programs between two hosts.

    proxied_test.py DATAPLANE SLUICED SLUICECTL
"""
import json

from box_case import main
from http_case import HttpCase, request
from programs import ip, wait_until

PROXY, OTHER_PROXY, STRANGER = "10.78.0.1", "10.78.0.3", "10.78.0.4"
NAMED = "203.0.113.7"
# So slow that no clock comes into it.
RULES = f"""version: 1
client_ip: {{trusted_proxies: [{PROXY}/32, {OTHER_PROXY}/32], from: {{header: x-forwarded-for}}}}
rules:
  - {{id: clients, mode: enforce, when: proto.l7 eq "http", key: [client.ip], per: request,
     cost: {{path: {{"/export": 25, "/search": 5}}}},
     limits: [{{algorithm: token_bucket, rate: 1/d, burst: 31}}]}}
"""


def asked_for(client, path):
    return request(path, headers=[f"X-Forwarded-For: {client}"])


class Case(HttpCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.apply(RULES)
        for address in (OTHER_PROXY, STRANGER):
            ip("-n", self.hosts.outside, "address", "add", f"{address}/24", "dev", "eth0")
        self.serve()

    def passes(self, source, client, path):
        self.assertEqual(self.ask(asked_for(client, path), source).answer(), path)

    def test_a_named_client_has_one_limit_through_all_its_proxies(self):
        kept = self.client(PROXY)
        for piece in ("GET /export/all HTTP/1.1\r\nHost: a\r\nX-Forwarded", f"-For: 198.51.100.1, {NAMED}\r\n\r\n"):
            kept.send(piece)
        self.assertEqual(kept.answer(), "/export/all")
        self.passes(OTHER_PROXY, NAMED, "/search/")
        refused = self.ask(asked_for(NAMED, "/search/x"), OTHER_PROXY)
        self.counted("clients", 2, 1)
        self.passes(OTHER_PROXY, NAMED, "/searches")  # the one that is left
        # One proxy's connection carries requests of several clients.
        kept.send(asked_for("203.0.113.8", "/export"))
        self.assertEqual(kept.answer(), "/export")
        # Who is no proxy names nobody.
        self.passes(STRANGER, "203.0.113.9", "/export/")
        self.passes(PROXY, "203.0.113.9", "/export/")
        self.passes(PROXY, STRANGER, "/search")
        again = self.ask(asked_for(STRANGER, "/search"), PROXY)
        self.counted("clients", 7, 2)
        self.expect_what_commands_tell()
        for one in (refused, again):
            one.socket.settimeout(0.1)
            self.assertRaises(OSError, one.answers.readline)
        self.assertEqual(self.reason("over_limit"), 2)

    def expect_what_commands_tell(self):
        self.assertRegex(self.box.ctl("key", "show", "clients", NAMED).stdout, r" 0 +31 .*its own")
        words = ("--src", PROXY, "--dst", self.ADDRESS, "--dport", "80", "--http", "GET /search")
        for client, left, admitted in ((NAMED, 0, False), ("203.0.113.8", 6, True)):
            told = json.loads(self.box.ctl("explain", "--json", *words, "-H", f"X-Forwarded-For: {client}").stdout)
            self.assertEqual(told["fields"]["client.ip"], client)
            self.assertNotIn("named text", told["fields"])
            limit = told["rules"][0]["limits"][0]
            self.assertEqual((limit["key"], limit["cost"], limit["before"]["remaining"], limit["admitted"]),
                             (client, 5, left, admitted))
        wait_until("the client in top", lambda: NAMED in self.box.ctl("top", "--rule", "clients").stdout)


if __name__ == "__main__":
    main()
