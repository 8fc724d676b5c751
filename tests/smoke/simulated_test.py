"""POST /v1/simulate: what the API says of limits under a load is what sluicectl's line prints, and what the clocks of zones say.

    simulated_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import datetime
import json
import os
import shlex
import subprocess
import sys
import unittest
import zoneinfo

from daemon_box import DaemonBox, wait_until

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
SECOND = 1_000_000_000
MOST = 100_000
# Every algorithm that is drawn.
LIMITS = """
- {algorithm: token_bucket, rate: 10/s, burst: 5}
- {algorithm: leaky_bucket, rate: 10/s, queue: 5}
- {algorithm: fixed_window, count: 10, window: 1s}
- {algorithm: sliding_window, count: 10, window: 1s}
""", """
- {algorithm: sliding_counters, count: 10, window: 1s, buckets: 10, edge: lenient}
- {algorithm: sliding_log, count: 10, window: 1s}
- {algorithm: srtcm, cir: 5/s, cbs: 5, ebs: 5}
- {algorithm: trtcm, variant: rfc4115, cir: 5/s, cbs: 5, eir: 5/s, ebs: 5}
""", """
- {algorithm: token_bucket, rate: 20Kbit/s, burst: 3KB, per: byte}
- {algorithm: fixed_window, count: 9, window: 2s, phase: first, per: request}
- {algorithm: fixed_window, count: 9, window: 1d, utc_offset: "+03:30"}
- {algorithm: trtcm, variant: rfc2698, cir: 5/s, cbs: 5, pir: 9/s, pbs: 7, color: aware}
"""
LOADS = [
    {"load": "constant", "offer": "20/s", "duration": "4s"},
    {"load": "poisson", "offer": "20/s", "seed": "7", "duration": "5s", "cost": "2"},
    {"load": "bursts", "size": "12", "every": "700ms", "duration": "4s", "stalls": ["1s:500ms"]},
    {"load": "on-off", "offer": "50/s", "on": "300ms", "off": "900ms", "duration": "5s"},
    {"load": "edge", "size": "10", "edge_at": "1s", "apart": "20ms", "duration": "3s"},
    {"load": "hits", "hits": ["0s", "120ms", "120ms", "1100ms", "1999999us"], "duration": "3s"},
    {"load": "backlog", "backlog": "60", "ask_every": "1ms", "stalls": ["2s:1s", "4s:1s"]},
    {"load": "constant", "offer": "1/h", "duration": "60d", "start": "2026-03-01T12:00:00Z"},
]


class Simulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = DaemonBox(*PROGRAMS)
        cls.addClassCleanup(cls.box.close)
        cls.box.start_dataplane()
        cls.box.start_sluiced()
        wait_until("the dataplane", cls.box.connected)
        answer = cls.box.put_rules("version: 1\nrules:\n  - {id: a, key: [ip.src], limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}]}\n")
        if answer.status != 200:
            raise AssertionError(answer.text)

    def ask(self, limits, run, status=200):
        answer = self.box.ask("POST", "/v1/simulate", json.dumps({"limits": limits, "run": run}))
        self.assertEqual(answer.status, status, answer.text)
        return answer.json()

    def runs(self, limits, run):
        answer = self.ask(limits, run)
        self.assertTrue(answer["ok"], answer["problems"])
        return answer["runs"]

    def printed(self, line):
        words = shlex.split(line)
        self.assertEqual(words[:2], ["sluicectl", "simulate"])
        done = subprocess.run([PROGRAMS[2], *words[1:], "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        run, = json.loads(done.stdout)["runs"]
        return run

    def test_the_line_that_is_printed_does_the_same(self):
        lines = set()
        for limits in LIMITS:
            for load in LOADS:
                for run in self.runs(limits, load):
                    with self.subTest(run["line"]):
                        lines.add(run["line"])
                        printed, counts = self.printed(run["line"]), run["counts"]
                        for member in ("offered", "admitted", "refused", "waiting", "last_admitted_ns", "cut"):
                            self.assertEqual(counts[member], printed[member], member)
                        for member in ("window_ns", "most_in_window"):
                            self.assertEqual(run[member], printed[member], member)
        self.assertEqual(len(lines), 4 * len(LIMITS) * len(LOADS))

    def test_what_is_measured_keeps_what_is_promised(self):
        for limits in LIMITS:
            for load in LOADS:
                for run in self.runs(limits, load):
                    with self.subTest(run["line"]):
                        self.assertLessEqual(run["most_in_window"], run["promised"])
                        self.assertGreater(run["most_in_window"], 0)

    def test_two_bursts_around_an_edge_are_twice_the_count_of_a_fixed_window_and_once_that_of_a_log(self):
        fixed, log = self.runs("- {algorithm: fixed_window, count: 10, window: 1s}\n"
                               "- {algorithm: sliding_log, count: 10, window: 1s}", LOADS[4])
        self.assertEqual((fixed["most_in_window"], fixed["promised"]), (20, 20))
        self.assertEqual((log["most_in_window"], log["promised"]), (10, 10))
        self.assertEqual(fixed["dots"]["at_ns"], [990_000_000, 1_010_000_000])
        self.assertEqual((fixed["dots"]["fates"], log["dots"]["fates"]), ("aa", "ar"))
        self.assertEqual(log["dots"]["units"], [10, 10])

    def test_dots_and_state_are_those_of_the_run(self):
        bucket, queue = self.runs("- {algorithm: token_bucket, rate: 10/s, burst: 5}\n"
                                  "- {algorithm: leaky_bucket, rate: 10/s, queue: 5}",
                                  {"load": "hits", "hits": ["0s"] * 7, "duration": "1s"})
        self.assertEqual(bucket["dots"], {"step_ns": 1, "at_ns": [0, 0], "fates": "ar", "units": [5, 2],
                                          "passes_ns": [None, None]})
        # The first of a queue leaves at once, and the others each 100 ms.
        self.assertEqual(queue["dots"], {"step_ns": 1, "at_ns": [0, 0, 0], "fates": "adr", "units": [1, 4, 2],
                                         "passes_ns": [None, 400_000_000, None]})
        self.assertEqual((bucket["counts"]["delayed"], queue["counts"]["delayed"]), (0, 4))
        state = bucket["state"]
        self.assertEqual((state["most"], state["left"][0], state["least"][0]), (5, 5, 0))
        for at in range(1, len(state["left"])):
            self.assertEqual(state["left"][at], min(5, at * state["step_ns"] // 100_000_000), at)
        self.assertGreaterEqual(len(state["left"]) * state["step_ns"], SECOND)

    def test_a_large_run_is_told_in_few_bytes_and_leaves_out_no_unit(self):
        limits = LIMITS[0]
        load = {"load": "constant", "offer": "9900/s", "duration": "10s"}
        answer = self.box.ask("POST", "/v1/simulate", json.dumps({"limits": "\n".join(limits.split("\n")[:2]), "run": load}))
        self.assertEqual(answer.status, 200, answer.text)
        self.assertLess(len(answer.text), 200_000)
        run, = answer.json()["runs"]
        self.assertLessEqual(len(run["dots"]["at_ns"]), 2000)
        self.assertEqual(sum(run["dots"]["units"]), 99_000)
        self.assertGreater(run["dots"]["step_ns"], 1)

    def test_the_published_backlog_with_stalls(self):
        run, = self.runs("- {algorithm: token_bucket, rate: 1000/s, burst: 1000}",
                         {"load": "backlog", "backlog": "10000", "stalls": ["4s:1s", "6s:1s"]})
        # 1,000 at once, and full again after each stall of a second.
        self.assertEqual((run["counts"]["admitted"], run["counts"]["waiting"]), (10_000, 0))
        self.assertEqual(run["promised"], 2000)
        step = run["dots"]["step_ns"]
        self.assertEqual([at for at in run["dots"]["at_ns"] if 4 * SECOND <= at and at + step <= 5 * SECOND], [])
        self.assertGreater(sum(units for at, units in zip(run["dots"]["at_ns"], run["dots"]["units"])
                               if 5 * SECOND - step < at <= 5 * SECOND + step), 900)

    def days(self, zone, start, days, count=3):
        run, = self.runs(f"- {{algorithm: fixed_window, count: {count}, window: 1d, zone: {zone}}}",
                         {"load": "constant", "offer": "1/h", "start": start, "duration": f"{days}d"})
        return run

    def test_days_of_a_zone_are_those_that_its_clocks_show(self):
        for zone, start in (("Europe/Berlin", "2026-03-28T12:00:00Z"), ("Europe/Berlin", "2026-10-24T12:00:00Z"),
                            ("Australia/Lord_Howe", "2026-10-02T00:00:00Z"), ("UTC", "2026-01-01T00:00:00Z")):
            with self.subTest(zone, start=start):
                run = self.days(zone, start, 4)
                began = datetime.datetime.fromisoformat(start.replace("Z", "+00:00"))
                expected = {}
                for hour in range(96):
                    at = began + datetime.timedelta(hours=hour)
                    expected.setdefault(at.astimezone(zoneinfo.ZoneInfo(zone)).date(), []).append(at)
                rows = run["days"]["list"]
                self.assertEqual([row["offered"] for row in rows], [len(hours) for hours in expected.values()])
                self.assertEqual([row["admitted"] for row in rows], [min(3, len(hours)) for hours in expected.values()])
                for row, day in zip(rows, expected):
                    first = datetime.datetime.combine(day, datetime.time(), zoneinfo.ZoneInfo(zone))
                    self.assertEqual(row["from_ns"], int((first.timestamp() - began.timestamp()) * SECOND), day)
        hours = {row["hours"] for row in self.days("Europe/Berlin", "2026-03-28T12:00:00Z", 4)["days"]["list"]}
        self.assertEqual(hours, {23.0, 24.0})
        hours = {row["hours"] for row in self.days("Europe/Berlin", "2026-10-24T12:00:00Z", 4)["days"]["list"]}
        self.assertEqual(hours, {24.0, 25.0})

    def test_24_hours_may_touch_three_days_where_one_has_23(self):
        self.assertEqual(self.days("Europe/Berlin", "2026-03-28T12:00:00Z", 4)["promised"], 9)
        self.assertEqual(self.days("UTC", "2026-03-28T12:00:00Z", 4)["promised"], 6)

    def test_wrong_limits_are_told_by_line_and_column(self):
        told = self.ask("- {algorithm: token_bucket, rate: 10/x, burst: 5}\n"
                        "- {algorithm: fixed_window, count: 5, windw: 1s}\n"
                        "- {algorithm: concurrency, count: 5, idle: 1m}\n", LOADS[0])
        self.assertEqual((told["ok"], told["runs"]), (False, []))
        places = [(one["severity"], one["of"], one["line"], one["column"]) for one in told["problems"]]
        self.assertIn(("error", "limits", 1, 35), places)
        self.assertIn(("error", "limits", 2, 39), places)
        self.assertTrue(any("window" in one["text"] for one in told["problems"]), told)
        told = self.ask("- {algorithm: concurrency, count: 5, idle: 1m}", LOADS[0])
        self.assertEqual([(one["line"], one["column"]) for one in told["problems"]], [(1, 3)])
        self.assertIn("not simulated", told["problems"][0]["text"])
        for text in ("", "some text", "[]", "- {algorithm: sliding_log, count: 1, window: 1s}\n" * 5, "- per_name", "{"):
            told = self.ask(text, LOADS[0])
            self.assertEqual((told["ok"], told["runs"]), (False, []), text)
            self.assertTrue(told["problems"], text)

    def test_wrong_words_of_the_run_are_named(self):
        limits = "- {algorithm: sliding_log, count: 1, window: 1s}"
        for change, says in (({"load": "bursty"}, "did you mean `bursts`"), ({"offer": "x"}, "`offer`: "),
                             ({"duration": "900d"}, "`duration`"), ({"stalls": ["4s"]}, "`stalls` is START:LENGTH"),
                             ({"start": "2026-03-28"}, "`start` is an instant"), ({"load": "capture"}, "`load` is one of"),
                             ({"load": "hits", "hits": ["2s", "1s"]}, "in order of time"),
                             ({"load": "edge", "edge_at": "1ms", "apart": "5ms"}, "before 0 s")):
            told = self.ask(limits, LOADS[0] | change)
            self.assertEqual((told["ok"], told["runs"]), (False, []), change)
            self.assertIn(says, told["problems"][0]["text"])
            self.assertEqual((told["problems"][0]["of"], told["problems"][0]["line"]), ("run", None))

    def test_a_body_that_is_none_of_it_is_refused(self):
        limits = "- {algorithm: sliding_log, count: 1, window: 1s}"
        for body, says in (("{", "the body is"), ('{"limits":"x"}', "the body is"), ({"limits": limits, "run": {}, "x": 1}, "no `x`"),
                           ({"limits": limits, "run": {"offre": "1/s"}}, "no `offre`"),
                           ({"limits": limits, "run": {"offer": 5}}, "`offer` of `run` is a text"),
                           ({"limits": limits, "run": {"hits": "0s"}}, "`hits` of `run` is a list"),
                           ({"limits": limits, "run": {"stalls": ["1s:1s"] * 17}}, "at most 16"),
                           ({"limits": "#" * 20_000, "run": {}}, "at most 16384 bytes"),
                           ('{"limits":"a","limits":"b","run":{}}', "twice")):
            answer = self.box.ask("POST", "/v1/simulate", body if isinstance(body, str) else json.dumps(body))
            self.assertEqual(answer.status, 400, answer.text)
            self.assertIn(says, answer.json()["detail"])

    def test_too_much_is_refused_soon_and_says_what_to_do(self):
        limits = "- {algorithm: sliding_log, count: 1000000, window: 1d}"
        for load in ({"load": "constant", "offer": f"{MOST + 1}/s", "duration": "2s"},
                     {"load": "backlog", "backlog": str(MOST + 1)}, {"load": "edge", "size": str(MOST)},
                     {"load": "bursts", "size": "50000000", "every": "1s", "duration": "1s"}):
            told = self.ask(limits, load, 413)
            self.assertIn("more than 100000 arrivals", told["detail"])
        # Sixteen stalls, four limits and all arrivals that there may be: it is answered, or refused, within its time.
        stalls = [f"{at}s:500ms" for at in range(1, 17)]
        answer = self.box.ask("POST", "/v1/simulate", json.dumps(
            {"limits": LIMITS[1], "run": {"load": "constant", "offer": f"{MOST // 20}/s", "duration": "20s", "stalls": stalls}}))
        self.assertIn(answer.status, (200, 413), answer.text)
        if answer.status == 413:
            self.assertIn("more of a processor", answer.json()["detail"])

    def test_it_is_the_same_for_the_same_question_and_nothing_changes(self):
        before, audit = self.box.get("/v1/rules").text, self.box.audit()
        body = json.dumps({"limits": LIMITS[0], "run": LOADS[1]})
        answers = {self.box.ask("POST", "/v1/simulate", body).text for _ in range(3)}
        self.assertEqual(len(answers), 1)
        self.assertEqual((self.box.get("/v1/rules").text, self.box.audit()), (before, audit))

    def test_the_yaml_of_a_limit_is_that_limit(self):
        for limits in LIMITS:
            for run in self.runs(limits, LOADS[0]):
                again, = self.runs("- " + run["yaml"], LOADS[0])
                self.assertEqual((again["text"], again["counts"], again["yaml"]), (run["text"], run["counts"], run["yaml"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
