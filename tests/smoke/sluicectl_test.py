"""sluicectl: exit codes, JSON purity, and what it says to sluiced and to the dataplane."""
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import time

from capture_files import Case, main
from stand_ins import Dataplane, Sluiced, problem

RULES = """version: 1
rules:
  - {id: a, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
"""
# Accepted at once; nothing in a run of one letter tells their scanner to give up.
COSTLY = "version: 1\nrules:\n" + "".join(
    f"  - {{id: r{number}, on_match: drop, when: 'payload matches "
    f"\"[a-f][^x]{{{100 + number}}}[a-f][^y]{{100}}[b-e][^z]{{100}}[X-Z]\"'}}\n"
    for number in range(5))
STATS = {"generation": "00000000000000ab", "uptime_s": 5, "panic": False, "packets": 3,
         "verdicts": {"pass": 2, "drop": 1}, "reasons": {"within_limits": 2, "over_limit": 1},
         "table_full": 0, "connections": {"half_heads": 0}, "connection_events": {"opened": 0},
         "asks": {"reservations": 0}, "ask_events": {"asked": 0}, "services": [],
         "rules": [{"id": "a", "mode": "enforce", "matched": 3, "admitted": 2, "exceeded": 1,
                    "skipped": 0}]}
RUNNING = {"generation": "00000000000000ab", "file": "/etc/rules.yaml", "rules": [
    {"id": "a", "kind": "rule", "description": "", "mode": "monitor", "file_mode": "enforce",
     "ends": "2026-11-21T10:00:00Z", "ended": False, "line": 3,
     "when": "ip.proto eq 17\n  and dir eq \"in\"", "key": "ip.src", "action": "drop",
     "limits": [{"name": "1", "key": "ip.src", "text": "token_bucket 1/s burst 2", "scope": "local",
                 "bound": "2 packets + 1/s * W"}], "memory": 100}]}
PORT = {"pair": "uplink", "side": "outside", "device": "net_tap0", "driver": "net_tap",
        "link_up": True, "held_down": False, "mtu": 1500, "rx_queues": 1, "tx_queues": 1, "hashes": "source", "handed_over": False,
        "rss": False, "rx_packets": 1234567, "rx_bytes": 1, "tx_packets": 2, "tx_bytes": 3,
        "rx_missed": 4, "rx_no_mbuf": 5, "rx_errors": 6, "tx_errors": 7, "tx_full": 8, "kernel": {
            "mode": "native", "program": 44, "fail": "closed", "heartbeat_ns": 100_000_000, "beat_age_ns": 250_400_000,
            "takes_over": True, "bridged_packets": 7, "bridged_bytes": 448, "dropped_packets": 7654321, "dropped_bytes": 9,
            "early_capacity": 64000, "early_networks": 1234, "early_left_out": 2, "managed_packets": 30, "managed_refused": 41}}
WORKER = {"lcore": 1, "bursts": 9, "stalled_ms": 0, "stalls": 0, "packets": 3,
          "verdicts": {"pass": 2, "drop": 1}, "reasons": {"over_limit": 1}, "table_full": 0,
          "table_slots": 1048576, "handed_over": 0, "lanes": ["uplink in q0"], "cycles": {
              "of_turns": 256, "turns": 7, "packets": 1000, "per_second": 2_500_000_000, "stages": {
                  "receive": 20_000, "parse": 12_340, "match": 9_000, "key": 10_000, "locate": 11_000, "meter": 99_960,
                  "send": 4_000_000, "other": 0, "idle": 4_162_300}}}
ANSWERS = {
    ("GET", "/v1/rules"): (200, RUNNING),
    ("PUT", "/v1/rules"): (200, {"generation": "00000000000000ab", "rules": 1, "warnings": []}),
    ("PUT", "/v1/rules/a/mode"): (200, {"id": "a", "mode": "off", "generation": "0a"}),
    ("GET", "/v1/stats"): (200, STATS),
    ("GET", "/v1/ports"): (200, {"ports": [PORT]}),
    ("GET", "/v1/workers"): (200, {"workers": [WORKER]}),
    ("GET", "/v1/health"): (200, {"version": "1", "dataplane": {"connected": True, "pid": 17, "generation": "0a"},
                                  "panic": False, "unconfirmed": None}),
    ("POST", "/v1/panic"): (200, {"pass": True}),
    ("POST", "/v1/confirm"): (200, {"generation": "0a", "rules": 1, "warnings": [],
                                    "unconfirmed": None}),
    ("POST", "/v1/rollback"): (200, {"generation": "0b", "rules": 2, "warnings": [],
                                     "unconfirmed": None}),
}


