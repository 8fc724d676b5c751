#!/usr/bin/env python3
"""Benchmarks: each beside its reference, interleaved, the median of all rounds."""
import argparse
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lab")]
from box import Programs  # noqa: E402
from commands import LabError  # noqa: E402
import applying  # noqa: E402
import forwarding  # noqa: E402
import in_process  # noqa: E402
import kernel  # noqa: E402
import peers  # noqa: E402
import progress  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402
import shared_store  # noqa: E402
import testpmd_sends  # noqa: E402
import wire  # noqa: E402

BENCHES = {**in_process.BENCHES, **forwarding.BENCHES, **applying.BENCHES, **kernel.BENCHES,
           **wire.BENCHES, **testpmd_sends.BENCHES, **peers.BENCHES,
           **shared_store.BENCHES}
TARGETS = {**in_process.TARGETS, **forwarding.TARGETS, **applying.TARGETS, **kernel.TARGETS,
           **wire.TARGETS, **testpmd_sends.TARGETS, **peers.TARGETS,
           **shared_store.TARGETS}
# The rules of P5 and of cases of F1, F3 and of the wire, unless --rules names others.
RULED = ("P5", "F1", "F3", "W1", "W2", "W3", "W4", "W6", "W7")
SCRUBBING = HERE.parent.parent.parent / "tests/bench/rules/scrubbing.yaml"

ROUNDS = 5  # also of --quick: those are shorter
SECONDS, QUICK_SECONDS = 3.0, 0.7


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help=f"of {', '.join(BENCHES)}; default all")
    parser.add_argument("--json", action="store_true", help="rows alone on standard output, as JSON, one a line")
    parser.add_argument("--quick", action="store_true", help="about a minute per id, shorter rounds")
    parser.add_argument("--keep", action="store_true",
                        help="what was measured goes into the results, and their summary into tests/bench/README.md")
    parser.add_argument("--results", metavar="FILE", type=pathlib.Path, default=results.RESULTS,
                        help="where --keep has them; default build/bench/results.json")
    parser.add_argument("--rules", metavar="FILE", type=pathlib.Path, default=SCRUBBING,
                        help="another rule file for P5, F1 (c), F3 (c) and W1 to W4, W6, W7")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    # What scripts/bench has to build and install first.
    parser.add_argument("--list-targets", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.ids if name not in BENCHES]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    arguments.ids = list(dict.fromkeys(arguments.ids)) or list(BENCHES)
    if not arguments.rules.is_file():
        parser.error(f"there is no file {arguments.rules}")
    if arguments.rules != SCRUBBING and arguments.keep:
        parser.error("--keep is of the rules in tests/bench/rules, not of others")
    if arguments.rules != SCRUBBING and not set(RULED) & set(arguments.ids):
        parser.error(f"--rules is of {', '.join(RULED)}; none of them is measured")
    return arguments


def runs_of(ids):
    """(measure, its ids): what one program measures is measured in one run."""
    runs = {}
    for name in ids:
        runs.setdefault(BENCHES[name], []).append(name)
    return runs.items()


def main():
    arguments = read_arguments()
    if arguments.list_targets:
        print("\n".join(dict.fromkeys(target for name in arguments.ids for target in TARGETS[name])))
        return 0
    # However it ends, the forwarders end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    effort = (forwarding.Effort(QUICK_SECONDS, ROUNDS, True) if arguments.quick
              else forwarding.Effort(SECONDS, ROUNDS, False))
    bench = forwarding.Bench(Programs(arguments.build), pathlib.Path(arguments.build).resolve(), effort,
                             arguments.rules.resolve())
    rows.note(f"{results.processor()}; release build, -O3 -march=x86-64-v3")
    output = rows.Lines() if arguments.json else rows.Table()
    run = results.about(arguments.quick)
    with progress.Progress(progress.expected_rows(arguments.ids, results.load(arguments.results))) as far:
        for measure, ids in runs_of(arguments.ids):
            far.now(ids)
            taken = []
            for row in measure(bench, ids):
                output.show(row)
                far.add_row()
                taken.append(row)
            if arguments.keep:
                results.keep(taken, run, arguments.results)
                report.write(path=arguments.results)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (LabError, rows.BenchError) as problem:
        print(f"scripts/bench: {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
