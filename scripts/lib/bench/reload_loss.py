"""E7: packets lost while rules are loaded again and again. sluice-pktgen sends at a fixed rate, from another process over vhost into the
box, over veth through the peers in the kernel; after each stretch comes one of the same side that lasts as long, undisturbed."""
import collections
import contextlib
import json
import os
import secrets
import signal
import subprocess
import time

from box import usable_cpus
from commands import call, die_with_us
from forwarders import Sluice
from forwarding import OURS, Stoppable
from network import FoldersOfOthers, may_make_namespaces
import peer_dpdk
import peer_kernel
import pktgen
import rows

RATE = 100_000  # frames a second: every side forwards many times as many, so it loses none for want of time
EVERY = 0.2     # seconds from one reload to the next
RELOADS, QUICK_RELOADS = 20, 5
TABLE = 1 << 12
LIMITS = ((1_000_000, 1000), (900_000, 900))  # of a source, which none comes near
PATIENCE = 30.0
FIRST_CORE = usable_cpus()[0]
# A frame has one chance, as on a wire; what a pause of the generator keeps back is not sent all at once.
WORDS = ("--rate", RATE, "--drop-refused", "--backlog", 32, "--latency", "--size", 64, "--sources", 1024, "--linger", "500ms",
         "--json")
UNDISTURBED, SAME, CHANGED = "undisturbed", "the same rules", "other rules each time"
NFT = """table netdev peers {{
  set buckets {{ type ipv4_addr; size {table}; flags dynamic,timeout; timeout 10m; }}
  chain arriving {{
    type filter hook ingress device "{link}" priority 0;
    update @buckets {{ ip saddr limit rate over {rate}/second burst {burst} packets }} drop
  }}
}}
"""
HASHLIMIT = """*raw
:PREROUTING ACCEPT [0:0]
-A PREROUTING -i {link} -m hashlimit --hashlimit-above {rate}/sec --hashlimit-burst {burst} --hashlimit-mode srcip \
--hashlimit-name peers --hashlimit-htable-size {table} --hashlimit-htable-max {table} --hashlimit-htable-expire 600000 -j DROP
COMMIT
"""


@contextlib.contextmanager
def on_first_core():
    """What is started meanwhile runs beside the generator, never on the worker's core: that would be the scheduler's loss."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {FIRST_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def move_to_first_core(process):
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(task), {FIRST_CORE})


class Sender:
    """sluice-pktgen until it is ended."""

    def __init__(self, command, folder):
        with (folder / "sender.log").open("wb") as log:
            self.process = subprocess.Popen(
                list(map(str, command)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                start_new_session=True, preexec_fn=die_with_us, env={**os.environ, "RUNTIME_DIRECTORY": str(folder)})
        self.log = folder / "sender.log"

    def is_running(self):
        return self.process.poll() is None

    def end(self):
        """What it counted, once what is under way has arrived."""
        self.process.send_signal(signal.SIGINT)
        try:
            printed, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired as late:
            raise rows.BenchError(f"sluice-pktgen did not end within {PATIENCE:.0f} s") from late
        if self.process.returncode:
            raise rows.BenchError(f"sluice-pktgen ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")
        return json.loads(printed)

    def stop(self):
        if self.is_running():
            self.process.kill()
        self.process.communicate()


class BoxSide:
    """Between two vhost ports, whose other ends are the generator's."""
    NAME = OURS

    def __init__(self, bench, folder, _):
        self.folder = folder
        self.inner = Sluice(bench.programs, folder, pktgen.vhost_ports(folder), self.rules(LIMITS[0]), table_keys=TABLE)
        self.stop = self.inner.stop
        for process in self.inner.box.processes:
            if process.name == "sluiced":
                move_to_first_core(process.process)

    def rules(self, limit):
        path = self.folder / "rules.yaml"
        path.write_text(peer_dpdk.RULES.format(rate=limit[0], burst=limit[1]))
        return path

    def sender(self, bench, words=WORDS):
        return pktgen.command(bench.build, self.folder, words)

    def reload(self, limit):
        self.inner.box.ctl("apply", self.rules(limit))

    def seen(self):
        return self.inner.box.stats()["packets"]

    def counts(self):
        """Why the box kept packets back, where it did."""
        reasons = self.inner.box.stats()["reasons"]
        return {"reasons": {reason: count for reason, count in reasons.items() if count}}


