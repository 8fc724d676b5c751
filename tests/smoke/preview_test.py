"""A draft of a rule, judged over what passes a real box, beside what it would have done to each source.

    preview_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import subprocess
import sys

import capture_files as frames
from box_case import HostsCase, main
from programs import PATIENCE, wait_until

SOURCES = 300
FLOOD = 400  # frames of one source more
BURST = 5    # of the draft; nothing comes back within the test
RULES = """version: 1
rules:
  - {id: other, mode: enforce, when: l4.dport eq 7, on_match: drop}
"""
DRAFT = f"""version: 1
rules:
  - {{id: unasked, mode: monitor, when: l4.dport eq 1, on_match: drop}}
  - id: sources
    mode: monitor
    when: l4.dport in {{7 9}}
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 1/d, burst: {BURST}}}]
"""

# Sends each frame of a file, a line of hex each, once.
SEND = """
import socket, sys, time
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
for line in open(sys.argv[1]):
    out.send(bytes.fromhex(line))
    time.sleep(0.0003)
"""


def address(source):
    return f"10.78.{1 + source // 250}.{1 + source % 250}"


def frame(source, port):
    return frames.ethernet(frames.ipv4(address(source), "10.79.0.1", 17, frames.udp_header(1000, port, bytes(8))), 0x0800)


def drawn():
    """Most send less than the draft admits, a tenth some more, one far more; some to what another rule drops."""
    for source in range(SOURCES):
        for _ in range(BURST + 3 if source % 10 == 0 else 1 + source % BURST):
            yield frame(source, 9)
    for _ in range(FLOOD):
        yield frame(7, 9)
    for source in range(20):
        yield frame(source, 7)


class Preview(HostsCase):
    def preview(self, *words):
        return self.box.ctl("preview", str(self.draft), "--rule", "sources", "--for", "10s", *words)

    def send(self):
        file = self.box.folder / "frames"
        file.write_text("".join(f"{one.hex()}\n" for one in drawn()))
        subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", SEND, str(file)], check=True,
                       timeout=PATIENCE)

    def setUp(self):
        super().setUp()
        self.draft = self.box.folder / "draft.yaml"
        self.draft.write_text(DRAFT)

    def test_a_draft_is_judged_over_what_passes(self):
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.apply(RULES)
        with self.box.follow("preview", str(self.draft), "--rule", "sources", "--for", "10s", "--json") as running:
            wait_until("it to be under way", self.is_under_way)
            self.send()
            out, _ = running.communicate(timeout=PATIENCE)
        self.assertEqual(running.returncode, 0)
        self.see(json.loads(out)["result"])

    def is_under_way(self):
        return any("preview rule sources" in audit.read_text() for audit in self.box.folder.glob("**/audit.log"))

    def see(self, found):
        sent = {source: BURST + 3 if source % 10 == 0 else 1 + source % BURST for source in range(SOURCES)}
        sent[7] += FLOOD
        refused = {source: count - BURST for source, count in sent.items() if count > BURST}
        self.assertEqual(found["matched"], sum(sent.values()))
        self.assertEqual((found["one_in"], found["is_exact"], found["unit"]), (1, True, "packets"))
        self.assertEqual((found["groups"], found["refused_groups"]), (SOURCES, len(refused)))
        self.assertEqual(found["refused"], sum(refused.values()))
        self.assertEqual(found["names"][0], {"key": address(7), "offered": sent[7], "refused": refused[7]})
        self.assertEqual(len(found["names"]), 20)
        self.assertEqual([one["refused"] for one in found["limits"]], [found["refused"]])
        self.assertEqual([one["rule"] for one in found["heatmaps"]], ["sources"])
        self.assertIn(f"of {len(refused)} of {SOURCES} groups", found["says"])
        unknown = {one["code"]: one["text"] for one in found["unknown"]}
        self.assertEqual(set(unknown), {"other_rules_first", "state_begins_empty"})
        self.assertTrue(unknown["other_rules_first"].startswith("20 matching packets"), unknown)

    def test_what_cannot_be_previewed_is_refused(self):
        self.box.start_sluiced(connected=False)
        for words, code in ((["--for", "5s"], 2), (["--for", "10s"], 3)):
            done = self.box.ctl("preview", str(self.draft), "--rule", "sources", *words)
            self.assertEqual(done.returncode, code, done.stderr)
        done = self.box.ctl("preview", str(self.draft), "--rule", "nobody")
        self.assertEqual(done.returncode, 1)
        self.draft.write_text(DRAFT.replace("l4.dport in", "l4.dprot in"))
        done = self.preview()
        self.assertEqual(done.returncode, 1)
        self.assertIn("draft.yaml:6:11: error: unknown field `l4.dprot`; did you mean `l4.dport`?", done.stderr)


if __name__ == "__main__":
    main()
