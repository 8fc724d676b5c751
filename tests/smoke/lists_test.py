"""Lists in files: sluiced with a dataplane that counts no packets, and sluicectl.

    lists_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import json
import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import mmdb_writer
from daemon_box import DaemonBox, requests_of, wait_until

PROGRAMS = []
RULES = """version: 1
data:
  lists:
    friends: {type: cidr, file: lists/friends.txt}
rules:
  - {id: friends, mode: enforce, when: ip.src in $friends, on_match: allow}
  - {id: rest, mode: enforce, when: ip.proto eq 17, on_match: drop}
"""
FRIENDS = "# friends\n192.0.2.0/24\r\n2001:db8::/32 # and family\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)
        self.etc = self.box.folder / "etc"
        self.list = self.etc / "lists" / "friends.txt"
        self.rules = self.etc / "rules.yaml"
        self.list.parent.mkdir(parents=True)
        self.rules.write_text(RULES)
        self.write_list(FRIENDS)

    def write_list(self, text):
        """As editors do: another file takes its place."""
        new = self.list.with_suffix(".new")
        new.write_text(text)
        new.rename(self.list)

    def start(self):
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced()

    def ctl(self, *words, **options):
        return subprocess.run([PROGRAMS[2], *map(str, words)], capture_output=True, text=True,
                              timeout=60, **options)

    def apply(self, rules="etc/rules.yaml", *words, **options):
        return self.ctl("apply", rules, *words, "--socket", self.box.socket, cwd=self.box.folder,
                        **options)

    def applied(self):
        answer = self.apply()
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return self.box.generation()

    def refused(self, answer, *says):
        self.assertEqual(answer.returncode, 1, answer.stderr)
        for text in says:
            self.assertIn(text, answer.stderr)


class WithoutDaemon(Case):
    def check(self, *words):
        return self.ctl("check", "etc/rules.yaml", *words, cwd=self.box.folder)

    def test_check_knows_the_lists(self):
        answer = self.check()
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertIn("friends  cidr", answer.stdout)
        lists = json.loads(self.check("--json").stdout)["lists"]
        self.assertEqual(lists, [{"name": "friends", "type": "cidr", "file": "lists/friends.txt",
                                  "known": True, "entries": 2, "ranges": 2}])

    def test_a_bad_line_names_its_place(self):
        self.write_list(FRIENDS + " 10.0.0.1/8\n")
        self.refused(self.check(), "etc/lists/friends.txt:4:2: error: `10.0.0.1/8` has host bits",
                     "the network is 10.0.0.0/8")

    def test_a_missing_list_is_a_warning_for_check_and_an_error_to_run(self):
        self.list.unlink()
        answer = self.check()
        self.assertEqual(answer.returncode, 0)
        self.assertIn("rules.yaml:4:33: warning: cannot read etc/lists/friends.txt",
                      answer.stderr)
        self.assertEqual(self.check("--strict").returncode, 1)
        capture = self.box.folder / "none.pcap"
        capture.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
        self.refused(self.ctl("replay", self.rules, "--pcap", capture),
                     "error: cannot read")
        self.write_list(FRIENDS)
        answer = self.ctl("replay", self.rules, "--pcap", capture)
        self.assertEqual(answer.returncode, 0, answer.stderr)


    def test_explain_reads_them(self):
        for source, rule in (("192.0.2.7", "friends"), ("198.51.100.7", "rest")):
            answer = self.ctl("explain", "etc/rules.yaml", "--json", "--src", source, "--dst",
                              "203.0.113.1", "--proto", "17", cwd=self.box.folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual(json.loads(answer.stdout)["rule"], rule)


class Applied(Case):
    def test_lists_lie_beside_the_rule_file(self):
        self.start()
        generation = self.applied()
        self.write_list(FRIENDS + "198.51.100.0/24\n")
        self.assertNotEqual(self.applied(), generation)

    def test_what_is_wrong_in_a_list_is_told(self):
        self.start()
        generation = self.applied()
        self.write_list("\n".join(["x"] * 30))
        answer = self.apply()
        self.refused(answer, "friends.txt:1:1: error: expected an address or network",
                     "and 10 more such lines")
        self.list.unlink()
        self.refused(self.apply(), "etc/rules.yaml:4:33: error: cannot read",
                     "No such file")
        self.list.mkdir()
        self.refused(self.apply(), "no regular file")
        self.list.rmdir()
        os.mkfifo(self.list)
        self.refused(self.apply(), "no regular file")
        self.assertEqual(self.box.generation(), generation)
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)

    def test_without_a_folder_only_absolute_paths_do(self):
        self.start()
        answer = self.box.put_rules(RULES)
        self.assertEqual(answer.status, 422, answer.text)
        self.assertIn("was not told the rule file's folder", answer.text)
        answer = self.box.put_rules(RULES.replace("lists/friends.txt", str(self.list)))
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(self.box.put_rules(RULES, "?directory=etc").status, 400)

    def test_diff_reads_them(self):
        self.start()
        generation = self.applied()
        words = ("diff", "etc/rules.yaml", "--json", "--socket", self.box.socket)
        same = self.ctl(*words, cwd=self.box.folder)
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertEqual(json.loads(same.stdout)["to"], generation)
        self.list.unlink()
        self.refused(self.ctl(*words, cwd=self.box.folder), "error: cannot read")
        self.assertEqual(self.box.ask("POST", "/v1/rules/diff?directory=etc", RULES).status, 400)

    def test_a_restart_needs_no_list(self):
        self.start()
        generation = self.applied()
        self.box.stop(self.sluiced)
        self.list.unlink()
        again = self.box.start_sluiced()
        self.assertEqual(self.box.generation(), generation)
        self.assertIn("friends.txt is gone; going on with the copy of it that was kept",
                      again.log.read_text())
        self.assertIn("re-attached", again.log.read_text())
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)
        self.assertEqual(self.box.put_mode("rest", "monitor").status, 200, "the copy serves")
        self.box.stop(self.dataplane)
        self.dataplane = self.box.start_dataplane()
        wait_until("the rules to be brought",
                   lambda: requests_of(self.dataplane).count("apply") == 1)

    @unittest.skipIf(os.geteuid() != 0, "wants root")
    def test_nobody_reads_more_through_sluiced_than_alone(self):
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced("--socket-mode", "0666")
        group = {"user": 65534, "group": 0, "extra_groups": [0]}
        self.list.chmod(0o600)
        answer = self.apply(**group)
        self.refused(answer, "Permission denied")
        self.assertNotIn("192.0.2", answer.stderr)
        self.list.chmod(0o644)
        self.assertEqual(self.apply(**group).returncode, 0)


class Large(Case):
    """A list that is many times too long for what it is asked for."""

    WORDS = 200_000
    TEXTS = """version: 1
