"""A day is not a minute: mixed traffic with new clients all the time, operators at work, kills now and then. What grows
ends it, and so does what was admitted beyond what was promised."""
import contextlib
import dataclasses
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time

from http_hosts import Client, WebServer, within
from target import BURST, LIMITED, RULES, SMOKE, SOURCES, Outcome, Target

NEW_CLIENTS = pathlib.Path(__file__).with_name("new_clients.py")
FRAMES = 1500         # a second, of clients that are new each time
LINE_SECONDS = 600    # between two lines
LEAST_LINES = 6       # of a run that is shorter than an hour
SETTLED = 3           # the first third of all lines says what is usual
GROWS = 1.10          # of what is usual, beside the slack of each figure
KILL_SECONDS = 300    # between two kills, on average
RATED = 3             # host: a rate that goes on
RATED_RATE, PAGE_RATE, PAGE_BURST = 20, 5, 20
PAGES = 0.05          # seconds between two requests
PROBES = 0.05         # seconds between two frames whose way is timed
PAGE_PATIENCE = 5
ASKS = 3
KEYS = 1 << 16
WEB, PROBED = "10.78.0.2", 7007

SOAK_RULES = RULES + f"""  - id: rated
    mode: enforce
    when: ip.dst eq 10.79.0.{RATED}
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: {RATED_RATE}/s, burst: {BURST}}}]
  - id: pages
    mode: enforce
    when: ip.dst eq {WEB} and l4.dport eq 80
    key: [ip.src]
    per: request
    limits: [{{algorithm: token_bucket, rate: {PAGE_RATE}/s, burst: {PAGE_BURST}}}]
    on_exceed: {{action: reply, status: 429}}
  - id: sites
    mode: enforce
    when: ip.dst eq 10.79.0.5
    key: [ip.src, http.host]
    per: request
    limits: [{{algorithm: sliding_window, count: 100, window: 60s}}]
  - id: names
    mode: enforce
    key: [ip.src]
    per: query
    limits: [{{algorithm: token_bucket, rate: 1/s, burst: 5}}]
  - id: hellos
    mode: enforce
    key: [tls.sni]
    per: handshake
    limits: [{{algorithm: token_bucket, rate: 100/s, burst: 100}}]
  - id: clients
    mode: enforce
    when: ip.dst eq 10.79.0.5
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 10/s, burst: 20}}]
services:
  - {{id: web, protocol: http, mode: enforce, when: ip.dst eq {WEB} and l4.dport eq 80}}
"""


@dataclasses.dataclass
class Figure:
    """A number that must not grow; `slack` is added to what is usual."""
    name: str
    slack: int


