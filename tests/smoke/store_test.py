"""sluice-store between a stand-in for the dataplane and a real redis-server: who may come in, what is said of a store
that cannot be used, and that nothing is lost or counted twice when it dies.

store_test.py SLUICE_STORE SLUICECTL
"""
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

STATES = ["away", "refused", "fenced", "ready"]
APPLIED, GAP, FENCED = range(3)
WITHIN = 15


def until(look, what):
    """Waits for a condition, never for a time."""
    end = time.monotonic() + WITHIN
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {WITHIN} s: {what}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    def __init__(self, folder, *options):
        self.folder, self.port, self.options, self.process = folder, free_port(), options, None
        self.start()

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                                         "--appendonly", "no", "--dir", self.folder, "--logfile", "redis.log",
                                         *self.options])
        until(lambda: self("PING", quiet=True) == "PONG", "redis-server answers")

    def __call__(self, *words, quiet=False):
        done = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True, check=False)
        assert quiet or done.returncode == 0, done
        return done.stdout.strip()

    def end(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


def bucket(digest, units):
    return struct.pack("<QBBQQQQQqB", digest, 0, 0, units, 3600 * 10**9, 1, 0, 0, 0, 0)


class Box:
    """The dataplane's end of store.sock, and the sluice-store that comes to it."""

    def __init__(self, folder, program, redis, name="a", size=2, life=1, access=""):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        (self.folder / "secret").write_text("0123456789abcdef0123456789abcdef\n")
        self.config = self.folder / "sluice.yaml"
        self.config.write_text(CONFIG.format(folder=self.folder, name=name, size=size, port=redis.port, access=access))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / "store.sock"))
        self.listener.listen()
        self.program, self.process = program, None
        self.name, self.size, self.life, self.seq = name, size, life, 0
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, "--config", str(self.config)], stderr=subprocess.DEVNULL)
        self.listener.settimeout(WITHIN)
        self.link = self.listener.accept()[0]
        self.link.settimeout(WITHIN)
        self.send(b"\0" + struct.pack("<I", 1) + text("edge") + text(self.name) +
                  struct.pack("<HQB", self.size, self.life, 0))

    def send(self, payload):
        self.link.sendall(struct.pack("<I", len(payload)) + payload)

    def exactly(self, size):
        got = b""
        while len(got) < size:
            more = self.link.recv(size - len(got))
            assert more, "sluice-store closed the connection"
            got += more
        return got

    def next(self):
        """-> the next message: ("report", state, why) or ("reply", fields, levels)"""
        payload = self.exactly(struct.unpack("<I", self.exactly(4))[0])
        if payload[0] == 1:
            size = struct.unpack_from("<I", payload, 2)[0]
            return "report", STATES[payload[1]], payload[6:6 + size].decode()
        fields = struct.unpack_from("<HQBQQQI", payload, 1)
        levels = [struct.unpack_from("<QQqBB", payload, 40 + 26 * i) for i in range(fields[6])]
        return "reply", dict(zip(("partition", "seq", "outcome", "last", "now", "born"), fields)), levels

    def reaches(self, state, *words):
        end = time.monotonic() + WITHIN
        seen = None
        while time.monotonic() < end:
            kind, *seen = self.next()
            if kind == "report" and seen[0] == state and all(word in seen[1] for word in words):
                return seen[1]
        raise AssertionError(f"{self.name} is not {state} {words}: {seen}")

    def say(self, units, seq=None, digest=7):
        """A batch of one key, until it is answered. -> the reply and the key's level"""
        self.seq = self.seq + 1 if seq is None else seq
        self.send(b"\1" + struct.pack("<HQI", 3, self.seq, 1) + bucket(digest, units))
        while True:
            kind, *message = self.next()
            if kind == "reply":
                return message[0], message[1][0][0] if message[1] else None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.link.close()
        self.listener.close()


