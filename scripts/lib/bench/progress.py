"""How far a run of benchmarks is: one line of a terminal below what the run says, and nothing where standard error is
no terminal."""
import contextlib
import os
import sys
import threading
import time

CLEAR = "\r\033[K"
FIRST_SECONDS, PAUSE_SECONDS = 1, 0.5

_shown = None


def expected_rows(ids, results):
    """How many rows the ids had when they were last measured; an id that never was counts as one."""
    return sum(len(results.get(name, {}).get("rows", ())) or 1 for name in ids)


def text(ids, done, whole, seconds):
    """Ids that are measured now, rows that are done and that are expected, seconds since the begin."""
    line = f"{', '.join(ids)}: row {done + 1} of about {max(whole, done + 1)}, {seconds:.0f} s"
    return line + (f", about {seconds * max(whole - done, 1) / done:.0f} s left" if done else "")


class Progress:
    """As a context: the line is there within it, and gone behind it."""

    def __init__(self, whole, stream=None):
        self.stream = stream or sys.stderr
        self.whole, self.done, self.ids = whole, 0, ()
        self.begun = time.monotonic()
        self.lock = threading.RLock()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        global _shown
        if self.stream.isatty():
            _shown = self
            self.thread.start()
        return self

    def __exit__(self, *_):
        global _shown
        _shown = None
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()
            self.write(CLEAR)

    def now(self, ids):
        """What is measured from here on."""
        self.ids = ids

    def add_row(self):
        self.done += 1

    def write(self, what):
        with self.lock:
            self.stream.write(what)
            self.stream.flush()

    def run(self):
        pause = FIRST_SECONDS
        while not self.over.wait(pause):
            line = text(self.ids, self.done, self.whole, time.monotonic() - self.begun)
            self.write(CLEAR + line[:(os.get_terminal_size(self.stream.fileno()).columns or 80) - 1])
            pause = PAUSE_SECONDS


@contextlib.contextmanager
def aside():
    """The line is away within it: something else is written to the terminal."""
    if _shown is None:
        yield
        return
    with _shown.lock:
        _shown.write(CLEAR)
        yield
