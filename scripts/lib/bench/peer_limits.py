"""E2 to E6: what limits are worth. Past the table's size, memory, how exact, how soon a change holds, what a reload costs."""
import contextlib
import json
import pathlib
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
CHUNK = 1 << 16
EXACT_KEYS = 1024
OFFERED = 3  # times the limit
RELOADED = (1000, 1000)
RELOADED_KEYS = 64
FREE = (1_000_000, 1000)
TIGHT = (1, 1)
MEMORY_POWER, QUICK_MEMORY_POWER = 20, 18
SETTLE, QUICK_SETTLE = 1.0, 0.4
PATIENCE, QUICK_PATIENCE = 3.0, 1.0


def settle(bench):
    return QUICK_SETTLE if bench.quick else SETTLE


def patience(bench):
    return QUICK_PATIENCE if bench.quick else PATIENCE


@contextlib.contextmanager
def between_ports(bench, kind, of_ports, table, limit):
    with bench.folder() as folder:
        traffic = peer_dpdk.Traffic(folder, of_ports)
        with peer_dpdk.running(bench, kind, traffic, table) as side:
            side.start(limit)
            peer_dpdk.wait_for_frames(side, 4 * max(traffic.frames, 4 * table))
            yield side


COUNTS = ("at", "seen", "admitted", "resident_seen", "resident_admitted")


def gained(before, after):
    return {name: after[name] - before[name] for name in COUNTS if name in before}


def over_time(side, seconds, counts):
    before = counts()
    time.sleep(seconds)
    return gained(before, counts())


def under_feed(peer, seconds):
    """Frames as fast as they go, in pieces, until the time is over."""
    before = peer.counts()
    after = peer.do("run", CHUNK)  # a machine that is busy may have no second piece
    while time.monotonic() < before["at"] + seconds:
        after = peer.do("run", CHUNK)
    return gained(before, {**peer.own_counts_or(after), "at": after["at"], "seen": after["seen"]})


def held_back(gain, flood_seen):
    """What the resident, and what all of the flood's sources together were admitted, of what they offered and their limits
    allow; less 1."""
    of_limit = HELD[0] * gain["at"]
    resident = gain["resident_admitted"] / min(gain["resident_seen"], of_limit)
    flood = (gain["admitted"] - gain["resident_admitted"]) / (FLOOD * min(flood_seen / FLOOD, of_limit))
    return resident - 1, flood - 1


def past_table_of(bench, kind, is_known):
    """Of each round, all of them of one start. `is_known`: the resident has its bucket before the table is full."""
    seconds = 1.0 if bench.quick else 3 * bench.seconds
    if issubclass(kind, peer_kernel.KernelPeer):
        with peer_kernel.running(bench, kind, TABLE, HELD, watches_resident=True) as peer:
            peer.do("sources", 1, 0, 1)
            peer.do("run", CHUNK if is_known else 0)
            peer.do("sources", FLOOD, 0, EVERY)
            peer.do("run", 4 * FLOOD)
            gains = [under_feed(peer, seconds) for _ in range(bench.rounds)]
            return [held_back(gain, gain["seen"] - gain["resident_seen"]) for gain in gains]
    begins = 0 if is_known else EVERY - 1
    with between_ports(bench, kind, peer_dpdk.with_resident(FLOOD, EVERY, begins), TABLE, HELD) as side:
        def counts():
            return {**side.counts(), **side.resident_counts()}
        gains = [over_time(side, seconds, counts) for _ in range(bench.rounds)]
        return [held_back(gain, gain["seen"] / 2) for gain in gains]  # the other half is the first port's


def alone(bench, case, median, unit, bars):
    """A row that is beside nothing."""
    return {"id": bench, "case": case, "value": round(median, 4), "unit": unit, "reference": "", "reference_value": None,
            "ratio": None, "bar": bars[0], "goal": bars[1], "better": "lower", "rounds": median.rounds,
            "rounds_are": rows.VALUES}


def beside(bench, case, medians, unit):
    """The box beside each of the others; less is better."""
    for name in medians:
        if name != OURS.NAME:
            pair = {OURS.NAME: medians[OURS.NAME], name: medians[name]}
            yield {**rows.compared(bench, case, pair, unit), "better": "lower"}


def rows_of(bench, case, medians, unit_and_bars):
    unit, bars = unit_and_bars
    yield alone(bench, case, medians[OURS.NAME], unit, bars)
    yield from beside(bench, case, medians, unit)


