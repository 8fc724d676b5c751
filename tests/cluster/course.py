"""One course: a flood over all boxes, what is done to the store and the boxes meanwhile, and what the check says of it."""
import contextlib
import dataclasses
import time

import exact_bucket
from exact_bucket import SECOND
from programs import wait_until

SETTLED = 1 * SECOND  # after the burst is spent


@dataclasses.dataclass
class Verdict:
    """D1 and D2 of a course; `broken`: what was promised and not kept, in words."""
    admitted: int
    worst: float    # units beyond the burst, of the worst client
    share: float    # of what was promised
    live: float     # admitted / min(offered, rate), of the worst client
    by_box: tuple
    broken: list

    def __str__(self):
        return (f"{self.admitted} admitted {self.by_box}, {self.worst:.0f} beyond the burst = {self.share:.2f} of the "
                f"promise, live {self.live:.3f}")


class Course:
    """Begins with `with`, once the boxes run and have their rules."""

    def __init__(self, boxes, flood, limit):
        self.boxes, self.flood, self.limit = boxes, flood, limit
        self.begun = None

    def begin(self, rates, shares=(1, 1, 1)):
        """The flood begins; returns once as much has come as spends each client's burst."""
        before = sum(self.flood.came())
        self.flood.send(rates=rates, shares=list(shares))
        wait_until("the bursts to be spent", lambda: sum(self.flood.came()) - before >= len(rates) * self.limit.burst)
        self.begun = time.time_ns() + SETTLED

    @contextlib.contextmanager
    def during(self, what, heal):
        """A fault and its end."""
        what()
        try:
            yield
        finally:
            heal()

    def wait(self, seconds):
        """The flood goes on so long; what is measured is told by the frames' own clock, not by this one."""
        time.sleep(seconds)

    def end(self):
        """-> Verdict of all that left the boxes, and of liveness since the bursts were spent."""
        ended = time.time_ns()
        offered = self.flood.end()
        departures = self.flood.departures()
        findings = exact_bucket.check_bucket(departures, self.limit)
        shares = exact_bucket.liveness(departures, offered, self.limit, self.begun, ended)
        return Verdict(admitted=sum(finding.admitted for finding in findings.values()),
                       worst=max((finding.worst for finding in findings.values()), default=0.0),
                       share=exact_bucket.worst_share(findings, self.limit),
                       live=min(shares.values(), default=0.0),
                       by_box=tuple(map(sum, zip(*(finding.boxes for finding in findings.values())))),
                       broken=exact_bucket.refusals(findings, self.limit))
