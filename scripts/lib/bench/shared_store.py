"""D4: keys a second of the store's function in batches of 128 on one redis-server, beside INCR by redis-benchmark -P 16 on
the same one. What is sent is made beforehand, and replies are counted, not read."""
import contextlib
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time

import rows

FUNCTION = pathlib.Path(__file__).resolve().parents[3] / "control/store/sl1.lua"
KEYS_OF_BATCH, PARTITIONS, BATCHES = 128, 64, 12  # a batch of each partition is under way
KEYS_OF_PARTITION = 1 << 12
HEAD_LINES, LINES_OF_WINDOW = 6, 4
BAR, GOAL = 0.5, 1.0


def command(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


@contextlib.contextmanager
def redis_server():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/socket"
        with subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
                               "--dir", folder, "--logfile", "log"]) as process:
            try:
                yield connected(path), path
            finally:
                process.send_signal(signal.SIGKILL)


def connected(path):
    end = time.monotonic() + 10
    while True:
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.connect(path)
            break
        except OSError as problem:
            if time.monotonic() > end:
                raise rows.BenchError(f"redis-server does not start: {problem}") from problem
            time.sleep(0.01)
    stream.sendall(command("FUNCTION", "LOAD", "REPLACE", FUNCTION.read_bytes()))
    loaded = stream.recv(1 << 16)
    if not loaded.startswith(b"$3"):
        raise rows.BenchError(f"the store does not take the function: {loaded.decode()}")
    return stream


class Course:
    """Batches over all partitions, numbered on and on."""

    def __init__(self, stream, windows):
        self.stream, self.windows, self.seq = stream, windows, 0
        source = random.Random(1)
        self.batches = [b"".join(self.entry(source) for _ in range(KEYS_OF_BATCH)) for _ in range(BATCHES * PARTITIONS)]
        self.terms = struct.pack("<ddB", 60e6, 0, 2) if windows else struct.pack("<ddB", 1e9, 1000, 0)
        stream.sendall(command("FLUSHALL"))
        stream.recv(1 << 16)
        self.run()  # every key is there before it is measured

    def entry(self, source):
        key = struct.pack("<QB", source.randrange(KEYS_OF_PARTITION), 0)
        if self.windows:
            return key + struct.pack("<BBdd", 2, 0, 3, time.time() // 60)
        return key + struct.pack("<BBd", 0, 0, 3)

    def run(self):
        """-> keys a second"""
        began = time.monotonic()
        lines = PARTITIONS * (HEAD_LINES + KEYS_OF_BATCH * (LINES_OF_WINDOW if self.windows else 1))
        for at in range(0, len(self.batches), PARTITIONS):
            self.seq += 1
            head = struct.pack("<HHBddddd", 1, 0, 0, 1, self.seq, 0, 0, 1)
            self.stream.sendall(b"".join(
                command("FCALL", "sl1_sync", 1, f"sluice:{{bench:{number:02}}}", head, self.terms, self.batches[at + number])
                for number in range(PARTITIONS)))
            self.count(lines)
        return KEYS_OF_BATCH * len(self.batches) / (time.monotonic() - began)

    def count(self, lines):
        while lines > 0:
            got = self.stream.recv(1 << 20)
            if not got or got.startswith(b"-"):
                raise rows.BenchError(f"the store answers {got[:200]!r}")
            lines -= got.count(b"\n")


def increments(path):
    """-> INCRs a second"""
    done = subprocess.run(["redis-benchmark", "-s", path, "-P", "16", "-n", "400000", "-q", "-t", "incr"],
                          capture_output=True, text=True, check=True)
    return float(re.findall(r"([\d.]+) requests per second", done.stdout)[-1])


def keys_beside_increments(bench, _):
    for name, windows in (("buckets", False), ("windows that count twice", True)):
        with redis_server() as (stream, path):
            course = Course(stream, windows)
            medians = rows.interleaved([("sl1_sync", course.run),
                                        ("redis-benchmark -P 16 incr", lambda path=path: increments(path))],
                                       bench.effort.rounds)
        yield rows.compared("D4", f"{name}, batches of {KEYS_OF_BATCH}", medians, "keys/s", (BAR, GOAL))


BENCHES = {"D4": keys_beside_increments}
TARGETS = {"D4": ["control/store/sluice-store"]}
