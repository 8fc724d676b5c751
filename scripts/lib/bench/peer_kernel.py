"""Limits by source in the kernel, each in a network namespace of its own, fed by tests/bench/peers/kernel_feed:
an XDP program with an LRU hash map, a dynamic set of nftables, xt_hashlimit."""
import contextlib
import json
import pathlib
import re
import secrets
import subprocess
import time

from box import usable_cpus
from commands import call
from line_program import LineProgram
from network import FoldersOfOthers, may_make_namespaces
import rows

LINK = "feed0"
LINK_ADDRESS = "02:00:00:00:00:01"  # the destination of kernel_feed's frames
RESIDENT = "11.0.0.1"
SETTLE_SECONDS, STILL, UNSETTLED_BYTES = 10, 12, 1 << 20  # STILL: quarters of a second
NFT_WATCHED = f"    ip saddr {RESIDENT} counter name resident drop\n"
NFT = """table netdev peers {{
  counter refused {{ }}
  counter resident {{ }}
  counter admitted {{ }}
  set buckets {{ type ipv4_addr; size {table}; flags dynamic,timeout; timeout 10m; }}
  chain arriving {{
    type filter hook ingress device "{link}" priority 0;
    update @buckets {{ ip saddr limit rate over {rate}/second burst {burst} packets }} counter name refused drop
{watched}    counter name admitted drop
  }}
}}
"""
HASHLIMIT_WATCHED = f"-A ADMITTED -s {RESIDENT} -m comment --comment resident -j DROP\n"
HASHLIMIT = """*raw
:PREROUTING ACCEPT [0:0]
:ADMITTED - [0:0]
-A PREROUTING -i {link} -m hashlimit --hashlimit-upto {rate}/sec --hashlimit-burst {burst} --hashlimit-mode srcip \
--hashlimit-name peers --hashlimit-htable-size {table} --hashlimit-htable-max {table} --hashlimit-htable-expire 600000 -j ADMITTED
-A PREROUTING -i {link} -m comment --comment refused -j DROP
{watched}-A ADMITTED -m comment --comment admitted -j DROP
COMMIT
"""
COUNTED = re.compile(r"^\[(\d+):\d+\] .*--comment (\w+) ", re.M)


@contextlib.contextmanager
def namespace():
    refusal = may_make_namespaces("e" + secrets.token_hex(2))
    if refusal:
        raise rows.BenchError(f"no privilege for network namespaces: {refusal}")
    name, folders = f"sluice-{secrets.token_hex(3)}-peer", FoldersOfOthers()
    try:
        call("ip", "netns", "add", name)
        call("ip", "-n", name, "link", "add", LINK, "address", LINK_ADDRESS, "type", "veth", "peer", "name", "feed1")
        for link in ("lo", "feed1", LINK):
            call("ip", "-n", name, "link", "set", link, "up")
        yield name
    finally:
        call("ip", "netns", "delete", name, check=False)
        folders.restore()


