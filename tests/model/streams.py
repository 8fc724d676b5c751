"""The bytes of TCP connections in their order: each direction for itself."""
SEQUENCES = 1 << 32
ENDS = ("ip.src", "ip.dst", "l4.sport", "l4.dport", "vlan.id", "dir", "port")


class Beyond(Exception):
    """Bytes that no reader here knows: the generator makes none, but what is left of its captures may have some."""


class Streams:
    """Whoever goes on from here says in `read()` what a packet completes, and what is known behind it; `FRESH`
    is known of a connection that begins. What comes again or too early is not read."""

    FRESH = None

    def __init__(self):
        self.known = {}

    def see(self, packet):
        payload = packet.fields.get("payload")
        if packet.sequence is None or not payload:
            return
        ends = tuple(packet.fields.get(name) for name in ENDS)
        at, before = self.known.get(ends, (packet.sequence, self.FRESH))
        if at == packet.sequence:
            self.known[ends] = (at + len(payload)) % SEQUENCES, self.read(packet, payload, before)
