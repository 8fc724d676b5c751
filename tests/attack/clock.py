"""UTC is stepped by up to a year to and fro, for both daemons, while windows of the clock are limited."""
import os
import struct
import time

from target import LIMITED, SOURCES, Outcome, Target

COUNT = 20  # a second and source
DAY = 86400

RULES = f"""version: 1
rules:
  - id: limited
    mode: enforce
    when: ip.dst eq 10.79.0.{LIMITED}
    key: [ip.src]
    limits: [{{algorithm: fixed_window, count: {COUNT}, window: 1s, phase: clock}}]
"""


class Clock:
    """What the shim adds to UTC, in ns."""

    def __init__(self, folder):
        self.path = folder / "clock"
        self.path.write_bytes(struct.pack("<q", 0))

    def wrapper(self, shim):
        return ["env", f"LD_PRELOAD={shim}", f"CLOCK_SHIM={self.path}"]

    def step_to(self, seconds):
        with open(self.path, "r+b") as file:
            os.pwrite(file.fileno(), struct.pack("<q", seconds * 10**9), 0)


def run(programs, deadline, dice, shim):
    outcome = Outcome()
    target = Target(programs, RULES)
    clock = Clock(target.box.folder)
    target.box.wrapper = clock.wrapper(shim)
    with target:
        begin, before = time.monotonic(), target.most_of_a_source()
        while time.monotonic() < deadline:
            clock.step_to(dice.choice((-400, -3, -1, 0, 1, 3, 400)) * DAY + dice.randrange(DAY))
            time.sleep(dice.uniform(0.5, 5))
            outcome.attempts += 1
            outcome.survived += target.carries()
        # A step forward may end the window that stands, no other gives anything anew.
        windows = time.monotonic() - begin + 2 + outcome.attempts
        most = target.most_of_a_source() - before
        outcome.expect(most <= COUNT * windows, f"{most} frames of one of {SOURCES} sources in {windows:.0f} windows")
        outcome.expect(most > 0, "nothing is admitted any more")
    return outcome
