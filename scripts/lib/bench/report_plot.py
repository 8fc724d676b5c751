"""The plots of the report: lines over keys, rules, sizes, of Sluice and of what it is measured beside, as SVG."""
import math

import rows
from results import in_order

COLOURS = ("#c0392b", "#2471a3", "#1e8449", "#7d3c98", "#b9770e", "#117a65", "#5d6d7e", "#a04000")
WIDTH, HEIGHT, LEFT, TOP, GAP, LINE = 330, 200, 60, 30, 70, 15
# A plot whose values lie further apart than this has a logarithmic axis.
MOST_LINEAR = 20
STEPS = (1, 2, 5)


def points_of(results):
    """{plot: {panel: {series: {x: value}}}}; what a row is measured beside is a line too."""
    plots = {}
    for name in sorted(results, key=in_order):
        for row in results[name]["rows"]:
            if "plot" not in row:
                continue
            panels = plots.setdefault(row["plot"], {})
            lines = panels.setdefault(f"{name.rstrip('0123456789')}: {row['unit']}", {})
            lines.setdefault(row["series"], {})[row["x"]] = row["value"]
            if row["reference"] and row["reference_value"]:
                lines.setdefault(row["reference"], {})[row["x"]] = row["reference_value"]
    return plots


def in_place(x):
    """Numbers first, by size; words behind them."""
    return (isinstance(x, str), x)


def x_name(x):
    if isinstance(x, int) and x >= 1024 and x & (x - 1) == 0:
        return f"2^{x.bit_length() - 1}"
    return f"{x:,}" if isinstance(x, int) else str(x)


def escaped(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def words(x, y, text, anchor="middle", colour="#333"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{escaped(text)}</text>'


class Axis:
    """From 0, or logarithmic where values lie far apart."""

    def __init__(self, values):
        positive = [value for value in values if value > 0] or [1]
        self.most, least = max(positive) * 1.1, min(positive)
        self.log = self.most / least > MOST_LINEAR
        self.least = 10 ** math.floor(math.log10(least)) if self.log else 0

    def at(self, value):
        if self.log:
            share = math.log(max(value, self.least) / self.least) / math.log(self.most / self.least)
        else:
            share = value / self.most
        return TOP + HEIGHT * (1 - share)

    def ticks(self):
        if self.log:
            first = round(math.log10(self.least))
            return [step * 10.0 ** power for power in range(first, math.ceil(math.log10(self.most)) + 1)
                    for step in STEPS if step * 10.0 ** power <= self.most]
        step = 10 ** math.floor(math.log10(self.most))
        step = next(step * part for part in (0.2, 0.5, 1, 2) if self.most / (step * part) <= 6)
        return [number * step for number in range(int(self.most / step) + 1)]


def panel(left, title, lines):
    places = sorted({x for line in lines.values() for x in line}, key=in_place)
    at_x = {x: left + WIDTH * (number + 0.5) / len(places) for number, x in enumerate(places)}
    axis = Axis([value for line in lines.values() for value in line.values()])
    parts = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
             words(left + WIDTH / 2, TOP - 8, title)]
    for tick in axis.ticks():
        parts.append(f'<path d="M{left} {axis.at(tick):.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(words(left - 6, axis.at(tick) + 4, f"{tick:,g}", "end"))
    parts += [words(at_x[x], TOP + HEIGHT + LINE, x_name(x)) for x in places]
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        along = [(at_x[x], axis.at(line[x])) for x in places if x in line]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in along)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in along]
        parts.append(words(left, TOP + HEIGHT + (number + 3) * LINE, name, "start", colour))
    return parts


def draw(plot, panels):
    """-> SVG"""
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + (max(map(len, panels.values())) + 3) * LINE
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="#fff"/>']
    for number, (title, lines) in enumerate(panels.items()):
        parts += panel(LEFT + number * (WIDTH + GAP), f"{title}, over {rows.PLOTS.get(plot, plot)}", lines)
    return "\n".join([*parts, "</svg>\n"])
