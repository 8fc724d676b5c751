"""Numbered frames from one host to another, and when each came.

    numbered.py send INTERFACE RATE   until its input ends
    numbered.py take INTERFACE        until its input ends; then prints pairs of number and time as JSON

Times are CLOCK_MONOTONIC, in ns, as the kernel took the frame from the link.
"""
import json
import select
import socket
import struct
import sys
import time

MAGIC = b"sluice-bench"
PATIENCE = 0.05


def frame(number):
    payload = MAGIC + struct.pack("!Q", number)
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
            out.send(frame(sent))
            sent += 1
        time.sleep(0.0005)
    print(sent)


def take(interface):
    taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    taken.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    taken.bind((interface, 0x0800))
    print("ready", flush=True)
    came = []
    while True:
        ready = select.select([taken, sys.stdin], [], [], PATIENCE)[0]
        if taken in ready:
            data, now = taken.recv(2048), time.monotonic_ns()
            if data[42:54] == MAGIC:
                came.append((struct.unpack_from("!Q", data, 54)[0], now))
        elif sys.stdin in ready:
            break
    print(json.dumps(came))


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]))
    else:
        take(sys.argv[2])
