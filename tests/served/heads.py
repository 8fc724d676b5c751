"""Requests for what is limited, as bytes."""
import struct

PATH = b"/login"
OTHER = b"/index"  # as long, and not limited
HOST = b"Host: a.example\r\n"


def get(path=PATH, version=b"HTTP/1.1", lines=HOST):
    return b"GET " + path + b" " + version + b"\r\n" + lines + b"\r\n"


def post(path=PATH, lines=b"", body=b""):
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + lines + b"\r\n" + body


LOGIN, DECOY = get(), get(OTHER)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
H2_SETTINGS, H2_HEADERS, END_STREAM_AND_HEADERS = 4, 1, 5
UPGRADE_LINES = b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
WEBSOCKET_LINES = (b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
PROXY_LINE = b"PROXY TCP4 192.0.2.7 192.0.2.8 5000 80\r\n"


def h2_frame(kind, flags, stream, payload):
    return struct.pack("!BHBBI", 0, len(payload), kind, flags, stream) + payload


def h2_get(stream, path=PATH):
    """GET with the static table of HPACK (RFC 7541, A): method, scheme, and path and authority as literals."""
    block = b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x09a.example"
    return h2_frame(H2_HEADERS, END_STREAM_AND_HEADERS, stream, block)


H2_OPENING = PREFACE + h2_frame(H2_SETTINGS, 0, 0, b"")
