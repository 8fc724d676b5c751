#!/usr/bin/env python3
"""The report of the benchmarks: report.py [--check] [--results FILE] writes report.md and its plots beside the results, and
their summary: tests/bench/README.md and the lines of README.md between their marks. --check writes nothing, and fails
where README.md says something else than the summary, or the summary is in another form.

Results are no part of the tree: `scripts/bench --keep` writes them to build/bench, of each id the rows of its last run. The
summary keeps the lines of ids that these results lack. No figure is written by hand.
"""
import argparse
import pathlib
import re
import sys

import report_plot
import results as kept
import rows

SUMMARY = kept.ROOT / "tests/bench/README.md"
FRONT = kept.ROOT / "README.md"
BEGIN, END = "<!-- scripts/bench: begin -->", "<!-- scripts/bench: end -->"
HEAD = """# Benchmarks

What `scripts/bench --keep` measured last, by id. Written by `scripts/lib/bench/report.py`, and by nobody's hand; what each
id is: [scripts/DESIGN.md](../../scripts/DESIGN.md). A figure is the median of interleaved rounds, its spread the least and the most of
them; beside it stands what was measured in turn with it. The ratio is held to the bar, or where
there is none, or the bar has its unit, the figure.
▼: less is better. Here stand rows that have a bar, and the first of an id that has none; every row and the plots are
beside the results (`build/bench/report.md`).

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
    least = f"{number(row['bar_from'])} to " if "bar_from" in row else ""
    bar = least + number(row["bar"]) + (f" {row['unit']}" if row.get("bar_of") == "value" else "")
    return [f"{number(row['value'])} {row['unit']}".strip() + (" ▼" if row["better"] == "lower" else ""),
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
    """The text of report.md: every row, and the plots."""
    parts = [HEAD]
    for title, names in runs_of(results):
        lines = [[name, row["case"], *cells(row)] for name in names for row in results[name]["rows"]]
        parts.append(f"## {title}\n\n"
                     + table(["id", "case", "figure", "spread", "beside", "ratio", "bar", ""], lines) + "\n")
    for plot in report_plot.points_of(results):
        title = PLOT_TITLES.get(plot, f"Over {plot}")
        parts.append(f"## {title}\n\n![{title}]({plot}.svg)\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def summarized(rows_of_id):
    """The rows of an id that the summary has."""
    return [row for row in rows_of_id if row["bar"] is not None] or rows_of_id[:1]


def parsed(text):
    """{title of a run: its lines, each a list of cells} of a summary."""
    runs, lines = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            lines = runs.setdefault(line[3:], [])
        elif lines is not None and line.startswith("| ") and not line.startswith(("| id |", "| --- |")):
            lines.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return runs


def summary(results, before):
    """The text of tests/bench/README.md: that before, with the ids of these results in the place of their lines."""
    runs = {title: [line for line in lines if line[0] not in results] for title, lines in parsed(before).items()}
    for title, names in runs_of(results):
        runs.setdefault(title, []).extend([name, row["case"], *cells(row)]
                                          for name in names for row in summarized(results[name]["rows"]))
    parts = [HEAD]
    for title, lines in sorted(runs.items(), reverse=True):
        if lines:
            lines.sort(key=lambda line: kept.in_order(line[0]))
            parts.append(f"## {title}\n\n"
                         + table(["id", "case", "figure", "spread", "beside", "ratio", "bar", ""], lines) + "\n")
    return "".join(parts).rstrip("\n") + "\n"


def front_lines(text):
    """The rows of README.md, from the text of the summary."""
    measured = [(title.split(", ")[0], line) for title, lines in parsed(text).items() for line in lines]
    lines = []
    for name, part, what in FRONT_ROWS:
        found = [(date, line) for date, line in measured if line[0] == name and part in line[1]]
        date, (_, _, figure, _, beside, ratio, bar, met) = found[0] if found else ("", ["", "", "not measured", *[""] * 5])
        lines.append([f"{name}: {what}", figure, beside, ratio, f"{bar} {met}".strip(), date])
    return lines


def front(text, page):
    """README.md with the lines of this summary in their place."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    lines = table(["what", "figure", "beside, same run", "ratio", "bar", "measured"], front_lines(text))
    return f"{before}{BEGIN}\n{lines}{END}{after}"


def texts(results, folder):
    """{path: what stands there} of the summary, and of the report in this folder where there are results."""
    text = summary(results, SUMMARY.read_text(encoding="utf-8"))
    written = {SUMMARY: text, FRONT: front(text, FRONT.read_text(encoding="utf-8"))}
    if results:
        written[folder / "report.md"] = report(results)
        for plot, panels in report_plot.points_of(results).items():
            written[folder / f"{plot}.svg"] = report_plot.draw(plot, panels)
    return written


def write(check=False, path=kept.RESULTS):
    """Paths whose text was another one; with `check`, which asks for no results, it still is."""
    written = texts({} if check else kept.load(path), path.parent)
    wrong = [each for each, text in written.items() if not each.exists() or each.read_text(encoding="utf-8") != text]
    for each in [] if check else wrong:
        each.write_text(written[each], encoding="utf-8")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=kept.RESULTS)
    arguments = parser.parse_args()
    wrong = write(arguments.check, arguments.results)
    for path in wrong if arguments.check else []:
        print(f"{path.relative_to(kept.ROOT)} is not as the summary has it: run scripts/lib/bench/report.py")
    return 1 if arguments.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
