"""Answers about one rule: its maps, its keys, its text."""
import datetime
import time
import urllib.parse

from page.events import part

RULE = "rule-00001"
EDGES = [0] + [2 ** ((bucket - 1) / 2) for bucket in range(1, 81)]
LEFT_EDGES = [0] + [(sixteenth - 1) / 16 for sixteenth in range(1, 17)] + [1]
STEP, COLUMNS = 10, 60
LIMIT_BUCKET = 17


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def column(number, at):
    """A hill of groups in map 1, most of them full in map 2; of each ten columns one without data and one without a group."""
    offered = [[bucket, max(1, round(40_000 / 3 ** abs(bucket - 6)))] for bucket in range(1, 18) if bucket != 2]
    left = [[0, 200 + number], [9, 12], [16, 4000], [17, 45_000]]
    return None if number % 10 == 3 else {
        "at": iso(at), "one_in": 256, "groups": 51_000, "error": 0.02, "left_out": 0,
        "offered": [] if number % 10 == 4 else offered, "left": [] if number % 10 == 4 else left}


class RuleAnswers:
    """What a test may change; a StandIn answers with it where it has one as `one_rule`."""

    def __init__(self):
        self.limits = [{"index": 0, "text": "300 requests per minute, 50 at once", "unit": "requests", "most": 300, "window_s": 10, "tier": None}]
        self.reading = {"kind": "typical", "says": "typical: 0.2 % of groups reached nothing left; 99 of 100 asked for at most 0.6 of the limit.",
                        "numbers": {"z": 0.002, "q99": 0.6}}
        self.columns, self.why_empty, self.mode, self.banned = [column(number, 0) for number in range(COLUMNS)], None, "enforce", []
        self.keys = [{"key": f"10.7.0.{n}", "offered": 320 + n, "refused": 20, "left": 0.12} for n in range(3)]
        self.shared = [{"field": "ip.src/16", "value": "10.7.0.0/16", "here": 0.81, "rest": 0.02},
                       {"field": "http.user_agent", "value": "bot/1.0", "here": 0.5, "rest": 0.01}]
        self.text = "  - id: rule-00001\n    key: [ip.src]\n    limits:\n      - {algorithm: token_bucket, rate: 5/s, burst: 50}\n"
        self.events = [{"seq": n, "time": iso(1000 + n), "event": "limit_start", "rule": RULE, "limit": "1", "key": f"10.7.0.{n}",
                        "lcore": 1, "wait_s": 3.5} for n in range(3)]
        self.key_shape = "ip.src"
        self.first = STEP * int(time.time() / STEP) - STEP * COLUMNS

    def heatmap(self, rule, query):
        columns = [one and {**one, "at": iso(self.first + number * STEP)} for number, one in enumerate(self.columns)]
        return {"rule": rule, "generation": "00f1e2d3c4b5a697", "map": "looked_at", "limits": self.limits,
                "limit": int(query.get("limit", 0)), "step_s": STEP, "from": iso(self.first), "to": iso(self.first + len(columns) * STEP),
                "steps": [10, 60], "offered_edges": EDGES, "left_edges": LEFT_EDGES, "limit_bucket": LIMIT_BUCKET,
                "columns": columns, "reading": self.reading, "why_empty": self.why_empty}

    def cell(self):
        return {"groups": 770, "one_in": 256, "keys": self.keys, "shared": self.shared, "names_missing": 2}

    def full(self, rule):
        return {"id": rule, "kind": "rule", "description": "requests of one address", "mode": self.mode, "file_mode": "enforce", "ends": None,
                "ended": False, "line": 3, "when": "l4.dport eq 443", "key": self.key_shape, "action": "drop", "ban": "2m after 200 refusals in 10s",
                "limits": [{"name": "1", "key": "ip.src", "text": one["text"], "scope": "local", "bound": ""} for one in self.limits],
                "memory": "1 MiB", "keys_set": [{"key": one["key"], "tier": 1, "set": "banned", "until": None, "reason": "a test", "by": "ada"}
                                                for one in self.keys[:1]],
                "source": {"file": "rules.yaml", "line": 3, "last_line": 6, "text": self.text}, "lists": [], "settings": {"overrides": "overrides.csv"}}

    def top(self):
        return {"window_s": 10, "samples": 900, "lost": 0, "keys": [
            {"rule": RULE, "key": one["key"], "hits_per_s": 40.5, "hits_error_per_s": 1, "denied_per_s": 2, "denied_error_per_s": 1,
             "bits_per_s": 1e6, "bits_error_per_s": 1, "remaining": 7, "exempt": False, "banned": False} for one in self.keys]}

    def live_keys(self, rule):
        return {"rule": rule, "generation": "1", "live": 3, "next": None, "keys": [
            {"key": one["key"], "digest": "0" * 14, "tier": 1, "limit": "1", "lcore": 1, "carried": False, "shared": False, "level": 0,
             "remaining": 7, "most": 50, "left_s": 1.5, "banned": None} for one in self.keys]}


def series(now):
    return {"run": "a", "to": iso(now), "step_s": 1, "snapshot": 1, "columns": {
        name: [float(50 + at % 60) for at in range(600)] for name in ("matched_pps", "refused_pps", "would_refuse_pps")}}


def answer(stand_in, method, path, query):
    rule = getattr(stand_in, "one_rule", None)
    if rule is None:
        return None
    if path == "/v1/series":
        return 200, series(time.time())
    if path in ("/v1/top", "/v1/keys", "/v1/events"):
        return 200, {"/v1/top": rule.top, "/v1/keys": lambda: rule.live_keys(query.get("rule")),
                     "/v1/events": lambda: {"next": "1-1", "missed": 0, "events": part(rule.events, query)}}[path]()
    parts = path.removeprefix("/v1/rules/").split("/")
    if not path.startswith("/v1/rules/") or len(parts) < 2:
        return None
    name = urllib.parse.unquote(parts[0])
    what = "/".join(parts[1:])
    if method in ("PUT", "POST") and what == "mode":
        rule.mode = query["mode"]
        return 200, {"id": name, "mode": rule.mode}
    names = [one["name"] for one in rule.full(name)["limits"]]
    if method == "POST" and what == "key":
        known = query.get("limit", names[0]) in names
        return (200, {"unanswered": []}) if known else (404, {"title": "no such limit", "detail": f"the rule {name} has no limit {query['limit']}"})
    if method == "POST" and what == "bans":
        rule.banned.append(query)
        return 200, {"banned": len(query["keys"])}
    found = {"heatmap": lambda: rule.heatmap(name, query), "heatmap/cell": rule.cell, "full": lambda: rule.full(name)}.get(what)
    return (200, found()) if method == "GET" and found else None
