#!/usr/bin/env python3
"""The report of the benchmarks: report.py [--check] writes tests/bench/README.md with its plots, and the lines of
README.md between their marks, from tests/bench/results.json. --check writes nothing, and fails where they say something else.

What was measured comes into results.json by `scripts/bench --keep`: of each id the rows of its last run, with the
machine, the date and the commit. No figure of the report is written by hand.
"""
import argparse
import sys

import report_plot
import results as kept
import rows

FOLDER = kept.RESULTS.parent
REPORT = FOLDER / "README.md"
FRONT = kept.ROOT / "README.md"
BEGIN, END = "<!-- scripts/bench: begin -->", "<!-- scripts/bench: end -->"
HEAD = """# Benchmarks

What `scripts/bench --keep` measured last, by id. Written by `scripts/lib/bench/report.py`, and by nobody's hand; what each
id is: [scripts/DESIGN.md](../../scripts/DESIGN.md). A figure is the median of interleaved rounds, its spread the least and the most of
them; beside it stands what was measured in turn with it. The ratio is held to the bar, or where
there is none, or the bar has its unit, the figure.
▼: less is better.

"""
# README.md shows these: id, what its case contains, what they are called there.
FRONT_ROWS = (
    ("P1", "all admitted", "one rule on `ip.src`, 2^20 sources, one core, in process"),
    ("P5", "as it is", "ten ordinary rules (`tests/bench/rules/scrubbing.yaml`)"),
    ("T1", "2^20", "bucket table, 2^20 live keys"),
    ("C2", "1000 rules", "classifier, 1,000 rules"),
    ("H2", "no patterns", "requests of HTTP by source and host"),
    ("F1", "one rule", "the whole program, one worker"),
)
PLOT_TITLES = {"keys": "Over keys", "rules": "Over rules", "sizes": "Over frame sizes", "peers": "Against the peers"}


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def cells(row):
    """The columns of a row behind its id and case."""
    beside = f"{row['reference']}: {number(row['reference_value'])}" if row["reference"] else ""
    met = {None: "", True: "met", False: "**missed**"}[rows.meets(row)]
    bar = number(row["bar"]) + (f" {row['unit']}" if row.get("bar_of") == "value" else "")
    return [number(row["value"]) + " " + row["unit"] + (" ▼" if row["better"] == "lower" else ""),
            rows.spread_text(row, number), beside, number(row["ratio"]), bar, met]


def table(head, lines):
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *escaped]) + "\n"


def runs_of(results):
    """[(machine, date, …), ids of that run], the latest first."""
    runs = {}
    for name in sorted(results, key=kept.in_order):
        run = results[name]
        quick = ["short rounds"] if run["quick"] else []
        title = ", ".join([run["date"], run["machine"], run["pages"], f"commit {run['commit']}", *quick])
        runs.setdefault(title, []).append(name)
    return sorted(runs.items(), reverse=True)


def report(results):
    """The text of tests/bench/README.md."""
    parts = [HEAD]
    for title, names in runs_of(results):
        lines = [[name, row["case"], *cells(row)] for name in names for row in results[name]["rows"]]
        parts.append(f"## {title}\n\n"
                     + table(["id", "case", "figure", "spread", "beside", "ratio", "bar", ""], lines) + "\n")
    for plot in report_plot.points_of(results):
        title = PLOT_TITLES.get(plot, f"Over {plot}")
        parts.append(f"## {title}\n\n![{title}]({plot}.svg)\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def front_lines(results):
    """The rows of README.md."""
    lines = []
    for name, part, what in FRONT_ROWS:
        found = [row for row in results.get(name, {}).get("rows", []) if part in row["case"]]
        figure, _, beside, ratio, bar, met = cells(found[0]) if found else ["not measured", *[""] * 5]
        lines.append([f"{name}: {what}", figure, beside, ratio, f"{bar} {met}".strip(),
                      results[name]["date"] if found else ""])
    return lines


def front(results, text):
    """README.md with the lines in their place."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    lines = table(["what", "figure", "beside, same run", "ratio", "bar", "measured"], front_lines(results))
    return f"{before}{BEGIN}\n{lines}{END}{after}"


def texts(results):
    """{path: what stands there} of all that the report is."""
    written = {REPORT: report(results), FRONT: front(results, FRONT.read_text(encoding="utf-8"))}
    for plot, panels in report_plot.points_of(results).items():
        written[FOLDER / f"{plot}.svg"] = report_plot.draw(plot, panels)
    return written


def write(check=False):
    """Paths whose text was another one; with `check` it still is."""
    written = texts(kept.load())
    wrong = [path for path, text in written.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in [] if check else wrong:
        path.write_text(written[path], encoding="utf-8")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wrong = write(check)
    for path in wrong if check else []:
        print(f"{path.relative_to(kept.ROOT)} does not say what results.json says: run scripts/lib/bench/report.py")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
