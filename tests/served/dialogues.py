"""Dialogues of other protocols, and of TLS and DNS as they are seldom seen: none is anybody's to refuse."""
import dataclasses
import random
import struct

import wire
from capture_files import ethernet, ipv4, udp_header
from wire import ACK, FIN, PSH, SYN, Headers

CLIENT, SERVER = wire.packed("10.0.0.1"), wire.packed("10.0.0.2")
INSIDE = "10.0.0.2/32"
TICK = 1_000_000  # ns between frames


@dataclasses.dataclass(frozen=True)
class Dialogue:
    """`turns`: (is it the client's, bytes), each one segment or more."""
    name: str
    port: int
    turns: tuple


def c(*texts):
    return tuple((True, text if isinstance(text, bytes) else text.encode()) for text in texts)


def s(*texts):
    return tuple((False, text if isinstance(text, bytes) else text.encode()) for text in texts)


def vnc(dice):
    """Remote desktop: pointer and key events, and lines of text cut in the client, some of a word and a blank."""
    events = []
    for _ in range(60):
        events.append(dice.choice((
            struct.pack("!BBHH", 5, dice.getrandbits(3), dice.randrange(2000), dice.randrange(1200)),
            struct.pack("!BBHI", 4, dice.getrandbits(1), 0, dice.randrange(32, 127)),
            struct.pack("!BBHHHH", 3, 1, 0, 0, 1920, 1080),
            cut_text(dice), b"GET " + dice.randbytes(30), b"word " + b"x" * dice.randrange(1400))))
    hello = b"RFB 003.008\n"
    return Dialogue("VNC", 5900, s(hello) + c(hello) + s(b"\1\1") + c(b"\1") + s(b"\0\0\0\0") + c(b"\1", *events))


def cut_text(dice):
    text = b"word blank and no line end " * dice.randrange(1, 40)
    return struct.pack("!B3xI", 6, len(text)) + text


def tls_record(kind, body, version=0x0303):
    return struct.pack("!BHH", kind, version, len(body)) + body


def tls12(dice, hello, name, finished_first):
    """RSA key exchange of TLS 1.2; the encrypted Finished begins with that byte."""
    handshake, change, data = 22, 20, 23
    key_exchange = tls_record(handshake, b"\x10\0\1\2\1\0" + dice.randbytes(256))
    finished = tls_record(handshake, bytes([finished_first]) + dice.randbytes(39))
    server = tls_record(handshake, b"\2\0\0\x26\3\3" + dice.randbytes(32) + b"\0\0\x9c\0") + tls_record(
        handshake, b"\x0b" + (900).to_bytes(3, "big") + dice.randbytes(900)) + tls_record(handshake, b"\x0e\0\0\0")
    return Dialogue(name, 443, c(hello) + s(server) + c(key_exchange, tls_record(change, b"\1"), finished)
                    + s(tls_record(change, b"\1") + tls_record(handshake, dice.randbytes(40)))
                    + c(tls_record(data, dice.randbytes(100))) + s(tls_record(data, dice.randbytes(2000))))


