"""Traffic of all layers from clients that are new each time, sent until its input ends: run within a namespace.

    new_clients.py SEED FRAMES_PER_SECOND SERVER, with tests/smoke and tests/served in PYTHONPATH
"""
import random
import select
import socket
import sys
import time

import capture_files as frames
from dialogue_frames import ACK, SYN, Dialogue
from dns_test import message
from hellos import Client, crypto, quic_hello

AT_ONCE = 50
NAMES = 50
SERVER = sys.argv[3]


def address(dice):
    return f"10.{dice.randrange(100, 200)}.{dice.getrandbits(8)}.{dice.getrandbits(8)}"


def word(dice):
    return f"n{dice.getrandbits(24):x}"


def begun(dice, dport, data):
    """A connection whose server nobody has heard: SYN, and the client's first bytes."""
    one = Dialogue(address(dice), SERVER, (dice.randrange(1024, 65536), dport))
    one.first = dice.getrandbits(32), dice.getrandbits(32)
    return one.client(SYN, at=-1).client(ACK, data).sent


def datagram(dice, dport, data):
    header = frames.udp_header(dice.randrange(1024, 65536), dport, data)
    return frames.ethernet(frames.ipv4(address(dice), SERVER, 17, header), 0x0800)


def question(dice):
    return [datagram(dice, 53, message(f"{word(dice)}.example"))]


def quic(dice):
    """A hello in one Initial, or in two that come in either order."""
    client = Client(dice)
    hello = quic_hello(dice, f"host-{dice.randrange(NAMES)}.example".encode(), client.scid)
    cut = dice.choice((0, 0, dice.randrange(1, len(hello))))
    parts = [crypto(hello, 0, cut), crypto(hello, cut)] if cut else [crypto(hello)]
    dice.shuffle(parts)
    source = dice.getstate()
    sent = []
    for part in parts:
        dice.setstate(source)  # both from one address and port
        sent.append(datagram(dice, 443, client.initial(part)))
    return sent


def page(dice):
    head = f"GET /{word(dice)} HTTP/1.1\r\nHost: {word(dice)}.example\r\n\r\n".encode()
    return begun(dice, 80, head if dice.random() < 0.8 else head[:dice.randrange(1, len(head))])


def hello(dice, hellos=[]):  # pylint: disable=dangerous-default-value
    if not hellos:
        hellos += [frames.client_hello(f"host-{number}.example") for number in range(NAMES)]
    return begun(dice, 443, dice.choice(hellos))


def handshake(dice):
    return begun(dice, dice.randrange(1, 65536), b"")[:1]


def other(dice):
    return [dice.choice((frames.udp(address(dice), SERVER, dport=dice.randrange(65536), size=dice.randrange(28, 1400)),
                         frames.udp6(f"2001:db8::{dice.getrandbits(16):x}"), frames.icmp(address(dice)), frames.arp()))]


def main():
    dice, rate = random.Random(int(sys.argv[1])), int(sys.argv[2])
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind(("eth0", 0))
    print("ready", flush=True)
    begin, sent = time.monotonic(), 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(AT_ONCE):
            for frame in dice.choices((question, page, hello, quic, handshake, other), (3, 3, 1, 1, 2, 2))[0](dice):
                out.send(frame)
                sent += 1
        time.sleep(max(begin + sent / rate - time.monotonic(), 0))
    print(sent)


if __name__ == "__main__":
    main()