class KernelSide:
    """A router in a namespace between two links, whose other ends are the generator's in another one."""
    LINKS = (("p0", "e0"), ("p1", "e1"))
    ADDRESSES = {"p0": "02:00:00:00:00:02", "e1": "02:00:00:00:00:03"}
    SERVICE = "198.18.0.2"  # what the generator sends to

    def __init__(self, bench, folder, tag, limit=LIMITS[0]):
        self.program, self.folder, self.cleaning = bench.build / "tests/bench/peers/kernel_feed", folder, contextlib.ExitStack()
        self.router, self.ends = f"sluice-{tag}-peer", f"sluice-{tag}-ends"
        self.stop = self.cleaning.close
        try:
            self.open()
            self.load(limit)
        except BaseException:  # nobody has it yet who could stop it
            self.stop()
            raise

    def open(self):
        self.cleaning.callback(FoldersOfOthers().restore)
        for name in (self.router, self.ends):
            self.cleaning.callback(call, "ip", "netns", "delete", name, check=False)
            call("ip", "netns", "add", name)
        for inner, outer in self.LINKS:
            call("ip", "-n", self.router, "link", "add", inner, "type", "veth", "peer", "name", outer, "netns", self.ends)
            for name, link in ((self.router, inner), (self.ends, outer)):
                call("ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1")
                if link in self.ADDRESSES:
                    call("ip", "-n", name, "link", "set", link, "address", self.ADDRESSES[link])
                call("ip", "-n", name, "link", "set", link, "up")
        self.inside("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.p0.rp_filter=0")
        self.inside("ip", "route", "add", f"{self.SERVICE}/32", "dev", "p1")
        self.inside("ip", "neighbour", "add", self.SERVICE, "lladdr", self.ADDRESSES["e1"], "dev", "p1")

    def inside(self, *words, text=None):
        done = subprocess.run(["ip", "netns", "exec", self.router, *map(str, words)], input=text, capture_output=True, text=True)
        if done.returncode:
            raise rows.BenchError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout

    def sender(self, bench, words=WORDS):
        ports = [f"net_af_packet{number},iface=e{number},framecnt=4096,framesz=2048" for number in (0, 1)]
        return ["ip", "netns", "exec", self.ends, bench.build / pktgen.TARGET, "--tx", ports[0], "--rx", ports[1],
                "--cpu", FIRST_CORE, *words]

    def seen(self):
        return int(self.inside("cat", "/sys/class/net/p0/statistics/rx_packets"))

    def reload(self, limit):
        self.load(limit)

    def counts(self):
        return {}


class Nftables(KernelSide):
    NAME = peer_kernel.Nftables.NAME

    def rules(self, limit):
        return NFT.format(table=TABLE, link="p0", rate=limit[0], burst=limit[1])

    def load(self, limit):
        self.inside("nft", "-f", "-", text=self.rules(limit))

    def reload(self, limit):
        """As a service does: the file in one transaction."""
        self.inside("nft", "-f", "-", text="delete table netdev peers\n" + self.rules(limit))


class Hashlimit(KernelSide):
    NAME = peer_kernel.Hashlimit.NAME

    def load(self, limit):
        self.inside("iptables-legacy-restore", text=HASHLIMIT.format(table=TABLE, link="p0", rate=limit[0], burst=limit[1]))


class Xdp(KernelSide):
    NAME = peer_kernel.Xdp.NAME

    def load(self, limit):
        """Loaded anew, with a map of its own, and put in the place of the one before."""
        self.inside(self.program, "attach", "p0", TABLE, *limit)


