"""One course: a flood over all boxes, what is done to the store and the boxes meanwhile, and what the check says of it."""
import dataclasses
import time

import exact_bucket
from exact_bucket import SECOND
from programs import wait_until

SETTLED = 1 * SECOND    # after the burst is spent
RECOVERY = 2 * SECOND   # after the last fault has healed: from then on the limit is used up again
SPAN = 10 * SECOND      # of which the worst is looked for


@dataclasses.dataclass
class Verdict:
    """D1 and D2 of a course; `broken`: what was promised and not kept, in words."""
    admitted: int
    worst: float     # units beyond the burst, of the worst client
    share: float     # of what was promised
    live: float      # admitted / min(offered, rate) of the worst client, since the bursts were spent
    after: float     # the same of the worst span since the last fault has healed
    late_us: tuple   # 99 of 100 frames took no longer through a box: without a fault, and while there was one
    by_box: tuple
    broken: list
    history: str = ""  # of the first client that was ahead of the promise

    def __str__(self):
        late = " and ".join("-" if one is None else f"{one / 1000:.1f}" for one in self.late_us)
        return (f"{self.admitted} admitted {self.by_box}, {self.worst:.0f} beyond the burst = {self.share:.2f} of the "
                f"promise, live {self.live:.3f}, after the fault {self.after:.3f}, p99 {late} ms")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


class Course:
    """Begins with `with`, once the boxes run and have their rules."""

    def __init__(self, boxes, flood, limit):
        self.boxes, self.flood, self.limit = boxes, flood, limit
        self.begun = self.healed = None
        self.faults = []  # of each its first and last instant

    def begin(self, rates, shares):
        """The flood begins; returns once as much has come as spends each client's burst."""
        before = sum(self.flood.came())
        self.flood.send(rates=rates, shares=list(shares))
        wait_until("the bursts to be spent", lambda: sum(self.flood.came()) - before >= len(rates) * self.limit.burst)
        self.begun = self.healed = time.time_ns() + SETTLED

    def wait(self, seconds):
        """The flood goes on so long. What is measured is told by the frames' own clock, so a slow machine only waits longer."""
        time.sleep(seconds)

    def fault(self, cause, heal, seconds):
        """What is done, and undone after so long."""
        begin = time.time_ns()
        cause()
        try:
            self.wait(seconds)
        finally:
            heal()
            self.faults.append((begin, time.time_ns()))
            self.healed = self.faults[-1][1] + RECOVERY

    def lateness(self, departures, faulty):
        def is_in_fault(at):
            return any(begin <= at < end for begin, end in self.faults)
        return percentile([late for at, _, _, late in departures if at >= self.begun and is_in_fault(at) == faulty], 0.99)

    def end(self, limit=None):
        """-> Verdict of all that left the boxes. `limit`: what is stated for the faults that were."""
        ended, limit = time.time_ns(), limit or self.limit
        offered, departures = self.flood.end(), self.flood.departures()
        findings = exact_bucket.check_bucket(departures, limit)
        # Rates are those of the rule, whatever the faults may have let through.
        shares = exact_bucket.liveness(departures, offered, self.limit, self.begun, ended)
        after = exact_bucket.worst_liveness(departures, offered, self.limit, self.healed, ended, SPAN)
        return Verdict(admitted=len(departures), worst=max((finding.worst for finding in findings.values()), default=0.0),
                       share=exact_bucket.worst_share(findings, limit), live=min(shares.values(), default=0.0), after=after,
                       late_us=(self.lateness(departures, False), self.lateness(departures, True)),
                       by_box=tuple(map(sum, zip(*(finding.boxes for finding in findings.values())))),
                       broken=exact_bucket.refusals(findings, limit),
                       history=next((exact_bucket.history(departures, finding) for finding in findings.values()
                                     if finding.first_refused is not None), ""))
