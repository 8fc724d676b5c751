#!/usr/bin/env python3
"""The main job, seen: two hosts, the box between them, a transfer and a flood at once."""
import argparse
import contextlib
import json
import pathlib
import re
import secrets
import shutil
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from box import Box, Programs  # noqa: E402
from commands import LabError  # noqa: E402
from counters import Counters  # noqa: E402
from network import DEVICES, Network, may_make_namespaces  # noqa: E402
from replayed import replay  # noqa: E402
from traffic import Traffic  # noqa: E402
import boxes  # noqa: E402
import dashboard  # noqa: E402
import plan  # noqa: E402
import web  # noqa: E402
import web_plan  # noqa: E402

SETTLE_SECONDS = 5
DEFAULT_SECONDS = 10.0
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    def __init__(self, number):
        super().__init__(number)
        self.exit_code = 128 + number


def stop_on_signals():
    def stop(number, _):
        for caught in CAUGHT:  # a second ^C must not break the cleaning up
            signal.signal(caught, signal.SIG_IGN)
        raise Stopped(number)
    for caught in CAUGHT:
        signal.signal(caught, stop)


def duration(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", text)
    seconds = float(match[1]) * UNITS[match[2]] if match else 0
    if not 1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration from 1s to 60m, such as 10s")
    return seconds


class LiveTable:
    """One line a second, from `sluicectl stats --json`."""
    COLUMNS = ("second", "box packets/s", "flood passed/s", "flood dropped/s", "transfer packets/s")

    def __init__(self, box, out):
        self.box, self.out = box, out
        self.before, self.at = self.read()
        print("  ".join(f"{name:>18}" for name in self.COLUMNS), file=out, flush=True)

    def read(self):
        stats = self.box.stats()
        rules = {rule["id"]: rule for rule in stats["rules"]}
        flood, transfer = rules[plan.FLOOD_RULE], rules[plan.TRANSFER_RULE]
        return (stats["packets"], flood["admitted"], flood["exceeded"],
                transfer["admitted"] + transfer["exceeded"]), time.monotonic()

    def line(self, second):
        now, at = self.read()
        rates = [(new - old) / (at - self.at) for new, old in zip(now, self.before)]
        self.before, self.at = now, at
        cells = [f"{second:>18}", *(f"{rate:>18,.0f}" for rate in rates)]
        print("  ".join(cells), file=self.out, flush=True)


def wait_until_quiet(counters):
    """Frames still in rings when the senders end are part of the run."""
    deadline, last = time.monotonic() + SETTLE_SECONDS, None
    while (now := counters.received()) != last and time.monotonic() < deadline:
        last = now
        time.sleep(0.3)


def measure(box, network, folder, seconds, out):
    with contextlib.ExitStack() as cleaning:
        traffic = Traffic(network, folder)
        cleaning.callback(traffic.stop)
        counters = Counters(network, folder)
        traffic.listen()
        counters.reset()
        begin = traffic.start(seconds)
        table = LiveTable(box, out)
        for second in range(1, int(seconds) + 1):
            time.sleep(max(0.0, begin + second - time.monotonic()))
            table.line(second)
            box.check_alive()
        flood, bits, resent = traffic.finish(seconds)
        wait_until_quiet(counters)
        sent, received = counters.sent(), counters.received()
    print(f"The transfer ran at {bits / 1e6:.1f} Mbit/s, {resent} segments sent again; the flood's "
          f"slowest second offered {flood['slowest_second']:,}/s.", file=out)
    return plan.Measured(sent["flood"], received["flood"], sent["transfer"], received["transfer"],
                         seconds)


def measure_flood(box, network, folder, seconds, out):
    print(box.apply(plan.RULES), file=out, flush=True)
    return measure(box, network, folder, seconds, out)


def measure_web(box, network, folder, seconds, out):
    print(box.apply(web_plan.RULES), file=out, flush=True)
    return web.measure(box, network, folder, seconds, out)


def in_namespaces(programs, folder, tag, arguments, out):
    with contextlib.ExitStack() as cleaning:
        network = Network(tag, arguments.port_type)
        cleaning.callback(network.close)
        network.open()
        box = Box(programs, folder)
        cleaning.callback(box.stop)
        if arguments.web:
            box.web = dashboard.web_part()
        box.start(network)
        network.attach()
        print(f"{network.outside} -- box, {arguments.port_type} -- {network.inside}", file=out, flush=True)
        if arguments.web:
            return dashboard.show(box, network, folder, arguments, out)
        traffic = {"flood": measure_flood, "http": measure_web}[arguments.traffic]
        measured = traffic(box, network, folder, arguments.duration, out)
        if arguments.port_type == "af_xdp":
            network.run_in(network.outside, "ping", "-c", "3", "-i", "0.2", plan.BOX_ADDRESS)
            print("\n" + box.ctl("xdp", "status").strip(), file=out, flush=True)
        return measured


def print_summary(measured, out):
    summary = measured.summary()
    print(f"""
offered   {summary['offered']:>12,} packets: flood {measured.flood_sent:,}, \
transfer {measured.transfer_sent:,}
passed    {summary['passed']:>12,}
dropped   {summary['dropped']:>12,}
flood     {summary['flood_offered_pps']:>12,.0f} /s offered, \
{summary['flood_passed_pps']:,.0f} /s passed; limit {plan.LIMIT_PPS:,} /s + burst {plan.BURST}
transfer  {100 * summary['legit_passed_ratio']:>11.3f} % of its frames arrived
time      {summary['seconds']:>12,.1f} s""", file=out)


def show_boxes(programs, arguments, out):
    verdict = boxes.show(programs, arguments, out)
    if arguments.json:
        print(json.dumps(boxes.summary(verdict)))
    else:
        boxes.print_summary(verdict, out)
    broken = verdict.broken if arguments.scope == "cluster" else []
    for words in broken:
        print(f"scripts/run: {words}", file=sys.stderr)
    return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/run", description=__doc__)
    parser.add_argument("--duration", type=duration, help=f"such as 10s (the default, but --web goes on until ^C); http goes on for as long as each client "
                        f"has tried to log in fewer than {web_plan.LEAST_ATTEMPTS} times")
    parser.add_argument("--json", action="store_true", help="one line of JSON on standard output")
    parser.add_argument("--port-type", choices=sorted(DEVICES), default="af_packet")
    parser.add_argument("--traffic", choices=("flood", "http"), default="flood",
                        help="a flood beside a transfer, or a web site whose login is limited")
    parser.add_argument("--web", action="store_true", help="the dashboard, with traffic of four kinds behind it, until ^C")
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER",
                        help="of --web, at the end of its duration: pictures of its screens, by Chromium")
    parser.add_argument("--boxes", type=int, choices=range(2, 9), metavar="N",
                        help="2 to 8 boxes that share one limit by a store, which dies in between and comes back empty")
    parser.add_argument("--scope", choices=("box", "cluster"), default="cluster", help="of that limit; box: nothing is shared")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.boxes and (arguments.web or arguments.traffic == "http"):
        parser.error("--boxes shows several boxes, and --web and --traffic http one")
    if arguments.scope == "box" and not arguments.boxes:
        parser.error("--scope is for --boxes")
    if arguments.duration is None and not arguments.web:
        arguments.duration = boxes.DEFAULT_SECONDS if arguments.boxes else DEFAULT_SECONDS
    out = sys.stderr if arguments.json else sys.stdout
    stop_on_signals()
    tag = secrets.token_hex(3)
    programs = Programs(arguments.build)
    folder = pathlib.Path(arguments.build).resolve() / f"run-{tag}"
    folder.mkdir()
    try:
        refusal = may_make_namespaces(tag)
        if refusal and (arguments.web or arguments.boxes or arguments.traffic == "http"):
            raise LabError(f"no privilege for network namespaces ({refusal}), which several boxes, a web site and the dashboard need")
        if arguments.boxes:
            return show_boxes(programs, arguments, out)
        if refusal:
            print(f"No privilege for network namespaces ({refusal}): the same rules over a capture "
                  "of the same traffic instead.", file=out, flush=True)
            measured = replay(programs.cli, folder, arguments.duration)
        else:
            measured = in_namespaces(programs, folder, tag, arguments, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if arguments.web:
        print(json.dumps({"sent": measured}) if arguments.json else f"sent, by port: {measured}")
        return 0
    if arguments.json:
        print(json.dumps(measured.summary()))
    else:
        {"flood": print_summary, "http": web.print_summary}[arguments.traffic](measured, out)
    for broken in measured.broken():
        print(f"scripts/run: {broken}", file=sys.stderr)
    return 1 if measured.broken() else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as problem:
        print(f"scripts/run: {problem}", file=sys.stderr)
        sys.exit(1)
    except Stopped as stopped:
        print("scripts/run: stopped; nothing is left behind", file=sys.stderr)
        sys.exit(stopped.exit_code)
