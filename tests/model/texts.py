"""Texts: as they are written between quotes, as parts of keys, and as people read them."""
import hashlib
import ipaddress
import re

import pcre2

DERIVED = (r"(?:path_prefix\s*\(\s*http\.request\.uri\.path\s*,\s*\d+\s*\)"
           r"|registrable_domain\s*\(\s*(?:dns\.qname|http\.host|tls\.sni|quic\.sni)\s*\))")
WORDS = rf"""(?:{DERIVED}|payload|dns\.qname|proto\.(?:l7|scheme)|http\.[a-z_.]+(?:\["[^"]+"\])?|(?:tls|quic)\.(?:sni|alpn|ja4|packet_type))"""
TEXT = re.compile(rf"{WORDS}|lower\(\s*{WORDS}\s*\)")
NUMBER = re.compile(r"dns\.(?:qr|qtype)|tls\.handshake\.type|quic\.(?:version|token_len)")  # of a later layer, which has the room of a short text
ADDRESS = re.compile(r"ip\.src\b(?!\.)|ip\.dst\b(?!\.)|client\.ip")
LONGEST_KEY, LONGEST_TEXT, BEGINNING, DIGEST = 320, 255, 48, 16


def unquoted(text):
    """The bytes of a text between quotes: \\", \\\\ and \\xNN are escapes."""
    inner = text[1:-1].encode() if text.startswith('"') else text.encode()
    return re.sub(rb'\\(?:x([0-9A-Fa-f]{2})|(["\\]))',
                  lambda one: bytes([int(one[1], 16)]) if one[1] else one[2], inner)


def pattern_of(text, folded):
    """A regular expression between quotes: only \\" is an escape of the text's."""
    source = text[1:-1].replace('\\"', '"').encode()
    return pcre2.compiled(source, folded)


class Written(str):
    """A part that needs no escapes any more."""


def room_in(key):
    """Bytes of each text in a key of these parts: they share what is left of 320."""
    texts = sum(bool(TEXT.fullmatch(part)) for part in key)
    fixed = sum(20 if ADDRESS.search(part) or NUMBER.fullmatch(part) else 12
                for part in key if not TEXT.fullmatch(part))
    return min(LONGEST_TEXT, (LONGEST_KEY - 4 * texts - fixed) // texts)


def long_text(value, room):
    """What does not fit is its beginning and a digest of the whole."""
    if len(value) <= room:
        return Written(escape_bytes(value))
    digest = hashlib.blake2b(value, digest_size=DIGEST).hexdigest()
    return Written(escape_bytes(value[:min(BEGINNING, room - DIGEST)]) + "\\h" + digest)


def text_of(name, value):
    """The value of a field as people read it."""
    if name in ("eth.type", "quic.version"):
        return f"0x{value:0{4 if name == 'eth.type' else 8}x}"
    if isinstance(value, (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        whole = value.prefixlen == value.max_prefixlen
        return text_of(name, value.network_address) + ("" if whole else f"/{value.prefixlen}")
    if isinstance(value, ipaddress.IPv6Address):
        return _ipv6_text(value)
    return str(value)


def _ipv6_text(address):
    """RFC 5952; addresses that embed an IPv4 one (mapped, compatible) keep its dots (section 5)."""
    if address.ipv4_mapped is not None:
        return f"::ffff:{address.ipv4_mapped}"
    if 0xFFFF < int(address) <= 0xFFFFFFFF:
        return f"::{ipaddress.IPv4Address(int(address))}"
    return str(address)


def escape(part):
    return part if isinstance(part, Written) else escape_bytes(part.encode())


def escape_bytes(octets):
    return "".join(chr(octet) if 0x20 <= octet < 0x7F and octet not in b"|\\"
                   else f"\\x{octet:02x}" for octet in octets)


def unescape(text):
    """The bytes of what `escape_bytes` writes."""
    return re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda one: bytes([int(one[1], 16)]), text.encode())
