"""sluiced's table of routes, out of its source: a call of each row, and the least role that may make it."""
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "control/daemon/api/route.cpp"
ROW = re.compile(r'\{"(GET|PUT|POST|DELETE)",\s*"(/v1/[^"]*)",\s*\{?Role::(\w+),')
# What stands for `*`; elsewhere it is the rule `a`.
PARTS = {"/v1/traces/*": "7-1", "/v1/previews/*": "7-1", "/v1/notify/*/test": "b"}
# Calls that would do nothing even for those who may make them, or that have an answer at once.
QUERIES = {"PUT /v1/rules": "force=2", "POST /v1/rules": "force=2", "PUT /v1/rules/*": "force=2", "DELETE /v1/rules/*": "force=2", "POST /v1/rollback": "set=99",
           "POST /v1/rollback/diff": "set=99", "GET /v1/live": "wait=0", "GET /v1/rules/*/key": "key=192.0.2.1"}
BODIES = {"POST /v1/rules/*/key": '{"key":"192.0.2.1","action":"ban","for":"1s"}', "POST /v1/rules/*/keys": '{"keys":[]}',
          "POST /v1/traces": "[]", "POST /v1/previews": "[]", "POST /v1/panic": '{"pass":1}', "PUT /v1/rules/*/mode": '{"mode":"none"}'}
# Of no role's list: anybody begins a session; its end ends the test's; links are of one socket alone (test_links).
APART = {"POST /v1/session", "DELETE /v1/session", "POST /v1/session/link"}


def routes():
    """-> [(method, path, role)], all rows of the table."""
    text = SOURCE.read_text(encoding="utf-8")
    table = text[text.index("kRoutes = "):]
    table = table[:table.index("\n});")]
    found = [(method, path, role.lower()) for method, path, role in ROW.findall(table)]
    assert len(found) == table.count("    {\""), "a row of the table is written otherwise"
    return found


def calls():
    """-> [(method, target, body, role)]"""
    made = []
    for method, path, role in routes():
        name = f"{method} {path}"
        if name in APART:
            continue
        target = path.replace("*", PARTS.get(path, "a"))
        query = QUERIES.get(name)
        body = None if method in ("GET", "DELETE") else BODIES.get(name, "{}")
        made.append((method, target + (f"?{query}" if query else ""), body, role))
    return made
