"""ClientHellos of TLS and QUIC in every command, and through the real daemons between two hosts.

    hellos_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import re
import ssl
import struct
import subprocess
import sys

from box_case import HostsCase, main
from capture_files import Case, client_hello, ethernet, ipv4, opened, pcap, udp_header
from programs import wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def segment(payload, sport, src="192.0.2.1", seq=1, dport=443):
    head = struct.pack("!HHIIBBHHH", sport, dport, seq, 0, 5 << 4, 0x18, 1000, 0, 0)
    return ethernet(ipv4(src, "198.51.100.7", 6, head + payload), 0x0800)


def rfc_initial():
    """The client's Initial of RFC 9001, appendix A.2, which asks for example.com."""
    with open(os.path.join(ROOT, "tests", "unit", "l7", "quic", "rfc_packets.hpp"), encoding="utf-8") as file:
        text = file.read().split("kRfc9001Initial", 1)[1].split(";", 1)[0]
    return bytes.fromhex("".join(re.findall(r'"([0-9a-f]*)"', text)))


def datagram(payload, sport, src="192.0.2.1"):
    return ethernet(ipv4(src, "198.51.100.7", 17, udp_header(sport, 443, payload)), 0x0800)


class Example(Case):
    """The files of control/examples, as an operator would try them."""

    def judge(self, example, frames):
        """-> [(verdict, reason, rule, key)] of frames that come at one instant"""
        frames, numbers = opened(frames)
        capture = self.write("in.pcap", pcap([(0, frame) for frame in frames]))
        rules = os.path.join(ROOT, "control", "examples", example)
        self.ctl("check", rules)
        self.ctl("replay", rules, "--pcap", capture, "--verdicts", self.path("verdicts.tsv"))
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        return [(row[1], row[2], row[3], row[4]) for row in rows if int(row[0]) in numbers]

    def test_a_name_is_limited_by_network(self):
        hello = client_hello("Shop.Example")
        verdicts = self.judge("tls.yaml", [segment(hello, 1000 + i, f"192.0.2.{i}") for i in range(12)]
                              + [segment(hello, 1, "203.0.113.1"), segment(client_hello("b.example"), 2)])
        self.assertEqual([row[0] for row in verdicts], ["pass"] * 10 + ["drop"] * 2 + ["pass"] * 2)
        self.assertEqual(verdicts[11][1:], ("over_limit", "name-by-network", "shop.example|192.0.2.0/24"))

    def test_a_hello_in_pieces_counts_once_and_so_do_its_repetitions(self):
        hello = client_hello("shop.example")
        pieces = [segment(hello[:100], 9), segment(hello[100:], 9, seq=101)] * 8
        verdicts = self.judge("tls.yaml", pieces + [segment(hello, 1000 + i) for i in range(10)])
        self.assertEqual([row[0] for row in verdicts], ["pass"] * 25 + ["drop"])

    def test_old_clients_and_those_that_name_nobody(self):
        old = client_hello("shop.example", ssl.TLSVersion.TLSv1_1)
        verdicts = self.judge("tls.yaml", [segment(old, 1000 + i, f"10.{i}.0.1") for i in range(4)])
        self.assertEqual([row[2] for row in verdicts], ["", "", "", "old-clients"])
        nobody = client_hello(None)
        verdicts = self.judge("tls.yaml", [segment(nobody, 1000 + i) for i in range(6)])
        self.assertEqual([row[2] for row in verdicts], [""] * 5 + ["no-name"])

    def test_quic_connections_are_limited_by_name_and_network(self):
        initial = rfc_initial()
        frames = [datagram(initial, 1000 + i) for i in range(11) for _ in range(2)]
        frames.insert(20, datagram(initial, 1, "203.0.113.1"))
        verdicts = self.judge("quic.yaml", frames)
        self.assertEqual([row[0] for row in verdicts], ["pass"] * 21 + ["drop"] * 2)
        self.assertEqual(verdicts[21][1:], ("over_limit", "name-by-network", "example.com|192.0.2.0/24"))
        self.assertEqual(verdicts[22][1], "retransmission")

    def test_inspect_shows_what_hellos_say(self):
        capture = self.write("in.pcap", pcap([(0, segment(client_hello("A.example"), 1)),
                                              (0, datagram(rfc_initial(), 2))]))
        out, _ = self.ctl("inspect", "--pcap", capture, "--json", "--fields",
                          "proto.l7,tls.sni,quic.sni,quic.packet_type,tls.handshake.type")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(lines, [
            {"frame": 1, "proto.l7": "tls", "tls.sni": "a.example", "tls.handshake.type": 1},
            {"frame": 2, "proto.l7": "quic", "quic.sni": "example.com", "quic.packet_type": "initial"}])


SERVER = """
import socket, ssl, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.maximum_version = ssl.TLSVersion.TLSv1_2
context.set_ciphers("AECDH-AES128-SHA:@SECLEVEL=0")
listening = socket.create_server(("10.78.0.2", 443))
def answer(one):
    try:
        one.settimeout(20)
        with context.wrap_socket(one, server_side=True) as tls:
            tls.sendall(tls.recv(99))
    except OSError:
        pass
while True:
    threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()
"""
# Without a certificate: the cipher authenticates nobody.
CLIENT = """
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.maximum_version = ssl.TLSVersion.TLSv1_2
context.set_ciphers("AECDH-AES128-SHA:@SECLEVEL=0")
try:
    with socket.create_connection(("10.78.0.2", 443), timeout=3) as one:
        with context.wrap_socket(one, server_hostname=sys.argv[1]) as tls:
            tls.sendall(b"x" * 50)
            sys.exit(0 if tls.recv(99) else 1)
except OSError:
    sys.exit(1)
"""


class Live(HostsCase):
    RULES = """version: 1
rules:
  - {id: names, mode: enforce, key: [tls.sni], per: handshake,
     limits: [{algorithm: token_bucket, rate: 1/d, burst: 3}]}
  - {id: closed, mode: enforce, when: 'ends_with(tls.sni, ".closed.example")', on_match: drop}
"""

    def connects(self, name):
        return subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", CLIENT, name],
                              timeout=40).returncode == 0

    def test_handshakes_are_limited_by_name(self):
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.box.start(["ip", "netns", "exec", self.hosts.inside, sys.executable, "-c", SERVER], "server.log")
        self.apply("version: 1\nrules:\n  - {id: all, mode: monitor, on_match: allow}\n")
        wait_until("the server to be reached", lambda: self.connects("first.example"))
        self.apply(self.RULES)
        self.assertEqual([self.connects("Shop.Example") for _ in range(4)], [True] * 3 + [False])
        self.assertTrue(self.connects("other.example"))
        self.assertFalse(self.connects("a.closed.example"))
        rules = {rule["id"]: rule for rule in self.box.stats()["rules"]}
        self.assertEqual((rules["names"]["admitted"], rules["names"]["exceeded"]), (4, 1))


if __name__ == "__main__":
    Case.sluicectl = sys.argv[3]
    main()
