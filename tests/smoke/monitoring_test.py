"""Alerts and dashboard: promtool takes them, and they name nothing that sluiced does not export.

    monitoring_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

from daemon_box import DaemonBox, wait_until
from etcd_server import EtcdServer

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "control/monitoring"
RULES = """version: 1
data:
  lists: {bad: {type: cidr, file: BAD}}
rules:
  - id: a
    mode: monitor
    when: ip.src in $bad
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]
"""
OF_PROMETHEUS = {"instance", "job"}  # it gives every series these


def promtool(*words):
    done = subprocess.run(["promtool", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout


def alerts():
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def panels():
    return [panel for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"] if panel["type"] != "row"]


def dashboard_queries():
    """As Grafana would send them."""
    return [(f"{panel['title']} {target['refId']}",
             target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*"))
            for panel in panels() for target in panel["targets"]]


def selectors(query):
    """(metric, [(label, operator, value)]) of each that a query names."""
    for name, matchers in re.findall(r"\b(sluice\w*)(?:\{([^}]*)\})?", query):
        yield name, re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', matchers)


def grouped_by(query):
    for names in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", query):
        yield from (name.strip() for name in names.split(","))


class Exported:
    """What a text of sluiced's metrics has: families, and their labels with values."""

    def __init__(self, text):
        self.labels = {name: {} for name in re.findall(r"^# TYPE (\S+) ", text, re.M)}
        for name, labels in re.findall(r"^(sluice\w+)(?:\{(.*)\})? \S+$", text, re.M):
            for label, value in re.findall(r'(\w+)="((?:\\.|[^"\\])*)"', labels):
                self.labels[name].setdefault(label, set()).add(value)
        # Counts of a rule appear with their first event, and a dataplane without packets has few.
        for name in self.labels:
            if name.startswith(("sluice_rule_", "sluice_limit_")):
                self.labels[name].setdefault("rule", set())
            if name.startswith("sluice_limit_"):
                self.labels[name].setdefault("limit", set())

    def missing(self, query):
        """What a query names that is not exported."""
        known = set(OF_PROMETHEUS)
        for name, matchers in selectors(query):
            if name not in self.labels:
                yield name
                continue
            known |= set(self.labels[name])
            for label, operator, value in matchers:
                yield from self.missing_values(name, label, value if operator in ("=", "=~") else "")
        yield from (f"by ({label})" for label in grouped_by(query) if label not in known)

    def missing_values(self, name, label, pattern):
        if label in OF_PROMETHEUS:
            return
        if label not in self.labels[name]:
            yield f"{name}{{{label}}}"
        elif self.labels[name][label]:
            yield from (f"{name}{{{label}={value}}}" for value in pattern.split("|")
                        if value and value not in self.labels[name][label])


def box_file(folder, etcd):
    """A sluice.yaml with a webhook that no rule names, of a box in a cluster."""
    secret, file = folder / "hook.secret", folder / "notify.yaml"
    secret.write_text("0123456789abcdef\n")
    secret.chmod(0o600)
    file.write_text('version: 1\nnotify:\n  ops: {url: "http://127.0.0.1:9/", secret_file: hook.secret}\n'
                    "cluster:\n  {name: lab, node: a, size: 3, secret_file: hook.secret, store: {addresses: ['127.0.0.1:9']},\n"
                    f"   etcd: {{addresses: ['127.0.0.1:{etcd.port}']}}}}\n")
    return file


def exported():
    """By the real sluiced, with a dataplane that has some of everything."""
    box, etcd = DaemonBox(*PROGRAMS), EtcdServer()
    try:
        etcd.start()
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as bad:
            bad.write("192.0.2.0/24\n")
            bad.flush()
            box.start_dataplane("--cluster")
            box.start_sluiced("--config", box_file(box.folder, etcd))
            wait_until("the connection", box.connected)
            wait_until("etcd to be read", lambda: "sluice_cluster_members 1\n" in box.get("/v1/metrics").text)
            applied = box.put_rules(RULES.replace("BAD", bad.name))
            if applied.status != 200:
                raise AssertionError(applied.text)
            return Exported(box.get("/v1/metrics").text)
    finally:
        box.close()
        etcd.close()


class Files(unittest.TestCase):
    def test_promtool_takes_the_alerts(self):
        self.assertEqual(promtool("check", "rules", str(FOLDER / "alerts.yaml"))[0], 0)

    def test_each_alert_fires_and_stays_silent_as_its_tests_say(self):
        code, said = promtool("test", "rules", str(FOLDER / "alerts_test.yaml"))
        self.assertEqual(code, 0, said)
        tests = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text())["tests"]
        shown = {(one["alertname"], bool(one["exp_alerts"])) for test in tests for one in test["alert_rule_test"]}
        self.assertEqual(shown, {(name, fires) for name in alerts() for fires in (False, True)})

    def test_the_notes_say_of_each_alert_what_to_do(self):
        rows = re.findall(r"^\| `(\w+)` \| .+ \| .+ \|$", (FOLDER / "README.md").read_text(), re.M)
        self.assertEqual(rows, list(alerts()))

    def test_every_panel_has_queries_that_promtool_can_parse(self):
        for panel in panels():
            self.assertTrue(panel["targets"] and all(target["expr"] for target in panel["targets"]), panel["title"])
        rules = [{"record": f"panel:{i}", "expr": query} for i, (_, query) in enumerate(dashboard_queries())]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
            file.flush()
            code, said = promtool("check", "rules", file.name)
        self.assertEqual(code, 0, said)

    def test_panels_have_numbers_of_their_own_and_do_not_overlap(self):
        everything = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
        self.assertEqual(len({panel["id"] for panel in everything}), len(everything))
        taken = [(x, y) for panel in everything for at in [panel["gridPos"]]
                 for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
        self.assertEqual(len(set(taken)), len(taken))


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exported = exported()

    def test_alerts_name_what_is_exported(self):
        for name, rule in alerts().items():
            self.assertEqual(list(self.exported.missing(rule["expr"])), [], name)
            texts = " ".join(rule["annotations"].values())
            used = set(re.findall(r"\$labels\.(\w+)", texts))
            known = {label for metric, _ in selectors(rule["expr"]) for label in self.exported.labels[metric]}
            self.assertLessEqual(used, known, name)

    def test_the_dashboard_names_what_is_exported(self):
        for name, query in dashboard_queries():
            self.assertTrue(list(selectors(query)), name)
            self.assertEqual(list(self.exported.missing(query)), [], name)

    def test_what_is_not_exported_would_be_found(self):
        for query, missing in {
                "sluice_nothing_total > 0": ["sluice_nothing_total"],
                'sluice_packets_total{verdict="bounce"}': ["sluice_packets_total{verdict=bounce}"],
                'sluice_packets_total{verdict=~"pass|bounce"}': ["sluice_packets_total{verdict=bounce}"],
                'sluice_packets_total{colour!="red"}': ["sluice_packets_total{colour}"],
                "sum by (colour) (sluice_packets_total)": ["by (colour)"],
        }.items():
            self.assertEqual(list(self.exported.missing(query)), missing)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
