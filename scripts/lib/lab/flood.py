#!/usr/bin/env python3
"""flood.py ADDRESS PORT PPS PAYLOAD START SECONDS: sends UDP packets evenly paced.

From START on CLOCK_MONOTONIC for SECONDS. At its end prints, as JSON, how many were sent and the
fewest within any whole second: what was due and could not be sent in time is made up for, but a
second that offered too little shows.
"""
import json
import socket
import sys
import time

STEP = 0.001  # seconds between batches


def main():
    address, port, pps, payload, start, seconds = sys.argv[1:]
    pps, start, seconds = int(pps), float(start), float(seconds)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect((address, int(port)))
    packet, send = bytes(int(payload)), sender.send
    sent, per_second = 0, {}
    time.sleep(max(0.0, start - time.monotonic()))
    while (elapsed := time.monotonic() - start) < seconds:
        due = int(elapsed * pps) - sent
        for _ in range(due):
            send(packet)
        sent += due
        second = int(elapsed)
        per_second[second] = per_second.get(second, 0) + due
        time.sleep(STEP)
    whole = [per_second.get(second, 0) for second in range(int(seconds))]
    print(json.dumps({"sent": sent, "slowest_second": min(whole, default=sent)}))


if __name__ == "__main__":
    main()
