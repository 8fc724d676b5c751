"""`dynamic`: a service sets numbers of single keys over HTTP, with the real programs under traffic.

    dynamic_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import subprocess

from box_case import BoxCase, main
from box_file import merged
from capture_files import pcap, udp
from programs import wait_until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "control", "examples", "dynamic.yaml")
SET, OTHER = "192.0.2.1", "192.0.2.2"
# Each address passes ten packets and no more within the life of this test.
RULES = """version: 1
rules:
  - id: clients
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/d, burst: 10}]
    dynamic: {source: api, ttl: 1m, floor: 1/d, ceiling: 1K/s}
"""


class Dynamic(BoxCase):
    def setUp(self):
        super().setUp()
        capture = self.box.folder / "in.pcap"
        capture.write_bytes(pcap([(at, udp(src=source)) for at, source in enumerate((SET, OTHER))]))
        self.box.start_dataplane(*[f"net_pcap{port},rx_pcap={capture},infinite_rx=1" for port in (0, 1)],
                                 merged({"memory": {"mbufs": 32768}}, {}))
        self.box.start_sluiced()

    def call(self, path, body=None):
        """-> (status, document), asked by curl."""
        words = [] if body is None else ["-H", "content-type: application/json", "-d", json.dumps(body)]
        done = subprocess.run(["curl", "-sS", "-m", "30", "--unix-socket", self.box.api_socket, *words,
                               "-w", "\n%{http_code}", f"http://sluiced/v1/rules/clients/{path}"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        document, status = done.stdout.rsplit("\n", 1)
        return int(status), json.loads(document)

    def set_keys(self, *items):
        return self.call("keys", {"keys": list(items)})

    def counted(self):
        return self.box.stats()["rules"][0]

    def stands_still(self):
        """Whether nothing passes while a thousand packets more are refused."""
        before = self.counted()
        wait_until("more to be refused", lambda: self.counted()["exceeded"] > before["exceeded"] + 1000)
        return self.counted()["admitted"] == before["admitted"]

    def most_worker(self, key):
        """The key at the worker that has it, once that has answered: one without a processor is left out of a reply."""
        return wait_until("the worker to answer", lambda: self.call(f"key?key={key}")[1]["limits"][0]["workers"])[0]

    def test_a_number_counts_at_once_and_ends_by_itself(self):
        self.assertEqual(self.box.apply(RULES).returncode, 0)
        wait_until("both keys to have spent their own", self.stands_still)
        status, told = self.set_keys({"key": SET, "rate": "1K/s", "for": "5s", "reason": "load test"})
        self.assertEqual((status, told["set"]), (200, 1), told)
        worker = self.most_worker(SET)
        self.assertTrue(worker["overridden"], "it counts when the call has returned")
        self.assertFalse(self.most_worker(OTHER)["overridden"])
        before = self.counted()["admitted"]
        wait_until("hundreds to have passed", lambda: self.counted()["admitted"] > before + 200)
        listed = self.call("keys")[1]
        self.assertEqual([(one["key"], one["set"], one["reason"]) for one in listed["keys"]],
                         [(SET, "1: rate 1K/s", "load test")])
        self.assertEqual(listed["dynamic"], "rate 1/d to 1K/s, for at most 1m")
        wait_until("its end", lambda: not self.call("keys")[1]["keys"])
        wait_until("the rule's own numbers", lambda: not self.most_worker(SET)["overridden"])
        wait_until("them to be spent", self.stands_still)
        wait_until("none to be counted", lambda: self.counted()["dynamic"] == {"keys": 0, "refused": 0})

    def test_what_is_outside_is_refused_whole(self):
        self.assertEqual(self.box.apply(RULES).returncode, 0)
        for items, says in (
                ([{"key": SET, "rate": "5/s"}, {"key": OTHER, "rate": "2K/s"}],
                 f"the key {OTHER}: the rate 2K/s is outside of the rule's `dynamic`: floor 1/d, ceiling 1K/s"),
                ([{"key": SET, "burst": "5"}], "no bounds for a burst"),
                ([{"key": SET, "rate": "5/s", "for": "61s"}], "item 1: `for` is at most the ttl"),
                ([{"key": SET, "exempt": True}], "none can be exempt"),
                ([{"key": SET, "rate": "5/s"}, {"key": "x", "rate": "5/s"}], "item 2: "),
                ([{"key": SET, "rate": "5/s"}, {"key": SET, "rate": "6/s"}], "is there twice")):
            status, problem = self.set_keys(*items)
            self.assertEqual(status, 422, problem)
            self.assertIn(says, problem["detail"])
        self.assertEqual(self.set_keys(*[{"key": SET, "rate": "5/s"}] * 257)[0], 400)
        self.assertEqual(self.call("keys")[1]["keys"], [])
        self.assertEqual(self.counted()["dynamic"], {"keys": 0, "refused": 6})
        done = self.box.ctl("key", "set", "clients", SET, "--rate", "2K/s")
        self.assertEqual(done.returncode, 1)
        self.assertIn("floor 1/d, ceiling 1K/s", done.stderr)
        self.assertIn('sluice_rule_dynamic_refused_total{rule="clients"} 7', self.metrics())

    def metrics(self):
        done = subprocess.run(["curl", "-sS", "-m", "30", "--unix-socket", self.box.api_socket,
                               "http://sluiced/v1/metrics"],
                              capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    def test_many_are_set_at_once_and_listed_by_pages(self):
        self.assertEqual(self.box.apply(RULES).returncode, 0)
        keys = sorted(f"10.0.0.{number}" for number in range(250))
        self.assertEqual(self.set_keys(*[{"key": key, "rate": "7/s"} for key in keys])[0], 200)
        listed, after = [], "0:"
        while after is not None:
            page = self.call(f"keys?most=100&after={after}")[1]
            self.assertLessEqual(len(page["keys"]), 100)
            listed += [one["key"] for one in page["keys"]]
            after = page["next"]
        self.assertEqual(listed, keys)
        document = json.loads(self.box.ctl("key", "list", "clients", "--json").stdout)
        self.assertEqual([one["key"] for one in document["keys"]], keys)
        self.assertIn("dynamic: rate 1/d to 1K/s", self.box.ctl("key", "list", "clients").stdout)
        self.assertIn("clients, set through the API: rate 1/d to 1K/s", self.box.ctl("rules").stdout)
        self.assertIn('sluice_rule_dynamic_keys{rule="clients"} 250', self.metrics())
        audit = [json.loads(line) for line in self.box.log("policy/audit.log").splitlines()]
        self.assertEqual(len([1 for line in audit if line["call"].startswith("key set clients 10.0.0.")]), 250)

    def test_the_example(self):
        with open(EXAMPLE, encoding="utf-8") as file:
            self.assertEqual(self.box.apply(file.read()).returncode, 0)
        self.assertEqual(self.set_keys({"key": SET, "rate": "200/s"}, {"key": OTHER, "rate": "50/s"})[0], 200)
        self.assertEqual(len(self.call("keys")[1]["keys"]), 2)


if __name__ == "__main__":
    main()