FIGURES = (Figure("dataplane MiB", 32), Figure("dataplane descriptors", 8), Figure("dataplane threads", 2),
           Figure("sluiced MiB", 32), Figure("sluiced descriptors", 16), Figure("sluiced threads", 8),
           Figure("table places", KEYS // 2), Figure("usual ms", 50))


def figures_of(process):
    """MiB that are its own, open descriptors, threads."""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return [int(status["RssAnon"].split()[0]) >> 10, len(os.listdir(f"/proc/{process.pid}/fd")), int(status["Threads"])]


def grown(rows, now):
    """In words, which figures are far above those of the rows, which say what is usual."""
    usual = [max(column) for column in zip(*rows)]
    return [f"{figure.name}: {value}, {most} at most before" for figure, most, value in zip(FIGURES, usual, now)
            if value > most * GROWS + figure.slack]


class Pages(threading.Thread):
    """A client that asks for pages, over a connection of its own each time; `failed`: without an answer."""

    def __init__(self, hosts):
        super().__init__(daemon=True)
        self.hosts, self.over, self.failed = hosts, threading.Event(), 0

    def run(self):
        while not self.over.wait(PAGES):
            try:
                with contextlib.closing(Client(self.hosts.outside, WEB, patience=PAGE_PATIENCE)) as client:
                    client.send("GET /page HTTP/1.1\r\nHost: www.example\r\nConnection: close\r\n\r\n")
                    self.failed += not client.answers.readline()
            except OSError:
                self.failed += 1


class Probes(threading.Thread):
    """Frames whose way through the box is timed; what is lost while nobody is there has no time."""

    def __init__(self, hosts):
        super().__init__(daemon=True)
        self.over, self.taken = threading.Event(), []
        with within(hosts.inside):
            self.taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.taker.bind((WEB, PROBED))
        with within(hosts.outside):
            self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.taker.settimeout(PROBES)

    def run(self):
        while not self.over.wait(PROBES):
            with contextlib.suppress(OSError):
                self.sender.sendto(str(time.monotonic_ns()).encode(), (WEB, PROBED))
            with contextlib.suppress(OSError):
                while True:
                    sent = int(self.taker.recv(64))
                    self.taken.append((time.monotonic_ns() - sent) / 1e6)

    def take_times(self):
        """-> (median, worst) milliseconds of the frames since it was asked last."""
        taken, self.taken = self.taken or [0.0], []
        return statistics.median(taken), max(taken)


class Soak:
    """`begun`: before any frame was sent, from when promises are counted."""

    def __init__(self, target, dice, begun):
        self.target, self.box, self.dice, self.begun = target, target.box, dice, begun
        self.outcome, self.kills, self.steps, self.rows = Outcome(), 0, 0, []

    def is_operated(self):
        """One thing that an operator does; False: it was refused."""
        dice, folder = self.dice, self.box.folder
        key = f"10.{dice.randrange(100, 200)}.1.1"
        calls = (["apply", "--force", str(self.rules_file())], ["key", "ban", "clients", key, "--for", "5s"],
                 ["key", "set", "clients", key, "--rate", "5/s", "--burst", "9"], ["key", "unset", "clients", key],
                 ["trace", "--for", "500ms"], ["capture", "--for", "500ms", "-w", str(folder / "soak.pcapng")],
                 ["keys", "--rule", "clients"], ["top"], ["stats"], ["bans"], ["health"])
        call = dice.choice(calls)
        for _ in range(ASKS):
            done = self.box.ctl(*call)
            if "ask again" not in done.stderr:  # rules that are new since a page of keys
                break
        # What was never set cannot be taken back.
        return done.returncode == 0 or call[1] == "unset" or self.outcome.expect(
            False, f"sluicectl {' '.join(call)}: {done.stderr.strip()[-200:]}")

    def rules_file(self):
        path = self.box.folder / "soak.yaml"
        more = "".join(f"  - {{id: other-{number}, mode: monitor, when: ip.dst eq 10.80.0.{number}, key: [ip.src], "
                       f"limits: [{{algorithm: token_bucket, rate: 5/s, burst: 5}}]}}\n"
                       for number in range(self.dice.randrange(12)))
        path.write_text(SOAK_RULES.replace("services:\n", more + "services:\n"))
        return path

    def kill_one(self):
        victim = self.dice.choice(("dataplane", "sluiced"))
        self.box.kill(getattr(self.box, victim))
        if victim == "dataplane":
            self.target.start_dataplane()
            self.box.wait_for_link(True)
        else:
            self.box.start_sluiced()
        self.kills += 1
        return self.target.carries()

    def step(self, kills_due):
        self.steps += 1
        self.outcome.attempts += 1
        self.outcome.survived += self.kill_one() if kills_due else self.is_operated()

    def promised(self, rate, burst):
        return burst + rate * (time.monotonic() - self.begun) + 1

    def line(self, probes, pages, server, is_settled):
        """Prints what is; keeps it as usual while it has not settled, compares it afterwards."""
        places = sum(rule.get("keys", 0) for rule in self.box.stats()["rules"])
        usual, worst = probes.take_times()
        now = figures_of(self.box.dataplane) + figures_of(self.box.sluiced) + [places, round(usual, 1)]
        most, served = self.target.most_of_a_source(RATED), len(server.seen)
        limited = self.target.most_of_a_source(LIMITED)
        print(f"{time.monotonic() - self.begun:6.0f} s  "
              + ", ".join(f"{figure.name} {value}" for figure, value in zip(FIGURES, now))
              + f", worst {worst:.1f} ms, limited {limited} of {BURST}, rated {most} of "
              f"{self.promised(RATED_RATE, BURST):.0f}, pages {served} of {self.promised(PAGE_RATE, PAGE_BURST):.0f}, "
              f"{pages.failed} pages failed, {self.steps} steps, {self.kills} kills", flush=True)
        self.outcome.expect(limited <= BURST, f"{limited} frames of one source, {BURST} promised")
        self.outcome.expect(most <= self.promised(RATED_RATE, BURST), f"{most} frames of one source of a rate")
        self.outcome.expect(served <= self.promised(PAGE_RATE, PAGE_BURST), f"{served} pages served")
        if is_settled:
            self.outcome.broken += grown(self.rows, now)
        else:
            self.rows.append(now)


@contextlib.contextmanager
def traffic(target, dice):
    """-> (probes, pages, the server of pages); new clients come beside them."""
    server, probes, pages = WebServer(target.hosts.inside, WEB), Probes(target.hosts), Pages(target.hosts)
    sender = subprocess.Popen(
        ["ip", "netns", "exec", target.hosts.outside, sys.executable, NEW_CLIENTS, str(dice.getrandbits(32)), str(FRAMES)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(SMOKE)})
    try:
        assert sender.stdout.readline() == "ready\n"
        probes.start()
        pages.start()
        yield probes, pages, server
    finally:
        for thread in (probes, pages):
            thread.over.set()
        sender.kill()
        sender.communicate()
        server.close()


def run(programs, deadline, dice):
    begun = time.monotonic()
    lines = max(LEAST_LINES, round((deadline - begun) / LINE_SECONDS))
    every = (deadline - begun) / lines
    target = Target(programs, SOAK_RULES, hosts=RATED + 1)
    target.config = {"memory": {"tables": {"keys": KEYS, "snapshot": {"file": target.box.folder / "snapshot", "every": "10s"}}}}
    with target, traffic(target, dice) as (probes, pages, server):
        soak = Soak(target, dice, begun)
        next_kill = begun + dice.expovariate(1 / min(KILL_SECONDS, every))
        for number in range(1, lines + 1):
            while time.monotonic() < begun + number * every and not soak.outcome.broken:
                time.sleep(dice.uniform(0, 1))
                is_due = time.monotonic() > next_kill
                if is_due:
                    next_kill = time.monotonic() + dice.expovariate(1 / min(KILL_SECONDS, every))
                soak.step(is_due)
            soak.line(probes, pages, server, number * SETTLED > lines)
            if soak.outcome.broken:
                break
        target.expect_the_bound(soak.outcome)
        assert len({source for source, host in target.flood.came() if host == RATED}) == SOURCES
    return soak.outcome
