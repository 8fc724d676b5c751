"""The box at work, as an operator sees it: what `scripts/plot terminal` draws for the front page.

A transcript is a JSON list of [command, its output]. It is taken from the programs of the build, between the two hosts
of scripts/run, while a transfer and a flood pass.
"""
import contextlib
import html
import json
import pathlib
import secrets
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import plan  # noqa: E402
from box import Box, Programs  # noqa: E402
from counters import Counters  # noqa: E402
from network import Network  # noqa: E402
from traffic import Traffic  # noqa: E402

TARGET = "control/doc/terminal.svg"
SECONDS, ASKED_AFTER = 14, 11  # top's window of ten seconds is full
BACK, PLAIN, COMMAND, TITLE = "#16191d", "#d5d8dc", "#7fd18c", "#8b939c"
COLUMN, LINE, MARGIN, BAR = 7.2, 17, 16, 30
QUESTIONS = (["stats"], ["top", "--by", "denied"], ["key", "show", plan.FLOOD_RULE, plan.OUTSIDE_ADDRESS], ["health"])


def transcript(network, box, folder):
    """What the operator asks, while both hosts send."""
    rules = pathlib.Path(shutil.copy(plan.RULES, folder)).name
    shown = [[f"sluicectl apply {rules}", box.apply(rules)]]
    with contextlib.ExitStack() as cleaning:
        traffic = Traffic(network, folder)
        cleaning.callback(traffic.stop)
        Counters(network, folder)  # the flood ends there, and no answer of the host ends its sender
        traffic.listen()
        begin = traffic.start(SECONDS)
        time.sleep(max(0.0, begin + ASKED_AFTER - time.monotonic()))
        for words in QUESTIONS:
            shown.append([" ".join(["sluicectl", *words]), box.ctl(*words).rstrip()])
        traffic.finish(SECONDS)
    return shown


def measure(build):
    tag = secrets.token_hex(3)
    folder = pathlib.Path(build).resolve() / f"plot-{tag}"
    folder.mkdir()
    with contextlib.ExitStack() as cleaning:
        cleaning.callback(shutil.rmtree, folder, ignore_errors=True)
        network = Network(tag, "af_packet")
        cleaning.callback(network.close)
        network.open()
        box = Box(Programs(build), folder)
        cleaning.callback(box.stop)
        box.start(network)
        network.attach()
        return json.dumps(transcript(network, box, folder))


def lines_of(shown):
    """(text, colour) of each line."""
    for number, (command, output) in enumerate(shown):
        if number:
            yield "", PLAIN
        yield f"# {command}", COMMAND
        for line in output.splitlines():
            yield line, PLAIN


def draw_line(number, line, colour):
    """At fixed columns, whatever the font of the reader is."""
    text = line.rstrip()
    if not text:
        return []
    begin = len(text) - len(text.lstrip())
    x, y = MARGIN + begin * COLUMN, BAR + MARGIN + (number + 0.7) * LINE
    width = (len(text) - begin) * COLUMN
    return [f'<text x="{x:.1f}" y="{y:.1f}" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs" '
            f'fill="{colour}" xml:space="preserve">{html.escape(text.lstrip(), quote=False)}</text>']


def draw(measured):
    """-> (svg, how many commands it shows)"""
    shown = json.loads(measured)
    lines = list(lines_of(shown))
    width = 2 * MARGIN + COLUMN * max(len(line) for line, _ in lines)
    height = BAR + 2 * MARGIN + LINE * len(lines)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
             'font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="12">',
             "<title>A transfer and a flood pass the box; sluicectl shows what becomes of them</title>",
             f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>']
    parts += [f'<circle cx="{MARGIN + 4 + 18 * dot}" cy="{BAR / 2 + 3:.0f}" r="5" fill="{TITLE}"/>' for dot in range(3)]
    for number, (line, colour) in enumerate(lines):
        parts += draw_line(number, line, colour)
    return "\n".join([*parts, "</svg>\n"]), len(shown)
