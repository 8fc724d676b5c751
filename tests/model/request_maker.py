"""Requests at random, and rules over them: whole heads, in one segment or several, in their order."""
import ipaddress
import struct

from frames import SOURCES6
from limit_maker import LimitMaker

METHODS = ["GET", "GET", "POST", "HEAD", "PURGE", "get"]
TARGETS = ["/", "/a/b", "/a//b/./c", "/a/../b/", "/%7euser/x%2fy", "/search?q=1", "/a/b?x=1?y", "/a?",
           "/a/b/..", "/%41%2D%c3%bc", "/a/.", "/v1/items/7", "/V1/Items/8/x"]
HOSTS = ["a.example", "A.Example", "b.example:8080", "c.example.", "www.C.example.:80", "[2001:DB8::1]:80",
         "www.Shop.co.uk", "cdn.shop.CO.UK.:80", "a.b.city.kawasaki.jp", "x.y.kawasaki.jp", "192.0.2.1"]
HEADERS = {"User-Agent": ["curl/8.5", "Mozilla/5.0 (X11)", ""], "Referer": ["http://a.example/", "/a"],
           "X-Api-Key": ["k1", "K1", "a|b\\c", "k" * 300], "Cookie": ["sid=1; id=2", "id=1;sid=", "SID=9"],
           "Accept": ["*/*"]}
TESTS = {
    "http.request.method": ["GET", "POST", "PURGE", "E"],
    "http.host": ["a.example", "A.EXAMPLE", "c.example", "[2001:db8::1]", "example"],
    "http.request.uri": ["/a//b/./c", "/search?q=1", "a"],
    "http.request.uri.path": ["/a/b", "/", "/b/", "/~user/x%2Fy", "/A-%C3%BC", "/v1/items/7"],
    "path_prefix(http.request.uri.path, 1)": ["/a", "/", "/~user", "/v1"],
    "path_prefix( http.request.uri.path ,2)": ["/a/b", "/b/", "/v1/items"],
    "registrable_domain(http.host)": ["shop.co.uk", "A.EXAMPLE", "co.uk", "city.kawasaki.jp", "192.0.2.1"],
    "http.request.uri.query": ["q=1", "x=1?y", "1"],
    "http.user_agent": ["curl/8.5", "Mozilla", "5"],
    "http.referer": ["http://a.example/", "/a"],
    'http.request.headers["x-api-key"]': ["k1", "K1", "k"],
    'http.request.headers["X-API-KEY"]': ["k1", "a|b"],
    'http.request.headers["user-agent"]': ["curl/8.5"],
    'http.cookies["sid"]': ["1", "9"],
    'http.cookies["SID"]': ["9"],
}
PATTERNS = ["^/a", "[A-Z]", "e$", r"\d", "^[^.]*$"]
KEYS = ["http.host", "http.request.method", "http.request.uri.path", "http.request.uri.query", "lower(http.user_agent)",
        "http.request.uri", "http.referer", "proto.l7", "proto.scheme",
        """'http.request.headers["x-api-key"]'""", """'lower(http.request.headers["X-Api-Key"])'""",
        """'http.cookies["sid"]'""", "'path_prefix(http.request.uri.path, 1)'", "registrable_domain(http.host)",
        "'lower(path_prefix(http.request.uri.path, 2))'"] + ["ip.src", "l4.dport"] * 3
GAPS = [0, 0, 0, 1, 1_000, 1_000_000, 33_333_333, 142_857_142]


