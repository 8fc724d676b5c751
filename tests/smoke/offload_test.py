"""A client whose kernel leaves its checksums to an adapter, before the real programs with `checksums: auto`.

    offload_test.py DATAPLANE SLUICED SLUICECTL [CLASS...]
"""
import contextlib
import itertools
import json
import pathlib
import socket
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "served"))
import wire  # noqa: E402
from box_case import main  # noqa: E402
from http_case import HttpCase, request  # noqa: E402
from http_hosts import run_within, within  # noqa: E402
from programs import ip, wait_until  # noqa: E402
from wire import ACK, FIN, PSH, SYN, Headers  # noqa: E402

ETH_P_IP = 0x0800
TAKER = "10.78.0.9"  # of no kernel
TRUSTED = {"service": "web", "side": "clients"}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
SOURCES = 12  # one address alone proves nothing
SECONDS = 180
FIRST = 7000  # number of the server


class Taker(threading.Thread):
    """A server at the inside host that takes segments whatever their checksums: one answer to each connection. The kernel
    there would drop what an adapter has not finished."""

    def __init__(self, namespace):
        super().__init__(daemon=True)
        with within(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
        self.socket.bind(("eth0", ETH_P_IP))
        self.socket.settimeout(0.2)
        self.address = wire.packed(TAKER)
        self.over, self.came, self.unfinished = threading.Event(), 0, 0
        self.start()

    def run(self):
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                frame, (_, _, kind, _, _) = self.socket.recvfrom(65536)
                if kind != socket.PACKET_OUTGOING and (segment := wire.read(frame[14:])) and segment.dst == self.address:
                    self.came += 1
                    self.unfinished += not wire.is_sound(wire.whole(frame[14:]))
                    self.take(segment, frame)

    def take(self, segment, frame):
        behind = segment.seq + len(segment.payload) + bool(segment.flags & (SYN | FIN))
        if segment.flags & SYN:
            self.answer(segment, frame, Headers(FIRST, behind, SYN | ACK))
        elif segment.payload:
            self.answer(segment, frame, Headers(FIRST + 1, behind, ACK | PSH | FIN), ANSWER)
        elif segment.flags & FIN:
            self.answer(segment, frame, Headers(FIRST + 2 + len(ANSWER), behind))

    def answer(self, segment, frame, headers, payload=b""):
        for packet in wire.packets(segment.dst, segment.src, segment.dport, segment.sport, headers, payload):
            self.socket.send(frame[6:12] + frame[:6] + frame[12:14] + packet)

    def end(self):
        self.over.set()
        self.join()
        self.socket.close()


class Offload(HttpCase):
    RULES = """version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce, checksums: auto}
rules:
  - {id: all, mode: enforce, when: proto.l7 eq "http", key: [ip.src], per: request,
     limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]}
"""

    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.apply(self.RULES)
        inside = subprocess.run(run_within(self.hosts.inside, "cat", "/sys/class/net/eth0/address"), check=True,
                                capture_output=True, text=True).stdout.strip()
        ip("-n", self.hosts.outside, "neighbour", "add", TAKER, "lladdr", inside, "dev", "eth0")
        self.sources = itertools.cycle(self.add_sources(SOURCES))
        self.taker = Taker(self.hosts.inside)
        self.addCleanup(self.taker.end)

    def send_with(self, offload):
        ip("netns", "exec", self.hosts.outside, "ethtool", "-K", "eth0", "tx", offload)

    def answer(self):
        """To a connection with one request, of the kernel's TCP, from the next address."""
        with within(self.hosts.outside):
            client = socket.socket()
        with client:
            client.settimeout(30)
            client.bind((next(self.sources), 0))
            client.connect((TAKER, 80))
            client.sendall(request("/").encode())
            got = b""
            while more := client.recv(4096):
                got += more
        return got

    def trusted(self):
        return json.loads(self.box.api("GET", "/v1/health")[1])["checksums_trusted"]

    def pause(self):
        """Between two connections, so that they are not many."""
        self.taker.over.wait(0.3)

    def test_such_a_client_is_served_and_counted_until_the_box_says_that_it_is_trusted(self):
        self.send_with("off")
        self.assertEqual(self.answer(), ANSWER)
        self.assertEqual((self.taker.unfinished, self.trusted()), (0, []))
        self.send_with("on")
        self.assertEqual(self.answer(), ANSWER)
        if not self.taker.unfinished:
            self.skipTest("this kernel leaves no checksum to the adapter of a veth")
        asked = 2

        def is_trusted():
            nonlocal asked
            self.assertEqual(self.answer(), ANSWER)
            asked += 1
            self.pause()
            return TRUSTED in self.trusted()

        # Of a service that is new nothing is proof for as long as a SYN from before may be answered: 60 s.
        wait_until("the box to trust checksums of clients", is_trusted, SECONDS)
        self.counted("all", asked, 0)
        self.assertEqual(self.trusted(), [TRUSTED], "its server's come right")
        (shown,) = self.box.stats()["services"]
        self.assertEqual(shown["checksums"]["clients"], "trusting")
        self.assertEqual(self.reason("wrong_checksum"), 0)


if __name__ == "__main__":
    main()
