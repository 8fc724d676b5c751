"""What keys owe when a limit is lowered, and that an operator alone forgives it, with the real programs.

    forgive_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import time

from box_case import NULL, BoxCase, main
from programs import wait_until

HIGH = "{algorithm: token_bucket, rate: 10/s, burst: 5000}"
LOW = "{algorithm: token_bucket, rate: 1/s, burst: 10}"
# The frames of net_null are no IP: each pair and direction is a key, and one direction floods.
RULES = """version: 1
rules:
  - id: flood
    mode: enforce
    key: [port, dir]
    dynamic: {{source: api, ttl: 1h, floor: 1/s, ceiling: 10K/s}}
    limits: [{limit}]
"""
KEY = "lab|in"


class Case(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()

    def use(self, limit, *words):
        """Numbers that have changed too often are to be tried again in a second."""
        def taken():
            done = self.box.apply(RULES.format(limit=limit), *words)
            self.assertTrue(done.returncode == 0 or "too often" in done.stderr, done.stderr)
            return done.returncode == 0
        wait_until("the rules to be taken", taken)

    def rule(self):
        return self.box.stats()["rules"][0]

    def forgiven(self):
        return self.box.stats()["table"]["debts_forgiven"]

    def events(self):
        """What was forgiven: of a key, and of all."""
        done = self.box.ctl("events", "--rule", "flood")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        rows = [row for row in rows if row["event"] == "debts_forgiven"]
        return [row for row in rows if "key" in row], [row for row in rows if "key" not in row]

    def flood(self):
        self.use(HIGH)
        wait_until("the flood to be refused", lambda: self.rule()["exceeded"] > 10000)

    def shown(self):
        """The bucket of the flood that owes most, once all workers have answered."""
        found = []

        def answered():
            for direction in ("in", "out"):
                done = self.box.ctl("key", "show", "flood", f"lab|{direction}", "--json")
                document = json.loads(done.stdout or '{"unanswered": [1]}')
                if document["unanswered"]:
                    return False
                found.extend((bucket["wait_ns"], f"lab|{direction}")
                             for limit in document["limits"] for bucket in limit["workers"])
            return True
        wait_until("all workers to answer", answered)
        return max(found)

    def seconds(self):
        return self.shown()[0] / 1e9

    def diff(self, limit):
        path = self.box.folder / "next.yaml"
        path.write_text(RULES.format(limit=limit))
        done = self.box.ctl("diff", str(path))
        self.assertEqual(done.returncode, 0, done.stderr)
        as_json = json.loads(self.box.ctl("diff", "--json", str(path)).stdout)
        return done.stdout, as_json["changed"][0]["limits"][0]["owing"]


class Lowered(Case):
    def test_active_keys_wait_until_an_operator_forgives(self):
        self.flood()
        text, owing = self.diff(LOW)
        self.assertIn("owe", text)
        self.assertIn("apply --forgive", text)
        self.assertTrue(owing["whole"])
        self.assertGreaterEqual(owing["keys"], 1)
        # 4990 units and one more, at one a second.
        self.assertGreater(owing["seconds"], 4900)
        self.assertLessEqual(owing["seconds"], 4991)
        self.use(LOW)
        self.assertGreater(self.seconds(), 4000)
        self.assertEqual(self.forgiven(), 0)
        self.use(LOW, "--forgive")
        self.assertLessEqual(self.seconds(), 1)
        self.assertGreaterEqual(self.forgiven(), 1)
        wait_until("the event", lambda: sum(row["debts"] for row in self.events()[1]) == self.forgiven())
        self.assertEqual(self.events()[0], [])
        admitted = self.rule()["admitted"]
        wait_until("the key to be admitted again", lambda: self.rule()["admitted"] > admitted)
        self.assertIn('sluice_table_events_total{event="debts_forgiven"}', self.box.api("GET", "/v1/metrics")[1].decode())
        self.assertIn("apply --forgive", self.box.log("policy/audit.log"))

    def test_the_same_numbers_again_forgive_nothing(self):
        self.flood()
        self.use(LOW, "--forgive")
        self.assertLessEqual(self.seconds(), 1)
        forgiven, before, began = self.forgiven(), self.rule()["admitted"], time.monotonic()
        for _ in range(10):
            self.use(LOW, "--forgive")
        admitted = self.rule()["admitted"] - before
        # Two directions, at one a second each.
        self.assertLessEqual(admitted, 2 * (time.monotonic() - began + 2))
        self.assertEqual(self.forgiven(), forgiven)

    def test_it_is_forgiven_once_over_a_kill(self):
        self.flood()
        self.use(LOW, "--forgive")
        self.assertLessEqual(self.seconds(), 1)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        wait_until("sluiced to be back", lambda: (self.box.stats() or {}).get("rules"))
        began = time.monotonic()
        first = self.rule()["admitted"]
        wait_until("the flood to be refused", lambda: self.rule()["exceeded"] > 10000)
        self.assertLessEqual(self.seconds(), 1)
        admitted = self.rule()["admitted"] - first
        self.assertLessEqual(admitted, 2 * (10 + time.monotonic() - began + 2))

    def test_a_trial_forgives_once_it_is_confirmed(self):
        self.flood()
        self.assertGreater(self.shown()[0], 0)
        self.use(LOW, "--forgive", "--confirm", "60s")
        self.assertGreater(self.seconds(), 4000)
        self.assertEqual(self.forgiven(), 0)
        self.box.kill(self.box.sluiced)  # what was asked for outlasts it
        self.box.start_sluiced()
        wait_until("the trial to go on", lambda: (self.box.stats() or {}).get("unconfirmed"))
        done = self.box.ctl("confirm")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertLessEqual(self.seconds(), 1)
        forgiven = self.forgiven()
        self.assertGreaterEqual(forgiven, 1)
        # Once for each key and change: also where it is tried and confirmed again.
        self.use(LOW, "--forgive", "--confirm", "60s")
        self.assertEqual(self.box.ctl("confirm").returncode, 0)
        self.assertEqual(self.forgiven(), forgiven)

    def test_one_key_alone(self):
        self.flood()
        self.use(LOW)
        wait, key = self.shown()
        self.assertGreater(wait, 4000 * 10 ** 9)
        done = self.box.ctl("key", "reset", "flood", key, "--to-burst")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = json.loads(self.box.ctl("key", "show", "flood", key, "--json").stdout)
        for limit in document["limits"]:
            for bucket in limit["workers"]:
                self.assertLessEqual(bucket["wait_ns"], 10 ** 9)
        self.assertEqual(self.forgiven(), 1)
        rows, others = self.events()
        self.assertEqual([(row["rule"], row["key"], row["debts"]) for row in rows], [("flood", key, 1)])
        self.assertEqual(others, [])
        done = self.box.ctl("key", "show", "flood", key, "--to-burst")
        self.assertEqual(done.returncode, 2)


class Toggled(Case):
    """A hundred times low and high admit one burst and the rate's share, of each direction."""

    def expect_one_burst_of(self, toggle):
        self.use(HIGH)
        began = time.monotonic()
        first = self.rule()["admitted"]
        for _ in range(100):
            toggle()
        admitted = self.rule()["admitted"]
        seconds = time.monotonic() - began
        self.assertLessEqual(admitted - first, 2 * (5000 + 10 * (seconds + 2)))
        self.assertEqual(self.forgiven(), 0)

    def test_by_reload(self):
        def toggle():
            self.use(LOW)
            self.use(HIGH)
        self.expect_one_burst_of(toggle)

    def test_by_trials_that_nobody_confirms(self):
        def toggle():
            self.use(LOW, "--forgive", "--confirm", "60s")
            done = self.box.ctl("rollback")
            self.assertTrue(done.returncode == 0 or "too often" in done.stderr, done.stderr)
            wait_until("the trial to end", lambda: self.box.stats()["unconfirmed"] is None
                       or self.box.ctl("rollback").returncode == 0)
        self.expect_one_burst_of(toggle)

    def test_by_dynamic(self):
        def toggle():
            for key in ("lab|in", "lab|out"):
                self.set_key(key, "set", "--rate", "1/s", "--for", "1h")
            for key in ("lab|in", "lab|out"):
                self.set_key(key, "unset")
        self.expect_one_burst_of(toggle)

    def set_key(self, key, word, *more):
        def taken():
            done = self.box.ctl("key", word, "flood", key, *more)
            self.assertTrue(done.returncode == 0 or "too often" in done.stderr, done.stderr)
            return done.returncode == 0
        wait_until("the key to be set", taken)


if __name__ == "__main__":
    main()