ALL = (OURS, peer_dpdk.HashMeter, *peer_kernel.KERNEL_PEERS)


def medians_of(bench, kinds, measure):
    """By name; the sides take turns."""
    return rows.interleaved([(kind.NAME, lambda kind=kind: measure(bench, kind)) for kind in kinds], bench.rounds)


def past_the_table(bench, _):
    also = {True: (), False: (peer_dpdk.HashMeterOpen,)}  # who has a place is not concerned by it
    cases = (("a known source over its limit", True, 0, (5, 1)),
             ("a source over its limit that comes when the table is full", False, 0, (None, None)),
             ("all of them together", False, 1, (100, 25)))
    taken = {}
    for known in (True, False):
        rows.note(f"E2 a table of {TABLE} keys, a source that is {'known' if known else 'new'}")
        taken[known] = {kind.NAME: past_table_of(bench, kind, known) for kind in (*ALL, *also[known])}
        for name, figures in taken[known].items():
            rows.note(f"  {name}: {figures}")
    for who, known, part, bars in cases:
        case = f"{FLOOD} sources, a table of {TABLE}: {who}"
        medians = {name: rows.Median([100 * abs(figures[part]) for figures in rounds]) for name, rounds in taken[known].items()}
        yield from rows_of("E2", case, medians, ("% off the limits", bars))


