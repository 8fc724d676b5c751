"""The two hosts at work: a TCP transfer as anyone may make, and a flood, at the same time."""
import json
import pathlib
import sys
import time

from box import pinned
from commands import LabError, Process
import plan

FLOOD = pathlib.Path(__file__).parent / "flood.py"
READY_SECONDS = 10
LEAD = 1.0  # seconds between starting the programs and their first packet
GRACE = 20


class Traffic:
    def __init__(self, network, folder):
        self.network, self.folder = network, folder
        self.processes = []

    def run(self, name, host, command):
        process = Process(pinned([*self.network.prefix(host), *command]), self.folder, name)
        self.processes.append(process)
        return process

    def listen(self):
        """The receiving host is ready, and the way through the box is."""
        server = self.run("iperf3-server", self.network.inside,
                          ["iperf3", "--server", "--forceflush", "--port", plan.TRANSFER_PORT])
        deadline = time.monotonic() + READY_SECONDS
        probe = f"import socket; socket.create_connection(({plan.INSIDE_ADDRESS!r}, " \
                f"{plan.TRANSFER_PORT}), 1).close()"
        while True:
            try:
                self.network.run_in(self.network.outside, sys.executable, "-c", probe)
                return
            except LabError:
                if not server.running():
                    server.complain("ended")
                if time.monotonic() > deadline:
                    raise LabError("no connection through the box: the receiving host cannot be "
                                   "reached from the sending one")
                time.sleep(0.2)

    def start(self, seconds):
        """Both begin at the same instant; returns it (CLOCK_MONOTONIC)."""
        begin = time.monotonic() + LEAD
        self.flood = self.run("flood", self.network.outside, [
            sys.executable, FLOOD, plan.INSIDE_ADDRESS, plan.FLOOD_PORT, plan.FLOOD_PPS,
            plan.FLOOD_PAYLOAD, begin, seconds])
        time.sleep(max(0.0, begin - time.monotonic()))
        self.transfer = self.run("iperf3-client", self.network.outside, [
            "iperf3", "--client", plan.INSIDE_ADDRESS, "--port", plan.TRANSFER_PORT, "--json",
            "--time", max(1, round(seconds)), "--bitrate", f"{plan.TRANSFER_MBIT}M",
            "--length", "16K", "--window", plan.TRANSFER_WINDOW])
        return begin

    def finish(self, seconds):
        """What the senders say of themselves: the flood's counts and the transfer's bits/s."""
        flood = json.loads(self.flood.wait(seconds + GRACE))
        transfer = json.loads(self.transfer.wait(GRACE))["end"]
        return flood, transfer["sum_received"]["bits_per_second"], transfer["sum_sent"].get(
            "retransmits", 0)

    def stop(self):
        for process in reversed(self.processes):
            process.stop()
