#!/usr/bin/python3
"""Random but valid rule files and captures, the same for the same seed.

    generate.py SEED FOLDER [FRAMES]     writes rules.yaml, in.pcap and what these need
"""
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "smoke"))

import mmdb_writer  # noqa: E402
from connection_maker import SERVER_SIDE, ConnectionMaker  # noqa: E402
from frames import FrameMaker  # noqa: E402
from hello_maker import HelloMaker, tls_words  # noqa: E402
from pcap import write_mixed_pcapng, write_pcap, write_pcapng  # noqa: E402
from places import PLACES  # noqa: E402
from quic_maker import QuicMaker, ServedQuicMaker, ServedQuicRules, quic_words  # noqa: E402
from replay_model import Box  # noqa: E402
from request_maker import RequestMaker, RequestRules, ServedRequestMaker  # noqa: E402
from rule_maker import RuleMaker, databases, instants  # noqa: E402
from service_maker import ServiceMaker  # noqa: E402
from stream_maker import StreamMaker, StreamRules  # noqa: E402
from traffic import Traffic  # noqa: E402
from unit_rules import UnitRules  # noqa: E402

FRAMES = 400
TUNNELS = ([], [], [], ["gre", "vxlan", "ipip"], ["gre"], ["vxlan"], ["ipip"],
           ["geneve", "gtpu", "vxlan:8472"], ["gre", "vxlan", "ipip", "geneve", "gtpu", "geneve:123"])
ON_AMBIGUOUS = (None, "refuse", "both", "stricter")
CAPTURES = (write_pcap, lambda frames: write_pcap(frames, ">"),
            write_pcapng, lambda frames: write_pcapng(frames, ">"),
            lambda frames: write_pcap(frames, nanoseconds=False), write_mixed_pcapng)


class Scenario:
    """One seed's rule file with its data, capture, and box."""

    on_ambiguous = None

    def __init__(self, seed, count=FRAMES):
        dice = random.Random(seed)
        self.seed, self.tunnels = seed, dice.choice(TUNNELS)
        self.malformed = dice.choice(("pass", "drop"))
        self.has_box = bool(self.tunnels) or dice.randrange(4) == 0
        self.inside = dice.choice(([], [], ["10.0.0.0/8"], ["192.0.2.0/24", "2001:db8::/64"]))
        self.enforce = dice.randrange(6) == 0
        self.workers = 1 if self.tunnels else dice.choice((1, 1, 1, 3))
        self.frames = Traffic(dice, FrameMaker(dice, bool(self.tunnels))).run(count)
        self.write_capture = dice.choice(CAPTURES)
        self.make_rules(dice)

    def make_rules(self, dice):
        seen = [self.box().see(*dice.choice(self.frames)[1:]) for _ in range(20)]
        until = instants([dice.choice(self.frames)[0] for _ in range(4)])
        maker = RuleMaker(dice, seen, until, tunnels=bool(self.tunnels), named_port=self.has_box,
                          data=dice.randrange(3) == 0, local=self.workers > 1)
        self.rules, self.files = maker.file(), maker.files
        if maker.has_data:
            self.files.update(databases(mmdb_writer, dice))

    def box(self):
        if not self.has_box:
            return Box(inside=self.inside)
        return Box(inside=self.inside, tunnels=self.tunnels, malformed=self.malformed,
                   port="uplink", on_ambiguous=self.on_ambiguous)

    def box_file(self):
        listed = ", ".join(self.tunnels)
        http = f", http: {{on_ambiguous: {self.on_ambiguous}}}" if self.on_ambiguous else ""
        return ("version: 1\nports:\n  - name: uplink\n    outside: {device: net_tap0}\n"
                "    inside: {device: net_tap1}\n"
                f"packets: {{malformed: {self.malformed}, tunnels: [{listed}]{http}}}\n")

    def write(self, folder):
        """-> the options of `sluicectl replay`, the rule file first"""
        files = {**self.files, "rules.yaml": self.rules.encode(),
                 "in.pcap": self.write_capture(self.frames)}
        options = [word for prefix in self.inside for word in ("--inside", prefix)]
        options += ["--enforce"] * self.enforce + ["--workers", str(self.workers)]
        if self.has_box:
            files["sluice.yaml"] = self.box_file().encode()
            options += ["--config", os.path.join(folder, "sluice.yaml")]
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        return [os.path.join(folder, "rules.yaml"), "--pcap", os.path.join(folder, "in.pcap"),
                *options]


