"""Open connections of a key, as section 4 defines `concurrency`: a list, searched from end to end.

A connection is opened by an admitted SYN and known by its ends, their sides and its VLAN tags. It is
established once the end that opened it has acknowledged the other one's number, or the other one, inside, bytes of it. It is open until both
ends have sent a FIN and everything before it, until an RST comes with the number that its receiver
expects (of the end outside by what has been acknowledged; while its bytes are on their way, only once
both have been silent for two seconds, and for 62 where some of them may arrive or not, or where it has timestamps
and the connection is half open), or until nothing of it has been forwarded for `idle`; while it is not established, for
`half_open`. `from: established` counts it from then on.

Of the end outside only what its numbers allow counts: it may be anybody who sends in its name.
"""
from header_options import TIMESTAMPS, may_be_thrown_away, options_in
from meters import NEVER, Bucket
from vlans import vlans_of

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
NUMBERS = 1 << 32
BEHIND, AHEAD = 1 << 20, 1 << 26  # how far from what has been acknowledged a segment may lie
LEAST_TTL = 32
WIDEST = 1 << 30
ACKNOWLEDGED_WITHIN = 2 * 10 ** 9  # ns: of what a receiver takes
TAKEN_WITHIN = 60 * 10 ** 9  # of a datagram's first fragment


