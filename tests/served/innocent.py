"""Honest clients beside blind senders, and over a bad path: nobody is refused, nobody ended."""
import random
import socket
import threading
import time

import wire
from http_hosts import within
from programs import wait_until
import rule_files
from wire import ACK, FIN, PSH, RST, SYN, Headers

ADDRESS = "10.78.0.1"  # of the honest clients
VICTIMS = 20
FORGED = 10_000
PACE = 200  # forged segments between pauses
PATIENCE = 30
PAGE = b"GET /page HTTP/1.1\r\nHost: a.example\r\n\r\n"
FORGED_LOGIN = b"GET /login HTTP/1.1\r\nHost: a.example\r\n\r\n"
FORGED_DATA = (FORGED_LOGIN, FORGED_LOGIN[:20], FORGED_LOGIN[20:], b"GET ", b"x", b"\r\n\r\n", b"POST /login HTTP/1.1\r\nHost: a\r\n"
               b"Content-Length: 100000\r\n\r\n")


def http_answer(read):
    """The status and size of the next answer of a buffered reader; None at an end."""
    line = read.readline()
    if not line.startswith(b"HTTP/1.1 "):
        return None
    size, is_chunked = 0, False
    while (header := read.readline()) not in (b"\r\n", b""):
        name, value = header.lower().split(b":", 1)
        size = int(value) if name == b"content-length" else size
        is_chunked |= name == b"transfer-encoding"
    if not is_chunked:
        return int(line.split()[1]), len(read.read(size))
    total = 0
    while part := int(read.readline(), 16):
        total += part
        read.read(part + 2)
    read.readline()
    return int(line.split()[1]), total


class Victim(threading.Thread):
    """One connection that asks for pages until it is told to end; `failure`: in words, if it was refused or ended."""

    def __init__(self, namespace, server, stop, connected):
        super().__init__(daemon=True)
        self.stop, self.connected, self.failure, self.pages = stop, connected, "", 0
        with within(namespace):
            self.socket = socket.create_connection((server, 80), PATIENCE)
        self.port = self.socket.getsockname()[1]

    def run(self):
        with self.socket, self.socket.makefile("rb") as read:
            try:
                while not self.stop.is_set():
                    self.socket.sendall(PAGE)
                    answer = http_answer(read)
                    if not answer or answer[0] != 200:
                        raise OSError(f"answered {answer}")
                    self.pages += 1
                    self.stop.wait(0.1)
            except (OSError, ValueError) as error:
                self.failure = f"{type(error).__name__}: {error} after {self.pages} pages"


def forged(dice, ports):
    """Headers and payload of a blind sender: right ends, numbers at random."""
    flags = dice.choice((SYN, RST, RST | ACK, FIN | ACK, PSH | ACK, PSH | ACK, ACK, SYN | ACK, 0, PSH))
    data = dice.choice(FORGED_DATA) if flags & PSH else b""
    return dice.choice(ports), Headers(dice.getrandbits(32), dice.getrandbits(32), flags), data


def send_forged(court, server, ports, dice, count):
    source, target = wire.packed(ADDRESS), court.servers[server].target
    for number in range(count):
        port, headers, data = forged(dice, ports)
        for packet in wire.packets(source, target, port, 80, headers, data, number & 0xFFFF):
            court.link.send(packet)
        if number % PACE == 0:
            time.sleep(0.01)


def beside_blind_senders(court, server, seed, rules, count=FORGED):
    """What did not hold, in words. `rules` come when the connections stand already, or stand before them."""
    out = []
    # What the first login has used is still used when its rule comes again: the second one has a rule of its own.
    of_before = rules.replace("id: logins,", "id: logins-from-before,")
    for known in (True, False):
        court.apply(rules if known else rule_files.WITHOUT)
        out += beside_forged(court, server, f"{seed} {known}", None if known else of_before, count)
        out += one_login(court, server, "" if known else ", whose connections are from before")
    return out


def beside_forged(court, server, seed, rules, count):
    stop, connected = threading.Event(), threading.Event()
    address = court.servers[server].address
    victims = [Victim(court.hosts.outside, address, stop, connected) for _ in range(VICTIMS)]
    for victim in victims:
        victim.start()
    if rules:
        wait_until("a page of each", lambda: all(victim.pages or victim.failure for victim in victims))
        court.apply(rules)
    send_forged(court, server, [victim.port for victim in victims], random.Random(f"forged {seed}"), count)
    time.sleep(0.5)  # after the last of them each asks for a page or more
    stop.set()
    for victim in victims:
        victim.join(2 * PATIENCE)
    out = [f"victim of blind senders: {victim.failure}" for victim in victims if victim.failure]
    print(f"{count} forged segments beside {VICTIMS} connections to {server}{' from before' if rules else ''}: "
          f"{sum(victim.pages for victim in victims)} pages, "
          f"{len(out)} ended", flush=True)
    if not all(victim.pages for victim in victims):
        out.append("a victim had no page at all")
    return out


def one_login(court, server, whose):
    """Whether the honest client's own login, its first, is answered: what others forged in its name is not charged."""
    with within(court.hosts.outside):
        client = socket.create_connection((court.servers[server].address, 80), PATIENCE)
    client.settimeout(PATIENCE)
    with client, client.makefile("rb") as read:
        client.sendall(FORGED_LOGIN)
        try:
            answer = http_answer(read)
        except OSError:
            answer = None
    return [] if answer and answer[0] == 200 else [f"the honest client's first login was refused{whose}: {answer}"]
