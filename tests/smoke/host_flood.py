"""A flood from many sources to many hosts that goes on until it is told otherwise, and what of it comes through."""
import dataclasses
import json
import pathlib
import signal
import subprocess
import sys

import capture_files as frames

# Sends to all hosts from a source, then from the next one, RATE frames a second, until its input ends; then says how
# many. Who was stopped for a while does not make up for it.
_SEND = """
import select, socket, sys, time
import capture_files as frames
from host_flood import address_of
sources, hosts, rate = (int(x) for x in sys.argv[1:4])
def frame(source, host):
    udp = frames.udp_header(1000 + source, 9, b"x" * 8)
    return frames.ethernet(frames.ipv4(address_of(source), f"10.79.{host >> 8}.{host & 255}", 17, udp), 0x0800)
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
all_frames = [frame(source, host) for source in range(sources) for host in range(hosts)]
print("ready", flush=True)
begin, sent = time.monotonic(), 0
while not select.select([sys.stdin], [], [], 0)[0]:
    at = sent % len(all_frames)
    for frame in all_frames[at:at + 20]:
        out.send(frame)
        sent += 1
    behind = time.monotonic() - begin - sent / rate
    if behind > 0.05:
        begin += behind
    elif behind < 0:
        time.sleep(-behind)
print(sent)
"""
# Answers each line with what came so far, by source and host, or with how much of it there is; ends with its input.
_TAKE = """
import collections, json, select, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.bind(("eth0", 0x0800))
s.setblocking(False)
print("ready", flush=True)
came, total = collections.Counter(), 0  # by host and port, as in the frame
def take():
    global total
    try:
        while True:
            frame = s.recv(2048)
            if len(frame) >= 36 and frame[23] == 17 and frame[30:32] == b"\\x0a\\x4f":
                came[frame[32:36]] += 1
                total += 1
    except BlockingIOError:
        pass
def by_source_and_host():
    numbers = ((*struct.unpack("!HH", place), count) for place, count in came.items())
    return {f"{port - 1000} {host}": count for host, port, count in numbers}
while True:
    ready = select.select([s, sys.stdin], [], [])[0]
    take()
    if sys.stdin in ready:
        asked = sys.stdin.readline()
        if not asked:
            break
        print(total if asked == "total\\n" else json.dumps(by_source_and_host()), flush=True)
"""


def address_of(source):
    """In many bits of the address: RSS is linear in them."""
    return f"10.78.{1 + source * 37 % 251}.{1 + source * 101 % 251}"


@dataclasses.dataclass
class Flow:
    sources: int
    hosts: int
    rate: int  # frames a second


class HostFlood:
    """Begins with the first `with`, and stands still unless it is told to go."""

    def __init__(self, hosts, flow):
        self.hosts, self.flow = hosts, flow
        self.sender = self.taker = None

    def __enter__(self):
        self.taker = self._start(self.hosts.inside, _TAKE)
        self.sender = self._start(self.hosts.outside, _SEND, self.flow.sources, self.flow.hosts,
                                  self.flow.rate)
        return self

    def __exit__(self, *_):
        for process in (self.sender, self.taker):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.communicate()

    @staticmethod
    def _start(netns, program, *numbers):
        process = subprocess.Popen(
            ["ip", "netns", "exec", netns, sys.executable, "-c", program, *map(str, numbers)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=pathlib.Path(frames.__file__).parent)
        assert process.stdout.readline() == "ready\n"
        return process

    def pause(self):
        self.sender.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.sender.send_signal(signal.SIGCONT)

    def _answer_to(self, what):
        self.taker.stdin.write(f"{what}\n")
        self.taker.stdin.flush()
        return json.loads(self.taker.stdout.readline())

    def total(self):
        """Frames that came through so far: what is cheap to ask for again and again."""
        return self._answer_to("total")

    def came(self):
        """The same by source and host."""
        counts = self._answer_to("all")
        return {tuple(int(part) for part in key.split()): count for key, count in counts.items()}

    def by_host(self, came):
        counts = dict.fromkeys(range(self.flow.hosts), 0)
        for (_, host), count in came.items():
            counts[host] += count
        return counts

    def came_by_host(self):
        return self.by_host(self.came())

    def end(self):
        """Stops sending for good; how many frames were sent."""
        self.go_on()
        return int(self.sender.communicate("\n")[0])
