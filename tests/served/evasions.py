"""Known ways to be served without being counted, each one of a kind: a table of plans."""
import dataclasses
import itertools
import random

from beyond import AIOHTTP, JAVA, SIMPLE
from heads import (CHUNKED, DECOY, H2_OPENING, HOST, LOGIN, OTHER, PATH, PROXY_LINE, UPGRADE_LINES, WEBSOCKET_LINES, get, h2_get,
                   post)
from multipath import swapped
from plan import Deliver, Finish, Open, Plan, Send, Wait, flows
from servers import PROXIED_PORT
from wire import ACK, FIN, PSH, RST, SYN, URG

CUT = LOGIN.index(b"HTTP")  # of a head that comes in two parts
FIRST_HALF, SECOND_HALF = LOGIN[:CUT], LOGIN[CUT:]
REQUEST_LINE = LOGIN.index(b"\n") + 1
FAR = 900_000  # bytes beyond any window
SILENCE = 65
AGAIN = 4
# Reasons that the manual lists, and events: what is urgent becomes a byte like any other, and the path another; without its
# options a byte stays in its place.
AMBIGUOUS, OTHER_BYTES, TCP_FRAGMENT, UNREADABLE = "ambiguous_request", "overlap", "tcp_fragment", "unreadable"
MALFORMED = "malformed_request"
URGENT, OPTIONS, TTL, DOUBTFUL = "urgent_cleared", "options_cleared", "ttl_raised", "doubtful_options"


@dataclasses.dataclass(frozen=True)
class Evasion:
    """`steps` in one connection, or several. `refused`: the reason, or event, by which the box may refuse it although some
    server serves it, as the manual lists; empty: it may not. `is_limited`: tried where the first request has used up a
    limit. `seconds`: how long it takes. `by_choice`: served uncounted where the operator lets pass what a server has
    agreed to, and some server agrees and goes on with HTTP. `served_by`: of the servers beyond the six those that served it
    uncounted when it was found."""
    name: str
    steps: tuple
    flows: int = 1
    refused: object = ""
    is_limited: bool = False
    seconds: float = 5
    port: int = 80
    by_choice: bool = False
    served_by: tuple = ()

    def plan(self, seed):
        return Plan(self.name, flows(f"{seed} {self.name}", self.flows), self.steps, self.port)


SIGNATURE = b"\x13\x12" + bytes(16)  # which Linux does not take of a client with whom it shares no key
SOURCE_ROUTE = b"\x83\x07\x04" + bytes([10, 78, 0, 1])
LABEL = b"\x86\x04\0\0"  # CIPSO, without a domain
MULTIPATH = b"\x1e\x04\x20\x01"  # RFC 8684: a DSS without a mapping
CUT_OPTION = b"\x07\x20\x04"  # record route, longer than the header


def stamps(value):
    """A timestamp of TCP."""
    return b"\1\1\x08\x0a" + value.to_bytes(4, "big") + bytes(4)


def stamped(*sends):
    """Of a connection with timestamps. `(text, at, is_taken)`: the server does not take the others, whose stamps are old."""
    fresh = iter(range(1_000_001, 2_000_000))
    return (Open(options=stamps(1_000_000)), *(step for text, at, is_taken in sends for step in (
        Send(text, at, options=stamps(next(fresh) if is_taken else 1000)), Wait(0.05, "time"))), Wait())


def pieces(text, at, sizes):
    """`(text, at, True)` of each piece of the text from `at` on."""
    sizes = itertools.cycle(sizes)
    while at < len(text):
        size = next(sizes)
        yield text[at:at + size], at, True
        at += size


def one(*sends):
    return (Open(), *sends, Wait())


def sends(text):
    return one(Send(text))


def halves_backwards():
    return Send(SECOND_HALF, CUT), Send(FIRST_HALF)


CHUNKS = post(OTHER, CHUNKED)
BIG_CHUNK, LAST_CHUNK = b"1000\r\n", b"0\r\n\r\n"
SIGNED = dict(options=SIGNATURE)


def chunk_decoyed_by(**how):
    """Another size of a chunk in the same place, which the server does not take."""
    return one(Send(CHUNKS), Send(BIG_CHUNK, len(CHUNKS), **how), Send(LAST_CHUNK + LOGIN, len(CHUNKS)), Wait())


