"""VLANs of a packet, as they tell connections and datagrams apart."""


def vlans_of(fields):
    """Of its first two tags. A VID of 0 is a priority and no VLAN (IEEE 802.1Q, 6.9.1)."""
    return tuple(tag for tag in (fields.get("vlan.id"), fields.get("vlan.inner_id")) if tag)


# Tags under which a frame is of one and the same VLANs.
SAME = ((), (), (), (0,), (0, 0)), ((5,), (5, 0), (0, 5)), ((5, 7),)
