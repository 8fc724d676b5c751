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
    shared = os.environ.get("SLUICE_SHARED")
    found = sorted((pathlib.Path(shared) / "data" / "pcaps").glob("*.pcap")) if shared else []
    if not found:
        print("real captures: left out, as SLUICE_SHARED names no folder that has them", flush=True)
    return found


# What enforced services refuse of real captures, by the manual: what no reader follows, wrong checksums of a sender's
# offload, and fragments of TCP. Of the dialogues made here nothing is to be refused.
LISTED = frozenset({"ambiguous_request", "malformed_request", "unreadable", "wrong_checksum", "tcp_fragment",
                    "fragment_of_refused"})


def beyond_the_list(refused, is_listed):
    return {reason: count for reason, count in refused.items() if not (is_listed and reason in LISTED)}


def check(sluicectl, folder, seed):
    """What did not hold, in words; prints a line for each."""
    replay, out = Replay(sluicectl, folder), []
    made = pathlib.Path(folder) / "dialogues.pcap"
    hello = client_hello("a.example")
    made.write_bytes(pcap(dialogues.capture(dialogues.all_dialogues(seed, hello))))
    judged = 0
    for path, inside in [(made, [dialogues.INSIDE]), *((path, None) for path in captures())]:
        for with_services in (False, True):
            known = servers_in(path) if inside is None else inside
            refused, frames, units = replay.refused(rules(with_services), path, known)
            judged += units
            print(f"{path.name}, {'services' if with_services else 'anywhere'}: {frames} frames, {units} judged, "
                  f"refused: {dict(refused) or 'none'}", flush=True)
            if beyond := beyond_the_list(refused, with_services and path != made):
                out.append(f"{path.name}, {'services' if with_services else 'anywhere'}: {beyond}")
    return out if judged else [*out, "no frame was judged by any rule"]