def kernel_memory():
    """Bytes that the kernel cannot give back: slabs, what it maps page by page, what each CPU has its own of."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}
    return sum(sizes[name] for name in ("SUnreclaim", "VmallocUsed", "Percpu"))


def let_kernel_memory_settle():
    """Until what was taken down before has been given back, which the kernel does later."""
    deadline, seen = time.monotonic() + SETTLE_SECONDS, []
    while time.monotonic() < deadline:
        seen = [*seen[1 - STILL:], kernel_memory()]
        if len(seen) == STILL and max(seen) - min(seen) < UNSETTLED_BYTES:
            break
        time.sleep(0.25)


class KernelPeer:
    """One limiter under a feed. `counts` adds to what the feed has seen what the limiter admitted. A rule that counts the
    resident apart is there only if it is watched: packets of all others would pay for it."""
    MODE = "feed"

    def __init__(self, program, name, table, watches_resident):
        self.program, self.name, self.table, self.feed = program, name, table, None
        self.watches_resident = watches_resident

    def start(self, limit):
        self.set_up(limit)
        self.feed = LineProgram("kernel_feed", [  # on the last core
            "ip", "netns", "exec", self.name, "taskset", "-c", usable_cpus()[-1], self.program, self.MODE, LINK,
            self.table if self.MODE == "key_limit" else 1])

    def do(self, *words):
        return self.feed.do(*words)

    def inside(self, *words, text=None):
        done = subprocess.run(["ip", "netns", "exec", self.name, *words], input=text, capture_output=True, text=True)
        if done.returncode:
            raise rows.BenchError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def counts(self):
        return self.own_counts_or(self.do("counts"))

    def own_counts_or(self, answer):
        """The feed's answer, and the limiter's counters where it has some of its own."""
        return {**answer, **self.own_counts()}

    def set_up(self, limit):
        """What is there before the first frame."""

    def own_counts(self):
        return {}

    def stop(self):
        if self.feed is not None:
            self.feed.stop()


class Xdp(KernelPeer):
    NAME = "XDP, LRU hash map"
    MODE = "key_limit"

    def start(self, limit):
        super().start(limit)
        self.change(limit)

    def change(self, limit):
        self.do("limit", *limit)

    def reload(self, limit):
        """A program loaded anew has a map of its own."""
        sources, self.feed = self.feed, None
        sources.stop()
        self.start(limit)


class Nftables(KernelPeer):
    NAME = "nftables dynamic set"

    def set_up(self, limit):
        self.inside("nft", "-f", "-", text=self.rules(limit))

    def rules(self, limit):
        return NFT.format(table=self.table, link=LINK, rate=limit[0], burst=limit[1],
                          watched=NFT_WATCHED if self.watches_resident else "")

    def own_counts(self):
        listed = json.loads(self.inside("nft", "-j", "list", "counters"))["nftables"]
        counted = {entry["counter"]["name"]: entry["counter"]["packets"] for entry in listed if "counter" in entry}
        return {"admitted": counted["admitted"] + counted["resident"], "refused": counted["refused"],
                "resident_admitted": counted["resident"]}

    def change(self, limit):
        """The one rule of the limit, replaced; the set and its buckets stay."""
        listed = json.loads(self.inside("nft", "-j", "-a", "list", "chain", "netdev", "peers", "arriving"))["nftables"]
        handle = next(entry["rule"]["handle"] for entry in listed if "rule" in entry)
        rule = next(line for line in self.rules(limit).splitlines() if "update @" in line)
        self.inside("nft", "-f", "-", text=f"replace rule netdev peers arriving handle {handle} {rule.strip()}\n")

    def reload(self, limit):
        """As a service does: the file in one transaction. Counters begin anew with it."""
        self.inside("nft", "-f", "-", text="delete table netdev peers\n" + self.rules(limit))


class Hashlimit(KernelPeer):
    NAME = "xt_hashlimit"

    def set_up(self, limit):
        self.inside("iptables-legacy-restore", text=HASHLIMIT.format(
            table=self.table, link=LINK, rate=limit[0], burst=limit[1],
            watched=HASHLIMIT_WATCHED if self.watches_resident else ""))

    change = reload = set_up

    def own_counts(self):
        listed = self.inside("iptables-legacy-save", "-c", "-t", "raw")
        counted = {name: int(packets) for packets, name in COUNTED.findall(listed)}
        resident = counted.get("resident", 0)
        return {"admitted": counted["admitted"] + resident, "refused": counted["refused"], "resident_admitted": resident}


KERNEL_PEERS = (Xdp, Nftables, Hashlimit)


@contextlib.contextmanager
def running(bench, kind, table, limit, watches_resident=False):
    with namespace() as name:
        peer = kind(bench.build / "tests/bench/peers/kernel_feed", name, table, watches_resident)
        try:
            peer.start(limit)
            yield peer
        finally:
            peer.stop()
