"""Numbered frames of one source, sent at once, and when each of them came out of the box."""
import json
import pathlib
import subprocess
import sys

import capture_files as frames

# Sends COUNT numbered frames as fast as it can; prints when it began and ended, in ns of the wall clock.
_SEND = """
import socket, struct, sys, time
import capture_files as frames
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
made = [frames.ethernet(frames.ipv4("10.78.1.1", "10.78.0.2", 17, frames.udp_header(1000, 9, struct.pack("!I", number))), 0x0800)
        for number in range(int(sys.argv[1]))]
begun = time.time_ns()
for frame in made:
    out.send(frame)
print([begun, time.time_ns()])
"""
# Prints the number of each frame that comes, and when the kernel had it, until its input ends.
_TAKE = """
import select, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
s.bind(("eth0", 0x0800))
print("ready", flush=True)
while s in (ready := select.select([s, sys.stdin], [], [])[0]):
    frame, more, _, _ = s.recvmsg(2048, 64)
    if frame[23] == 17 and frame[26:30] == bytes([10, 78, 1, 1]):
        seconds, ns = struct.unpack("qq", more[0][2])
        print(struct.unpack_from("!I", frame, 42)[0], seconds * 10**9 + ns, flush=True)
"""


class Taker:
    """Takes frames at the inside host until it is closed."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.process = subprocess.Popen(["ip", "netns", "exec", hosts.inside, sys.executable, "-c", _TAKE],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def send(self, count):
        """From the outside host; when it began. `sent`: when it had ended, too."""
        folder = str(pathlib.Path(frames.__file__).parent)
        done = subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", _SEND, str(count)],
                              check=True, timeout=60, cwd=folder, capture_output=True, text=True)
        self.sent = json.loads(done.stdout)
        return self.sent[0]

    def take(self, count):
        """The next so many, as (number, ns)."""
        lines = [self.process.stdout.readline().split() for _ in range(count)]
        return [(int(number), int(ns)) for number, ns in lines]

    def rest(self):
        """Ends it; what came besides."""
        self.process.stdin.close()
        lines = [line.split() for line in self.process.stdout.read().splitlines()]
        self.process.wait()
        self.process.stdout.close()
        return [(int(number), int(ns)) for number, ns in lines]

    def close(self):
        """Whatever has been read of it."""
        with self.process:
            self.process.kill()