def ahead(number, of):
    """How far a sequence number lies behind another one; negative: before it. They wrap."""
    return (number - of + NUMBERS // 2) % NUMBERS - NUMBERS // 2


def ends_of(packet):
    """(sender, receiver), or None if the packet has no TCP."""
    fields = packet.fields
    if "tcp.flags" not in fields:
        return None
    inside = fields["dir"] == "out"
    tags = vlans_of(fields)
    return ((fields["ip.src"], fields["l4.sport"], inside, tags),
            (fields["ip.dst"], fields["l4.dport"], not inside, tags))


CERTAIN, UNCERTAIN, NEVER = range(3)


def arrival_of(packet):
    """Whether its receiver gets it."""
    flags, outside = packet.fields["tcp.flags"], packet.fields["dir"] == "in"
    if not flags & (FIN | SYN | RST) and not (outside and packet.carried):
        return CERTAIN
    if packet.fields.get("ip.frag", "none") != "none":
        return UNCERTAIN if outside else NEVER
    is_lost = packet.fields["ip.ttl"] < LEAST_TTL or flags & (FIN | RST) and may_be_thrown_away(*packet.options[:2])
    return UNCERTAIN if outside and is_lost else CERTAIN


class Way:
    """What has passed of one sender: `due` next without a gap, the highest that its receiver has
    `confirmed`, the `top` of all; its FIN, seen and in its place."""

    def __init__(self, number):
        self.due = self.confirmed = self.top = number % NUMBERS
        self.fin = self.done = False

    def confirm(self, number):
        if ahead(number, self.confirmed) > 0:
            self.confirmed = number
            self.due, self.top = (number if ahead(number, one) > 0 else one for one in (self.due, self.top))
        self.settle()

    def settle(self):
        if self.fin and ahead(self.top, self.due) <= 1:
            self.due, self.done = self.top, True

    def take(self, number, size, fin):
        if self.done:
            return
        behind = (number + size + bool(fin)) % NUMBERS
        if ahead(behind, self.top) > 0:
            self.top, self.fin = behind, False
        if fin and behind == self.top:
            self.fin = True
        if ahead(self.due, number) >= 0 and ahead(behind, self.due) > 0:
            self.due = behind
        self.settle()

    def may_lie(self, number):
        return -BEHIND <= ahead(number, self.confirmed) <= AHEAD


class Tracked:
    """What has been seen of one connection."""

    def __init__(self, sender, receiver, first, seen):
        self.ends, self.seen = {sender, receiver}, seen
        self.begin(sender, first)

    def begin(self, opener, first):
        self.opener, self.established, self.again, self.uncertain, self.taken = opener, False, None, False, False
        self.ways = {opener: Way(first + 1)}  # `again`: who has sent another SYN, and what takes it

    def completed_by(self, packet):
        sender, receiver = ends_of(packet)
        flags, (number, answer) = packet.fields["tcp.flags"], packet.numbers
        other = self.ways.get(receiver)
        return bool(sender == self.opener and other and flags & ACK and not flags & (SYN | RST)
                    and self.ways[sender].may_lie(number)
                    and ahead(answer, other.confirmed) >= 0 and ahead(other.top, answer) >= 0)

    def is_plausible(self, packet):
        sender, receiver = ends_of(packet)
        other, (number, answer) = self.ways.get(receiver), packet.numbers
        known = other is None or (packet.fields["tcp.flags"] & ACK and ahead(answer, other.confirmed) >= -BEHIND
                                  and ahead(other.top, answer) >= 0)
        return bool(self.ways[sender].may_lie(number) and known)

    def may_take(self, packet):
        """Bytes that may arrive, or not, or with an acknowledgment of long ago at the very number that is
        expected: nothing follows but that nobody knows what their receiver expects."""
        sender, receiver = ends_of(packet)
        me, other, flags = self.ways.get(sender), self.ways.get(receiver), packet.fields["tcp.flags"]
        if packet.fields["dir"] == "out" or flags & (SYN | RST) or me is None:
            return None
        number, answer = packet.numbers
        behind = (number + packet.carried + bool(flags & FIN)) % NUMBERS
        late = (other is not None and flags & ACK and -WIDEST <= ahead(answer, other.confirmed) < -BEHIND
                and ahead(me.due, number) >= 0)
        if ahead(behind, me.confirmed) <= 0 or not (self.is_plausible(packet) or late):
            return None
        self.uncertain = True
        return False

    def reset_by(self, now, packet):
        sender, receiver = ends_of(packet)
        me, other, (number, answer) = self.ways.get(sender), self.ways.get(receiver), packet.numbers
        if me is None:
            acks = packet.fields["tcp.flags"] & ACK
            return True if acks and ahead(answer, other.confirmed) >= 0 and ahead(other.top, answer) >= 0 else None
        if packet.fields["dir"] == "out":
            return True if number in (me.due, me.confirmed) else None
        if number != (me.confirmed if other else me.due):
            return None
        silence = 0 if me.due == (me.confirmed if other else me.top) else ACKNOWLEDGED_WITHIN
        stamps = options_in(packet.options[0])[0].get(TIMESTAMPS, ())
        proven = self.established or self.taken or sender != self.opener or not other  # nothing of it comes by
        if self.uncertain or not proven and any(len(body) == 8 for body in stamps):
            silence = ACKNOWLEDGED_WITHIN + TAKEN_WITHIN
        return True if now - self.seen >= silence else None

    def learn_of(self, now, packet):
        """None: it is no segment of this connection; else whether it closes it."""
        if arrival_of(packet) == UNCERTAIN:
            return self.may_take(packet)
        sender, receiver = ends_of(packet)
        flags, (number, answer) = packet.fields["tcp.flags"], packet.numbers
        acks, me, other = bool(flags & ACK), self.ways.get(sender), self.ways.get(receiver)
        takes = self.again and self.again[0] == receiver and acks and answer == self.again[1]
        answers = me is None and acks and ahead(answer, other.confirmed) >= 0 and ahead(other.top, answer) >= 0
        if flags & RST:
            return True if takes else self.reset_by(now, packet)
        repeated = me is not None and 0 <= ahead(me.top, (number + 1) % NUMBERS) <= BEHIND
        if takes and flags & SYN and not repeated:
            self.begin(receiver, answer - 1)
            self.ways[sender] = Way(number + 1)
            return False
        if flags & SYN and not acks:
            if sender == self.opener and other is None and (number + 1) % NUMBERS == me.confirmed:
                end = (number + 1 + packet.carried) % NUMBERS  # data of the SYN itself
                me.top = end if ahead(end, me.top) > 0 else me.top
            return None
        if me is None:
            if not answers:
                return None
            me = self.ways[sender] = Way(number + bool(flags & SYN))
        elif packet.fields["dir"] == "in" and not self.is_plausible(packet):
            return self.may_take(packet)
        if acks and other:
            self.taken |= (packet.fields["dir"] == "out" and not flags & SYN and receiver == self.opener
                           and ahead(answer, other.confirmed) > 0)
            other.confirm(answer)
        if not flags & SYN:
            me.take(number, packet.carried, flags & FIN)
        return all(end in self.ways and self.ways[end].done for end in self.ends)


class OpenConnections(Bucket):
    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.all, self.coming = [], None

    def come(self, packet):
        """The packet that may open one, or complete its handshake."""
        self.coming = packet

    def end_of(self, one):
        return one.seen + (self.limit.window if one.established else self.limit.half_open)

    def known_at(self, instant):
        return [one for one in self.all if instant < self.end_of(one)]

    def open_at(self, instant):
        return [one for one in self.known_at(instant) if one.established or not self.limit.from_established]

    def of(self, packet):
        ends = ends_of(packet)
        return next((one for one in self.known_at(self.now) if ends and one.ends == set(ends)), None)

    def completes(self, packet):
        """A handshake that is admitted or refused by it."""
        one = self.limit.from_established and self.of(packet)
        return bool(one and not one.established and one.completed_by(packet))

    def wait(self, cost):
        if not self.completes(self.coming) and (self.limit.from_established or self.of(self.coming)):
            return 0
        if cost > self.limit.count:
            return NEVER
        chances = [self.now, *sorted(self.end_of(one) for one in self.open_at(self.now))]
        return next(instant - self.now for instant in chances
                    if len(self.open_at(instant)) + cost <= self.limit.count)

    def spend(self, cost):
        one = self.of(self.coming)
        if self.completes(self.coming):
            one.established, one.seen = True, self.now
            return
        sender, receiver = ends_of(self.coming)
        if one:
            one.seen, one.again = self.now, (sender, (self.coming.numbers[0] + 1) % NUMBERS)
        elif cost:
            self.all = self.known_at(self.now)
            self.all.append(Tracked(sender, receiver, self.coming.numbers[0], self.now))

    def follow(self, now, packet):
        """Any packet that is forwarded."""
        self.now = max(self.now, now)
        one = self.of(packet)
        if one is None or arrival_of(packet) == NEVER:
            return
        ended = one.learn_of(self.now, packet)
        if ended is None:
            return
        if ended:
            self.all.remove(one)
            return
        one.seen = now
        completes = arrival_of(packet) == CERTAIN and (one.completed_by(packet) or one.taken)
        if not self.limit.from_established and not one.established and completes:
            one.established = True
