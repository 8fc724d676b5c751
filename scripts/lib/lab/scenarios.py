#!/usr/bin/env python3
"""scenarios.py INTERFACE MAC SECONDS [SEED]: sources of four kinds, as UDP frames from addresses of their own.

    typical    most far below their limit, a few near it        port 7001
    too-tight  a dozen packets at once, each few seconds        port 7002
    too-loose  a packet a second                                port 7003
    bots       a steady rate above the limit, among visitors    port 7004

SECONDS 0: until it is ended. At its end prints, as JSON, how many were sent to each port.
"""
import heapq
import json
import math
import random
import signal
import socket
import struct
import sys
import time

SINK = "10.77.0.2"
STEP = 0.005  # seconds between batches
LATE = 1.0    # behind by more than this, what was due is left out
PAGE = 12     # packets of a page load


class Population:
    """Sources 10.NET.0.1 and on; each sends `at_once` packets, and again after next_gap(source)."""

    def __init__(self, net, port, sources, next_gap, at_once=1):
        self.net, self.port, self.sources = net, port, sources
        self.next_gap, self.at_once = next_gap, at_once
        self.sent = 0

    def address(self, source):
        return (10 << 24) | (self.net << 16) | (source + 1)


def populations(draw):
    """Gaps are drawn by `draw`, a random.Random."""
    rates = [min(12.0, draw.lognormvariate(math.log(1.5), 0.9)) for _ in range(200)]
    paces = [draw.uniform(11, 13) for _ in range(60)]

    def of_bot_or_visitor(source):
        if source < len(paces):
            return draw.gauss(1, 0.02) / paces[source]
        return draw.expovariate(0.5)

    return [Population(81, 7001, len(rates), lambda source: draw.expovariate(rates[source])),
            Population(82, 7002, 150, lambda _: draw.uniform(4, 8), at_once=PAGE),
            Population(83, 7003, 200, lambda _: draw.expovariate(1.0)),
            Population(84, 7004, len(paces) + 100, of_bot_or_visitor)]


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def frame(ethernet, source, sport, dport, payload=b"\0" * 18):
    size = 20 + 8 + len(payload)
    begin = struct.pack("!BBHHHBBH", 0x45, 0, size, 0, 0, 64, socket.IPPROTO_UDP, 0)
    ends = struct.pack("!I", source) + socket.inet_aton(SINK)
    header = begin[:10] + struct.pack("!H", checksum(begin + ends)) + ends
    return ethernet + header + struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload


class Sender:
    def __init__(self, interface, mac, seed):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.socket.bind((interface, 0))
        own = self.socket.getsockname()[4]
        self.ethernet = bytes.fromhex(mac.replace(":", "")) + own + b"\x08\x00"
        self.draw = random.Random(seed)
        self.populations = populations(self.draw)
        self.due = [(self.draw.uniform(0, population.next_gap(source)), index, source)
                    for index, population in enumerate(self.populations) for source in range(population.sources)]
        heapq.heapify(self.due)

    def send_due(self, elapsed):
        while self.due[0][0] <= elapsed:
            at, index, source = self.due[0]
            population = self.populations[index]
            heapq.heapreplace(self.due, (at + population.next_gap(source), index, source))
            if elapsed - at > LATE:
                continue
            sport = 1024 + source
            one = frame(self.ethernet, population.address(source), sport, population.port)
            for _ in range(population.at_once):
                try:
                    self.socket.send(one)
                    population.sent += 1
                except OSError:  # the link's queue is full: a source would not be told either
                    continue


def main():
    interface, mac, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    sender = Sender(interface, mac, seed)
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    begin = time.monotonic()
    while not ended and (seconds == 0 or time.monotonic() - begin < seconds):
        sender.send_due(time.monotonic() - begin)
        time.sleep(STEP)
    print(json.dumps({population.port: population.sent for population in sender.populations}))


if __name__ == "__main__":
    main()
