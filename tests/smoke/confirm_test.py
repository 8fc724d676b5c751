"""Rules on trial: apply --confirm, confirm and rollback with the real dataplane, and kills in between.

    confirm_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import socket
import struct
import subprocess
import time

from box_case import NULL, QUIET, BoxCase, main
from programs import dice, wait_until
from stand_ins import VERSION, receive, send

# Five hundred packets a day are soon spent: whoever refills the bucket is seen.
OLD = """version: 1
rules:
  - {id: few, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/d, burst: 500}]}
"""
NEW = OLD + "  - {id: more, mode: monitor, on_match: drop}\n"
NEWER = OLD + "  - {id: most, mode: monitor, on_match: drop}\n"


class Case(BoxCase):
    PORTS = QUIET  # only UnderTraffic needs frames

    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*self.PORTS)
        self.box.start_sluiced()

    def apply(self, rules, *more):
        done = self.box.apply(rules, "--json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def ctl(self, *words, exit=0):
        done = self.box.ctl(*words)
        self.assertEqual(done.returncode, exit, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def begin(self, time):
        """OLD is kept, NEW on trial."""
        self.old = self.apply(OLD)["generation"]
        self.wait_until_kept(self.old)
        self.new = self.apply(NEW, "--confirm", time)["generation"]
        self.assertNotEqual(self.old, self.new)

    def in_dataplane(self):
        """What the dataplane runs, asked past sluiced."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(self.box.dataplane_socket)
            send(client, b"\0" + struct.pack("<II", VERSION, 4) + b"test" + bytes(4))
            return f"{struct.unpack('<IIQ', receive(client)[1:17])[2]:016x}"

    def wait_until_kept(self, generation):
        """By the dataplane, for its next start: at once, or as soon as a worker has run it."""
        kept, number = self.box.folder / "state" / "ruleset.bin", int(generation, 16).to_bytes(8, "little")
        wait_until(f"the dataplane to keep {generation}", lambda: kept.exists() and number in kept.read_bytes())

    def rules(self):
        return json.loads(self.box.api("GET", "/v1/rules")[1])

    def on_disk(self):
        return f"{json.loads(self.box.log('policy/rules.json'))['generation']:016x}"

    def audit(self):
        return [json.loads(line) for line in self.box.log("policy/audit.log").splitlines()]

    def expect_trial(self):
        self.assertEqual(self.in_dataplane(), self.new)
        self.assertEqual(self.on_disk(), self.old)
        for shown in (self.box.stats(), self.rules()):
            self.assertEqual(shown["generation"], self.new)
            self.assertEqual(shown["unconfirmed"]["goes_back_to"], self.old)

    def expect_kept(self, generation):
        self.assertEqual(self.in_dataplane(), generation)
        self.assertEqual(self.on_disk(), generation)
        for shown in (self.box.stats(), self.rules()):
            self.assertEqual((shown["generation"], shown["unconfirmed"]), (generation, None))
        self.assertFalse((self.box.folder / "policy" / "rules.unconfirmed.json").exists())

    def wait_for(self, generation, seconds=20):
        """Until the box holds this generation for good."""
        def holds():
            shown = self.box.stats() or {}
            return (self.in_dataplane(), shown.get("generation"), shown.get("unconfirmed")) == (
                generation, generation, None)
        wait_until(f"generation {generation}", holds, seconds)


