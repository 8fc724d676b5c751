"""A refused request in the middle of a download: all of the first answer arrives, then the refusal, nothing in between."""
import socket

from http_hosts import within
from innocent import http_answer
from programs import ip
from servers import BIG
import rule_files

FIRST_ADDRESS = 100  # last octet of the clients
BEFORE = 300_000  # bytes read of the first answer before the second request is sent
BUFFER = 65_536  # of the client, so that the server cannot be done with the answer by then
PATIENCE = 20
BIG_REQUEST = b"GET /big HTTP/1.1\r\nHost: a.example\r\n\r\n"
LOGIN_REQUEST = b"GET /login HTTP/1.1\r\nHost: a.example\r\n\r\n"


class Counted:
    """A buffered reader that sends a request when so many bytes have been read."""

    def __init__(self, client, read):
        self.client, self.inner, self.left = client, read, BEFORE

    def readline(self):
        line = self.inner.readline()
        self.count(len(line))
        return line

    def read(self, size):
        out = bytearray()
        while len(out) < size and (part := self.inner.read(min(size - len(out), 50_000))):
            out += part
            self.count(len(part))
        return bytes(out)

    def count(self, size):
        if self.left > 0 >= self.left - size:
            self.client.sendall(LOGIN_REQUEST)
        self.left -= size


def download(court, name, source):
    """What did not hold, in words."""
    with within(court.hosts.outside):
        client = socket.socket()
    client.settimeout(PATIENCE)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    client.bind((source, 0))
    try:
        with client:
            client.connect((court.servers[name].address, 80))
            with client.makefile("rb") as read:
                client.sendall(BIG_REQUEST)
                first = http_answer(Counted(client, read))
                if first != (200, BIG):
                    return [f"a download from {name}: {first} in place of {BIG} bytes"]
                second = http_answer(read)
    except (OSError, ValueError) as error:
        return [f"a download from {name}: {type(error).__name__}: {error}"]
    return [] if second and second[0] == 429 else [f"behind a download from {name}: {second} in place of 429"]


def check(court, names, services):
    """What did not hold, in words; prints how many."""
    court.apply(rule_files.one_answered(services))
    out = []
    for number, name in enumerate(names):
        source = f"10.78.0.{FIRST_ADDRESS + number}"
        ip("-n", court.hosts.outside, "address", "replace", f"{source}/24", "dev", "eth0")
        out += download(court, name, source)
    print(f"{len(names)} downloads of {BIG} bytes with a refused request in their middle: {len(out)} broken", flush=True)
    return out
