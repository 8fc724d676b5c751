"""Several rule files, single rules, and earlier sets, with the real sluiced and sluicectl.

    rule_sets_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import unittest

from capture_files import pcap, udp
from daemon_box import DaemonBox, wait_until

PROGRAMS = []
FIRST = """# The first.
version: 1
defaults: {mode: enforce}
rules:
  # About a.
  - id: a
    when: ip.proto eq 17   # UDP
    key: [ip.src]
    limits: [small]

  # About b.
  - id: b
    when: ip.src in $bad
    on_match: drop"""  # without an end of its last line
SECOND = """version: 1
limits:
  small: {algorithm: token_bucket, rate: 5/s, burst: 5}
data: {lists: {bad: {type: cidr, file: bad.txt}}}
"""
THIRD = "version: 1\nrules:\n- {id: z, mode: enforce, when: ip.ttl eq 1, on_match: drop}\n"
RULE = "# Why c.\nid: c\nwhen: ip.ttl eq 2\non_match: drop\n"
RULE_LINES = "  # Why c.\n  - id: c\n    when: ip.ttl eq 2\n    on_match: drop\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)
        self.rules = self.box.folder / "rules.d"
        (self.rules / "more.yaml").mkdir(parents=True)  # a folder is no file
        self.write("10-first.yaml", FIRST)
        self.write("20-second.yml", SECOND)
        self.write("30-third.yaml", THIRD)
        self.write(".hidden.yaml", "no rules")
        self.write("notes.txt", "no rules")
        self.write("bad.txt", "192.0.2.0/24\n")
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced()

    def write(self, name, text, folder=None):
        path = (folder or self.rules) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def ctl(self, *words, exit=0, stdin=None, cwd=None):
        done = subprocess.run([PROGRAMS[2], "--socket", self.box.socket, *map(str, words)], text=True, input=stdin,
                              capture_output=True, timeout=60, cwd=cwd or self.box.folder)
        self.assertEqual(done.returncode, exit, done.stdout + done.stderr)
        return done.stdout if exit == 0 else done.stderr

    def json(self, *words, **how):
        return json.loads(self.ctl("--json", *words, **how))

    def ids(self):
        return [rule["id"] for rule in self.json("rules")["rules"]]

    def texts(self):
        return {pathlib.Path(file["name"]).name: file["text"] for file in self.json("rules", "--source")["files"]}

    def etag(self):
        return self.box.get("/v1/rules").headers["ETag"]

    def restart(self):
        self.box.stop(self.sluiced)
        self.sluiced = self.box.start_sluiced()
        wait_until("the connection", self.box.connected)


class SeveralFiles(Case):
    def test_a_folder_is_its_files_in_the_order_of_their_names(self):
        self.assertTrue(self.ctl("check", "rules.d").startswith("ok\n"))
        self.ctl("apply", "rules.d")
        self.assertEqual(self.ids(), ["a", "b", "z"])
        self.assertEqual(self.json("rules")["file"], "rules.d")
        self.assertEqual(self.texts(), {"10-first.yaml": FIRST, "20-second.yml": SECOND, "30-third.yaml": THIRD})
        self.assertEqual(self.ctl("rules", "--source"),
                         f"==> rules.d/10-first.yaml <==\n{FIRST}\n==> rules.d/20-second.yml <==\n{SECOND}"
                         f"==> rules.d/30-third.yaml <==\n{THIRD}")
        self.assertIn("0 rules added, 0 removed, 0 changed, 3 as they are", self.ctl("diff", "rules.d"))

    def test_they_are_kept_over_a_restart_and_a_lost_state(self):
        self.ctl("apply", "rules.d")
        before, tag = self.texts(), self.etag()
        self.restart()
        self.assertEqual((self.texts(), self.etag()), (before, tag))
        self.box.stop(self.sluiced)
        (self.box.state / "rules.json").unlink()
        self.sluiced = self.box.start_sluiced()  # takes over what lies beside the dataplane's
        wait_until("the rules", lambda: self.box.generation() != "0" * 16)
        self.assertEqual(self.texts(), before)

    def test_each_problem_stands_in_its_file(self):
        self.write("20-second.yml", SECOND + "rules:\n  - {id: a, when: ip.ttll eq 1, on_match: drop}\n")
        for command in ("check", "apply", "diff"):
            said = self.ctl(command, "rules.d", exit=1)
            self.assertIn("rules.d/20-second.yml:6:19: error: unknown field `ip.ttll`", said)
            self.assertIn("\n    - {id: a, when: ip.ttll eq 1, on_match: drop}\n" + " " * 20 + "^\n", said)
            self.assertIn("rules.d/20-second.yml:6:10: error: two rules are called `a`; the first stands at "
                          "rules.d/10-first.yaml:6:9", said)
        self.write("20-second.yml", SECOND + "defaults: {mode: monitor}\n")
        self.assertIn("rules.d/20-second.yml:5:1: error: the files give `defaults` twice; the first stands at "
                      "rules.d/10-first.yaml:3:1", self.ctl("check", "rules.d", exit=1))
        self.assertEqual(self.json("check", "rules.d/30-third.yaml")["ok"], True)

    def test_standard_input_is_one_of_them(self):
        self.ctl("apply", "-", "20-second.yml", stdin=FIRST, cwd=self.rules)
        self.assertEqual(self.ids(), ["a", "b"])
        self.assertEqual(self.texts()["(standard input)"], FIRST)
        self.assertTrue(self.ctl("check", "-", stdin=THIRD).startswith("ok\n"))
        self.ctl("apply", "-", stdin=THIRD)
        self.assertEqual(self.ctl("rules", "--source"), THIRD)
        # Its lists lie in the working directory.
        self.ctl("apply", "-", stdin=FIRST.replace("[small]", "[{algorithm: token_bucket, rate: 1/s, burst: 1}]") +
                 "\ndata: {lists: {bad: {type: cidr, file: bad.txt}}}\n", cwd=self.rules)
        self.assertEqual(self.json("rules", "b")["lists"][0]["entries"], 1)
        self.ctl("apply", "-", stdin=THIRD.replace("when:", "active: {days: mon-fri, hours: 09:00-18:00, zone: Europe/Moscow}, when:"))
        self.assertRegex(self.ctl("rules", "z"), r"\nactive: mon-fri 09:00-18:00 Europe/Moscow, (now|not before)")
        self.assertIn("(standard input):1:1: error:", self.ctl("apply", "-", stdin="x", exit=1))
        self.assertIn("standard input is named twice", self.ctl("apply", "-", "-", exit=1))

    def test_what_cannot_be_read_changes_nothing(self):
        empty = self.box.folder / "empty"
        empty.mkdir()
        for words, why in ((("nowhere.yaml",), "No such file"), (("rules.d", "rules.d/10-first.yaml"), "is named twice"),
                           (("empty",), "no *.yaml and no *.yml")):
            self.assertIn(why, self.ctl("apply", *words, exit=1))
        self.assertIs(self.json("rules")["rules"] == [], True)

    def test_a_list_of_any_of_them_is_watched(self):
        other = self.box.folder / "other"
        self.write("list.yaml", "version: 1\ndata: {lists: {more: {type: cidr, file: bad.txt}}}\nrules:\n"
                   "  - {id: m, when: ip.src in $more, on_match: drop}\n", other)
        self.write("bad.txt", "198.51.100.0/24\n", other)
        self.ctl("apply", "rules.d", "other")
        listed = {rule: self.json("rules", rule)["lists"][0]["file"] for rule in ("b", "m")}
        self.assertEqual(listed, {"b": "bad.txt", "m": str(other / "bad.txt")})
        self.assertEqual(self.notes(), [])
        before = self.box.generation()
        self.write("bad.txt", "198.51.100.0/25\n", other)
        wait_until("the changed list", lambda: self.box.generation() != before)
        self.assertEqual(self.ids(), ["a", "b", "z", "m"])
        self.write("bad.txt", "nonsense\n", other)
        note, = self.notes()
        self.assertIn(f"the list {other / 'bad.txt'} is judged by as it is in force; its file is not that", note)
        self.write("bad.txt", "198.51.100.0/25\n", other)
        self.ctl("apply", "--send-lists", "rules.d", "other")
        self.write("bad.txt", "nonsense\n", other)
        self.assertEqual(self.notes(), [])  # those that were sent are not watched
        self.assertEqual(self.texts()["10-first.yaml"], FIRST)

    def notes(self):
        return self.json("explain", "--src", "192.0.2.7", "--dst", "203.0.113.1")["notes"]

    def test_the_first_rules_of_a_box_may_be_a_folder(self):
        self.box.stop(self.sluiced)
        self.box.stop(self.dataplane)
        self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced("--rules", self.rules)
        wait_until("the rules", lambda: self.box.generation() != "0" * 16)
        self.assertEqual(self.ids(), ["a", "b", "z"])

    def test_explain_and_replay_read_them_too(self):
        words = ("--src", "192.0.2.7", "--dst", "203.0.113.1")
        self.assertEqual(self.json("explain", "rules.d", *words)["verdict"], "drop")
        self.ctl("apply", "rules.d")
        self.assertEqual(self.json("explain", *words)["verdict"], "drop")  # of what is held
        capture = self.box.folder / "two.pcap"
        capture.write_bytes(pcap([(0, udp("192.0.2.7", "203.0.113.1", 1000, 53)),
                                  (1, udp("198.51.100.7", "203.0.113.1", 1000, 53))]))
        self.assertEqual(self.json("replay", "rules.d", "--pcap", capture)["dropped"], 1)
        self.assertIn("two rules are called", self.ctl("replay", "rules.d", "-", "--pcap", "x", stdin=THIRD, exit=1))
        self.assertIn("either the rules or the capture", self.ctl("replay", "-", "--pcap", "-", exit=2))

    def test_forms_that_are_none(self):
        def form(*parts):
            body = "".join(f'--boundary\r\nContent-Disposition: form-data; name="rules"{name}\r\n\r\n{text}\r\n'
                           for name, text in parts) + "--boundary--\r\n"
            return self.box.ask("PUT", "/v1/rules?directory=/etc", body,
                                {"Content-Type": "multipart/form-data; boundary=boundary"})
        self.assertEqual(form(("", THIRD), ("", THIRD)).status, 400)
        self.assertEqual(form(('; filename="a"', THIRD), ('; filename="b"', THIRD), ('; filename="a"', SECOND)).status,
                         400)
        self.assertEqual(form(*((f'; filename="{i}"', "version: 1\n") for i in range(257))).status, 400)
        self.assertEqual(form(('; filename="a"', THIRD), (f'; filename="{"b" * 5000}"', SECOND)).status, 400)
        self.assertEqual(form(('; filename="a"', THIRD), ('; filename="b"', SECOND)).status, 422)  # no such list
        self.assertEqual(form(('; filename="a"', THIRD), ('; filename="b"', "version: 1\n")).status, 200)


class OneRule(Case):
    def setUp(self):
        super().setUp()
        self.ctl("apply", "rules.d")
        self.write("c.yaml", RULE, self.box.folder)

    def test_it_is_put_where_it_is_asked_for_and_nothing_else_changes(self):
        self.assertIn("added c; applied 4 rules, generation ", self.ctl("rule", "add", "c.yaml", "--before", "b"))
        self.assertEqual(self.ids(), ["a", "c", "b", "z"])
        self.assertEqual(self.texts(), {"10-first.yaml": FIRST.replace("  # About b", RULE_LINES + "  # About b"),
                                        "20-second.yml": SECOND, "30-third.yaml": THIRD})
        self.ctl("rule", "delete", "c")
        self.assertEqual(self.ids(), ["a", "b", "z"])
        self.ctl("rule", "add", "-", "--after", "a", stdin=RULE)
        self.assertEqual(self.ids(), ["a", "c", "b", "z"])
        self.ctl("rule", "delete", "c")
        self.ctl("rule", "add", "c.yaml")
        self.assertEqual(self.texts()["30-third.yaml"], THIRD + "# Why c.\n- id: c\n  when: ip.ttl eq 2\n  on_match: drop\n")
        self.assertEqual([line["call"] for line in self.box.audit()],
                         ["apply", "rule add c --before b", "rule delete c", "rule add c --after a", "rule delete c",
                          "rule add c"])
        self.restart()
        self.assertEqual(self.ids(), ["a", "b", "z", "c"])

    def test_each_step_is_undone_by_rollback(self):
        before = self.texts()
        self.ctl("rule", "add", "c.yaml")
        added = self.texts()
        self.ctl("rule", "replace", "-", stdin="id: c\n# Another comment alone.\nwhen: ip.ttl eq 2\non_match: drop\n")
        self.assertIn("Another comment", self.texts()["30-third.yaml"])
        self.ctl("rollback")
        self.assertEqual(self.texts(), added)
        self.ctl("rollback")
        self.assertEqual(self.texts(), before)

    def test_what_is_wrong_stands_in_the_file_of_the_rule(self):
        said = self.ctl("rule", "add", "-", stdin="# x\n- id: c\n  when: ip.ttll eq 2\n  on_match: drop\n", exit=1)
        self.assertIn("(standard input):3:9: error: unknown field `ip.ttll`", said)
        self.assertIn("\n    when: ip.ttll eq 2\n" + " " * 10 + "^\n", said)
        self.assertIn("there is a rule a already", self.ctl("rule", "add", "-", stdin="id: a\n", exit=1))
        self.assertIn("there is no rule y", self.ctl("rule", "delete", "y", exit=1))
        self.assertIn("there is no rule y", self.ctl("rule", "add", "c.yaml", "--after", "y", exit=1))
        said = self.ctl("rule", "replace", "c.yaml", exit=1)
        # Where the file names it, with the line.
        self.assertRegex(said, r"\Ac\.yaml:2:5: error: no such rule: there is no rule c in \S*rules\.d.*\n *id: c\n {6}\^\n\Z")
        self.assertIn("one rule is a map", self.ctl("rule", "add", "rules.d/10-first.yaml", exit=1))
        self.ctl("rule", "replace", "c.yaml", "--after", "a", exit=2)
        self.ctl("rule", "add", "c.yaml", "--after", "a", "--before", "b", exit=2)
        self.assertEqual(self.ids(), ["a", "b", "z"])
        answer = self.box.ask("PUT", "/v1/rules/z", RULE)
        self.assertEqual((answer.status, answer.json()["problems"][0]["message"]),
                         (422, "the rule is called `c`, not `z`"))

    def test_only_in_place_of_what_was_read(self):
        first = self.json("rules")
        self.ctl("rule", "add", "c.yaml", "--if-match", first["generation"])
        said = self.ctl("rule", "delete", "c", "--if-match", first["generation"], exit=1)
        self.assertIn("is in force, not", said)
        self.assertIn("names no set", self.ctl("rule", "delete", "c", "--if-match", "", exit=2))
        self.ctl("rule", "delete", "c", "--if-match", self.json("rules")["etag"])
        answer = self.box.ask("DELETE", "/v1/rules/z", headers={"If-Match": '"00000000000000aa"'})
        self.assertEqual(answer.status, 412)
        self.assertEqual(self.box.ask("DELETE", "/v1/rules/z", headers={"If-Match": "*"}).status, 200)

    def test_edits_at_once_take_turns_and_none_is_lost(self):
        wanted = [f"c{number}" for number in range(12)]
        with concurrent.futures.ThreadPoolExecutor(len(wanted)) as together:
            answers = list(together.map(
                lambda name: self.box.ask("POST", "/v1/rules", RULE.replace("id: c", f"id: {name}")), wanted))
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual(sorted(self.ids()), sorted(["a", "b", "z", *wanted]))

    def test_a_rule_beyond_256_kib_is_refused(self):
        most = 256 * 1024
        filled = RULE + "#" * (most - len(RULE))
        self.assertEqual(self.box.ask("POST", "/v1/rules", filled).status, 200)
        self.assertEqual(self.box.ask("PUT", "/v1/rules/c", filled + "#").status, 413)
        self.assertEqual(self.ids(), ["a", "b", "z", "c"])

    def test_on_trial(self):
        before = self.texts()
        self.ctl("rule", "add", "c.yaml", "--confirm", "1d")
        self.ctl("rule", "delete", "a")  # of the set on trial, which stays there
        self.assertEqual(self.json("rules")["unconfirmed"] is None, False)
        self.assertEqual(self.ids(), ["b", "z", "c"])
        self.ctl("rollback")
        self.assertEqual(self.texts(), before)
        self.ctl("rule", "add", "c.yaml", "--confirm", "1d")
        self.ctl("confirm")
        self.assertEqual(self.ids(), ["a", "b", "z", "c"])
        self.ctl("rollback")
        self.assertEqual(self.texts(), before)

    def test_the_mode_of_others_stays_and_the_last_rule_is_held(self):
        self.ctl("mode", "a", "monitor")
        self.ctl("mode", "z", "monitor")
        self.ctl("rule", "replace", "-", stdin="id: z\nwhen: ip.ttl eq 3\non_match: drop\n")
        modes = {rule["id"]: rule["mode"] for rule in self.json("rules")["rules"]}
        self.assertEqual(modes, {"a": "monitor", "b": "enforce", "z": "enforce"})
        self.ctl("apply", "rules.d/30-third.yaml")
        self.assertIn("no rule in the file is on", self.ctl("rule", "delete", "z", exit=1))
        self.ctl("rule", "delete", "z", "--force")
        self.assertEqual(self.texts()["30-third.yaml"], "version: 1\nrules: []\n")
        self.ctl("rule", "add", "c.yaml")
        self.assertEqual(self.ids(), ["c"])

    def test_in_full(self):
        rule = self.json("rules", "a")
        self.assertEqual(rule["source"]["text"], FIRST[FIRST.index("  - id: a"):FIRST.index("\n  # About b")])
        self.assertEqual((rule["source"]["file"], rule["source"]["line"], rule["source"]["last_line"]),
                         ("rules.d/10-first.yaml", 6, 9))
        self.assertEqual(rule["limits"][0]["text"], "token_bucket 5/s burst 5 per packet")
        self.assertEqual(self.json("rules", "b")["lists"],
                         [{"name": "bad", "type": "cidr", "file": "bad.txt", "known": True, "entries": 1}])
        text = self.ctl("rules", "b")
        self.assertIn("    when: ip.src in $bad\n", text)
        self.assertIn("bad   cidr        1  bad.txt\n", text)
        self.assertIn("there is no rule y", self.ctl("rules", "y", exit=1))
        self.ctl("rules", "a", "--source", exit=2)


class Services(Case):
    """A service is treated as a rule."""

    FILE = """version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80%s}
