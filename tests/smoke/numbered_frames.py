"""Numbered frames of many sources through a box: who came through, and in what order."""
import dataclasses
import json
import pathlib
import subprocess
import sys

import capture_files as frames


def address_of(source):
    """In many bits: RSS is linear in them, and under one key in twenty the lowest six alone would lead to no more than
    two of four workers."""
    return f"10.78.{1 + source * 37 % 251}.{1 + source * 101 % 251}"


def packet_of(source, host, udp):
    return frames.ipv4(address_of(source), f"10.78.0.{2 + host}", 17, udp)


def frame_of(source, host=0):
    """One like those that are sent."""
    return frames.ethernet(packet_of(source, host, frames.udp_header(1000 + source, 9, bytes(8))), 0x0800)


# Sends COUNT numbered frames of each of SOURCES hosts, all hosts in turn, at RATE a second, to HOSTS
# hosts in turn.
_SEND = """
import socket, struct, sys, time
import capture_files as frames
import numbered_frames
count, sources, rate, hosts = (int(x) for x in sys.argv[1:5])
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
begin, sent = time.monotonic(), 0
for number in range(count):
    for source in range(sources):
        payload = struct.pack("!II", source, number)
        udp = frames.udp_header(1000 + source, 9, payload)
        packet = numbered_frames.packet_of(source, number % hosts, udp)
        while time.monotonic() < begin + sent / rate:
            time.sleep(0.0005)
        out.send(frames.ethernet(packet, 0x0800))
        sent += 1
"""
# Prints the numbers that came in, by source and host and in order, once all has been sent (its input ends) and nothing
# has come for a while.
_TAKE = """
import collections, json, select, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.bind(("eth0", 0x0800))
print("ready", flush=True)
came = collections.defaultdict(list)
sources, patience = [s, sys.stdin], 60
while ready := select.select(sources, [], [], patience)[0]:
    if s not in ready:
        sources, patience = [s], 1.5
        continue
    frame = s.recv(2048)
    if frame[23] == 17 and frame[26:28] == bytes([10, 78]) and frame[28] != 0:
        source, number = struct.unpack_from("!II", frame, 42)
        came[f"{source} {frame[33] - 2}"].append(number)
print(json.dumps(came))
"""


@dataclasses.dataclass
class Sending:
    count: int  # frames of each source
    sources: int
    rate: int  # frames a second
    hosts: int = 1  # that they are sent to


def send_numbered(hosts, sending, wait_for_all=lambda: None):
    """The numbers that came through to the inside, by source and host, once `wait_for_all` has returned."""
    inside = ["ip", "netns", "exec", hosts.inside, sys.executable, "-c", _TAKE]
    outside = ["ip", "netns", "exec", hosts.outside, sys.executable, "-c", _SEND]
    folder = str(pathlib.Path(frames.__file__).parent)
    with subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as taker:
        assert taker.stdout.readline() == "ready\n"
        subprocess.run([*outside, *(str(number) for number in dataclasses.astuple(sending))],
                       check=True, timeout=60, cwd=folder)
        wait_for_all()
        taker.stdin.close()
        came = json.loads(taker.stdout.read())
    return {tuple(int(part) for part in key.split()): numbers for key, numbers in came.items()}
