"""A capture that a draft is replayed over, by the API: beside the same by sluicectl replay, and everything that is no capture.

    replayed_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import base64
import json
import os
import subprocess
import sys
import unittest

import capture_files
from capture_files import SECOND
from daemon_box import DaemonBox, UnixConnection, Answer, wait_until

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
MIB = 1 << 20
RULES = """version: 1
rules:
  - id: blocked
    mode: enforce
    when: ip.src eq 192.0.2.66
    on_match: drop
  - id: watched
    mode: monitor
    when: l4.dport eq 53
    key: []
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 100}]
"""
DRAFT = """id: names
mode: monitor
when: l4.dport eq 53
key: [ip.src]
limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]
"""
BEGIN = 1_700_000_000 * SECOND
# A flood of one source, a second apart ten packets at once; single packets of others; and a blocked one.
FRAMES = sorted([(BEGIN + at * SECOND, capture_files.udp(src="192.0.2.1")) for at in range(5) for _ in range(10)]
                + [(BEGIN + at * SECOND + 5, capture_files.udp(src=f"192.0.2.{10 + at}")) for at in range(5)]
                + [(BEGIN + 7, capture_files.udp(src="192.0.2.66")), (BEGIN + 8, capture_files.tcp())])
CAPTURE = capture_files.pcap(FRAMES)


class Replayed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = DaemonBox(*PROGRAMS)
        cls.addClassCleanup(cls.box.close)
        cls.dataplane = cls.box.start_dataplane()
        cls.sluiced = cls.box.start_sluiced("--read-socket", cls.box.read_socket)
        wait_until("the dataplane", cls.box.connected)
        answer = cls.box.put_rules(RULES, "?file=test.yaml")
        assert answer.status == 200, answer.text

    def ask(self, body, query="", socket=None):
        connection = UnixConnection(socket or self.box.socket)
        try:
            connection.request("POST", "/v1/replay" + query, json.dumps(body).encode(), {"Content-Type": "application/json"})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def replayed(self, capture=CAPTURE, text=DRAFT, **more):
        answer = self.ask({"text": text, "capture": base64.b64encode(capture).decode(), **more})
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json()["result"]

    def refused(self, status, words, **body):
        answer = self.ask({"text": DRAFT, "capture": base64.b64encode(CAPTURE).decode(), **body})
        self.assertEqual(answer.status, status, answer.text)
        self.assertIn(words, answer.text)
        return answer.json()

    def by_the_command(self):
        """What sluicectl replay says of the same rules, with the draft where it is put."""
        folder = self.box.folder
        indented = DRAFT.replace("mode: monitor", "mode: enforce").replace("\n", "\n    ").rstrip()
        (folder / "with.yaml").write_text(RULES + "  - " + indented + "\n")
        (folder / "c.pcap").write_bytes(CAPTURE)
        done = subprocess.run([PROGRAMS[2], "replay", str(folder / "with.yaml"), "--pcap", str(folder / "c.pcap"), "--json", "--heatmap"],
                              capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    def test_it_is_exactly_what_the_command_says(self):
        result, other = self.replayed(), self.by_the_command()
        self.assertEqual(result["packets"], other["packets"])
        self.assertEqual({row["id"]: (row["matched"], row["refused"] + row["would_refuse"]) for row in result["rules"] if row["id"] != "blocked"},
                         {row["id"]: (row["matched"], row["exceeded"]) for row in other["rules"] if row["id"] != "blocked"})
        self.assertEqual(result["verdicts"]["drop"], other["dropped"])
        [own] = result["heatmaps"]
        [same] = [one for one in other["heatmaps"] if one["rule"] == "names"]
        self.assertEqual(own["columns"], same["columns"])

    def test_numbers_groups_names_and_values(self):
        result = self.replayed()
        # Of fifty packets two pass at first, and one more each second.
        self.assertEqual((result["matched"], result["refused"], result["groups"], result["refused_groups"]), (55, 44, 6, 1))
        self.assertEqual(result["names"], [{"key": "192.0.2.1", "offered": 50, "refused": 44}])
        self.assertTrue(result["is_exact"])
        self.assertIn("55 packets match; 44 (80.0 %) would have been refused, of 1 of 6 groups", result["says"])
        self.assertEqual({row["id"]: row["mode"] for row in result["rules"]}, {"blocked": "enforce", "watched": "monitor", "names": "enforce"})
        values = {row["field"]: row["values"] for row in result["values"]}
        self.assertEqual(values["l4.dport"], ["53"])
        self.assertEqual(values["ip.src"][0], "192.0.2.1")
        self.assertIn("direction", [one["code"] for one in result["unknown"]])
        inside = self.replayed(text=DRAFT.replace("when: ", 'when: dir eq "out" and '), inside=["192.0.2.0/29"])
        self.assertEqual(inside["matched"], 50)
        self.assertNotIn("direction", [one["code"] for one in inside["unknown"]])

    def test_numbers_are_of_what_is_counted_and_not_of_its_cost(self):
        result = self.replayed(text=DRAFT.replace("rate: 1/s, burst: 2", "rate: 2/s, burst: 4") + "cost: 2\n")
        self.assertEqual((result["unit"], result["matched"], result["refused"]), ("packets", 55, 44))
        self.assertEqual([(row["offered"], row["refused"]) for row in result["limits"]], [(55, 44)])
        self.assertEqual(result["names"], [{"key": "192.0.2.1", "offered": 50, "refused": 44}])

    def test_the_headline_is_of_all_limits(self):
        both = DRAFT.replace("burst: 2}", "burst: 2}, {algorithm: token_bucket, rate: 1GB/s, burst: 1GB, per: byte}")
        result = self.replayed(text=both)
        self.assertEqual((result["unit"], result["matched"], result["refused"]), ("packets", 55, 44))
        self.assertEqual([row["unit"] for row in result["limits"]], ["packets", "bytes"])
        self.assertEqual(result["names"], [{"key": "192.0.2.1", "offered": 50, "refused": 44}])

    def test_nothing_changes_by_it(self):
        before = self.box.get("/v1/rules").json()
        self.replayed()
        self.assertEqual(self.box.get("/v1/rules").json()["generation"], before["generation"])

    def test_what_is_no_capture_says_so(self):
        for name, capture, words in (("empty", b"", "no byte"), ("text", b"hello, world\n" * 9, "capture"), ("cut", CAPTURE[:-5], "ends inside"),
                                     ("of another link", capture_files.pcap(FRAMES, link=113), "Ethernet"), ("head", CAPTURE[:10], "capture")):
            with self.subTest(name):
                self.refused(422, words, capture=base64.b64encode(capture).decode())
        self.refused(413, "at most 8 MiB", capture=base64.b64encode(bytes(8 * MIB + 4)).decode())
        self.refused(413, "too large", capture="A" * (13 * MIB))
        self.refused(400, "base64", capture="a b=")
        self.refused(400, "`capture`", capture=7)
        self.refused(400, "`inside`", inside="192.0.2.1")
        self.refused(400, "`inside`", inside=["192.0.2.300"])
        self.refused(400, "`seconds`", seconds=3)

    def test_drafts_that_cannot_be_judged_say_why(self):
        wrong = self.refused(422, "does not compile", text=DRAFT.replace("l4.dport", "l4.dprot"))
        self.assertEqual(wrong["problems"][0]["line"], 3)
        self.refused(422, "off", text=DRAFT.replace("monitor", '"off"'))
        answer = self.ask({"text": DRAFT.replace("names", "nobody"), "capture": ""}, "?rule=nobody")
        self.assertEqual(answer.status, 404)
        self.assertEqual(self.ask({"text": DRAFT, "capture": ""}, socket=self.box.read_socket).status, 403)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
