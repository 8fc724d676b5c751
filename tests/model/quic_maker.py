"""Connections of QUIC at random: a client's Initials, whole and in parts, and what else has a long header.

Of a hello that no server answers nothing comes twice, nor anything behind it.
"""
from connections import ANSWER, Served, back, datagram
from hello import BadHello, Hello
from hello_maker import WORDS, HelloMaker, part
from quic import LEAST_INITIAL, SAMPLE, TAG, TYPES, VERSION1, VERSION2, Keys
from unit_rules import UnitRules, Words

OTHER_VERSIONS = [0, 0x1A2A3A4A, 0xFF00001D]
# PING, PADDING, ACK without ECN and with it.
BEFORE = [b"", b"", b"\1", bytes(3), b"\2\0\0\0\0", b"\3\5\0\1\0\1\2\1\2\3"]
TYPE_NAMES = ["initial", "initial", "0rtt", "handshake", "retry", "version_negotiation", "other_version"]

TESTS = {
    "quic.sni": ["a.example", "A.EXAMPLE", "b.example", "example", "10.0.0.1", "closed.example"],
    "tls.alpn": ["h2", "h3", "http/1.1", "h"],
    "tls.ja4": ["q13d", "q12", "h2_", "_000000000000_"],
    "quic.packet_type": TYPE_NAMES,
    "quic.version": [VERSION1, VERSION2, 0, 2],
    "quic.token_len": [0, 5, 16],
}
PATTERNS = ["^q1[23]d", "h2", "example$", r"\d", "^.$", "[A-Z]"]
KEYS = ["quic.sni", "lower(quic.sni)", "tls.alpn", "tls.ja4", "quic.packet_type", "quic.version", "quic.token_len",
        "proto.l7", "proto.scheme"]


def quic_words(prints):
    """`prints`: JA4 of hellos that come."""
    return Words("handshake", "quic.sni", TESTS, whole={"tls.ja4": prints[:5]},
                 patterns=PATTERNS, keys=KEYS + ["ip.src", "l4.dport"] * 3,
                 words=WORDS[1:3] + ['proto.l7 eq "quic"', "quic.version", "quic.token_len"],
                 beside=["l4.dport eq 443", "ip.version eq 4", "not tcp.flags.syn"])


def variable(value):
    """RFC 9000, 16, in two bytes or four."""
    return (value | 1 << 14).to_bytes(2, "big") if value < 1 << 14 else (value | 2 << 30).to_bytes(4, "big")


def is_sound(message):
    try:
        return Hello(message[4:])
    except BadHello:
        return None


