"""Conditions and keys at random: every field, operator and set that the language has today."""
from expression import number_of
from frames import DSCPS, MACS, PORTS, SOURCES4, SOURCES6, VLANS

FLAGS = [f"tcp.flags.{name}" for name in ("syn", "ack", "fin", "rst", "psh", "urg")]
NUMBERS = {
    "eth.type": ["0x0800", "0x86dd", "0x0806", "34525", "0x8847", "0x0600"],
    "vlan.id": VLANS, "vlan.inner_id": VLANS, "ip.version": [4, 6],
    "ip.proto": [1, 6, 17, 58, 44, 60, 132],
    "ip.ttl": [1, 64, 255], "ip.dscp": DSCPS, "ip.len": [0, 28, 40, 48, 240, 65535],
    "l4.sport": PORTS, "l4.dport": PORTS,
    "tcp.flags": [2, 18, "0x10", 194, 256, "0x0fff"],
    "icmp.type": [0, 3, 8, 128, 135], "icmp.code": [0, 1], "payload.len": [0, 1, 6, 40, 900],
    "dns.qr": [0, 1], "dns.qtype": [0, 1, 28, 255, 65535, '"AAAA"', '"any"', '"A"'],
}
LEAST = {"eth.type": 0x600, "ip.version": 4}
MOST = {"eth.type": 0xFFFF, "vlan.id": 4095, "vlan.inner_id": 4095, "ip.version": 6, "ip.proto": 255, "ip.ttl": 255,
        "ip.dscp": 63, "ip.len": 65575, "l4.sport": 65535, "l4.dport": 65535, "tcp.flags": 0xFFF, "icmp.type": 255,
        "icmp.code": 255, "payload.len": 2 ** 32 - 1, "dns.qr": 1, "dns.qtype": 65535}
ADDRESSES = ["ip.src", "ip.dst"]
OUTER = ["outer.ip.src", "outer.ip.dst"]
ORIGINS = ["ip.src.country", "ip.dst.country", "ip.src.asn", "ip.dst.asn"]
KEYS = (list(NUMBERS) + ["client.ip", "payload", "lower(payload)", "dns.qname", "lower(dns.qname)",
                          "registrable_domain(dns.qname)", "proto.l7"] + ADDRESSES * 9 + FLAGS +
        ["dir", "eth.src", "eth.dst", "ip.frag"])
NETWORKS4 = ["192.0.2.0/24", "10.0.0.0/8", "192.0.2.0/23", "0.0.0.0/0", "10.1.2.4/32",
             "198.18.0.0/25"]
NETWORKS6 = ["2001:db8::/32", "2001:db8::/64", "::/0", "fe80::/10", "::ffff:0.0.0.0/96"]
COUNTRIES, SYSTEMS = ["NL", "NO", "DE", "US", "EU"], [64500, 64501, 4_200_000_000, 1]
PREFIX_LENGTHS = ["8|32", "24|64", "23|61", "32|128", "0|0", "9|33", "24|24", "0|64", "32|64"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "==", "!=", "<", "<=", ">", ">="]
TEXTS = ["GET /", "get /", "abc", r"a|b\\\xff", "A", "aAaA", r"\x16\x03\x01", r"\"}", "", "xyz"]
PATTERNS = ["^GET ", "[a-z]{3}", r"\xff$", "a.b", "^$", "A{5,}", "^(GET|get) /", "^[^a]*$",
            r"\x16\x03[\x00-\x03]", "c.$", r"Host: \w+\.example", "a+b|b+a", r"^A*$", "GET.*Host",
            "(?s)GET.*Host", r"\x0d.", r"^.*$"]
NAMES = ["example.com", "WWW.Example.COM", ".", "evil", r"a\\\\.b", "om"]
NAME_PATTERNS = ["^www[.]", "EXAMPLE", "^[a-z.]*$", r"\d{3}", "^.$"]
DOMAINS = ["example.com", "Example.COM", "evil", r"a\\\\.b"]
TEXT_TESTS = ["payload {equal} \"{text}\"", "payload in {{\"{text}\" \"{other}\"}}",
              "payload contains \"{text}\"", "starts_with(payload, \"{text}\")",
              "ends_with(payload, \"{text}\")", "payload matches \"{pattern}\""]


