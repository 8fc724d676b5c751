"""DNS, from RFC 1035 and lib/policy/DESIGN.md: which payloads are messages, and what they ask."""
import itertools
import struct

import streams

LONGEST_NAME, LONGEST_LABEL = 255, 63
SIBLINGS = (137, 5353, 5355)  # NBNS, mDNS, LLMNR
OPCODES = (0, 1, 2, 4, 5, 6)
CLASSES = (1, 3, 4, 254, 255)
MOST_RECORDS = 64
MOST_POINTERS = 16  # of a name
ASKS = r"dns\.|proto\.|per: query"  # of rules that read messages
HEADER = 12
MOST_UNITS = 8  # of a packet


class NoMessage(Exception):
    pass


class Streams(streams.Streams):
    """Datagrams; and DNS over TCP, of port 53: the message that has begun. Each message ends in a segment of its own."""

    FRESH = b""

    def see(self, packet):
        payload = packet.fields.get("payload")
        if packet.fields.get("ip.proto") == 17 and payload:
            add_units(packet, payload)
        else:
            super().see(packet)

    def read(self, packet, payload, before):
        """Gives a packet the questions of the message that it completes."""
        if 53 not in ports_of(packet):
            return self.UNREAD
        begun = before + payload
        size = 2 + int.from_bytes(begun[:2], "big")
        if len(begun) < max(size, 2):
            return begun
        return begun[size:] if add_units(packet, begun[2:size]) else self.UNREAD


def ports_of(packet):
    """Of the sender and of the receiver."""
    return packet.fields["l4.sport"], packet.fields["l4.dport"]


def add_units(packet, message):
    """-> whether the message has a sound question"""
    found = units_of(message, ports_of(packet))
    if len(found) > MOST_UNITS:
        return True  # it is judged as one without any
    for fields in found:
        unit = packet.add_unit()
        unit.fields.update(fields)
        unit.queries = 1 - fields["dns.qr"]
    return bool(found)


def units_of(payload, ports):
    """-> the fields of a query's questions, as far as they are sound, or of a response's first one; none: no DNS"""
    try:
        flags, questions, *records = struct.unpack_from("!2xHHHHH", payload)
        is_response = flags >> 15
        server = ports[0] if is_response else ports[1]
        if server in SIBLINGS and 53 not in ports or (flags >> 11) & 15 not in OPCODES:
            return []
        asked = list(itertools.islice(questions_of(payload), min(questions, 1) if is_response else questions))
        if asked and 53 not in ports:
            check_whole(payload, flags, questions, records, *asked[0][2:])
    except (struct.error, IndexError, NoMessage):
        return []
    return [{"proto.l7": b"dns", "dns.qr": is_response, "dns.qname": text_of_labels(labels), "dns.qtype": kind}
            for labels, kind, *_ in asked]


def questions_of(message):
    """The labels, type and class of each sound one from the first on, and where it ends."""
    at = HEADER
    try:
        while True:
            labels, at = question_name(message, at)
            kind, network = struct.unpack_from("!HH", message, at)
            at += 4
            yield labels, kind, network, at
    except (struct.error, IndexError, NoMessage):
        return


def question_name(message, at, pointers=MOST_POINTERS):
    """-> (labels, where what follows it begins); a pointer leads before where its labels began."""
    labels, begun = [], at
    while True:
        size = message[at]
        if size >> 6 == 3:
            target = struct.unpack_from("!H", message, at)[0] & 0x3FFF
            if target >= begun or pointers == 0:
                raise NoMessage
            return check_size(labels + question_name(message, target, pointers - 1)[0]), at + 2
        if size > LONGEST_LABEL:
            raise NoMessage
        if size == 0:
            return check_size(labels), at + 1
        label = message[at + 1:at + 1 + size]
        if len(label) < size:
            raise NoMessage
        labels.append(label)
        at += 1 + size


def check_size(labels):
    if sum(len(label) + 1 for label in labels) + 1 > LONGEST_NAME:
        raise NoMessage
    return labels


def text_of_labels(labels):
    return b".".join(b"".join(text_of_octet(octet) for octet in label) for label in labels) or b"."


def text_of_octet(octet):
    if octet in b".\\":
        return b"\\" + bytes([octet])
    return bytes([octet]).lower() if 0x21 <= octet <= 0x7E else b"\\%03d" % octet


def check_whole(message, flags, questions, records, network, at):
    """Without its port a message is only what fits to the last byte."""
    answers, authorities, additionals = records
    bad = flags & 0x7800 or questions != 1 or network not in CLASSES
    if flags & 0x8000:
        bad = bad or flags & 15 > 11
    else:
        bad = bad or answers or authorities
    if bad or sum(records) > MOST_RECORDS:
        raise NoMessage
    for _ in range(sum(records)):
        _, at = question_name(message, at)
        at += 10 + struct.unpack_from("!8xH", message, at)[0]
        if at > len(message):
            raise NoMessage
    if at != len(message):
        raise NoMessage
