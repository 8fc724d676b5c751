"""Clients of both sockets say nothing, trickle, or send what is no request; health and panic answer meanwhile."""
import socket
import time

from target import Outcome, Target

ANSWER_SECONDS = 5  # for what answers within one on an idle machine


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(1)
    try:
        client.connect(path)
    except OSError:
        client.close()
        return None
    return client


def say(client, data):
    try:
        client.sendall(data)
    except OSError:
        pass


def noise(dice):
    """What no client sends: a length beyond all bounds, half a request, random bytes."""
    return dice.choice((
        lambda: (2**32 - 1).to_bytes(4, "little") + dice.randbytes(64),
        lambda: b"GET /v1/rules HTTP/1.1\r\nHost: x\r\n",
        lambda: b"PUT /v1/rules HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + dice.randbytes(256),
        lambda: dice.randbytes(dice.randrange(1, 4096))))()


def answers_in_time(box):
    begin = time.monotonic()
    return box.ctl("health").returncode == 0 and time.monotonic() - begin < ANSWER_SECONDS


def attempt(box, dice):
    clients = [connect(path) for path in (box.api_socket, box.dataplane_socket) for _ in range(dice.randrange(8, 100))]
    clients = [client for client in clients if client is not None]
    for client in clients:
        if dice.random() < 0.7:
            say(client, noise(dice))
    for _ in range(5):
        for client in clients:
            say(client, b"x")
    in_time = answers_in_time(box)
    for client in clients:
        client.close()
    return in_time


def run(programs, deadline, dice):
    outcome = Outcome()
    with Target(programs) as target:
        while time.monotonic() < deadline:
            outcome.attempts += 1
            outcome.survived += attempt(target.box, dice)
        outcome.expect(target.carries(), "no frame comes through")
        outcome.expect(target.box.ctl("panic", "pass").returncode == 0, "panic is refused")
        outcome.expect(target.box.ctl("panic", "resume").returncode == 0, "panic does not end")
    return outcome
