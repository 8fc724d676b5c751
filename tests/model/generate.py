"""Rule files and captures from a seed: what nobody would write by hand.

Values come from small pools, so that conditions match, keys collide and buckets run dry.
"""
import struct
from ipaddress import IPv4Address, IPv6Address

from pcap import SECOND

V4 = [IPv4Address(text) for text in ("10.1.2.3", "10.1.2.4", "10.1.9.9", "192.0.2.1", "0.0.0.0",
                                     "255.255.255.255", "198.51.100.7")]
V6 = [IPv6Address(text) for text in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "::", "::1",
                                     "fe80::1:0:0:1", "::ffff:192.0.2.1", "64:ff9b::c000:201",
                                     "2001:db8:1:1:1:1:1:1")]
PORTS = [0, 22, 53, 80, 443, 4789, 65535]
MACS = [bytes.fromhex(text) for text in ("020000000001", "161718191a1b", "ffffffffffff")]
VLANS = [0, 5, 6, 4095]
TPIDS = [0x8100, 0x88A8, 0x9100, 0x9200]
NETWORKS = ["10.0.0.0/8", "10.1.2.0/24", "10.1.2.3", "0.0.0.0/0", "192.0.2.0/31", "::/0",
            "2001:db8::/32", "2001:db8::/64", "2001:db8::1", "::ffff:0:0/96", "198.51.100.7/32"]
NUMBERS = {"eth.type": ["0x0800", "0x0806", "0x86dd", "0x8847", "34916", "0x0600"],
           "vlan.id": VLANS, "vlan.inner_id": VLANS, "ip.version": [4, 6],
           "ip.proto": [1, 6, 17, 58, 132, 44, 60, 255], "ip.ttl": [0, 1, 63, 64, 255],
           "ip.dscp": [0, 10, 46, 63], "ip.len": [0, 28, 40, 46, 60, 100, 1500, 65535],
           "l4.sport": PORTS, "l4.dport": PORTS, "tcp.flags": [0, 2, 16, 18, 274, "0x0fff"],
           "icmp.type": [0, 3, 8, 128, 135], "icmp.code": [0, 1, 255],
           "payload.len": [0, 1, 10, 100, 1000]}
FLAGS = ["tcp.flags." + name for name in ("syn", "ack", "fin", "rst", "psh", "urg")]
WORDS = {"dir": ['"in"', '"out"'], "port": ['"uplink"', '"a b"'],
         "ip.frag": ['"none"', '"first"', '"later"']}
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "==", "!=", "<", "<=", ">", ">="]
EQUALITIES = ["eq", "ne", "==", "!="]
PREFIXES = ["24", "8", "32", "0", "24|64", "16|48", "32|128", "0|0", "31|127", "9|33"]


def condition(dice, depth=3):
    kind = dice.choice(["leaf", "not", "and", "or", "mixed", "leaf"]) if depth else "leaf"
    if kind == "leaf":
        return leaf(dice)
    parts = [condition(dice, depth - 1) for _ in range(3)]
    if kind == "not":
        return dice.choice([f"not {parts[0]}", f"not ({parts[0]})", f"not not ({parts[0]})"])
    if kind == "mixed":
        return f"{parts[0]} or {parts[1]} and not {parts[2]}"
    text = f" {kind} ".join(parts[:2])
    return dice.choice([text, f"({text})"])


def leaf(dice):
    kind = dice.choice(["number", "number", "alone", "address", "address", "prefix", "mac", "word"])
    if kind == "alone":
        return dice.choice(FLAGS + list(NUMBERS))
    if kind == "number":
        name = dice.choice(list(NUMBERS))
        return test(dice, name, NUMBERS[name], COMPARISONS)
    if kind == "address":
        return test(dice, dice.choice(["ip.src", "ip.dst"]), NETWORKS, EQUALITIES)
    if kind == "prefix":
        field = dice.choice(["ip.src", "ip.dst"])
        return test(dice, f"prefix({field}, 24|64)", ["10.1.2.0/24", "10.1.9.0",
                                                       "2001:db8::/64", "::", "0.0.0.0/24",
                                                       "2001:db8:0:1::"], EQUALITIES)
    if kind == "mac":
        macs = [mac.hex(":") for mac in MACS]
        return test(dice, dice.choice(["eth.src", "eth.dst"]), macs, EQUALITIES)
    name = dice.choice(list(WORDS))
    return test(dice, name, WORDS[name], EQUALITIES)


def test(dice, field, values, operators):
    if dice.random() < 0.4:
        some = dice.sample(values, dice.randint(1, min(4, len(values))))
        return f"{field} in {{{' '.join(map(str, some))}}}"
    return f"{field} {dice.choice(operators)} {dice.choice(values)}"


