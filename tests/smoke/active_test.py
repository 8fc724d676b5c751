"""`active` of rules: the dataplane switches by itself, and a sluiced that comes back agrees.

    active_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import subprocess
import time
from unittest import mock

from box_case import HostsCase, main
from host_flood import Flow, HostFlood
from programs import wait_until, wait_until_still

# The wall clock cannot be set here, and hours are of whole minutes; a zone's clocks may change at any second. Who is late
# for these tries again with more of them: only what is wrong within the hours, or outside of them, fails.
TRIES = ((15, 25), (40, 60), (90, 150))  # seconds until the hours begin, and until they end
PATIENCE = 300  # seconds
RULES = """version: 1
rules:
  - {id: NIGHT, mode: enforce, on_match: drop, when: ip.proto eq 17, active: {hours: 12:00-14:00, zone: ZONE}}
  - {id: day, mode: monitor, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""
FLOW = Flow(sources=1, hosts=1, rate=500)
MANY = 500


class Late(Exception):
    """The wall clock was faster than this machine."""


class Hours:
    """A rule's hours, in a zone and under a name that no try before had."""

    def __init__(self, soon, lasts):
        self.rule, self.zone = f"night-{lasts}", f"Test/Moved{lasts}"
        self.begin = int(time.time()) + soon
        self.end = self.begin + lasts

    def zone_text(self):
        """Clocks that show about 07:00 before, about 13:00 within, and about 19:00 from then on."""
        noon = 13 - round(self.begin % 86400 / 3600)

        def until(at):
            return time.strftime("%Y %b %d %H:%M:%Su", time.gmtime(at))
        return (f"Zone {self.zone} {noon - 6}:00 - AAA {until(self.begin)}\n"
                f"                {noon}:00 - BBB {until(self.end)}\n"
                f"                {noon + 6}:00 - CCC\n")

    def rules(self):
        return RULES.replace("NIGHT", self.rule).replace("ZONE", self.zone)


def be_before(at, what):
    if time.time() >= at:
        raise Late(what)


class Active(HostsCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.zones = self.box.folder / "zones"
        self.enterContext(mock.patch.dict(os.environ, TZDIR=str(self.zones)))
        self.box.start_sluiced()

    def make_hours(self, *seconds):
        hours = Hours(*seconds)
        source = self.box.folder / "zone.txt"
        source.write_text(hours.zone_text())
        subprocess.run(["zic", "-d", self.zones, source], check=True)
        return hours

    def inactive(self):
        return json.loads(self.box.api("GET", "/v1/health")[1])["inactive_rules"]

    def exceeded(self, hours):
        return next(rule["exceeded"] for rule in self.box.stats()["rules"] if rule["id"] == hours.rule)

    def generation(self):
        return json.loads(self.box.api("GET", "/v1/rules")[1])["generation"]

    def start_again(self):
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced()
        self.box.wait_for_link(True)

    def before(self, hours, flood):
        wait_until("frames to come through", lambda: flood.total() > MANY or time.time() >= hours.begin)
        told = self.inactive(), self.exceeded(hours)
        be_before(hours.begin, "its hours began before all was looked at")
        self.assertEqual(told, ([hours.rule], 0))
        self.box.kill(self.box.sluiced)

    def held(self, hours, flood):
        """What has come through once no more does."""
        wait_until("its hours", lambda: time.time() >= hours.begin, PATIENCE)
        try:
            return wait_until_still("what comes through", flood.total, still=3, seconds=hours.end - time.time())
        except AssertionError:
            raise Late("nothing stood still until its hours ended") from None

    def within(self, hours, flood, generation):
        came = self.held(hours, flood)
        self.box.start_sluiced()
        self.box.wait_for_link(True)
        told = self.inactive(), self.generation(), flood.total()
        exceeded = self.exceeded(hours)
        shown = " ".join(self.box.ctl("rules").stdout.split())
        be_before(hours.end, "its hours ended before all was looked at")
        self.assertEqual(told, ([], generation, came))
        self.assertGreater(exceeded, 0)
        self.assertIn(f"until {time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(hours.end))}", shown)
        self.box.kill(self.box.sluiced)
        return came

    def behind(self, hours, flood, generation, came):
        wait_until("frames to come through again", lambda: flood.total() > came + MANY, PATIENCE)
        self.assertGreaterEqual(time.time(), hours.end, "the rule lets through within its hours")
        self.start_again()
        self.assertEqual((self.inactive(), self.generation()), ([hours.rule], generation))
        exceeded = self.exceeded(hours)
        total = flood.total()
        wait_until("more of them", lambda: flood.total() > total + MANY)
        self.assertEqual(self.exceeded(hours), exceeded, "it counts no more")

    def run_through(self, hours):
        self.apply(hours.rules())
        generation = self.generation()
        with HostFlood(self.hosts, FLOW) as flood:
            self.before(hours, flood)
            came = self.within(hours, flood, generation)
            self.behind(hours, flood, generation, came)

    def test_it_switches_without_sluiced_which_agrees_when_it_is_back(self):
        late = []
        for seconds in TRIES:
            try:
                return self.run_through(self.make_hours(*seconds))
            except Late as why:
                late.append(f"{seconds}: {why}")
                self.start_again()
        self.fail("late each time: " + "; ".join(late))


if __name__ == "__main__":
    main()
