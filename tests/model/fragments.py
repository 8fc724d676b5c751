"""Later fragments meet what the first of their datagram met: `packets.fragments` of sluice.yaml.

Nothing is bounded but the time: the model forgets no datagram for a newer one.
"""
from vlans import vlans_of

TICK = 1 << 20  # nanoseconds
TIMEOUT = 30_000_000_000 // TICK + 1
MOST_PLACES = 48
ENDPOINTS = ("ip.version", "ip.src", "ip.dst", "dir", "port")


class Datagram:
    def __init__(self, began, first_end, drops):
        self.began, self.first_end, self.drops = began, first_end, drops
        self.come, self.total, self.discarded = 0, 0, False
        self.places = {}  # later fragments where a sender puts them: offset -> (size, more, bytes)

    def overlaps(self, fragment):
        """It claims bytes that others have, or lies where the datagram does not reach."""
        end = fragment.offset + fragment.size
        total = self.total if fragment.more else end
        return (fragment.offset < self.first_end or end > 0xFFFF
                or self.total not in (0, total)
                or total != 0 and max(end, self.come + fragment.size) > total)


class Fragments:
    def __init__(self):
        self.datagrams = {}

    def remember(self, now, fields, dropped):
        """What became of a first fragment."""
        fragment, key = fields["fragment"], _key(fields)
        known = self._find(key, now)
        if known is None:
            known = self.datagrams[key] = Datagram(now // TICK, fragment.size, dropped)
            self._add(key, fragment)
        elif known.discarded or known.first_end != fragment.size:
            known.discarded = True
        else:
            known.drops |= dropped

    def refusal(self, now, fields):
        """Why a later one is dropped, or None."""
        fragment, key = fields["fragment"], _key(fields)
        known = self._find(key, now)
        if known is None:
            return None
        contents = fragment.size, bool(fragment.more), fragment.bytes
        is_placed = known.first_end and fragment.offset % known.first_end == 0 and \
            0 < fragment.offset // known.first_end <= MOST_PLACES
        before = known.places.get(fragment.offset) if is_placed else None
        if before == contents and not known.discarded:
            return "fragment_of_refused" if known.drops else None
        if known.discarded or before or known.overlaps(fragment):
            known.discarded = True
            return "overlapping_fragment"
        if is_placed:
            known.places[fragment.offset] = contents
        self._add(key, fragment)
        return "fragment_of_refused" if known.drops else None

    def _find(self, key, now):
        known = self.datagrams.get(key)
        if known and now // TICK - known.began > TIMEOUT:
            known = self.datagrams.pop(key) and None
        return known

    def _add(self, key, fragment):
        """A datagram that is whole is forgotten."""
        known = self.datagrams[key]
        known.come = min(known.come + fragment.size, 0xFFFF)
        if not fragment.more:
            known.total = fragment.offset + fragment.size
        if known.total and known.come == known.total:
            del self.datagrams[key]


def _key(fields):
    return fields["fragment"].datagram + (vlans_of(fields), *(fields.get(name) for name in ENDPOINTS))
