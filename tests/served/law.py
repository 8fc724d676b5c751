"""The law, over what was seen: nothing served uncounted, and nothing refused that the manual does not list."""
import collections
import dataclasses

UNCOUNTED, REFUSED = "UNCOUNTED", "REFUSED"


@dataclasses.dataclass(frozen=True)
class Cell:
    """An evasion before one server: alone, over an unlimited rule for logins, over one request for each address."""
    evasion: object
    alone: object
    counted: object
    limited: object
    is_enforced: bool = True  # a service that refuses; others refuse nothing that they cannot read

    def verdict(self):
        """In words; empty where no server serves it."""
        if is_uncounted(self.counted):
            return UNCOUNTED
        if self.limited.requests > self.limited.counted:
            return UNCOUNTED + " (limit)"
        if self.counted.logins < self.alone.logins:
            return "refused" if self.evasion.refused and self.is_enforced else REFUSED
        return "ok" if self.alone.logins or self.limited.requests else ""

    def is_broken(self):
        return self.verdict().startswith((UNCOUNTED, REFUSED))

    def text(self):
        verdict = self.verdict()
        one = self.limited if "limit" in verdict else self.counted
        served = one.requests if one is self.limited else one.logins
        return f"{self.alone.logins} {served}/{one.counted} {verdict}".rstrip()


def is_uncounted(seen):
    return seen.logins > seen.counted


def is_refused(seen):
    return seen.logins < seen.plan.serves


def progress(seen, seconds):
    """In words."""
    served, counted = sum(one.logins for one in seen), sum(one.counted for one in seen)
    return (f"{len(seen)} connections, {seconds:.0f} s: {served} served, {counted} counted, "
            f"{sum(map(is_uncounted, seen))} uncounted, {sum(map(is_refused, seen))} refused")


def table(cells, names):
    """Lines of evasion by server: logins served alone, served and counted behind the box, verdict."""
    rows = collections.OrderedDict()
    for cell in cells:
        rows.setdefault(cell.evasion.name, {})[cell.counted.server] = cell.text()
    heads = ["alone, served/counted, verdict", *names]
    lines = [heads, *([name, *(row.get(server, "") for server in names)] for name, row in rows.items())]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines]


def broken(cells, generated=(), may_be_uncounted=False):
    """What did not hold, in words. A run in which a server served nothing shows nothing, and fails. What is monitored may be
    walked around."""
    out = [f"{cell.evasion.name}, {cell.counted.server}: {cell.text()}" for cell in cells
           if cell.is_broken() and not (may_be_uncounted and cell.verdict().startswith(UNCOUNTED))]
    out += [f"{one.plan.name}, {one.server}: {one.logins} served, {one.counted} counted" for one in generated
            if is_uncounted(one) and not may_be_uncounted]
    out += [f"{one.plan.name}, {one.server}: {one.logins} served of {one.plan.serves}" for one in generated if is_refused(one)]
    served = collections.Counter()
    for one in [*(cell.counted for cell in cells), *generated]:
        served[one.server] += one.logins
    return out + [f"{server} served nothing at all" for server, count in served.items() if not count] + (
        [] if served else ["nothing was tried"])
