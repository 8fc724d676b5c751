"""D1, D2, D3, D8: three boxes that share a limit, beside three that have a third of it each.

    cluster_figures.py DATAPLANE SLUICED SLUICECTL STORE [--rounds 3] [--seconds 10] [--scope cluster]

Real programs, one redis-server, one client and several over all boxes, evenly and 80/15/5; each round with clients that
nobody has seen. Prints a row for each course: overshoot / promised (D1), admitted / min(offered, rate) (D2), the store's
operations for 10^6 admitted units beside an INCRBY and an EXPIRE for each (D3), and what static thirds admit (D8); with
the store 50 ms +- 10 ms away from one box, and from all, likewise.
"""
import argparse
import dataclasses
import itertools
import json
import pathlib
import statistics
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "cluster"), str(TESTS / "smoke")]
from cluster_boxes import ClusterBoxes, rules  # noqa: E402
from course import Course  # noqa: E402
from exact_bucket import Limit  # noqa: E402
from spread_flood import SpreadFlood  # noqa: E402

BOXES = 3
LIMIT = Limit(rate=1000, burst=1000, promised=125, in_flight=96)
EVEN, UNEVEN = (1, 1, 1), (80, 15, 5)
A_REQUEST = 2  # operations: INCRBY and EXPIRE
FAR = (0.05, 0.01)
CLIENTS = itertools.count(1)


@dataclasses.dataclass
class Row:
    """A course: so many clients, each with `over` times its rate, spread so; `far`: boxes that the store is far away from."""
    name: str
    clients: int = 1
    over: float = 5.0
    shares: tuple = EVEN
    far: int = 0


ROWS = [Row("one client, evenly"), Row("one client, 80/15/5", shares=UNEVEN),
        Row("ten clients, evenly", 10, 2.0), Row("ten clients, 80/15/5", 10, 2.0, UNEVEN),
        Row("one client at 0.9 of its rate", over=0.9), Row("one client at 1.2 of its rate, 80/15/5", over=1.2, shares=UNEVEN),
        Row("the store far from one box", far=1), Row("the store far from all", far=BOXES),
        Row("the store far from all, 80/15/5", shares=UNEVEN, far=BOXES)]
STATIC = [Row("static thirds, 1.2 of the rate, 80/15/5", over=1.2, shares=UNEVEN)]


def operations(boxes):
    """Of the store so far: calls from outside, and all commands, those within its function too."""
    stats = boxes.redis.client()
    with stats:
        calls = {name.removeprefix("cmdstat_"): int(text.split(",")[0].removeprefix("calls="))
                 for name, text in stats.info("commandstats").items() if name.startswith("cmdstat_")}
    asked = sum(count for name, count in calls.items() if name in ("fcall", "evalsha"))
    return asked, sum(count for name, count in calls.items() if name not in ("info", "config|get", "ping", "time"))


def one_course(boxes, limit, row, seconds):
    for number, proxy in enumerate(boxes.proxies):
        proxy.delay(*(FAR if number < row.far else (0, 0)))
    with SpreadFlood(boxes.network, boxes.folder) as flood:
        course = Course(boxes, flood, limit)
        clients = [next(CLIENTS) for _ in range(row.clients)]
        # The bursts are spent by more than the rate, whatever is measured then.
        course.begin(dict.fromkeys(clients, max(row.over, 3.0) * LIMIT.rate), row.shares)
        flood.send(rates=dict.fromkeys(clients, row.over * LIMIT.rate))
        before, came, at = operations(boxes), sum(flood.came()), time.monotonic()
        course.wait(seconds)
        calls, commands = (new - old for new, old in zip(operations(boxes), before))
        admitted, took = sum(flood.came()) - came, time.monotonic() - at
        verdict = course.end()
    per_million = 1e6 / max(1, admitted)
    return {"course": row.name, "D1": round(verdict.share, 3), "D2": round(verdict.live, 4),
            "admitted_per_s": round(admitted / took / row.clients, 1), "by_box": verdict.by_box,
            "D3_calls": round(calls * per_million), "D3_commands": round(commands * per_million),
            "D3": round(calls * per_million / (A_REQUEST * 1e6), 6), "p99_us": verdict.late_us[0], "broken": verdict.broken}


def measure(programs, arguments, limit, scope, courses):
    store = programs[3] if scope == "cluster" else None
    boxes = ClusterBoxes(programs[:3], store, BOXES)
    try:
        boxes.open()
        boxes.apply(rules(limit, scope))
        judged = LIMIT
        if scope == "cluster":
            boxes.wait_until_shared()
            judged = dataclasses.replace(LIMIT, promised=boxes.promised())
        for row in courses:
            rounds = [one_course(boxes, judged, row, arguments.seconds) for _ in range(arguments.rounds)]
            for one in rounds:
                print(json.dumps(one), flush=True)
            print(f"{row.name}: D1 {max(one['D1'] for one in rounds)}, D2 {statistics.median(one['D2'] for one in rounds)}, "
                  f"D3 {statistics.median(one['D3'] for one in rounds)}", flush=True)
    finally:
        boxes.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--scope", choices=("box", "cluster"), default="cluster")
    parser.add_argument("--only", default="", help="courses whose names begin so")
    arguments = parser.parse_args()
    shared = [row for row in ROWS if row.name.startswith(arguments.only)]
    static = [row for row in STATIC if row.name.startswith(arguments.only)]
    if shared:
        measure(arguments.programs, arguments, LIMIT, arguments.scope, shared)
    if static:
        third = dataclasses.replace(LIMIT, rate=LIMIT.rate // BOXES, burst=LIMIT.burst // BOXES)
        measure(arguments.programs, arguments, third, "box", static)


if __name__ == "__main__":
    main()
