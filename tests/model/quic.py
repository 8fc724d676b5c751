"""QUIC, from RFC 8999, 9000, 9001 and 9369: long headers, and the ClientHello in a client's Initials.

The keys of these are anybody's: they come from the Destination Connection ID of the client's first Initial.
"""
import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from hello import CLIENT_HELLO, BadHello, Hello, Octets
from streams import ends_of

ASKS = r"quic\.|tls\.|proto\.|per: handshake"
VERSION1, VERSION2 = 0x00000001, 0x6B3343CF
HTTPS, LONG_FORM, LEAST_INITIAL, SAMPLE, TAG = 443, 0x80, 1200, 16, 16
SALTS = {VERSION1: "38762cf7f55934b34d179ae6a4c80cadccbb7f0a", VERSION2: "0dede3def700a6db819381be6e269dcbf9bd2ed9"}
LABELS = {VERSION1: ("quic key", "quic iv", "quic hp"), VERSION2: ("quicv2 key", "quicv2 iv", "quicv2 hp")}
TYPES = {VERSION1: ["initial", "0rtt", "handshake", "retry"], VERSION2: ["retry", "initial", "0rtt", "handshake"]}
# A hello that was judged comes again without being counted for so long, and so often.
REPEATED_FOR, REPEATS = 10 * 10 ** 9, 4
PADDING, PING, ACK, ACK_ECN, CRYPTO, CLOSE = 0, 1, 2, 3, 6, 0x1C


class Keys:
    """AES-128-GCM under `key` and `iv`, AES-128 under `mask` for what hides the packet's number."""

    def __init__(self, version, dcid):
        secret = hmac.digest(bytes.fromhex(SALTS[version]), dcid, "sha256")
        secret = expand(secret, "client in", 32)
        key, iv, mask = LABELS[version]
        self.seal = AESGCM(expand(secret, key, 16))
        self.iv, self.header = int.from_bytes(expand(secret, iv, 12), "big"), expand(secret, mask, 16)

    def nonce(self, number):
        return (self.iv ^ number).to_bytes(12, "big")

    def mask(self, sample):
        encryptor = Cipher(algorithms.AES(self.header), modes.ECB()).encryptor()
        return encryptor.update(sample) + encryptor.finalize()


def expand(secret, label, size):
    """HKDF-Expand-Label of RFC 8446, 7.1; one block is enough."""
    label = b"tls13 " + label.encode()
    info = size.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0\1"
    return hmac.digest(secret, info, hashlib.sha256)[:size]


class Packet:
    """One of a datagram, which `octets` begins with. BadHello: there is none."""

    def __init__(self, datagram):
        octets = Octets(datagram)
        self.first, self.version = octets.number(1), octets.number(4)
        if not self.first & LONG_FORM:
            raise BadHello
        self.dcid, self.scid = octets.part(1), octets.part(1)
        self.token, self.kind = b"", "version_negotiation" if self.version == 0 else "other_version"
        if self.version in TYPES:
            if max(len(self.dcid), len(self.scid)) > 20:
                raise BadHello
            self.kind = TYPES[self.version][self.first >> 4 & 3]
            self.known(octets)
        else:
            octets.take(len(octets.rest))
        self.bytes = datagram[:len(datagram) - len(octets.rest)]

    def known(self, octets):
        """Of a version that is known: where its number begins, and what is behind."""
        if self.kind == "retry":
            self.token = octets.take(max(len(octets.rest) - TAG, 0))
            octets.take(TAG)
            return
        if self.kind == "initial":
            self.token = octets.take(variable(octets))
        size = variable(octets)
        before = len(octets.rest)
        octets.take(size)
        self.size, self.behind = size, before

    def can_open(self):
        return self.kind == "initial" and self.size >= 4 + SAMPLE

    def open(self, keys):
        """-> its frames, or None where these are not its keys"""
        at = len(self.bytes) - self.size
        mask = keys.mask(self.bytes[at + 4:at + 4 + SAMPLE])
        first = self.first ^ mask[0] & 0x0F
        size = (first & 3) + 1
        number = bytes(one ^ other for one, other in zip(self.bytes[at:at + size], mask[1:]))
        head = bytes([first]) + self.bytes[1:at] + number
        try:
            return keys.seal.decrypt(keys.nonce(int.from_bytes(number, "big")), self.bytes[at + size:], head)
        except InvalidTag:
            return None


def variable(octets):
    """RFC 9000, 16."""
    first = octets.number(1)
    more = (1 << (first >> 6)) - 1
    return (first & 0x3F) << 8 * more | octets.number(more)


def packets_of(datagram):
    """Up to the first that is not of the same connection (RFC 9000, 12.2)."""
    some = []
    try:
        while datagram:
            packet = Packet(datagram)
            if some and packet.dcid != some[0].dcid:
                break
            some.append(packet)
            datagram = datagram[len(packet.bytes):]
    except BadHello:
        pass
    return some


def crypto_of(frames):
    """-> [(offset, bytes)] of the frames of an Initial"""
    octets, some = Octets(frames), []
    while octets.rest:
        kind = variable(octets)
        if kind in (ACK, ACK_ECN):
            skip_ack(octets, kind)
        elif kind == CRYPTO:
            offset = variable(octets)
            some.append((offset, octets.take(variable(octets))))
        elif kind == CLOSE:
            variable(octets), variable(octets)
            octets.take(variable(octets))
        elif kind == PADDING:
            octets.rest = octets.rest.lstrip(bytes([PADDING]))
        elif kind != PING:
            raise BadHello
    return some


