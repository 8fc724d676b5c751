"""The box, dpdk-testpmd and tests/bench/peers/hash_meter between two net_pcap ports that send one capture each in a loop."""
import contextlib
import json
import os
import pathlib
import time

from box import Box
from forwarders import Bare, MBUFS, Testpmd, cores
from forwarding import Stoppable, source_of, udp_frame, write_capture
from line_program import LineProgram
import rows

DESTINATION = 0x0A4D0002
RESIDENT = 0x0B000001
MBUF_BYTES, HUGE_MBUF_BYTES = 4096, 2600  # without huge pages each has a page of its own
PATIENCE = 60.0
LEAST_SHARE = 0.1  # of a round, that its worker has to have had a core
RULES = """version: 1
rules:
  - id: per-source
    mode: enforce
    when: ip.version eq 4
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: {rate}/s, burst: {burst}}}]
    on_exceed: {{action: drop}}
"""


def frame_of(source):
    """Of no source: IPv4 by its type alone, with a header of zeros."""
    frame = udp_frame(source or 0, DESTINATION, 40000, 53)
    return frame if source is not None else frame[:14] + bytes(len(frame) - 14)


def sources(keys):
    """Of both ports: each source is at one of them."""
    return [[source_of(number) for number in range(port, keys, 2)] for port in (0, 1)]


def with_resident(keys, every, begins):
    """The keys at the second port, and at the first one frame in `every` is the resident's, from place `begins` on; the
    others there are no IPv4 (None), which no side admits. So what leaves the second port is the resident's, and each
    port has as many frames as the other."""
    return [[RESIDENT if place % every == begins else None for place in range(every)],
            [source_of(number) for number in range(keys)]]


class Traffic:
    """Two captures in a folder, and how many frames they hold."""

    def __init__(self, folder, of_ports):
        self.frames, self.frames_of_first_port = sum(map(len, of_ports)), len(of_ports[0])
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


def core_seconds(begun, ended):
    """Between two (thread_times, seconds), how long the worker had a core: it polls, so it is the busiest."""
    (before, _), (after, _) = begun, ended
    return max(after[name] - before[name] for name in before if name in after) / 1e9


def share_of_core(begun, ended):
    """Of the time between two (thread_times, seconds), what the worker had a core for."""
    return core_seconds(begun, ended) / (ended[1] - begun[1])


def per_cpu_second(side, seconds):
    """Million packets for each second that the worker had a core. The counts have instants of their own, since it takes
    time to read them: a rate between these, and the share of a core between those of the thread times. Where others have
    the core, it takes as many times `seconds` as the worker needs for LEAST_SHARE of them; a BenchError after PATIENCE."""
    def times():
        return thread_times(side.pid()), time.monotonic()
    before, begun = side.counts(), times()
    while True:
        time.sleep(seconds)
        ended = times()
        if core_seconds(begun, ended) >= LEAST_SHARE * seconds:
            break
        if ended[1] > begun[1] + PATIENCE:
            raise rows.BenchError(f"others have the core: the worker of {side.NAME} had it for "
                                  f"{core_seconds(begun, ended):.3f} s in {PATIENCE:.0f} s")
    after = side.counts()
    rate = (after["seen"] - before["seen"]) / (after["at"] - before["at"])
    return rate / share_of_core(begun, ended) / 1e6


def wait_for_frames(side, frames):
    """Until so many more have come."""
    deadline, before = time.monotonic() + PATIENCE, side.counts()["seen"]
    while side.counts()["seen"] < before + frames:
        if time.monotonic() > deadline:
            raise rows.BenchError(f"{side.NAME} did not forward {frames} frames within {PATIENCE:.0f} s")
        time.sleep(0.05)


class SluicePeer:
    NAME = "sluice-dataplane"
    SILENT = ("net_null0,no-rx=1", "net_null1,no-rx=1")

    def __init__(self, bench, folder, traffic, table):
        self.folder = folder
        self.box = Box(bench.programs, folder, idle_sleep=None, mbufs=traffic.mbufs())
        self.box.table_keys = table
        self.box.memory += f", hugepages: {'required' if traffic.is_huge else 'none'}"
        self.devices, self.frames_of_first_port = traffic.devices, traffic.frames_of_first_port

    def start(self, limit):
        """First without frames, where the rules come into force and are kept: then the first frame is judged by them."""
        self.box.start(Bare(self.SILENT))
        self.change(limit)
        self.box.restart_dataplane(Bare(self.devices))

    def change(self, limit):
        rate, burst = limit
        rules = self.folder / "rules.yaml"
        rules.write_text(RULES.format(rate=rate, burst=burst))
        self.box.apply(rules)

    reload = change

    def pid(self):
        return self.box.dataplane().process.pid

    def counts(self):
        stats = self.box.stats()
        return {"seen": stats["packets"], "at": stats["uptime_s"], "admitted": stats["reasons"]["within_limits"],
                "refused": stats["reasons"]["over_limit"]}

    def resident_counts(self):
        """Of `with_resident` alone: what came to the first port, and what left by the second."""
        first, second = json.loads(self.box.ctl("ports", "--json"))["ports"]
        return {"resident_seen": first["rx_packets"] // self.frames_of_first_port, "resident_admitted": second["tx_packets"]}

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
        self.path, self.folder = bench.build / "tests/bench/peers/hash_meter", folder
        self.traffic, self.table, self.program = traffic, table, None

    def start(self, limit):
        self.program = LineProgram("hash_meter", [
            self.path, "--lcores", cores(), "--no-pci", "--no-telemetry", "--log-level=error", *self.traffic.eal(),
            *(f"--vdev={device}" for device in self.traffic.devices), "--", self.table, *limit,
            self.traffic.mbufs(), self.ON_FULL], cwd=self.folder, env={**os.environ, "RUNTIME_DIRECTORY": str(self.folder)})

    def pid(self):
        return self.program.process.pid

    def counts(self):
        answer = self.program.do("counts")
        return {**answer, "seen": answer["received"]}

    def resident_counts(self):
        return {}  # they are among counts()

    def change(self, limit):
        self.program.do("limit", *limit)

    def stop(self):
        if self.program is not None:
            self.program.stop()


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
