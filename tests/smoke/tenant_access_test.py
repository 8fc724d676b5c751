"""The people of a tenant at the API: what each of its verbs does for them, and that they neither see nor affect anybody else.

    tenant_access_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import unittest

from daemon_box import Answer, DaemonBox, UnixConnection, read_all, wait_until

SLUICED, FAKE_DATAPLANE, SLUICECTL = (os.path.abspath(program) for program in sys.argv[1:4])
LIMIT = "key: [ip.src], limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}], on_exceed: {action: drop}"
OPERATORS = f"version: 1\nrules:\n  - {{id: secret-a, mode: enforce, when: ip.proto eq 17, {LIMIT}}}\n"
RULES = {"acme": f"version: 1\nrules:\n  - {{id: web, mode: enforce, when: l4.dport eq 80, {LIMIT}}}\n",
         "other": f"version: 1\nrules:\n  - {{id: secret-b, mode: enforce, when: l4.dport eq 81, {LIMIT}}}\n"}
SECRET = "0123456789abcdef-of-the-proxy"
OWN = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
BAN = '{"key":"192.0.2.1","action":"ban","for":"1h"}'
# Every row of the table of routes, with a call of it (RULE: a rule's id, NAME: a tenant's), and what it does for a tenant's people:
# `own` answers for their rule or name, and what is another's is not there; `asked` wants their rule in the query; `none` is refused.
CALLS = [
    ("GET", "/v1/rules", None, "all"), ("PUT", "/v1/rules?force=1", OPERATORS, "none"), ("GET", "/v1/rules/source", None, "none"),
    ("POST", "/v1/rules/diff", OPERATORS, "none"), ("POST", "/v1/rules/check", '{"text":"id: x"}', "none"), ("GET", "/v1/rules/files", None, "none"),
    ("POST", "/v1/rules", "{}", "none"), ("PUT", "/v1/rules/RULE", "{}", "none"), ("DELETE", "/v1/rules/RULE", None, "none"),
    ("GET", "/v1/rules/RULE/full", None, "own"), ("PUT", "/v1/rules/RULE/mode", '{"mode":"monitor"}', "own"),
    ("GET", "/v1/rules/RULE/key?key=192.0.2.1", None, "own"), ("POST", "/v1/rules/RULE/key", BAN, "own"), ("GET", "/v1/rules/RULE/keys", None, "own"),
    ("GET", "/v1/rules/RULE/heatmap", None, "own"), ("GET", "/v1/rules/RULE/heatmap/cell?at=2026-01-01T00:00:00Z&by=left&bucket=0", None, "own"),
    ("POST", "/v1/rules/RULE/keys", '{"keys":[{"key":"192.0.2.3","rate":"7/s"}]}', "own"), ("POST", "/v1/rules/RULE/bans", '{"keys":["192.0.2.2"]}', "own"),
    ("POST", "/v1/rules/RULE/unbans", '{"keys":["192.0.2.2"]}', "own"), ("GET", "/v1/keys?rule=RULE", None, "asked"), ("GET", "/v1/bans?rule=RULE", None, "asked-or-all"),
    ("GET", "/v1/find?of=192.0.2.1", None, "none"), ("POST", "/v1/confirm", "", "none"), ("POST", "/v1/rollback", "", "none"),
    ("POST", "/v1/rollback/diff", "", "none"), ("GET", "/v1/history", None, "none"), ("GET", "/v1/stats", None, "none"),
    ("GET", "/v1/top?rule=RULE", None, "asked"), ("GET", "/v1/events?rule=RULE", None, "asked-or-all"), ("POST", "/v1/explain", "{}", "none"),
    ("POST", "/v1/simulate", "{}", "all"), ("POST", "/v1/traces", '{"rule":"acme:web"}', "none"), ("GET", "/v1/traces/7-1", None, "none"),
    ("DELETE", "/v1/traces/7-1", None, "none"), ("GET", "/v1/live?wait=0", None, "all"), ("GET", "/v1/fields", None, "all"), ("GET", "/v1/schema", None, "all"),
    ("GET", "/v1/series?rule=RULE", None, "asked"), ("GET", "/v1/ports", None, "none"), ("GET", "/v1/workers", None, "none"),
    ("POST", "/v1/merge", '{"interval":"2ms"}', "none"), ("POST", "/v1/panic", '{"pass":true}', "none"), ("POST", "/v1/notify/b/test", "", "none"),
    ("GET", "/v1/session", None, "all"), ("POST", "/v1/session/link", '{"role":"admin"}', "none"), ("GET", "/v1/health", None, "none"),
    ("GET", "/v1/metrics", None, "none"), ("GET", "/v1/tenants", None, "none"), ("DELETE", "/v1/tenants/NAME", None, "none"), ("GET", "/v1/cluster", None, "none"), ("GET", "/v1/tenants/NAME/rules", None, "own"),
    ("POST", "/v1/tenants/NAME/check", RULES["acme"], "own"), ("POST", "/v1/tenants/NAME/confirm", "", "own"), ("POST", "/v1/tenants/NAME/rollback", "", "own"),
    ("PUT", "/v1/tenants/NAME/rules", RULES["acme"], "own"),
]
# Texts that tell of anybody else.
OTHERS = ("secret", "other", socket.gethostname())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TenantAccess(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(SLUICED, FAKE_DATAPLANE, SLUICECTL)
        self.addCleanup(self.box.close)
        self.port = free_port()
        self.config = self.box.folder / "sluice.yaml"
        (self.box.folder / "secret").write_text(SECRET + "\n")
        (self.box.folder / "secret").chmod(0o600)
        self.dataplane = self.box.start_dataplane()
        self.start(("acme", "other"))
        self.assertEqual(self.box.put_rules(OPERATORS).status, 200)
        for name, text in RULES.items():
            answer = self.ask("PUT", f"/v1/tenants/{name}/rules", text, way="unix")
            self.assertEqual(answer.status, 200, answer.text)

    def start(self, tenants):
        rows = ", ".join(f"{{name: {name}, networks: [198.51.{100 + at}.0/24], table_share: 5%}}" for at, name in enumerate(tenants))
        proxy = "behind_proxy: [{address: 127.0.0.1, secret_file: secret, secret_header: X-Key}]"
        self.config.write_text(f'version: 1\nweb: {{listen: "127.0.0.1:{self.port}", tokens_file: tokens, {proxy}}}\n' + (f"tenants: [{rows}]\n" if rows else ""))
        self.sluiced = self.box.start_sluiced("--config", self.config)

    def ask(self, method, target, body=None, headers=None, way="web", token=None):
        connection = {"unix": lambda: UnixConnection(self.box.socket), "read": lambda: UnixConnection(self.box.read_socket),
                      "web": lambda: http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)}[way]()
        try:
            connection.request(method, target, body, {**(headers or {}), **({"X-Sluice-Session": token} if token else {})})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def ctl(self, *words, code=0):
        done = subprocess.run([SLUICECTL, "--socket", self.box.socket, *map(str, words)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def begin(self, body):
        return self.ask("POST", "/v1/session", json.dumps(body), {"Content-Type": "application/json"})

    def session(self, *words):
        answer = self.begin({"secret": json.loads(self.ctl("--json", "dashboard", *words))["secret"]})
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json()["session"]

    def proxied(self, role):
        return {**OWN, "X-Key": SECRET, "X-Sluice-User": "eve", "X-Sluice-Role": role}

    def call(self, row, rule, **options):
        method, target, body, _ = row
        target = target.replace("RULE", rule.replace(":", "%3A")).replace("NAME", rule.split(":")[0])
        return self.ask(method, target, body, **options)

    def test_every_verb_for_acme_another_and_by_every_way_in(self):
        named = self.begin({"token": self.ctl("dashboard", "token", "add", "eve", "--tenant", "acme", "--config", self.config).strip()})
        self.assertEqual((named.json()["role"], named.json()["tenant"]), ("tenant", "acme"))
        ways = [{"token": self.session("--tenant", "acme")}, {"token": named.json()["session"]}, {"headers": self.proxied("tenant:acme")}]
        before = self.ask("GET", "/v1/rules/source", way="unix").text
        # Rates are known from the first second on that has seen the rule.
        wait_until("a second with the rule", lambda: self.ask("GET", "/v1/series?rule=acme%3Aweb", way="unix").status == 200)
        for at, options in enumerate(ways):
            for row in CALLS if at == 0 else [one for one in CALLS if one[0] == "GET"]:
                told = f"{row[0]} {row[1]}"
                own, others, none, of_operators = (self.call(row, rule, **options) for rule in ("acme:web", "other:secret-b", "acme:none", "secret-a"))
                if row[3] == "none":
                    self.assertEqual((own.status, own.json()["title"]), (403, "role"), told + own.text)
                    self.assertIn("not for tenants", own.json()["detail"])
                    continue
                self.assertNotIn(own.status, (401, 403, 415), told + own.text)
                if "RULE" in row[1] or "NAME" in row[1]:
                    self.assertIn(own.status, (200, 404, 409, 503) if any(word in told for word in ("cell", "confirm", "rollback", "series")) else (200,), told + own.text)
                    self.assertEqual(others.status, 404, told + others.text)
                    if "RULE" in row[1]:
                        # What another has is refused in the words of what nobody has; events are kept of rules that were there, too.
                        was_there = row[1].startswith("/v1/events")
                        self.assertEqual((none.status, of_operators.status), (200 if was_there else 404, 404), told)
                        self.assertEqual(of_operators.text.replace("secret-a", "other:secret-b"), others.text, told) if was_there else self.assertEqual(others.text.replace("other:secret-b", "acme:none"), none.text, told)
                if row[3].startswith("asked"):
                    alone = self.ask(row[0], row[1].split("?")[0], **options)
                    self.assertEqual(alone.status, 200 if row[3] == "asked-or-all" else 403, told + alone.text)
                    own = alone if alone.status == 200 else own
                if "fields" not in told and "schema" not in told:
                    for word in OTHERS:
                        self.assertNotIn(word, own.text, told)
        self.assertEqual(self.ask("GET", "/v1/rules/source", way="unix").text, before)
        self.assertEqual(self.ask("GET", "/v1/rules/other%3Asecret-b/full", way="unix").json()["mode"], "enforce")

    def test_operators_see_all_and_other_tenants_theirs(self):
        ids = lambda **options: [rule["id"] for rule in self.ask("GET", "/v1/rules", **options).json()["rules"]]  # noqa: E731
        self.assertEqual(ids(way="read"), ["secret-a", "acme:web", "other:secret-b"])
        acme, other = (self.ask("GET", "/v1/rules", token=self.session("--tenant", name)) for name in ("acme", "other"))
        self.assertEqual([rule["id"] for rule in acme.json()["rules"]], ["acme:web"])
        self.assertEqual([rule["id"] for rule in other.json()["rules"]], ["other:secret-b"])
        self.assertIsNone(acme.json()["generation"])
        # No tag of what acme sees tells of a change of others'.
        token = self.session("--tenant", "acme")
        self.assertEqual(self.box.put_mode("secret-a", "monitor").status, 200)
        self.assertEqual(self.ask("POST", "/v1/rules/other%3Asecret-b/key", BAN, way="unix").status, 200)
        again = self.ask("GET", "/v1/rules", token=token)
        self.assertEqual((again.text, again.headers["ETag"]), (acme.text, acme.headers["ETag"]))
        self.assertEqual(self.ask("GET", "/v1/bans", token=token).json()["bans"], [])
        self.assertEqual(len(self.ask("GET", "/v1/bans", way="unix").json()["bans"]), 1)
        # A page of bans begins at none of another's.
        for after in ("operator~other:secret-b~", "operator~secret-a~01:192.0.2.1"):
            self.assertEqual(self.ask("GET", f"/v1/bans?after={after}", token=token).status, 409)

    def test_names_that_nobody_may_come_in_for(self):
        self.assertIn("no tenant ghost", self.ctl("dashboard", "--tenant", "ghost", code=1))
        self.ctl("dashboard", "--tenant", "Ghost", code=2)
        self.ctl("dashboard", "--tenant", "acme", "--role", "admin", code=2)
        for role in ("tenant:ghost", "tenant:acm"):
            answer = self.ask("GET", "/v1/rules", headers=self.proxied(role))
            self.assertEqual((answer.status, answer.json()["title"]), (403, "tenant"), role)
        for role in ("tenant", "tenant:", "tenant:ACME", "tenant:acme,admin", "tenant:acme:web", "Tenant:acme", "tenant: acme"):
            self.assertEqual(self.ask("GET", "/v1/rules", headers=self.proxied(role)).status, 400, role)
        # A browser's own headers lift nobody: neither with a session nor without one.
        token = self.session("--tenant", "acme")
        for claims in ({"X-Sluice-User": "root", "X-Sluice-Role": "admin"}, {"X-Sluice-Role": "tenant:other"}, {"X-Sluice-Tenant": "other"}):
            self.assertEqual(self.ask("GET", "/v1/session", headers=claims, token=token).json()["tenant"], "acme", claims)
            self.assertEqual(self.ask("GET", "/v1/rules", headers=claims).status, 401, claims)
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            client.sendall(("\r\n".join(["GET /v1/rules HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"X-Key: {SECRET}", "X-Sluice-User: eve",
                                         "X-Sluice-Role: tenant:acme", "x-sluice-role: admin", "Connection: close", "", ""])).encode())
            self.assertIn(b" 400 ", read_all(client)[:20])
        # The sockets of the API show the whole box to whoever opens them, and so are no way in.
        for way in ("read", "unix"):
            answer = self.ask("GET", "/v1/rules", way=way, token=token)
            self.assertEqual((answer.status, answer.json()["title"]), (403, "tenant"), way)

    def test_ids_of_others_in_paths_queries_and_bodies(self):
        token = self.session("--tenant", "acme")
        for path in ("other:secret-b", "other%3asecret-b", "%6fther%3Asecret-b", "acme%3Aweb%2F..%2Fother%3Asecret-b", "..%2Frules%2Fother:secret-b", "secret-a",
                     "acme:web/../other:secret-b", "acme:", ":web", "ACME:web", "acme:web%20", "acme%253Aweb"):
            for method, rest, body in (("GET", "full", None), ("PUT", "mode", '{"mode":"monitor"}'), ("POST", "bans", '{"keys":["192.0.2.9"]}'), ("GET", "heatmap", None)):
                answer = self.ask(method, f"/v1/rules/{path}/{rest}", body, token=token)
                self.assertIn(answer.status, (400, 404, 405), (path, rest, answer.text))
                self.assertNotIn("secret", answer.text.replace(path, "").replace("other:secret-b", "").replace("secret-a", ""))
        for query in ("rule=other:secret-b", "rule=other%3Asecret-b", "rule=secret-a", "rule=acme:web&rule=other:secret-b", "%72ule=other:secret-b"):
            for path in ("keys", "top", "series", "events", "bans"):
                answer = self.ask("GET", f"/v1/{path}?{query}", token=token)
                self.assertIn(answer.status, (400, 404), (path, query))
        for body in ('{"mode":"monitor","rule":"other:secret-b"}', '{"mode":"monitor","id":"other:secret-b"}'):
            self.assertEqual(self.ask("PUT", "/v1/rules/acme%3Aweb/mode", body, token=token).status, 400)
        self.assertEqual(self.ask("POST", "/v1/rules/acme%3Aweb/key", '{"key":"192.0.2.1","action":"ban","rule":"other:secret-b"}', token=token).status, 400)
        for target, body in (("/v1/traces", '{"when":"ip.dst eq 203.0.113.1"}'), ("/v1/traces", '{"rule":"acme:web"}'), ("/v1/explain?account=1", "{}")):
            self.assertEqual(self.ask("POST", target, body, token=token).status, 403)
        self.assertEqual(self.ask("GET", "/v1/rules/other%3Asecret-b/full", way="unix").json()["mode"], "enforce")
        self.assertEqual(self.ask("GET", "/v1/bans", way="unix").json()["bans"], [])

    def test_a_tenant_that_is_taken_out_ends_its_sessions_and_tokens(self):
        token = self.ctl("dashboard", "token", "add", "eve", "--tenant", "other", "--config", self.config).strip()
        self.assertEqual(self.begin({"token": token}).status, 201)
        self.box.stop(self.sluiced)
        self.start(("acme",))
        said = self.ctl("dashboard", "token", "add", "eve2", "--tenant", "other", "--config", self.config, code=1)
        self.assertIn("has no tenant other under `tenants:`", said)
        refused = self.begin({"token": token})
        self.assertEqual(refused.status, 401)
        self.assertIn("other", refused.json()["detail"])
        self.assertEqual(self.ask("GET", "/v1/rules", headers=self.proxied("tenant:other")).status, 403)

    def look(self, token, over):
        """A page that waits for one second after another."""
        after = 0
        while not over.is_set():
            answer = self.ask("GET", f"/v1/live?after={after}&wait=3", token=token)
            after = answer.json()["snapshot"] if answer.status == 200 else after

    def test_a_tenant_takes_nobodys_places(self):
        token, other = self.session("--tenant", "acme"), self.session("--tenant", "other")
        view = self.session("--role", "view")
        over = threading.Event()
        self.addCleanup(over.set)
        pages = [threading.Thread(target=self.look, args=(token, over)) for _ in range(8)]
        for page in pages:
            page.start()
        wait_until("the ninth to be refused", lambda: self.ask("GET", "/v1/live?wait=0", token=token).status == 503)
        for mine in (other, view):
            self.assertEqual(self.ask("GET", "/v1/live?wait=0", token=mine).status, 200)
        over.set()
        for page in pages:
            page.join()
        # So it is with changes: a pace for each, and none for operators.
        bans = [self.ask("POST", "/v1/rules/acme%3Anone/key", BAN, token=token).status for _ in range(3)]
        self.assertEqual(bans, [404] * 3)
        told = [self.ask("PUT", "/v1/rules/acme%3Aweb/mode", '{"mode":"wrong"}', token=token).status for _ in range(40)]
        self.assertEqual((told[0], told[-1]), (422, 429))
        self.assertEqual(self.ask("PUT", "/v1/rules/other%3Asecret-b/mode", '{"mode":"wrong"}', token=other).status, 422)
        self.assertEqual(self.box.put_mode("secret-a", "monitor").status, 200)

    def test_what_they_may_change_is_told_by_name(self):
        token = self.session("--tenant", "acme")
        verbs = self.ask("GET", "/v1/session", token=token).json()["verbs"]
        self.assertEqual({verb for verb, may in verbs.items() if may}, {"apply", "ban", "key", "monitor", "confirm", "rollback", "check"})
        self.assertEqual(self.ask("POST", "/v1/rules/acme%3Aweb/key", BAN, token=token).status, 200)
        line = self.box.audit()[-1]
        self.assertEqual((line["via"], line["tenant"], line["outcome"]), ("web", "acme", "done"))
        self.assertEqual([ban["rule"] for ban in self.ask("GET", "/v1/bans", token=token).json()["bans"]], ["acme:web"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