def forgotten_by(flags):
    """A segment that the server does not take, then the second half of a head first."""
    return one(Send(b"", FAR, flags=flags), *halves_backwards())


def decoyed_by(**how):
    """Another request at the same place, which the server does not take."""
    return one(Send(DECOY, **how), Send(LOGIN))


def scattered():
    order = list(range(len(LOGIN)))
    random.Random("scattered").shuffle(order)
    return one(*(Send(LOGIN[at:at + 1], at) for at in order), Deliver(LOGIN))


def again(*end):
    return (Open(), Send(LOGIN), Wait(), *end) * AGAIN


# Of two requests the first, whose body the box has to follow.
def behind(first):
    return sends(first + LOGIN)


def in_parts(*parts):
    """Each once its server has had time to answer those before it."""
    ends = list(itertools.accumulate(map(len, parts)))
    return (Open(), *(step for part, end in zip(parts, ends) for step in (Send(part, end - len(part)), Wait())))


def sized(method, size):
    """The head of a request for another page, with a body of so many bytes."""
    return method + get(OTHER, lines=HOST + b"Content-Length: %d\r\n" % size)[3:]


def marked(text, mark, byte=b"X"):
    """An urgent byte in front of `mark`, which the server takes out of the stream."""
    at = text.index(mark)
    return Send(text[:at] + byte + text[at:], flags=ACK | PSH | URG, urgent=at + 1)


CONNECT = b"CONNECT a.example:80 HTTP/1.1\r\n" + HOST + b"\r\n"
WEBSOCKET = get(OTHER, lines=HOST + WEBSOCKET_LINES)
OVERLAP = LOGIN[4:]
SWAPPED = DECOY[4:-2]
PADDED = HOST + b"X: " + b"a" * 300 + b"\r\n"
SHORT = get(OTHER, lines=HOST + b"Content-Length: 0\r\n")
AROUND_LOGIN = post(OTHER, b"Content-Length: %d\r\n" % len(LOGIN), LOGIN)
LONG_LOGIN, LONG_DECOY = get(lines=PADDED), get(OTHER, lines=PADDED)

