"""W5: the wire level with another generator, dpdk-testpmd of Debian, by flowgen and by txonly."""
import contextlib
import functools

from box import usable_cpus
from forwarders import Testpmd, huge_pages, rate, rate_of
from forwarding import OURS, PROGRAMS, REFERENCE, Stoppable, one_rule
import pktgen
import rows
import wire

SIZE, FCS = 64, 4
# Frames of both are equally long: flowgen takes the FCS off what it is told, txonly sends all of it.
TXONLY = ["--forward-mode=txonly", "--txonly-multi-flow", f"--txpkts={SIZE - FCS}"]
FLOWGEN = ["--forward-mode=flowgen", "--flowgen-flows=1024", f"--txpkts={SIZE}"]


def sender(folder, ports, mode):
    """On the first core, like any generator."""
    first = usable_cpus()[0]
    return Testpmd(folder, ports, f"0@{first},1@{first}", [*huge_pages(), "--single-file-segments"], mode)


def into_both_ports(bench, device):
    with bench.folder() as folder, contextlib.closing(Stoppable(device.start(folder, 1))) as side, \
            contextlib.closing(Stoppable(sender(folder, pktgen.virtio_ports(folder), FLOWGEN))):
        return wire.Round(rate(side.inner, bench.seconds), wire.counted_by(side.inner))


def into_one_port(bench, device):
    with bench.folder() as folder, contextlib.closing(Stoppable(device.start(folder, 1))) as side, \
            contextlib.closing(Stoppable(sender(folder, pktgen.virtio_ports(folder)[:1], TXONLY))):
        return wire.Round(rate_of(side.inner.sent, bench.seconds), wire.counted_by(side.inner))


def into_nothing(folder, _):
    """A port to receive from, and one that takes whatever is sent: txonly receives nothing, and a ring that nobody empties is full."""
    return [pktgen.vhost_ports(folder)[0], "net_null1,no-rx=1"]


def by_destination(folder):
    return one_rule(folder, "ip.dst")


def others_generators(bench, _):
    cases = ((f"received while dpdk-testpmd flowgen sends into both ports, {SIZE} bytes", "one rule on ip.dst",
              wire.sluice(bench, by_destination), wire.testpmd, into_both_ports),
             (f"forwarded while dpdk-testpmd txonly sends into one port, {SIZE} bytes of 256 sources", "one rule",
              wire.sluice(bench, wire.by_source, ports=into_nothing), functools.partial(wire.testpmd, ports=into_nothing),
              into_one_port))
    for case, rule_set, ours, theirs, measure in cases:
        rows.note(f"W5 {case}")
        sides = [(device.name, functools.partial(measure, bench, device))
                 for device in (wire.Device(OURS, ours), wire.Device(REFERENCE, theirs))]
        taken = wire.in_rounds(sides, bench.rounds)
        yield wire.with_counts(wire.row_of("W5", f"{rule_set}: {case}", taken[OURS], taken[REFERENCE]), taken[OURS])


BENCHES = {"W5": others_generators}
TARGETS = {"W5": [*PROGRAMS, pktgen.TARGET]}
