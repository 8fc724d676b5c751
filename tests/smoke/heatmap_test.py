"""Heat maps: GET /v1/rules/ID/heatmap and its cells, and `sluicectl heatmap`, of a dataplane whose watched keys are told.

    heatmap_test.py SLUICED FAKE_DATAPLANE SLUICECTL

What it says each second of a limit stands in tests/fakes/fake_heatmap.hpp: 90 keys with 3 units, 8 with 20 and 2 with
200 of which 180 are refused, one in four of all keys.
"""
import calendar
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from daemon_box import DaemonBox, UnixConnection, wait_until

PATIENCE = 60
PLOT = pathlib.Path(__file__).parents[2] / "scripts" / "lib" / "bench" / "plot.py"
PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
RULES = """version: 1
rules:
  - {id: login, mode: enforce, heatmap: on, key: [ip.src], limits: [{algorithm: fixed_window, count: 100, window: 10s}]}
  - {id: fast, mode: monitor, heatmap: on, key: [ip.src], limits: [{algorithm: fixed_window, count: 20, window: 1s}]}
  - {id: seen, mode: monitor, key: [ip.src], limits: [{algorithm: token_bucket, rate: 300/m, burst: 5}]}
  - {id: resting, mode: "off", key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]}
  - {id: sight, mode: monitor, when: l4.dport eq 7, on_match: drop}
"""
SECOND = [[[4, 360], [9, 32], [16, 8]], [[0, 8], [3, 32], [13, 360]]]  # of a column of one second: offered, left
TEN = [[[10, 360], [16, 32], [22, 8]], SECOND[1]]


def seconds_of(instant):
    return calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%SZ"))


