"""Open connections of a key, as section 4 defines `concurrency`: a list, searched from end to end.

A connection is opened by an admitted SYN and known by its ends. It is open until both ends have sent
a FIN behind everything before it, until an RST comes with the number that its receiver expects, or
until nothing of it has been forwarded for `idle`.
"""
from meters import NEVER, Bucket

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
NUMBERS = 1 << 32


def ahead(number, of):
    """How far a sequence number lies behind another one; negative: before it. They wrap."""
    return (number - of + NUMBERS // 2) % NUMBERS - NUMBERS // 2


def ends_of(packet):
    """(sender, receiver), or None if the packet has no TCP."""
    fields = packet.fields
    if "tcp.flags" not in fields:
        return None
    return (fields["ip.src"], fields["l4.sport"]), (fields["ip.dst"], fields["l4.dport"])


class Tracked:
    """What has been seen of one connection: by sender, the number `due` next from it as what has
    passed says, and the highest that its receiver has `confirmed`."""

    def __init__(self, sender, receiver, first, seen):
        self.ends, self.seen = {sender, receiver}, seen
        self.begin(sender, receiver, first)

    def begin(self, sender, receiver, first):
        self.due = {sender: (first + 1) % NUMBERS}
        self.confirmed = dict(self.due)
        self.finished, self.again = set(), None  # `again`: who has sent another SYN, and what takes it

    def ends_with(self, packet):
        """Whether this packet closes it."""
        sender, receiver = ends_of(packet)
        flags, (number, answer) = packet.fields["tcp.flags"], packet.numbers
        acks = bool(flags & ACK)
        if self.again and self.again[0] == receiver and acks and answer == self.again[1]:
            if flags & RST:
                return True
            if flags & SYN:
                self.begin(receiver, sender, (answer - 1) % NUMBERS)
        if sender not in self.due:
            if not acks or answer not in (self.due[receiver], self.confirmed[receiver]):
                return False
            if flags & RST:
                return True
            self.due[sender] = self.confirmed[sender] = (number + bool(flags & SYN)) % NUMBERS
        if flags & RST:
            return number in (self.due[sender], self.confirmed[sender])
        if acks and receiver in self.due and ahead(answer, self.confirmed[receiver]) > 0:
            self.confirmed[receiver] = answer
            if ahead(answer, self.due[receiver]) > 0:
                self.due[receiver] = answer
        if not flags & SYN:
            self.pass_bytes(sender, number, packet.carried, flags & FIN)
        return self.finished == self.ends

    def pass_bytes(self, sender, number, size, fin):
        behind = (number + size) % NUMBERS
        if ahead(self.due[sender], number) >= 0 and ahead(behind, self.due[sender]) > 0:
            self.due[sender] = behind
        if fin and behind == self.due[sender]:
            self.due[sender] = (behind + 1) % NUMBERS
            self.finished.add(sender)


class OpenConnections(Bucket):
    def __init__(self, limit, now, utc):
        super().__init__(limit, now, utc)
        self.all, self.coming = [], None

    def come(self, packet):
        """The packet that may open one."""
        self.coming = packet

    def open_at(self, instant):
        return [one for one in self.all if instant < one.seen + self.limit.window]

    def known(self):
        ends = set(ends_of(self.coming))
        return next((one for one in self.open_at(self.now) if one.ends == ends), None)

    def wait(self, cost):
        if self.known():
            return 0
        if cost > self.limit.count:
            return NEVER
        chances = [self.now, *sorted(one.seen + self.limit.window for one in self.open_at(self.now))]
        return next(instant - self.now for instant in chances
                    if len(self.open_at(instant)) + cost <= self.limit.count)

    def spend(self, cost):
        sender, receiver = ends_of(self.coming)
        known = self.known()
        if known:
            known.seen, known.again = self.now, (sender, (self.coming.numbers[0] + 1) % NUMBERS)
        elif cost:
            self.all = self.open_at(self.now)
            self.all.append(Tracked(sender, receiver, self.coming.numbers[0], self.now))

    def follow(self, now, packet):
        """Any packet that is forwarded."""
        ends = ends_of(packet)
        for one in [one for one in self.open_at(now) if ends and one.ends == set(ends)]:
            if one.ends_with(packet):
                self.all.remove(one)
            else:
                one.seen = now
