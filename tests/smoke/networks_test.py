"""A list of a million networks, which changes while it is enforced, with the real programs.

    networks_test.py DATAPLANE SLUICED SLUICECTL
"""
from box_case import BoxCase, main
from capture_files import pcap, udp, udp6
from programs import wait_until

V4, V6 = 600_000, 400_000
RULES = """version: 1
data: {lists: {networks: {type: cidr, file: networks.txt}}}
rules:
  - {id: v4, mode: enforce, when: ip.src in $networks and ip.dst eq 198.51.100.7, on_match: drop}
  - {id: v6, mode: enforce, when: 'ip.src in $networks and ip.dst eq 2001:db8::2', on_match: drop}
  - {id: others, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}
"""


def network4(number):
    """Half of a /24 each, so that none is beside another."""
    return f"{11 + (number >> 16)}.{number >> 8 & 255}.{number & 255}.0/25"


def network6(number):
    return f"2001:{number >> 16:x}:{number & 0xFFFF:x}:2::/64"


def inside(network):
    address = network.split("/")[0]
    return address + "9" if ":" in network else address[:-1] + "77"


class ManyNetworks(BoxCase):
    def write(self, without=()):
        new = self.box.folder / "networks.new"
        with open(new, "w", encoding="ascii") as out:
            for network in (*map(network4, range(V4)), *map(network6, range(V6))):
                if network not in without:
                    out.write(network + "\n")
        new.rename(self.box.folder / "networks.txt")

    def counted(self):
        # There is no answer while the dataplane takes a list.
        stats = wait_until("the counters", self.box.stats)
        return {rule["id"]: rule for rule in stats["rules"]}

    def test_packets_meet_it_and_what_changes_in_it(self):
        first4, last4, last6 = network4(0), network4(V4 - 1), network6(V6 - 1)
        frames = [udp(src=inside(first4)), udp(src=inside(last4)), udp6(src=inside(last6)),
                  udp(src=network4(V4 - 1).replace(".0/25", ".200"))]  # the other half
        capture = self.box.folder / "in.pcap"
        capture.write_bytes(pcap(list(enumerate(frames))))
        devices = [f"net_pcap{port},rx_pcap={capture},infinite_rx=1" for port in (0, 1)]
        self.box.start_dataplane(*devices, {"memory": {"mbufs": 32768}})
        self.box.start_sluiced()
        self.write()
        self.apply(RULES)
        wait_until("packets of each rule", lambda: all(
            rule["matched"] > 1000 for rule in self.counted().values()))
        # Three frames of four are of the list.
        before = self.counted()
        matched = sum(rule["matched"] for rule in before.values())
        for name, share in (("v4", 0.5), ("v6", 0.25), ("others", 0.25)):
            self.assertAlmostEqual(before[name]["matched"] / matched, share, delta=0.02)

        # The file alone changes: sluiced sees it and nobody applies anything.
        self.write(without={last4, last6})
        def next_counted():
            """Some packets later."""
            seen = self.counted()
            wait_until("more packets", lambda: self.counted()["v4"]["matched"] >
                       seen["v4"]["matched"] + 100_000)
            return seen, self.counted()

        def stands_still():
            before, after = next_counted()
            return after["v6"]["matched"] == before["v6"]["matched"]
        wait_until("the network that is gone to be let through", stands_still)
        before, after = next_counted()
        self.assertEqual(after["v6"]["matched"], before["v6"]["matched"])
        grown = {name: after[name]["matched"] - before[name]["matched"] for name in after}
        self.assertAlmostEqual(grown["others"] / grown["v4"], 3, delta=0.1)


if __name__ == "__main__":
    main()
