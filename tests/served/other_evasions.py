"""Ways to have a hello or a query served uncounted, each one of a kind, before servers of TLS, QUIC and DNS."""
import random
import struct

import hellos
import queries
from evasions import FAR, OTHER_BYTES, SILENCE, TCP_FRAGMENT, TTL, UNREADABLE, URGENT, Evasion, pieces, stamped
from hellos import Client, crypto, quic_hello, records
from plan import Datagram, Finish, Open, Plan, Send, Wait, flows
from queries import over_tcp, query, question
from servers import LOGIN_NAME, OTHER_NAME
from wire import ACK, FIN, PSH, RST, SYN, URG

TLS, QUIC, NAMED = "tls", "quic", "named"
# Reasons that the manual lists, beside those of evasions.py.
UNREADABLE_HELLO, MALFORMED_HELLO, TOO_LONG, LOST_HEAD = "unreadable_hello", "malformed_hello", "head_too_long", "lost_head"
FRAGMENT = "fragment_of_refused"
dice = random.Random("hellos and queries")


def one(*steps, seconds=0.5):
    return (Open(), *steps, Wait(seconds))


def datagrams(*steps, seconds=0.6):
    return (*steps, Wait(seconds, "time"))


def login(**how):
    return hellos.hello(dice, LOGIN_NAME.encode(), **how)


HELLO = login()
RECORD = records(HELLO)
DECOY = records(hellos.hello(dice, OTHER_NAME.encode()))
HALF = len(RECORD) // 2
WARNING = b"\x15\3\1\0\2\1\0"  # close_notify is no warning: user_canceled
CANCELED = b"\x15\3\1\0\2\1\x5a"
CHANGE = b"\x14\3\1\0\1\1"


def sslv2():
    body = b"\1\3\3" + struct.pack("!HHH", 3, 0, 16) + b"\0\xc0\x2f" + dice.randbytes(16)
    return struct.pack("!H", 0x8000 | len(body)) + body


def tls(name, *steps, **how):
    return TLS, Evasion("TLS: " + name, one(*steps), port=443, **how)


def retried(name, first, *between, second=LOGIN_NAME):
    """A second hello, behind a HelloRetryRequest."""
    client = hellos.Retried(dice)
    one_hello, behind = client.hello(first.encode(), False), b"".join(between)
    return tls(name, Send(one_hello), Wait(0.3, "time"), Send(behind + client.hello(second.encode(), True), len(one_hello)))


def retried_in_pieces(name, *within, refused="", record=60, **how):
    """The same for another name, behind a change of cipher spec, in records of so many bytes with something behind the first."""
    client = hellos.Retried(dice)
    one_hello, message = client.hello(OTHER_NAME.encode(), False), client.message(LOGIN_NAME.encode(), True, **how)
    all_records = records(message, range(record, len(message), record), 0x0303)
    at = record + hellos.RECORD_HEAD
    second = CHANGE + all_records[:at] + b"".join(within) + all_records[at:]
    return tls(f"behind a HelloRetryRequest and a change of cipher spec another name, {name}", Send(one_hello), Wait(0.3, "time"),
               *(Send(second[at:at + 1400], len(one_hello) + at) for at in range(0, len(second), 1400)), refused=refused)


def with_hybrid_share(*cuts):
    """As browsers send it, in two segments; in records that end there."""
    text = records(hellos.Retried(dice).message(LOGIN_NAME.encode(), True, hybrid=dice.randbytes(hellos.HYBRID_SIZE)), cuts)
    return Send(text[:1400]), Send(text[1400:], 1400)


def again(text, end):
    return (Open(), Send(text), Wait(), *end) * 3


def twin(name, **how):
    """A record that differs from its twin in the name alone."""
    return records(hellos.hello(random.Random("twins"), name, **how))


def overlapped_unseen(real, decoy, to):
    """Half of the decoy, a rest that overlaps it, and the beginning that its server lacks."""
    return (decoy[:to + 4], 0, False), (real[to:], to, True), (real[:to], 0, True)


