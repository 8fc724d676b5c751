"""What a soak sends beside its flood: clients that are new each time, and those that are held to a promise."""
import contextlib
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

from http_hosts import Client, WebServer, within
from soak_rules import NEW, QUIC_NAME, WEB
from target import SERVED, SMOKE

sys.path.append(str(SERVED))  # behind: it has names that are here too
import hellos  # noqa: E402

NEW_CLIENTS = pathlib.Path(__file__).with_name("new_clients.py")
FRAMES = 800   # a second, of clients that are new each time
PAUSE = 0.05   # seconds between two requests, hellos or frames whose way is timed
PATIENCE = 5
QUIC, PROBED = 443, 7007


def datagrams(namespace, address=None):
    """A socket there; bound, where there is an address."""
    with within(namespace):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if address:
        made.bind(address)
    made.setblocking(False)
    return made


def received(taker):
    """What has come to a socket so far."""
    with contextlib.suppress(OSError):
        while True:
            yield taker.recv(2048)


class Worker(threading.Thread):
    """Does one thing after the other until it is `over`."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(PAUSE):
            self.work()

    def end(self):
        self.over.set()
        self.join()

    def work(self):
        raise NotImplementedError


class Pages(Worker):
    """A client that asks for pages, over a connection of its own each time; `failed`: without an answer."""

    def __init__(self, hosts):
        super().__init__()
        self.hosts, self.failed = hosts, 0

    def work(self):
        try:
            with contextlib.closing(Client(self.hosts.outside, WEB, patience=PATIENCE)) as client:
                client.send("GET /page HTTP/1.1\r\nHost: www.example\r\nConnection: close\r\n\r\n")
                self.failed += not client.answers.readline()
        except OSError:
            self.failed += 1


class Hellos(Worker):
    """A client of QUIC that begins a connection to one name each time; `came`: hellos that reached its server."""

    def __init__(self, hosts, dice):
        super().__init__()
        self.hosts, self.dice, self.came = hosts, dice, 0
        self.taker = datagrams(hosts.inside, (WEB, QUIC))

    def work(self):
        client = hellos.Client(self.dice)
        hello = hellos.quic_hello(self.dice, QUIC_NAME.encode(), client.scid)
        with datagrams(self.hosts.outside) as sender, contextlib.suppress(OSError):
            sender.sendto(client.initial(hellos.crypto(hello)), (WEB, QUIC))
        self.came += sum(1 for _ in received(self.taker))

    def end(self):
        super().end()
        self.taker.close()


class Probes(Worker):
    """Frames whose way through the box is timed; what is lost while nobody is there has no time."""

    def __init__(self, hosts):
        super().__init__()
        self.taken = []
        self.taker, self.sender = datagrams(hosts.inside, (WEB, PROBED)), datagrams(hosts.outside)
        self.taker.settimeout(PAUSE)

    def work(self):
        with contextlib.suppress(OSError):
            self.sender.sendto(str(time.monotonic_ns()).encode(), (WEB, PROBED))
        for sent in received(self.taker):
            self.taken.append((time.monotonic_ns() - int(sent)) / 1e6)

    def end(self):
        super().end()
        self.taker.close()
        self.sender.close()

    def take_times(self):
        """-> (median, worst) milliseconds of the frames since it was asked last."""
        taken, self.taken = self.taken or [0.0], []
        return statistics.median(taken), max(taken)


class Traffic:
    """Begins with `with`: the server of `pages`, its client, `hellos`, `probes`, and the sender of new clients."""

    def __init__(self, hosts, dice):
        self.hosts, self.seed = hosts, str(dice.getrandbits(32))
        self.server = WebServer(hosts.inside, WEB)
        self.probes, self.pages, self.hellos = Probes(hosts), Pages(hosts), Hellos(hosts, random.Random(dice.getrandbits(64)))
        self.sender = None

    def __enter__(self):
        self.sender = subprocess.Popen(
            ["ip", "netns", "exec", self.hosts.outside, sys.executable, NEW_CLIENTS, self.seed, str(FRAMES), NEW],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": f"{SMOKE}:{SERVED}"})
        try:
            assert self.sender.stdout.readline() == "ready\n"
            for worker in (self.probes, self.pages, self.hellos):
                worker.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for worker in (self.probes, self.pages, self.hellos):
            if worker.is_alive():
                worker.end()
        if self.sender is not None:
            self.sender.kill()
            self.sender.communicate()
        self.server.close()
