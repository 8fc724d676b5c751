"""What the box sends to clients whose handshake was never completed: no more bytes than came."""
import ipaddress
import random
import time

import evasions
import other_evasions
import queries
import wire
from wire import ACK, FIN, PSH, RST, SYN, Headers
import rule_files
from innocent import FORGED_LOGIN
from servers import LOGIN_NAME

ACTIONS = ("action: reply", "action: reset", "action: decoy, body: '" + "x" * 500 + "'", "action: reply, body: '" + "y" * 1000 + "'")
SHORT_ACTIONS = ACTIONS[-1:]
CLIENTS = 200  # for each action
PACE = 20
SILENT, LONGEST = 0.5, 5  # seconds


def segments(dice, text=FORGED_LOGIN):
    """What one client sends that does not know the server's number: a SYN or none, then a request whole or in parts."""
    sent = ((PSH | ACK, text), (ACK, text[:30]), (PSH | ACK, text[30:]), (RST, b""), (FIN | ACK, b""))
    iss = dice.getrandbits(32)
    out = [(Headers(iss, flags=SYN), b"")] if dice.random() < 0.7 else []
    at = iss + 1
    for flags, data in dice.choice((sent[:1], sent[:1] * 3, sent[1:3], sent[:1] + sent[3:4], sent)):
        out.append((Headers(at, dice.getrandbits(32), flags), data))
        at += len(data)
    return out


def is_synack(segment):
    return segment.flags & (SYN | ACK) == SYN | ACK and not segment.payload


class Balance:
    """Bytes of IP that came and went; SYN-ACKs, the server's own, apart."""

    def __init__(self, proto, server):
        self.server = proto, server
        self.came = self.went = self.synacks = 0

    def take(self, link, seconds):
        for packet in link.receive(seconds):
            if (packet[9], packet[12:16]) == self.server and ipaddress.ip_address(packet[16:20]) in rule_files.CLIENTS:
                size, segment = len(wire.whole(packet)), wire.read(packet)
                if segment and is_synack(segment):
                    self.synacks += size
                else:
                    self.went += size


def balance(court, server, packets):
    """`packets`: [those of one client]. Until nothing has come for a while."""
    out = Balance(packets[0][0][9], court.servers[server].target)
    for number, some in enumerate(packets):
        for packet in some:
            court.link.send(packet)
            out.came += len(packet)
        if number % PACE == 0:
            out.take(court.link, 0.01)
    latest = time.monotonic() + LONGEST
    until = time.monotonic() + SILENT
    while time.monotonic() < min(until, latest):
        went = out.went + out.synacks
        out.take(court.link, 0.05)
        until = until if out.went + out.synacks == went else time.monotonic() + SILENT
    return out


def of_clients(court, dice, target, make):
    """Packets of so many clients. `make` gives [(headers, payload)] of one, or datagrams."""
    out = []
    for number in range(CLIENTS):
        client, port, some = court.next_client(number % rule_files.SOME), dice.randrange(1024, 65536), []
        for place, sent in enumerate(make()):
            if isinstance(sent, bytes):
                some += wire.datagrams(client, target[0], port, target[1], Headers(0), sent, place)
            else:
                some += wire.packets(client, target[0], port, target[1], *sent, place)
        out.append(some)
    return out


def weigh(name, seen):
    """What did not hold, in words; prints the bytes."""
    print(f"{name}, handshake not completed: {seen.came} bytes came, {seen.went} went, beside {seen.synacks} of SYN-ACKs", flush=True)
    return [f"{name}: {seen.went} bytes sent for {seen.came} of clients without a handshake"] if seen.went > seen.came else []


def check(court, server, seed, services, actions=ACTIONS):
    """What did not hold, in words."""
    dice, out = random.Random(f"unproven {seed}"), []
    for action in actions:
        court.apply(rule_files.all_refused(services, action))
        court.try_some([(evasions.EVASIONS[0].plan(f"{seed} {action}"), server)], 5)  # uses up what the limit has
        packets = of_clients(court, dice, (court.servers[server].target, 80), lambda: segments(dice))
        out += weigh(f"HTTP, {action[:20].strip(',')}", balance(court, server, packets))
    return out


# Each: a server, a port, what is refused, the action.
OTHERS = (
    ("named", 53, "q", "action: dns_truncate, slip: 1, then: drop"),
    ("named", 53, "q", "action: reply"),
    ("quic", 443, "h", "action: reset"),
    ("tls", 443, "h", "action: reply, tls_fallback: alert"),
)


def check_others(court, seed, services):
    """What did not hold, in words."""
    dice, out = random.Random(f"unproven others {seed}"), []
    makes = {"named": lambda: [queries.query(LOGIN_NAME)] * dice.choice((1, 3)),
             "quic": lambda: [other_evasions.a_hello().data] * dice.choice((1, 3)),
             "tls": lambda: segments(dice, other_evasions.RECORD)}
    first = court.first_plans()
    for server, port, kind, action in OTHERS:
        court.apply(rule_files.others_refused(services, kind, action))
        court.try_some([(first[server], server)], 5)
        packets = of_clients(court, dice, (court.servers[server].target, port), makes[server])
        out += weigh(f"{server}, {action}", balance(court, server, packets))
    return out