def beyond_horizon(real, decoy, at, to, sizes):
    """The oldest segment lies in the middle, and many come behind it."""
    return (decoy[at:to], at, False), (real[:at], 0, True), *pieces(real, to, sizes), (real[:to], 0, True)


def another_last_byte(real, last):
    return (real[:-1], 0, True), (last, len(real) - 1, False), (real[-1:], len(real) - 1, True)


# Before segments of good timestamps: servers drop them.
OLD = ("half, a rest that overlaps it, and another beginning", "the oldest segment in the middle",
       "a last byte, and another as a keep-alive")
LONG, LONG_DECOY = (twin(name.encode(), extensions=hellos.extension(21, bytes(200))) for name in (LOGIN_NAME, OTHER_NAME))
NAME_AT = LONG.index(LOGIN_NAME.encode())
NAME_TO = NAME_AT + len("login")
NAMED_LAST = twin(None, extensions=hellos.sni(LOGIN_NAME.encode()))
OLD_TLS = (overlapped_unseen(LONG, LONG_DECOY, NAME_TO), beyond_horizon(LONG, LONG_DECOY, NAME_AT, NAME_TO, range(11, 20)),
           another_last_byte(NAMED_LAST, b"f"))

OF_TLS = (
    tls("a hello", Send(RECORD)),
    tls("a hello in two segments, the second first", Send(RECORD[HALF:], HALF), Send(RECORD[:HALF])),
    tls("a hello in three records", Send(records(HELLO, (20, 60)))),
    tls("a record for each byte", Send(records(HELLO, range(1, len(HELLO))))),
    tls("an empty record first", Send(records(b"") + RECORD)),
    tls("a warning first", Send(CANCELED + RECORD), refused=UNREADABLE),
    tls("a change of cipher spec first", Send(CHANGE + RECORD), refused=UNREADABLE),
    tls("SSLv2", Send(sslv2()), refused=UNREADABLE_HELLO),
    tls("a record of version 3.4", Send(records(HELLO, version=0x0304))),
    tls("a record of version 3.255", Send(records(HELLO, version=0x03FF))),
    tls("a record of version 2.0", Send(records(HELLO, version=0x0200)), refused=UNREADABLE),
    tls("a name in great letters", Send(records(hellos.hello(dice, LOGIN_NAME.upper().encode())))),
    tls("a dot behind the name", Send(records(hellos.hello(dice, LOGIN_NAME.encode() + b".")))),
    tls("a name with a port", Send(records(hellos.hello(dice, LOGIN_NAME.encode() + b":443"))), refused=UNREADABLE_HELLO),
    tls("a name with a dot and a colon", Send(records(hellos.hello(dice, LOGIN_NAME.encode() + b".:x"))), refused=UNREADABLE_HELLO),
    tls("a blank behind the name", Send(records(hellos.hello(dice, LOGIN_NAME.encode() + b" "))), refused=UNREADABLE_HELLO),
    *(tls(f"a name {what}", Send(records(hellos.hello(dice, name.encode()))), refused=UNREADABLE_HELLO) for what, name in (
        ("behind a blank", " " + LOGIN_NAME), ("with a tab behind it", LOGIN_NAME + "\t"), ("behind a line end", "\n" + LOGIN_NAME),
        ("behind U+00A0", "\u00a0" + LOGIN_NAME), ("with U+3000 behind it", LOGIN_NAME + "\u3000"),
        ("with a dotted I", LOGIN_NAME.replace("i", "\u0130").upper()))),
    tls("two names", Send(records(hellos.hello(dice, OTHER_NAME.encode(), hellos.sni(LOGIN_NAME.encode())))), refused=MALFORMED_HELLO),
    tls("a NUL in the name", Send(records(hellos.hello(dice, LOGIN_NAME.encode() + b"\0"))), refused=UNREADABLE_HELLO),
    tls("a HTTP request first", Send(b"GET / HTTP/1.1\r\n\r\n" + RECORD)),
    tls("1,000 bytes of padding", Send(records(login(extensions=hellos.extension(21, bytes(1000)))))),
    tls("a hello of 9,000 bytes", *(Send(big[at:at + 1400], at) for big in [records(login(extensions=hellos.extension(
        21, bytes(8900))))] for at in range(0, len(big), 1400))),
    tls("a share of a post-quantum group", *with_hybrid_share()),
    tls("a share of a post-quantum group in three records", *with_hybrid_share(500, 1000)),
    tls("an urgent byte", Send(RECORD[:HALF] + b"X", flags=ACK | PSH | URG, urgent=HALF + 1), Send(RECORD[HALF:], HALF + 1),
        refused=URGENT),
    tls("a decoy of wrong checksum", Send(DECOY, wrong_tcp=True), Send(RECORD)),
    tls("a decoy that dies on its way", Send(DECOY, ttl=2), Send(RECORD), refused=TTL),
    tls("a decoy without ACK", Send(DECOY, flags=PSH, ack=None), Send(RECORD)),
    tls("other bytes for the same place", Send(DECOY[HALF:], HALF), Send(RECORD[HALF:], HALF), Send(RECORD[:HALF]), refused=OTHER_BYTES),
    tls("forgotten by a RST", Send(b"", FAR, flags=RST), Send(RECORD[HALF:], HALF), Send(RECORD[:HALF])),
    tls("forgotten by a SYN", Send(b"", FAR, flags=SYN), Send(RECORD[HALF:], HALF), Send(RECORD[:HALF])),
    tls("IP fragments", Send(RECORD, cuts=(24, 80)), refused=TCP_FRAGMENT),
    tls("a FIN with it", Send(RECORD, flags=FIN | PSH | ACK)),
    retried("behind a HelloRetryRequest", LOGIN_NAME),
    retried("behind a HelloRetryRequest another name", OTHER_NAME),
    retried("behind a HelloRetryRequest and a change of cipher spec another name", OTHER_NAME, CHANGE),
    retried("behind a HelloRetryRequest and warnings another name", OTHER_NAME, CANCELED, CANCELED, CHANGE, CANCELED),
    *(retried_in_pieces(f"of version {version.hex()} in records", version=version) for version in (b"\3\3", b"\4\3", b"\x7f\x7f")),
    retried_in_pieces("a warning in it", CANCELED, refused=UNREADABLE_HELLO),
    retried_in_pieces("a change of cipher spec in it", CHANGE, refused=UNREADABLE_HELLO),
    retried_in_pieces("an empty record in it", records(b"")),
    retried_in_pieces("of 68,000 bytes", refused=TOO_LONG, record=16_000, extensions=hellos.extension(21, bytes(60_000)),
                      ciphers=hellos.AES_128_GCM + 4000 * b"\xfa\xfa"),
    retried("behind a HelloRetryRequest and an empty record another name", OTHER_NAME, records(b"")),
    retried("behind a HelloRetryRequest, a change of cipher spec and an empty record another name", OTHER_NAME, CHANGE, records(b"")),
    (TLS, Evasion("TLS: same ports and first number, after FIN", again(RECORD, (Finish(len(RECORD)),)), port=443)),
    (TLS, Evasion("TLS: same ports and first number, after RST", again(
        RECORD, (Send(b"", len(RECORD), flags=RST | ACK), Wait(0.05, "time"))), port=443)),
    *((TLS, Evasion(f"TLS: {what}, of an old timestamp", stamped(*segments), port=443))
      for what, segments in zip(OLD, OLD_TLS)),
)


