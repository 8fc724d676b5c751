"""What survives a dataplane that is killed: a client gets no second burst.

    state_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import mmap
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

from box_case import NULL, QUIET, BoxCase, HostsCase, main
from box_file import merged, pair
from programs import PATIENCE, wait_until



def rules(limits, key="port, dir", when="", more=""):
    when = f"    when: {when}\n" if when else ""
    return (f"version: 1\nrules:\n  - id: flood\n    mode: enforce\n{when}    key: [{key}]\n"
            f"    limits: [{limits}]\n{more}")


LIMITS = {
    "token-bucket": "{algorithm: token_bucket, rate: 1/d, burst: 500}",
    "fixed-window": "{algorithm: fixed_window, count: 500, window: 20d, phase: first}",
    # As long as any, so that one ends during this test on one midnight in a year.
    "day-window": "{algorithm: fixed_window, count: 500, window: 366d, zone: Asia/Kathmandu}",
    "sliding-window": "{algorithm: sliding_window, count: 500, window: 20d}",
    "sub-windows": "{algorithm: sliding_counters, count: 500, window: 20d, buckets: 8}",
    "log": "{algorithm: sliding_log, count: 500, window: 20d}",
}


# A rule for each algorithm, and each rule has a pair of ports of its own.
EACH = "version: 1\nrules:\n" + "".join(
    f"  - {{id: {name}, mode: enforce, when: 'port eq \"{name}\"', key: [port, dir], "
    f"limits: [{limit}]}}\n" for name, limit in LIMITS.items())


def pairs(**more):
    """The ports of EACH, with `more` that is to be said of each outside one."""
    ports = [pair(*(f"net_null{2 * number + side},size=64,copy=1" for side in (0, 1)), name=name)
             for number, name in enumerate(LIMITS)]
    return {"ports": [merged(one, {"outside": more}) for one in ports]}


class Case(BoxCase):
    def setUp(self):
        super().setUp()
        self.state = self.box.folder / "state"

    def rules_in_force(self):
        """Where a kill came before the dataplane had kept them, sluiced brings them first."""
        return wait_until("rules in force", lambda: (self.box.stats() or {}).get("rules"))

    def rule(self):
        return self.rules_in_force()[0]

    def flood_until_refused(self, refused=10000):
        wait_until("the flood to be refused", lambda: self.rule()["exceeded"] > refused)
        return self.rule()

    def expect_of_each(self, admitted, refused=10000):
        """What every rule of EACH has admitted, once all of them have refused so much."""
        wait_until("all floods to be refused",
                   lambda: min(rule["exceeded"] for rule in self.rules_in_force()) > refused)
        self.assertEqual({rule["id"]: rule["admitted"] for rule in self.rules_in_force()},
                         dict.fromkeys(LIMITS, admitted))


class LongUp(Case):
    YEARS = {
        "window": "{algorithm: fixed_window, count: 500, window: 365d, phase: first}",
        "sliding window": "{algorithm: sliding_window, count: 500, window: 365d}",
        "token bucket": "{algorithm: token_bucket, rate: 1/d, burst: 500}",
    }

    def test_limits_of_a_year_hold_on_a_machine_that_is_up_for_years(self):
        self.box.start_dataplane(*NULL, uptime=1310)
        self.box.start_sluiced()
        for number, (name, limit) in enumerate(self.YEARS.items(), 1):
            with self.subTest(name):
                self.apply(rules(limit))
                rule = self.flood_until_refused(self.rule()["exceeded"] + 100_000)
                self.assertEqual(rule["admitted"], 1000 * number)
        self.apply(rules("{algorithm: token_bucket, rate: 1/d, burst: 500}",
                         more="    ban: {after: 10, within: 1h, for: 365d}\n"))
        wait_until("the flood to be banned", lambda: self.rule().get("banned", 0) > 100_000)
        rule = self.rule()
        self.assertEqual((rule["admitted"], rule["bans"]), (1000 * len(self.YEARS), 2))
        self.assertGreater(self.box.stats()["clock"]["instants_left_s"], 800 * 86_400)


class Killed(Case):
    """Ports that bring frames without end: the process is always in the middle of some."""

    def test_no_second_burst_whatever_the_algorithm(self):
        self.box.start_dataplane(*NULL, pairs())
        self.box.start_sluiced()
        self.apply(EACH)
        self.expect_of_each(1000)  # both directions
        for _ in range(4):
            self.box.kill(self.box.dataplane)
            self.box.start_dataplane(*NULL, pairs())
            self.box.wait_for_link(True)
            self.expect_of_each(0)

    def test_sluiced_dead_too(self):
        self.box.start_dataplane(*NULL)
        sluiced = self.box.start_sluiced()
        self.apply(rules(LIMITS["token-bucket"]))
        self.flood_until_refused()
        self.box.kill(sluiced)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.assertEqual(self.flood_until_refused()["admitted"], 0)

    def test_numbers_changed_in_between_keep_what_was_used(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules("{algorithm: token_bucket, rate: 1/d, burst: 500}"))
        self.flood_until_refused()
        self.apply(rules("{algorithm: token_bucket, rate: 1/d, burst: 700}"))
        changed = self.box.stats()["generation"]
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        wait_until("the changed numbers", lambda: (self.box.stats() or {}).get("generation") == changed)
        # 200 more for each direction, given before the kill or after it, and not twice.
        self.assertLessEqual(self.flood_until_refused(self.rule()["exceeded"] + 10000)["admitted"], 400)
        before = self.rule()["admitted"]
        self.apply(rules("{algorithm: token_bucket, rate: 1/d, burst: 800}"))
        wait_until("the rest", lambda: self.rule()["admitted"] == before + 200)

    def test_a_rule_that_left_is_still_owed_when_it_comes_back(self):
        text = rules(LIMITS["token-bucket"])
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(text)
        self.flood_until_refused()
        self.apply("version: 1\nrules: [{id: none, on_match: drop}]\n")
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        self.box.wait_for_link(True)
        self.apply(text)
        self.assertEqual(self.flood_until_refused()["admitted"], 0)

    def test_a_stop_keeps_as_much_as_a_kill(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules(LIMITS["token-bucket"]))
        self.flood_until_refused()
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.box.start_dataplane(*NULL)
        self.box.wait_for_link(True)
        self.assertEqual(self.flood_until_refused()["admitted"], 0)


def live_entries(tables, keys):
    """What another process sees that only reads: entries of the keys' table that still owe."""
    worker = next(path for path in tables.iterdir() if path.name.startswith("worker-0-"))
    lines = -(-keys * 100 // (94 * 4))
    begin = 4096 + (1 << 15) * 16
    now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    with open(worker, "rb") as file, \
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED) as memory:
        entries = struct.iter_unpack("<qQ", memory[begin:begin + lines * 64])
        return sum(1 for when, key in entries if (key >> 25) & 0x7FFF and when >> 6 > now)


