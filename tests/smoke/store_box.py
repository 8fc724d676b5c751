"""The dataplane's end of store.sock for a test, and the sluice-store that comes to it; redis-server of a test's own."""
import json
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from store_link_version import VERSION

STATES = ["away", "refused", "fenced", "ready"]
APPLIED, GAP, FENCED = range(3)
SECRET = "0123456789abcdef0123456789abcdef"
SECRET_DIGEST = 0xcdc8744b2ad02e27  # of SECRET
WITHIN = 15
LEVEL = struct.Struct("<QQqBBBQ")


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
                                         "--appendonly", "no", "--repl-diskless-sync-delay", "0", "--dir", self.folder,
                                         "--logfile", "redis.log", *self.options])
        until(lambda: self("PING", quiet=True) == "PONG", "redis-server answers")

    def has_a_replica(self):
        until(lambda: "state=online" in self("INFO", "replication"), "a replica is there")

    def __call__(self, *words, quiet=False):
        done = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True, check=False)
        assert quiet or done.returncode == 0, done
        return done.stdout.strip()

    def end(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


def bucket(digest, units, seconds=3600):
    """`seconds` in which a unit is paid back."""
    return struct.pack("<QBBQQQQQqBQ", digest, 0, 0, units, seconds * 10**9, 1, 0, 0, 0, 0, 0)


class Box:
    """The dataplane's end of store.sock, and the sluice-store that comes to it."""

    def __init__(self, folder, program, store, name="a", size=2, life=1, durability="memory", secret=SECRET_DIGEST):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        (self.folder / "secret").write_text(f"{SECRET}\n")
        self.config = self.folder / "sluice.yaml"
        self.config.write_text(CONFIG.format(folder=self.folder, name=name, size=size, store=json.dumps(store)))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / "store.sock"))
        self.listener.listen()
        self.program, self.process = program, None
        self.name, self.size, self.life, self.secret, self.seq = name, size, life, secret, {}
        self.durability = ["memory", "replica"].index(durability)
        self.start()

    def start(self, clocks=()):
        """`clocks`: (partition, born, us ahead of the monotonic clock) that an earlier sluice-store has told of."""
        self.process = subprocess.Popen([self.program, "--config", str(self.config)], stderr=subprocess.DEVNULL)
        self.meet(clocks)

    def meet(self, clocks=()):
        self.listener.settimeout(WITHIN)
        self.link = self.listener.accept()[0]
        self.link.settimeout(WITHIN)
        self.send(b"\0" + struct.pack("<I", VERSION) + text("edge") + text(self.name) +
                  struct.pack("<HQBQ", self.size, self.life, self.durability, self.secret),
                  b"\2" + struct.pack("<I", len(clocks)) + b"".join(struct.pack("<HQq", *clock) for clock in clocks))

    def send(self, *payloads):
        """At once."""
        self.link.sendall(b"".join(struct.pack("<I", len(payload)) + payload for payload in payloads))

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
        levels = [LEVEL.unpack_from(payload, 40 + LEVEL.size * i) for i in range(fields[6])]
        return "reply", dict(zip(("partition", "seq", "outcome", "last", "now", "born"), fields)), levels

    def reaches(self, state, *words):
        end = time.monotonic() + WITHIN
        seen = None
        while time.monotonic() < end:
            kind, *seen = self.next()
            if kind == "report" and seen[0] == state and all(word in seen[1] for word in words):
                return seen[1]
        raise AssertionError(f"{self.name} is not {state} {words}: {seen}")

    def batch(self, units, seq=None, digest=7, partition=3, **of_bucket):
        """The message of a batch of one key."""
        self.seq[partition] = self.seq.get(partition, 0) + 1 if seq is None else seq
        return b"\1" + struct.pack("<HQI", partition, self.seq[partition], 1) + bucket(digest, units, **of_bucket)

    def tell(self, units, seq=None, digest=7, partition=3, **of_bucket):
        self.send(self.batch(units, seq, digest, partition, **of_bucket))

    def reply(self):
        """-> the next reply and the key's level"""
        while True:
            kind, *message = self.next()
            if kind == "reply":
                return message[0], message[1][0][0] if message[1] else None

    def say(self, units, seq=None, digest=7, partition=3, **of_bucket):
        """The same until it is answered."""
        self.tell(units, seq, digest, partition, **of_bucket)
        return self.reply()

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
  store: {store}
"""
RIGHTS = ["+fcall", "+info", "+wait", "+time", "+hget", "+hmget", "+hset", "+hdel", "+hgetall", "+hlen", "+hexists",
          "+hrandfield"]


def openssl(folder, *words):
    done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class TestAuthority:
    """A CA of a test's own: NAME.pem, and certificates by it for servers."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = pathlib.Path(folder), name
        openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        self.file = str(self.folder / f"{name}.pem")

    def certify(self, host, days=2):
        """-> options of redis-server"""
        name = f"{host}-{days}"
        openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={host}",
                "-addext", f"subjectAltName=DNS:{host}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.pem", "-CAkey", f"{self.name}.key",
                "-CAcreateserial", "-days", str(days), "-copy_extensions", "copy", "-out", f"{name}.pem")
        return ["--tls-cert-file", str(self.folder / f"{name}.pem"), "--tls-key-file", str(self.folder / f"{name}.key"),
                "--tls-ca-cert-file", self.file, "--tls-auth-clients", "no"]


class StoreCase(unittest.TestCase):
    """A redis-server, and boxes that come to it."""
    store, ctl_program = None, None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def serve(self, *options):
        redis = Redis(tempfile.mkdtemp(dir=self.folder.name), *options)
        self.addCleanup(redis.end)
        return redis

    def box(self, *servers, name="a", where=None, store=None, **options):
        """`store`: more of cluster.store."""
        addresses = [f"127.0.0.1:{server.port}" for server in servers]
        box = Box(f"{self.folder.name}/{where or name}", self.store, {"addresses": addresses, **(store or {})}, name,
                  **options)
        self.addCleanup(box.end)
        return box

    def ctl(self, action, box, *words):
        return subprocess.run([self.ctl_program, "store", action, *words, "--config", str(box.config)], capture_output=True,
                              text=True, check=False)

    def init(self, box):
        done = self.ctl("init", box)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout
