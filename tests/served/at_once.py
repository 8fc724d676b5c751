"""Connections that are open at once, where only so many may be: what ends one for the box has ended it for the server."""
import collections
import dataclasses
import subprocess
import threading

from evasions import CUT_OPTION, FAR, SIGNATURE, SOURCE_ROUTE
from heads import LOGIN
from http_hosts import run_within
from plan import Finish, Open, Plan, Send, Wait, flows
from wire import ACK, FIN, RST, SYN
import reasons
import rule_files

COUNT = 2
ATTEMPTS = 3  # of what was not served: a busy machine may have lost a frame, or had no time for any
SECONDS = 6
PACE = 0.05  # seconds between two looks at the servers' connections
FORGED = 50  # SYNs

@dataclasses.dataclass(frozen=True)
class Ending:
    """Segments of the first connections; as many as may be open are served in any case, unless the manual lists it: by the
    reason, or event, that `refused` names."""
    name: str
    steps: object  # of a flow's number
    refused: str = ""
    seconds: float = 0  # beyond those of any

    def plan(self, seed):
        return plan(self, seed)


def each(**how):
    return lambda flow: (Send(flow=flow, **how),)


ENDINGS = (
    Ending("nothing", lambda flow: ()),
    Ending("a RST of wrong TCP checksum", each(flags=RST | ACK, wrong_tcp=True)),
    Ending("a RST of wrong IP checksum", each(flags=RST | ACK, wrong_ip=True)),
    Ending("a RST of another number", each(at=5, flags=RST)),
    Ending("a RST far away", each(at=FAR, flags=RST | ACK)),
    Ending("a RST behind it", each(at=-1, flags=RST | ACK)),
    Ending("a RST in fragments", each(flags=RST | ACK, cuts=(8,)), refused="truncated_l4"),
    Ending("a RST that dies on its way", each(flags=RST | ACK, ttl=2), refused="ttl_raised"),
    Ending("a RST with a signature of RFC 2385", each(flags=RST | ACK, options=SIGNATURE)),
    Ending("a RST with a source route", each(flags=RST | ACK, ip_options=SOURCE_ROUTE)),
    Ending("a RST with an option of IP cut short", each(flags=RST | ACK, ip_options=CUT_OPTION)),
    Ending("a RST with an option of TCP cut short", each(flags=RST | ACK, options=b"\x08\x28\0\0"), refused="rst_out_of_window"),
    Ending("a RST in its place", each(flags=RST | ACK)),
    Ending("a RST before a byte that is on its way", lambda flow: (
        Send(LOGIN[:1], flow=flow), Send(flow=flow, flags=RST | ACK))),
    Ending("a RST without ACK before a byte that is on its way, a pause", lambda flow: (
        Send(LOGIN[:1], flow=flow), Send(flow=flow, flags=RST), Wait(0.2, "time"))),
    Ending("a RST before a byte of a short TTL", lambda flow: (
        Send(LOGIN[:1], flow=flow, ttl=20), Send(flow=flow, flags=RST | ACK))),
    Ending("a RST behind a byte that is on its way", lambda flow: (
        Send(LOGIN[:1], flow=flow), Send(at=1, flow=flow, flags=RST | ACK)), refused="challenged_reset"),
    Ending("a RST before a byte, and one behind it that the server gets first", lambda flow: (
        Send(LOGIN[1:2], 1, flow), Send(at=1, flow=flow, flags=RST | ACK), Send(LOGIN[:1], flow=flow),
        Send(flow=flow, flags=RST | ACK))),
    Ending("FINs of both ends", lambda flow: (Finish(0, flow),)),
    Ending("a FIN without ACK", each(flags=FIN, ack=None)),
    Ending("a FIN of wrong checksum", each(flags=FIN | ACK, wrong_tcp=True)),
    Ending("a FIN far away", each(at=FAR, flags=FIN | ACK)),
    Ending("a SYN of another number", each(at=FAR, flags=SYN, ack=None)),
    Ending("a SYN with RST", each(at=-1, flags=SYN | RST)),
)


