"""The dashboard's page as sluiced answers with it, and an API that speaks as sluiced does, with whatever a test wants in it."""
import contextlib
import http.server
import importlib
import json
import math
import pathlib
import threading
import time
import urllib.parse

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                               "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin"}
SECRET, TOKEN = "one-time", "a-session"
# Answers that belong to one screen: a module each of tests/smoke/page, with
# `answer(stand_in, method, path, query)` -> (status, JSON), or None for another path.
SCREENS = [importlib.import_module(f"page.{path.stem}") for path in sorted((pathlib.Path(__file__).parent / "page").glob("*.py"))]
# Verbs of the page, and the role that each needs, as control/daemon/api/verbs.hpp and the table of routes have them.
NEEDS = {"apply": "admin", "check": "view", "ban": "operate", "key": "operate", "monitor": "operate", "mode": "admin", "confirm": "operate",
         "rollback": "admin", "panic": "admin", "trace": "operate", "explain": "view", "diff": "operate", "preview": "operate", "replay": "operate", "merge": "admin",
         "notify": "admin", "link": "admin"}
MEASURES = ("offered", "passed", "refused", "would_refuse", "answered")


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + ".003Z"


def rule(number, **more):
    monitored = number % 3 == 2
    return {"id": f"rule-{number:05}", "mode": "monitor" if monitored else "enforce", "state": "active",
            "matched_pps": 1000.0 * (number + 1), "matched_bps": 8e6 * (number + 1),
            "refused_pps": None if monitored else 12.0 * number, "would_refuse_pps": 7.0 * number if monitored else None,
            "live_keys": 51_000 + number, "limited_now": number, "table_share": 0.12, "placement": "local",
            "spark": [None if i < 5 else 100 + 50 * math.sin(i / 5 + number) for i in range(60)], **more}


