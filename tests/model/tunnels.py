"""Tunnels over UDP, the ports that a box looks into, and GRE: what stands before the packet inside."""
REGISTERED = {"vxlan": 4789, "geneve": 6081, "gtpu": 2152}
IPV4, IPV6, WCCP, NOTHING = 0x0800, 0x86DD, 0x883E, None
MOST_GTPU_EXTENSIONS = 16


def ports_of(tunnels):
    """port -> name, of a list as `tunnels:` has it."""
    ports = {}
    for one in tunnels:
        name, _, port = one.partition(":")
        if name in REGISTERED:
            ports[int(port or REGISTERED[name])] = name
    return ports


def gtpu(number, at):
    """(which IP, where); `number(at, size)` reads bytes of the tunnel, and ends the walk where there are none.
    Behind a sequence number and one more stands the type of the first extension header (3GPP TS 29.281, 5.1)."""
    number(at, 8)
    first, message = number(at, 1), number(at + 1, 1)
    if first >> 4 != 3 or message != 255:
        return NOTHING, at
    at += 8
    if first & 7:
        following, count = number(at, 4) & 255 if first & 4 else 0, 0
        at += 4
        while following:
            count += 1
            if count > MOST_GTPU_EXTENSIONS:
                return "too_deep", at
            if count == 1 and number(at, 1) >> 4 in (4, 6):  # a packet, to ends that step over none
                return "too_deep", at
            size = number(at, 1) * 4
            if size == 0:
                return NOTHING, at
            following, at = number(at + size - 1, 1), at + size
    return {4: IPV4, 6: IPV6}.get(number(at, 1) >> 4, NOTHING), at


def geneve(number, at):
    """(an EtherType, where) behind the options (RFC 8926, 3.4)."""
    number(at, 8)
    first, kind = number(at, 1), number(at + 2, 2)
    return (NOTHING, at) if first >> 6 else (kind, at + 8 + 4 * (first & 63))


def gre(number, at):
    """(an EtherType, where) behind the words that flags announce (RFC 2890). Of WCCP, which has no flags, version 2 has
    four bytes before the packet; a packet that begins with a 4 is one of version 1."""
    number(at, 4)
    bits, kind = number(at, 2), number(at + 2, 2)
    if bits & 0x4007:  # source routes, and any version but 0
        return NOTHING, at
    at += 4 + sum(4 for bit in (0x8000, 0x2000, 0x1000) if bits & bit)
    if (bits, kind) == (0, WCCP):
        at += 0 if number(at, 1) >> 4 == 4 else 4
        kind = {4: IPV4, 6: IPV6}.get(number(at, 1) >> 4, NOTHING)
    return kind, at