def key(dice):
    parts = []
    for _ in range(dice.choice([0, 1, 1, 1, 2, 3])):
        kind = dice.choice(["ip.src", "ip.src", "prefix", "prefix", "any"])
        if kind == "any":
            kind = dice.choice(list(NUMBERS) + FLAGS + ["eth.src", "eth.dst", "dir", "ip.dst",
                                                        "ip.frag"])
        elif kind == "prefix":
            kind = f"prefix({dice.choice(['ip.src', 'ip.dst'])}, {dice.choice(PREFIXES)})"
        if kind not in parts:
            parts.append(kind)
    return "[" + ", ".join(f'"{part}"' for part in parts) + "]"


def limit(dice):
    if dice.random() < 0.4:
        rate = dice.choice(["100B/s", "1KB/s", "8Kbit/s", "3MB/s", "1Gbit/s", "100KB/m", "7KiB/m"])
        burst = dice.choice(["60B", "100B", "1500B", "4KiB", "10KB", "1MiB"])
        return f"{{algorithm: token_bucket, per: byte, rate: {rate}, burst: {burst}}}"
    rate = dice.choice(["1/d", "5/h", "7/m", "60/m", "1/s", "3/s", "10/s", "1000/s", "1K/s", "1M/s"])
    burst = dice.choice([1, 1, 2, 3, 5, 10, 40, 1000])
    return f"{{algorithm: token_bucket, rate: {rate}, burst: {burst}}}"


def rule(dice, number):
    lines = [f"  - id: r{number}"]
    mode = dice.choice(["enforce", "enforce", "enforce", "monitor", "off", None])
    if mode:
        lines.append(f"mode: {mode}")
    if dice.random() < 0.75:
        lines.append(f"when: '{condition(dice)}'")
    if dice.random() < 0.15:
        lines.append("on_match: " + dice.choice(["drop", "allow"]))
        if dice.random() < 0.7:  # seldom everything
            lines = [line for line in lines if not line.startswith("when")]
            lines.append(f"when: '({condition(dice)}) and {leaf(dice)} and {leaf(dice)}'")
        return "\n    ".join(lines)
    lines.append(f"key: {key(dice)}")
    limits = [limit(dice) for _ in range(dice.choice([1, 1, 1, 2, 3]))]
    lines.append(f"limits: [{', '.join(limits)}]")
    if dice.random() < 0.5:
        lines.append("missing_key: " + dice.choice(["skip", "share"]))
    action = dice.choice([None, "drop", "pass", "tag, dscp: ef", "tag, dscp: 12, pcp: 3"])
    if action:
        lines.append(f"on_exceed: {{action: {action}}}")
    return "\n    ".join(lines)


def rule_file(dice):
    head = "version: 1\n"
    defaults = [f"mode: {dice.choice(['enforce', 'monitor'])}"] * (dice.random() < 0.5)
    defaults += [f"missing_key: {dice.choice(['skip', 'share'])}"] * (dice.random() < 0.3)
    if defaults:
        head += f"defaults: {{{', '.join(defaults)}}}\n"
    return head + "rules:\n" + "\n".join(rule(dice, number)
                                         for number in range(1, dice.randint(1, 8) + 1)) + "\n"


# Frames.

def transport(dice, version):
    """-> (protocol, bytes)"""
    body = b"x" * dice.choice([0, 0, 1, 10, 100, 900])
    ports = struct.pack("!HH", dice.choice(PORTS), dice.choice(PORTS))
    kind = dice.choice(["udp", "udp", "tcp", "tcp", "icmp", "ports", "other"])
    if kind == "udp":
        size = dice.choice([8 + len(body)] * 6 + [0, 7, 8, 3, 5000])
        return 17, ports + struct.pack("!HH", size, 0) + body
    if kind == "tcp":
        offset = dice.choice([5] * 8 + [4, 6, 8, 15, 0])
        flags = dice.choice([2, 16, 18, 24, 17, 4, 274, 0xFFF])
        options = b"\1" * max(0, offset * 4 - 20) * (dice.random() < 0.8)
        return 6, ports + struct.pack("!IIHHHH", 1, 2, (offset << 12) | flags, 9, 0, 0) + options + body
    if kind == "icmp":
        number = dice.choice([1, 58] + [1 if version == 4 else 58] * 6)
        return number, struct.pack("!BBHI", dice.choice([0, 3, 8, 128, 135]),
                                   dice.choice([0, 1, 255]), 0, 7) + body
    if kind == "ports":
        return dice.choice([33, 132, 136]), (ports + body)[:dice.choice([2, 3, 4, 50])]
    return dice.choice([2, 4, 41, 47, 50, 59, 89, 255]), body


