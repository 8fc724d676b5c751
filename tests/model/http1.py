"""Requests of HTTP/1.1, from RFC 9112 and the rule language: whole heads.

What is malformed is beyond this reader: the generator makes none. Of what is ambiguous it knows a value that
goes on in the next line, targets whose path servers read otherwise, and what comes twice: each such path is a reading of the
request, and so are the last of what rules name and what stands between.
"""
import itertools
import re
import socket

import path_readings
import streams

ASKS = r"http\.|per: request|trusted_proxies"  # of rules that read requests
ASKS_PATHS = r"http\.request\.uri\.path|cost: path"  # of those that read the paths of some
ASKS_HOSTS = r"http\.host"  # their hosts
ASKS_METHODS = r"http\.request\.method"

REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([^ ]+) HTTP/1\.1\Z")
# Of HTTP/0.9: the line is the whole request, and the connection ends with it.
LINE_ALONE = re.compile(rb"(GET) ([^ ]+)\Z")
ABSOLUTE = re.compile(rb"\A[A-Za-z][A-Za-z0-9+.-]*://([^/?]*)")
# A path that is also judged as the reference of a URL.
REFERENCE = re.compile(rb"\\|\A//")
FOLD = re.compile(rb"\r\n[ \t]")
# A host that all programs take for the same: a name of which none decodes or maps a byte, or an address in brackets.
HOST = re.compile(rb"([A-Za-z0-9._-]*|\[[0-9A-Fa-f.:]*\])(?::[0-9]{0,5})?\Z")
BRACKETED = re.compile(rb"\[([A-Za-z0-9._-]+)\](?::[0-9]{0,5})?\Z")
NUMBERED = re.compile(rb"(?:.*\.)?(?:[0-9]+|0[xX][0-9A-Fa-f]*)\Z")  # the last label is a number
ODD_LABEL = re.compile(rb"(?:.*\.)?[xX][nN]--(?:[^.]*-)?(?:\..*)?\Z")  # of IDNA, which decodes to ASCII
QUAD = re.compile(rb"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!\Z)|\Z)){4}")
HIGH_SPACE = re.compile(rb"[\x85\xa0]|(?:.*[\x00-\x7f])?[\x85\xa0]+\Z", re.S)  # at an end, not of UTF-8
EXPECT = re.compile(rb"\r\n[Ee][Xx][Pp][Ee][Cc][Tt]:[ \t]*([^\r]*?)[ \t]*(?=\r\n|\Z)")
# Of methods whose body some servers leave unread, to read it as the next request.
UNREAD = (b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"TRACE")
SPACE = b"\t\v\f\r\x1c\x1d\x1e\x1f "
BEFORE_DATA = SPACE + b"\n\x85\xa0"
MOST_SPACE = 64
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]")
HEADER_FIELDS = {"user-agent": "http.user_agent", "referer": "http.referer"}
MOST_OTHERS = 16  # readings but the first
MOST_FURTHER = 4  # values that are neither the first nor the last, of headers and of cookies each
FRAMING = ("host", "content-length", "transfer-encoding", "connection", "cookie", "upgrade", "http2-settings", "expect")
JOINT = re.compile("[^a-z0-9]")
NAMED_HEADER = re.compile(r'http\.request\.headers\["([^"]+)"\]')
NAMED_COOKIE = re.compile(r'http\.cookies\["([^"]+)"\]')


