"""ClientHellos at random, over TCP: in one record or several, in one segment or several; and what rules can name."""
import struct

from connections import Connections
from hello import Hello
from unit_rules import Words

NAMES = [b"a.example", b"A.Example", b"b.example.", b"www.C.example", b"10.0.0.1", b"x" * 60 + b".example",
         b"2001:DB8:0::1", b"::1", b"xn--b.example", b"shop.closed.example", b"_x.example", b"b-443.example"]
NO_NAMES = [b"a\0b", b"a b", b"a.example ", b"a.xn--b-.example", b"Xn--", b"b.example:443", b"n\xc3\xbc.example", b"db::1", b"x" * 64 + b".example"]
PROTOCOLS = [b"h2", b"http/1.1", b"h3", b"dot", b"x", b"\xc3x", b"a ", b"-2"]
CIPHERS = [0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xCCA9, 0x009C, 0x0035, 0x000A, 0x00FF, 0x0A0A, 0xFAFA]
ALGORITHMS = [0x0403, 0x0804, 0x0401, 0x0503, 0x0806, 0x0201, 0x1A1A]
VERSIONS = [0x0304, 0x0304, 0x0303, 0x0302, 0x0301, 0x2A2A, 0x7F1C]
OTHERS = [(10, b"\0\4\0\x1d\0\x17"), (11, b"\1\0"), (23, b""), (35, b""), (45, b"\1\1"), (65281, b"\0"), (21, bytes(40)),
          (0x3A3A, b""), (0xCACA, b"\0"), (57, b"\1\2\x40\x64"), (17513, b"\0\3\2h2"), (51, bytes(38)), (5, b"\1\0\0\0\0")]
GROWN = [(1000 + number, b"") for number in range(100)]  # more than two digits hold
CHANGE_CIPHER_SPEC = b"\x14\3\3\0\1\1"
PROTOCOLS_BEFORE = [b"EHLO a\r\nSTARTTLS\r\n", b"\1\2\3", b"\x16\3\1\0\x04\2\0\0\0"]

TLS_TESTS = {
    "tls.sni": ["a.example", "A.EXAMPLE", "b.example", "example", "10.0.0.1", "closed.example"],
    "tls.alpn": ["h2", "http/1.1", "x", "h", "1"],
    "tls.ja4": ["t13d", "t12", "h2_", "_000000000000_", "i"],
}
PATTERNS = ["^t1[23]d", "h2", "example$", r"\d", "^.$", "[A-Z]"]
KEYS = ["tls.sni", "lower(tls.sni)", "tls.alpn", "tls.ja4", "tls.handshake.type", "proto.l7", "proto.scheme"]
WORDS = ['proto.l7 eq "tls"', 'proto.scheme in {"http" "https"}', 'proto.l7 ne "quic"', "tls.handshake.type eq 1",
         "tls.handshake.type ge 1"]


def tls_words(prints):
    """`prints`: JA4 of hellos that come."""
    return Words("handshake", "tls.sni", TLS_TESTS, whole={"tls.ja4": prints[:5]}, patterns=PATTERNS, words=WORDS,
                 keys=KEYS + ["ip.src", "l4.dport"] * 3,
                 beside=["l4.dport eq 443", "ip.version eq 4", "not tcp.flags.syn"])


def part(width, octets):
    return len(octets).to_bytes(width, "big") + octets


def pairs(values):
    return struct.pack(f"!{len(values)}H", *values)


