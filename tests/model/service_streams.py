"""One TCP connection of a declared service, as its server would take it: RFC 9293 and RFC 5961 as tables.

Numbers are whole numbers here, counted from each end's first one, which is 0: its first byte is 1.
"""

FIN, SYN, RST, ACK, URG = 0x01, 0x02, 0x04, 0x10, 0x20
TICK_BITS = 20  # of nanoseconds
ACKNOWLEDGED = 2_000_000_000 >> TICK_BITS
NUMBERS = 1 << 32
OLDEST = 1 << 30  # no window is larger, so nothing that lies further back is sent again
BEHIND_CLOSED = 2  # a byte that probes a closed window, and a FIN
MOST_SCALE = 14
UNSEEN = 0xFFFF, MOST_SCALE  # window and scale of a SYN that is not the last one

NEAR = 0xFFFF  # how far numbers of a stranger's segment may be from the server's
UNSEEN_FLIGHT = 1 << 22  # what may have been sent before anybody looked
WIDEST_UNSEEN = 1 << 24

CLIENT, SERVER = 0, 1


def ahead(number, of):
    """How far a number lies ahead of the one that it is compared with; half of all numbers away it is neither ahead nor
    behind."""
    distance = (number - of) % NUMBERS
    return 0 if distance == NUMBERS // 2 else distance if distance < NUMBERS // 2 else distance - NUMBERS


class Segment:
    """What a TCP header says. `stamp` and `echo`: its timestamps (RFC 7323, 3), or None. `is_doubtful`: by its options some receiver
    drops it."""

    def __init__(self, flags, seq, ack, size, window, scale=None):
        self.flags, self.seq, self.ack, self.size, self.window, self.scale = flags, seq, ack, size, window, scale
        self.stamp, self.echo, self.is_doubtful = None, 0, False

    def is_older(self, echoed):
        """RFC 7323, 5.3: what its receiver has taken is at least what it has echoed."""
        says = self.size or self.flags & FIN
        return bool(says and echoed and self.stamp is not None and ahead(echoed, self.stamp) > 0)


class End:
    """What one end has sent and what the other one made of it: `sent` lies behind all of its numbers, what lies before
    `taken` the other end has acknowledged, and up to `edge` that offers room. `widest` is the largest window that this
    end has offered."""

    def __init__(self, first, window, scale, room):
        self.first, self.widest, self.scale = first, window, scale
        self.sent = self.taken = 1
        self.edge = 1 + room
        self.fin, self.is_old = None, False

    def oldest(self):
        """How far back a number may lie: nothing comes before the first one, where that was seen."""
        return OLDEST if self.is_old else min(self.taken, OLDEST)

    def place(self, number, near=None):
        """Of the 2^32 apart numbers that it may be the nearest to what was taken, or to another one."""
        near = self.taken if near is None else near
        return near + (number - self.first - near + NUMBERS // 2) % NUMBERS - NUMBERS // 2


class Handshake:
    """Two first numbers, and what both ends said of their windows."""

    def __init__(self, numbers, client, server, echoed=0):
        self.numbers, self.client, self.server, self.echoed = numbers, client, server, echoed

    def ends(self):
        """Windows of SYN and SYN-ACK are not scaled, and none is unless both offer it."""
        scales = [said[1] for said in (self.client, self.server)]
        scales = [0, 0] if None in scales else [min(scale, MOST_SCALE) for scale in scales]
        windows = self.client[0], self.server[0]
        return [End(self.numbers[end], windows[end], scales[end], windows[1 - end]) for end in (CLIENT, SERVER)]


def takes_ack(other, number, widest):
    place = other.place(number, other.sent)
    return place <= other.sent and other.taken - place <= min(widest, other.oldest() - 1 + other.is_old)


def takes_bytes(me, segment):
    """-> whether it lies where a receiver would look, whether it ends in the window."""
    at = me.place(segment.seq)
    end = at + segment.size
    if me.taken - at > me.oldest():
        return False, False
    if segment.size == 0:
        near = at <= me.edge + BEHIND_CLOSED
        return near, near
    probes = segment.size == 1 and at == me.taken == me.edge
    return True, end <= max(me.edge, me.taken) or probes


def is_old(me, segment):
    """All of its numbers are acknowledged."""
    at = me.place(segment.seq)
    return at + segment.size <= me.taken if segment.size else at < me.taken


def reset_place(me, number):
    place = me.place(number)
    return "exact" if place == me.taken else "window" if me.taken <= place <= me.edge + BEHIND_CLOSED else None


class Connection:
    """`see()` says why a segment is refused, or None; what is refused changes nothing."""

    def __init__(self, enforced, lets_strangers, in_order=False):
        self.enforced, self.lets_strangers, self.in_order = enforced, lets_strangers, in_order
        self.moves_back = False  # the last segment goes on as an old one
        self.now = self.touched = 0  # in ticks; when a segment came, and one that said something
        self.taken_up, self.said = False, None  # without a handshake; what a stranger's server says
        self.syn, self.other_syns = None, False  # the last SYN that no answer has come to: number, window, scale
        self.echoed = 0  # the latest timestamp of the client that the server has echoed; 0: none
        self.ends, self.phase = None, "asked"  # then "answered", "open", "reset"; or "strange"
        self.waiting, self.lost_handshake = None, False  # a handshake beside the one that stands
        self.reset_by = None

    def numbers(self):
        return tuple(end.first for end in self.ends) if self.ends else None

    def ended(self):
        return all(end.fin is not None and end.taken > end.fin for end in self.ends) if self.ends else False

    def see(self, end, segment, now=0):
        self.now = now >> TICK_BITS
        flags, self.moves_back = segment.flags, False
        if segment.is_doubtful and flags & RST:
            return "rst_out_of_window"
        if segment.is_doubtful and end == CLIENT:
            return "doubtful_options"
        if flags & SYN and flags & (FIN | RST):
            return "bad_handshake"
        if flags & SYN:
            return self.see_syn_ack(end, segment) if flags & ACK else self.see_syn(end, segment)
        if not flags & (ACK | RST):
            return "bad_ack"
        if self.phase == "strange" or self.phase == "asked" and end == CLIENT:
            return self.see_stranger(end, segment)
        if self.phase == "asked":
            return self.see_unanswered(segment)
        if self.phase == "answered":
            return self.see_answered(end, segment)
        return self.see_reset_behind(end, segment) if self.phase == "reset" else self.follow(end, segment)

    # Handshakes.

    def see_syn(self, end, segment):
        if end == SERVER or segment.size:
            return "bad_handshake"
        window = segment.window
        if self.syn and self.syn[0] == segment.seq:
            window = max(window, self.syn[1])
        else:
            self.other_syns = self.syn is not None
        self.syn = segment.seq, window, segment.scale
        return None

    def see_syn_ack(self, end, segment):
        if end == CLIENT:
            return "bad_handshake"
        numbers = (segment.ack - 1) % NUMBERS, segment.seq
        if numbers in (self.numbers(), self.waiting and self.waiting.numbers):
            return None
        asked = self.syn and (numbers[0] == self.syn[0] or self.other_syns)
        over = self.ends and (self.phase == "reset" or self.ended())
        if not asked and not (over and numbers[0] == self.ends[CLIENT].first):
            return "bad_handshake"
        is_last = self.syn and self.syn[0] == numbers[0]
        self.begin(Handshake(numbers, self.syn[1:] if is_last else UNSEEN, (segment.window, segment.scale),
                             segment.echo), segment)
        return None

    def begin(self, handshake, segment):
        if self.phase in ("open", "reset"):
            answers = [self.syn and one and one.numbers[0] == self.syn[0] for one in (handshake, self.waiting)]
            if self.waiting is None or answers[0] or not answers[1]:
                self.waiting = handshake
            return
        if self.phase == "answered":
            self.lost_handshake |= self.waiting is not None
            self.waiting = self.standing
            self.waiting.echoed = self.echoed
        self.stand(handshake, "answered")
        self.ends[SERVER].sent = 1 + segment.size

    def stand(self, handshake, phase):
        self.taken_up, self.said = False, None
        self.ends, self.phase, self.standing, self.reset_by = handshake.ends(), phase, handshake, None
        self.echoed = handshake.echoed

    def open(self, handshake=None):
        if handshake:
            self.stand(handshake, "open")
        self.phase, self.syn, self.other_syns, self.waiting, self.lost_handshake = "open", None, False, None, False

    def completes(self, ends, segment):
        near, fits = takes_bytes(ends[CLIENT], segment)
        return takes_ack(ends[SERVER], segment.ack, 0) and near and fits

    def completes_waiting(self, segment):
        return self.waiting is not None and segment.flags & ACK and not segment.flags & RST and \
            not segment.is_older(self.waiting.echoed) and self.completes(self.waiting.ends(), segment)

    def see_unanswered(self, segment):
        """Whoever speaks before the SYN-ACK is of another connection, unless it is the server's answer to the SYN."""
        answers = bool(self.syn and segment.flags & ACK and (segment.ack - 1) % NUMBERS == self.syn[0])
        if segment.flags & RST:
            if answers and not self.other_syns:
                self.phase = "gone"
            return None
        return "bad_handshake" if answers else None

    def see_answered(self, end, segment):
        if segment.flags & RST:
            return self.reset_handshake(end, segment)
        if end == SERVER:
            return self.follow(end, segment)
        if self.completes(self.ends, segment):
            if segment.is_older(self.echoed):
                return "doubtful_options"
            self.open()
            return self.follow(end, segment)
        if self.completes_waiting(segment):
            self.open(self.waiting)
            return self.follow(end, segment)
        if self.lost_handshake:
            return self.see_stranger(end, segment)
        return "bad_handshake" if segment.size else None

    def reset_handshake(self, end, segment):
        if self.ends[end].place(segment.seq) == self.ends[end].taken and self.waiting:
            self.stand(self.waiting, "answered")
            self.waiting = None
            return None
        if self.resets_waiting(end, segment):
            return None
        if end == SERVER and self.ends[end].place(segment.seq) != self.ends[end].taken:
            return None
        return self.reset(end, segment)

    def resets_waiting(self, end, segment):
        place = self.waiting and reset_place(self.waiting.ends()[end], segment.seq)
        if place == "exact":
            self.waiting = None
        return place is not None

    # Connections that nobody saw begin.

    def see_stranger(self, end, segment):
        """What a client says of one is not kept, and what its server says is."""
        if end == SERVER:
            self.listen(segment)
            return None
        if not segment.size or segment.flags & RST:
            return None
        self.phase = "strange" if self.phase == "asked" else self.phase
        if not self.lets_strangers() and not (self.in_order and self.said):
            return "midstream"
        if self.in_order:
            return self.see_next(segment)
        if self.phase == "strange" and self.said and segment.flags & ACK and self.is_near(segment):
            self.take_up(segment)
            return self.follow(end, segment)
        return None

    def see_next(self, segment):
        """What is read is what the server acknowledges next; before it has said a number it is made to."""
        if not self.said:
            self.moves_back = True
            return None
        client, server = self.said
        at = client.place(segment.seq)
        if at + segment.size <= client.taken:
            return None
        is_next = at <= client.taken and segment.flags & ACK and 0 <= server.sent - server.place(segment.ack) <= UNSEEN_FLIGHT
        if not is_next or not self.lets_strangers():
            return "midstream"
        self.take_up(segment)
        return self.follow(CLIENT, segment)

    def listen(self, segment):
        if segment.flags & RST or not segment.flags & ACK:
            return
        behind = segment.seq + segment.size + bool(segment.flags & FIN)
        room = min(segment.window << MOST_SCALE, WIDEST_UNSEEN)
        if self.said is None:
            self.said = [End(segment.ack - 1, 0, MOST_SCALE, 0), End(behind - 1, 0, MOST_SCALE, 0)]
        client, server = self.said
        ack = client.place(segment.ack)
        client.taken = max(client.taken, ack)
        client.sent, client.edge = max(client.sent, client.taken), max(client.edge, ack + room)
        place = server.place(behind)
        server.sent = max(server.sent, place)

    def is_near(self, segment):
        client, server = self.said
        return -NEAR <= client.place(segment.seq) - client.taken <= NEAR and \
            0 <= server.sent - server.place(segment.ack) <= NEAR

    def take_up(self, segment):
        self.ends, self.taken_up, self.phase = self.said, True, "open"
        client, server = self.ends
        server.taken = server.place(segment.ack)
        server.edge = max(server.sent, server.taken + min(segment.window << MOST_SCALE, WIDEST_UNSEEN))
        for end in self.ends:
            end.is_old, end.widest = True, WIDEST_UNSEEN >> MOST_SCALE
        self.syn, self.other_syns, self.waiting, self.lost_handshake, self.echoed = None, False, None, False, 0

    # Streams.

    def refusal(self, end, segment):
        me, other = self.ends[end], self.ends[1 - end]
        # What was refused, or not seen, has come to it all the same.
        believed = end == SERVER and (self.taken_up or not self.enforced)
        place = other.place(segment.ack, other.sent)
        unseen = UNSEEN_FLIGHT if self.taken_up else 0
        if place > other.sent + unseen and not believed:
            return "bad_ack"
        if place <= other.sent and not takes_ack(other, segment.ack, me.widest << me.scale):
            return "bad_ack"
        if self.is_behind_fin(me, segment):
            return "behind_end"
        near, fits = takes_bytes(me, segment)
        if not near or not (fits or believed):
            return "out_of_window"
        return "doubtful_options" if end == CLIENT and not is_old(me, segment) and segment.is_older(self.echoed) else None

    def is_behind_fin(self, me, segment):
        has_fin, end = bool(segment.flags & FIN), segment.seq + segment.size - me.first
        if me.fin is None:
            return has_fin and ahead(me.sent, end + self.taken_up) > 0
        behind = ahead(end, me.fin if segment.size else me.fin + 1) > 0
        return behind or has_fin and (end - me.fin) % NUMBERS != 0

    def follow(self, end, segment):
        if segment.flags & RST:
            return self.reset(end, segment)
        refusal = self.refusal(end, segment)
        if refusal and end == CLIENT and self.completes_waiting(segment):
            self.open(self.waiting)
            return self.follow(end, segment)
        if not refusal:
            self.learn(end, segment)
        return refusal

    def learn(self, end, segment):
        self.touched = self.now
        if end == SERVER and segment.stamp is not None:
            self.echoed = segment.echo if not self.echoed or ahead(segment.echo, self.echoed) > 0 else self.echoed
        me, other = self.ends[end], self.ends[1 - end]
        behind, ack = me.place(segment.seq) + segment.size, other.place(segment.ack)
        if segment.flags & FIN:
            me.fin = behind
        if segment.size or segment.flags & FIN:
            me.sent = max(me.sent, behind + bool(segment.flags & FIN))
        other.taken = max(other.taken, ack)
        other.sent = max(other.sent, other.taken)
        other.edge = max(other.edge, ack + (segment.window << me.scale))
        me.widest = max(me.widest, segment.window)

    def reset(self, end, segment):
        me = self.ends[end]
        if end == SERVER and segment.flags & ACK and self.syn and (segment.ack - 1) % NUMBERS == self.syn[0]:
            self.syn, self.other_syns = None, False  # the server wants no new connection
            return None
        place = reset_place(me, segment.seq)
        # Bytes on their way may have moved what the server expects: it acknowledges within that time.
        on_their_way = end == CLIENT and me.sent != me.taken and self.now - self.touched < ACKNOWLEDGED
        if place == "exact" and not on_their_way or end == SERVER and me.place(segment.seq) == me.sent:
            self.phase = "reset"
            self.reset_by = SERVER if end == SERVER else self.reset_by
            return None
        if self.resets_waiting(end, segment) or place:
            return None
        return "rst_out_of_window"

    def see_reset_behind(self, end, segment):
        """Of a connection that is over by a RST."""
        me = self.ends[end]
        if segment.flags & RST:
            refuses = end == SERVER and segment.flags & ACK and self.syn and \
                (segment.ack - 1) % NUMBERS == self.syn[0]
            fits = reset_place(me, segment.seq) or me.place(segment.seq) == me.sent
            return None if fits or refuses or self.resets_waiting(end, segment) else "rst_out_of_window"
        if end == CLIENT:
            if not self.completes_waiting(segment):
                return "behind_end"
            self.open(self.waiting)
            return self.follow(end, segment)
        gone = self.reset_by == SERVER
        refused = self.refusal(end, segment)
        if refused or gone and me.place(segment.seq) + segment.size > me.sent:
            return None if self.speaks_of_waiting(segment) else "behind_end"
        if not gone and self.ends[CLIENT].place(segment.ack) > self.ends[CLIENT].taken:
            self.phase = "open"  # it went on: the RST's number was not the one it expected
            return self.follow(end, segment)
        return None

    def speaks_of_waiting(self, segment):
        """The server challenges a segment in the handshake that waits."""
        if self.waiting is None or segment.size:
            return False
        client, server = self.waiting.ends()
        near, fits = takes_bytes(server, segment)
        return takes_ack(client, segment.ack, 0) and near and fits