class Fresh(Evasion):
    """`steps` makes them, with ids that no server has seen."""

    def plan(self, seed):
        return Plan(self.name, flows(f"{seed} {self.name}", self.flows), datagrams(*self.steps()), self.port)


def quic(name, make, seconds=5, flow_count=1, refused=""):
    return QUIC, Fresh("QUIC: " + name, make, flows=flow_count, port=443, seconds=seconds, refused=refused)


class Ids:
    """A client of QUIC with a hello for LOGIN_NAME and another."""

    def __init__(self, **how):
        self.client = Client(dice, **how)
        self.hello = quic_hello(dice, LOGIN_NAME.encode(), self.client.scid)
        self.decoy = quic_hello(dice, OTHER_NAME.encode(), self.client.scid)

    def whole(self, message=None):
        return self.client.initial(crypto(message or self.hello))

    def parts(self, *edges):
        edges = [0, *edges, len(self.hello)]
        return [crypto(self.hello, a, b) for a, b in zip(edges, edges[1:])]


def a_hello(**how):
    return Datagram(Ids(**how).whole())


def decoy():
    ids = Ids()
    return ids.whole(ids.decoy)


def after_decoy(**how):
    ids = Ids()
    return Datagram(ids.whole(ids.decoy), **how), Datagram(ids.whole())


