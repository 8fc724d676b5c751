"""What services change, and what those that monitor would refuse, counted over the API by the real programs.

    service_counters_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os

from box_case import BoxCase, main
from capture_files import pcap, udp
from dialogue_frames import ACK, PSH, REQUEST, SYN, URG, Dialogue
from programs import wait_until

RULES = """version: 1
services:
  - {id: web, protocol: http, when: l4.dport eq 80, mode: enforce, path: inbound, checksums: verify, min_ttl: 32}
  - {id: names, protocol: dns, when: l4.dport eq 53, mode: monitor, checksums: trust}
rules:
  - {id: all, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]}
"""


class Counters(BoxCase):
    def setUp(self):
        super().setUp()
        dialogue = (Dialogue().client(SYN, at=-1).client(ACK)
                    .client(ACK | PSH | URG, REQUEST, urgent=3)
                    .client(ACK | PSH, REQUEST, at=len(REQUEST), ttl=5))
        capture = os.path.join(self.box.folder, "in.pcap")
        with open(capture, "wb") as file:
            file.write(pcap(list(enumerate([*dialogue.sent, udp("192.0.2.7")]))))
        self.box.start_dataplane(f"net_pcap0,rx_pcap={capture},infinite_rx=1", "net_null1,no-rx=1")
        self.box.start_sluiced()

    def counted(self, family, label, name):
        status, text = self.box.api("GET", "/v1/metrics")
        self.assertEqual(status, 200)
        wanted = f'{family}{{{label}="{name}"}} '
        found = [line for line in text.decode().splitlines() if line.startswith(wanted)]
        self.assertEqual(len(found), 1, wanted)
        return int(found[0].rsplit(" ", 1)[1])

    def test_what_is_changed_and_what_would_be_refused(self):
        rows = [("sluice_service_events_total", "event", "urgent_cleared"),
                ("sluice_service_events_total", "event", "ttl_raised"),
                ("sluice_would_refuse_total", "reason", "unreadable")]
        self.assertEqual([self.counted(*row) for row in rows], [0, 0, 0])
        self.apply(RULES)
        for row in rows:
            wait_until(row[2], lambda row=row: self.counted(*row) > 0)
        self.assertEqual(self.counted("sluice_would_refuse_total", "reason", "bad_ack"), 0)
        status, text = self.box.api("GET", "/v1/stats")
        self.assertEqual(status, 200)
        stats = json.loads(text)
        self.assertGreater(stats["would_refuse"]["unreadable"], 0)
        self.assertGreater(stats["tracking"]["urgent_cleared"], 0)
        self.assertGreater(stats["tracking"]["ttl_raised"], 0)


if __name__ == "__main__":
    main()
