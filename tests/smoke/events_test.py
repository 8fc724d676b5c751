"""What is told of keys that rules refuse and ban, with the real programs.

    events_test.py DATAPLANE SLUICED SLUICECTL
"""
import json

from box_case import NULL, BoxCase, main
from programs import wait_until

# The frames of net_null are no IP: the rule without a key meets all of them.
RULES = """version: 1
rules:
  - id: all
    mode: enforce
    key: []
    limits: [{algorithm: token_bucket, rate: 100/s, burst: 100}]
    events: [limit_start, limit_end, refill]
"""
BANS = """version: 1
rules:
  - id: boxed
    mode: enforce
    key: []
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 10}]
    ban: {after: 100, within: 1m, for: 2s}
    events: [ban]
"""


class Events(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()

    def events(self, *words):
        done = self.box.ctl("events", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def kinds(self, *words):
        return [event["event"] for event in self.events(*words)]

    def panic(self, word):
        self.assertEqual(self.box.ctl("panic", word).returncode, 0)

    def test_a_key_is_limited_falls_silent_and_may_send_again(self):
        self.assertEqual(self.events(), [])
        self.apply(RULES)
        wait_until("the limit to refuse", lambda: "limit_start" in self.kinds())
        start = self.events()[0]
        self.assertEqual((start["event"], start["rule"], start["limit"], start["key"], start["lcore"]),
                         ("limit_start", "all", "1", "", 1))
        self.assertTrue(0 < start["wait_s"] <= 0.01, start)
        # Nobody is judged: silence.
        self.panic("pass")
        wait_until("the end", lambda: "limit_end" in self.kinds())
        told = self.events()
        self.assertEqual([event["seq"] for event in told],
                         list(range(told[0]["seq"], told[0]["seq"] + len(told))))
        self.assertEqual(set(event["event"] for event in told[1:-1]), {"refill"})
        end = told[-1]
        self.assertEqual(end["event"], "limit_end")
        self.assertGreater(end["for_s"], 0)
        times = [event["time"] for event in told]
        self.assertEqual(times, sorted(times))
        # It is limited anew once it sends again, and only then.
        self.panic("resume")
        wait_until("the limit to refuse again", lambda: self.kinds().count("limit_start") == 2)
        self.assertEqual(self.box.ctl("events", "--rule", "none").returncode, 1)
        metrics = self.box.api("GET", "/v1/metrics")[1]
        metrics = metrics.decode() if isinstance(metrics, bytes) else metrics
        self.assertIn('sluice_events_total{kind="limit_start"} 2\n', metrics)
        self.assertIn('sluice_events_total{kind="lost"} 0\n', metrics)

    def test_who_follows_is_told_as_it_comes(self):
        follower = self.box.follow("events", "--follow")
        self.addCleanup(follower.stdout.close)
        self.addCleanup(follower.wait)
        self.addCleanup(follower.kill)
        self.apply(RULES)
        self.assertEqual(json.loads(follower.stdout.readline())["event"], "limit_start")
        self.panic("pass")
        told = "refill"
        while told == "refill":
            told = json.loads(follower.stdout.readline())["event"]
        self.assertEqual(told, "limit_end")
        follower.terminate()
        self.assertEqual(follower.wait(), 0)

    def test_bans_begin_and_end(self):
        self.apply(BANS)
        wait_until("a ban to begin", lambda: self.kinds() != [])
        ban = self.events()[0]
        self.assertEqual((ban["event"], ban["edge"], ban["rule"], ban["key"], ban["for_s"]),
                         ("ban", "start", "boxed", "", 2.0))
        self.panic("pass")
        wait_until("its end", lambda: len(self.events()) >= 2)
        last = self.events()[-1]
        self.assertEqual((last["event"], last["edge"]), ("ban", "end"))
        # What an operator lifts ends at once.
        self.apply(BANS.replace("for: 2s", "for: 1h"))
        self.panic("resume")
        wait_until("another ban", lambda: self.events()[-1].get("for_s") == 3600.0)
        before = len(self.events())
        self.panic("pass")
        self.assertEqual(self.box.ctl("key", "unban", "boxed", "").returncode, 0)
        wait_until("its end", lambda: len(self.events()) == before + 1)
        last = self.events()[-1]
        self.assertEqual((last["event"], last["edge"]), ("ban", "end"))
        self.assertLess(last["for_s"], 3600)

    def test_another_file_goes_on_with_the_keys_it_has_too(self):
        self.apply(RULES)
        wait_until("the limit to refuse", lambda: "limit_start" in self.kinds())
        self.apply("version: 1\nrules:\n  - {id: first, on_match: drop, when: 'ip.proto eq 17'}\n" +
                   RULES.split("rules:\n")[1])
        self.panic("pass")
        wait_until("the end", lambda: "limit_end" in self.kinds())
        self.assertEqual(self.kinds().count("limit_start"), 1)
        self.assertEqual(set(event["rule"] for event in self.events()), {"all"})

    def test_rules_without_events_tell_nothing(self):
        self.apply(RULES.replace("    events: [limit_start, limit_end, refill]\n", ""))
        wait_until("the limit to refuse",
                   lambda: self.box.stats()["reasons"].get("over_limit", 0) > 1000)
        self.assertEqual(self.events(), [])

    def test_what_cannot_be_asked(self):
        for query in ("?from=x", "?from=1", "?from=1-", "?wait=21", "?wait=-1"):
            self.assertEqual(self.box.api("GET", "/v1/events" + query)[0], 400, query)
        self.box.kill(self.box.dataplane)
        self.assertEqual(self.box.ctl("events").returncode, 3)


if __name__ == "__main__":
    main()
