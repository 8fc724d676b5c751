"""The check of shared limits, over what left all boxes by one clock: one exact bucket for each key, of the limit's
burst and the excess that is promised beyond it, never refuses. And liveness: admitted of what could have been."""
import collections
import dataclasses

SECOND = 1_000_000_000


@dataclasses.dataclass(frozen=True)
class Limit:
    """Units a second, the burst, and the excess over all boxes that is promised beyond it."""
    rate: float
    burst: int
    promised: int = 0
    # Frames that may lie between a verdict and the wire when a worker is kept from its processor: they leave later
    # than they were judged, all at once.
    in_flight: int = 0

    @property
    def room(self):
        return self.burst + self.promised + self.in_flight


@dataclasses.dataclass
class Finding:
    """How one key fared. `worst`: the units by which it was ever ahead of its burst."""
    key: int
    admitted: int = 0
    worst: float = 0.0
    first_refused: int = None  # the instant of the first frame that the exact bucket refuses, in ns
    boxes: tuple = ()          # how many frames each box let through

    def share_of(self, promised):
        """Overshoot / promised, as D1 has it."""
        return self.worst / promised if promised else (0.0 if self.worst <= 0 else float("inf"))


def merged(*boxes):
    """What left the boxes, each a list of (ns, key), in order of time as (ns, key, box). Whatever
    else a record holds comes behind these and is not read."""
    return sorted((at, key, box) for box, left in enumerate(boxes) for at, key in left)


def check_bucket(departures, limit):
    """-> {key: Finding}, of (ns, key, box) in order of time."""
    levels, findings, by_box = {}, {}, collections.Counter()
    for at, key, box, *_ in departures:
        level, since = levels.get(key, (0.0, at))
        level = max(0.0, level - (at - since) * limit.rate / SECOND) + 1
        levels[key] = level, at
        finding = findings.setdefault(key, Finding(key))
        finding.admitted += 1
        by_box[key, box] += 1
        finding.worst = max(finding.worst, level - limit.burst)
        if level > limit.room and finding.first_refused is None:
            finding.first_refused = at
    boxes = 1 + max((box for _, box in by_box), default=-1)
    for key, finding in findings.items():
        finding.boxes = tuple(by_box[key, box] for box in range(boxes))
    return findings


def check_windows(departures, count, window, limit, slides=False):
    """The same of windows of `window` ns that begin with those of UTC: each holds `count` and what is promised
    beyond it. `slides`: of the window before a unit counts by how much of that lies in the last `window`. Of
    `limit` only the promise is read."""
    counts, findings = collections.Counter(), {}
    for at, key, *_ in departures:
        finding = findings.setdefault(key, Finding(key))
        finding.admitted += 1
        number, into = divmod(at, window)
        counts[key, number] += 1
        before = counts[key, number - 1] * (window - into) / window if slides else 0
        ahead = counts[key, number] + before - count
        finding.worst = max(finding.worst, ahead)
        if ahead > limit.promised + limit.in_flight and finding.first_refused is None:
            finding.first_refused = at
    return findings


def refusals(findings, limit):
    """What was promised and not kept, in words."""
    return [f"key {finding.key}: {finding.worst:.0f} units beyond the burst of {limit.burst}, and {limit.promised} "
            f"(+ {limit.in_flight} in flight) are promised; boxes let through {finding.boxes}"
            for finding in findings.values() if finding.first_refused is not None]


def worst_share(findings, limit):
    """D1 over all keys."""
    return max((finding.share_of(limit.promised) for finding in findings.values()), default=0.0)


def liveness(departures, offered, limit, begin, end):
    """-> {key: admitted / min(offered, rate)} between two instants. `offered`: {key: [(ns, frames)]}, in order of
    time. The burst is to be spent before `begin`."""
    admitted = collections.Counter(key for at, key, *_ in departures if begin <= at < end)
    shares = {}
    for key, sent in offered.items():
        came = sum(frames for at, frames in sent if begin <= at < end)
        possible = min(came, limit.rate * (end - begin) / SECOND)
        shares[key] = admitted[key] / possible if possible else 1.0
    return shares


def worst_liveness(departures, offered, limit, begin, end, span=10 * SECOND):
    """The least share of any key over any `span` that begins between the instants, in steps of a second."""
    worst = 1.0
    for at in range(begin, max(begin + 1, end - span + 1), SECOND):
        worst = min(worst, *liveness(departures, offered, limit, at, min(end, at + span)).values(), 1.0)
    return worst


def history(departures, finding, before=20, after=10, slot=SECOND // 10):
    """How many frames of the key each box let through, by tenths of a second around the first refusal: what is read when
    a course has failed."""
    counts = collections.Counter(((at - finding.first_refused) // slot, box) for at, key, box, *_ in departures
                                 if key == finding.key)
    boxes = range(len(finding.boxes))
    return "\n".join(f"  {tenth / 10:+6.1f} s  " + " ".join(f"{counts[tenth, box]:>5}" for box in boxes)
                     for tenth in range(-before, after))