class Check(Case):
    def test_patterns_that_take_too_long(self):
        rules = "version: 1\nrules:\n" + "".join(
            f"  - {{id: r{number}, on_match: drop, when: 'payload matches "
            f"\"x.{{1,4900}}y.{{1,{4800 + number}}}z\"'}}\n" for number in range(8))
        _, err = self.ctl("check", self.write("slow.yaml", rules), exit=1)
        self.assertRegex(err, r"slow.yaml:\d+:\d+: error: this regular expression takes too long")

    def test_fields_are_those_that_rules_can_name(self):
        fields = json.loads(self.ctl("fields", "--json")[0])["fields"]
        names = [field["name"] for field in fields]
        for name in ("ip.src", "client.ip", "payload", "dns.qname", 'http.cookies["name"]', "registrable_domain(FIELD)"):
            self.assertIn(name, names)
        out, _ = self.ctl("fields")
        self.assertRegex(out, r"(?m)^l4\.dport +a number from 0 to 65535$")
        self.assertRegex(out, r"(?m)^dns\.qtype +a number from 0 to 65535, or a name such as \"AAAA\"$")
        self.assertEqual(len(out.splitlines()), len(names) + 1)

    def test_good(self):
        rules = self.write("rules.yaml", RULES)
        out, err = self.ctl("check", rules)
        self.assertTrue(out.startswith("ok\n"))
        self.assertEqual(err, "")
        self.assertIn("local", out)
        out, err = self.ctl("check", rules, "--json")
        self.assertEqual(err, "")
        document = json.loads(out)
        self.assertEqual(list(document), ["ok", "applies", "problems", "rules", "lists", "databases"])
        self.assertEqual((document["ok"], document["applies"], document["problems"]), (True, True, []))
        entry = document["rules"][0]
        self.assertEqual(list(entry), ["id", "limits", "memory"])
        self.assertEqual(list(entry["limits"][0]), ["name", "key", "scope", "bound"])
        self.assertGreater(entry["memory"], 0)

    def test_what_apply_would_refuse(self):
        for text, why in ((RULES + "data: {lists: {bad: {type: cidr, file: absent}}}\n", "absent"),
                          (RULES.replace("enforce", "'off'"), "no rule in it is on"),
                          ("version: 1\nservices: [{id: web, protocol: http, when: l4.dport eq 80}]\nrules: []\n",
                           "no rule in it is on")):
            rules = self.write("rules.yaml", text)
            out, _ = self.ctl("check", rules)
            self.assertRegex(out.splitlines()[0], "ok, but `sluicectl apply` refuses it: .*" + why)
            document = json.loads(self.ctl("check", rules, "--json")[0])
            self.assertEqual((document["ok"], document["applies"]), (True, False))

    def test_nothing_is_suggested_that_is_not_built(self):
        rules = self.write("rules.yaml", RULES.replace("{id: a,", "{id: a, cluster_sinc: {},"))
        _, err = self.ctl("check", rules, exit=1)
        self.assertIn("unknown key `cluster_sinc`", err)
        self.assertNotIn("cluster_sync", err)

    SHARED = RULES.replace("{id: a,", "{id: a, scope: cluster,").replace("burst: 2", "burst: 1000")

    def test_limits_of_a_cluster(self):
        rules = self.write("rules.yaml", self.SHARED)
        out, _ = self.ctl("check", rules, "--cluster-size", "8")
        self.assertIn("of 8 boxes together (merged over the cluster", out)
        self.assertNotIn("assumed", out)
        out, _ = self.ctl("check", rules)
        self.assertIn("of 3 boxes together", out)
        self.assertIn("its size is assumed", out)
        limit = json.loads(self.ctl("check", rules, "--json")[0])["rules"][0]["limits"][0]
        self.assertEqual(limit["cluster"], {"size": 3, "assumed": True, "sharing": "merged", "box_unsynced": 31, "worker_unsynced": 20,
                                            "overshoot": 122, "owner_down": "local_share"})

    def test_a_box_that_shares_no_limits(self):
        rules = self.write("rules.yaml", self.SHARED)
        cluster = "cluster: {name: c, node: a, size: 2, secret_file: s%s}\n"
        store = ", store: {addresses: [\"127.0.0.1:6379\"]}"
        for box, says in (("", "this box is of no cluster"), (cluster % "", "has no `store`"), (cluster % store, "")):
            config = self.write("sluice.yaml", "version: 1\n" + box)
            out, err = self.ctl("check", rules, "--config", config, exit=1 if says else 0)
            self.assertIn(says, err)
            self.assertEqual("of 2 boxes together" in out, not says)

    def test_bad(self):
        rules = self.write("rules.yaml", RULES.replace("ip.src", "ip.scr"))
        out, err = self.ctl("check", rules, exit=1)
        self.assertEqual(out, "")
        lines = err.splitlines()
        self.assertTrue(lines[0].startswith(f"{rules}:3:34: error: "), err)
        self.assertIn("ip.src", lines[0])
        self.assertEqual(lines[2].index("^"), lines[1].index("ip.scr"))
        out, _ = self.ctl("check", rules, "--json", exit=1)
        document = json.loads(out)
        self.assertEqual((document["ok"], document["rules"]), (False, []))
        found = document["problems"][0]
        self.assertEqual(list(found), ["file", "line", "column", "severity", "message"])
        self.assertEqual((found["file"], found["line"], found["column"], found["severity"]),
                         (rules, 3, 34, "error"))

    def test_check_shows_rules_what_they_read_and_services(self):
        limit = "limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]"
        out, err = self.ctl("check", self.write("rules.yaml", f"""version: 1
services:
  - {{id: web, protocol: http, when: l4.dport eq 80, mode: enforce}}
  - {{id: names, protocol: dns, when: "l4.dport eq 53\\n and ip.dst eq 192.0.2.1", on_unreadable: count}}
rules:
  - {{id: login, mode: enforce, when: l4.dport eq 80, key: [ip.src], per: request, {limit},
     ban: {{after: 3, within: 1m, for: 1h}}, dynamic: {{source: api, ttl: 1m, floor: 1/m, ceiling: 9/s}}}}
  - {{id: both, when: 'l4.dport in {{80 81}}', key: [ip.src], per: request, {limit}}}
  - {{id: api, when: l4.dport eq 82, key: [ip.src], per: request, {limit}}}
  - {{id: none, when: l4.dport eq 53 and ip.dst eq 192.0.2.1, key: [ip.src], per: request, {limit}}}
  - {{id: ports, mode: "off", when: l4.dport eq 9, key: [ip.src], {limit}}}
  - {{id: shut, mode: enforce, when: l4.dport eq 99, on_match: drop}}
"""))
        # Columns are two spaces apart or more; how much memory a rule has is told elsewhere.
        rows = [re.split(" {2,}", re.sub(r"[\d.]+ (KiB|B)\b", "SIZE", line.strip())) for line in out.splitlines()]
        settings = "checksums auto, path both, midstream inspect, min_ttl 32, proxy_protocol none"
        around = "anywhere: can be walked around by clients that mean to; declare a service"
        self.assertEqual(rows, [
            ["ok"],
            ["RULE", "MODE", "MEMORY", "LIMIT", "SCOPE", "AT MOST, IN ANY TIME W"],
            ["login", "enforce", "SIZE", "1", "local", "1 request + 1/s * W"],
            ["ban", "after 3 refusals within 1m, for 1h: drop"],
            ["dynamic", "rate 1/m to 9/s, for at most 1m"],
            ["both", "monitor", "SIZE", "1", "local", "1 request + 1/s * W"],
            ["api", "monitor", "SIZE", "1", "local", "1 request + 1/s * W"],
            ["none", "monitor", "SIZE", "1", "local", "1 request + 1/s * W"],
            ["ports", "off", "SIZE", "1", "local", "1 packet + 1/s * W"],
            ["shut", "enforce", "SIZE"],
            ["RULE", "READS LAYER 7 OF"],
            ["login", "service web"],
            ["both", "service web; the rest " + around],
            ["api", around],
            ["none", "nothing: service names of another protocol has its packets"],
            ["SERVICE", "PROTOCOL", "MODE", "WHEN", "SETTINGS"],
            ["web", "http", "enforce", "l4.dport eq 80", "on_unreadable refuse, " + settings + ", upgrades none, h2c strip"],
            ["names", "dns", "monitor", "l4.dport eq 53", "and ip.dst eq 192.0.2.1",
             "on_unreadable count (one each 1,460 bytes), " + settings]])
        self.assertIn("this rule can never count anything", err)
        # Without layer 7 and services there are no such tables.
        out, _ = self.ctl("check", self.write("rules.yaml", RULES))
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["ok", "RULE", "a"])

    def test_strict_makes_warnings_errors(self):
        rules = self.write("rules.yaml", RULES + "limits:\n  unused: {algorithm: token_bucket, "
                                                 "rate: 1/s, burst: 2}\n")
        out, err = self.ctl("check", rules)
        self.assertTrue(out.startswith("ok\n"))
        self.assertIn(": warning: ", err)
        out, err = self.ctl("check", rules, "--strict", exit=1)
        self.assertEqual(out, "")
        self.assertIn(": error: ", err)
        document = json.loads(self.ctl("check", rules, "--strict", "--json", exit=1)[0])
        self.assertFalse(document["ok"])
        self.assertEqual(document["problems"][0]["severity"], "error")

    def test_patterns_that_cost_much_to_scan_for(self):
        rules = self.write("rules.yaml", COSTLY)
        warning = (r"rules.yaml:\d+:\d+: {}: patterns of payload: about [0-9,]+ packets/s are left "
                   r"on one core on their worst text of 1,400 bytes")
        out, err = self.ctl("check", rules)
        self.assertTrue(out.startswith("ok\n"))
        self.assertRegex(err, warning.format("warning"))
        _, err = self.ctl("check", rules, "--strict", exit=1)
        self.assertRegex(err, warning.format("error"))

    def test_a_box_file_too(self):
        rules = self.write("rules.yaml", RULES)
        config = self.write("sluice.yaml", "version: 1\nprots: []\n")
        document = json.loads(self.ctl("check", rules, "--config", config, "--json", exit=1)[0])
        self.assertFalse(document["ok"])
        self.assertEqual(document["problems"][0]["file"], config)
        self.assertEqual(document["problems"][0]["line"], 2)

    def test_a_port_that_the_box_lacks(self):
        rules = self.write("rules.yaml", RULES.replace("key: [ip.src]", 'key: [ip.src], when: "port eq \\"uplnk\\""'))
        config = self.write("sluice.yaml", "version: 1\nports: [{name: uplink, outside: {device: net_tap0}, "
                                           "inside: {device: net_tap1}}]\nworkers: {lcores: '0@0,1@1'}\n")
        self.assertEqual(self.ctl("check", rules)[1], "")  # of no box
        out, err = self.ctl("check", rules, "--config", config)
        self.assertTrue(out.startswith("ok\n"))
        self.assertIn(": warning: `when` holds at no port of this box, whose pairs are `uplink`\n", err)
        _, err = self.ctl("check", rules, "--config", config, "--strict", exit=1)
        self.assertIn(": error: `when` holds at no port of this box", err)
        self.write("rules.yaml", RULES.replace("key: [ip.src]", 'key: [ip.src], when: "port eq \\"uplink\\""'))
        self.assertEqual(self.ctl("check", rules, "--config", config, "--strict")[1], "")

    def test_files_that_cannot_be_read(self):
        _, err = self.ctl("check", self.path("absent"), exit=1)
        self.assertIn("No such file", err)
        document = json.loads(self.ctl("check", self.path("absent"), "--json", exit=1)[0])
        self.assertFalse(document["ok"])
        self.ctl("check", self.folder, exit=1)


