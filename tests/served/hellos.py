"""ClientHellos and Initials of QUIC as bytes, and what of a server's answer shows that it took one."""
import pathlib
import re
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "model"))  # behind: it has names that are here too
from quic import LEAST_INITIAL, SAMPLE, TAG, TYPES, VERSION1, VERSION2, Keys  # noqa: E402

# A HelloRetryRequest is one but for its random (RFC 8446, 4.1.3).
SERVER_HELLO = re.compile(rb"\x16\x03\x03..\x02\0..\x03\x03(?!\xcf\x21\xad\x74\xe5\x9a\x61\x11)", re.DOTALL)
APPLICATION_DATA, RECORD_HEAD = 23, 5
# Of the record with a Certificate message of TLS 1.3, all but the certificate.
AROUND_CERTIFICATE = 30
VERSIONS = b"\x02\x03\x04"
X25519, AES_128_GCM = b"\0\x1d", b"\x13\x01"
HYBRID, HYBRID_SIZE = b"\x11\xec", 1216  # bytes of a client's share


def sized(size, body):
    return len(body).to_bytes(size, "big") + body


def extension(kind, body):
    return struct.pack("!H", kind) + sized(2, body)


def sni(name):
    return extension(0, sized(2, b"\0" + sized(2, name)))


def hello(dice, name, extensions=b"", ciphers=b"\xc0\x2b\xc0\x2f\xc0\x2c\xc0\x30", session=b""):
    """A ClientHello message of TLS 1.2."""
    common = extension(10, sized(2, X25519 + b"\0\x17")) + extension(11, b"\1\0") + extension(
        13, sized(2, b"\4\3\x08\4\4\1\5\3\x08\5\6\3")) + extension(23, b"") + extension(0xFF01, b"\0")
    names = b"" if name is None else sni(name)
    body = b"\3\3" + dice.randbytes(32) + sized(1, session) + sized(2, ciphers) + b"\1\0" + sized(2, names + common + extensions)
    return b"\1" + sized(3, body)


def records(message, cuts=(), version=0x0301):
    edges = [0, *cuts, len(message)]
    return b"".join(struct.pack("!BHH", 22, version, b - a) + message[a:b] for a, b in zip(edges, edges[1:]))


class Retried:
    """A client of TLS 1.3 whose hello has no key share, so that its server asks for another (RFC 8446, 4.1.4)."""

    def __init__(self, dice):
        self.random, self.session, self.share = dice.randbytes(32), dice.randbytes(32), dice.randbytes(32)

    def message(self, name, with_share, version=b"\3\3", extensions=b"", ciphers=AES_128_GCM, hybrid=b""):
        """`hybrid`: a share of X25519MLKEM768, in front of the other."""
        shares = (HYBRID + sized(2, hybrid) if hybrid else b"") + (X25519 + sized(2, self.share) if with_share else b"")
        more = (sni(name) + extension(10, sized(2, (HYBRID if hybrid else b"") + X25519 + b"\0\x17")) + extension(13, sized(2, b"\4\3\x08\4\4\1"))
                + extension(43, VERSIONS) + extension(51, sized(2, shares)) + extensions)
        body = version + self.random + sized(1, self.session) + sized(2, ciphers) + b"\1\0" + sized(2, more)
        return b"\1" + sized(3, body)

    def hello(self, name, with_share):
        return records(self.message(name, with_share))


def hidden_certificates(received, size):
    """Certificates of so many bytes in a server's stream of TLS 1.3, which shows no more of them than their size."""
    found = 0
    while len(received) >= RECORD_HEAD:
        end = RECORD_HEAD + int.from_bytes(received[3:RECORD_HEAD], "big")
        found += received[0] == APPLICATION_DATA and end == RECORD_HEAD + size + AROUND_CERTIFICATE
        received = received[end:]
    return found


def quic_hello(dice, name, scid, has_share=True):
    """A ClientHello message of TLS 1.3 in QUIC; one without a key share has its server ask for another."""
    share = X25519 + sized(2, dice.randbytes(32)) if has_share else b""
    parameters = b"".join(bytes([kind]) + sized(1, body) for kind, body in (
        (0x0F, scid), (4, b"\x80\x10\0\0"), (5, b"\x80\x04\0\0"), (6, b"\x80\x04\0\0"), (7, b"\x80\x04\0\0"), (8, b"\x40\x64"),
        (9, b"\x03")))
    more = (extension(10, sized(2, X25519)) + extension(13, sized(2, b"\4\3\x08\4\4\1")) + extension(43, VERSIONS)
            + extension(51, sized(2, share)) + extension(16, sized(2, sized(1, b"h3")))
            + extension(57, parameters))
    body = b"\3\3" + dice.randbytes(32) + b"\0" + sized(2, AES_128_GCM) + b"\1\0" + sized(2, sni(name) + more)
    return b"\1" + sized(3, body)


def variable(value):
    return (value | 1 << 14).to_bytes(2, "big") if value < 1 << 14 else (value | 2 << 30).to_bytes(4, "big")


def crypto(message, begin=0, end=None):
    part = message[begin:end]
    return b"\6" + variable(begin) + variable(len(part)) + part


class Client:
    """A client of QUIC with ids of its own, and the numbers of its packets."""

    def __init__(self, dice, version=VERSION1, token=b""):
        self.version, self.token, self.number = version, token, 0
        self.dcid, self.scid = dice.randbytes(8), dice.randbytes(8)
        self.keys = Keys(version, self.dcid)

    def initial(self, frames, least=LEAST_INITIAL):
        """A packet in a datagram that has at least so many bytes."""
        first = 0xC0 | TYPES[self.version].index("initial") << 4
        ids = self.version.to_bytes(4, "big") + sized(1, self.dcid) + sized(1, self.scid) + variable(len(self.token)) + self.token
        frames += bytes(max(4, least - 1 - len(ids) - 2 - 2 - TAG - len(frames)))
        head = bytes([first | 1]) + ids + variable(2 + len(frames) + TAG)
        number = (self.number & 0xFFFF).to_bytes(2, "big")
        sealed = self.keys.seal.encrypt(self.keys.nonce(self.number), frames, head + number)
        mask = self.keys.mask((number + sealed)[4:4 + SAMPLE])
        self.number += 1
        hidden = bytes(one ^ other for one, other in zip(number, mask[1:]))
        return bytes([head[0] ^ mask[0] & 0x0F]) + head[1:] + hidden + sealed


def packets_of(datagram):
    """[(kind, source id)] of the packets with a long header in a server's datagram."""
    out = []
    while len(datagram) > 7 and datagram[0] & 0x80:
        version = int.from_bytes(datagram[1:5], "big")
        if version not in TYPES:
            break
        kind = TYPES[version][datagram[0] >> 4 & 3]
        at = 6 + datagram[5]
        scid = datagram[at + 1:at + 1 + datagram[at]]
        at += 1 + len(scid)
        out.append((kind, scid))
        if kind == "retry":
            break
        if kind == "initial":
            size, at = number_at(datagram, at)
            at += size
        size, at = number_at(datagram, at)
        datagram = datagram[at + size:]
    return out


def number_at(data, at):
    size = 1 << (data[at] >> 6)
    return int.from_bytes(data[at:at + size], "big") & (1 << 8 * size - 2) - 1, at + size


def handshakes(datagrams):
    """Connections of QUIC in which a server has taken a ClientHello: it sends packets of kind Handshake."""
    return len({scid for one in datagrams for kind, scid in packets_of(one) if kind == "handshake"})
