"""Frames and capture files, made by hand: what the smoke tests feed to sluicectl."""
import os
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

SECOND = 1_000_000_000


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    # The sum of 16-bit words with its carries added back: the rest by 0xFFFF, of which only zeroes have none.
    number = int.from_bytes(data, "big")
    return 0xFFFF - (number % 0xFFFF or (0xFFFF if number else 0))


def ethernet(payload, ether_type, tags=()):
    head = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02"
    for tpid, tci in tags:
        head += struct.pack("!HH", tpid, tci)
    return head + struct.pack("!H", ether_type) + payload


def ipv4(src, dst, proto, payload, tos=0, identification=1, fragment=0):
    """`fragment`: the word of flags and offset."""
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), identification, fragment, 64, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(src, dst, proto, payload):
    return struct.pack("!IHBB16s16s", 6 << 28, len(payload), proto, 64,
                       socket.inet_pton(socket.AF_INET6, src),
                       socket.inet_pton(socket.AF_INET6, dst)) + payload


def udp_header(sport, dport, payload=b""):
    return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload


def udp(src="192.0.2.1", dst="198.51.100.7", sport=1000, dport=53, size=0, tags=()):
    """A UDP frame; `size` is that of the IP packet, when it matters."""
    payload = b"x" * max(0, size - 28)
    return ethernet(ipv4(src, dst, 17, udp_header(sport, dport, payload)), 0x0800, tags)


def udp6(src="2001:db8::1", dst="2001:db8::2", sport=1000, dport=53):
    return ethernet(ipv6(src, dst, 17, udp_header(sport, dport)), 0x86DD)


def tcp(src="192.0.2.1", dst="198.51.100.7", sport=1000, dport=80, flags=0x02):
    head = struct.pack("!HHIIBBHHH", sport, dport, 1, 0, 5 << 4, flags, 1000, 0, 0)
    return ethernet(ipv4(src, dst, 6, head), 0x0800)


def opened(frames, answered=False):
    """With a SYN before the first segment of each connection over IPv4, and its server's SYN-ACK where it is `answered`.
    -> (the frames, from 1 on the numbers of those that were given)"""
    begun, sent, numbers = set(), [], []
    for frame in frames:
        ends = frame[26:38]
        if frame[12:14] == b"\x08\0" and frame[23] == 6 and ends not in begun:
            begun.add(ends)
            if not frame[47] & 0x02:
                first, = struct.unpack_from("!I", frame, 38)
                head = frame[34:38] + struct.pack("!IIBBHHH", (first - 1) % 2**32, 0, 5 << 4, 0x02, 1000, 0, 0)
                client, server = socket.inet_ntoa(ends[:4]), socket.inet_ntoa(ends[4:8])
                sent.append(ethernet(ipv4(client, server, 6, head), 0x0800))
                if answered:
                    expected, = struct.unpack_from("!I", frame, 42)
                    head = frame[36:38] + frame[34:36] + struct.pack(
                        "!IIBBHHH", (expected - 1) % 2**32, first, 5 << 4, 0x12, 0xFFFF, 0, 0)
                    sent.append(ethernet(ipv4(server, client, 6, head), 0x0800))
        sent.append(frame)
        numbers.append(len(sent))
    return sent, numbers


def icmp(src="192.0.2.1", dst="198.51.100.7"):
    return ethernet(ipv4(src, dst, 1, struct.pack("!BBHHH", 8, 0, 0xF7FE, 1, 1)), 0x0800)


def client_hello(name, newest=ssl.TLSVersion.TLSv1_3):
    """The first bytes that a client sends which asks for `name`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.maximum_version = newest
    sent = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return sent.read()


def arp():
    return ethernet(b"\0\x01\x08\0\x06\x04\0\x01" + b"\0" * 20, 0x0806)


def pcap(frames, nanoseconds=True, order="<", link=1, snap=None):
    """`frames`: (time in ns, bytes). `snap` cuts them as a capture's snap length does."""
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link)
    for time, frame in frames:
        fraction = time % SECOND
        kept = frame if snap is None else frame[:snap]
        out += struct.pack(order + "IIII", time // SECOND,
                           fraction if nanoseconds else fraction // 1000, len(kept), len(frame))
        out += kept
    return out


def pcapng(frames, order="<", links=(1,)):
    """Nanoseconds. An interface of its own snap length for each of `links`; a frame with a third
    member is of that interface, the others of the first."""
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        size = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + size + body + size

    out = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    for number, link in enumerate(links):
        out += block(1, struct.pack(order + "HHI", link, 0, number * 100) +
                     struct.pack(order + "HH", 9, 1) + b"\x09\0\0\0" +
                     struct.pack(order + "HH", 0, 0))
    for time, frame, *interface in frames:
        out += block(6, struct.pack(order + "IIIII", *(interface or (0,)), time >> 32,
                                    time & 0xFFFFFFFF, len(frame), len(frame)) + frame)
    return out


def read_pcap(data):
    """[(time in ns, bytes, size on the wire)] of a little-endian nanosecond pcap."""
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, link) == (0xA1B23C4D, 1), (hex(magic), link)
    frames, at = [], 24
    while at < len(data):
        seconds, fraction, size, wire = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * SECOND + fraction, data[at + 16:at + 16 + size], wire))
        at += 16 + size
    return frames


class Case(unittest.TestCase):
    """A test with a folder of its own that runs sluicectl."""
    sluicectl = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sluice-smoke-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_ctl(self, *words, stdin=None, within=60):
        return subprocess.run([self.sluicectl, *words], input=stdin, capture_output=True,
                              timeout=within, check=False)

    def ctl(self, *words, exit=0, **options):
        """Runs sluicectl, insists on its exit code, gives (stdout, stderr)."""
        done = self.run_ctl(*words, **options)
        self.assertEqual(done.returncode, exit,
                         f"{words}: {done.stdout.decode()} {done.stderr.decode()}")
        return done.stdout.decode(), done.stderr.decode()


def main():
    Case.sluicectl = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
