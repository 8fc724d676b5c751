#!/usr/bin/env python3
"""scripts/pktgen --try RULES [OPTION]...: a box of its own over vhost, under these rules, between the two ports of
sluice-pktgen, whose options follow. Ends with what the box counted."""
import argparse
import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lab")]
from box import Programs  # noqa: E402
from commands import LabError, die_with_us  # noqa: E402
from forwarders import Sluice  # noqa: E402
import pktgen  # noqa: E402

OWN = ("--tx", "--rx", "--queues", "--cpu")
KEYS = 1 << 20


def read_arguments():
    parser = argparse.ArgumentParser(prog="scripts/pktgen --try", description=__doc__)
    parser.add_argument("rules", type=pathlib.Path, metavar="RULES", help="rule file of the box")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    # Where its own folder lies meanwhile; default the build's.
    parser.add_argument("--within", help=argparse.SUPPRESS)
    # Of a worker without frames; default none.
    parser.add_argument("--idle-sleep", help=argparse.SUPPRESS)
    arguments, more = parser.parse_known_args()
    if not arguments.rules.is_file():
        parser.error(f"there is no file {arguments.rules}")
    taken = [word for word in more if word.split("=")[0] in OWN]
    if taken:
        parser.error(f"{taken[0]}: --try has ports and a CPU of its own")
    return arguments, more


@contextlib.contextmanager
def folder_in(build):
    path = pathlib.Path(tempfile.mkdtemp(prefix="try-", dir=build))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def summary(stats):
    return {"packets": stats["packets"], "reasons": {name: count for name, count in stats["reasons"].items() if count}}


def main():
    arguments, more = read_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    build = pathlib.Path(arguments.build).resolve()
    with folder_in(arguments.within or build) as folder:
        box = Sluice(Programs(build), folder, pktgen.vhost_ports(folder), arguments.rules.resolve(), table_keys=KEYS,
                     idle_sleep=arguments.idle_sleep)
        with contextlib.ExitStack() as stack:
            stack.callback(box.stop)
            generator = subprocess.Popen(pktgen.command(build, folder, more), preexec_fn=die_with_us)
            stack.callback(generator.kill)
            try:
                code = generator.wait()
            except KeyboardInterrupt:  # it had the ^C as well
                code = generator.wait()
            print(f"box: {json.dumps(summary(box.box.stats()))}", file=sys.stderr)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as problem:
        print(f"scripts/pktgen: {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
