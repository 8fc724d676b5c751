"""Rounds of a benchmark and the row they end in. Every round is kept in the row, none discarded."""
import json
import statistics
import sys

COLUMNS = "{:<4} {:<66} {:>10} {:<22} {:>7} {:<46} {:>5} {:>5}"


class BenchError(Exception):
    """A program that measures has failed."""


def note(text):
    print(text, file=sys.stderr, flush=True)


def interleaved(sides, rounds):
    """A B A B: `sides` is a list of (name, function); the median of each, by name."""
    return {name: statistics.median(taken) for name, taken in rounds_of(sides, rounds).items()}


def rounds_of(sides, rounds):
    """The same; every round of each, by name."""
    values = {name: [] for name, _ in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides:
            value = measure()
            values[name].append(value)
            note(f"  round {number}: {name}: {value:.3f}")
    return values


def spread(bench, case, taken, unit):
    """Row of a case where two sides, ours first, have these rounds, with all of them in it."""
    medians = {name: statistics.median(values) for name, values in taken.items()}
    ours, reference = ([round(value, 3) for value in values] for values in taken.values())
    return {**compared(bench, case, medians, unit), "rounds": ours, "reference_rounds": reference}


def compared(bench, case, medians, unit, bars=(None, None)):
    """Row of a case where two sides, ours first, were measured in `medians`."""
    (_, value), (reference, reference_value) = medians.items()
    return {"id": bench, "case": case, "value": round(value, 3), "unit": unit,
            "reference": reference, "reference_value": round(reference_value, 3),
            "ratio": round(value / reference_value, 3) if reference_value else None,
            "bar": bars[0], "goal": bars[1], "better": "higher"}


def as_number(value):
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


class Table:
    """Rows for people, as they come."""

    def __init__(self):
        self.has_head = False

    def show(self, row):
        if not self.has_head:
            print(COLUMNS.format("id", "case", "value", "unit", "ratio", "beside", "bar", "goal").rstrip())
            self.has_head = True
        beside = f"{row['reference']}: {as_number(row['reference_value'])}" if row["reference"] else ""
        print(COLUMNS.format(row["id"], row["case"], as_number(row["value"]), row["unit"],
                             as_number(row["ratio"]), beside, as_number(row["bar"]),
                             as_number(row["goal"])).rstrip(), flush=True)


class Lines:
    """Rows for programs, an object a line."""

    def show(self, row):
        print(json.dumps(row), flush=True)
