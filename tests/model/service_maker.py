"""Both directions of connections to declared services, with numbers, checksums and flags that are right, nearly right and
wrong, and rule files that declare them."""
import ipaddress
import struct

from connection_maker import CLIENTS, SERVERS, dice_start
from service_streams import ahead
from vlans import SAME

FIN, SYN, RST, PSH, ACK, URG = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
NUMBERS = 1 << 32
SECOND = 1_000_000_000
PORTS = [443, 444, 9000]
GAPS = [0, 1, 1000, 1_000_000, 20_000_000, 100_000_000]
LONG_GAPS = [1000, SECOND, 7 * SECOND, 19 * SECOND]
HEAD = 16_000  # bytes
SIGNED = b"\x13\x12" + bytes(18)  # RFC 2385, and two octets that end the options
# Options that give bytes another place, or none that anybody knows: RFC 8684, 8547; an experiment.
MOVING = [b"\x1e\x04\x20\x01", b"\x1e\x05\x20\x01\x07", b"\x45\x02", b"\1\xfd\x04ab"]
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"  # of PROXY headers, version 2
NAMED = ["198.51.100.1", "198.51.100.2", "198.51.100.200", "2001:db8:5::1", "::ffff:198.51.100.1"]  # by such headers
# Options of IPv4: none of any use, what every host takes (RFC 2113), a route, a time, and some that are cut short.
ON_THE_WAY = [b"\1\1\1\0", b"\x94\x04\0\0", b"\x94\x04\0\1", b"\x83\x03\x04\0", b"\x44\x04\x05\0", b"\x94\x03\0\0", b"\x94\x06\0\0", b"\0\x83\x03\x04"]
CLIENT_KEYS = ["[client.ip]", "[client.ip]", "[client.ip], missing_key: share"]
CLIENT_CONDITIONS = ["when: 'client.ip in {198.51.100.0/24}', ", "when: 'client.ip ne 198.51.100.1', "]


def total_of(octets):
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


