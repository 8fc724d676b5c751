"""Requests over HTTP/1 through a box between two hosts: what their tests begin with."""
import struct

from box_case import HostsCase
from capture_files import ethernet, ipv4
from http_hosts import Client, FirstBytesServer, WebServer
from programs import ip, wait_until

SYN, PSH, ACK = 2, 8, 16


def segment(payload, seq=1, src="192.0.2.1", dst="198.51.100.7", sport=40000, dport=80, flags=ACK):
    payload = payload.encode() if isinstance(payload, str) else payload
    head = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xFFFFFFFF, 1, 0x50, flags, 0xFFFF, 0, 0)
    return ethernet(ipv4(src, dst, 6, head + payload), 0x0800)


def request(target="/", method="GET", host="www.example", headers=()):
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n" + "".join(f"{line}\r\n" for line in headers) + "\r\n"


class HttpCase(HostsCase):
    """A web server at the inside host; the box is started by the tests."""
    ADDRESS = "10.78.0.2"

    def serve(self):
        self.server = WebServer(self.hosts.inside, self.ADDRESS)
        self.addCleanup(self.server.close)

    def serve_first_bytes(self, port):
        server = FirstBytesServer(self.hosts.inside, self.ADDRESS, port)
        self.addCleanup(server.close)
        return server

    def client(self, source=None, port=80):
        client = Client(self.hosts.outside, self.ADDRESS, port, source=source)
        self.addCleanup(client.close)
        return client

    def ask(self, text, source=None, port=80):
        """One request over a connection of its own."""
        client = self.client(source, port)
        client.send(text)
        return client

    def add_sources(self, count):
        """More addresses of the outside host, which differ in many bits: RSS is linear in them."""
        sources = [f"10.78.{1 + number * 37 % 251}.{1 + number * 101 % 251}" for number in range(count)]
        for source in sources:
            ip("-n", self.hosts.outside, "address", "add", f"{source}/32", "dev", "eth0")
        ip("-n", self.hosts.inside, "route", "add", "10.78.0.0/16", "dev", "eth0")
        return sources

    def counts(self, rule):
        """Admitted and refused by a rule so far."""
        now = next(one for one in self.box.stats()["rules"] if one["id"] == rule)
        return now["admitted"], now["exceeded"]

    def use_up(self, rule, ask):
        """Rounds of requests, until a limit of owners that are asked refuses one whole; ask() sends one and says how
        many it is of. What an owner answers too late spends nothing: others come in its place."""
        asked = sum(self.counts(rule))
        while True:
            unanswered, (admitted, _) = self.asks("no_answer"), self.counts(rule)
            asked += ask()
            wait_until("all requests to be judged", lambda: sum(self.counts(rule)) == asked)
            if self.asks("no_answer") == unanswered and self.counts(rule)[0] == admitted:
                return asked

    def asks(self, event):
        return self.box.stats()["ask_events"][event]

    def reason(self, name):
        return self.box.stats()["reasons"][name]

    def counted(self, rule, admitted, exceeded):
        """At least so many, and then no more than that."""
        wait_until(f"{rule}: {admitted} admitted, {exceeded} refused", lambda: all(
            now >= wanted for now, wanted in zip(self.counts(rule), (admitted, exceeded))))
        self.assertEqual(self.counts(rule), (admitted, exceeded))
