"""Captures, read and written: classic pcap in both byte orders, µs and ns, and pcapng."""
import struct

SECOND = 1_000_000_000
ETHERNET = 1


class BadCapture(Exception):
    """What no reader can go on with. A cut last record is not one of these."""


class Capture:
    """`frames`: [(time in ns, bytes at hand, size on the wire)], None for one that is not Ethernet's;
    `cut`: the last one was cut."""

    def __init__(self):
        self.frames = []
        self.cut = False
        self.time = 0  # of the last one

    def add(self, interface, time, data, wire):
        self.time = time
        self.frames.append((time, data, wire) if interface.link == ETHERNET else None)


def read_capture(path):
    with open(path, "rb") as file:
        data = file.read()
    magic = data[:4]
    for order in "<>":
        for value, unit in ((0xA1B2C3D4, 1000), (0xA1B23C4D, 1)):
            if magic == struct.pack(order + "I", value):
                return _read_classic(data, order, unit)
    if magic == b"\x0a\x0d\x0d\x0a":
        return _read_ng(data)
    raise BadCapture(f"{path}: neither pcap nor pcapng")


def _read_classic(data, order, unit):
    capture = Capture()
    if len(data) < 24:
        raise BadCapture("the file header is cut")
    if struct.unpack_from(order + "I", data, 20)[0] & 0x0FFFFFFF != ETHERNET:
        raise BadCapture("not Ethernet")
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            capture.cut = True
            break
        seconds, fraction, kept, wire = struct.unpack_from(order + "IIII", data, at)
        at += 16
        if at + kept > len(data):
            capture.cut = True
            break
        capture.frames.append((seconds * SECOND + fraction * unit, data[at:at + kept], wire))
        at += kept
    return capture


class _Interface:
    def __init__(self, body, order):
        self.link, _, self.snap = struct.unpack_from(order + "HHI", body)
        self.ticks, self.offset = 1_000_000, 0
        at = 8
        while at + 4 <= len(body):
            code, size = struct.unpack_from(order + "HH", body, at)
            value = body[at + 4:at + 4 + size]
            if code == 0:
                break
            if code == 9:
                self.ticks = 2 ** (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
            if code == 14:
                self.offset = struct.unpack(order + "q", value)[0]
            at += 4 + (size + 3) // 4 * 4

    def time(self, high, low):
        return ((high << 32) | low) * SECOND // self.ticks + self.offset * SECOND


def _read_ng(data):
    capture = Capture()
    order, interfaces, at = "<", [], 0
    while at < len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        if at + 12 > len(data):
            capture.cut = True
            break
        kind, size = struct.unpack_from(order + "II", data, at)
        if at + size > len(data):
            capture.cut = True
            break
        if size < 12:
            raise BadCapture("a block of no size")
        _take_block(capture, interfaces, order, kind, data[at + 8:at + size - 4])
        at += size
    if capture.frames and not any(capture.frames):
        raise BadCapture("not Ethernet")
    return capture


def _take_block(capture, interfaces, order, kind, body):
    if kind == 1:
        interfaces.append(_Interface(body, order))
    elif kind == 6:
        number, high, low, kept, wire = struct.unpack_from(order + "IIIII", body)
        interface = interfaces[number]
        capture.add(interface, interface.time(high, low), body[20:20 + kept], wire)
    elif kind == 2:
        number, _, high, low, kept, wire = struct.unpack_from(order + "HHIIII", body)
        interface = interfaces[number]
        capture.add(interface, interface.time(high, low), body[20:20 + kept], wire)
    elif kind == 3:  # a simple packet has no time: it came when the one before it came
        wire = struct.unpack_from(order + "I", body)[0]
        kept = min(wire, interfaces[0].snap or wire)
        capture.add(interfaces[0], capture.time, body[4:4 + kept], wire)


def write_pcap(frames, order="<", nanoseconds=True):
    """The bytes of a classic pcap file of (time in ns, bytes at hand, size on the wire)."""
    out = [struct.pack(order + "IHHiIII", 0xA1B23C4D if nanoseconds else 0xA1B2C3D4,
                       2, 4, 0, 0, 262144, ETHERNET)]
    unit = 1 if nanoseconds else 1000
    for time, data, wire in frames:
        out.append(struct.pack(order + "IIII", time // SECOND, time % SECOND // unit, len(data),
                               wire))
        out.append(data)
    return b"".join(out)


def _block(order, kind, body):
    body += b"\0" * (-len(body) % 4)
    size = len(body) + 12
    return struct.pack(order + "II", kind, size) + body + struct.pack(order + "I", size)


def _interface(order, link, snap, options=b""):
    return _block(order, 1, struct.pack(order + "HHI", link, 0, snap) + options)


def _nanoseconds(order):
    return struct.pack(order + "HH", 9, 1) + b"\x09\0\0\0" + struct.pack(order + "HH", 0, 0)


def _section(order):
    return _block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def _enhanced(order, interface, time, data, wire):
    return _block(order, 6, struct.pack(order + "IIIII", interface, time >> 32, time & 0xFFFFFFFF,
                                        len(data), wire) + data)


def write_pcapng(frames, order="<"):
    """The bytes of a pcapng file with one interface that counts nanoseconds."""
    out = [_section(order), _interface(order, ETHERNET, 0, _nanoseconds(order))]
    out += [_enhanced(order, 0, time, data, wire) for time, data, wire in frames]
    return b"".join(out)


def write_mixed_pcapng(frames, order="<"):
    """The same from interfaces of other link types and snap lengths, in two sections of either byte
    order, and with frames of those that are not Ethernet."""
    other = {"<": ">", ">": "<"}[order]
    out = []
    for number, (time, data, wire) in enumerate(frames):
        if number in (0, len(frames) // 2):
            order, other = other, order
            out += [_section(order), _interface(order, 113, 96, _nanoseconds(order)),
                    _interface(order, ETHERNET, 0, _nanoseconds(order)),
                    _block(order, 4, b"names"),
                    _interface(order, ETHERNET, 262144, _nanoseconds(order))]
        if number % 5 == 3:
            out.append(_enhanced(order, 0, time, b"not Ethernet's", 14))
        out.append(_enhanced(order, 1 + number % 2, time, data, wire))
    return b"".join(out)
