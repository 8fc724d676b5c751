"""A box with `kernel` between two hosts, over af_xdp: what the tests of its programs begin with."""
import json
import struct
import subprocess
import time

from box_case import HostsCase
from programs import ip, wait_until

# Far above what a worker waits for its core on a busy machine: no beat is late that is not held back here.
HEARTBEAT = "2s"
# Enough for the rings of two af_xdp ports and what is on its way between them.
FEW_BUFFERS = {"memory": {"mbufs": 12288}}
BEAT_AT = 8
COUNTS_AT = (64, 128)  # in the map of a pair: of the outside, of the inside


def bpftool(*arguments):
    return json.loads(subprocess.run(["bpftool", "-j", *arguments], check=True, capture_output=True, text=True,
                                     timeout=60).stdout)


def pair_state(pins, pair="lab"):
    """What the programs of a pair share with its box (dataplane/xdp/pair_state.h)."""
    state, = pins.glob(f"sluice/*/{pair}/state")
    return bytes(int(byte, 16) for byte in bpftool("map", "dump", "pinned", str(state))[0]["value"])


def kernels_counts(pins, side=0):
    """Bridged and dropped packets, without a box."""
    bridged, _, dropped, _ = struct.unpack_from("4Q", pair_state(pins), COUNTS_AT[side])
    return bridged, dropped


class KernelCase(HostsCase):
    def setUp(self):
        super().setUp()
        for host in (self.hosts.outside, self.hosts.inside):
            self.take_redirected(host)
        # `ip netns exec` hides /sys of before: pins lie where all of a test's processes see them.
        self.pins = self.box.folder / "bpf"
        self.pins.mkdir()
        subprocess.run(["mount", "-t", "bpf", "bpf", str(self.pins)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.pins)])
        self.kernels_own = set(self.pins.iterdir())  # that it makes in every such mount

    @staticmethod
    def take_redirected(host):
        """A frame that XDP forwards into a veth is taken at the other end by NAPI, which GRO brings along."""
        ip("netns", "exec", host, "ethtool", "-K", "eth0", "gro", "on")

    def start_kernel_box(self, kernel, rules, config=None, **options):
        kernel = {"heartbeat": HEARTBEAT, "pins": str(self.pins), **kernel}
        process = self.start_between("af_xdp", {"kernel": kernel, **(config or {})}, **options)
        if options.get("wait", True):
            if self.box.sluiced is None:
                self.box.start_sluiced()
                self.apply(rules)
            self.box.wait_for_link(True)
            self.wait_for_box()
        return process

    def wait_for_box(self):
        wait_until("the box to decide", self.box_decides)

    def box_decides(self):
        status, text = self.box.api("GET", "/v1/ports")  # refused until sluiced has noticed that the box is another
        return status == 200 and not any(port["kernel"] is None or port["kernel"]["takes_over"]
                                         for port in json.loads(text)["ports"])

    def kernel(self):
        return {side: port["kernel"] for side, port in self.box.ports().items()}

    def pinned_counts(self, side=0):
        return kernels_counts(self.pins, side)

    def beat_age(self):
        """Seconds."""
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - struct.unpack_from("Q", pair_state(self.pins), BEAT_AT)[0]) / 1e9

    def rule(self, name):
        rule, = (rule for rule in self.box.stats()["rules"] if rule["id"] == name)
        return rule
