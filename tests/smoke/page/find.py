"""GET /v1/find, as the screen Find asks for it: two pages about an address, and nothing about anything else."""

CONDITION = {"what": "condition", "rule": "rule-00001", "kind": "rule", "mode": "enforce", "field": "ip.src", "except": False,
             "list": "bad", "entry": "192.0.2.0/24", "line": 3, "others": 1, "action": "drop"}
BAN = {"what": "ban", "rule": "rule-00002", "kind": "rule", "mode": "monitor", "key": "192.0.2.0/24", "source": "ada", "until": None,
       "reason": "because"}
KEY = {"what": "key", "rule": "rule-00003", "kind": "candidate", "mode": "monitor", "key": "192.0.2.1", "banned": False, "exempt": False,
       "set": [], "limits": [{"name": "1", "text": "rate 5/s", "workers": [{"lcore": 2, "remaining": 0, "most": 5, "wait_ns": 200000000}]}]}
EARLY = {"state": "works", "more": False, "ports": [], "entries": [
    {"network": "192.0.2.0/24", "at": ["eth0"], "rule": "rule-00001", "by": "operator", "applies_to": "source", "until": None,
     "rule_packets": 70000}]}


def answer(stand_in, method, path, query):
    if path == "/v1/panic" and method == "POST":
        stand_in.box = {**stand_in.box, "state": "panic" if query["pass"] else "judging"}
        return 200, query
    if path != "/v1/find":
        return None
    of = query["of"]
    told = getattr(stand_in, "found", None) or {"192.0.2.1": ([CONDITION, BAN], [KEY])}.get(of, ([], None))
    rows = told[1] if query.get("after") else told[0]
    page = {"of": of, "is": "address" if of[0].isdigit() else "host", "inside": None, "generation": "0a", "boxes_read": True, "lists_read": True,
            "findings": rows, "cut": False, "next": "second" if told[1] and not query.get("after") else None}
    return 200, page if query.get("after") else {**page, "everybody": ["rule-00004"], "early_drop": EARLY if rows else None}
