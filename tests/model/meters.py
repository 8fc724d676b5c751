"""The buckets of the rule language, as its section 4 defines them: exact, slow, and never forgotten.

Each is made full, is brought up to an instant by `at()`, says by `wait()` how many whole nanoseconds
a cost must wait (0: it fits now; NEVER), and takes a cost by `spend()` or what there is of it by
`spend_what_fits()`. Instants are nanoseconds since the capture's first frame; `utc` is what must be
added to them for the wall clock.
"""
from fractions import Fraction
import math

NEVER = math.inf


class Bucket:
    """What all have in common: numbers that hold until an instant, and others from then on."""

    def __init__(self, limit, now, utc):
        self.limit, self.now, self.utc = limit, now, utc
        self.ends, self.then = NEVER, None

    def end(self, ends, then):
        """From that instant on the numbers are those of another limit."""
        self.ends, self.then = ends, then
        return self

    def at(self, now):
        if now >= self.ends:
            self.go_on(self.ends)
            self.change(self.then)
            self.ends = NEVER
        self.go_on(now)

    def go_on(self, now):
        self.now = now

    def change(self, limit):
        self.limit = limit


class TokenBucket(Bucket):
    """Tokens that drip in at the limit's rate, up to its burst. A leaky bucket admits the same."""

    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.tokens = limit.burst
        self.not_before = 0  # what comes later departs behind what is held

    def go_on(self, now):
        if now != self.now and self.tokens != self.limit.burst:
            self.tokens = min(self.limit.burst, self.tokens + (now - self.now) * self.limit.rate)
        self.now = now

    def change(self, limit):
        """What was used stays used, in units rounded up to the parts of a ns that a rate of p units
        in q ns has: q-ths of a unit. It may be more than a burst; nobody owes for longer than
        2^56 ns, or 2^63 p-ths of one."""
        used, parts = self.limit.burst - self.tokens, limit.rate.denominator
        longest = min(2**56 * limit.rate.numerator, 2**63 - 1)
        used = Fraction(min(math.ceil(used * parts), longest), parts)
        self.limit, self.tokens = limit, limit.burst - used

    def wait(self, cost):
        if cost <= self.tokens:
            return 0
        if cost > self.limit.burst:
            return NEVER
        return math.ceil((cost - self.tokens) / self.limit.rate)

    def delay(self, cost):
        """Under `shape`, until it departs: a leaky bucket's queue must have drained."""
        wait = self.wait(cost)
        if self.limit.algorithm == "leaky_bucket":
            wait = NEVER if wait else self.full_after()
        return max(wait, self.not_before - self.now)

    def full_after(self):
        return math.ceil((self.limit.burst - self.tokens) / self.limit.rate)

    def spend_at(self, cost, leaves, is_held):
        """As of the instant at which a packet that is held departs, if it would be full before. Behind what a candidate
        would hold nothing departs."""
        if self.now + self.full_after() < leaves:
            self.tokens = self.limit.burst - (leaves - self.now) * self.limit.rate
        self.tokens -= cost
        after = self.now + self.full_after() if self.limit.algorithm == "leaky_bucket" else leaves
        self.not_before = max(self.not_before, after) if is_held else 0

    def spend(self, cost):
        self.tokens -= cost

    def spend_what_fits(self, cost):
        self.tokens = min(self.tokens, max(0, self.tokens - cost))


class Counting(Bucket):
    """What the counting algorithms share: whole units, the least wait by trying instants."""

    def wait(self, cost):
        if cost > self.limit.count:
            return NEVER
        return next(instant - self.now for instant in self.chances(cost)
                    if self.used(instant) + cost <= self.limit.count)

    def spend_what_fits(self, cost):
        self.spend(max(0, min(cost, math.floor(self.limit.count - self.used(self.now)))))


