"""A flood and a TCP transfer through a dataplane that is killed again and again, and stopped for ten seconds.

    kernel_kills_test.py DATAPLANE SLUICED SLUICECTL

SLUICE_TEST_KILLS=N: how often it is killed; 20 without.
"""
import os
import signal
import subprocess
import sys
import time

from box_case import main
from host_flood import Flow, HostFlood
from kernel_case import FEW_BUFFERS, KernelCase
from programs import wait_until

KILLS = int(os.environ.get("SLUICE_TEST_KILLS", "20"))
HEARTBEAT = "100ms"
RULES = """version: 1
rules:
  - {id: all, mode: monitor, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1000000/s, burst: 1000000}]}
"""
FLOW = Flow(sources=1, hosts=1, rate=1000)
# Takes what comes over one connection, and says how many bytes that were.
_SINK = """
import socket, sys
server = socket.create_server(("10.78.0.2", 5201))
print("ready", flush=True)
peer, _ = server.accept()
total = 0
while piece := peer.recv(65536):
    total += len(piece)
print(total)
"""
# Sends until its input ends; then says how many bytes it has sent. A line of input: how many so far.
_SOURCE = """
import select, socket, sys
out = socket.create_connection(("10.78.0.2", 5201), timeout=60)
print("ready", flush=True)
sent = 0
while True:
    if select.select([sys.stdin], [], [], 0)[0]:
        if not sys.stdin.readline():
            break
        print(sent, flush=True)
    sent += out.send(bytes(16384))
    select.select([], [], [], 0.002)
out.shutdown(socket.SHUT_WR)
print(sent)
"""


class Transfer:
    """One TCP connection from the outside to the inside."""

    def __init__(self, hosts):
        self.sink = self._start(hosts.inside, _SINK)
        self.source = self._start(hosts.outside, _SOURCE)

    @staticmethod
    def _start(netns, program):
        process = subprocess.Popen(["ip", "netns", "exec", netns, sys.executable, "-c", program],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n", "no connection"
        return process

    def sent(self):
        self.source.stdin.write("\n")
        self.source.stdin.flush()
        return int(self.source.stdout.readline())

    def end(self):
        """Bytes sent, bytes that came."""
        sent, _ = self.source.communicate(timeout=60)
        came, _ = self.sink.communicate(timeout=60)
        return int(sent), int(came)

    def kill(self):
        for process in (self.source, self.sink):
            if process.poll() is None:
                process.kill()
                process.communicate()


class Kills(KernelCase):
    def start_box(self):
        return self.start_kernel_box({"heartbeat": HEARTBEAT}, RULES, FEW_BUFFERS)

    def goes_on(self, transfer):
        before = transfer.sent()
        # More than the buffers of both ends hold: it has come through.
        wait_until("the transfer to go on", lambda: transfer.sent() >= before + (1 << 20))

    def came(self, flood):
        return flood.total()

    def expect_through(self, flood):
        came = self.came(flood)
        wait_until("the flood to go on", lambda: self.came(flood) >= came + 100)

    def test_neither_kills_nor_a_stop_break_what_goes_through(self):
        self.start_box()
        transfer = Transfer(self.hosts)
        self.addCleanup(transfer.kill)
        programs = set()
        with HostFlood(self.hosts, FLOW) as flood:
            for _ in range(KILLS):
                programs.add(self.kernel()["outside"]["program"])
                bridged, _ = self.pinned_counts()
                self.box.kill(self.box.dataplane)
                wait_until("the kernel to forward", lambda: self.pinned_counts()[0] >= bridged + 100)
                self.expect_through(flood)
                self.goes_on(transfer)
                self.start_box()
                self.expect_through(flood)
                self.goes_on(transfer)
            self.box.dataplane.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            while time.monotonic() < began + 10:
                self.expect_through(flood)
                self.goes_on(transfer)
            self.box.dataplane.send_signal(signal.SIGCONT)
            self.wait_for_box()
            self.goes_on(transfer)
            sent, came = flood.end(), None
            came = wait_until("the last of it", lambda: self.came(flood))
            lost = sent - came
            sent_bytes, came_bytes = transfer.end()
        self.assertEqual(sent_bytes, came_bytes)
        self.assertEqual(len(programs), KILLS, "each box brings its own program")
        print(f"{KILLS} kills and a stop: {lost} of {sent} packets lost, {lost / (KILLS + 1):.1f} ms of them each",
              flush=True)
        # A heartbeat, and what a busy machine adds to it, with what lay in rings.
        self.assertLess(lost, (KILLS + 1) * FLOW.rate)


if __name__ == "__main__":
    main()