def in_parts(turned):
    ids = Ids()
    sent = [Datagram(ids.client.initial(part)) for part in ids.parts(100)]
    return sent[::-1] if turned else sent


def overlapped():
    """The first half of the decoy at a place that the whole hello then covers."""
    ids = Ids()
    return Datagram(ids.client.initial(crypto(ids.decoy, 60, 130))), Datagram(ids.whole())


def given_up():
    """The first bytes of the hello, then, once they are given up, the decoy whole: its server takes the rest alone."""
    ids = Ids()
    assert len(ids.hello) == len(ids.decoy)
    same = next(at for at, (one, other) in enumerate(zip(ids.hello, ids.decoy)) if one != other)
    bad_frame = Datagram(ids.client.initial(b"\x1e"))
    head = Datagram(ids.client.initial(crypto(ids.hello, 0, same + len(LOGIN_NAME))))
    return head, bad_frame, Datagram(ids.whole(ids.decoy))


def another_rest():
    """The decoy's rest has a number that came before: servers drop it, and take the one behind it."""
    ids = Ids()
    assert len(ids.hello) == len(ids.decoy)
    head = Datagram(ids.client.initial(crypto(ids.hello, 0, 40)))
    ids.client.number = 0
    decoy = Datagram(ids.client.initial(crypto(ids.decoy, 40, len(ids.decoy))))
    return head, decoy, Datagram(ids.client.initial(crypto(ids.hello, 40, len(ids.hello))))


def expanded_number():
    """A receiver that has seen 40000 reads 10, in two bytes, as 65546 (RFC 9000, A.3)."""
    ids = Ids()
    ids.client.number = 40_000
    head = Datagram(ids.client.initial(crypto(ids.hello, 0, 40)))
    ids.client.number = 65_546
    return head, Datagram(ids.client.initial(crypto(ids.hello, 40, len(ids.hello))))


def coalesced():
    ids = Ids()
    first = ids.client.initial(b"\1", 0)
    return (Datagram(first + ids.client.initial(crypto(ids.hello), 1200 - len(first))),)


def scattered_frames():
    ids = Ids()
    frames = ids.parts(*range(5, len(ids.hello), 7))
    random.Random("scattered").shuffle(frames)
    return (Datagram(ids.client.initial(b"".join(frames))),)


def behind_retry(first, *edges, is_ahead=False):
    """A second hello for LOGIN_NAME, which its server asks for: it follows the first one in the CRYPTO stream."""
    client = Client(dice)
    one, second = (quic_hello(dice, name.encode(), client.scid, name_has_share) for name, name_has_share in (
        (first, False), (LOGIN_NAME, True)))
    both = one + second
    edges = [0, *(len(one) + edge for edge in (0, *edges)), len(both)]
    if is_ahead:
        return (Datagram(client.initial(crypto(both))),)
    sent = [Datagram(client.initial(crypto(both, a, b))) for a, b in zip(edges, edges[1:])]
    return sent[0], Wait(0.5, "time"), *sent[1:]


def behind_two():
    """The decoy is longer, and its server drops it for its number: it reads a second hello where the first one ends."""
    client = Client(dice)
    one, other = (quic_hello(dice, name.encode(), client.scid, False) for name in (OTHER_NAME, "longer." + OTHER_NAME))
    both = one + quic_hello(dice, LOGIN_NAME.encode(), client.scid)
    first = Datagram(client.initial(crypto(one)))
    client.number = 0
    decoy = Datagram(client.initial(crypto(other)))
    return first, Wait(0.05, "time"), decoy, Wait(0.5, "time"), Datagram(client.initial(crypto(both, len(one))))


