"""E2 to E6: what limits are worth. Past the table's size, memory, how exact, how soon a change holds, what a reload costs."""
import contextlib
import json
import pathlib
import statistics
import subprocess
import time

import peer_dpdk
import peer_kernel
import rows

OURS = peer_dpdk.SluicePeer
HELD = (20, 5)  # packets a second and at once, of each source of E2
TABLE = 1 << 12
FLOOD = 1 << 13  # sources that take turns
EVERY = 1 << 13  # one frame in so many is the resident's: it comes again when the table has been filled twice
COARSE = (1500, 300)  # % off: the box shares buckets of 16 times the limit (`on_full`) among what finds no place
CHUNK = 1 << 16
EXACT_KEYS = 1024
OFFERED = 3  # times the limit
RELOADED = (1000, 1000)
RELOADED_KEYS = 64
FREE = (1_000_000, 1000)
TIGHT = (1, 1)
MEMORY_KEYS = 1 << 20
SETTLE = 1.0
PATIENCE = 3.0


@contextlib.contextmanager
def between_ports(bench, kind, of_ports, table, limit):
    with bench.folder() as folder:
        traffic = peer_dpdk.Traffic(folder, of_ports)
        with peer_dpdk.running(bench, kind, traffic, table) as side:
            side.start(limit, *([True] if kind is OURS else []))
            peer_dpdk.wait_for_frames(side, side.counts()["seen"] + 4 * max(traffic.frames, 4 * table))
            yield side


def gained(before, after):
    return {name: after[name] - before[name] for name in ("at", "seen", "admitted", "resident_admitted", "lost") if name in before}


def over_time(side, seconds):
    before = side.counts()
    time.sleep(seconds)
    return gained(before, side.counts())


def under_feed(peer, seconds):
    """Frames as fast as they go, in pieces, until the time is over."""
    before = peer.counts()
    while time.monotonic() < before["at"] + seconds:
        after = peer.do("run", CHUNK)
    return gained(before, {**peer.own_counts_or(after), "at": after["at"], "seen": after["seen"]})


def held_back(gain):
    """What the resident, and what all of the flood's sources together were admitted, of what their limits allow; less 1."""
    resident = gain["resident_admitted"] / (HELD[0] * gain["at"])
    offered = gain["seen"] / FLOOD
    allowed = FLOOD * min(offered, HELD[0] * gain["at"])
    return resident - 1, (gain["admitted"] - gain["resident_admitted"]) / allowed - 1


