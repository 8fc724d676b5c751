"""The real dataplane, sluiced and sluicectl together, over virtual ports.

    box_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

import capture_files as frames
from box_case import NULL, QUIET, BoxCase, HostsCase, main
from programs import ip, wait_until


LIMIT_THREE = """version: 1
rules:
  - id: three
    mode: enforce
    when: dir eq "in" and ip.proto eq 17
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/d, burst: 3}]
"""
TAG_ALL = """version: 1
rules:
  - id: mark
    mode: enforce
    key: []
    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]
    on_exceed: {action: tag, dscp: ef, pcp: 5}
"""
MONITOR_ALL = """version: 1
rules:
  - id: watch
    key: []
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]
"""
DROP_ALL = """version: 1
rules:
  - {id: nothing, mode: enforce, on_match: drop}
"""


def udp(src="192.0.2.1", size=30, tags=()):
    payload = frames.udp_header(1000, 9, b"x" * size)
    return frames.ethernet(frames.ipv4(src, "198.51.100.1", 17, payload), 0x0800, tags)


def write_pcap(path, packets):
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for i, packet in enumerate(packets):
        data += struct.pack("<IIII", 1, i, len(packet), len(packet)) + packet
    pathlib.Path(path).write_bytes(data)


def read_pcap(path):
    data = pathlib.Path(path).read_bytes()
    at, packets = 24, []
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        packets.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return packets


class Case(BoxCase):
    def through_pcap(self, outside, inside=()):
        """Runs frames through a dataplane that starts with the rules it has; what came out."""
        files = {name: str(self.box.folder / f"{name}.pcap") for name in ("a", "b", "to_a", "to_b")}
        write_pcap(files["a"], outside)
        write_pcap(files["b"], inside)
        process = self.box.start_dataplane(
            f"net_pcap0,rx_pcap={files['a']},tx_pcap={files['to_a']}",
            f"net_pcap1,rx_pcap={files['b']},tx_pcap={files['to_b']}")
        self.box.start_sluiced(state="nobody")
        wait_until("all frames to be judged", lambda: self.box.stats()["packets"]
                   == len(outside) + len(inside))
        self.assertEqual(self.box.kill(process, signal.SIGTERM), 0)
        return read_pcap(files["to_b"]), read_pcap(files["to_a"])

    def keep_rules(self, rules):
        """Leaves the rules behind for the next dataplane."""
        first = self.box.start_dataplane(*QUIET)
        sluiced = self.box.start_sluiced()
        self.apply(rules)
        self.box.kill(sluiced, signal.SIGTERM)
        self.box.kill(first, signal.SIGTERM)
        # The rules alone: what these ports brought is not to count.
        kept = self.box.folder / "state" / "ruleset.bin"
        saved = kept.read_bytes()
        self.box.forget()
        kept.write_bytes(saved)


class Forwarding(Case):
    def test_frames_leave_as_they_came(self):
        odd = [
            udp(),
            udp(tags=[(0x8100, 5)]),
            udp(tags=[(0x88A8, 0x6005), (0x8100, 7)]),
            udp(size=9000 - 28),
            frames.ethernet(b"\0\0\x11\x40" + frames.ipv4("192.0.2.1", "192.0.2.2", 17, b"x" * 20), 0x8847),
            frames.ethernet(b"\x42" * 46, 0x9999),
            frames.ethernet(b"\0" * 46, 0x0806),
        ]
        back = [udp("198.51.100.1", size=size) for size in (0, 1, 17, 1472)] * 40
        to_inside, to_outside = self.through_pcap(odd, back)
        self.assertEqual(to_inside, odd)
        self.assertEqual(to_outside, back)

    def test_malformed_frames_are_dropped_and_counted_by_reason(self):
        good = udp()
        bad = [good[:12], good[:20], good[:40], good[:14] + b"\x43" + good[15:]]
        self.keep_rules(MONITOR_ALL)
        to_inside, _ = self.through_pcap([good, *bad])
        self.assertEqual(to_inside, [good])

    def test_rules_are_there_before_the_first_frame(self):
        self.keep_rules(LIMIT_THREE)
        flood = [udp("192.0.2.1", size=i) for i in range(10)]
        other = [udp("192.0.2.2", size=i) for i in range(2)]
        to_inside, to_outside = self.through_pcap(flood + other, flood)
        self.assertEqual(to_inside, flood[:3] + other)
        self.assertEqual(to_outside, flood)  # the rule sees what enters outside only

    def test_tags_are_written_and_nothing_else(self):
        self.keep_rules(TAG_ALL)
        sent = [udp(tags=[(0x8100, 5)]) for _ in range(3)]
        to_inside, _ = self.through_pcap(sent)
        self.assertEqual(to_inside[0], sent[0])
        for got in to_inside[1:]:
            self.assertEqual(got[14:16], struct.pack("!H", 5 << 13 | 5))
            self.assertEqual(got[19], 46 << 2)
            self.assertEqual(frames.checksum(got[18:38]), 0)
            self.assertEqual(got[38:], sent[0][38:])


class Control(Case):
    def test_explain_goes_by_the_packets_of_the_box(self):
        """Of the rules in force, as the box would: under what its sluice.yaml says, which the file of no command names."""
        rules = ("version: 1\nservices:\n  - {id: web, protocol: http, when: 'port eq \"lab\" and l4.dport eq 80', mode: enforce}\n"
                 "rules: [{id: b, mode: enforce, when: http.host eq \"b.example\", on_match: drop}]\n")
        two_hosts = ("--src", "192.0.2.1", "--dst", "198.51.100.1", "--http", "GET /x", "--host", "a.example",
                     "--header", "Host: b.example", "--json")

        def reason():
            told = self.box.ctl("explain", *two_hosts)
            self.assertEqual(told.returncode, 0, told.stderr)
            return json.loads(told.stdout)["reason"]
        for word, expected in (("refuse", "ambiguous_request"), ("both", "deny_rule")):
            dataplane = self.box.start_dataplane(*QUIET, {"packets": {"http": {"on_ambiguous": word}}})
            sluiced = self.box.start_sluiced()
            self.apply(rules)
            self.assertEqual(reason(), expected, word)
            self.box.kill(sluiced, signal.SIGTERM)
            self.box.kill(dataplane, signal.SIGTERM)

    def test_apply_stats_mode_and_panic(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(DROP_ALL)
        stats = self.box.stats()
        wait_until("packets to be dropped", lambda: self.box.stats()["rules"][0]["exceeded"] > 0)
        self.assertEqual(self.box.ctl("panic", "pass").returncode, 0)
        before = self.box.stats()
        wait_until("panic to pass", lambda: self.box.stats()["reasons"]["panic"]
                   > before["reasons"]["panic"])
        self.assertEqual(self.box.ctl("panic", "resume").returncode, 0)
        done = self.box.ctl("mode", "nothing", "monitor")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(self.box.stats()["generation"], stats["generation"])
        before = self.box.stats()["verdicts"]["pass"]
        wait_until("packets to pass", lambda: self.box.stats()["verdicts"]["pass"] > before)
        self.apply(DROP_ALL)  # the file says enforce again
        self.assertEqual(self.box.stats()["generation"], stats["generation"])
        audit = [json.loads(line) for line in self.box.log("policy/audit.log").splitlines()]
        self.assertEqual([entry["call"].split()[0] for entry in audit],
                         ["apply", "panic", "panic", "mode", "apply"])
        self.assertEqual(audit[0]["uid"], os.getuid())

    def test_top_names_whom_a_rule_counts(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply("version: 1\nrules:\n  - id: all\n    mode: enforce\n    key: [port, dir]\n"
                   "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 10}]\n")

        def top(*words):
            done = self.box.ctl("top", "--json", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        wait_until("both directions to be seen", lambda: len(top()["keys"]) == 2)
        wait_until("samples", lambda: top()["samples"] > 1000)
        first = top("--rule", "all", "--by", "denied")["keys"][0]
        self.assertIn(first["key"], ("lab|in", "lab|out"))
        self.assertGreater(first["denied_per_s"], 1000)
        self.assertLess(abs(first["hits_per_s"] - first["denied_per_s"]), first["hits_error_per_s"])
        self.assertLess(first["hits_error_per_s"], first["hits_per_s"] / 4)
        shown = self.box.ctl("top", "--keys", "1").stdout
        self.assertIn("lab|", shown)
        self.assertEqual(self.box.ctl("top", "--rule", "nobody").returncode, 1)
        self.assertEqual(self.box.ctl("top", "--by", "name").returncode, 2)

    def test_workers_share_a_limit(self):
        self.box.start_dataplane(*NULL, {
            "ports": [{"outside": {"queues": 2}, "inside": {"queues": 2}}],
            "workers": {"lcores": "0@0,1@0,2@1"}, "merge": {"interval": "500us"}})
        self.box.start_sluiced()
        begun = time.monotonic()
        self.apply("version: 1\nrules:\n  - id: all\n    mode: enforce\n    key: []\n"
                   "    limits: [{algorithm: token_bucket, rate: 10000/s, burst: 500}]\n")

        def rule():
            return self.box.stats()["rules"][0]

        # With a bucket for each of the two, it would be twice as much.
        wait_until("one and a half seconds' worth", lambda: rule()["admitted"] >= 15_500)
        counted = rule()
        passed = time.monotonic() - begun
        merged = counted["merged"]
        self.assertEqual(merged["max_unsynced"], 31)  # 1/16 of the burst
        self.assertEqual(merged["promised_overshoot"], 31)
        self.assertLessEqual(merged["measured_overshoot"], merged["promised_overshoot"])
        self.assertLessEqual(counted["admitted"], 500 + 10_000 * passed + 1 + 31)
        workers = self.box.workers()
        self.assertEqual(len(workers), 2)
        for event in ("sent", "applied"):
            self.assertGreater(sum(worker["ledger"][event] for worker in workers), 0)
        self.assertTrue(all(worker["packets"] for worker in workers))

    def test_what_is_refused_changes_nothing(self):
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        self.apply(MONITOR_ALL)
        generation = self.box.stats()["generation"]
        wrong = self.box.apply("version: 1\nrules:\n  - id: x\n    when: ip.prto eq 6\n    on_match: drop\n")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("rules.yaml:4:11: error: unknown field `ip.prto`; did you mean `ip.proto`?",
                      wrong.stderr)
        self.assertEqual(self.box.apply("version: 1\nrules: []\n").returncode, 1)
        self.assertEqual(self.box.stats()["generation"], generation)
        self.apply("version: 1\nrules: []\n", "--force")
        self.assertNotEqual(self.box.stats()["generation"], generation)

    def test_metrics_are_what_promtool_wants(self):
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        self.apply(MONITOR_ALL)
        status, text = self.box.api("GET", "/v1/metrics")
        self.assertEqual(status, 200)
        self.assertIn(b'sluice_rule_packets_total{rule="watch",outcome="admitted"}', text)
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
        self.assertEqual((checked.returncode, checked.stderr), (0, b""))

    def test_hostile_clients_stall_nobody(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        before = self.box.workers()[0]["bursts"]
        hostile = [b"\xff" * 4096, struct.pack("<I", 0xFFFFFFFF), struct.pack("<I", 5) + b"\x09abcd",
                   struct.pack("<I", 1) + b"\x03", struct.pack("<I", 100) + b"\x00", b"\0", b""]
        held = []
        for path in (self.box.dataplane_socket, self.box.api_socket):
            for data in hostile + [b"GET / HTTP/1.1\r\n", b"PUT /v1/rules HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]:
                client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                client.settimeout(2)
                client.connect(path)
                held.append(client)
                try:
                    client.sendall(data)
                except OSError:
                    pass
        wait_until("the worker to go on", lambda: self.box.workers()[0]["bursts"] > before + 1000)
        self.assertEqual(self.box.stats()["packets"] > 0, True)
        self.assertEqual(self.box.workers()[0]["stalls"], 0)
        for client in held:
            client.close()
        self.apply(MONITOR_ALL)


class Failures(Case):
    def test_sluiced_killed_and_back(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(DROP_ALL)
        wait_until("packets to be dropped", lambda: self.box.stats()["rules"][0]["exceeded"] > 0)
        self.box.kill(self.box.sluiced)
        direct = self.box.ctl("panic", "pass", "--dataplane-socket", self.box.dataplane_socket)
        self.assertEqual(direct.returncode, 0, direct.stderr)
        self.box.start_sluiced()
        stats = self.box.stats()
        self.assertTrue(stats["panic"])
        self.assertGreater(stats["rules"][0]["exceeded"], 0)  # the counters went on
        self.assertIn("re-attached", self.box.log("sluiced.log"))

    def test_panic_outlives_the_dataplane_until_it_is_resumed(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(DROP_ALL)
        self.assertEqual(self.box.ctl("panic", "pass").returncode, 0)
        for number in (signal.SIGKILL, signal.SIGTERM):
            self.box.kill(self.box.dataplane, number)
            self.box.start_dataplane(*NULL)
            self.box.wait_for_link(True)
            wait_until("packets to pass unjudged", lambda: self.box.stats()["reasons"]["panic"])
            stats = self.box.stats()
            self.assertTrue(stats["panic"])
            self.assertEqual(stats["verdicts"]["drop"], 0)
            health = self.box.ctl("health")
            self.assertIn("PANIC: all traffic is forwarded unjudged", health.stdout)
        self.assertEqual(self.box.log("dataplane.log").count("panic pass was on when the dataplane before"), 2)
        self.assertEqual(self.box.ctl("panic", "resume").returncode, 0)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        self.box.wait_for_link(True)
        wait_until("packets to be dropped", lambda: self.box.stats()["rules"][0]["exceeded"] > 0)
        self.assertEqual((self.box.stats()["panic"], self.box.stats()["reasons"]["panic"]), (False, 0))

    def test_panic_past_a_sluiced_that_hangs(self):
        self.box.start_dataplane(*QUIET)
        sluiced = self.box.start_sluiced()
        self.apply(DROP_ALL)

        def audit(what):
            return [json.loads(line) for line in self.box.log("policy/audit.log").splitlines()
                    if what in line]

        sluiced.send_signal(signal.SIGSTOP)
        self.addCleanup(sluiced.send_signal, signal.SIGCONT)
        for word in ("pass", "resume"):
            direct = self.box.ctl("panic", word, "--dataplane-socket", self.box.dataplane_socket)
            self.assertEqual(direct.returncode, 0, direct.stderr)
        self.assertEqual([(line["call"], line["before"], line["after"], line["uid"])
                          for line in audit("past sluiced")],
                         [("panic pass", "resume", "pass", os.getuid()),
                          ("panic resume", "pass", "resume", os.getuid())])
        # What nobody waits for any more is not done when sluiced goes on.
        sluiced.send_signal(signal.SIGCONT)
        late = json.dumps({"pass": True, "not_after_ns": time.clock_gettime_ns(time.CLOCK_BOOTTIME) - 1})
        self.assertEqual(self.box.api("POST", "/v1/panic", late)[0], 502)
        self.assertEqual(len(audit("it came too late")), 1)
        self.assertFalse(self.box.stats()["panic"])
        self.assertEqual(self.box.api("POST", "/v1/panic", '{"pass":true,"not_after_ns":-1}')[0], 400)

    def test_dataplane_killed_and_back(self):
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(DROP_ALL)
        self.assertEqual(self.box.ctl("mode", "nothing", "monitor").returncode, 0)
        generation = self.box.stats()["generation"]
        self.box.kill(self.box.dataplane)
        wait_until("sluiced to notice", lambda: self.box.api("GET", "/v1/stats")[0] == 503)
        self.assertEqual(self.box.apply(DROP_ALL).returncode, 3)
        self.box.start_dataplane(*NULL)
        self.box.wait_for_link(True)
        self.assertEqual(self.box.stats()["generation"], generation)
        self.assertEqual(self.box.stats()["reasons"]["no_ruleset"], 0)

    def test_sluiced_brings_its_rules_to_an_empty_dataplane(self):
        first = self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        self.apply(DROP_ALL)
        generation = self.box.stats()["generation"]
        self.box.kill(first)
        (self.box.folder / "state" / "ruleset.bin").unlink()
        self.box.start_dataplane(*QUIET)
        wait_until("the rules to be back",
                   lambda: (self.box.stats() or {}).get("generation") == generation)

    def test_a_sluiced_without_state_takes_over_what_runs(self):
        self.box.start_dataplane(*QUIET)
        self.box.start_sluiced()
        self.apply(MONITOR_ALL)
        generation = self.box.stats()["generation"]
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced(state="fresh")
        wait_until("the rules to be taken over", lambda: json.loads(
            self.box.api("GET", "/v1/rules")[1])["generation"] == generation)
        self.assertEqual(self.box.stats()["generation"], generation)

    def test_ports_whose_sockets_were_left_behind(self):
        for outside, inside in (
                (f"net_memif0,role=server,id=0,socket={self.box.folder}/m0,socket-abstract=no",
                 f"net_memif1,role=server,id=1,socket={self.box.folder}/m1,socket-abstract=no"),
                (f"net_vhost0,iface={self.box.folder}/v0,queues=1",
                 f"net_vhost1,iface={self.box.folder}/v1,queues=1")):
            first = self.box.start_dataplane(outside, inside)
            self.box.kill(first)
            second = self.box.start_dataplane(outside, inside)
            self.assertIsNone(second.poll(), self.box.log("dataplane.log"))
            self.assertEqual(self.box.kill(second, signal.SIGTERM), 0)


class WrongStart(Case):
    def refused(self, *arguments):
        return subprocess.run([self.programs[0], *arguments], capture_output=True, text=True, timeout=20)

    def test_usage(self):
        for arguments, says in ((["--frob"], "no option --frob"), ([], "no port pair"),
                                (["--pair", "a", "--outside", "x", "--inside", "x"], "given twice")):
            done = self.refused(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)

    def test_a_device_that_does_not_come_up(self):
        process = self.box.start_dataplane("net_af_packet0,iface=nosuchlink", "net_null0", wait=False)
        self.assertEqual(process.wait(20), 1)
        self.assertIn("net_af_packet0,iface=nosuchlink does not come up", self.box.log("dataplane.log"))

    def test_config_is_read_by_another_program(self):
        config = self.box.folder / "sluice.yaml"
        config.write_text("version: 1\nports:\n  - name: lab\n    outside: {device: net_null0}\n"
                          "    inside: {devise: net_null1}\n")
        done = self.refused("--config", str(config))
        self.assertEqual(done.returncode, 1)
        self.assertIn("sluice.yaml:5:14: error: unknown key `devise`", done.stderr)
        missing = self.refused("--config", str(self.box.folder / "absent.yaml"))
        self.assertEqual(missing.returncode, 1)
        self.assertIn("absent.yaml was refused by", missing.stderr)

    def test_a_quick_try_takes_no_file(self):
        self.box.start([self.programs[0], "--pair", "lab", "--outside", NULL[0], "--inside", NULL[1],
                        "--lcores", "0@0,1@0", "--socket", self.box.dataplane_socket,
                        "--state-dir", str(self.box.folder / "state")], "dataplane.log")
        wait_until("the dataplane's socket", lambda: self.box.answers(self.box.dataplane_socket))


class Network(HostsCase):
    """Kernel-backed ports between two hosts."""

    def reaches(self, count=3):
        """UDP from the outside host to the inside one and back."""
        echo = ("import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
                "s.bind(('10.78.0.2',7))\ns.settimeout(20)\n"
                f"for _ in range({count}):\n d,a=s.recvfrom(99)\n s.sendto(d,a)\n")
        ask = ("import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\ns.settimeout(0.3)\n"
               f"left={count}\nfor _ in range(60):\n s.sendto(b'hello',('10.78.0.2',7))\n try:\n"
               "  s.recvfrom(99); left-=1\n  if not left: raise SystemExit(0)\n"
               " except OSError: pass\nraise SystemExit(1)\n")
        server = self.box.start(["ip", "netns", "exec", self.hosts.inside, sys.executable, "-c", echo],
                                "echo.log")
        asked = subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", ask],
                               timeout=40)
        server.kill()
        server.wait()
        return asked.returncode == 0

    def test_af_packet_forwards_and_follows_links(self):
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.apply(MONITOR_ALL)
        self.assertTrue(self.reaches())
        ip("-n", self.hosts.outside, "link", "set", "eth0", "down")
        wait_until("the inside to be taken down", lambda: self.box.ports()["inside"]["held_down"])
        carrier = subprocess.run(["ip", "-n", self.hosts.inside, "-j", "link", "show", "eth0"],
                                 capture_output=True, text=True)
        self.assertNotIn("LOWER_UP", json.loads(carrier.stdout)[0]["flags"])
        ip("-n", self.hosts.outside, "link", "set", "eth0", "up")
        wait_until("the inside to come back", lambda: not self.box.ports()["inside"]["held_down"])
        self.assertTrue(self.reaches())

    def test_an_interface_that_is_deleted_is_down_and_taken_up_again(self):
        for driver in ("af_packet", "af_xdp"):
            with self.subTest(driver):
                self.start_between(driver)
                sluiced = self.box.start_sluiced()
                self.apply(MONITOR_ALL)
                self.assertTrue(self.reaches())
                for times in (1, 2):
                    ip("-n", self.hosts.box, "link", "delete", "o")
                    wait_until("the port to be gone", lambda: self.box.ports()["outside"]["gone"])
                    self.assertFalse(self.box.ports()["outside"]["link_up"])
                    wait_until("the other side to follow", lambda: self.box.ports()["inside"]["held_down"])
                    self.assertIn('side="outside"}', self.port_metric("gone", 1))
                    self.assertIn(" gone ", self.box.ctl("ports").stdout)
                    self.hosts.connect_outside()
                    wait_until("the port to be back", lambda: self.box.ports()["outside"]["link_up"])
                    wait_until("the other side", lambda: self.box.ports()["inside"]["link_up"])
                    self.assertEqual(self.box.ports()["outside"]["times_gone"], times)
                    self.assertTrue(self.reaches(), self.box.log("dataplane.log"))
                self.assertIn("the interface of port net_", self.box.log("dataplane.log"))
                self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
                self.box.kill(sluiced)

    def port_metric(self, name, value):
        """The line of the one port of which it has that value."""
        text = self.box.api("GET", "/v1/metrics")[1].decode()
        lines = [line for line in text.splitlines()
                 if line.startswith(f"sluice_port_{name}{{") and line.endswith(f" {value}")]
        self.assertEqual(len(lines), 1, text)
        return lines[0]

    def test_restart_after_a_kill_under_traffic(self):
        for driver in ("af_packet", "af_xdp"):
            with self.subTest(driver):
                self.start_between(driver)
                self.assertTrue(self.reaches(), self.box.log("dataplane.log"))
                self.box.kill(self.box.dataplane)
                self.start_between(driver)
                self.assertTrue(self.reaches(), self.box.log("dataplane.log"))
                self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)

    def test_an_mtu_that_a_port_cannot_carry_is_refused(self):
        process = self.start_between("af_xdp", {"ports": [{"mtu": 9000}]}, wait=False)
        self.assertEqual(process.wait(20), 1)
        self.assertIn("cannot carry an MTU of 9000", self.box.log("dataplane.log"))


if __name__ == "__main__":
    main()
