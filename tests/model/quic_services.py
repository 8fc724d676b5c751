"""QUIC of declared services: the manual (SERVICES, *protocol*), layer7.md section 3, and what lib/l7/DESIGN.md says of hellos
that come again.

A hello is judged once, until its server's side has answered: what comes behind that is of a new connection. Other bytes under
its id are a hello more, or refused where they stand in the place of others. What a client's Initials are under its own id is
authentic. Each path has one connection here, whose server keeps the id of its client. An id stands for one connection of its
server, by whichever ports or addresses it comes; its parts go on by the one that they began by, and a repeat is one by the same.
"""
import quic
from hello import BadHello, Hello, Octets
from quic import LEAST_INITIAL, LONG_FORM, TYPES, Keys, Packet, crypto_of, packets_of
from streams import ENDS, ends_of
from vlans import vlans_of

BACK = ("ip.dst", "ip.src", "l4.dport", "l4.sport", *ENDS[4:])
GRACE = 10 * 10 ** 9  # for which handshakes may be under way that nobody has seen begin
RESERVED, RESERVED_BITS = 0x0A0A0A0A, 0x0F0F0F0F  # RFC 9000, 15: versions that no server has


def is_unreadable(datagram):
    """A server may read in it what nobody reads here."""
    if not datagram or not datagram[0] & LONG_FORM:
        return False
    try:
        version = Packet(datagram).version
    except BadHello:
        return True
    return version not in TYPES and version != 0 and version & RESERVED_BITS != RESERVED


class Telling:
    """What the Initials of a datagram say under a client's keys."""

    def __init__(self, packets, dcid):
        opened = [packet.open(Keys(packet.version, dcid)) for packet in packets if packet.can_open()]
        opened = [frames for frames in opened if frames is not None]
        self.is_authentic, self.packets, self.bytes = bool(opened), len(opened), {}
        for frames in opened:
            for offset, part in crypto_of(frames):
                self.bytes.update(enumerate(part, offset))


class Half:
    """A hello that comes in parts, or has come: `come` is byte by byte what is there. `is_begun`: a server has an Initial of it, be
    there nothing of the hello in that."""

    def __init__(self, ends=None):
        self.come, self.packets, self.is_begun, self.ends = {}, 0, False, ends

    def add(self, telling):
        """Not behind its end: the rest is of no hello."""
        for at, octet in telling.bytes.items():
            self.come.setdefault(at, octet)
        self.packets += telling.packets
        self.is_begun = True

    def with_more(self, telling):
        more = Half(self.ends)
        more.come = dict(self.come)
        more.add(telling)
        return more

    def differs(self, telling):
        return any(self.come.get(at, octet) != octet for at, octet in telling.bytes.items())

    def whole(self):
        some = bytes(self.come[at] for at in range(4) if at in self.come)
        size = 4 + int.from_bytes(some[1:4], "big") if len(some) == 4 else None
        is_there = size is not None and all(at in self.come for at in range(size))
        return bytes(self.come[at] for at in range(size)) if is_there else None


class Judged:
    """A hello that was judged, `again` what has come since of one under its id. `fate`: whether it was dropped."""

    def __init__(self, hello, name, ends, came):
        self.hello, self.name, self.ends, self.came = hello, name, ends, came
        self.fate, self.again, self.retried = None, Half(ends), False


