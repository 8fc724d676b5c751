"""Clients whose packets come to several boxes at once, and what leaves the boxes: one sender for all outside hosts, one
taker for all inside hosts, by one clock.

    spread_flood.py send|take NAMESPACE...      read their orders, a line each, on standard input
"""
import collections
import json
import pathlib
import selectors
import socket
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "smoke"))
import capture_files as frames  # noqa: E402
from http_hosts import within  # noqa: E402

RECORD = struct.Struct("<qHHi")  # when the kernel had it in ns of UTC, the client, the box, us since it was sent
SOURCE_PORT, SENT_AT = 34, 42    # offsets of the port, and of the payload, which begins with when it was sent
PORTS = 16                       # of a client, in turn: its frames come to all workers of a box
SLOT = 50_000_000               # ns in which offered frames are counted together
STEP = 0.002                    # seconds between batches
LATE = 0.25                     # behind by more than this, what was due is left out
RECEIVE_BUFFER = 32 << 20
SO_RCVBUFFORCE, SO_TIMESTAMPNS, ETH_P_IP = 33, 35, 0x0800


def client_address(client):
    return f"10.78.{1 + (client >> 8)}.{client & 255}"


def frame_of(client):
    udp = frames.udp_header(1000, 9, bytes(18))
    return bytearray(frames.ethernet(frames.ipv4(client_address(client), "10.79.0.1", 17, udp), ETH_P_IP))


def raw_socket(namespace):
    with within(namespace):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        raw.bind(("eth0", ETH_P_IP))
    return raw


class Turns:
    """Boxes in turn by their shares, as evenly as they go."""

    def __init__(self, shares):
        self.shares = shares
        self.credit = [0.0] * len(shares)

    def next(self):
        for box, share in enumerate(self.shares):
            self.credit[box] += share
        box = max(range(len(self.shares)), key=self.credit.__getitem__)
        self.credit[box] -= sum(self.shares)
        return box


class Sending:
    """Orders: {"rates": {client: frames a second}, "shares": [of each box]}, from then on."""

    def __init__(self, namespaces):
        self.sockets = [raw_socket(namespace) for namespace in namespaces]
        self.frames, self.turns, self.due = {}, {}, {}
        self.rates, self.shares = {}, [1] * len(namespaces)
        self.offered = collections.Counter()  # by client and slot of time
        self.sent = 0

    def obey(self, order):
        self.rates = {int(client): rate for client, rate in order.get("rates", self.rates).items()}
        self.shares = order.get("shares", self.shares)
        now = time.monotonic()
        for client in self.rates:
            self.frames.setdefault(client, frame_of(client))
            self.due[client] = now
            self.turns[client] = Turns(self.shares)

    def send_due(self):
        now = time.monotonic()
        for client, rate in self.rates.items():
            if rate <= 0:
                continue
            behind = now - self.due[client]
            if behind > LATE:
                self.due[client] = now - LATE
                behind = LATE
            count = int(behind * rate)
            if count:
                self.due[client] += count / rate
                self.send(client, count)

    def send(self, client, count):
        frame, turns = self.frames[client], self.turns[client]
        sent = 0
        for number in range(count):
            struct.pack_into("!H", frame, SOURCE_PORT, 1000 + (self.sent + number) % PORTS)
            struct.pack_into("<q", frame, SENT_AT, time.time_ns())
            try:
                self.sockets[turns.next()].send(frame)
                sent += 1
            except OSError:  # the link's queue is full: a client would not be told either
                continue
        self.offered[client, time.time_ns() // SLOT] += sent
        self.sent += count

    def run(self):
        selector = selectors.DefaultSelector()
        selector.register(sys.stdin, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            if selector.select(STEP):
                line = sys.stdin.readline()
                if not line:
                    break
                self.obey(json.loads(line))
                print("done", flush=True)
            self.send_due()
        print(json.dumps([[client, slot * SLOT, sent] for (client, slot), sent in sorted(self.offered.items())]))


class Taking:
    """Writes a RECORD of each frame to FILE; each line of input is answered with how many came, by box."""

    def __init__(self, file, namespaces):
        self.file = open(file, "wb")
        self.sockets = [raw_socket(namespace) for namespace in namespaces]
        self.came = [0] * len(namespaces)
        for taken in self.sockets:
            taken.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
            taken.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            taken.setblocking(False)

    def take(self, box):
        taken = self.sockets[box]
        try:
            while True:
                frame, more, _, _ = taken.recvmsg(128, 64)
                if frame[23] != 17 or frame[30:32] != b"\x0a\x4f":
                    continue
                seconds, ns = struct.unpack("qq", more[0][2])
                at, sent = seconds * 10**9 + ns, struct.unpack_from("<q", frame, SENT_AT)[0]
                self.file.write(RECORD.pack(at, (frame[28] - 1) << 8 | frame[29], box, min((at - sent) // 1000, 2**31 - 1)))
                self.came[box] += 1
        except BlockingIOError:
            pass

    def run(self):
        selector = selectors.DefaultSelector()
        selector.register(sys.stdin, selectors.EVENT_READ)
        for box, taken in enumerate(self.sockets):
            selector.register(taken, selectors.EVENT_READ, box)
        print("ready", flush=True)
        while True:
            asked = False
            for key, _ in selector.select():
                if key.data is None:
                    asked = True
                else:
                    self.take(key.data)
            if asked:
                if not sys.stdin.readline():
                    break
                for box in range(len(self.sockets)):
                    self.take(box)
                self.file.flush()
                print(json.dumps(self.came), flush=True)
        self.file.close()


class SpreadFlood:
    """Stands still until it is told the rates; begins with `with`."""

    def __init__(self, network, folder, started=subprocess.Popen):
        self.network, self.file, self.started = network, folder / "departures", started
        self.processes = []

    def __enter__(self):
        hosts = self.network.hosts
        self.taker = self.start("take", self.file, *(one.inside for one in hosts))
        self.sender = self.start("send", *(one.outside for one in hosts))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def start(self, *words):
        process = self.started([sys.executable, __file__, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, start_new_session=True)
        self.processes.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    @staticmethod
    def ask(process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline()

    def send(self, **order):
        """`rates`: {client: frames a second}; `shares`: of the boxes, such as [80, 15, 5]."""
        self.ask(self.sender, json.dumps(order))

    def came(self):
        """How many frames each box has let through so far."""
        return json.loads(self.ask(self.taker, "came"))

    def departures(self):
        """All of them so far, as (ns, client, box, us since it was sent) in order of time."""
        self.came()
        return sorted(RECORD.iter_unpack(self.file.read_bytes()))

    def end(self):
        """Sends no more; what was offered, as {client: [(ns, frames)]}."""
        offered = {}
        for client, at, sent in json.loads(self.sender.communicate()[0]):
            offered.setdefault(client, []).append((at, sent))
        return offered


if __name__ == "__main__":
    if sys.argv[1] == "send":
        Sending(sys.argv[2:]).run()
    else:
        Taking(sys.argv[2], sys.argv[3:]).run()
