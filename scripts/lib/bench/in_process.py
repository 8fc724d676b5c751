"""Programs of tests/bench, which measure in process and print a JSON object a line. Each has its
references in the same run."""
import json
import subprocess

import rows

# What each program measures. A program runs once for all of its ids that are wanted.
PROGRAMS = {
    "table_bench": ("T1", "T2", "T3", "T4"),
    "pipeline_bench": ("P1", "P2", "P5", "P6", "P7", "P8", "A3", "V1"),
    "rules_bench": ("P3", "P4"),
    "classifier_bench": ("C2",),
    "list_bench": ("L1", "L2"),
    "override_bench": ("L3",),
    "merged_bench": ("M1",),
    "cluster_bench": ("D6",),
    "overshoot_bench": ("M2",),
    "hot_key_bench": ("M3",),
    "owner_bench": ("M4",),
    "swap_bench": ("R1",),
    "text_bench": ("X1", "X2"),
    "fib_bench": ("G1",),
    "hello_bench": ("TLS", "QUIC"),
    "http1_bench": ("H0",),
    "request_bench": ("H1", "H2", "H3", "H2s", "H3s", "H4", "H4s", "H5", "DNS", "A1"),
    "shaping_bench": ("A2",),
}
SHARED = ("T", "P")  # rows that are no id's own: the floor, other sizes

# First bar and goal of a figure, by id and reference. Of T4 and P2 less is better.
BARS = {
    ("T1", "rte_hash + rte_meter"): (3, 5),
    ("T1", "roof"): (0.5, 0.75),
    ("T2", "roof"): (0.5, 0.8),
    ("P1", "10 Gbit/s line rate"): (1.5, 2.5),
    ("P2", "one roof access"): (5, 2.5),
    ("P3", "two rules that always match"): (0.4, 0.6),
    ("P4", "two rules that always match"): (0.2, 0.35),
    ("P7", "MAC swap"): (0.5, 0.7),
    ("C2", "rte_acl"): (1, 2),
    ("L1", "one roof access"): (1, 1),
    ("X2", "ten patterns by matches"): (0.8, 1),
    ("L3", "one roof access"): (1, 1),
    ("M1", "local keys, the others as busy"): (0.5, 0.8),
    ("M3", "uniform keys"): (0.9, 1),
    ("D6", "scope: box"): (0.9, 0.95),
    ("T4", None): (18, 16.7),
    ("R1", "the same set undisturbed"): (0.95, 0.98),
    ("QUIC", None): (6667, None),  # 150,000 a second
    ("H1", "hs_scan alone over the same fields"): (0.4, 0.6),
    ("H2", None): (2, 5),
    ("H3", "the same set without its rules over layer 7"): (0.95, 0.99),
    ("H2s", "the same without the service"): (0.85, 0.95),
    ("H4s", "the same without the service"): (0.85, 0.95),
    ("H3s", "the same set without its service and its rules over layer 7"): (0.7, 0.85),
    # Of the value, not of the ratio.
    ("H4", "parsing them alone"): (1.5, None),
    ("H5", "their AES alone"): (0.15, None),
    ("DNS", "reading them alone"): (6, None),
    ("A1", "dropped"): (1, 3),
    ("A3", "where it drops"): (0.97, 1),
    ("V1", "without a map"): (0.97, 0.99),
    ("A2", "p99 of the loop's gaps"): (50, 10),
}
# Where the bar depends on the case: by id and reference, then by what the case contains.
BARS_BY_CASE = {
    ("T3", None): {"2^20": (0.6, 0.85), "2^23": (0.5, 0.65)},
    ("P5", "P1"): {"as it is": (0.30, 0.45), "refused": (0.25, 0.33)},
    ("P6", "P1"): {"(a)": (0.75, 0.95), "(b)": (0.65, 0.85), "(c)": (0.55, 0.75), "(d)": (0.35, 0.55),
                   "(e)": (0.35, 0.55), "(f)": (0.2, 0.35), "(g)": (0.75, 0.95), "(h)": (0.7, 0.9),
                   "(i)": (0.55, 0.8), "(j)": (0.6, 0.8), "(k)": (0.35, 0.5)},
    ("TLS", None): {"in one record": (667, None)},  # 1.5 million a second
    ("H0", None): {"680 lines without a colon": (5000, None)},  # ns that the dearest head may take
    ("R1", None): {"gap between bursts when a set is adopted, the longest": (100, 20)},
}
# Of M2 and M3, by unit.
PROMISE_BARS = {"of the promise": (1.0, 0.5), "of min(offered, rate)": (0.99, 1.0)}
KEPT = ("rounds", "reference_rounds", "plot", "x", "series")
# Their bars are of the figure itself, whatever it is measured beside; those of all others of the ratio, where there is one.
VALUE_BARS = ("T4", "H2", "H4", "H5", "DNS", "A1", "A2", "TLS", "QUIC", "H0")
LESS_IS_BETTER = ("P2", "T4", "L1", "L2", "L3", "X1", "G1", "TLS", "QUIC", "H0")