class Readings:
    """What of a request's readings is judged. `on_ambiguous`: of services; `has_paths`, `has_hosts`, `has_methods`: a rule reads
    some; `named`: the headers and the cookies that rules name."""

    def __init__(self, on_ambiguous=None, has_paths=True, has_hosts=True, named=((), ()), has_methods=True):
        self.both, self.has_paths, self.has_hosts = on_ambiguous in ("both", "stricter"), has_paths, has_hosts
        self.headers, self.cookies, self.has_methods = *named, has_methods

    def refuses(self, packet, head, path, hosts, host):
        """Of a service, all that servers may disagree about is refused, but what of a path, of two Host lines, or of a line
        without a version is in doubt under `both`. What parts a path's segments or ends it matters where those are read. A host that
        is none is refused always, the last one where hosts are read."""
        if packet.service is None:
            return False
        of_path = path_readings.has_lone_percent(path) or self.has_paths and path_readings.may_part(path)
        doubtful = len(hosts) > 1 or is_line_alone(head) or of_path
        has_bad = not all(is_host(one) for one in [host, *hosts[:1]] + hosts[-1:] * self.has_hosts)
        has_nul = self.has_paths and path_readings.has_nul(path)
        headers = read_head(head)[1]
        has_many = max(len(self.further(headers)), len(self.further_cookies(headers))) > MOST_FURTHER
        return bool(FOLD.search(head)) or expects_otherwise(head) or has_bad or has_nul or doubtful and not self.both or has_many or self.has_high_space(headers)

    def has_high_space(self, headers):
        named = [value for lines in (headers, self.alike_headers(headers)) for name, value in lines if name in self.header_names()]
        return any(HIGH_SPACE.match(value) for value in named)

    def last_texts(self, head, headers, is_host_bad):
        """-> [[the texts of a place as another server takes them, of a kind of ways] for each kind]: of headers, of cookies, of
        the method. What is in doubt otherwise than in its texts has the first alone."""
        if FOLD.search(head) or expects_otherwise(head) or is_host_bad:
            return []
        firsts, lasts = fields_of(headers), fields_of(headers[::-1])
        headers_last = {name: text for name, text in lasts.items() if firsts[name] != text and self.names_header(name)}
        ends = ([headers_last] if headers_last else []) + self.alike(firsts, headers)
        further = [dict(texts) for texts in self.further(headers)][:MOST_FURTHER]
        further_cookies = [{f'http.cookies["{name}"]': text} for name, text in self.further_cookies(headers)][:MOST_FURTHER]
        kinds = (ends, further), (self.other_cookies(headers), further_cookies), (self.capitals(head), [])
        return [[[way] for way in some] + ([more] if more else []) for some, more in kinds]

    def capitals(self, head):
        """Some programs make capitals of a method."""
        field, method = "http.request.method", read_head(head)[0]["http.request.method"]
        return [{field: method.upper()}] if self.has_methods and method != method.upper() else []

    def alike(self, firsts, headers):
        """Of headers that programs take for those which rules name, the first texts, and the last."""
        first, last = {}, {}
        for name, value in self.alike_headers(headers):
            texts = self.texts_of(name, value)
            first, last = {**texts, **first}, {**last, **texts}
        is_another = any(firsts.get(field) != text for field, text in first.items())
        return ([first] if is_another else []) + ([last] if first != last else [])

    def alike_headers(self, headers):
        """By the names that they are taken for: those that no rule names, then those that some do."""
        names = self.header_names()
        for name, value in sorted(headers, key=lambda one: one[0] in names):
            if name not in FRAMING:
                yield from ((one, value) for one in names - set(FRAMING) if one != name and JOINT.sub("-", one) == JOINT.sub("-", name))

    def header_names(self):
        names = {name for name in self.headers if name not in HEADER_FIELDS.values()}
        return names | {name for name, field in HEADER_FIELDS.items() if field in self.headers}

    def texts_of(self, name, value):
        return {field: text for field, text in fields_of([(name, value)]).items() if self.names_header(field)}

    def further(self, headers):
        """The texts of each header that is neither the first nor the last of its name, nor of those that are alike to it."""
        some = {}
        for lines in (headers, list(self.alike_headers(headers))):
            for name in self.header_names():
                values = [value for one, value in lines if one == name]
                some.update({(name, value): None for value in values[1:-1] if value != values[0]})
        return [tuple(self.texts_of(name, value).items()) for name, value in some]

    def other_cookies(self, headers):
        """The last of each cookie; to a server that knows one line, the last of the first, or the first of the last."""
        lines = [[line] for line in headers if line[0] == "cookie"]
        named = [name for line in lines for name in cookie_names(line[0][1]) if name in self.cookies]
        if len(named) == len(set(named)):
            return []
        first, last = cookies_of(headers), cookies_of(headers, True)
        ways = [(first, last)]
        if len(lines) > 1:
            ways += [(first, cookies_of(lines[0], True)), (last, cookies_of(lines[-1]))]
        return [{f'http.cookies["{name}"]': other.get(name) for name in set(named)} for usual, other in ways
                if any(usual.get(name) != other.get(name) for name in set(named))]

    def further_cookies(self, headers):
        """-> [(name, text)] of each cookie that is neither the first nor the last of its name, in the order of those behind them"""
        firsts, before, some = {}, {}, {}
        for name, value in [pair for header, line in headers if header == "cookie" for pair in cookie_pairs(line)]:
            if name in self.cookies and before.get(name, value) != firsts.setdefault(name, value):
                some[name, before[name]] = None
            before[name] = value
        return list(some)

    def names_header(self, field):
        named = NAMED_HEADER.match(field)
        return (named[1] if named else field) in self.headers


