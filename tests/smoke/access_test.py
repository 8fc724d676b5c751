"""Who may do what to the real dataplane: its control socket, and the databases that it loads.

    access_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import sys

from box_case import NULL, QUIET, BoxCase, main
from one_thread import stopped, threads_named
from programs import wait_until
from stand_ins import VERSION, receive, send

CLIENTS = 16
NOBODY, DAEMON = 65534, 1
HELLO = b"\0" + struct.pack("<II", VERSION, 4) + b"test" + struct.pack("<I", 0)
WELCOME = 0
PATTERN = """version: 1
rules:
  - {id: pattern, mode: enforce, when: 'payload matches "ab+c"', on_match: drop}
"""
PLAIN = """version: 1
rules:
  - {id: plain, mode: enforce, when: ip.proto eq 17, on_match: drop}
"""
CONNECT = """import os, socket, sys
os.setgroups([int(sys.argv[3])]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[2]))
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(sys.argv[1])
except PermissionError:
    print("refused")
else:
    try:
        client.sendall(bytes.fromhex(sys.argv[4]))
        print("welcome" if client.recv(5)[4:] == b"\\0" else "closed")
    except OSError:
        print("closed")
"""


class AccessCase(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.folder.chmod(0o755)

    def client(self):
        """A client that the dataplane has greeted; None: it would not."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(30)
        self.addCleanup(client.close)
        client.connect(self.box.dataplane_socket)
        try:
            send(client, HELLO)
            return client if receive(client)[0] == WELCOME else None
        except (AssertionError, OSError):
            return None

    def greeted_as(self, user, group):
        done = subprocess.run(
            [sys.executable, "-c", CONNECT, self.box.dataplane_socket, str(user), str(group),
             (struct.pack("<I", len(HELLO)) + HELLO).hex()], capture_output=True, text=True, timeout=60)
        return done.stdout.strip() or done.stderr

    def metric(self, name):
        text = self.box.api("GET", "/v1/metrics")[1].decode()
        return next(line.split()[-1] for line in text.splitlines() if line.startswith(name))


class ControlSocket(AccessCase):
    def test_it_is_its_owner_s_alone(self):
        self.box.start_dataplane(*QUIET, {"user": "nobody"})
        info = os.stat(self.box.dataplane_socket)
        self.assertEqual((stat.S_IMODE(info.st_mode), info.st_uid), (0o600, NOBODY))
        self.assertEqual(self.greeted_as(NOBODY, NOBODY), "welcome")
        self.assertEqual(self.greeted_as(DAEMON, NOBODY), "refused")
        self.assertEqual(self.greeted_as(DAEMON, 0), "refused")
        self.assertIsNotNone(self.client(), "root may")
        # A mode that somebody sets later gives nobody a right either.
        os.chmod(self.box.dataplane_socket, 0o666)
        self.assertEqual(self.greeted_as(DAEMON, NOBODY), "closed")
        self.box.start_sluiced()
        self.assertEqual(self.metric('sluice_control_refused_total{reason="stranger"}'), "1")
        key = os.stat(self.box.folder / "database-key")
        self.assertEqual((stat.S_IMODE(key.st_mode), key.st_uid, key.st_gid), (0o640, 0, NOBODY))

    def test_a_sluiced_that_may_not_reach_it_says_why(self):
        self.box.start_dataplane(*QUIET)  # of root
        os.chmod(self.box.folder, 0o755)
        self.box.start_sluiced("--user", "nobody", connected=False)
        wait_until("the reason", lambda: "cannot reach" in self.box.log("sluiced.log"))
        self.assertRegex(self.box.log("sluiced.log"), f"cannot reach {self.box.dataplane_socket}: Permission denied; "
                                                      r"nobody may not write to the socket \S+ \(mode 0600, of root:root\): "
                                                      "run it as root")

    def test_sixteen_idle_clients_keep_nobody_out(self):
        self.box.start_dataplane(*QUIET)
        idle = [self.client() for _ in range(CLIENTS)]
        self.assertNotIn(None, idle)
        # Once they have idled for a second.
        wait_until("a place for one more", self.client)
        self.box.start_sluiced()
        self.assertEqual(self.box.ctl("panic", "pass").returncode, 0)
        wait_until("panic", lambda: self.box.stats()["panic"])
        self.assertGreater(int(self.metric('sluice_control_refused_total{reason="idle"}')), 0)
        self.assertIn("closing an idle client", self.box.log("dataplane.log"))

    def test_clients_of_sluiced_s_user_leave_places_for_root(self):
        self.box.start_dataplane(*QUIET, {"user": "nobody"})
        holder = subprocess.Popen(
            [sys.executable, "-c", """import os, socket, sys
os.setgid(65534); os.setuid(65534)
clients = [socket.socket(socket.AF_UNIX) for _ in range(40)]
for client in clients:
    client.connect(sys.argv[1])
    try:
        client.sendall(bytes.fromhex(sys.argv[2])[:3])  # half a length: none of them is idle
    except OSError:
        pass  # it found no place
print("held", flush=True)
sys.stdin.read()
""", self.box.dataplane_socket, (struct.pack("<I", len(HELLO)) + HELLO).hex()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.wait, 60)
        self.addCleanup(holder.stdin.close)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline().strip(), "held")
        self.assertIsNotNone(self.client())

    def test_uploads_share_a_bound(self):
        """250 of 320 MiB, and 130 more of another client: more than one message and what comes beside it."""
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        chunk = b"\0" * (1 << 20)

        def refused():
            first, second = clients = [self.client(), self.client()]
            try:
                for client in clients:
                    client.sendall(struct.pack("<I", 320 << 20))
                for client in [first] * 120 + clients * 130:  # in turns, so that none is idle
                    client.sendall(chunk)
            except OSError:
                pass
            for client in clients:
                client.close()
            return int(self.metric('sluice_control_refused_total{reason="uploads"}'))
        wait_until("an upload to be refused", refused)
        self.assertIsNotNone(self.client())


