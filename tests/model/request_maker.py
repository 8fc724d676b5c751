"""Requests at random, and what rules over them can name: whole heads, in one segment or several, in their order."""
import client_maker
import http1
from client_maker import ClientMaker, client_lines
from connections import ANSWER, PUSH, SYN, Connections, Served, back, segment, with_tags
from unit_rules import UnitRules, Words
from vlans import SAME

ACK = 0x010
METHODS = ["GET", "GET", "POST", "HEAD", "PURGE", "get"]
TARGETS = ["/", "/a/b", "/a//b/c", "/b/", "/%7euser/x%3fy", "/search?q=1", "/a/b?x=1?y", "/a?", "/search?q=%2F/..",
           "/%41%2D%c3%bc", "/a/", "/v1/items/7", "/V1/Items/8/x"]
# Of paths that servers read otherwise, in any order; what is of no path under `refuse` comes seldom.
SEGMENTS = ["a", "b", "login", "v1", "items", ".", "..", "..", "%2e%2E", ".%2e", "x%3By", "x;y", "x%5cy", "%40", "c%2Cd%21", "", "%7e", "%23",
            "%20", "\u00fc"]
PARTED = ["a%2Fb", "..%2flogin", "%2F..", "%2F", "x%3by%2fz", "%2e%2e%2F", "%zz", "100%", "%%3b", "a%252Fb"]
HOSTS = ["a.example", "A.Example", "b.example:8080", "c.example.", "www.C.example.:80", "[2001:DB8::1]:80",
         "www.Shop.co.uk", "cdn.shop.CO.UK.:80", "a.b.city.kawasaki.jp", "x.y.kawasaki.jp", "192.0.2.1", "xn--b-1.example",
         "[2001:db8:0::0:1]", "[::FFFF:c000:201]:80"]
ODD_HOSTS = ["%61.example", "a.ex%61mple:8080", "127.1", "0x7F.0.0.1", "192.0.2.01", "XN--b-.example", "c.example:x", "[a.example]", "[2001:db8:::1]"]  # to some another's
HEADERS = {"User-Agent": ["curl/8.5", "Mozilla/5.0 (X11)", ""], "Referer": ["http://a.example/", "/a"],
           "X-Api-Key": ["k1", "K1", "a|b\\c", "k" * 300, ""], "x_!~#1": ["1", "a, b", "\t"],
           "X-Api": ["k1", "other"], "X-Api-Key-2": ["k1", "k2:3"],
           "Cookie": ["sid=1; id=2", "id=1;sid=", "SID=9", "sid", "sid;sid=3", " sid = 4 ;id=5; sid=4", "id=a=b; =c",
                      'sid="1"; x.y=z', ";;x.y = k1;", "", "sid=1; sid=9;id=2;sid=4; sid="],
           "Accept": ["*/*"]}
