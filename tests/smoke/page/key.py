"""What sluiced answers about one key, and about a packet that has not come."""
from page.events import part


def bucket(left, **more):
    return {"lcore": 1, "bucket": True, "before": left, "remaining": left, "most": 350, "wait_ns": 1_500_000_000 if left == 0 else 0, "fresh_ns": 0,
            "carried": False, "step": 0, "overridden": False, "given_wider": False, **more}


def state(text):
    """With `text` wherever others have a word."""
    return {"rule": text, "mode": "enforce", "key": text, "tier": 1, "action": "show", "exempt": False, "banned": True,
            "set": [{"key": text, "tier": 1, "set": text, "until": "2027-01-02T03:04:05Z", "reason": text, "by": 0}],
            "limits": [{"name": text, "text": text, "workers": [bucket(0), bucket(12, lcore=2, overridden=True)]}], "unanswered": [{"lcore": 3, "begun": True}],
            "ban": {"after": 3, "workers": [{"lcore": 1, "refusals": 3, "left_ns": 9_000_000_000, "lifted": False, "step": 0}]},
            "file_ban": {"reason": text}, "networks": [{"key": text}]}


def account(text):
    limit = {"name": text, "text": text, "scope": "local", "key": text, "cost": 1, "admitted": False, "before": {"remaining": 0, "new": False, "wait_ns": 1_500_000_000},
             "after": {"remaining": 0, "new": False, "wait_ns": 1_500_000_000}, "by": text}
    rules = [{"id": text, "mode": "enforce", "outcome": "metered", "because": text, "limits": [limit], "ban": {"text": text, "keys": []}},
             {"id": text, "mode": "monitor", "outcome": "no_match", "because": text, "limits": []}]
    return {"verdict": "drop", "reason": text, "rule": text, "limit": text, "wait_ns": 1_500_000_000, "generation": "1", "lcore": 1, "sure": True, "enforces": True,
            "limits": [], "bans": [], "units": [], "file": "rules.yaml", "notes": [text], "account": {"rules": rules}, "text": text + "\n" + text}


def answer(stand_in, method, path, query):
    text = getattr(stand_in, "key_text", "192.0.2.7")
    if method == "POST" and path == "/v1/explain":
        return 200, account(text)
    if path.startswith("/v1/rules/") and path.endswith("/key"):
        return 200, state(text)
    if path == "/v1/events":
        one = {"time": "2026-01-02T03:04:05Z", "rule": "login", "key": text, "limit": text}
        older = [{**one, "seq": number, "event": "limit_end", "key": "other"} for number in range(1, 1501)]
        return 200, {"next": "1-1502", "missed": 0, "events": part([*older, {**one, "seq": 1501, "event": "limit_start"}], query)}
    return None
