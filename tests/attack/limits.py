"""No thread is to be had, and little memory, while rules come that need much."""
import os
import pathlib
import resource
import time

from target import RULES, Outcome, Target

PIDS = pathlib.Path("/sys/fs/cgroup/pids")
ROOM = 64 << 20  # bytes that the dataplane may map beside what it has
MANY = 20000     # rules


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


def attempt_without_memory(target, rules):
    """An apply that does not fit is refused in words, and the set before it goes on."""
    process = target.box.dataplane
    limits = resource.prlimit(process.pid, resource.RLIMIT_AS)
    resource.prlimit(process.pid, resource.RLIMIT_AS, (mapped(process) + ROOM, limits[1]))
    done = target.box.apply(rules, "--force")
    alive = process.poll() is None and target.carries()
    if alive:
        resource.prlimit(process.pid, resource.RLIMIT_AS, limits)
    return alive and (done.returncode == 0 or done.stderr.strip() != "")


def attempt_without_threads(target):
    process = target.box.dataplane
    with NoThreads(process):
        target.box.apply(RULES, "--force")
        time.sleep(1)  # a snapshot is due meanwhile
        return process.poll() is None and target.carries()


def run(programs, deadline, dice):
    outcome = Outcome()
    rules = many_rules()
    target = Target(programs)
    target.config = {"memory": {"tables": {"snapshot": {"file": target.box.folder / "snapshot", "every": "1s"}}}}
    with target:
        while time.monotonic() < deadline:
            alive = attempt_without_memory(target, rules) if dice.random() < 0.5 else attempt_without_threads(target)
            outcome.attempts += 1
            outcome.survived += alive
            if target.box.dataplane.poll() is not None:
                target.start_dataplane()
            target.apply(RULES)
        target.expect_the_bound(outcome)
    return outcome
