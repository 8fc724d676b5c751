"""Tunnels over UDP: the ports that a box looks into, and what stands before the packet inside."""
REGISTERED = {"vxlan": 4789, "geneve": 6081, "gtpu": 2152}
IPV4, IPV6, NOTHING = 0x0800, 0x86DD, None
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
    first, message = number(at, 1), number(at + 1, 1)
    number(at + 4, 4)
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
            size = number(at, 1) * 4
            if size == 0:
                return NOTHING, at
            following, at = number(at + size - 1, 1), at + size
    return {4: IPV4, 6: IPV6}.get(number(at, 1) >> 4, NOTHING), at


def geneve(number, at):
    """(an EtherType, where) behind the options (RFC 8926, 3.4)."""
    first, kind = number(at, 1), number(at + 2, 2)
    number(at + 4, 4)
    return (NOTHING if first >> 6 else kind), at + 8 + 4 * (first & 63)