OFTEN_TWICE = ("X-Api-Key", "Cookie", "x_!~#1", "User-Agent")
PREFIXES = ["/login", "/a%2Fb", "/x;y", "/", "/a", "/a/b", "/b", "/v1", "/v1/items", "/v1/item", "/~user", "/~user/x%2Fy", "/~user/x%3Fy", "/search", "/A-%C3%BC"]
FOLDS = ["\r\n ", "\r\n\t", " \r\n  k", "\r\n\t\r\n k1"]
REQUESTS = Words(
    "request", "http.host",
    {
        "http.request.method": ["GET", "POST", "PURGE", "E"],
        "http.host": ["a.example", "A.EXAMPLE", "c.example", "[2001:db8::1]", "example"],
        "http.request.uri": ["/a//b/c", "/search?q=1", "a"],
        "http.request.uri.path": ["/login", "/a%2Fb", "/x;y", "/x%3By", "/a/x;y", "/%25zz", "/a/b", "/", "/b/", "/~user/x%2Fy", "/~user/x%3Fy", "/A-%C3%BC", "/v1/items/7"],
        "path_prefix(http.request.uri.path, 1)": ["/a", "/", "/~user", "/v1"],
        "path_prefix( http.request.uri.path ,2)": ["/a/b", "/b/", "/v1/items"],
        "registrable_domain(http.host)": ["shop.co.uk", "A.EXAMPLE", "co.uk", "city.kawasaki.jp", "192.0.2.1"],
        "http.request.uri.query": ["q=1", "x=1?y", "1"],
        "http.user_agent": ["curl/8.5", "Mozilla", "5", ""],
        "http.referer": ["http://a.example/", "/a"],
        'http.request.headers["x-api-key"]': ["k1", "K1", "k", ""],
        'http.request.headers["X-API-KEY"]': ["k1", "a|b"],
        'http.request.headers["user-agent"]': ["curl/8.5", ""],
        'http.request.headers["X-Api"]': ["k1", "k"],
        'http.request.headers["X_!~#1"]': ["1", "", "a"],
        'http.request.headers["x_api_key"]': ["k1", "K1"],
        'http.request.headers["cookie"]': ["SID=9", "sid", ";", ""],
        'http.request.headers["x-absent"]': ["", "k"],
        'http.request.headers["host"]': ["A.Example", "www"],
        'http.cookies["sid"]': ["1", "9", "", "4"],
        'http.cookies["SID"]': ["9"],
        'http.cookies["x.y"]': ["z", "k1"],
        'http.cookies["absent"]': ["", "1"],
    },
    patterns=["^/a", "[A-Z]", "e$", r"\d", "^[^.]*$", "^$"],
    words=['proto.l7 eq "http"', 'proto.scheme in {"http" "https"}', 'proto.l7 ne "h2c"'],
    beside=["l4.dport eq 80", "ip.version eq 4", "not tcp.flags.syn"],
    keys=["http.host", "http.request.method", "http.request.uri.path", "http.request.uri.query", "lower(http.user_agent)",
          "http.request.uri", "http.referer", "proto.l7", "proto.scheme",
          """'http.request.headers["x-api-key"]'""", """'lower(http.request.headers["X-Api-Key"])'""",
          """'http.request.headers["x_!~#1"]'""", """'http.request.headers["cookie"]'""",
          """'http.cookies["sid"]'""", """'lower(http.cookies["x.y"])'""", "'path_prefix(http.request.uri.path, 1)'",
          "registrable_domain(http.host)", "'lower(path_prefix(http.request.uri.path, 2))'"] + ["ip.src", "l4.dport"] * 3)


