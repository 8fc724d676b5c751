"""E1 to E7: the box beside its peers, each under the same limit for each IPv4 source (tests/bench/peers/DESIGN.md
says what exactly is compared)."""
import contextlib
import json
import subprocess

import peer_dpdk
import peer_kernel
import peer_limits
import pktgen
import reload_loss
import rows

OURS = peer_dpdk.SluicePeer.NAME
XDP_ALONE = "XDP, LRU hash map, the program alone"
PIPELINE_ALONE = "the box's pipeline alone"
SIZE_OF_BARS = 20
SIZES, QUICK_SIZES = (10, 16, SIZE_OF_BARS), (10, SIZE_OF_BARS)  # of 2^N keys
ROOM = 1.25  # tables are given room for a quarter more
ADMITS_ALL = (1_000_000, 1000)  # packets a second and at once
KERNEL_FRAMES, QUICK_KERNEL_FRAMES = 2_000_000, 300_000
BARS = {"dpdk-testpmd mac": (None, None), "rte_hash + rte_meter": (1, 2)}
KERNEL_BAR = (10, None)


def bars(power, name):
    return BARS.get(name, KERNEL_BAR) if power == SIZE_OF_BARS else (None, None)


def table_for(keys):
    return int(keys * ROOM)


def forwarded(bench, kind, traffic, keys):
    """Of a side between two ports: million packets for each second of its worker."""
    with peer_dpdk.running(bench, kind, traffic, table_for(keys)) as side:
        side.start(ADMITS_ALL)
        peer_dpdk.wait_for_frames(side, 2 * keys)
        return peer_dpdk.per_cpu_second(side, bench.seconds)


def handled(bench, peer, command):
    """Of one in the kernel: million frames for each second of the thread that brings them."""
    frames = QUICK_KERNEL_FRAMES if bench.quick else KERNEL_FRAMES
    return frames / peer.do(command, frames)["cpu_ns"] * 1e3


@contextlib.contextmanager
def kernel_peers(bench, keys):
    """All of them at once, by kind: one that is brought no frames takes no time. All keys have been met."""
    with contextlib.ExitStack() as stack:
        peers = {}
        for kind in peer_kernel.KERNEL_PEERS:
            peers[kind] = stack.enter_context(peer_kernel.running(bench, kind, table_for(keys), ADMITS_ALL))
            peers[kind].do("sources", keys, 0, 0)
            peers[kind].do("run", 2 * keys)
        yield peers


def pipeline_alone(bench):
    """P1: sources in random order, each written into the frame when its turn comes, as kernel_feed does."""
    done = subprocess.run([bench.build / "tests/pipeline_bench", "P1", "--quick"], check=True, capture_output=True, text=True)
    return next(row["value"] for row in map(json.loads, done.stdout.splitlines())
                if row["id"] == "P1" and row["case"].startswith("all admitted"))


def sides_of(bench, traffic, keys, in_kernel):
    for kind in (peer_dpdk.SluicePeer, *peer_dpdk.DPDK_PEERS):
        yield kind.NAME, lambda kind=kind: forwarded(bench, kind, traffic, keys)
    yield XDP_ALONE, lambda: handled(bench, in_kernel[peer_kernel.Xdp], "alone")
    for kind, peer in in_kernel.items():
        yield kind.NAME, lambda peer=peer: handled(bench, peer, "run")


def medians_of(bench, power):
    keys = 1 << power
    with bench.folder() as folder, kernel_peers(bench, keys) as in_kernel:
        traffic = peer_dpdk.Traffic(folder, peer_dpdk.sources(keys))
        sides = list(sides_of(bench, traffic, keys, in_kernel))
        sides += [(PIPELINE_ALONE, lambda: pipeline_alone(bench))] if power == SIZE_OF_BARS else []
        return rows.interleaved(sides, bench.rounds)


def row_of(case, power, medians, ours, name):
    return rows.compared("E1", case, {ours: medians[ours], name: medians[name]}, "Mpps per core", bars(power, name))


def packets_a_second(bench, _):
    for power in QUICK_SIZES if bench.quick else SIZES:
        case = f"64-byte UDP from 2^{power} sources, each under a limit that admits all"
        rows.note(f"E1 {case}")
        medians = medians_of(bench, power)
        for name in medians:
            if name not in (OURS, PIPELINE_ALONE):
                yield rows.in_plot(row_of(case, power, medians, OURS, name), "peers", 1 << power, OURS)
        if PIPELINE_ALONE in medians:
            yield row_of(f"2^{power} sources, no port and no driver on either side", power, medians, PIPELINE_ALONE, XDP_ALONE)


PROGRAMS = ("dataplane/sluice-dataplane", "control/daemon/sluiced", "control/cli/sluicectl",
            "tests/bench/peers/hash_meter", "tests/bench/peers/kernel_feed")
BENCHES = {"E1": packets_a_second, **peer_limits.BENCHES, **reload_loss.BENCHES}
TARGETS = {**dict.fromkeys(BENCHES, PROGRAMS), "E1": (*PROGRAMS, "tests/pipeline_bench"),
           "E3": (*PROGRAMS, "tests/table_bench"),
           "E7": (*PROGRAMS, pktgen.TARGET)}
