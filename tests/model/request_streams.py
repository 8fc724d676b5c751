"""Where requests lie among the segments of a connection, from RFC 9293 and 9112 and the README of lib/l7.

A connection is read from its SYN on. A request is judged once, at the packet that completes its head in order. What comes
again has the verdict of its bytes. Behind what stands where other bytes stood, and behind a head whose end is doubtful, nothing
is read any more. Nothing is bounded but what is compared.
"""
import re

import http1
import streams

RETRANSMISSION = "retransmission", http1.ASKS
TLS = b"\x16\x03"  # the beginning of a handshake (RFC 8446, 5.1), which is no request's
LF_ALONE = re.compile(rb"[^\r\n]* HTTP/1\.[0-9]?\n")  # ends a request line
COMPARED = 10  # segments with heads that a connection keeps for comparison


class Sized:
    """A body of known length."""

    def __init__(self, size):
        self.left, self.data, self.is_done = size, b"", not size

    def feed(self, octets):
        step = min(self.left, len(octets))
        self.left -= step
        self.data += octets[:step]
        self.is_done = not self.left
        return step


class Watched:
    """A body that a server may leave unread, to read it as requests."""

    def __init__(self, body, watch):
        self.body, self.watch = body, watch

    def feed(self, octets):
        return self.body.feed(octets)

    @property
    def is_done(self):
        return self.body.is_done

    def is_request(self):
        return self.watch.finds_request(self.body.data)


class Chunks:
    """RFC 9112, 7.1: a body that says its lengths as it goes."""

    def __init__(self):
        self.line, self.data, self.left, self.is_last, self.is_done = b"", b"", 0, False, False

    def feed(self, octets):
        """-> how many of these are the body's"""
        at = 0
        while at < len(octets) and not self.is_done:
            if self.left:
                step = min(self.left, len(octets) - at)
                self.left -= step
                self.data += octets[at:at + step]
                at += step
                continue
            self.line += octets[at:at + 1]
            at += 1
            if self.line.endswith(b"\r\n"):
                self.end_line(self.line[:-2])
                self.line = b""
        return at

    def end_line(self, line):
        if self.is_last:
            self.is_done = line == b""
            return
        if line:  # an empty one stands behind the bytes of a chunk
            size = int(line.partition(b";")[0], 16)
            self.is_last, self.left = size == 0, size


class Compared:
    """The latest segments that heads came in, each as it came."""

    def __init__(self):
        self.segments, self.horizon = [], None

    def add(self, begin, octets):
        self.segments = [one for one in self.segments if not self.meets(one, begin, octets)]
        if len(self.segments) == COMPARED:
            gone, content = self.segments.pop(0)
            self.horizon = max(self.horizon or 0, gone + len(content))
        self.segments.append((begin, octets))

    @staticmethod
    def meets(segment, begin, octets):
        return segment[0] < begin + len(octets) and begin < segment[0] + len(segment[1])

    def may_be(self, begin, octets, known):
        """Whether so many of these bytes can have come before: of segments, in any cuts, what they held."""
        met = [one for one in self.segments if self.meets(one, begin, octets[:known])]
        for at, content in met:
            first, end = max(at, begin), min(at + len(content), begin + len(octets))
            if octets[first - begin:end - begin] != content[first - at:end - at]:
                return False
        return self.horizon is None or begin >= self.horizon or any(at == begin for at, _ in met)


