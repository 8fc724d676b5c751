"""What sluiced answers about sets of rules that were in force."""
from page import builder


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
    return None