class Trial(Case):
    def test_confirmed_in_time_it_stays(self):
        self.begin("60s")
        self.expect_trial()
        left = self.box.stats()["unconfirmed"]
        self.assertEqual(list(left), ["seconds_left", "until", "goes_back_to"])
        self.assertTrue(40 < left["seconds_left"] <= 60, left)
        self.assertRegex(left["until"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        for command in ("stats", "rules"):
            self.assertIn(f"UNCONFIRMED: generation {self.old} comes back in ", self.ctl(command))
        self.assertIn(f"confirmed generation {self.new}, 2 rules", self.ctl("confirm"))
        self.expect_kept(self.new)
        self.assertNotIn("UNCONFIRMED", self.ctl("stats"))
        self.assertIn("nothing to confirm", self.ctl("confirm", exit=1))
        self.wait_until_kept(self.new)
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*self.PORTS)
        self.assertEqual(self.in_dataplane(), self.new, "it is kept there too")
        self.box.start_sluiced()
        self.expect_kept(self.new)

    def test_a_newer_one_goes_back_to_what_was_kept(self):
        self.begin("60s")
        self.new = self.apply(NEWER, "--confirm", "2s")["generation"]
        self.expect_trial()
        self.wait_for(self.old)
        self.expect_kept(self.old)

    def test_a_file_to_stay_ends_it(self):
        self.begin("2s")
        stays = self.apply(NEWER)["generation"]
        self.expect_kept(stays)
        time.sleep(3)
        self.expect_kept(stays)

    def test_rollback_ends_it_now(self):
        self.begin("60s")
        self.assertIn(f"back to generation {self.old}, 1 rule", self.ctl("rollback"))
        self.expect_kept(self.old)

    def test_times_that_are_refused(self):
        self.old = self.apply(OLD)["generation"]
        path = str(self.box.folder / "rules.yaml")
        for word, says in (("", "duration"), ("soon", "duration"), ("60", "duration"), ("-1s", ""),
                           ("0s", "1s to 1d"), ("999ms", "1s to 1d"), ("25h", "1s to 1d"),
                           ("99999999999999999999s", "")):
            self.assertIn(says if word else "TIME missing",
                          self.ctl("apply", path, f"--confirm={word}", exit=2))
            status, text = self.box.api("PUT", f"/v1/rules?confirm={word}", NEW)
            self.assertEqual(status, 400, word)
            self.assertIn(says, text.decode())
        self.expect_kept(self.old)
        for good in ("1s", "1d", "24h", "5m"):
            self.assertEqual(self.box.api("PUT", f"/v1/rules?confirm={good}", NEW)[0], 200, good)

    def test_a_dataplane_that_died_comes_back_with_the_old_set(self):
        self.begin("60s")
        self.box.kill(self.box.dataplane)
        wait_until("sluiced to notice", lambda: self.box.api("GET", "/v1/stats")[0] == 503)
        self.assertIn("no dataplane", self.ctl("confirm", exit=3))
        self.box.start_dataplane(*self.PORTS)
        self.assertEqual(self.in_dataplane(), self.old)
        self.wait_for(self.old)
        self.expect_kept(self.old)
        self.assertEqual(self.audit()[-1]["call"], "revert")


class UnderTraffic(Case):
    PORTS = NULL

    def test_not_confirmed_it_goes_and_the_buckets_stay(self):
        self.old = self.apply(OLD)["generation"]
        wait_until("the bucket to be empty", lambda: self.box.stats()["rules"][0]["exceeded"] > 0)
        admitted = self.box.stats()["rules"][0]["admitted"]
        self.new = self.apply(NEW, "--confirm", "2s")["generation"]
        self.expect_trial()
        self.wait_for(self.old)
        self.expect_kept(self.old)
        few = self.box.stats()["rules"][0]
        wait_until("more packets", lambda: self.box.stats()["rules"][0]["exceeded"]
                   > few["exceeded"] + 1000)
        self.assertEqual(self.box.stats()["rules"][0]["admitted"], admitted)
        entry = self.audit()[-1]
        self.assertEqual((entry["call"], entry["before"], entry["after"], entry["pid"]),
                         ("revert", self.new, self.old, self.box.sluiced.pid))
        self.assertEqual(entry["outcome"], "done: it was not confirmed in time")
        metrics = self.box.api("GET", "/v1/metrics")[1].decode()
        self.assertIn("\nsluice_rules_reverts_total 1\n", metrics)


class Kills(Case):
    def setUp(self):
        super().setUp()
        self.dice = dice("instants of kills")

    def test_back_before_the_deadline_it_waits_for_the_rest(self):
        self.begin("20s")
        begun = time.monotonic()
        self.box.kill(self.box.sluiced)
        time.sleep(1)
        self.box.start_sluiced()
        self.expect_trial()
        gone = time.monotonic() - begun
        self.assertLess(self.box.stats()["unconfirmed"]["seconds_left"], 20.1 - gone)
        self.wait_for(self.old, 40)
        self.expect_kept(self.old)

    def test_back_before_the_deadline_it_can_be_confirmed(self):
        self.begin("60s")
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced()
        self.ctl("confirm")
        self.expect_kept(self.new)

    def test_back_after_the_deadline_it_goes_at_once(self):
        self.begin("5s")
        self.box.kill(self.box.sluiced)
        time.sleep(6)
        self.assertEqual(self.in_dataplane(), self.new, "without sluiced the dataplane goes on")
        self.box.start_sluiced()
        self.expect_kept(self.old)

    def test_nobody_is_left_and_the_dataplane_starts_with_the_old_set(self):
        self.begin("60s")
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*self.PORTS)
        self.assertEqual(self.in_dataplane(), self.old)
        self.box.start_sluiced()
        self.expect_kept(self.old)

    def test_a_damaged_file_is_kept_aside_and_the_old_set_loaded(self):
        for size in (0, 1, 200):
            self.begin("60s")
            self.box.kill(self.box.sluiced)
            path = self.box.folder / "policy" / "rules.unconfirmed.json"
            path.write_bytes(path.read_bytes()[:size])
            self.box.start_sluiced()
            self.expect_kept(self.old)
            aside = list(path.parent.glob(path.name + ".bad-*"))
            self.assertEqual([one.stat().st_size for one in aside], [size])
            self.assertIn(str(aside[0]), self.box.log("sluiced.log"))
            aside[0].unlink()

    def at_any_instant(self, *words):
        """Kills sluiced while the command runs, and starts it again."""
        command = subprocess.Popen([self.box.sluicectl, "--socket", self.box.api_socket, *words],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.box.running.append(command)
        time.sleep(self.dice.uniform(0, 0.04))
        self.box.kill(self.box.sluiced)
        done = command.wait(20) == 0
        self.box.start_sluiced()
        return done

    def test_killed_at_any_instant_of_an_apply(self):
        self.old = self.apply(OLD)["generation"]
        (self.box.folder / "new.yaml").write_text(NEW)
        for _ in range(8):
            self.at_any_instant("apply", str(self.box.folder / "new.yaml"), "--confirm", "1s")
            self.wait_for(self.old)
            self.expect_kept(self.old)

    def test_killed_at_any_instant_of_a_confirm(self):
        for _ in range(8):
            self.begin("3s")
            kept = self.at_any_instant("confirm")
            wait_until("the end of the trial", lambda: not self.rules()["unconfirmed"], 20)
            shown = self.rules()["generation"]
            self.assertIn(shown, (self.new,) if kept else (self.new, self.old))
            self.expect_kept(shown)


class Rollback(Case):
    def test_set_by_set_over_restarts(self):
        sets = [self.apply(rules)["generation"] for rules in (OLD, NEW, NEWER)]
        self.ctl("rollback")
        self.expect_kept(sets[1])
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced()
        answer = json.loads(self.ctl("rollback", "--json"))
        self.assertEqual(list(answer), ["generation", "rules", "warnings", "unconfirmed", "panic"])
        self.assertEqual((answer["generation"], answer["rules"]), (sets[0], 1))
        self.expect_kept(sets[0])
        self.assertIn("no earlier rules", self.ctl("rollback", exit=1))
        calls = [(entry["call"], entry["before"], entry["after"], entry["outcome"][:7])
                 for entry in self.audit()[3:]]
        self.assertEqual(calls, [("rollback", sets[2], sets[1], "done"),
                                 ("rollback", sets[1], sets[0], "done"),
                                 ("rollback", sets[0], sets[0], "refused")])

    def test_a_damaged_step_is_kept_aside(self):
        sets = [self.apply(rules)["generation"] for rules in (OLD, NEW, NEWER)]
        newest = max((self.box.folder / "policy" / "history").iterdir())
        newest.write_bytes(newest.read_bytes()[:100])
        self.assertIn(f"kept as {newest}.bad-", self.ctl("rollback", exit=1))
        self.expect_kept(sets[2])
        self.ctl("rollback")
        self.expect_kept(sets[0])


if __name__ == "__main__":
    main()