def named_in(text):
    """-> (the headers, in small letters, or fields of them, the cookies): what a text of rules names"""
    headers = {name.lower() for name in NAMED_HEADER.findall(text)} | {name for name in HEADER_FIELDS.values() if name in text}
    return headers, set(NAMED_COOKIE.findall(text))


def add_request(packet, head, readings):
    """Gives a packet the request of a head that it completes, as all servers read it. -> (the bytes of its body, None: in
    chunks; whether servers may disagree where it ends)"""
    found, headers, body = read_head(head)
    path, ends = path_of(found["http.request.uri"]), bool(FOLD.search(head)) or is_line_alone(head)
    absolute = ABSOLUTE.match(found["http.request.uri"])
    others = path_readings.other_paths(path) if readings.has_paths else []
    if is_reference(path):
        raise streams.Beyond(head)
    hosts = [value for name, value in headers if name == "host"]
    if len(hosts) > 1 and absolute:
        raise streams.Beyond(head)
    host = absolute[1] if absolute else b"".join(hosts[:1])
    refused = readings.refuses(packet, head, path, hosts, host)
    is_host_bad = not all(is_host(one) for one in [host, *hosts[:1]])
    ends |= packet.service is None and is_host_bad
    if refused:
        packet.service.note("ambiguous_request")
    passes = not refused or not packet.service.refuses()
    paths = [{}, *({"http.request.uri.path": other} for other in others)]
    other_host = normal_host(hosts[-1] if hosts else b"")
    doubts = []
    if readings.has_hosts and other_host not in (b"", found.get("http.host")):  # the header's beside the target's, the last beside the first
        doubts = [[{"http.host": other_host}]]
    ways = ways_of(paths, [doubts, *readings.last_texts(head, headers, is_host_bad)])
    if len(ways) > MOST_OTHERS + 1 and passes and packet.service is not None:
        packet.service.note("ambiguous_request")
        passes = not packet.service.refuses()
    for number, way in enumerate(ways[:MOST_OTHERS + 1] if passes else ways[:1]):
        unit = packet.add_unit()
        unit.fields.update(found)
        unit.fields.update(way)
        unit.fields = {name: text for name, text in unit.fields.items() if text is not None}
        unit.headers, unit.requests, unit.is_reading = headers, 1, number > 0
    return body, ends


def ways_of(paths, places):
    """The readings in the box's order: one kind of ways after the other, the last place's slowest. A place has kinds of ways, a
    kind one or more."""
    all_kinds = itertools.product(*([[{}], *kinds] for kinds in reversed(places)))
    all_texts = (texts for kinds in all_kinds for texts in itertools.product(*reversed(kinds)))
    return [{**path, **{field: text for one in texts for field, text in one.items()}} for texts in all_texts for path in paths]


def expects_otherwise(head):
    """What a server may answer with 417, and read the body as the next request."""
    return any(value.lower() not in (b"", b"100-continue") for value in EXPECT.findall(head))