class BoxConfig(Case):
    def test_the_message_has_what_the_file_says(self):
        config = self.write("sluice.yaml", """version: 1
ports:
  - name: uplink
    outside: {device: "net_tap0,iface=a", queues: 2, rss: source}
    inside: {device: "net_tap1,iface=b", rss: destination}
    mtu: 1500
workers: {lcores: "1,2"}
packets: {malformed: pass, tunnels: [gre, vxlan]}
sockets:
  dataplane: {path: /tmp/dp.sock, mode: "0600"}
""")
        message = self.run_ctl("box-config", config)
        self.assertEqual((message.returncode, message.stderr), (0, b""))
        self.assertEqual(message.stdout[:4], (9).to_bytes(4, "little"), "its version comes first")
        for text in (b"uplink", b"net_tap0,iface=a", b"net_tap1,iface=b", b"1,2", b"/tmp/dp.sock"):
            self.assertIn(len(text).to_bytes(4, "little") + text, message.stdout)
        self.ctl("box-config", config, "--json", exit=2)
        self.assertEqual(self.ctl("box-config", config, "-o", self.path("compiled"))[0], "")
        self.assertEqual(self.read("compiled"), message.stdout)
        self.assertIn("No such file", self.ctl("box-config", config, "-o", "/nowhere/compiled", exit=1)[1])
        # A terminal gets no bytes that it would take for commands.
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        done = subprocess.run([self.sluicectl, "box-config", config], stdout=theirs, stderr=subprocess.PIPE, timeout=60)
        os.close(theirs)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the configuration is good", done.stderr)
        os.set_blocking(ours, False)
        try:
            self.assertEqual(os.read(ours, 100), b"")
        except OSError:
            pass  # nothing was written, and nobody is at the other end

    def test_errors(self):
        config = self.write("sluice.yaml", "version: 1\nnonsense: 1\n")
        out, err = self.ctl("box-config", config, exit=1)
        self.assertEqual(out, "")
        self.assertIn("sluice.yaml:2:1: error:", err)
        self.ctl("box-config", self.path("absent"), exit=1)
        self.ctl("box-config", exit=2)