def closed_and_again(pause):
    """The same datagram once more, when the server has forgotten the connection that was closed."""
    ids = Ids()
    sent = Datagram(ids.whole())
    close = Datagram(ids.client.initial(b"\x1c\0\0\0"))
    return (sent, Wait(0.3, "time"), close, Wait(pause, "time")) * 2 + (sent,)


def from_two_ports():
    ids = Ids()
    sent = ids.whole()
    return Datagram(sent), Datagram(sent, flow=1)


def other_version():
    ids = Ids()
    return Datagram(b"\xc0\x1a\x2a\x3a\x4a" + bytes(1200)), Datagram(ids.whole())


def silent():
    sent = a_hello()
    return sent, Wait(SILENCE, "time"), sent


OF_QUIC = (
    quic("a hello", lambda: [a_hello()]),
    quic("three from one port", lambda: [a_hello(), a_hello(), a_hello()]),
    quic("version 2", lambda: [a_hello(version=hellos.VERSION2)]),
    quic("a second hello under one id, the first of wrong checksum", lambda: after_decoy(wrong=True)),
    quic("a second hello under one id, the first dies on its way", lambda: after_decoy(ttl=2)),
    quic("in two datagrams", lambda: in_parts(False)),
    quic("in two datagrams, the second first", lambda: in_parts(True)),
    quic("other bytes for the same place", overlapped, refused=OTHER_BYTES),
    quic("another rest behind one that its server drops", another_rest, refused=OTHER_BYTES),
    quic("another hello behind parts that were given up", given_up, refused=OTHER_BYTES),
    quic("a number that its receiver expands", expanded_number, refused=LOST_HEAD),
    quic("behind another Initial", coalesced),
    quic("in scattered frames", scattered_frames),
    quic("behind a HelloRetryRequest", lambda: behind_retry(LOGIN_NAME)),
    quic("behind a HelloRetryRequest another name", lambda: behind_retry(OTHER_NAME)),
    quic("behind a HelloRetryRequest another name in parts", lambda: behind_retry(OTHER_NAME, 50, 90)),
    quic("two hellos at once", lambda: behind_retry(OTHER_NAME, is_ahead=True), refused=MALFORMED_HELLO),
    quic("behind a HelloRetryRequest and a hello that its server drops", behind_two, refused=LOST_HEAD),
    quic("a token that nobody gave", lambda: [a_hello(token=b"token")]),
    quic("another version first", other_version),
    quic("IP fragments", lambda: [Datagram(Ids().whole(), cuts=(24, 800))]),
    quic("the same from another port", from_two_ports, flow_count=2),
    quic("closed, forgotten, the same again", lambda: closed_and_again(4), seconds=12),
    quic("silence, the same again", silent, seconds=SILENCE + 5),
)


def dns(name, *steps, refused=""):
    return NAMED, Evasion("DNS: " + name, datagrams(*steps, seconds=0.4), refused=refused, port=53)


def dns_tcp(name, *steps, refused=""):
    return NAMED, Evasion("DNS over TCP: " + name, one(*steps, Wait(0.2)), refused=refused, port=53)


QUERY = query(LOGIN_NAME)
OVER_TCP = over_tcp(QUERY)
OTHER_OVER_TCP = over_tcp(query(OTHER_NAME))
# Its root label is a byte of the header: the upper one of the number of answers.
POINTED = queries.message(queries.name(LOGIN_NAME)[:-1] + b"\xc0\6" + struct.pack("!HH", 1, 1))
LABEL_AT = OVER_TCP.index(b"login")
LABEL_TO = LABEL_AT + len("login")
OLD_DNS = (overlapped_unseen(OVER_TCP, OTHER_OVER_TCP, LABEL_TO), beyond_horizon(
    OVER_TCP, OTHER_OVER_TCP, LABEL_AT, LABEL_TO, [1]), another_last_byte(OVER_TCP, b"\3"))
