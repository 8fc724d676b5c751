"""Parts of a run side by side: each in a process of its own, as many at once as have time for their clients."""
import ctypes
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "smoke"))
from stop_signals import stop_on_signals  # noqa: E402

AT_ONCE = 6  # a box, its servers and its clients each, which wait more than they work
SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
OF_FORK = multiprocessing.get_context("fork")
ROOM = OF_FORK.BoundedSemaphore(AT_ONCE)


class Apart:
    """A call in such a process, whose lines are shown at its end. It gives words: what did not hold. `name`: for people."""

    def __init__(self, name, call, *arguments):
        self.name = name
        self.out, (self.found, end) = tempfile.TemporaryFile(), OF_FORK.Pipe(duplex=False)
        self.process = OF_FORK.Process(target=self.run, args=(call, arguments, end))
        self.process.start()
        end.close()

    def run(self, call, arguments, end):
        for number in (1, 2):
            os.dup2(self.out.fileno(), number)
        stop_on_signals()
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGTERM)  # who waits for it may be killed, and leaves nothing behind
        with ROOM:
            begin = time.monotonic()
            end.send(call(*arguments))
            print(f"{self.name}: {time.monotonic() - begin:.0f} s", flush=True)

    def end(self):
        try:
            found = self.found.recv()
        except EOFError:
            found = ["a part has failed, as its lines say"]
        self.process.join()
        print(f"-- {self.name}")
        self.out.seek(0)
        print(self.out.read().decode(errors="replace"), end="", flush=True)
        return found

    def stop(self):
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()
        self.found.close()
        self.out.close()