class Heatmap(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced()
        wait_until("the dataplane", self.box.connected)
        self.assertEqual(self.box.put_rules(RULES).status, 200)

    def map(self, rule, **query):
        words = "&".join(f"{name}={value}" for name, value in query.items())
        answer = self.box.get(f"/v1/rules/{rule}/heatmap?{words}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json()

    def known(self, rule, **query):
        """The map, as soon as a column of it is known."""
        found = {}

        def has_column():
            found["map"] = self.map(rule, **query)
            return any(found["map"]["columns"])
        wait_until(f"a column of {rule}", has_column)
        return found["map"], [column for column in found["map"]["columns"] if column]

    def ctl(self, *words):
        return subprocess.run([PROGRAMS[2], *words, "--socket", self.box.socket], capture_output=True, text=True,
                              timeout=PATIENCE)


class Maps(Heatmap):
    def test_a_second_of_watched_keys_is_a_column_of_about_so_many_groups(self):
        found, columns = self.known("fast")
        self.assertEqual((found["rule"], found["map"], found["limit"], found["step_s"], found["steps"]),
                         ("fast", "on", 0, 1, [1, 10, 60]))
        self.assertEqual(found["generation"], self.box.generation())
        self.assertEqual(found["limits"], [{"index": 0, "name": "1", "text": "20 packets per second", "unit": "packets", "most": 20,
                                            "window_s": 1, "tier": None}])
        column = columns[-1]
        self.assertEqual((column["one_in"], column["groups"], column["left_out"]), (4, 400, 0))
        self.assertAlmostEqual(column["error"], (0.75 / 100) ** 0.5, places=3)
        self.assertEqual([column["offered"], column["left"]], SECOND)
        self.assertEqual((len(found["offered_edges"]), len(found["left_edges"])), (81, 18))
        self.assertEqual(found["offered_edges"][:4], [0, 1, 1.41, 2])
        self.assertLessEqual(found["offered_edges"][found["limit_bucket"]], 20)
        self.assertGreater(found["offered_edges"][found["limit_bucket"] + 1], 20)
        self.assertIsNone(found["why_empty"])
        self.assertLessEqual(len(found["columns"]), 720)
        self.assertEqual(seconds_of(found["to"]) - seconds_of(found["from"]), len(found["columns"]))

    def test_columns_of_ten_seconds_add_what_a_key_offered_and_have_the_least_that_was_left(self):
        found, columns = self.known("login")
        self.assertEqual((found["step_s"], found["steps"]), (10, [10, 60]))
        self.assertEqual([columns[-1]["offered"], columns[-1]["left"]], TEN)
        self.assertEqual(seconds_of(columns[-1]["at"]) % 10, 0)
        self.assertEqual(found["reading"]["kind"], "unclear", found["reading"])
        numbers = found["reading"]["numbers"]
        self.assertAlmostEqual(numbers["z"], 0.02)
        self.assertEqual(numbers["watched"], 100 * numbers["columns"])

    def test_a_rule_is_watched_while_somebody_looks(self):
        first = self.map("seen", step=10)
        self.assertEqual((first["map"], any(first["columns"])), ("looked_at", False))
        self.assertIn("heatmap: on", first["why_empty"])
        found, _ = self.known("seen", step=10)
        # The first column of a look may lack a second.
        wait_until("a whole column", lambda: TEN in [
            [column["offered"], column["left"]] for column in self.map("seen", step=10)["columns"] if column])
        self.assertEqual(found["limits"][0]["text"], "5 packets per second, 5 at once")
        for rule, why in (("resting", "off"), ("sight", "no limit")):
            empty = self.map(rule)
            self.assertEqual((empty["map"], any(empty["columns"])), ("off", False))
            self.assertIn(why, empty["why_empty"])

    def test_one_rule_more_than_may_be_looked_at_is_told_so(self):
        many = "".join(f'  - {{id: r{n}, key: [ip.src], limits: [{{algorithm: token_bucket, rate: 1/s, burst: 3}}]}}\n'
                       for n in range(17))
        self.assertEqual(self.box.put_rules("version: 1\nrules:\n" + many).status, 200)
        for number in range(16):
            looked = self.map(f"r{number}", step=10)
            self.assertEqual((looked["map"], looked["why_unwatched"]), ("looked_at", None))
        late = self.map("r16", step=10)
        self.assertEqual(late["map"], "off")
        self.assertIn("others look at 16 rules", late["why_unwatched"])
        self.assertEqual(late["why_empty"], late["why_unwatched"])
        self.assertEqual(self.map("r0", step=10)["map"], "looked_at", "whoever looks goes on")
        self.assertIn("\nsluice_heatmap_refused_looks_total 1\n", self.box.get("/v1/metrics").text)

    def test_what_is_asked_wrongly_is_refused_with_its_bound(self):
        for query, bound in (("limit=1", "0"), ("limit=x", "0"), ("step=5", "10, 60"), ("step=0", "10, 60"),
                             ("from=yesterday", "2026-01-31"), ("to=2026-01-31", "2026-01-31"),
                             ("from=2026-01-31T12:00:00Z&to=2026-01-31T12:00:00Z", "720"),
                             ("from=2026-01-31T12:00:00Z&to=2026-02-28T12:00:00Z", "720"), ("most=3", "no `most`")):
            answer = self.box.get(f"/v1/rules/login/heatmap?{query}")
            self.assertEqual(answer.status, 400, query)
            self.assertIn(bound, answer.json()["detail"], query)
        self.assertEqual(self.box.get("/v1/rules/nobody/heatmap").status, 404)
        self.assertEqual(self.box.get("/v1/rules/nobody/heatmap/cell?by=left&bucket=0&at=2026-01-31T12:00:00Z").status, 404)
        for query, bound in (("by=left&bucket=18&at=2026-01-31T12:00:00Z", "17"), ("by=left&bucket=0", "instant"),
                             ("by=offered&bucket=81&at=2026-01-31T12:00:00Z", "80"), ("by=both&bucket=1", "offered or left"),
                             ("bucket=1", "offered or left")):
            answer = self.box.get(f"/v1/rules/login/heatmap/cell?{query}")
            self.assertEqual(answer.status, 400, query)
            self.assertIn(bound, answer.json()["detail"], query)
        answer = self.box.get("/v1/rules/login/heatmap/cell?by=left&bucket=0&at=2026-01-31T12:00:00Z")
        self.assertEqual((answer.status, answer.json()["title"]), (404, "no data"))

    def test_a_time_that_nobody_read_is_no_data(self):
        found = self.map("fast", **{"from": "2026-01-31T12:00:00Z", "to": "2026-01-31T12:00:09Z"})
        self.assertEqual(found["columns"], [None] * 9)
        self.assertEqual((found["from"], found["to"]), ("2026-01-31T12:00:00Z", "2026-01-31T12:00:09Z"))
        self.assertEqual(found["reading"]["kind"], "none")


class Cells(Heatmap):
    def cell(self, words, socket=None):
        connection = UnixConnection(socket or self.box.socket)
        connection.request("GET", f"/v1/rules/login/heatmap/cell?{words}")
        answer = connection.getresponse()
        document = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, 200, document)
        return document

    def newest(self, rule):
        while True:
            _, columns = self.known(rule)
            if time.time() % 10 < 6:  # the next column comes later than the questions about this one
                return columns[-1]["at"]
            time.sleep(0.5)

    def test_the_groups_of_a_cell_have_names_and_what_they_share(self):
        at = self.newest("login")
        refused = self.cell(f"at={at}&by=left&bucket=0")
        if refused["keys"][0]["offered"] == 1800:  # the first column that is known may begin a second late
            wait_until("the next column", lambda: self.newest("login") != at)
            at = self.newest("login")
            refused = self.cell(f"at={at}&by=left&bucket=0")
        self.assertEqual((refused["groups"], refused["one_in"], refused["names_missing"]), (8, 4, 0))
        self.assertEqual(refused["keys"], [{"key": f"203.0.113.{n}", "offered": 2000, "refused": 1800, "left": 0.0}
                                           for n in (98, 99)])
        shared = {(one["field"], one["value"]): (one["here"], one["rest"]) for one in refused["shared"]}
        self.assertEqual(shared[("ip.src/24", "203.0.113.0/24")], (1.0, 0.62))
        many = self.cell(f"at={at}&by=offered&bucket=10")
        self.assertEqual((many["groups"], len(many["keys"]), many["names_missing"]), (360, 5, 85))
        self.assertIn({"field": "http.host", "value": "www.test", "here": 1.0, "rest": 0.0}, many["shared"])
        # Payloads are not for those who only look.
        seen = self.cell(f"at={at}&by=offered&bucket=10", self.box.read_socket)
        self.assertNotIn("http.host", {one["field"] for one in seen["shared"]})
        self.assertIn("ip.src/24", {one["field"] for one in seen["shared"]})


class Gaps(Heatmap):
    def test_a_dataplane_that_is_gone_leaves_no_data_and_not_nobody(self):
        self.known("fast")
        self.dataplane.kill()
        self.dataplane.wait()
        wait_until("a column without data", lambda: self.map("fast")["columns"][-6:] == [None] * 6)
        found = self.map("fast")
        self.assertTrue(any(found["columns"]), "what was known before stays")
        gone = self.map("fast", **{"from": found["to"], "to": time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds_of(found["to"]) + 3))})
        self.assertEqual(gone["columns"], [None] * 3)
        self.assertIn("dataplane", gone["why_empty"])
        self.box.start_dataplane()
        wait_until("columns anew", lambda: self.map("fast")["columns"][-6:] != [None] * 6)
        self.assertTrue(any(self.map("fast")["columns"]))

    def test_a_limit_that_changes_begins_anew_and_others_go_on(self):
        self.known("fast")
        self.known("seen", step=10)
        before = self.map("login")
        self.assertEqual(self.box.put_rules(RULES.replace("count: 20", "count: 30")).status, 200)
        since = int(time.time())

        def is_anew():
            columns = [column for column in self.map("fast")["columns"] if column]
            return columns and all(seconds_of(column["at"]) >= since - 2 for column in columns)
        wait_until("columns of the new limit alone", is_anew)
        old = [column for column in before["columns"] if column]
        now = [column for column in self.map("login")["columns"] if column]
        self.assertEqual([column for column in old if column not in now], [])