class HelloMaker(Connections):
    """`spoils`: some hellos are such as no server answers."""

    PORTS, CARRIER = (443, 443, 8443, 80, 25), "t"

    def __init__(self, dice, spoils=False):
        super().__init__(dice)
        self.spoils, self.prints = spoils, []

    def connection(self):
        parts = [self.dice.choice(PROTOCOLS_BEFORE)] if self.chance(5) else []
        parts += self.cut(self.records(self.message()), 3)
        behind = CHANGE_CIPHER_SPEC * self.dice.choice((0, 0, 1, 1, 2))
        behind += self.record(bytes(self.dice.choice((1, 600))), 23) * self.dice.choice((0, 0, 1, 2))
        if self.chance(30):  # a refused one is the end
            behind += self.records(self.message())
        else:
            behind += b"\x16\3\3\0\4" + bytes(4) + self.record(b"data", 23)
        return self.segments(parts + (self.cut(behind, 4) if self.chance(50) else []))

    # Records.

    def records(self, message):
        size = len(message) if self.chance(70) else self.dice.choice((1, 40, 100, 300))
        size = max(size, len(message) // 60 + 1)
        some = [self.record(message[at:at + size]) for at in range(0, len(message), size)]
        if self.spoils and self.chance(4) and len(some) > 1:
            some.insert(1, self.dice.choice((b"\x16\3\3\0\0", b"\x17\3\3\0\1x", b"\x16\2\3\0\1x")))
        return b"".join(some)

    def record(self, content, kind=22):
        return bytes([kind, 3, self.dice.choice((1, 3))]) + part(2, content)

    # The message.

    def message(self):
        body = struct.pack("!H", self.dice.choice((0x0303, 0x0303, 0x0303, 0x0302, 0x0301, 0x0300, 0x0304)))
        body += self.dice.randbytes(32) + part(1, bytes(self.dice.choice((0, 32, 7))))
        body += part(2, pairs(self.some(CIPHERS))) + part(1, self.dice.choice((b"\0", b"\0", b"\1\0")))
        extensions = self.extensions() if self.chance(95) else []
        if self.spoils and self.chance(8):
            return self.spoilt(body, extensions)
        block = b"".join(pairs([kind]) + part(2, content) for kind, content in extensions)
        body += part(2, block) if extensions or self.chance(50) else b""
        self.prints.append(Hello(body).ja4(self.CARRIER))
        return b"\1" + part(3, body)

    def some(self, values):
        return self.dice.sample(values, self.dice.randint(1, len(values)))

    def extensions(self):
        some = self.some(OTHERS)
        if self.chance(80):
            some.append((0, self.server_name()))
        if self.chance(60):
            names = self.dice.sample(PROTOCOLS, self.dice.choice((0, 1, 1, 2)))
            some.append((16, part(2, b"".join(part(1, name) for name in names))))
        if self.chance(80):
            some.append((13, part(2, pairs(self.some(ALGORITHMS)))))
        if self.chance(80):
            some.append((43, part(1, pairs(self.some(VERSIONS)))))
        if self.chance(25):
            some.append((42, b""))
        self.dice.shuffle(some)
        return some + GROWN * self.chance(4)

    def server_name(self):
        other = b"\1" + part(2, b"other") if self.chance(5) else b""
        return part(2, other + b"\0" + part(2, self.dice.choice(NAMES)))

    def spoilt(self, body, extensions):
        """One that contradicts itself or RFC 8446."""
        bad = self.dice.choice((
            (0, b"\0\0"), (0, part(2, b"\0\0\0")), (0, part(2, b"\0" + part(2, NO_NAMES[body[5] % len(NO_NAMES)]))),
            (0, part(2, 2 * (b"\0" + part(2, b"a.example")))), (0, self.server_name() + b"x"), (13, b"\0\1x"),
            (13, b"\0\0"), (16, b"\0\5\2h2\3h"), (43, b"\0"), (43, b"\3\3\4\3"), None))
        good = [one for one in extensions if not bad or one[0] != bad[0]]
        good += [bad] if bad else [(10, b""), (10, b"")]
        block = part(2, b"".join(pairs([kind]) + part(2, content) for kind, content in good))
        way = self.dice.choice(("bad", "bad", "bad", "behind", "short", "version", "none"))
        if way == "behind":
            block += b"\0"
        elif way == "short":
            block = block[:-1]
        elif way == "version":
            body, block = b"\2" + body[1:], b""
        elif way == "none":  # of ciphers
            body, block = body[:34] + b"\0" + b"\0\0" + b"\1\0", b""
        return b"\1" + part(3, body + block)
