"""Frames sent by the kernel's own test of programs: a program that answers XDP_TX, run over one frame
again and again with BPF_F_TEST_XDP_LIVE_FRAMES, as fast as the interface takes them.

    live_frames.py INTERFACE HEX_OF_THE_FRAME

Sends until its input ends; then prints how many.
"""
import ctypes
import os
import select
import socket
import struct
import sys

SYS_BPF = 321  # x86-64
PROG_LOAD, PROG_TEST_RUN = 5, 10
TYPE_XDP, XDP_TX = 6, 3
LIVE_FRAMES = 1 << 1
AT_ONCE = 20_000
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    room = ctypes.create_string_buffer(attributes, 144)
    got = libc.syscall(SYS_BPF, command, room, len(attributes))
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"bpf({command})")
    return got


def program_that_sends():
    # r0 = XDP_TX; exit
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xB7, 0, 0, XDP_TX) + struct.pack("<BBhi", 0x95, 0, 0, 0))
    word = ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("<IIQQIIQII", TYPE_XDP, 2, ctypes.addressof(code), ctypes.addressof(word),
                                      0, 0, 0, 0, 0))


def main():
    interface, frame = sys.argv[1], bytes.fromhex(sys.argv[2])
    program = program_that_sends()
    data = ctypes.create_string_buffer(frame, len(frame))
    context = ctypes.create_string_buffer(
        struct.pack("<6I", 0, len(frame), 0, socket.if_nametoindex(interface), 0, 0))
    run = struct.pack("<IIIIQQIIIIQQIII4x", program, 0, len(frame), 0, ctypes.addressof(data), 0, AT_ONCE, 0, 24, 0,
                      ctypes.addressof(context), 0, LIVE_FRAMES, 0, 64)
    print("ready", flush=True)
    sent = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        bpf(PROG_TEST_RUN, run)
        sent += AT_ONCE
    print(sent)


if __name__ == "__main__":
    main()
