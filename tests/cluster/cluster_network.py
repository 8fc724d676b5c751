"""Several boxes, each between two hosts of its own, and a place for the store that each box reaches by a link of its own.

    outside N -- o [box N] i -- inside N
                     s
                     | 10.77.N.2 - 10.77.N.1
                   [store, 10.77.255.1]

What is in a box's namespace beside its two ports is its host side: sluiced and sluice-store live there. All are network
namespaces whose names end with the process that made them, and go with close().
"""
import subprocess

from http_hosts import within
from programs import Hosts, ip

STORE_ADDRESS = "10.77.255.1"


class BoxHosts(Hosts):
    """The two hosts and the box of one number."""

    def __init__(self, number):
        super().__init__()
        self.number = number
        self.box, self.outside, self.inside = (f"{name}{number}" for name in (self.box, self.outside, self.inside))


class ClusterNetwork:
    def __init__(self, count):
        self.hosts = [BoxHosts(number) for number in range(count)]
        self.store = self.hosts[0].box.removesuffix("-box0") + "-store"
        self.made = False

    def open(self):
        self.made = True
        ip("netns", "add", self.store)
        ip("-n", self.store, "link", "set", "lo", "up")
        ip("-n", self.store, "address", "add", f"{STORE_ADDRESS}/32", "dev", "lo")
        for hosts in self.hosts:
            hosts.open()
            self.connect_store(hosts)

    def connect_store(self, hosts):
        number = hosts.number
        ip("-n", hosts.box, "link", "set", "lo", "up")
        ip("-n", hosts.box, "link", "add", "s", "type", "veth", "peer", "name", f"b{number}", "netns", self.store)
        for namespace, link, end in ((hosts.box, "s", 2), (self.store, f"b{number}", 1)):
            ip("-n", namespace, "address", "add", f"10.77.{number}.{end}/24", "dev", link)
            ip("-n", namespace, "link", "set", link, "up")
        ip("-n", hosts.box, "route", "add", f"{STORE_ADDRESS}/32", "via", f"10.77.{number}.1")

    def proxy_address(self, number):
        """Where a proxy between that box and the store may listen, in the store's namespace."""
        return f"10.77.{number}.1"

    def nft(self, *words):
        ip("netns", "exec", self.store, "nft", *words)

    def cut_off(self, *numbers):
        """Nothing passes between these boxes and the store, and nobody is told. heal() ends it."""
        links = ", ".join(f'"b{number}"' for number in numbers)
        self.nft(f"add table inet cut; add chain inet cut in {{ type filter hook input priority 0; }}; "
                 f"add chain inet cut out {{ type filter hook output priority 0; }}; "
                 f"add rule inet cut in iifname {{ {links} }} drop; add rule inet cut out oifname {{ {links} }} drop")

    def heal(self):
        self.nft("add table inet cut; delete table inet cut")

    def within_store(self):
        return within(self.store)

    def close(self):
        for hosts in self.hosts:
            hosts.close()
        if self.made:
            subprocess.run(["ip", "netns", "del", self.store], capture_output=True)
            self.made = False
