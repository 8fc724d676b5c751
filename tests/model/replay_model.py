#!/usr/bin/python3
"""The slow model of `sluicectl replay`: the same options, the same lines.

    replay_model.py RULES --pcap FILE [--verdicts FILE] [--enforce] [--tunnels gre,vxlan,ipip]
                    [--malformed drop] [--inside PREFIX] [--port NAME]
"""
import argparse
import ipaddress
import json
import sys

from frame import dissect
from limiter import Limiter
from pcap import BadCapture, read_capture
from rules import read_rules


class Box:
    """What `sluice.yaml` and the options say of packets."""

    def __init__(self, **said):
        self.tunnels = said.get("tunnels") or ()
        self.malformed = said.get("malformed") or "pass"
        self.inside = [ipaddress.ip_network(prefix) for prefix in said.get("inside") or ()]
        self.port = said.get("port")

    def see(self, data, wire):
        packet = dissect(data, wire, self.tunnels)
        source = packet.fields.get("outer.ip.src", packet.fields.get("ip.src"))
        behind = source is not None and any(source in prefix for prefix in self.inside)
        packet.fields["dir"] = "out" if behind else "in"
        if self.port is not None:
            packet.fields["port"] = self.port
        return packet


def replay(rules_path, capture_path, box=None, enforce=False):
    """-> (rows of the verdict file, the JSON summary, whether the last record was cut)."""
    box = box or Box()
    limiter = Limiter(read_rules(rules_path), box.malformed, enforce)
    capture = read_capture(capture_path)
    rows = []
    for number, (time, data, wire) in enumerate(capture.frames, 1):
        verdict = limiter.judge(time, box.see(data, wire))
        rows.append([str(number)] + verdict.columns())
    return rows, limiter.summary(), capture.cut


def main():
    parser = argparse.ArgumentParser(description="the slow model of sluicectl replay")
    parser.add_argument("rules")
    parser.add_argument("--pcap", required=True)
    parser.add_argument("--verdicts")
    parser.add_argument("--enforce", action="store_true")
    parser.add_argument("--tunnels", type=lambda text: text.split(","))
    parser.add_argument("--malformed", choices=["pass", "drop"])
    parser.add_argument("--inside", action="append")
    parser.add_argument("--port")
    options = parser.parse_args()
    box = Box(tunnels=options.tunnels, malformed=options.malformed, inside=options.inside,
              port=options.port)
    try:
        rows, summary, cut = replay(options.rules, options.pcap, box, options.enforce)
    except BadCapture as error:
        sys.exit(f"error: {error}")
    if cut:
        print("warning: the last record of the capture is cut", file=sys.stderr)
    if options.verdicts:
        with open(options.verdicts, "w", encoding="ascii") as file:
            file.writelines("\t".join(row) + "\n" for row in rows)
    print(json.dumps(summary, separators=(",", ":")))


if __name__ == "__main__":
    main()
