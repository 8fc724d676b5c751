"""Packets that were offered at once, and when they left: what `scripts/plot shape` draws into lib/respond/shape."""
import json
import os
import subprocess
import tempfile

TARGET = "lib/respond/shape/pushwoosh.svg"
TEST = "tests/smoke/shape_test.py"
CASE = "Case.test_ten_thousand_offered_at_once_leave_evenly"
PROGRAMS = ("build/dataplane/sluice-dataplane", "build/control/daemon/sluiced", "build/control/cli/sluicectl")
OFFERED, LEFT_BOX = "#c0392b", "#2471a3"
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 170, 60, 45, 70
SECOND, STEP = 1_000_000_000, 0.1  # ns; seconds of a point of the rate


def measure(python):
    """Runs the live test, which fails unless all that it asserts holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "departures.json")
        subprocess.run([python, TEST, *PROGRAMS, CASE], check=True, env={**os.environ, "SLUICE_DEPARTURES": path})
        with open(path, encoding="utf-8") as file:
            return file.read()


def text(x, y, what, anchor="middle", colour="#333"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{what}</text>'


class Panel:
    def __init__(self, left, title, most_x, most_y):
        self.left, self.most_x, self.most_y = left, most_x, most_y
        self.parts = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
                      text(left + WIDTH / 2, TOP + HEIGHT + 34, title)]
        for part in range(0, 5):
            y = self.at_y(most_y * part / 4)
            self.parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
            self.parts.append(text(left - 6, y + 4, f"{most_y * part / 4:,.0f}", "end"))
        self.parts += [text(self.at_x(second), TOP + HEIGHT + 15, second) for second in range(0, int(most_x) + 1, 2)]

    def at_x(self, value):
        return self.left + WIDTH * value / self.most_x

    def at_y(self, value):
        return TOP + HEIGHT * (1 - value / self.most_y)

    def line(self, points, colour):
        way = " ".join(f"{self.at_x(x):.1f},{self.at_y(y):.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>')


def draw(measured):
    """-> (svg, how many packets it is of)"""
    rows = json.loads(measured)
    came = [(at - rows["begun"]) / SECOND for at in rows["came"]]
    offered, count = (rows["ended"] - rows["begun"]) / SECOND, len(came)
    seconds = came[-1] + 1
    total = Panel(LEFT, "seconds: packets so far", seconds, count)
    total.line([(0, 0), (offered, count), (seconds, count)], OFFERED)
    total.line([(at, number) for number, at in enumerate(came, 1) if number % 20 == 0 or number in (1, count)], LEFT_BOX)
    each = [0] * int(came[-1] / STEP)  # whole steps alone
    for at in came:
        if int(at / STEP) < len(each):
            each[int(at / STEP)] += 1
    rate = Panel(LEFT + WIDTH + GAP, "seconds: packets/s that left, over 0.1 s each", seconds, 2000)
    rate.line([((step + 0.5) * STEP, min(number / STEP, 2000)) for step, number in enumerate(each)], LEFT_BOX)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + 2 * WIDTH + GAP + 20}" height="{TOP + HEIGHT + 45}" '
        'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="#fff"/>',
        text(LEFT, 18, f"{count:,} packets at once, shaped to 1,000 per second", "start"),
        text(LEFT, 33, f"offered within {offered:.2f} s", "start", OFFERED),
        text(LEFT + 150, 33, f"left, the last after {came[-1]:.3f} s; none lost, none early, in order", "start", LEFT_BOX),
        *total.parts, *rate.parts, "</svg>\n"]), count
