"""Connections of TLS, QUIC and DNS by the number of a seed."""
import random
import struct

import hellos
import queries
from generate import CLEAN, OFTEN, RARE, SOMETIMES, in_size, mutated, noise, ordered, pick, segmented
from hellos import Client, crypto, quic_hello, records
from plan import Datagram, Deliver, Finish, Flow, Open, Plan, Send, Wait
from servers import LOGIN_NAME, OTHER_NAME
from wire import ACK, MASK, RST

LOGIN, OTHER = LOGIN_NAME.encode(), OTHER_NAME.encode()
SNIS = (OTHER, LOGIN.upper(), LOGIN + b".", LOGIN + b":443", b"a." + LOGIN, LOGIN + b"\0", b"", None)
LEADS = (b"\x15\3\1\0\2\1\x5a", b"\x14\3\1\0\1\1", b"\x16\3\1\0\0", b"\r\n", b"\x80\x2e\1\3\1")
RECORD_VERSIONS = (0x0300, 0x0302, 0x0303, 0x0304, 0x03FF, 0x0200)
PAD, GREASE = 21, 0x0A0A
PAUSE = 0.25


def cuts(dice, size, counts=(0, 0, 1, 2, 5)):
    return sorted(dice.randrange(1, size) for _ in range(dice.choice(counts)))


def tls_stream(dice, is_clean):
    more = b"".join(hellos.extension(dice.choice((PAD, GREASE)), bytes(size)) for size in dice.choice(((), (), (), (40,), (900,))))
    if is_clean:
        message = hellos.hello(dice, LOGIN, more, session=dice.randbytes(dice.choice((0, 32))))
        return records(message, sorted(set(cuts(dice, 100))))  # Go takes no empty record
    message = hellos.hello(dice, pick(dice, LOGIN, SNIS, SOMETIMES), more)
    stream = records(message, cuts(dice, len(message)), pick(dice, 0x0301, RECORD_VERSIONS))
    return pick(dice, b"", LEADS) + mutated(dice, stream) + pick(dice, b"", (stream, b"\x17\3\3\0\1x", b"x"))


def dns_message(dice, is_clean):
    text = pick(dice, LOGIN_NAME, (OTHER_NAME, LOGIN_NAME.upper(), "login.Example", "a." + LOGIN_NAME), SOMETIMES)
    number = dice.getrandbits(16)
    if is_clean:
        return queries.query(LOGIN_NAME, number=number)
    kind, group = pick(dice, 1, (28, 255, 41, 252, 6)), pick(dice, 1, (255, 3))
    size = dice.randrange(100)
    counts, rest = pick(dice, ((1, 0, 0, 0), b""), (((1, 0, 0, 1), queries.padding(size)), ((2, 0, 0, 0), queries.question(OTHER_NAME)),
                                                    ((1, 1, 0, 0), b"\xc0\x0c" + struct.pack("!HHIH4s", 1, 1, 60, 4, b"abcd")),
                                                    ((0, 0, 0, 0), b""), ((1, 0, 0, 0), b"more"), ((1, 0, 0, 5), b"")), SOMETIMES)
    flags = pick(dice, 0x0100, (0, 0x8180, 0x0800, 0x2000, 0x2800, 0x03F0, 0x010F, 0x0300))
    asked = queries.question(text, kind, group)
    if dice.random() < RARE:  # a pointer in place of the root
        asked = queries.name(text)[:-1] + b"\xc0" + bytes([dice.randrange(14)]) + struct.pack("!HH", kind, group)
    return mutated(dice, queries.message(asked, number, flags, counts, rest))


def over_stream(dice, port, make):
    """A plan's steps over TCP; `make` gives (stream, logins)."""
    is_clean = dice.random() < CLEAN
    flow = Flow(dice.randrange(1024, 65536), dice.choice((dice.getrandbits(32), MASK - dice.randrange(200))))
    steps, serves = [], 0
    for _ in range(dice.choice((1, 1, 2))):
        stream, logins = make(is_clean)
        sends = ordered(dice, [piece for one in segmented(dice, stream, 0) for piece in in_size(one)])
        for _ in range(dice.choice((0, 0, 1, 2, 4))):
            sends.insert(dice.randrange(len(sends) + 1), noise(dice, stream, 0, is_clean))
        sends += [Deliver(stream)] if is_clean else []
        end = Finish(len(stream)) if is_clean or dice.random() < OFTEN else Send(b"", len(stream), flags=RST | ACK)
        steps += [Open(), *sends, Wait(0.3), Wait(0.05, "time"), end]
        serves += logins * is_clean
    return (flow,), steps, serves


