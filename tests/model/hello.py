"""ClientHellos, from RFC 8446 (4.1.2), RFC 6066 and RFC 7301, and their fingerprint as FoxIO's text defines JA4."""
import hashlib
import re
import socket

CLIENT_HELLO = 1
SERVER_NAME, SIGNATURE_ALGORITHMS, ALPN, EARLY_DATA, VERSIONS = 0, 13, 16, 42, 43
GREASE = {0x0A0A + 0x1010 * number for number in range(16)}
MOST_BYTES = 64 * 1024
LABEL = rb"(?![Xx][Nn]--(?:[^.]*-)?(?:\.|\Z))[A-Za-z0-9_-]{1,63}"
HOST_NAME = re.compile(rb"%s(\.%s)*\.?" % (LABEL, LABEL))
JA4_VERSIONS = {0x0304: "13", 0x0303: "12", 0x0302: "11", 0x0301: "10", 0x0300: "s3"}


class BadHello(Exception):
    """It is not read; `reason`: why a service refuses it. No server that was tried answers a malformed one."""

    def __init__(self, reason="malformed_hello"):
        super().__init__(reason)
        self.reason = reason


UNREADABLE = "unreadable_hello"  # some servers answer it


class Octets:
    """Bytes that are read from their beginning."""

    def __init__(self, octets):
        self.rest = octets

    def take(self, size):
        if size > len(self.rest):
            raise BadHello
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def part(self, width):
        """What stands behind its length, which has so many bytes."""
        return self.take(self.number(width))

    def end(self):
        if self.rest:
            raise BadHello


class Hello:
    """`body`: of the handshake message, behind its type and length."""

    def __init__(self, body):
        octets = Octets(body)
        self.version = octets.number(2)
        octets.take(32)
        _, ciphers, compression = octets.part(1), octets.part(2), octets.part(1)
        if self.version < 0x300 or len(ciphers) < 2 or not compression:
            raise BadHello
        self.ciphers = pairs(ciphers[:len(ciphers) // 2 * 2])
        self.types, self.algorithms = [], []
        self.name = self.protocol = None
        self.has_name = False
        self.asked_for = {}  # what servers go by, as it came
        if octets.rest:
            self.extensions(Octets(octets.part(2)))
        octets.end()

    def extensions(self, octets):
        readers = {SERVER_NAME: self.server_name, ALPN: self.protocols, VERSIONS: self.versions,
                   SIGNATURE_ALGORITHMS: self.signature_algorithms}
        while octets.rest:
            kind, content = octets.number(2), Octets(octets.part(2))
            if kind in (SERVER_NAME, ALPN):
                self.asked_for[kind] = content.rest
            if kind in self.types and kind in readers:
                raise BadHello
            self.types.append(kind)
            if kind not in readers:
                continue
            try:
                readers[kind](content)
                content.end()
            except BadHello as bad:
                raise BadHello(UNREADABLE if kind in (SERVER_NAME, ALPN) else bad.reason) from bad

    def server_name(self, content):
        """No bytes, no names and an empty one are no name."""
        self.has_name, seen = True, []
        names = Octets(content.part(2) if content.rest else b"")
        while names.rest:
            kind, name = names.number(1), names.part(2)
            if kind == 0:
                # Servers differ about what is no host name: some trim, fold or cut it.
                address = ipv6_address(name)
                if seen or name and not HOST_NAME.fullmatch(name) and not address or len(name) > 254:
                    raise BadHello
                seen.append(address or name.lower())
        self.name = seen[0] if seen and seen[0] else None
        if self.name and len(self.name) > 1 and self.name.endswith(b"."):
            self.name = self.name[:-1]

    def protocols(self, content):
        names = Octets(content.part(2))
        some = []
        while names.rest:
            some.append(names.part(1))
        self.protocol = some[0] if some and some[0] else None

    def versions(self, content):
        known = [version for version in pairs(content.part(1)) if version not in GREASE]
        self.version = max(known, default=self.version)

    def signature_algorithms(self, content):
        self.algorithms = pairs(content.part(2))

    def fields(self, carrier):
        """`carrier`: `t` of TCP, `q` of QUIC."""
        said = {"tls.sni" if carrier == "t" else "quic.sni": self.name, "tls.alpn": self.protocol,
                "tls.ja4": self.ja4(carrier).encode(), "proto.scheme": b"https"}
        return {name: value for name, value in said.items() if value is not None}

    def ja4(self, carrier):
        ciphers, types, algorithms = (hexadecimal(some) for some in (self.ciphers, self.types, self.algorithms))
        hashed = [kind for kind in types if kind not in ("0000", "0010")]
        return (carrier + JA4_VERSIONS.get(self.version, "00") + ("d" if self.has_name else "i")
                + f"{min(len(ciphers), 99):02}{min(len(types), 99):02}" + ends_of(self.protocol)
                + "_" + digest(",".join(sorted(ciphers)))
                + "_" + digest(",".join(sorted(hashed)) + "_" * bool(algorithms) + ",".join(algorithms)))


def ipv6_address(name):
    """An address that clients connect to, as RFC 5952 writes it; None: it is none."""
    try:
        octets = socket.inet_pton(socket.AF_INET6, name.decode("ascii"))
    except (OSError, ValueError):
        return None
    begin = int.from_bytes(octets[:2], "big")
    is_used = begin == 0 or 0x2000 <= begin < 0x4000 or 0xfc00 <= begin < 0xfe00 or 0xfe80 <= begin < 0xfec0
    return socket.inet_ntop(socket.AF_INET6, octets).encode() if is_used else None


def pairs(octets):
    if not octets or len(octets) % 2:
        raise BadHello
    return [int.from_bytes(octets[at:at + 2], "big") for at in range(0, len(octets), 2)]


def hexadecimal(values):
    return [f"{value:04x}" for value in values if value not in GREASE]


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else "0" * 12


def ends_of(protocol):
    """The first and the last letter, or hexadecimal digit where one of them is neither letter nor digit."""
    if not protocol:
        return "00"
    plain = all(octet < 0x80 and chr(octet).isalnum() for octet in (protocol[0], protocol[-1]))
    text = protocol.decode("latin-1") if plain else protocol.hex()
    return text[0] + text[-1]