class Reader(Case):
    def test_another_process_counts_while_the_worker_goes_on(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules(LIMITS["token-bucket"]))
        self.flood_until_refused()
        before = self.box.workers()[0]["bursts"]
        tables = pathlib.Path(os.path.realpath(self.state / "tables"))
        for _ in range(50):
            self.assertEqual(live_entries(tables, 4096), 2)  # one for each direction
        wait_until("the worker to go on", lambda: self.box.workers()[0]["bursts"] > before + 1000)
        self.assertEqual(self.rule()["admitted"], 1000)


MORE_KEYS = {"memory": {"tables": {"keys": 10000}}}
FEWER_KEYS = {"memory": {"tables": {"keys": 1000}}}
TWO_WORKERS = {"workers": {"lcores": "0@0,1@0,2@0"}}


class OtherShape(Case):
    """What keys owe is taken over from tables of another size, once."""

    def restart(self, config=None):
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL, config)
        self.box.wait_for_link(True)

    def test_another_size_and_number_of_workers(self):
        self.box.start_dataplane(*NULL, pairs())
        self.box.start_sluiced()
        self.apply(EACH)
        self.expect_of_each(1000)
        other_rss = pairs(rss="destination")
        for taken_over, config in enumerate(({**pairs(), **MORE_KEYS}, {**pairs(), **TWO_WORKERS}, pairs(), other_rss), 1):
            self.restart(config)
            self.expect_of_each(0)
            self.assertEqual(self.box.log("dataplane.log").count("have another size"), taken_over, config)
        self.restart(other_rss)
        self.expect_of_each(0)
        self.assertEqual(self.box.log("dataplane.log").count("have another size"), taken_over)

    def test_a_ban_goes_on(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules("{algorithm: token_bucket, rate: 100/s, burst: 10}",
                         more="    ban: {after: 50, within: 10s, for: 1d}\n"))
        wait_until("both bans", lambda: self.rule().get("bans") == 2)
        self.restart(MORE_KEYS)
        wait_until("the bans", lambda: self.box.stats()["reasons"]["banned"] > 1000)
        self.assertEqual(self.rule()["admitted"], 0)

    def listed(self, command, *words):
        done = self.box.ctl(command, *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)[command]

    def test_what_was_carried_over_is_listed(self):
        """Of a key that no packet has come of since, and of both sizes: larger and smaller."""
        limits = ", ".join(LIMITS[name] for name in ("token-bucket", "fixed-window", "sliding-window"))
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules(limits))
        self.flood_until_refused()
        self.apply(rules(limits, more="    ban: {after: 50, within: 10s, for: 1d}\n"))
        wait_until("both bans", lambda: self.rule().get("bans") == 2)
        for config in (MORE_KEYS, FEWER_KEYS):
            self.box.kill(self.box.dataplane)
            self.box.start_dataplane(*QUIET, config)
            self.rules_in_force()
            keys = self.listed("keys", "--rule", "flood")
            self.assertEqual([(key["carried"], key["remaining"], key["lcore"]) for key in keys], [(True, 0, None)] * 6)
            self.assertEqual(sorted(key["limit"] for key in keys), ["1", "1", "2", "2", "3", "3"])
            self.assertEqual([ban["source"] for ban in self.listed("bans")], ["penalty_box"] * 2)
            # As the key's own call has it.
            shown = json.loads(self.box.ctl("key", "show", "flood", "lab|in", "--json").stdout)
            self.assertTrue(shown["banned"])
            for limit in shown["limits"]:
                worker, = limit["workers"]
                self.assertEqual((worker["carried"], worker["remaining"]), (True, 0))
                self.assertTrue(0 < worker["wait_ns"] <= worker["fresh_ns"], worker)
                listed = [key["left_s"] for key in keys if key["limit"] == limit["name"]]
                self.assertTrue(any(abs(left - worker["fresh_ns"] / 1e9) < 600 for left in listed), (listed, worker))
            said = self.box.ctl("keys", "--rule", "flood").stdout
            self.assertIn("rule flood: 6 live buckets\n", said)
            self.assertIn("carried over", said)
            self.assertIn("carried over, taken up with its next packet",
                          self.box.ctl("key", "show", "flood", "lab|in").stdout)
        # What comes again is where it was taken over, and nowhere else.
        self.apply(rules(limits))
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        self.flood_until_refused()
        keys = self.listed("keys", "--rule", "flood")
        self.assertEqual([(key["carried"], key["remaining"], key["lcore"]) for key in keys], [(False, 0, 1)] * 6)

    def test_former_tables_go_when_nothing_is_owed_any_more(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules("{algorithm: token_bucket, rate: 100/s, burst: 100}"))
        self.flood_until_refused()
        self.restart(MORE_KEYS)
        wait_until("the former tables to go", lambda: "former tables are gone"
                   in self.box.log("dataplane.log"))
        names = sorted(path.name.split("-")[0] for path in (self.state / "tables").iterdir())
        self.assertEqual(names, ["connections", "header", "worker"])