class FullTable(Scenario):
    """A rule with a hundredth of the table meets more keys than that, and they come again.

    No bucket is full again while it lasts, and every new one is charged at once: so it is known
    who has a place."""

    KEYS = ["ip.src", "ip.src, l4.dport", '"prefix(ip.src, 32|128)"', "l4.sport", "l4.sport, payload",
            "ip.dst, ip.src", '"prefix(client.ip, 30|120)", ip.src']
    LIMITS = ["algorithm: token_bucket, rate: 1/d, burst: {}",
              "algorithm: leaky_bucket, rate: 7/d, queue: {}",
              "algorithm: sliding_log, count: {}, window: 1d",
              "algorithm: sliding_window, count: {}, window: 1h",
              "algorithm: sliding_counters, count: {}, window: 1d, buckets: 7",
              "algorithm: fixed_window, count: {}, window: 1d, phase: first"]
    SHARE, BEYOND, BURST = PLACES // 100, 2000, 64

    def make_frames(self, dice):
        frames, time, maker = [], 1_700_000_000_000_000_000, FrameMaker(dice)
        for number in range(1, self.SHARE + self.BEYOND):
            frames.append((time, *maker.sound_frame(number, sport=number)))
            if dice.randrange(4) == 0:  # near the end of the numbers are those without a place
                old = dice.choice((number, dice.randint(1, number),
                                   self.SHARE + dice.randint(-50, self.BEYOND)))
                frames.append((time, *maker.sound_frame(old, sport=old)))
            time += dice.randrange(10_000) if number % self.BURST == 0 else 0
        return frames

    def __init__(self, seed, count=FRAMES):
        dice = random.Random(seed)
        self.seed, self.tunnels, self.malformed, self.inside = seed, [], "pass", []
        self.has_box, self.enforce, self.workers, self.files = False, False, 1, {}
        self.frames, self.write_capture = self.make_frames(dice), write_pcap
        on_full = dice.choice(("open", "closed", "{coarsen: {factor: 2}}",
                               "{coarsen: {factor: 7}}", "{coarsen: {factor: 16}}"))
        drops = dice.randrange(3) > 0
        lines = ["version: 1", "rules:", "  - id: full", "    mode: enforce",
                 f"    table_share: 1%\n    on_full: {on_full}",
                 f"    on_exceed: {{action: {'drop' if drops else 'tag, dscp: cs1'}}}",
                 f"    missing_key: {dice.choice(('skip', 'share'))}"]
        keys = dice.sample(self.KEYS, 1 if drops else dice.choice((1, 2)))
        lines.append("    tiers:")
        lines += [f"      - {{key: [{key}], limits: [{self.limit(dice)}]}}" for key in keys]
        if dice.randrange(2):
            changes = "count: 7" if "count" in lines[-1] else \
                "queue: 7" if "queue" in lines[-1] else "burst: 7"
            lines.append(f'    candidates: [{{name: seven, limits: {{"t{len(keys)}.1": {{{changes}}}}}}}]')
        lines += ["  - id: others", "    mode: monitor", "    key: [l4.dport, ip.version]",
                  "    limits: [{algorithm: token_bucket, rate: 100/s, burst: 50}]"]
        self.rules = "\n".join(lines) + "\n"

    def limit(self, dice):
        return f"{{{dice.choice(self.LIMITS).format(dice.choice((1, 1, 2, 5)))}}}"


class Units(Scenario):
    """What packets complete, under rules that read it. Whoever goes on from here fills in `make()`."""

    def __init__(self, seed, count=FRAMES):
        dice = random.Random(seed)
        self.seed, self.tunnels, self.malformed, self.inside = seed, [], "pass", []
        self.has_box, self.enforce, self.workers, self.files = False, False, 1, {}
        self.write_capture = write_pcap
        self.make(dice, count)


