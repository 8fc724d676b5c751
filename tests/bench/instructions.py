#!/usr/bin/env python3
"""instructions.py PROGRAM RULE_FILE BASELINE [--write]: instructions of a packet, counted by callgrind.

Runs PROGRAM (instruction_count) and compares what each shape takes, less what the floor takes, with
the counts in BASELINE. Exit 1: a shape takes more than 3 % more, or is not in BASELINE. --write puts
the counts there: a change that is meant to cost something is committed with what it costs.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SLACK = 0.03  # what another patch level of the compiler or of a library may add
FLOOR = "floor"


def profiles(program, rules):
    """The instructions of each profile, by the name of its trigger, and the packets that it is of."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--combine-dumps=no",
             f"--callgrind-out-file={folder}/profile", program, rules],
            capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{program} under callgrind: exit {done.returncode}\n{done.stderr}")
        instructions = {}
        for profile in pathlib.Path(folder).iterdir():
            head = profile.read_text(encoding="utf-8", errors="replace")
            trigger = re.search(r"^desc: Trigger: Client Request: (.*)$", head, re.MULTILINE)
            if trigger:
                totals = re.search(r"^totals: (\d+)$", head, re.MULTILINE)
                instructions[trigger[1]] = int(totals[1])
    packets = dict(line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
    if set(packets) != set(instructions):
        sys.exit(f"counted {sorted(packets)}, and there are profiles of {sorted(instructions)}")
    return {name: instructions[name] / int(packets[name]) for name in packets}


def counts(program, rules):
    """Instructions of a packet by shape, without what receiving and sending take."""
    each = profiles(program, rules)
    floor = each.pop(FLOOR)
    return {name: round(count - floor, 1) for name, count in each.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("rules")
    parser.add_argument("baseline", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    measured = counts(options.program, options.rules)
    if options.write:
        options.baseline.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    baseline = json.loads(options.baseline.read_text(encoding="utf-8"))
    wrong = set(measured) != set(baseline)
    if wrong:
        print(f"shapes are {sorted(measured)}, and {options.baseline.name} has {sorted(baseline)}")
    for name in sorted(set(measured) & set(baseline)):
        change = measured[name] / baseline[name] - 1
        more = change > SLACK
        wrong = wrong or more
        print(f"{name}: {measured[name]} instructions a packet, {change:+.1%} of {baseline[name]}"
              + (": MORE than the baseline allows" if more else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
