"""C1: from `sluicectl apply` to the first packet that the new rules have judged, with the real programs
under traffic that never pauses. A thousand rules with patterns, all of them new; and one of them changed."""
import http.client
import json
import random
import socket
import statistics
import struct
import time

from box import Box
from forwarders import Bare
import rows

RULES = 1000
PATIENCE = 60.0
PROBE = b"probe-17 of the bench; "
LIMITS = "[{algorithm: token_bucket, rate: 1000/s, burst: 100}]"
# What rules ask of texts, and how often.
TESTS = (
    (40, 'payload contains "{0}"'),
    (10, 'lower(payload) contains "{0}"'),
    (15, 'payload matches "/{0}/[a-z0-9]+\\.(php|asp)"'),
    (10, 'payload matches "{0}=[0-9]{{2,6}}&"'),
    (5, 'lower(payload) matches "^(get|post) /{0}"'),
    (10, 'starts_with(payload, "{0}")'),
    (5, 'ends_with(payload, "{0}")'),
    (5, 'payload in {{"{0}" "{0}x"}}'),
)
ASIDE = ("", "", " and l4.dport eq {0}", " and ip.src in {{10.{1}.0.0/16}}", " and ip.proto eq 17",
         " and not payload contains \"{2}\"")


def word(source):
    return "".join(source.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(source.randint(6, 14)))


def mixed_rules(seed, probe):
    """Every pattern is another for another seed; `probe` is the condition of the last rule."""
    source = random.Random(seed)
    lines = ["version: 1", "rules:"]
    for number in range(RULES - 1):
        test = source.choices([text for _, text in TESTS], [weight for weight, _ in TESTS])[0]
        aside = source.choice(ASIDE)
        when = test.format(word(source)) + aside.format(source.randint(1, 65535),
                                                        source.randint(0, 255), word(source))
        lines.append(f"  - {{id: r{number}, mode: enforce, when: '{when}', key: [ip.src], limits: {LIMITS}}}")
    lines.append(f"  - {{id: probe-{seed}, mode: enforce, when: '{probe}', on_match: drop}}")
    return "\n".join(lines) + "\n"


def write_traffic(path):
    """UDP from 1024 sources, all of them carrying what the probe looks for."""
    payload = PROBE * 4
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for source in range(1024):
            udp = struct.pack("!HHHH", 40000, 53, 8 + len(payload), 0) + payload
            header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0,
                                 struct.pack("!I", 0x0A000000 + source), bytes([10, 77, 0, 2]))
            frame = bytes.fromhex("020000000002020000000001") + b"\x08\x00" + header + udp
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def has_judged(box, rule):
    connection = Unix(str(box.folder / box.DAEMON_SOCKET))
    connection.request("GET", "/v1/stats")
    rules = json.loads(connection.getresponse().read())["rules"]
    connection.close()
    return any(row["id"] == rule and row["exceeded"] > 0 for row in rules)


def seconds_until_judged(box, text, rule):
    path = box.folder / "rules.yaml"
    path.write_text(text)
    begin = time.monotonic()
    box.ctl("apply", path)
    applied = time.monotonic()
    while not has_judged(box, rule):
        if time.monotonic() - begin > PATIENCE:
            raise rows.BenchError(f"{rule} has judged no packet within {PATIENCE} s")
        time.sleep(0.001)
    rows.note(f"    apply returned after {applied - begin:.3f} s")
    return time.monotonic() - begin


def row(case, values, bar, goal):
    return {"id": "C1", "case": case, "value": round(statistics.median(values), 3), "unit": "s",
            "reference": None, "reference_value": None, "ratio": None, "bar": bar, "goal": goal,
            "better": "lower", "rounds": [round(value, 3) for value in values], "rounds_are": rows.VALUES}


def apply_to_enforced(bench, _):
    cold, changed = [], []
    with bench.folder() as folder:
        write_traffic(folder / "traffic.pcap")
        devices = [f"net_pcap{index},rx_pcap={folder}/traffic.pcap,infinite_rx=1" for index in (0, 1)]
        box = Box(bench.programs, folder, idle_sleep=None, mbufs=32768)
        try:
            box.start(Bare(devices))
            (folder / "none.yaml").write_text("version: 1\nrules:\n  - {id: none, on_match: drop, when: l4.dport eq 1}\n")
            box.apply("none.yaml")
            for seed in range(bench.rounds):
                cold.append(seconds_until_judged(
                    box, mixed_rules(seed, 'payload matches "^probe-[0-9]+ of"'), f"probe-{seed}"))
                rows.note(f"  round {seed + 1}: all new: {cold[-1]:.3f} s")
                # The probe is away and comes again: its pattern is new, the others are known.
                (folder / "away.yaml").write_text(
                    mixed_rules(seed, f'payload matches "^away-[0-9]+ {seed}"').replace(
                        f"id: probe-{seed},", f"id: away-{seed},"))
                box.ctl("apply", "away.yaml")
                changed.append(seconds_until_judged(
                    box, mixed_rules(seed, f'payload matches "^probe-[0-9]+ (of|{seed})"').replace(
                        f"id: probe-{seed},", f"id: again-{seed},"), f"again-{seed}"))
                rows.note(f"  round {seed + 1}: one changed: {changed[-1]:.3f} s")
        finally:
            box.stop()
    yield row(f"{RULES} new rules with patterns, from apply to the first packet judged", cold, 2, 0.25)
    yield row("one of them changed", changed, 0.2, 0.05)


BENCHES = {"C1": apply_to_enforced}
TARGETS = {"C1": ["dataplane/sluice-dataplane", "control/daemon/sluiced", "control/cli/sluicectl"]}
