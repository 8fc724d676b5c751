"""Connections by the number of a seed: heads by a grammar, segmentation, order, numbers, checksums, flags, reuse, pauses;
and what is known, evasions and honest requests, mutated and one behind the other."""
import dataclasses
import random

from evasions import EVASIONS
from heads import CHUNKED, HOST, get
from honest import HONEST
from plan import Deliver, Finish, Flow, Open, Plan, Send, Wait
from wire import ACK, FIN, MASK, PSH, RST, SYN, URG

METHODS = (b"GET", b"POST", b"HEAD", b"PUT", b"OPTIONS", b"get", b"M" * 33, b"A!#$%&'*+-.^_`|~", b"CONNECT", b"PRI")
PATHS = (b"/login", b"/login?x=1", b"/./login", b"/a/../login", b"//login", b"/%6cogin", b"/x/..%2Flogin", b"/%2flogin",
         b"/login#x", b"http://a.example/login", b"http://[::1]/login", b"//h/login", b"/\\login", b"/x\\..\\login", b"///h/a/../login",
         b"/login%00", b"/login;x", b"\\login", b"/login/", b"/a/%2e%2e/login", b"*")
VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b"", b"HTTP/01.1", b"HTTP/1.1 ")
BLANKS = (b" ", b"  ", b"\t", b"\x0b", b"\x0c")
ENDS = (b"\r\n", b"\n", b"\r\r\n", b"\r")
LEADS = (b"\r\n", b"\n", b"\r", b"\n\r", b" ", b"\t", b"\x0b", b"\xef\xbb\xbf", b"\0")
HOSTS = (b"login.example", b"LOGIN.example.:80", b"%6cogin.example", b"login%2eexample:80", b"log%C2%ADin.example", b"login.example:x",
         b"[login.example]", b"login.example:000080")
LINES = (b"X-Login: no", b"X-Login: yes", b"Connection: keep-alive", b"Connection: close", b"Upgrade: websocket", b"Upgrade: h2c", b"Expect: 100-continue",
         b"Host: b.example", b" folded", b"X : y", b"X" * 300 + b": y", b"Content-Length: 0", b"Transfer-Encoding: identity",
         b"Content-Length: +0", b"Transfer-Encoding: chunked, identity", b"Content-Length: 0, 0", b":", b"X:\x01y")
CHUNKS = (b"0\r\n\r\n", b"3\r\nabc\r\n0\r\n\r\n", b"0003;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n", b"3\nabc\n0\n\n", b"0x0\r\n\r\n",
          b"0" * 40 + b"\r\n\r\n", b"-0\r\n\r\n", b"3\r\nabc", b" 0\r\n\r\n", b"0 \r\n\r\n", b"fffffffffffffffff\r\n")
RARE, SOMETIMES, OFTEN = 0.08, 0.3, 0.6
CLEAN = 0.35  # of all: what every server serves, however it is cut and ordered
MSS = 1400
MOST = 20_000  # bytes of a stream that is known
SLOW = 10  # seconds
FAR = (70_000, 900_000, 1 << 30)
SILENCE = (62, 70)  # seconds: beyond what boxes remember idle connections for


def pick(dice, usual, others, chance=RARE):
    return dice.choice(others) if dice.random() < chance else usual


def request(dice):
    """One head of the grammar with its body; most of it usual, so that servers read on."""
    blank, end = pick(dice, b" ", BLANKS), pick(dice, b"\r\n", ENDS)
    head = pick(dice, b"", LEADS) + pick(dice, b"GET", METHODS, SOMETIMES) + blank + pick(dice, b"/login", PATHS, SOMETIMES)
    version = pick(dice, b"HTTP/1.1", VERSIONS)
    head += (blank + version if version else b"") + end + pick(dice, HOST, [b"Host: " + one + b"\r\n" for one in HOSTS]).replace(b"\r\n", end)
    head += b"".join(dice.choice(LINES) + end for _ in range(dice.choice((0, 0, 0, 1, 2))))
    body = b""
    if dice.random() < SOMETIMES:
        size = dice.choice((0, 5, 100))
        head, body = dice.choice((
            (head + CHUNKED.replace(b"\r\n", end), dice.choice(CHUNKS)),
            (head + b"Content-Length: %d" % size + end, b"x" * size)))
    return mutated(dice, head + end + body)