EVASIONS = (
    Evasion("a request", sends(LOGIN)),
    Evasion("three in one segment", sends(3 * LOGIN)),
    Evasion("same ports and first number, after FIN", again(Finish(len(LOGIN)))),
    Evasion("same ports and first number, after RST", again(Send(b"", len(LOGIN), flags=RST | ACK), Wait(0.05, "time"))),
    Evasion("CR before GET", sends(b"\r" + LOGIN), refused=AMBIGUOUS),
    Evasion("LF CR before GET", sends(b"\n\r" + LOGIN), refused=AMBIGUOUS),
    Evasion("bare line ends", sends(LOGIN.replace(b"\r\n", b"\n")), refused=AMBIGUOUS),
    Evasion("VT and FF for blanks", sends(LOGIN.replace(b" ", b"\x0b", 1).replace(b" ", b"\x0c", 1)), refused=AMBIGUOUS),
    Evasion("forgotten by a SYN", forgotten_by(SYN)),
    Evasion("forgotten by a RST", forgotten_by(RST)),
    Evasion("forgotten by a FIN", forgotten_by(FIN | ACK)),
    Evasion("forgotten in a silence", (Open(), Send(LOGIN), Wait(), Wait(SILENCE, "time"),
                                       Send(SECOND_HALF, len(LOGIN) + CUT), Send(FIRST_HALF, len(LOGIN)), Wait()),
            seconds=SILENCE + 5),
    Evasion("a request ahead of the window", one(Send(LOGIN, FAR), Send(LOGIN[:3]), Send(LOGIN[3:], 3))),
    Evasion("an urgent byte", one(marked(LOGIN, b"gin")), refused=URGENT),
    Evasion("%2F behind ..", sends(get(b"/x/..%2Flogin")), refused=AMBIGUOUS),
    Evasion("%2F as second slash", sends(get(b"/%2Flogin")), refused=AMBIGUOUS),
    *(Evasion(f"a target that is {name}", sends(get(target))) for name, target in (
        ("a host behind two slashes", b"//h/login"), ("a host behind three, and dots", b"///h/x/../login"),
        ("a slash and a backslash", b"/\\login"), ("a host behind backslashes", b"/\\h\\login"),
        ("dots between backslashes", b"/x\\..\\login"), ("of an IPv6 address", b"http://[::1]/login"))),
    *(Evasion(f"a host {name}", sends(get(target, lines=b"Host: " + host + b"\r\n")), refused=reason) for name, target, host, reason in (
        ("of logins", OTHER, b"LOGIN.example.:80", ""), ("of logins in the target", b"http://login.example/index", b"a.example", ""),
        ("of logins behind two slashes", b"//login.example/index", b"a.example", ""),
        ("with an encoded letter", OTHER, b"%6cogin.example", AMBIGUOUS), ("with an encoded dot", OTHER, b"login%2Eexample", AMBIGUOUS),
        ("in letters of full width", OTHER, b"log%EF%BD%89n.example", AMBIGUOUS),
        ("with a soft hyphen", OTHER, b"log%C2%ADin.example", AMBIGUOUS),
        ("with a port of six digits", OTHER, b"login.example:000080", AMBIGUOUS),
        ("with an encoded letter in the target", b"http://%6cogin.example/index", b"a.example", AMBIGUOUS),
        ("with an encoded dot behind two slashes", b"//login%2Eexample/index", b"a.example", AMBIGUOUS))),
    Evasion("a header twice, of which the last is a login's", sends(get(OTHER, lines=HOST + b"X-Login: no\r\nX-Login: yes\r\n"))),
    Evasion("CR CR LF for the empty line", sends(LOGIN[:-2] + b"\r\r\n"), refused=AMBIGUOUS, served_by=(AIOHTTP, JAVA)),
    Evasion("CR CR LF for the last two line ends", sends(LOGIN[:-4] + b"\r\r\n"), refused=AMBIGUOUS, served_by=(JAVA,)),
    Evasion("a chunk of 2^32", behind(post(OTHER, CHUNKED, b"100000000\r\n\r\n")), refused=MALFORMED, served_by=(JAVA,)),
    Evasion("a login for a trailer", sends(post(OTHER, CHUNKED, b"0\r\n" + LOGIN)), refused=MALFORMED, served_by=(JAVA,)),
    *(Evasion(f"a body of {name}", steps, refused=AMBIGUOUS, served_by=(SIMPLE,)) for name, steps in (
        ("GET that is three logins", behind(sized(b"GET", 3 * len(LOGIN)) + 2 * LOGIN)),
        ("GET whose first byte comes alone", in_parts(sized(b"GET", len(LOGIN)), LOGIN[:1], LOGIN[1:])),
        ("HEAD that begins behind the answer", in_parts(sized(b"HEAD", 10**9), LOGIN, LOGIN)))),
    Evasion("HTTP/0.9", sends(b"GET " + PATH + b"\r\n\r\n"), refused=AMBIGUOUS),
    Evasion("a method of 33 bytes", sends(b"M" * 33 + LOGIN[3:])),
    Evasion("a RST of wrong checksum", one(Send(FIRST_HALF), Send(b"", CUT, flags=RST | ACK, wrong_tcp=True),
                                           Send(SECOND_HALF, CUT))),
    Evasion("data of wrong checksum", decoyed_by(wrong_tcp=True)),
    Evasion("data of unfinished checksum", decoyed_by(unfinished=True)),
    Evasion("a SYN of unfinished checksum beside a right one, then such data", (
        Send(b"", -1, flags=SYN, ack=None, unfinished=True), *decoyed_by(unfinished=True))),
    Evasion("data of wrong IP checksum", decoyed_by(wrong_ip=True)),
    Evasion("data that dies on its way", decoyed_by(ttl=2), refused=OTHER_BYTES),
    Evasion("IP fragments of TCP", one(Send(LOGIN, cuts=(24, 40))), refused=TCP_FRAGMENT),
    Evasion("a chunk size that never comes", sends(post(lines=CHUNKED))),
    Evasion("a chunk size of many zeros", behind(post(OTHER, CHUNKED, b"0" * 1000 + b"\r\n\r\n"))),
    Evasion("a chunk extension without end", behind(post(OTHER, CHUNKED, b"0;" + b"x" * 1200 + b"\r\n\r\n"))),
    Evasion("both lengths", behind(post(OTHER, CHUNKED + b"Content-Length: 5\r\n", b"0\r\n\r\n")), refused=AMBIGUOUS),
    Evasion("a refused CONNECT, then GET and the rest", (
        *sends(LOGIN), Open(1), Send(b"CONNECT a.example:80 HTTP/1.1\r\n" + HOST + b"\r\n", flow=1), Wait(0.05, "time", 1),
        Send(LOGIN[:3], flow=1), Send(LOGIN[3:], 3, flow=1), Wait(flow=1)), flows=2, is_limited=True),
    Evasion("a PROXY line", sends(PROXY_LINE + LOGIN), refused=UNREADABLE, port=PROXIED_PORT),
    Evasion("h2c by its preface", sends(H2_OPENING + h2_get(1)), refused=UNREADABLE),
    Evasion("h2c by Upgrade", (Open(), Send(get(OTHER, lines=HOST + UPGRADE_LINES)), Wait(),
                               Send(H2_OPENING + h2_get(3), len(get(OTHER, lines=HOST + UPGRADE_LINES))), Wait()),
            refused=UNREADABLE),
    Evasion("a WebSocket that the server declines", (Open(), Send(get(OTHER, lines=HOST + WEBSOCKET_LINES)), Wait(),
                                                     Send(LOGIN, len(get(OTHER, lines=HOST + WEBSOCKET_LINES))), Wait())),
    Evasion("a CONNECT that is answered, then a login", (Open(), Send(CONNECT), Wait(), Send(LOGIN, len(CONNECT)), Wait()),
            by_choice=True),
    Evasion("a WebSocket behind a login", (Open(), Send(LOGIN + WEBSOCKET), Wait(), Send(LOGIN, len(LOGIN + WEBSOCKET)), Wait())),
    Evasion("a WebSocket whose line waits", (
        Open(), Send(WEBSOCKET[:-2]), Wait(0.1, "time"), Send(WEBSOCKET[-2:] + LOGIN, len(WEBSOCKET) - 2), Wait(), Wait(0.1))),
    Evasion("other bytes for the same place", one(Send(SWAPPED, 4), Send(OVERLAP, 4), Send(LOGIN[:4])), refused=OTHER_BYTES),
    Evasion("data with a signature of RFC 2385", decoyed_by(options=SIGNATURE)),
    Evasion("data with a source route", decoyed_by(ip_options=SOURCE_ROUTE)),
    Evasion("data with an option of IP cut short", decoyed_by(ip_options=CUT_OPTION)),
    Evasion("data with a label that is not sound", decoyed_by(ip_options=LABEL)),
    Evasion("an option of Multipath TCP", one(Send(LOGIN, options=MULTIPATH))),
    Evasion("two paths that a mapping of Multipath TCP swaps", swapped(
        get(OTHER, lines=HOST + b"X-Path: /login\r\n"), OTHER, PATH), refused=OPTIONS),
    Evasion("data of an old timestamp", (Open(options=stamps(1_000_000)), Send(DECOY, options=stamps(1000)), Send(
        LOGIN, options=stamps(1_000_001)), Wait())),
    *(Evasion(f"a chunk line {name}, then another", chunk_decoyed_by(**how), refused=reason) for name, how, reason in (
        ("with a signature of RFC 2385", dict(options=SIGNATURE), ""), ("with a source route", dict(ip_options=SOURCE_ROUTE), ""),
        ("with an option of IP cut short", dict(ip_options=CUT_OPTION), ""), ("of wrong checksum", dict(wrong_tcp=True), ""),
        ("that dies on its way", dict(ttl=2), OTHER_BYTES))),
    Evasion("a chunk line of an old timestamp, then another", (Open(options=stamps(1_000_000)), Send(
        CHUNKS, options=stamps(1_000_001)), Wait(), Send(BIG_CHUNK, len(CHUNKS), options=stamps(1000)), Send(
        LAST_CHUNK + LOGIN, len(CHUNKS), options=stamps(1_000_002)), Wait())),
    Evasion("a chunk line ahead, and another in its place", one(
        Send(BIG_CHUNK, len(CHUNKS), **SIGNED), Send(CHUNKS), Send(LAST_CHUNK + LOGIN, len(CHUNKS)))),
    Evasion("half a head of an old timestamp, a rest that overlaps it, and another beginning", stamped(
        (DECOY[:30], 0, False), (LOGIN[20:], 20, True), (LOGIN[:20], 0, True))),
    Evasion("half a head twice of an old timestamp, whose second part came alone", stamped(
        (LOGIN[20:30], 20, True), (DECOY[:20], 0, False), (DECOY[:30], 0, False), (LOGIN[30:], 30, True), (LOGIN[:20], 0, True))),
    Evasion("the oldest segment in the middle of a head, of an old timestamp", stamped(
        (LONG_DECOY[5:10], 5, False), (LONG_LOGIN[:5], 0, True), *pieces(LONG_LOGIN, 10, range(11, 20)),
        (LONG_LOGIN[:10], 0, True))),
    Evasion("the first of many segments of one size, of an old timestamp", stamped(
        (LONG_DECOY[:15], 0, False), *pieces(LONG_LOGIN, 15, [15]), (LONG_LOGIN[:15], 0, True))),
    Evasion("a last byte of an old timestamp, and another as a keep-alive", stamped(
        (SHORT[:-1], 0, True), (SHORT[-1:], len(SHORT) - 1, False), (b"X", len(SHORT) - 1, True), (
            AROUND_LOGIN, len(SHORT), True)), refused=AMBIGUOUS),
    *(Evasion(f"a part of a judged segment again, {name}", steps, refused=reason) for name, steps, reason in (
        ("and a login behind it", one(Send(DECOY), Wait(), Send(DECOY[10:] + LOGIN, 10)), ""),
        ("and a login behind it at once", one(Send(DECOY), Send(DECOY[10:] + LOGIN, 10)), ""),
        ("its rest and a login", one(Send(LOGIN), Send(LOGIN[:20]), Send(LOGIN[20:] + LOGIN, 20)), ""),
        ("with other bytes behind", one(Send(DECOY), Send(LOGIN[:20]), Send(LOGIN[20:] + LOGIN, 20)), ""),
        ("with other bytes behind, which died on its way", one(
            Send(LONG_DECOY, ttl=2), Send(LONG_DECOY[:4] + LONG_LOGIN[4:])), OTHER_BYTES),
        ("from its middle, with other bytes behind, which died on its way", one(
            Send(LOGIN[:2]), Send(LONG_LOGIN[2:-9] + LONG_LOGIN[-4:] + LOGIN, 2, ttl=2), Send(LONG_LOGIN[2:] + LOGIN, 2)), OTHER_BYTES),
        ("with other bytes behind, of an old timestamp", stamped(
            (LONG_DECOY, 0, False), (LONG_DECOY[:4] + LONG_LOGIN[4:40], 0, True), (LONG_LOGIN[40:] + LOGIN, 40, True)), ""))),
    Evasion("data without ACK", decoyed_by(flags=PSH, ack=None)),
    Evasion("an ACK of what was never sent", decoyed_by(ack=100_000)),
    Evasion("data in a SYN", (Send(DECOY, -1, flags=SYN, ack=None), *sends(LOGIN))),
    Evasion("a FIN ahead of a gap", one(Send(b"", len(LOGIN), flags=FIN | ACK), *halves_backwards())),
    Evasion("byte by byte in no order", scattered()),
    Evasion("a FIN in place of the head's last line end", one(Send(LOGIN[:-1]), Send(b"", len(LOGIN) - 1, flags=FIN | ACK)),
            refused=UNREADABLE),
    Evasion("a FIN behind the request line", one(Send(LOGIN[:REQUEST_LINE]), Send(b"", REQUEST_LINE, flags=FIN | ACK)),
            refused=UNREADABLE),
    Evasion("a FIN within the request line", one(Send(LOGIN[:REQUEST_LINE - 2], flags=FIN | PSH | ACK)), refused=UNREADABLE),
    Evasion("CR CR LF for line ends, and a FIN", one(Send(LOGIN.replace(b"\r", b"\r\r"), flags=FIN | PSH | ACK)),
            refused=AMBIGUOUS),
    Evasion("a body cut by a FIN", one(Send(post(lines=b"Content-Length: 9\r\n", body=b"x"), flags=FIN | PSH | ACK))),
)