class QuicMaker(HelloMaker):
    PORTS, CARRIER = (443, 443, 443, 8443), "q"

    def connection(self):
        """Mostly one whose hello is whole."""
        self.version, self.number = self.dice.choice((VERSION1, VERSION1, VERSION2)), self.dice.choice((0, 0, 1, 300))
        self.dcid, self.scid, self.token = self.dice.randbytes(self.dice.choice((8, 8, 20, 1))), self.an_id(), b""
        self.keys = Keys(self.version, self.dcid)
        if self.chance(12):
            sent = [self.other()]
        else:
            message = self.message()
            sent = self.parts_of(message)
            if self.chance(35) and is_sound(message):
                sent += self.again(message, sent)
            if self.chance(20) and is_sound(message):
                sent.append(self.behind())
        ends = self.ends()
        return [one if one is ANSWER else datagram(ends, one) for one in sent]

    def an_id(self):
        return self.dice.randbytes(self.dice.choice((0, 4, 8, 20)))

    # Datagrams.

    def parts_of(self, message):
        """Of a hello: frames in any order, over packets, over datagrams."""
        some, at = [], 0
        for piece in self.cut(message, 3):
            some.append(b"\6" + variable(at) + variable(len(piece)) + piece)
            at += len(piece)
        if self.chance(30):
            self.dice.shuffle(some)
        if self.chance(15) and is_sound(message):
            some.insert(0, self.dice.choice(some))
        sent, turn = [], len(some) > 1 and self.chance(25)
        while some:
            count = self.dice.choice((1, 1, 2, 4))
            sent.append(self.datagram([some.pop(0) for _ in range(min(count, len(some)))]))
            if turn and self.chance(50):  # the id that the server chose, under the keys of the first
                self.dcid, turn = self.dice.randbytes(8), False
        return sent

    def datagram(self, frames):
        """Of one packet, or of several."""
        if len(frames) > 1 and self.chance(40):
            first = self.initial(frames[0])
            return first + self.initial(b"".join(frames[1:]), LEAST_INITIAL - len(first))
        if self.chance(20):
            early = self.sealed(self.kind("0rtt"), self.dice.randbytes(60))
            whole = self.initial(b"".join(frames), LEAST_INITIAL - len(early))
            return whole + early if self.chance(70) else early + whole
        return self.initial(b"".join(frames), LEAST_INITIAL) + bytes(self.dice.choice((0, 0, 0, 9)))

    def again(self, message, sent):
        """The last one once more or often; or all of it behind a Retry."""
        if self.chance(35):
            self.dcid, self.token, self.number = self.dice.randbytes(8), b"retry", self.number + 1
            self.keys = Keys(self.version, self.dcid)
            return [ANSWER, *self.parts_of(message)]
        return [sent[-1]] * self.dice.choice((1, 2, 2, 7))

    def behind(self):
        """What a client sends once the server has answered."""
        return self.dice.choice((b"\x40" + self.dice.randbytes(60), self.sealed(self.kind("handshake"), bytes(40)),
                                 self.initial(b"\2\0\0\0\0", LEAST_INITIAL)))

    def other(self):
        """Nothing that a hello is read from."""
        way = self.dice.choice(("version", "version", "short", "strange", "retry", "cut", "long"))
        if way == "version":
            version = self.dice.choice(OTHER_VERSIONS)
            return b"\xc0" + version.to_bytes(4, "big") + part(1, self.dcid) + part(1, self.scid) + bytes(1200)
        if way == "short":
            return self.initial(b"\6\0\4\1\0\0\0", 400)
        if way == "strange":
            return self.sealed(self.kind("initial"), self.dice.randbytes(1200))
        if way == "retry":
            return bytes([self.kind("retry")]) + self.ids() + b"token" + bytes(TAG)
        if way == "cut":
            return self.initial(b"\6\0\4\1\0\0\0", LEAST_INITIAL)[:-1]
        self.dcid = bytes(21)
        return self.sealed(self.kind("handshake"), bytes(1200))

    # Packets.

    def kind(self, name):
        return 0xC0 | TYPES[self.version].index(name) << 4

    def ids(self):
        return self.version.to_bytes(4, "big") + part(1, self.dcid) + part(1, self.scid)

    def head(self, first, size):
        token = variable(len(self.token)) + self.token if first & 0xF0 == self.kind("initial") else b""
        return bytes([first]) + self.ids() + token + variable(size)

    def sealed(self, first, content):
        """Under keys that nobody has."""
        return self.head(first, len(content)) + content

    def initial(self, frames, least=0):
        """In a datagram that has at least so many bytes."""
        size = self.dice.choice((1, 2, 4)) if self.number < 256 else 2
        frames = self.dice.choice(BEFORE) + frames
        frames += bytes(max(4, least - len(self.head(self.kind("initial"), 2)) - size - TAG - len(frames)))
        head = self.head(self.kind("initial") | size - 1, size + len(frames) + TAG)
        number = self.number.to_bytes(size, "big")
        sealed = self.keys.seal.encrypt(self.keys.nonce(self.number), frames, head + number)
        mask = self.keys.mask((number + sealed)[4:4 + SAMPLE])
        self.number += 1
        number = bytes(one ^ other for one, other in zip(number, mask[1:]))
        return bytes([head[0] ^ mask[0] & 0x0F]) + head[1:] + number + sealed


