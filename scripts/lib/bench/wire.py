"""W1 to W5: the real program with the generator in another process, over vhost; dpdk-testpmd in mac mode takes its
place in the same run, and the two rule sets with it, in turn."""
import contextlib
import typing

from box import usable_cpus, worker_cpus
from forwarders import Sluice, Testpmd, cores, huge_pages, rate
from forwarding import OURS, PROGRAMS, REFERENCE, Stoppable, one_rule
import pktgen
import rows

SIZES = ("64", "128", "256", "512", "1024", "1518", "imix")
SOURCES = ("2^10", "2^16", "2^20", "2^25", "new")
WORKERS = (1, 2, 4)
QUICK_SIZES, QUICK_SOURCES, QUICK_WORKERS = ("64", "imix"), ("2^10", "2^20", "new"), (1, 2)
KEYS = 1 << 20
TIGHT = 1 << 16  # keys where every source is new: the table is full, as it would be
TRIAL, QUICK_TRIAL = 1.0, 0.3  # seconds
# What a pause of a core that others share keeps back is made up for within the trial.
BACKLOG = 1 << 15
DELAYS = [(share, quantile) for share in (0.5, 0.9) for quantile in ("p50", "p99", "p99_9")]
BAR_P99 = 50  # us beyond the reference's own, at half of the load


class Device(typing.NamedTuple):
    """What is measured: its name in the row, and what opens the two vhost ports."""
    name: str
    start: typing.Callable  # (folder, queues) -> something with stop()