data:
  lists:
    friends: {type: string, file: lists/friends.txt}
rules:
  - {id: a, mode: enforce, on_match: drop, when: 'CONDITION'}
"""
    # Too many to scan for; too long together.
    SAID = (("http.user_agent contains $friends", "$friends holds 200000 texts, and all conditions together scan for at most 16384"),
            ("ends_with(http.user_agent, $friends)", "bytes of text together, and at most 16777216 can be held"))

    def make_longer(self):
        self.write_list("".join(f"agent-{number:07}-of-a-long-list".ljust(100, "x") + "\n" for number in range(self.WORDS)))

    def ask_for(self, condition):
        self.rules.write_text(self.TEXTS.replace("CONDITION", condition))

    def test_too_many_words_are_an_error_and_hold_up_nobody(self):
        self.start()
        generation = self.applied()
        self.make_longer()
        wait_until("it to be read as addresses", lambda: self.box.get("/v1/rules").json().get("list_problem"))
        for condition, said in self.SAID:
            self.ask_for(condition)
            self.refused(self.ctl("check", self.rules), said)
            with ThreadPoolExecutor(1) as pool:
                applying = pool.submit(self.apply)
                while not applying.done():
                    self.assertEqual(self.box.get("/v1/health").status, 200)
                    time.sleep(0.05)
                self.refused(applying.result(), said)
        self.assertEqual(self.box.generation(), generation)
        self.assertEqual(requests_of(self.dataplane).count("apply"), 1)

    def test_a_list_in_force_that_grows_beyond_its_bound_changes_nothing(self):
        self.write_list("agent\n")
        self.ask_for("http.user_agent contains $friends")
        self.start()
        generation = self.applied()
        self.make_longer()
        wait_until("it to be noticed", lambda: self.box.get("/v1/rules").json().get("list_problem"))
        self.assertIn("scan for at most 16384", self.box.get("/v1/rules").json()["list_problem"])
        self.assertIn("\nsluice_lists_not_in_force 1\n", self.box.get("/v1/metrics").text)
        self.assertEqual(self.box.generation(), generation)


class ExplainedAsInForce(Case):
    def explain(self, source, exit=0):
        done = self.ctl("explain", "--json", "--src", source, "--dst", "198.51.100.1", "--socket",
                        self.box.socket)
        self.assertEqual(done.returncode, exit, done.stderr)
        return json.loads(done.stdout) if exit == 0 else done.stderr

    def test_by_the_lists_that_are_in_force(self):
        self.assertIn("sluiced", self.explain("192.0.2.1", exit=3))
        self.start()
        self.assertIn("no rules", self.explain("192.0.2.1", exit=1))
        generation = self.applied()
        friend, other = self.explain("192.0.2.1"), self.explain("203.0.113.1")
        self.assertEqual((friend["verdict"], friend["rule"], friend["notes"]),
                         ("pass", "friends", []))
        self.assertEqual((other["verdict"], other["rule"]), ("drop", "rest"))
        self.assertEqual((friend["generation"], friend["lcore"], friend["others"]),
                         (generation, 1, []))
        # What cannot come into force is not what a packet meets.
        self.write_list("nonsense\n")
        friend = self.explain("192.0.2.1")
        self.assertEqual(friend["rule"], "friends")
        self.assertEqual(len(friend["notes"]), 1)
        self.assertIn("lists/friends.txt", friend["notes"][0])
        self.assertIn("it has changed", friend["notes"][0])
        self.list.unlink()
        friend = self.explain("192.0.2.1")
        self.assertEqual(friend["rule"], "friends")
        self.assertIn("No such file", friend["notes"][0])

    @unittest.skipIf(os.geteuid() != 0, "wants root")
    def test_nobody_else_is_told_of_lists(self):
        self.dataplane = self.box.start_dataplane()
        self.sluiced = self.box.start_sluiced("--socket-mode", "0666")
        self.applied()
        done = self.ctl("explain", "--json", "--src", "192.0.2.1", "--dst", "198.51.100.1", "--socket", self.box.socket,
                        user=65534, group=0, extra_groups=[0])
        # The verdict is everybody's who may ask; which entry of a list led to it is not.
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["verdict"], "pass")
        self.assertNotIn("192.0.2.0/24", done.stdout)
        self.assertIn("list", " ".join(json.loads(done.stdout)["notes"]))
        words = ("find", "192.0.2.1", "--socket", self.box.socket)
        self.assertIn(", in $friends by 192.0.2.0/24", " ".join(self.ctl(*words).stdout.split()))
        done = self.ctl(*words, user=65534, group=0, extra_groups=[0])
        self.assertNotIn("$friends", done.stdout)
        self.assertIn("what lists name is told to root and to who applied the rules alone", " ".join(done.stdout.split()))

    def test_modes_that_were_set(self):
        self.start()
        self.applied()
        self.assertEqual(self.ctl("mode", "rest", "monitor", "--socket", self.box.socket).returncode,
                         0)
        self.assertEqual(self.explain("203.0.113.1")["verdict"], "pass")


class Databases(Case):
    """What conditions say of countries comes from a database beside the rules."""

    def setUp(self):
        super().setUp()
        self.rules.write_text("""version: 1
