"""Databases in MaxMind's format (MMDB), as tests need them.

    mmdb_writer.py GEOIP GEOIP6 OUT     the files of Debian's tor-geoipdb as a country database
"""
import ipaddress
import socket
import sys


def head(kind, size):
    """Type and size of a value; no size above 284 is needed here."""
    short = size if size < 29 else 29
    byte = bytes([short | (kind << 5)]) if kind < 8 else bytes([short, kind - 7])
    return byte + (bytes([size - 29]) if short == 29 else b"")


UINT16, UINT32, UINT64 = 5, 6, 9


def number(kind, whole):
    digits = whole.to_bytes((whole.bit_length() + 7) // 8, "big")
    return head(kind, len(digits)) + digits


def value(thing):
    """Texts, whole numbers (32 bit), maps, lists, and what is encoded already."""
    if isinstance(thing, bytes):
        return thing
    if isinstance(thing, str):
        return head(2, len(thing.encode())) + thing.encode()
    if isinstance(thing, int):
        return number(UINT32, thing)
    if isinstance(thing, list):
        return head(11, len(thing)) + b"".join(map(value, thing))
    return head(7, len(thing)) + b"".join(value(key) + value(of) for key, of in thing.items())


class Database:
    """An IPv6 tree with IPv4 under ::/96. A record is what value() takes; later networks win."""

    def __init__(self, kind):
        self.kind = kind
        self.nodes = [[0, 0]]  # 0: nothing; above: a node; below: -1 - where a record lies
        self.records = {}
        self.data = b""
        self.path, self.last = [0], 0  # the nodes above the network that came last: most are beside it

    def place_of(self, record):
        known = repr(record)
        if known not in self.records:
            self.records[known] = -1 - len(self.data)
            self.data += value(record)
        return self.records[known]

    def add(self, network, record):
        network = ipaddress.ip_network(network)
        size = network.max_prefixlen
        self.put(int(network.network_address), network.prefixlen + 128 - size,
                 self.place_of(record))

    def put(self, address, length, target):
        shared = min(128 - (address ^ self.last).bit_length(), length - 1)
        self.last = address
        del self.path[shared + 1:]
        node = self.path[-1]
        for bit in range(128 - len(self.path), 128 - length, -1):
            side = (address >> bit) & 1
            following = self.nodes[node][side]
            if following <= 0:
                self.nodes.append([following, following])
                following = self.nodes[node][side] = len(self.nodes) - 1
            node = following
            self.path.append(node)
        self.nodes[node][(address >> (128 - length)) & 1] = target

    def add_alias(self, network):
        """Leads there to where ::/96 does, as MaxMind's databases do."""
        node = 0
        for _ in range(96):
            node = self.nodes[node][0]
            assert node > 0, "IPv4 has a tree"
        network = ipaddress.ip_network(network)
        self.put(int(network.network_address), network.prefixlen, node)

    def bytes(self):
        count = len(self.nodes)
        width = 4 if count + 16 + len(self.data) >= 1 << 24 else 3
        tree = bytearray()
        for node in self.nodes:
            for target in node:
                record = target if target > 0 else count if target == 0 else count + 15 - target
                tree += record.to_bytes(width, "big")
        metadata = {"node_count": count, "record_size": number(UINT16, width * 8),
                    "ip_version": number(UINT16, 6), "database_type": self.kind,
                    "languages": ["en"], "binary_format_major_version": number(UINT16, 2),
                    "binary_format_minor_version": number(UINT16, 0),
                    "build_epoch": number(UINT64, 1_700_000_000),
                    "description": {"en": "for tests"}}
        return bytes(tree) + bytes(16) + self.data + b"\xab\xcd\xefMaxMind.com" + value(metadata)


def country(code):
    return {"country": {"iso_code": code}}


def asn(number):
    return {"autonomous_system_number": number, "autonomous_system_organization": "Example"}


def networks_of(first, last, bits):
    """The networks that a range of addresses is made of: (first address, length)."""
    while first <= last:
        host_bits = (first & -first).bit_length() - 1 if first else bits
        host_bits = min(host_bits, (last - first + 1).bit_length() - 1)
        yield first, bits - host_bits
        first += 1 << host_bits


def number_of(end):
    """An address as the files of Tor have it: those of IPv4 are numbers already."""
    return int(end) if end.isdigit() else int.from_bytes(socket.inet_pton(socket.AF_INET6, end), "big")


def countries_of_tor(*paths):
    """Lines of `first,last,CODE`; addresses of IPv4 as numbers."""
    database = Database("Tor-Country")
    for path in paths:
        with open(path, encoding="ascii") as lines:
            for line in lines:
                if line.startswith("#") or not line.strip():
                    continue
                first, last, code = line.strip().split(",")
                if code == "??":
                    continue
                record = database.place_of(country(code))
                bits = 32 if first.isdigit() else 128
                for address, length in networks_of(number_of(first), number_of(last), bits):
                    database.put(address, length + 128 - bits, record)
    for alias in ("::ffff:0:0/96", "2002::/16"):
        database.add_alias(alias)
    return database


if __name__ == "__main__":
    with open(sys.argv[3], "wb") as out:
        out.write(countries_of_tor(*sys.argv[1:3]).bytes())
