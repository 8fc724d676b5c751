"""GET /v1/events: a log as the dataplane keeps it, bounded, that grows by itself where `events_per_second` says so."""
import time

KEPT = 8192
MOST = 1000


def made(number):
    return {"event": ("limit_start", "limit_end", "ban")[number % 3], "rule": f"rule-{number % 5:05}", "limit": "0", "lcore": 1,
            "key": f"192.0.2.{number % 250}", **({"edge": "start", "for_s": 60} if number % 3 == 2 else {"wait_s": 1.5} if number % 3 == 0 else {"for_s": 3})}


def log_of(stand_in):
    """All events there have been: those that a test has put into `events_log`, and those that have come since the first call."""
    log = vars(stand_in).setdefault("events_log", [])
    passed = time.monotonic() - vars(stand_in).setdefault("events_since", time.monotonic())
    due = int(passed * vars(stand_in).get("events_per_second", 0))
    told = vars(stand_in).setdefault("events_told", 0)
    log.extend(made(number) for number in range(told, due))
    stand_in.events_told = max(told, due)
    return log


def numbered(stand_in):
    log = log_of(stand_in)
    return [{"seq": number, "time": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), **event} for number, event in enumerate(log, 1)]


def fits(event, query):
    return (not query.get("rule") or event.get("rule") == query["rule"]) and (not query.get("kind") or event["event"] == query["kind"])


def part(events, query):
    """Those of a list that one answer has: the newest that are asked for, or the oldest."""
    newest = int(query.get("newest", 0))
    return events[-newest:] if newest else events[:MOST]


def read(stand_in, query):
    rows = numbered(stand_in)
    start = int(query["from"].split("-")[1]) if query.get("from") else 1
    oldest = max(1, len(rows) - KEPT + 1)
    missed = max(0, oldest - start) if query.get("from") else 0
    found = [row for row in rows[max(start, oldest) - 1:] if fits(row, query)]
    events = part(found, query)
    following = len(rows) + 1 if query.get("newest") or len(found) <= MOST else events[-1]["seq"] + 1
    return {"next": f"7-{following}", "missed": missed, "events": events}


def answer(stand_in, method, path, query):
    if method != "GET" or path != "/v1/events":
        return None
    if vars(stand_in).get("events_refusal"):
        return stand_in.events_refusal
    end = time.monotonic() + float(query.get("wait", 0))
    while not (found := read(stand_in, query))["events"] and not found["missed"] and time.monotonic() < end and stand_in.tokens is not None:
        time.sleep(0.05)
    return 200, found
