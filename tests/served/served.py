"""scripts/served: real servers behind the box. Ends with 1 where something was served uncounted, or somebody innocent hurt."""
import argparse
import sys
import tempfile
import time

from apart import Apart
from court import BATCH_SECONDS, Court
from law import Cell, broken, is_refused, is_uncounted, progress, table
import at_once
import bad_path
import begun
import beyond
import downloads
import evasions
import full
import generate
import honest
import innocent
import others
import plan as plans
import proxied
import reasons
import replayed
import restarts
import rule_files
import servers
import six
import unproven
from stop_signals import Stopped, stop_on_signals

PARTS = ("evasions", "generated", "at_once", "begun", "proxied", "innocent", "bad_path", "downloads", "unproven", "restarts",
         "others", "more_others", "six", "full", "replay")
NAMES = (*servers.SIX, *beyond.PACKAGES)
SHORT_SERVERS = ("nginx", "python", "apache")
MOST_AT_ONCE = 512  # evasions
LESSONS = 64  # connections of each worker
SHORT_SECONDS = 10  # an evasion that takes longer is no part of the short course
FORGED_SHORT, CLIENTS_SHORT, CLIENTS = 2000, 24, 400
LONG, SILENCES = 100_000, 256  # connections of the long course, and how many of them with a silence
PATIENT = ("nginx",)  # servers that wait longer than any silence
SHOWN = 20  # of what was found


def arguments(words):
    parser = argparse.ArgumentParser(prog="scripts/served", description=__doc__)
    parser.add_argument("--connections", type=int, default=0, help="so many by the generator, beside the known evasions")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="repeats what was drawn at random")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them")
    parser.add_argument("--servers", default=",".join(SHORT_SERVERS), help=f"of {', '.join(NAMES)}; six of them; or all that are installed")
    parser.add_argument("--services", choices=("enforce", "monitor", "none", *rule_files.WAYS), default="enforce",
                        help="the stance of the rules: a declared service, or rules alone; or a service in another way")
    parser.add_argument("--workers", type=int, default=1, help="of the box, each with what its port hands to it")
    parser.add_argument("--short", action="store_true", help="without what takes longer, such as a minute's silence")
    parser.add_argument("--silences", type=int, default=None,
                        help=f"so many of them once more, with a minute of silence in each, all at once ({SILENCES} of {LONG} or more)")
    parser.add_argument("--clients", type=int, default=0,
                        help=f"over the bad path, for each of its three sides ({CLIENTS}; {CLIENTS_SHORT} in the short course)")
    parser.add_argument("--only", choices=PARTS, action="append", help="these parts")
    parser.add_argument("--programs", nargs=3, required=True, help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.silences is None:
        given.silences = SILENCES if given.connections >= LONG and not given.short else 0
    if not 0 <= given.silences < rule_files.SLOTS:
        parser.error(f"--silences: fewer than {rule_files.SLOTS}")
    given.clients = given.clients or (CLIENTS_SHORT if given.short else CLIENTS)
    given.names, given.left_out = chosen_servers(given.servers)
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"no server is called {', '.join(sorted(unknown))}: {', '.join(NAMES)}")
    if lacking := [f"{name} lacks {package}" for name, package in beyond.absent().items() if name in given.names]:
        parser.error("; ".join(lacking) + ": scripts/setup GROUP installs it")
    if given.workers < 1:
        parser.error("--workers: at least one")
    return given


def chosen_servers(word):
    """(names, what is left out of `all`: {name: package})"""
    absent = beyond.absent() if word == "all" else {}
    return {"six": list(servers.SIX), "all": [name for name in NAMES if name not in absent]}.get(word, word.split(",")), absent


def is_enforced(given):
    return given.services not in ("monitor", "none")


