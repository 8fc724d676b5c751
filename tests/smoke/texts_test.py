"""Rules over texts in every command, and through the real daemons to the packets of a port.

    texts_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import sys

from box_case import BoxCase, main
from capture_files import Case, arp, ethernet, ipv4, pcap, udp, udp_header
from programs import wait_until



def carrying(payload):
    return ethernet(ipv4("192.0.2.1", "198.51.100.7", 17, udp_header(1000, 53, payload) + payload), 0x0800)


def rules(*conditions):
    return "version: 1\nrules:\n" + "".join(
        f"  - {{id: r{number}, mode: enforce, on_match: drop, when: '{when}'}}\n"
        for number, when in enumerate(conditions))


RULES = rules('payload contains "admin" and not starts_with(payload, "GET")',
              'lower(payload) matches "^get /[a-z]+[.]php"', 'payload in {"" "ping"}',
              'payload contains "nowhere"')
FRAMES = [(carrying(b"POST /admin"), "r0"), (carrying(b"GET /admin"), ""), (carrying(b"Get /Index.PHP"), "r1"),
          (carrying(b"ping"), "r2"), (carrying(b"pings"), ""), (udp(), "r2"), (arp(), "")]


class Alone(Case):
    def test_replay_and_explain_agree(self):
        file = self.write("rules.yaml", RULES)
        capture = self.write("in.pcap", pcap([(number, frame) for number, (frame, _) in enumerate(FRAMES)]))
        self.ctl("replay", file, "--pcap", capture, "--verdicts", self.path("verdicts.tsv"))
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        self.assertEqual([row[3] for row in rows], [rule for _, rule in FRAMES])
        because = []
        for number, (_, rule) in enumerate(FRAMES, 1):
            account = json.loads(self.ctl("explain", file, "--json", "--pcap", capture, "--frame",
                                          str(number))[0])
            self.assertEqual(account["rule"], rule)
            because.append(account["rules"][0]["because"])
        self.assertEqual(because[0], 'payload is "POST /admin", which contains "admin"; payload is '
                                     '"POST /admin", not one that starts with "GET"')
        self.assertEqual(because[1], 'payload is "GET /admin", which starts with "GET"')
        self.assertEqual(because[6], "payload is absent")

    def test_check_points_into_the_pattern(self):
        file = self.write("rules.yaml", rules('payload matches "a(b"'))
        _, err = self.ctl("check", file, exit=1)
        self.assertIn(f"{file}:3:70: error: not a regular expression that can be scanned for: "
                      "Missing close parenthesis", err)
        self.ctl("check", self.write("rules.yaml", RULES))


class Live(BoxCase):
    def setUp(self):
        super().setUp()
        capture = self.box.folder / "in.pcap"
        capture.write_bytes(pcap([(number, frame) for number, (frame, _) in enumerate(FRAMES)]))
        self.ports = [f"net_pcap{side},rx_pcap={capture},infinite_rx=1" for side in (0, 1)]
        # A capture in a loop takes a buffer for each frame and queue it holds.
        self.box.start_dataplane(*self.ports, {"memory": {"mbufs": 8192}})
        self.box.start_sluiced()

    def dropped(self):
        return {rule["id"]: rule["exceeded"] > 0 for rule in self.box.stats()["rules"]}

    def expect_dropped(self, *ids):
        wait_until(f"packets dropped by {ids}", lambda: all(self.dropped().get(name) for name in ids))

    def test_packets_are_judged_by_their_payload(self):
        self.apply(RULES)
        self.expect_dropped("r0", "r1", "r2")
        self.assertFalse(self.dropped()["r3"])
        # One pattern more, beside those that are known.
        self.apply(RULES + rules('payload matches "^pings?$" and payload ne "ping"')[len(rules()):].replace("r0", "r4"))
        self.expect_dropped("r4")
        self.assertFalse(self.dropped()["r3"])

    def test_a_new_dataplane_takes_the_saved_texts_up(self):
        self.apply(RULES)
        self.expect_dropped("r0")
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*self.ports, {"memory": {"mbufs": 8192}})
        self.assertIn("took up the saved rule set with 4 rules", self.box.log("dataplane.log"))
        self.box.start_sluiced()
        self.expect_dropped("r0", "r1", "r2")


if __name__ == "__main__":
    Case.sluicectl = sys.argv[3]
    main()
