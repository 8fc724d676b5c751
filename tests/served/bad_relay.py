#!/usr/bin/env python3
"""bad_relay.py SEED: frames between far0 and eth0, until its input ends: 3 % lost, 3 % doubled, 20 % out of order."""
import heapq
import random
import select
import socket
import sys
import time

LOST, DOUBLED, REORDERED = 0.03, 0.03, 0.20
LATE = 0.004  # seconds by which a frame is overtaken
RECEIVE_FORCE = 33


def opened(name):
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    one.setsockopt(socket.SOL_SOCKET, RECEIVE_FORCE, 16 << 20)
    one.bind((name, 3))
    one.setblocking(False)
    return one


def is_bad(frame):
    """ARP passes: a neighbour that is not found is no matter of this."""
    return frame[12:14] == b"\x08\x00"


class Relay:
    def __init__(self, seed):
        self.dice = random.Random(f"bad path {seed}")
        self.ends = opened("far0"), opened("eth0")
        with open("/sys/class/net/eth0/address", encoding="utf-8") as file:
            self.own = bytes.fromhex(file.read().strip().replace(":", ""))
        self.late, self.number = [], 0
        self.counts = dict.fromkeys(("frames", "lost", "doubled", "reordered"), 0)

    def put(self, end, frame):
        try:
            end.send(frame)
        except OSError:
            pass  # a full queue loses, as the path does

    def take(self, frame, to, now):
        self.counts["frames"] += 1
        dice = self.dice.random()
        if not is_bad(frame) or dice > LOST + DOUBLED + REORDERED:
            self.put(to, frame)
        elif dice < LOST:
            self.counts["lost"] += 1
        elif dice < LOST + DOUBLED:
            self.counts["doubled"] += 1
            self.put(to, frame)
            self.put(to, frame)
        else:
            self.counts["reordered"] += 1
            self.number += 1
            heapq.heappush(self.late, (now + LATE * self.dice.random(), self.number, to, frame))

    def forward(self, end, now):
        to = self.ends[1 - self.ends.index(end)]
        for _ in range(64):
            try:
                frame, (_, _, kind, _, _) = end.recvfrom(65536)
            except BlockingIOError:
                return
            # What is for the host that this runs at is its own affair.
            if kind != socket.PACKET_OUTGOING and frame[:6] != self.own:
                self.take(frame, to, now)

    def run(self):
        while sys.stdin not in (ready := select.select([*self.ends, sys.stdin], [], [], 0.002 if self.late else 1)[0]):
            now = time.monotonic()
            for end in ready:
                self.forward(end, now)
            while self.late and self.late[0][0] <= now:
                _, _, to, frame = heapq.heappop(self.late)
                self.put(to, frame)


if __name__ == "__main__":
    relay = Relay(sys.argv[1])
    print("ready", flush=True)
    relay.run()
    print(", ".join(f"{count} {name}" for name, count in relay.counts.items()))
