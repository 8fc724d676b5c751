"""Tenants: their rules beside the operator's, with the real sluiced and sluicectl.

    tenants_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import json
import os
import subprocess
import sys
import time
import unittest

from daemon_box import DaemonBox, wait_until

PROGRAMS = []
CONFIG = """version: 1
tenants:
  - {name: acme, networks: [198.51.100.0/24], table_share: 10%, rules: 3, text: 2KiB}
  - {name: zeta, networks: [203.0.113.0/24, "2001:db8::/48"], table_share: 10%}
"""
OPERATORS = """# The operator's, byte for byte.
version: 1
rules:
  - {id: own, mode: enforce, when: ip.ttl eq 1, on_match: drop}
"""
ACME = """# acme's
version: 1
rules:
  - id: flood
    mode: enforce
    when: ip.proto eq 17
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}]
"""
OTHER = ACME.replace("5/s", "9/s")
ZETA = "version: 1\nrules: [{id: flood, mode: enforce, when: l4.dport eq 53, on_match: drop}]\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)
        self.config = self.write("sluice.yaml", CONFIG)
        self.dataplane = self.box.start_dataplane()
        self.start()
        self.assertEqual(self.box.put_rules(OPERATORS).status, 200)

    def start(self):
        self.sluiced = self.box.start_sluiced("--config", self.config)
        wait_until("the connection", self.box.connected)

    def restart(self, config=CONFIG):
        self.box.stop(self.sluiced)
        self.write("sluice.yaml", config)
        self.start()

    def write(self, name, text):
        path = self.box.folder / name
        path.write_text(text)
        return path

    def put(self, name, text, query="", **headers):
        return self.box.ask("PUT", f"/v1/tenants/{name}/rules{query}", text,
                            {key.replace("_", "-"): value for key, value in headers.items()})

    def of(self, name):
        return self.box.get(f"/v1/tenants/{name}/rules").json()

    def call(self, name, word, text=None):
        return self.box.ask("POST", f"/v1/tenants/{name}/{word}", text)

    def ids(self):
        return [rule["id"] for rule in self.box.get("/v1/rules").json()["rules"]]

    def aside(self):
        return self.box.get("/v1/health").json()["tenants_aside"]

    def running(self):
        return self.box.get("/v1/health").json()["dataplane"]["generation"]

    def etag(self):
        return self.box.get("/v1/rules").headers["ETag"]

    def source(self):
        return self.box.get("/v1/rules/source").text

    def ctl(self, *words, exit=0):
        done = subprocess.run([PROGRAMS[2], "--socket", self.box.socket, *map(str, words)], text=True,
                              capture_output=True, timeout=60, cwd=self.box.folder)
        self.assertEqual(done.returncode, exit, done.stdout + done.stderr)
        return done.stdout if exit == 0 else done.stderr


class BesideTheOperator(Case):
    def test_each_has_its_own_text_and_keeps_it(self):
        tag = self.etag()
        answer = self.put("acme", ACME)
        self.assertEqual((answer.status, answer.json()["rules"]), (200, 1), answer.text)
        self.assertEqual(self.box.put_rules("version: 1\nrules: []\n").status, 409, "a tenant's rules are none of its")
        self.assertEqual(self.put("zeta", ZETA).status, 200)
        self.assertEqual(self.ids(), ["own", "acme:flood", "zeta:flood"])
        self.assertEqual((self.source(), self.of("acme")["text"], self.of("zeta")["text"]), (OPERATORS, ACME, ZETA))
        self.assertEqual(self.etag(), tag, "the operator knows the set as before")
        # The operator's apply, edit, rollback and lost state keep them.
        newer = OPERATORS.replace("ttl eq 1", "ttl eq 2")
        answer = self.box.ask("PUT", "/v1/rules", newer, {"If-Match": tag})
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(self.ids(), ["own", "acme:flood", "zeta:flood"])
        self.assertEqual(self.box.ask("POST", "/v1/rollback").status, 200)
        self.assertEqual(self.source(), OPERATORS)
        self.restart()
        self.assertEqual((self.ids(), self.of("acme")["text"]), (["own", "acme:flood", "zeta:flood"], ACME))
        self.box.stop(self.sluiced)
        for path in self.box.state.glob("rules*"):
            path.unlink()
        self.start()
        wait_until("the rules of the dataplane", lambda: self.ids() == ["own", "acme:flood", "zeta:flood"])
        self.assertEqual((self.source(), self.of("acme")["text"]), (OPERATORS, ACME))

    def test_a_mode_of_a_tenants_rule_ends_with_its_own_apply(self):
        self.put("acme", ACME)
        self.assertEqual(self.box.put_mode("acme:flood", "monitor").status, 200)
        self.box.put_rules(OPERATORS.replace("ttl eq 1", "ttl eq 2"))
        self.assertEqual([rule["mode"] for rule in self.of("acme")["rules"]], ["monitor"])
        self.put("acme", OTHER)
        self.assertEqual([rule["mode"] for rule in self.of("acme")["rules"]], ["enforce"])

    def test_what_is_refused_changes_nothing(self):
        self.put("acme", ACME)
        before = self.etag(), self.ids(), self.of("acme")["etag"]
        rule = "  - {id: %s, mode: enforce, when: l4.dport eq 7, on_match: drop}\n"
        for status, name, text in (
                (422, "acme", "version: 1\nrules: &a []\n"),
                (422, "acme", "version: 1\nrules:\n" + rule % '"zeta:x"'),
                (422, "acme", "version: 1\nrules:\n" + rule % "../x"),
                (422, "acme", "version: 1\nrules:\n" + "".join(rule % one for one in "abcd")),
                (422, "acme", ACME + "#" * 2048),
                (422, "acme", "version: 1\nbypass: []\nrules: []\n"),
                (422, "acme", "version: 1\ndata: {lists: {a: {type: cidr, file: /etc/passwd}}}\nrules: []\n"),
                (422, "acme", ACME.replace("ip.proto eq 17", "ip.dst eq 203.0.113.1")),
                (422, "acme", "\0\xff"),
                (422, "acme", ""),
                (404, "nobody", ACME), (404, "..", ACME), (404, "acme:zeta", ACME), (404, "%2e%2e%2facme", ACME)):
            answer = self.put(name, text)
            self.assertEqual(answer.status, status, (name, text[:60], answer.text))
            self.assertNotIn("ttl", answer.text, "nothing of the operator's text")
            self.assertEqual((self.etag(), self.ids(), self.of("acme")["etag"]), before)
        answer = self.put("acme", "version: 1\nrules:\n  - {id: a, notify: {to: x}, on_match: drop}\n", "?file=mine.yaml")
        self.assertEqual((answer.json()["problems"][0]["file"], answer.json()["problems"][0]["line"]), ("mine.yaml", 3))
        self.assertEqual(self.put("acme", OTHER, If_Match='"0000000000000000"').status, 412)
        self.assertEqual(self.put("acme", OTHER, If_Match="one").status, 400)
        self.assertEqual(self.put("acme", OTHER, "?force=1").status, 400)
        self.assertEqual(self.put("acme", OTHER, If_Match=self.of("acme")["etag"]).status, 200)

    def test_a_check_says_what_would_change_and_changes_nothing(self):
        self.put("acme", ACME)
        answer = self.call("acme", "check", OTHER + "  - {id: more, when: l4.dport eq 7, on_match: drop}\n").json()
        self.assertEqual((answer["added"], [rule["id"] for rule in answer["changed"]]), (["acme:more"], ["acme:flood"]))
        self.assertEqual(self.call("acme", "check", "version: 1\n").status, 422)
        self.assertEqual(self.of("acme")["text"], ACME)


class Trials(Case):
    def test_one_goes_back_by_itself_and_takes_only_its_own(self):
        self.put("acme", ACME)
        self.assertIsNotNone(self.put("acme", OTHER, "?confirm=1s").json()["unconfirmed"])
        self.put("zeta", ZETA)
        self.box.put_rules(OPERATORS.replace("ttl eq 1", "ttl eq 3"))
        wait_until("the rules of before", lambda: self.of("acme")["text"] == ACME)
        self.assertIn("ttl eq 3", self.source())
        self.assertEqual(self.of("zeta")["text"], ZETA)
        self.assertIn("tenant acme", [line["call"] for line in self.box.audit()])

    def test_it_is_confirmed_or_ended_by_hand(self):
        self.put("acme", ACME)
        self.put("acme", OTHER, "?confirm=1h")
        self.assertEqual(self.call("zeta", "confirm").status, 409)
        self.assertEqual(self.call("acme", "rollback").status, 200)
        self.assertEqual(self.of("acme")["text"], ACME)
        self.assertEqual(self.call("acme", "rollback").status, 409)
        self.put("acme", OTHER, "?confirm=1h")
        self.restart()
        self.assertIsNotNone(self.of("acme")["unconfirmed"])
        self.assertEqual(self.call("acme", "confirm").status, 200)
        self.assertIsNone(self.of("acme")["unconfirmed"])
        self.assertEqual(self.call("acme", "rollback").status, 200)
        self.assertEqual(self.of("acme")["text"], ACME)

    def test_a_trial_that_went_back_leaves_what_was_before_it(self):
        for text in (OTHER, ACME):
            self.put("acme", text)
        for end in ("rollback", "restart"):
            self.put("acme", ACME.replace("flood", "third"), "?confirm=1h")
            self.put("acme", ACME.replace("flood", "fourth"), "?confirm=1h")
            if end == "restart":
                self.restart()
            self.assertEqual(self.call("acme", "rollback").status, 200)
            self.assertEqual(self.of("acme")["text"], ACME)
        self.assertEqual(self.call("acme", "rollback").status, 200)
        self.assertEqual(self.of("acme")["text"], OTHER)
        self.assertEqual(self.call("acme", "rollback").status, 200)
        self.assertEqual(self.of("acme")["text"], ACME)

    def test_the_operators_trial_takes_nothing_of_a_tenants_along(self):
        self.box.put_rules(OPERATORS.replace("ttl eq 1", "ttl eq 2"), "?confirm=1h")
        self.put("acme", ACME)
        self.assertEqual(self.box.ask("POST", "/v1/rollback").status, 200)
        self.assertEqual((self.source(), self.ids()), (OPERATORS, ["own", "acme:flood"]))
        self.restart()
        self.assertEqual((self.source(), self.ids()), (OPERATORS, ["own", "acme:flood"]))


class StandingAside(Case):
    def test_the_operators_change_wins_and_health_says_so(self):
        self.put("acme", ACME)
        self.put("zeta", ZETA)
        gone = CONFIG.replace("  - {name: acme, networks: [198.51.100.0/24], table_share: 10%, rules: 3, text: 2KiB}\n", "")
        with_acme = self.running()
        self.restart(gone)
        wait_until("the set without acme", lambda: self.ids() == ["own", "zeta:flood"])
        wait_until("the dataplane to run it", lambda: self.running() != with_acme)
        self.assertEqual(list(self.aside()), ["acme"])
        self.assertIn("acme stand aside: sluice.yaml has no such tenant", self.ctl("health"))
        self.assertEqual(self.box.get("/v1/tenants").json()["gone"], ["acme"])
        self.assertIn("`sluicectl tenant forget acme`", self.ctl("tenant", "list"))
        self.restart()
        wait_until("acme's rules", lambda: self.ids() == ["own", "acme:flood", "zeta:flood"])
        small = CONFIG.replace("198.51.100.0/24", "198.51.100.0/28").replace("text: 2KiB", "text: 256B")
        self.put("acme", ACME + "#" * 300)
        self.restart(small)
        wait_until("the set without acme", lambda: self.ids() == ["own", "zeta:flood"])
        self.assertIn("bytes", self.aside()["acme"])
        self.assertEqual(self.box.put_rules(OPERATORS.replace("ttl eq 1", "ttl eq 2")).status, 200)
        self.assertEqual(self.put("acme", ACME).status, 200)
        self.assertEqual((self.ids(), self.aside()), (["own", "acme:flood", "zeta:flood"], {}))


    def test_rules_of_a_tenant_that_is_gone_are_forgotten_on_demand(self):
        self.put("acme", ACME)
        self.put("zeta", ZETA)
        self.assertEqual(self.box.ask("POST", "/v1/rules/acme:flood/bans", b'{"keys":["192.0.2.9"]}').status, 200)
        still = self.box.ask("DELETE", "/v1/tenants/acme")
        self.assertEqual((still.status, self.ids()), (409, ["own", "acme:flood", "zeta:flood"]), still.text)
        gone = CONFIG.replace("  - {name: acme, networks: [198.51.100.0/24], table_share: 10%, rules: 3, text: 2KiB}\n", "")
        self.restart(gone)
        wait_until("the set without acme", lambda: self.ids() == ["own", "zeta:flood"])
        self.assertEqual(self.ctl("tenant", "forget", "acme"), "the rules of acme are forgotten\n")
        self.assertEqual((self.ids(), self.aside(), self.box.get("/v1/tenants").json()["gone"]), (["own", "zeta:flood"], {}, []))
        self.assertEqual(self.box.ask("DELETE", "/v1/tenants/acme").status, 404)
        self.restart()
        wait_until("the set of the tenants", lambda: self.ids() == ["own", "zeta:flood"])
        self.put("acme", ACME)
        self.assertEqual(self.box.get("/v1/bans").json()["bans"], [])


class Commands(Case):
    def test_what_is_set_of_a_tenants_rule_is_no_change_of_the_operators_set(self):
        self.put("acme", ACME)
        before = self.box.get("/v1/history").json()["in_force"]
        time.sleep(1.1)  # instants of changes are told in seconds
        self.assertEqual(self.box.ask("POST", "/v1/rules/acme%3Aflood/key", json.dumps({"key": "192.0.2.1", "action": "ban"})).status, 200)
        self.assertEqual(self.box.put_mode("acme%3Aflood", "monitor").status, 200)
        after = self.box.get("/v1/history").json()["in_force"]
        self.assertEqual({key: after[key] for key in ("at", "by")}, {key: before[key] for key in ("at", "by")})

    def test_a_tenants_rule_is_no_rule_of_the_operators_file(self):
        self.put("acme", ACME)
        for method, target in (("DELETE", "/v1/rules/acme%3Aflood"), ("PUT", "/v1/rules/acme%3Aflood")):
            refused = self.box.ask(method, target, "- {id: flood, mode: enforce, on_match: drop}\n")
            self.assertIn(refused.status, (404, 422))
            if refused.status == 404:
                self.assertIn("sluicectl tenant", refused.json()["detail"])

    def test_warnings_of_a_tenants_text_are_its_own(self):
        warned = self.put("acme", ACME.replace("rules:", "limits: {spare: {algorithm: token_bucket, rate: 1/s, burst: 1}}\nrules:"))
        self.assertEqual(warned.status, 200, warned.text)
        self.assertIn("spare", json.dumps(warned.json()["warnings"]))
        told = self.box.ask("PUT", "/v1/rules?strict=1", OPERATORS)
        self.assertEqual((told.status, told.json().get("warnings", [])), (200, []), told.text)

    def test_sluicectl(self):
        rules = self.write("acme.yaml", ACME)
        self.assertIn("ok", self.ctl("check", "--config", self.config, "--tenant", "acme", rules))
        bad = self.write("bad.yaml", ACME + "bypass: []\n")
        self.assertIn("bad.yaml:9:1: error: `bypass` is not for tenants",
                      self.ctl("check", "--config", self.config, "--tenant", "acme", bad, exit=1))
        self.assertIn("did you mean `acme`", self.ctl("check", "--config", self.config, "--tenant", "acne", rules, exit=1))
        self.assertIn("1 rule added", self.ctl("tenant", "diff", "acme", rules))
        self.assertEqual(self.ctl("tenant", "apply", "acme", rules), "acme: 1 rule\n")
        self.assertIn("bad.yaml:9:1", self.ctl("tenant", "apply", "acme", bad, exit=1))
        self.assertEqual(self.ctl("tenant", "show", "acme", "--source"), ACME)
        self.assertIn("acme:flood", self.ctl("tenant", "show", "acme"))
        self.assertIn("zeta", self.ctl("tenant", "list"))
        self.ctl("tenant", "apply", "acme", self.write("other.yaml", OTHER), "--confirm", "1h")
        self.assertIn("on trial", self.ctl("tenant", "list"))
        self.ctl("tenant", "confirm", "acme")
        self.ctl("tenant", "rollback", "acme")
        self.assertEqual(json.loads(self.ctl("--json", "tenant", "show", "acme"))["text"], ACME)
        self.assertIn("NAME", self.ctl("tenant", "show", exit=2))
        self.assertIn("FILE", self.ctl("tenant", "apply", "acme", exit=2))
        self.assertIn("no such tenant", self.ctl("tenant", "show", "nobody", exit=1))


class WithoutOperator(unittest.TestCase):
    def test_a_tenant_alone_has_no_box(self):
        box = DaemonBox(*PROGRAMS)
        self.addCleanup(box.close)
        (box.folder / "sluice.yaml").write_text(CONFIG)
        box.start_dataplane()
        box.start_sluiced("--config", box.folder / "sluice.yaml")
        wait_until("the connection", box.connected)
        self.assertEqual(box.ask("PUT", "/v1/tenants/acme/rules", ACME).status, 409)


if __name__ == "__main__":
    PROGRAMS = [os.path.abspath(path) for path in sys.argv[1:4]]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
