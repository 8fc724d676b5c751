"""F1 and F2: packets a second of one worker, from port to port, beside dpdk-testpmd."""
import contextlib
import pathlib
import shutil
import struct
import tempfile

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


def write_sources(path):
    """64-byte UDP frames from so many sources."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for source in range(SOURCES):
            udp = struct.pack("!HHHH", 40000, 53, 26, 0) + bytes(18)
            header = struct.pack("!BBHHHBBHI4s", 0x45, 0, 46, 0, 0x4000, 64, 17, 0,
                                 0x0A000000 + source * 2654435761 % (1 << 24), bytes([10, 77, 0, 2]))
            total = sum(struct.unpack("!10H", header))
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            frame = MAC + b"\x08\x00" + header[:10] + struct.pack("!H", ~total & 0xFFFF) + \
                header[12:] + udp
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


class Bench:
    def __init__(self, programs, build, seconds, rounds, quick):
        self.programs, self.build = programs, build
        self.seconds, self.rounds, self.quick = seconds, rounds, quick

    @contextlib.contextmanager
    def folder(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=self.build))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def sluice(self, folder, devices, key):
        rules = folder / "rules.yaml"
        rules.write_text(RULES.format(key=key))
        return contextlib.closing(Stoppable(Sluice(self.programs, folder, devices, rules)))

    def testpmd(self, folder, devices):
        return contextlib.closing(Stoppable(Testpmd(
            folder, devices, cores(), huge_pages(), ["--forward-mode=mac", "--no-flush-rx"])))


class Stoppable:
    """contextlib.closing() calls close(); ours is called stop()."""

    def __init__(self, inner):
        self.inner, self.close = inner, inner.stop


def between_fakes(bench):
    """F1: ports that make frames out of nothing and throw them away, so the worker is all there is."""
    def null_ports(_):
        return ["net_null0,size=64,copy=1", "net_null1,size=64,copy=1"]

    def capture_ports(folder):
        write_sources(folder / "sources.pcap")
        return [f"net_pcap{index},rx_pcap={folder}/sources.pcap,infinite_rx=1" for index in (0, 1)]

    def ours(ports):
        with bench.folder() as folder, bench.sluice(folder, ports(folder), "ip.src") as side:
            return rate(side.inner, bench.seconds)

    def theirs(ports):
        with bench.folder() as folder, bench.testpmd(folder, ports(folder)) as side:
            return rate(side.inner, bench.seconds)

    for case, ports in (("net_null, frames of zeros: no IP, no limit to charge", null_ports),
                        (f"net_pcap in a loop, UDP from {SOURCES} sources, all admitted",
                         capture_ports)):
        rows.note(f"F1 {case}")
        medians = rows.interleaved([(OURS, lambda: ours(ports)), (REFERENCE, lambda: theirs(ports))],
                                   bench.rounds)
        yield rows.compared("F1", case, medians, "Mpps per worker")


def between_processes(bench):
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
        with bench.folder() as folder, bench.sluice(folder, ports(folder), "ip.dst"), \
                generator(folder) as side:
            return rate(side.inner, bench.seconds)

    def theirs():
        with bench.folder() as folder, bench.testpmd(folder, ports(folder)), \
                generator(folder) as side:
            return rate(side.inner, bench.seconds)

    case = "vhost between two processes, 1000 flows, both ways, all admitted"
    rows.note(f"F2 {case}")
    medians = rows.interleaved([(OURS, ours), (REFERENCE, theirs)], bench.rounds)
    yield rows.compared("F2", case, medians, "Mpps forwarded")


BENCHES = {"F1": between_fakes, "F2": between_processes}