class Requests(Units):
    """Connections whose requests come in their order. What is ambiguous comes where all rules act, or none."""

    def make(self, dice, count):
        acts, proxied = dice.choice((None, None, None, True, False)), dice.randrange(100) < 40
        folds = acts is not None and not proxied  # headers alone may decide over client.ip
        self.on_ambiguous = dice.choice(ON_AMBIGUOUS)
        self.has_box = self.on_ambiguous is not None
        self.frames = RequestMaker(dice, folds).frames(count)
        rules = RequestRules(dice, acts, proxied)
        self.rules, self.files = rules.file(), rules.files


class ServedRequests(Units):
    """The same of declared services, monitored and enforced, and of none."""

    def make(self, dice, count):
        self.on_ambiguous = dice.choice(ON_AMBIGUOUS)
        self.has_box, self.inside = self.on_ambiguous is not None, ServedRequestMaker.SERVERS
        self.frames = ServedRequestMaker(dice).frames(count)
        self.rules = RequestRules(dice, dice.choice((None, True, True, False)), served=True).file()


class Connections(Units):
    """Connections from SYN to FIN or RST, under rules that count how many are open."""

    def make(self, dice, count):
        maker = ConnectionMaker(dice)
        # Mostly the servers' side; where nobody is inside, no two directions are of one connection.
        self.inside = dice.choice((SERVER_SIDE, SERVER_SIDE, SERVER_SIDE, ["192.0.2.0/24"], []))
        self.frames, self.rules = maker.frames(count), maker.rules()


class Dialogues(Units):
    """Both directions of connections of declared services, as clients and servers send them, and as nobody would."""

    def make(self, dice, count):
        self.workers = dice.choice((1, 1, 3))
        maker = ServiceMaker(dice, self.workers)
        self.inside, self.has_box = SERVER_SIDE, self.workers > 1
        self.frames, self.rules = maker.frames(count), maker.rules()

    def box_file(self):
        """Both directions of a client's connections come to one worker."""
        return super().box_file().replace("net_tap0}", "net_tap0, rss: source}").replace("net_tap1}", "net_tap1, rss: destination}")


class Streams(Units):
    """Requests that are pipelined, cut anywhere, repeated, out of order, overlapped."""

    def make(self, dice, count):
        acts, proxied = dice.choice((None, None, True, False)), dice.randrange(100) < 30
        proxied = proxied and acts is False  # headers alone may decide over client.ip
        self.frames = StreamMaker(dice, 6 if acts is False else 3).frames(count)
        rules = StreamRules(dice, acts, proxied)
        self.rules, self.files = rules.file(), rules.files


class Hellos(Units):
    """Connections that begin with ClientHellos. Malformed ones come where all rules act, or none."""

    MAKER, WORDS = HelloMaker, staticmethod(tls_words)

    def make(self, dice, count):
        acts = dice.choice((None, None, None, True, False))
        maker = self.MAKER(dice, spoils=acts is not None)
        self.frames = maker.frames(count)
        self.rules = UnitRules(dice, self.WORDS(maker.prints), acts).file()


class Quics(Hellos):
    """The same over QUIC."""

    MAKER, WORDS = QuicMaker, staticmethod(quic_words)


class ServedQuics(Units):
    """Of a declared service, monitored and enforced, and of none; with what its server answers."""

    def make(self, dice, count):
        self.inside = ServedQuicMaker.SERVERS
        maker, mode = ServedQuicMaker(dice), dice.choice(("enforce", "enforce", "enforce", "monitor", '"off"'))
        maker.monitored, maker.served = mode == "monitor", mode != '"off"'
        self.frames = maker.frames(count)
        self.rules = ServedQuicRules(dice, quic_words(maker.prints), dice.choice((True, True, False)), mode).file()


def main():
    count = int(sys.argv[3]) if len(sys.argv) > 3 else FRAMES
    print(" ".join(Scenario(int(sys.argv[1]), count).write(sys.argv[2])))


if __name__ == "__main__":
    main()
