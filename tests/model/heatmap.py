"""Both heat maps of a limit, of every packet that its rule matches: exact, slow, and by the buckets of meters.py.

For rules with one limit over packets. Packets of one instant are judged together: what is left is what they leave behind.
"""
import collections
import math

SECOND = 1_000_000_000
FULL = 255


def offered_row(units):
    """Half steps of log2: row k has 2^((k-1)/2) up to 2^(k/2), so the square of a number has k binary digits."""
    return min((units * units).bit_length(), 80)


def left_row(share):
    return 0 if share == 0 else 17 if share == FULL else 1 + share * 16 // FULL


class Key:
    def __init__(self):
        self.offered, self.left = 0, FULL


def remaining(meter):
    """Whole units."""
    tokens = getattr(meter, "tokens", None)
    return math.floor(tokens) if tokens is not None else meter.limit.count - meter.used(meter.now)


def exact_maps(packets, limit, make, step):
    """`packets`: (ns in UTC, key, units), in their order. -> {column in s: (rows by offered, rows by left)}"""
    first = packets[0][0]
    most = getattr(limit, "burst", None) or limit.count
    meters, columns = {}, collections.defaultdict(lambda: collections.defaultdict(Key))
    by_instant = {}
    for at, key, units in packets:
        by_instant.setdefault(at, []).append((key, units))
    for at, together in by_instant.items():
        column, refused = columns[at // SECOND // step * step], set()
        for key, units in together:
            if key not in meters:
                meters[key] = make(limit, at - first, first)
            meter = meters[key]
            meter.at(at - first)
            column[key].offered += units
            if meter.wait(units):
                refused.add(key)
            else:
                meter.spend(units)
        for key, _ in together:
            share = 0 if key in refused else max(1, -(-max(remaining(meters[key]), 0) * FULL // most))
            column[key].left = min(column[key].left, share)
    return {begins: (counts(offered_row(key.offered) for key in keys.values()),
                     counts(left_row(key.left) for key in keys.values())) for begins, keys in columns.items()}


def counts(rows):
    """[[row, how many], …] as the API has them."""
    return [list(one) for one in sorted(collections.Counter(rows).items())]