def mutated(dice, text, chance=RARE):
    """Now and then a byte is another, doubled or gone."""
    if dice.random() > chance:
        return text
    at, how = dice.randrange(len(text)), dice.randrange(3)
    return text[:at] + (bytes([dice.choice(b"\0\t\n\r /:\x7f\xff")]), 2 * text[at:at + 1], b"")[how] + text[at + 1:]


def segmented(dice, stream, flow):
    """The stream's segments, in order."""
    cuts = sorted({0, len(stream), *(dice.randrange(1, len(stream)) for _ in range(dice.choice((0, 1, 2, 3, 8))))})
    return [Send(stream[a:b], a, flow) for a, b in zip(cuts, cuts[1:])]


def in_size(send):
    return [dataclasses.replace(send, data=send.data[at:at + MSS], at=send.at + at) for at in range(0, len(send.data), MSS)]


def ordered(dice, sends):
    how = dice.random()
    if how < 0.2:
        dice.shuffle(sends)
    elif how < 0.3:
        sends.reverse()
    if dice.random() < SOMETIMES:
        sends.insert(dice.randrange(len(sends) + 1), dice.choice(sends))
    return sends


def noise(dice, stream, flow, is_clean):
    """A segment that a server does not take; where the plan need not be clean, any segment."""
    data = bytes(dice.choice(b"abXY \r\n") for _ in range(dice.choice((0, 1, 20))))
    far = dice.choice(FAR) + dice.randrange(1000)
    foreign = [
        Send(data, far, flow, flags=dice.choice((ACK, PSH | ACK, FIN | ACK))),
        Send(b"", far, flow, flags=RST),
        Send(b"", -far, flow, flags=RST | ACK),
        Send(data, dice.randrange(len(stream)), flow, wrong_tcp=True),
        Send(b"", dice.randrange(len(stream)), flow, flags=dice.choice((RST, FIN | ACK)), wrong_tcp=True),
        Send(data, dice.randrange(len(stream)), flow, wrong_ip=True),
        Send(data, dice.randrange(len(stream)), flow, flags=PSH, ack=None)]
    if is_clean or dice.random() < OFTEN:
        return dice.choice(foreign)
    return Send(data, dice.randrange(-5, len(stream) + 5), flow,
                flags=dice.choice((ACK, PSH | ACK, FIN | ACK, RST, RST | ACK, SYN, SYN | ACK, URG | ACK, 0, FIN)),
                ack=dice.choice((0, 0, 0, 1, -1, 100_000, None)), urgent=dice.choice((0, 0, 1, 5)),
                ttl=dice.choice((64, 64, 2)), cuts=dice.choice(((), (), (), (24,))), window=dice.choice((0xFFFF, 0, 1)))


def decoyed(dice, sends):
    """One of the segments is preceded by other bytes for its place, in whole or in part."""
    at = dice.randrange(len(sends))
    real = sends[at]
    size = dice.randrange(1, len(real.data) + 1)
    return sends[:at] + [Send(bytes(dice.choice(b"abc/ \r\n") for _ in range(size)), real.at, real.flow)] + sends[at:]


def stream_of(steps):
    """What a plan's segments of flow 0 carry, each byte the last that was sent for its place."""
    out = {}
    for step in steps:
        if isinstance(step, Send) and step.flow == 0 and 0 <= step.at < MOST:
            out.update(enumerate(step.data, step.at))
    return bytes(out[place] for place in sorted(out))


KNOWN = tuple(one for one in (*EVASIONS, *HONEST) if one.flows == 1 and one.port == 80 and one.seconds < SLOW)
STREAMS = tuple(filter(None, map(stream_of, (one.steps for one in KNOWN))))


def known_stream(dice):
    """Streams of what is known and requests of the grammar, one behind the other, with a byte that is another here and there."""
    parts = [dice.choice(STREAMS)] + [get() if dice.random() < OFTEN else dice.choice(STREAMS) for _ in range(dice.choice((1, 1, 2)))]
    return b"".join(part if dice.random() < OFTEN else mutated(dice, part, OFTEN) for part in parts)


