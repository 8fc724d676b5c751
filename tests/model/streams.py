"""The bytes of TCP connections in their order: each direction for itself, from the client's SYN on."""
from vlans import vlans_of

SEQUENCES = 1 << 32
SYN, ACK = 0x02, 0x10
ENDS = ("ip.src", "ip.dst", "l4.sport", "l4.dport", "dir", "port")


class Beyond(Exception):
    """Bytes that no reader here knows: the generator makes none, but what is left of its captures may have some."""


class Streams:
    """Whoever goes on from here says in `read()` what a packet completes, and what is known behind it; `FRESH`
    is known of a connection that begins. What comes again or too early is not read, nor a connection whose SYN has not
    been seen, nor anything behind the first doubt: UNREAD is known then."""

    FRESH, UNREAD = None, "unread"

    def __init__(self):
        self.known = {}

    def see(self, packet):
        payload = packet.fields.get("payload")
        if packet.sequence is None:
            return
        ends = ends_of(packet.fields)
        if begins(packet):
            self.known.setdefault(ends, (packet.sequence, self.FRESH))
        at, before = self.known.get(ends, (None, self.UNREAD))
        if payload and at == packet.sequence and before != self.UNREAD:
            self.known[ends] = (at + len(payload)) % SEQUENCES, self.read(packet, payload, before)


def ends_of(fields):
    """Of a packet in one direction."""
    return vlans_of(fields), *(fields.get(name) for name in ENDS)


def begins(packet):
    """Whether its sender opens a connection."""
    flags = packet.fields.get("tcp.flags", 0)
    return bool(flags & SYN) and not flags & ACK
