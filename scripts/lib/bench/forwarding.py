"""F1 and F2: packets a second of one worker, from port to port, beside dpdk-testpmd."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import typing

from forwarders import Sluice, Testpmd, cores, huge_pages, rate
from box import usable_cpus
import rows

RULES = """version: 1
rules:
  - id: per-source
    mode: enforce
    when: ip.version eq 4
    key: [{key}]
    limits: [{{algorithm: token_bucket, rate: 1G/s, burst: 1M}}]
    on_exceed: {{action: drop}}
"""
SOURCES = 4096
MAC = bytes.fromhex("020000000002020000000001")
REFERENCE = "dpdk-testpmd mac"
OURS = "sluice-dataplane"
HARNESS = "added in process"


def udp_frame(source, destination, sport, dport):
    """64 bytes with the checksum at the end."""
    udp = struct.pack("!HHHH", sport, dport, 26, 0) + bytes(18)
    header = struct.pack("!BBHHHBBHII", 0x45, 0, 46, 0, 0x4000, 64, 17, 0, source, destination)
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return MAC + b"\x08\x00" + header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:] + udp


def write_capture(path, frames):
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def source_of(number):
    return 0x0A000000 + number * 2654435761 % (1 << 24)


def from_sources():
    """All to one service: only the source changes."""
    return (udp_frame(source_of(number), 0x0A4D0002, 40000, 53) for number in range(SOURCES))


def whole_flows():
    """Each source with a destination and ports of its own, from the same seed each time."""
    draw = random.Random(SOURCES)
    return (udp_frame(source_of(number), 0xC6120000 + draw.randrange(1 << 17), draw.randrange(1 << 16),
                      draw.randrange(1 << 16)) for number in range(SOURCES))


class Effort(typing.NamedTuple):
    """How long to measure: seconds of a round, rounds, whether programs that take --quick get it."""
    seconds: float
    rounds: int
    quick: bool


class Bench:
    def __init__(self, programs, build, effort, rules):
        self.programs, self.build = programs, build
        self.seconds, self.rounds, self.quick = effort
        self.rules = rules  # file of P5 and F1 (c)

    @contextlib.contextmanager
    def folder(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=self.build))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def sluice(self, folder, devices, rules):
        return contextlib.closing(Stoppable(Sluice(self.programs, folder, devices, rules)))

    def testpmd(self, folder, devices):
        return contextlib.closing(Stoppable(Testpmd(
            folder, devices, cores(), huge_pages(), ["--forward-mode=mac", "--no-flush-rx"])))


def one_rule(folder, key):
    rules = folder / "rules.yaml"
    rules.write_text(RULES.format(key=key))
    return rules


class Stoppable:
    """contextlib.closing() calls close(); ours is called stop()."""

    def __init__(self, inner):
        self.inner, self.close = inner, inner.stop


def null_ports(_):
    return ["net_null0,size=64,copy=1", "net_null1,size=64,copy=1"]


def looping_ports(frames):
    def ports(folder):
        write_capture(folder / "frames.pcap", frames())
        return [f"net_pcap{index},rx_pcap={folder}/frames.pcap,infinite_rx=1" for index in (0, 1)]
    return ports


class FakeCase(typing.NamedTuple):
    """Ports that make frames out of nothing and throw them away, so that the worker is all there is."""
    name: str
    ports: typing.Callable
    frames: typing.Callable  # that these ports make
    rules: typing.Callable   # file of them, in a folder
    bars: tuple

    def ours(self, bench):
        with bench.folder() as folder, bench.sluice(folder, self.ports(folder), self.rules(folder)) as side:
            return rate(side.inner, bench.seconds)

    def theirs(self, bench):
        with bench.folder() as folder, bench.testpmd(folder, self.ports(folder)) as side:
            return rate(side.inner, bench.seconds)

    def added_in_process(self, bench):
        """ns that the same rules add to a MAC swap of the same frames, without ports."""
        with bench.folder() as folder:
            write_capture(folder / "frames.pcap", self.frames())
            done = subprocess.run([bench.build / "tests/added_bench", folder / "frames.pcap", self.rules(folder)],
                                  stdout=subprocess.PIPE, text=True, check=False,
                                  env={**os.environ, "RUNTIME_DIRECTORY": str(folder)})
        if done.returncode != 0:
            raise rows.BenchError(f"added_bench ended with {done.returncode}")
        return json.loads(done.stdout.splitlines()[-1])["added_ns"]  # behind what the machine has


def fake_cases(bench):
    def one(folder):
        return one_rule(folder, "ip.src")

    return (FakeCase(f"(a) one rule: net_pcap in a loop, UDP from {SOURCES} sources", looping_ports(from_sources),
                     from_sources, one, (0.38, 0.5)),
            FakeCase("(b) not IP: net_null, frames of zeros, one rule", null_ports, lambda: [bytes(64)], one,
                     (0.45, 0.6)),
            FakeCase(f"(c) {bench.rules.name}: net_pcap in a loop, {SOURCES} whole flows",
                     looping_ports(whole_flows), whole_flows, lambda _: bench.rules, (0.2, 0.28)))


def between_fakes(bench, ids):
    """F1: packets a second. F3: what the program adds to testpmd's time for each of them, beside what the harness of
    P1 adds to its MAC swap."""
    for case in fake_cases(bench):
        rows.note(f"F1 {case.name}")
        sides = [(OURS, lambda: case.ours(bench)), (REFERENCE, lambda: case.theirs(bench))]
        if "F3" in ids:
            sides.append((HARNESS, lambda: case.added_in_process(bench)))
        medians = rows.interleaved(sides, bench.rounds)
        in_process = medians.pop(HARNESS, None)
        if "F1" in ids:
            yield rows.compared("F1", case.name, medians, "Mpps per worker", case.bars)
        if in_process is not None:
            added = {OURS: 1000 / medians[OURS] - 1000 / medians[REFERENCE], HARNESS: in_process}
            yield {**rows.compared("F3", case.name, added, "ns added per packet", (1.15, None)), "better": "lower",
                   "bar_from": 0.9}


def between_processes(bench, _):
    """F2: another process sends flowgen traffic over vhost on the first core and counts what
    comes back."""
    def generator(folder):
        first = usable_cpus()[0]
        return contextlib.closing(Stoppable(Testpmd(
            folder, [f"net_virtio_user{index},path={folder}/v{index}.sock,queue_size=1024"
                     for index in (0, 1)],
            f"0@{first},1@{first}", [*huge_pages(), "--single-file-segments"],
            ["--forward-mode=flowgen", "--flowgen-flows=1000"])))

    def ports(folder):
        return [f"net_vhost{index},iface={folder}/v{index}.sock,queues=1" for index in (0, 1)]

    def ours():
        with bench.folder() as folder, \
                bench.sluice(folder, ports(folder), one_rule(folder, "ip.dst")), \
                generator(folder) as side:
            return rate(side.inner, bench.seconds)

    def theirs():
        with bench.folder() as folder, bench.testpmd(folder, ports(folder)), \
                generator(folder) as side:
            return rate(side.inner, bench.seconds)

    case = "vhost between two processes, 1000 flows, both ways, all admitted"
    rows.note(f"F2 {case}")
    medians = rows.interleaved([(OURS, ours), (REFERENCE, theirs)], bench.rounds)
    yield rows.compared("F2", case, medians, "Mpps forwarded", (0.7, 0.9))


PROGRAMS = ["dataplane/sluice-dataplane", "control/daemon/sluiced", "control/cli/sluicectl"]
TARGETS = {"F1": PROGRAMS, "F2": PROGRAMS, "F3": [*PROGRAMS, "tests/added_bench"]}
BENCHES = {"F1": between_fakes, "F2": between_processes, "F3": between_fakes}
