"""A client of Redis for tests: one command, one answer."""
import contextlib
import socket

from http_hosts import within

PATIENCE = 10.0


class RespError(Exception):
    """What the server refused, in its own words."""


def connect(namespace, address):
    """A TCP connection out of that namespace (None: this one)."""
    with within(namespace) if namespace else contextlib.nullcontext():
        return socket.create_connection(address, PATIENCE)


class Resp:
    def __init__(self, address, namespace=None, password=None, user="default"):
        self.socket = connect(namespace, address)
        self.input = self.socket.makefile("rb")
        if password is not None:
            self("AUTH", user, password)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.input.close()
        self.socket.close()

    def __call__(self, *words):
        encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
        return self.answer()

    def answer(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server ended the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RespError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.input.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.answer() for _ in range(int(rest))]
        return rest.decode()

    def info(self, section):
        """{name: text}"""
        lines = self("INFO", section).decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)
