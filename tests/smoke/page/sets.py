"""What sluiced answers about sets of rules that were in force, and about previews of a draft."""
from page import builder

PREVIEW = {"state": "done", "seconds_done": 20, "says": "of 20 s from 14:02:10: 3.1 M requests match; 140 k (4.5 %) would have been refused, of 1204 of 51000 groups",
           "from": "2026-01-02T14:02:10Z", "matched": {"packets": 9, "units": 9}, "would_refuse": {"units": 140000, "share": 0.045, "groups": 1204}, "groups": 51000,
           "one_in": 64, "worst": [{"key": "192.0.2.7", "offered": 900, "refused": 700}], "offered": [[1, 500], [9, 400]], "left": [], "percentiles": {}, "unseen": ["TLS"],
           "left_out": 0, "problem": None}


def history(stand_in):
    text = getattr(stand_in, "set_text", "rules.yaml")
    row = {"at": "2026-01-02T03:04:05Z", "by": text, "generation": "00f1e2d3c4b5a697", "rules": 2, "file": text, "note": text}
    return {"in_force": {**row, "etag": builder.of(stand_in)["tag"], "unconfirmed": None}, "sets": [{"number": 7, **row}]}


def answer(stand_in, method, path, _query):
    work = builder.of(stand_in)
    if path == "/v1/history":
        return 200, history(stand_in)
    if method == "POST" and path == "/v1/rollback/diff":
        return 200, builder.diff()
    if method == "PUT" and path == "/v1/rules":
        return work["refusal"] or builder.changed(stand_in, work)
    if method == "POST" and path == "/v1/preview":
        work["previews"] = 0
        return 201, {"preview": "p1", "seconds": 20}
    if method == "GET" and path == "/v1/preview/p1":
        work["previews"] += 1
        is_over = work["previews"] > work.get("looks", 2)
        return 200, PREVIEW if is_over else {**PREVIEW, "state": "running", "says": None, "seconds_done": work["previews"], "offered": [], "worst": []}
    if method == "DELETE" and path == "/v1/preview/p1":
        work["cancelled"] = True
        return 200, {}
    return None