class Talk:
    """One connection. `next` is what each end sends next; `has` what it has of the other one's."""

    def __init__(self, dice, port=None):
        self.dice = dice
        self.hosts = [ipaddress.ip_address(dice.choice(CLIENTS))]
        self.hosts.append(ipaddress.ip_address(dice.choice(SERVERS[self.hosts[0].version])))
        self.ports = [dice.randrange(1024, 65536), port or dice.choice(PORTS)]
        self.window = dice.choice((0, 1, 500, 4000, 65535)), dice.choice((0, 1, 500, 4000, 65535))
        self.scales = dice.choice(((None, None), (0, 0), (2, None), (None, 3), (1, 2), (14, 7), (20, 1)))
        # What each end's clock says, where both have timestamps.
        self.clocks = dice.choice((None, None, [1000, 5], [NUMBERS - 3, 1], [7, NUMBERS - 9]))
        self.tags, self.tagged = (), dice.choice((SAME[0], SAME[0], SAME[0], *SAME[1:]))
        self.ttl, self.plan = dice.choice((64, 64, 64, 31, 5)), self.begin()
        self.take_numbers()

    def take_numbers(self):
        self.first = [self.dice.choice((0, 7000, NUMBERS - 1, NUMBERS - 300, self.dice.randrange(NUMBERS)))
                      for _ in range(2)]
        self.next = [number + 1 for number in self.first]
        self.has = [number for number in self.first]

    def begin(self):
        """The opening, without which nothing is of interest: what may go wrong in it comes again."""
        if self.dice.randrange(8) == 0:  # RFC 7413
            yield self.frame(0, SYN, self.dice.choice((1, 300)), seq=self.first[0], ack=0, scale=self.scales[0])
        yield self.syn(0)
        for _ in range(self.dice.choice((0, 0, 0, 1))):
            yield self.syn(self.dice.choice((0, 0, 12345)))
        if self.dice.randrange(4) == 0:
            yield self.frame(0, self.dice.choice((ACK, FIN | ACK)), size=self.dice.choice((0, 9)))
            yield self.syn(0)
        yield self.syn_ack()
        if self.dice.randrange(4) == 0:
            yield self.syn_ack()
        if self.dice.randrange(5) == 0:
            yield self.frame(0, ACK, size=self.dice.choice((0, 5)), ack=self.next[1] + self.dice.choice((1, -1, 999)))
        yield self.frame(0, ACK)

    def syn(self, off):
        return self.frame(0, SYN, seq=self.first[0] + off, ack=0, scale=self.scales[0])

    def syn_ack(self, of=None):
        return self.frame(1, SYN | ACK, seq=self.first[1], ack=(self.first[0] if of is None else of) + 1,
                          scale=self.scales[1])

    def frame(self, end, flags, size=0, seq=None, ack=None, urgent=0, scale=None, spoil=None, ttl=None, window=None, more=b""):
        dice = self.dice
        seq = self.next[end] if seq is None else seq
        ack = (self.next[1 - end] if ack is None else ack) if flags & (ACK | RST) else 0
        options = b"" if scale is None else dice.choice((b"\x03\x03%c\x00", b"\x01\x03\x03%c", b"\x02\x04\x05\xb4\x03\x03%c\x00")) % scale
        options += more + self.stamps(end) + (MOVING[seq % len(MOVING)] if seq % 12 == 0 else b"")
        options += b"\0" * (-len(options) % 4)
        window = (self.window[end] if dice.randrange(4) else dice.choice((0, 700, 65535))) if window is None else window
        head = struct.pack("!HHIIHHHH", *(self.ports if end == 0 else self.ports[::-1]), seq % NUMBERS, ack % NUMBERS,
                           (5 + len(options) // 4) << 12 | flags, window, 0, urgent)
        segment = head + options + self.content(end, seq, size)
        source, target = self.hosts if end == 0 else self.hosts[::-1]
        right = total_of(source.packed + target.packed + struct.pack("!II", len(segment), 6) + segment)
        wrong = dice.choice((1, 0x100, 0xFFFE)) if spoil == "tcp" else 0
        segment = segment[:16] + struct.pack("!H", right ^ wrong) + segment[18:]
        return self.packet(source, target, segment, spoil, self.ttl if ttl is None else ttl)

    def stamps(self, end):
        """An old one now and then, which the clock of its end has long left behind; or none."""
        if self.clocks is None or self.dice.randrange(20) == 0:
            return b""
        self.clocks[end] = (self.clocks[end] + self.dice.choice((0, 1, 30))) % NUMBERS
        off = self.dice.choice((1, 2, 500, 1 << 30)) if self.dice.randrange(8) == 0 else 0
        late = self.dice.choice((0, 0, 0, 40))
        stamps = struct.pack("!II", (self.clocks[end] - off) % NUMBERS, (self.clocks[1 - end] - late) % NUMBERS)
        return self.dice.choice((b"\1\1\x08\x0a", b"\x08\x0a")) + stamps

    def content(self, _end, _seq, size):
        return b"x" * size

    def packet(self, source, target, segment, spoil, ttl, fragment=0):
        if source.version == 6:
            head, kind = struct.pack("!IHBB", 6 << 28, len(segment), 6, ttl) + source.packed + target.packed, 0x86DD
        else:
            begins = fragment or segment[13] & SYN  # without its SYN a connection is one that nobody saw begin
            options = b"" if begins or self.dice.randrange(25) else self.dice.choice(ON_THE_WAY)
            head = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(options) + len(segment), self.dice.randrange(65536),
                               fragment, ttl, 6, 0)
            head += source.packed + target.packed + options
            right = total_of(head) ^ (0x0F0F if spoil == "ip" else 0)
            head, kind = head[:10] + struct.pack("!H", right) + head[12:], 0x0800
        self.tags = self.dice.choice(self.tagged)
        tags = b"".join(struct.pack("!HH", 0x8100, tag) for tag in self.tags)
        return b"\x02\0\0\0\0\1\x02\0\0\0\0\xfe" + tags + struct.pack("!H", kind) + head + segment

    def go_on(self):
        frame = next(self.plan, None)
        return self.something() if frame is None else frame

    def something(self):
        dice, end = self.dice, self.dice.randrange(2)
        kind = dice.randrange(23)
        if kind < 9:
            return self.send(end, ACK | dice.choice((0, PSH)), dice.choice((0, 1, 30, 300, 1400)))
        if kind == 9:  # again, or cut otherwise
            return self.frame(end, ACK, dice.choice((0, 1, 40)), seq=self.next[end] - dice.choice((1, 10, 41, 5000)))
        if kind == 10:  # ahead, and far ahead
            ahead = dice.choice((1, 100, 3999, 4001, 65535, 70_000, 1 << 20, 1 << 30, 1 << 31))
            size = dice.choice((0, 1, 40))
            # Before the first byte of a stream its reader refuses what is further ahead than a head is long.
            is_lost = end == 0 and ahead > HEAD and self.next[0] == self.first[0] + 1
            return self.frame(end, ACK, 0 if is_lost else size, seq=self.next[end] + ahead)
        if kind == 11:  # of what was never sent, or long ago
            # What lies half of all numbers away is neither ahead nor behind; of a server that is believed it must be one.
            half = 1 << 31 if end == 0 else 1 << 30
            off = dice.choice((1, 2, 1400, 1 << 20, half, -1, -500, -5000, -70_000))
            return self.frame(end, ACK, dice.choice((0, 10)), ack=self.next[1 - end] + off)
        if kind == 12:
            return self.frame(end, dice.choice((0, PSH, FIN, URG)), dice.choice((0, 9)))
        if kind == 13:
            return self.reset(end)
        if kind == 14 and dice.randrange(3) == 0:
            return self.send(end, FIN | ACK, dice.choice((0, 0, 10)))
        if kind == 15:
            return self.frame(end, FIN | ACK, seq=self.next[end] + dice.choice((-1, -30, 50, 3000)))
        if kind == 16:
            return self.send(end, ACK | URG, 20, urgent=dice.choice((0, 1, 20)))
        if kind == 17:
            return self.frame(end, ACK, dice.choice((0, 20)), urgent=dice.choice((0, 5)), ttl=dice.choice((1, 31, 32, 33)))
        if kind == 18:
            return self.frame(end, dice.choice((ACK, ACK | FIN, RST)), dice.choice((0, 20)), spoil=dice.choice(("tcp", "ip")))
        if kind == 19:
            return self.fragment(end)
        if kind == 20:
            return self.frame(end, dice.choice((SYN | FIN, SYN | RST, SYN, SYN | ACK)), dice.choice((0, 0, 9)),
                              seq=self.next[end] + dice.choice((-1, 0, 777)))
        if kind == 21:
            more = dice.choice((SIGNED, b"\x22\x04ab", b"\x05\x20", b"\1\1\1\1", b"\1\1\1\0", b"\x08\x04ab", b"\x13\1\0\0"))
            return self.frame(end, dice.choice((ACK, ACK, FIN | ACK, RST, RST | ACK)), dice.choice((0, 20)), more=more)
        self.plan = self.again()
        return self.go_on()

    def send(self, end, flags, size=0, **more):
        frame = self.frame(end, flags, size, **more)
        self.next[end] += size + bool(flags & FIN)
        return frame

    def reset(self, end):
        near = self.dice.choice((0, 0, 1, 2, 300, -1, -400, 66_000, 1 << 31))
        if abs(near) < 2 and self.dice.randrange(2):
            near = 5
        return self.frame(end, RST | self.dice.choice((0, ACK)), seq=self.next[end] + near)

    def fragment(self, end):
        """A first one with all of the header; what follows it has no ports."""
        whole = self.frame(end, ACK, 64)
        if self.hosts[0].version == 6 or whole[14 + 4 * len(self.tags)] != 0x45:
            return whole
        at = 14 + 4 * len(self.tags)
        source, target = self.hosts if end == 0 else self.hosts[::-1]
        part = self.dice.choice((0, 0, 1))
        segment = whole[at + 20:at + 68] if part == 0 else whole[at + 68:]
        return self.packet(source, target, segment, None, 64, 0x2000 if part == 0 else 6)

    def again(self):
        """The same ports are used again, as a server may or may not have it."""
        before = list(self.first), list(self.next)
        self.take_numbers()
        yield self.syn(0)
        kind = self.dice.randrange(4)
        if kind:
            yield self.syn_ack()
        if kind > 1:
            yield self.frame(0, ACK, size=self.dice.choice((0, 20)))
        if kind < 3:
            self.first, self.next = before


class Stranger(Talk):
    """A client in the middle of a connection that nobody has seen."""

    def begin(self):
        return iter(())

    def something(self):
        flags = self.dice.choice((ACK, ACK, ACK | PSH, ACK | FIN, RST, 0, RST | ACK))
        return self.send(0, flags, self.dice.choice((0, 1, 40)), urgent=self.dice.choice((0, 0, 4)))


class ProxiedTalk(Talk):
    """One that begins with a header of the PROXY protocol, whose bytes do not come again but in its own segments."""

    WINDOW = 8000  # what lies further ahead than that no reader keeps

    def __init__(self, dice):
        self.header, self.pieces, self.begun = b"", [], None
        super().__init__(dice)
        self.window, self.scales, self.clocks = (self.WINDOW, self.WINDOW), (None, None), None

    def begin(self):
        self.header, self.begun = self.make_header(), list(self.first)
        yield self.syn(0)
        yield self.syn_ack()
        yield self.frame(0, ACK, window=self.WINDOW)
        cuts = sorted(self.dice.sample(range(1, len(self.header)), self.dice.choice((0, 1, 2))))
        self.pieces = list(zip([0, *cuts], [*cuts, len(self.header)]))
        for begin, end in self.pieces:
            for _ in range(self.dice.choice((1, 1, 1, 2))):
                yield self.frame(0, ACK, end - begin, seq=self.first[0] + 1 + begin, window=self.WINDOW)
            self.next[0] = self.first[0] + 1 + end

    def make_header(self):
        dice = self.dice
        client = ipaddress.ip_address(dice.choice(NAMED))
        kind = dice.randrange(10)
        if kind == 0:
            return dice.choice((b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN ffff:: 1 2\r\n", SIGNATURE + b"\x20\0\0\0",
                                SIGNATURE + b"\x21\0\0\3\1\2\3"))
        if kind == 1:
            return dice.choice((b"PROXY TCP4 198.51.100.1 1 2\r\n", b"PROXY  TCP4\r\n", SIGNATURE + b"\x22\x11\0\x0c" + bytes(12),
                                b"PROXY TCP6 198.51.100.1 198.51.100.2 1 2\r\n", b"PROXY TCP4 198.51.100.1 198.51.100.2 1 65536\r\n"))
        if kind < 6:
            return f"PROXY TCP{client.version} {client} {client} 5000 443\r\n".encode()
        rest = client.packed * 2 + b"\x13\x88\1\xbb" + bytes(dice.choice((0, 0, 7, 90)))
        family = b"\x11" if client.version == 4 else b"\x21"
        return SIGNATURE + b"\x21" + family + struct.pack("!H", len(rest)) + rest

    def content(self, end, seq, size):
        """What comes again in the midst of a header's segments is left out, be it of a connection that takes its ports."""
        at = seq - self.first[0] - 1 if self.first == self.begun else ahead(seq, self.begun[0] + 1)
        if end == 0 and at < len(self.header) and at + size > 0:
            return self.header[at:at + size] if (at, at + size) in self.pieces and self.first == self.begun else b""
        return b"x" * size


class ServiceMaker:
    """`workers`: how many share the connections, each those of its clients."""

    def __init__(self, dice, workers=1):
        self.dice, self.workers = dice, workers
        self.slow = dice.randrange(3) == 0  # longer than the grace, which begins with the first frame at all workers
        self.proxied = not self.slow and workers == 1 and dice.randrange(2) == 0  # some services have proxies

    def frames(self, count):
        dice, time = self.dice, dice_start(self.dice)
        live, frames, gaps = [], [], LONG_GAPS if self.slow else GAPS
        while len(frames) < count:
            if len(live) < 3 or dice.randrange(100) < 6:
                kind = Stranger if self.slow or dice.randrange(4) == 0 else Talk
                made = ProxiedTalk(dice) if self.proxied and dice.randrange(3) else kind(dice)
                live = (live + [made])[-5:]
            frame = dice.choice(live).go_on()
            frames.append((time, frame, len(frame)))
            time += dice.choice(gaps) if dice.randrange(3) == 0 else 0
        return frames

    def proxies(self):
        if not self.proxied or self.dice.randrange(6) == 0:
            return ""
        some = ", ".join(f'"{one}"' for one in self.dice.sample(CLIENTS, self.dice.choice((1, len(CLIENTS), len(CLIENTS)))))
        return f", proxy_protocol: {{from: [{some}]}}"

    def rules(self):
        dice = self.dice
        lines = ["version: 1", "services:"]
        conditions = ["l4.dport in {443 444}", "l4.dport eq 443", "l4.dport eq 444 and ip.version eq 4", 'dir eq "in"',
                      "ip.dst in {203.0.113.0/24 2001:db8:9::/48}", "l4.dport in {443 9000}"]
        for number, when in enumerate(dice.sample(conditions, dice.choice((1, 1, 2, 3)))):
            mode = dice.choice(("enforce", "enforce", "enforce", "monitor", '"off"'))
            more = dice.choice(("", f", min_ttl: {dice.choice((1, 32, 64, 255))}"))
            # Each worker learns by itself whether checksums come right.
            checksums = dice.choice(("auto",) * (self.workers == 1) + ("verify", "verify", "trust"))
            midstream = dice.choice(("", ", midstream: inspect", ", midstream: inspect", ", midstream: pass"))
            path = dice.choice(("", ", path: inbound")) if self.slow else ""  # of strangers alone, whom no server answers
            lines.append(f"  - {{id: s{number}, protocol: tls, when: '{when}', mode: {mode}, on_unreadable: pass, "
                         f"checksums: {checksums}{midstream}{path}{more}{self.proxies()}}}")
        lines.append("rules:")
        for number in range(dice.choice((1, 2))):
            mode = dice.choice(("enforce", "monitor"))
            key = dice.choice(CLIENT_KEYS if self.proxied else ("[]", "[ip.src]", "[l4.dport]"))
            when = dice.choice(("", "", *CLIENT_CONDITIONS)) if self.proxied else ""
            if self.workers > 1:  # keys that one worker has
                key, when = "[ip.src]", "when: 'dir eq \"in\"', "
            action = dice.choice(("drop", "pass", "tag, dscp: cs1"))
            rates, bursts = (("1/s", "20/s"), (2, 5, 20)) if self.proxied else (("1/s", "20/s", "1000/s"), (5, 50, 300))
            limit = f"rate: {dice.choice(rates)}, burst: {dice.choice(bursts)}"
            lines += [f"  - {{id: r{number}, mode: {mode}, {when}key: {key}, on_exceed: {{action: {action}}},",
                      f"     limits: [{{algorithm: token_bucket, {limit}}}]}}"]
        return "\n".join(lines) + "\n"
