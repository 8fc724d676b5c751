"""T1 to T4, P1 to P4, C2, L1 to L3, M1 to M3, R1, X1 and G1: programs of tests/bench, which measure in process and
print a JSON object a line. Each has its references in the same run."""
import json
import subprocess

import rows

# First bar and goal of a figure, by id and reference. Of T4 and P2 less is better.
BARS = {
    ("T1", "rte_hash + rte_meter"): (3, 4.5),
    ("T1", "roof"): (0.5, 0.75),
    ("T2", "roof"): (0.5, 0.8),
    ("P1", "10 Gbit/s line rate"): (1.5, 2.5),
    ("P2", "one roof access"): (5, 2.5),
    ("P3", "two rules that always match"): (0.4, 0.6),
    ("P4", "two rules that always match"): (0.2, 0.35),
    ("C2", "rte_acl"): (1, 2),
    ("L1", "one roof access"): (1, 1),
    ("L3", "one roof access"): (1, 1),
    ("M1", "local keys, the others as busy"): (0.5, 0.8),
    ("M3", "uniform keys"): (0.9, 1),
    ("T4", None): (18, 16.7),
    ("R1", "the same set undisturbed"): (0.95, 0.98),
}
# Of figures without a reference that stand for themselves.
CASE_BARS = {"gap between bursts when a set is adopted, the longest": (100, 20)}
# Of M2 and M3, by unit.
PROMISE_BARS = {"of the promise": (1.0, 0.5), "of min(offered, rate)": (0.99, 1.0)}
T3_BARS = {"2^20": (0.6, 0.85), "2^23": (0.5, 0.65)}
LESS_IS_BETTER = ("P2", "T4", "L1", "L2", "L3", "X1", "G1")


def bars_of(row):
    if row["id"] == "T3":
        return next((bars for size, bars in T3_BARS.items() if size in row["case"]), (None, None))
    if row["unit"] in PROMISE_BARS:
        return PROMISE_BARS[row["unit"]]
    if row["case"] in CASE_BARS:
        return CASE_BARS[row["case"]]
    return BARS.get((row["id"], row.get("reference")), (None, None))


def is_less_better(row):
    return row["id"] in LESS_IS_BETTER or row["unit"] in ("us", "of the promise", "of the burst")


def run(bench, program, *arguments):
    command = [bench.build / "tests" / program, *arguments, *(["--quick"] if bench.quick else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            row = json.loads(line)
            rows.note("  " + line.strip())
            if "value" not in row or "unit" not in row:
                continue  # pages, cycles per stage: told above
            bar, goal = bars_of(row)
            yield {"id": row["id"], "case": row["case"], "value": row["value"], "unit": row["unit"],
                   "reference": row.get("reference"), "reference_value": row.get("reference_value"),
                   "ratio": row.get("ratio"), "bar": bar, "goal": goal,
                   "better": "lower" if is_less_better(row) else "higher"}
    if process.returncode != 0:
        raise rows.BenchError(f"{program} ended with {process.returncode}")


def table(identifier):
    return lambda bench: run(bench, "table_bench", identifier)


def pipeline(identifier, program="pipeline_bench"):
    def measure(bench):
        yield from (row for row in run(bench, program)
                    if row["id"] in (identifier, "P"))
    return measure


def swap(bench):
    yield from run(bench, "swap_bench")


def texts(bench):
    yield from run(bench, "text_bench")


def large_list(identifier):
    def measure(bench):
        yield from (row for row in run(bench, "list_bench") if row["id"] == identifier)
    return measure


BENCHES = {**{name: table(name) for name in ("T1", "T2", "T3", "T4")},
           **{name: pipeline(name) for name in ("P1", "P2")},
           **{name: pipeline(name, "rules_bench") for name in ("P3", "P4")},
           "C2": lambda bench: run(bench, "classifier_bench"),
           **{name: large_list(name) for name in ("L1", "L2")},
           "L3": lambda bench: run(bench, "override_bench"),
           "M1": lambda bench: run(bench, "merged_bench"),
           "M2": lambda bench: run(bench, "overshoot_bench"),
           "M3": lambda bench: run(bench, "hot_key_bench"),
           "R1": swap,
           "X1": texts,
           "G1": lambda bench: run(bench, "fib_bench")}
