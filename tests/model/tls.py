"""TLS over TCP, from RFC 8446 (5.1, 4.2.10, D.4): the ClientHellos of a connection, in whatever records they come."""
import streams
from hello import CLIENT_HELLO, EARLY_DATA, MOST_BYTES, BadHello, Hello

ASKS = r"tls\.|proto\.|per: handshake"  # of rules that read hellos
CHANGE_CIPHER_SPEC, HANDSHAKE, APPLICATION_DATA = 20, 22, 23
RECORD_HEAD, MESSAGE_HEAD = 5, 4
MOST_RECORD, MOST_EARLY_DATA, LEAST_EARLY_RECORD = 1 << 14, 1 << 16, 512


class Short(Exception):
    """More bytes are to come."""


class OtherBytes(Exception):
    """No hello begins here."""


class Connection:
    """`begun`: bytes of what is not whole; `early`: bytes of early data that may still come before a second hello;
    `stage`: `first`, `behind` the first hello, or `over`."""

    def __init__(self):
        self.stage, self.begun, self.early = "first", b"", 0

    def read(self, packet, payload):
        """-> a hello that the packet completes, or None"""
        self.begun += payload
        try:
            while self.begun and self.stage == "behind" and self.begun[0] != HANDSHAKE:
                self.step_over()
            return self.hello() if self.stage in ("first", "behind") and self.begun else None
        except Short:
            return None
        except OtherBytes:
            self.stage = "over"
        except BadHello:  # no handshake begins with it
            packet.fields.update({"proto.l7": b"tls", "proto.scheme": b"https"})
            self.stage = "over"
        return None

    def hello(self):
        message, self.begun = first_message(self.begun)
        hello = Hello(message[MESSAGE_HEAD:])
        self.early = MOST_EARLY_DATA if EARLY_DATA in hello.types else 0
        return hello

    def step_over(self):
        """A record that no hello is in."""
        kind, size = self.begun[0], int.from_bytes(self.begun[3:RECORD_HEAD], "big")
        if kind != CHANGE_CIPHER_SPEC and not (kind == APPLICATION_DATA and self.early):
            raise OtherBytes
        if len(self.begun) < RECORD_HEAD + max(size, 1):
            raise Short
        if kind == CHANGE_CIPHER_SPEC and (self.begun[1] != 3 or self.begun[3:6] != b"\0\1\1"):
            raise OtherBytes
        if kind == APPLICATION_DATA:
            self.early = max(0, self.early - max(size, LEAST_EARLY_RECORD))
        self.begun = self.begun[RECORD_HEAD + size:]


def first_message(octets):
    """-> (the message of the handshake that begins here, what stands behind it)"""
    message, size = b"", None
    while size is None or len(message) < size:
        if octets[:1] not in (b"", bytes([HANDSHAKE])) or octets[1:2] not in (b"", b"\3"):
            raise BadHello if message else OtherBytes
        if len(octets) < RECORD_HEAD:
            raise Short
        length = int.from_bytes(octets[3:RECORD_HEAD], "big")
        if not 0 < length <= MOST_RECORD:
            raise BadHello if message or not length else OtherBytes
        content = octets[RECORD_HEAD:RECORD_HEAD + length]
        message += content
        if message and message[0] != CLIENT_HELLO:
            raise OtherBytes
        if size is None and len(message) >= MESSAGE_HEAD:
            size = MESSAGE_HEAD + int.from_bytes(message[1:MESSAGE_HEAD], "big")
            if size > MOST_BYTES:
                raise BadHello
        if len(content) < length and (size is None or len(message) < size):
            raise Short
        octets = octets[RECORD_HEAD + length:]
    return message[:size], octets


class Streams(streams.Streams):
    def read(self, packet, payload, before):
        connection = before or Connection()
        hello = connection.read(packet, payload)
        if hello:
            packet.fields.update(hello.fields("t"))
            packet.fields.update({"proto.l7": b"tls", "tls.handshake.type": CLIENT_HELLO})
            packet.handshakes = 1 if connection.stage == "first" else 0
            connection.stage = "behind" if connection.stage == "first" else "over"
        return connection
