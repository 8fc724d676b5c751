"""Rounds of a benchmark and the row they end in. Every round is printed, none discarded."""
import json
import statistics
import sys


class BenchError(Exception):
    """A program that measures has failed."""


def note(text):
    print(text, file=sys.stderr, flush=True)


def interleaved(sides, rounds):
    """A B A B: `sides` is a list of (name, function); the median of each, by name."""
    values = {name: [] for name, _ in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides:
            value = measure()
            values[name].append(value)
            note(f"  round {number}: {name}: {value:.3f}")
    return {name: statistics.median(taken) for name, taken in values.items()}


def compared(bench, case, medians, unit):
    """Row of a case where two sides, ours first, were measured in `medians`."""
    (_, value), (reference, reference_value) = medians.items()
    return {"id": bench, "case": case, "value": round(value, 3), "unit": unit,
            "reference": reference, "reference_value": round(reference_value, 3),
            "ratio": round(value / reference_value, 3) if reference_value else None,
            "bar": None, "goal": None, "better": "higher"}


def show(row, as_json):
    if as_json:
        print(json.dumps(row), flush=True)
        return
    ratio = "" if row["ratio"] is None else f"  ratio {row['ratio']:.3f}"
    beside = f"  ({row['reference']}: {row['reference_value']})" if row["reference"] else ""
    bar = "" if row["bar"] is None else f"  [bar {row['bar']}, goal {row['goal']}]"
    print(f"{row['id']}  {row['case']}: {row['value']} {row['unit']}{beside}{ratio}{bar}", flush=True)
