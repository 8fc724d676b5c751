"""What operators set for single keys of a cluster, with two boxes under a real etcd: bans, numbers and resets reach both.

    fleet_settings_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import http.client
import json
import pathlib
import socket
import sys
import time
import unittest

import jsonschema

from daemon_box import Answer, wait_until
from etcd_server import EtcdServer
from fleet_test import Box, rules
from webhook_server import Webhook

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[2] / "control/schema/notice.schema.json").read_text())
SECRET = b"0123456789abcdef-of-a-test"


class Boxes(unittest.TestCase):
    def setUp(self):
        self.etcd = EtcdServer()
        self.addCleanup(self.etcd.close)
        self.etcd.start()
        self.a, self.b = (self.box(node) for node in "ab")
        for box in (self.a, self.b):
            box.start()
        for box in (self.a, self.b):
            wait_until(f"the slot of {box.node}", lambda: box.cluster()["state"] == "member")
            self.assertEqual(box.put_rules(rules("one")).status, 200)

    def box(self, node):
        box = Box(node, self.etcd.port)
        self.addCleanup(box.close)
        return box

    def set_on(self, box):
        return {row["key"]: row["set"] for row in box.get("/v1/rules/one/keys").json()["keys"]}

    def expect_set(self, box, **keys):
        wanted = {key.replace("ip", "192.0.2."): what for key, what in keys.items()}
        wait_until(f"{wanted} on {box.node}", lambda: self.set_on(box) == wanted)

    def calls(self, box, words):
        return [line for line in box.audit() if words in line["call"]]


class Keys(Boxes):
    def test_bans_and_numbers_reach_all_boxes_and_are_kept(self):
        said = self.a.ctl("key", "ban", "one", "192.0.2.1", "--reason", "abuse", "--for", "1h", "--cluster")
        self.assertIn("on all boxes of the cluster lab: change 1", said)
        begin = time.monotonic()
        self.expect_set(self.b, ip1="banned")
        print(f"a ban with --cluster reached another box in {time.monotonic() - begin:.2f} s", file=sys.stderr)
        self.assertEqual(self.set_on(self.a), {"192.0.2.1": "banned"})
        self.b.ctl("key", "set", "one", "192.0.2.2", "--rate", "50/s", "--cluster")
        self.expect_set(self.a, ip1="banned", ip2="1: rate 50/s")
        self.assertIn("on this box alone", self.b.ctl("key", "ban", "one", "192.0.2.3"))
        self.assertEqual(len(self.calls(self.a, "key ban one 192.0.2.1 --cluster")), 1)
        row = self.calls(self.b, "key ban one 192.0.2.1 --cluster")[0]
        self.assertEqual((row["outcome"], row["name"].endswith(" at a")), ("done", True), row)

        self.b.stop(self.b.daemon)  # it misses an unban, and another box comes
        self.a.ctl("key", "unban", "one", "192.0.2.1", "--cluster")
        late = self.box("c")
        late.start()
        late.put_rules(rules("one"))
        self.expect_set(late, ip2="1: rate 50/s")
        self.b.daemon = self.b.start_sluiced("--config", self.b.config)
        self.expect_set(self.b, ip2="1: rate 50/s", ip3="banned")
        wait_until("all at change 3", lambda: {node["settings"] for node in json.loads(
            self.a.of_cluster("nodes", "--json"))["nodes"]} == {3})

        self.etcd.kill()
        wait_until("its loss", lambda: self.a.cluster()["state"] == "away")
        self.assertIn("etcd does not answer", self.a.ctl("key", "ban", "one", "192.0.2.9", "--cluster", exit=3))
        self.assertEqual(self.set_on(self.a), {"192.0.2.2": "1: rate 50/s"}, "the ban is undone")

    def test_many_keys_and_acts_go_to_all_boxes_once(self):
        keys = self.a.folder / "keys"
        keys.write_text("".join(f"192.0.2.{i}\n" for i in range(1, 151)))
        self.a.ctl("key", "ban", "one", "--file", keys, "--cluster")
        wait_until("150 bans", lambda: len(self.b.get("/v1/bans?rule=one&most=1000").json()["bans"]) == 150)
        self.a.ctl("key", "unban", "one", "--file", keys, "--cluster")
        for call in ("key ban one: 150 keys", "key unban one: 150 keys"):
            self.assertTrue(self.calls(self.a, call)[0]["call"].endswith(" --cluster"), call)
        self.expect_set(self.b)
        self.assertIn("reset", self.a.ctl("key", "reset", "one", "192.0.2.7", "--cluster"))
        for box in (self.a, self.b):
            wait_until("the reset", lambda: self.calls(box, "key reset one 192.0.2.7 --cluster"))
        self.a.ctl("key", "ban", "one", "192.0.2.8", "--cluster")
        self.expect_set(self.b, ip8="banned")
        self.assertEqual(len(self.calls(self.b, "key reset one 192.0.2.7 --cluster")), 1)
        self.assertIn("the cluster has no ban", self.a.ctl("key", "unban", "one", "192.0.2.99", "--cluster", exit=1))
        self.assertEqual(self.a.ask("POST", "/v1/rules/one/key", json.dumps(
            {"key": "192.0.2.1", "action": "ban", "cluster": "yes"})).status, 400)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Roles(Boxes):
    def setUp(self):
        self.port = free_port()
        super().setUp()
        for box in (self.a, self.b):
            for name in ("acme", "other"):
                answer = box.ask("PUT", f"/v1/tenants/{name}/rules", rules("web", f"l4.dport eq {80 + len(name)}"))
                self.assertEqual(answer.status, 200, answer.text)

    def box(self, node):
        box = super().box(node)
        port = self.port if node == "a" else free_port()
        rows = ", ".join(f"{{name: {name}, networks: [198.51.{100 + at}.0/24], table_share: 5%}}"
                         for at, name in enumerate(("acme", "other")))
        box.config.write_text(box.config.read_text() +
                              f'web: {{listen: "127.0.0.1:{port}", tokens_file: tokens}}\ntenants: [{rows}]\n')
        return box

    def session(self, *words):
        secret = json.loads(self.a.ctl("--json", "dashboard", *words))["secret"]
        answer = self.by_web("POST", "/v1/session", {"secret": secret})
        self.assertEqual(answer.status, 201, answer.text)
        return answer.json()["session"]

    def by_web(self, method, target, body, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, json.dumps(body), {
                "Content-Type": "application/json", **({"X-Sluice-Session": token} if token else {})})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def ban(self, rule, key, token):
        return self.by_web("POST", f"/v1/rules/{rule.replace(':', '%3A')}/key",
                           {"key": key, "action": "ban", "cluster": True}, token)

    def test_operators_may_and_viewers_may_not_and_tenants_may_for_their_own(self):
        self.assertEqual(self.ban("one", "192.0.2.1", self.session("--role", "view")).status, 403)
        done = self.ban("one", "192.0.2.1", self.session("--role", "operate"))
        self.assertEqual((done.status, done.json()["cluster"]), (200, {"name": "lab", "number": 1}), done.text)
        tenant = self.session("--tenant", "acme")
        for rule in ("one", "other:web"):
            self.assertEqual(self.ban(rule, "192.0.2.2", tenant).status, 404, rule)
        done = self.ban("acme:web", "192.0.2.2", tenant)
        self.assertEqual((done.status, done.json()["cluster"]), (200, {"name": "lab", "number": None}), done.text)
        self.expect_set(self.b, ip1="banned")
        wait_until("the tenant's ban", lambda: [row["key"] for row in self.b.get(
            "/v1/rules/acme%3Aweb/keys").json()["keys"]] == ["192.0.2.2"])


class News(Boxes):
    def setUp(self):
        self.webhook = Webhook(SECRET)
        self.addCleanup(self.webhook.close)
        super().setUp()

    def box(self, node):
        box = super().box(node)
        (box.folder / "hook.secret").write_bytes(SECRET + b"\n")
        (box.folder / "hook.secret").chmod(0o600)
        box.config.write_text(box.config.read_text() +
                              f'notify: {{ops: {{url: "{self.webhook.url}", secret_file: hook.secret}}}}\n')
        return box

    def told(self):
        return [event["event"] for notice in list(self.webhook.taken) for event in notice["examples"]]

    def test_what_becomes_of_the_cluster_is_told_to_webhooks(self):
        asks = rules("one").replace("id: one,", "id: one, notify: {to: ops, on: [state]},")
        self.assertEqual(self.a.put_rules(asks).status, 200)
        self.etcd.kill()
        wait_until("the loss to be told", lambda: "etcd_down" in self.told())
        for notice in self.webhook.taken:
            jsonschema.validate(notice, SCHEMA)
            self.assertEqual(notice["event"], "cluster")
        self.assertEqual(self.webhook.wrong, [])


class Alone(unittest.TestCase):
    def test_a_box_without_etcd_says_so(self):
        box = Box("a", 1)
        self.addCleanup(box.close)
        box.start_dataplane()
        box.start_sluiced()
        box.put_rules(rules("one"))
        self.assertIn("no cluster that has an etcd", box.ctl("key", "ban", "one", "192.0.2.1", "--cluster", exit=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