data: {country_db: country.mmdb}
rules: [{id: nl, mode: enforce, when: 'ip.src.country eq "NL"', on_match: drop}]
""")
        self.write_database("10.0.0.0/8")

    def write_database(self, network):
        database = mmdb_writer.Database("Test-Country")
        database.add(network, mmdb_writer.country("NL"))
        new = self.etc / "country.new"
        new.write_bytes(database.bytes())
        new.rename(self.etc / "country.mmdb")

    def test_another_database_comes_into_force_and_a_broken_one_does_not(self):
        self.start()
        before = self.applied()
        self.write_database("10.0.0.0/9")
        wait_until("another generation", lambda: self.box.generation() != before)
        after = self.box.generation()
        (self.etc / "country.mmdb").write_bytes(b"no database")
        wait_until("it to be noticed",
                   lambda: self.box.get("/v1/rules").json().get("list_problem", ""))
        self.assertIn("country.mmdb is no good MMDB file",
                      self.box.get("/v1/rules").json()["list_problem"])
        self.assertEqual(self.box.generation(), after)
        self.write_database("10.0.0.0/8")
        wait_until("the first again", lambda: self.box.generation() == before)

    def test_a_restart_needs_none(self):
        self.start()
        generation = self.applied()
        self.box.stop(self.sluiced)
        (self.etc / "country.mmdb").unlink()
        self.box.start_sluiced()
        self.assertEqual(self.box.generation(), generation)
        self.assertEqual(self.box.put_mode("nl", "monitor").status, 200, "the copy serves")

    def test_a_missing_one_is_refused_and_diff_reads_it(self):
        self.start()
        generation = self.applied()
        same = self.ctl("diff", "etc/rules.yaml", "--json", "--socket", self.box.socket,
                        cwd=self.box.folder)
        self.assertEqual(json.loads(same.stdout)["to"], generation)
        (self.etc / "country.mmdb").rename(self.etc / "away")
        self.refused(self.apply(), "etc/rules.yaml:2:20: error: cannot read", "country.mmdb")


class Changed(Case):
    """What happens by itself when a list's file changes."""

    def start(self):
        super().start()
        self.before = self.applied()

    def waits_for_another(self, generation):
        wait_until("another generation", lambda: self.box.generation() != generation)
        return self.box.generation()

    def problem(self):
        return self.box.get("/v1/rules").json().get("list_problem", "")

    def test_a_changed_list_comes_into_force(self):
        self.start()
        self.write_list(FRIENDS + "198.51.100.0/24\n")
        after = self.waits_for_another(self.before)
        last = self.box.audit()[-1]
        self.assertEqual((last["call"], last["before"], last["after"], last["outcome"]),
                         ("reload lists", self.before, after, "done"))
        with open(self.list, "a", encoding="utf-8") as file:  # in place, as a script does
            file.write("203.0.113.0/24\n")
        self.waits_for_another(after)
        self.write_list(FRIENDS)
        wait_until("the first again", lambda: self.box.generation() == self.before)

    def test_a_list_that_is_emptied_is_in_force_and_said(self):
        self.start()
        self.assertEqual(self.box.get("/v1/health").json()["empty_lists"], [])
        self.write_list("")
        self.waits_for_another(self.before)
        empty, = self.box.get("/v1/health").json()["empty_lists"]
        self.assertEqual(empty["name"], "friends")
        self.assertIn("the list friends has no entry: ", self.ctl("health", "--socket", self.box.socket).stdout)
        said = "the list friends had entries and has none now"
        wait_until("the warning", lambda: said in self.sluiced.log.read_text())
        self.write_list(FRIENDS)
        wait_until("its entries again", lambda: self.box.generation() == self.before)
        self.assertEqual(self.box.get("/v1/health").json()["empty_lists"], [])
        self.assertEqual(self.sluiced.log.read_text().count(said), 1)

    def test_a_list_that_became_bad_changes_nothing_and_is_said_once(self):
        self.start()
        self.write_list(FRIENDS + "not an address\n")
        wait_until("it to be noticed", self.problem)
        self.assertIn("friends.txt:4:1: error: expected an address", self.problem())
        self.assertEqual(self.box.generation(), self.before)
        metrics = self.box.get("/v1/metrics").text
        self.assertIn("\nsluice_lists_not_in_force 1\n", metrics)
        self.assertIn(f'\nsluice_list_age_seconds{{file="{self.list}"}} ', metrics)
        for word in ("rules", "stats", "health"):
            shown = self.ctl(word, "--socket", self.box.socket).stdout
            self.assertIn("a list or database has changed and is not in force", shown)
        other = self.etc / "lists" / "other.txt"
        for number in range(3):  # the folder moves, the list does not
            other.write_text(str(number))
            self.box.get("/v1/health")
        self.assertEqual(self.sluiced.log.read_text().count("is not in force"), 1)
        self.assertEqual(self.box.audit()[-1]["call"], "reload lists")
        self.assertIn("refused", self.box.audit()[-1]["outcome"])
        self.write_list(FRIENDS + "198.51.100.0/24\n")
        self.waits_for_another(self.before)
        self.assertEqual(self.problem(), "")

    def test_a_list_that_vanishes_and_comes_back(self):
        self.start()
        self.list.unlink()
        wait_until("it to be noticed", self.problem)
        self.assertIn("cannot read", self.problem())
        self.assertEqual(self.box.generation(), self.before)
        self.write_list(FRIENDS)
        wait_until("it to be good again", lambda: not self.problem())
        self.assertEqual(self.box.generation(), self.before)

    def test_another_folder_takes_the_place(self):
        self.start()
        self.list.parent.rename(self.etc / "old")
        self.list.parent.mkdir()
        self.write_list("203.0.113.0/24\n")
        after = self.waits_for_another(self.before)
        self.write_list("203.0.113.0/25\n")
        self.waits_for_another(after)

    def test_what_changed_while_sluiced_was_away(self):
        self.start()
        self.box.stop(self.sluiced)
        self.write_list("203.0.113.0/24\n")
        self.sluiced = self.box.start_sluiced()
        self.waits_for_another(self.before)

    def test_what_changed_while_the_dataplane_was_away(self):
        self.start()
        self.box.stop(self.dataplane)
        self.write_list("203.0.113.0/24\n")
        wait_until("sluiced to miss the dataplane", lambda: not self.box.connected())
        self.dataplane = self.box.start_dataplane()
        self.waits_for_another(self.before)

    def test_what_changed_on_trial_stays_when_the_old_set_comes_back(self):
        self.start()
        other = self.etc / "other.yaml"
        other.write_text(RULES.replace("eq 17", "eq 6"))
        answer = self.apply(other, "--confirm", "1h")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        generation = self.box.generation()
        self.write_list("203.0.113.0/24\n")
        self.waits_for_another(generation)
        self.assertTrue(self.box.get("/v1/rules").json()["unconfirmed"])
        back = self.box.ask("POST", "/v1/rollback")
        self.assertEqual((back.status, back.json()["generation"]), (200, self.before))
        after = self.waits_for_another(self.before)
        self.assertEqual(self.applied(), after, "the old rules with the list as it is")

    def test_modes_outlive_it(self):
        self.start()
        self.assertEqual(self.box.put_mode("rest", "monitor").status, 200)
        generation = self.box.generation()
        self.write_list("203.0.113.0/24\n")
        self.waits_for_another(generation)
        self.assertEqual(self.box.get("/v1/rules").json()["rules"][1]["mode"], "monitor")


