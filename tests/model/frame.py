"""What a frame says of itself: a plain walk over its bytes, one small function per header.

Two lengths end a walk. Where the frame ended on the wire and a header still goes on, the frame is
malformed. Where only the capture ended (its snap length), the walk stops with what it has.
"""
import ipaddress

VLAN_TYPES = (0x8100, 0x88A8, 0x9100, 0x9200)
MPLS_TYPES = (0x8847, 0x8848)
PPPOE_SESSION = 0x8864
LEAST_ETHER_TYPE = 0x0600  # less is the length of an 802.3 frame
IPV4, IPV6, BRIDGED = 0x0800, 0x86DD, 0x6558
PPP_TYPES = {0x0021: IPV4, 0x0057: IPV6, 0x0281: 0x8847}
EXTENSIONS = (0, 43, 51, 60, 135, 139, 140)
MOST_EXTENSIONS = 16
MOST_IP_HEADERS = 4
MINIMUM_FRAME = 60
SMALLEST_TYPE = 0x0600  # below it is a length (802.3)
PORTS_ONLY = (33, 132, 136)  # DCCP, SCTP, UDP-Lite: only their ports are read
FLAG_BITS = {"fin": 0x01, "syn": 0x02, "rst": 0x04, "psh": 0x08, "ack": 0x10, "urg": 0x20}


class Malformed(Exception):
    """The frame contradicts itself or ends too early; the text is the reason."""


class Cut(Exception):
    """The capture holds no more of this frame."""


class Dissection:
    """`fields`: name -> int, text or address. `malformed`: the reason, or None. `units`: bytes
    that `per: byte` charges."""

    def __init__(self):
        self.fields = {}
        self.malformed = None
        self.units = 0


def dissect(data, wire, tunnels=()):
    walk = _Walk(data, max(wire, len(data)), tunnels)
    try:
        walk.ethernet(0)
    except Malformed as reason:
        walk.result.malformed = str(reason)
    except Cut:
        pass
    walk.result.units = walk.units()
    return walk.result


