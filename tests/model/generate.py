#!/usr/bin/python3
"""Random but valid rule files and captures, the same for the same seed.

    generate.py SEED FOLDER     writes rules.yaml, in.pcap and, for some seeds, sluice.yaml
"""
import os
import random
import sys

from frames import DSCPS, MACS, PORTS, SOURCES4, SOURCES6, VLANS, FrameMaker
from pcap import SECOND, write_pcap, write_pcapng

FLAGS = [f"tcp.flags.{name}" for name in ("syn", "ack", "fin", "rst", "psh", "urg")]
NUMBERS = {
    "eth.type": ["0x0800", "0x86dd", "0x0806", "34525", "0x8847", "0x0600"],
    "vlan.id": VLANS, "vlan.inner_id": VLANS, "ip.version": [4, 6],
    "ip.proto": [1, 6, 17, 58, 44, 60, 132],
    "ip.ttl": [1, 64, 255], "ip.dscp": DSCPS, "ip.len": [0, 28, 40, 48, 240, 65535],
    "l4.sport": PORTS, "l4.dport": PORTS, "tcp.flags": [2, 18, "0x10", 194, 256, "0x0fff"],
    "icmp.type": [0, 3, 8, 128, 135], "icmp.code": [0, 1], "payload.len": [0, 1, 6, 40, 900],
}
ADDRESSES = ["ip.src", "ip.dst"]
OUTER = ["outer.ip.src", "outer.ip.dst"]
KEYS = list(NUMBERS) + ["client.ip", "payload", "lower(payload)"] + ADDRESSES * 4 + FLAGS + ["dir", "eth.src", "eth.dst", "ip.frag"]
NETWORKS4 = ["192.0.2.0/24", "10.0.0.0/8", "192.0.2.0/23", "0.0.0.0/0", "10.1.2.4/32"]
NETWORKS6 = ["2001:db8::/32", "2001:db8::/64", "::/0", "fe80::/10", "::ffff:0.0.0.0/96"]
PACKET_RATES = ["1/d", "7/h", "1/h", "3/m", "300/m", "1/s", "3/s", "7/s", "10/s", "333/s", "1K/s",
                "1500/s", "1M/s", "1234567/s"]
BYTE_RATES = ["1KB/s", "333B/s", "9600bit/s", "20Mbit/s", "5MB/s", "7777bit/s", "1Mbit/s",
              "100Gbit/s", "64Kbit/s", "100KB/m", "7KiB/m", "1B/s"]
PACKET_BURSTS = [1, 1, 2, 3, 5, 8, 20, 100]
WINDOW_LENGTHS = ["1ms", "7ms", "100ms", "1s", "3s", "10s", "1m", "1h", "1d", "366d"]
# What else may stand in a limit of the algorithm.
WINDOWS = {"fixed_window": ["", ", phase: first", ", phase: clock",
                            ", utc_offset: \"+03:00\"", ", utc_offset: \"-11:30\""],
           "sliding_window": [""],
           "sliding_counters": ["", ", buckets: 1", ", buckets: 7", ", buckets: 10, edge: lenient",
                                ", edge: lenient", ", buckets: 60, edge: strict"],
           "sliding_log": [""]}
BYTE_BURSTS = ["28B", "100B", "512B", "1KiB", "1500B", "4KB", "64KiB"]
GAPS = [0] * 12 + [1, 1, 3, 999, 1_000, 100_000, 1_000_000, 1_000_001, 7_000_000, 33_333_333,
                   100_000_000, 142_857_142, 142_857_143, SECOND]
RARE_GAPS = [60 * SECOND, 3600 * SECOND, 90_000 * SECOND, -1, -SECOND]
PREFIX_LENGTHS = ["8|32", "24|64", "23|61", "32|128", "0|0", "9|33", "24", "0", "64"]
ACTIONS = ["drop", "drop", "drop", "tag, dscp: ef", "tag, dscp: 12, pcp: 3", "pass"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "==", "!=", "<", "<=", ">", ">="]


