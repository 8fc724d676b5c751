"""Stores that people run, for a test: redis-server alone, with Sentinel, as a cluster; etcd, one and three. Each has a
port and a folder of its own, and is gone with close(), by its process."""
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import urllib.error
import urllib.request

from http_hosts import libc, run_within, within
from programs import PATIENCE, wait_until
from resp import Resp, RespError

PR_SET_PDEATHSIG = 1
QUICK = ("--save", "", "--appendonly", "no")  # nothing is kept: no test wants to wait for a disk


def die_with_us():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    """Nobody listens there. In a namespace of one's own any port is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Place:
    """Where servers live: an address of a namespace (None: this one's loopback), and a folder."""

    def __init__(self, namespace=None, address="127.0.0.1", first_port=None):
        self.namespace, self.address = namespace, address
        self.next_port = first_port
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-servers-"))
        self.servers = []

    def port(self):
        if self.next_port is None:
            return free_port()
        self.next_port += 1
        return self.next_port - 1

    def start(self, name, command):
        server = Server(self, name, command)
        self.servers.append(server)
        return server

    def close(self):
        for server in self.servers:
            server.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Server:
    """One process. It is stopped and killed by its id, and begins again by the same words."""

    def __init__(self, place, name, command):
        self.place, self.name, self.command = place, name, [str(word) for word in command]
        self.process = None
        self.start()

    def start(self):
        words = run_within(self.place.namespace, *self.command) if self.place.namespace else self.command
        with open(self.place.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(words, cwd=self.place.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=die_with_us)

    def log(self):
        return (self.place.folder / f"{self.name}.log").read_text(errors="replace")

    def alive(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{self.name} has ended: {self.log()[-1000:]}")
        return True

    def kill(self):
        """As a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process.poll() is None:
            self.go_on()
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()


class SteppedClock:
    """UTC of a program, by tests/attack/clock_shim.cpp (libfaketime does not get on with Redis' allocator): `before`
    its command, and then step(seconds) while it runs."""

    def __init__(self, folder, shim):
        self.file = folder / "clock"
        self.file.write_bytes(bytes(8))
        self.before = ["env", f"LD_PRELOAD={pathlib.Path(shim).resolve()}", f"CLOCK_SHIM={self.file}"]

    def step(self, seconds):
        """From its true time."""
        with open(self.file, "r+b") as file:
            os.pwrite(file.fileno(), struct.pack("<q", int(seconds * 10**9)), 0)


class Redis:
    """A redis-server; `before`: words of its command that come first, such as a clock's."""

    def __init__(self, place, *options, name="redis", before=()):
        self.place, self.port = place, place.port()
        self.folder = place.folder / f"{name}-{self.port}"
        self.folder.mkdir()
        self.server = place.start(f"{name}-{self.port}", [
            *before, "redis-server", "--port", self.port, "--bind", place.address, "--protected-mode", "no",
            "--dir", self.folder, "--enable-debug-command", "yes", *QUICK, *options])
        self.wait()

    @property
    def address(self):
        return self.place.address, self.port

    def client(self, **options):
        return Resp(self.address, self.place.namespace, **options)

    def __call__(self, *words):
        with self.client() as client:
            return client(*words)

    def answers(self):
        self.server.alive()
        try:
            return self("PING") == "PONG"
        except (OSError, RespError) as error:
            return str(error).startswith(("NOAUTH", "WRONGPASS"))

    def wait(self):
        wait_until(f"{self.server.name} to answer", self.answers)

    def restart(self):
        """Empty, since it keeps nothing."""
        self.server.start()
        self.wait()

    def role(self):
        return self("ROLE")[0].decode()


class SentinelPair:
    """A primary, a replica or more, and three sentinels that watch the primary under NAME."""
    NAME = "store"

    def __init__(self, place, *options, down_after_ms=1000, replicas=1):
        self.place = place
        first = Redis(place, *options, name="primary")
        others = [Redis(place, "--replicaof", *first.address, *options, name="replica") for _ in range(replicas)]
        self.redis = [first, *others]
        wait_until("replicas to follow", lambda: all(other("ROLE")[3] == b"connected" for other in others))
        self.sentinels = [self.start_sentinel(down_after_ms) for _ in range(3)]
        wait_until("the sentinels to know each other", lambda: all(
            int(self.seen_by(port)["num-other-sentinels"]) == 2 and int(self.seen_by(port)["num-slaves"]) == replicas
            for port, _ in self.sentinels))

    def start_sentinel(self, down_after_ms):
        port, first = self.place.port(), self.redis[0]
        config = self.place.folder / f"sentinel-{port}.conf"
        config.write_text(f"""port {port}
bind {self.place.address}
protected-mode no
dir {self.place.folder}
sentinel monitor {self.NAME} {first.address[0]} {first.port} 2
sentinel down-after-milliseconds {self.NAME} {down_after_ms}
sentinel failover-timeout {self.NAME} 3000
""")
        server = self.place.start(f"sentinel-{port}", ["redis-sentinel", config])
        sentinel = port, server

        def answers():
            server.alive()
            try:
                return self.seen_by(port)
            except (OSError, RespError):
                return None
        wait_until("a sentinel to answer", answers)
        return sentinel

    def ask(self, port, *words):
        with Resp((self.place.address, port), self.place.namespace) as client:
            return client(*words)

    def seen_by(self, port):
        flat = [item.decode() for item in self.ask(port, "SENTINEL", "MASTER", self.NAME)]
        return dict(zip(flat[::2], flat[1::2]))

    def primary_port(self):
        """By the first sentinel."""
        return int(self.ask(self.sentinels[0][0], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.NAME)[1])

    def primary(self):
        port = self.primary_port()
        return next(redis for redis in self.redis if redis.port == port)

    def addresses(self):
        return [(self.place.address, port) for port, _ in self.sentinels]


class RedisCluster:
    """Three primaries, with a replica each."""

    def __init__(self, place, *options, replicas=1):
        self.place, self.replicas = place, replicas
        self.redis = [Redis(place, "--cluster-enabled", "yes", "--cluster-config-file", f"nodes-{number}.conf",
                            "--cluster-port", place.port(),
                            "--cluster-node-timeout", 1000, *options, name=f"node{number}") for number in range(3 + 3 * replicas)]
        words = ["redis-cli", "--cluster", "create", *(f"{place.address}:{redis.port}" for redis in self.redis),
                 "--cluster-replicas", replicas, "--cluster-yes"]
        words = [str(word) for word in words]
        done = subprocess.run(run_within(place.namespace, *words) if place.namespace else words, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        wait_until("all nodes to agree", lambda: all(self.is_whole(redis) for redis in self.redis))

    def is_whole(self, redis):
        state = dict(line.split(":") for line in redis("CLUSTER", "INFO").decode().splitlines() if ":" in line)
        nodes = redis("CLUSTER", "NODES").decode().splitlines()
        return state["cluster_state"] == "ok" and sum("slave" in line for line in nodes) == 3 * self.replicas

    def primaries(self):
        return [redis for redis in self.redis if redis.role() == "master"]

    def slot_of(self, key):
        return self.redis[0]("CLUSTER", "KEYSLOT", key)

    def primary_of(self, key):
        slot = self.slot_of(key)
        port = next(primary[1] for first, last, primary, *_ in self.redis[0]("CLUSTER", "SLOTS") if first <= slot <= last)
        return next(redis for redis in self.redis if redis.port == port)


class Etcd:
    """As many members as are wanted."""

    def __init__(self, place, members=1):
        self.place = place
        ports = [(place.port(), place.port()) for _ in range(members)]
        self.urls = [self.url(client) for client, _ in ports]
        peers = ",".join(f"m{number}={self.url(peer)}" for number, (_, peer) in enumerate(ports))
        self.servers = [place.start(f"etcd-{client}", [
            "etcd", "--name", f"m{number}", "--data-dir", place.folder / f"etcd-{client}", "--log-level", "warn",
            "--listen-client-urls", self.url(client), "--advertise-client-urls", self.url(client),
            "--listen-peer-urls", self.url(peer), "--initial-advertise-peer-urls", self.url(peer), "--initial-cluster", peers,
            "--heartbeat-interval", 100, "--election-timeout", 1000])
            for number, (client, peer) in enumerate(ports)]
        wait_until("etcd to be healthy", lambda: all(self.healthy(member) for member in range(members)))

    def url(self, port):
        return f"http://{self.place.address}:{port}"

    def call(self, member, path, body=None):
        request = urllib.request.Request(self.urls[member] + path, None if body is None else json.dumps(body).encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        if self.place.namespace is None:
            return json.load(opener.open(request, timeout=2))
        with within(self.place.namespace):
            return json.load(opener.open(request, timeout=2))

    def healthy(self, member):
        self.servers[member].alive()
        try:
            return self.call(member, "/health")["health"] == "true"
        except (OSError, urllib.error.URLError, ValueError):
            return False

    def leader(self):
        """The number of the member that leads."""
        status = [self.call(member, "/v3/maintenance/status", {}) for member in range(len(self.servers))]
        return next(number for number, one in enumerate(status) if one["leader"] == one["header"]["member_id"])