class _Walk:
    def __init__(self, data, wire, tunnels):
        self.data, self.wire, self.tunnels = data, wire, tunnels
        self.result = Dissection()
        self.fields = self.result.fields
        self.end = wire  # where the packet at hand ends: the frame, or what an IP length says
        self.l3_at = 0  # where what follows the link layer begins
        self.ip_length = None
        self.ip_headers = 0

    def units(self):
        behind = self.wire - self.l3_at
        length = self.ip_length
        if length is None or length == 0 or length > behind:
            return max(behind, 0)
        if length < behind and self.wire > MINIMUM_FRAME:
            return behind
        return length

    # Reading.

    def number(self, at, size):
        if at + size > len(self.data):
            raise Cut
        return int.from_bytes(self.data[at:at + size], "big")

    def raw(self, at, size):
        if at + size > len(self.data):
            raise Cut
        return self.data[at:at + size]

    def need(self, at, size, reason):
        """The header of `size` bytes at `at` was on the wire."""
        if at + size > self.end:
            raise Malformed(reason)

    # The link layer.

    def ethernet(self, at):
        inner = self.ip_headers > 0
        self.need(at, 14, "truncated_l2")
        if not inner:
            self.l3_at = at + 14
            self.fields["eth.dst"] = mac_text(self.raw(at, 6))
            self.fields["eth.src"] = mac_text(self.raw(at + 6, 6))
        kind, at = self.number(at + 12, 2), at + 14
        tags = []
        while kind in VLAN_TYPES:
            self.need(at, 4, "truncated_l2")
            if not inner:
                self.l3_at = at + 4
            tags.append(self.number(at, 2) & 0x0FFF)
            if not inner:
                self.fields["vlan.id" if len(tags) == 1 else "vlan.inner_id"] = tags[-1]
                if len(tags) > 2:
                    self.fields["vlan.inner_id"] = tags[1]
            kind, at = self.number(at + 2, 2), at + 4
        if not inner and kind >= LEAST_ETHER_TYPE:
            self.fields["eth.type"] = kind
        self.behind_ethernet(kind, at)

    def behind_ethernet(self, kind, at):
        if kind == PPPOE_SESSION:
            kind, at = self.pppoe(at)
        if kind in MPLS_TYPES:
            kind, at = self.mpls(at)
        if self.ip_headers == 0:
            self.l3_at = at
        if kind == IPV4:
            self.ipv4(at)
        elif kind == IPV6:
            self.ipv6(at)

    def pppoe(self, at):
        self.need(at, 8, "truncated_l2")
        return PPP_TYPES.get(self.number(at + 6, 2), 0), at + 8

    def mpls(self, at):
        bottom = False
        while not bottom:
            self.need(at, 4, "truncated_l2")
            bottom = bool(self.number(at + 2, 1) & 1)
            at += 4
        if self.ip_headers == 0:
            self.l3_at = at
        if at >= self.end:
            return 0, at
        return {4: IPV4, 6: IPV6}.get(self.number(at, 1) >> 4, 0), at

    # IP.

    def begin_ip(self, at, version):
        """The header at `at` is now the one that ip.* means; the one before it is the outer."""
        self.ip_headers += 1
        if self.ip_headers > MOST_IP_HEADERS:
            raise Malformed("too_deep")
        if self.ip_headers == 2:
            for name in ("ip.src", "ip.dst"):
                self.fields["outer." + name] = self.fields[name]
        for name in [name for name in self.fields
                     if name.split(".")[0] in ("ip", "l4", "tcp", "icmp", "payload")]:
            del self.fields[name]
        self.fields["ip.version"] = version
        self.l3_at = at
        self.ip_length = None

    def close_ip(self, at, length):
        """The packet ends where its length says, if that can be."""
        self.ip_length = length
        if 0 < length <= self.end - at:
            self.end = at + length

    def ipv4(self, at):
        self.need(at, 20, "truncated_l3")
        first = self.number(at, 1)
        header = (first & 0x0F) * 4
        if first >> 4 != 4 or header < 20:
            raise Malformed("bad_ip_header")
        self.need(at, header, "truncated_l3")
        self.begin_ip(at, 4)
        self.fields["ip.dscp"] = self.number(at + 1, 1) >> 2
        length = self.number(at + 2, 2)
        if 0 < length < header:
            raise Malformed("bad_ip_header")
        self.fields["ip.len"] = length
        self.close_ip(at, length)
        fragment = self.number(at + 6, 2)
        self.fields["ip.frag"] = fragment_word(fragment & 0x1FFF, fragment & 0x2000)
        self.fields["ip.ttl"] = self.number(at + 8, 1)
        self.fields["ip.proto"] = self.number(at + 9, 1)
        self.fields["ip.src"] = ipaddress.IPv4Address(self.raw(at + 12, 4))
        self.fields["ip.dst"] = ipaddress.IPv4Address(self.raw(at + 16, 4))
        if self.fields["ip.frag"] != "later":
            self.behind_ip(self.fields["ip.proto"], at + header)

    def ipv6(self, at):
        self.need(at, 40, "truncated_l3")
        if self.number(at, 1) >> 4 != 6:
            raise Malformed("bad_ip_header")
        self.begin_ip(at, 6)
        self.fields["ip.dscp"] = (self.number(at, 2) >> 6) & 0x3F
        claimed = self.number(at + 4, 2)
        self.fields["ip.len"] = 40 + claimed
        self.ip_length = 40 + claimed
        if claimed > 0:
            self.close_ip(at, 40 + claimed)
        self.fields["ip.frag"] = "none"
        kind = self.number(at + 6, 1)
        self.fields["ip.ttl"] = self.number(at + 7, 1)
        self.fields["ip.src"] = ipaddress.IPv6Address(self.raw(at + 8, 16))
        self.fields["ip.dst"] = ipaddress.IPv6Address(self.raw(at + 24, 16))
        self.extensions(kind, at + 40)

    def extensions(self, kind, at):
        walked = 0
        while kind in EXTENSIONS or kind == 44:
            walked += 1
            if walked > MOST_EXTENSIONS:
                raise Malformed("too_deep")
            self.need(at, 8, "truncated_l3")
            following = self.number(at, 1)
            if kind == 44:
                offset = self.number(at + 2, 2)
                word = fragment_word(offset >> 3, offset & 1)
                self.fields["ip.frag"] = word
                if word == "later":
                    self.fields["ip.proto"] = following
                    return
                size = 8
            elif kind == 51:
                size = (self.number(at + 1, 1) + 2) * 4
            else:
                size = (self.number(at + 1, 1) + 1) * 8
            self.need(at, size, "truncated_l3")
            kind, at = following, at + size
        self.fields["ip.proto"] = kind
        self.behind_ip(kind, at)

    # What IP carries.

    def behind_ip(self, kind, at):
        version = self.fields["ip.version"]
        if kind == 6:
            self.tcp(at)
        elif kind == 17:
            self.udp(at)
        elif kind in PORTS_ONLY:
            if at + 4 <= self.end:
                self.ports(at)
        elif (kind, version) in ((1, 4), (58, 6)):
            self.icmp(at)
        elif kind == 47 and "gre" in self.tunnels:
            self.gre(at)
        elif kind == 4 and "ipip" in self.tunnels:
            self.ipv4(at)
        elif kind == 41 and "ipip" in self.tunnels:
            self.ipv6(at)

    def payload(self, at, most=None):
        length = self.end - at
        self.fields["payload.len"] = length if most is None else min(length, most)

    def ports(self, at):
        both = self.number(at, 4)
        self.fields["l4.sport"], self.fields["l4.dport"] = both >> 16, both & 0xFFFF

    def tcp(self, at):
        self.need(at, 20, "truncated_l4")
        self.ports(at)
        header = (self.number(at + 12, 1) >> 4) * 4
        if header < 20 or at + header > self.end:
            raise Malformed("bad_l4_header")
        flags = self.number(at + 12, 2) & 0x0FFF
        self.fields["tcp.flags"] = flags
        for name, bit in FLAG_BITS.items():
            self.fields["tcp.flags." + name] = 1 if flags & bit else 0
        self.payload(at + header)

    def udp(self, at):
        self.need(at, 8, "truncated_l4")
        self.ports(at)
        length = self.number(at + 4, 2)
        if 0 < length < 8:
            raise Malformed("bad_l4_header")
        self.payload(at + 8, length - 8 if length else None)
        if self.fields["l4.dport"] == 4789 and "vxlan" in self.tunnels:
            self.vxlan(at + 8)

    def icmp(self, at):
        self.need(at, 8, "truncated_l4")
        self.fields["icmp.type"] = self.number(at, 1)
        self.fields["icmp.code"] = self.number(at + 1, 1)
        self.payload(at + 8)

    # Tunnels.

    def gre(self, at):
        self.need(at, 4, "truncated_l4")
        bits, kind = self.number(at, 2), self.number(at + 2, 2)
        if bits & 0x4007:  # source routes, and any version but 0
            return
        at += 4 + 4 * bool(bits & 0x8000) + 4 * bool(bits & 0x2000) + 4 * bool(bits & 0x1000)
        if kind == BRIDGED:
            self.ethernet(at)
        else:
            self.behind_ethernet(kind, at)

    def vxlan(self, at):
        self.need(at, 8, "truncated_l4")
        if self.number(at, 1) & 0x08:
            self.ethernet(at + 8)


def fragment_word(offset, more):
    if offset:
        return "later"
    return "first" if more else "none"


def mac_text(octets):
    return ":".join(f"{octet:02x}" for octet in octets)