class Watch:
    """Over the body of a request that some server may leave unread."""

    def __init__(self, head):
        self.looks = read_head(head)[0]["http.request.method"] in UNREAD

    def finds_request(self, data):
        """In a body's data, as far as it has come."""
        rest = data.lstrip(BEFORE_DATA)
        return bool(self.looks and (TOKEN.match(rest) or len(data) - len(rest) > MOST_SPACE))


def is_line_alone(head):
    return LINE_ALONE.match(head) is not None


def is_reference(path):
    path = path_readings.decoded_path(path, b"/.")
    return REFERENCE.search(path) is not None or b"//" in path and path_readings.has_dots(path)


def path_of(target):
    return ABSOLUTE.sub(b"", target).partition(b"?")[0]


def read_head(head):
    """-> (the fields of a request, its headers in their order, the bytes of its body, or None: in chunks)"""
    first, *lines = re.split(rb"\r\n(?![ \t])", head)
    line = REQUEST_LINE.match(first) or LINE_ALONE.match(first)
    if not line:
        raise streams.Beyond(first)
    method, target = line.groups()
    named = [header(line) for line in lines]
    headers = dict(reversed(named))
    absolute = ABSOLUTE.match(target)
    host, rest = (absolute[1], target[absolute.end():]) if absolute else (headers.get("host"), target)
    path, mark, query = rest.partition(b"?")
    fields = {"proto.l7": b"http", "proto.scheme": b"http", "http.request.method": method,
              "http.request.uri": target, "http.request.uri.path": path_readings.normal_path(path)}
    if host is not None:
        fields["http.host"] = normal_host(host)
    if mark:
        fields["http.request.uri.query"] = query
    fields.update(fields_of(named))
    fields.update((f'http.cookies["{name}"]', value) for name, value in cookies_of(named).items())
    is_chunked = headers.get("transfer-encoding") == b"chunked"
    return fields, named, None if is_chunked else int(headers.get("content-length", 0))


def fields_of(headers):
    """Of each name the first one's."""
    fields = {}
    for name, value in headers:
        fields.setdefault(f'http.request.headers["{name}"]', value)
        if name in HEADER_FIELDS:
            fields.setdefault(HEADER_FIELDS[name], value)
    return fields


def cookies_of(headers, is_last=False):
    """All lines are one list (RFC 9113, 8.2.3). -> {name: the text of its first, or its last}"""
    named = [pair for name, value in headers if name == "cookie" for pair in cookie_pairs(value)]
    return dict(named if is_last else reversed(named))


def cookie_pairs(line):
    pairs = [pair.partition(b"=") for pair in line.split(b";")]
    return [(name.strip(b" \t").decode(), value.strip(b" \t")) for name, equals, value in pairs if equals]


def cookie_names(line):
    return [name for name, _ in cookie_pairs(line)]


def header(line):
    name, _, value = line.partition(b":")
    return name.decode().lower(), value.strip(b" \t\r\n")


def normal_host(host):
    """Without port and the dot of the root, in small letters, an address of IPv6 as RFC 5952 writes it; what is no host as it was
    sent, but a name out of its brackets."""
    if is_host(host) and host.startswith(b"["):
        return b"[%s]" % socket.inet_ntop(socket.AF_INET6, ipv6_octets(HOST.match(host)[1])).encode()
    found = HOST.match(host) if is_host(host) else BRACKETED.match(host)
    return without_root(found[1].lower()) if found else host.lower()


def ipv6_octets(literal):
    """Of an address in brackets; None: it is none."""
    try:
        return socket.inet_pton(socket.AF_INET6, literal[1:-1].decode())
    except OSError:
        return None


def without_root(name):
    return name[:-1] if len(name) > 1 and name.endswith(b".") else name


def is_host(host):
    found = HOST.match(host)
    name = found and without_root(found[1])
    if name and name.startswith(b"["):
        return ipv6_octets(name) is not None
    return name is not None and not ODD_LABEL.match(name) and not (NUMBERED.match(name) and not QUAD.fullmatch(name))
