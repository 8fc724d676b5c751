"""`active` of rules: the dataplane switches by itself, and a sluiced that comes back agrees.

    active_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import time

from box_case import HostsCase, main
from host_flood import Flow, HostFlood
from programs import wait_until, wait_until_still

# Of the wall clock, which nothing here can set: the window begins at a full minute, and lasts for two.
MINUTE, SOON, WINDOW = 60, 30, 120
PATIENCE = 300  # seconds
RULES = """version: 1
rules:
  - {{id: night, mode: enforce, on_match: drop, when: ip.proto eq 17, active: {{hours: {hours}, zone: UTC}}}}
  - {{id: day, mode: monitor, key: [], limits: [{{algorithm: token_bucket, rate: 1/s, burst: 1}}]}}
"""
FLOW = Flow(sources=1, hosts=1, rate=500)
MANY = 500


def hours_from(begin):
    words = [time.strftime("%H:%M", time.gmtime(at)) for at in (begin, begin + WINDOW)]
    return "-".join((words[0], "24:00" if words[1] == "00:00" else words[1]))


class Active(HostsCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()

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
        begin = (int(time.time()) + SOON + MINUTE) // MINUTE * MINUTE
        self.apply(RULES.format(hours=hours_from(begin)))
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
            self.assertIn(f"until {time.strftime('%Y-%m-%dT%H:%M', time.gmtime(begin + WINDOW))}",
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
