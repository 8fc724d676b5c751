"""Windows of a zone's days: four hundred of them, drawn around the changes of many zones, against Python's zones."""
import datetime
import os
import sys
import zoneinfo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "model"))

import programs  # noqa: E402
from capture_files import SECOND, Case, main, pcap, udp  # noqa: E402
from schedules import DAY, Days, first_second  # noqa: E402

PAIRS = 400
# Clocks that are set at midnight, by half an hour, twice a year or by a day; and those of a name that means them.
ODD = ["America/Asuncion", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Asia/Gaza",
       "Antarctica/Troll", "America/St_Johns", "America/Havana", "Asia/Kathmandu", "Pacific/Chatham", "Asia/Pyongyang",
       "Pacific/Kwajalein", "Africa/Cairo", "Asia/Tehran", "America/Scoresbysund", "Europe/Dublin", "UTC", "Etc/GMT+12",
       "Pacific/Kiritimati"]
FIRST, LAST = 20, 129 * 365  # days since 1970


def offset_changes(zone, day):
    """From one noon in Greenwich to the next."""
    return offset(zone, day) != offset(zone, day + 1)


def offset(zone, day):
    noon = datetime.datetime(1970, 1, 1, 12, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=day)
    return noon.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset()


class DayWindows(Case):
    def zones(self, dice):
        names = sorted(zoneinfo.available_timezones() - set(ODD) - {"localtime", "Factory"})
        names = [name for name in names if os.path.isfile(os.path.join("/usr/share/zoneinfo", name))]
        return ODD + dice.sample(names, 20)

    @staticmethod
    def day(dice, zone):
        """Mostly one that is not as long as others, if a few years have any."""
        day = dice.randrange(FIRST, LAST)
        if zone == "Pacific/Apia" and dice.random() < 0.3:
            return 15337  # 2011-12-29, behind which there is no day
        if dice.random() < 0.7:
            return next((near for near in range(day, min(day + 250, LAST)) if offset_changes(zone, near)), day)
        return day

    def test_begin_and_end_with_the_days_that_its_clocks_show(self):
        dice = programs.dice("days of zones")
        zones = self.zones(dice)
        frames, odd = [], 0
        for pair in range(PAIRS):
            number = dice.randrange(len(zones))
            zone, count = zones[number], dice.choice((1, 1, 1, 2, 7))
            days = Days(zone, count * DAY * SECOND)
            time = (first_second(zone, self.day(dice, zone)) + dice.choice((0, dice.randrange(3 * DAY)))) * SECOND
            end = days.end_of_window(time)
            begin = days.begin_of_window(time)
            odd += end - begin != count * DAY * SECOND
            frame = udp(f"10.{count}.{pair // 250}.{pair % 250}", f"198.51.100.{number}")
            if dice.random() < 0.5 and begin < time:
                time = begin
            frames += [(time, pair, frame, "pass", 0), (max(time, end - SECOND), pair, frame, "drop", min(end - time, SECOND)),
                       (time, pair, frame, "drop", end - time), (end, pair, frame, "pass", 0)]
        self.assertGreater(odd, PAIRS // 10)
        self.judge(zones, sorted(frames, key=lambda one: (one[0], one[1], one[3] == "drop")))

    def judge(self, zones, frames):
        rules = self.write("rules.yaml", "version: 1\nrules:\n" + "".join(
            f"  - {{id: z{number}c{count}, mode: enforce, key: [ip.src], when: 'ip.dst eq 198.51.100.{number} and ip.src in"
            f" {{10.{count}.0.0/16}}', limits: [{{algorithm: fixed_window, count: 1, window: {count}d, zone: {zone}}}]}}\n"
            for number, zone in enumerate(zones) for count in (1, 2, 7)))
        capture = self.write("in.pcap", pcap([(time, frame) for time, _, frame, _, _ in frames]))
        self.ctl("replay", rules, "--pcap", capture, "--verdicts", self.path("verdicts.tsv"))
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        self.assertEqual(len(rows), len(frames))
        for row, (time, pair, _, verdict, wait) in zip(rows, frames):
            self.assertEqual((row[1], row[5]), (verdict, str(wait)), (row, time, pair))


if __name__ == "__main__":
    main()