def a_third(gain):
    """A limit of which so many sources offer OFFERED times as much, and a burst of half a second."""
    rate = int(gain["seen"] / gain["at"] / EXACT_KEYS / OFFERED)
    return max(rate, 1), max(rate // 2, 1)


def exact_between_ports(bench, kind, seconds):
    with between_ports(bench, kind, peer_dpdk.sources(EXACT_KEYS), TABLE, FREE) as side:
        limit = a_third(over_time(side, settle(bench), side.counts))
        side.change(limit)
        time.sleep(settle(bench))
        return limit, [over_time(side, seconds, side.counts) for _ in range(bench.rounds)]


def exact_in_kernel(bench, kind, seconds):
    def under(limit, seconds, rounds):
        with peer_kernel.running(bench, kind, TABLE, limit) as peer:
            peer.do("sources", EXACT_KEYS, 0, 0)
            under_feed(peer, settle(bench))
            return [under_feed(peer, seconds) for _ in range(rounds)]
    limit = a_third(under(FREE, settle(bench), 1)[0])
    return limit, under(limit, seconds, bench.rounds)


def errors_of(bench, kind):
    """Percent by which what is admitted differs from what the limit allows, of each round of one start."""
    measure = exact_in_kernel if issubclass(kind, peer_kernel.KernelPeer) else exact_between_ports
    limit, gains = measure(bench, kind, bench.seconds if bench.quick else 3 * bench.seconds)
    errors = [abs(100 * gain["admitted"] / (limit[0] * EXACT_KEYS * gain["at"]) - 100) for gain in gains]
    rows.note(f"  {kind.NAME}: {errors}")
    return errors


def exactness(bench, _):
    case = f"{EXACT_KEYS} sources that offer about {OFFERED} times their limit: admitted, against what it allows"
    rows.note(f"E4 {case}")
    yield from rows_of("E4", case, {kind.NAME: rows.Median(errors_of(bench, kind)) for kind in ALL}, ("% off", (1, 0.1)))


def wait_until_refused(counts, began, patience):
    """ms; `patience`, if none is."""
    before = counts()["refused"]
    while time.monotonic() < began + patience:
        if counts()["refused"] > before:
            return 1e3 * (time.monotonic() - began)
    return 1e3 * patience


def time_to_enforced(bench, kind):
    if not issubclass(kind, peer_kernel.KernelPeer):
        with between_ports(bench, kind, peer_dpdk.sources(RELOADED_KEYS), TABLE, FREE) as side:
            began = time.monotonic()
            side.change(TIGHT)
            return wait_until_refused(side.counts, began, patience(bench))
    with peer_kernel.running(bench, kind, TABLE, FREE) as peer:
        peer.do("sources", RELOADED_KEYS, 0, 0)
        if kind is peer_kernel.Xdp:
            answer = peer.do("change", *TIGHT)
            if answer["first_refused_at"] == 0:
                return 1e3 * patience(bench)
            return 1e3 * (answer["first_refused_at"] - answer["changed_at"])
        peer.do("run", CHUNK)
        began = time.monotonic()
        peer.change(TIGHT)
        return wait_until_refused(lambda: refused_after_frames(peer), began, patience(bench))


def refused_after_frames(peer):
    return peer.own_counts_or(peer.do("run", 4 * RELOADED_KEYS))


def changes(bench, _):
    case = f"from the command that changes a limit to a known source refused by it ({1e3 * patience(bench):.0f}: not at all)"
    rows.note(f"E5 {case}")
    yield from rows_of("E5", case, medians_of(bench, ALL, time_to_enforced), ("ms", (200, 50)))


def minted_of(bench, kind):
    """What sources at their limits were admitted beyond these around a reload of the same rules, in bursts of each."""
    if issubclass(kind, peer_kernel.KernelPeer):
        with peer_kernel.running(bench, kind, TABLE, RELOADED) as peer:
            peer.do("sources", RELOADED_KEYS, 0, 0)
            under_feed(peer, settle(bench))
            begun = peer.do("counts")
            peer.reload(RELOADED)  # counters begin anew
            peer.do("sources", RELOADED_KEYS, 0, 0)
            under_feed(peer, settle(bench))
            ended = peer.counts()
            admitted, took = ended["admitted"], ended["at"] - begun["at"]
    else:
        with between_ports(bench, kind, peer_dpdk.sources(RELOADED_KEYS), TABLE, RELOADED) as side:
            begun = side.counts()
            side.reload(RELOADED)
            time.sleep(settle(bench))
            gain = gained(begun, side.counts())
            admitted, took = gain["admitted"], gain["at"]
    return (admitted - RELOADED[0] * RELOADED_KEYS * took) / (RELOADED[1] * RELOADED_KEYS)


def reloads(bench, _):
    case = f"{RELOADED_KEYS} sources at their limits, the same rules loaded again: admitted beyond the limits"
    rows.note(f"E6 {case}")
    medians = medians_of(bench, (OURS, *peer_kernel.KERNEL_PEERS), minted_of)
    for row in rows_of("E6", case, medians, ("bursts of each source", (0.05, 0.01))):
        yield {**row, "ratio": None}  # of amounts about 0


def kernel_bytes(bench, kind, keys, stay):
    """The peer stays until all rounds are over: what goes would be given back meanwhile."""
    before = peer_kernel.kernel_memory()
    peer = stay.enter_context(peer_kernel.running(bench, kind, keys, FREE))
    if kind is peer_kernel.Xdp:
        info = pathlib.Path(f"/proc/{peer.feed.process.pid}/fdinfo/{peer.do('counts')['map']}").read_text()
        return next(int(line.split()[1]) for line in info.splitlines() if line.startswith("memlock:")) / keys
    peer.do("sources", keys, 0, 0)
    peer.do("run", 2 * keys)
    return (peer_kernel.kernel_memory() - before) / keys


def bytes_of(bench, kind, keys, stay):
    if issubclass(kind, peer_kernel.KernelPeer):
        return kernel_bytes(bench, kind, keys, stay)
    with bench.folder() as folder, \
            peer_dpdk.running(bench, kind, peer_dpdk.Traffic(folder, peer_dpdk.sources(2)), keys) as side:
        side.start(FREE)
        return side.counts()["bytes"] / keys


def bytes_of_box(bench):
    """Counted, not measured: one run has it."""
    done = subprocess.run([bench.build / "tests/table_bench", "T4", "--quick"], check=True, capture_output=True, text=True)
    return next(row["value"] for row in map(json.loads, done.stdout.splitlines()) if row["id"] == "T4")


def memory(bench, _):
    power = QUICK_MEMORY_POWER if bench.quick else MEMORY_POWER
    case = f"memory for each source, the table full (2^{power}; the box: T4)"
    rows.note(f"E3 {case}")
    peer_kernel.let_kernel_memory_settle()
    with contextlib.ExitStack() as stay:
        medians = medians_of(bench, ALL[1:], lambda bench, kind: bytes_of(bench, kind, 1 << power, stay))
    medians = {OURS.NAME: rows.Median([bytes_of_box(bench)]), **medians}
    yield from rows_of("E3", case, medians, ("bytes", (18, 16.7)))


BENCHES = {"E2": past_the_table, "E3": memory, "E4": exactness, "E5": changes, "E6": reloads}