def skip_ack(octets, kind):
    variable(octets), variable(octets)
    ranges = variable(octets)
    for _ in range(1 + 2 * ranges + (3 if kind == ACK_ECN else 0)):
        variable(octets)


class Connection:
    """`keys`: of its first Initial; `come`: byte by byte what is there of the hello. `fate`: whether the packet that
    held the last of it was dropped, once that is known. `in_parts`: some of it went on before all of it was there, so that
    the server may have chosen an id. `waits`: another of its ends was refused so, and no part goes on before the whole."""

    def __init__(self, packet):
        self.dcid, self.come, self.fate, self.is_whole = packet.dcid, {}, None, False
        self.bytes, self.in_parts, self.waits = b"", False, False
        self.again = None  # what comes in parts under its id behind its hello
        self.retried = False  # it is behind a Retry, of which a client takes one
        self.counted, self.repeats = 0, 0  # when it was; how many Initials with bytes of a hello came since

    def is_new_again(self, packet):
        """Its server may have forgotten it: what its client sends again is a connection more, but for what comes in the
        same burst, which goes where its hello goes."""
        passed = packet.came - self.counted if self.fate is False else 0
        return passed != 0 and (self.repeats >= REPEATS or passed > REPEATED_FOR)

    def count(self, packet):
        packet.handshakes, packet.settle = 1, self
        self.counted, self.repeats = packet.came, 0

    def read(self, packets):
        """-> whether one of them was this connection's; its hello is in `bytes` when it is whole"""
        opened = [(packet, packet.open(Keys(packet.version, self.dcid))) for packet in packets if packet.can_open()]
        for _, frames in opened:
            for offset, part in crypto_of(frames) if frames is not None else []:
                for at, octet in enumerate(part, offset):
                    self.come.setdefault(at, octet)
            if self.whole():
                break
        return any(frames is not None for _, frames in opened)

    def whole(self):
        there = 0
        while there in self.come:
            there += 1
        some = bytes(self.come[at] for at in range(there))
        if some and some[0] != CLIENT_HELLO:
            raise BadHello
        size = 4 + int.from_bytes(some[1:4], "big")
        self.is_whole = there >= 4 and there >= size
        self.bytes = some[:size]
        return self.is_whole


class Streams:
    """Datagrams of UDP. Whatever is opened must be long enough that servers take it."""

    def __init__(self):
        self.connections = {}

    def see(self, packet):
        fields, payload = packet.fields, packet.fields.get("payload")
        if fields.get("ip.proto") != 17 or not payload or "proto.l7" in fields:
            return
        some = packets_of(payload)
        if not some or some[0].version not in TYPES and HTTPS not in (fields["l4.sport"], fields["l4.dport"]):
            return
        first = some[0]
        fields.update({"proto.l7": b"quic", "quic.packet_type": first.kind.encode(), "quic.version": first.version,
                       "quic.token_len": len(first.token)})
        if len(payload) >= LEAST_INITIAL and any(one.can_open() for one in some):
            try:
                self.open(packet, some, ends_of(fields))
            except BadHello:  # of no service, which is all that is modelled: it passes
                pass

    def open(self, packet, some, ends):
        known = self.connections.setdefault(ends, [])
        mine = [one for one in known if one.dcid == some[0].dcid]
        if mine and mine[0].is_whole and mine[0].is_new_again(packet):
            known.remove(mine[0])
            mine = [mine[0].again] if mine[0].again else []
            known += mine
            for one in mine:
                self.wait(one)
        if mine and mine[0].is_whole:
            return self.compare(packet, some, mine[0])
        for one in mine or [one for one in known if not one.is_whole] + [Connection(some[0])]:
            if one.read(some):
                if one not in known:
                    known.append(one)
                return self.take(packet, some, one, known) if one.is_whole else self.wait(one)
        return self.go_with(packet, [one for one in known if one.in_parts])

    @staticmethod
    def wait(one):
        if one.come:
            one.in_parts = True

    def compare(self, packet, some, one):
        """Under an id whose hello was judged: a repeat if its bytes are the same, else a hello more."""
        if one.fate:
            return self.repeat(packet, one)
        again = one.again or Connection(some[0])
        if not again.read(some):
            return self.repeat(packet, one)
        one.again = None if again.is_whole else again
        one.repeats += 1 if again.come else 0
        if not again.is_whole:
            return None
        if again.bytes == one.bytes:
            return self.repeat(packet, one)
        one.bytes = again.bytes
        packet.fields.update(Hello(again.bytes[4:]).fields("q"))
        one.count(packet)
        return None

    def go_with(self, packet, parted):
        """Under keys that nobody knows: as the connection of these ends that came in parts, where one was refused."""
        refused = [one for one in parted if one.fate]
        if refused and refused[0] is parted[-1]:
            self.repeat(packet, refused[0])

    def take(self, packet, some, one, known):
        """The datagram completes a hello; behind a Retry it is not new."""
        hello = Hello(one.bytes[4:])
        packet.fields.update(hello.fields("q"))
        before = [other for other in known if other is not one and other.is_whole and other.bytes == one.bytes]
        if some[0].token and before and not before[-1].retried and not before[-1].is_new_again(packet):
            one.fate, one.counted, one.retried = before[-1].fate, packet.came, True
            return self.repeat(packet, one)
        one.count(packet)
        return None

    def repeat(self, packet, one):
        if one.fate:
            packet.doubt = "retransmission", ASKS
