"""Drafts of rules, checked in their place; and what of fields and schemas an editor is told.

    drafts_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import unittest

from daemon_box import DaemonBox, UnixConnection, Answer, wait_until

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
MOST = 256 << 10
RULES = """# Kept as it is.
version: 1
defaults: {mode: enforce}
data: {lists: {bad: {type: cidr, file: bad.txt}}}
rules:
  - id: names
    when: l4.dport eq 53
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 300/m, burst: 50}]
  - id: others
    when: ip.src in $bad
    on_match: drop
"""
NAMES = """id: names
mode: enforce
when: l4.dport eq 53
key: [ip.src]
limits: [{algorithm: token_bucket, rate: 300/m, burst: 50}]
"""
PAYLOADS = ("<img src=x onerror=alert(1)>", "\u202egnp.exe", "\x00", "'\"><script>", "{{7*7}}", "&lt;b&gt;", "%s%n", "a\r\nb: c")


class Case(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)
        (self.box.folder / "bad.txt").write_text("192.0.2.0/24\n")
        (self.box.folder / "secret.txt").write_text("203.0.113.9/32\n")
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced("--read-socket", self.box.read_socket)
        wait_until("the dataplane", self.box.connected)

    def apply(self, rules=RULES):
        answer = self.box.put_rules(rules, f"?file=test.yaml&directory={self.box.folder}")
        self.assertEqual(answer.status, 200, answer.text)

    def ask(self, method, target, body=None, socket=None):
        connection = UnixConnection(socket or self.box.socket)
        try:
            connection.request(method, target, None if body is None else json.dumps(body).encode(),
                               {"Content-Type": "application/json"})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def checked(self, text, query="", **body):
        answer = self.ask("POST", "/v1/rules/check" + query, {"text": text, **body})
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json()

    def only_problem(self, *words, **more):
        checked = self.checked(*words, **more)
        self.assertFalse(checked["ok"], checked)
        self.assertEqual(checked["rules"], [])
        self.assertEqual(len(checked["problems"]), 1, checked)
        return checked["problems"][0]

    def refused(self, status, method, target, body=None, socket=None):
        answer = self.ask(method, target, body, socket)
        self.assertEqual(answer.status, status, answer.text)
        return answer.json()["detail"]


class Checks(Case):
    def test_a_rule_in_its_place_and_what_it_would_be(self):
        self.apply()
        before = self.box.get("/v1/rules/files").text
        checked = self.checked(NAMES, "?rule=names")
        self.assertEqual((checked["ok"], checked["problems"]), (True, []))
        rule, = checked["rules"]
        limit, = rule["limits"]
        self.assertEqual((limit["promise"], limit["most"], limit["window_s"], limit["unit"]),
                         ("the most in any minute: 350", 350, 60, "packets"))
        self.assertEqual((rule["id"], rule["placement"], rule["bytes_per_key"], rule["starts_anew"], rule["is_new"]),
                         ("names", "local", 16, False, False))
        self.assertEqual(rule["answers"], [{"protocol": "all", "does": "dropped"}])
        anew = self.checked(NAMES.replace("[ip.src]", "[ip.dst]"), "?rule=names")["rules"][0]
        self.assertTrue(anew["starts_anew"])
        self.assertEqual(anew["limits"][0]["because"], ["key"])
        self.assertFalse(self.checked(NAMES.replace("300/m", "100/m"), "?rule=names")["rules"][0]["starts_anew"])
        new = self.checked("- " + NAMES.replace("names", "new").replace("\n", "\n  "))["rules"]
        self.assertEqual([(one["id"], one["is_new"], one["starts_anew"]) for one in new], [("new", True, None)])
        self.assertEqual(self.box.get("/v1/rules/files").text, before)
        self.assertFalse([line for line in self.box.audit() if "check" in line["call"]])

    def test_a_whole_file(self):
        self.apply()
        checked = self.checked(RULES.replace("300/m", "5/s"), whole=True)
        self.assertEqual([rule["id"] for rule in checked["rules"]], ["names", "others"])
        self.assertEqual(checked["rules"][0]["limits"][0]["promise"], "the most in any second: 55")
        missing, unknown = self.checked(RULES.replace("rate:", "rat:"), whole=True)["problems"]
        self.assertEqual((unknown["line"], unknown["length"], unknown["path"], unknown["hint"], unknown["file"]),
                         (9, 3, "rules[0].limits[0].rat", "rate", None))
        self.assertEqual((missing["path"], missing["hint"]), ("rules[0].limits[0]", None))

    def test_problems_stand_at_their_places_in_the_draft(self):
        self.apply()
        draft = "# Why.\n\n-   id: names\n    when: ip.ttll eq 1\n    on_match: drop\n"
        problem = self.only_problem(draft, "?rule=names")
        self.assertEqual((problem["severity"], problem["line"], problem["column"], problem["length"]), ("error", 4, 11, 7))
        self.assertEqual((problem["path"], problem["hint"], problem["file"]), ("when", "ip.ttl", None))
        self.assertIn("unknown field `ip.ttll`", problem["text"])
        self.assertEqual(self.only_problem("id: [")["path"], None)
        self.assertIn("there is a rule names already", self.only_problem(NAMES)["text"])
        self.assertIn("called `names`, not `others`", self.only_problem(NAMES, "?rule=others")["text"])
        self.assertIn("one rule is a map", self.only_problem("")["text"])

    def test_a_box_without_rules_has_its_first_one_checked(self):
        checked = self.checked(NAMES)
        self.assertEqual([rule["id"] for rule in checked["rules"]], ["names"], checked)
        self.assertEqual([rule["id"] for rule in self.checked("version: 1\nrules: []\n", whole=True)["rules"]], [])

    def test_no_file_is_read_for_a_draft(self):
        self.apply()
        within = "id: x\nwhen: ip.src in $bad\non_match: drop\n"
        self.assertTrue(self.checked(within)["ok"])
        for path in ("secret.txt", "nothing.txt", "/etc/shadow", str(self.box.folder / "secret.txt")):
            said = self.only_problem(RULES.replace("bad.txt", path), whole=True)["text"]
            self.assertEqual(said, f"the rules in force read no file {path}, and a draft reads none by itself: "
                                   "apply it to have it read")
        overrides = NAMES + "overrides: {file: secret.csv}\n"
        self.assertIn("read no file secret.csv", self.only_problem(overrides, "?rule=names")["text"])
        # Nor is what stands in a list of the set told to those who may not read it.
        told = self.only_problem(RULES.replace("type: cidr", "type: number").replace("ip.src in", "l4.dport in"), whole=True)
        self.assertTrue(told["file"].endswith("/bad.txt"), told)
        self.assertNotIn("192.0.2", told["text"])
        # Nor is a list read anew that the set has.
        (self.box.folder / "bad.txt").write_text("no network\n")
        self.assertTrue(self.checked(within)["ok"])

    def test_those_who_only_look_may_check(self):
        self.apply()
        answer = self.ask("POST", "/v1/rules/check?rule=names", {"text": NAMES}, self.box.read_socket)
        self.assertEqual((answer.status, answer.json()["ok"]), (200, True), answer.text)
        self.refused(403, "POST", "/v1/rules", {"text": NAMES}, self.box.read_socket)

    def test_what_is_asked_wrongly(self):
        self.apply()
        for body in ({}, [], {"text": 5}, {"text": NAMES, "whole": 1}, {"text": NAMES, "why": "x"}):
            self.refused(400, "POST", "/v1/rules/check", body)
        self.refused(400, "POST", "/v1/rules/check?rule=names", {"text": NAMES, "whole": True})
        self.refused(400, "POST", "/v1/rules/check?id=names", {"text": NAMES})
        self.refused(404, "POST", "/v1/rules/check?rule=nobody", {"text": NAMES.replace("names", "nobody")})
        self.refused(404, "POST", "/v1/rules/check?file=other.yaml", {"text": RULES, "whole": True})
        self.refused(404, "POST", "/v1/rules/check?file=other.yaml", {"text": NAMES.replace("names", "new")})
        self.refused(413, "POST", "/v1/rules/check", {"text": "#" * MOST})

    def test_a_hostile_text_is_told_as_it_is_and_hurts_nobody(self):
        self.apply()
        for payload in PAYLOADS:
            for text in (f"id: {payload}\n", f"id: x\nwhen: http.host eq {payload}\n", payload,
                         "id: x\ndescription: " + json.dumps(payload) + "\nkey: [ip.src]\nlimits: []\n"):
                self.assertFalse(self.checked(text)["ok"], text)
        for text in ("[" * 10000, "{a: " * 5000, "a: &a [*a]\n", "- " * 9000, "\xff\xfe", "id: x\n" * 20000):
            self.assertFalse(self.checked(text)["ok"], text[:20])
        self.assertEqual(self.box.get("/v1/health").status, 200)

    def test_newer_drafts_take_the_place_of_those_that_wait(self):
        self.apply()
        slow = "version: 1\nrules:\n" + "".join(
            f"- {{id: r{i}, when: 'payload matches \"a{i}[0-9]+b\"', on_match: drop}}\n" for i in range(60))

        def ask(text):
            return self.ask("POST", "/v1/rules/check", {"text": text, "whole": True})
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(ask, slow.replace("a1[", f"c{number}[")) for number in range(8)]
            statuses = sorted(one.result().status for one in answers)
        self.assertIn(200, statuses)
        self.assertTrue(set(statuses) <= {200, 409}, statuses)

    def test_several_files_have_their_drafts_by_name(self):
        rules = self.box.folder / "rules.d"
        rules.mkdir()
        (rules / "1.yaml").write_text("version: 1\nrules:\n- {id: a, when: ip.ttl eq 1, on_match: drop}\n")
        second = "version: 1\nrules:\n- id: b\n  when: ip.ttl eq 2\n  on_match: drop\n"
        (rules / "2.yaml").write_text(second)
        done = subprocess.run([PROGRAMS[2], "--socket", self.box.socket, "apply", "--force", "rules.d"], cwd=self.box.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = self.checked(second.replace("ttl", "ttll"), "?file=rules.d/2.yaml", whole=True)
        self.assertEqual([(one["file"], one["line"]) for one in checked["problems"]], [(None, 4)])
        new = "id: c\nwhen: ip.ttl eq 1\non_match: drop\n"
        for query in ("", "?file=rules.d/1.yaml"):
            self.assertEqual([rule["id"] for rule in self.checked(new, query)["rules"]], ["c"])
        self.refused(404, "POST", "/v1/rules/check?file=3.yaml", {"text": new})
        self.refused(404, "POST", "/v1/rules/check", {"text": second, "whole": True})


class Language(Case):
    def test_fields_and_schemas_are_those_of_sluicectl(self):
        def said(*words):
            return json.loads(subprocess.run([PROGRAMS[2], *words], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(self.box.get("/v1/fields").json(), said("fields", "--json")["fields"])
        self.assertEqual(self.box.get("/v1/schema").json(), said("schema", "--json"))
        self.assertEqual(self.box.get("/v1/schema?of=config").json(), said("schema", "--config", "--json"))
        self.refused(400, "GET", "/v1/schema?of=x")
        fields = {field["name"]: field for field in self.box.get("/v1/fields").json()}
        self.assertEqual((fields["ip.src"]["kind"], fields["ip.src"]["layer"], fields["ip.src"]["operators"]),
                         ("address", 3, ["eq", "ne", "in"]))
        self.assertIn("matches", fields["http.host"]["operators"])
        self.assertEqual((fields["http.host"]["kind"], fields["http.host"]["layer"]), ("text", 7))
        self.assertIn("lt", fields["ip.ttl"]["operators"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
