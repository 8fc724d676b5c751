"""`active`: whether the wall clock of a zone shows an hour of a rule; windows of a zone's days. By Python's own zones."""
import datetime
import functools
import zoneinfo

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Active:
    def __init__(self, entry):
        self.zone = zoneinfo.ZoneInfo(entry.get("zone", "UTC"))
        self.days = set()
        for word in as_list(entry.get("days", "mon-sun")):
            first, last = (DAYS.index(day) for day in (word.split("-") * 2)[:2])
            self.days |= {day % 7 for day in range(first, last + 1 + 7 * (last < first))}
        self.hours = [tuple(minutes(one) for one in hours.split("-"))
                      for hours in as_list(entry.get("hours", "00:00-24:00"))]

    def holds(self, time):
        """At an instant in ns since 1970."""
        second = datetime.datetime.fromtimestamp(time // 1_000_000_000, datetime.timezone.utc)
        clock = second.astimezone(self.zone)
        return any(self.shows(clock, begin, end) for begin, end in self.hours)

    def shows(self, clock, begin, end):
        today, yesterday = (day % 7 in self.days for day in (clock.weekday(), clock.weekday() - 1))
        minute = clock.hour * 60 + clock.minute
        if begin < end:
            return today and begin <= minute < end
        return today and minute >= begin or yesterday and minute < end


SECOND, DAY = 1_000_000_000, 24 * 3600


class Days:
    """Windows of whole days by the clocks of a zone, found by looking at those minute by minute."""

    def __init__(self, name, window):
        self.zone, self.count = name, window // (DAY * SECOND)

    def window_of(self, time):
        """The number of its first day, of an instant in ns since 1970."""
        second = time // SECOND
        day = date_shown(self.zone, second)
        while first_second(self.zone, day + 1) <= second:
            day += 1
        return day // self.count * self.count

    def begin_of_window(self, time):
        return first_second(self.zone, self.window_of(time)) * SECOND

    def end_of_window(self, time):
        return first_second(self.zone, self.window_of(time) + self.count) * SECOND


def date_shown(zone, second):
    """By the clocks of a zone, in days since 1970."""
    clock = datetime.datetime.fromtimestamp(second, datetime.timezone.utc).astimezone(zoneinfo.ZoneInfo(zone))
    return clock.date().toordinal() - datetime.date(1970, 1, 1).toordinal()


@functools.lru_cache(maxsize=None)
def first_second(zone, day):
    """When the clocks of a zone show a date for the first time, or a later one."""
    second = day * DAY - 27 * 3600
    while date_shown(zone, second) < day:
        second += 60
    second -= 60
    while date_shown(zone, second) < day:
        second += 1
    return second


def as_list(value):
    return value if isinstance(value, list) else [value]


def minutes(text):
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)