class Databases(AccessCase):
    def kept(self):
        return self.box.folder / "state" / "ruleset.bin"

    def test_those_that_sluiced_did_not_make_are_refused(self):
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced(key="other-key")
        done = self.box.apply(PATTERN)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("do not carry the sum", done.stderr)
        self.assertEqual(self.metric('sluice_control_refused_total{reason="unsealed"}'), "1")
        self.assertFalse(self.kept().exists())
        self.apply(PLAIN)
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced()
        self.apply(PATTERN)

    def test_sluiced_takes_up_the_key_that_the_next_dataplane_makes(self):
        """As after --forget, which removes the one before."""
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        self.apply(PATTERN)
        self.box.kill(self.box.dataplane)
        key = self.box.folder / "database-key"
        before = key.read_bytes()
        key.unlink()
        self.box.wait_for_link(False)
        self.box.start_dataplane(*QUIET)
        self.assertNotEqual(key.read_bytes(), before)
        self.box.wait_for_link(True)
        self.apply(PATTERN.replace("version: 1", "version: 1  # again"))
        self.assertEqual(self.metric('sluice_control_refused_total{reason="unsealed"}'), "0")

    def test_kept_ones_are_checked_as_well(self):
        self.box.start_dataplane(*QUIET)
        sluiced = self.box.start_sluiced()
        self.apply(PATTERN)
        generation = self.box.stats()["generation"]
        self.box.kill(sluiced)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*QUIET)
        self.assertIn("took up the saved rule set", self.box.log("dataplane.log"))
        self.box.kill(self.box.dataplane)
        key = self.box.folder / "database-key"
        good = key.read_bytes()
        kept = self.kept().read_bytes()
        for damage in (key.unlink, lambda: key.chmod(0o644)):
            damage()
            refusals = self.box.log("dataplane.log").count("without the sum")
            self.box.start_dataplane(*QUIET)
            self.assertGreater(self.box.log("dataplane.log").count("without the sum"), refusals)
            self.box.kill(self.box.dataplane)
            # It is the key that is bad, and not the set: with the right one it is in force again.
            self.assertEqual(self.kept().read_bytes(), kept)
            self.assertEqual(list(self.kept().parent.glob("*.bad-*")), [])
            key.write_bytes(good)
            key.chmod(0o600)
            times = self.box.log("dataplane.log").count("took up the saved rule set")
            self.box.start_dataplane(*QUIET)
            self.assertEqual(self.box.log("dataplane.log").count("took up the saved rule set"), times + 1)
            self.box.kill(self.box.dataplane)
        key.unlink()
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        wait_until("sluiced to bring its own",
                   lambda: (self.box.stats() or {}).get("generation") == generation)

    def test_a_key_that_others_may_read_is_refused(self):
        key = self.box.folder / "database-key"
        key.write_bytes(b"sluice database key 1\n" + b"k" * 32)
        key.chmod(0o644)
        self.box.start_dataplane(*QUIET)
        self.assertIn("may be read or changed by others", self.box.log("dataplane.log"))
        self.box.start_sluiced()
        self.assertNotEqual(self.box.apply(PATTERN).returncode, 0)
        self.apply(PLAIN)
        # Put right, it is shared by the next dataplane; the failure was told once until then.
        for _ in range(2):
            self.box.kill(self.box.dataplane)
            self.box.wait_for_link(False)
            self.box.start_dataplane(*QUIET)
            self.box.wait_for_link(True)
        self.assertEqual(self.box.log("sluiced.log").count("may be read or changed by others"), 1)
        self.box.kill(self.box.dataplane)
        self.box.wait_for_link(False)
        key.chmod(0o600)
        self.box.start_dataplane(*QUIET)
        self.box.wait_for_link(True)
        self.apply(PATTERN)
        self.assertIn("can be read again", self.box.log("sluiced.log"))

    def test_rules_are_kept_once_a_worker_has_run_them(self):
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        lcore = self.box.workers()[0]["lcore"]
        thread, = threads_named(self.box.dataplane, f"rte-worker-{lcore}")
        with stopped(thread):
            self.apply(PLAIN)
            self.assertFalse(self.kept().exists())
            self.assertIn("no worker has run the new rules", self.box.log("dataplane.log"))
        wait_until("the rules to be kept", self.kept().exists)
        generation = self.box.stats()["generation"]
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane, signal.SIGTERM)
        self.box.start_dataplane(*QUIET)
        self.assertIn("took up the saved rule set", self.box.log("dataplane.log"))
        self.box.start_sluiced()
        self.assertEqual(self.box.stats()["generation"], generation)

    def test_rules_that_cannot_be_kept_are_tried_again(self):
        """Those in force, also when others that were to replace them could not be kept either."""
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        lcore = self.box.workers()[0]["lcore"]
        thread, = threads_named(self.box.dataplane, f"rte-worker-{lcore}")
        in_the_way = self.kept().with_name("ruleset.bin.new")
        with stopped(thread):
            self.apply(PLAIN)
            in_the_way.mkdir()
        wait_until("the rules not to be kept",
                   lambda: self.metric("sluice_rules_unkept_total") == "1")
        generation = self.box.stats()["generation"]
        done = self.box.apply(PATTERN)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ruleset.bin.new", done.stderr)
        self.assertEqual(self.box.stats()["generation"], generation)
        in_the_way.rmdir()
        wait_until("the rules to be kept", self.kept().exists)
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        self.assertIn("took up the saved rule set", self.box.log("dataplane.log"))
        self.assertEqual(self.box.stats()["generation"], generation)