OF_DNS = (
    dns("a query", Datagram(QUERY)),
    dns("the same three times", *[Datagram(QUERY)] * 3),
    dns("in great letters", Datagram(query(LOGIN_NAME.upper()))),
    dns("with EDNS", Datagram(query(LOGIN_NAME, counts=(1, 0, 0, 1), rest=queries.padding(40)))),
    dns("a pointer for the root", Datagram(POINTED)),
    dns("bytes behind it", Datagram(QUERY + b"more")),
    dns("two questions", Datagram(queries.message(question(OTHER_NAME) + question(LOGIN_NAME), counts=(2, 0, 0, 0)))),
    dns("an answer in it", Datagram(query(LOGIN_NAME, counts=(1, 1, 0, 0), rest=queries.name(LOGIN_NAME) + struct.pack(
        "!HHIH4s", 1, 1, 60, 4, b"abcd")))),
    dns("of any class", Datagram(queries.message(question(LOGIN_NAME, group=255)))),
    dns("of any type", Datagram(queries.message(question(LOGIN_NAME, kind=255)))),
    dns("all flags", Datagram(query(LOGIN_NAME, flags=0x07F0))),
    dns("an error code", Datagram(query(LOGIN_NAME, flags=0x010F))),
    dns("opcode NOTIFY", Datagram(query(LOGIN_NAME, flags=0x2000))),
    dns("opcode IQUERY", Datagram(query(LOGIN_NAME, flags=0x0800))),
    dns("a decoy of wrong checksum", Datagram(query(OTHER_NAME), wrong=True), Datagram(QUERY)),
    dns("of wrong checksum", Datagram(QUERY, wrong=True)),
    dns("IP fragments behind the question", Datagram(query(LOGIN_NAME, counts=(1, 0, 0, 1), rest=queries.padding(200)),
                                                     cuts=(64,))),
    dns("IP fragments within the question", Datagram(query(LOGIN_NAME, counts=(1, 0, 0, 1), rest=queries.padding(200)),
                                                     cuts=(24,))),
    dns("the same IP fragments again", *[Datagram(query(LOGIN_NAME, counts=(1, 0, 0, 1), rest=queries.padding(200)), cuts=(64,),
                                                  number=4242)] * 3, refused=FRAGMENT),
    dns_tcp("a query", Send(OVER_TCP)),
    dns_tcp("three in one segment", Send(3 * OVER_TCP)),
    dns_tcp("16 in one segment", Send(16 * OVER_TCP)),
    dns_tcp("behind another", Send(OTHER_OVER_TCP + OVER_TCP)),
    dns_tcp("byte by byte", *(Send(OVER_TCP[at:at + 1], at) for at in range(len(OVER_TCP)))),
    dns_tcp("the second half first", Send(OVER_TCP[10:], 10), Send(OVER_TCP[:10])),
    dns_tcp("forgotten by a RST", Send(b"", FAR, flags=RST), Send(OVER_TCP[10:], 10), Send(OVER_TCP[:10])),
    dns_tcp("an empty message first", Send(b"\0\0" + OVER_TCP), refused=UNREADABLE),
    dns_tcp("what is no query first", Send(b"\0\5abcde" + OVER_TCP), refused=UNREADABLE),
    dns_tcp("an answer first", Send(over_tcp(query(OTHER_NAME, flags=0x8180)) + OVER_TCP)),
    dns_tcp("a FIN with it", Send(OVER_TCP, flags=FIN | PSH | ACK)),
    dns_tcp("a decoy of wrong checksum", Send(OTHER_OVER_TCP, wrong_tcp=True), Send(OVER_TCP)),
    dns_tcp("IP fragments", Send(OVER_TCP, cuts=(24,)), refused=TCP_FRAGMENT),
    *((NAMED, Evasion(f"DNS over TCP: {what}, of an old timestamp", stamped(*segments), port=53))
      for what, segments in zip(OLD, OLD_DNS)),
)
EVASIONS = OF_TLS + OF_QUIC + OF_DNS


def last_plan(name):
    """For another name than logins have."""
    steps, port = {TLS: (one(Send(DECOY)), 443), QUIC: (datagrams(Datagram(decoy()), seconds=0.2), 443),
                   NAMED: (datagrams(Datagram(query(OTHER_NAME)), seconds=0.1), 53)}[name]
    return Plan("the last", flows("the last"), steps, port)
