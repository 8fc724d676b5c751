"""Three boxes that may share limits by a store: real programs in namespaces, a real redis-server, a proxy before it for
each box."""
import json
import pathlib
import secrets
import signal
import subprocess
import tempfile

from box_file import merged
from cluster_network import STORE_ADDRESS, ClusterNetwork
from http_hosts import run_within
from programs import Box, wait_until
from proxy import Proxy
from servers import Place, Redis, SentinelPair, SteppedClock, die_with_us
from stand_in_store import StandInStore

STORE_PORT = 7000
STAND_IN = "stand-in"  # in the place of sluice-store: stand_in_store.py speaks to all boxes
RULE = "shared"
# For what is on its way at a time; a worker that sleeps between bursts, since many share the processors.
SMALL = {"workers": {"lcores": "0@0,1@1", "idle_sleep": "1ms"}, "memory": {"mbufs": 8192}}
PORTS = ",framecnt=2048,framesz=2048,blocksz=1048576"


def rules(limit, scope="box", more=""):
    """One rule that holds each client to `limit` (exact_bucket.Limit)."""
    scoped = "" if scope == "box" else f", scope: {scope}"
    return rule_of(f"{{algorithm: token_bucket, rate: {limit.rate}/s, burst: {limit.burst}{scoped}{more}}}")


def rule_of(limit):
    """One rule that holds each client to a limit in the rules' own words."""
    return f"""version: 1
rules:
  - id: {RULE}
    mode: enforce
    when: dir eq "in" and ip.proto eq 17
    key: [ip.src]
    limits: [{limit}]
"""


class Stoppable:
    def __init__(self, process):
        self.process = process

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


class ClusterBox(Box):
    """One of several: its programs live in its namespace, and end when the test does."""

    def __init__(self, programs, hosts, store_program=None):
        super().__init__(*programs)
        self.hosts, self.store_program = hosts, store_program
        self.wrapper = run_within(hosts.box)
        self.store = None
        self.seeded_rss = False  # one worker has all frames
        self.clock = None  # a SteppedClock, where its UTC is

    def start(self, command, log):
        with open(self.folder / log, "ab") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=die_with_us)
        self.running.append(process)
        return process

    def start_ports(self, config=None):
        self.config = merged(SMALL, config or {})
        self.start_dataplane(f"net_af_packet0,iface=o{PORTS}", f"net_af_packet1,iface=i{PORTS}", self.config, wait=False)

    def step_clock(self, folder, shim):
        """From now on its programs start with a UTC that can be stepped while they run."""
        self.clock = SteppedClock(folder, shim)
        self.wrapper = [*self.wrapper, *self.clock.before]

    def restart_dataplane(self):
        self.start_ports(self.config)
        wait_until("the dataplane's socket", self.dataplane_answers)
        self.wait_for_link(True)

    def kill_dataplane(self):
        self.kill(self.dataplane)

    def start_store(self):
        self.store = self.start([*self.wrapper, self.store_program, "--config", self.box_file], "store.log")

    def kill_store(self):
        self.kill(self.store)

    def handle(self, name):
        """A program to be stopped: it goes on by the same handle."""
        return Stoppable(getattr(self, name))


