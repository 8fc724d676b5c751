"""Declared services, layer7.md sections 1 and 2: whose packets they are, and which of them no server would take.

What is in a stream is not read here: the services of these captures pass what cannot be read.
"""
import ipaddress
import struct

import yaml

from expression import compile_condition
from header_options import SIGNATURES, TIMESTAMPS, may_be_dropped, options_in
from open_connections import ends_of
from proxy_headers import Headers
from rules import parse_duration
from service_streams import ACK, CLIENT, FIN, NUMBERS, RST, SERVER, SYN, URG, Connection, Segment, ahead

PSH = 0x08

SECOND = 1_000_000_000
GRACE = 60 * SECOND
ENOUGH = 64  # checksums that came right, and are verified from then on
PROTO_TCP, PROTO_UDP = 6, 17
TRANSPORTS = {"http": [PROTO_TCP], "tls": [PROTO_TCP], "quic": [PROTO_UDP], "dns": [PROTO_TCP, PROTO_UDP]}
URGENT_AT, FLAGS_AT, SUM_AT, WINDOW_AT, SEQ_AT = 18, 12, 16, 14, 4
KNOWN_OPTIONS = {1, 2, 3, 4, 5, TIMESTAMPS, 28, 34} | SIGNATURES
BACK = 1 << 14  # of the upper half of a number: 2^30, which no window reaches


class Service:
    def __init__(self, entry, lists, enforce):
        self.id, self.protocol = entry["id"], entry["protocol"]
        self.mode = entry.get("mode", "monitor")
        if enforce and self.mode == "monitor":
            self.mode = "enforce"
        self.condition = compile_condition(entry["when"], lists)
        self.least_ttl = int(entry.get("min_ttl", 32))
        self.checksums = entry.get("checksums", "auto")
        usual = "inspect" if self.protocol in ("http", "dns") else "pass"
        self.midstream = entry.get("midstream", usual)
        # Both directions come by, and what is dropped stays away: bytes can be read as the server takes them.
        self.in_order = self.mode == "enforce" and self.midstream == "inspect" and entry.get("path", "both") != "inbound"
        self.proxies = [ipaddress.ip_network(text) for text in entry.get("proxy_protocol", {}).get("from", [])]
        self.on_unreadable = entry.get("on_unreadable", "refuse")
        self.right = {CLIENT: 0, SERVER: 0}
        self.counts = {"frames": 0, "from_clients": 0, "from_servers": 0, "rewritten": 0, "refused": {}, "would_refuse": {}}

    def matches(self, fields):
        """Whether a client's packet is its own; the transport of its protocol need not be said."""
        return self.mode != "off" and fields.get("ip.proto") in TRANSPORTS[self.protocol] and self.condition(fields)

    def note(self, refusal):
        into = self.counts["refused" if self.mode == "enforce" else "would_refuse"]
        into[refusal] = into.get(refusal, 0) + 1

    def finds_wrong(self, end, found):
        """Where checksums are `auto`, nothing of a side is wrong before that many of it came right."""
        self.right[end] += found == "right"
        verified = self.checksums == "verify" or self.checksums == "auto" and self.right[end] >= ENOUGH
        return verified and found == "wrong"


class Seen:
    """What a service makes of a packet."""

    def __init__(self, service, end, refusal=None):
        self.service, self.end, self.refusal = service, end, refusal
        self.clears_urgent = self.clears_options = self.raises_ttl = self.moves_back = False
        self.proxied, self.named = False, None  # by a proxy, and whom its header names

    def refuses(self):
        return self.refusal is not None and self.service.mode == "enforce"

    def note(self, refusal):
        """What its bytes are no server takes, or not all take alike: the first of a packet counts."""
        if self.refusal is None:
            self.refusal = refusal
            self.service.note(refusal)


