"""Multipath TCP (RFC 8684) by hand, for servers that agree to it: mappings that give bytes another place."""
import hashlib

from plan import Open, Send, Wait

KIND, VERSION, HMAC_SHA256 = 30, 1, 1
CAPABLE_SIZE, CAPABLE_BOTH_SIZE, MAPPING_SIZE = 4, 20, 18
MAPPING, HAS_ACK, HAS_MAPPING = 0x20, 1, 4
KEY = b"a client"  # 8 bytes
CAPABLE = bytes([KIND, CAPABLE_SIZE, VERSION, HMAC_SHA256])


def key_in(options):
    """The server's, out of its SYN-ACK; zeros where it does not agree."""
    at = options.find(bytes([KIND, 12, VERSION]))
    return options[at + 4:at + 12] if at >= 0 else bytes(8)


def first_number(key):
    """The low 32 bits of the data sequence number of its owner's first byte."""
    return int.from_bytes(hashlib.sha256(key).digest()[-4:], "big") + 1 & 0xFFFFFFFF


def capable(options):
    """Of the third segment of a handshake, whose second one had these options."""
    return bytes([KIND, CAPABLE_BOTH_SIZE, VERSION, HMAC_SHA256]) + KEY + key_in(options)


def mapped(text, at, to):
    """The text at its place in the segments' numbers, which the server takes for another place."""
    def options(of_server):
        numbers = (first_number(key_in(of_server)), first_number(KEY) + to, at + 1)
        return (bytes([KIND, MAPPING_SIZE, MAPPING, HAS_ACK | HAS_MAPPING]) + b"".join(
            (number & 0xFFFFFFFF).to_bytes(4, "big") for number in numbers) + len(text).to_bytes(2, "big"))
    return Send(text, at, options=options)


def swapped(text, one, other):
    """The steps of a connection whose two parts of one length stand for each other's place."""
    first, second, size = text.index(one), text.index(other), len(one)
    edges = [0, first, first + size, second, second + size, len(text)]
    places = {first: second, second: first}
    return (Open(options=CAPABLE, ack_options=capable), *(
        step for at, end in zip(edges, edges[1:]) for step in (mapped(text[at:end], at, places.get(at, at)), Wait(0.05, "time"))),
            Wait())