CONFIG = """\
version: 1
ports:
  - {{name: uplink, outside: {{device: net_null0}}, inside: {{device: net_null1}}}}
sockets:
  dataplane: {{path: {folder}/dataplane.sock}}
cluster:
  name: edge
  node: {name}
  size: {size}
  secret_file: secret
  store:
    addresses: ["127.0.0.1:{port}"]
{access}"""
RIGHTS = ["+fcall", "+info", "+wait", "+time", "+hget", "+hmget", "+hset", "+hdel", "+hgetall", "+hlen", "+hexists",
          "+hrandfield"]


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.redis = Redis(self.folder.name)
        self.boxes = []

    def tearDown(self):
        for box in self.boxes:
            box.end()
        self.redis.end()
        self.folder.cleanup()

    def box(self, name="a", where=None, **options):
        box = Box(f"{self.folder.name}/{where or name}", STORE, self.redis, name, **options)
        self.boxes.append(box)
        return box

    def ctl(self, action, box, *words):
        return subprocess.run([CTL, "store", action, *words, "--config", str(box.config)], capture_output=True,
                              text=True, check=False)

    def test_function_is_missing_loaded_and_flushed(self):
        box = self.box()
        box.reaches("refused", "sluicectl store init")
        self.assertEqual(self.ctl("check", box).returncode, 1)
        done = self.ctl("init", box)
        self.assertEqual(done.returncode, 0, done)
        box.reaches("ready")
        self.assertEqual(self.ctl("check", box).returncode, 0)
        self.assertEqual(box.say(5)[1], 5)
        self.redis("FUNCTION", "FLUSH")
        box.reaches("refused", "sluicectl store init")
        self.ctl("init", box)
        box.reaches("ready")
        self.assertEqual(box.say(2)[1], 7)
        self.assertIn("1 of 2 slots are held, 1 keys", self.ctl("status", box).stdout)

    def test_amounts_survive_kills_and_are_counted_once(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        first, level = box.say(5)
        self.assertEqual((first["outcome"], level), (APPLIED, 5))
        self.assertEqual(box.say(5, seq=1)[1], 5, "a retry is read")
        gap, _ = box.say(5, seq=9)
        self.assertEqual((gap["outcome"], gap["last"]), (GAP, 1))
        box.process.kill()
        box.process.wait()
        box.start()
        box.reaches("ready")
        self.assertEqual(box.say(5, seq=1)[1], 5, "by the next process too")
        self.redis.process.send_signal(signal.SIGSTOP)
        box.send(b"\1" + struct.pack("<HQI", 3, 2, 1) + bucket(7, 4))
        box.reaches("away")
        self.redis.process.send_signal(signal.SIGCONT)
        while (message := box.next())[0] != "reply":
            pass
        self.assertEqual((message[1]["seq"], message[2][0][0]), (2, 9))
        self.redis.end()
        box.reaches("away")
        self.redis.start()
        self.ctl("init", box)
        box.reaches("ready")
        empty, _ = box.say(1, seq=3)
        self.assertEqual((empty["outcome"], empty["last"]), (GAP, 0))
        self.assertNotEqual(empty["born"], first["born"])

    def test_names_sizes_and_the_last_slot(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        other = self.box("b", life=2)
        other.reaches("ready")
        self.box("c", life=3).reaches("fenced", "all 2 slots")
        self.box("d", size=3, life=4).reaches("fenced", "size 2")
        box.say(1)
        twin = self.box("a", where="twin", life=5)
        twin.reaches("ready")
        box.reaches("fenced", "another box has joined as a")
        self.assertEqual(twin.say(1)[1], 2)
        self.assertEqual(box.say(1)[0]["outcome"], FENCED)
        self.assertEqual(self.ctl("forget", box, "b").returncode, 0)

    def test_rights(self):
        (pathlib.Path(self.folder.name) / "password").write_text("right\n")
        self.redis("ACL", "SETUSER", "sluice", "reset", "on", ">right", "~sluice:{edge:*", *RIGHTS)
        access = f"    user: sluice\n    password_file: {self.folder.name}/password\n"
        box = self.box(access=access)
        self.assertEqual(self.ctl("init", box).returncode, 1, "no box loads functions")
        admin = self.box("admin", life=9)
        self.ctl("init", admin)
        box.reaches("ready")
        self.assertEqual(box.say(3)[1], 3)
        self.redis("ACL", "SETUSER", "sluice", "-hset")
        box.reaches("refused", "rights")
        self.redis("ACL", "SETUSER", "sluice", "+hset", "resetpass", ">other")
        self.redis("CLIENT", "KILL", "TYPE", "normal")
        box.reaches("refused", "no such user and password")

    def test_stores_that_cannot_be_used(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        self.redis("CONFIG", "SET", "maxmemory", "100mb")
        self.redis("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        box.reaches("refused", "noeviction")
        self.redis("CONFIG", "SET", "maxmemory-policy", "noeviction")
        box.reaches("ready")
        self.redis("CONFIG", "SET", "maxmemory", "1mb")
        box.reaches("refused", "no memory left")
        self.redis("CONFIG", "SET", "maxmemory", "0")
        box.reaches("ready")
        self.redis("REPLICAOF", "127.0.0.1", "1")
        box.reaches("away", "replica")
        self.redis("REPLICAOF", "NO", "ONE")
        box.reaches("ready")


if __name__ == "__main__":
    STORE, CTL = (os.path.abspath(program) for program in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