class ServedQuicMaker(Served, QuicMaker):
    """To declared services, whose servers answer: some hellos come again before that and behind it, others under their ids, with
    bytes in the place of others, damaged. A server keeps its client's id, and one connection is on a path."""

    PORTS = (443, 443, 443, 8443)
    served = True  # or its service is off
    monitored = False  # then what is refused goes on, and is judged
    WAIT = [ANSWER] * 3  # longer than what ages are counted in

    def connection(self):
        self.version, self.number = self.dice.choice((VERSION1, VERSION1, VERSION2)), self.dice.choice((0, 0, 1, 300))
        self.dcid, self.scid, self.token = self.dice.randbytes(self.dice.choice((8, 8, 20))), self.an_id(), b""
        self.keys = Keys(self.version, self.dcid)
        ends = self.ends()
        if self.chance(20):
            return [datagram(ends, self.other()) for _ in range(self.dice.choice((1, 1, 2)))]
        message = self.message()
        sent = [datagram(self.by_another_port(ends, 15), one) for one in self.of_one_id(message)]
        first, self.is_spoilt = list(sent), False
        for _ in range(self.dice.choice((0, 1, 2, 4))):
            if not self.is_spoilt:
                sent += self.WAIT + self.something(ends, message, first)
        return sent + (self.spoilt(ends, message) if len(first) > 1 and not self.is_spoilt and self.chance(20) else [])

    def of_one_id(self, message):
        """Mostly one datagram with one packet."""
        if self.chance(60):
            return [self.whole(message)]
        dcid, parts = self.dcid, []
        while not parts or self.dcid != dcid:  # the id that a server chose is none of these
            self.dcid = dcid
            parts = self.parts_of(message)
        return parts

    def by_another_port(self, ends, percent):
        """Of a server that goes by ids alone."""
        turns = self.served and ends[3] == 443 and self.chance(percent)
        return (*ends[:2], ends[2] ^ 1 << 15, ends[3]) if turns else ends

    def whole(self, message):
        return self.initial(b"\6" + variable(0) + variable(len(message)) + message, LEAST_INITIAL)

    def something(self, ends, message, first):
        """Datagrams of both directions."""
        served = ("other", "damaged", "retry") * (self.served and ends[3] == 443)
        way = self.dice.choice(("answer", "answer", "last", "last", "again", "again", "behind", *served))
        if way == "answer":
            return [datagram(back(ends), self.answer()), *self.WAIT]
        if way == "last":
            return [first[-1]] * self.dice.choice((1, 2, 6))
        if way == "again":
            return list(first)
        if way == "other" and not (self.monitored and len(first) > 1):
            self.is_spoilt = len(first) > 1
            return [datagram(ends, self.whole(self.message()))]
        if way == "damaged":
            one = self.initial(b"\6\0\4\1\0\0\0", LEAST_INITIAL)
            return [datagram(ends, one[:-1] + bytes([one[-1] ^ 1]))]
        if way == "retry":
            return self.behind_retry(ends, message)
        return [datagram(ends, self.behind())]

    def spoilt(self, ends, message):
        """In the place of the same. The box keeps a byte that it has refused, with what it had kept: nothing comes behind it."""
        if self.monitored or not self.served or ends[3] != 443:
            return []
        at = self.dice.randrange(4, len(message))
        other = b"\6" + variable(at) + variable(1) + bytes([message[at] ^ 1])
        return [*self.WAIT, datagram(ends, self.initial(other, LEAST_INITIAL))]

    def behind_retry(self, ends, message):
        """Or what its client takes for one."""
        retry = datagram(back(ends), self.server_head("retry") + b"token" + bytes(TAG))
        self.dcid, self.token, self.number = self.dice.randbytes(8), b"retry", self.number + 1
        self.keys = Keys(self.version, self.dcid)
        return [retry] * self.chance(70) + [*self.WAIT, datagram(ends, self.whole(message))]

    def server_head(self, name):
        return bytes([self.kind(name)]) + self.version.to_bytes(4, "big") + part(1, self.scid) + part(1, self.dcid)

    def answer(self):
        """Sealed by keys that nobody has; Version Negotiation is none."""
        if self.chance(15):
            return b"\x80" + bytes(4) + part(1, self.scid) + part(1, self.dcid) + VERSION1.to_bytes(4, "big")
        return self.server_head("handshake") + variable(40) + self.dice.randbytes(40)


class ServedQuicRules(UnitRules):
    def __init__(self, dice, words, acts, mode):
        super().__init__(dice, words, acts)
        self.service = mode

    def file(self, before=()):
        unreadable = self.dice.choice(("", "", ", on_unreadable: pass"))
        return super().file([*before, "services:", f"  - {{id: h3, protocol: quic, when: l4.dport eq 443, mode: {self.service}, "
                             f"checksums: trust{unreadable}}}"])
