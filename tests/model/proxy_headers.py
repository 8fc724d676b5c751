"""Headers of the PROXY protocol before a stream, as its text has them: sections 2.1 and 2.2."""
import ipaddress
import re
import struct

LONGEST_LINE = 107
LONGEST = 4096
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LINE = re.compile(rb"PROXY (TCP4|TCP6) ([0-9A-Fa-f.:]+) ([0-9A-Fa-f.:]+) (\d{1,5}) (\d{1,5})")
SIZES = {0x00: 0, 0x11: 12, 0x12: 12, 0x21: 36, 0x22: 36, 0x31: 216, 0x32: 216}
MORE, NONE, OWN = "more", "none", "own"


def inside(address):
    """A mapped address is the IPv4 one inside."""
    return getattr(address, "ipv4_mapped", None) or address


def read(octets):
    """-> MORE; NONE: no header is there, nor will be; OWN: it names nobody; or an address."""
    if SIGNATURE.startswith(octets[:12]):
        return read_binary(octets)
    if not (b"PROXY ".startswith(octets[:6])):
        return NONE
    end = octets[:LONGEST_LINE].find(b"\n")
    if end < 0:
        return MORE if len(octets) < LONGEST_LINE else NONE
    line = octets[:end]
    if line[-1:] != b"\r":
        return NONE
    if line[:-1].split(b" ")[1] == b"UNKNOWN":
        return OWN
    found = LINE.fullmatch(line[:-1])
    try:
        ends = [ipaddress.ip_address(text.decode()) for text in found.groups()[1:3]] if found else []
    except ValueError:
        return NONE
    ports = [int(text) for text in found.groups()[3:]] if found else []
    right = found and all(one.version == int(found[1][3:]) for one in ends) and max(ports) < 65_536
    return inside(ends[0]) if right else NONE


def read_binary(octets):
    if len(octets) < 16:
        return MORE
    command, family, size = struct.unpack_from("!BBH", octets, 12)
    if command not in (0x20, 0x21) or family not in SIZES or command == 0x21 and size < SIZES[family] or 16 + size > LONGEST:
        return NONE
    if len(octets) < 16 + size:
        return MORE
    width = {1: 4, 2: 16}.get(family >> 4)
    return OWN if command == 0x20 or width is None else inside(ipaddress.ip_address(octets[16:16 + width]))


class Headers:
    """By connection what has come of its first bytes, of which the first to come stand, and whom they name."""

    def __init__(self):
        self.bytes, self.named = {}, {}

    def take(self, connection, offset, octets, own):
        if connection in self.named or offset > LONGEST:
            return
        there = self.bytes.setdefault(connection, {})
        for at, octet in enumerate(octets, offset):
            there.setdefault(at, octet)
        begun = bytearray()
        while len(begun) in there:
            begun.append(there[len(begun)])
        found = read(bytes(begun)) if begun else MORE
        if found != MORE:
            self.named[connection] = {NONE: None, OWN: own}.get(found, found)

    def client(self, connection):
        return self.named.get(connection)
