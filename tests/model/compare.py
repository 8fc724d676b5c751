#!/usr/bin/python3
"""`sluicectl replay` against the model: every line, every counter, every frame that goes on.

    compare.py SLUICECTL [--seed FIRST] [--rounds N] [--frames N] [--keep FOLDER] [--full | --requests | --served | --streams | --hellos | --quic | --served-quic | --connections | --services]
               [--go-on] [--but tags] [--but candidates] [--but keys]

Seed after seed. The first that differs is cut down to few frames and few lines of rules, which are
left in FOLDER, and the command that shows them again is printed. `--but` leaves out what older
builds are known to get wrong: `--out` without the tags of colours and bans, `--enforce` that makes
candidates act, keys of packets with several units.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from generate import FRAMES, Connections, Dialogues, FullTable, Hellos, Quics, Requests, Scenario, ServedQuics, ServedRequests, Streams
from pcap import read_capture
from replay_model import replay
from streams import Beyond

KINDS = {"full": FullTable, "requests": Requests, "served": ServedRequests, "streams": Streams, "hellos": Hellos, "quic": Quics, "served-quic": ServedQuics,
         "connections": Connections, "services": Dialogues}
SMALLER = 60  # seconds for making a case smaller
SECONDS = 120  # that one replay may take


class Refused(Exception):
    """sluicectl takes the rule file for a bad one, or fails."""


def run_sluicectl(program, options, folder):
    """-> (rows of the verdict file, the JSON summary, frames of --out)"""
    verdicts, out = os.path.join(folder, "verdicts"), os.path.join(folder, "out.pcap")
    done = subprocess.run([program, "replay", *options, "--json", "--verdicts", verdicts, "--out", out],
                          capture_output=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise Refused(f"exit code {done.returncode}: {done.stderr.decode()}")
    with open(verdicts, encoding="ascii") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return rows, json.loads(done.stdout), read_capture(out).frames


def difference(program, options, folder, box, enforce=False, but=()):
    """-> (what differs as text or None, the frame it is about, the model's replay)"""
    rows, summary, frames = run_sluicectl(program, options, folder)
    model = replay(options[0], options[2], box, enforce)
    for seen, wanted in zip(rows, model.rows):
        if seen != wanted and not ("keys" in but and seen[:4] + seen[5:] == wanted[:4] + wanted[5:]):
            return f"sluicectl: {seen}\nthe model: {wanted}", int(wanted[0]), model
    if len(rows) != len(model.rows):
        return f"{len(rows)} lines, not {len(model.rows)}", 0, model
    # The model reads no streams of services, and says nothing of the trust in checksums, nor of what rules can be walked around.
    summary.pop("unread", None)
    summary.pop("checksums", None)
    for rule in summary["rules"]:
        rule.pop("stance", None)
    if summary != model.summary:
        return summary_difference(summary, model.summary), 0, model
    for number, (seen, wanted) in enumerate(zip(frames, model.forwarded), 1):
        if seen != wanted and "tags" not in but:
            return f"--out, frame {number}: {show(seen)}\nthe model: {show(wanted)}", 0, model
    return (None if len(frames) == len(model.forwarded) else "--out has another length"), 0, model


def summary_difference(seen, wanted):
    lines = [f"{name}: {seen.get(name)}, the model {wanted[name]}" for name in wanted
             if name != "rules" and seen.get(name) != wanted[name]]
    lines += [f"sluicectl: {one}\nthe model: {other}"
              for one, other in zip(seen["rules"], wanted["rules"]) if one != other]
    return "\n".join(lines) or f"sluicectl: {seen}\nthe model: {wanted}"


def show(frame):
    when, data, wire = frame
    return f"{when} ns, {wire} bytes, {data.hex()}"


class Smaller:
    """Makes a scenario that differs smaller, as long as it differs."""

    def __init__(self, program, scenario, folder, but):
        self.program, self.scenario, self.folder, self.but = program, scenario, folder, but
        self.end = time.monotonic() + SMALLER

    def has_time(self):
        return time.monotonic() < self.end

    def differs(self):
        try:
            options = self.scenario.write(self.folder)
            return difference(self.program, options, self.folder, self.scenario.box(),
                              self.scenario.enforce, self.but)[:2]
        except (Refused, KeyError, StopIteration, Beyond):
            return None, 0

    def run(self):
        text, at = self.differs()
        if at:
            self.try_with("frames", self.scenario.frames[:at])
        self.without_lines()
        self.without_frames()
        self.without_lines()
        return self.differs()[0] or text

    def try_with(self, name, value):
        before = getattr(self.scenario, name)
        setattr(self.scenario, name, value)
        good = self.has_time() and self.differs()[0] is not None
        if not good:
            setattr(self.scenario, name, before)
        return good

    def without_lines(self):
        """Whole rules first, then what stands in one line each."""
        for pattern in (r"(?ms)^  - (?:(?!^  - |^\w).)*", r"(?m)^ {4,}\S.*\n", r"(?m)^\w+: \{.*\n"):
            at = 0
            while match := re.compile(pattern).search(self.scenario.rules, at):
                shorter = self.scenario.rules[:match.start()] + self.scenario.rules[match.end():]
                at = match.start() if self.try_with("rules", shorter) else match.end()

    def without_frames(self):
        """The last one shows it; of those before, halves, quarters and so on."""
        size = max(1, len(self.scenario.frames) // 2)
        while size > 0 and self.has_time():
            at = 0
            while at < len(self.scenario.frames) - 1 and self.has_time():
                frames = self.scenario.frames
                shorter = frames[:at] + frames[min(at + size, len(frames) - 1):]
                at += 0 if self.try_with("frames", shorter) else size
            size //= 2


def compare_seed(program, seed, count=FRAMES, kind=Scenario, keep=None, but=()):
    """-> (None or a report, the model's summary)"""
    with tempfile.TemporaryDirectory(prefix="sluice-model-") as folder:
        scenario = kind(seed, count)
        if "candidates" in but and "candidates:" in scenario.rules:
            scenario.enforce = False
        try:
            options = scenario.write(folder)
            text, _, model = difference(program, options, folder, scenario.box(), scenario.enforce,
                                        but)
        except Refused as refused:
            return f"seed {seed}: {refused}\n{scenario.rules}", None
        if text is None:
            return None, model.summary
        small = Smaller(program, scenario, folder, but).run()
    keep = keep or os.path.join(tempfile.gettempdir(), f"sluice-model-seed-{seed}")
    os.makedirs(keep, exist_ok=True)
    again = " ".join([program, "replay", *scenario.write(keep), "--verdicts", "/dev/stdout"])
    return (f"seed {seed} differs:\n{text}\n\nas few frames as still differ "
            f"({len(scenario.frames)}):\n{small}\n\n{scenario.rules}\nagain: {again}\n"
            f"all of it: tests/model/compare.py {program} --seed {seed} --rounds 1 "
            f"--frames {count}" + "".join(f" --{name}" for name, one in KINDS.items() if one is kind)), model.summary


def main():
    parser = argparse.ArgumentParser(description="sluicectl replay against the slow model")
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--keep")
    parser.add_argument("--go-on", action="store_true", help="past seeds that differ")
    parser.add_argument("--but", action="append", default=[], choices=["tags", "candidates", "keys"])
    parser.add_argument("--full", action="store_true", help="more keys than a rule has places")
    parser.add_argument("--requests", action="store_true", help="connections with requests of HTTP")
    parser.add_argument("--served", action="store_true", help="the same to declared services")
    parser.add_argument("--streams", action="store_true", help="requests as TCP may bring them")
    parser.add_argument("--hellos", action="store_true", help="connections with ClientHellos of TLS")
    parser.add_argument("--quic", action="store_true", help="connections of QUIC")
    parser.add_argument("--served-quic", action="store_true", help="the same to declared services")
    parser.add_argument("--connections", action="store_true", help="how many connections are open")
    parser.add_argument("--services", action="store_true", help="both directions of connections of declared services")
    options = parser.parse_args()
    kind = next((KINDS[name] for name in KINDS if vars(options)[name.replace("-", "_")]), Scenario)
    program, failed = os.path.abspath(options.program), 0
    for seed in range(options.seed, options.seed + options.rounds):
        report, _ = compare_seed(program, seed, options.frames, kind, options.keep,
                                 options.but)
        if report:
            print(report, flush=True)
            failed += 1
            if not options.go_on:
                break
        if (seed - options.seed) % 50 == 49:
            print(f"up to seed {seed}", file=sys.stderr, flush=True)
    print(f"seeds {options.seed} to {seed}: {failed or 'none'} differ{'s' * (failed < 2)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
