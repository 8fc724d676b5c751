"""Frames at random, sound and broken: the generator's own maker, from a seeded dice."""
import ipaddress
import struct

SOURCES4 = ["192.0.2.1", "192.0.2.77", "192.0.3.5", "10.1.2.3", "10.1.2.4", "198.51.100.9",
            "0.0.0.0", "255.255.255.255"]
SOURCES6 = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::9", "fe80::1:0:0:1", "::ffff:192.0.2.1",
            "64:ff9b::192.0.2.1", "64:ff9b::10.1.2.99",
            "::", "2001:db8:1:1:1:1:1:1"]
PORTS = [0, 53, 80, 443, 123, 4789, 65535]
MACS = ["02:00:00:00:00:01", "02:00:00:00:00:fe", "ff:ff:ff:ff:ff:ff"]
VLANS = [0, 5, 100, 4095]
TPIDS = [0x8100, 0x88A8, 0x9100, 0x9200]
DSCPS = [0, 10, 46, 63]
TEXTS = [b"GET /", b"get /", b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", b"a|b\\\xff", b"A" * 300,
         b"a" * 300, b"abc\n", b"xyzabc", b"\x16\x03\x01\x02", b"aAaA", b"\"}\" a"]
LABELS = [[b"example", b"com"], [b"EXAMPLE", b"Com"], [b"www", b"example", b"com"], [], [b"evil"],
          [b"a.\\", b"b"], [b"\xff\0 "], [b"x" * 63] * 3 + [b"y" * 61], [b"x" * 63] * 3 + [b"y" * 62]]
DNS_ANSWER = b"\xc0\x0c\0\x01\0\x01\0\0\0\x01\0\x04\x01\x02\x03\x04"
RARE_PAYLOADS = [
    (0x0806, b"\0\x01\x08\0\x06\x04\0\x01" + bytes(20)),  # ARP
    (0x0027, bytes(39)), (0x05FF, bytes(40)),  # 802.3
    (0x0600, bytes(40)), (0x88CC, bytes(30)), (0x8863, bytes(20)),
    (0x86DD, b""), (0x0800, b"\x45"),
]


