"""Several workers on ports with one queue each: the real dataplane, sluiced and sluicectl.

    handover_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import pathlib
import signal
import subprocess
import sys
import unittest

import capture_files as frames
from programs import Box, Hosts, wait_until

PROGRAMS = []
WORKERS = ("--lcores", "0@0,1@1,2@1,3@0")
SOURCES = 60
BURST = 25

HOLD_EACH = f"""version: 1
rules:
  - id: hold
    mode: enforce
    when: dir eq "in" and ip.proto eq 17
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 1/d, burst: {BURST}}}]
"""
WATCH_ALL = """version: 1
rules:
  - {id: watch, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
  - {id: together, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
  - {id: there, when: dir eq "out", key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""

# Sends COUNT numbered frames of each of SOURCES hosts, all hosts in turn, at RATE a second.
SEND = """
import socket, struct, sys, time
import capture_files as frames
count, sources, rate = (int(x) for x in sys.argv[1:4])
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
begin, sent = time.monotonic(), 0
for number in range(count):
    for source in range(sources):
        payload = struct.pack("!II", source, number)
        udp = frames.udp_header(1000 + source, 9, payload)
        packet = frames.ipv4(f"10.78.{1 + source // 200}.{1 + source % 200}", "10.78.0.2", 17, udp)
        while time.monotonic() < begin + sent / rate:
            time.sleep(0.0005)
        out.send(frames.ethernet(packet, 0x0800))
        sent += 1
"""
# Prints the numbers that came in, by host and in order, once nothing has come for a second.
TAKE = """
import collections, json, socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.bind(("eth0", 0x0800))
print("ready", flush=True)
came = collections.defaultdict(list)
s.settimeout(30)
while True:
    try:
        frame = s.recv(2048)
    except OSError:
        break
    if frame[23] == 17 and frame[26:28] == bytes([10, 78]) and frame[28] != 0:
        source, number = struct.unpack_from("!II", frame, 42)
        came[source].append(number)
        s.settimeout(1.5)
print(json.dumps(came))
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.box = Box(*PROGRAMS)
        self.addCleanup(self.box.close)
        self.hosts = Hosts()
        self.addCleanup(self.hosts.close)
        self.hosts.open()

    def start(self, *more):
        self.box.start_dataplane("net_af_packet0,iface=o,framecnt=4096,blocksz=1048576",
                                 "net_af_packet1,iface=i,framecnt=4096,blocksz=1048576",
                                 *WORKERS, *more, netns=self.hosts.box)
        self.box.start_sluiced()

    def apply(self, rules):
        done = self.box.apply(rules)
        self.assertEqual(done.returncode, 0, done.stderr)

    def send(self, count, rate):
        """What came through to the inside, by host."""
        inside = ["ip", "netns", "exec", self.hosts.inside, sys.executable, "-c", TAKE]
        folder = str(pathlib.Path(frames.__file__).parent)
        with subprocess.Popen(inside, stdout=subprocess.PIPE, text=True) as taker:
            self.assertEqual(taker.stdout.readline(), "ready\n")
            subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", SEND,
                            str(count), str(SOURCES), str(rate)], check=True, timeout=60, cwd=folder)
            came = json.loads(taker.stdout.read())
        return {int(source): numbers for source, numbers in came.items()}

    def packets(self):
        return [worker["packets"] for worker in self.box.workers()]

    def expect_nothing_lost(self):
        stats = self.box.stats()
        for reason in ("ring_full", "tx_full", "no_memory"):
            self.assertEqual(stats["reasons"][reason], 0, reason)

    def test_every_frame_once_in_order_and_by_all_workers(self):
        self.start()
        self.apply(WATCH_ALL)
        came = self.send(100, 4000)
        self.assertEqual(sorted(came), list(range(SOURCES)))
        for source, numbers in came.items():
            self.assertEqual(numbers, list(range(100)), f"source {source}")
        self.expect_nothing_lost()
        for packets in self.packets():
            self.assertGreater(packets, SOURCES * 100 / 20)
        workers = self.box.workers()
        handed = sum(worker["handed_over"] for worker in workers)
        self.assertGreater(handed, SOURCES * 100 / 4)
        self.assertEqual(workers[0]["lanes"], ["lab in q0", "lab out q0"])
        self.assertEqual(workers[1]["lanes"], ["lab in handed over", "lab out handed over"])

    def test_each_source_is_held_to_its_limit_exactly(self):
        self.start()
        self.apply(HOLD_EACH)
        came = self.send(60, 4000)
        self.assertEqual(sorted(came), list(range(SOURCES)))
        for source, numbers in came.items():
            self.assertEqual(numbers, list(range(BURST)), f"source {source}")
        rule = self.box.stats()["rules"][0]
        self.assertEqual((rule["admitted"], rule["exceeded"]),
                         (SOURCES * BURST, SOURCES * (60 - BURST)))
        self.expect_nothing_lost()

    def test_a_restart_moves_no_key_to_another_worker(self):
        def judged():
            before = self.packets()
            self.send(40, 4000)
            return [after - first for first, after in zip(before, self.packets())]
        self.start()
        self.apply(WATCH_ALL)
        first = judged()
        self.box.kill(self.box.dataplane, signal.SIGKILL)
        key = self.box.folder / "state" / "rss-key"
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.box.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=i", *WORKERS,
                                 netns=self.hosts.box)
        self.box.wait_for_link(True)
        # Whole hosts: 40 frames each, give or take what the kernels say to each other.
        for here, there in zip(first, judged()):
            self.assertLess(abs(here - there), 20)

    def test_the_tools_say_how_frames_are_spread(self):
        self.start("--pair", "more", "--outside", "net_null0", "--inside", "net_null1",
                   "--rss-outside", "source_prefix", "--no-hand-over")
        self.apply(WATCH_ALL)
        ports = self.box.ctl("ports").stdout
        self.assertIn("source, handed over", ports)
        limits = {rule["id"]: rule["limits"][0]["scope"]
                  for rule in json.loads(self.box.api("GET", "/v1/rules")[1])["rules"]}
        # The one worker of `more` and those of `lab` do not agree on whose a source is.
        self.assertEqual(limits, {"watch": "merged", "together": "merged", "there": "merged"})
        self.box.kill(self.box.dataplane, signal.SIGTERM)
        self.box.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=i", *WORKERS,
                                 "--rss-inside", "destination", netns=self.hosts.box)
        self.box.wait_for_link(True)
        wait_until("the scopes to be those of the box", lambda: {
            rule["id"]: rule["limits"][0]["scope"] for rule in
            json.loads(self.box.api("GET", "/v1/rules")[1])["rules"]}
            == {"watch": "merged", "together": "merged", "there": "local"})
        self.assertIn("HANDED OVER", self.box.ctl("workers").stdout)
        self.assertIn("sluice_worker_handed_over_total",
                      self.box.api("GET", "/v1/metrics")[1].decode())
        changed = self.box.folder / "next.yaml"
        changed.write_text(WATCH_ALL.replace('dir eq "out"', "ip.proto eq 17"))
        diff = self.box.ctl("diff", str(changed)).stdout
        self.assertIn(", local -> ", diff)
        self.assertIn(", merged", diff)
        told = self.box.ctl("explain", "--src", "192.0.2.7", "--dst", "198.51.100.1", "--proto", "udp")
        self.assertIn("burst 1 per packet, merged", told.stdout, told.stderr)


if __name__ == "__main__":
    PROGRAMS.extend(sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