class OtherSpread(Case):
    """A set with services is kept, and the box that starts with it brings their directions to different workers."""
    SERVICE = "version: 1\nservices:\n  - {{id: web, protocol: http, when: l4.dport eq 80, mode: enforce, path: {path}}}\nrules: []\n"
    SPLIT = {**TWO_WORKERS, "ports": [{"outside": {"rss": "source_prefix"}}]}

    def restarted(self, path):
        """-> the log of the second dataplane"""
        self.box.start_dataplane(*QUIET, TWO_WORKERS)
        self.box.start_sluiced()
        self.apply(self.SERVICE.format(path=path), "--force")
        generation = self.box.stats()["generation"]
        first = len(self.box.log("dataplane.log"))
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*QUIET, self.SPLIT)
        wait_until("its statistics", lambda: (self.box.stats() or {}).get("generation") == generation)
        return self.box.log("dataplane.log")[first:]

    def test_its_services_are_followed_one_way_and_the_log_says_it(self):
        log = self.restarted("both")
        self.assertIn("this box cannot follow `web`: outside of pair `lab` spreads by source_prefix", log)
        self.assertIn("until then its connections are followed by what clients send alone", log)
        # As check and apply say it of this box.
        refused = self.box.apply(self.SERVICE.format(path="both"), "--force")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("this box cannot follow `web`: outside of pair `lab` spreads by source_prefix", refused.stderr)

    def test_one_that_is_followed_one_way_already_needs_no_word(self):
        self.assertNotIn("cannot follow", self.restarted("inbound"))


