"""GET /v1/live and /v1/series, and `sluicectl live`: seconds of a box whose dataplane counts as it is told.

    live_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import gzip
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import unittest

from daemon_box import DaemonBox, UnixConnection, read_all, wait_until

PATIENCE = 60
PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
RATE = 8000  # packets a second, of which a quarter exceeds each rule
CLOSE = 5    # a packet more or less in two readings by the dataplane's own clock
PLACES, OF_USER = 32, 8
TOKEN = "7f3c0de5b1a94e02c8d6"
RULES = """version: 1
rules:
  - {id: login, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
  - {id: tried, mode: monitor, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}],
     events: [limit_start]}
  - {id: resting, mode: "off", key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]}
"""


def many_rules(count):
    return "version: 1\nrules:\n" + "".join(
        f"  - {{id: r{i:05}, mode: enforce, when: l4.dport eq {i + 1}, key: [ip.src],"
        " limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}\n" for i in range(count))


class Live(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)

    def start(self, rules=RULES, *words):
        self.dataplane = self.box.start_dataplane("--rate", RATE)
        self.sluiced = self.box.start_sluiced(*words)
        wait_until("the dataplane", self.box.connected)
        self.assertEqual(self.box.put_rules(rules).status, 200)

    def live(self, after=0, more=""):
        answer = self.box.get(f"/v1/live?after={after}&wait=10{more}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json()

    def with_rates(self, more=""):
        """The first second whose rates are known."""
        live = self.live(more=more)
        while live["rates"] is None:
            live = self.live(live["snapshot"], more)
        return live

    def metric(self, name):
        text = self.box.get("/v1/metrics").text
        return int(text.split(f"\n{name} ")[1].split("\n")[0])


class Seconds(Live):
    def test_a_second_follows_another_and_has_the_rates_of_the_time_between(self):
        self.start()
        first = self.live()
        self.assertIsNone(first["rates"], "nobody can say in the first second")
        second = self.live(first["snapshot"])
        third = self.live(second["snapshot"])
        self.assertEqual(third["run"], first["run"])
        self.assertGreater(second["snapshot"], first["snapshot"])
        self.assertGreater(third["snapshot"], second["snapshot"])
        self.assertLess(second["at"], third["at"])
        self.assertEqual((third["box"]["state"], third["box"]["why"], third["box"]["workers"]), ("judging", None, 2))
        self.assertEqual(third["box"]["generation"], self.box.generation())
        rates = third["rates"]
        for name, expected in (("offered", RATE), ("passed", RATE * 3 / 4), ("refused", RATE / 4),
                               ("would_refuse", RATE / 8), ("answered", 0)):
            self.assertAlmostEqual(rates[name]["pps"], expected, delta=CLOSE, msg=name)
            self.assertAlmostEqual(rates[name]["bps"], expected * 800, delta=CLOSE * 800, msg=name)
        outside = third["ports"][0]
        self.assertEqual((outside["name"], outside["link"]), ("uplink outside", "up"))
        self.assertAlmostEqual(outside["rx_pps"], RATE, delta=CLOSE)
        self.assertEqual(outside["dropped_pps"], 0)
        self.assertEqual(len(third["events"]), len(json.loads("[" + ",".join(
            self.ctl("events", "--json").stdout.splitlines()) + "]")))
        numbers = [event["seq"] for event in third["events"]]
        self.assertEqual(numbers, sorted(numbers, reverse=True))

    def ctl(self, *words):
        return subprocess.run([PROGRAMS[2], *words, "--socket", self.box.socket], capture_output=True, text=True,
                              timeout=PATIENCE)

    def test_refused_and_would_refuse_are_told_apart_and_what_nobody_has_is_null(self):
        self.start()
        rows = {row["id"]: row for row in self.with_rates("&view=rules")["rules"]["rows"]}
        login, tried, resting = rows["login"], rows["tried"], rows["resting"]
        self.assertAlmostEqual(login["matched_pps"], RATE, delta=CLOSE)
        self.assertAlmostEqual(login["refused_pps"], RATE / 4, delta=CLOSE)
        self.assertEqual(login["would_refuse_pps"], 0)
        self.assertEqual(tried["refused_pps"], 0)
        self.assertAlmostEqual(tried["would_refuse_pps"], RATE / 8, delta=CLOSE)
        self.assertEqual((login["live_keys"], login["limited_now"]), (12, None))  # it reports nothing of its keys
        self.assertEqual((tried["live_keys"], tried["limited_now"]), (12, 3))
        ordered = self.live(more="&view=rules&sort=limited_now&order=desc")["rules"]["rows"]
        self.assertEqual([row["id"] for row in ordered][0], "tried")
        scope = self.box.get("/v1/rules").json()["rules"][0]["limits"][0]["scope"]
        self.assertEqual(login["placement"], {"owner": "handed_over", "asked": "shared"}.get(scope, scope))
        self.assertGreater(login["table_share"], 0)
        self.assertEqual((resting["mode"], resting["matched_pps"]), ("off", None))
        self.assertEqual(len(login["spark"]), 60)
        self.assertIsNone(login["spark"][0])
        self.assertAlmostEqual(login["spark"][-1], RATE, delta=CLOSE)
        # A mode that changes makes neither of that second.
        self.assertEqual(self.box.put_mode("login", "monitor").status, 200)
        live = self.live(more="&view=rules")
        while (row := next(row for row in live["rules"]["rows"] if row["id"] == "login"))["mode"] == "enforce" or \
                row["would_refuse_pps"] is None:
            self.assertIn(row["would_refuse_pps"], (None, 0))
            live = self.live(live["snapshot"], "&view=rules")
        self.assertEqual(row["refused_pps"], 0)
        self.assertAlmostEqual(row["would_refuse_pps"], RATE / 4, delta=CLOSE)

    def test_a_dataplane_that_dies_is_told_and_one_that_comes_back_makes_no_spike(self):
        self.start()
        before = self.with_rates()
        self.dataplane.kill()
        self.dataplane.wait()
        gone = self.live(before["snapshot"], "&view=rules")
        while gone["box"]["state"] != "no_dataplane":
            gone = self.live(gone["snapshot"], "&view=rules")
            self.assertLessEqual(gone["snapshot"], before["snapshot"] + 3, "a second each")
        self.assertIn("sluice-dataplane", gone["box"]["why"])
        self.assertIsNotNone(gone["box"]["since"])
        self.assertIsNone(gone["rates"])
        self.assertEqual((gone["box"]["generation"], gone["ports"]), (None, []))
        row = gone["rules"]["rows"][0]
        self.assertEqual([row[name] for name in ("matched_pps", "matched_bps", "refused_pps", "would_refuse_pps",
                                                 "live_keys", "table_share")], [None] * 6)
        self.assertEqual(gone["problems"][0]["name"], "no_dataplane")
        self.assertTrue(gone["problems"][0]["do"])
        self.box.start_dataplane("--rate", RATE)
        seen, live = [], gone
        while not (live["rates"] and live["rules"]["rows"][0]["matched_pps"]):
            live = self.live(live["snapshot"], "&view=rules")
            seen.append(live)
        for one in seen:
            for rate in (one["rates"] or {}).values():
                self.assertTrue(rate["pps"] is None or 0 <= rate["pps"] <= RATE + CLOSE, one["rates"])
            for row in one["rules"]["rows"]:
                self.assertTrue(row["matched_pps"] is None or 0 <= row["matched_pps"] <= RATE + CLOSE, row)
        self.assertIsNone(seen[0]["rates"], "of two dataplanes nobody knows a rate")
        series = self.box.get("/v1/series").json()
        offered = series["columns"]["offered_pps"]
        self.assertEqual({len(column) for column in series["columns"].values()}, {600})
        self.assertAlmostEqual(offered[-1], RATE, delta=CLOSE)
        known = [i for i, rate in enumerate(offered) if rate is not None]
        self.assertIn(None, offered[known[0]:], "the time without a dataplane is a gap")

    def test_a_dataplane_that_hangs_is_told_too(self):
        self.start()
        before = self.with_rates()
        self.dataplane.send_signal(signal.SIGSTOP)
        self.addCleanup(self.dataplane.send_signal, signal.SIGCONT)
        live = before
        while live["box"]["state"] != "no_dataplane":
            live = self.live(live["snapshot"])
        self.assertIsNone(live["rates"])
        wait_until("it to be told from one that was never started",
                   lambda: "listens at" in (self.live()["box"]["why"] or ""))
        wait_until("seconds to be late", lambda: self.metric("sluice_live_snapshots_late_total") > 0)


class Answers(Live):
    def ask_at_once(self, count, target, headers=None):
        """As many clients at one time; each one's answer and bytes."""
        answers = [None] * count

        def ask(i):
            connection = UnixConnection(self.box.socket)
            connection.request("GET", target, headers=headers or {})
            answer = connection.getresponse()
            answers[i] = (answer, answer.read())
            connection.close()
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def test_all_have_the_same_bytes_also_compressed(self):
        self.start()
        for headers in ({}, {"Accept-Encoding": "br, gzip;q=0.8"}):
            while True:
                after = self.live()["snapshot"]
                answers = self.ask_at_once(4, f"/v1/live?after={after}&wait=10", headers)
                bodies = [gzip.decompress(body) if headers else body for _, body in answers]
                if len({json.loads(body)["snapshot"] for body in bodies}) == 1:
                    break
            self.assertEqual(len({body for _, body in answers}), 1)
            for answer, _ in answers:
                self.assertEqual(answer.headers["Content-Encoding"], "gzip" if headers else None)
                self.assertEqual(answer.headers["Vary"], "Accept-Encoding")
        self.assertLess(len(answers[0][1]), len(bodies[0]) / 3)
        plain = self.box.ask("GET", "/v1/live", headers={"Accept-Encoding": "gzip;q=0"})
        self.assertIsNone(plain.headers["Content-Encoding"])

    def test_rules_are_sorted_filtered_and_paged_by_sluiced(self):
        self.start(many_rules(300))
        self.with_rates()

        def ids(more):
            rules = self.live(more="&view=rules" + more)["rules"]
            self.assertEqual(rules["total"], 300)
            return rules["matching"], [row["id"] for row in rules["rows"]]
        self.assertEqual(ids("&most=3"), (300, ["r00000", "r00001", "r00002"]))
        self.assertEqual(ids("&sort=id&order=desc&most=2"), (300, ["r00299", "r00298"]))
        self.assertEqual(ids("&sort=id&first=10&most=2"), (300, ["r00010", "r00011"]))
        self.assertEqual(ids("&sort=id&filter=R0029&first=9&most=2"), (10, ["r00299"]))
        self.assertEqual(ids("&filter=none"), (0, []))
        self.assertEqual(ids("&id=r00007"), (1, ["r00007"]))
        self.assertEqual(ids("&id=r0000"), (0, []))
        self.assertEqual(ids("&first=9999"), (300, []))
        self.assertEqual(len(ids("&most=256")[1]), 256)
        overview = self.live()["rules"]
        self.assertEqual([row["id"] for row in overview["rows"]], [f"r0000{i}" for i in range(5)])

    def test_what_is_wrong_is_said(self):
        self.start()
        for query in ("view=none", "view=rules&sort=speed", "view=rules&order=up", "view=rules&most=257",
                      "view=rules&first=-1", "sort=id", "wait=11", "after=x", "view=rules&filter=" + "x" * 129, "rule=a",
                      "view=rules&id=" + "x" * 129, "id=a"):
            answer = self.box.get("/v1/live?" + query)
            self.assertEqual(answer.status, 400, query)
        for query in ("seconds=601", "seconds=0"):
            self.assertEqual(self.box.get("/v1/series?" + query).status, 400, query)
        self.assertEqual(self.box.get("/v1/series?rule=none").status, 404)

    def test_a_rule_has_a_series_and_gaps_are_null(self):
        self.start()
        live = self.with_rates()
        self.live(live["snapshot"])
        series = self.box.get("/v1/series?rule=login&seconds=30").json()
        self.assertEqual(series["step_s"], 1)
        self.assertEqual(set(series["columns"]), {"matched_pps", "matched_bps", "refused_pps", "would_refuse_pps"})
        self.assertEqual({len(column) for column in series["columns"].values()}, {30})
        self.assertIsNone(series["columns"]["matched_pps"][0])
        self.assertAlmostEqual(series["columns"]["refused_pps"][-1], RATE / 4, delta=CLOSE)

    def test_who_waits_is_let_go_when_sluiced_ends(self):
        self.start()
        after = self.live()["snapshot"]
        clients = [self.box.raw() for _ in range(OF_USER)]
        for client in clients:
            self.addCleanup(client.close)
            client.sendall(f"GET /v1/live?after={after}&wait=10 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        self.assertEqual(self.box.stop(self.sluiced), 0)
        for client in clients:
            read_all(client)  # answered or closed, and none is left open


class Places(Live):
    """By TCP, where each address is a user."""

    def setUp(self):
        super().setUp()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        token = self.box.folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        config = self.box.folder / "sluice.yaml"
        config.write_text(f'version: 1\napi: {{listen: "127.0.0.1:{self.port}", token_file: token}}\n')
        self.start(RULES, "--config", config)

    def ask(self, user, target):
        client = socket.socket()
        self.addCleanup(client.close)
        client.bind((f"127.0.1.{user}", 0))
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", self.port))
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        return client

    def answer(self, client):
        data = b""
        while b"\r\n\r\n" not in data:
            part = client.recv(65536)
            self.assertTrue(part, data)
            data += part
        head, body = data.split(b"\r\n\r\n", 1)
        headers = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:])
        while len(body) < int(headers["content-length"]):
            body += client.recv(65536)
        return int(head.split()[1]), headers, json.loads(body)

    def crowd(self, users, asks_too):
        """Clients that wait all at once, and one more that finds no place: their answers."""
        for _ in range(20):
            after = self.live()["snapshot"]
            target = f"/v1/live?after={after}&wait=10"
            clients = [self.ask(user, target) for user in users]
            last = self.ask(asks_too, target)
            refused = self.answer(last)
            # Nobody was answered before: they all waited while it asked.
            if refused[0] != 200 and not select.select(clients, [], [], 0)[0]:
                return [self.answer(client) for client in clients], refused
            for client in clients:
                client.close()
        raise AssertionError("a second is over before all have asked")

    def check(self, answers, refused):
        self.assertEqual([status for status, _, _ in answers], [200] * len(answers))
        status, headers, problem = refused
        self.assertEqual((status, headers["retry-after"], problem["again_in"]), (503, "5", 5))
        self.assertEqual(headers["content-type"], "application/problem+json")
        self.assertGreater(self.metric('sluice_api_connections_turned_away_total{reason="no_live_place"}'), 0)

    def test_thirty_two_clients_wait_and_the_next_is_told_when_to_come_again(self):
        users = [1 + i // OF_USER for i in range(PLACES)]
        self.check(*self.crowd(users, asks_too=99))
        # Others find their places all the while.
        self.assertEqual(self.answer(self.ask(1, "/v1/health"))[0], 200)

    def test_a_user_has_eight(self):
        self.check(*self.crowd([1] * OF_USER, asks_too=1))
        self.assertEqual(self.answer(self.ask(2, "/v1/live"))[0], 200)


class Words(unittest.TestCase):
    def test_a_problem_has_the_words_and_the_severity_of_its_alert(self):
        root = pathlib.Path(__file__).parents[2]
        acts = dict(re.findall(r"^\| `(Sluice\w+)` \|.*\| (.*) \|$",
                               (root / "control/monitoring/README.md").read_text(), re.M))
        severities = dict(re.findall(r"- alert: (\w+)\n(?:.*\n)*?\s+labels: \{severity: (\w+)\}",
                                     (root / "control/monitoring/alerts.yaml").read_text()))
        source = (root / "control/daemon/live/problem_rows.cpp").read_text()
        rows = re.findall(r'\{"(\w+)",\s*"(\w*)",\s*k(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', source)
        self.assertEqual(len(rows), len(re.findall(r"\bk(?:Warning|Critical),", source)))
        for name, alert, severity, act in rows:
            self.assertTrue(act, name)
            if alert:
                self.assertEqual("".join(re.findall(r'"([^"]*)"', act)), acts[alert], name)
                self.assertEqual(severity.lower(), severities[alert], name)


class Terminal(Live):
    def ctl(self, *words):
        return subprocess.run([PROGRAMS[2], "live", *words, "--socket", self.box.socket], capture_output=True,
                              text=True, timeout=PATIENCE)

    def test_a_second_in_the_terminal(self):
        self.start()
        done = self.ctl("--once")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(": judging\n", done.stdout)
        self.assertIn("generation " + self.box.generation(), done.stdout)
        lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line}
        self.assertAlmostEqual(int(lines["offered"][1].replace(",", "")), RATE, delta=CLOSE)
        self.assertEqual(lines["login"][1], "enforce")
        self.assertEqual(lines["resting"][2:5], ["-", "-", "-"])
        self.assertIn("do: ", done.stdout, "a stalled worker of the fake one")
        one = json.loads(self.ctl("--once", "--json", "--sort", "id", "--filter", "t").stdout)
        self.assertEqual([row["id"] for row in one["rules"]["rows"]], ["resting", "tried"])
        self.assertEqual(self.ctl("--once", "--sort", "speed").returncode, 2)

    def test_a_second_that_is_gone_is_said_to_be(self):
        self.start()
        self.with_rates()
        screen = subprocess.Popen([PROGRAMS[2], "live", "--socket", self.box.socket], stdout=subprocess.PIPE, text=True)
        self.addCleanup(screen.stdout.close)
        self.addCleanup(screen.wait)
        self.addCleanup(screen.kill)
        for line in screen.stdout:
            if line.startswith("login"):
                break
        self.sluiced.kill()
        self.sluiced.wait()
        for line in screen.stdout:
            if line.startswith("STALE: what follows is of 2"):
                break
        self.assertTrue(line.startswith("STALE"), line)
        screen.send_signal(signal.SIGINT)
        screen.stdout.read()
        self.assertEqual(screen.wait(PATIENCE), 0)
        self.assertEqual(self.ctl("--once").returncode, 3, "nothing was shown that could be old")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
