"""No thread is to be had, and little memory, while rules come that need much."""
import os
import pathlib
import re
import resource
import time

from programs import wait_until
from target import RULES, Outcome, Target

PIDS = pathlib.Path("/sys/fs/cgroup/pids")
ROOM = 32 << 20  # bytes that the dataplane may map beside what it has
MANY = 16000     # rules, nearly as many as a file may have
NEEDS = re.compile(r"need \d+ MiB of memory(?: or more)?, and \d+ MiB are available")


def many_rules():
    return RULES + "".join(
        f"  - {{id: r{i}, mode: enforce, when: ip.src eq 10.{i >> 16}.{i >> 8 & 255}.{i & 255}, on_match: allow}}\n"
        for i in range(MANY))


class NoThreads:
    """A group of processes that gets none beside those it has."""

    def __init__(self, process):
        self.group = PIDS / f"sluice-{os.getpid()}"
        self.process = process

    def __enter__(self):
        self.group.mkdir()
        (self.group / "cgroup.procs").write_text(str(self.process.pid))
        (self.group / "pids.max").write_text("1")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            (PIDS / "cgroup.procs").write_text(str(self.process.pid))
        self.group.rmdir()


def mapped(process):
    with open(f"/proc/{process.pid}/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def attempt_without_memory(target, rules, outcome):
    """An apply that does not fit is refused with the amount, and the set before it goes on."""
    process = target.box.dataplane
    limits = resource.prlimit(process.pid, resource.RLIMIT_AS)
    resource.prlimit(process.pid, resource.RLIMIT_AS, (mapped(process) + ROOM, limits[1]))
    done = target.box.apply(rules, "--force")
    alive = process.poll() is None and target.carries()
    refused = done.returncode != 0 and NEEDS.search(done.stderr)
    outcome.expect(refused, f"an apply beyond memory was not refused with the amount: {done.stderr.strip()}")
    if alive:
        small = target.box.apply(RULES, "--force")
        outcome.expect(small.returncode == 0, f"a small apply after it was refused: {small.stderr.strip()}")
        resource.prlimit(process.pid, resource.RLIMIT_AS, limits)
    return alive


def snapshots(target):
    text = target.box.api("GET", "/v1/metrics")[1].decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("sluice_snapshots_total"))


def attempt_without_threads(target):
    process = target.box.dataplane
    before = snapshots(target)
    with NoThreads(process):
        target.box.apply(RULES, "--force")
        wait_until("a snapshot, or one that failed", lambda: process.poll() is not None or snapshots(target) > before)
        return process.poll() is None and target.carries()


def run(programs, deadline, dice):
    outcome = Outcome()
    rules = many_rules()
    target = Target(programs)
    target.config = {"memory": {"tables": {"snapshot": {"file": target.box.folder / "snapshot", "every": "1s"}}}}
    with target:
        while time.monotonic() < deadline:
            alive = (attempt_without_memory(target, rules, outcome) if dice.random() < 0.5
                     else attempt_without_threads(target))
            outcome.attempts += 1
            outcome.survived += alive
            if target.box.dataplane.poll() is not None:
                target.start_dataplane()
            target.apply(RULES)
        target.expect_the_bound(outcome)
    return outcome