TEXTS = (
    Dialogue("SMTP", 25, s("220 mx ESMTP\r\n") + c("EHLO client.example\r\n") + s("250-mx\r\n250 SIZE 1000000\r\n") + c(
        "MAIL FROM:<a@b.example>\r\n") + s("250 ok\r\n") + c("RCPT TO:<c@d.example>\r\n") + s("250 ok\r\n") + c("DATA\r\n")
        + s("354 go on\r\n") + c("Subject: GET /login HTTP/1.1\r\n\r\n", "GET /login\r\n", "word blank ", "x" * 1400, "\r\n.\r\n")),
    Dialogue("rlogin", 513, c(b"\0", b"root\0root\0xterm/38400\0") + s(b"\0", "login: ") + c("r", "o", "o", "t\r") + s(
        "\r\nPassword: ") + c("secret word \r") + s("Last login\r\n$ ") + c("ls -l /tmp ", "| wc ", "\r")),
    Dialogue("telnet", 23, s(b"\xff\xfd\x18\xff\xfd\x20") + c(b"\xff\xfb\x18\xff\xfc\x20") + s("login: ") + c("user ") + c(
        "name\r\n") + s("Password: ") + c("two words\r\n") + s("$ ") + c("GET ", "me ", "out\r\n")),
    Dialogue("FTP", 21, s("220 ready\r\n") + c("USER anonymous\r\n") + s("331 who\r\n") + c("PASS a b c\r\n", "PUT /x y\r\n")),
    Dialogue("SSH", 22, s("SSH-2.0-OpenSSH_9.2\r\n") + c("SSH-2.0-client one two ", "three\r\n") + c(bytes(range(256)) * 4)),
    Dialogue("IRC", 6667, c("NICK a\r\n", "USER a 0 * :real name\r\n", "PRIVMSG #x :GET / HTTP/1.1\r\n")),
    Dialogue("redis", 6379, c("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n") + s("+OK\r\n") + c("GET a\r\n") + s("$1\r\nb\r\n")),
    Dialogue("memcached", 11211, c("get a\r\n") + s("END\r\n") + c("set a 0 0 5\r\n", "hello\r\n") + s("STORED\r\n")),
    Dialogue("gopher", 70, c("/a selector with blanks\t\r\n") + s("iText\tfake\t(NULL)\t0\r\n.\r\n")),
    Dialogue("rsync", 873, s("@RSYNCD: 31.0\n") + c("@RSYNCD: 31.0\n", "module\n") + s("@RSYNCD: OK\n") + c("--server\0")),
    Dialogue("BitTorrent", 6881, c(b"\x13BitTorrent protocol" + bytes(8) + b"a" * 40)),
    Dialogue("printer", 9100, c("%!PS\n", "word word word " * 200, b"\x1b%-12345X@PJL JOB\r\n")),
)


def all_dialogues(seed, hello, count=16):
    dice = random.Random(f"dialogues {seed}")
    out = list(TEXTS)
    for number in range(count):
        out.append(vnc(dice))
        out.append(tls12(dice, hello, "TLS 1.2", 1 if number % 2 else dice.randrange(256)))
        out.append(Dialogue("noise", dice.randrange(1024, 65536), c(*(dice.randbytes(dice.randrange(1, 1400)) for _ in range(8)))))
    return out


def frames(dialogue, sport):
    """As a capture has them, handshake and end in order, each segment of the client once more."""
    ports = {True: (CLIENT, SERVER, sport, dialogue.port), False: (SERVER, CLIENT, dialogue.port, sport)}
    next_of = {True: 1000 * sport & wire.MASK, False: 77 * sport & wire.MASK}
    out = []

    def put(is_client, flags, data=b""):
        src, dst, source, target = ports[is_client]
        ack = next_of[not is_client] if flags & ACK else 0
        out.append(ethernet(wire.packets(src, dst, source, target, Headers(next_of[is_client], ack, flags), data)[0], 0x0800))
        next_of[is_client] = next_of[is_client] + len(data) + bool(flags & (SYN | FIN)) & wire.MASK

    put(True, SYN)
    put(False, SYN | ACK)
    put(True, ACK)
    for is_client, text in dialogue.turns:
        for at in range(0, len(text), 1400):
            put(is_client, PSH | ACK, text[at:at + 1400])
            if is_client:
                out.append(out[-1])
            put(not is_client, ACK)
    put(True, FIN | ACK)
    put(False, FIN | ACK)
    put(True, ACK)
    return out


def doubled_fragments():
    """A DNS query over UDP in two fragments, the first of which comes twice."""
    query = b"\0\7\1\0\0\1\0\0\0\0\0\1" + b"\7example\3net\0\0\1\0\1" + b"\0\0\x29\4\xd0\0\0\0\0\0\x30\0\x0c\0\x2c" + bytes(44)
    whole = ipv4("10.0.0.1", "10.0.0.2", 17, udp_header(4000, 53, query))
    head, body = whole[:20], whole[20:]

    def piece(begin, end, more):
        fragment = struct.pack("!HHHH", 20 + end - begin, 77, begin // 8 | (0x2000 if more else 0), 0x4011)
        changed = head[:2] + fragment + b"\0\0" + head[12:]
        value = wire.checksum(changed)
        return ethernet(changed[:10] + struct.pack("!H", value) + changed[12:] + body[begin:end], 0x0800)

    first, second = piece(0, 32, True), piece(32, len(body), False)
    return [first, first, second]


def capture(dialogues):
    """[(time in ns, frame)] of all of them, one behind the other."""
    out = doubled_fragments()
    for number, dialogue in enumerate(dialogues):
        out += frames(dialogue, 20_000 + number)
    return [(number * TICK, frame) for number, frame in enumerate(out)]
