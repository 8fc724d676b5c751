"""TLS over TCP, from RFC 8446 (5.1, 4.2.10, D.4): the ClientHellos of a connection, in whatever records they come."""
import streams
from hello import CLIENT_HELLO, EARLY_DATA, MOST_BYTES, UNREADABLE, BadHello, Hello

ASKS = r"tls\.|proto\.|per: handshake"  # of rules that read hellos
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION_DATA = 20, 21, 22, 23
RECORD_HEAD, MESSAGE_HEAD = 5, 4
MOST_RECORD, MOST_EARLY_DATA, LEAST_EARLY_RECORD = 1 << 14, 1 << 16, 512
MOST_RECORDS = 1024
LEAST_ENCRYPTED = 16  # bytes that an encrypted record has at least


class Short(Exception):
    """More bytes are to come."""


class OtherBytes(Exception):
    """No hello begins here."""


class Connection:
    """`begun`: bytes of what is not whole; `early`: bytes of early data that may still come before a second hello;
    `stage`: `first`, `behind` the first hello, or `over`; `changed`: the client has changed its cipher spec;
    `asked_for`: the server name and protocols of the first hello.
    A connection of no service, which is all that is modelled, goes unread behind a hello that cannot be read."""

    def __init__(self):
        self.stage, self.begun, self.early, self.changed = "first", b"", 0, False
        self.asked_for = None

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
        except BadHello as bad:  # it is TLS all the same, but for ciphertext
            if self.stage == "first" or not self.changed or bad.reason in (UNREADABLE, "too_many_pieces"):
                packet.fields.update({"proto.l7": b"tls", "proto.scheme": b"https"})
            self.stage = "over"
        return None

    def hello(self):
        if self.changed and self.is_encrypted():
            raise OtherBytes
        message, self.begun = first_message(self.begun)
        hello = Hello(message[MESSAGE_HEAD:])
        self.early = MOST_EARLY_DATA if EARLY_DATA in hello.types else 0
        return hello

    def is_encrypted(self):
        """Handshake messages behind a change of cipher spec are, up to TLS 1.2, and one of 256 begins as a hello."""
        record = int.from_bytes(self.begun[3:RECORD_HEAD], "big")
        message = self.begun[RECORD_HEAD:]
        if len(self.begun) <= RECORD_HEAD or message[0] != CLIENT_HELLO or record < LEAST_ENCRYPTED:
            return False
        if len(message) < MESSAGE_HEAD + 2:
            raise Short
        size = MESSAGE_HEAD + int.from_bytes(message[1:MESSAGE_HEAD], "big")
        return size > record and (size > MOST_BYTES or message[MESSAGE_HEAD] != 3)

    def step_over(self):
        """A record that no hello is in."""
        kind, size = self.begun[0], int.from_bytes(self.begun[3:RECORD_HEAD], "big")
        if kind == ALERT and len(self.begun) <= RECORD_HEAD:
            raise Short
        alert = kind == ALERT and size == 2 and self.begun[1] == 3
        if not alert and kind != CHANGE_CIPHER_SPEC and not (kind == APPLICATION_DATA and self.early):
            raise OtherBytes
        if len(self.begun) < RECORD_HEAD + max(size, 1):
            raise Short
        if kind == CHANGE_CIPHER_SPEC and (self.begun[1] != 3 or self.begun[3:6] != b"\0\1\1"):
            raise OtherBytes
        self.changed |= kind == CHANGE_CIPHER_SPEC
        if kind == APPLICATION_DATA:
            self.early = max(0, self.early - max(size, LEAST_EARLY_RECORD))
        self.begun = self.begun[RECORD_HEAD + size:]


def first_message(octets):
    """-> (the message of the handshake that begins here, what stands behind it)"""
    message, size, records = b"", None, 0
    while size is None or len(message) < size:
        if records == MOST_RECORDS:
            raise BadHello("too_many_pieces")
        if octets[:1] not in (b"", bytes([HANDSHAKE])) or octets[1:2] not in (b"", b"\3"):
            raise BadHello("bad_record") if records else OtherBytes
        if len(octets) < RECORD_HEAD:
            raise Short
        length = int.from_bytes(octets[3:RECORD_HEAD], "big")
        if length > MOST_RECORD:
            raise BadHello("bad_record") if records else OtherBytes
        content = octets[RECORD_HEAD:RECORD_HEAD + length]
        message += content
        if message and message[0] != CLIENT_HELLO:
            raise OtherBytes
        if size is None and len(message) >= MESSAGE_HEAD:
            size = MESSAGE_HEAD + int.from_bytes(message[1:MESSAGE_HEAD], "big")
            if size > MOST_BYTES:
                raise BadHello("head_too_long")
        records += 1
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
            # RFC 8446, 4.1.2: a client that answers a HelloRetryRequest changes neither.
            packet.handshakes = 1 if hello.asked_for != connection.asked_for else 0
            connection.asked_for = hello.asked_for
            connection.stage = "behind" if connection.stage == "first" else "over"
        return connection
