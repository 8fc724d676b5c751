"""DNS, from RFC 1035 and lib/policy/DESIGN.md: which payloads are messages, and what they ask.

Of several sound questions only the first is known here: the generator makes none with more.
"""
import struct

import streams

LONGEST_NAME, LONGEST_LABEL = 255, 63
SIBLINGS = (137, 5353, 5355)  # NBNS, mDNS, LLMNR
OPCODES = (0, 1, 2, 4, 5, 6)
CLASSES = (1, 3, 4, 254, 255)
MOST_RECORDS = 64
MOST_POINTERS = 16  # of a name
ASKS = r"dns\.|per: query"  # of rules that read messages


class NoMessage(Exception):
    pass


class Streams(streams.Streams):
    """DNS over TCP, of port 53: the message that has begun. Each message ends in a segment of its own."""

    FRESH = b""

    def read(self, packet, payload, before):
        """Gives a packet the fields of the message that it completes."""
        ports = packet.fields["l4.sport"], packet.fields["l4.dport"]
        begun = before + payload if 53 in ports else b""
        size = 2 + int.from_bytes(begun[:2], "big")
        if len(begun) >= size > 2:
            found = fields_of(begun[2:size], ports)
            packet.fields.update(found)
            packet.queries = 1 if found.get("dns.qr") == 0 else 0
            begun = begun[size:]
        return begun


def fields_of(payload, ports):
    """-> the fields of a message, or {}; `ports`: those of the sender and of the receiver"""
    try:
        flags, questions, *records = struct.unpack_from("!2xHHHHH", payload)
        server = ports[0] if flags & 0x8000 else ports[1]
        if server in SIBLINGS and 53 not in ports:
            return {}
        if questions == 0 or (flags >> 11) & 15 not in OPCODES:
            return {}
        labels, at = question_name(payload, 12)
        kind, network = struct.unpack_from("!HH", payload, at)
        if 53 not in ports:
            check_whole(payload, flags, questions, records, network, at + 4)
    except (struct.error, IndexError, NoMessage):
        return {}
    return {"proto.l7": b"dns", "dns.qr": flags >> 15, "dns.qname": text_of_labels(labels),
            "dns.qtype": kind}


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
