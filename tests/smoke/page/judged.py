"""Previews of a draft and captures that it is replayed over: `judging` of the stand-in is what a test may change."""
import base64
import urllib.parse

import page_stand_in

EDGES = [0] + [round(2 ** (k / 2), 2) for k in range(81)]
LEFT = [0] + [k / 16 for k in range(17)]


def heatmap(rule="login"):
    columns = [{"at": page_stand_in.utc(1_700_000_000 + at), "one_in": 1, "groups": 100, "error": 0, "left_out": 0,
                "offered": [[1, 60], [5, 30], [9, 10]], "left": [[0, 5], [9, 95]]} for at in range(20)]
    return {"rule": rule, "limits": [{"index": 0, "text": "300 requests per minute, 50 at once", "unit": "requests", "most": 350, "window_s": 60, "tier": None}],
            "limit": 0, "step_s": 1, "from": page_stand_in.utc(1_700_000_000), "to": page_stand_in.utc(1_700_000_020), "steps": [1],
            "offered_edges": EDGES, "left_edges": LEFT, "limit_bucket": 12, "columns": columns,
            "reading": {"kind": "typical", "says": "typical: 95 % of groups are far from the limit", "numbers": {}}, "why_empty": None}


def result(**more):
    return {"says": "of 20 s from 14:02:10 UTC: 3.1 M requests match; about 140,000 (4.5 %) would have been refused, of about 1,204 of 51,000 groups",
            "from": page_stand_in.utc(1_700_000_000), "to": page_stand_in.utc(1_700_000_020), "seconds": 20, "unit": "requests", "matched": 3_100_000,
            "refused": 140_000, "refused_share": 0.0452, "groups": 51_000, "refused_groups": 1204, "watched_groups": 3187, "one_in": 16, "error": 0.07,
            "is_exact": False, "judged_packets": 193_750, "names": [{"key": "192.0.2.7", "offered": 9000, "refused": 8500}],
            "limits": [{"index": 0, "name": "1", "text": "300 requests per minute, 50 at once", "refused": 140_000}], "heatmaps": [heatmap()],
            "unknown": [{"code": "sampled", "text": "one group of 16 was watched"}],
            "values": [{"field": "http.host", "values": ["shop.example"]}, {"field": "l4.dport", "values": ["8443"]}], **more}


def of(stand_in):
    if not hasattr(stand_in, "judging"):
        stand_in.judging = {"readings": 2, "result": result(), "refusal": None, "ended": None, "read": 0, "open": [], "captured": b"",
                            "passing": None, "traces": []}
    return stand_in.judging


def progress(now, seconds):
    now["read"] += 1
    over = now["read"] > now["readings"]
    return {"preview": now["open"][-1], "state": "done" if over else "watching", "rule": "login", "from": page_stand_in.utc(1_700_000_000), "seconds": seconds,
            "seconds_done": seconds if over else 7.3, "matched": 1_083_000, "unit": "requests", "one_in": 16, "result": now["result"] if over else None}


def previews(stand_in, now, method, path, body):
    if method == "POST":
        if now["refusal"]:
            return now["refusal"]
        now["read"], now["seconds"] = 0, body["seconds"]
        now["open"].append(f"1a-{len(now['open'])}")
        return 201, {"preview": now["open"][-1], "rule": "login", "seconds": body["seconds"], "warnings": []}
    name = urllib.parse.unquote(path.rsplit("/", 1)[1])
    if method == "DELETE":
        return 200, {"preview": name, "state": "ended"}
    return now["ended"] or (200, progress(now, now["seconds"]))


def counted(now, method, path, body):
    """Traces of rows that are counted: so many packets pass of each condition, and one is shown."""
    if method == "POST":
        now["traces"].append(body.get("when"))
        return 201, {"trace": f"{len(now['traces']) - 1}", "most_per_second": 1000, "unread_after_s": 10.0, "unread_fields": [], "warnings": []}
    when = now["traces"][int(path.rsplit("/", 1)[1])]
    return 200, {"judges": True, "has_rule": True, "left_out": now["passing"][when], "packets": []}


def answer(stand_in, method, path, query):
    now = of(stand_in)
    if now["passing"] is not None and path.startswith("/v1/traces"):
        return counted(now, method, path, query)
    if path.startswith("/v1/previews"):
        return previews(stand_in, now, method, path, query)
    if path == "/v1/replay":
        now["captured"] = base64.b64decode(query["capture"], validate=True)
        return now["refusal"] or (200, {"rule": "login", "warnings": [], "result": result(
            is_exact=True, one_in=1, says="of 3 s from 2026-01-31 12:00:00 UTC: 900 requests match; 50 (5.6 %) would have been refused, of 1 of 7 groups",
            groups=7, refused_groups=1, judged_packets=1234,
            rules=[{"id": "login", "mode": "enforce", "matched": 900, "refused": 50, "would_refuse": 0},
                   {"id": "other", "mode": "monitor", "matched": 12, "refused": 0, "would_refuse": 3}])})
    return None
