"""Both heat maps of a limit as a PNG, by gnuplot: what `scripts/plot heatmap` draws of `sluicectl heatmap RULE --json`."""
import json
import math
import subprocess

WIDTH, HEIGHT = 1200, 800
FONT = "sans,10"


def quoted(what):
    """In gnuplot's single quotes, where only a single quote is special."""
    return "'" + what.replace("'", "''") + "'"


def rows_of(columns, member):
    """{(column, row): groups}, of columns that are known."""
    return {(at, row): groups for at, column in enumerate(columns) if column for row, groups in column[member]}


def clamp_of(cells):
    """The count from which on all cells are as dark as can be: of one in a hundred."""
    counts = sorted(cells.values())
    return max(counts[(len(counts) - 1) * 99 // 100], 2)


def gaps(columns):
    """(first, end) of each run of columns that nothing is known of."""
    runs = []
    for at, column in enumerate(columns):
        if column is None and runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        elif column is None:
            runs.append((at, at + 1))
    return runs


def panel(columns, member, labels, title):
    cells = rows_of(columns, member)
    low, high = min(row for _, row in cells), max(row for _, row in cells)
    if member == "left":
        low, high = 0, len(labels) - 1
    most = clamp_of(cells)
    lines = [f"set title {quoted(title)} noenhanced", f"set yrange [{low - 0.5}:{high + 0.5}]", "unset object",
             f"set xrange [-0.5:{len(columns) - 0.5}]", f"set cbrange [0:{math.log(most)}]",
             "set cblabel 'groups, about'"]
    marks = [mark for mark in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000) if mark < most] + [most]
    lines.append("set cbtics (" + ", ".join(f"'{mark:,}' {math.log(mark)}" for mark in marks) + ")")
    every = max(1, (high - low) // 10)
    lines.append("set ytics (" + ", ".join(f"{quoted(labels[row])} {row}" for row in range(low, high + 1, every)) + ")")
    lines += [f"set object {number} rectangle from {first - 0.5},graph 0 to {end - 0.5},graph 1 "
              "fillstyle pattern 4 border fillcolor rgb '#888888' behind"
              for number, (first, end) in enumerate(gaps(columns), 1)]
    data = "\n".join(f"{at} {row} {math.log(max(groups, 1))}" for (at, row), groups in sorted(cells.items()))
    boxes = "using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fillstyle solid noborder " \
            "linecolor palette notitle"
    return lines, boxes, data


def draw(drawn):
    """-> (png, how many columns are known)"""
    found = json.loads(drawn)
    columns = found["columns"]
    known = sum(column is not None for column in columns)
    if not any(column and column["groups"] for column in columns):
        raise SystemExit(f"scripts/plot: there is nothing to draw: {found.get('why_empty') or 'no group'}")
    limit = found["limits"][found["limit"]]
    first = f"{found['rule']}: {limit['text']}; groups by {limit['unit']} in {found['step_s']} s, the line: the limit"
    offered = [f"{math.ceil(edge):,}" for edge in found["offered_edges"]]
    left = ["refused now", *(f"{edge * 100:.0f} %%" for edge in found["left_edges"][1:-1]), "full"]
    ticks = max(1, len(columns) // 6)
    step = found["step_s"]
    script = [f"set terminal pngcairo size {WIDTH},{HEIGHT} font '{FONT}'", "set output", "set multiplot layout 2,1",
              "set palette gray negative", "set lmargin at screen 0.09", "set rmargin at screen 0.88", "set datafile separator ' '",
              "set xtics (" + ", ".join(f"'-{(len(columns) - at) * step} s' {at}" for at in range(0, len(columns), ticks))
              + ")"]
    lines, boxes, data = panel(columns, "offered", offered, first)
    script += [*lines, f"plot '-' {boxes}, {found['limit_bucket']} with lines linecolor rgb '#c0392b' notitle", data, "e"]
    lines, boxes, data = panel(columns, "left", left, "groups by the least that was left of the limit")
    script += [*lines, f"plot '-' {boxes}", data, "e", "unset multiplot"]
    drawing = subprocess.run(["gnuplot"], input=("\n".join(script) + "\n").encode(), capture_output=True, check=False)
    if drawing.returncode != 0 or not drawing.stdout:
        raise SystemExit(f"scripts/plot: gnuplot could not draw it: {drawing.stderr.decode()}")
    return drawing.stdout, known
