"""Uploads, downloads, TLS sessions, WebSockets and connections of a proxy over a killed dataplane and a time without one: none is ended."""
import itertools
import os
import socket
import ssl
import struct
import threading
import time

from http_hosts import within
from innocent import http_answer
from servers import BIG
from programs import ip
import heads
import rule_files
import servers

EACH, EACH_SHORT = 100, 10
AWAY, AWAY_SHORT = 120, 2  # seconds without a box
PIECE, PIECES = b"a=b&GET /login HTTP/1.1\r\n\r\n" * 30, 40
PATIENCE = 400
GO_ON = 20  # seconds, and twice as long as it was cut off: TCP waits twice as long each time
BEGIN, END = 120, 120  # seconds for all to begin, and to end
UPGRADE = heads.get(heads.OTHER, lines=heads.HOST + heads.WEBSOCKET_LINES)
TEXT = b"a word of a WebSocket"
PROXY = "10.78.0.1"  # the outside host
SIZED_PIECES = 400  # of a body whose length its head says


class Going(threading.Thread):
    """A connection that goes on until it is told to end; `failure`: in words."""

    PORT = 80

    def __init__(self, namespace, address, over):
        super().__init__(daemon=True)
        self.over, self.failure, self.steps = over, "", 0
        with within(namespace):
            self.socket = self.wrapped(socket.create_connection((address, self.PORT), PATIENCE))
        self.read = self.socket.makefile("rb")

    def wrapped(self, connection):
        return connection

    def run(self):
        with self.socket, self.read:
            try:
                self.begin()
                while not self.over.is_set():
                    self.go_on()
                    self.steps += 1
                    self.over.wait(0.2)
                self.end()
            except (OSError, ValueError, struct.error) as error:
                self.failure = f"{type(self).__name__}: {type(error).__name__}: {error} after {self.steps} steps"

    def begin(self):
        pass

    def end(self):
        pass


class Upload(Going):
    """In chunks."""

    def begin(self):
        self.socket.sendall(heads.post(b"/upload", heads.CHUNKED))

    def go_on(self):
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))

    def end(self):
        self.socket.sendall(b"0\r\n\r\n")
        if not (answer := http_answer(self.read)) or answer[0] != 200:
            raise OSError(f"answered {answer}")


class SizedUpload(Going):
    """With its length in the head, and another request behind it."""

    def begin(self):
        self.left = SIZED_PIECES
        self.socket.sendall(heads.post(b"/upload", b"Content-Length: %d\r\n" % (len(PIECE) * self.left)))

    def go_on(self):
        if self.left:
            self.socket.sendall(PIECE)
            self.left -= 1

    def end(self):
        self.socket.sendall(PIECE * self.left + heads.get(b"/page"))
        for _ in range(2):
            if not (answer := http_answer(self.read)) or answer[0] != 200:
                raise OSError(f"answered {answer}")


class Pages(Going):
    """One request behind the other."""

    def go_on(self):
        self.socket.sendall(heads.get(b"/page"))
        if not (answer := http_answer(self.read)) or answer[0] != 200:
            raise OSError(f"answered {answer}")


class ByProxy(Pages):
    """Behind a PROXY header, whose client is over its limit from the second request for /once on."""
    PORT = servers.PROXIED_PORT
    numbers = itertools.count(1)

    def begin(self):
        self.socket.sendall(b"PROXY TCP4 203.0.113.%d 192.0.2.8 5000 80\r\n" % next(self.numbers) + heads.get(b"/once"))
        if self.status() in (None, 429):
            raise OSError("the first request is refused")

    def end(self):
        self.socket.sendall(heads.get(b"/once"))
        try:
            status = self.status()
        except ConnectionResetError:
            return  # a refusal, too, where an answer was under way over the restart
        if status != 429:
            raise OSError(f"its client's limit is forgotten: {status}")

    def status(self):
        answer = http_answer(self.read)
        return answer and answer[0]


class Session(Going):
    """Of TLS, with one request behind the other."""
    PORT = 443

    def wrapped(self, connection):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(connection, server_hostname=servers.OTHER_NAME)

    def go_on(self):
        self.socket.sendall(heads.get(b"/page"))
        if not http_answer(self.read):
            raise OSError("no answer")


class Download(Going):
    """Of 10 MB, slowly."""

    def begin(self):
        self.socket.sendall(heads.get(b"/big"))
        while self.read.readline() not in (b"\r\n", b""):
            pass
        self.left = BIG

    def go_on(self):
        self.left -= len(self.read.read(min(self.left, 10_000)))

    def end(self):
        while self.left and (part := self.read.read(min(self.left, 100_000))):
            self.left -= len(part)
        if self.left:
            raise OSError(f"{self.left} bytes are missing")


class WebSocket(Going):
    def begin(self):
        self.socket.sendall(UPGRADE)
        if not self.read.readline().startswith(b"HTTP/1.1 101"):
            raise OSError("no WebSocket")
        while self.read.readline() not in (b"\r\n", b""):
            pass

    def go_on(self):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(TEXT))
        self.socket.sendall(bytes([0x81, 0x80 | len(TEXT)]) + mask + masked)
        if self.read.read(2 + len(TEXT)) != bytes([0x81, len(TEXT)]) + TEXT:
            raise OSError("another text came back")


def restart(court, away):
    box = court.box
    box.kill(box.dataplane)
    time.sleep(away)
    court.start_dataplane()
    box.wait_for_link(True)


def start_tls(court):
    """A server of TLS beside the others."""
    address = court.address(len(court.names))
    ip("-n", court.hosts.inside, "address", "add", f"{address}/24", "dev", "eth0")
    return servers.Server(court.box, court.hosts.inside, "tls", address)


def check(court, names, is_short):
    """What did not hold, in words."""
    court.apply(rule_files.innocent_beside_proxies("upgrades", PROXY))
    first, tls = court.servers[names[0]], start_tls(court)
    try:
        kinds = [(Upload, first), (SizedUpload, first), (Pages, first), (Download, first), (Session, tls)]
        kinds += [(ByProxy, court.servers["nginx"])] if "nginx" in names else []
        kinds += [(WebSocket, court.servers["node"])] if "node" in names else []
        return check_all(court, kinds, is_short)
    finally:
        tls.close()


def check_all(court, kinds, is_short):
    over = threading.Event()
    all_going = [kind(court.hosts.outside, server.address, over)
                 for kind, server in kinds for _ in range(EACH_SHORT if is_short else EACH)]
    for one in all_going:
        one.start()
    begun_by = time.monotonic() + BEGIN
    while time.monotonic() < begun_by and any(one.steps < 2 and one.is_alive() for one in all_going):
        time.sleep(0.1)
    early = sum(not one.is_alive() for one in all_going)
    away = AWAY_SHORT if is_short else AWAY
    restart(court, away)
    steps = [one.steps + 1 for one in all_going]  # one may be on its way
    until = time.monotonic() + GO_ON + 2 * away
    while time.monotonic() < until and any(one.steps <= was and one.is_alive() for one, was in zip(all_going, steps)):
        time.sleep(0.1)
    over.set()
    until = time.monotonic() + END
    for one in all_going:
        one.join(max(until - time.monotonic(), 0))
    failed = [one.failure or f"{type(one).__name__}: it hangs after {one.steps} steps" for one in all_going if one.failure or one.is_alive()]
    print(f"{len(all_going)} connections over a killed dataplane, {sum(one.steps for one in all_going)} steps: {len(failed)} ended"
          f", {early} of them before; {court.events()}", flush=True)
    return [f"over a killed dataplane: {words}" for words in failed]
