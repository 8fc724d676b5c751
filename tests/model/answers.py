"""What the box sends for a refused segment of TCP under `reset`, and when it sends nothing."""
import struct

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
MOST_LINK_BYTES, LEAST_FRAME, ETHERNET = 64, 60, 14
FORWARDS = ("pass", "tag", "shape")


def carry_out(action, packet, data):
    """-> (what becomes of a packet in the end, the frames that are made for it)"""
    if action != "reset":
        return action, []
    segment = segment_of(packet, data)
    if segment is None or segment.flags & RST or not has_route(packet, data):
        return "drop", []
    # Nothing in these captures proves a handshake: whoever has completed none gets a RST, and no
    # connection of its server's ends.
    return "reset", [segment.to_sender()]


def has_route(packet, data):
    """Both ends are one host each, and the link layer is one that can be mirrored."""
    at, _ = packet.ip_at
    hosts = (packet.fields["ip.src"], packet.fields["ip.dst"])
    return not (packet.labels or "outer.ip.src" in packet.fields or at > MOST_LINK_BYTES or
                data[0] & 1 or data[6] & 1 or any(is_group(host) for host in hosts))


def is_group(host):
    if host.version == 6:
        return host.packed[0] == 0xFF or int(host) <= 1
    return host.packed[0] in (0, 127) or host.packed[0] >> 4 == 0xE or int(host) == 0xFFFFFFFF


def segment_of(packet, data):
    """None: it is no TCP, or its header is not all there."""
    at = packet.l4_at
    if "tcp.flags" not in packet.fields or at + (data[at + 12] >> 4) * 4 > len(data):
        return None
    return Segment(packet, data)


class Segment:
    def __init__(self, packet, data):
        self.packet, self.data = packet, data
        at = packet.l4_at
        self.sport, self.dport, self.seq, self.ack = struct.unpack_from("!HHII", data, at)
        self.flags = packet.fields["tcp.flags"]
        size = packet.fields["payload.len"]
        self.end = self.seq + size + bool(self.flags & SYN) + bool(self.flags & FIN)
        self.stamps = stamps_of(data[at + 20:at + (data[at + 12] >> 4) * 4])

    def to_sender(self):
        seq = self.ack if self.flags & ACK else 0
        stamps = self.stamps and self.stamps[::-1]
        return self.frame(True, seq, self.end, RST | ACK, stamps)

    def frame(self, back, seq, ack, flags, stamps):
        source, target = self.packet.fields["ip.src"], self.packet.fields["ip.dst"]
        ports = (self.sport, self.dport)
        if back:
            source, target, ports = target, source, ports[::-1]
        options = struct.pack("!BBBBII", 1, 1, 8, 10, *stamps) if stamps else b""
        ack = ack & 0xFFFFFFFF if flags & ACK else 0
        tcp = struct.pack("!HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack,
                          5 + len(options) // 4 << 4, flags, 0, 0, 0) + options
        pseudo = source.packed + target.packed + struct.pack("!II", len(tcp), 6)
        tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
        made = self.link(back, len(tcp)) + ip_header(source, target, len(tcp)) + tcp
        return made.ljust(LEAST_FRAME, b"\0")

    def link(self, back, size):
        at, version = self.packet.ip_at
        link = bytearray(self.data[:at])
        if back:
            link[:12] = link[6:12] + link[:6]
        if self.packet.pppoe_at:
            begin = self.packet.pppoe_at
            length = at - begin - 6 + (20 if version == 4 else 40) + size
            struct.pack_into("!H", link, begin + 4, length)
        return bytes(link)


def stamps_of(options):
    """(value, echo) of the last timestamps before what is not sound, or None."""
    found = None
    while options and options[0]:
        if options[0] == 1:
            options = options[1:]
            continue
        if len(options) < 2 or options[1] < 2:
            break
        value, size = options[2:options[1]], options[1]
        if options[0] == 8 and len(value) == 8 and len(options) >= size:
            found = struct.unpack("!II", value)
        options = options[size:]
    return found


def ip_header(source, target, size):
    if source.version == 6:
        return struct.pack("!IHBB", 6 << 28, size, 6, 64) + source.packed + target.packed
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + size, 0, 0x4000, 64, 6, 0) + source.packed + target.packed
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:]


def checksum(data):
    """RFC 1071."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
