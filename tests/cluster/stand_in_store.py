"""sluice-store and its store, played by a test: speaks the messages of store.sock to several dataplanes, and keeps levels
of buckets for all of them. It can lie, which the real one is not made to.

lib/wire/store_messages.hpp has the messages; a frame is its length in 32 bits, and then one byte that names it.
"""
import dataclasses
import random
import selectors
import socket
import struct
import threading
import time

from store_link_version import VERSION

HEAD = struct.Struct("<I")
BATCH = struct.Struct("<HQI")
ENTRY = struct.Struct("<QBBQQQQQqBQ")
REPLY = struct.Struct("<HQBQQQI")
LEVEL = struct.Struct("<QQqBBBQ")
HELLO, SAID_BATCH, SAID_CLOCKS = 0, 1, 2
SAID_REPLY, REPORT = 0, 1
APPLIED, GAP, FENCED = range(3)
AWAY, REFUSED, IS_FENCED, READY = range(4)
PARTITIONS = 64
ADD, DECLARE = range(2)


@dataclasses.dataclass
class Batch:
    partition: int
    seq: int
    entries: list  # as ENTRY has them


def text(data, at):
    size = HEAD.unpack_from(data, at)[0]
    begin = at + HEAD.size
    return data[begin:begin + size].decode(), begin + size


def read_request(data):
    """(hello, None), (None, Batch), or twice None of clocks, of which this store has none"""
    if data[0] == SAID_CLOCKS:
        return None, None
    if data[0] == SAID_BATCH:
        partition, seq, count = BATCH.unpack_from(data, 1)
        return None, Batch(partition, seq, [ENTRY.unpack_from(data, 1 + BATCH.size + number * ENTRY.size) for number in range(count)])
    cluster, at = text(data, 5)
    node, at = text(data, at)
    size, life, durability, secret = struct.unpack_from("<HQBQ", data, at)
    return {"cluster": cluster, "node": node, "size": size, "life": life, "durability": durability, "secret": secret}, None


def framed(payload):
    return HEAD.pack(len(payload)) + payload


def hello_bytes(node, life, cluster="test", size=3):
    words = [part for word in (cluster, node) for part in (HEAD.pack(len(word)), word.encode())]
    return framed(bytes([HELLO]) + HEAD.pack(VERSION) + b"".join(words) + struct.pack("<HQBQ", size, life, 0, 0))


def batch_bytes(batch):
    return framed(bytes([SAID_BATCH]) + BATCH.pack(batch.partition, batch.seq, len(batch.entries))
                  + b"".join(ENTRY.pack(*entry) for entry in batch.entries))


def reply(batch, outcome, last, now_us, born, levels):
    return framed(bytes([SAID_REPLY]) + REPLY.pack(batch.partition, batch.seq, outcome, last, now_us, born, len(levels))
                  + b"".join(LEVEL.pack(current, 0, 0, 0, 0, 0, 0) for current in levels))


def report(state, why="", slot=0, rtt_us=100):
    words = why.encode()
    return framed(bytes([REPORT, state]) + HEAD.pack(len(words)) + words + struct.pack("<HHQqQ", slot, PARTITIONS, rtt_us, 0, 0))


class Levels:
    """What is kept of keys and batches: buckets alone, in exact fractions of a unit."""

    def __init__(self):
        self.dice = random.Random(1)
        self.begin_anew()

    def begin_anew(self):
        """As a store that has lost everything."""
        self.born = self.dice.randrange(1, 2**63)
        self.last, self.levels = {}, {}
        self.batches = self.entries = 0

    def sync(self, box, batch, now_us):
        """-> outcome, last, levels"""
        last = self.last.get((box, batch.partition), 0)
        if batch.seq > last + 1:
            return GAP, last, []
        applies = batch.seq == last + 1
        self.last[box, batch.partition] = max(last, batch.seq)
        self.batches += 1
        self.entries += len(batch.entries)
        return APPLIED, max(last, batch.seq), [self.level(entry, now_us, applies) for entry in batch.entries]

    def level(self, entry, now_us, applies):
        digest, step, kind, units, period_ns, parts, *_ = entry
        owed, at = self.levels.get((digest, step), (0.0, now_us))
        owed = max(0.0, owed - (now_us - at) * 1000 * parts / period_ns)
        if applies:
            owed = owed + units if kind == ADD else max(owed, units)
        self.levels[digest, step] = owed, now_us
        return int(owed) + (owed % 1 > 0)


class StandInStore:
    """Connects to the store.sock of each box, and again when one is made anew. `silent`: hears and says nothing;
    `lie(batch, levels)`: the levels that are told instead."""

    def __init__(self, sockets):
        self.sockets = list(sockets)
        self.kept = Levels()
        self.silent, self.lie = set(), lambda batch, levels: levels
        self.hellos, self.babbled = {}, {}
        self.ended = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def babble(self, box, data):
        """Bytes that are no message, as soon as the box says something."""
        self.babbled[box] = data

    def close(self):
        self.ended = True
        self.thread.join(10)

    def run(self):
        selector, links = selectors.DefaultSelector(), {}
        reported = 0.0
        while not self.ended:
            for box, path in enumerate(self.sockets):
                if box not in links:
                    self.connect(box, path, links, selector)
            for key, _ in selector.select(0.05):
                if key.data not in self.silent:
                    self.serve(key.data, links, selector)
            if time.monotonic() - reported > 1:
                reported = time.monotonic()
                for box in [box for box in links if box not in self.silent]:
                    self.say(box, links, selector, report(READY, slot=box))
        for link, _ in links.values():
            link.close()

    def connect(self, box, path, links, selector):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if link.connect_ex(str(path)) != 0:
            link.close()
            return
        link.settimeout(5)
        links[box] = link, bytearray()
        selector.register(link, selectors.EVENT_READ, box)
        self.say(box, links, selector, report(READY, slot=box))

    @staticmethod
    def drop(box, links, selector):
        link, _ = links.pop(box)
        selector.unregister(link)
        link.close()

    def say(self, box, links, selector, data):
        try:
            links[box][0].sendall(data)
        except OSError:
            self.drop(box, links, selector)

    def serve(self, box, links, selector):
        link, held = links[box]
        try:
            data = link.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.drop(box, links, selector)
            return
        if box in self.babbled:
            self.say(box, links, selector, self.babbled.pop(box))
            if box not in links:
                return
        held += data
        while len(held) >= HEAD.size and len(held) >= HEAD.size + (size := HEAD.unpack_from(held)[0]):
            payload = bytes(held[HEAD.size:HEAD.size + size])
            del held[:HEAD.size + size]
            hello, batch = read_request(payload)
            if hello is not None:
                self.hello(box, hello)
            if batch is None:
                continue
            now_us = time.time_ns() // 1000
            outcome, last, levels = self.kept.sync(box, batch, now_us)
            self.say(box, links, selector, reply(batch, outcome, last, now_us, self.kept.born, self.lie(batch, levels)))
            if box not in links:
                return

    def hello(self, box, hello):
        """Another life of the dataplane numbers its batches from 1 on."""
        former = self.hellos.get(box)
        if former is None or former["life"] != hello["life"]:
            self.kept.last = {key: last for key, last in self.kept.last.items() if key[0] != box}
        self.hellos[box] = hello
