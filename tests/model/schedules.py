"""`active`: whether the wall clock of a zone shows an hour of a rule, by Python's own zones."""
import datetime
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


def as_list(value):
    return value if isinstance(value, list) else [value]


def minutes(text):
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)
