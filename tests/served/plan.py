"""A client's connections to one server as a list of steps: what evasions and the generator are made of.

Numbers are relative: byte 0 of a flow is the first behind its SYN. A plan has no addresses and no clock of its own, so it
can be run beside any server, lowered to frames without one, and printed as a case of tests/packets.
"""
import dataclasses
import random
import threading

import wire
from wire import ACK, FIN, PSH, RST, SYN, Headers

ANSWER_SECONDS = 0.4  # waited for an answer that may never come
HANDSHAKE_SECONDS = 0.25  # before a SYN goes out again
FIRST = "first"  # an acknowledgement of the server's first byte, whatever has come since


@dataclasses.dataclass(frozen=True)
class Flow:
    sport: int
    iss: int


@dataclasses.dataclass(frozen=True)
class Open:
    """The three-way handshake; ends the plan where there is no SYN-ACK. `ack_options`: of its third segment; see Send."""
    flow: int = 0
    options: bytes = b""
    ack_options: object = b""


@dataclasses.dataclass(frozen=True)
class Send:
    """One segment. `ack`: bytes beyond what the client has of the server, or None: the number 0. `options`: of TCP, or a call
    that makes them of those of the server's SYN-ACK."""
    data: bytes = b""
    at: int = 0
    flow: int = 0
    flags: int = ACK | PSH
    ack: object = 0
    urgent: int = 0
    ttl: int = 64
    wrong_tcp: bool = False
    unfinished: bool = False
    wrong_ip: bool = False
    cuts: tuple = ()
    window: int = 0xFFFF
    options: object = b""
    ip_options: bytes = b""
    extensions: tuple = ()


@dataclasses.dataclass(frozen=True)
class Wait:
    """Until the server has sent more data or its end (`data`), has closed (`close`), or so many seconds are over."""
    seconds: float = ANSWER_SECONDS
    until: str = "data"
    flow: int = 0


@dataclasses.dataclass(frozen=True)
class Until:
    """Until the event is set, at most so many seconds."""
    event: object
    seconds: float
    flow: int = 0


@dataclasses.dataclass(frozen=True)
class Deliver:
    """As TCP retransmits: what the server has not acknowledged of the stream's first bytes, until it has; not for ever."""
    data: bytes
    flow: int = 0


@dataclasses.dataclass(frozen=True)
class Do:
    """Calls that, once all steps before it are done."""
    action: object
    flow: int = 0


class Gathering:
    """Of so many plans, or of some of their steps: `all_here` is set once each has come. Fewer than there are to be come where
    one has failed, so whoever waits for all waits for a time."""

    def __init__(self, count):
        self.left, self.all_here = count, threading.Event()

    def come(self):
        self.left -= 1
        if self.left <= 0:
            self.all_here.set()


@dataclasses.dataclass(frozen=True)
class Finish:
    """The client's FIN behind so many bytes, the server's acknowledged, both ends closed in order."""
    at: int
    flow: int = 0


@dataclasses.dataclass(frozen=True)
class Datagram:
    """Over UDP, from the flow's port; `number` of IP: 0: the next one."""
    data: bytes
    flow: int = 0
    ttl: int = 64
    wrong: bool = False
    cuts: tuple = ()
    number: int = 0

    def headers(self):
        return Headers(0, ttl=self.ttl, wrong_tcp=self.wrong, cuts=self.cuts)


@dataclasses.dataclass(frozen=True)
class Plan:
    """`serves`: logins that every server serves over it, where that is known."""
    name: str
    flows: tuple
    steps: tuple
    port: int = 80
    serves: int = 0


def made(options, of_server):
    return options(of_server) if callable(options) else options


def headers(send, flow, server_next, of_server):
    ack = 0 if send.ack is None else server_next + send.ack
    return Headers(seq=flow.iss + 1 + send.at, ack=ack, flags=send.flags, window=send.window, urgent=send.urgent,
                   ttl=send.ttl, wrong_tcp=send.wrong_tcp, unfinished=send.unfinished, wrong_ip=send.wrong_ip, cuts=send.cuts,
                   options=made(send.options, of_server), ip_options=send.ip_options, extensions=send.extensions)


