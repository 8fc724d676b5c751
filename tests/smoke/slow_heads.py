"""Heads of requests that begin and are not gone on with, of many connections, and what of them comes through."""
import ipaddress
import json
import socket
import struct
import subprocess

from capture_files import checksum
from http_case import ACK, PSH, segment
from http_hosts import within

PORT = 8081
BEGIN = "GET /slow HTTP/1.1\r\nX: "
REST = "y\r\n\r\n"
FIRST_SOURCE = int(ipaddress.IPv4Address("10.80.0.1"))
FIRST_PORT = 1024
_FILTER = f"""table ip slow {{
    counter began {{}}
    counter completed {{}}
    chain arrived {{
        type filter hook prerouting priority -300;
        tcp dport {PORT} tcp flags & psh == 0 counter name began drop
        tcp dport {PORT} tcp flags & psh == psh counter name completed drop
    }}
}}"""


class _Frames:
    """One segment of every connection: what tells them apart is written into one frame."""
    IP, SOURCE, SPORT = 14, 26, 34

    def __init__(self, address, payload, seq, flags):
        # Whatever the host's address of Ethernet is.
        self.frame = bytearray(b"\xff" * 6 + segment(payload, seq, "0.0.0.0", address, 0, PORT, flags)[6:])
        self.sum = 0xFFFF & ~struct.unpack_from("!H", self.frame, self.IP + 10)[0]

    def of(self, source, sport):
        struct.pack_into("!I", self.frame, self.SOURCE, source)
        struct.pack_into("!H", self.frame, self.SPORT, sport)
        total = self.sum + (source >> 16) + (source & 0xFFFF)
        total = (total & 0xFFFF) + (total >> 16)
        total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into("!H", self.frame, self.IP + 10, ~total & 0xFFFF)
        return self.frame


class SlowHeads:
    """Connection `number` is that of a source of so many; nobody answers any of them."""

    def __init__(self, hosts, address, sources):
        self.hosts, self.sources = hosts, sources
        self._begin = _Frames(address, BEGIN, 1, ACK)
        self._rest = _Frames(address, REST, 1 + len(BEGIN), ACK | PSH)
        header = bytes(self._begin.of(FIRST_SOURCE, FIRST_PORT)[14:34])
        assert checksum(header) == 0
        self._nft("-f", "-", input=_FILTER)
        with within(hosts.outside):
            self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.wire.bind(("eth0", 0))

    def close(self):
        self.wire.close()

    def begin(self, numbers):
        self._send(self._begin, numbers)

    def go_on(self, numbers):
        self._send(self._rest, numbers)

    def _send(self, frames, numbers):
        for number in numbers:
            self.wire.send(frames.of(FIRST_SOURCE + number % self.sources, FIRST_PORT + number // self.sources))

    def _nft(self, *words, **how):
        return subprocess.run(["ip", "netns", "exec", self.hosts.inside, "nft", *words], check=True,
                              capture_output=True, text=True, timeout=60, **how).stdout

    def arrived(self):
        """How many heads began at the inside host, and how many were completed."""
        listing = json.loads(self._nft("-j", "list", "counters"))["nftables"]
        counts = {entry["counter"]["name"]: entry["counter"]["packets"] for entry in listing if "counter" in entry}
        return counts["began"], counts["completed"]
