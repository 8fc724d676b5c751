#!/usr/bin/env python3
"""Runs the tests that a build folder declares to meson, and counts their single cases.

suite.py BUILD RESULTS [--suite A,B] [--without A,B] [--name PATTERN]... [--once-more LABEL [--first A,B]]
         [--list-targets [--and-default]]

meson's own runner counts programs; this one reads what each program reports. With --once-more each
program counts as one, and its long tests are shorter: the same cases under a sanitizer are no
further cases. Suites of --first run nowhere else, so theirs are.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import outcome as outcomes  # noqa: E402
import program  # noqa: E402

TAIL = 80  # lines of a failed program's output to show
PATIENCE = 3  # a test may take so many times its limit: machines differ


def introspect(what, build):
    listing = subprocess.run(["meson", "introspect", what, str(build)], check=True,
                             capture_output=True).stdout
    return json.loads(listing)


def targets_of(tests, build, and_default):
    """What tests run, or hand to what they run. ninja's own `all` would build that of every test."""
    wanted = {name for test in tests for name in test["depends"]}
    return sorted(os.path.relpath(path, build) for target in introspect("--targets", build)
                  if target["id"] in wanted or and_default and target["build_by_default"]
                  for path in target["filename"])


def suites_of(test):
    return {suite.split(":")[-1] for suite in test["suite"]}


def chosen(tests, arguments):
    wanted = set(arguments.suite.split(",")) if arguments.suite else None
    unwanted = set(arguments.without.split(","))
    for test in tests:
        if wanted and not wanted & suites_of(test) or unwanted & suites_of(test):
            continue
        if arguments.name and not any(fnmatch.fnmatch(test["name"], p) for p in arguments.name):
            continue
        if "shared" in suites_of(test) and "SLUICE_SHARED" not in os.environ:
            print(f"   {test['name']}: left out, it needs the captures of SLUICE_SHARED", file=sys.stderr)
            continue
        yield test


def run_test(test, build, reports, once_more):
    report = reports / (test["name"].replace("/", "_") + ".xml")
    report.unlink(missing_ok=True)
    command = test["cmd"] + ([f"--gtest_output=xml:{report}"] if test["protocol"] == "gtest" else [])
    started = time.monotonic()
    shorter = {"SLUICE_TEST_ONCE_MORE": "1"} if once_more else {}
    code, output = program.run(command, (test["timeout"] or 30) * PATIENCE,
                               env={**os.environ, **test["env"], **shorter},
                               cwd=test["workdir"] or build)
    seconds = time.monotonic() - started
    if test["protocol"] == "gtest":
        return outcomes.read_gtest(test["name"], report, code), output, seconds
    read = outcomes.read_unittest(test["name"], output, code)
    return read or outcomes.read_exit(test["name"], code), output, seconds


def as_whole(result, label, name):
    if result.failed:
        return outcomes.Outcome(failed=1, notes=[f"{label}: {note}" for note in result.notes])
    return outcomes.Outcome(passed=1) if result.passed else outcomes.Outcome(
        skipped=1, notes=[f"{label}: {name}: skipped as a whole"])


def show(test, result, output, seconds):
    print(f"   {test['name']}: {result.passed} passed, {result.failed} failed, "
          f"{result.skipped} skipped, {seconds:.1f} s", flush=True)
    if result.failed:
        print("\n".join("      | " + line for line in output.splitlines()[-TAIL:]), flush=True)


def run_batch(tests, workers, run, done):
    """Those of higher priority begin first; `done` is told of each as it ends."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool:
        tests = sorted(tests, key=lambda test: -test["priority"])
        running = {pool.submit(run, test): test for test in tests}
        for future in concurrent.futures.as_completed(running):
            done(running[future], *future.result())


def run_all(tests, build, label, first):
    reports = build / "test-reports"
    reports.mkdir(exist_ok=True)
    total, one_at_a_time = outcomes.Outcome(), threading.Lock()

    def is_once_more(test):
        return bool(label) and not first & suites_of(test)

    def run(test):
        return run_test(test, build, reports, is_once_more(test))

    def done(test, result, output, seconds):
        with one_at_a_time:
            show(test, result, output, seconds)
            total.add(as_whole(result, label, test["name"]) if is_once_more(test) else result)

    beside = [test for test in tests if test["is_parallel"]]
    waiting = [test for test in beside if "waits" in suites_of(test)]
    busy = [test for test in beside if "waits" not in suites_of(test)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as batches:
        # What mostly waits takes no processor from the others.
        for batch in [batches.submit(run_batch, waiting, max(1, len(waiting)), run, done),
                      batches.submit(run_batch, busy, os.cpu_count() or 1, run, done)]:
            batch.result()
    # What must not run beside another comes last, one at a time.
    run_batch([test for test in tests if not test["is_parallel"]], 1, run, done)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, help="file to append the counts to")
    parser.add_argument("--suite", help="only these suites")
    parser.add_argument("--without", default="", help="not these suites")
    parser.add_argument("--name", action="append", help="only tests of this name, * allowed")
    parser.add_argument("--once-more", metavar="LABEL", help="each program counts as one, named with this label")
    parser.add_argument("--first", default="", help="but not those of these suites")
    parser.add_argument("--list-targets", action="store_true", help="what to build, and no more")
    parser.add_argument("--and-default", action="store_true", help="and what is no test's")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tests = list(chosen(introspect("--tests", build), arguments))
    if arguments.list_targets:
        print("\n".join(targets_of(tests, build, arguments.and_default)))
        return
    total = run_all(tests, build, arguments.once_more, set(arguments.first.split(",")))
    with arguments.results.open("a") as results:
        results.write(json.dumps(vars(total)) + "\n")


if __name__ == "__main__":
    main()