class Services:
    def __init__(self, path, lists=None, enforce=False):
        with open(path, encoding="utf-8") as file:
            tree = yaml.load(file, Loader=yaml.BaseLoader)
        self.all = [Service(entry, lists or {}, enforce) for entry in tree.get("services") or []]
        self.connections, self.begun, self.now, self.headers = {}, None, 0, Headers()

    def see(self, time, packet, data):
        """-> Seen, or None: it is of no service."""
        self.begun = time if self.begun is None else self.begun
        self.now = max(self.now, time)
        if packet.malformed or "ip.src" not in packet.fields:
            return None
        seen = self.look(packet, data)
        if seen:
            self.count(seen)
        return seen

    def look(self, packet, data):
        fields = packet.fields
        service = next((one for one in self.all if one.matches(fields)), None)
        ends = ends_of(packet)
        if ends is None:
            if service is None or fields["ip.proto"] != PROTO_TCP:
                return Seen(service, CLIENT) if service else None
            return Seen(service, CLIENT, "tcp_fragment")
        known = self.connections.get(frozenset(ends))
        if known is None and service is None:
            return None
        end = CLIENT if known is None or known.client == ends[0] else SERVER
        if known and (service is None or end == SERVER):
            service = known.service
        seen = Seen(service, end)
        seen.refusal = self.refusal(seen, ends, packet, data, known)
        seen.proxied = end == CLIENT and any(fields["ip.src"] in network for network in service.proxies)
        if seen.proxied:
            seen.named = self.named(seen, ends, packet, data)
        if seen.refusal is None and service.mode == "enforce" and end == CLIENT:
            urgent = struct.unpack_from("!H", data, packet.l4_at + URGENT_AT)[0]
            seen.clears_urgent = bool(fields["tcp.flags"] & URG or urgent)
            seen.clears_options = bool(unknown_options(data, packet.l4_at))
            seen.raises_ttl = fields["ip.ttl"] < service.least_ttl
            known = self.connections.get(frozenset(ends))
            seen.moves_back = known is not None and known.moves_back
        return seen

    def named(self, seen, ends, packet, data):
        """By the header that the connection began with, where that was seen."""
        connection = self.connections.get(frozenset(ends))
        if connection is None or connection.taken_up or connection.ends is None:
            return None
        numbers = connection.numbers()
        key, offset = (frozenset(ends), numbers), (packet.numbers[0] - numbers[CLIENT] - 1) % NUMBERS
        if seen.refusal is None and packet.carried and not packet.fields["tcp.flags"] & SYN:
            at = packet.l4_at + (data[packet.l4_at + FLAGS_AT] >> 4) * 4
            self.headers.take(key, offset, data[at:at + packet.carried], packet.fields["ip.src"])
        return self.headers.client(key)

    def refusal(self, seen, ends, packet, data, known):
        service, fields, flags = seen.service, packet.fields, packet.fields["tcp.flags"]
        whole = fields.get("ip.frag", "none") == "none"
        # A server's segments with bytes are not looked at.
        matters = flags & (SYN | FIN | RST) or seen.end == CLIENT or not packet.carried
        if whole and matters and service.finds_wrong(seen.end, checksums(packet, data)):
            return "wrong_checksum"
        if not whole:
            return "tcp_fragment"
        segment = Segment(flags, *packet.numbers, packet.carried,
                          struct.unpack_from("!H", data, packet.l4_at + WINDOW_AT)[0], scale_of(packet, data))
        self.add_options(segment, packet, data)
        if known:
            refusal = known.see(seen.end, segment, self.now)
            if known.phase == "gone":
                del self.connections[frozenset(ends)]
            return refusal
        return self.begin(service, ends, segment)

    @staticmethod
    def add_options(segment, packet, data):
        """The timestamps: of two the older; and whether some receiver drops the segment for an option."""
        at, version = packet.ip_at
        options = data[packet.l4_at + 20:packet.l4_at + (data[packet.l4_at + FLAGS_AT] >> 4) * 4]
        of_ip = data[at + 20:packet.l4_at] if version == 4 else b""
        for value, echo in (struct.unpack("!II", body) for body in options_in(options)[0].get(TIMESTAMPS, ()) if len(body) == 8):
            if segment.stamp is None or ahead(segment.stamp, value) > 0:
                segment.stamp, segment.echo = value, echo
        segment.is_doubtful = may_be_dropped(segment.flags, options, of_ip, bool(of_ip))

    def begin(self, service, ends, segment):
        """Of a connection that nobody knows."""
        connection = Connection(service.mode == "enforce", lambda: self.lets_strangers(service),
                                service.in_order)
        connection.service, connection.client = service, ends[0]
        connection.phase = "asked" if segment.flags & SYN else "strange"
        refusal = connection.see(CLIENT, segment, self.now)
        stays = segment.flags & SYN and not refusal or \
            segment.size and segment.flags & ACK and not segment.flags & (SYN | RST) and refusal != "doubtful_options"
        if stays:
            self.connections[frozenset(ends)] = connection
        return refusal

    def lets_strangers(self, service):
        """What begins no request, as none does here, passes in the time of grace alone."""
        return service.midstream == "pass" or service.midstream == "inspect" and self.now - self.begun < GRACE

    def count(self, seen):
        counts = seen.service.counts
        counts["frames"] += 1
        counts["from_clients" if seen.end == CLIENT else "from_servers"] += 1
        counts["rewritten"] += seen.clears_urgent or seen.clears_options or seen.raises_ttl or seen.moves_back
        if seen.refusal:
            seen.service.note(seen.refusal)

    def summary(self):
        return [{"id": one.id, "protocol": one.protocol, "mode": one.mode, **one.counts} for one in self.all]