class StandIn:
    """`page`: the folder that bundle.py has made. What it answers is in the members, to be changed at any time."""

    def __init__(self, page, rules=5):
        self.page = pathlib.Path(page)
        self.assets = {row["path"]: row for row in json.loads((self.page / "manifest.json").read_text())}
        self.rules = [rule(number) for number in range(rules)]
        self.box = {"name": "edge-1", "state": "judging", "since": utc(time.time() - 3600), "why": None, "generation": "00f1e2d3c4b5a697", "workers": 4}
        self.who = {"user": "ada", "role": "admin", "via": "session", "box": "edge-1",
                    "verbs": dict.fromkeys(NEEDS, True), "needs": NEEDS}
        self.trial, self.problems, self.events, self.has_rates = None, [], [], True
        self.ports = [{"name": f"uplink {side}", "link": "up", "rx_pps": 1e6, "rx_bps": 8e9, "tx_pps": 9e5, "tx_bps": 7e9,
                       "dropped_pps": 0} for side in ("outside", "inside")]
        self.run, self.web, self.tokens, self.began = "0a1b2c3d", "page-1", {TOKEN}, time.monotonic()
        self.is_told_who = threading.Event()  # cleared: who asks for that waits
        self.is_told_who.set()
        self.before = []  # modules that answer before those of screens
        self.refusal = None  # (status, problem) of every call to /v1/live
        self.asked = []  # (method, path with its query, body)
        self.if_match = None  # of the last call that changes something
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        """Nobody answers any more, not those either that wait."""
        self.tokens = None
        self.server.shutdown()
        self.server.server_close()

    def snapshot(self):
        return 1 + int(time.monotonic() - self.began)

    def rates(self, at):
        wave = 1e6 * (2 + math.sin(at / 20))
        values = dict(zip(MEASURES, (wave, wave * 0.8, wave * 0.15, wave * 0.04, wave * 0.01)))
        return {name: {"pps": pps, "bps": pps * 4000} for name, pps in values.items()}

    def rows(self, query):
        sort = query.get("sort", "matched_pps")
        found = [row for row in self.rules if query.get("filter", "") in row["id"]
                 and (row["id"] + ".").startswith(query["id"] + "." if "id" in query else "")]
        found.sort(key=lambda row: (row[sort] is not None, row[sort] or 0 if not isinstance(row[sort], str) else row[sort]),
                   reverse=query.get("order", "desc") == "desc")
        first, most = int(query.get("first", 0)), min(256, int(query.get("most", 5)))
        return {"total": len(self.rules), "matching": len(found), "first": first, "rows": found[first:first + most]}

    def live(self, query):
        number, now = self.snapshot(), time.time()
        return {"snapshot": number, "run": self.run, "at": utc(now), "version": "0.3.0", "web": self.web, "every_s": 1,
                "box": self.box, "trial": self.trial, "rates": self.rates(number) if self.has_rates else None,
                "problems": self.problems, "ports": self.ports, "events": self.events,
                "rules": self.rows(query if query.get("view") == "rules" else {})}

    def series(self):
        number = self.snapshot()
        past = [self.rates(number - 599 + at) if at > 60 else None for at in range(600)]
        columns = {f"{name}_{unit}": [point and point[name][unit] for point in past]
                   for name in MEASURES for unit in ("pps", "bps")}
        return {"run": self.run, "to": utc(time.time()), "step_s": 1, "snapshot": number, "columns": columns}

    def wait_for(self, query):
        """A long poll: until there is a newer snapshot, or as long as the call says."""
        end = time.monotonic() + min(10, float(query.get("wait", 3)))
        while self.snapshot() <= int(query.get("after", 0)) and time.monotonic() < end and self.tokens is not None:
            time.sleep(0.02)

    def answer(self, method, path, query, token):
        """-> (status, JSON)"""
        if path == "/v1/session" and method == "POST":
            return self.enter(query)
        if token not in (self.tokens or ()):
            return 401, {"type": "about:blank", "title": "no session", "detail": "ask for a link"}
        if path == "/v1/session":
            self.is_told_who.wait(10)
            return 200, self.who
        if path == "/v1/series" and "rule" not in query:
            return 200, self.series()
        if path == "/v1/live":
            self.wait_for(query)
            return self.refusal or (200, self.live(query))
        found = (screen.answer(self, method, path, query) for screen in (*self.before, *SCREENS))
        return next(filter(None, found), None) or self.other(method, path)

    def other(self, method, path):
        if method == "POST" and path in ("/v1/confirm", "/v1/rollback"):
            self.trial = None
            return 200, {}
        return 404, {"title": "not found", "detail": path}

    def enter(self, body):
        if body.get("secret") == SECRET or body.get("token") == SECRET:
            return 201, {"session": TOKEN, "user": self.who["user"], "role": self.who["role"], "expires": utc(time.time() + 43200),
                         "expires_in_s": 43200}
        return 401, {"title": "no session", "detail": "this secret is used up or none"}

    def handler(self):
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                parts = urllib.parse.urlsplit(self.path)
                asset = stand_in.assets.get(parts.path)
                if asset:
                    self.say(200, asset["type"], (stand_in.page / asset["file"]).read_bytes(), asset["immutable"])
                else:
                    self.call("GET", parts, {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                is_json = self.headers.get("Content-Type", "").startswith("application/json")
                stand_in.if_match = self.headers.get("If-Match")
                self.call(self.command, urllib.parse.urlsplit(self.path), json.loads(body or b"{}") if is_json else {"rules": body.decode()})

            do_DELETE = do_PUT = do_POST

            def call(self, method, parts, body):
                stand_in.asked.append((self.command, self.path, body))
                query = body or dict(urllib.parse.parse_qsl(parts.query))
                token = self.headers.get("X-Sluice-Session") or ""
                status, value = stand_in.answer(method, parts.path, query, token)
                self.say(status, "application/json" if status < 400 else "application/problem+json", json.dumps(value).encode(), False)

            def say(self, status, content_type, content, kept):
                if stand_in.tokens is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {**HEADERS, "Content-Type": content_type, "Content-Length": str(len(content)),
                                    "Cache-Control": "max-age=31536000, immutable" if kept else "no-store"}.items():
                    self.send_header(name, value)
                with contextlib.suppress(OSError):  # a page that has gone on waits for no answer
                    self.end_headers()
                    self.wfile.write(content)

            def handle(self):
                with contextlib.suppress(OSError):
                    super().handle()

            def log_message(self, *_):
                pass

        return Handler
