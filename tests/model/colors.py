"""Colour meters, with tokens that flow rather than drip: RFC 2697, RFC 2698 and RFC 4115.

`color()` says what a packet of a cost and colour would be, `spend()` commits that. `wait()` counts
until the packet would not be red.
"""
from fractions import Fraction
import math

from meters import NEVER

GREEN, YELLOW, RED = "green", "yellow", "red"
COLORS = [GREEN, YELLOW, RED]  # the last is the worst


def color_of(dscp):
    """The drop precedence of assured forwarding (RFC 2597), else green."""
    if dscp is None or dscp % 2 or not 1 <= dscp // 8 <= 4:
        return GREEN
    return {2: YELLOW, 3: RED}.get(dscp // 2 % 4, GREEN)


class Meter:
    """Two buckets: C is filled at `cir` up to `cbs`, the other at `rate` up to `size`."""

    def __init__(self, limit, now, _):
        self.limit, self.now = limit, now
        self.committed, self.other = Fraction(limit.cbs), Fraction(limit.size)

    def at(self, now):
        self.committed, self.other = self.filled(now - self.now)
        self.now = now

    def filled(self, time):
        """Both buckets after a time."""
        limit = self.limit
        committed = self.committed + time * limit.cir
        if limit.variant == "rfc2697":  # what C has no room for goes to E
            over = max(Fraction(0), committed - limit.cbs)
            return min(committed, limit.cbs), min(Fraction(limit.size), self.other + over)
        return min(committed, limit.cbs), min(Fraction(limit.size), self.other + time * limit.rate)

    def color(self, cost, came, levels=None):
        committed, other = levels or (self.committed, self.other)
        came = came if self.limit.aware else GREEN
        if self.limit.variant == "rfc2698":
            if came == RED or cost > other:
                return RED
            return YELLOW if came == YELLOW or cost > committed else GREEN
        if came == GREEN and cost <= committed:
            return GREEN
        return YELLOW if came != RED and cost <= other else RED

    def spend(self, cost, color):
        if color == GREEN:
            self.committed -= cost
        if color == YELLOW or (color == GREEN and self.limit.variant == "rfc2698"):
            self.other -= cost

    def wait(self, cost, came):
        """Tries the instants at which a bucket reaches the cost."""
        if self.color(cost, came) != RED:
            return 0
        chances = [math.ceil(time) for time in self.times_to(cost)]
        return min((time for time in chances
                    if self.color(cost, came, self.filled(time)) != RED), default=NEVER)

    def times_to(self, cost):
        limit = self.limit
        yield (cost - self.committed) / limit.cir
        if limit.variant == "rfc2697":
            yield (limit.cbs - self.committed + cost - self.other) / limit.cir
        else:
            yield (cost - self.other) / limit.rate