class ConditionMaker:
    """`local`: every key has the whole of ip.src, so that one worker meets all of its packets."""

    def __init__(self, dice, tunnels, named_port, data, local=False):
        self.dice, self.data, self.local = dice, data, local
        self.addresses = ADDRESSES + (OUTER if tunnels else [])
        self.client = (32, 128)  # bits of client.ip
        origins = ORIGINS * 2 if data else []
        self.keys = (KEYS + origins + (OUTER if tunnels else []) +
                     (["port"] if named_port else []))

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def key(self):
        parts = [self.key_part() for _ in range(self.dice.choice((0, 1, 1, 1, 1, 2, 2, 3)))]
        return ", ".join(parts[1:] + ["ip.src"] if self.local else parts)

    def key_part(self):
        if self.chance(30):
            field = self.dice.choice(self.addresses + ["client.ip"])
            bits = self.dice.choice(PREFIX_LENGTHS)
            return f'"prefix({field}, {bits})"'
        return self.dice.choice(self.keys)

    def condition(self, depth):
        if depth == 0 or self.chance(35):
            return self.comparison()
        way = self.dice.randrange(4)
        if way == 0:
            return f"{self.dice.choice(('not', 'not', 'not not'))} {self.condition(depth - 1)}"
        if way == 1:
            return f"({self.condition(depth - 1)})"
        return (f"{self.condition(depth - 1)} {self.dice.choice(('and', 'or'))} "
                f"{self.condition(depth - 1)}")

    def comparison(self):
        way = self.dice.randrange(13)
        if way < 3:
            return self.of_address()
        if way == 3:
            return self.dice.choice(FLAGS * 3 + list(NUMBERS))
        if way == 4:
            return self.of_word()
        if way in (5, 6):
            return self.of_text()
        if way in (7, 8) and self.data:
            return self.of_origin() if way == 7 else self.of_list()
        name = self.dice.choice(list(NUMBERS))
        values = NUMBERS[name]
        if way == 9:
            some = " ".join(str(value) for value in self.dice.sample(values, 2))
            return f"{name} in {{{some}}}"
        return f"{name} {self.some_order(name, self.dice.choice(values))}"

    def some_order(self, name, value):
        """An operator and the value; that no number is left is an error."""
        how, number = self.dice.choice(COMPARISONS), number_of(str(value).strip('"'))
        if how in ("lt", "<") and number <= LEAST.get(name, 0):
            return f"le {value}"
        return f"ge {value}" if how in ("gt", ">") and number >= MOST[name] else f"{how} {value}"

    def possible_condition(self, depth):
        """What no packet can be is an error: one that might be that is held by another kind of frame."""
        condition = self.condition(depth)
        may_contradict = " and " in condition or "not " in condition
        return f"({condition}) or eth.type eq 0x88b5" if may_contradict else condition

    def of_address(self):
        if self.chance(20):
            return self.of_client()
        name = self.dice.choice(self.addresses)
        if self.chance(15):
            networks = "192.0.2.0/24 10.1.2.0/24 2001:db8::/64 ::/64"
            return f"prefix({name}, 24|64) in {{{networks}}}"
        if self.chance(50):
            return (f"{name} {self.dice.choice(('eq', 'ne', '==', '!='))} "
                    f"{self.dice.choice(SOURCES4 + SOURCES6)}")
        some = self.dice.sample(SOURCES4 + SOURCES6 + NETWORKS4 + NETWORKS6,
                                self.dice.randint(1, 4))
        return f"{name} in {{{' '.join(some)}}}"

    def of_client(self):
        """What is finer than client.ip can never be it, which is an error."""
        v4, v6 = self.client
        values = [value for value in NETWORKS4 if int(value.split("/")[1]) <= v4]
        values += [value for value in NETWORKS6 if int(value.split("/")[1]) <= v6]
        values += SOURCES4 * (v4 == 32) + SOURCES6 * (v6 == 128)
        if self.chance(30):
            return f"client.ip {self.dice.choice(('eq', 'ne'))} {self.dice.choice(values)}"
        return f"client.ip in {{{' '.join(self.dice.sample(values, self.dice.randint(1, 4)))}}}"

    def of_word(self):
        equal = self.dice.choice(("eq", "ne"))
        return self.dice.choice((
            f'proto.l7 {equal} "dns"', 'proto.l7 in {"dns"}',
            f'port {equal} "{self.dice.choice(("uplink", "a b"))}"',
            f'dir {equal} "{self.dice.choice(("in", "out"))}"',
            f'ip.frag {equal} "{self.dice.choice(("none", "first", "later"))}"',
            'ip.frag in {"first" "later"}',
            f"eth.src {equal} {self.dice.choice(MACS)}"))

    def of_text(self):
        is_name = self.chance(35)
        is_domain = is_name and self.chance(30)
        texts, patterns = (NAMES, NAME_PATTERNS) if is_name else (TEXTS, PATTERNS)
        texts = DOMAINS if is_domain else texts
        text = self.dice.choice(TEXT_TESTS).format(
            equal=self.dice.choice(("eq", "ne")), text=self.dice.choice(texts),
            other=self.dice.choice(texts), pattern=self.dice.choice(patterns))
        if is_name:
            field = "registrable_domain(dns.qname)" if is_domain else "dns.qname"
            return text.replace("payload", f"lower({field})" if self.chance(30) else field, 1)
        empty = 'contains ""' in text or 'payload, ""' in text
        if empty:  # holds of every text: refused as a slip
            return 'payload ne ""'
        return text.replace("payload", "lower(payload)", 1) if self.chance(40) else text

    def of_origin(self):
        side = self.dice.choice(("src", "dst"))
        if self.chance(50):
            two = self.dice.sample(COUNTRIES, 2)
            return self.dice.choice((
                f'ip.{side}.country {self.dice.choice(("eq", "ne"))} "{two[0]}"',
                f'ip.{side}.country in {{"{two[0]}" "{two[1]}"}}'))
        return self.dice.choice((
            f"ip.{side}.asn {self.dice.choice(COMPARISONS)} {self.dice.choice(SYSTEMS)}",
            f"ip.{side}.asn in {{64500 64501 1}}", f"ip.{side}.asn"))

    def of_words(self, text):
        return self.dice.choice((f"{text} in $words", f"{text} contains $words", f"not {text} contains $words",
                                 f"starts_with({text}, $words)", f"ends_with({text}, $words)"))

    def of_list(self):
        return self.dice.choice((
            f"{self.dice.choice(self.addresses)} in $nets",
            f"{self.dice.choice(('l4.sport', 'l4.dport', 'payload.len', 'dns.qtype'))} in $ports",
            self.of_words(self.dice.choice(("payload", "lower(payload)"))),
            f"ip.{self.dice.choice(('src', 'dst'))}.country in $lands"))
