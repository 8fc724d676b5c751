"""Dialogues and captures through `sluicectl replay` under rules that nobody reaches: no frame is refused."""
import collections
import os
import pathlib
import subprocess

import dialogues
from capture_files import client_hello, pcap

# Of the outermost packet alone: what tunnels carry is no service's here.
IPV4, IPV6, TCP, UDP = 0x0800, 0x86DD, 6, 17
SERVED_PORTS = {TCP: (80, 443, 53), UDP: (443, 53)}
UNLIMITED = "limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]"
ANYWHERE = f"""rules:
  - {{id: requests, mode: enforce, when: 'proto.l7 eq "http"', key: [ip.src], per: request, {UNLIMITED}}}
  - {{id: logins, mode: enforce, when: 'http.request.uri.path eq "/login"', key: [ip.src], per: request, {UNLIMITED}}}
  - {{id: hosts, mode: enforce, key: [http.host], per: request, {UNLIMITED}}}
  - {{id: hellos, mode: enforce, when: 'proto.l7 in {{"tls" "quic"}}', key: [ip.src], per: handshake, {UNLIMITED}}}
  - {{id: names, mode: enforce, key: [tls.sni], per: handshake, {UNLIMITED}}}
  - {{id: queries, mode: enforce, when: 'proto.l7 eq "dns"', key: [ip.src], per: query, {UNLIMITED}}}
"""
SERVICES = """services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce}
  - {id: tls, protocol: tls, when: l4.dport eq 443, mode: enforce}
  - {id: quic, protocol: quic, when: l4.dport eq 443, mode: enforce}
  - {id: dns, protocol: dns, when: l4.dport eq 53, mode: enforce}
"""


def rules(with_services):
    return "version: 1\n" + (SERVICES if with_services else "") + ANYWHERE


class Replay:
    """`sluicectl replay` in a folder of its own."""

    def __init__(self, sluicectl, folder):
        self.sluicectl, self.folder = sluicectl, pathlib.Path(folder)

    def refused(self, text, capture, inside=()):
        """(reasons of frames that did not pass: how many, frames in all, units that rules judged)"""
        file, verdicts = self.folder / "rules.yaml", self.folder / "verdicts.tsv"
        file.write_text(text)
        words = [word for prefix in inside for word in ("--inside", prefix)]
        done = subprocess.run([self.sluicectl, "replay", str(file), "--pcap", str(capture), "--verdicts", str(verdicts), *words],
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise AssertionError(f"replay of {capture}: {done.stderr}")
        rows = [line.split("\t") for line in verdicts.read_text().splitlines()]
        judged = sum(row[2] == "within_limits" for row in rows)
        return collections.Counter(row[2] for row in rows if row[1] != "pass"), len(rows), judged


def servers_in(capture):
    """Addresses to whose ports of services a client's SYN or datagram goes: what lies inside."""
    found = set()
    for frame in read_frames(capture):
        kind, proto, dst, at = outermost(frame)
        if kind and proto in SERVED_PORTS and int.from_bytes(frame[at + 2:at + 4], "big") in SERVED_PORTS[proto]:
            if proto == UDP or frame[at + 13:at + 14] == b"\2":
                found.add(dst)
    return sorted(found)


def outermost(frame):
    kind = int.from_bytes(frame[12:14], "big")
    if kind == IPV4 and len(frame) >= 34:
        return kind, frame[23], ".".join(map(str, frame[30:34])) + "/32", 14 + (frame[14] & 15) * 4
    if kind == IPV6 and len(frame) >= 54:
        groups = [f"{int.from_bytes(frame[at:at + 2], 'big'):x}" for at in range(38, 54, 2)]
        return kind, frame[20], ":".join(groups) + "/128", 54
    return None, 0, "", 0


def read_frames(path):
    data = pathlib.Path(path).read_bytes()
    order = "little" if data[0] in (0xD4, 0x4D) else "big"
    at = 24
    while at + 16 <= len(data):
        size = int.from_bytes(data[at + 8:at + 12], order)
        yield data[at + 16:at + 16 + size]
        at += 16 + size


def captures():
    """That are at hand; see also ../smoke/served_captures_test.py."""
    shared = os.environ.get("SLUICE_SHARED")
    return sorted((pathlib.Path(shared) / "data" / "pcaps").glob("*.pcap")) if shared else []


# What enforced services refuse of the real captures together, by the manual, and how many frames: what no reader follows, and
# fragments of TCP. One more is a new refusal. Of the dialogues made here nothing is to be refused.
LISTED = {"ambiguous_request": 16, "malformed_request": 9, "unreadable": 24, "tcp_fragment": 1, "fragment_of_refused": 10}


def beyond_the_list(refused):
    """The reasons of the captures together for which more frames were refused than are listed."""
    return {reason: f"{count} of {LISTED.get(reason, 0)}" for reason, count in refused.items() if count > LISTED.get(reason, 0)}


class Count:
    """Of frames, over many replays; prints a line for each."""

    def __init__(self, replay):
        self.replay, self.judged = replay, 0

    def refused(self, path, with_services, inside):
        """Reasons: how many frames."""
        refused, frames, judged = self.replay.refused(rules(with_services), path, inside)
        self.judged += judged
        print(f"{path.name}, {'services' if with_services else 'anywhere'}: {frames} frames, {judged} judged, "
              f"refused: {dict(refused) or 'none'}", flush=True)
        return refused


def check_dialogues(sluicectl, folder, seed):
    """What did not hold, in words."""
    made = pathlib.Path(folder) / "dialogues.pcap"
    made.write_bytes(pcap(dialogues.capture(dialogues.all_dialogues(seed, client_hello("a.example")))))
    count = Count(Replay(sluicectl, folder))
    out = [f"dialogues, {'services' if with_services else 'anywhere'}: {dict(refused)}" for with_services in (False, True)
           if (refused := count.refused(made, with_services, [dialogues.INSIDE]))]
    return out if count.judged else [*out, "no frame of dialogues was judged by any rule"]


def check_captures(sluicectl, folder, paths):
    """What did not hold, in words."""
    count, listed, out = Count(Replay(sluicectl, folder)), collections.Counter(), []
    for path in paths:
        inside = servers_in(path)
        if refused := count.refused(path, False, inside):
            out.append(f"{path.name}, anywhere: {dict(refused)}")
        listed += count.refused(path, True, inside)
    out += [f"captures, services: {reason}: {words}" for reason, words in beyond_the_list(listed).items()]
    return out if count.judged else [*out, "no frame of captures was judged by any rule"]
