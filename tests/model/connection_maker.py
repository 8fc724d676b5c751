"""TCP connections at random, from SYN to FIN or RST, with numbers that are right, nearly right and wrong, and rules
that count how many are open."""
import ipaddress
import struct

from vlans import SAME

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
NUMBERS = 1 << 32
SECOND = 1_000_000_000
CLIENTS = ["192.0.2.1", "192.0.2.2", "198.51.100.9", "2001:db8::1"]
SERVERS = {4: ["203.0.113.1", "203.0.113.2"], 6: ["2001:db8:9::1"]}
SERVER_SIDE = ["203.0.113.0/24", "2001:db8:9::/48"]
CLIENT_PORTS, SERVER_PORTS = [1024, 2048, 4096], [80, 443]
GAPS = [0] * 6 + [1, 1000, 10_000_000, 100_000_000, 333_333_333, SECOND, 999_999_999, 3 * SECOND, 10 * SECOND]
# A signature, one that is longer than the header, timestamps; a source route, padding, a router alert.
OPTIONS = [b"\x13\x12" + bytes(16) + b"\1\1", b"\1\1\x13\x1f", b"\1\1\x08\x0a" + bytes(8), b""]
OPTIONS_OF_IP = [b"\x83\7\4\x0a\x09\x09\x09\0", b"\1\1\1\0", b"\x94\4\0\0"]
IDLES = {"1ms": 1, "100ms": 100, "1s": 1000, "3s": 3000, "10s": 10_000, "1m": 60_000, "5m": 300_000}
FIRSTS = [0, 1, 7000, NUMBERS - 1, NUMBERS - 2, NUMBERS // 2, NUMBERS // 2 - 1]


class Connection:
    def __init__(self, dice):
        self.dice = dice
        self.client = ipaddress.ip_address(dice.choice(CLIENTS))
        self.server = ipaddress.ip_address(dice.choice(SERVERS[self.client.version]))
        self.ports = dice.choice(CLIENT_PORTS), dice.choice(SERVER_PORTS)
        self.next = [dice.choice(FIRSTS), dice.choice(FIRSTS)]
        self.step, self.ttl = 0, dice.choice((64, 64, 64, 64, 20))
        self.tags, self.tagged = (), dice.choice((SAME[0], SAME[0], SAME[0], *SAME[1:]))

    def frame(self, end, flags, size=0, seq=None, ack=None):
        """From the client (end 0) or the server (1)."""
        source, target = (self.client, self.server) if end == 0 else (self.server, self.client)
        sport, dport = self.ports if end == 0 else self.ports[::-1]
        seq = self.next[end] if seq is None else seq
        ack = self.next[1 - end] if ack is None else ack
        ack = ack if flags & ACK else 0
        may_be_lost = flags & (FIN | RST) and seq % 16 == 7  # by no dice: all else stays as it was drawn
        options = OPTIONS[seq // 16 % len(OPTIONS)] if may_be_lost else b""
        size_and_flags = (5 + len(options) // 4) << 12 | flags
        tcp = struct.pack("!HHIIHHHH", sport, dport, seq % NUMBERS, ack % NUMBERS, size_and_flags, 9, 0, 0)
        payload = tcp + options + b"x" * size
        if source.version == 6:
            head = struct.pack("!IHBB", 6 << 28, len(payload), 6, self.ttl)
            kind = 0x86DD
        else:
            of_ip = OPTIONS_OF_IP[seq // 64 % len(OPTIONS_OF_IP)] if may_be_lost and not options else b""
            head = struct.pack("!BBHHHBBH", 0x45 + len(of_ip) // 4, 0, 20 + len(of_ip) + len(payload), 1, 0, self.ttl, 6, 0)
            payload = of_ip + payload
            kind = 0x0800
        frame = head + source.packed + target.packed + payload
        self.tags = self.dice.choice(self.tagged)
        tags = b"".join(struct.pack("!HH", 0x8100, tag) for tag in self.tags)
        return b"\x02\0\0\0\0\1\x02\0\0\0\0\xfe" + tags + struct.pack("!H", kind) + frame

    def send(self, end, flags, size=0):
        """Its numbers, and those behind it."""
        frame = self.frame(end, flags, size)
        self.next[end] += size + bool(flags & SYN) + bool(flags & FIN)
        return frame

    def go_on(self):
        dice, self.step = self.dice, self.step + 1
        if self.step == 1:
            return self.send(0, SYN)
        if self.step == 2:
            return self.send(1, SYN | ACK) if dice.randrange(5) else self.frame(1, RST | ACK, seq=0)
        end = dice.randrange(2)
        kind = dice.randrange(16)
        if kind < 6:
            return self.send(end, ACK, dice.choice((0, 1, 100)))
        if kind < 9:
            return self.send(end, FIN | ACK, dice.choice((0, 0, 9)))
        if kind == 9:
            return self.frame(end, RST | dice.choice((0, ACK)))
        if kind == 10:  # near what is right, and far from it
            near = self.next[end] + dice.choice((-100, -1, 1, 50, 1 << 31, 7777))
            return self.frame(end, dice.choice((RST, RST | ACK, FIN | ACK, ACK)), dice.choice((0, 30)), seq=near)
        if kind == 11:
            self.next[end] += 100  # lost on its way here
            return self.send(end, ACK, 20)
        if kind == 12:
            return self.frame(end, ACK, ack=self.next[1 - end] + dice.choice((-1, 1, 500, 1 << 31)))
        if kind == 13:  # again, with the same number or another one
            return self.frame(end, SYN, seq=self.next[end] + dice.choice((-1, 0, 12345)))
        if kind == 14:
            return self.frame(end, SYN | ACK, ack=self.next[1 - end] + dice.choice((0, -1, 12346, 12347)))
        return self.frame(end, dice.choice((0, FIN, SYN | FIN, SYN | RST, FIN | RST)))


class ConnectionMaker:
    def __init__(self, dice):
        self.dice = dice

    def frames(self, count):
        dice, time = self.dice, dice_start(self.dice)
        live, frames = [], []
        while len(frames) < count:
            if len(live) < 3 or dice.randrange(100) < 20:
                live = (live + [Connection(dice)])[-8:]
            frame = dice.choice(live).go_on()
            frames.append((time, frame, len(frame)))
            time += dice.choice(GAPS) if dice.randrange(2) else 0
        return frames

    def rules(self):
        lines = ["version: 1", "rules:"]
        for number in range(self.dice.choice((1, 2, 3))):
            lines += self.rule(number)
        return "\n".join(lines) + "\n"

    def rule(self, number):
        dice = self.dice
        when = dice.choice((None, None, "tcp.flags.syn", "l4.dport eq 80", "dir eq \"in\"", "ip.version eq 4"))
        key = dice.choice(("[ip.src]", "[ip.src]", "[]", "[ip.dst, l4.dport]", "[ip.src, l4.dport]"))
        action = dice.choice(("drop", "drop", "pass", "tag, dscp: cs1"))
        limits = [self.limit()]
        if dice.randrange(4) == 0:
            limits.append(f"{{algorithm: token_bucket, rate: {dice.choice(('1/s', '10/s', '1/m'))}, "
                          f"burst: {dice.choice((1, 5, 20))}, per: {dice.choice(('packet', 'connection'))}}}")
        lines = [f"  - id: r{number}", f"    mode: {dice.choice(('enforce', 'enforce', 'monitor'))}",
                 f"    key: {key}", f"    on_exceed: {{action: {action}}}"]
        lines += [f"    when: '{when}'"] * (when is not None)
        if dice.randrange(4) == 0:
            lines.append(f"    candidates: [{{name: more, limits: {{\"1\": {{count: {dice.choice((1, 2, 5))}}}}}}}]")
        return lines + [f"    limits: [{', '.join(limits)}]"]

    def limit(self):
        dice = self.dice
        per = dice.choice(("", ", per: connection"))
        idle = dice.choice(list(IDLES))
        half_open = dice.choice([word for word in IDLES if IDLES[word] <= IDLES[idle]])
        more = dice.choice(("", f", half_open: {half_open}"))
        since = dice.choice(("", "", ", from: syn", ", from: established", ", from: established"))
        return (f"{{algorithm: concurrency, count: {dice.choice((1, 1, 2, 3, 5))}, "
                f"idle: {idle}{more}{since}{per}}}")


def dice_start(dice):
    return dice.choice((0, 1_700_000_000 * SECOND, 1_700_000_000 * SECOND + 999_999_999))
