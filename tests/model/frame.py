"""What a frame says of itself: a plain walk over its bytes, one small function per header.

Two lengths end a walk. Where the frame ended on the wire and a header still goes on, the frame is
malformed. Where only the capture ended (its snap length), the walk stops with what it has: the
headers it has seen whole, and of a transport header the fields whose bytes are there.
"""
import copy
import ipaddress

import tunnels as tunnels_over_udp

METADATA = 0x8909  # Cisco's
VLAN_TYPES = (0x8100, 0x88A8, 0x9100, 0x9200)
MPLS_TYPES = (0x8847, 0x8848)
PPPOE_SESSION = 0x8864
LEAST_ETHER_TYPE = 0x0600  # less is the length of an 802.3 frame
IPV4, IPV6, BRIDGED, NOTHING = 0x0800, 0x86DD, 0x6558, None
PPP_TYPES = {0x0021: IPV4, 0x0057: IPV6, 0x0281: 0x8847, 0x0283: 0x8848}
EXTENSIONS = (0, 43, 44, 51, 60, 135, 139, 140)
FRAGMENT_HEADER, AUTHENTICATION = 44, 51
ONLY_PORTS = (33, 132, 136)  # DCCP, SCTP, UDP-Lite: ports where TCP's are
MOST_EXTENSIONS = 16
MOST_IP_HEADERS = 4
SHORTEST_FRAME = 60  # a frame of this size may end in padding
FLAG_BITS = {"fin": 0x01, "syn": 0x02, "rst": 0x04, "psh": 0x08, "ack": 0x10, "urg": 0x20}


class Malformed(Exception):
    """The frame contradicts itself or ends too early; the text is the reason."""


class Cut(Exception):
    """The capture holds no more of this frame."""


class NotATunnel(Exception):
    """What looked like a tunnel carries nothing to look into."""


class Packet:
    """`fields`: name -> int, text or address. `malformed`: the reason, or None. `units`: bytes
    that `per: byte` charges, `queries`, `requests` and `handshakes` those of `per: query` and so on.
    `headers`: [(name, value)] of the request. `further`: of several units, all but the first. `doubt`: why it is dropped where a rule that acts is written with
    such words (a regular expression), or None. `settle`: who is told whether it was dropped, as `fate`.
    `sequence`: of the first byte behind a TCP header; `numbers`: as they stand in it, the sequence and the
    acknowledgment; `carried`: bytes behind it, by the IP length. `ip_at`: where the outermost IP header is, and its version; `around`: fields of the outermost first fragment that a tunnel's packet came in;
    `options`: of TCP and of IPv4, and whether anything stands between both. `l4_at`, `pppoe_at`: where those headers are. `labels`: whether there is a label stack, `begins_with_metadata`: of Cisco. `came`: when."""

    def __init__(self):
        self.fields = {}
        self.ip_at = self.around = None
        self.malformed = None
        self.units = 0
        self.queries = self.requests = self.handshakes = 0
        self.headers_only = None
        self.sequence = self.doubt = self.settle = self.came = None
        self.numbers, self.carried = (0, 0), 0
        self.l4_at = self.pppoe_at = 0
        self.options = b"", b"", False
        self.labels = False
        self.begins_with_metadata = False
        self.service = None  # what its service made of it
        self.headers = []
        self.further = []
        self.is_reading = False  # of the unit before it, by other servers

    def add_unit(self):
        """Where the next unit's fields go: its own, and those that the packet has of its headers."""
        if self.headers_only is None:
            self.headers_only = dict(self.fields)
            return self
        unit = copy.copy(self)
        unit.fields = dict(self.headers_only)
        self.further.append(unit)
        return unit


class Fragment:
    def __init__(self, datagram, offset, more, size, octets):
        self.datagram, self.offset, self.more, self.size, self.bytes = datagram, offset, more, size, octets


def dissect(data, wire, tunnels=()):
    walk = _Walk(data, max(wire, len(data)), tunnels)
    try:
        walk.frame()
    except Malformed as reason:
        walk.packet.malformed = str(reason)
    except (Cut, NotATunnel):
        pass
    return walk.packet


