"""The rules of a tenant, /v1/tenants/NAME/…, once a test has put `tenant_text` into the stand-in; nothing else answers to a tenant's people."""
import hashlib
import time
import urllib.parse

# Calls that a tenant's people may make beside those of their own name, as the table of routes has them.
THEIRS = ("/v1/session", "/v1/live", "/v1/events", "/v1/bans", "/v1/fields", "/v1/schema", "/v1/simulate")
OF_A_RULE = ("/v1/series", "/v1/top", "/v1/keys")


def begin(stand_in, name="acme"):
    """The stand-in as sluiced answers somebody of a tenant."""
    stand_in.who = {**stand_in.who, "user": "eve", "role": "tenant", "tenant": name, "box": None,
                    "verbs": {verb: verb in ("apply", "ban", "key", "monitor", "confirm", "rollback", "check") for verb in (*stand_in.who["verbs"], "check", "mode")}}
    stand_in.box = {"name": None, "state": "judging", "since": None, "why": None, "generation": None, "workers": None}
    stand_in.has_rates, stand_in.ports = False, []
    for row in stand_in.rules:
        row["id"] = f"{name}:{row['id']}"
    stand_in.tenant, stand_in.tenant_text, stand_in.tenant_trial = name, "version: 1\nrules: []\n", None
    stand_in.before = [*stand_in.before, Gate]
    return stand_in


def refused(stand_in, path, query):
    path = urllib.parse.unquote(path)
    own = path.startswith((f"/v1/tenants/{stand_in.tenant}/", f"/v1/rules/{stand_in.tenant}:")) or path in (*THEIRS, "/v1/rules")
    if own or (path in OF_A_RULE and query.get("rule", "").startswith(stand_in.tenant + ":")):
        return None
    stand_in.refused = [*vars(stand_in).get("refused", []), path]
    return 403, {"title": "role", "detail": f"{path} is not for tenants"}


def tag(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def state(stand_in):
    trial = stand_in.tenant_trial
    return {"name": stand_in.tenant, "networks": ["198.51.100.0/24"], "table_share": "5%", "most_rules": 20, "most_bytes": 65536,
            "compile_ms": 500, "problem": None, "etag": tag(stand_in.tenant_text), "text": stand_in.tenant_text,
            "unconfirmed": trial and {"seconds_left": max(0, trial[0] - time.monotonic()), "until": "2026-01-01T00:00:00Z"}}


def change(stand_in, path, text):
    if "NO" in text:
        return 422, {"title": "does not compile", "detail": "1 error", "problems": [{"severity": "error", "file": "rules.yaml", "line": 2, "column": 1, "length": 2, "text": "no such key"}]}
    if path.endswith("/rules"):
        stand_in.tenant_before = stand_in.tenant_text
        stand_in.tenant_trial = (time.monotonic() + 60, stand_in.tenant_text)
        stand_in.tenant_text = text
    return 200, {"tenant": stand_in.tenant, "etag": tag(stand_in.tenant_text), "warnings": []}


class Gate:
    @staticmethod
    def answer(stand_in, method, path, query):
        if refusal := refused(stand_in, path, query):
            return refusal
        if not path.startswith("/v1/tenants/"):
            return None
        if method == "GET":
            return 200, state(stand_in)
        if path.endswith(("/rules", "/check")):
            return change(stand_in, path, query["rules"])
        if path.endswith("/rollback"):
            stand_in.tenant_text, stand_in.tenant_before = stand_in.tenant_before, stand_in.tenant_text
        stand_in.tenant_trial = None
        return 200, {}


def answer(_stand_in, _method, _path, _query):
    return None