class Usage(Case):
    def test_wrong_usage_is_2_and_says_what_there_is(self):
        for words in ((), ("nonsense",), ("check",), ("mode", "a", "off", "b"), ("rules", "--nonsense"),
                      ("mode", "a"), ("mode", "a", "sometimes"), ("panic",), ("panic", "on"),
                      ("stats", "--count", "3"), ("stats", "--watch", "--count", "0"),
                      ("apply",), ("apply", "x", "--confirm"), ("apply", "x", "--confirm", "0s"),
                      ("apply", "x", "--confirm", "2d"), ("apply", "x", "--confirm", "60"),
                      ("confirm", "x"), ("rollback", "x"), ("diff",), ("completion", "csh"), ("inspect", "--pcap", "x")):
            out, err = self.ctl(*words, exit=2)
            self.assertEqual(out, "", words)
            self.assertIn("--help", err)
        self.assertIn("'nonsense'", self.ctl("nonsense", exit=2)[1])
        for words, said in ((("keys", "--ruel", "x"), "`keys` has no option '--ruel'; did you mean `--rule`?; `sluicectl keys --help`"),
                            (("top", "--windwo=10s"), "`top` has no option '--windwo'; did you mean `--window`?"),
                            (("stats", "--jsno"), "`stats` has no option '--jsno'; did you mean `--json`?"),
                            (("history", "one", "two"), "`history` takes no further 'one' 'two'; `sluicectl history --help`")):
            self.assertIn(said, self.ctl(*words, exit=2)[1])

    def test_what_needs_nothing(self):
        self.assertRegex(self.ctl("--version")[0], r"^sluicectl \d+\.\d+")
        for word in ("replay", "confirm", "rollback"):
            self.assertIn(word, self.ctl("--help")[0])
        self.assertIn("--confirm TIME", self.ctl("apply", "--help")[0])
        self.assertIn("--verdicts", self.ctl("replay", "--help")[0])
        script = self.ctl("completion", "bash")[0]
        offered = subprocess.run(
            ["bash", "-c", script + "COMP_WORDS=(sluicectl --socket x re); COMP_CWORD=3; "
             "_sluicectl; echo ${COMPREPLY[@]}; COMP_WORDS=(sluicectl check --s); COMP_CWORD=2; "
             "_sluicectl; echo ${COMPREPLY[@]}; COMP_WORDS=(sluicectl panic p); _sluicectl; "
             "echo ${COMPREPLY[@]}; COMP_WORDS=(sluicectl apply --c); _sluicectl; "
             "echo ${COMPREPLY[@]}; COMP_WORDS=(sluicectl ro); COMP_CWORD=1; _sluicectl; "
             "echo ${COMPREPLY[@]}"], capture_output=True, check=True, text=True)
        self.assertEqual(offered.stdout, "replay\n--strict --services --socket\npass\n--confirm --cluster --config --canary\nrollback rollout\n")

    def test_help_fits_a_terminal_of_80_columns(self):
        commands = re.findall(r"^  ([a-z-]+)  ", self.ctl("--help")[0], re.M)
        self.assertIn("merge-interval", commands)
        for words in ((), *((command,) for command in commands)):
            for line in self.ctl(*words, "--help")[0].splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_a_full_disk_is_no_success(self):
        rules = self.write("rules.yaml", RULES)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([self.sluicectl, "check", rules], stdout=full,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


class WithSluiced(Case):
    def start(self, answers=None):
        path = self.path("sluiced.sock")
        sluiced = Sluiced(path, {**ANSWERS, **(answers or {})})
        self.addCleanup(sluiced.close)
        return sluiced

    def ask(self, *words, exit=0):
        return self.ctl(*words, "--socket", self.path("sluiced.sock"), exit=exit)

    def test_json_is_the_answer_and_nothing_else(self):
        self.start()
        for command, path in (("rules", "/v1/rules"), ("stats", "/v1/stats"),
                              ("ports", "/v1/ports"), ("workers", "/v1/workers"),
                              ("health", "/v1/health")):
            out, err = self.ask(command, "--json")
            self.assertEqual(json.loads(out), ANSWERS[("GET", path)][1])
            self.assertEqual(err, "")

    def test_tables_for_people(self):
        self.start()
        for command, words in (("rules", ["monitor (file: enforce) until 2026-11-21T10:00:00Z", "token_bucket 1/s burst 2",
                                          'ip.proto eq 17   and dir eq "in"', "/etc/rules.yaml"]),
                               ("stats", ["00000000000000ab", "over_limit", "EXCEEDED"]),
                               ("ports", ["1,234,567", "uplink", "up"]),
                               ("xdp status", ["native", "kernel drops", "100.0 ms", "250.4 ms", "7,654,321", "1,234/64,000", "41"]),
                               ("workers", ["uplink in q0", "runs"]),
                               ("workers --cycles", ["12.3", "100", "4,000", "50 %", "1,000 packets", "2,500 are 1 us"]),
                               ("health", ["pid 17, generation 0a"])):
            out, _ = self.ask(*command.split())
            for word in words:
                self.assertIn(word, out)
            self.assertNotIn("\033", out)

    def test_tables_fit_the_terminal_that_they_are_in(self):
        many = {**STATS, "verdict_bytes": {"pass": 5_000_000, "drop": 77}, "rules": [
            {"id": f"rule-of-a-customer-{i}", "mode": "enforce", "matched": 12_345_678_901, "admitted": 12_345_678_000,
             "exceeded": 901, "skipped": 0, "admitted_bytes": 10 ** 12, "exceeded_bytes": 10 ** 6, "keys": 1_048_576}
            for i in range(3)]}
        workers = [{**WORKER, "lcore": i, "lanes": [f"uplink in q{n}" for n in range(8)]} for i in (1, 2)]
        low = [{"pair": "uplink", "side": side, "mtu": 1400, "needed": 1500} for side in ("outside", "in")]
        health = {**ANSWERS[("GET", "/v1/health")][1], "low_mtus": low}
        self.start({("GET", "/v1/stats"): (200, many), ("GET", "/v1/workers"): (200, {"workers": workers}),
                    ("GET", "/v1/health"): (200, health)})
        for width in (80, 200):
            for command in ("stats", "ports", "workers", "rules", "health", "ports --watch --count 1", "workers --cycles"):
                shown = self.on_terminal(width, *command.split())
                for line in shown.splitlines():
                    self.assertLessEqual(len(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)), width, line)
                for word in {"stats": ("enforce",), "rules": ("enforce",), "workers --cycles": ("LOCATE",)}.get(
                        command, ("uplink", "in")):
                    self.assertIn(word, shown)
        piped = self.ask("stats")[0]
        self.assertGreater(max(map(len, piped.splitlines())), 80)

    def on_terminal(self, width, *words):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        with subprocess.Popen([self.sluicectl, *words, "--socket", self.path("sluiced.sock")], stdout=theirs) as done:
            os.close(theirs)
            shown = b""
            try:
                while piece := os.read(ours, 65536):
                    shown += piece
            except OSError:  # the other end is closed
                pass
            self.assertEqual(done.wait(10), 0)
        os.close(ours)
        return shown.decode()

    def test_ports_are_watched_with_rates(self):
        self.start()
        out, _ = self.ask("ports", "--watch", "--count", "2")
        self.assertEqual(out.count("RX BIT/S"), 2)
        self.assertIn("transmit queue full", out)
        documents = [json.loads(line) for line in self.ask("ports", "--watch", "--count", "2", "--json")[0].splitlines()]
        self.assertEqual(documents, [{"ports": [PORT]}] * 2)

    def test_lists_are_read_page_by_page(self):
        def page(number, after):
            return (200, {"rule": "a", "generation": "0a", "live": 3, "keys": [
                {"key": f"10.0.0.{number}", "digest": "0ab", "tier": 1, "limit": "1", "lcore": 1, "shared": False,
                 "level": 0, "remaining": 3, "most": 10, "left_s": 5676.2}], "next": after})
        sluiced = self.start({("GET", "/v1/keys?rule=a&most=1000&after="): page(1, "0:7"),
                              ("GET", "/v1/keys?rule=a&most=999&after=0%3A7"): page(2, None),
                              ("GET", "/v1/keys?rule=a&most=1&after="): page(1, "0:7")})
        out, _ = self.ask("keys", "--rule", "a")
        for words in ("10.0.0.1", "10.0.0.2", "94m36s"):
            self.assertIn(words, out)
        document = json.loads(self.ask("keys", "--rule", "a", "--json")[0])
        self.assertEqual((len(document["keys"]), document["next"]), (2, None))
        self.assertIn("more: --after '0:7'", self.ask("keys", "--rule", "a", "--most", "1")[0])
        self.assertEqual(len(sluiced.asked), 5)
        self.ctl("keys", exit=2)

    def test_a_list_begins_anew_where_rules_change_meanwhile(self):
        others = (409, {"title": "other rules run now", "detail": "the rules have changed; ask again from the beginning"})
        def page(number, after):
            return (200, {"generation": "0a", "bans": [
                {"rule": "a", "key": f"10.0.0.{number}", "tier": 1, "source": "operator", "left_s": None, "until": None,
                 "reason": ""}], "next": after})
        first, second = ("GET", "/v1/bans?rule=&most=1000&after="), ("GET", "/v1/bans?rule=&most=999&after=x")
        sluiced = self.start({first: [others, page(1, "x"), page(2, "x")], second: [others, page(3, None)]})
        document = json.loads(self.ask("bans", "--json")[0])
        self.assertEqual([ban["key"] for ban in document["bans"]], ["10.0.0.2", "10.0.0.3"])
        self.assertEqual(len(sluiced.asked), 5)
        # Not for ever, and no other refusal is taken for it.
        for answer, asked in ((others, 5), ((409, {"title": "the rule is off", "detail": "ask again"}), 1)):
            sluiced = self.start_again({first: answer})
            self.assertIn("ask again", self.ask("bans", exit=1)[1])
            self.assertEqual(len(sluiced.asked), asked)

    def test_what_was_found_is_one_answer_of_all_pages(self):
        def page(number, after, **more):
            rows = [{"what": "condition", "rule": f"r{number}", "kind": "rule", "mode": "enforce", "field": "ip.src", "except": False,
                     "list": None, "entry": None, "line": None, "others": 0, "action": "drop"}]
            return (200, {"of": "10.0.0.7", "is": "address", "inside": None, "generation": "0a", "boxes_read": True,
                          "lists_read": True, "findings": rows, "cut": False, "next": after, **more})
        first, second, third = (("GET", f"/v1/find?of=10.0.0.7&most={most}&after={after}")
                                for most, after in ((1000, ""), (999, "x"), (998, "y")))
        everybody = {"everybody": ["all"]}
        # What one page leaves out is left out of all, whichever it is; and so is what no dataplane told.
        for cut_at in (None, 0, 1, 2):
            cut = [{"cut": number == cut_at} for number in range(3)]
            self.start_again({first: page(1, "x", **everybody, **cut[0]), second: page(2, "y", **cut[1]), third: page(3, None, **cut[2])})
            document = json.loads(self.ask("find", "10.0.0.7", "--json")[0])
            self.assertEqual([row["rule"] for row in document["findings"]], ["r1", "r2", "r3"])
            self.assertEqual((document["cut"], document["next"], document["everybody"]), (cut_at is not None, None, ["all"]))
            out = self.ask("find", "10.0.0.7")[0]
            self.assertEqual("not all of it is here" in out, cut_at is not None, out)
        self.start_again({first: page(1, "x", **everybody), second: page(2, None, boxes_read=False)})
        out, err = self.ask("find", "10.0.0.7", exit=3)
        self.assertIn("r2", out)
        self.assertIn("no dataplane is connected", err)
        nothing = page(1, None, **everybody, findings=[])
        self.start_again({first: nothing})
        self.ask("find", "10.0.0.7", exit=4)
        # Of a part of the pages nobody can say that there is nothing.
        self.start_again({first: page(1, "x", **everybody, findings=[]), second: (404, {"title": "gone", "detail": "gone"})})
        self.ask("find", "10.0.0.7", exit=1)
        self.start_again({("GET", "/v1/find?of=10.0.0.7&most=1000&after=x"): nothing})
        self.ask("find", "10.0.0.7", "--after", "x", exit=0)

    def test_bans_of_a_file(self):
        problems = [{"file": "", "line": 2, "column": 1, "severity": "error", "message": "no key"}]
        sluiced = self.start({("POST", "/v1/rules/a/bans"): (200, {"rule": "a", "banned": 2, "generation": "0a"}),
                              ("POST", "/v1/rules/b/bans"): (422, {
                                  "title": "nothing was banned", "detail": "1 of 2 keys are wrong", "problems": problems})})
        keys = self.path("keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("# theirs\n10.0.0.1\n\n10.0.0.2\n")
        self.assertIn("2 keys banned", self.ask("key", "ban", "a", "--file", keys, "--for", "1h")[0])
        self.assertEqual(json.loads(sluiced.asked[-1][2]), {"keys": ["10.0.0.1", "10.0.0.2"], "for": "1h"})
        _, err = self.ask("key", "ban", "b", "--file", keys, exit=1)
        self.assertIn(f"{keys}:4: error: no key", err)
        self.assertIn("1 of 2 keys are wrong", err)
        for words in (("key", "ban", "a", "10.0.0.1", "--file", keys), ("key", "unban", "a", "10.0.0.1", "--file", keys),
                      ("key", "reset", "a", "--file", keys)):
            self.ask(*words, exit=2)
        self.ask("key", "ban", "a", "--file", self.path("absent"), exit=1)

    def test_bans_of_a_file_end_together(self):
        told = {"rule": "a", "unbanned": 2, "not_banned": 0, "unanswered": 0, "warnings": [], "generation": "0a"}
        warnings = [{"file": "", "line": 2, "column": 1, "severity": "warning", "message": "the key 10.0.0.2 is not banned"}]
        sluiced = self.start({("POST", "/v1/rules/a/unbans"): (200, told),
                              ("POST", "/v1/rules/b/unbans"): (200, {**told, "rule": "b", "unbanned": 1, "not_banned": 1,
                                                                     "warnings": warnings})})
        keys = self.path("keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("# theirs\n10.0.0.1\n\n10.0.0.2\n")
        self.assertEqual(self.ask("key", "unban", "a", "--file", keys), ("rule a: 2 keys unbanned\n", ""))
        self.assertEqual(json.loads(sluiced.asked[-1][2]), {"keys": ["10.0.0.1", "10.0.0.2"]})
        out, err = self.ask("key", "unban", "b", "--file", keys, "--tier", "1", exit=1)
        self.assertEqual(out, "rule b: 1 key unbanned, 1 had no ban of their own\n")
        self.assertEqual(err, f"{keys}:4: warning: the key 10.0.0.2 is not banned\n")
        self.assertEqual(json.loads(sluiced.asked[-1][2])["tier"], 1)

    def test_the_parts_of_a_key_are_one_word(self):
        self.start()
        _, err = self.ask("key", "show", "hellos", "10.77.0.1", "shop.example", exit=2)
        self.assertIn("`shop.example` is one word too many: a key is one word", err)

    def test_a_file_that_cannot_be_read_is_named_once(self):
        for words in (("check", "absent"), ("check", "absent", "other"), ("check", "--config", "absent", "absent")):
            _, err = self.ctl(*words, exit=1)
            self.assertEqual(set(err.splitlines()), {"sluicectl: error: cannot read absent: No such file or directory"})

    def test_the_help_has_every_exit_code(self):
        of_diff = "3 no daemon or no dataplane; of `diff --exit-code`: 1 something differs, 4 refused or invalid"
        for words, has_those_of_diff in (((), True), (("diff",), True), (("check",), False), (("completion",), False)):
            said = " ".join(self.ctl(*words, "--help")[0].split())
            self.assertIn("3 no daemon or no dataplane", said)
            self.assertEqual(of_diff in said, has_those_of_diff, words)
            self.assertEqual("; of `find`: 4 nothing is known" in said, words == (), words)
        self.assertIn("3 no daemon or no dataplane; of `find`: 4", " ".join(self.ctl("find", "--help")[0].split()))

    def test_wrong_arguments_of_a_command_name_its_help(self):
        for words, told in ((("explain", "--sorc", "10.0.0.1"), "explain "), (("inspect",), "inspect "),
                            (("--nothing",), ""), (("explian",), "")):
            _, err = self.ctl(*words, exit=2)
            self.assertIn(f"; `sluicectl {told}--help` shows what there is", err)

    def test_the_environment_names_the_socket(self):
        self.start()
        os.environ["SLUICE_SOCKET"] = self.path("sluiced.sock")
        self.addCleanup(os.environ.pop, "SLUICE_SOCKET")
        self.assertIn("uplink", self.ctl("ports")[0])
        self.ctl("ports", "--socket", self.path("absent.sock"), exit=3)

    def test_health_says_what_a_person_on_call_must_know(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        unconfirmed = {"seconds_left": 30.0, "until": "2026-11-21T10:00:00Z", "goes_back_to": "00000000000000aa"}
        self.start({("GET", "/v1/health"): (200, {**health, "panic": True, "unconfirmed": unconfirmed})})
        out, _ = self.ask("health")
        self.assertIn("PANIC: all traffic is forwarded unjudged", out)
        self.assertIn("UNCONFIRMED: generation 00000000000000aa comes back in 30 s", out)

    def test_health_says_whose_checksums_are_trusted_and_what_to_switch_off(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        trusted = [{"service": "web", "side": "clients"}]
        self.start({("GET", "/v1/health"): (200, {**health, "checksums_trusted": trusted})})
        out, _ = self.ask("health")
        self.assertIn("\nweb: checksums of its clients are trusted: ", out)
        self.assertIn("ethtool -K DEVICE tx off", out)

    def test_health_says_whose_checksums_are_not_verified_yet(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        learning = [{"service": "web", "side": "servers"}, {"service": "dns", "side": "clients"},
                    {"service": "dns", "side": "servers"}]
        down = [{"pair": "wan", "side": "outside", "held_down": False, "gone": False}]
        self.start({("GET", "/v1/health"): (200, {**health, "checksums_trusted": [], "checksums_learning": learning,
                                                  "links_down": down})})
        out, _ = self.ask("health")
        self.assertTrue(out.endswith(
            "\nport wan outside: its link is down\nchecksums being learnt, which is no fault: web (servers), dns (clients, "
            "servers): nothing is dropped for a wrong one until 64 of a side came right at a worker; `checksums: verify` "
            "drops from the first frame on\n"), out)
        self.assertEqual(json.loads(self.ask("health", "--json")[0])["checksums_learning"], learning)

    def test_health_says_which_ports_do_not_spread_frames_as_asked(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        ports = [{"pair": "uplink", "side": "inside", "asked": "destination", "hashes": "destination",
                  "handed_over": True},
                 {"pair": "uplink", "side": "outside", "asked": "source", "hashes": "symmetric",
                  "handed_over": False}]
        self.start({("GET", "/v1/health"): (200, {**health, "rss_fallen_back": ports})})
        out, _ = self.ask("health")
        self.assertIn("port uplink inside cannot spread frames by destination: its workers hand them to one another", out)
        self.assertIn("port uplink outside cannot spread frames by source: it spreads them by symmetric", out)

    def test_health_says_which_programs_take_frames_first(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        programs = [{"pair": "uplink", "side": "inside", "interface": "eth1", "program": 77, "mode": "native"}]
        self.start({("GET", "/v1/health"): (200, {**health, "other_programs": programs})})
        out, _ = self.ask("health")
        self.assertIn("port uplink inside: the XDP program 77 (native) at eth1 is not this box's and takes each frame first", out)
        self.assertIn("`ip link set dev eth1 xdpdrv off`", out)

    def test_health_says_which_links_are_down(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        down = [{"pair": "wan", "side": "outside", "held_down": False, "gone": False},
                {"pair": "wan", "side": "inside", "held_down": True, "gone": False},
                {"pair": "lab", "side": "inside", "held_down": False, "gone": True}]
        self.start({("GET", "/v1/health"): (200, {**health, "links_down": down})})
        out, _ = self.ask("health")
        self.assertIn("port wan outside: its link is down\n"
                      "port wan inside: held down, because the other side of its pair is down\n"
                      "port lab inside: its interface is gone\n", out)

    def test_health_says_which_side_is_too_narrow(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        low = [{"pair": "wan", "side": "inside", "mtu": 1400, "needed": 1500}]
        self.start({("GET", "/v1/health"): (200, {**health, "low_mtus": low})})
        out, _ = self.ask("health")
        self.assertIn("port wan inside has an MTU of 1400, below the 1500 that its pair needs: longer packets do not leave "
                      "by it (of af_packet: dropped as too_long); `ip link set` gives it back\n", out)

    def test_health_says_which_side_is_wider_than_the_box(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        raised = [{"pair": "wan", "side": side, "mtu": 9000, "started": 1500} for side in ("outside", "inside")]
        self.start({("GET", "/v1/health"): (200, {**health, "raised_mtus": raised})})
        out, _ = self.ask("health")
        for side in ("outside", "inside"):
            self.assertIn(f"port wan {side} has an MTU of 9000, above the 1500 that its pair was started for: longer packets "
                          "are lost (too_long, or missed by a port); restart sluice-dataplane, or `ip link set` gives it "
                          "back\n", out)

    def test_health_without_a_dataplane_is_3(self):
        health = ANSWERS[("GET", "/v1/health")][1]
        self.start({("GET", "/v1/health"): (200, {**health, "panic": None, "dataplane": {
            "connected": False, "pid": 0, "generation": "0" * 16}})})
        out, _ = self.ask("health", exit=3)
        self.assertIn("dataplane: not connected", out)
        self.assertFalse(json.loads(self.ask("health", "--json", exit=3)[0])["dataplane"]["connected"])

    def test_a_proxy_in_the_environment_is_not_asked(self):
        self.start()
        os.environ["http_proxy"] = "http://127.0.0.1:1"
        self.addCleanup(os.environ.pop, "http_proxy")
        self.ask("stats")

    def test_apply(self):
        sluiced = self.start()
        rules = self.write("my rules.yaml", RULES)
        self.assertIn("applied 1 rule,", self.ask("apply", rules)[0])
        method, path, body = sluiced.asked[-1]
        self.assertEqual((method, body), ("PUT", RULES))
        self.assertTrue(path.startswith("/v1/rules?force=0&file=%2F"))
        self.assertIn("my%20rules.yaml&directory=%2F", path)
        out, _ = self.ask("apply", rules, "--force", "--json")
        self.assertEqual(json.loads(out)["rules"], 1)
        self.assertIn("force=1", sluiced.asked[-1][1])
        self.ask("apply", rules, "--strict", "--confirm", "60s")
        self.assertIn("?force=0&strict=1&confirm=60s&", sluiced.asked[-1][1])
        self.ask("apply", self.path("absent"), exit=1)

    def test_apply_on_trial(self):
        rules = self.write("rules.yaml", RULES)
        trial = {"generation": "0a", "rules": 1, "warnings": [], "unconfirmed": {
            "seconds_left": 60, "until": "2026-01-01T00:00:00Z", "goes_back_to": "0b"}}
        sluiced = self.start({("PUT", "/v1/rules"): (200, trial)})
        out, _ = self.ask("apply", rules, "--confirm", "60s")
        self.assertIn("UNCONFIRMED: generation 0b comes back in 60 s", out)
        self.assertIn("&confirm=60s", sluiced.asked[-1][1])
        self.assertEqual(json.loads(self.ask("apply", rules, "--confirm=1m", "--json")[0]), trial)

    def test_diff(self):
        rules = self.write("my rules.yaml", RULES)
        diff = {"from": "0a", "to": "0b", "added": ["n"], "removed": [], "changed": [{
            "id": "a", "settings": [], "limits": [{"name": "1", "change": "reset", "from": "x",
                                                   "to": "y", "because": ["window"]}]}],
                "reordered": False, "unchanged": 0, "warnings": []}
        sluiced = self.start({("POST", "/v1/rules/diff"): (200, diff)})
        out, _ = self.ask("diff", rules)
        self.assertEqual(sluiced.asked[-1][0::2], ("POST", RULES))
        self.assertIn("my%20rules.yaml&directory=%2F", sluiced.asked[-1][1])
        self.assertIn("+ n\n~ a\n", out)
        self.assertIn("RESET: its buckets start anew, because of another `window`", out)
        out, err = self.ask("diff", rules, "--json")
        self.assertEqual((json.loads(out), err), (diff, ""))
        self.ask("diff", self.path("absent"), exit=1)
        found = {"file": rules, "line": 3, "column": 9, "severity": "error", "message": "no good"}
        self.start_again({("POST", "/v1/rules/diff"): (422, problem("no", "1 error",
                                                                    problems=[found]))})
        out, err = self.ask("diff", rules, "--json", exit=1)
        self.assertEqual(out, "")
        self.assertIn(f"{rules}:3:9: error: no good", err)

    def test_confirm_and_rollback(self):
        sluiced = self.start()
        self.assertEqual(self.ask("confirm")[0], "confirmed generation 0a, 1 rule\n")
        self.assertEqual(self.ask("rollback")[0], "back to generation 0b, 2 rules\n")
        self.assertEqual([call[:2] for call in sluiced.asked],
                         [("POST", "/v1/confirm"), ("POST", "/v1/rollback")])
        for command in ("confirm", "rollback"):
            self.assertEqual(json.loads(self.ask(command, "--json")[0]),
                             ANSWERS[("POST", "/v1/" + command)][1])
            self.start_again({("POST", "/v1/" + command): (409, problem("nothing", "there is none"))})
            out, err = self.ask(command, exit=1)
            self.assertEqual(out, "")
            self.assertIn("nothing: there is none", err)

    def test_apply_shows_what_sluiced_found(self):
        rules = self.write("rules.yaml", RULES)
        found = {"file": rules, "line": 3, "column": 9, "severity": "error", "message": "no good"}
        self.start({("PUT", "/v1/rules"): (422, problem("The rules do not compile", "1 error",
                                                        problems=[found]))})
        out, err = self.ask("apply", rules, "--json", exit=1)
        self.assertEqual(out, "")
        lines = err.splitlines()
        self.assertEqual(lines[0], f"{rules}:3:9: error: no good")
        self.assertEqual(lines[2].rstrip().index("^") - lines[1].index("- {id"), 6)
        self.assertIn("do not compile", lines[-1])

    def test_apply_shows_warnings(self):
        found = {"file": "r", "line": 1, "column": 1, "severity": "warning", "message": "look out"}
        self.start({("PUT", "/v1/rules"): (200, {"generation": "ab", "rules": 1,
                                                 "warnings": [found]})})
        out, err = self.ask("apply", self.write("rules.yaml", RULES), "--json")
        json.loads(out)
        self.assertIn("r:1:1: warning: look out", err)

    def test_refusals(self):
        rules = self.write("rules.yaml", RULES)
        for status, code in ((409, 1), (403, 1), (500, 1), (503, 3)):
            self.start_again({("PUT", "/v1/rules"): (status, problem("No", "because I say so"))})
            out, err = self.ask("apply", rules, exit=code)
            self.assertEqual(out, "")
            self.assertIn("because I say so", err)
        # The dataplane is there, and has no time.
        self.start_again({("PUT", "/v1/rules"): (503, problem("busy", "with another call"))})
        self.assertIn("with another call", self.ask("apply", rules, exit=1)[1])

    def start_again(self, answers):
        if os.path.exists(self.path("sluiced.sock")):
            os.unlink(self.path("sluiced.sock"))
        return self.start(answers)

    def test_answers_that_make_no_sense(self):
        for status, document in ((200, b"<html>"), (200, b""), (200, {"other": 1}), (200, []),
                                 (500, b"<html>"), (422, {"problems": [1]}), (200, b"\xff\x00")):
            self.start_again({("GET", "/v1/stats"): (status, document)})
            out, err = self.ask("stats", exit=1)
            self.assertEqual(out, "")
            self.assertIn("error", err)

    def test_mode(self):
        sluiced = self.start()
        self.assertIn("a is off", self.ask("mode", "a", "off")[0])
        self.assertEqual(sluiced.asked[-1][:2], ("PUT", "/v1/rules/a/mode"))
        self.assertEqual(json.loads(sluiced.asked[-1][2]), {"mode": "off"})
        _, err = self.ask("mode", "b/../c", "off", exit=1)
        self.assertIn("no such thing", err)
        self.assertEqual(sluiced.asked[-1][1], "/v1/rules/b%2F..%2Fc/mode")

    def test_watch_stops_after_count(self):
        sluiced = self.start()
        out, _ = self.ask("stats", "--watch", "--count", "2", "--json")
        self.assertEqual([json.loads(line) for line in out.splitlines()], [STATS, STATS])
        self.assertEqual(len(sluiced.asked), 2)
        out, _ = self.ask("stats", "--watch", "--count", "1")
        self.assertEqual(out.count("generation"), 1)

    def test_watch_ends_cleanly_when_interrupted(self):
        self.start()
        for stop in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([self.sluicectl, "stats", "--watch", "--json", "--socket",
                                   self.path("sluiced.sock")], stdout=subprocess.PIPE) as watching:
                json.loads(watching.stdout.readline())
                watching.send_signal(stop)
                rest = watching.stdout.read()
                self.assertEqual(watching.wait(10), 0)
                for line in rest.splitlines():
                    json.loads(line)

    def test_colours_only_on_a_terminal_that_wants_them(self):
        self.start()
        for options, environment, wanted in (((), {}, True), (("--no-color",), {}, False),
                                             ((), {"NO_COLOR": "1"}, False)):
            ours, theirs = pty.openpty()
            subprocess.run([self.sluicectl, "stats", "--socket", self.path("sluiced.sock"),
                            *options], stdout=theirs, env={**os.environ, **environment},
                           check=True)
            os.close(theirs)
            shown = b""
            while b"skipped" not in shown.lower() or b"enforce" not in shown:
                shown += os.read(ours, 65536)
            os.close(ours)
            self.assertEqual(b"\033[" in shown, wanted)

    def test_panic_through_sluiced(self):
        sluiced = self.start()
        self.assertEqual(json.loads(self.ask("panic", "pass", "--json")[0]), {"pass": True})
        self.assertEqual(sluiced.asked[-1][0:2], ("POST", "/v1/panic"))
        asked = json.loads(sluiced.asked[-1][2])
        self.assertEqual(asked.pop("pass"), True)
        # What sluiced would do later than this command waits for it, it does not do at all.
        self.assertLess(asked.pop("not_after_ns"), time.clock_gettime_ns(time.CLOCK_BOOTTIME) + 10**9)
        self.assertEqual(asked, {})


class WithoutSluiced(Case):
    def test_no_daemon_is_3_and_says_what_to_do(self):
        rules = self.write("rules.yaml", RULES)
        for words in (("apply", rules), ("apply", rules, "--confirm", "60s"), ("confirm",),
                      ("diff", rules), ("rollback",), ("rules",), ("stats",), ("stats", "--watch"), ("ports",),
                      ("workers",), ("health",), ("mode", "a", "off"),
                      ("panic", "pass", "--dataplane-socket", self.path("absent.sock"))):
            out, err = self.ctl(*words, "--json", "--socket", self.path("absent.sock"), exit=3)
            self.assertEqual(out, "")
            self.assertIn("start sluiced", err)

    def panic(self, word, refuse="", exit=0):
        path = self.path("dataplane.sock")
        dataplane = Dataplane(path, refuse, self.path("policy"))
        out, err = self.ctl("panic", word, "--json", "--socket", self.path("absent.sock"),
                            "--dataplane-socket", path, exit=exit)
        dataplane.close()
        os.unlink(path)
        return dataplane, out, err

    def test_panic_goes_straight_to_the_dataplane(self):
        for word, wanted in (("pass", True), ("resume", False)):
            dataplane, out, err = self.panic(word)
            self.assertEqual(dataplane.panic, wanted)
            self.assertEqual(json.loads(out), {"pass": wanted})
            self.assertIn("directly", err)
        with open(self.path("policy/audit.log"), encoding="utf-8") as log:
            calls = [json.loads(line) for line in log]
        self.assertEqual([(call["call"], call["before"], call["outcome"]) for call in calls],
                         [("panic pass", "resume", "done, past sluiced"),
                          ("panic resume", "resume", "done, past sluiced")])
        self.assertEqual([call["uid"] for call in calls], [os.getuid()] * 2)

    def test_panic_that_is_recorded_nowhere_says_so(self):
        with open(self.path("policy"), "w", encoding="utf-8"):
            pass  # a file in the place of the directory
        dataplane, _, err = self.panic("pass")
        self.assertTrue(dataplane.panic)
        self.assertIn("audit.log: this is not recorded there", err)

    def test_panic_past_a_sluiced_that_hangs(self):
        with socket.socket(socket.AF_UNIX) as hangs:
            hangs.bind(self.path("sluiced.sock"))
            hangs.listen()  # and never answers
            dataplane = Dataplane(self.path("dataplane.sock"), audit_dir=self.path("policy"))
            self.addCleanup(dataplane.close)
            # Far less than what any other command waits for; on an idle machine a third of a second.
            _, err = self.ctl("panic", "pass", "--socket", self.path("sluiced.sock"),
                              "--dataplane-socket", self.path("dataplane.sock"), within=10)
        self.assertIn("directly", err)
        self.assertTrue(dataplane.panic)

    def test_the_environment_names_the_dataplanes_socket(self):
        os.environ["SLUICE_DATAPLANE_SOCKET"] = self.path("named.sock")
        self.addCleanup(os.environ.pop, "SLUICE_DATAPLANE_SOCKET")
        dataplane = Dataplane(self.path("named.sock"), audit_dir=self.path("policy"))
        _, err = self.ctl("panic", "pass", "--socket", self.path("absent.sock"))
        dataplane.close()
        self.assertIn("directly", err)
        self.assertTrue(dataplane.panic)
        # What the command line says comes first.
        self.ctl("panic", "pass", "--socket", self.path("absent.sock"), "--dataplane-socket", self.path("other.sock"),
                 exit=3)

    def test_panic_that_the_dataplane_refuses(self):
        _, out, err = self.panic("pass", refuse="not you", exit=1)
        self.assertEqual(out, "")
        self.assertIn("not you", err)

    def test_panic_when_sluiced_has_no_dataplane(self):
        sluiced = Sluiced(self.path("sluiced.sock"),
                          {("POST", "/v1/panic"): (503, problem("No dataplane", "gone"))})
        self.addCleanup(sluiced.close)
        dataplane = Dataplane(self.path("dataplane.sock"))
        self.addCleanup(dataplane.close)
        self.ctl("panic", "pass", "--socket", self.path("sluiced.sock"), "--dataplane-socket",
                 self.path("dataplane.sock"))
        self.assertTrue(dataplane.panic)


if __name__ == "__main__":
    main()