class ClusterBoxes:
    """Begins with open(). `store`: the program sluice-store, or STAND_IN; without it the boxes share nothing. `shim`: clock_shim,
    for a redis-server whose clock is stepped."""

    def __init__(self, programs, store=None, count=3, shim=None):
        self.programs, self.shim = programs, shim
        self.size = count  # of the cluster, by each sluice.yaml
        self.nodes = [f"box{number}" for number in range(count)]
        self.network = ClusterNetwork(count)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-cluster-"))
        self.boxes = [ClusterBox(programs, hosts, store) for hosts in self.network.hosts]
        self.with_store, self.stand_in = store is not None, store == STAND_IN
        self.told = None  # the StandInStore
        self.with_sentinels = False  # the store is a primary with two replicas, found by sentinels and without proxies
        self.place = self.redis = self.clock = self.sentinels = None
        self.proxies = []

    def open(self, config=None, redis=()):
        """`config`: more of each sluice.yaml; `redis`: options of redis-server."""
        self.network.open()
        self.place = Place(self.network.store, STORE_ADDRESS, STORE_PORT)
        if self.shim:
            self.clock = SteppedClock(self.place.folder, self.shim)
        self.open_store(redis)
        (self.folder / "secret").write_text(secrets.token_hex(16) + "\n")
        (self.folder / "secret").chmod(0o600)
        for number, box in enumerate(self.boxes):
            box.start_ports(merged(config or {}, self.cluster_part(number)))
        if self.with_store and not self.stand_in:
            self.init_store()
        for box in self.boxes:
            wait_until("the dataplane's socket", box.dataplane_answers)
            box.start_sluiced("--config", box.box_file, connected=False)
        for box in self.boxes:
            box.wait_for_link(True)
            if self.with_store and not self.stand_in:
                box.start_store()
        if self.stand_in:
            self.told = StandInStore(box.folder / "store.sock" for box in self.boxes)

    def open_store(self, options):
        options = ("--maxmemory-policy", "noeviction", *options)
        if self.with_sentinels:
            self.sentinels = SentinelPair(self.place, *options, "--repl-diskless-sync-delay", "0", down_after_ms=500, replicas=2)
            self.redis = self.sentinels.redis[0]
            return
        self.redis = Redis(self.place, *options, before=self.clock.before if self.clock else ())
        self.proxies = [Proxy(self.redis.address, (self.network.proxy_address(number), STORE_PORT), self.network.store, number)
                        for number in range(len(self.boxes))]

    def init_store(self):
        """As an operator does: the function is loaded."""
        box = self.boxes[0]
        done = subprocess.run(run_within(box.hosts.box, self.programs[2], "store", "init", "--config", box.box_file), capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 0, done.stderr + done.stdout

    def restart_redis(self):
        """Empty, but for the function, which the operator loads again."""
        self.redis.restart()
        if self.with_store:
            self.init_store()

    def cluster_part(self, number):
        if not self.with_store:
            return {}
        store = {"addresses": [f"{self.network.proxy_address(number)}:{STORE_PORT}"]}
        if self.sentinels:
            store = {"sentinel": self.sentinels.NAME,
                     "addresses": [f"{host}:{port}" for host, port in self.sentinels.addresses()]}
        return {"cluster": {"name": "test", "node": self.nodes[number], "size": self.size,
                            "secret_file": self.folder / "secret", "store": store}}

    def apply(self, text):
        for box in self.boxes:
            done = box.apply(text)
            assert done.returncode == 0, done.stderr + done.stdout

    def rule(self, number):
        """What a box says of the rule."""
        return next(rule for rule in self.boxes[number].stats()["rules"] if rule["id"] == RULE)

    def promised(self):
        """What all boxes may admit beyond the burst together, as each of them says."""
        said = {rule["limits"][0]["cluster"]["overshoot"] for box in self.boxes
                for rule in json.loads(box.api("GET", "/v1/rules")[1])["rules"] if rule["id"] == RULE}
        assert len(said) == 1, said
        return said.pop()

    def links(self):
        """How each box stands with the store: "ready", "down" while limits go by owner_down, else the state's name."""
        return [self.link_of(box.stats()) for box in self.boxes]

    @staticmethod
    def link_of(stats):
        link = (stats or {}).get("store")
        if link is None:
            return "none"
        return "down" if link["state"] == "ready" and link["down"] else link["state"]

    def without_store(self):
        """How many charges the boxes judged with what they had alone, the store having been silent for too long."""
        return sum(worker["ledger"][event] for box in self.boxes for worker in box.workers()
                   for event in ("used_up", "local_share", "local_share_refused"))

    def wait_until_shared(self, boxes=None):
        """So many have the store, all if nothing else is said."""
        boxes = len(self.boxes) if boxes is None else boxes
        wait_until(f"{boxes} boxes to have the store", lambda: self.links().count("ready") == boxes)

    def close(self):
        if self.told is not None:
            self.told.close()
        for box in self.boxes:
            box.close()
        for proxy in self.proxies:
            proxy.close()
        if self.place is not None:
            self.place.close()
        self.network.close()
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()
