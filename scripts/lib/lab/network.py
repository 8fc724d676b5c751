"""Two hosts with the box between them, each in a network namespace of its own.

    outside (10.77.0.1) -- link -- box: sluice-dataplane -- link -- inside (10.77.0.2)

A link is a veth pair. The box's port opens the end of it that lies in the box's namespace, or makes a
tap there, which is bridged to that end. All names carry the lab's tag and go with close().
"""
import contextlib
import os
import pathlib
import time

from commands import LabError, call
import plan

NETNS_FOLDER = pathlib.Path("/run/netns")
RING = "framecnt=4096,framesz=2048"  # room for what arrives while the worker is off its core
DEVICES = {
    "af_packet": "net_af_packet{index},iface={port}," + RING,
    "af_xdp": "net_af_xdp{index},iface={port}",
    "tap": "net_tap{index},iface={port}",
}
OFFLOADS = ("rx", "tx", "tso", "gso", "gro", "sg")
TAP_SECONDS = 10


class Network:
    def __init__(self, tag, port_type):
        self.port_type = port_type
        self.box = f"sluice-{tag}-box"
        self.outside = f"sluice-{tag}-out"
        self.inside = f"sluice-{tag}-in"
        # The box's ports, and its ends of the links; 15 characters at most.
        self.ports = (f"slo{tag}", f"sli{tag}")
        self.ends = tuple(f"e{port}" for port in self.ports) if port_type == "tap" else self.ports
        self.made = []
        self.folders = FoldersOfOthers()

    def hosts(self):
        """Each host, the box's end of its link, its address."""
        return ((self.outside, self.ends[0], plan.OUTSIDE_ADDRESS),
                (self.inside, self.ends[1], plan.INSIDE_ADDRESS))

    def open(self):
        for name in (self.box, self.outside, self.inside):
            self.made.append(name)  # first the note, so that an interrupted add is undone too
            call("ip", "netns", "add", name)
            call("ip", "-n", name, "link", "set", "lo", "up")
        for host, end, address in self.hosts():
            call("ip", "-n", self.box, "link", "add", end, "type", "veth",
                 "peer", "name", "eth0", "netns", host)
            self.quiet(self.box, end)
            call("ip", "-n", self.box, "link", "set", end, "promisc", "on", "up")
            self.address(host, "eth0", address)
        if self.port_type == "af_xdp":
            call("ip", "-n", self.box, "address", "add", f"{plan.BOX_ADDRESS}/24", "dev", self.ends[0])

    def device(self, index):
        """What to give sluice-dataplane as its port 0 (outside) or 1 (inside)."""
        return DEVICES[self.port_type].format(index=index, port=self.ports[index])

    def attach(self):
        """Once the dataplane runs: each tap it made is bridged to its host's link. (Moved into the
        host's namespace itself, its state could no longer be read, and it would count as down.)"""
        if self.port_type != "tap":
            return
        for (_, end, _), port in zip(self.hosts(), self.ports):
            self.wait_for_link(port)
            self.quiet(self.box, port)
            bridge = f"br{port}"
            call("ip", "-n", self.box, "link", "add", bridge, "type", "bridge", "stp_state", "0",
                 "mcast_snooping", "0")
            self.quiet(self.box, bridge)
            for link in (port, end):
                call("ip", "-n", self.box, "link", "set", link, "master", bridge)
                call("ip", "-n", self.box, "link", "set", link, "up")
            call("ip", "-n", self.box, "link", "set", bridge, "up")

    def wait_for_link(self, port):
        deadline = time.monotonic() + TAP_SECONDS
        while not call("ip", "-n", self.box, "link", "show", port, check=False):
            if time.monotonic() > deadline:
                raise LabError(f"the dataplane did not make its tap {port}")
            time.sleep(0.05)

    def quiet(self, namespace, link):
        """No frame of the host's own, and frames as they are on a wire: no segmentation, no
        merging, no checksum left for a card to fill in."""
        self.run_in(namespace, "sh", "-c",
                    f"echo 1 >/proc/sys/net/ipv6/conf/{link}/disable_ipv6", check=False)
        for offload in OFFLOADS:
            self.run_in(namespace, "ethtool", "-K", link, offload, "off", check=False)

    def address(self, host, link, address):
        self.quiet(host, link)
        # TCP builds frames of many segments whatever the offloads say, and nftables would count
        # such a frame as one.
        call("ip", "-n", host, "link", "set", link, "gso_max_segs", "1")
        call("ip", "-n", host, "address", "add", f"{address}/24", "dev", link)
        call("ip", "-n", host, "link", "set", link, "up")

    def run_in(self, namespace, *command, check=True):
        return call(*self.prefix(namespace), *command, check=check)

    def prefix(self, namespace):
        return ("ip", "netns", "exec", namespace)

    def close(self):
        """What lived in them, links and taps, goes with the namespaces."""
        existing = set(os.listdir(NETNS_FOLDER)) if NETNS_FOLDER.exists() else set()
        for name in self.made:
            if name in existing:
                call("ip", "netns", "delete", name, check=False)
        self.folders.restore()


class FoldersOfOthers:
    """What `ip netns` (which mounts its folder on itself) and libxdp make under /run and leave
    there empty. Removed again if it was not there before and nobody else uses it by now."""
    FOLDERS = (NETNS_FOLDER, pathlib.Path("/run/xdp"))

    def __init__(self):
        self.absent = [folder for folder in self.FOLDERS if not folder.exists()]

    def restore(self):
        for folder in self.absent:
            if folder.exists() and not os.listdir(folder):
                if folder.is_mount():
                    call("umount", str(folder), check=False)
                with contextlib.suppress(OSError):
                    folder.rmdir()


def may_make_namespaces(tag):
    """Why not, or None."""
    if os.geteuid() != 0:
        return "not root"
    name, folders = f"sluice-{tag}-try", FoldersOfOthers()
    try:
        call("ip", "netns", "add", name)
        call("ip", "-n", name, "link", "set", "lo", "up")
    except (LabError, OSError) as error:
        return str(error)
    finally:
        if (NETNS_FOLDER / name).exists():
            call("ip", "netns", "delete", name, check=False)
        folders.restore()
    return None
