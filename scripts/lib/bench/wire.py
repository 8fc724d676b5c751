"""W1 to W4, W6, W7: the real program with the generator in another process, over vhost; dpdk-testpmd in mac mode takes its
place in the same run, and the two rule sets with it, in turn. Every round is in its row."""
import contextlib
import itertools
import typing

from box import worker_cpus
from forwarders import Sluice, Testpmd, cores, huge_pages
from forwarding import OURS, PROGRAMS, REFERENCE, Stoppable, one_rule
import pktgen
import rows

SIZES = ("64", "128", "256", "512", "1024", "1518", "imix")
SOURCES = ("2^10", "2^16", "2^20", "2^25", "new")
WORKERS = (1, 2, 4)
QUICK_SIZES, QUICK_SOURCES, QUICK_WORKERS = ("64", "512", "imix"), ("new",), (2,)
LOSS_SIZES, QUICK_LOSS_SIZES = ("64", "512", "1518", "imix"), ("64",)
KEYS = 1 << 20
TIGHT = 1 << 16  # keys where every source is new: the table is full, as it would be
# A bucket is forgotten once it is full again: with this one after a minute, so that a table of TIGHT fills in the
# first instant and stays full.
LIVE_FOR_A_MINUTE = """version: 1
rules:
  - id: per-source
    mode: enforce
    when: ip.version eq 4
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/m, burst: 1M}]
"""
TRIAL, QUICK_TRIAL = 1.0, 0.2  # seconds
# What a pause of a core that others share keeps back is made up for within the trial.
BACKLOG = 1 << 15
BURST = 32
LOSSES = (0, 0.1)  # percent: RFC 2544's throughput, and the partial drop rate of TRex's search as it is by itself
DELAYS = [(share, quantile) for share in (0.5, 0.9) for quantile in ("p50", "p99", "p99_9")]
BAR_P99 = 50  # us beyond the reference's own, at half of the load
MOST_LEFT_OUT = 0.1  # share of delays that the generator's own pauses may cost a round of W4


class Device(typing.NamedTuple):
    """What is measured: its name in the row, and what opens the two vhost ports."""
    name: str
    start: typing.Callable  # (folder, queues) -> something with stop()


