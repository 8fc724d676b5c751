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

# The wall clock cannot be set here, and hours are of whole minutes; a zone's clocks may change at any second.
SOON, WINDOW = 15, 25  # seconds
PATIENCE = 300  # seconds
RULES = """version: 1
rules:
  - {id: night, mode: enforce, on_match: drop, when: ip.proto eq 17, active: {hours: 12:00-14:00, zone: Test/Moved}}
  - {id: day, mode: monitor, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""
FLOW = Flow(sources=1, hosts=1, rate=500)
MANY = 500


def zone_text(begin):
    """Clocks that show about 07:00 before, about 13:00 for WINDOW seconds, and about 19:00 from then on."""
    noon = 13 - round(begin % 86400 / 3600)

    def until(at):
        return time.strftime("%Y %b %d %H:%M:%Su", time.gmtime(at))
    return (f"Zone Test/Moved {noon - 6}:00 - AAA {until(begin)}\n"
            f"                {noon}:00 - BBB {until(begin + WINDOW)}\n"
            f"                {noon + 6}:00 - CCC\n")


class Active(HostsCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.zones = self.box.folder / "zones"
        self.enterContext(mock.patch.dict(os.environ, TZDIR=str(self.zones)))
        self.box.start_sluiced()

    def make_zone(self):
        begin = int(time.time()) + SOON
        source = self.box.folder / "zone.txt"
        source.write_text(zone_text(begin))
        subprocess.run(["zic", "-d", self.zones, source], check=True)
        return begin

    def inactive(self):
        return json.loads(self.box.api("GET", "/v1/health")[1])["inactive_rules"]

    def rule(self):
        return next(rule for rule in self.box.stats()["rules"] if rule["id"] == "night")

    def generation(self):
        return json.loads(self.box.api("GET", "/v1/rules")[1])["generation"]

    def start_again(self):
        self.box.start_sluiced()
        self.box.wait_for_link(True)

    def test_it_switches_without_sluiced_which_agrees_when_it_is_back(self):
        begin = self.make_zone()
        self.apply(RULES)
        generation = self.generation()
        with HostFlood(self.hosts, FLOW) as flood:
            wait_until("frames to come through", lambda: flood.total() > MANY)
            self.assertEqual(self.inactive(), ["night"])
            self.assertEqual(self.rule()["exceeded"], 0)
            self.box.kill(self.box.sluiced)
            wait_until("its hours", lambda: time.time() >= begin, PATIENCE)
            came = wait_until_still("what comes through", flood.total, still=3)
            self.start_again()
            # As it is while nothing comes through.
            told, rule = self.inactive(), self.rule()
            self.assertEqual(flood.total(), came, "the hours are over already")
            self.assertEqual((told, self.generation()), ([], generation))
            self.assertGreater(rule["exceeded"], 0)
            self.assertIn(f"until {time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(begin + WINDOW))}",
                          " ".join(self.box.ctl("rules").stdout.split()))
            self.box.kill(self.box.sluiced)
            wait_until("frames to come through again", lambda: flood.total() > came + MANY, PATIENCE)
            self.assertGreaterEqual(time.time(), begin + WINDOW, "the rule lets through within its hours")
            self.start_again()
            self.assertEqual((self.inactive(), self.generation()), (["night"], generation))
            exceeded = self.rule()["exceeded"]
            total = flood.total()
            wait_until("more of them", lambda: flood.total() > total + MANY)
            self.assertEqual(self.rule()["exceeded"], exceeded, "it counts no more")


if __name__ == "__main__":
    main()
