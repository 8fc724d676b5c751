"""Frames of 802.1ad from the outside host, and what their outer tag is at the inside."""
import subprocess
import sys

# Sends a frame with two tags every 50 ms, until its input ends.
_SEND = """
import select, socket, sys
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
frame = b"\\xff" * 6 + b"\\x02\\0\\0\\0\\0\\x01" + bytes.fromhex("88a8000a" "81000014" "9999") + b"x" * 46
while not select.select([sys.stdin], [], [], 0.05)[0]:
    out.send(frame)
"""
# The kernel takes the outer tag off: what it was stands beside the frame. Ends with the first one that came.
_TAKE = """
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA
s.bind(("eth0", 3))
s.settimeout(60)
while True:
    frame, beside, _, _ = s.recvmsg(2048, 128)
    if frame[12:18] == bytes.fromhex("810000149999"):
        tag, kind = struct.unpack_from("=HH", beside[0][2], 16)
        print(f"{kind:04x} {tag}")
        raise SystemExit(0)
"""


def outer_tag(hosts):
    """Its type in hex and its number, of a frame that was sent with `88a8 10`."""
    sender = subprocess.Popen(["ip", "netns", "exec", hosts.outside, sys.executable, "-c", _SEND], stdin=subprocess.PIPE)
    try:
        took = subprocess.run(["ip", "netns", "exec", hosts.inside, sys.executable, "-c", _TAKE], check=True,
                              capture_output=True, text=True, timeout=90)
    finally:
        sender.communicate(b"end\n", timeout=60)
    return took.stdout.strip()