class Reboot(Case):
    """What is in memory is gone; a snapshot was written beside the traffic."""

    def setUp(self):
        super().setUp()
        self.snapshot = self.box.folder / "snapshot"
        self.config = {"memory": {"tables": {"snapshot": {"file": self.snapshot, "every": "100ms"}}}}

    def run_and_lose_the_memory(self, number):
        self.box.start_dataplane(*NULL, self.config)
        self.box.start_sluiced()
        self.apply(rules(LIMITS["log"]))
        self.flood_until_refused()
        written = self.snapshot.stat().st_mtime_ns if self.snapshot.exists() else 0
        for _ in range(2):
            wait_until("a snapshot", lambda: self.snapshot.exists()
                       and self.snapshot.stat().st_mtime_ns > written)
            written = self.snapshot.stat().st_mtime_ns
        self.box.kill(self.box.dataplane, number)
        shutil.rmtree(os.path.realpath(self.state / "tables"))

    def start(self):
        self.box.start_dataplane(*NULL, self.config)
        self.box.wait_for_link(True)
        return self.flood_until_refused()["admitted"]

    def test_a_snapshot_is_taken_up(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(number):
                self.run_and_lose_the_memory(number)
                self.assertEqual(self.snapshot.stat().st_mode & 0o077, 0)
                self.assertEqual(self.start(), 0)
                self.assertIn("took up a snapshot", self.box.log("dataplane.log"))
                self.box.kill(self.box.sluiced)
                self.box.kill(self.box.dataplane)

    def test_a_broken_snapshot_is_kept_aside(self):
        self.run_and_lose_the_memory(signal.SIGKILL)
        self.snapshot.write_bytes(self.snapshot.read_bytes()[:-20])
        self.assertEqual(self.start(), 1000)
        self.assertIn("cannot be read; it is kept as", self.box.log("dataplane.log"))
        self.assertTrue((self.box.folder / "snapshot.bad").exists())

    def test_forget_removes_it_too(self):
        self.run_and_lose_the_memory(signal.SIGKILL)
        done = subprocess.run([self.programs[0], "--forget", "--config", self.box.box_file],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.snapshot.exists())
        self.assertEqual(list(self.state.iterdir()), [])

    def test_without_one_all_begins_anew(self):
        self.run_and_lose_the_memory(signal.SIGKILL)
        self.snapshot.unlink()
        self.assertEqual(self.start(), 1000)


class Folder(Case):
    def tables(self):
        return pathlib.Path(os.path.realpath(self.state / "tables"))

    def refused_start(self):
        process = self.box.start_dataplane(
            *NULL, {"sockets": {"dataplane": {"path": self.box.folder / "other.sock"}}}, wait=False)
        self.assertEqual(process.wait(PATIENCE), 1)

    def test_nobody_else_reads_it(self):
        self.box.start_dataplane(*NULL)
        for path in (self.tables(), *self.tables().iterdir()):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_two_dataplanes_on_one_directory(self):
        first = self.box.start_dataplane(*NULL)
        self.refused_start()
        self.assertIn("another sluice-dataplane has the state directory", self.box.log("dataplane.log"))
        forget = self.box.forget()
        self.assertEqual(forget.returncode, 1)
        self.assertIn(f"a sluice-dataplane runs with the state directory {self.box.folder}/state: stop it first", forget.stderr)
        self.assertIsNone(first.poll())

    def test_forgetting_what_is_not_there_is_an_error(self):
        nowhere = self.box.folder / "nowhere"
        forget = subprocess.run([self.box.dataplane_program, "--state-dir", nowhere, "--forget"], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(forget.returncode, 1)
        self.assertIn(f"there is no state directory {nowhere}", forget.stderr)
        self.assertFalse(nowhere.exists())

    def test_forget_removes_everything(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules(LIMITS["token-bucket"]))
        tables = self.tables()
        self.assertTrue((tables / "header").exists())
        self.box.kill(self.box.dataplane)
        self.assertEqual(self.box.forget().returncode, 0)
        self.assertFalse(tables.exists())
        self.assertEqual(list(self.state.iterdir()), [])

    def test_what_cannot_be_read_is_kept_aside(self):
        for damage in ("header", "worker", "slots"):
            with self.subTest(damage):
                first = self.box.start_dataplane(*NULL)
                self.box.start_sluiced()
                self.apply(rules(LIMITS["token-bucket"]))
                self.flood_until_refused()
                self.box.kill(first)
                before = self.tables()
                if damage == "header":
                    with open(before / "header", "r+b") as header:
                        header.write(b"?")
                elif damage == "worker":
                    next(before.glob("worker-*")).unlink()
                else:
                    (self.state / "slots.bin").write_bytes(b"?")
                self.box.start_dataplane(*NULL)
                self.box.wait_for_link(True)
                self.assertNotEqual(self.tables(), before)
                aside = list(self.state.glob("tables.bad-*"))
                self.assertEqual([os.path.realpath(path) for path in aside], [str(before)])
                self.assertIn("cannot be used", self.box.log("dataplane.log"))
                self.assertEqual(self.flood_until_refused()["admitted"], 1000)
                self.box.kill(self.box.sluiced)
                self.box.kill(self.box.dataplane)


SMALL = "80m"  # room for tables and connections, and little beside them


class NoPlace(Case):
    """A state directory that takes nothing any more: what was kept in it counts."""

    def mount(self, *arguments):
        subprocess.run(["mount", *arguments, self.state], check=True, capture_output=True, timeout=60)

    def on_memory(self, size):
        self.state.mkdir()
        self.mount("-t", "tmpfs", "-o", f"size={size},mode=700", "none")
        self.addCleanup(subprocess.run, ["umount", "-l", self.state], capture_output=True)

    def begin(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(rules(LIMITS["log"]))
        self.assertEqual(self.flood_until_refused()["admitted"], 1000)
        self.box.kill(self.box.dataplane)

    def admitted_after_start(self, survives, config=None):
        self.box.start_dataplane(*NULL, config)
        self.box.wait_for_link(True)
        admitted = self.flood_until_refused()["admitted"]
        state = self.box.stats()["state"]
        self.assertEqual(state["survives"], survives, self.box.log("dataplane.log"))
        self.assertEqual(state["not_kept"] == 0, survives, state)
        self.assertEqual(state["put_aside"], 0)
        self.box.kill(self.box.dataplane)
        return admitted

    def test_no_room_for_larger_tables(self):
        self.on_memory(SMALL)
        self.begin()
        larger = {"memory": {"tables": {"keys": 1000000}}}
        for _ in range(2):
            self.assertEqual(self.admitted_after_start(False, larger), 0)
        self.assertIn("buckets will not survive this process", self.box.log("dataplane.log"))
        self.assertEqual(self.admitted_after_start(True), 0)
        self.mount("-o", "remount,size=400m")
        self.assertEqual(self.admitted_after_start(True, larger), 0)

    def test_tables_that_may_only_be_read(self):
        self.on_memory(SMALL)
        self.begin()
        self.mount("-o", "remount,ro")
        for _ in range(2):
            self.assertEqual(self.admitted_after_start(False), 0)
        self.assertIn("buckets will not survive this process", self.box.log("dataplane.log"))
        self.mount("-o", "remount,rw")
        self.assertEqual(self.admitted_after_start(True), 0)

    def test_a_folder_that_may_only_be_read(self):
        self.state.mkdir()
        self.begin()
        self.mount("--bind", self.state)
        self.addCleanup(subprocess.run, ["umount", "-l", self.state], capture_output=True)
        self.mount("-o", "remount,bind,ro")
        self.assertEqual(self.admitted_after_start(True), 0)  # the tables lie elsewhere

    def test_a_full_one(self):
        self.on_memory(SMALL)
        self.begin()
        with open(self.state / "filler", "wb", buffering=0) as filler, self.assertRaises(OSError):
            while filler.write(bytes(4096)):
                pass
        self.assertEqual(self.admitted_after_start(True), 0)
        (self.state / "slots.bin").unlink()  # now there is something to write
        with open(self.state / "filler", "ab", buffering=0) as filler, self.assertRaises(OSError):
            while filler.write(bytes(4096)):
                pass
        self.box.start_dataplane(*NULL)
        self.box.wait_for_link(True)
        self.flood_until_refused()
        state = self.box.stats()["state"]
        self.assertFalse(state["survives"])
        self.assertGreater(state["not_kept"], 0)
        self.assertIn("what keys owe will not outlive the dataplane", self.box.ctl("health").stdout)


class NoRules(Case):
    """The rules that were kept cannot be read, and no sluiced has others."""

    def kept(self):
        """What changes each time that a rule set is kept; None: none ever was."""
        try:
            found = (self.state / "ruleset.bin").stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def apply_and_keep(self, text):
        """A set is kept once a worker has run it, which a busy machine may delay."""
        before = self.kept()
        self.apply(text)
        wait_until("the set to be kept", lambda: self.kept() != before)

    def lose_rules(self, *sets):
        """Leaves a file behind that is not as it was written."""
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        for text in sets:
            self.apply_and_keep(text)
        generation = self.box.stats()["generation"]
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        kept = self.state / "ruleset.bin"
        kept.write_bytes(kept.read_bytes()[:-1])
        return generation

    def start_again(self, config):
        self.box.start_dataplane(*NULL, config)
        self.box.start_sluiced(state="nobody")
        wait_until("packets", lambda: self.box.stats()["packets"] > 0)
        return self.box.stats()

    def test_the_set_before_is_in_force(self):
        first = rules(LIMITS["token-bucket"])
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(first)
        before = self.box.stats()["generation"]
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        self.assertNotEqual(self.lose_rules(first, rules(LIMITS["log"])), before)
        stats = self.start_again({})
        self.assertEqual((stats["generation"], stats["state"]["rules"]), (before, "before"))
        self.assertEqual(stats["reasons"]["no_ruleset"], 0)
        self.assertIn(b'sluice_state_rules{found="before"} 1', self.box.api("GET", "/v1/metrics")[1])
        self.assertIn("going on with the rule set before it", self.box.log("dataplane.log"))
        self.assertEqual(len(list(self.state.glob("ruleset.bin.bad-*"))), 1)

    def test_what_the_box_is_to_do_without_any(self):
        for word, passes in (("last_good", True), ("pass", True), ("drop", False)):
            with self.subTest(word):
                sets = [rules(LIMITS["log"])] * (1 if word == "last_good" else 2)
                self.lose_rules(*sets)
                stats = self.start_again({"on_no_rules": word})
                self.assertEqual(stats["generation"], "0" * 16)
                self.assertEqual(stats["state"]["rules"], "unreadable")
                self.assertEqual({reason for reason, count in stats["reasons"].items() if count}, {"no_ruleset"})
                self.assertEqual({verdict for verdict, count in stats["verdicts"].items() if count},
                                 {"pass" if passes else "drop"})
                self.assertIn("forwarding unjudged until" if passes else "dropping everything until",
                              self.box.log("dataplane.log"))
                self.apply(rules(LIMITS["log"]))
                wait_until("packets to be judged", lambda: self.rule()["exceeded"] > 0)
                self.box.kill(self.box.sluiced)
                self.box.kill(self.box.dataplane)
                self.box.forget()
                shutil.rmtree(self.box.folder / "nobody")
                shutil.rmtree(self.box.folder / "policy")


class Network(HostsCase):
    """A client in a network of its own, which sends more than it may before and after the kill."""

    def arrived(self, flood_port, count):
        """Sends `count` datagrams and says how many came; others are not limited and mark the end."""
        hear = ("import socket,sys\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
                f"s.bind(('10.78.0.2',{flood_port}))\ns.settimeout(20)\n"
                "e=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\ne.bind(('10.78.0.2',7))\n"
                "e.settimeout(20)\nd,a=e.recvfrom(99)\ne.sendto(d,a)\n"
                "while d!=b'end': d,a=e.recvfrom(99)\n"
                "s.setblocking(False)\nn=0\ntry:\n while True: s.recv(99); n+=1\n"
                "except BlockingIOError: pass\nprint(n)\n")
        send = ("import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\ns.settimeout(0.3)\n"
                "for _ in range(60):\n s.sendto(b'begin',('10.78.0.2',7))\n"
                " try: s.recvfrom(99); break\n except OSError: pass\n"
                f"for _ in range({count}): s.sendto(b'x',('10.78.0.2',{flood_port}))\n"
                "for _ in range(3): s.sendto(b'end',('10.78.0.2',7))\n")
        ears = subprocess.Popen(["ip", "netns", "exec", self.hosts.inside, sys.executable, "-c", hear],
                                stdout=subprocess.PIPE, text=True)
        done = subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", send],
                              timeout=60)
        self.assertEqual(done.returncode, 0)
        return int(ears.communicate(timeout=60)[0])

    def test_a_client_gets_no_second_burst(self):
        self.start_between("af_packet")
        sluiced = self.box.start_sluiced()
        self.apply(rules("{algorithm: token_bucket, rate: 1/d, burst: 20}", "ip.src",
                         'dir eq "in" and ip.proto eq 17 and l4.dport eq 9'))
        self.assertEqual(self.arrived(9, 200), 20)
        self.box.kill(sluiced)  # nobody is there to help
        self.box.kill(self.box.dataplane)
        self.start_between("af_packet")
        self.assertEqual(self.arrived(9, 200), 0)
        self.assertGreater(self.arrived(10, 200), 0)


if __name__ == "__main__":
    main()