def folded(octets):
    """The sum of 16-bit words in one's complement."""
    octets = bytes(octets) + b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksums(packet, data):
    """"right", "wrong", or "unknown": not all of it is at hand."""
    at, version = packet.ip_at
    size = packet.fields["ip.len"]
    if at + size > len(data):
        return "unknown"
    if version == 4 and folded(data[at:at + (data[at] & 0x0F) * 4]) != 0xFFFF:
        return "wrong"
    segment = data[packet.l4_at:at + size]
    addresses = packet.fields["ip.src"].packed + packet.fields["ip.dst"].packed
    return "right" if folded(addresses + struct.pack("!II", len(segment), PROTO_TCP) + segment) == 0xFFFF else "wrong"


def unknown_options(data, tcp):
    """-> places of octets of options that may give the segment's bytes another place or meaning."""
    at, end, found = tcp + 20, tcp + (data[tcp + FLAGS_AT] >> 4) * 4, []
    while at < end and data[at] != 0:
        size = 1 if data[at] == 1 else data[at + 1] if at + 1 < end else 0
        if size < 1 or data[at] != 1 and size < 2 or at + size > end:
            break
        found += range(at, at + size) if data[at] not in KNOWN_OPTIONS else ()
        at += size
    return found


def scale_of(packet, data):
    """The window scale option: RFC 7323, 2.2."""
    at = packet.l4_at
    options = data[at + 20:at + (data[at + FLAGS_AT] >> 4) * 4]
    while options and options[0] != 0:
        if options[0] == 1:
            options = options[1:]
            continue
        if len(options) < 2 or not 2 <= options[1] <= len(options):
            return None
        if options[0] == 3 and options[1] == 3:
            return options[2]
        options = options[options[1]:]
    return None


def replaced(data, at, word, sum_at):
    """Another word, and the sum over it, as wrong as it came (RFC 1624, equation 3)."""
    before, total = struct.unpack_from("!H", data, at)[0], struct.unpack_from("!H", data, sum_at)[0]
    total = (total ^ 0xFFFF) + (before ^ 0xFFFF) + word
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", data, at, word)
    struct.pack_into("!H", data, sum_at, total ^ 0xFFFF)


def probe(data, packet):
    """The segment without its bytes, and with an old number; they stay as the frame's padding."""
    tcp, (ip, version) = packet.l4_at, packet.ip_at
    flags = struct.unpack_from("!H", data, tcp + FLAGS_AT)[0]
    end = tcp + (flags >> 12) * 4
    struct.pack_into("!H", data, tcp + FLAGS_AT, flags & ~(URG | PSH | FIN) & 0xFFFF)
    struct.pack_into("!H", data, tcp + SEQ_AT, struct.unpack_from("!H", data, tcp + SEQ_AT)[0] - BACK & 0xFFFF)
    struct.pack_into("!HH", data, tcp + SUM_AT, 0, 0)
    if version == 4:
        replaced(data, ip + 2, end - ip, ip + 10)
        ends = data[ip + 12:ip + 20]
    else:
        struct.pack_into("!H", data, ip + 4, end - ip - 40)
        ends = data[ip + 8:ip + 40]
    covered = bytes(ends) + struct.pack("!HH", 6, end - tcp) + bytes(data[tcp:end])
    total = sum(struct.unpack(f"!{len(covered) // 2}H", covered))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", data, tcp + SUM_AT, total ^ 0xFFFF)


def rewritten(data, packet, seen):
    """The frame as it goes on."""
    if seen is None or not (seen.clears_urgent or seen.clears_options or seen.raises_ttl or seen.moves_back):
        return data
    data, tcp = bytearray(data), packet.l4_at
    if seen.clears_urgent:
        flags = struct.unpack_from("!H", data, tcp + FLAGS_AT)[0]
        replaced(data, tcp + FLAGS_AT, flags & ~URG & 0xFFFF, tcp + SUM_AT)
        replaced(data, tcp + URGENT_AT, 0, tcp + SUM_AT)
    if seen.clears_options:
        for at in unknown_options(data, tcp):
            even = at - (at - tcp) % 2
            word = bytes((1, data[at + 1]) if at == even else (data[even], 1))
            replaced(data, even, int.from_bytes(word, "big"), tcp + SUM_AT)
    if seen.moves_back:
        probe(data, packet)
    if seen.raises_ttl:
        at, version = packet.ip_at
        if version == 4:
            protocol = data[at + 9]
            replaced(data, at + 8, seen.service.least_ttl << 8 | protocol, at + 10)
        else:
            data[at + 7] = seen.service.least_ttl
    return bytes(data)
