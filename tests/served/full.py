"""A table that others have filled with half heads, or one with connections: what the box has forgotten is not served uncounted."""
from court import Court
from evasions import CUT, FIRST_HALF, SECOND_HALF
from heads import LOGIN
from plan import Do, Gathering, Open, Plan, Send, Until, Wait, flows
import rule_files

LEAST, OTHERS, OF_ONE = 1024, 950, 1200  # places, half heads of others, and connections of one
ASIDE = Wait(4, "time")  # stands for the time until the others are there
BEGIN, APART, HOLD = 0.5, 0.001, 6  # seconds, of the others: they stay until all is tried, at most so long
ON_THE_WAY = Wait(0.5, "time")  # for what the last of them has sent
SECONDS, SLOTS = 14, 32


def backwards(at):
    return Send(SECOND_HALF, at + CUT), Send(FIRST_HALF, at), Wait()


CASES = (
    ("halves backwards", (Open(), Send(SECOND_HALF, CUT), ASIDE, Send(FIRST_HALF), Wait())),
    ("halves in order", (Open(), Send(FIRST_HALF), ASIDE, Send(SECOND_HALF, CUT), Wait())),
    ("a login, then halves backwards", (Open(), Send(LOGIN), Send(SECOND_HALF, len(LOGIN) + CUT), ASIDE, Send(
        FIRST_HALF, len(LOGIN)), Wait())),
    ("a login on either side", (Open(), Send(LOGIN), ASIDE, Send(LOGIN, len(LOGIN)), Wait())),
    ("a login behind a pause", (Open(), ASIDE, Send(LOGIN), Wait())),
    ("begun later, halves backwards", (ASIDE, Open(), Send(SECOND_HALF, CUT), Wait(0.2, "time"), Send(FIRST_HALF), Wait())),
    ("begun later, a login", (ASIDE, Open(), Send(LOGIN), Wait())),
)
WHOLE = {"a login on either side": 2, "a login behind a pause": 1, "begun later, a login": 1}  # logins that are nobody's to refuse


class FullCourt(Court):
    WHEN_FULL = "evict"

    def let_pass(self, names):
        """Nobody else need be served where the table is full."""

    def config(self):
        return {**super().config(), "packets": {"connections": {"max": LEAST, "when_full": self.WHEN_FULL}}}


class DroppingCourt(FullCourt):
    WHEN_FULL = "drop"


class Turns:
    """Of the others, who fill the table, and of what is tried then."""

    def __init__(self, others, tried):
        self.filled, self.over = Gathering(others), Gathering(tried)

    def of_others(self):
        """The last steps of one of them."""
        return Do(self.filled.come), Until(self.over.all_here, HOLD)

    def of_tried(self, steps):
        return (*(one for step in steps for one in (
            (Until(self.filled.all_here, ASIDE.seconds), ON_THE_WAY) if step is ASIDE else (step,))), Do(self.over.come))


def others(seed):
    turns = Turns(OTHERS, len(CASES))
    return turns, [Plan("half a head", flows(f"{seed} other {number}"), (
        Wait(BEGIN + number * APART, "time"), Open(), Send(b"GET /x"), *turns.of_others())) for number in range(OTHERS)]


def of_one(seed):
    turns = Turns(1, len(CASES))
    return turns, [Plan("connections", flows(f"{seed} of one", OF_ONE), (
        Wait(BEGIN, "time"), *[Open(flow) for flow in range(OF_ONE)], *turns.of_others()))]


def check(given):
    """What did not hold, in words."""
    out = []
    for kind, fill in ((FullCourt, others), (DroppingCourt, others), (FullCourt, of_one)):
        with kind(given.programs, ("nginx",), given.workers) as court:
            court.apply(rule_files.rules(given.services, rule_files.UNLIMITED, SLOTS))
            turns, filling = fill(given.seed)
            plans = [Plan(name, flows(f"{given.seed} full {name}"), turns.of_tried(steps)) for name, steps in CASES]
            seen = court.try_some([(plan, "nginx") for plan in (*plans, *filling)], SECONDS)[:len(plans)]
            for one in seen:
                if one.logins > one.counted and given.services not in ("monitor", "none"):
                    out.append(f"full: {one.plan.name}, nginx: {one.logins} served, {one.counted} counted, UNCOUNTED")
                if one.logins < WHOLE.get(one.plan.name, 0) and kind.WHEN_FULL == "evict":
                    out.append(f"full: {one.plan.name}, nginx: {one.logins} served of {WHOLE[one.plan.name]}")
            print(f"a full table, {kind.WHEN_FULL}, {fill.__name__}: " + ", ".join(f"{one.plan.name} {one.logins}/{one.counted}" for one in seen),
                  flush=True)
    return out
