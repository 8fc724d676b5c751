"""Rounds of a benchmark and the row they end in. Every round is kept in the row, none discarded.

A row is a dictionary: id, case, value, unit; reference, reference_value, ratio; bar, goal, better ("higher" or
"lower"); bar_of, where the bar is not of the ratio but of the "value"; bar_is, where it is the "least" that a ratio may be although less of
the value is better; rounds and reference_rounds, of which value and reference_value are the medians, and rounds_are, which says what
they are: VALUES, NS_OF_EACH or OTHERS. A row that is a point of a
plot says so by three more, `plot`, `series` and `x` (`in_plot`).
"""
import json
import statistics
import sys

import progress

COLUMNS = "{:<4} {:<66} {:>10} {:<22} {:<20} {:>7} {:<46} {:>5} {:>5}"


# What the report draws, and what its points lie over.
PLOTS = {"keys": "live keys", "rules": "rules", "sizes": "bytes of a frame", "peers": "live keys"}


# What the rounds of a row are: in the unit of its value; ns of each, of a rate in millions a second; of another kind, such as a whole of
# which the value is a part.
VALUES, NS_OF_EACH, OTHERS = "values", "ns of each", "others"


class BenchError(Exception):
    """A program that measures has failed."""


def note(text):
    with progress.aside():
        print(text, file=sys.stderr, flush=True)


class Median(float):
    """Of rounds that it remembers."""

    def __new__(cls, taken):
        number = super().__new__(cls, statistics.median(taken))
        number.rounds = [round(value, 3) for value in taken]
        return number


def interleaved(sides, rounds):
    """A B A B: `sides` is a list of (name, function); the `Median` of each, by name."""
    values = {name: [] for name, _ in sides}
    for number in range(1, rounds + 1):
        for name, measure in sides:
            value = measure()
            values[name].append(value)
            note(f"  round {number}: {name}: {value:.3f}")
    return {name: Median(taken) for name, taken in values.items()}


def compared(bench, case, medians, unit, bars=(None, None)):
    """Row of a case where two sides, ours first, were measured in `medians`."""
    (_, value), (reference, reference_value) = medians.items()
    taken = {name: median.rounds for name, median in (("rounds", value), ("reference_rounds", reference_value))
             if hasattr(median, "rounds")}
    return {"id": bench, "case": case, "value": round(value, 3), "unit": unit,
            "reference": reference, "reference_value": round(reference_value, 3),
            "ratio": round(value / reference_value, 3) if reference_value else None,
            "bar": bars[0], "goal": bars[1], "better": "higher", **taken, **({"rounds_are": VALUES} if taken else {})}


def in_plot(row, plot, x, series):
    """The row as a point of a plot: `plot` is one of PLOTS; `x` a number, or a word such as "all new", which lies right
    of all numbers; `series` the line that it belongs to, of which the report draws the value."""
    if plot not in PLOTS:
        raise ValueError(f"no plot is called {plot}; there are {', '.join(PLOTS)}")
    return {**row, "plot": plot, "x": x, "series": series}


def meets(row):
    """Whether the row keeps its bar, from `bar_from` on where it has that; None: it has none. A rate of which a round is 0 or less is noise: it keeps none."""
    held = row["value"] if row["ratio"] is None or row.get("bar_of") == "value" else row["ratio"]
    if row["bar"] is None or held is None:
        return None
    least = row.get("bar_is") == "least" or row["better"] == "higher"
    if least and min(row.get("rounds") or [1]) <= 0:
        return False
    if held < row.get("bar_from", held):
        return False
    return held >= row["bar"] if least else held <= row["bar"]


def spread(row):
    """(least, most) of the rounds, as values of the row; None: there are no rounds, or they are of another kind than it."""
    taken = row.get("rounds") or []
    kind = row.get("rounds_are") or kind_before(row)
    if len(taken) < 2 or kind == OTHERS:
        return None
    ends = [per_microsecond(round_) for round_ in taken] if kind == NS_OF_EACH else taken
    return min(ends), max(ends)


def per_microsecond(ns):
    """Millions a second of what takes so long each."""
    return 1000 / ns if ns else 0


def kind_before(row):
    """What the rounds are, by what fits the value, of a row of results.json without `rounds_are`."""
    median, value = statistics.median(row.get("rounds") or [0]), row["value"]
    for kind, as_value in ((VALUES, median), (NS_OF_EACH, per_microsecond(median))):
        if value and abs(as_value / value - 1) < 0.02:
            return kind
    return OTHERS


def spread_text(row, as_text):
    """Least to most; of rounds that are not the value's own, how far they lie apart as a part of their median."""
    ends = spread(row)
    if ends:
        return f"{as_text(ends[0])} to {as_text(ends[1])}"
    taken = row.get("rounds") or []
    middle = statistics.median(taken) if len(taken) > 1 else 0
    return f"{100 * (max(taken) - min(taken)) / middle:.0f} % of the rounds" if middle else ""


def as_number(value):
    return "" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


class Table:
    """Rows for people, as they come."""

    def __init__(self):
        self.has_head = False

    def show(self, row):
        with progress.aside():
            self.print(row)

    def print(self, row):
        if not self.has_head:
            print(COLUMNS.format("id", "case", "value", "unit", "spread", "ratio", "beside", "bar", "goal").rstrip())
            self.has_head = True
        beside = f"{row['reference']}: {as_number(row['reference_value'])}" if row["reference"] else ""
        print(COLUMNS.format(row["id"], row["case"], as_number(row["value"]), row["unit"],
                             spread_text(row, as_number), as_number(row["ratio"]), beside, as_number(row["bar"]),
                             as_number(row["goal"])).rstrip(), flush=True)


class Lines:
    """Rows for programs, an object a line."""

    def show(self, row):
        with progress.aside():
            print(json.dumps(row), flush=True)
