"""Several boxes as one limiter: one client's flood over all of them, the store that they share the limit by, and what
happens while it is dead."""
import contextlib
import dataclasses
import pathlib
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[3] / "tests"
sys.path[:0] = [str(TESTS / "cluster"), str(TESTS / "smoke")]
from cluster_boxes import RULE, ClusterBoxes, rules  # noqa: E402
from course import Course  # noqa: E402
from exact_bucket import Limit  # noqa: E402
from spread_flood import SpreadFlood  # noqa: E402

from commands import LabError  # noqa: E402

DEFAULT_SECONDS = 24.0
FLOOD_PPS = 6000
RATE, BURST = 1000, 1000
IN_FLIGHT = 32         # frames of a burst that each worker may have judged and not sent yet
CLIENT = 1
STORE = pathlib.Path("control/store/sluice-store")


@dataclasses.dataclass
class Phase:
    name: str
    share: float  # of the whole run
    begin: object = None


class BoxesTable:
    """One line a second: how many frames each box let through, and all of them together."""

    def __init__(self, boxes, flood, out):
        self.boxes, self.flood, self.out = boxes, flood, out
        count = len(boxes.boxes)
        self.before, self.at = flood.came(), time.monotonic()
        names = ["second", *(f"box {number}, /s" for number in range(count)), "all boxes, /s", "limit, /s"]
        print("  ".join(f"{name:>13}" for name in names) + "  phase", file=out, flush=True)

    def line(self, second, phase):
        now, at = self.flood.came(), time.monotonic()
        rates = [(new - old) / (at - self.at) for new, old in zip(now, self.before)]
        self.before, self.at = now, at
        cells = [f"{second:>13}", *(f"{rate:>13,.0f}" for rate in (*rates, sum(rates), RATE))]
        store = f"  store: {' '.join(self.boxes.links())}" if self.boxes.with_store else ""
        print("  ".join(cells) + f"  {phase}{store}", file=self.out, flush=True)


def phases(boxes, scope):
    """What happens, in order, and how the table calls it."""
    if scope == "box":
        return [Phase("each box for itself", 1.0)]
    return [Phase("shared by the store", 0.4),
            Phase("the store is dead", 0.3, boxes.redis.server.kill),
            Phase("the store is back, empty", 0.3, boxes.restart_redis)]


def run(boxes, arguments, out):
    limit = Limit(RATE, BURST, in_flight=IN_FLIGHT * len(boxes.boxes))
    boxes.apply(rules(limit, arguments.scope))
    if arguments.scope == "cluster":
        boxes.wait_until_shared()
        limit = dataclasses.replace(limit, promised=boxes.promised())
    print(f"{arguments.boxes} boxes; one client sends {FLOOD_PPS:,}/s over all of them; the rule `{RULE}` lets it have "
          f"{RATE:,}/s and a burst of {BURST:,}, in the scope {arguments.scope}.", file=out, flush=True)
    with SpreadFlood(boxes.network, boxes.folder) as flood:
        course = Course(boxes, flood, limit)
        table = BoxesTable(boxes, flood, out)
        course.begin({CLIENT: FLOOD_PPS}, [1] * len(boxes.boxes))
        second, begin = 0, time.monotonic()
        for phase in phases(boxes, arguments.scope):
            if phase.begin is not None:
                phase.begin()
            for _ in range(max(1, round(phase.share * arguments.duration))):
                second += 1
                time.sleep(max(0.0, begin + second - time.monotonic()))
                table.line(second, phase.name)
        # A store that comes back empty may cost the promise once more.
        return course.end(dataclasses.replace(limit, promised=2 * limit.promised))


def show(programs, arguments, out):
    """-> the course's verdict"""
    build = pathlib.Path(arguments.build).resolve()
    store = build / STORE if arguments.scope == "cluster" else None
    if store is not None and not store.exists():
        raise LabError(f"this build has no {STORE}")
    with contextlib.ExitStack() as cleaning:
        boxes = ClusterBoxes([str(program) for program in (programs.dataplane, programs.daemon, programs.cli)], store,
                             arguments.boxes)
        cleaning.callback(boxes.close)
        boxes.open()
        return run(boxes, arguments, out)


def summary(verdict):
    return {"admitted": verdict.admitted, "by_box": list(verdict.by_box), "beyond_burst": round(verdict.worst, 1),
            "of_promised": round(verdict.share, 3) if verdict.share != float("inf") else None, "live": round(verdict.live, 4)}


def print_summary(verdict, out):
    print(f"""
admitted  {verdict.admitted:>12,} packets, {' + '.join(f'{count:,}' for count in verdict.by_box)}
beyond    {verdict.worst:>12,.0f} units over the burst{f", {verdict.share:.2f} of what is promised" if verdict.share != float("inf") else ""}
live      {100 * verdict.live:>11.1f} % of what the limit could admit, over the whole run""", file=out)
