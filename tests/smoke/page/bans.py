"""GET /v1/bans of `bans`, or of a million that are made as they are asked for (`ban_count`); bulk bans and lifts."""

MOST = 100


def ban(number, **more):
    source = ("operator", "policy", "penalty_box")[number % 3]
    return {"rule": f"rule-{number % 5:05}", "mode": "enforce", "inactive": None, "key": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}", "tier": 1,
            "applies_to": "key", "source": source, "left_s": 60 + number, "until": "2030-01-01T00:00:00Z", "reason": f"reason {number}", **more}


def wanted(row, query):
    return ((not query.get("rule") or row["rule"] == query["rule"]) and (not query.get("source") or row["source"] == query["source"])
            and query.get("filter", "") in (row["key"] or "") + row["reason"])


def page_of(stand_in, query):
    first, most = int(query.get("after") or 0), int(query.get("most", MOST))
    count = vars(stand_in).get("ban_count")
    if count is not None:
        rows, total = [ban(number) for number in range(first, min(count, first + most))], count
    else:
        found = [row for row in vars(stand_in).setdefault("bans", []) if wanted(row, query)]
        if query.get("sort") == "end":
            found.sort(key=lambda row: (row["left_s"] is None, row["left_s"]))
        rows, total = found[first:first + most], len(found)
    following = first + len(rows)
    return {"generation": stand_in.box["generation"], "bans": rows, "boxes_read": vars(stand_in).get("boxes_read", True),
            "next": str(following) if following < total else None}


def lift(stand_in, rule, body):
    before = len(stand_in.bans)
    stand_in.bans = [row for row in stand_in.bans if row["rule"] != rule or row["key"] not in body["keys"] or row["source"] == "policy"]
    done = before - len(stand_in.bans)
    rest = [{"line": at, "column": 1, "severity": "warning", "message": f"the key {key} is not banned"}
            for at, key in enumerate(body["keys"][done:], done + 1)]
    return 200, {"rule": rule, "unbanned": done, "not_banned": len(rest), "ended": 0, "unanswered": 0, "warnings": rest}


def add(stand_in, rule, body):
    wrong = [{"line": at, "column": 1, "severity": "error", "message": f"{key} is no address"} for at, key in enumerate(body["keys"], 1) if key.startswith("bad")]
    if wrong:
        return 422, {"title": "nothing was banned", "detail": f"{len(wrong)} of {len(body['keys'])} keys are wrong", "problems": wrong}
    stand_in.bans += [ban(0, rule=rule, key=key, reason=body.get("reason", "")) for key in body["keys"]]
    return 200, {"rule": rule, "banned": len(body["keys"]), "warnings": []}


def answer(stand_in, method, path, query):
    if method == "GET" and path == "/v1/bans":
        return vars(stand_in).get("bans_refusal") or (200, page_of(stand_in, query))
    parts = path.split("/")
    if method == "POST" and len(parts) == 5 and parts[4] in ("bans", "unbans"):
        vars(stand_in).setdefault("bans", [])
        return (add if parts[4] == "bans" else lift)(stand_in, parts[3], query)
    return None
