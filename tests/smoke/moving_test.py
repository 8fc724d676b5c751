"""Reloads that bring the packets of a key to other workers: a client gets no second burst.

    moving_test.py DATAPLANE SLUICED SLUICECTL
"""
import collections
import threading
import time

import workers_case
from numbered_frames import Sending, send_numbered
from programs import wait_until

SOURCES = 20
BURST = 50
WORKERS = 4
# What merged workers may be ahead of each other by, once in all: (workers - 1) * max_unsynced, which is 2 for so small a burst.
AHEAD = (WORKERS - 1) * 2

HOLD = f"""version: 1
defaults: {{mode: enforce}}
rules:
  - {{id: hold, when: 'dir eq "in" and ip.proto eq 17', key: [ip.src], limits: [{{algorithm: token_bucket, rate: 1/d, burst: {BURST}}}]}}
"""
# Of keys that may have numbers of their own packets are handed over; another rule's keys are none of its own.
OWN = HOLD.replace("limits:", "overrides: {inline: [{key: 192.0.2.1, exempt: true}]}, limits:").replace(
    'dir eq "in" and ', "")
LOG = "limits: [{algorithm: sliding_log, count: 60000, window: 1h}]"
RULES = {
    "local": HOLD,
    "owner": OWN + f"  - {{id: host, when: ip.proto eq 17, key: [ip.dst], {LOG}}}\n",
    "merged": HOLD + f"""  - {{id: host, when: 'dir eq "in" and l4.dport eq 7', key: [ip.dst], {LOG}}}\n""",
}


class Case(workers_case.WorkersCase):
    def apply_scope(self, scope):
        self.apply(RULES[scope])
        self.assertEqual(self.scopes()["hold"], scope)

    def promised(self):
        merged = self.box.stats()["rules"][0].get("merged") or {}
        return merged.get("promised_overshoot")

    def passed(self, count=30):
        """How many frames came through, by source, once the box has judged all of them."""
        before = self.box.stats()["packets"]

        def all_judged():
            wait_until("all frames to be judged", lambda: self.box.stats()["packets"] - before >= count * SOURCES)
        return self.came(count, all_judged)

    def came(self, count, wait_for_all=lambda: None):
        by_source = collections.Counter()
        for (source, _), numbers in send_numbered(self.hosts, Sending(count, SOURCES, 3000), wait_for_all).items():
            by_source[source] += len(numbers)
        return by_source

    def test_an_exhausted_client_gets_nothing(self):
        self.start()
        self.apply_scope("local")
        self.assertEqual(self.passed(2 * BURST), {source: BURST for source in range(SOURCES)})
        ahead = 0
        for scope in ("owner", "local", "merged", "owner", "merged", "local"):
            with self.subTest(scope):
                self.apply_scope(scope)
                if scope == "merged":
                    ahead = AHEAD
                    wait_until("so much to be promised", lambda: self.promised() == AHEAD)
                self.assertLessEqual(max(self.passed().values(), default=0), ahead)
        self.assertGreater(self.box.stats()["state"]["moved_debts"], SOURCES)
        self.box.kill(self.box.dataplane)
        self.start_dataplane()
        self.box.wait_for_link(True)
        self.assertEqual(self.passed(), {})
        self.apply_scope("owner")
        self.assertEqual(self.passed(), {})

    def test_bans_hold_at_another_number_of_workers(self):
        """Packets of a key come to another worker than the one that has banned it, whose tables are an earlier process's."""
        self.start()
        self.apply(HOLD.replace("limits:", "ban: {after: 20, within: 10m, for: 1h}, limits:"))
        self.assertEqual(self.scopes()["hold"], "local")
        self.assertEqual(self.passed(BURST + 50), {source: BURST for source in range(SOURCES)})
        for lcores in ("0@0,1@1", self.LCORES):
            with self.subTest(lcores):
                self.box.kill(self.box.dataplane)
                self.start_dataplane({"workers": {"lcores": lcores}})
                self.box.wait_for_link(True)
                before = self.reasons()
                self.assertEqual(self.passed(), {})
                after = self.reasons()
                self.assertEqual(after["banned"] - before["banned"], 30 * SOURCES)
                self.assertEqual(self.box.stats()["rules"][0].get("bans", 0), 0)

    def test_a_key_that_is_banned_by_hand_is_banned_at_every_worker(self):
        self.start()
        # A bucket for all hosts of a source's network, spent by every worker.
        self.apply(HOLD.replace("[ip.src]", '["prefix(ip.src, 16|48)"]').replace(f"burst: {BURST}", "burst: 400"))
        self.assertEqual(self.scopes()["hold"], "merged")
        self.assertEqual(len(self.passed(5)), SOURCES)
        done = self.box.ctl("key", "ban", "hold", "10.78.0.0/16", "--for", "1h")
        self.assertEqual(done.returncode, 0, done.stderr)
        # A worker that was in the middle of a turn ends it under the old rules.
        self.assertLessEqual(self.pass_until_banned(), 5 * SOURCES)
        done = self.box.ctl("key", "unban", "hold", "10.78.0.0/16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.passed(10)), SOURCES)

    def pass_until_banned(self):
        """How many frames came through until every worker had heard of the ban, which is late where it has no core."""
        passed = 0

        def is_banned_everywhere():
            nonlocal passed
            before = self.reasons()["banned"]
            came = sum(self.passed(5).values())
            passed += came
            return came == 0 and self.reasons()["banned"] - before == 5 * SOURCES
        wait_until("all of it to be banned at every worker", is_banned_everywhere)
        return passed

    def test_refusals_at_all_workers_together_are_a_ban(self):
        self.start()
        self.apply(HOLD.replace("[ip.src]", '["prefix(ip.src, 16|48)"]').replace(
            "limits:", "ban: {after: 100, within: 10m, for: 1h}, limits:"))
        self.assertEqual(self.scopes()["hold"], "merged")
        passed = sum(self.passed(20).values())
        # A worker that has not heard of the others' amounts yet may still admit what is promised.
        self.assertLessEqual(passed + self.pass_until_banned(), BURST + AHEAD)

    def test_scopes_that_change_under_a_flood(self):
        self.start()
        self.apply_scope("local")
        over = threading.Event()

        def change():
            while not over.is_set():
                for scope in ("owner", "merged", "local"):
                    self.box.apply(RULES[scope])
                    time.sleep(0.05)

        changing = threading.Thread(target=change)
        changing.start()
        try:
            passed = self.came(600)
        finally:
            over.set()
            changing.join()
        self.assertEqual(len(passed), SOURCES)
        for source, count in passed.items():
            self.assertLessEqual(count, BURST + AHEAD, source)
            self.assertGreaterEqual(count, BURST - AHEAD, source)
        wait_until("keys to have moved", lambda: self.box.stats()["state"]["moved_debts"] > SOURCES)


if __name__ == "__main__":
    workers_case.main()