SIDES = (BoxSide, Xdp, Nftables, Hashlimit)


def wait_until_seen(side, sender):
    deadline = time.monotonic() + PATIENCE
    while side.seen() == 0:
        if not sender.is_running() or time.monotonic() > deadline:
            raise rows.BenchError(f"nothing reaches {side.NAME}: {sender.log.read_text()[-2000:]}")
        time.sleep(0.02)


def limits_of(what, number):
    return LIMITS[number % 2] if what == CHANGED else LIMITS[0]


def disturb(side, what, reloads):
    """How long a stretch of so many reloads took: one that takes longer than EVERY lengthens it."""
    began = time.monotonic()
    for number in range(1, reloads + 1):
        side.reload(limits_of(what, number))
        time.sleep(max(0.0, began + number * EVERY - time.monotonic()))
    return time.monotonic() - began


class Loss(int):
    """Frames that did not arrive in a stretch of so many seconds, and what was counted beside it."""

    def __new__(cls, found, counts, stretch):
        loss = super().__new__(cls, found["lost"])
        loss.stretch = stretch
        found = {name: found[name] for name in ("sent", "received", "dropped", "skipped", "seconds")}
        loss.counts = {**found, "stretch": round(stretch, 3), **counts}
        return loss


def lost(bench, kind, what, stretch=None):
    """With reloads, or undisturbed for the seconds of `stretch`."""
    with bench.folder() as folder:
        side = kind(bench, folder, secrets.token_hex(3))
        with contextlib.closing(Stoppable(side)):
            sender = Sender(side.sender(bench), folder)
            with contextlib.closing(Stoppable(sender)):
                with on_first_core():
                    wait_until_seen(side, sender)
                    if what == UNDISTURBED:
                        time.sleep(stretch)
                    else:
                        stretch = disturb(side, what, QUICK_RELOADS if bench.quick else RELOADS)
                found = sender.end()
            return Loss(found, side.counts(), stretch)


def beside(what):
    """The undisturbed stretches that lasted as long as these."""
    return f"{UNDISTURBED}, as long as {what}"


def both_stretches(bench, kind, what):
    disturbed = lost(bench, kind, what)
    return {what: disturbed, beside(what): lost(bench, kind, UNDISTURBED, disturbed.stretch)}


def rows_of(what, reloads, taken):
    """The box beside its own undisturbed stretch, then beside each peer and that one's; of amounts about 0, so without a ratio."""
    case = f"{reloads} reloads, {what}, under {RATE // 1000},000 frames a second: lost"
    ours = rows.Median(taken[OURS, what])
    counts = [one.counts for one in taken[OURS, what]]
    references = [(f"{OURS}, {UNDISTURBED}", (OURS, beside(what)))]
    for kind in SIDES[1:]:
        references += [(kind.NAME, (kind.NAME, what)), (f"{kind.NAME}, {UNDISTURBED}", (kind.NAME, beside(what)))]
    for name, key in references:
        medians = {OURS: ours, name: rows.Median(taken[key])}
        yield {**rows.compared("E7", case, medians, "packets", (0, 0)), "ratio": None, "better": "lower", "bar_of": "value",
               "counts": counts}


def losses(bench, _):
    refusal = may_make_namespaces("e" + secrets.token_hex(2))
    if refusal:
        raise rows.BenchError(f"no privilege for network namespaces: {refusal}")
    reloads = QUICK_RELOADS if bench.quick else RELOADS
    rows.note(f"E7 {reloads} reloads")
    taken = collections.defaultdict(list)
    for number in range(1, bench.rounds + 1):
        for kind in SIDES:
            for what in (SAME, CHANGED):
                for name, loss in both_stretches(bench, kind, what).items():
                    taken[kind.NAME, name].append(loss)
                    rows.note(f"  round {number}: {kind.NAME}, {name}: {loss} {loss.counts}")
    for what in (SAME, CHANGED):
        yield from rows_of(what, reloads, taken)


BENCHES = {"E7": losses}