class RuleMaker:
    def __init__(self, dice, tunnels=False, named_port=False):
        self.dice = dice
        self.addresses = ADDRESSES + (OUTER if tunnels else [])
        self.client = (32, 128)  # bits of client.ip
        self.keys = KEYS + (OUTER if tunnels else []) + (["port"] if named_port else [])

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def file(self):
        lines = ["version: 1"]
        if self.chance(40):
            lines.append(f"defaults: {{mode: {self.dice.choice(('enforce', 'monitor'))}, "
                         f"missing_key: {self.dice.choice(('skip', 'share'))}}}")
        if self.chance(50):
            lines.append(self.client_ip())
        lines += ["limits:", f"  common: {self.limit(True)}", f"  bytes: {self.limit(False)}",
                  "rules:"]
        for number in range(self.dice.randint(1, 8)):
            lines += self.rule(number)
        return "\n".join(lines) + "\n"

    def client_ip(self):
        self.client = (self.dice.choice((32, 32, 24, 20)), self.dice.choice((128, 128, 64, 56)))
        unwrap = self.dice.choice(("", "nat64", "v4mapped", "nat64, v4mapped"))
        return (f"client_ip: {{ipv4_prefix: {self.client[0]}, ipv6_prefix: {self.client[1]}, "
                f"unwrap: [{unwrap}]}}")

    def of_client(self):
        """What is finer than client.ip can never be it, which is an error."""
        v4, v6 = self.client
        values = [value for value in NETWORKS4 if int(value.split("/")[1]) <= v4]
        values += [value for value in NETWORKS6 if int(value.split("/")[1]) <= v6]
        values += SOURCES4 * (v4 == 32) + SOURCES6 * (v6 == 128)
        if self.chance(30):
            return f"client.ip {self.dice.choice(('eq', 'ne'))} {self.dice.choice(values)}"
        return f"client.ip in {{{' '.join(self.dice.sample(values, self.dice.randint(1, 4)))}}}"

    def rule(self, number):
        lines = [f"  - id: r{number}"]
        mode = self.dice.choice(("enforce",) * 7 + ("monitor",) * 2 + ("off", None))
        if mode:
            lines.append(f"    mode: {mode}")
        on_match = self.chance(12)
        if on_match or self.chance(75):
            lines.append(f"    when: '{self.condition(1 if on_match else 3)}'")
        if on_match:
            return lines + [f"    on_match: {self.dice.choice(('drop', 'allow'))}"]
        if self.chance(40):
            lines.append(f"    missing_key: {self.dice.choice(('skip', 'share'))}")
        if self.chance(15):
            lines.append("    rejected_spend: true")
        if self.chance(15):
            lines.append(f"    cost: {self.dice.choice((1, 2, 3, 7, 1000))}")
        action = self.dice.choice(ACTIONS)
        if self.chance(20):
            limits = [f"{{key: [{self.key()}], limits: [{', '.join(self.limits(tier))}]}}"
                      for tier in range(self.dice.choice((1, 2, 2, 3)))]
            lines.append("    tiers:")
        else:
            limits = self.limits()
            lines += [f"    key: [{self.key()}]", "    limits:"]
        lines += [f"      - {limit}" for limit in limits]
        if any("tcm" in limit for limit in limits) and self.chance(70):
            lines.append(self.on_color())
        if self.chance(25):
            lines.append(self.ban())
        return lines + [f"    on_exceed: {{action: {action}}}"] * (not self.chance(15))

    def ban(self):
        action = self.dice.choice(("", "", ", action: drop", ", action: tag, dscp: cs1",
                                   ", action: pass"))
        return (f"    ban: {{after: {self.dice.choice((1, 2, 3, 5, 20))}, "
                f"within: {self.dice.choice(WINDOW_LENGTHS)}, "
                f"for: {self.dice.choice(WINDOW_LENGTHS)}{action}}}")

    def key(self):
        return ", ".join(self.key_part() for _ in range(self.dice.choice((0, 1, 1, 1, 2, 2, 3))))

    def limits(self, tier=0):
        """One to three; a named one at most once, so that every limit of a rule has its name."""
        some = [self.limit(self.chance(60)) for _ in range(self.dice.choice((1, 1, 2)))]
        if tier == 0 and self.chance(25):
            some[0] = "common"
        if tier == 0 and self.chance(15):
            some.append("bytes")
        return some

    def limit(self, of_packets):
        per = "packet" if of_packets else "byte"
        amount = self.dice.choice(PACKET_BURSTS if of_packets else BYTE_BURSTS)
        if of_packets and self.chance(15):
            per = "connection"
        if self.chance(20):
            return self.color_meter(per, PACKET_BURSTS if of_packets else BYTE_BURSTS,
                                    PACKET_RATES if of_packets else BYTE_RATES)
        if self.chance(45):
            algorithm = self.dice.choice(list(WINDOWS))
            return (f"{{algorithm: {algorithm}, per: {per}, count: {amount}, window: "
                    f"{self.dice.choice(WINDOW_LENGTHS)}{self.dice.choice(WINDOWS[algorithm])}}}")
        algorithm, burst = self.dice.choice((("token_bucket", "burst"),) * 3 +
                                            (("leaky_bucket", "queue"),))
        rate = self.dice.choice(PACKET_RATES if of_packets else BYTE_RATES)
        return f"{{algorithm: {algorithm}, per: {per}, rate: {rate}, {burst}: {amount}}}"

    def color_meter(self, per, sizes, rates):
        def size():
            return self.dice.choice(sizes)

        def rate():
            return self.dice.choice(rates)

        words, kind = "", self.dice.choice(("rfc2697", "rfc2698", "rfc4115"))
        if kind == "rfc2697":
            words = f"algorithm: srtcm, cir: {rate()}, cbs: {size()}, ebs: {size()}"
        elif kind == "rfc2698":
            peak = rate()  # no less than the committed rate
            words = (f"algorithm: trtcm, variant: rfc2698, cir: {peak}, cbs: {size()}, "
                     f"pir: {peak}, pbs: {size()}")
        else:
            words = (f"algorithm: trtcm, variant: rfc4115, cir: {rate()}, cbs: {size()}, "
                     f"eir: {rate()}, ebs: {size()}")
        return f"{{{words}, per: {per}, color: {self.dice.choice(('blind', 'aware'))}}}"

    def on_color(self):
        colors = [f"{color}: {{action: {self.dice.choice(ACTIONS)}}}"
                  for color in ("green", "yellow", "red") if self.chance(60)]
        return f"    on_color: {{{', '.join(colors)}}}"

    def key_part(self):
        if self.chance(30):
            field = self.dice.choice(self.addresses + ["client.ip"])
            bits = self.dice.choice(PREFIX_LENGTHS)
            return f'"prefix({field}, {bits})"'
        return self.dice.choice(self.keys)

    def condition(self, depth):
        if depth == 0 or self.chance(35):
            return self.comparison()
        way = self.dice.randrange(4)
        if way == 0:
            return f"{self.dice.choice(('not', 'not', 'not not'))} {self.condition(depth - 1)}"
        if way == 1:
            return f"({self.condition(depth - 1)})"
        return (f"{self.condition(depth - 1)} {self.dice.choice(('and', 'or'))} "
                f"{self.condition(depth - 1)}")

    def comparison(self):
        way = self.dice.randrange(10)
        if way < 3:
            return self.of_address()
        if way == 3:
            return self.dice.choice(FLAGS * 3 + list(NUMBERS))
        if way == 4:
            return self.of_word()
        name = self.dice.choice(list(NUMBERS))
        values = NUMBERS[name]
        if way == 5:
            some = " ".join(str(value) for value in self.dice.sample(values, 2))
            return f"{name} in {{{some}}}"
        return f"{name} {self.dice.choice(COMPARISONS)} {self.dice.choice(values)}"

    def of_address(self):
        if self.chance(20):
            return self.of_client()
        name = self.dice.choice(self.addresses)
        if self.chance(15):
            networks = "192.0.2.0/24 10.1.2.0/24 2001:db8::/64 ::/64"
            return f"prefix({name}, 24|64) in {{{networks}}}"
        if self.chance(50):
            return (f"{name} {self.dice.choice(('eq', 'ne', '==', '!='))} "
                    f"{self.dice.choice(SOURCES4 + SOURCES6)}")
        some = self.dice.sample(SOURCES4 + SOURCES6 + NETWORKS4 + NETWORKS6,
                                self.dice.randint(1, 4))
        return f"{name} in {{{' '.join(some)}}}"

    def of_word(self):
        equal = self.dice.choice(("eq", "ne"))
        return self.dice.choice((
            f'port {equal} "{self.dice.choice(("uplink", "a b"))}"',
            f'dir {equal} "{self.dice.choice(("in", "out"))}"',
            f'ip.frag {equal} "{self.dice.choice(("none", "first", "later"))}"',
            'ip.frag in {"first" "later"}',
            f"eth.src {equal} {self.dice.choice(MACS)}"))