def keys_for(sources):
    """As many as there are, and a quarter more: a place for each."""
    if sources == "new":
        return TIGHT
    return max(KEYS, (1 << int(sources[2:])) * 5 // 4)


def sluice(bench, rules, keys=KEYS, ports=pktgen.vhost_ports):
    def start(folder, queues):
        return Sluice(bench.programs, folder, ports(folder, queues), rules(folder), table_keys=keys, workers_count=queues)
    return start


def testpmd(folder, queues, ports=pktgen.vhost_ports):
    return Testpmd(folder, ports(folder, queues), cores(queues), huge_pages(),
                   ["--forward-mode=mac", f"--rxq={queues}", f"--txq={queues}", f"--nb-cores={queues}"])


def live_for_a_minute(folder):
    rules = folder / "rules.yaml"
    rules.write_text(LIVE_FOR_A_MINUTE, encoding="utf-8")
    return rules


def by_source(folder):
    return one_rule(folder, "ip.src")


def rule_sets(bench, keys=KEYS, one=by_source):
    """-> (case, device) of both; with --quick of the first."""
    yield "one rule", Device(OURS, sluice(bench, one, keys))
    if not bench.quick:
        yield bench.rules.name, Device(OURS, sluice(bench, lambda _: bench.rules, keys))


def counted_by(side):
    """What the box says of a round; dpdk-testpmd says nothing of the kind."""
    if not isinstance(side, Sluice):
        return {}
    stats = side.box.stats()
    return {"judged": stats["packets"], "table_full": sum_of(stats["table_full"]),
            "reasons": {reason: count for reason, count in stats["reasons"].items() if count}}


def sum_of(counts):
    return sum(map(sum_of, counts.values())) if isinstance(counts, dict) else counts


class Round(float):
    """Its figure, and what was counted beside it."""

    def __new__(cls, value, counts):
        figure = super().__new__(cls, value)
        figure.counts = counts
        return figure


def with_counts(row, rounds):
    """The row with `counts`, of each round of ours what was counted beside it."""
    return {**row, "counts": [one.counts for one in rounds]}


def measured(bench, device, words, queues=1, rings=pktgen.RINGS):
    """-> what sluice-pktgen printed, sent through that device, which is new for it; "box" of it is what the box counted."""
    with bench.folder() as folder, contextlib.closing(Stoppable(device.start(folder, queues))) as side:
        found = pktgen.run(bench.build, folder, words, queues, rings)
        return {**found, "box": counted_by(side.inner)}


def trial(bench):
    return f"{QUICK_TRIAL if bench.quick else TRIAL}s"


def search_words(bench, more):
    return ["--search", "--trial", trial(bench), "--tolerance", 4 if bench.quick else 2, "--repeats", 2, *more]


def full_rate_words(bench, more):
    return ["--duration", f"{bench.seconds}s", *more]


def in_rounds(sides, rounds):
    """A B A B: every round of each side, by name, which are `Round`s."""
    taken = {name: [] for name, _ in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides:
            taken[name].append(measure())
            rows.note(f"  round {number}: {name}: {taken[name][-1]:.3f} {taken[name][-1].counts}")
    return taken


def rows_beside_testpmd(bench, name, case, sets, measure):
    """A row for each rule set: millions of frames a second, beside the one reference of these rounds."""
    sets = list(sets)
    rows.note(f"{name} {case}")
    every = [*sets, (REFERENCE, Device(REFERENCE, testpmd))]
    taken = in_rounds([(side, lambda device=device: measure(device)) for side, device in every], bench.rounds)
    for rule_set, _ in sets:
        yield rule_set, with_counts(row_of(name, f"{rule_set}: {case}", taken[rule_set], taken[REFERENCE]), taken[rule_set])


def row_of(name, case, ours, reference):
    failed = [one.counts["failed"] for one in (*ours, *reference) if "failed" in one.counts]
    if failed:
        return without_figure(name, case, "Mpps", failed, len(ours) + len(reference))
    return rows.compared(name, case, {OURS: rows.Median(ours), REFERENCE: rows.Median(reference)}, "Mpps")


def without_figure(name, case, unit, failed, rounds):
    """The row where rounds have none: those that have one are no sample of all, and none is left out."""
    return {"id": name, "case": f"{case}; no figure: {len(failed)} of {rounds} rounds failed", "value": None, "unit": unit,
            "reference": None, "reference_value": None, "ratio": None, "bar": None, "goal": None, "better": "higher",
            "failed_rounds": failed}


def in_plot(row, plot, x, rule_set):
    """A point of it, where the row has a figure; dpdk-testpmd's line comes with it."""
    return row if row["value"] is None else rows.in_plot(row, plot, x, f"Sluice, {rule_set}")


def throughput(bench, device, words, rings=pktgen.RINGS):
    found = measured(bench, device, words, rings=rings)
    trials = found["trials"]
    failed = {} if found["throughput_pps"] else {"failed": f"no rate passed, the last: {trials[-1]['result']}"}
    return Round(found["throughput_pps"] / 1e6, {
        "trials": len(trials), "probed": found["probed"],
        "refused_bursts": sum(one["refused_bursts"] for one in trials), **found["box"], **failed})


def size_text(size):
    return "IMIX" if size == "imix" else f"{size} bytes"


def throughput_by_size(bench, _):
    """W1: RFC 2544, 26.1: the highest rate of which no frame is lost. Ports in memory make a generator wait where a
    wire would lose frames, so what the case calls back-pressure is part of it."""
    for size in QUICK_SIZES if bench.quick else SIZES:
        words = search_words(bench, ["--throughput-only", "--size", size, "--sources", "2^16", "--backlog", BACKLOG])
        case = f"throughput under back-pressure, {size_text(size)}"
        for rule_set, row in rows_beside_testpmd(bench, "W1", case, rule_sets(bench),
                                                 lambda device, words=words: throughput(bench, device, words)):
            yield in_plot(row, "sizes", int(size) if size != "imix" else "IMIX", rule_set)


def throughput_with_loss(bench, _):
    """W6: the same search where each frame has one chance: what the ring has no room for is lost, as at a NIC. The ring is as long as a
    NIC's, and what a pause of the generator keeps back is not sent, but for a burst."""
    for size, loss in itertools.product(QUICK_LOSS_SIZES if bench.quick else LOSS_SIZES, LOSSES):
        words = search_words(bench, ["--throughput-only", "--size", size, "--sources", "2^16", "--drop-refused",
                                     "--backlog", BURST, "--loss", loss])
        case = f"throughput without back-pressure, {size_text(size)}, {f'at most {loss} %' if loss else 'none'} lost"
        for _, row in rows_beside_testpmd(bench, "W6", case, rule_sets(bench), lambda device, words=words: throughput(
                bench, device, words, pktgen.RINGS_OF_NIC)):
            yield row


def arrived(bench, words, queues=1, is_full=False, rings=pktgen.RINGS):
    """`is_full`: a round in which the box's table was not is none."""
    def measure(device):
        found = measured(bench, device, words, queues, rings)
        has_room = is_full and found["box"].get("table_full") == 0
        return Round(found["received_pps"] / 1e6,
                     {"sent": found["sent"], "received": found["received"], "refused_bursts": found["refused_bursts"],
                      **found["box"], **({"failed": "the table was not full"} if has_room else {})})
    return measure


def warm_up(sources):
    """Frames after which each source has been seen; where all are new, the table has long been full."""
    return 4 * TIGHT if sources == "new" else 1 << int(sources[2:])


def rate_by_sources(bench, _):
    """W2: as fast as the port takes them; what arrives, once every source has its place."""
    for sources in QUICK_SOURCES if bench.quick else SOURCES:
        is_new = sources == "new"
        words = full_rate_words(bench, ["--size", 64, "--sources", sources, "--warm-up", warm_up(sources)])
        case = "64 bytes, every source new, a full table" if is_new else f"64 bytes, {sources} sources"
        sets = rule_sets(bench, keys_for(sources), live_for_a_minute if is_new else by_source)
        for rule_set, row in rows_beside_testpmd(bench, "W2", case, sets, arrived(bench, words, is_full=is_new)):
            yield in_plot(row, "keys", "all new" if is_new else 1 << int(sources[2:]), rule_set)


def counted(number, word):
    return f"{number} {word}{'s' if number > 1 else ''}"


def rate_by_workers(bench, _):
    """W3: several workers, as many queues, the generator on one core. It keeps each source to one queue, as a NIC does that hashes sources,
    so a device that takes queues as they come sees sources of its own on each worker. vhost says nothing of how it spreads, so the box hands
    a packet over to the worker that its own hash names; what that one's ring has no room for is in the counts as `ring_full`. What a full queue has no room for is lost: the others would wait for it, on cores that workers
    share for as long as its worker has none."""
    for workers in QUICK_WORKERS if bench.quick else WORKERS:
        words = full_rate_words(bench, ["--size", 64, "--sources", "2^16", "--drop-refused"])
        own = len(set(worker_cpus(workers)))
        kept = " with sources of its own" if workers > 1 else ""
        case = f"64 bytes, 2^16 sources, {counted(workers, 'worker')}, a queue each{kept}, on {counted(own, 'core')}"
        for _, row in rows_beside_testpmd(bench, "W3", case, rule_sets(bench),
                                          arrived(bench, words, workers, rings=pktgen.RINGS_OF_NIC)):
            yield row


class Delays(typing.NamedTuple):
    """Of a round: us by share of the load and quantile, the greatest share of delays that the generator's own pauses
    cost, and why there is no figure: no rate passed, or what is left says little of the device."""
    us: dict
    left_out: float
    failed: str


def delays(found):
    if not found["delays"]:
        return Delays({}, 0, "no rate passed")
    shares = [one["met_pauses"] / max(1, one["met_pauses"] + one["delay_us"]["frames"]) for one in found["delays"]]
    left_out = round(max(shares), 3)
    failed = f"{left_out:.1%} of the frames met pauses of the generator" if left_out > MOST_LEFT_OUT else ""
    return Delays({(one["share"], quantile): one["delay_us"][quantile]
                   for one in found["delays"] for quantile in ("p50", "p99", "p99_9")}, left_out, failed)


def added_delay(bench, _):
    """W4: delays at 50 and 90 % of each one's own throughput, of the same rounds."""
    sets = list(rule_sets(bench))
    rows.note("W4")
    words = search_words(bench, ["--size", 64, "--sources", "2^16", "--backlog", BACKLOG])
    taken = {name: [] for name in (*(name for name, _ in sets), REFERENCE)}
    for number in range(1, bench.rounds + 1):
        for name, device in (*sets, (REFERENCE, Device(REFERENCE, testpmd))):
            taken[name].append(delays(measured(bench, device, words)))
            rows.note(f"  round {number}: {name}: {taken[name][-1]}")
    for rule_set, _ in sets:
        yield from delay_rows(rule_set, taken[rule_set], taken[REFERENCE])


def delay_rows(rule_set, ours, reference):
    """One for each share and quantile; where rounds failed, one that says so."""
    every = [*ours, *reference]
    failed = [one.failed for one in every if one.failed]
    if failed:
        yield {**without_figure("W4", f"{rule_set}: delays, 64 bytes", "us", failed, len(every)), "better": "lower"}
        return
    for share, quantile in DELAYS:
        case = f"{rule_set}: {quantile.replace('_', '.')} at {share:.0%} of its throughput, 64 bytes"
        medians = {name: rows.Median([one.us[share, quantile] for one in taken])
                   for name, taken in ((OURS, ours), (REFERENCE, reference))}
        row = {**rows.compared("W4", case, medians, "us"), "better": "lower", "left_out": [one.left_out for one in ours],
               "reference_left_out": [one.left_out for one in reference]}
        if (share, quantile) == (0.5, "p99"):
            row |= {"bar": row["reference_value"] + BAR_P99, "bar_of": "value"}
        yield row


def bidirectional(bench, device):
    found = measured(bench, device, full_rate_words(bench, ["--size", 64, "--sources", "2^16", "--bidir"]),
                     rings=pktgen.RINGS_BOTH_WAYS)
    ways = {"there": found, "back": found["back"]}
    counts = {name: {part: way[part] for part in ("sent", "received")} for name, way in ways.items()}
    return Round(sum(way["received_pps"] for way in ways.values()) / 1e6, {**counts, **found["box"]})


def both_ways(bench, _):
    """W7: as F2, by our generator: into both ports as fast as they take it; what arrives at both."""
    for _, row in rows_beside_testpmd(bench, "W7", "64 bytes, both ways at once, 2^16 sources one way and one the other",
                                      rule_sets(bench), lambda device: bidirectional(bench, device)):
        yield row


TARGETS = dict.fromkeys(("W1", "W2", "W3", "W4", "W6", "W7"), [*PROGRAMS, pktgen.TARGET])
BENCHES = {"W1": throughput_by_size, "W2": rate_by_sources, "W3": rate_by_workers, "W4": added_delay,
           "W6": throughput_with_loss, "W7": both_ways}
