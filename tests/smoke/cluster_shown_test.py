"""How a box's cluster is shown: events, metrics and GET /v1/cluster/nodes, by the real programs, a real etcd, and somebody who
plays sluice-store.

    cluster_shown_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import socket
import struct

import box_case
from etcd_server import EtcdServer
from programs import wait_until

FENCED, READY = 2, 3  # as StoreLinkState has them
REPORT = 1

RULES = """version: 1
rules:
  - {id: %s, key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 20}]}
"""
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[31m"
SHOWN = "<img src=x onerror=alert(1)>????[31m"  # by its bytes, of which none but ASCII is let through


def report(state, why=""):
    words = why.encode()
    payload = (bytes([REPORT, state]) + struct.pack("<I", len(words)) + words + struct.pack("<HHQqQ", 1, 64, 250, -3, 0))
    return struct.pack("<I", len(payload)) + payload


class Shown(box_case.BoxCase):
    def setUp(self):
        super().setUp()
        self.secret = self.box.folder / "secret"
        self.secret.write_text("00112233445566778899aabbccddeeff\n")
        self.secret.chmod(0o600)

    def start_both(self, **engine):
        """The box in a cluster by this engine."""
        self.box.start_dataplane(*box_case.QUIET, {"cluster": {"name": "test", "node": "a", "size": 3, "secret_file": self.secret, **engine}})
        self.box.start_sluiced("--config", self.box.box_file)

    def connect(self):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(link.close)
        link.settimeout(20)
        link.connect(str(self.box.folder / "store.sock"))
        return link

    def events(self, *words):
        done = self.box.ctl("events", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def kinds(self):
        return [event["event"] for event in self.events()]

    def wait_for(self, kind):
        wait_until(kind, lambda: kind in self.kinds())
        return next(event for event in self.events() if event["event"] == kind)

    def metrics(self):
        text = self.box.api("GET", "/v1/metrics")[1]
        return text.decode() if isinstance(text, bytes) else text

    def nodes(self):
        status, body, *_ = self.box.api("GET", "/v1/cluster/nodes")
        self.assertEqual(status, 200, body)
        return json.loads(body)


class TheStore(Shown):
    def test_each_state_of_the_link_is_an_event_and_a_metric(self):
        self.start_both(store={"addresses": ["192.0.2.1:6379"]})
        self.assertTrue(self.wait_for("store_down")["why"])
        link = self.connect()
        link.sendall(report(READY))
        self.wait_for("store_up")
        link.sendall(report(FENCED, HOSTILE))
        self.assertEqual(self.wait_for("store_fenced")["why"], SHOWN)
        times = [event["time"] for event in self.events()]
        self.assertEqual(times, sorted(times))
        # Whoever comes back is told of nothing twice, and by the API kinds are apart.
        ask = lambda words: json.loads(self.box.api("GET", "/v1/events?" + words)[1])  # noqa: E731
        self.assertEqual(ask("from=" + ask("")["next"])["events"], [])
        self.assertEqual([event["event"] for event in ask("kind=store_up")["events"]], ["store_up"])
        self.assertIn('sluice_cluster_events_total{kind="store_fenced"} 1\n', self.metrics())
        self.assertIn('sluice_store_link{state="fenced"} 1\n', self.metrics())
        self.assertIn("sluice_cluster_size 3\n", self.metrics())
        shown = self.nodes()
        self.assertEqual((shown["name"], shown["node"], shown["fleet"], shown["store"]["state"]), ("test", "a", None, "fenced"))


class TheFleet(Shown):
    def setUp(self):
        super().setUp()
        self.etcd = EtcdServer()
        self.addCleanup(self.etcd.close)
        self.etcd.start()

    def bring(self, rules, *words):
        file = self.box.folder / "rules.yaml"
        file.write_text(RULES % rules)
        done = self.box.ctl("apply", file, *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_members_rollouts_drift_and_an_etcd_that_goes(self):
        self.start_both(etcd={"addresses": [f"127.0.0.1:{self.etcd.port}"]})
        self.assertEqual(self.wait_for("box_joined")["why"], "slot 0")
        wait_until("etcd to be read", lambda: self.nodes()["fleet"]["nodes"] != [])
        self.etcd.put("/sluice/test/nodes/2", json.dumps({**json.loads(self.etcd.get("/sluice/test/nodes/0")),
                                                          "node": "b", "slot": 2, "incarnation": "x", "error": HOSTILE}))
        self.assertEqual(self.wait_for("member_joined")["node"], "b")
        shown = self.nodes()["fleet"]
        self.assertEqual([(node["slot"], node["node"], node["runs"]) for node in shown["nodes"]], [(0, "a", "none"), (2, "b", "none")])
        self.assertEqual(shown["nodes"][1]["problem"], HOSTILE.replace("\u202e", "\\u202e").replace("\x1b", "\\u001b"))
        self.assertIn("sluice_cluster_members 2\n", self.metrics())
        self.etcd.ask("/kv/deleterange", {"key": "L3NsdWljZS90ZXN0L25vZGVzLzI="})
        self.assertEqual(self.wait_for("member_left")["node"], "b")
        self.bring("one", "--cluster", "--config", self.box.box_file)
        self.assertEqual(self.wait_for("rollout_promoted")["generation"], 1)
        self.bring("two", "--detach")
        self.wait_for("drift")
        wait_until("the box to be shown as detached", lambda: self.nodes()["fleet"]["nodes"][0]["runs"] == "detached")
        self.assertIn("sluice_cluster_members_differing 1\n", self.metrics())
        self.etcd.kill()
        self.assertTrue(self.wait_for("etcd_down")["why"])
        wait_until("the metric", lambda: "sluice_cluster_etcd_up 0\n" in self.metrics())
        shown = self.nodes()["fleet"]
        self.assertTrue(shown["problem"])
        self.assertEqual(len(shown["nodes"]), 1)


if __name__ == "__main__":
    box_case.main()