def trace(dice, maker, count):
    """[(time in ns, bytes, size on the wire)], bursts at one instant and steps back among them."""
    time = dice.choice((0, 1_700_000_000 * SECOND, 1_700_000_000 * SECOND + 999_999_999))
    recent, frames = [], []
    for _ in range(count):
        if recent and dice.randrange(100) < 60:  # what was seen before, so that buckets empty
            frame = dice.choice(recent)
        else:
            frame = maker.any_frame()
            recent = (recent + [frame])[-12:]
        time = max(0, time + dice.choice(RARE_GAPS if dice.randrange(200) == 0 else GAPS))
        frames.append((time, *frame))
    return frames


class Scenario:
    """One seed's rule file, capture, and box."""

    def __init__(self, seed, count=400):
        dice = random.Random(seed)
        self.tunnels = dice.choice(([], [], [], ["gre", "vxlan", "ipip"], ["gre"], ["vxlan"],
                                    ["ipip"]))
        self.malformed = dice.choice(("pass", "drop"))
        self.has_box = bool(self.tunnels) or dice.randrange(4) == 0
        self.inside = dice.choice(([], [], ["10.0.0.0/8"], ["192.0.2.0/24", "2001:db8::/64"]))
        self.enforce = dice.randrange(6) == 0
        self.rules = RuleMaker(dice, bool(self.tunnels), self.has_box).file()
        self.frames = trace(dice, FrameMaker(dice, bool(self.tunnels)), count)
        self.capture = dice.choice((
            write_pcap, lambda frames: write_pcap(frames, ">"),
            write_pcapng, lambda frames: write_pcapng(frames, ">"),
            lambda frames: write_pcap(frames, nanoseconds=False)))(self.frames)

    def box_file(self):
        listed = ", ".join(self.tunnels)
        return ("version: 1\nports:\n  - name: uplink\n    outside: {device: net_tap0}\n"
                "    inside: {device: net_tap1}\n"
                f"packets: {{malformed: {self.malformed}, tunnels: [{listed}]}}\n")


def main():
    seed, folder = int(sys.argv[1]), sys.argv[2]
    scenario = Scenario(seed)
    files = {"rules.yaml": scenario.rules.encode(), "in.pcap": scenario.capture}
    if scenario.has_box:
        files["sluice.yaml"] = scenario.box_file().encode()
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
