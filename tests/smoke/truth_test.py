"""What `sluicectl inspect` finds in real captures, against what tshark finds in them.

    truth_test.py SLUICECTL

The captures are found through SLUICE_SHARED, or in `../shared` beside the repository. A row of truth must be
found if all four of tshark's dissections in order agree on it; others may be: copies on the wire, requests
without a version, bytes of a body that look like a head. control/cli/README.md says what differs, and why.
"""
import collections
import glob
import os
import sys
import unittest

from capture_files import Case, main

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SHARED = os.environ.get("SLUICE_SHARED") or os.path.join(ROOT, "..", "shared")
CAPTURES = sorted(glob.glob(os.path.join(SHARED, "data", "pcaps", "*.pcap")))

LEAST_FOUND = 0.995
MOST_BEYOND = 0.001
MOST_READINGS = 0.01  # a head that servers read differently has a row for each reading

Row = collections.namedtuple("Row", "frame what")


def host_of(text):
    """As the rules see it: in lower case, without a port and a trailing dot."""
    text = text.strip().lower()
    if text.startswith("["):
        return text[:text.find("]") + 1]
    return text.split(":")[0].rstrip(".")


def absent(text):
    return "" if text in ("-", '""') else text


class Protocol:
    def __init__(self, kind, fields, of_truth, of_line):
        self.kind, self.fields, self.of_truth, self.of_line = kind, fields, of_truth, of_line


PROTOCOLS = [
    Protocol("http", "http.request.method,http.host,http.request.uri,http.user_agent",
             lambda k: (k[0], host_of(absent(k[1])), absent(k[2]), absent(k[3])),
             lambda f: tuple(f) if f[0] else None),
    Protocol("dns", "dns.qr,dns.qtype,dns.qname",
             lambda k: (k[0], k[1].lower()),
             lambda f: (f[1], f[2]) if f[0] == "0" else None),
    Protocol("tls", "proto.l7,tls.sni,tls.alpn",
             lambda k: (k[1].lower(), absent(k[3])),
             lambda f: (f[1], f[2]) if f[0] == "tls" and f[1] else None),
    Protocol("quic", "quic.version,quic.sni,tls.alpn",
             lambda k: (k[0], k[1].lower(), absent(k[3])),
             lambda f: tuple(f) if f[1] else None),
]


def truth_of(capture, protocol):
    """-> (rows that must be found, rows that may be)"""
    must, may = collections.Counter(), collections.Counter()
    with open(capture.replace("pcaps", "truth").replace(".pcap", ".tsv"), encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if cells[0].rstrip("?") != protocol.kind:
                continue
            row = Row(cells[1], protocol.of_truth(cells[4:8]))
            solid = "abcd" in cells[14] and cells[0] == protocol.kind
            (must if solid else may)[row] += 1
    return must, may


@unittest.skipUnless(CAPTURES, "no captures: SLUICE_SHARED names no folder with data/pcaps")
class Truth(Case):
    def found(self, capture, protocol):
        out, _ = self.ctl("inspect", "--pcap", capture, "--fields", protocol.fields)
        rows = collections.Counter()
        for line in out.splitlines():
            frame, *fields = line.split("\t")
            what = protocol.of_line(fields)
            if what:
                rows[Row(frame, what)] += 1
        return rows

    def compare(self, protocol):
        due = missing = beyond = readings = 0
        for capture in CAPTURES:
            must, may = truth_of(capture, protocol)
            found = self.found(capture, protocol)
            lost, more = must - found, found - must - may
            true = {(row.frame, row.what[:2]) for row in must + may if protocol.kind == "http"}
            others = collections.Counter({row: count for row, count in more.items() if (row.frame, row.what[:2]) in true})
            more -= others
            for row in list(lost) + list(more):
                print(f"{os.path.basename(capture)}: {'lost' if row in lost else 'beyond'} {row}", file=sys.stderr)
            due += must.total()
            missing += lost.total()
            beyond += more.total()
            readings += others.total()
        self.assertGreater(due, 0)
        self.assertLessEqual(missing, due * (1 - LEAST_FOUND))
        self.assertLessEqual(beyond, due * MOST_BEYOND)
        self.assertLessEqual(readings, due * MOST_READINGS)


def add_test(protocol):
    setattr(Truth, f"test_{protocol.kind}", lambda self: self.compare(protocol))


for each in PROTOCOLS:
    add_test(each)

if __name__ == "__main__":
    main()