def bars_of(row):
    if row["unit"] in PROMISE_BARS:
        return PROMISE_BARS[row["unit"]]
    for key in ((row["id"], row.get("reference")), (row["id"], None)):
        if key in BARS:
            return BARS[key]
        for part, bars in BARS_BY_CASE.get(key, {}).items():
            if part in row["case"]:
                return bars
    return (None, None)


def rounds_of(row):
    """What the program printed as rounds: ns of each where the row is a rate, but for R1, which counts within a second."""
    if row["unit"] == "ns added per packet":  # those of the whole packet
        return rows.OTHERS
    is_rate = row["unit"].startswith("M") and row["unit"].endswith(("pps", "/s"))
    return rows.NS_OF_EACH if is_rate and row["id"] != "R1" else rows.VALUES


def is_less_better(row):
    return row["id"] in LESS_IS_BETTER or row["unit"] in ("us", "of the promise", "of the burst")


def finished(row):
    """The row of scripts/bench from that of a program."""
    bar, goal = bars_of(row)
    whole = {"id": row["id"], "case": row["case"], "value": row["value"], "unit": row["unit"],
             "reference": row.get("reference"), "reference_value": row.get("reference_value"),
             "ratio": row.get("ratio"), "bar": bar, "goal": goal,
             "better": "lower" if is_less_better(row) else "higher"}
    if bar is not None and (row["id"] in VALUE_BARS or row["unit"] in ("us", *PROMISE_BARS)):
        whole["bar_of"] = "value"
    # What a program adds: its rounds, and where the row lies in a plot (`rows.in_plot`).
    kind = {"rounds_are": rounds_of(row)} if "rounds" in row else {}
    return {**whole, **kind, **{name: row[name] for name in KEPT if name in row}}


def words(row):
    """What is beside the figures: page sizes, sizes of tables."""
    rest = ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("id", "case"))
    return f"  {row['id']} {row['case']}: {rest}"


def run(bench, program, ids):
    command = [bench.build / "tests" / program, *ids]
    if bench.rules and program == "pipeline_bench":
        command += ["--rules", bench.rules]
    command += ["--quick"] if bench.quick else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            row = json.loads(line)
            if "value" not in row or "unit" not in row:
                rows.note(words(row))
            elif row["id"] in ids or row["id"] in SHARED:
                yield finished(row)
    if process.returncode != 0:
        raise rows.BenchError(f"{program} ended with {process.returncode}")


def measure(program):
    return lambda bench, ids: run(bench, program, ids)


# Id to what has to be built for it, and to the function that measures it with others of its kind.
TARGETS = {name: [f"tests/{program}"] for program, ids in PROGRAMS.items() for name in ids}
BENCHES = {}
for each, its_ids in PROGRAMS.items():
    BENCHES.update(dict.fromkeys(its_ids, measure(each)))