class FixedWindow(Counting):
    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.start = None  # of the window in which something was spent
        self.units = 0

    def window(self, instant):
        """Where the window of an instant starts."""
        if self.limit.phase == "first":
            return self.start if self.start is not None and \
                instant < self.start + self.limit.window else instant
        if self.limit.days:
            return self.limit.days.begin_of_window(instant + self.utc) - self.utc
        shift = self.utc + self.limit.utc_offset
        return (instant + shift) // self.limit.window * self.limit.window - shift

    def used(self, instant):
        return self.units if self.start == self.window(instant) else 0

    def chances(self, _):
        if self.limit.days:
            return self.now, self.limit.days.end_of_window(self.now + self.utc) - self.utc
        return self.now, self.window(self.now) + self.limit.window

    def spend(self, cost):
        start = self.window(self.now)
        if cost:
            self.units = (self.units if start == self.start else 0) + cost
            self.start = start


class SlidingWindow(Counting):
    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.spent = {}  # units by window

    def used(self, instant):
        index, into = divmod(instant, self.limit.window)
        before, units = self.spent.get(index - 1, 0), self.spent.get(index, 0)
        return units + (before * Fraction(self.limit.window - into, self.limit.window) if before else 0)

    def chances(self, cost):
        yield self.now
        for index in range(self.now // self.limit.window, self.now // self.limit.window + 3):
            start, before = index * self.limit.window, self.spent.get(index - 1, 0)
            room = self.limit.count - self.spent.get(index, 0) - cost
            if before and 0 <= room < before:
                into = math.ceil(self.limit.window - Fraction(room * self.limit.window, before))
                yield max(self.now, start + into)
            else:
                yield max(self.now, start)

    def wait(self, cost):
        if cost > self.limit.count:
            return NEVER
        if self.used(self.now) + cost <= self.limit.count:
            return 0
        return min(instant - self.now for instant in self.chances(cost)
                   if self.used(instant) + cost <= self.limit.count)

    def spend(self, cost):
        index = self.now // self.limit.window
        self.spent[index] = self.spent.get(index, 0) + cost


class SlidingCounters(Counting):
    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.spent = {}  # units by sub-window

    def edge(self, index):
        return index * self.limit.window // self.limit.buckets

    def index(self, instant):
        index = instant * self.limit.buckets // self.limit.window
        return index + 1 if self.edge(index + 1) <= instant else index

    def used(self, instant):
        last = self.index(instant)
        first = last - self.limit.buckets + (0 if self.limit.edge == "strict" else 1)
        return sum(units for index, units in self.spent.items() if first <= index <= last)

    def chances(self, _):
        here = self.index(self.now)
        return [self.now, *(self.edge(here + step) for step in range(1, self.limit.buckets + 3))]

    def spend(self, cost):
        index = self.index(self.now)
        self.spent[index] = self.spent.get(index, 0) + cost


class SlidingLog(Counting):
    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.spent = []  # (instant, units)

    def used(self, instant):
        return sum(units for when, units in self.spent if instant < when + self.limit.window)

    def chances(self, _):
        return [self.now, *(when + self.limit.window for when, _ in self.spent
                            if when + self.limit.window > self.now)]

    def spend(self, cost):
        self.spent.append((self.now, cost))


class Distinct(Bucket):
    """Different values, each by the half of a window in which it was last shown: it counts in that one and in the
    next. `value` is the one that is asked about."""

    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.shown, self.value = {}, None

    def half(self, instant):
        return instant // self.length()

    def length(self):
        return (self.limit.window + 1) // 2

    def counting(self, instant):
        return {value for value, half in self.shown.items() if half + 1 >= self.half(instant)}

    def wait(self, cost):
        if self.value in self.counting(self.now):
            return 0
        if cost > self.limit.count:
            return NEVER
        begins = [self.now, *((self.half(self.now) + step) * self.length() for step in (1, 2))]
        return next(begin - self.now for begin in begins
                    if len(self.counting(begin)) + cost <= self.limit.count)

    def spend(self, _):
        self.shown[self.value] = self.half(self.now)


METERS = {"token_bucket": TokenBucket, "leaky_bucket": TokenBucket, "fixed_window": FixedWindow,
          "sliding_window": SlidingWindow, "sliding_counters": SlidingCounters,
          "sliding_log": SlidingLog, "distinct": Distinct}
