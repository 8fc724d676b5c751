"""scripts/attack: what breaks boxes, tried on a live one. Ends with a table, and with 1 where something broke."""
import argparse
import functools
import random
import sys
import time

import clients
import clock
import damage
import disk
import frames
import half_heads
import kills
import limits
import links
import ports
import reloads
import soak
from stop_signals import Stopped, stop_on_signals

SECONDS = 60
LONG_SECONDS = 3600
MOST_SECONDS = 366 * 24 * 3600

ATTACKS = {
    "kills": (kills.run, "kills at random under load"),
    "damage": (damage.run, "bits of the kept state flipped"),
    "disk": (disk.run, "state directories full or read-only"),
    "clock": (clock.run, "UTC stepped to and fro"),
    "limits": (limits.run, "no threads, little memory"),
    "reloads": (reloads.run, "rule sets without pause"),
    "clients": (clients.run, "hostile clients of the sockets"),
    "frames": (frames.run, "mutated frames"),
    "half_heads": (half_heads.run, "a million half heads of requests"),
    "left_programs": (ports.left_programs, "programs that an earlier dataplane left in the kernel"),
    "held_links": (ports.held_links, "kills while a side is held down"),
    "panic_kills": (ports.panic_kills, "kills after panic was set or resumed"),
    "shared_ports": (ports.shared_ports, "a second dataplane on the same interfaces"),
    "bridged": (ports.bridged, "what the kernel forwards between veths"),
    "changed_links": (links.changed_links, "MTU and promiscuous mode behind kills"),
    "down_at_start": (links.down_at_start, "a side that is down when the dataplane starts"),
    "outer_tags": (links.outer_tags, "802.1ad between af_packet and af_xdp"),
    "soak": (soak.run, "mixed traffic, operators and kills; what grows ends it"),
}


def time_of(given, parser):
    """How long each attack lasts, in seconds."""
    if given.seconds is not None and given.hours is not None:
        parser.error("--seconds and --hours say the same; give one of them")
    asked = given.seconds if given.hours is None else 3600 * given.hours
    if asked is None:
        return LONG_SECONDS if given.long else SECONDS
    if not 1 <= asked <= MOST_SECONDS:
        parser.error("an attack lasts a second to a year")
    return round(asked)


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/attack", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="attacks:\n" + "".join(f"  {name:14} {what}\n" for name, (_, what) in ATTACKS.items()))
    parser.add_argument("names", nargs="*", metavar="NAME", help="of those below; all, if none is named")
    parser.add_argument("--long", action="store_true", help="for a night: an hour each instead of a minute")
    parser.add_argument("--seconds", type=int, help="so long each")
    parser.add_argument("--hours", type=float, help="the same in hours: `soak --hours 24`, a line each ten minutes")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="repeats what was drawn at random")
    parser.add_argument("--programs", nargs=3, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--shim", required=True, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := set(given.names) - set(ATTACKS):
        parser.error(f"no attack is called {', '.join(sorted(unknown))}: {', '.join(ATTACKS)}")
    given.for_seconds = time_of(given, parser)
    return given


def attack(name, given, seconds):
    """An outcome, or the error that ended the attack."""
    run = ATTACKS[name][0]
    if name == "clock":
        run = functools.partial(run, shim=given.shim)
    try:
        return run(given.programs, time.monotonic() + seconds, random.Random(f"{given.seed} {name}")), None
    except Exception as error:  # whatever broke, the others are tried
        return None, f"{type(error).__name__}: {error}"


def row(name, outcome, error):
    if outcome is None:
        return [name, "", "", "no", error]
    held = not outcome.broken
    reasons = "; ".join(" ".join(words.split()) for words in outcome.broken[:3])  # logs have lines
    return [name, str(outcome.attempts), str(outcome.survived), "yes" if held else "no", reasons]


def run(given):
    seconds = given.for_seconds
    rows, broken = [], False
    print(f"seed {given.seed}", flush=True)
    for name in given.names or ATTACKS:
        print(f"{name}: {ATTACKS[name][1]}, {seconds} s", flush=True)
        outcome, error = attack(name, given, seconds)
        rows.append(row(name, outcome, error))
        broken |= outcome is None or bool(outcome.broken) or outcome.survived < outcome.attempts
    heads = ["attack", "attempts", "survived", "bound kept", ""]
    widths = [max(len(line[i]) for line in [heads, *rows]) for i in range(4)]
    for line in [heads, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)) + "  " + line[4], flush=True)
    return 1 if broken else 0


def main():
    given = arguments()
    stop_on_signals()
    try:
        return run(given)
    except Stopped:
        print("scripts/attack: stopped; nothing is left behind", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
