"""A day is not a minute: mixed traffic with new clients all the time, operators at work, kills now and then. What grows
ends it, and so does what was admitted beyond what was promised."""
import dataclasses
import os
import pathlib
import subprocess
import time

from soak_operator import Operator
from soak_rules import HOST_OF, HOSTS, PROMISES, SOAK_RULES
from soak_traffic import Traffic
from target import Outcome, Target

FLOOD = 2000          # frames a second: of each source to each host more than any promise
LINE_SECONDS = 600    # between two lines
LEAST_LINES = 6       # of a run that is shorter than an hour
SETTLED = 3           # the first third of all lines says what is usual
GROWS = 1.10          # of what is usual, beside the slack of each figure
KILL_SECONDS = 300    # between two kills, on average
KEYS = 1 << 16


@dataclasses.dataclass
class Figure:
    """A number that must not grow; `slack` is added to what is usual."""
    name: str
    slack: int


FIGURES = (Figure("dataplane MiB", 32), Figure("dataplane descriptors", 8), Figure("dataplane threads", 2),
           Figure("sluiced MiB", 32), Figure("sluiced descriptors", 16), Figure("sluiced threads", 8),
           Figure("table places", KEYS // 2), Figure("usual ms", 50))
HEAD = ("MiB are of anonymous memory: the tables lie in shared memory or huge pages, and what they hold is counted as places.\n"
        "A x of y: most units of one key that were admitted, of what was promised to it until now.")


def figures_of(process):
    """MiB that are its own, open descriptors, threads."""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return [int(status["RssAnon"].split()[0]) >> 10, len(os.listdir(f"/proc/{process.pid}/fd")), int(status["Threads"])]


def grown(rows, now):
    """In words, which figures are far above those of the rows, which say what is usual."""
    usual = [max(column) for column in zip(*rows)]
    return [f"{figure.name}: {value}, {most} at most before" for figure, most, value in zip(FIGURES, usual, now)
            if value > most * GROWS + figure.slack]


def broken_promises(admitted, before, seconds):
    """In words: more than was promised, and a rate of which nothing came at all."""
    words = []
    for promise in PROMISES:
        came, most = admitted[promise.name], promise.most(seconds)
        if came > most:
            words.append(f"{promise.name}: {came} admitted, {most:.0f} promised")
        if promise.rate and came == before.get(promise.name, 0):
            words.append(f"{promise.name}: {came} admitted, and none since the line before")
    return words


class Soak:
    """`begun`: before any frame was sent, from when promises are counted."""

    def __init__(self, target, traffic, dice, begun):
        self.target, self.box, self.traffic, self.dice, self.begun = target, target.box, traffic, dice, begun
        self.operator, self.outcome = Operator(target.box, dice), Outcome()
        self.kills, self.rows, self.admitted = 0, [], {}

    def kill_one(self):
        victim = self.dice.choice(("dataplane", "sluiced"))
        self.box.kill(getattr(self.box, victim))
        if victim == "dataplane":
            self.target.start_dataplane()
            self.box.wait_for_link(True)
        else:
            self.box.start_sluiced()
        self.kills += 1
        return None if self.target.carries() else f"nothing comes through after {victim} was killed"

    def step(self, kills_due):
        try:
            refused = self.kill_one() if kills_due else self.operator.act()
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            refused = f"{type(error).__name__}: {error}"
        refused = self.ended_by_itself() or refused
        self.outcome.attempts += 1
        self.outcome.survived += self.outcome.expect(refused is None, refused)

    def ended_by_itself(self):
        """In words, the daemon that has; None: both are there."""
        for name in ("dataplane", "sluiced"):
            if getattr(self.box, name).poll() is not None:
                return f"{name} has ended by itself: {self.box.log(name + '.log')[-300:]}"
        return None

    def most_admitted(self):
        """Of one key, by promise."""
        came = self.target.flood.came()
        most = {name: max((count for (_, to), count in came.items() if to == host), default=0) for name, host in HOST_OF.items()}
        return {**most, "pages": len(self.traffic.server.seen), "hellos": self.traffic.hellos.came}

    def line(self, is_settled):
        """Prints what is; keeps it as usual while it has not settled, compares it afterwards."""
        places = sum(rule.get("keys", 0) for rule in self.box.stats()["rules"])
        usual, worst = self.traffic.probes.take_times()
        now = figures_of(self.box.dataplane) + figures_of(self.box.sluiced) + [places, round(usual, 1)]
        admitted = self.most_admitted()
        seconds = time.monotonic() - self.begun
        parts = [*(f"{figure.name} {value}" for figure, value in zip(FIGURES, now)), f"worst {worst:.1f} ms",
                 *(f"{promise.name} {admitted[promise.name]} of {promise.most(seconds):.0f}" for promise in PROMISES),
                 f"{self.traffic.pages.failed} pages failed", f"{self.outcome.attempts} steps", f"{self.kills} kills"]
        print(f"{seconds:6.0f} s  {', '.join(parts)}", flush=True)
        self.outcome.broken += broken_promises(admitted, self.admitted, seconds)
        self.admitted = admitted
        if is_settled:
            self.outcome.broken += grown(self.rows, now)
        else:
            self.rows.append(now)


def run(programs, deadline, dice):
    begun = time.monotonic()
    lines = max(LEAST_LINES, round((deadline - begun) / LINE_SECONDS))
    every = (deadline - begun) / lines
    target = Target(programs, SOAK_RULES, hosts=HOSTS, rate=FLOOD)
    target.config = {"memory": {"tables": {"keys": KEYS, "snapshot": {"file": target.box.folder / "snapshot", "every": "10s"}}}}
    Operator(target.box, dice).prepare()
    print(HEAD, flush=True)
    with target, Traffic(target.hosts, dice) as traffic:
        soak = Soak(target, traffic, dice, begun)
        next_kill = begun + dice.expovariate(1 / min(KILL_SECONDS, every))
        for number in range(1, lines + 1):
            while time.monotonic() < begun + number * every and not soak.outcome.broken:
                time.sleep(dice.uniform(0, 1))
                is_due = time.monotonic() > next_kill
                if is_due:
                    next_kill = time.monotonic() + dice.expovariate(1 / min(KILL_SECONDS, every))
                soak.step(is_due)
            if soak.outcome.broken:
                break
            soak.line(number * SETTLED > lines)
        target.expect_the_bound(soak.outcome)
    return soak.outcome
