"""Heat maps of a real box beside those of a replay of what it was sent: sampled keys within four standard errors.

    heat_box_test.py DATAPLANE SLUICED SLUICECTL
"""
import calendar
import json
import os
import pathlib
import subprocess
import sys
import time

import capture_files as frames
from box_case import HostsCase, main
from programs import PATIENCE, wait_until

SOURCES = 6000  # more than a column keeps, so that they are sampled
RATE = 3000     # packets a second, which a box beside other work takes
STEP = 10
LIMIT = "{algorithm: fixed_window, count: 20, window: 10s}"
RULES = f"""version: 1
rules:
  - {{id: sources, mode: monitor, heatmap: on, when: ip.dst eq 10.79.0.1, key: [ip.src], limits: [{LIMIT}]}}
"""

# Sends each of the frames once, at a rate, and prints when each went: ns in UTC.
SEND = """
import json, socket, sys, time
import heat_box_test
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
drawn = list(heat_box_test.sent_by())
made = {source: heat_box_test.frame_of(source) for source in set(drawn)}
time.sleep(1 - time.time() % 10 + 10 if time.time() % 10 > 1 else 1 - time.time() % 10)
begin, went = time.monotonic(), []
for number, source in enumerate(drawn):
    while time.monotonic() < begin + number / heat_box_test.RATE:
        time.sleep(0.0005)
    went.append(time.time_ns())
    out.send(made[source])
print(json.dumps(went))
"""


def sent_by():
    """Most send one packet or two, some half of the limit, a few twice of it."""
    for turn in range(40):
        for source in range(SOURCES):
            if turn < 1 + source % 2 or source % 17 == 0 and turn < 10 or source % 301 == 0:
                yield source


def frame_of(source):
    address = f"10.78.{1 + source // 250}.{1 + source % 250}"
    return frames.ethernet(frames.ipv4(address, "10.79.0.1", 17, frames.udp_header(1000, 9, bytes(8))), 0x0800)


class HeatBox(HostsCase):
    def map(self):
        done = self.box.ctl("heatmap", "sources", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def column_of(self, found, begins):
        for column in found["columns"]:
            if column and calendar.timegm(time.strptime(column["at"], "%Y-%m-%dT%H:%M:%SZ")) == begins:
                return column
        return None

    def send(self):
        """-> (ns in UTC, frame) of each frame, all of them within one column."""
        environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)}
        done = subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", SEND], capture_output=True,
                              text=True, timeout=PATIENCE + 60, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(zip(json.loads(done.stdout), map(frame_of, sent_by())))

    def matched(self):
        return self.box.stats()["rules"][0]["matched"]

    def sent_in_one_column(self):
        """What a machine with other work spreads over two columns, or loses, is sent once more."""
        for _ in range(4):
            before, sent = self.matched(), self.send()
            begins = sent[0][0] // 10**9 // STEP * STEP
            if sent[-1][0] // 10**9 // STEP * STEP == begins:
                time.sleep(0.5)
                if self.matched() - before == len(sent):
                    return begins, sent
        self.fail("the machine is too busy to send within ten seconds what the box receives whole")

    def replayed(self, sent):
        capture = self.box.folder / "sent.pcap"
        capture.write_bytes(frames.pcap(sent))
        rules = self.box.folder / "replayed.yaml"
        rules.write_text(RULES)
        done = self.box.ctl("replay", str(rules), "--pcap", str(capture), "--heatmap", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["heatmaps"][0]

    def test_sampled_maps_are_those_of_a_replay_within_four_standard_errors(self):
        self.start_between("af_packet", {"memory": {"tables": {"keys": 16_384}}})
        self.box.start_sluiced()
        self.apply(RULES)
        wait_until("the rule to run", lambda: self.map()["map"] == "on")
        begins, sent = self.sent_in_one_column()
        found = {}

        def is_known():
            found["column"] = self.column_of(self.map(), begins)
            return found["column"] is not None
        wait_until("the column", is_known)
        column, exact = found["column"], self.column_of(self.replayed(sent), begins)
        self.assertEqual((exact["one_in"], exact["groups"]), (1, SOURCES))
        self.assertGreater(column["one_in"], 1, "there are more keys than a column keeps")
        self.assertEqual(column["left_out"], 0)
        for name in ("offered", "left"):
            wanted = dict(exact[name])
            self.assertLessEqual(set(dict(column[name])), set(wanted), "no row that no group is in")
            for row, groups in wanted.items():
                error = 4 * (groups * (column["one_in"] - 1)) ** 0.5
                self.assertAlmostEqual(dict(column[name]).get(row, 0), groups, delta=error, msg=f"{name}, row {row}")
        self.assertAlmostEqual(column["groups"], SOURCES, delta=4 * column["error"] * SOURCES)


if __name__ == "__main__":
    main()
