"""TCP segments as they are meant, also wrong ones, to frames, and back."""
import dataclasses
import socket
import struct
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "smoke"))
from capture_files import checksum  # noqa: E402

FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
WRONG = 0x5555  # added to a checksum that is to be wrong
MASK = 0xFFFFFFFF
IPV6_BYTES, FRAGMENT = 16, 44


@dataclasses.dataclass(frozen=True)
class Headers:
    """What is told of one segment besides its ends; `cuts`: where IP fragments it, in bytes of the TCP segment."""
    seq: int
    ack: int = 0
    flags: int = ACK
    window: int = 0xFFFF
    urgent: int = 0
    ttl: int = 64
    wrong_tcp: bool = False
    unfinished: bool = False  # the sum of the pseudo-header alone, as a sender leaves it to its adapter
    wrong_ip: bool = False
    cuts: tuple = ()
    options: bytes = b""
    ip_options: bytes = b""
    extensions: tuple = ()  # of IPv6: (kind, what stands behind its first two bytes)


def tcp(src, dst, sport, dport, headers, payload=b""):
    """A TCP segment over IPv4 between packed addresses, its checksum right unless it is to be wrong."""
    options = headers.options + b"\1" * (-len(headers.options) % 4)
    words = 5 + len(options) // 4
    head = struct.pack("!HHIIBBHHH", sport, dport, headers.seq & MASK, headers.ack & MASK, words << 4, headers.flags,
                       headers.window, 0, headers.urgent) + options
    ends = pseudo(src, dst, 6, len(head) + len(payload))
    value = checksum(ends) ^ 0xFFFF if headers.unfinished else checksum(ends + head + payload)
    value ^= WRONG if headers.wrong_tcp else 0
    return head[:16] + struct.pack("!H", value) + head[18:] + payload


def pseudo(src, dst, proto, size):
    return src + dst + (struct.pack("!IxxxB", size, proto) if len(src) == IPV6_BYTES else struct.pack("!BBH", 0, proto, size))


def udp(src, dst, sport, dport, payload, wrong=False):
    size = 8 + len(payload)
    head = struct.pack("!HHHH", sport, dport, size, 0)
    value = checksum(pseudo(src, dst, 17, size) + head + payload) or 0xFFFF
    return head[:6] + struct.pack("!H", value ^ (WRONG if wrong else 0)) + payload


def ip_packet(src, dst, body, headers, number, fragment=0, proto=6):
    options = headers.ip_options + bytes(-len(headers.ip_options) % 4)
    size = 20 + len(options)
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | size // 4, 0, size + len(body), number, fragment, headers.ttl, proto, 0, src, dst)
    head += options
    value = checksum(head) ^ (WRONG if headers.wrong_ip else 0)
    return head[:10] + struct.pack("!H", value) + head[12:] + body


def packets(src, dst, sport, dport, headers, payload=b"", number=0):
    """The IP packets of a segment: one, or its fragments."""
    return ip_packets(src, dst, tcp(src, dst, sport, dport, headers, payload), headers, number, 6)


def ipv6_packets(src, dst, body, headers, number, proto):
    """The packets of a body behind extension headers, or its fragments; `cuts` of 0 alone: one fragment that is all of it."""
    edges = [0, *(cut // 8 * 8 for cut in headers.cuts if 0 < cut // 8 * 8 < len(body)), len(body)]
    out = []
    for begin, end in zip(edges, edges[1:]):
        kinds, content, rest = [kind for kind, _ in headers.extensions], body[begin:end], b""
        if headers.cuts:
            kinds.append(FRAGMENT)
        for at, (_, text) in enumerate(headers.extensions):
            text += bytes(-(len(text) + 2) % 8)
            rest += bytes([(*kinds, proto)[at + 1], (len(text) + 2) // 8 - 1]) + text
        if headers.cuts:
            rest += struct.pack("!BBHI", proto, 0, begin | (end < len(body)), number)
        first = (*kinds, proto)[0]
        out.append(struct.pack("!IHBB", 6 << 28, len(rest + content), first, headers.ttl) + src + dst + rest + content)
    return out


def ip_packets(src, dst, body, headers, number, proto):
    if len(src) == IPV6_BYTES:
        return ipv6_packets(src, dst, body, headers, number, proto)
    if not headers.cuts:
        return [ip_packet(src, dst, body, headers, number, 0x4000, proto)]
    edges = [0, *(cut // 8 * 8 for cut in headers.cuts if cut // 8 * 8 < len(body)), len(body)]
    return [ip_packet(src, dst, body[begin:end], headers, number, begin // 8 | (0x2000 if end < len(body) else 0), proto)
            for begin, end in zip(edges, edges[1:]) if begin < end]


def datagrams(src, dst, sport, dport, headers, payload, number=0):
    """The IP packets of a datagram; of `headers` those of IP, and whether its checksum is to be wrong."""
    body = udp(src, dst, sport, dport, payload, headers.wrong_tcp)
    return ip_packets(src, dst, body, headers, number, 17)


def read_udp(packet):
    """(source, destination, destination port, payload) of a UDP datagram out of an IPv4 packet; None for all else."""
    if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] != 17 or struct.unpack_from("!H", packet, 6)[0] & 0x3FFF:
        return None
    size = (packet[0] & 15) * 4
    _, port, length = struct.unpack_from("!HHH", packet, size)
    return packet[12:16], packet[16:20], port, packet[size + 8:size + length]


@dataclasses.dataclass(frozen=True)
class Received:
    src: bytes
    dst: bytes
    sport: int
    dport: int
    seq: int
    ack: int
    flags: int
    payload: bytes
    ttl: int = 64
    window: int = 0
    urgent: int = 0
    options: bytes = b""


def read(packet):
    """A TCP segment out of an IP packet that is no fragment; None for all else."""
    if len(packet) >= 60 and packet[0] >> 4 == 6 and packet[6] == 6:
        return segment_of(packet, packet[8:24], packet[24:40], 40, 40 + struct.unpack_from("!H", packet, 4)[0])
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != 6:
        return None
    size, (total, fragment) = (packet[0] & 15) * 4, struct.unpack_from("!H2xH", packet, 2)
    if fragment & 0x3FFF or total > len(packet) or total < size + 20:
        return None
    return segment_of(packet, packet[12:16], packet[16:20], size, total)


def segment_of(packet, src, dst, size, total):
    sport, dport, seq, ack, words, flags, window, _, urgent = struct.unpack_from("!HHIIBBHHH", packet, size)
    payload = packet[size + (words >> 4) * 4:total]
    ttl = packet[7 if packet[0] >> 4 == 6 else 8]
    return Received(src, dst, sport, dport, seq, ack, flags, payload, ttl, window, urgent,
                    packet[size + 20:size + (words >> 4) * 4])


def is_sound(packet):
    """Both checksums of an IPv4 packet that is no fragment are right."""
    size = (packet[0] & 15) * 4
    body = packet[size:struct.unpack_from("!H", packet, 2)[0]]
    return checksum(packet[:size]) == 0 and checksum(pseudo(packet[12:16], packet[16:20], packet[9], len(body)) + body) == 0


def whole(packet):
    """Without the padding of a short frame."""
    return packet[:struct.unpack_from("!H", packet, 2)[0]]


def packed(address):
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