LIMITED = """version: 1
rules:
  - id: a
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]
    ban: {after: 3, within: 1s, for: 1m}
"""
WITH_LIST = """version: 1
data:
  lists:
    friends: {type: cidr, file: closed/friends.txt}
rules:
  - {id: friends, mode: enforce, when: ip.src in $friends, on_match: drop}
"""
# Every command that asks sluiced, in an order in which each has something to do.
COMMANDS = (
    "rules", "stats", "top", "ports", "workers", "health", "diff RULES", "mode a monitor",
    "key show a 192.0.2.1", "key reset a 192.0.2.1", "key grant a 192.0.2.1 1",
    "key set a 192.0.2.1 --rate 5/s", "key unset a 192.0.2.1", "key ban a 192.0.2.1 --for 1m",
    "key unban a 192.0.2.1", "merge-interval 2ms", "apply PATTERN --confirm 60s", "confirm",
    "rollback", "panic pass", "panic resume")
# CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK.
NEEDED = 1 << 12 | 1 << 13 | 1 << 14


def standing(process):
    """What each thread of a process may do: the lines of its status, by thread that lives."""
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)


class Confined(AccessCase):
    def start_both(self, *more):
        self.box.start_dataplane(*QUIET, {"user": "nobody"})
        return self.box.start_sluiced("--user", "nobody", *more)

    def run_every_command(self):
        self.apply(LIMITED)
        (self.box.folder / "pattern.yaml").write_text(PATTERN)
        files = {"RULES": str(self.box.folder / "rules.yaml"),
                 "PATTERN": str(self.box.folder / "pattern.yaml")}
        for command in COMMANDS:
            done = self.box.ctl(*(files.get(word, word) for word in command.split()))
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        for log in ("sluiced.log", "dataplane.log"):
            self.assertNotIn("not permitted", self.box.log(log))

    def test_sluiced_is_its_own_user(self):
        sluiced = self.start_both()
        for thread in standing(sluiced):
            self.assertEqual(set(thread["Uid"].split()), {str(NOBODY)})
            self.assertEqual({int(thread[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")}, {0})
            self.assertEqual((thread["NoNewPrivs"], thread["Seccomp"]), ("1", "2"))
        self.run_every_command()
        audit = self.box.folder / "policy" / "audit.log"
        self.assertEqual(os.stat(audit).st_uid, NOBODY)

    def test_what_a_sluiced_of_root_has_left_is_taken_over(self):
        self.box.start_dataplane(*QUIET, {"user": "nobody"})
        first = self.box.start_sluiced()
        self.run_every_command()
        generation = self.box.stats()["generation"]
        self.box.kill(first)
        self.box.start_sluiced("--user", "nobody")
        self.assertEqual(self.box.stats()["generation"], generation)
        self.apply(PLAIN)

    def test_the_dataplane_keeps_what_its_ports_need(self):
        self.start_both()
        for thread in standing(self.box.dataplane):
            self.assertEqual({int(thread[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")},
                             {NEEDED}, thread["Name"])
            self.assertEqual((thread["NoNewPrivs"], thread["Seccomp"]), ("1", "2"))
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)

    def test_apply_says_which_list_sluiced_cannot_read(self):
        self.start_both()
        closed = self.box.folder / "closed"
        closed.mkdir(mode=0o700)
        (closed / "friends.txt").write_text("192.0.2.0/24\n")
        done = self.box.apply(WITH_LIST)
        self.assertEqual(done.returncode, 1)
        self.assertIn("sluiced runs as nobody", done.stderr)
        self.assertIn("--send-lists", done.stderr)
        closed.chmod(0o755)
        self.apply(WITH_LIST)

    def test_lists_are_sent_along_on_request(self):
        self.start_both()
        closed = self.box.folder / "closed"
        closed.mkdir(mode=0o700)
        friends = closed / "friends.txt"
        friends.write_text("192.0.2.0/24\n")
        self.apply(WITH_LIST, "--send-lists")
        generation = self.box.stats()["generation"]
        known, = json.loads(self.box.api("GET", "/v1/rules/friends/full")[1])["lists"]
        self.assertEqual((known["file"], known["known"], known["entries"]), ("closed/friends.txt", True, 1))
        friends.write_text("198.51.100.0/24\n")
        done = self.box.ctl("diff", str(self.box.folder / "rules.yaml"), "--send-lists", "--json")
        self.assertNotEqual(json.loads(done.stdout)["to"], generation)
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced("--user", "nobody")
        wait_until("the same rules", lambda: (self.box.stats() or {}).get("generation") == generation)
        self.assertEqual(self.box.ctl("mode", "friends", "monitor").returncode, 0)
        friends.write_text("not a network\n")
        self.assertIn("friends.txt", self.box.apply(WITH_LIST, "--send-lists").stderr)


# What each of them keeps in a state directory that is both's.
OF_SLUICED = ("rules.json", "audit.log", "history", "lists")
OF_DATAPLANE = ("ruleset.bin", "ruleset.bin.before", "slots.bin", "rss-key", "tables", "lock", "snapshot",
                "database-key")
FLOOD = """version: 1
rules:
  - {id: flood, mode: enforce, key: [port, dir], limits: [{algorithm: token_bucket, rate: 1/d, burst: 500}]}
  - {id: friends, mode: enforce, when: ip.src in $friends, on_match: drop}
data:
  lists:
    friends: {type: cidr, file: friends.txt}
"""
SYSTEMD = pathlib.Path(__file__).resolve().parents[2] / "control" / "systemd"


class Shared(AccessCase):
    """One state directory, as both have it by default: root's dataplane, and nobody's sluiced."""

    def setUp(self):
        super().setUp()
        self.state = self.box.folder / "state"
        (self.box.folder / "friends.txt").write_text("192.0.2.0/24\n")

    def start_one(self, daemon):
        if daemon == "sluiced":
            self.box.start_sluiced("--user", "nobody", state="state", key="state/database-key",
                                   connected=False)
        else:
            self.box.start_dataplane(*NULL, {
                "user": "nobody", "database_key": self.state / "database-key",
                "memory": {"tables": {"snapshot": {"file": self.state / "snapshot", "every": "200ms"}}}})

    def start_both(self, order):
        for daemon in order:
            self.start_one(daemon)
        self.box.wait_for_link(True)
        wait_until("what the dataplane does", lambda: self.box.stats())

    def kill_one(self, daemon):
        self.box.kill(self.box.sluiced if daemon == "sluiced" else self.box.dataplane, signal.SIGTERM)

    def check_owners(self):
        info = self.state.stat()
        self.assertEqual((stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid), (0o1775, 0, NOBODY))
        wait_until("a snapshot", (self.state / "snapshot").exists)
        for names, user in ((OF_SLUICED, NOBODY), (OF_DATAPLANE, 0)):
            for name in names:
                self.assertEqual((self.state / name).lstat().st_uid, user, name)
        for inner in ("history", "lists"):
            for path in (self.state / inner).iterdir():
                self.assertEqual(path.stat().st_uid, NOBODY, path)

    def judged(self):
        """Every sample of a rule is a new one: the flood had its 500 for each direction long ago."""
        rule = next(rule for rule in self.box.stats()["rules"] if rule["id"] == "flood")
        return rule["exceeded"] > 10_000 and rule["admitted"]

    def test_restarts_of_each_in_both_orders(self):
        both = ("dataplane", "sluiced")
        for order in (both, both[::-1]):
            with self.subTest(order):
                self.start_both(order)
                self.apply(PATTERN)
                self.apply(FLOOD)
                self.assertEqual(wait_until("the flood to be refused", self.judged), 1000)
                generation = self.box.stats()["generation"]
                self.check_owners()
                for daemon in order:
                    self.kill_one(daemon)
                    self.start_one(daemon)
                    self.box.wait_for_link(True)
                    wait_until("the same rules", lambda: (self.box.stats() or {}).get("generation") == generation)
                    self.check_owners()
                for daemon in both:
                    self.kill_one(daemon)
                self.start_both(order[::-1])
                wait_until("the same rules", lambda: self.box.stats()["generation"] == generation)
                wait_until("the flood to be refused",
                           lambda: self.box.stats()["rules"][0]["exceeded"] > 10_000)
                self.assertEqual(self.box.stats()["rules"][0]["admitted"], 0, "no second burst")
                self.apply(PATTERN)  # both write their files, and share the key
                self.assertEqual(self.box.ctl("rollback").returncode, 0)
                self.check_owners()
                for log in ("sluiced.log", "dataplane.log"):
                    self.assertNotIn("error", self.box.log(log))
                for daemon in both:
                    self.kill_one(daemon)
                self.box.forget()
                for name in OF_DATAPLANE:
                    self.assertFalse((self.state / name).is_symlink() or
                                     (self.state / name).exists() and name != "snapshot", name)
                for name in ("rules.json", "audit.log", "snapshot"):
                    (self.state / name).unlink()

    def test_no_unit_takes_the_directories_from_the_other(self):
        """systemd gives those that a unit names to its user; these are from tmpfiles, as sluiced has them."""
        units = {path.stem: path.read_text() for path in SYSTEMD.glob("*.service.in")}
        self.assertEqual(sorted(units), ["sluice-dataplane.service", "sluice-store.service", "sluiced.service"])
        for name, text in units.items():
            for line in text.splitlines():
                self.assertFalse(line.startswith(("StateDirectory=", "RuntimeDirectory=")), name)
        lines = [line.split() for line in (SYSTEMD / "sluice.tmpfiles").read_text().splitlines()
                 if not line.startswith("#")]
        self.assertEqual(lines, [["d", path, "1775", "root", "sluice", "-"]
                                 for path in ("/run/sluice", "/var/lib/sluice")])


if __name__ == "__main__":
    main()