def dns_stream(dice, is_clean):
    count = dice.choice((1, 1, 2, 3))
    stream = queries.over_tcp(*(dns_message(dice, is_clean) for _ in range(count)))
    return (stream if is_clean else mutated(dice, stream)), count


def a_flow(dice):
    return Flow(dice.randrange(1024, 65536), 0)


def badly(dice, data, flow=0):
    """The datagram, in the one or the other bad way."""
    return Datagram(data, flow, **dice.choice(({"wrong": True}, {"ttl": 2}, {"cuts": (24,)}, {"cuts": (8, 400)}, {})))


def dns_datagrams(dice):
    is_clean = dice.random() < CLEAN
    sent = [dns_message(dice, is_clean) for _ in range(dice.choice((1, 2, 4)))]
    sent += [dice.choice(sent)] * dice.choice((0, 1))
    steps = [Datagram(one) if is_clean or dice.random() < OFTEN else badly(dice, one) for one in sent]
    return (a_flow(dice),), [*steps, Wait(PAUSE, "time")], len(sent) * is_clean


def initials(dice, client, message):
    """A hello in datagrams."""
    edges = [0, *cuts(dice, len(message), (0, 0, 1, 3)), len(message)]
    frames = [pick(dice, b"", (b"\1", bytes(3))) + crypto(message, a, b) for a, b in zip(edges, edges[1:]) if a < b]
    if dice.random() < SOMETIMES:
        dice.shuffle(frames)
    if dice.random() < SOMETIMES:
        first = client.initial(frames[0], 0)
        return [first + client.initial(b"".join(frames[1:]) or b"\1", 1200 - len(first))]
    size = dice.choice((1, 2, len(frames)))
    return [client.initial(b"".join(frames[at:at + size])) for at in range(0, len(frames), size)]


def quic_connection(dice, ids):
    """One hello for LOGIN_NAME or several, each under ids of its own. What is not clean has decoys that no server takes in
    front of it, and badly sent copies behind it. A server may take of several datagrams in another order none."""
    is_clean, steps, count = dice.random() < CLEAN, [], dice.choice((1, 1, 2))
    for _ in range(count):
        client = Client(ids, token=b"" if is_clean else pick(dice, b"", (b"x", b"token" * 9)))
        if not is_clean and dice.random() < OFTEN:
            decoy = client.initial(crypto(quic_hello(ids, OTHER, client.scid)))
            steps.append(Datagram(decoy, **dice.choice(({"wrong": True}, {"ttl": 2}))))
        message = quic_hello(ids, LOGIN, client.scid)
        sent = [client.initial(crypto(message))] if is_clean else initials(dice, client, message)
        steps += [Datagram(one) for one in sent]
        if not is_clean and dice.random() < SOMETIMES:
            steps.append(badly(dice, dice.choice(sent)))
    return (a_flow(dice),), [*steps, Wait(2 * PAUSE, "time")], count * is_clean


def make(seed, number, server, attempt=0):
    """Of QUIC each attempt has ids of its own: a server that has seen an id takes no other connection for it."""
    dice = random.Random(f"{seed} {server} {number}")
    port = 53 if server == "named" else 443
    if server == "tls":
        flows, steps, serves = over_stream(dice, port, lambda is_clean: (tls_stream(dice, is_clean), 1))
    elif server == "quic":
        flows, steps, serves = quic_connection(dice, random.Random(f"{seed} {number} {attempt}"))
    elif dice.random() < 0.5:
        flows, steps, serves = dns_datagrams(dice)
    else:
        flows, steps, serves = over_stream(dice, port, lambda is_clean: dns_stream(dice, is_clean))
    return Plan(f"seed {seed} connection {number}", flows, tuple(steps), port, serves)
