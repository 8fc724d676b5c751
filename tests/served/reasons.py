"""The reasons that evasions are refused for, by the box's own counters."""
from court import BATCH_SECONDS
from servers import PROXIED_PORT

LISTED = "refused"  # the verdict of what the manual lists
ATTEMPTS = 10  # a server that answers the first of two segments before the second is there leaves nothing to refuse


def check(court, cells, seed):
    """What did not hold, in words: each evasion that was refused is tried once more by itself, before the servers where it was;
    and each that is to be, and that no server serves, but where few listen."""
    refused = {}
    for cell in cells:
        is_unserved = cell.is_enforced and cell.evasion.refused and not cell.verdict() and cell.evasion.port != PROXIED_PORT
        if cell.verdict() == LISTED or is_unserved:
            refused.setdefault(cell.evasion, []).append(cell.counted.server)
    out = [words for evasion, names in refused.items() if (words := untold(court, evasion, names, seed))]
    print(f"{len(refused)} refused for their reasons: {len(out)} for others", flush=True)
    return out


def untold(court, evasion, names, seed):
    """Why the box's counters do not say what the evasion's row says; empty if they do. A frame may be lost on the way."""
    for _ in range(ATTEMPTS):
        before = counters(court)

        def more(before=before):
            return {name: count - before.get(name, 0) for name, count in counters(court).items() if count > before.get(name, 0)}

        court.send_until([(evasion.plan(seed), name) for name in names], evasion.seconds + BATCH_SECONDS,
                         lambda more=more: more().get(evasion.refused, 0) >= len(names))
        found = more()
        if found.get(evasion.refused, 0) >= len(names):
            return ""
    return f"{evasion.name}: refused before {', '.join(names)}, not as {evasion.refused}: {found}"


def counters(court):
    """Reasons and events; no name is of both."""
    return court.reasons() | court.events()
