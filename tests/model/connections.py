"""Captures of connections: their segments in order, those of several connections among each other."""
import ipaddress
import struct

from frames import SOURCES6

GAPS = [0, 0, 0, 1, 1_000, 1_000_000, 33_333_333, 142_857_142]
ROUND_TRIP, ANSWER = 1_000_000, None  # what stands where a client waits for one
SYN, PUSH = 0x002, 0x018
TCP, UDP = 6, 17


class Connections:
    """Whoever goes on from here says what `connection()` sends: frames and answers in order; and its `PORTS`."""

    PORTS = (80, 80, 8080, 7)

    def __init__(self, dice):
        self.dice, self.time, self.port = dice, 1_700_000_000_000_000_000, 1024

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def frames(self, count):
        """[(time in ns, bytes, size on the wire)]"""
        frames = []
        while len(frames) < count:
            waiting = [self.tagged(self.connection()) for _ in range(self.dice.choice((1, 2, 5)))]
            while waiting:
                one = self.dice.choice(waiting)
                frame = one.pop(0)
                if frame is ANSWER:
                    self.time += ROUND_TRIP
                else:
                    frames.append((self.time, frame, len(frame)))
                waiting = [rest for rest in waiting if rest]
                self.time += self.dice.choice(GAPS)
        return frames[:count]

    def tagged(self, frames):
        """The frames of a connection, as its VLANs have them."""
        return frames

    def ends(self):
        self.port = self.port % 65_535 + 1
        dport = self.dice.choice(self.PORTS)
        if self.chance(30):
            return self.dice.choice(SOURCES6[:3]), SOURCES6[0], self.port, dport
        return f"10.0.0.{self.dice.randint(1, 4)}", "192.0.2.1", self.port, dport

    def segments(self, parts, ends=None):
        """Of a connection on which these bytes are sent, mostly with its SYN."""
        ends, at = ends or self.ends(), self.dice.choice((1, 77, 0xFFFFFFF0, 0x7FFFFFFF))
        frames = []
        if self.chance(70):
            frames.append(segment(ends, at, SYN, b""))
            at += 1
        for part in parts:
            frames.append(segment(ends, at, PUSH, part))
            at += len(part)
        return frames

    def cut(self, message, most=2):
        """A message in pieces of which none is empty."""
        count = min(self.dice.choice((0, 0, 0, *range(1, most + 1))), len(message) - 1)
        cuts = sorted(self.dice.sample(range(1, len(message)), count))
        return [message[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(message)])]


class Served:
    """The same where servers are inside, and no client is."""

    SERVERS = ["192.0.2.1/32", "2001:db8:9::/48"]

    def ends(self):
        self.port = self.port % 65_535 + 1
        dport = self.dice.choice(self.PORTS)
        if self.chance(30):
            return f"2001:db8::{self.dice.randint(1, 4)}", "2001:db8:9::1", self.port, dport
        return f"10.0.0.{self.dice.randint(1, 4)}", "192.0.2.1", self.port, dport


def with_tags(frame, tags):
    return frame[:12] + b"".join(struct.pack("!HH", 0x8100, tag) for tag in tags) + frame[12:]


def back(ends):
    """Those of an answer."""
    return ends[1], ends[0], ends[3], ends[2]


def segment(ends, at, flags, data, acknowledged=1, window=9):
    source, destination, sport, dport = ends
    head = struct.pack("!HHIIHHHH", sport, dport, at & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF, 0x5000 | flags, window, 0, 0)
    return packet(source, destination, TCP, head + data)


def datagram(ends, data):
    source, destination, sport, dport = ends
    return packet(source, destination, UDP, struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data)


def packet(source, destination, proto, payload):
    source, destination = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    kind, head = 0x0800, struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, proto, 0)
    if source.version == 6:
        kind, head = 0x86DD, struct.pack("!IHBB", 6 << 28, len(payload), proto, 64)
    addresses = source.packed + destination.packed
    return b"\x02\0\0\0\0\1\x02\0\0\0\0\xfe" + struct.pack("!H", kind) + head + addresses + payload
