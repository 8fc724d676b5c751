"""Who has a bucket of its own, and what stands in for it where `table_share` leaves no place.

Exact as long as nobody's bucket is full again: then its place may be another's at any later time.
"""
import ipaddress
import re

from expression import value_of
from texts import ADDRESS

PLACES = 1_115_512  # in the table of a worker of `replay`
WIDENINGS = ({4: 24, 6: 64}, {4: 24, 6: 48})  # the steps of `coarsen` before the rule itself
LENGTHS = re.compile(r"(\d+)\s*(?:\|\s*(\d+)\s*)?\)$")


class NoPlace:
    """What `on_full` says in place of a bucket."""

    def __init__(self, admits):
        self.admits = admits


class Places:
    def __init__(self, make):
        self.make = make  # a bucket of a limit
        self.buckets, self.wider, self.held = {}, {}, {}

    def bucket(self, rule, number, limit, key, packet, make):
        """Of that key of the rule's tier; `make` gives it a new one."""
        place = (rule.id, number, limit.name, None if key is None else tuple(key))
        if place in self.buckets:
            return self.buckets[place]
        held = self.held.get(rule.id, 0)
        if rule.share == 100 or held < PLACES * rule.share // 100:
            self.held[rule.id] = held + 1
            self.buckets[place] = make()
            return self.buckets[place]
        if rule.on_full != "coarsen":
            return NoPlace(rule.on_full == "open")
        return self.parent(rule, number, limit, key, packet)

    def known(self, rule, number, limit, key):
        """The bucket that the key has already; None: it has none."""
        return self.buckets.get((rule.id, number, limit.name, None if key is None else tuple(key)))

    def parent(self, rule, number, limit, key, packet):
        tier = rule.tiers[number]
        wider = () if key is None else wider_key(tier.key, packet.fields)
        step = 1 if wider else rule_step(tier.key, rule.client)
        place = (rule.id, number, limit.name, wider)
        if place not in self.wider:
            self.wider[place] = self.make(limit.times(rule.factor ** step))
        return self.wider[place]


def wider_key(parts, fields):
    """The key with its addresses cut once; empty: it has none that is finer than that."""
    key, is_wider = [], False
    for widening in WIDENINGS:
        for part in parts if not is_wider else ():
            value = value_of(part, fields)
            if ADDRESS.search(part):
                cut = cut_to(value, widening[value.version])
                is_wider = is_wider or cut != as_network(value)
                value = cut
            key.append(str(value))
        key = key if is_wider else []
    return tuple(key)


def as_network(value):
    return ipaddress.ip_network(value)


def cut_to(value, bits):
    network = as_network(value)
    return network if network.prefixlen <= bits else network.supernet(new_prefix=bits)


def rule_step(parts, client):
    """How many steps it is to the whole rule, for whichever version has the most."""
    steps = [0]
    for part in parts:
        if ADDRESS.search(part):
            v4, v6 = (client.lengths[4], client.lengths[6]) if "client.ip" in part else (32, 128)
            lengths = LENGTHS.search(part)
            if lengths:
                v4, v6 = min(v4, int(lengths[1])), min(v6, int(lengths[2] or lengths[1]))
            steps += [int(v4 > 24), int(v6 > 64) + int(v6 > 48)]
    return 1 + max(steps)
