"""Queries of DNS as bytes."""
import struct

A, IN, OPT = 1, 1, 41


def name(text):
    return b"".join(bytes([len(label)]) + label for label in text.encode().split(b".") if label) + b"\0"


def message(question, number=7, flags=0x0100, counts=(1, 0, 0, 0), rest=b""):
    return struct.pack("!HH4H", number, flags, *counts) + question + rest


def question(text, kind=A, group=IN):
    return name(text) + struct.pack("!HH", kind, group)


def query(text, **how):
    return message(question(text), **how)


def padding(size):
    """An OPT record with so many bytes of padding."""
    return b"\0" + struct.pack("!HHIH", OPT, 1232, 0, size + 4) + struct.pack("!HH", 12, size) + bytes(size)


def over_tcp(*messages):
    return b"".join(len(one).to_bytes(2, "big") + one for one in messages)
