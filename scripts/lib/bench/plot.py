#!/usr/bin/env python3
"""Draws what was measured, as a small SVG. `overshoot`: M2, into lib/peer/merge; `shape`: departures, into lib/respond/shape;
`terminal`: what sluicectl says while a flood passes, into control/doc; `heatmap`: both heat maps of a limit, as a PNG, of what
`sluicectl heatmap RULE --json` printed (--from)."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import plot_heatmap  # noqa: E402
import plot_shape  # noqa: E402
import plot_terminal  # noqa: E402

PROGRAM = "build/tests/overshoot_bench"
TARGET = "lib/peer/merge/overshoot.svg"
CASE = re.compile(r"(all at once|rotating), (\d+) workers, interval (\d+) us, U (\d+)")
USUAL = {"workers": 4, "interval": 1000, "ahead": 4}
COLOURS = {"all at once": "#c0392b", "rotating": "#2471a3"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 190, 150, 50, 40, 45
RATE_PER_US = 0.1  # of the benchmark


def points(lines):
    """(arrival, workers, interval in us, U, overshoot as a part of the promise)."""
    for line in lines:
        row = json.loads(line)
        match = CASE.fullmatch(row["case"])
        if match and row["unit"] == "of the promise":
            arrival, *numbers = match.groups()
            yield (arrival, *map(int, numbers), row["value"])


def panels(measured):
    """Each panel varies one number and keeps the others as they usually are."""
    usual_u = round(RATE_PER_US * USUAL["interval"] * USUAL["ahead"]) + 1
    chosen = {"merge interval, us": lambda w, i, u: (w == 4 and u == round(RATE_PER_US * i * 4) + 1) and i,
              "max_unsynced (U)": lambda w, i, u: (w == 4 and i == USUAL["interval"]) and u,
              "workers": lambda w, i, u: (i == USUAL["interval"] and u == usual_u) and w}
    for title, choose in chosen.items():
        lines = {}
        for arrival, workers, interval, ahead, value in measured:
            if x := choose(workers, interval, ahead):
                lines.setdefault(arrival, {})[x] = value
        yield title, {arrival: sorted(line.items()) for arrival, line in lines.items()}


def text(x, y, what, anchor="middle", colour="#333"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{what}</text>'


def draw_panel(left, title, lines):
    places = sorted({x for line in lines.values() for x, _ in line})
    at_x = {x: left + WIDTH * (i + 0.5) / len(places) for i, x in enumerate(places)}
    def at_y(value):
        return TOP + HEIGHT * (1 - value / 1.1)
    parts = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             text(left + WIDTH / 2, TOP + HEIGHT + 34, title)]
    parts += [text(at_x[x], TOP + HEIGHT + 15, x) for x in places]
    for value in (0, 0.5, 1):
        parts.append(f'<path d="M{left} {at_y(value):.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(text(left - 6, at_y(value) + 4, value, "end"))
    for arrival, line in lines.items():
        colour = COLOURS[arrival]
        way = " ".join(f"{at_x[x]:.1f},{at_y(value):.1f}" for x, value in line)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{at_x[x]:.1f}" cy="{at_y(value):.1f}" r="3" fill="{colour}"/>' for x, value in line]
    return parts


def draw(measured):
    all_panels = list(panels(measured))
    width = LEFT + len(all_panels) * (WIDTH + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 45}" '
             'font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="#fff"/>',
             text(LEFT, 18, "overshoot as a part of (workers - 1) * U; the others: 4 workers, 1 ms, U of 4 intervals",
                  "start"),
             text(LEFT, 33, "a whole burst to each worker at once", "start", COLOURS["all at once"]),
             text(LEFT + 230, 33, "each packet at the next worker, three times the rate", "start",
                  COLOURS["rotating"])]
    for number, (title, lines) in enumerate(all_panels):
        parts += draw_panel(LEFT + number * (WIDTH + GAP), title, lines)
    return "\n".join([*parts, "</svg>\n"])


def overshoot(rows, _):
    """-> (where to, the drawing, how many points)"""
    lines = rows or subprocess.run([PROGRAM, "--quick"], stdout=subprocess.PIPE, text=True, check=True).stdout
    measured = list(points(lines.splitlines()))
    if not measured:
        sys.exit("scripts/plot: there are no rows of M2 to draw")
    return TARGET, draw(measured), len(measured)


def shape(rows, _):
    return plot_shape.TARGET, *plot_shape.draw(rows or plot_shape.measure(sys.executable))


def terminal(rows, build):
    return plot_terminal.TARGET, *plot_terminal.draw(rows or plot_terminal.measure(build))


def heatmap(rows, _):
    if rows is None:
        sys.exit("scripts/plot: heatmap draws what `sluicectl heatmap RULE --json` printed: --from FILE")
    return "heatmap.png", *plot_heatmap.draw(rows)


DRAWN = {"overshoot": overshoot, "shape": shape, "terminal": terminal, "heatmap": heatmap}
COUNTED = {"terminal": "commands", "heatmap": "columns"}


def main():
    parser = argparse.ArgumentParser(prog="scripts/plot", description=__doc__)
    parser.add_argument("what", choices=list(DRAWN))
    parser.add_argument("--from", dest="rows", help="what was measured before, instead of measuring")
    parser.add_argument("--out", help="instead of the README's folder")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = pathlib.Path(arguments.rows).read_text() if arguments.rows else None
    target, drawing, count = DRAWN[arguments.what](rows, arguments.build)
    path = pathlib.Path(arguments.out or target)
    path.write_bytes(drawing if isinstance(drawing, bytes) else drawing.encode())
    print(f"{path}: {count} {COUNTED.get(arguments.what, 'points')}")


if __name__ == "__main__":
    main()
