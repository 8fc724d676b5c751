"""E1 to E6: the box beside its peers, each under the same limit for each IPv4 source (tests/bench/peers/README.md
says what exactly is compared)."""
import json
import statistics
import subprocess

import peer_dpdk
import peer_kernel
import peer_limits
import rows

XDP_ALONE = "XDP, LRU hash map, the program alone"
PIPELINE_ALONE = "the box's pipeline alone"
SIZES = ((10, None), (16, None), (20, True))  # of 2^N keys; whether the bars hold there
ROOM = 1.25  # tables are given room for a quarter more
ADMITS_ALL = (1_000_000, 1000)  # packets a second and at once
KERNEL_FRAMES = 2_000_000
QUICK_KERNEL_FRAMES = 500_000
BARS = {"dpdk-testpmd mac": (None, None), "rte_hash + rte_meter": (1, 2)}
KERNEL_BAR = (10, None)


def interleaved(sides, rounds):
    """A B A B, as rows.interleaved, and every round is kept."""
    values = {name: [] for name, _ in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides:
            values[name].append(measure())
            rows.note(f"  round {number}: {name}: {values[name][-1]:.3f}")
    return values


def rows_of(bench, case, values, unit, bars):
    """The first beside each of the others."""
    (us, ours), *others = values.items()
    for name, theirs in others:
        medians = {us: statistics.median(ours), name: statistics.median(theirs)}
        yield {**rows.compared(bench, case, medians, unit, bars(name)), "rounds": ours, "reference_rounds": theirs}


def bars_at(holds):
    def bars(name):
        return BARS.get(name, KERNEL_BAR) if holds else (None, None)
    return bars


def table_for(keys):
    return int(keys * ROOM)


def forwarded(bench, kind, traffic, keys):
    """Of a side between two ports: million packets for each second of its worker."""
    with peer_dpdk.running(bench, kind, traffic, table_for(keys)) as side:
        side.start(ADMITS_ALL)
        peer_dpdk.wait_for_frames(side, 2 * keys)
        return peer_dpdk.per_cpu_second(side, bench.seconds)


def handled(bench, kind, keys, command):
    """Of one in the kernel: million frames for each second of the thread that brings them."""
    frames = QUICK_KERNEL_FRAMES if bench.quick else KERNEL_FRAMES
    with peer_kernel.running(bench, kind, table_for(keys), ADMITS_ALL) as peer:
        peer.do("sources", keys, 0, 0)
        peer.do("run", 2 * keys)
        return frames / peer.do(command, frames)["cpu_ns"] * 1e3


def pipeline_alone(bench):
    """P1: sources in random order, each written into the frame when its turn comes, as kernel_feed does."""
    done = subprocess.run([bench.build / "tests/pipeline_bench", "P1", "--quick"], check=True, capture_output=True, text=True)
    return next(row["value"] for row in map(json.loads, done.stdout.splitlines())
                if row["id"] == "P1" and row["case"].startswith("all admitted"))


def sides_of(bench, traffic, keys):
    for kind in (peer_dpdk.SluicePeer, *peer_dpdk.DPDK_PEERS):
        yield kind.NAME, lambda kind=kind: forwarded(bench, kind, traffic, keys)
    yield XDP_ALONE, lambda: handled(bench, peer_kernel.Xdp, keys, "alone")
    for kind in peer_kernel.KERNEL_PEERS:
        yield kind.NAME, lambda kind=kind: handled(bench, kind, keys, "run")


def packets_a_second(bench, _):
    for power, holds in SIZES:
        case = f"64-byte UDP from 2^{power} sources, each under a limit that admits all"
        rows.note(f"E1 {case}")
        with bench.folder() as folder:
            traffic = peer_dpdk.Traffic(folder, peer_dpdk.sources(1 << power))
            sides = list(sides_of(bench, traffic, 1 << power))
            sides += [(PIPELINE_ALONE, lambda: pipeline_alone(bench))] if holds else []
            values = interleaved(sides, bench.rounds)
        alone = values.pop(PIPELINE_ALONE, None)
        yield from rows_of("E1", case, values, "Mpps per core", bars_at(holds))
        if alone is not None:
            yield from rows_of("E1", f"2^{power} sources, no port and no driver on either side",
                               {PIPELINE_ALONE: alone, XDP_ALONE: values[XDP_ALONE]}, "Mpps per core", bars_at(holds))


PROGRAMS = ("dataplane/sluice-dataplane", "control/daemon/sluiced", "control/cli/sluicectl",
            "tests/bench/peers/hash_meter", "tests/bench/peers/kernel_feed")
BENCHES = {"E1": packets_a_second, **peer_limits.BENCHES}
TARGETS = {**dict.fromkeys(BENCHES, PROGRAMS), "E1": (*PROGRAMS, "tests/pipeline_bench"),
           "E3": (*PROGRAMS, "tests/table_bench")}
