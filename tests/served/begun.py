"""Connections that were begun before the rules with their service: what they ask for behind them is counted."""
import dataclasses
import threading

from evasions import CUT, FIRST_HALF, SECOND_HALF
from heads import LOGIN, OTHER, post
from plan import Deliver, Open, Plan, Send, Wait, flows
import rule_files

BEFORE = 1.0  # seconds from the beginning until the rules come
ASIDE = Wait(3.0, "time")  # until they have come
SECONDS = 12
BODY = b"Content-Length: 6\r\n"
BEGUN = post(OTHER, BODY, b"abc")


@dataclasses.dataclass(frozen=True)
class Case:
    """`first`: logins before the rules; `serves`: those that every server serves."""
    name: str
    steps: tuple
    first: int = 0
    serves: int = 1


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


def check(court, names, seed, services):
    """What did not hold, in words."""
    court.apply(rule_files.rules(services, rule_files.UNLIMITED))
    before = court.counted()  # a rule that comes back goes on from there
    court.apply(rule_files.WITHOUT)
    pairs = [(case, name) for case in CASES for name in names]
    trials = [(Plan(case.name, flows(f"{seed} begun {case.name} {name}"), case.steps), name) for case, name in pairs]
    failed = []
    coming = threading.Timer(BEFORE, apply, [court, rule_files.rules(services, rule_files.UNLIMITED), failed])
    coming.start()
    seen = court.try_some(trials, SECONDS)
    coming.join()
    out = failed
    for (case, _), one, earlier in zip(pairs, seen, before):
        one.counted -= earlier
        if one.logins - case.first > one.counted and services not in ("monitor", "none"):
            out.append(f"begun before: {case.name}, {one.server}: {one.logins - case.first} served, {one.counted} counted, UNCOUNTED")
        if one.logins < case.serves:
            out.append(f"begun before: {case.name}, {one.server}: {one.logins} served of {case.serves}")
    print(f"{len(seen)} connections from before the rules: {len(out)} broken", flush=True)
    return out


def apply(court, rules, failed):
    try:
        court.apply(rules)
    except AssertionError as error:
        failed.append(f"begun before: {error}")
