"""What sluiced answers about a rule that is being written: its text, checks, what groups did lately, the change itself."""
import time
import urllib.parse

import page_stand_in

TEXT = """  - id: login  # of the shop
    mode: enforce
    when: l4.dport eq 80 and http.request.uri.path eq "/login"
    # an address, or a home
    key: ["prefix(ip.src, 32|64)"]
    per: request
    limits: [{algorithm: token_bucket, rate: 300/m, burst: 50}]
    heatmap: on
"""
FILE = "version: 1\nrules:\n" + TEXT + "  - id: other\n    key: []\n    limits: [{rate: 1/s, burst: 1}]\n"
TAG = "00f1e2d3c4b5a697-0011223344556677"
FIELDS = [{"name": "l4.dport", "kind": "number", "operators": ["eq"], "layer": "l4", "says": "a number from 0 to 65535"},
          {"name": "ip.src", "kind": "address", "operators": ["eq"], "layer": "ip", "says": "an address or network"},
          {"name": "http.host", "kind": "text", "operators": ["eq"], "layer": "http", "says": "the name of a site"}]
SCHEMA = {"$defs": {"rule": {"properties": {"mode": {"enum": ["off", "monitor", "enforce"]}, "when": {}, "key": {}, "limits": {}}}}}


def of(stand_in):
    """What a test may change."""
    if not hasattr(stand_in, "rule_work"):
        stand_in.rule_work = {"text": TEXT, "file": FILE, "tag": TAG, "problems": [], "rules": None, "refusal": None, "unread": None, "judges_tags": False}
    return stand_in.rule_work


def checked(work):
    rules = [{"id": "login", "limits": [{"text": "300 requests per minute, 50 at once", "promise": "the most in any minute: 350", "most": 350, "window_s": 60}],
              "placement": "local", "bytes_per_key": 24, "starts_anew": False,
              "answers": [{"protocol": "http", "does": "429"}, {"protocol": "tls", "does": "reset"}]}]
    bad = any(one["severity"] == "error" for one in work["problems"])
    return {"ok": not bad, "problems": work["problems"], "rules": [] if bad else work["rules"] or rules}


def heatmap():
    edges = [0] + [2 ** (k / 2) for k in range(81)]
    column = {"at": page_stand_in.utc(0), "one_in": 1, "groups": 1000, "error": 0.02, "left_out": 0, "offered": [[1, 500], [9, 400], [13, 90], [17, 10]], "left": []}
    return {"rule": "login", "map": "on", "limit": 0, "step_s": 60, "offered_edges": edges, "left_edges": [], "columns": [column, None, column]}


def changed(stand_in, work):
    """A set on trial."""
    work["tag"] = "00f1e2d3c4b5a698-0011223344556677"
    stand_in.trial = {"seconds_left": 60.0, "until": page_stand_in.utc(time.time() + 60), "goes_back_to": "00f1e2d3c4b5a697"}
    return 200, {"generation": "00f1e2d3c4b5a698", "rules": 2, "warnings": [], "panic": False, "unconfirmed": stand_in.trial}


def by_tag(stand_in, work):
    """412 where another set is in force than If-Match names, by its tag or its generation alone; nothing: it may."""
    named = (stand_in.if_match or "").strip('"')
    return None if named in ("", work["tag"], work["tag"][:16]) else (412, {"title": "other rules are in force", "detail": "not yours"})


def diff():
    return {"from": "00f1e2d3c4b5a697", "to": "00f1e2d3c4b5a698", "added": [], "removed": [], "owing_known": True, "reordered": [], "unchanged": 1,
            "changed": [{"id": "login", "settings": [], "limits": [
                {"name": "1", "change": "changed", "from": "300/m", "to": "200/m", "because": "", "owing": 3},
                {"name": "2", "change": "reset", "from": "a", "to": "b", "because": "its key is another one"}]}],
            "services": {"added": [], "removed": [], "changed": [], "reordered": [], "unchanged": 0}, "warnings": []}


def answer(stand_in, method, path, query):
    work = of(stand_in)
    if method in ("PUT", "POST") and work["judges_tags"] and (refused := by_tag(stand_in, work)):
        return refused
    name = urllib.parse.unquote(path.removeprefix("/v1/rules/"))
    if method == "POST" and path == "/v1/rules/check":
        return 200, checked(work)
    if path == "/v1/fields":
        return 200, FIELDS
    if path == "/v1/schema":
        return 200, SCHEMA
    if path == "/v1/rules/files":
        return 200, {"generation": work["tag"][:16], "etag": work["tag"], "files": [{"name": "rules.yaml", "directory": "/etc/sluice", "text": work["file"]}]}
    if method == "GET" and name.endswith("/full") and work["unread"]:
        return work["unread"]
    if method == "GET" and name.endswith("/full"):
        return 200, {"id": name[:-5], "etag": work["tag"], "source": {"file": "rules.yaml", "line": 3, "last_line": 10, "text": work["text"]}}
    if method == "GET" and name.endswith("/heatmap"):
        return 200, heatmap()
    if path == "/v1/top":
        return 200, {"window_s": 60, "samples": 1, "lost": 0, "keys": [{"rule": "login", "key": "192.0.2.7"}]}
    if method == "POST" and path == "/v1/rules/diff":
        return 200, diff()
    if (method == "PUT" and path.startswith("/v1/rules/")) or (method == "POST" and path == "/v1/rules"):
        return work["refusal"] or changed(stand_in, work)
    return None
