"""Numbered frames from one host to another, when each was sent, and when it came.

    numbered.py send INTERFACE RATE   until its input ends; then prints how many
    numbered.py take INTERFACE        until its input ends; then prints [number, sent, came] of each as JSON

Times are CLOCK_REALTIME, in ns; a frame came when the kernel took it from the link.
"""
import json
import select
import socket
import struct
import sys
import time

MAGIC = b"sluice-bench"
PATIENCE = 0.05
SO_TIMESTAMPNS = 35


def frame(number, now=0):
    payload = MAGIC + struct.pack("!QQ", number, now)
    udp = struct.pack("!HHHH", 40000, 9, 8 + len(payload), 0) + payload
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 77, 1, 1]),
                       bytes([10, 77, 0, 2]))
    return b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0" + head + udp


def send(interface, rate):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((interface, 0))
    print("ready", flush=True)
    began, sent = time.monotonic(), 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        due = int((time.monotonic() - began) * rate) - sent
        for _ in range(due):
            out.send(frame(sent, time.time_ns()))
            sent += 1
        time.sleep(0.0005)
    print(sent)


def take(interface):
    taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    taken.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    taken.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    taken.bind((interface, 0x0800))
    print("ready", flush=True)
    came = []
    while True:
        ready = select.select([taken, sys.stdin], [], [], PATIENCE)[0]
        if taken in ready:
            data, stamps, _, _ = taken.recvmsg(2048, 64)
            if data[42:54] == MAGIC:
                seconds, ns = struct.unpack("qq", stamps[0][2])
                came.append((*struct.unpack_from("!QQ", data, 54), seconds * 1_000_000_000 + ns))
        elif sys.stdin in ready:
            break
    print(json.dumps(came))


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]))
    else:
        take(sys.argv[2])
