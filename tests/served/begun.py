"""Connections that were begun before the rules with their service, or while it monitored: what they ask for then is counted."""
import dataclasses
import threading
import time

from evasions import CUT, FIRST_HALF, SECOND_HALF
from heads import LOGIN, OTHER, post
from plan import Deliver, Do, Gathering, Open, Plan, Send, Until, Wait, flows
import rule_files

BEFORE = 15.0  # seconds at most from the beginning until the rules come, which is when all have sent what they send before
ON_THE_WAY = 0.3  # seconds for what was sent last
ASIDE = Wait(60.0, "time")  # stands for the time until they have come, which nobody may have run out of
SECONDS = 90
BODY = b"Content-Length: 6\r\n"
BEGUN = post(OTHER, BODY, b"abc")
DYING = post(OTHER, b"Content-Length: 1000000000\r\n")  # never comes to the server
HALF = len(DYING) // 2


@dataclasses.dataclass(frozen=True)
class Case:
    """`first`: logins before the rules; `serves`: those that every server serves; `begun`: those whose heads came in part
    before, which nobody has to count."""
    name: str
    steps: tuple
    first: int = 0
    serves: int = 1
    begun: int = 0


def backwards(at):
    return Send(SECOND_HALF, at + CUT), Send(FIRST_HALF, at), Wait()


CASES = (
    Case("a login behind a handshake", (Open(), ASIDE, Send(LOGIN), Deliver(LOGIN), Wait())),
    Case("a login behind another", (Open(), Send(LOGIN), ASIDE, Send(LOGIN, len(LOGIN)), Deliver(2 * LOGIN), Wait()), 1, 2),
    Case("a login behind the rest of a body", (Open(), Send(BEGUN), ASIDE, Send(b"def" + LOGIN, len(BEGUN)), Deliver(BEGUN + b"def" + LOGIN), Wait(), Wait()), serves=0),
    Case("a login 2^30 ahead", (Open(), ASIDE, Send(LOGIN, 1 << 30), Wait(), Send(LOGIN + LOGIN, 1 << 30), Wait()), serves=0),
    Case("halves backwards", (Open(), Send(LOGIN), ASIDE, *backwards(len(LOGIN))), 1, 1),
    Case("halves backwards, four times", (Open(), Send(LOGIN), ASIDE, *(
        step for number in range(1, 5) for step in backwards(number * len(LOGIN)))), 1, 1),
    Case("halves backwards, sent again", (Open(), Send(LOGIN), ASIDE, *(
        step for _ in range(4) for step in backwards(len(LOGIN)))), 1, 1),
    Case("a login, then halves backwards", (Open(), ASIDE, Send(LOGIN), Deliver(LOGIN), *(
        step for _ in range(2) for step in backwards(len(LOGIN))))),
    Case("a half before, again and again", (Open(), Send(SECOND_HALF, CUT), ASIDE, *(
        step for _ in range(4) for step in (Send(FIRST_HALF), Wait(0.3, "time")))), serves=0),
    Case("a half before, a half after backwards", (Open(), Send(SECOND_HALF, CUT), ASIDE, Send(FIRST_HALF), Wait()), serves=0),
)


# While the service monitors, which changes no frame: halves of heads stand with the server, or with the box alone.
TURNED = (
    *CASES,
    Case("half a head, and its rest", (Open(), Send(FIRST_HALF), ASIDE, Send(SECOND_HALF, CUT), Deliver(LOGIN), Wait()), serves=0, begun=1),
    Case("half a head, its rest and a login", (
        Open(), Send(FIRST_HALF), ASIDE, Send(SECOND_HALF + LOGIN, CUT), Deliver(2 * LOGIN), Wait()), serves=0, begun=1),
    Case("half a head that died on its way", (
        Open(), Send(DYING[:HALF], ttl=2), ASIDE, Send(LOGIN), Deliver(LOGIN), Wait())),
    Case("half a head that died on its way, its rest too", (
        Open(), Send(DYING[:HALF], ttl=2), ASIDE, Send(DYING[HALF:], HALF), Send(LOGIN), Deliver(LOGIN), Wait())),
    Case("a head that died on its way, with a body without end", (
        Open(), Send(DYING, ttl=2), ASIDE, Send(LOGIN), Deliver(LOGIN), Wait())),
    Case("half a head behind a login", (
        Open(), Send(LOGIN + FIRST_HALF), ASIDE, Send(SECOND_HALF, len(LOGIN) + CUT), Deliver(2 * LOGIN), Wait()), 1, 1, 1),
)


def check(court, names, seed, services):
    """What did not hold, in words."""
    out = begun_before(court, names, seed, services)
    return out if services in ("monitor", "none") else out + turned(court, names, seed, services)


def begun_before(court, names, seed, services):
    court.apply(rule_files.rules(services, rule_files.UNLIMITED))
    before = court.counted()  # a rule that comes back goes on from there
    court.apply(rule_files.WITHOUT)
    pairs = [(case, name) for case in CASES for name in names]
    seen, out = try_pairs(court, pairs, f"{seed} begun", services)
    for one, earlier in zip(seen, before):
        one.counted -= earlier
    for (case, _), one in zip(pairs, seen):
        out += broken("begun before", case, one, one.logins - case.first, services)
    print(f"{len(seen)} connections from before the rules: {len(out)} broken", flush=True)
    return out


def turned(court, names, seed, services):
    """A service that comes to enforce: its rules are the same, and have counted what came before."""
    court.apply(rule_files.rules("monitor", rule_files.UNLIMITED))
    pairs = [(case, name) for case in TURNED for name in names]
    seen, out = try_pairs(court, pairs, f"{seed} turned", services)
    for (case, _), one in zip(pairs, seen):
        out += broken("from monitor to enforce", case, one, one.logins - case.begun, services)
    print(f"{len(seen)} connections from before a service enforced: {len(out)} broken", flush=True)
    return out


def try_pairs(court, pairs, seed, services):
    """What was seen of each, during which the rules come; and what failed, in words."""
    before, are_there, failed = Gathering(len(pairs)), threading.Event(), []
    trials = [(Plan(case.name, flows(f"{seed} {case.name} {name}"), awaiting(case.steps, before, are_there)), name)
              for case, name in pairs]
    coming = threading.Thread(target=bring, args=[court, services, before.all_here, are_there, failed])
    coming.start()
    seen = court.try_some(trials, SECONDS)
    coming.join()
    return seen, failed


def awaiting(steps, before, are_there):
    """The steps, with the rules awaited for as long as they take."""
    return tuple(one for step in steps for one in (
        (Do(before.come), Until(are_there, ASIDE.seconds)) if step is ASIDE else (step,)))


def bring(court, services, are_all_here, are_there, failed):
    """The rules, once all are there or have had their time."""
    are_all_here.wait(BEFORE)
    time.sleep(ON_THE_WAY)
    apply(court, rule_files.rules(services, rule_files.UNLIMITED), failed)
    are_there.set()


def broken(when, case, one, served, services):
    """In words; `served`: logins that were to be counted."""
    out = []
    if served > one.counted and services not in ("monitor", "none"):
        out.append(f"{when}: {case.name}, {one.server}: {served} served, {one.counted} counted, UNCOUNTED")
    if one.logins < case.serves:
        out.append(f"{when}: {case.name}, {one.server}: {one.logins} served of {case.serves}")
    return out


def apply(court, rules, failed):
    try:
        court.apply(rules)
    except AssertionError as error:
        failed.append(f"begun before: {error}")