def ipv4(dice):
    proto, body = transport(dice, 4)
    options = b"\1" * dice.choice([0] * 6 + [4, 8, 40])
    ihl = dice.choice([5 + len(options) // 4] * 20 + [4, 15])
    size = 20 + len(options) + len(body)
    size = dice.choice([size] * 20 + [0, 10, 19, 20, size - 3, size + 9, 65535]) & 0xFFFF
    fragment = dice.choice([0] * 10 + [0x4000, 0x2000, 0x2001, 0x0005, 0x1FFF, 0x8000])
    version = dice.choice([4] * 40 + [6, 0])
    return struct.pack("!BBHHHBBH4s4s", version << 4 | ihl, dice.choice([0, 0x28, 0xB9, 0xFF]), size,
                       1, fragment, dice.choice([1, 64, 64, 255]), proto, 0,
                       dice.choice(V4).packed, dice.choice(V4).packed) + options + body


def ipv6(dice):
    kind, body = transport(dice, 6)
    count = dice.choice([0] * 8 + [1, 1, 2, 3, 15, 16, 17])
    for _ in range(count):
        kind, body = extension(dice, kind, body)
    size = dice.choice([len(body)] * 16 + [0, 3, len(body) + 5, 65535])
    version = dice.choice([6] * 40 + [4])
    return struct.pack("!IHBB16s16s", version << 28 | dice.choice([0, 0x0B800000, 0x0FFFFFFF]), size,
                       kind, dice.choice([1, 64, 255]), dice.choice(V6).packed,
                       dice.choice(V6).packed) + body


def extension(dice, following, body):
    kind = dice.choice([0, 43, 44, 51, 60, 135, 139, 140])
    if kind == 44:
        place = dice.choice([0, 0, 1, 8, 9, 0xFFF8, 6])
        return kind, struct.pack("!BBHI", following, dice.choice([0, 9]), place, 7) + body
    size = dice.choice([0, 0, 1, 2]) + (kind == 51)
    if dice.random() < 0.03:
        size = 200
    length = (size + 2) * 4 if kind == 51 else (size + 1) * 8
    return kind, struct.pack("!BB", following, size) + b"\0" * (min(length, 40) - 2) + body


def frame(dice):
    kind, body = dice.choice([(0x0800, ipv4), (0x0800, ipv4), (0x86DD, ipv6), (0x86DD, ipv6),
                              (0x0806, lambda _: b"\0\1\x08\0\6\4\0\1" + b"\0" * 20),
                              (28, lambda _: b"\x42\x42\3" + b"\0" * 25),
                              (dice.choice([0x0600, 0x05FF, 0x88CC, 0x8863]), lambda _: b"?" * 40)])
    body = body(dice)
    shim = dice.random()
    if shim < 0.05:
        kind, body = 0x8864, struct.pack("!HHHH", 0x1100, 1, len(body) + 2,
                                         {0x0800: 0x21, 0x86DD: 0x57}.get(kind, 0xC021)) + body
    elif shim < 0.12:
        labels = [dice.randrange(1 << 20) << 12 | 64 for _ in range(dice.randint(1, 4))]
        labels[-1] |= 0x100
        kind = dice.choice([0x8847, 0x8848])
        body = b"".join(struct.pack("!I", label) for label in labels) + body
    for _ in range(dice.choice([0, 0, 0, 0, 1, 1, 2, 3, 6])):
        body = struct.pack("!HH", dice.choice([0, 0xE000]) | dice.choice(VLANS), kind) + body
        kind = dice.choice(TPIDS)
    return dice.choice(MACS) + dice.choice(MACS) + struct.pack("!H", kind) + body


def spoil(dice, data):
    """-> (bytes at hand, size on the wire)"""
    how = dice.random()
    if how < 0.25 and len(data) < 60:
        data += b"\0" * (60 - len(data))
    elif how < 0.30:
        data += b"\0" * dice.choice([1, 4, 30])
    elif how < 0.36:
        data = data[:dice.randint(0, min(len(data), 100))]
    elif how < 0.40 and len(data) > 14:
        octets = bytearray(data)
        octets[dice.randrange(12, min(len(octets), 70))] = dice.randrange(256)
        data = bytes(octets)
    wire = len(data)
    if dice.random() < 0.12:
        data = data[:dice.randint(0, min(wire, 120))]
    elif dice.random() < 0.03:
        data = data[:64]
    return data, wire


def capture(dice, count):
    """[(time in ns, bytes at hand, size on the wire)]"""
    pool = [frame(dice) for _ in range(dice.choice([10, 50, 200]))]
    step = dice.choice([[0, 0, 1, 1000, 10**6], [10**6, 10**7, 10**8, 333_333_333], [0],
                        [0, SECOND, 60 * SECOND, 3600 * SECOND, -5 * SECOND],
                        [0, 1, 999, -1, -10**6, 10**5, 10**8]])
    time, frames = dice.choice([10**6, 1_700_000_000, 4_000_000_000]) * SECOND, []
    for _ in range(count):
        time += dice.choice(step)
        data = dice.choice(pool) if dice.random() < 0.8 else frame(dice)
        frames.append((time, *spoil(dice, data)))
    return frames
