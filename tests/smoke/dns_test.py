"""DNS over UDP in every command, and through the real daemons to the packets of a port.

    dns_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import sys

from box_case import BoxCase, main
from capture_files import Case, ethernet, ipv4, pcap, tcp, udp, udp_header
from programs import wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(ROOT, "control", "examples", "dns.yaml")


def message(name, kind=1, flags=0x0100, questions=1, behind=b""):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label)
    head = b"".join(word.to_bytes(2, "big") for word in (7, flags, questions, 0, 0, 0))
    return head + labels + b"\0" + kind.to_bytes(2, "big") + b"\0\1" + behind


def datagram(payload, sport=40000, dport=53, src="192.0.2.1", dst="198.51.100.7"):
    return ethernet(ipv4(src, dst, 17, udp_header(sport, dport, payload)), 0x0800)


def in_fragments(payload, number, src="192.0.2.1", dst="198.51.100.7"):
    """A datagram whose header of UDP and first 8 bytes come before the rest."""
    whole, more = udp_header(40000, 53, payload), 0x2000
    return [ethernet(ipv4(src, dst, 17, part, identification=number, fragment=place), 0x0800)
            for part, place in ((whole[:16], more), (whole[16:], 2))]


def asks(name, kind=1, **how):
    return datagram(message(name, kind), **how)


class Inspect(Case):
    FRAMES = [asks("WWW.example.com", 28), datagram(message("a", flags=0x8180), 53, 40000),
              datagram(b"no DNS"), tcp(dport=53), datagram(message("b"), dport=5300), datagram(message("c"), dport=5353),
              datagram(message("one", questions=2, behind=b"\3two\0\0\x10\0\1")), asks("")]

    def inspect(self, *options):
        capture = self.write("in.pcap", pcap([(0, frame) for frame in self.FRAMES]))
        return self.ctl("inspect", "--pcap", capture, "--fields", "dns.qname,dns.qtype,dns.qr,proto.l7", *options)[0]

    def test_a_line_for_each_question(self):
        self.assertEqual([line.split("\t") for line in self.inspect().splitlines()], [
            ["1", "www.example.com", "28", "0", "dns"], ["2", "a", "1", "1", "dns"], ["3", "", "", "", ""],
            ["4", "", "", "", ""], ["5", "b", "1", "0", "dns"], ["6", "", "", "", ""],
            ["7", "one", "1", "0", "dns"], ["7", "two", "16", "0", "dns"], ["8", ".", "1", "0", "dns"]])

    def test_json(self):
        lines = [json.loads(line) for line in self.inspect("--json").splitlines()]
        self.assertEqual(lines[0], {"frame": 1, "dns.qname": "www.example.com", "dns.qtype": 28, "dns.qr": 0,
                                    "proto.l7": "dns"})
        self.assertEqual(lines[2], {"frame": 3})
        self.assertEqual([(line["frame"], line["dns.qtype"]) for line in lines[6:8]], [(7, 1), (7, 16)])


class Example(Case):
    """control/examples/dns.yaml, as an operator would try it."""

    def judge(self, frames):
        """-> [(verdict, rule, key)] of frames that come at one instant"""
        capture = self.write("in.pcap", pcap([(0, frame) for frame in frames]))
        self.ctl("replay", EXAMPLE, "--pcap", capture, "--verdicts", self.path("verdicts.tsv"))
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        return [(row[1], row[3], row[4]) for row in rows]

    def test_check_takes_it(self):
        out, _ = self.ctl("check", EXAMPLE)
        self.assertIn("20 queries + 100/s * W", out)

    def test_a_name_is_limited_whatever_its_case_and_others_are_not(self):
        names = ["hot.example", "HOT.example", "hOt.ExAmPlE"]
        verdicts = self.judge([asks(names[i % 3], src=f"10.0.0.{i}") for i in range(40)] + [asks("cold.example")])
        self.assertEqual(verdicts[19], ("pass", "", ""))
        self.assertEqual(verdicts[30], ("drop", "one-name", "hot.example"))
        self.assertEqual(verdicts[-1], ("pass", "", ""))

    def test_any_is_limited_by_network(self):
        verdicts = self.judge([asks(f"n{i}.example", 255, src=f"192.0.2.{i}") for i in range(7)])
        self.assertEqual([verdict for verdict, _, _ in verdicts], ["pass"] * 5 + ["drop"] * 2)
        self.assertEqual(verdicts[-1][1:], ("any-queries", "192.0.2.0/24"))

    def test_a_query_in_fragments_is_judged_as_any_by_the_last_of_them(self):
        pairs = [in_fragments(message(f"n{i}.example", 255), i) for i in range(1, 8)]
        verdicts = self.judge([frame for pair in pairs for frame in pair] + pairs[-1][::-1] + pairs[0])
        self.assertEqual(verdicts[:14:2], [("pass", "", "")] * 7)
        self.assertEqual(verdicts[1:11:2], [("pass", "", "")] * 5)
        self.assertEqual(verdicts[11:14:2], [("drop", "any-queries", "192.0.2.0/24")] * 2)
        # What is left of a refused one is refused; copies of all fragments of another are a query of their own.
        self.assertEqual([verdict for verdict, _, _ in verdicts[14:]], ["drop", "drop", "pass", "drop"])

    def test_replay_says_what_became_of_checksums(self):
        capture = self.write("in.pcap", pcap([(0, asks("one.example"))]))
        text, _ = self.ctl("replay", EXAMPLE, "--pcap", capture)
        self.assertRegex(text, r"SERVICE +CHECKSUMS OF CLIENTS +OF SERVERS\nnames +learning +learning")
        told = json.loads(self.ctl("replay", EXAMPLE, "--pcap", capture, "--json")[0])
        self.assertEqual(told["checksums"], {"names": {"clients": "learning", "servers": "learning"}})

    def test_what_is_no_sound_dns_is_refused_by_the_service(self):
        forwards = datagram(b"\0\7\1\0\0\1\0\0\0\0\0\0\xc0\x12\0\1\0\1\3hot\7example\0")
        verdicts = self.judge([forwards] * 12 + [datagram(b"no DNS", src="203.0.113.1"), asks("hot.example")])
        self.assertEqual(verdicts, [("drop", "", "")] * 13 + [("pass", "", "")])

    def test_names_at_random_are_limited_by_resolver(self):
        verdicts = self.judge([asks(f"x{i}.shop.example", src=f"192.0.2.{1 + i % 2}") for i in range(30)])
        self.assertEqual(verdicts[19], ("pass", "", ""))
        self.assertEqual(verdicts[20], ("drop", "random-names", "192.0.2.1"))

    def test_names_at_random_are_limited_by_their_domain(self):
        verdicts = self.judge([asks(f"x{i}.y{i % 7}.Shop.co.uk", src=f"192.0.2.{1 + i % 99}") for i in range(102)] +
                              [asks("x.other.co.uk")])
        self.assertEqual(verdicts[99], ("pass", "", ""))
        self.assertEqual(verdicts[100], ("drop", "one-domain", "shop.co.uk"))
        self.assertEqual(verdicts[102], ("pass", "", ""))

    def test_answers_are_no_queries(self):
        answer = datagram(message("hot.example", flags=0x8180, behind=b"x" * 900), 53, 40000)
        verdicts = self.judge([answer] * 6)
        self.assertEqual([verdict for verdict, _, _ in verdicts], ["pass"] * 4 + ["drop"] * 2)
        self.assertEqual(verdicts[-1][1:], ("answers-from-outside", "198.51.100.7"))

    def test_explain_tells_the_name(self):
        capture = self.write("in.pcap", pcap([(0, asks("Hot.Example"))]))
        account = json.loads(self.ctl("explain", EXAMPLE, "--json", "--pcap", capture, "--frame", "1")[0])
        self.assertEqual(account["fields"]["dns.qname"], "hot.example")
        self.assertEqual(account["fields"]["registrable_domain(dns.qname)"], "hot.example")
        rules = {rule["id"]: rule for rule in account["rules"]}
        limit = rules["one-name"]["limits"][0]
        self.assertEqual((limit["key"], limit["before"]["remaining"], limit["after"]["remaining"]),
                         ("hot.example", 20, 19))
        self.assertEqual(rules["any-queries"]["because"], "dns.qtype is 1, not 255")


class Live(BoxCase):
    RULES = """version: 1
