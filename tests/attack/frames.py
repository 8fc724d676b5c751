"""Frames of any shape, mutated, between those of the flood: none ends the box, and none opens a closed rule."""
import subprocess
import sys
import time

import target as targets
from target import Outcome, Target

# Sends frames that begin as sound ones of many kinds and are damaged: bits, lengths, order of headers; ends with its
# input, then says how many.
_SEND = """
import random, select, socket, struct, sys
import capture_files as frames
dice = random.Random(int(sys.argv[1]))
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
def payload(depth=0):
    udp = frames.udp_header(dice.randrange(65536), dice.choice((9, 53, 2152, 4789)), dice.randbytes(dice.randrange(64)))
    kind = dice.randrange(7)
    if kind == 0 and depth < 6:
        return 0x0800, frames.ipv4("10.78.1.1", "10.79.1.9", 4, payload(depth + 1)[1])
    if kind == 1 and depth < 6:
        return 0x0800, frames.ipv4("10.78.1.1", "10.79.1.9", 47, struct.pack("!HH", 0, 0x0800) + payload(depth + 1)[1])
    if kind == 2:
        return 0x86DD, frames.ipv6("2001:db8::1", "2001:db8::2", dice.choice((0, 17, 43, 44, 60)), dice.randbytes(48))
    if kind == 3 and depth < 6:
        return 0x8847, struct.pack("!I", dice.getrandbits(32)) + payload(depth + 1)[1]
    if kind == 4:
        return 0x8864, bytes([0x11, 0, 0, 1]) + struct.pack("!H", 42) + dice.choice((bytes([0, 0x21]), bytes([0x21]))) + frames.ipv4("10.78.1.1", "10.79.1.9", 17, udp)
    if kind == 5:
        return dice.choice((0x8100, 0x88A8)), struct.pack("!HH", dice.getrandbits(16), 0x0800) + frames.ipv4("10.78.1.1", "10.79.1.9", 17, udp)
    return 0x0800, frames.ipv4("10.78.1.1", "10.79.1.9", dice.choice((1, 6, 17, 50, 132)), udp)
def mutated():
    kind, body = payload()
    frame = bytearray(frames.ethernet(body, kind))
    for _ in range(dice.randrange(6)):
        frame[dice.randrange(12, len(frame))] ^= 1 << dice.randrange(8)
    if dice.random() < 0.3:
        del frame[dice.randrange(14, len(frame)):]
    return bytes(frame[:1514])
print("ready", flush=True)
sent = 0
while not select.select([sys.stdin], [], [], 0.001)[0]:
    for _ in range(20):
        out.send(mutated())
        sent += 1
print(sent)
"""


def run(programs, deadline, dice):
    outcome = Outcome()
    with Target(programs) as target:
        sender = subprocess.Popen(
            ["ip", "netns", "exec", target.hosts.outside, sys.executable, "-c", _SEND, str(dice.getrandbits(32))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=targets.SMOKE)
        assert sender.stdout.readline() == "ready\n"
        while time.monotonic() < deadline and target.box.dataplane.poll() is None:
            time.sleep(0.2)
        outcome.attempts = int(sender.communicate("\n")[0])
        outcome.survived = outcome.attempts if target.carries() else 0
        target.expect_the_bound(outcome)
    return outcome