class Shown(Heatmap):
    def test_the_maps_are_drawn_with_legend_limit_and_reading(self):
        self.known("fast")
        drawn = self.ctl("heatmap", "fast")
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        text = drawn.stdout
        self.assertTrue(text.startswith("rule fast, limit 1: 20 packets per second\n"), text)
        self.assertNotIn("\033", text)
        for words in ("1 in 4 is watched", "refused now |", "full |", "| the limit", "groups, about: ", "/ no data"):
            self.assertIn(words, text)
        lines = text.splitlines()
        refused = next(line for line in lines if "refused now |" in line)
        self.assertRegex(refused, r"refused now \|/*[. ]*\.[./ ]*\|$")
        self.assertNotIn("GROUPS BY the least", self.ctl("heatmap", "fast", "--by", "offered").stdout)
        self.assertNotIn("GROUPS BY packets", self.ctl("heatmap", "fast", "--by", "left").stdout)
        document = json.loads(self.ctl("heatmap", "fast", "--json").stdout)
        self.assertEqual(document["rule"], "fast")
        self.assertEqual(json.loads(self.ctl("heatmap", "login", "--step", "60", "--json").stdout)["step_s"], 60)
        self.assertEqual(json.loads(self.ctl("heatmap", "fast", "--limit", "1", "--json").stdout)["limit"], 0)
        self.assertIn(" draws others)", text)
        for words, told in ((("--limit", "0"), "rule fast has no limit `0`; it has 1"), (("--step", "7"), "`step` is one of ")):
            refused = self.ctl("heatmap", "fast", *words)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(told, refused.stderr)

    def test_scripts_plot_draws_them_as_a_picture(self):
        found, _ = self.known("fast")
        drawn, picture = self.box.folder / "map.json", self.box.folder / "map.png"
        drawn.write_text(json.dumps(found))
        plot = [sys.executable, str(PLOT), "heatmap", "--from", str(drawn), "--out", str(picture)]
        done = subprocess.run(plot, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        drawn.write_text(json.dumps(self.map("resting")))
        done = subprocess.run(plot, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the rule is off", done.stderr)

    def test_what_cannot_be_drawn_says_why(self):
        self.assertRegex(self.ctl("heatmap", "resting").stdout, r"nothing to draw: the rule is off\n$")
        unknown = self.ctl("heatmap", "nobody")
        self.assertEqual((unknown.returncode, unknown.stdout), (1, ""))
        self.assertIn("nobody", unknown.stderr)
        self.assertEqual(self.ctl("heatmap", "login", "--limit", "3").returncode, 1)
        self.assertEqual(self.ctl("heatmap", "login", "--by", "both").returncode, 2)
        self.assertTrue(re.search("limit", self.ctl("heatmap", "login", "--limit", "3").stderr))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
