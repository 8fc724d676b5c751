"""Requests of HTTP/1.1, from RFC 9112 and the rule language: whole heads.

What is malformed is beyond this reader: the generator makes none. Of what is ambiguous it knows a value that
goes on in the next line. Of a path that some servers read otherwise it knows no second reading.
"""
import re

import streams

ASKS = r"http\.|per: request|trusted_proxies"  # of rules that read requests

REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([^ ]+) HTTP/1\.1\Z")
UNRESERVED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
OTHERWISE = re.compile(rb"%2[Ff]|\\|\A//|/(\.|%2[Ee]){1,2}(/|\Z)")  # in a path, as some servers read it
FOLD = re.compile(rb"\r\n[ \t]")
HEADER_FIELDS = {"user-agent": "http.user_agent", "referer": "http.referer"}


def add_request(packet, head):
    """Gives a packet the request of a head that it completes. -> (the bytes of its body, None: in chunks; whether servers
    may disagree where it ends)"""
    found, headers, body = read_head(head)
    unit = packet.add_unit()
    unit.fields.update(found)
    unit.headers, unit.requests = headers, 1
    if OTHERWISE.search(path_of(found["http.request.uri"])):
        raise streams.Beyond(head)
    return body, bool(FOLD.search(head))


def path_of(target):
    return re.sub(rb"\A[A-Za-z][A-Za-z0-9+.-]*://[^/?]*", b"", target).partition(b"?")[0]


def read_head(head):
    """-> (the fields of a request, its headers in their order, the bytes of its body, or None: in chunks)"""
    first, *lines = re.split(rb"\r\n(?![ \t])", head)
    line = REQUEST_LINE.match(first)
    if not line:
        raise streams.Beyond(first)
    method, target = line.groups()
    named = [header(line) for line in lines]
    headers, cookies = {}, {}
    for name, value in named:
        headers.setdefault(name, value)
        if name == "cookie":
            for cookie, equals, of_it in (pair.partition(b"=") for pair in value.split(b";")):
                if equals:
                    cookies.setdefault(cookie.strip(b" \t").decode(), of_it.strip(b" \t"))
    absolute = re.match(rb"[A-Za-z][A-Za-z0-9+.-]*://([^/?]*)(.*)", target)
    host, rest = absolute.groups() if absolute else (headers["host"], target)
    path, mark, query = rest.partition(b"?")
    fields = {"proto.l7": b"http", "proto.scheme": b"http", "http.request.method": method,
              "http.host": normal_host(host), "http.request.uri": target,
              "http.request.uri.path": normal_path(path)}
    if mark:
        fields["http.request.uri.query"] = query
    for name, value in headers.items():
        fields[f'http.request.headers["{name}"]'] = value
        if name in HEADER_FIELDS:
            fields[HEADER_FIELDS[name]] = value
    for name, value in cookies.items():
        fields[f'http.cookies["{name}"]'] = value
    is_chunked = headers.get("transfer-encoding") == b"chunked"
    return fields, named, None if is_chunked else int(headers.get("content-length", 0))


def header(line):
    name, _, value = line.partition(b":")
    return name.decode().lower(), value.strip(b" \t\r\n")


def normal_host(host):
    """Without port and the dot of the root, in small letters."""
    name = re.match(rb"\[[^]]*\]|[^:]*", host)[0].lower()
    return name[:-1] if len(name) > 1 and name.endswith(b".") else name


def normal_path(path):
    """RFC 3986, 6.2.2; runs of slashes are one."""
    if not path.startswith(b"/"):
        return path
    path = re.sub(rb"[\x80-\xff]", lambda one: b"%%%02X" % one[0][0], path)
    path = re.sub(rb"%([0-9A-Fa-f]{2})", decoded, path)
    segments, kept = path[1:].split(b"/"), []
    for segment in segments:
        if segment == b"..":
            kept = kept[:-1]
        elif segment not in (b"", b"."):
            kept.append(segment)
    is_folder = segments[-1] in (b"", b".", b"..")
    return b"/" + b"/".join(kept) + (b"/" if is_folder and kept else b"")


def decoded(escape):
    octet = bytes([int(escape[1], 16)])
    return octet if octet in UNRESERVED else b"%" + escape[1].upper()