def known_steps(dice):
    """Steps of an evasion with others between them, some left out or in another place."""
    steps = [one for one in dice.choice(KNOWN).steps if isinstance(one, (Open, Send, Wait, Finish, Deliver))]
    size = max(len(stream_of(steps)), 1)
    for _ in range(dice.choice((0, 1, 2, 3))):
        at = dice.randrange(1, len(steps) + 1)
        how = dice.random()
        if how < OFTEN:
            steps.insert(at, noise(dice, bytes(size), 0, False))
        elif how < 0.8 and at < len(steps) and isinstance(steps[at], Send):
            steps[at] = changed(dice, steps[at])
        elif at + 1 < len(steps):
            steps[at], steps[at + 1] = steps[at + 1], steps[at]
    return [*steps, Wait(0.3), Send(get(), size), Wait(0.2), Wait(0.05, "time")], size + len(get())


def changed(dice, send):
    """The segment, with one of its headers another."""
    return dataclasses.replace(send, **dice.choice((
        {"flags": send.flags ^ dice.choice((FIN, SYN, RST, PSH, ACK, URG))}, {"at": send.at + dice.choice((-1, 1, 7, 65_535))},
        {"ack": dice.choice((None, 1, -1, 50_000))}, {"data": send.data + dice.choice((b"x", b"\r\n", get()))},
        {"data": mutated(dice, send.data, 1) if send.data else b"x"}, {"window": 0}, {"ttl": 2}, {"wrong_tcp": True})))


def connection(dice, flow, is_clean):
    """(steps, logins that any server serves, bytes)"""
    if not is_clean and dice.random() < SOMETIMES:
        steps, size = known_steps(dice)
        return steps, 0, size
    count = dice.choice((1, 1, 2, 3))
    stream = get() * count if is_clean else known_stream(dice) if dice.random() < 0.4 else b"".join(
        request(dice) for _ in range(count))
    sends = ordered(dice, [piece for one in segmented(dice, stream, flow) for piece in in_size(one)])
    if not is_clean and dice.random() < RARE:
        sends = decoyed(dice, sends)
    for _ in range(dice.choice((0, 0, 1, 1, 2, 4))):
        sends.insert(dice.randrange(len(sends) + 1), noise(dice, stream, flow, is_clean))
    if dice.random() < RARE:
        sends.insert(dice.randrange(len(sends) + 1), Wait(0.1, "time", flow))
    sends += [Deliver(stream, flow)] if is_clean else []
    return [Open(flow), *sends, Wait(0.3, flow=flow), Wait(0.05, "time", flow)], count * is_clean, len(stream)


def with_silence(plan, seed, is_waited_for=False):
    """The same with a minute of silence somewhere behind its first step. `is_waited_for`: its server waits as long for what
    follows; the box does between requests, not within a head."""
    dice = random.Random(f"{seed} {plan.name} silence")
    at = dice.randrange(1, len(plan.steps))
    silence = Wait(dice.uniform(*SILENCE), "time", plan.steps[at].flow)
    return dataclasses.replace(plan, name=f"a silence, {plan.name}", steps=(*plan.steps[:at], silence, *plan.steps[at:]),
                               serves=plan.serves if is_waited_for and are_whole(plan.steps[:at]) else 0)


def are_whole(steps):
    """The requests that a clean plan has sent of its last connection."""
    behind = steps[max((at for at, step in enumerate(steps) if isinstance(step, Open)), default=0):]
    taken = [one for one in behind if isinstance(one, Send) and one.flags == ACK | PSH and one.ack == 0 and one.at < MOST
             and not (one.wrong_tcp or one.wrong_ip)]
    places = {place for one in taken for place in range(one.at, one.at + len(one.data))}
    return places == set(range(len(places))) and len(places) % len(get()) == 0


def make(seed, number):
    """Connection `number` of a seed; several where ports are used again."""
    dice = random.Random(f"{seed} {number}")
    is_clean = dice.random() < CLEAN
    flows = (Flow(dice.randrange(1024, 65536), dice.choice((dice.getrandbits(32), MASK - dice.randrange(200)))),)
    steps, serves = [], 0
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        more, logins, size = connection(dice, 0, is_clean)
        end = Finish(size) if is_clean or dice.random() < OFTEN else Send(b"", size, flags=RST | ACK)
        steps += [*more, end]
        serves += logins
    return Plan(f"seed {seed} connection {number}", flows, tuple(steps), serves=serves)