class Stream:
    """One direction. `next`: where the first byte is that no unit holds; `ahead`: bytes from there on, by place;
    `refused`: the places whose bytes are, and the burst that has refused them: all frames of one instant; `is_over`:
    whether nothing more is read; `is_unread`: whether it is not because a service has refused it."""

    def __init__(self, at, readings):
        self.readings = readings
        self.next, self.ahead, self.chunks, self.is_over, self.is_unread = at, {}, None, False, False
        self.refused, self.compared = {}, Compared()
        self.judged_from = self.judged_to = self.burst = None

    @property
    def fate(self):
        raise AttributeError("is told, not asked")

    @fate.setter
    def fate(self, is_dropped):
        """What has become of the packet that completed the last units."""
        for place in range(self.judged_from, self.judged_to):
            if is_dropped:
                self.refused[place] = self.burst
            else:
                self.refused.pop(place, None)

    def take(self, packet, at, payload):
        self.burst = packet.came
        rest = self.repeated(packet, at, payload)
        if rest and self.is_unread:
            packet.service.note("unreadable")
        if not rest or self.is_over:
            return
        begin = at + len(payload) - len(rest)
        differs = any(self.ahead.get(begin + i, octet) != octet for i, octet in enumerate(rest))
        for i, octet in enumerate(rest):
            self.ahead.setdefault(begin + i, octet)
        has_unit, is_held = self.read(packet, begin)
        if (has_unit or is_held) and not differs:
            self.compared.add(begin, rest)
        self.is_over |= differs
        if has_unit:
            self.judged_to = min(self.next, max(self.judged_to, begin + len(rest)))
            packet.settle = self

    def repeated(self, packet, at, payload):
        """-> what lies behind the bytes that are known; nothing where these decide. A burst is read before any of it
        is refused."""
        known = payload[:max(0, self.next - at)]
        if not known:
            return payload
        refused = {self.refused[place] for place in range(at, at + len(known)) if place in self.refused}
        if refused - {self.burst}:
            packet.doubt = RETRANSMISSION
            return b""
        keeps_alive = len(known) == 1 and at + 1 == self.next
        if not keeps_alive and not self.compared.may_be(at, payload, len(known)):
            self.is_over = True
            return b""
        if refused:  # with what it repeats: all of it is refused from then on
            packet.doubt = RETRANSMISSION
            self.refused.update(dict.fromkeys(range(at, at + len(known)), self.burst))
        return payload[len(known):]

    def in_order(self):
        octets = bytearray()
        while (octet := self.ahead.get(self.next + len(octets))) is not None:
            octets.append(octet)
        return bytes(octets)

    def read(self, packet, begin):
        """-> (whether the packet completes units, whether bytes of it wait for others)"""
        has_unit, follows_refused = False, False
        while not self.is_over and (octets := self.in_order()):
            if self.chunks:
                refused = self.refused.get(self.next - 1)
                follows_refused |= refused is not None and not has_unit
                self.step(self.chunks.feed(octets), refused)
                if isinstance(self.chunks, Watched) and self.chunks.is_request():
                    self.refuse_body(packet)
                self.chunks = None if self.chunks.is_done else self.chunks
                continue
            if packet.service and octets.lstrip(b"\r\n").startswith(TLS):
                packet.service.note("unreadable")
                break
            head, end = self.head_in(packet, octets)
            if not end:
                break
            self.judged_from = self.judged_from if has_unit else self.next
            has_unit = True
            body, self.is_over = http1.add_request(packet, head, self.readings)
            self.begin_body(body, len(head + end), http1.Watch(head) if packet.service and not self.is_over else None)
        if follows_refused:
            packet.doubt = packet.doubt or RETRANSMISSION
        return has_unit, not self.is_over and bool(self.in_order()) or begin > self.next

    def head_in(self, packet, octets):
        """-> (a head, what ends it: nothing where it has not come). A line alone is a request to a service, and elsewhere
        nobody's. Lines that end without a CR are malformed."""
        if LF_ALONE.match(octets):
            raise streams.Beyond(octets)
        line, end, _ = octets.partition(b"\r\n")
        if end and http1.is_line_alone(line):
            self.is_over |= packet.service is None
            return line, end if packet.service else b""
        return octets.partition(b"\r\n\r\n")[:2]

    def begin_body(self, body, size, watch):
        self.chunks = Chunks() if body is None else None
        if body != 0 and watch and watch.looks:
            self.chunks = Watched(self.chunks or Sized(body), watch)
        self.step(size + (0 if self.chunks else body))
        self.judged_to = self.next

    def refuse_body(self, packet):
        """A service that enforces reads nothing behind it; another goes on, and says it once."""
        packet.service.note("ambiguous_request")
        self.is_over = self.is_unread = packet.service.refuses()
        self.chunks = self.chunks.body

    def step(self, count, refused=None):
        for place in range(self.next, self.next + count):
            self.ahead.pop(place, None)
            if refused is not None:
                self.refused[place] = refused
        self.next += count


class Streams:
    def __init__(self, readings=None):
        self.known, self.readings = {}, readings or http1.Readings()
        self.answered = set()  # the places of both ends of those that a server has answered

    def expect_answered(self, packet):
        """Of a service only connections are known here whose handshake is whole."""
        fields = packet.fields
        both = frozenset((fields.get(f"ip.{end}"), fields.get(f"l4.{end[0]}port")) for end in ("src", "dst"))
        flags = fields.get("tcp.flags", 0)
        if flags & streams.SYN and flags & streams.ACK:
            self.answered.add(both)
        elif packet.service and fields.get("payload") and both not in self.answered:
            raise streams.Beyond(fields["payload"])

    def see(self, packet):
        if packet.sequence is None:
            return
        self.expect_answered(packet)
        ends = streams.ends_of(packet.fields)
        stream, payload = self.known.get(ends), packet.fields.get("payload")
        if stream is None and streams.begins(packet):
            stream = self.known[ends] = Stream(packet.sequence, self.readings)
        if payload and stream:
            ahead = (packet.sequence - stream.next) % streams.SEQUENCES
            if ahead >= streams.SEQUENCES // 2:
                ahead -= streams.SEQUENCES
            stream.take(packet, stream.next + ahead, payload)