def try_evasions(court, given):
    """A cell for each of them before each server."""
    chosen = [one for one in (*evasions.EVASIONS, *honest.HONEST) if (not given.short or one.seconds <= SHORT_SECONDS)
              and not (one.by_choice and given.services == "upgrades")]
    # What waits for long goes on at once, in a batch of its own.
    groups = [[one for one in chosen if (one.seconds > SHORT_SECONDS) == slow] for slow in (False, True)]
    cells = []
    for group in filter(None, groups):
        cells += try_group(court, given, [(one, name) for one in group for name in given.names if is_tried(one, name, given)])
    return cells


def is_tried(evasion, name, given):
    """The short course tries before servers beyond the six what they served when it was found."""
    return not given.short or name in servers.SIX or name in evasion.served_by or evasion is evasions.EVASIONS[0]


def try_group(court, given, pairs):
    seconds = max(one.seconds for one, _ in pairs) + BATCH_SECONDS
    trials = [(one.plan(given.seed), name) for one, name in pairs]
    slots, seen = min(MOST_AT_ONCE, max(len(trials), rule_files.FEW)), []
    unlimited = rule_files.rules(given.services, rule_files.UNLIMITED, slots)
    for rules in (rule_files.WITHOUT, unlimited, rule_files.rules(given.services, rule_files.ONE_REQUEST, slots)):
        court.apply(rules)
        learn(court, given)
        seen.append(court.try_all(trials, seconds, slots))
    cells = [Cell(one, *three, is_enforced(given)) for (one, _), *three in zip(pairs, *seen)]
    court.apply(unlimited)
    return court.once_more(cells, seconds, slots)


def learn(court, given):
    """Enough right checksums come for those to be verified that `checksums: auto` learns of."""
    if given.services == "auto":
        court.try_all([(honest.HONEST[0].plan(given.seed), given.names[0])] * LESSONS * given.workers, BATCH_SECONDS)


def try_generated(court, given):
    """What was seen of each, batch by batch."""
    slots = min(rule_files.SLOTS, max(given.connections, rule_files.FEW))
    if given.connections:
        court.apply(rule_files.rules(given.services, rule_files.UNLIMITED, slots))
    seen, begin = [], time.monotonic()
    for first in range(given.first, given.first + given.connections, slots):
        last = min(first + slots, given.first + given.connections)
        trials = [(generate.make(given.seed, number), given.names[number % len(given.names)]) for number in range(first, last)]
        seen += court.without_the_lost(court.try_some(trials, BATCH_SECONDS))
        print(progress(seen, time.monotonic() - begin), flush=True)
    return seen + try_silent(court, given)


def try_silent(court, given):
    """What was seen of the first of them with a minute of silence in each, side by side."""
    if not given.silences:
        return []
    numbers, begin = range(given.first, given.first + given.silences), time.monotonic()
    court.apply(rule_files.rules(given.services, rule_files.UNLIMITED, max(given.silences, rule_files.FEW)))
    named = [(generate.make(given.seed, number), given.names[number % len(given.names)]) for number in numbers]
    trials = [(generate.with_silence(plan, given.seed, name in PATIENT), name) for plan, name in named]
    seconds = generate.SILENCE[1] + BATCH_SECONDS
    seen = court.without_the_lost(court.try_some(trials, seconds), seconds=seconds)
    print("with a silence: " + progress(seen, time.monotonic() - begin), flush=True)
    return seen


def print_cases(cells, generated):
    """Each that was found as a case of tests/packets."""
    found = [cell.counted.plan for cell in cells if cell.is_broken()] + [
        one.plan for one in generated if is_uncounted(one) or is_refused(one)]
    for plan in list({plan.name: plan for plan in found}.values())[:SHOWN]:
        print(plans.case(plan), flush=True)


def replay_all(given):
    with tempfile.TemporaryDirectory(prefix="sluice-served-") as folder:
        out = replayed.check_dialogues(given.programs[2], folder, given.seed)
        if given.short:
            return out  # tests/smoke/served_captures_test.py has the captures
        if captures := replayed.captures():
            return out + replayed.check_captures(given.programs[2], folder, captures)
        print("LEFT OUT: real captures, as SLUICE_SHARED names no folder that has them", flush=True)
        return out