def frames(plan, client, server, server_iss=5000):
    """The IP packets that the client would send, before a server that answers nothing but SYNs: [(step, packet)]."""
    out = []
    for step in plan.steps:
        if isinstance(step, (Wait, Until, Do)):
            continue
        flow = plan.flows[step.flow]
        if isinstance(step, Datagram):
            out += [(step, packet) for packet in wire.datagrams(client, server, flow.sport, plan.port, step.headers(), step.data)]
            continue
        for head, data in segments(step, flow, server_iss + 1):
            out += [(step, packet) for packet in wire.packets(client, server, flow.sport, plan.port, head, data, len(out))]
    return out


def segments(step, flow, server_next, of_server=b""):
    """(headers, payload) of each segment of a step, for a client that has so much of the server; `of_server`: the options
    of its SYN-ACK."""
    if isinstance(step, Open):
        return [(Headers(flow.iss, flags=SYN, options=step.options), b""), (Headers(
            flow.iss + 1, server_next, options=made(step.ack_options, of_server)), b"")]
    if isinstance(step, Deliver):
        return [(Headers(flow.iss + 1, server_next, ACK | PSH), step.data)]
    if isinstance(step, Finish):
        return [(Headers(flow.iss + 1 + step.at, server_next, FIN | ACK), b"")]
    return [(headers(step, flow, server_next, of_server), step.data)]


FLAG_NAMES = ((SYN, "kSyn"), (FIN, "kFin"), (RST, "kRst"), (PSH, "0x08"), (ACK, "kAck"), (wire.URG, "kUrg"))


NOTED = ("wrong_tcp", "unfinished", "wrong_ip", "cuts", "urgent", "options", "ip_options", "extensions")


def literal(data):
    """A C++ string literal. An octal escape ends after three digits, whatever follows."""
    named = {10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(named.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data) + '"'


def frame_text(step, flow, first):
    if isinstance(step, Datagram):
        return f"datagram({literal(step.data)}sv, {flow.sport})"
    if isinstance(step, Open):
        return f"syn({flow.iss}u)"
    data = getattr(step, "data", b"")
    flags = FIN | ACK if isinstance(step, Finish) else getattr(step, "flags", ACK)
    at = getattr(step, "at", 0)
    place = flow.iss + 1 + at & wire.MASK
    text = f"client({literal(data)}sv, {at}u)" if flow is first and at >= 0 else f"client({literal(data)}sv).seq({place}u)"
    if flags not in (ACK, ACK | PSH):
        text += f".flags({' | '.join(name for bit, name in FLAG_NAMES if flags & bit) or '0'})"
    if flow.sport != first.sport:
        text += f".sport({flow.sport})"
    if getattr(step, "ttl", 64) != 64:
        text += f".ttl({step.ttl})"
    return text


def case(plan):
    """The client's half as a case of tests/packets/service_streams_test.cpp: verdicts are for whoever reads it."""
    lines = []
    for step in plan.steps:
        if isinstance(step, Wait):
            lines.append(f"// {step.seconds:g} s" + ("" if step.until == "time" else f", or until the server's {step.until}"))
            continue
        flow = plan.flows[step.flow]
        notes = [name for name in NOTED if getattr(step, name, None)]
        notes += [f"ack {step.ack}"] if getattr(step, "ack", 0) != 0 else []
        lines.append(f"{{0ms, {frame_text(step, flow, plan.flows[0])}, \"pass\", \"unmatched\"}},"
                     + (f"  // {', '.join(notes)}" if notes else ""))
        if isinstance(step, Open):
            lines.append(f"{{0ms, syn_ack(kServerIss, {flow.iss}u), \"pass\", \"unmatched\"}},")
    return f'{{{literal(plan.name.encode())}, kEnforced,\n {{' + "\n  ".join(lines) + "\n }},"


def flows(seed, count=1, same=False):
    """So many flows with ports and first numbers of their own."""
    dice = random.Random(f"flows {seed}")
    ports = dice.sample(range(20000, 60000), count)
    made = [Flow(port, dice.getrandbits(32)) for port in ports]
    return tuple(made[:1] * count) if same else tuple(made)