class RequestMaker(Connections):
    """`folds`: some values go on in a line of their own."""

    def __init__(self, dice, folds=False):
        super().__init__(dice)
        self.folds = folds

    def connection(self):
        parts = []
        for _ in range(self.dice.choice((1, 1, 2, 4))):
            head, body = self.request()
            some = self.cut(head)
            parts += some[:-1] + [some[-1] + body]
        if self.chance(8):
            parts += self.cut(self.line_alone())
        return self.segments(parts)

    def tagged(self, frames):
        """Some are in a VLAN, and some frames have a priority alone: that makes no other connection."""
        if not self.chance(25):
            return frames
        tags = self.dice.choice(SAME)
        return [ANSWER if frame is ANSWER else with_tags(frame, self.dice.choice(tags)) for frame in frames]

    def line_alone(self):
        """A request of HTTP/0.9, behind which nothing is read."""
        target = f"http://{self.dice.choice(HOSTS)}" * self.chance(20) + self.target()
        return f"GET {target}\r\n".encode()

    def request(self):
        """(head, body)"""
        method, target, host = self.dice.choice(METHODS), self.target(), self.dice.choice(HOSTS)
        host = self.dice.choice(ODD_HOSTS) if self.chance(4) else host
        lines = [f"Host: {host}"]
        if self.chance(10):
            target = f"http://{self.dice.choice((host, self.dice.choice(HOSTS)))}{target}"
        elif self.chance(5):  # which some servers take the first of, and some the last
            lines.append(f"Host: {self.dice.choice((host, self.dice.choice(HOSTS)))}")
        for name in HEADERS:
            value = self.dice.choice(HEADERS[name])
            for _ in range(self.dice.choice((0, 1, 1, 1)) + (name in OFTEN_TWICE and self.chance(15))):
                lines.append(self.line(name, value))
                value = self.dice.choice((value, self.dice.choice(HEADERS[name])))
        lines += [self.line(name, value) for name, value in client_lines(self.dice)]
        body = b""
        if method == "POST":
            body = b"z" * self.dice.choice((0, 1, 30))
            lines.append(f"Content-Length: {len(body)}")
        self.dice.shuffle(lines)
        return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode(), body

    def target(self):
        if not self.chance(40):
            return self.dice.choice(TARGETS)
        some = SEGMENTS + PARTED * self.chance(40)
        target = "//"
        while http1.is_reference(target.partition("?")[0].encode()):  # which the model does not read
            path = "".join("/" + self.dice.choice(some) for _ in range(self.dice.choice((1, 2, 2, 3, 5))))
            target = path + self.dice.choice(("", "", "", "/", "?q=/../%2F"))
        return target

    def alike_name(self, name):
        """With other joints, which programs behind CGI do not tell apart."""
        return "".join(one if one.isalnum() else self.dice.choice("_-_.!~") for one in name)

    def line(self, name, value):
        name = self.dice.choice((name, name.lower(), name.upper(), self.alike_name(name) if self.chance(10) else name))
        fold = self.dice.choice(FOLDS) if self.folds and self.chance(5) else ""
        return f"{name}:{self.dice.choice((' ', '', '  '))}{value}{fold}{self.dice.choice(('', '', ' '))}"


class ServedRequestMaker(Served, RequestMaker):
    """To servers of declared services some, which answer their handshakes and say no more."""

    SERVED_PORTS = 80, 8080

    def segments(self, parts, ends=None):
        ends = self.ends()
        if ends[3] not in self.SERVED_PORTS:
            return super().segments(parts, ends)
        at = self.dice.choice((1, 77, 0xFFFFFFF0, 0x7FFFFFFF))
        frames = [segment(ends, at - 1, SYN, b""), segment(back(ends), 0, SYN | ACK, b"", at, 65535), segment(ends, at, ACK, b"")]
        for part in parts:
            frames.append(segment(ends, at, PUSH, part))
            at += len(part)
        return frames


class RequestRules(UnitRules):
    """`proxied`: some name their clients. `served`: some are a declared service's."""

    def __init__(self, dice, acts=None, proxied=False, served=False):
        super().__init__(dice, REQUESTS, acts)
        self.served = served
        self.clients = ClientMaker(dice) if proxied else None
        self.files = {name: text.encode() for name, text in client_maker.LISTS.items()} if proxied else {}

    def file(self):
        return super().file([*(self.clients.lines() if self.clients else ()), *(self.services() if self.served else ())])

    def services(self):
        lines = ["services:"]
        for number, when in enumerate(self.dice.choice((["l4.dport eq 80"], ["l4.dport in {80 8080}"],
                                                        ["l4.dport eq 80 and ip.version eq 4", "l4.dport eq 80"]))):
            mode = self.dice.choice(("enforce", "enforce", "enforce", "monitor", '"off"'))
            lines.append(f"  - {{id: s{number}, protocol: http, when: '{when}', mode: {mode}, checksums: trust}}")
        return lines

    def test(self):
        return self.clients.test() if self.clients and self.chance(40) else super().test()

    def keys(self):
        return super().keys() + (client_maker.KEYS * 3 if self.clients else [])

    def cost(self, counts):
        if not counts or self.chance(60):
            return super().cost(counts)
        paths = self.dice.sample(PREFIXES, self.dice.choice((1, 2, 5)))
        costs = ", ".join(f'"{path}": {self.dice.choice((1, 2, 3, 7))}' for path in paths)
        return [f"    cost: {{path: {{{costs}}}{self.dice.choice(('', ', default: 2'))}}}"]