class Overrides(Case):
    """Their files are read, kept and watched as lists are."""
    RULES = """version: 1
rules:
  - id: hosts
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]
    overrides: {file: lists/friends.txt}
"""
    HEADER = "key,limit,rate,burst,count,expires,reason\n"

    def setUp(self):
        super().setUp()
        self.rules.write_text(self.RULES)
        self.write_list(self.HEADER + "192.0.2.1,exempt,,,,,partner\n")

    def test_check_and_explain_know_them(self):
        answer = self.ctl("check", "etc/rules.yaml", cwd=self.box.folder)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        for source, says in (("192.0.2.1", "the key is exempt"), ("192.0.2.2", "5 left")):
            answer = self.ctl("explain", "etc/rules.yaml", "--src", source, "--dst", "192.0.2.9",
                              "--dport", "53", cwd=self.box.folder)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn(says, answer.stdout)
        self.write_list(self.HEADER + "192.0.2.1,1,2/s,,,,\n192.0.2.1|7,1,2/s,,,,\n")
        answer = self.ctl("check", "etc/rules.yaml", cwd=self.box.folder)
        self.refused(answer, "friends.txt:3:1: error: `192.0.2.1|7` has 2 parts")

    def test_a_changed_file_comes_into_force(self):
        self.start()
        before = self.applied()
        self.write_list(self.HEADER + "192.0.2.1,1,2/s,,,,partner\n")
        wait_until("another generation", lambda: self.box.generation() != before)
        self.write_list(self.HEADER + "192.0.2.1,1,2,,,,partner\n")
        wait_until("the complaint", lambda: "friends.txt:2:13" in
                   (self.box.get("/v1/rules").json().get("list_problem") or ""))

    def test_a_restart_needs_no_file(self):
        self.start()
        before = self.applied()
        self.box.stop(self.sluiced)
        self.list.unlink()
        self.sluiced = self.box.start_sluiced()
        self.assertEqual(self.box.generation(), before)


if __name__ == "__main__":
    PROGRAMS[:] = map(os.path.abspath, sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
