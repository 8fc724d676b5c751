"""Traces: `packets` of the stand-in come with the first answers, or `packets_per_second` that are made."""
import time

FRAME = ("020000000002020000000001" "0800" "4500001d00010000401100" "00c0000201c6336402" "0fa0003500090000" "61")


def packet(number=0, **more):
    return {"time": f"2026-11-30T12:00:{number % 60:02}.123456789Z", "utc_ns": 0, "port": "uplink", "dir": "in", "src": "192.0.2.1", "dst": "198.51.100.2",
            "proto": 17, "sport": 4000, "dport": 53, "bytes": 43, "verdict": "drop", "reason": "limit", "rule": "rule-00001", "key": f"192.0.2.{number % 250}",
            "limit": "0", "service": None, "would_refuse": None, "wait_s": 1.25, "matched": ["rule-00001"], "matched_count": 1, "lcore": 1, "frame": FRAME, **more}


def begin(stand_in, body):
    when = body.get("when", "")
    if "wrong" in when:
        column = when.index("wrong") + 1
        return 422, {"title": "the condition does not compile", "detail": "nothing is traced",
                     "problems": [{"file": "", "line": 1, "column": column, "severity": "error", "message": vars(stand_in).get("fault", "no such field")}]}
    stand_in.trace, stand_in.trace_began, stand_in.traced = "1f-3", time.monotonic(), 0
    return 201, {"trace": stand_in.trace, "most_per_second": 1000, "unread_after_s": 10.0,
                 "unread_fields": vars(stand_in).get("unread_fields", []), "warnings": []}


def packets_now(stand_in):
    listed = vars(stand_in).get("packets")
    rate = vars(stand_in).get("packets_per_second", 0)
    due = int((time.monotonic() - stand_in.trace_began) * rate) if listed is None else len(listed)
    first, stand_in.traced = stand_in.traced, max(stand_in.traced, due)
    return listed[first:due] if listed is not None else [packet(number) for number in range(first, due)]


def told(stand_in):
    return {"judges": vars(stand_in).get("judges", True), "has_rule": True, "left_out": vars(stand_in).get("left_out", 0), "packets": packets_now(stand_in)}


def answer(stand_in, method, path, query):
    if path == "/v1/traces" and method == "POST":
        return begin(stand_in, query)
    if not path.startswith("/v1/traces/"):
        return None
    if vars(stand_in).get("trace") != path.rsplit("/", 1)[1]:
        return 410, {"title": "the trace has ended", "detail": "it was ended, or nobody had read it for ten seconds"}
    if method == "DELETE":
        last, stand_in.trace = told(stand_in), None
        return 200, last
    end = time.monotonic() + float(query.get("wait", 0))
    while not (now := told(stand_in))["packets"] and time.monotonic() < end and stand_in.tokens is not None and stand_in.trace:
        time.sleep(0.05)
    return 200, now