class Streams:
    """Datagrams of services, and of none. `ids`: what is known of each, by the server's end and the id. `told`: the latest of each
    hello, by the ends of a client's datagrams. `kept`: by the id, bytes of one that took more than a packet, which its server may
    lack and take otherwise, whatever was answered. `since`: when the first Initial came. `whole_by`: by the id, by whose ends a hello
    was whole first, and whether it took more than a packet."""

    def __init__(self):
        self.others, self.ids, self.told, self.kept = quic.Streams(), {}, {}, {}
        self.answers, self.retries, self.since, self.whole_by = {}, {}, None, {}

    def has_parts(self, ends):
        return any(one.ends == ends for one in self.kept.values()) or any(
            isinstance(one, Half) and one.is_begun and one.ends == ends for one in self.ids.values())

    def note_first(self, packet, some):
        fields = packet.fields
        is_known = some and (some[0].version in TYPES or quic.HTTPS in (fields.get("l4.sport"), fields.get("l4.dport")))
        if self.since is None and is_known and any(one.can_open() for one in some):
            self.since = packet.came

    def see(self, packet):
        seen = packet.service
        if seen is None or seen.service.protocol != "quic":
            self.hear(packet)
            if packet.fields.get("ip.proto") == 17 and packet.fields.get("payload"):
                self.note_first(packet, packets_of(packet.fields["payload"]))
            self.others.see(packet)
            return
        payload, fields = packet.fields.get("payload"), packet.fields
        if seen.refusal or not payload:
            return
        if is_unreadable(payload):
            if seen.service.on_unreadable == "refuse":
                seen.note("unreadable")
            return
        some = packets_of(payload)
        if not some or some[0].version not in TYPES and quic.HTTPS not in (fields["l4.sport"], fields["l4.dport"]):
            return
        fields.update({"proto.l7": b"quic", "quic.packet_type": some[0].kind.encode(), "quic.version": some[0].version,
                       "quic.token_len": len(some[0].token)})
        if not any(one.can_open() for one in some):
            return
        self.note_first(packet, some)
        if len(payload) >= LEAST_INITIAL:
            self.judge(packet, some, ends_of(fields))
        elif seen.service.on_unreadable == "refuse":  # a server may take it of a connection that it knows
            seen.note("unreadable")

    def hear(self, packet):
        """Any long header from a server's side is an answer, but Version Negotiation, and Retry, whose server keeps nothing."""
        payload = packet.fields.get("payload")
        if packet.fields.get("ip.proto") != 17 or packet.fields.get("dir") != "out" or not payload or len(payload) < 5:
            return
        first, version = payload[0], Octets(payload[1:]).number(4)
        if not first & LONG_FORM or version == 0:
            return
        back = ("in" if name == "dir" else packet.fields.get(name) for name in BACK)
        path = vlans_of(packet.fields), *back
        is_retry = version in TYPES and TYPES[version][first >> 4 & 3] == "retry"
        (self.retries if is_retry else self.answers)[path] = packet.came

    def judge(self, packet, some, ends):
        name = tuple(end for key, end in zip(("vlans", *ENDS), ends) if key not in ("ip.src", "l4.sport")), some[0].dcid
        mine, telling = self.ids.get(name), Telling(some, some[0].dcid)
        if isinstance(mine, Judged) and mine.fate:
            self.repeat(packet, mine)
            return
        begun = mine.again if isinstance(mine, Judged) else mine
        if begun is not None and begun.is_begun and begun.ends != ends and self.refused(packet, "lost_head"):
            return
        if isinstance(mine, Judged) and self.answered(ends, mine):
            mine = self.ids[name] = mine.again if mine.again.is_begun else Half(ends)
        is_known = isinstance(mine, Judged)
        if not telling.is_authentic:
            if is_known or self.has_parts(ends) or packet.came - self.since >= GRACE:
                packet.service.note("lost_head")
            return
        if is_known and not telling.bytes:
            return
        half = mine.again if is_known else mine or Half(ends)
        if self.overlaps(packet, telling, half, self.kept.get(name)):
            return
        is_elsewhere = name in self.whole_by and self.whole_by[name][0] != ends
        is_part = telling.bytes and half.with_more(telling).whole() is None
        if is_part and is_elsewhere and self.refused(packet, "lost_head"):
            return
        half.ends = half.ends if half.is_begun else ends
        half.add(telling)
        hello = half.whole()
        if hello is None:
            if not is_known:
                self.ids[name] = half
            return
        if is_known:
            mine.again = Half(ends)
        if name not in self.whole_by or half.packets > 1 and not self.whole_by[name][1]:
            self.whole_by[name] = ends, half.packets > 1
        if half.packets > 1:
            self.kept[name] = half
        if is_known and hello == mine.hello and ends == mine.ends:
            return
        heard = self.answers_of(ends) if some[0].token and not is_known else None
        self.tell(packet, Judged(hello, name, ends, packet.came), heard)

    @staticmethod
    def refused(packet, reason):
        """A monitored service has what an enforced one is spared."""
        packet.service.note(reason)
        return packet.service.refuses()

    def overlaps(self, packet, telling, half, kept):
        differs = half.differs(telling) or kept is not None and kept.differs(telling)
        return differs and self.refused(packet, "overlap")

    def tell(self, packet, one, heard):
        """`heard`: when its server was last, where it has a token."""
        before = self.told.get((one.ends, one.hello))
        self.ids[one.name] = self.told[one.ends, one.hello] = one
        packet.fields.update(Hello(one.hello[4:]).fields("q"))
        if not (heard and before and self.follows_retry(before, *heard)):
            packet.handshakes, packet.settle = 1, one
            return
        one.fate, one.retried = before.fate, True
        if not before.fate:
            del self.ids[before.name]  # it takes the place of the first
        self.repeat(packet, one)

    def answers_of(self, ends):
        return self.answers.get(ends, -1), self.retries.get(ends, -1)

    @staticmethod
    def follows_retry(before, answered, retried):
        return not before.retried and answered < before.came and (before.fate or retried >= before.came)

    def answered(self, ends, one):
        return self.answers.get(ends, -1) >= one.came

    @staticmethod
    def repeat(packet, one):
        if one.fate:
            packet.doubt = "retransmission", quic.ASKS