class _Walk:
    def __init__(self, data, wire, tunnels):
        self.data, self.tunnels = data, tunnels
        self.tunnel_ports = tunnels_over_udp.ports_of(tunnels)
        self.packet = Packet()
        self.fields = self.packet.fields
        self.wire = wire
        self.end = wire  # where the layer at hand ends on the wire
        self.frame_size = wire  # of the frame, or of the frame inside that was bridged
        self.l3_at = 0  # where the IP header is that ip.* means
        self.ip_headers = 0

    # Reading.

    def number(self, at, size):
        return int.from_bytes(self.raw(at, size), "big")

    def raw(self, at, size):
        if at + size > len(self.data):
            raise Cut
        return self.data[at:at + size]

    def need(self, at, size, reason):
        """The header of `size` bytes at `at` was on the wire."""
        if at + size > self.end:
            raise Malformed(reason)

    def whole(self, at, size, reason):
        """It was, and the capture has it."""
        self.need(at, size, reason)
        self.raw(at, size)

    # The link layer: each step gives the EtherType of what follows, and where that is.

    def frame(self):
        self.whole(0, 14, "truncated_l2")
        self.fields["eth.dst"] = mac_text(self.raw(0, 6))
        self.fields["eth.src"] = mac_text(self.raw(6, 6))
        self.packet.units = self.end - 14
        tags, kind, at = [], self.number(12, 2), 14
        while kind in VLAN_TYPES or self.is_metadata(kind, at):
            if kind == METADATA:
                self.packet.begins_with_metadata = self.packet.begins_with_metadata or not tags
                kind, at = self.behind_metadata(at)
            else:
                self.whole(at, 4, "truncated_l2")
                tags.append(self.number(at, 2) & 0x0FFF)
                self.fields.update(zip(("vlan.id", "vlan.inner_id"), tags))
                kind, at = self.number(at + 2, 2), at + 4
            self.packet.units = self.end - at
        if kind >= LEAST_ETHER_TYPE:
            self.fields["eth.type"] = kind
        self.ip(*self.shims(kind, at))

    def is_metadata(self, kind, at):
        """Of no size, it says nothing of what follows."""
        is_there = at + 2 <= min(self.end, len(self.data))
        return kind == METADATA and not (is_there and self.data[at + 1] == 0)

    def behind_metadata(self, at):
        """Its second byte counts units of eight bytes, of which the last two are the next EtherType."""
        self.whole(at, 8, "truncated_l2")
        size = 8 * self.number(at + 1, 1)
        self.whole(at, size, "truncated_l2")
        return self.number(at + size - 2, 2), at + size

    def bridged(self, at):
        """An Ethernet frame inside a tunnel: its addresses and tags are only stepped over."""
        self.frame_size = self.end - at
        kind, at = self.tunnelled_number(at + 12, 2), at + 14
        try:
            while kind in VLAN_TYPES or self.is_metadata(kind, at):
                if kind == METADATA:
                    kind, at = self.behind_metadata(at)
                else:
                    kind, at = self.tunnelled_number(at + 2, 2), at + 4
            kind, at = self.shims(kind, at)
        except Malformed:
            self.end_in_tunnel()
        if kind not in (IPV4, IPV6):
            raise NotATunnel
        self.ip(kind, at)

    def tunnelled_number(self, at, size):
        if at + size > self.end:
            self.end_in_tunnel()
        return self.number(at, size)

    def end_in_tunnel(self):
        """Its header goes on: of a first fragment, with what rules would judge."""
        if self.packet.around or self.fields["ip.frag"] == "first":
            raise Malformed("truncated_l4") from None
        raise NotATunnel from None

    def shims(self, kind, at):
        if kind == PPPOE_SESSION:
            self.packet.pppoe_at = at
            self.whole(at, 7, "truncated_l2")
            size = 1 if self.number(at + 6, 1) % 2 else 2  # of the protocol: RFC 1661, 6.5
            self.whole(at, 6 + size, "truncated_l2")
            kind, at = PPP_TYPES.get(self.number(at + 6, size), NOTHING), at + 6 + size
        if kind in MPLS_TYPES:
            self.packet.labels = True
            bottom = False
            while not bottom:
                self.whole(at, 4, "truncated_l2")
                bottom = bool(self.number(at + 2, 1) & 1)
                at += 4
            self.need(at, 1, "truncated_l3")
            kind = {4: IPV4, 6: IPV6}.get(self.number(at, 1) >> 4, NOTHING)
        return kind, at

    # IP.

    def ip(self, kind, at):
        if kind not in (IPV4, IPV6):
            return
        self.ip_headers += 1
        if self.ip_headers > MOST_IP_HEADERS:
            raise Malformed("too_deep")
        if kind == IPV4:
            self.ipv4(at)
        else:
            self.ipv6(at)

    def begin_ip(self, at, length, version):
        """The header at `at`, which claims `length` bytes, is now the one that ip.* means."""
        self.packet.ip_at = self.packet.ip_at or (at, version)
        if not self.packet.around and self.fields.get("ip.frag") == "first":
            self.packet.around = dict(self.fields)
        if self.ip_headers == 2:
            for name in ("ip.src", "ip.dst"):
                self.fields["outer." + name] = self.fields[name]
        for name in list(self.fields):
            if name.split(".")[0] in ("ip", "l4", "tcp", "icmp", "payload", "fragment"):
                del self.fields[name]
        self.l3_at, self.fields["ip.len"] = at, length
        behind = self.end - at
        padded = self.frame_size <= SHORTEST_FRAME
        believed = length == behind or (0 < length < behind and padded)
        self.packet.units = length if believed else behind

    def ipv4(self, at):
        self.whole(at, 20, "truncated_l3")
        first, length = self.number(at, 1), self.number(at + 2, 2)
        header = (first & 0x0F) * 4
        if first >> 4 != 4 or header < 20 or 0 < length < header:
            raise Malformed("bad_ip_header")
        self.need(at, header, "truncated_l3")
        self.begin_ip(at, length, 4)
        fragment = self.number(at + 6, 2)
        self.fields["ip.version"] = 4
        self.fields["ip.dscp"] = self.number(at + 1, 1) >> 2
        self.fields["ip.frag"] = fragment_word(fragment & 0x1FFF, fragment & 0x2000)
        self.fragment(self.number(at + 4, 2), (fragment & 0x1FFF) * 8, fragment & 0x2000,
                      at + header, at + length if length else None, self.number(at + 9, 1))
        self.fields["ip.ttl"] = self.number(at + 8, 1)
        self.fields["ip.proto"] = self.number(at + 9, 1)
        self.fields["ip.src"] = ipaddress.IPv4Address(self.raw(at + 12, 4))
        self.fields["ip.dst"] = ipaddress.IPv4Address(self.raw(at + 16, 4))
        self.end = min(self.end, at + length) if length else self.end
        self.behind_ip(at + header)

    def ipv6(self, at):
        self.whole(at, 40, "truncated_l3")
        if self.number(at, 1) >> 4 != 6:
            raise Malformed("bad_ip_header")
        claimed = self.number(at + 4, 2)
        self.begin_ip(at, 40 + claimed, 6)
        self.fields["ip.version"] = 6
        self.fields["ip.dscp"] = (self.number(at, 2) >> 6) & 0x3F
        self.fields["ip.ttl"] = self.number(at + 7, 1)
        self.fields["ip.src"] = ipaddress.IPv6Address(self.raw(at + 8, 16))
        self.fields["ip.dst"] = ipaddress.IPv6Address(self.raw(at + 24, 16))
        self.end = min(self.end, at + 40 + claimed) if claimed else self.end
        self.behind_ip(self.extensions(self.number(at + 6, 1), at + 40))

    def extensions(self, kind, at):
        walked, fragment, ip_at = 0, "none", at - 40
        while kind in EXTENSIONS and fragment != "later":
            walked += 1
            if walked > MOST_EXTENSIONS:
                raise Malformed("too_deep")
            self.whole(at, 8, "truncated_l3")
            size = (self.number(at + 1, 1) + 1) * 8
            if kind == AUTHENTICATION:
                size = (self.number(at + 1, 1) + 2) * 4
            if kind == FRAGMENT_HEADER:
                size, offset = 8, self.number(at + 2, 2)
                word = fragment_word(offset >> 3, offset & 1)
                claimed = self.number(ip_at + 4, 2)
                if word != "none" and fragment == "none":
                    self.fragment(self.number(at + 4, 4), offset & 0xFFF8, offset & 1, at + 8,
                                  at_end(ip_at, claimed))
                fragment = fragment if word == "none" else word  # an atomic one undoes nothing
            self.need(at, size, "truncated_l3")
            kind, at = self.number(at, 1), at + size
        self.fields["ip.proto"], self.fields["ip.frag"] = kind, fragment
        return at

    def fragment(self, identification, offset, more, payload_at, end, proto=None):
        """Which bytes of which datagram: what the IP header claims and was on the wire."""
        if offset or more:
            end = self.wire if end is None else min(end, self.wire)
            self.fields["fragment"] = Fragment((identification, proto), offset, bool(more),
                                               min(max(end - payload_at, 0), 0xFFFF), self.data[payload_at:end])

    # What IP carries.

    def behind_ip(self, at):
        kind, version = self.fields["ip.proto"], self.fields["ip.version"]
        if self.fields["ip.frag"] == "later":
            return
        if kind == 6:
            self.tcp(at)
        elif kind == 17:
            self.udp(at)
        elif (kind, version) in ((1, 4), (58, 6)):
            self.icmp(at)
        elif kind in ONLY_PORTS:
            self.ports(at, 4)
        elif kind == 47 and "gre" in self.tunnels:
            self.gre(at)
        elif kind in (4, 41) and "ipip" in self.tunnels:
            self.ip(IPV4 if kind == 4 else IPV6, at)

    def ports(self, at, header):
        self.need(at, header, "truncated_l4")
        both = self.number(at, 4)
        self.fields["l4.sport"], self.fields["l4.dport"] = both >> 16, both & 0xFFFF

    def tcp(self, at):
        self.ports(at, 20)
        word = self.number(at + 12, 2)
        header = (word >> 12) * 4
        if header < 20:
            raise Malformed("bad_l4_header")
        self.options_fit(at + header)
        self.packet.l4_at = at
        fixed = self.l3_at + (20 if self.fields["ip.version"] == 4 else 40)
        of_ip = bytes(self.data[fixed:at]) if self.fields["ip.version"] == 4 else b""
        self.packet.options = bytes(self.data[at + 20:at + header]), of_ip, at != fixed
        self.fields["tcp.flags"] = word & 0x0FFF
        self.packet.numbers = self.number(at + 4, 4), self.number(at + 8, 4)
        self.packet.carried = max(0, self.end - at - header)
        self.packet.sequence = (self.number(at + 4, 4) + bool(word & FLAG_BITS["syn"])) % (1 << 32)
        for name, bit in FLAG_BITS.items():
            self.fields["tcp.flags." + name] = 1 if word & bit else 0
        self.payload(at + header, self.end - at - header)

    def options_fit(self, header_end):
        """Who claims no more than came contradicts himself; what only ended early is truncated."""
        if header_end > self.end:
            claimed = header_end <= self.l3_at + self.fields["ip.len"]
            cut_short = claimed or self.fields["ip.frag"] == "first"
            raise Malformed("truncated_l4" if cut_short else "bad_l4_header")

    def udp(self, at):
        self.ports(at, 8)
        length, behind = self.number(at + 4, 2), self.end - at - 8
        if 0 < length < 8:
            raise Malformed("bad_l4_header")
        self.payload(at + 8, min(behind, length - 8) if length else behind)
        tunnel = self.tunnel_ports.get(self.fields["l4.dport"])
        if tunnel:
            getattr(self, tunnel)(at + 8)

    def icmp(self, at):
        self.need(at, 8, "truncated_l4")
        both = self.number(at, 2)
        self.fields["icmp.type"], self.fields["icmp.code"] = both >> 8, both & 0xFF
        self.payload(at + 8, self.end - at - 8)

    def payload(self, at, size):
        """The text is what the capture has of it: nothing at all is no text."""
        self.fields["payload.len"] = size
        if size == 0 or at < len(self.data):
            self.fields["payload"] = self.data[at:at + size]

    # Tunnels.

    def gre(self, at):
        self.carried_by(*tunnels_over_udp.gre(self.tunnelled_number, at))

    def carried_by(self, kind, at):
        if at > self.end:
            self.end_in_tunnel()
        if kind == BRIDGED:
            self.bridged(at)
        else:
            self.ip(kind, at)

    def geneve(self, at):
        self.carried_by(*tunnels_over_udp.geneve(self.tunnelled_number, at))

    def gtpu(self, at):
        kind, at = tunnels_over_udp.gtpu(self.tunnelled_number, at)
        if kind == "too_deep":
            raise Malformed("too_deep")
        self.ip(kind, at)

    def vxlan(self, at):
        self.tunnelled_number(at + 7, 1)
        if self.number(at, 1) & 0x08:
            self.bridged(at + 8)


def at_end(ip_at, claimed):
    return ip_at + 40 + claimed if claimed else None


def fragment_word(offset, more):
    if offset:
        return "later"
    return "first" if more else "none"


def mac_text(octets):
    return ":".join(f"{octet:02x}" for octet in octets)
