"""Both directions of a TCP connection, by hand, with the numbers and checksums that a client and a server would write."""
import socket
import struct

from capture_files import checksum, ethernet, ipv4

FIN, SYN, RST, PSH, ACK, URG = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
REQUEST = b"GET / HTTP/1.1\r\nHost: www.example\r\n\r\n"


class Dialogue:
    """`sent` is the list of its frames. Numbers are counted from the client's or the server's first byte."""

    def __init__(self, client="192.0.2.1", server="198.51.100.7", ports=(40000, 80), window=65535, ttl=64):
        self.hosts, self.ports, self.window, self.ttl = (client, server), ports, window, ttl
        self.first, self.sent = (1000, 5_000_000), []

    def send(self, end, flags, data=b"", at=0, acks=0, urgent=0, wrong=False, ttl=None, options=b""):
        """From the client (end 0) or the server (1)."""
        (source, target), (sport, dport) = self.hosts[::1 - 2 * end], self.ports[::1 - 2 * end]
        seq = (self.first[end] + at) & 0xFFFFFFFF
        ack = (self.first[1 - end] + acks) & 0xFFFFFFFF if flags & ACK else 0
        head = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, (5 + len(options) // 4) << 4, flags, self.window, 0, urgent)
        data = options + data
        pseudo = socket.inet_aton(source) + socket.inet_aton(target) + struct.pack("!HH", 6, len(head + data))
        total = checksum(pseudo + head + data) ^ (0x5555 if wrong else 0)
        packet = bytearray(ipv4(source, target, 6, head[:16] + struct.pack("!H", total) + head[18:] + data))
        packet[8] = self.ttl if ttl is None else ttl
        packet[10:12] = b"\0\0"
        packet[10:12] = struct.pack("!H", checksum(bytes(packet[:20])))
        self.sent.append(ethernet(bytes(packet), 0x0800))
        return self

    def client(self, flags, data=b"", **more):
        return self.send(0, flags, data, **more)

    def server(self, flags, data=b"", **more):
        return self.send(1, flags, data, **more)

    def handshake(self):
        return self.client(SYN, at=-1).server(SYN | ACK, at=-1).client(ACK)