# Of parts that need the same box: each group has one, and its parts are tried one behind the other.
BOXES = (("evasions", "generated"), ("at_once", "begun", "proxied"), ("innocent", "bad_path", "downloads", "unproven", "restarts"))


def try_parts(given, parts):
    """What did not hold, in words."""
    cells, generated, hurt = [], [], []
    with Court(given.programs, given.names, given.workers) as court:
        if "evasions" in parts:
            cells = try_evasions(court, given)
            print("\n".join(table(cells, given.names)), flush=True)
            hurt += reasons.check(court, cells, given.seed)
        if "generated" in parts:
            generated = try_generated(court, given)
        for part in parts:
            hurt += BESIDE[part](court, given) if part in BESIDE else []
        print("reasons:", court.reasons(), flush=True)
        hurt += court.strange + idle_workers(court)
    print_cases(cells, generated)
    tried = "evasions" in parts or generated
    return (broken(cells, generated, given.services == "monitor") if tried else []) + hurt


# What did not hold of each of these parts, in words.
BESIDE = {
    "at_once": lambda court, given: at_once.check(court, given.names, given.seed, given.services),
    "begun": lambda court, given: begun.check(court, given.names, given.seed, given.services),
    "proxied": lambda court, given: proxied.check(court, given.names, given.seed, given.services),
    "innocent": lambda court, given: innocent.beside_blind_senders(
        court, given.names[0], given.seed, rule_files.innocent(given.services), FORGED_SHORT if given.short else innocent.FORGED),
    "bad_path": lambda court, given: bad_path.check(court, given.names[0], given.seed, given.services, given.clients),
    "downloads": lambda court, given: downloads.check(court, given.names, given.services),
    "unproven": lambda court, given: unproven.check(court, given.names[0], given.seed, given.services,
                                                    unproven.SHORT_ACTIONS if given.short else unproven.ACTIONS),
    "restarts": lambda court, given: restarts.check(court, given.names, given.short)}


def idle_workers(court):
    """In words: each has to have met some packets, else the run was one before fewer."""
    return [f"worker {number} met no packet" for number, worker in enumerate(court.box.workers()) if not worker["packets"]]


# Parts that have a box of their own, or none.
APART = {"others": others.check, "more_others": others.check_more, "six": six.check, "full": full.check, "replay": replay_all}


class Course:
    """All that is chosen, on its way side by side; end() gives what did not hold, in words."""

    def __init__(self, given):
        parts = given.only or PARTS
        print(f"seed {given.seed}, servers {','.join(given.names)}, services: {given.services}, workers: {given.workers}", flush=True)
        for name, package in given.left_out.items():
            print(f"LEFT OUT: {name}, as {package} is not installed", flush=True)
        groups = [[part for part in group if part in parts and (part != "generated" or given.connections or given.silences)] for group in BOXES]
        # The longest first.
        self.apart = [Apart(part, check, given) for part, check in APART.items() if part in parts]
        self.apart += [Apart(f"{', '.join(group)}, services: {given.services}", try_parts, given, group) for group in groups if group]

    def end(self):
        return [words for part in self.apart for words in part.end()]

    def stop(self):
        for part in self.apart:
            part.stop()


def run(given):
    """What did not hold, in words."""
    course = Course(given)
    if not course.apart:
        return ["nothing was tried: `generated` wants --connections or --silences"]
    try:
        return course.end()
    finally:
        course.stop()


def main():
    given = arguments(sys.argv[1:])
    stop_on_signals()
    try:
        found = run(given)
    except Stopped:
        print("scripts/served: stopped; nothing is left behind", file=sys.stderr)
        return 130
    for words in found[:SHOWN]:
        print(f"scripts/served: {words}", file=sys.stderr)
    print(f"{len(found)} broken" if found else "the law holds", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