rules:
  - {id: names, mode: enforce, key: [dns.qname], per: query,
     limits: [{algorithm: token_bucket, rate: 5/m, burst: 5}]}
  - {id: answers, mode: enforce, when: dns.qr eq 1, on_match: allow}
  - {id: others, mode: enforce, when: not dns.qr ge 0, key: [], limits: [
      {algorithm: token_bucket, rate: 100M/s, burst: 100M}]}
"""

    def test_a_name_is_limited_and_all_else_goes_on(self):
        frames = [asks("flood.example"), asks("FLOOD.example"), datagram(message("a", flags=0x8180), 53, 40000), udp()]
        capture = self.box.folder / "in.pcap"
        capture.write_bytes(pcap([(number, frame) for number, frame in enumerate(frames)]))
        # A capture in a loop takes a buffer for each frame and queue it holds.
        ports = [f"net_pcap{side},rx_pcap={capture},infinite_rx=1" for side in (0, 1)]
        self.box.start_dataplane(*ports, {"memory": {"mbufs": 8192}})
        self.box.start_sluiced()
        self.apply(self.RULES)

        def rules():
            return {rule["id"]: rule for rule in self.box.stats()["rules"]}

        wait_until("queries beyond the limit", lambda: rules()["names"]["exceeded"] > 1000)
        wait_until("all else", lambda: rules()["others"]["admitted"] > 1000 and rules()["answers"]["admitted"] > 1000)
        self.assertEqual(rules()["others"]["exceeded"], 0)
        self.assertEqual(rules()["answers"]["exceeded"], 0)
        wait_until("the name in top", lambda: "flood.example" in self.box.ctl("top", "--rule", "names").stdout)
        shown = self.box.ctl("key", "show", "names", "Flood.EXAMPLE").stdout
        self.assertIn("flood.example", shown)


if __name__ == "__main__":
    Case.sluicectl = sys.argv[3]
    main()