def plan(ending, seed, count=COUNT):
    """Opens so many, tries to end them for the box alone, opens as many again, and has a login over each."""
    numbers = range(2 * count)
    steps = [Open(flow) for flow in numbers[:count]]
    for flow in numbers[:count]:
        steps += ending.steps(flow)
    steps += [Wait(0.1, "time")]
    steps += [Send(LOGIN, flow=flow) for flow in numbers[:count]] + [Wait(0.4, flow=count - 1)]
    for flow in numbers[count:]:
        steps += [Open(flow), Send(LOGIN, flow=flow), Wait(0.3, flow=flow)]
    return Plan(f"at once: {ending.name}", flows(f"{seed} at once {ending.name}", 2 * count), tuple(steps))


def behind_forged_syns(seed):
    """A login of a client in whose name others have sent SYNs."""
    last = FORGED
    steps = [Send(b"", -1, flow=flow, flags=SYN, ack=None) for flow in range(FORGED)]
    return Plan("a login behind forged SYNs", flows(f"{seed} forged", FORGED + 1),
                (*steps, Wait(0.1, "time"), Open(last), Send(LOGIN, flow=last), Wait(0.4, flow=last)))


def check_half_open(court, names, seed, services):
    """What did not hold, in words: forged SYNs lock nobody out where connections count from the handshake on."""
    court.apply(rule_files.at_once(services, COUNT, ", from: established"))
    for attempt in range(ATTEMPTS):
        seen = court.try_all([(behind_forged_syns(f"{seed} {attempt}"), name) for name in names], SECONDS)
        names = [one.server for one in seen if not one.logins]
        if not names:
            break
    return [f"{one.plan.name}, {one.server}: refused {one.failed}" for one in seen if not one.logins]


class Watch(threading.Thread):
    """The most connections that each client had open at the servers at once, as their kernel knows them, until it is told to
    end."""

    def __init__(self, namespace):
        super().__init__(daemon=True)
        self.namespace, self.over, self.most = namespace, threading.Event(), collections.Counter()
        self.start()

    def run(self):
        while not self.over.wait(PACE):
            shown = subprocess.run(run_within(self.namespace, "ss", "-Htn", "state", "established"), capture_output=True,
                                   text=True, check=True).stdout
            now = collections.Counter(line.split()[3].rsplit(":", 1)[0].strip("[]") for line in shown.splitlines())
            self.most |= now

    def end(self):
        self.over.set()
        self.join()
        return self.most


def check(court, names, seed, services):
    """What did not hold, in words."""
    return try_endings(court, names, seed, services) + check_half_open(court, names, seed, services)


def try_endings(court, names, seed, services, endings=ENDINGS, servers=rule_files.SERVERS):
    """What did not hold, in words. Without an enforced service a wrong checksum ends a connection too."""
    court.apply(rule_files.at_once(services, COUNT, servers=servers))
    pairs = [(ending, name) for ending in endings for name in names]
    out, unserved, left, were_open = [], [], pairs, False
    for attempt in range(ATTEMPTS):
        watch = Watch(court.hosts.inside)
        all_seen = court.try_all([(plan(ending, f"{seed} {attempt}"), name) for ending, name in left], SECONDS)
        most = watch.end()
        were_open |= any(most[seen.client] for seen in all_seen)
        for seen in all_seen:
            if (many := max(seen.logins, most[seen.client])) > COUNT and services not in ("monitor", "none"):
                out.append(f"{seen.plan.name}, {seen.server}: {many} UNCOUNTED at once, where {COUNT} may be")
        short = [(pair, seen) for pair, seen in zip(left, all_seen) if seen.logins < COUNT and not pair[0].refused]
        left = [pair for pair, _ in short]
        unserved = [f"{seen.plan.name}, {seen.server}: {seen.logins} of {COUNT} served {seen.failed}" for _, seen in short]
        if not left:
            break
    if services not in ("monitor", "none"):
        out += [words for ending in endings if ending.refused and (words := reasons.untold(court, ending, names, seed))]
    out += unserved + ([] if were_open else ["at once: no connection was seen to be open"])
    print(f"{len(pairs)} ways to end a connection for the box alone: {len(out)} broken", flush=True)
    return out