def keys_for(sources):
    """As many as there are, and a quarter more: a place for each."""
    if sources == "new":
        return TIGHT
    return max(KEYS, (1 << int(sources[2:])) * 5 // 4)


def sluice(bench, rules, keys=KEYS):
    def start(folder, queues):
        return Sluice(bench.programs, folder, pktgen.vhost_ports(folder, queues), rules(folder),
                      table_keys=keys, workers_count=queues)
    return start


def testpmd(folder, queues):
    return Testpmd(folder, pktgen.vhost_ports(folder, queues), cores(queues), huge_pages(),
                   ["--forward-mode=mac", f"--rxq={queues}", f"--txq={queues}", f"--nb-cores={queues}"])


def rule_sets(bench, keys=KEYS):
    """-> (case, device) of both."""
    def one(folder):
        return one_rule(folder, "ip.src")
    yield "one rule", Device(OURS, sluice(bench, one, keys))
    yield bench.rules.name, Device(OURS, sluice(bench, lambda _: bench.rules, keys))


def measured(bench, device, words, queues=1):
    """-> what sluice-pktgen printed, sent through that device, which is new for it."""
    with bench.folder() as folder, contextlib.closing(Stoppable(device.start(folder, queues))):
        return pktgen.run(bench.build, folder, words, queues)


def trial(bench):
    return f"{QUICK_TRIAL if bench.quick else TRIAL}s"


def search_words(bench, more):
    return ["--search", "--trial", trial(bench), "--tolerance", 4 if bench.quick else 2, "--repeats", 2,
            "--backlog", BACKLOG, *more]


def full_rate_words(bench, more):
    return ["--duration", f"{bench.seconds}s", *more]


def sides(devices, measure):
    return [(name, lambda device=device: measure(device)) for name, device in devices]


def rows_beside_testpmd(bench, name, case, keys, measure):
    """A row for each rule set: millions of frames a second, beside the one reference of these rounds."""
    sets = list(rule_sets(bench, keys))
    rows.note(f"{name} {case}")
    taken = rows.interleaved(sides([*sets, (REFERENCE, Device(REFERENCE, testpmd))], measure), bench.rounds)
    for rule_set, _ in sets:
        yield rows.compared(name, f"{rule_set}: {case}", {OURS: taken[rule_set], REFERENCE: taken[REFERENCE]}, "Mpps")


def throughput_by_size(bench, _):
    """W1: RFC 2544, 26.1: the highest rate of which no frame is lost."""
    for size in QUICK_SIZES if bench.quick else SIZES:
        words = search_words(bench, ["--throughput-only", "--size", size, "--sources", "2^16"])
        yield from rows_beside_testpmd(
            bench, "W1", f"throughput, {size} bytes" if size != "imix" else "throughput, IMIX", KEYS,
            lambda device, words=words: measured(bench, device, words)["throughput_pps"] / 1e6)


def arrived(bench, words, queues=1):
    return lambda device: measured(bench, device, words, queues)["received_pps"] / 1e6


def warm_up(sources):
    """Frames after which each source has been seen; where all are new, the table has long been full."""
    return 4 * TIGHT if sources == "new" else 1 << int(sources[2:])


def rate_by_sources(bench, _):
    """W2: as fast as the port takes them; what arrives, once every source has its place."""
    for sources in QUICK_SOURCES if bench.quick else SOURCES:
        words = full_rate_words(bench, ["--size", 64, "--sources", sources, "--warm-up", warm_up(sources)])
        case = "64 bytes, every source new, a full table" if sources == "new" else f"64 bytes, {sources} sources"
        yield from rows_beside_testpmd(bench, "W2", case, keys_for(sources), arrived(bench, words))


def counted(number, word):
    return f"{number} {word}{'s' if number > 1 else ''}"


def rate_by_workers(bench, _):
    """W3: several workers, as many queues, the generator on one core."""
    for workers in QUICK_WORKERS if bench.quick else WORKERS:
        words = full_rate_words(bench, ["--size", 64, "--sources", "2^16"])
        own = len(set(worker_cpus(workers)))
        case = f"64 bytes, 2^16 sources, {counted(workers, 'worker')}, a queue each, on {counted(own, 'core')}"
        yield from rows_beside_testpmd(bench, "W3", case, KEYS, arrived(bench, words, workers))


def delays(bench, device):
    """-> us, by share of the load and quantile; nothing where every rate that was tried lost frames."""
    found = measured(bench, device, search_words(bench, ["--size", 64, "--sources", "2^16"]))
    return {(one["share"], quantile): one["delay_us"][quantile]
            for one in found["delays"] for quantile in ("p50", "p99", "p99_9")}


def added_delay(bench, _):
    """W4: delays at 50 and 90 % of each one's own throughput, of the same rounds."""
    sets = list(rule_sets(bench))
    rows.note("W4")
    taken = {name: [] for name in (*(name for name, _ in sets), REFERENCE)}
    for number in range(1, bench.rounds + 1):
        for name, device in (*sets, (REFERENCE, Device(REFERENCE, testpmd))):
            taken[name].append(delays(bench, device))
            rows.note(f"  round {number}: {name}: {taken[name][-1]}")
    for rule_set, _ in sets:
        for key in DELAYS:
            ours, reference = ([one[key] for one in taken[name] if one] for name in (rule_set, REFERENCE))
            if ours and reference:
                yield delay_row(rule_set, key, ours, reference)
            else:
                rows.note(f"W4 {rule_set}: no rate passed in any round")


def delay_row(rule_set, key, ours, reference):
    share, quantile = key
    row = rows.compared("W4", f"{rule_set}: {quantile.replace('_', '.')} at {share:.0%} of its throughput, 64 bytes",
                        {OURS: rows.Median(ours), REFERENCE: rows.Median(reference)}, "us")
    is_barred = key == (0.5, "p99")
    return {**row, "better": "lower", "bar": row["reference_value"] + BAR_P99 if is_barred else None}


def others_generators(bench, _):
    """W5: dpdk-testpmd sends, by flowgen and by txonly, and what was received is what the box counted."""
    for mode, more in (("flowgen", ["--flowgen-flows=1024"]), ("txonly", ["--txonly-multi-flow"])):
        yield from rows_beside_testpmd(bench, "W5", f"dpdk-testpmd {mode} sends into both ports", KEYS,
                                       lambda device, mode=mode, more=more: sent_by_testpmd(bench, device, mode, more))


def sent_by_testpmd(bench, device, mode, more):
    first = usable_cpus()[0]
    with bench.folder() as folder, contextlib.closing(Stoppable(device.start(folder, 1))) as side, \
            contextlib.closing(Stoppable(Testpmd(
                folder, pktgen.virtio_ports(folder), f"0@{first},1@{first}", [*huge_pages(), "--single-file-segments"],
                [f"--forward-mode={mode}", *more]))):
        return rate(side.inner, bench.seconds)


TARGETS = dict.fromkeys(("W1", "W2", "W3", "W4", "W5"), [*PROGRAMS, pktgen.TARGET])
BENCHES = {"W1": throughput_by_size, "W2": rate_by_sources, "W3": rate_by_workers, "W4": added_delay,
           "W5": others_generators}