class RequestMaker:
    def __init__(self, dice):
        self.dice, self.time, self.port = dice, 1_700_000_000_000_000_000, 1024
        self.limits = LimitMaker(dice)

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    # The capture: [(time in ns, bytes, size on the wire)].

    def frames(self, count):
        frames = []
        while len(frames) < count:
            waiting = [self.connection() for _ in range(self.dice.choice((1, 2, 5)))]
            while waiting:
                one = self.dice.choice(waiting)
                frames.append((self.time, one[0], len(one[0])))
                one.pop(0)
                waiting = [rest for rest in waiting if rest]
                self.time += self.dice.choice(GAPS)
        return frames[:count]

    def connection(self):
        """Its frames from the client, in order."""
        self.port = self.port % 65_535 + 1
        ends, at = self.ends(), self.dice.choice((1, 77, 0xFFFFFFF0, 0x7FFFFFFF))
        frames = []
        if self.chance(70):
            frames.append(self.frame(ends, at, 0x002, b""))
            at += 1
        for _ in range(self.dice.choice((1, 1, 2, 4))):
            for part in self.parts(*self.request()):
                frames.append(self.frame(ends, at, 0x018, part))
                at += len(part)
        return frames

    def ends(self):
        dport = self.dice.choice((80, 80, 8080, 7))
        if self.chance(30):
            return 6, self.dice.choice(SOURCES6[:3]), SOURCES6[0], self.port, dport
        return 4, f"10.0.0.{self.dice.randint(1, 4)}", "192.0.2.1", self.port, dport

    def parts(self, head, body):
        cuts = sorted(self.dice.sample(range(1, len(head)), self.dice.choice((0, 0, 0, 1, 2))))
        parts = [head[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(head)])]
        return parts[:-1] + [parts[-1] + body]

    def request(self):
        """(head, body)"""
        method, target, host = (self.dice.choice(some) for some in (METHODS, TARGETS, HOSTS))
        if self.chance(10):
            target = f"http://{host}{target}"
        lines = [f"Host: {host}"]
        for name, values in HEADERS.items():
            for _ in range(self.dice.choice((0, 1, 1, 1)) + (name == "X-Api-Key" and self.chance(10))):
                name = self.dice.choice((name, name.lower(), name.upper()))
                lines.append(f"{name}:{self.dice.choice((' ', '', '  '))}{self.dice.choice(values)}")
        body = b""
        if method == "POST":
            body = b"z" * self.dice.choice((0, 1, 30))
            lines.append(f"Content-Length: {len(body)}")
        self.dice.shuffle(lines)
        return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode(), body

    def frame(self, ends, at, flags, data):
        version, source, destination, sport, dport = ends
        segment = struct.pack("!HHIIHHHH", sport, dport, at & 0xFFFFFFFF, 1, 0x5000 | flags, 9, 0, 0) + data
        addresses = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 1, 0, 64, 6, 0)
        if version == 6:
            head = struct.pack("!IHBB", 6 << 28, len(segment), 6, 64)
        kind = 0x0800 if version == 4 else 0x86DD
        return b"\x02\0\0\0\0\1\x02\0\0\0\0\xfe" + struct.pack("!H", kind) + head + addresses + segment

    # The rules. The first reads all requests, so that no part of a head goes by unseen.

    def rules(self):
        lines = ["version: 1", "rules:", "  - {id: all, mode: monitor, key: [http.host], per: request,",
                 "     limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]}"]
        for number in range(self.dice.choice((1, 2, 3, 5))):
            mode = self.dice.choice(("enforce", "enforce", "monitor"))
            lines += [f"  - id: r{number}", f"    mode: {mode}"]
            on_match = self.chance(25)
            if on_match or self.chance(60):
                lines.append(f"    when: '{self.condition()}'")
            if on_match:
                lines.append(f"    on_match: {self.dice.choice(('drop', 'allow'))}")
                continue
            keys = self.dice.sample(KEYS, self.dice.choice((0, 1, 1, 2)))
            lines.append(f"    missing_key: {self.dice.choice(('skip', 'share'))}")
            lines += ["    key:" + " []" * (not keys)] + [f"      - {key}" for key in keys]
            limit = self.limits.limit(True).replace("per: packet", "per: request" if self.chance(75) else "per: packet")
            lines += ["    limits:", f"      - {limit}"]
        return "\n".join(lines) + "\n"

    def condition(self):
        """A test of a request, and maybe others with it."""
        text = self.test()
        while self.chance(40):
            text += f" {self.dice.choice(('and', 'and not'))} {self.test()}"
        return text + self.dice.choice(("", "", " and l4.dport eq 80", " and ip.version eq 4"))

    def test(self):
        name = self.dice.choice(list(TESTS))
        values = TESTS[name]
        value, other = self.dice.choice(values), self.dice.choice(values)
        field = f"lower({name})" if self.chance(20) else name
        way = self.dice.choice(("eq", "eq", "ne", "in", "contains", "starts", "ends", "matches", "word"))
        if way == "word":
            return self.dice.choice(('proto.l7 eq "http"', 'proto.scheme in {"http" "https"}', 'proto.l7 ne "h2c"'))
        if way == "in":
            return f'{field} in {{"{spelled(value)}" "{spelled(other)}"}}'
        if way in ("starts", "ends"):
            return f'{way}_with({field}, "{spelled(value)}")'
        if way == "matches":
            return f'{field} matches "{self.dice.choice(PATTERNS)}"'
        return f'{field} {way} "{spelled(value)}"'


def spelled(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')
