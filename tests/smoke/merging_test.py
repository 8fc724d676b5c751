"""One limit over several workers: the real dataplane, sluiced and sluicectl.

    merging_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import pathlib
import subprocess
import sys
import time

import capture_files as frames
import workers_case
from merged_case import MergedCase

WORKER_COUNT = 4
SOURCES = 60
ROUNDS = 150
RATE, BURST = 200, 400

HOLD_EACH = workers_case.hold_each("ip.dst", f"{RATE}/s", BURST)

# Every second frame goes to the one hot host, the others to many; from all sources in turn.
SEND = """
import socket, sys, time
import capture_files as frames
rounds, sources, rate = (int(x) for x in sys.argv[1:4])
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
begin, sent = time.monotonic(), 0
for number in range(rounds):
    for source in range(sources):
        hot = (source + number) % 2 == 0
        host = "10.78.0.2" if hot else f"10.79.0.{1 + (number * sources + source) // 2 % 100}"
        packet = frames.ipv4(f"10.78.{1 + source * 37 % 251}.{1 + source * 101 % 251}", host, 17, frames.udp_header(1000, 9, b"x" * 8))
        while time.monotonic() < begin + sent / rate:
            time.sleep(0.0005)
        out.send(frames.ethernet(packet, 0x0800))
        sent += 1
"""
# Prints how many frames came in for the hot host and for the others, once nothing comes any more.
TAKE = """
import json, socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.bind(("eth0", 0x0800))
print("ready", flush=True)
hot = others = 0
s.settimeout(30)
while True:
    try:
        frame = s.recv(2048)
    except OSError:
        break
    if frame[23] == 17 and frame[26:28] == bytes([10, 78]) and frame[28] != 0:
        hot += frame[30:32] == bytes([10, 78])
        others += frame[30:32] == bytes([10, 79])
        s.settimeout(1.5)
print(json.dumps([hot, others]))
"""


class Case(MergedCase):
    def setUp(self):
        super().setUp()
        self.start()
        self.apply(HOLD_EACH)

    def send(self):
        """Frames that came through to the hot host and to the others, and the seconds it took."""
        inside = ["ip", "netns", "exec", self.hosts.inside, sys.executable, "-c", TAKE]
        folder = str(pathlib.Path(frames.__file__).parent)
        with subprocess.Popen(inside, stdout=subprocess.PIPE, text=True) as taker:
            self.assertEqual(taker.stdout.readline(), "ready\n")
            begin = time.monotonic()
            subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", SEND,
                            str(ROUNDS), str(SOURCES), "4000"], check=True, timeout=60, cwd=folder)
            taken = json.loads(taker.stdout.read())
        return *taken, time.monotonic() - begin

    def test_a_key_that_is_half_of_all_traffic(self):
        hot, others, seconds = self.send()
        offered = SOURCES * ROUNDS // 2
        ahead = self.merged()["max_unsynced"]
        self.assertLessEqual(hot, RATE * seconds + BURST + (WORKER_COUNT - 1) * ahead)
        self.assertGreaterEqual(hot, BURST)
        self.assertLess(hot, offered)
        self.assertEqual(others, offered, "who has nothing to do with it is served as before")
        for worker in self.box.workers():
            self.assertGreater(worker["packets"], SOURCES * ROUNDS / 20)
        self.assertGreater(self.ledger("applied"), 0)
        self.assertEqual(self.ledger("ring_full"), 0)
        self.assertEqual(self.box.stats()["reasons"]["ring_full"], 0)
        merged = self.merged()
        self.assertLessEqual(merged["measured_overshoot"], merged["promised_overshoot"])

    def test_the_merge_interval_follows_at_run_time(self):
        usual = self.merged()
        self.assertEqual(self.box.stats()["merge_interval_us"], 1000)
        done = self.box.ctl("merge-interval", "10ms", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), {"interval_us": 10000, "merged_limits": 1})
        longer = self.merged()
        self.assertEqual(self.box.stats()["merge_interval_us"], 10000)
        self.assertEqual((usual["max_unsynced"], longer["max_unsynced"]),
                         (BURST // 16 // (WORKER_COUNT - 1),
                          RATE * 4 * 10 // 1000 + 1))  # rate * 4 intervals, rounded up, and one
        # What sluiced says of the rules follows at once, and is the same to the next one.
        ahead = f"(max_unsynced {longer['max_unsynced']} packets;"
        self.assertIn(ahead, json.dumps(self.rules()["hold"]))
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced()
        self.assertIn(ahead, json.dumps(self.rules()["hold"]))
        self.assertEqual(self.merged()["max_unsynced"], longer["max_unsynced"])
        hot, others, seconds = self.send()
        self.assertLessEqual(hot, RATE * seconds + BURST +
                             (WORKER_COUNT - 1) * longer["max_unsynced"])
        self.assertEqual(others, SOURCES * ROUNDS // 2)
        for refused, why in (("5us", "from 10us to 1s"), ("1s", "could not be merged any more"),
                             ("soon", "no duration")):
            done = self.box.ctl("merge-interval", refused)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(why, done.stderr)
        self.assertEqual(self.merged()["max_unsynced"], longer["max_unsynced"])
        self.assertIn("sluice_merge_interval_seconds 0.01",
                      self.box.api("GET", "/v1/metrics")[1].decode())


if __name__ == "__main__":
    workers_case.main()
