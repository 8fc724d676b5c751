"""The box, dpdk-testpmd and tests/bench/peers/hash_meter between two net_pcap ports that send one capture each in a loop."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

from box import Box
from commands import die_with_us
from forwarders import Bare, MBUFS, Testpmd, cores
from forwarding import Stoppable, source_of, udp_frame, write_capture
import rows

DESTINATION = 0x0A4D0002
RESIDENT = 0x0B000001
MBUF_BYTES, HUGE_MBUF_BYTES = 4096, 2600  # without huge pages each has a page of its own
PATIENCE = 60.0
RULES = """version: 1
rules:
{resident}  - id: per-source
    mode: enforce
    when: ip.version eq 4{others}
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: {rate}/s, burst: {burst}}}]
    on_exceed: {{action: drop}}
"""
RESIDENT_RULE = """  - id: resident
    mode: enforce
    when: ip.src eq 11.0.0.1
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: {rate}/s, burst: {burst}}}]
    on_exceed: {{action: drop}}
"""


def frame_of(source):
    return udp_frame(source, DESTINATION, 40000, 53)


def sources(keys):
    """Of both ports: each source is at one of them."""
    return [[source_of(number) for number in range(port, keys, 2)] for port in (0, 1)]


def with_resident(keys, every, begins):
    """The same, and at the first port one frame in `every` is the resident's, from place `begins` on."""
    first, second = sources(keys)
    return [[RESIDENT if place % every == begins else source for place, source in enumerate(first)], second]


class Traffic:
    """Two captures in a folder, and how many frames they hold."""

    def __init__(self, folder, of_ports):
        self.frames = sum(map(len, of_ports))
        # All sides of a run have the same pages.
        self.is_huge = True
        self.is_huge = free_huge_megabytes() >= 2 * self.megabytes()
        self.devices = []
        for port, of_port in enumerate(of_ports):
            path = folder / f"port{port}.pcap"
            write_capture(path, map(frame_of, of_port))
            self.devices.append(f"net_pcap{port},rx_pcap={path},infinite_rx=1")

    def mbufs(self):
        """net_pcap keeps each frame of the loop in a buffer of the ports' pool."""
        return MBUFS + self.frames

    def megabytes(self):
        return 384 + (self.mbufs() * (HUGE_MBUF_BYTES if self.is_huge else MBUF_BYTES) >> 20)

    def eal(self):
        pages = ("--in-memory",) if self.is_huge else ("--no-huge", "--file-prefix", f"peer{os.getpid()}")
        return (*pages, "-m", str(self.megabytes()))


def free_huge_megabytes():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return sizes["HugePages_Free"] * sizes["Hugepagesize"] >> 10


def thread_times(pid):
    """ns on a core, by thread."""
    times = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            times[task.name] = int((task / "schedstat").read_text().split()[0])
    return times


def per_cpu_second(side, seconds):
    """Million packets for each second that the worker had a core: a polling worker is the busiest thread."""
    before, begun = side.counts()["seen"], thread_times(side.pid())
    time.sleep(seconds)
    ended, after = thread_times(side.pid()), side.counts()["seen"]
    busy = max(ended[name] - begun[name] for name in begun if name in ended)
    return (after - before) / busy * 1e3


def wait_for_frames(side, frames):
    deadline = time.monotonic() + PATIENCE
    while side.counts()["seen"] < frames:
        if time.monotonic() > deadline:
            raise rows.BenchError(f"{side.NAME} did not forward {frames} frames within {PATIENCE:.0f} s")
        time.sleep(0.05)


class SluicePeer:
    NAME = "sluice-dataplane"

    def __init__(self, bench, folder, traffic, table):
        self.folder = folder
        self.box = Box(bench.programs, folder, idle_sleep=None, mbufs=traffic.mbufs())
        self.box.keys = table
        self.box.memory += f", hugepages: {'required' if traffic.is_huge else 'none'}"
        self.devices, self.watches_resident = traffic.devices, False

    def start(self, limit, watches_resident=False):
        self.watches_resident = watches_resident
        self.box.start(Bare(self.devices))
        self.change(limit)

    def change(self, limit):
        rate, burst = limit
        resident = RESIDENT_RULE.format(rate=rate, burst=burst) if self.watches_resident else ""
        rules = self.folder / "rules.yaml"
        rules.write_text(RULES.format(rate=rate, burst=burst, resident=resident,
                                      others=" and ip.src ne 11.0.0.1" if resident else ""))
        self.box.apply(rules)

    reload = change

    def pid(self):
        return self.box.processes[0].process.pid

    def counts(self):
        stats = self.box.stats()
        resident = next((rule["admitted"] for rule in stats["rules"] if rule["id"] == "resident"), 0)
        return {"seen": stats["packets"], "at": stats["uptime_s"], "admitted": stats["reasons"]["within_limits"],
                "refused": stats["reasons"]["over_limit"], "resident_admitted": resident,
                "lost": stats["verdicts"]["drop"] - stats["reasons"]["over_limit"]}

    def stop(self):
        self.box.stop()


class TestpmdPeer:
    NAME = "dpdk-testpmd mac"

    def __init__(self, _, folder, traffic, __):
        self.folder, self.traffic, self.program = folder, traffic, None

    def start(self, _):
        self.program = Testpmd(self.folder, self.traffic.devices, cores(), self.traffic.eal(), [
            "--forward-mode=mac", "--no-flush-rx", f"--total-num-mbufs={self.traffic.mbufs()}"])

    def pid(self):
        return self.program.process.pid

    def counts(self):
        seen, at = self.program.received()
        return {"seen": seen, "at": at}

    def stop(self):
        if self.program is not None:
            self.program.stop()


class HashMeter:
    NAME = "rte_hash + rte_meter"
    ON_FULL = "drop"

    def __init__(self, bench, folder, traffic, table):
        self.program, self.folder = bench.build / "tests/bench/peers/hash_meter", folder
        self.traffic, self.table, self.process = traffic, table, None

    def start(self, limit):
        command = [self.program, "--lcores", cores(), "--no-pci", "--no-telemetry", "--log-level=error", *self.traffic.eal(),
                   *(f"--vdev={device}" for device in self.traffic.devices), "--", self.table, *limit,
                   self.traffic.mbufs(), self.ON_FULL]
        self.process = subprocess.Popen(
            list(map(str, command)), cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True, preexec_fn=die_with_us, env={**os.environ, "RUNTIME_DIRECTORY": str(self.folder)})
        for line in self.process.stdout:
            if line == "ready\n":
                return
        raise rows.BenchError("hash_meter did not begin")

    def pid(self):
        return self.process.pid

    def do(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise rows.BenchError("hash_meter ended")
        return json.loads(line)

    def counts(self):
        answer = self.do("counts")
        return {**answer, "seen": answer["received"]}

    def change(self, limit):
        self.do("limit", *limit)

    def stop(self):
        if self.process is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


class HashMeterOpen(HashMeter):
    NAME = "rte_hash + rte_meter, full: pass"
    ON_FULL = "pass"


DPDK_PEERS = (TestpmdPeer, HashMeter)


@contextlib.contextmanager
def running(bench, kind, traffic, table):
    """Not started yet: the limit is given by start()."""
    with bench.folder() as folder:
        peer = kind(bench, folder, traffic, table)
        with contextlib.closing(Stoppable(peer)):
            yield peer
