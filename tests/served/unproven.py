"""What the box sends to clients whose handshake was never completed: no more bytes than came."""
import random
import time

import evasions
import wire
from wire import ACK, FIN, PSH, RST, SYN, Headers
import rule_files
from innocent import FORGED_LOGIN

ACTIONS = ("action: reply", "action: reset", "action: decoy, body: '" + "x" * 500 + "'", "action: reply, body: '" + "y" * 1000 + "'")
CLIENTS = 200  # for each action
SEGMENTS = ((PSH | ACK, FORGED_LOGIN), (ACK, FORGED_LOGIN[:30]), (PSH | ACK, FORGED_LOGIN[30:]), (RST, b""), (FIN | ACK, b""))
PACE = 20


def segments(dice):
    """What one client sends that does not know the server's number: a SYN or none, then a request whole or in parts."""
    iss = dice.getrandbits(32)
    out = [(Headers(iss, flags=SYN), b"")] if dice.random() < 0.7 else []
    at = iss + 1
    for flags, data in dice.choice((SEGMENTS[:1], SEGMENTS[:1] * 3, SEGMENTS[1:3], SEGMENTS[:1] + SEGMENTS[3:4], SEGMENTS)):
        out.append((Headers(at, dice.getrandbits(32), flags), data))
        at += len(data)
    return out


def is_synack(segment):
    return segment.flags & (SYN | ACK) == SYN | ACK and not segment.payload


class Balance:
    """Bytes of IP that came and went; SYN-ACKs, the server's own, apart."""

    def __init__(self):
        self.came = self.went = self.synacks = 0

    def take(self, link, seconds):
        for packet in link.receive(seconds):
            segment = wire.read(packet)
            if segment and segment.dst[0] == rule_files.CLIENTS.network_address.packed[0]:
                size = len(wire.whole(packet))
                if is_synack(segment):
                    self.synacks += size
                else:
                    self.went += size


def balance(court, server, dice, seconds=1.0):
    out = Balance()
    target = court.servers[server].target
    for number in range(CLIENTS):
        client, port = court.next_client(number), dice.randrange(1024, 65536)
        for place, (headers, data) in enumerate(segments(dice)):
            for packet in wire.packets(client, target, port, 80, headers, data, place):
                court.link.send(packet)
                out.came += len(packet)
        if number % PACE == 0:
            out.take(court.link, 0.01)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        out.take(court.link, 0.05)
    return out


def check(court, server, seed, services):
    """What did not hold, in words; prints the bytes of each action."""
    dice, out = random.Random(f"unproven {seed}"), []
    for action in ACTIONS:
        court.apply(rule_files.all_refused(services, action))
        court.try_some([(evasions.EVASIONS[0].plan(f"{seed} {action}"), server)], 5)  # uses up what the limit has
        seen = balance(court, server, dice)
        name = action[:24].strip()
        print(f"{name}, handshake not completed: {seen.came} bytes came, {seen.went} went, beside {seen.synacks} of SYN-ACKs",
              flush=True)
        if seen.went > seen.came:
            out.append(f"{name}: {seen.went} bytes sent for {seen.came} of clients without a handshake")
    return out