rules:
  - {id: login, mode: enforce, when: l4.dport eq 80, key: [ip.src], per: request,
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
  - {id: api, mode: enforce, when: l4.dport eq 81, key: [ip.src], per: request,
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""

    def test_modes(self):
        self.write("web.yaml", self.FILE % "")
        self.ctl("apply", "rules.d/web.yaml")
        before = self.json("rules")
        self.assertEqual([(one["id"], one["mode"], one["file_mode"]) for one in before["services"]],
                         [("web", "monitor", "monitor")])
        self.assertEqual(before["services"][0]["settings"]["on_unreadable"], "refuse")
        self.assertEqual({rule["id"]: rule["stance"]["kind"] for rule in before["rules"]},
                         {"login": "service", "api": "anywhere"})
        self.assertEqual(before["rules"][0]["stance"]["monitored"], ["web"])
        self.ctl("mode", "web", "enforce")
        after = self.json("rules")
        self.assertNotEqual(after["generation"], before["generation"])
        self.assertEqual((after["services"][0]["mode"], after["services"][0]["file_mode"]), ("enforce", "monitor"))
        self.assertEqual(after["rules"][0]["stance"]["monitored"], [])
        self.assertIn("enforce (file: monitor)", self.ctl("rules"))
        self.ctl("mode", "web", "monitor")
        self.assertEqual(self.json("rules")["generation"], before["generation"])
        self.assertIn("no rule or service nobody", self.ctl("mode", "nobody", "monitor", exit=1))

    def test_differences_and_what_goes_around_rules(self):
        self.write("web.yaml", self.FILE % "")
        said = self.ctl("apply", "rules.d/web.yaml")
        self.assertIn("over no service: api;", said)
        self.assertNotIn("login", said)
        self.assertNotIn("not over services alone", said)
        wider = (self.FILE % "").replace("login, mode: enforce, when: l4.dport eq 80,", "login, mode: enforce, when: 'l4.dport in {80 82}',")
        self.write("wider.yaml", wider)
        said = self.ctl("apply", "rules.d/wider.yaml")
        self.assertIn("over no service: api;", said)
        self.assertIn("not over services alone: login (beyond service web by l4.dport); what of layer 7 cannot be read", said)
        self.assertEqual(self.json("rules")["rules"][0]["stance"]["beyond"], ["l4.dport"])
        self.ctl("apply", "rules.d/web.yaml")
        self.write("next.yaml", self.FILE % ", mode: enforce, min_ttl: 64}\n  - {id: tls, protocol: tls, "
                                            "when: l4.dport eq 443")
        diff = self.json("diff", "rules.d/next.yaml")["services"]
        self.assertEqual((diff["added"], diff["removed"], diff["unchanged"]), (["tls"], [], 0))
        self.assertEqual([(one["what"], one["from"], one["to"]) for one in diff["changed"][0]["settings"]],
                         [("mode", "monitor", "enforce"), ("min_ttl", "32", "64")])
        text = self.ctl("diff", "rules.d/next.yaml")
        self.assertIn("+ service tls\n~ service web\n    mode: monitor -> enforce\n", text)
        self.assertIn("of: service web\n", self.ctl("rules", "login"))


class Earlier(Case):
    def test_a_change_of_comments_alone_is_another_set(self):
        self.ctl("apply", "rules.d/30-third.yaml")
        generation, tag = self.box.generation(), self.etag()
        self.assertTrue(tag.startswith(f'"{generation}-'))
        self.ctl("apply", "-", stdin=THIRD + "# more\n")
        self.assertEqual(self.box.generation(), generation)  # the same rules
        self.assertNotEqual(self.etag(), tag)
        put = self.box.ask("PUT", "/v1/rules", THIRD, {"If-Match": tag})
        self.assertEqual(put.status, 412)
        self.assertIn("the text of the rules", put.json()["detail"])
        self.assertEqual(self.box.ask("PUT", "/v1/rules", THIRD + "# other\n", {"If-Match": self.etag()}).status, 200)
        self.assertEqual(self.box.ask("PUT", "/v1/rules", THIRD + "# last\n", {"If-Match": f'"{generation}"'}).status, 200)
        self.ctl("rollback")
        self.assertEqual(self.ctl("rules", "--source"), THIRD + "# other\n")
        tag = self.etag()
        self.ctl("mode", "z", "monitor")
        self.ctl("mode", "z", "enforce")
        self.ctl("mode", "z", "monitor")
        self.assertNotEqual(self.etag(), tag)

    def test_history_and_the_way_to_any_of_it(self):
        self.ctl("apply", "rules.d/30-third.yaml")
        third = self.ctl("rules", "--source")
        self.ctl("apply", "rules.d")
        self.ctl("mode", "a", "monitor")
        self.ctl("rule", "delete", "b")
        history = self.json("history")
        self.assertEqual(history["in_force"]["note"], "rule delete b")
        self.assertEqual([(one["number"], one["rules"], one["note"], one["by"]) for one in history["sets"]],
                         [(2, 3, "apply: added a, b", os.getuid()), (1, 1, "apply: added z", os.getuid())])
        shown = self.ctl("history").splitlines()
        self.assertEqual(len(shown), 4)
        self.assertTrue(shown[2].split()[0] == "2" and shown[2].endswith("apply: added a, b"), shown)

        # What a preview shows is what applying that set would change, and what is then changed.
        preview = self.json("rollback", "1", "--dry-run")
        self.assertEqual(preview, self.json("diff", "-", stdin=third))
        self.assertEqual(self.ids(), ["a", "z"])  # nothing has changed
        self.assertEqual(self.ctl("rollback", "1", "--dry-run"), self.ctl("diff", "-", stdin=third))
        self.assertEqual(self.json("rollback", "1")["generation"], preview["to"])
        self.assertEqual(self.ctl("rules", "--source"), third)
        self.assertEqual(self.json("history")["in_force"]["note"], "rollback 1: removed a")
        self.assertEqual([one["number"] for one in self.json("history")["sets"]], [3, 2, 1])
        self.assertEqual(self.box.audit()[-1]["call"], "rollback 1")

        # And back again, by its number and without.
        self.ctl("rollback", "2")
        rules = {rule["id"]: rule["mode"] for rule in self.json("rules")["rules"]}
        self.assertEqual(rules, {"a": "monitor", "b": "enforce", "z": "enforce"})  # as it was
        newest = self.json("rollback", "--dry-run")
        self.assertEqual(self.json("rollback")["generation"], newest["to"])
        self.assertEqual(self.ctl("rules", "--source"), third)

    def test_a_rollback_in_place_of_what_was_read_alone(self):
        for kept in (THIRD, THIRD.replace("id: z", "id: y")):
            self.ctl("apply", "-", stdin=kept)
        read = self.json("rules")
        self.ctl("apply", "-", stdin=THIRD.replace("id: z", "id: x"))
        for target in ("/v1/rollback", "/v1/rollback?set=1"):
            for tag in (f'"{read["generation"]}"', read["etag"]):
                self.assertEqual(self.box.ask("POST", target, headers={"If-Match": tag}).status, 412, (target, tag))
        self.assertEqual(self.ids(), ["x"])
        now = self.json("rules")["etag"]
        self.assertEqual(self.box.ask("POST", "/v1/rollback", headers={"If-Match": now}).status, 200)
        self.assertEqual(self.ids(), ["y"])

    def test_a_trial_is_confirmed_in_place_of_what_was_looked_at_alone(self):
        """Somebody presses Confirm while a colleague's set takes the place of the one on trial."""
        self.ctl("apply", "-", stdin=THIRD)
        self.ctl("apply", "-", "--confirm", "5m", stdin=THIRD.replace("id: z", "id: looked-at"))
        looked_at = self.json("rules")
        self.ctl("apply", "-", "--confirm", "5m", stdin=THIRD.replace("id: z", "id: other"))
        for tag in (f'"{looked_at["generation"]}"', looked_at["etag"]):
            self.assertEqual(self.box.ask("POST", "/v1/confirm", headers={"If-Match": tag}).status, 412, tag)
        self.assertEqual(self.box.ask("POST", "/v1/confirm", headers={"If-Match": "yesterday's"}).status, 400)
        self.assertIsNotNone(self.json("rules")["unconfirmed"])
        now = f'"{self.json("rules")["generation"]}"'
        self.assertEqual(self.box.ask("POST", "/v1/confirm", headers={"If-Match": now}).status, 200)
        self.assertIsNone(self.json("rules")["unconfirmed"])
        self.assertEqual(self.ids(), ["other"])

    def test_a_rollback_takes_nothing_back_that_came_beside_it(self):
        """Each of two changes at once finds the other's set in the history, whoever came first."""
        for kept in (THIRD, THIRD.replace("id: z", "id: y")):
            self.ctl("apply", "-", stdin=kept)
        for number in range(3):
            added = RULE.replace("id: c", f"id: n{number}")
            with concurrent.futures.ThreadPoolExecutor(2) as together:
                edit = together.submit(self.box.ask, "POST", "/v1/rules", added)
                back = together.submit(self.box.ask, "POST", "/v1/rollback?set=1")
                self.assertEqual((edit.result().status, back.result().status), (200, 200))
            history = self.json("history")
            notes = [one["note"] for one in (history["in_force"], *history["sets"])]
            self.assertIn(f"rule add n{number}", " ".join(notes[:2]), notes)

    def test_a_set_that_is_not_there(self):
        self.assertEqual(self.ctl("history"), "no rules were ever applied\n")
        self.ctl("apply", "rules.d/30-third.yaml")
        self.assertIn("no earlier rules of the number 7", self.ctl("rollback", "7", exit=1))
        self.assertIn("no earlier rules of the number 7", self.ctl("rollback", "7", "--dry-run", exit=1))
        self.assertIn("no earlier rules to go back to", self.ctl("rollback", "--dry-run", exit=1))
        self.ctl("rollback", "0", exit=2)
        self.ctl("rollback", "--confirm", "10s", exit=2)
        for target in ("/v1/rollback?set=x", "/v1/rollback?set=-1", "/v1/rollback?confirm=10s",
                       "/v1/rollback/diff?set=99999999999999999999"):
            self.assertEqual(self.box.ask("POST", target).status, 400, target)

    def test_on_trial_by_its_number(self):
        self.ctl("apply", "rules.d/30-third.yaml")
        self.ctl("apply", "rules.d")
        self.ctl("rollback", "1", "--confirm", "1d")
        self.assertEqual(self.ids(), ["z"])
        self.ctl("rollback")
        self.assertEqual(self.ids(), ["a", "b", "z"])
        tag = self.json("rules")["etag"]
        self.ctl("mode", "a", "off")
        self.assertIn("in force", self.ctl("rollback", "1", "--if-match", tag, exit=1))

    def test_sets_that_an_older_sluiced_kept_are_read(self):
        self.ctl("apply", "rules.d/30-third.yaml")
        self.box.stop(self.sluiced)
        path = self.box.state / "rules.json"
        kept = json.loads(path.read_text())
        for member in ("note", "on"):
            kept.pop(member)
        kept["sum"] = fnv(json.dumps({key: value for key, value in kept.items() if key != "sum"}, sort_keys=True,
                                     separators=(",", ":"), ensure_ascii=False))
        path.write_text(json.dumps(kept))
        self.sluiced = self.box.start_sluiced()
        wait_until("the connection", self.box.connected)
        self.assertEqual(self.ctl("rules", "--source"), THIRD)
        self.ctl("apply", "rules.d")
        self.assertEqual([(one["rules"], one["note"]) for one in self.json("history")["sets"]], [(None, "")])
        self.ctl("rollback", "1")
        self.assertEqual(self.ctl("rules", "--source"), THIRD)

    def test_exit_codes_of_diff(self):
        self.ctl("apply", "rules.d")
        self.assertIn("3 as they are", self.ctl("diff", "--exit-code", "rules.d"))
        self.ctl("diff", "--exit-code", "rules.d/30-third.yaml", exit=1)
        self.ctl("diff", "rules.d/30-third.yaml")
        self.ctl("diff", "--exit-code", "-", stdin="x", exit=4)
        self.ctl("diff", "--exit-code", "nowhere", exit=4)
        self.ctl("diff", "--exit-code", exit=2)
        self.ctl("diff", "--exit-code", "rules.d", "--socket-nobody", exit=2)
        self.box.stop(self.sluiced)
        self.ctl("diff", "--exit-code", "rules.d", exit=3)

    def test_stats_of_some_rules(self):
        self.ctl("apply", "rules.d")
        text = self.ctl("stats", "--rule", "a", "--rule", "z")
        self.assertIn("\na ", text)
        self.assertIn("\nz ", text)
        self.assertNotIn("\nb ", text)
        self.assertNotIn("VERDICT", text)
        stats = self.json("stats", "--rule", "z")
        self.assertEqual([rule["id"] for rule in stats["rules"]], ["z"])
        self.assertIn("verdicts", stats)
        self.assertEqual(self.json("stats", "--nonzero")["rules_left_out"], 0)
        self.assertIn("there is no rule or service y", self.ctl("stats", "--rule", "y", exit=1))


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


if __name__ == "__main__":
    PROGRAMS = [os.path.abspath(path) for path in sys.argv[1:4]]
    unittest.main(argv=sys.argv[:1])