def past_table_of(bench, kind, is_known):
    """`is_known`: the resident has its bucket before the table is full."""
    seconds = max(4.0, 3 * bench.seconds)
    if issubclass(kind, peer_kernel.KernelPeer):
        with peer_kernel.running(bench, kind, TABLE, HELD) as peer:
            peer.do("sources", 1, 0, 1)
            peer.do("run", CHUNK if is_known else 0)
            peer.do("sources", FLOOD, 0, EVERY)
            peer.do("run", 4 * FLOOD)
            return held_back(under_feed(peer, seconds))
    begins = 0 if is_known else EVERY // 2 - 1
    with between_ports(bench, kind, peer_dpdk.with_resident(FLOOD, EVERY // 2, begins), TABLE, HELD) as side:
        return held_back(over_time(side, seconds))


def alone(bench, case, values, unit, bars=(None, None)):
    """A row that is beside nothing."""
    return {"id": bench, "case": case, "value": round(statistics.median(values), 4), "unit": unit, "reference": "",
            "reference_value": None, "ratio": None, "bar": bars[0], "goal": bars[1], "better": "lower", "rounds": values}


def beside(bench, case, values, unit):
    """The box beside each of the others; less is better."""
    ours = values[OURS.NAME]
    for name, theirs in values.items():
        if name != OURS.NAME:
            medians = {OURS.NAME: statistics.median(ours), name: statistics.median(theirs)}
            yield {**rows.compared(bench, case, medians, unit), "better": "lower", "rounds": ours, "reference_rounds": theirs}


def rows_of(bench, case, values, unit_and_bars):
    unit, bars = unit_and_bars
    yield alone(bench, case, values[OURS.NAME], unit, bars)
    yield from beside(bench, case, values, unit)


ALL = (OURS, peer_dpdk.HashMeter, *peer_kernel.KERNEL_PEERS)


def rounds_of(bench, kinds, measure):
    """Every side's figures by name, in turn."""
    values = {kind.NAME: [] for kind in kinds}
    for number in range(1, bench.rounds + 1):
        for kind in kinds:
            values[kind.NAME].append(measure(bench, kind))
            rows.note(f"  round {number}: {kind.NAME}: {values[kind.NAME][-1]}")
    return values


def past_the_table(bench, _):
    kinds = (OURS, peer_dpdk.HashMeter, peer_dpdk.HashMeterOpen, *peer_kernel.KERNEL_PEERS)
    cases = (("a known source over its limit", True, 0, (5, 1)),
             ("a source over its limit that comes when the table is full", False, 0, COARSE),
             ("all of them together", False, 1, (100, 25)))
    taken = {}
    for known in (True, False):
        rows.note(f"E2 a table of {TABLE} keys, a source that is {'known' if known else 'new'}")
        taken[known] = rounds_of(bench, kinds, lambda bench, kind, known=known: past_table_of(bench, kind, known))
    for who, known, part, bars in cases:
        case = f"{FLOOD} sources, a table of {TABLE}: {who}"
        values = {name: [100 * abs(figures[part]) for figures in rounds] for name, rounds in taken[known].items()}
        yield from rows_of("E2", case, values, ("% off the limits", bars))


def a_third(gain):
    """A limit of which so many sources offer OFFERED times as much, and a burst of half a second."""
    rate = int(gain["seen"] / gain["at"] / EXACT_KEYS / OFFERED)
    return rate, rate // 2


def exact_between_ports(bench, kind, seconds):
    with between_ports(bench, kind, peer_dpdk.sources(EXACT_KEYS), TABLE, FREE) as side:
        limit = a_third(over_time(side, SETTLE))
        side.change(limit)
        time.sleep(SETTLE)
        return limit, over_time(side, seconds)


def exact_in_kernel(bench, kind, seconds):
    def under(limit, seconds):
        with peer_kernel.running(bench, kind, TABLE, limit) as peer:
            peer.do("sources", EXACT_KEYS, 0, 0)
            under_feed(peer, SETTLE)
            return under_feed(peer, seconds)
    limit = a_third(under(FREE, SETTLE))
    return limit, under(limit, seconds)


def error_of(bench, kind):
    """Percent by which what is admitted differs from what the limit allows."""
    measure = exact_in_kernel if issubclass(kind, peer_kernel.KernelPeer) else exact_between_ports
    limit, gain = measure(bench, kind, 3 * bench.seconds)
    return abs(100 * gain["admitted"] / (limit[0] * EXACT_KEYS * gain["at"]) - 100)


def exactness(bench, _):
    case = f"{EXACT_KEYS} sources that offer about {OFFERED} times their limit: admitted, against what it allows"
    rows.note(f"E4 {case}")
    yield from rows_of("E4", case, rounds_of(bench, ALL, error_of), ("% off", (1, 0.1)))


def wait_until_refused(counts, began):
    """ms, or None."""
    before = counts()["refused"]
    while time.monotonic() < began + PATIENCE:
        if counts()["refused"] > before:
            return 1e3 * (time.monotonic() - began)
    return None


def time_to_enforced(bench, kind):
    if not issubclass(kind, peer_kernel.KernelPeer):
        with between_ports(bench, kind, peer_dpdk.sources(RELOADED_KEYS), TABLE, FREE) as side:
            began = time.monotonic()
            side.change(TIGHT)
            return wait_until_refused(side.counts, began) or 1e3 * PATIENCE
    with peer_kernel.running(bench, kind, TABLE, FREE) as peer:
        peer.do("sources", RELOADED_KEYS, 0, 0)
        if kind is peer_kernel.Xdp:
            answer = peer.do("change", *TIGHT)
            return 1e3 * (answer["first_refused_at"] - answer["changed_at"])
        peer.do("run", CHUNK)
        began = time.monotonic()
        peer.change(TIGHT)
        return wait_until_refused(lambda: refused_after_frames(peer), began) or 1e3 * PATIENCE


def refused_after_frames(peer):
    return peer.own_counts_or(peer.do("run", 4 * RELOADED_KEYS))


def changes(bench, _):
    case = f"from the command that changes a limit to a known source refused by it ({1e3 * PATIENCE:.0f}: not at all)"
    rows.note(f"E5 {case}")
    yield from rows_of("E5", case, rounds_of(bench, ALL, time_to_enforced), ("ms", (200, 50)))


def minted_of(bench, kind):
    """What sources at their limits were admitted beyond these around a reload of the same rules, in bursts of each; and
    packets that were dropped for another reason than a limit."""
    lost = 0
    if issubclass(kind, peer_kernel.KernelPeer):
        with peer_kernel.running(bench, kind, TABLE, RELOADED) as peer:
            peer.do("sources", RELOADED_KEYS, 0, 0)
            under_feed(peer, SETTLE)
            begun = peer.do("counts")
            peer.reload(RELOADED)  # counters begin anew
            peer.do("sources", RELOADED_KEYS, 0, 0)
            under_feed(peer, SETTLE)
            ended = peer.counts()
            admitted, took = ended["admitted"], ended["at"] - begun["at"]
    else:
        with between_ports(bench, kind, peer_dpdk.sources(RELOADED_KEYS), TABLE, RELOADED) as side:
            begun = side.counts()
            side.reload(RELOADED)
            time.sleep(SETTLE)
            gain = gained(begun, side.counts())
            admitted, took, lost = gain["admitted"], gain["at"], gain["lost"]
    return (admitted - RELOADED[0] * RELOADED_KEYS * took) / (RELOADED[1] * RELOADED_KEYS), lost


def reloads(bench, _):
    case = f"{RELOADED_KEYS} sources at their limits, the same rules loaded again: admitted beyond the limits"
    rows.note(f"E6 {case}")
    taken = rounds_of(bench, (OURS, *peer_kernel.KERNEL_PEERS), minted_of)
    values = {name: [bursts for bursts, _ in rounds] for name, rounds in taken.items()}
    lost = [lost for _, lost in taken[OURS.NAME]]
    yield from rows_of("E6", case, values, ("bursts of each source", (0.05, 0.01)))
    yield alone("E6", "the box: packets lost meanwhile", lost, "packets", (0, 0))


def kernel_bytes(bench, kind):
    before = peer_kernel.settled_kernel_memory()
    with peer_kernel.running(bench, kind, MEMORY_KEYS, FREE) as peer:
        if kind is peer_kernel.Xdp:
            info = pathlib.Path(f"/proc/{peer.feed.process.pid}/fdinfo/{peer.do('counts')['map']}").read_text()
            return next(int(line.split()[1]) for line in info.splitlines() if line.startswith("memlock:")) / MEMORY_KEYS
        peer.do("sources", MEMORY_KEYS, 0, 0)
        peer.do("run", 2 * MEMORY_KEYS)
        return (peer_kernel.kernel_memory() - before) / MEMORY_KEYS


def bytes_of(bench, kind):
    if issubclass(kind, peer_kernel.KernelPeer):
        return kernel_bytes(bench, kind)
    if kind is OURS:
        done = subprocess.run([bench.build / "tests/table_bench", "T4", "--quick"], check=True, capture_output=True, text=True)
        return next(row["value"] for row in map(json.loads, done.stdout.splitlines()) if row["id"] == "T4")
    with bench.folder() as folder, \
            peer_dpdk.running(bench, kind, peer_dpdk.Traffic(folder, peer_dpdk.sources(2)), MEMORY_KEYS) as side:
        side.start(FREE)
        return side.counts()["bytes"] / MEMORY_KEYS


def memory(bench, _):
    case = f"memory for each source, the table full (2^{MEMORY_KEYS.bit_length() - 1}; the box: T4)"
    rows.note(f"E3 {case}")
    yield from rows_of("E3", case, rounds_of(bench, ALL, bytes_of), ("bytes", (18, 16.7)))


BENCHES = {"E2": past_the_table, "E3": memory, "E4": exactness, "E5": changes, "E6": reloads}
