"""What a tag makes of a frame: the DSCP of its outermost IP header, the PCP of its first VLAN tag."""
import struct

# RFC 2474, 2597, 3246, 5865, 8622.
NAMES = {"be": 0, "default": 0, "le": 1, "va": 44, "ef": 46, **{f"cs{n}": 8 * n for n in range(8)},
         **{f"af{c}{p}": 8 * c + 2 * p for c in range(1, 5) for p in range(1, 4)}}
VLAN_AT = 14


def tagged(data, packet, tag):
    """`tag`: an action with `dscp` and `pcp`, or None."""
    if tag is None:
        return data
    data = bytearray(data)
    if "pcp" in tag and "vlan.id" in packet.fields and not packet.begins_with_metadata:
        data[VLAN_AT] = int(tag["pcp"]) << 5 | data[VLAN_AT] & 0x1F
    if "dscp" in tag and packet.ip_at:
        at, version = packet.ip_at
        dscp = NAMES[tag["dscp"]] if tag["dscp"] in NAMES else int(tag["dscp"])
        if version == 4:
            set_dscp_of_ipv4(data, at, dscp)
        else:
            word = struct.unpack_from("!H", data, at)[0]
            struct.pack_into("!H", data, at, word & 0xF03F | dscp << 6)
    return bytes(data)


def set_dscp_of_ipv4(data, at, dscp):
    """The checksum is as wrong as it came (RFC 1624, equation 3)."""
    before, checksum = struct.unpack_from("!H", data, at)[0], struct.unpack_from("!H", data, at + 10)[0]
    data[at + 1] = dscp << 2 | data[at + 1] & 3
    after = struct.unpack_from("!H", data, at)[0]
    total = (checksum ^ 0xFFFF) + (before ^ 0xFFFF) + after
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", data, at + 10, total ^ 0xFFFF)
