"""Countries and autonomous systems of addresses, from files in MaxMind's format (MMDB).

The tree is walked bit by bit for every address, and a record is decoded each time it is met.
"""
import ipaddress

MARKER = b"\xab\xcd\xefMaxMind.com"
POINTER, TEXT, MAP, ARRAY, BOOLEAN = 1, 2, 7, 11, 14
NUMBERS = (5, 6, 9, 10)
SEPARATOR = 16  # bytes between the tree and the records


class Decoder:
    def __init__(self, data, base):
        self.data, self.base = data, base

    def value(self, at):
        """-> (value, where the next one is)"""
        control = self.data[at]
        kind, size, at = control >> 5, control & 0x1F, at + 1
        if kind == POINTER:
            return self.pointed(control, at)
        if kind == 0:
            kind, at = self.data[at] + 7, at + 1
        if size >= 29:
            wide = size - 28
            size = (0, 29, 285, 65821)[wide] + int.from_bytes(self.data[at:at + wide], "big")
            at += wide
        if kind == MAP:
            return self.map(size, at)
        if kind == ARRAY:
            return self.array(size, at)
        if kind == BOOLEAN:
            return bool(size), at
        raw = self.data[at:at + size]
        value = raw.decode() if kind == TEXT else int.from_bytes(raw, "big") if kind in NUMBERS \
            else raw
        return value, at + size

    def pointed(self, control, at):
        more, high = (control >> 3 & 3) + 1, control & 7
        low = int.from_bytes(self.data[at:at + more], "big")
        target = low if more == 4 else (high << 8 * more | low) + (0, 0, 2048, 526336)[more]
        return self.value(self.base + target)[0], at + more

    def map(self, size, at):
        members = {}
        for _ in range(size):
            name, at = self.value(at)
            members[name], at = self.value(at)
        return members, at

    def array(self, size, at):
        items = []
        for _ in range(size):
            item, at = self.value(at)
            items.append(item)
        return items, at


class Database:
    """An IPv6 tree, with IPv4 under ::/96. Where it leads there once more, IPv6 has nothing."""

    def __init__(self, data):
        start = data.rindex(MARKER) + len(MARKER)
        about, _ = Decoder(data, start).value(start)
        self.data, self.nodes, self.bits = data, about["node_count"], about["record_size"]
        self.decoder = Decoder(data, self.nodes * self.bits // 4 + SEPARATOR)
        self.ipv4 = self.follow(0, 0, 96)

    def record(self, node, side):
        """24 or 32 bits, or 28: then the byte in the middle has four of each."""
        size, at = self.bits // 4, node * self.bits // 4
        both = self.data[at:at + size]
        if self.bits != 28:
            half = size // 2
            return int.from_bytes(both[side * half:side * half + half], "big")
        middle = both[3] & 0x0F if side else both[3] >> 4
        return middle << 24 | int.from_bytes(both[4 * side:4 * side + 3], "big")

    def follow(self, node, bits, count, barred=None):
        """Where the next `count` of these bits lead from a node; None: nowhere, or to `barred`."""
        for bit in range(count - 1, -1, -1):
            if node >= self.nodes:
                break
            node = self.record(node, bits >> bit & 1)
            if node == barred:
                return None
        return node

    def of(self, address):
        if address.version == 4:
            node = self.follow(self.ipv4, int(address), 32)
        else:
            barred = self.ipv4 if self.ipv4 < self.nodes else None
            node = self.follow(0, int(address), 128, barred)
        if node is None or node <= self.nodes:
            return {}
        return self.decoder.value(self.decoder.base + node - self.nodes - SEPARATOR)[0]


class Origins:
    """What `data` of a rule file says of addresses, as fields."""

    def __init__(self, country_db=None, asn_db=None):
        self.countries, self.systems = country_db, asn_db
        self.known = {}

    def fields(self, packet_fields):
        """The fields that a packet has on account of its addresses."""
        found = {}
        for name in ("ip.src", "ip.dst"):
            address = packet_fields.get(name)
            if isinstance(address, (ipaddress.IPv4Address, ipaddress.IPv6Address)):
                for what, value in self.of(address).items():
                    found[f"{name}.{what}"] = value
        return found

    def of(self, address):
        if address not in self.known:
            country = self.countries.of(address) if self.countries else {}
            system = self.systems.of(address) if self.systems else {}
            both = {"country": country.get("country", {}).get("iso_code"),
                    "asn": system.get("autonomous_system_number")}
            self.known[address] = {what: value for what, value in both.items() if value}
        return self.known[address]
