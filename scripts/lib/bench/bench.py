#!/usr/bin/env python3
"""Benchmarks: each beside its reference, interleaved, the median of all rounds."""
import argparse
import pathlib
import signal
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "lab")]
from box import Programs  # noqa: E402
from commands import LabError  # noqa: E402
import applying  # noqa: E402
import forwarding  # noqa: E402
import in_process  # noqa: E402
import rows  # noqa: E402

BENCHES = {**in_process.BENCHES, **forwarding.BENCHES, **applying.BENCHES}

ROUNDS = 5
SECONDS, QUICK_SECONDS = 3.0, 0.7
QUICK_ROUNDS = 3


def machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help=f"of {', '.join(BENCHES)}; default all")
    parser.add_argument("--json", action="store_true", help="one row a line, as JSON")
    parser.add_argument("--quick", action="store_true", help="under a minute per id, fewer rounds")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.ids if name not in BENCHES]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    # However it ends, the forwarders end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = forwarding.Bench(Programs(arguments.build), pathlib.Path(arguments.build).resolve(),
                  QUICK_SECONDS if arguments.quick else SECONDS,
                  QUICK_ROUNDS if arguments.quick else ROUNDS, arguments.quick)
    rows.note(f"{machine()}; release build, -O3 -march=x86-64-v3")
    for name in arguments.ids or BENCHES:
        for row in BENCHES[name](bench):
            rows.show(row, arguments.json)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (LabError, rows.BenchError) as problem:
        print(f"scripts/bench: {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
