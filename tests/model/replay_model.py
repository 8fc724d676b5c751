#!/usr/bin/python3
"""The slow model of `sluicectl replay`: the same options, the same lines.

    replay_model.py RULES --pcap FILE [--verdicts FILE] [--out FILE] [--enforce] [--tunnels gre,vxlan,ipip]
                    [--malformed drop] [--inside PREFIX] [--port NAME] [--on-ambiguous both]
"""
import argparse
import bisect
import ipaddress
import json
import math
import re
import sys

import dns
import http1
import quic
import quic_services
import request_streams
import tls
from answers import FORWARDS
from frame import dissect
from limiter import Limiter
from pcap import BadCapture, read_capture, write_pcap
from rules import read_rules
from services import Services, rewritten
from tags import tagged


class Box:
    """What `sluice.yaml` and the options say of packets."""

    def __init__(self, **said):
        self.tunnels = said.get("tunnels") or ()
        self.malformed = said.get("malformed") or "pass"
        self.inside = [ipaddress.ip_network(prefix) for prefix in said.get("inside") or ()]
        self.port = said.get("port")
        self.on_ambiguous = said.get("on_ambiguous")

    def see(self, data, wire):
        packet = dissect(data, wire, self.tunnels)
        source = packet.fields.get("outer.ip.src", packet.fields.get("ip.src"))
        behind = source is not None and any(source in prefix for prefix in self.inside)
        packet.fields["dir"] = "out" if behind else "in"
        if self.port is not None:
            packet.fields["port"] = self.port
        return packet


class Replayed:
    """`rows` of the verdict file, the JSON `summary`, `forwarded`: the frames of `--out`, `cut`:
    whether the last record was."""

    def __init__(self, limiter, box, capture, streams, services):
        self.rows, self.forwarded, self.held, self.cut = [], [], [], capture.cut
        for number, frame in enumerate(capture.frames, 1):
            if frame is None:
                continue
            time, data, wire = frame
            packet = box.see(data, wire)
            packet.came = time
            packet.service = services.see(time, packet, data)
            for stream in streams:
                stream.see(packet)
            verdict = limiter.judge(time, packet, data)
            if packet.settle:
                packet.settle.fate = verdict.action not in FORWARDS
            self.rows.append([str(number)] + verdict.columns())
            clock = limiter.first + limiter.now
            self.depart(clock)
            self.forwarded += [(time, made, len(made)) for made in verdict.made]
            if verdict.action in FORWARDS:
                data = tagged(rewritten(data, packet, packet.service), packet, verdict.tag)
                frame = (data, max(wire, len(data)))
                if verdict.delay:
                    bisect.insort(self.held, (clock + verdict.delay, number, *frame))
                else:
                    self.forwarded.append((time, *frame))
        self.depart(math.inf)
        self.summary = limiter.summary()
        if services.all:
            self.summary["services"] = services.summary()
        if None in capture.frames:
            self.summary["not_ethernet"] = capture.frames.count(None)


    def depart(self, clock):
        """Those that are held leave the box in the order of their departures."""
        while self.held and self.held[0][0] <= clock:
            time, _, *frame = self.held.pop(0)
            self.forwarded.append((time, *frame))


def replay(rules_path, capture_path, box=None, enforce=False):
    box = box or Box()
    rules = read_rules(rules_path)
    services = Services(rules_path, enforce=enforce)
    limiter = Limiter(rules, box.malformed, enforce)
    limiter.refuses_deep = any(one.mode == "enforce" for one in services.all)
    return Replayed(limiter, box, read_capture(capture_path), streams_of(rules, rules_path, box), services)


def streams_of(rules, path, box):
    """Who is told what is in a connection or datagram: readers of what some rule asks for."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    readers = {request_streams: http1.ASKS, tls: tls.ASKS, dns: dns.ASKS, quic_services: quic.ASKS}
    off = all(rule.mode == "off" or not rule.asks(dns.ASKS) for rule in rules)
    some = [reader.Streams() for reader, asks in readers.items()
            if reader is not request_streams and re.search(asks, text) and not (reader is dns and off)]
    if re.search(http1.ASKS, text):
        judging = [rule for rule in rules if rule.mode != "off"]
        has_paths, has_hosts = (any(rule.asks(what) for rule in judging) for what in (http1.ASKS_PATHS, http1.ASKS_HOSTS))
        has_methods = any(rule.asks(http1.ASKS_METHODS) for rule in judging)
        named = http1.named_in("".join(rule.text for rule in judging))
        readings = http1.Readings(box.on_ambiguous, has_paths, has_hosts, named, has_methods)
        some.insert(0, request_streams.Streams(readings))
    return some


def main():
    parser = argparse.ArgumentParser(description="the slow model of sluicectl replay")
    parser.add_argument("rules")
    parser.add_argument("--pcap", required=True)
    parser.add_argument("--verdicts")
    parser.add_argument("--out")
    parser.add_argument("--enforce", action="store_true")
    parser.add_argument("--tunnels", type=lambda text: text.split(","))
    parser.add_argument("--malformed", choices=["pass", "drop"])
    parser.add_argument("--inside", action="append")
    parser.add_argument("--port")
    parser.add_argument("--on-ambiguous", choices=["refuse", "both", "stricter"])
    options = parser.parse_args()
    box = Box(tunnels=options.tunnels, malformed=options.malformed, inside=options.inside,
              port=options.port, on_ambiguous=options.on_ambiguous)
    try:
        done = replay(options.rules, options.pcap, box, options.enforce)
    except BadCapture as error:
        sys.exit(f"error: {error}")
    if done.cut:
        print("warning: the last record of the capture is cut", file=sys.stderr)
    if options.verdicts:
        with open(options.verdicts, "w", encoding="ascii") as file:
            file.writelines("\t".join(row) + "\n" for row in done.rows)
    if options.out:
        with open(options.out, "wb") as file:
            file.write(write_pcap(done.forwarded))
    print(json.dumps(done.summary, separators=(",", ":")))


if __name__ == "__main__":
    main()