class FrameMaker:
    def __init__(self, dice, tunnels=False):
        self.dice, self.tunnels = dice, tunnels

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def any_frame(self):
        """(bytes at hand, size on the wire)"""
        frame = self.ethernet()
        if self.chance(25) and len(frame) < 60:
            frame += b"\0" * (self.dice.choice((60, 60, 60, 61, 62)) - len(frame))
        if self.chance(6):
            frame += bytes(self.dice.randrange(1, 40))
        if self.chance(8):
            frame = self.spoil(frame)
        if self.chance(6):
            frame = frame[:self.dice.randrange(len(frame) + 1)]
        wire = len(frame)
        if self.chance(8):
            frame = frame[:self.dice.choice((self.dice.randrange(80), 14, 34, 42, 54))]
        return frame, wire

    def sound_frame(self, number, sport=None):
        """One of a flood: a plain packet from the source of that number."""
        data = self.dice.choice((b"", b"x" * 18, *TEXTS[:2]))
        sport, dport = sport or 1024 + number % 7, self.dice.choice(PORTS[1:5])
        if number % 3:
            kind, payload = 17, struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data
        else:
            data = b"" if dport == 53 else b"x" * len(data)
            kind, payload = 6, struct.pack("!HHIIHHHH", sport, dport, 1, 2, 0x5002, 9, 0, 0) + data
        if number % 4 == 3:
            source = ipaddress.IPv6Address(f"2001:db8:{number % 5:x}:{number % 11:x}::{number:x}")
            head = struct.pack("!IHBB", 6 << 28, len(payload), kind, 64) + source.packed
            frame = head + ipaddress.IPv6Address(SOURCES6[0]).packed + payload
            ether_type = 0x86DD
        else:
            source = ipaddress.IPv4Address(0xC6120000 + number)
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, kind, 0)
            frame = head + source.packed + ipaddress.IPv4Address(SOURCES4[0]).packed + payload
            ether_type = 0x0800
        frame = b"\x02\0\0\0\0\1\x02\0\0\0\0\xfe" + struct.pack("!H", ether_type) + frame
        return frame, len(frame)

    def spoil(self, frame):
        """One byte of the first hundred, where the headers are, made something else."""
        at = self.dice.randrange(12, min(len(frame), 100))
        return frame[:at] + bytes([self.dice.randrange(256)]) + frame[at + 1:]

    # The link layer.

    def ethernet(self, depth=0):
        kind, payload = self.network(depth)
        if self.chance(4):
            kind, payload = self.dice.choice(RARE_PAYLOADS)
        if self.chance(8):
            kind, payload = self.mpls(payload)
        if self.chance(5):
            kind, payload = self.pppoe(kind, payload)
        if self.chance(4):
            kind, payload = self.metadata(kind, payload)
        for _ in range(self.dice.choice((0, 0, 0, 0, 0, 1, 1, 2, 3))):
            tag = self.dice.randrange(8) << 13 | self.dice.choice(VLANS)
            payload = struct.pack("!HH", tag, kind) + payload
            kind = self.dice.choice(TPIDS)
        if self.chance(2):
            kind, payload = self.metadata(kind, payload)
        ends = b"".join(bytes.fromhex(self.dice.choice(MACS).replace(":", "")) for _ in "ds")
        return ends + struct.pack("!H", kind) + payload

    def metadata(self, kind, payload):
        """Of Cisco: a version, a size in units of eight bytes, options and the type of what follows."""
        units = self.dice.choice((1, 1, 1, 1, 2, 3))
        said = self.dice.choice((0, 4, 255)) if self.chance(8) else units
        return 0x8909, bytes([1, said, 0, 1, 0, 7]) + bytes(8 * units - 8) + struct.pack("!H", kind) + payload

    def mpls(self, payload):
        labels = self.dice.choice((1, 1, 2, 5))
        stack = b"".join(struct.pack("!I", self.dice.randrange(1 << 20) << 12 | 64 |
                                     (0x100 if last == labels - 1 else 0))
                         for last in range(labels))
        return self.dice.choice((0x8847, 0x8848)), stack + payload

    def pppoe(self, kind, payload):
        protocol = {0x0800: 0x0021, 0x86DD: 0x0057, 0x8847: 0x0281}.get(kind, 0xC021)
        field = struct.pack("!H", protocol)
        if protocol < 0x100 and self.chance(30):
            field = field[1:]  # RFC 1661, 6.5
        return 0x8864, struct.pack("!BBHH", 0x11, 0, 7, len(payload) + len(field)) + field + payload

    # IP.

    def network(self, depth):
        return (0x86DD, self.ipv6(depth)) if self.chance(30) else (0x0800, self.ipv4(depth))

    def ipv4(self, depth=0):
        kind, payload = self.transport(4, depth)
        options = bytes([1]) * (4 * self.dice.choice((0, 0, 0, 0, 1, 10)))
        fragment = self.dice.choice((0, 0, 0, 0, 0x4000, 0, 0, 0x2000, 185, 0x2000 | 185))
        length = 20 + len(options) + len(payload)
        if self.chance(6):
            length = self.dice.choice((0, length + 1, length - 1, 65535, 19, 20, 24, length + 400))
        if fragment == 0x2000 and self.chance(20):  # ends in the header of what it carries
            length = 20 + len(options) + 8 * self.dice.choice((1, 2, 3, 4, 5))
        source, destination = (ipaddress.IPv4Address(self.dice.choice(SOURCES4)).packed
                               for _ in "sd")
        return struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, self.dice.choice(DSCPS) << 2,
                           length & 0xFFFF, 1, fragment, self.dice.choice((1, 64, 255)), kind,
                           0) + source + destination + options + payload

    def ipv6(self, depth=0):
        kind, payload = self.transport(6, depth)
        for _ in range(self.dice.choice((0, 0, 0, 0, 0, 0, 1, 1, 2, 4))):
            kind, payload = self.extension(kind, payload)
        if self.chance(2):
            for _ in range(self.dice.choice((14, 15, 16, 17))):
                kind, payload = 60, bytes([kind, 0, 1, 4, 0, 0, 0, 0]) + payload
        length = len(payload)
        if self.chance(6):
            length = self.dice.choice((0, length + 1, max(length - 1, 0), 65535, 1, 8))
        source, destination = (ipaddress.IPv6Address(self.dice.choice(SOURCES6)).packed
                               for _ in "sd")
        return struct.pack("!IHBB", 6 << 28 | self.dice.choice(DSCPS) << 22 | 0x12345, length, kind,
                           self.dice.choice((1, 64, 255))) + source + destination + payload

    def extension(self, kind, payload):
        which = self.dice.choice((0, 43, 44, 44, 44, 51, 60, 135, 139, 140))
        if which == 44:
            offset = self.dice.choice((0, 1, 1, 185 << 3, 185 << 3 | 1))
            return 44, struct.pack("!BBHI", kind, 0, offset, 99) + payload
        if which == 51:
            return 51, bytes([kind, 4]) + bytes(22) + payload
        size = self.dice.choice((0, 0, 1, 2))
        said = 200 if self.chance(3) else size
        return which, bytes([kind, said]) + bytes(6 + 8 * size) + payload

    # What IP carries.

    def transport(self, version, depth):
        """(protocol, bytes)"""
        if self.tunnels and depth < 5 and self.chance(55 if depth else 25):
            return self.tunnel(depth + 1)
        # As a message of DNS these would be a name without an end, whichever byte is spoiled.
        data = b"\1" * self.dice.choice((0, 1, 6, 18, 40, 200, 900))
        if self.chance(30):
            data = self.dice.choice(TEXTS)
        makers = [self.dns] * 6 + [self.udp] * 5 + [self.tcp] * 4 + [self.icmp] * 2 + [self.ports, self.other]
        return self.dice.choice(makers)(version, data)

    def udp(self, _, data, dport=None):
        length = 8 + len(data)
        if self.chance(6):
            length = self.dice.choice((0, 7, 8, length + 1, max(length - 1, 8)))
        return 17, struct.pack("!HHHH", self.dice.choice(PORTS), dport or self.dice.choice(PORTS),
                               length, 0) + data

    def dns(self, version, _):
        """A message with one question, mostly sound, to port 53 or to none of DNS."""
        labels = self.dice.choice(LABELS)
        name = b"".join(bytes([len(label)]) + label for label in labels)
        end = self.dice.choice((b"\0", b"\0", b"\0", b"\0", b"\xc0\x06", b"\xc0\x0c", b"\x40", b""))
        flags = self.dice.choice((0x0100, 0x0100, 0x0100, 0, 0x8180, 0x8183, 0x2800, 0x1800, 0x0140))
        questions = self.dice.choice((1, 1, 1, 1, 1, 0, 2))
        answers, rest = self.dice.choice(((0, b""), (0, b""), (0, b"\xff"), (1, DNS_ANSWER)))
        if questions == 2 or flags < 0x8000:  # no second one that is sound
            answers, rest = 0, rest[:1] and b"\xff"
        kind, network = self.dice.choice((0, 1, 28, 255, 65535)), self.dice.choice((1, 1, 1, 2, 255))
        message = struct.pack("!HHHHHH", 7, flags, questions, answers, 0, 0) + name + end
        message += struct.pack("!HH", kind, network) + rest
        return self.udp(version, message, self.dice.choice((53, 53, 53, 53, 5353, 80, 4000)))

    def tcp(self, _, data):
        """Without what is read as the beginning of a request or of a message of DNS."""
        data = b"\1" * len(data)
        words = self.dice.choice((5, 5, 5, 8, 15))
        flags = self.dice.choice((0x002, 0x012, 0x010, 0x018, 0x004, 0x011, 0x0C2, 0x100, 0x029))
        said = self.dice.choice((4, 6, 15)) if self.chance(4) else words
        ports = self.dice.choice(PORTS), self.dice.choice(PORTS)
        data = b"" if 53 in ports else data
        return 6, struct.pack("!HHIIHHHH", *ports, 1, 2,
                              said << 12 | flags, 1000, 0, 0) + bytes(words * 4 - 20) + data

    def icmp(self, version, data):
        kinds = (0, 3, 8) if version == 4 else (128, 129, 135)
        kind = self.dice.choice((1, 58)) if self.chance(5) else 1 if version == 4 else 58
        return kind, struct.pack("!BBHI", self.dice.choice(kinds), self.dice.choice((0, 1)), 0,
                                 7) + data

    def ports(self, _, data):
        kind = self.dice.choice((33, 132, 136))
        ports = struct.pack("!HH", self.dice.choice(PORTS), self.dice.choice(PORTS))
        return kind, (ports + data)[:self.dice.choice((3, 4, 100, 100))]

    def other(self, _, data):
        return self.dice.choice((2, 4, 41, 47, 50, 59, 89, 255)), data

    # Tunnels.

    def tunnel(self, depth):
        way = self.dice.choice(("gre", "vxlan", "ipip", "geneve", "gtpu"))
        if way == "vxlan":
            flags = 0 if self.chance(5) else 0x08
            return self.udp(0, bytes([flags]) + bytes(7) + self.ethernet(depth), self.dice.choice((4789, 4789, 8472)))
        kind, inner = self.network(depth)
        if way == "geneve":
            return self.geneve(kind, inner, depth)
        if way == "gtpu":
            return self.gtpu(inner)
        if way == "ipip":
            return (4 if kind == 0x0800 else 41), inner
        if self.chance(30):
            kind, inner = 0x6558, self.ethernet(depth)
        bits = self.dice.choice((0, 0, 0x2000, 0x8000, 0xB000, 0x1000, 0x3001, 0x4000))
        if self.chance(8):
            kind, inner = 0x883E, self.dice.choice((b"", bytes(4), bytes(3), b"\x80\1\2\3")) + inner
        words = bool(bits & 0x8000) + bool(bits & 0x2000) + bool(bits & 0x1000)
        return 47, struct.pack("!HH", bits, kind) + bytes(4 * words) + inner

    def geneve(self, kind, inner, depth):
        if self.chance(50):
            kind, inner = 0x6558, self.ethernet(depth)
        words = self.dice.choice((0, 0, 1, 3, 63))
        first = words | (0x40 if self.chance(4) else 0)
        said = self.dice.choice((0x0000, 0x8847)) if self.chance(4) else kind
        head = struct.pack("!BBHI", first, self.dice.choice((0, 0x40, 0x80)), said, 0x700)
        return self.udp(0, head + bytes(4 * words) + inner, self.dice.choice((6081, 6081, 6081, 123)))

    def gtpu(self, inner):
        """A G-PDU, or now and then another message; extension headers of four bytes and of eight."""
        flags = self.dice.choice((0, 0, 2, 1, 4, 7, 4))
        sizes = [self.dice.choice((1, 1, 2)) for _ in range(self.dice.choice((0, 1, 1, 2, 15, 16, 17)))] if flags & 4 else []
        body = b"" if not flags else bytes([0, 9, 0, 0x85 if sizes else 0])
        for number, size in enumerate(sizes):
            said = 0 if self.chance(3) else size
            body += bytes([said]) + bytes(4 * size - 2) + bytes([0x85 if number + 1 < len(sizes) else 0])
        first = self.dice.choice((0x10, 0x50)) if self.chance(5) else 0x30
        message = self.dice.choice((1, 26, 254)) if self.chance(5) else 255
        payload = body + inner
        return self.udp(0, struct.pack("!BBHI", first | flags, message, len(payload), 7) + payload, 2152)
